"""Addresses in a run: the attempt of a visit of a node, and the subgraph runs around it."""

from __future__ import annotations

import re
from typing import NamedTuple

_COUNTS = re.compile(r"[:~]\d+")


class Address(NamedTuple):
    """One attempt of a node's visit, or of one of its items.

    `namespace` is empty in the root graph; under a subgraph it is the key of the attempt that runs it and a slash, such
    as `gather:1[2]/`. So no two attempts of a run share a key.
    """

    namespace: str
    node: str
    visit: int
    item: int | None = None
    attempt: int = 1

    @property
    def key(self) -> str:
        """`SCOPE NODE:VISIT[ITEM]~ATTEMPT` without spaces; item and a first attempt are left out."""
        return key_of(*self)

    @property
    def path(self) -> str:
        """The path as events show it, such as `gather[2]/search`."""
        item = "" if self.item is None else f"[{self.item}]"
        return f"{path_of(self.namespace)}{self.node}{item}"


def key_of(namespace: str, node: str, visit: int, item: int | None = None, attempt: int = 1) -> str:
    """The key of an address."""
    key = f"{namespace}{node}:{visit}" if item is None else f"{namespace}{node}:{visit}[{item}]"
    return key if attempt == 1 else f"{key}~{attempt}"


def path_of(namespace: str) -> str:
    """The path of a namespace or key: without visits and attempts."""
    return _COUNTS.sub("", namespace) if namespace else ""
