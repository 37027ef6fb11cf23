"""The definition that is stored with a run, found again by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from graph_research.graph.checkpoint.base import Checkpointer

__all__ = ["StoredTexts", "definition_texts"]


@dataclass(frozen=True)
class StoredTexts:
    """A resolver over texts in memory."""

    texts: Mapping[str, str]

    def find(self, name: str) -> tuple[str, str] | None:
        return (self.texts[name], f"{name} (as it was stored)") if name in self.texts else None

    def names(self) -> list[str]:
        return sorted(self.texts)


async def definition_texts(store: Checkpointer, run_id: str, kind: str) -> StoredTexts:
    """The parts of one kind (`graph`, `schema`, `prompt`) that a run began with."""
    row = await store.run_row(run_id)
    parts = {name.partition(" "): entry["text"] for name, entry in orjson.loads(row.definition).items()}
    return StoredTexts({name: await store.text(text) for (one, _, name), text in parts.items() if one == kind})
