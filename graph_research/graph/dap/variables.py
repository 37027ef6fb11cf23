"""Values as an editor's tree of variables: arrays and objects get a number by which their parts are requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.graph.messages import show_value, type_name

_VALUE_CHARS = 200
_CONTROL = dict.fromkeys((*range(9), *range(10, 32), *range(127, 160)), "\ufffd")


@dataclass(frozen=True, kw_only=True)
class Node:
    """A value with parts. `level` and `path` say where it stands in the state, so that it can be set; None where it
    cannot."""

    value: Any
    level: int | None = None
    path: tuple[str | int, ...] = ()


class Variables:
    """The numbers given out since the run was held; `forget` takes them back."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []

    def forget(self) -> None:
        self._nodes.clear()

    def number(self, node: Node) -> int:
        """The number to ask for the parts of a value by; 0 where it has none."""
        if not isinstance(node.value, (Mapping, list, tuple)) or not node.value:
            return 0
        self._nodes.append(node)
        return len(self._nodes)

    def later(self, what: Any) -> int:
        """A number for parts that are looked up when they are asked for: `what` stands for them."""
        self._nodes.append(Node(value=what))
        return len(self._nodes)

    def node(self, number: int) -> Node | None:
        """What a number stands for; None for one that was not given out, or was taken back."""
        return self._nodes[number - 1] if 0 < number <= len(self._nodes) else None

    def shown(self, value: Any, node: Node | None = None) -> dict[str, Any]:
        """A value as the protocol shows it: text, type, and the number and count of its parts."""
        node = node or Node(value=value)
        listed = isinstance(value, (list, tuple))
        parts = {"indexedVariables" if listed else "namedVariables": len(value)} if self._has_parts(value) else {}
        text = one_line(show_value(value, _VALUE_CHARS))
        return {"value": text, "type": type_name(value), "variablesReference": self.number(node), **parts}

    def parts(self, node: Node, start: int = 0, count: int = 0, only: str | None = None) -> list[dict[str, Any]]:
        """The parts of a value, `count` of them from `start` on (all when 0); `only` is `indexed` or `named`."""
        value = node.value
        listed = isinstance(value, (list, tuple))
        if only is not None and (only == "indexed") != listed:
            return []
        named: Sequence[tuple[str | int, Any]] = list(enumerate(value)) if listed else list(value.items())
        named = named[start : start + count if count else None]
        return [self._part(node, name, part) for name, part in named]

    def _part(self, node: Node, name: str | int, value: Any) -> dict[str, Any]:
        inner = Node(value=value, level=node.level, path=(*node.path, name))
        fixed = {} if node.level is not None else {"presentationHint": {"attributes": ["readOnly"]}}
        label = f"[{name}]" if isinstance(name, int) else one_line(str(name)[:_VALUE_CHARS])
        return {"name": label, **self.shown(value, inner), **fixed}

    def _has_parts(self, value: Any) -> bool:
        return isinstance(value, (Mapping, list, tuple)) and bool(value)


def one_line(text: str) -> str:
    """The text with a replacement character for each control character but the tab."""
    return text.translate(_CONTROL)
