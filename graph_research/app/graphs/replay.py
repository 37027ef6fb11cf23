"""A stored run replayed: its graph put together as it was, and its steps computed again from what was recorded."""

from __future__ import annotations

from dataclasses import replace

from graph_research.app.store import Store, request_of
from graph_research.app.wiring.replay_registry import offline_registry, recorded_failures
from graph_research.app.workspace import Workspace
from graph_research.errors import Action, Hint
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.identity import ChangeKind, differences
from graph_research.graph.errors import GraphChanged, GraphInvalid
from graph_research.graph.history.replay import Replayed, replay
from graph_research.graph.history.stored_definition import definition_texts
from graph_research.graph.loader import load_graph
from graph_research.graph.registry import Registry


async def replay_stored(workspace: Workspace, store: Store, run_id: str, *, current: bool = False) -> Replayed:
    """Replay a run of any store, with the graph, prompts and schemas that are stored with it; with `current` with the
    prompts and schemas of this workspace, where it has them, which tells what their changes come to."""
    record = await store.run(run_id)
    request = request_of(record)
    prompts = await definition_texts(store, run_id, "prompt")
    schemas = await definition_texts(store, run_id, "schema")
    registry = offline_registry(workspace, request, prompts=prompts, schemas=schemas, current=current)
    graph = await _stored_graph(store, run_id, registry, current=current)
    return await replay(store, graph, run_id, interactive=request.interactive, failures=recorded_failures())


async def _stored_graph(store: Store, run_id: str, registry: Registry, *, current: bool) -> Graph:
    row = await store.run_row(run_id)
    graphs = await definition_texts(store, run_id, "graph")
    text = graphs.texts.get(row.graph)
    if text is None:
        raise GraphChanged(f"run {run_id} holds no graph {row.graph!r}", help="it was not made by graph-research")
    try:
        graph = load_graph(graphs.file(row.graph), text=text, registry=replace(registry, graphs=graphs))
    except GraphInvalid as invalid:
        raise GraphChanged(
            f"run {run_id} was recorded with another version of the graph {row.graph!r}, which this version of "
            f"graph-research cannot load: {invalid.message}",
            help="replay it with the version of graph-research that made it, or ask its question in a new run",
        ) from invalid
    changes = [change for change in differences(row.definition, graph) if change.kind is not ChangeKind.NEW]
    if changes and not current:
        raise GraphChanged(
            f"run {run_id} cannot be put together as it was: {', '.join(map(str, changes[:8]))}",
            help="use the version that made the run, or replay it with the current files",
            hint=Hint(Action.SET_OPTION, options={"current": True}),
        )
    return graph
