"""Graphs of one's own that jobs run: checked in a child process before anything reads them here.

What it may name is what is shipped, by the names that the shipped graphs use. It searches documents or the web, not
both: what goes out as a web query is limited to public words by what a graph says the question is, and so by nothing
where somebody else wrote it. What its run may take is bounded by the run itself, and here what one step may compute:
nothing else of the worker goes on meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from graph_research.app.request import RequestInvalid
from graph_research.app.runs.run import Run
from graph_research.errors import UserMistake
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import Severity
from graph_research.graph.state.inputs import first_values, refuse_unstorable
from graph_research.providers.search.base import LOCAL
from graph_research.service.backend import Backend
from graph_research.service.untrusted.checking import check_graph

_SHOWN = 5
MOST_EXPRESSIONS = 60
"""Of one node with the edges that lead from it; those of the shipped graphs have up to 49."""


class DefinitionInvalid(UserMistake):
    """A graph of a user's own in which something is wrong."""


def may_bring_graphs(backend: Backend) -> bool:
    """Whether users may run graphs of their own: as the operator says, else where only this machine has users."""
    allowed = backend.app.workspace.settings.service_own_graphs
    return not backend.users.need_tokens if allowed is None else allowed


async def check_definition(backend: Backend, user: str, definition: str) -> None:
    """`RequestInvalid` where users may bring no graphs, `DefinitionInvalid` for what is wrong with this one."""
    if not may_bring_graphs(backend):
        raise RequestInvalid(
            "graphs of one's own are not run here",
            help="name one that is offered; the operator decides with the setting `service_own_graphs`",
        )
    found = await backend.turns.work(user, partial(check_graph, definition, ""))
    errors = [row for row in found["findings"] if row["severity"] == Severity.ERROR]
    if errors:
        shown = [f"line {row['line']}, column {row['column']}: {row['message']}" for row in errors[:_SHOWN]]
        more = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
        raise DefinitionInvalid(
            f"the graph cannot be run: {'; '.join(shown)}{more}",
            help="POST /api/research/graphs/check has every finding with a remedy",
        )


def check_inputs(run: Run, inputs: Mapping[str, Any]) -> None:
    """`InputInvalid` where the graph cannot begin with these."""
    given = {**run.input(), **inputs}
    refuse_unstorable(run.graph, given)
    first_values(run.graph, given)


def check_expressions(graph: Graph) -> None:
    """`DefinitionInvalid` where a step of the graph, or of a subgraph, evaluates too many expressions."""
    for each in graph.walk():
        for node, program in each.programs.items():
            edges = [edge for edge in each.spec.edges if edge.source in (node, "*")]
            count = len(program.fields) + len(program.into) + len(program.assignments)
            count += sum((edge.when is not None) + (edge.loop is not None) for edge in edges)
            if count > MOST_EXPRESSIONS:
                raise DefinitionInvalid(
                    f"node {node} has {count} expressions, those of its edges included, of {MOST_EXPRESSIONS} at most",
                    help="divide it into several nodes",
                )


def of_one_kind(names: Sequence[str], *, chosen: bool) -> list[str]:
    """The searches of a run of one's own graph: where none were `chosen`, documents before anything else.
    `RequestInvalid` where documents were chosen beside something else."""
    others = [name for name in names if name != LOCAL]
    if LOCAL not in names or not others:
        return list(names)
    if chosen:
        raise RequestInvalid(
            "a graph of your own searches either documents or the web", help=f"name {LOCAL}, or the others, in `search`"
        )
    return [LOCAL]
