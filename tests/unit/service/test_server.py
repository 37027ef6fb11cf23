"""The socket that the service listens at."""

from __future__ import annotations

import socket

import pytest

from graph_research.service.errors import AddressUnusable
from graph_research.service.server import listen


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_answers_are_sent_without_delay(host: str) -> None:
    """An event loop switches Nagle's delay of 40 ms off for sockets that say that they speak TCP."""
    with listen(host, 0) as listening:
        address = listening.getsockname()
        with socket.create_connection(address[:2], timeout=5), listening.accept()[0] as accepted:
            assert accepted.proto == socket.IPPROTO_TCP


def test_an_address_that_is_taken_is_said() -> None:
    with listen("127.0.0.1", 0) as listening, pytest.raises(AddressUnusable, match="cannot listen at 127"):
        listen("127.0.0.1", listening.getsockname()[1])
