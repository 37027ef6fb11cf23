"""Static checks of a compiled graph: every finding at once, none of them by running anything."""

from __future__ import annotations

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import Finding
from graph_research.graph.validation.dataflow import channel_types, check_channel_use, check_handoffs
from graph_research.graph.validation.references import check_channel_names, check_references
from graph_research.graph.validation.routing import check_routing

__all__ = ["validate"]


def validate(graph: Graph, *, well_shaped: bool, all_compiled: bool) -> list[Finding]:
    """Findings in no order. A graph that is not `well_shaped` (parts of it could not be read) is checked for its names
    and types only, one whose channels are not known for its other names. The use of channels is checked only if
    `all_compiled`."""
    from graph_research.graph.validation.structure import check_flow, predecessors

    if not graph.spec.channels_known:
        return list(check_references(graph))
    channels = channel_types(graph)
    findings = [*check_references(graph), *check_channel_names(graph)]
    findings += [*check_handoffs(graph, channels, predecessors(graph.spec))]
    if well_shaped:
        findings += [*check_flow(graph), *check_routing(graph, channels)]
    if well_shaped and all_compiled:
        findings += check_channel_use(graph)
    return findings
