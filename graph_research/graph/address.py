"""Where in a run something happens: which attempt of which visit of which node, under which subgraph runs."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Address", "path_of"]

_COUNTS = re.compile(r"[:~]\d+")


class Address(NamedTuple):
    """One attempt of a node's visit, or of one of its items.

    `scope` is empty in the root graph; under a subgraph it is the key of the attempt that runs it and a slash, such as
    `gather:1[2]/`. So no two attempts of a run share a key.
    """

    scope: str
    node: str
    visit: int
    item: int | None = None
    attempt: int = 1

    @property
    def key(self) -> str:
        """`SCOPE NODE:VISIT[ITEM]~ATTEMPT` without spaces; item and a first attempt are left out."""
        item = "" if self.item is None else f"[{self.item}]"
        attempt = "" if self.attempt == 1 else f"~{self.attempt}"
        return f"{self.scope}{self.node}:{self.visit}{item}{attempt}"

    @property
    def path(self) -> str:
        """The path as people read it, such as `gather[2]/search`."""
        item = "" if self.item is None else f"[{self.item}]"
        return f"{path_of(self.scope)}{self.node}{item}"


def path_of(scope: str) -> str:
    """A scope or key without visits and attempts."""
    return _COUNTS.sub("", scope) if scope else ""
