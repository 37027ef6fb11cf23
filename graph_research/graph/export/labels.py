"""Labels of nodes and edges, the same in every format; each format escapes them in its own way."""

from __future__ import annotations

import textwrap

from graph_research.graph.definition.spec import EdgeSpec, GraphSpec, NodeSpec


def node_rows(node: NodeSpec) -> tuple[str, ...]:
    """The node's kind and what it names, such as `run planner`, and in a second row over what it fans out."""
    match node.kind:
        case "set":
            detail = f"set {', '.join(node.assignments)}"
        case "ask":
            detail = f"ask → {node.into}"
        case _:
            detail = f"{node.kind} {node.target}"
    if node.each is None:
        return (_line(detail),)
    at_once = f", {node.at_once} at once" if node.at_once != 1 else ""
    return _line(detail), _line(f"each {node.each.text}{at_once}")


def edge_rows(edge: EdgeSpec, spec: GraphSpec) -> tuple[str, ...]:
    """Events, guard and loop of an edge, a row each, and one for the loop's condition; none for a plain edge."""
    rows = [f"on {', '.join(edge.on)}"] if edge.on else []
    rows += [edge.when.text] if edge.when else []
    rows += _loop_rows(edge.loop, spec) if edge.loop else []
    return tuple(_line(row) for row in rows)


def edge_label(edge: EdgeSpec, spec: GraphSpec) -> str:
    """The rows of an edge in one line."""
    return " · ".join(edge_rows(edge, spec))


def _loop_rows(name: str, spec: GraphSpec) -> list[str]:
    loop = spec.loops.get(name)
    if loop is None:
        return [f"loop {name}"]
    per = f" per {loop.per}" if loop.per else ""
    return [f"loop {name} ≤ {loop.most}{per}", *([f"while {loop.while_.text}"] if loop.while_ else [])]


def short(text: str, most_chars: int) -> str:
    """`text`, cut with an ellipsis."""
    return text if len(text) <= most_chars else text[: most_chars - 1].rstrip() + "…"


def wrapped(text: str, width: int, most_rows: int) -> list[str]:
    """`text` in rows of at most `width` characters; what does not fit is cut with an ellipsis."""
    head = text[: width * (most_rows + 1)]
    return textwrap.wrap(head, width, max_lines=most_rows, placeholder=" …", break_on_hyphens=False)


def _line(text: str) -> str:
    return " ".join(text.split())
