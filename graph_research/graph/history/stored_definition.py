"""The definition that is stored with a run, found again by name."""

from __future__ import annotations

from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.checkpoint.records import RunRecord
from graph_research.graph.definition.identity import parts
from graph_research.graph.definition.parser import read_spec
from graph_research.graph.definition.spec import GraphSpec
from graph_research.graph.resources import TextResolver


async def definition_texts(store: Checkpointer, run_id: str, kind: str) -> TextResolver:
    """The parts of one kind (`graph`, `schema`, `prompt`) that a run began with."""
    row = await store.run_row(run_id)
    entries = {name: entry for (each, name), entry in parts(row.definition).items() if each == kind}
    return TextResolver(
        {name: await store.text(entry["text"]) for name, entry in entries.items()},
        {name: entry["file"] for name, entry in entries.items() if "file" in entry},
        suffix=" (as it was stored)",
    )


async def stored_spec(store: Checkpointer, record: RunRecord) -> GraphSpec | None:
    """The root graph that a run began with, None where it cannot be read any more."""
    graphs = await definition_texts(store, record.run_id, "graph")
    schemas = await definition_texts(store, record.run_id, "schema")
    return read_spec(graphs.texts.get(record.graph, ""), record.graph, schemas, {})[0]
