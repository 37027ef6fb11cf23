"""What is written on nodes and edges, the same in every format; each format escapes it in its own way."""

from __future__ import annotations

from graph_research.graph.spec import EdgeSpec, GraphSpec, NodeSpec

__all__ = ["edge_label", "edge_rows", "loop_label", "node_detail", "short"]


def node_detail(node: NodeSpec) -> str:
    """The node's kind and what it names, such as `run planner` or `each pending(sub_queries): graph topic_research`."""
    match node.kind:
        case "set":
            detail = f"set {', '.join(node.assignments)}"
        case "ask":
            detail = f"ask → {node.into}"
        case _:
            detail = f"{node.kind} {node.target}"
    return f"each {node.each.text}: {detail}" if node.each else detail


def edge_rows(edge: EdgeSpec, spec: GraphSpec) -> tuple[str, ...]:
    """Events, guard and loop of an edge, a row each; none for a plain edge."""
    rows = [f"on {', '.join(edge.on)}"] if edge.on else []
    rows += [edge.when.text] if edge.when else []
    rows += [loop_label(edge.loop, spec)] if edge.loop else []
    return tuple(" ".join(row.split()) for row in rows)


def edge_label(edge: EdgeSpec, spec: GraphSpec) -> str:
    """The rows of an edge in one line."""
    return " · ".join(edge_rows(edge, spec))


def loop_label(name: str, spec: GraphSpec) -> str:
    """`loop iteration ≤ max_iterations while unaddressed(gaps) > 0`."""
    loop = spec.loops.get(name)
    if loop is None:
        return f"loop {name}"
    per = f" per {loop.per}" if loop.per else ""
    condition = f" while {loop.while_.text}" if loop.while_ else ""
    return f"loop {name} ≤ {loop.most}{per}{condition}"


def short(text: str, most_chars: int) -> str:
    """`text`, cut with an ellipsis."""
    return text if len(text) <= most_chars else text[: most_chars - 1].rstrip() + "…"
