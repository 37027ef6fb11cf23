"""What is written on nodes and edges, the same in every format; each format escapes it in its own way."""

from __future__ import annotations

from graph_research.graph.spec import EdgeSpec, GraphSpec, NodeSpec

__all__ = ["edge_label", "loop_label", "node_detail", "short"]


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


def edge_label(edge: EdgeSpec, spec: GraphSpec) -> str:
    """Events, guard and loop of an edge; empty for a plain one."""
    parts = [f"on {', '.join(edge.on)}"] if edge.on else []
    parts += [edge.when.text] if edge.when else []
    parts += [loop_label(edge.loop, spec)] if edge.loop else []
    return " · ".join(" ".join(part.split()) for part in parts)


def loop_label(name: str, spec: GraphSpec) -> str:
    """`loop iteration: while unaddressed(gaps) > 0, at most max_iterations`."""
    loop = spec.loops.get(name)
    if loop is None:
        return f"loop {name}"
    condition = f"while {loop.while_.text}, " if loop.while_ else ""
    per = f" per {loop.per}" if loop.per else ""
    return f"loop {name}: {condition}at most {loop.most}{per}"


def short(text: str, most_chars: int) -> str:
    """`text`, cut with an ellipsis."""
    return text if len(text) <= most_chars else text[: most_chars - 1].rstrip() + "…"
