"""Stand-ins for the network: one in which every server answers, and one that is not there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from graph_research.providers.errors import ProviderUnreachable
from graph_research.providers.http.client import Peer, Reply

__all__ = ["Everybody", "Nobody"]


class Everybody:
    """An `Http` at which every server answers; remembers who was asked for what."""

    def __init__(self) -> None:
        self.asked: list[tuple[Peer, str]] = []

    async def ask(self, peer: Peer, method: str, path: str, **more: Any) -> Reply:
        assert method == "GET"
        self.asked.append((peer, path))
        return Reply(status=200, headers={}, body=b"")

    def stream(self, peer: Peer, method: str, path: str, **more: Any) -> AsyncIterator[str]:
        raise NotImplementedError


class Nobody(Everybody):
    """An `Http` of a machine without a network."""

    async def ask(self, peer: Peer, method: str, path: str, **more: Any) -> Reply:
        raise ProviderUnreachable(f"{peer.name}: its name is unknown", provider=peer.name, help="check the network")
