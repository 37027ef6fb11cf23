"""The definition that is stored with a run, found again by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from graph_research.graph.checkpoint.base import Checkpointer, RunRecord
from graph_research.graph.definition.parser import read_spec
from graph_research.graph.definition.spec import GraphSpec

__all__ = ["StoredTexts", "definition_texts", "stored_spec"]


@dataclass(frozen=True)
class StoredTexts:
    """A resolver over texts in memory; `files` has the names of the files they came from."""

    texts: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> tuple[str, str] | None:
        return (self.texts[name], self.file(name)) if name in self.texts else None

    def file(self, name: str) -> str:
        """What to call the text where a file's name is shown."""
        return self.files.get(name, f"{name} (as it was stored)")

    def names(self) -> list[str]:
        return sorted(self.texts)


async def definition_texts(store: Checkpointer, run_id: str, kind: str) -> StoredTexts:
    """The parts of one kind (`graph`, `schema`, `prompt`) that a run began with."""
    row = await store.run_row(run_id)
    parts = {name.partition(" "): entry for name, entry in orjson.loads(row.definition).items()}
    entries = {name: entry for (one, _, name), entry in parts.items() if one == kind}
    return StoredTexts(
        {name: await store.text(entry["text"]) for name, entry in entries.items()},
        {name: entry["file"] for name, entry in entries.items() if "file" in entry},
    )


async def stored_spec(store: Checkpointer, record: RunRecord) -> GraphSpec | None:
    """The root graph that a run began with, None where it cannot be read any more."""
    graphs = await definition_texts(store, record.run_id, "graph")
    schemas = await definition_texts(store, record.run_id, "schema")
    return read_spec(graphs.texts.get(record.graph, ""), record.graph, schemas, {})[0]
