"""The clients of a run follow the settings of the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.app.wiring.clients import open_clients
from graph_research.app.workspace import open_workspace
from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.http.endpoint import Endpoint
from tests.support.network.http_server import Answer, WireServer


@pytest.mark.parametrize(("cooldown", "asked"), [("60", 5), ("0", 8)])
async def test_a_server_that_mostly_fails_is_left_alone_for_as_long_as_the_user_says(
    cooldown: str, asked: int, server: WireServer, tmp_path: Path
) -> None:
    server.on("/", Answer(status=500))
    environ = {"GRAPH_RESEARCH_HOME": str(tmp_path / "home"), "GRAPH_RESEARCH_PROVIDER_COOLDOWN": cooldown}
    space = open_workspace(environ, tmp_path, may_use=lambda _: False)
    async with open_clients(space) as clients:
        for _ in range(8):
            with pytest.raises(ProviderUnavailable):
                await clients.http.ask(Endpoint(name="it", base_url=server.url, attempts=1), "GET", "/")
    assert len(server.received) == asked
