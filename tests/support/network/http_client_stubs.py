"""Stand-ins for the network: one in which every server answers, and one that is not there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from graph_research.providers.errors import ProviderUnreachable
from graph_research.providers.http.endpoint import Endpoint, Response

__all__ = ["Everybody", "Nobody"]


class Everybody:
    """An `Http` at which every server answers; remembers who was asked for what."""

    def __init__(self) -> None:
        self.asked: list[tuple[Endpoint, str]] = []

    async def ask(self, endpoint: Endpoint, method: str, path: str, **more: Any) -> Response:
        assert method == "GET"
        self.asked.append((endpoint, path))
        return Response(status=200, headers={}, body=b"")

    def stream(self, endpoint: Endpoint, method: str, path: str, **more: Any) -> AsyncIterator[str]:
        raise NotImplementedError


class Nobody(Everybody):
    """An `Http` of a machine without a network."""

    async def ask(self, endpoint: Endpoint, method: str, path: str, **more: Any) -> Response:
        raise ProviderUnreachable(
            f"{endpoint.name}: its name is unknown", provider=endpoint.name, help="check the network"
        )
