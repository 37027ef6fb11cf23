"""The hashes of a stored log, made again from its updates: which step holds another update than its hash says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import orjson

from graph_research.graph.state.address import key_of
from graph_research.graph.state.position import Position, digest
from graph_research.graph.state.rows import StepRow
from graph_research.graph.statuses import StepStatus


def first_wrong_hash(log: Sequence[StepRow]) -> StepRow | None:
    """The first start of a graph, or finished node or item, whose update does not give its hash; `log` is in the order
    of its steps. Hashes each update once.

    Edits of the state that no node made (a fork's, or those of resuming) are not compared.
    """
    positions: dict[str, Position] = {}
    ended: defaultdict[tuple[str, str, int], dict[int, bytes]] = defaultdict(dict)
    for row in log:
        place = positions.get(row.scope)
        if row.status == StepStatus.STARTED and row.delta is not None:
            outer = positions.get(_outer(row.scope)) if row.scope else None
            if row.hash != digest(outer.chain if outer else b"", row.delta):
                return row
        elif row.status == StepStatus.FINISHED and row.delta is not None and place is not None:
            inner = positions.get(f"{row.address.key}/")
            parts = [inner.chain] if inner else []
            visit = row.scope, row.node, row.visit
            if row.item is None:
                items = [hashed for _, hashed in sorted(ended.pop(visit, {}).items())]
                parts = [orjson.dumps(place.loops, None, orjson.OPT_SORT_KEYS), *(items or parts)]
            if row.hash != digest(place.chain, key_of(*visit, row.item).encode(), row.delta, *parts):
                return row
        if row.item is not None and row.status in (StepStatus.FINISHED, StepStatus.FAILED):
            ended[row.scope, row.node, row.visit][row.item] = row.hash
        if row.position is not None:
            positions[row.scope] = Position.from_bytes(row.position, row.hash)
    return None


def _outer(scope: str) -> str:
    """The scope of the graph that runs the subgraph in `scope`."""
    return scope[: scope.rstrip("/").rfind("/") + 1]
