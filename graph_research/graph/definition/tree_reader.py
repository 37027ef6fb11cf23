"""Reads a YAML tree by the shape that its parts must have; what does not fit becomes a finding, not an exception."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from graph_research.errors import NAME_PATTERN
from graph_research.graph.definition.yaml_tree import Scalar, Sequence, Tree, YamlMapping, to_json
from graph_research.graph.errors import Finding
from graph_research.graph.messages import did_you_mean, truncate
from graph_research.graph.source import Expression, Place

_RESOURCE_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}([./][A-Za-z0-9_-]{1,64}){0,4}")

_REMEDIES = {
    "an object": "write it as `key: value` lines",
    "a string": "write text; a number, true, false or null is text in quotes",
    "true or false": "write true or false without quotes",
}
"""By what a value must be, how it is written; anything else is a number."""

_NEVER_NULL = ("when", "while", "ask", "each")


class TreeReader:
    """Collects `findings`, and in `places` where each value stands (its key at the same path and `:key`).

    Every method takes the tree at `path` (None where nothing is written) and returns None for what is absent or wrong.
    """

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        self.places: dict[str, Place] = {}

    def report(self, place: Place, code: str, message: str, help: str) -> None:
        self.findings.append(Finding.at(place, code, message, help))

    def keys(
        self,
        tree: Tree | None,
        path: str,
        what: str,
        known: Collection[str],
        needed: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, Tree]:
        """The entries of an object with fixed keys, without the unknown ones. `needed` has the keys that must be
        there, each with what stands for its value."""
        entries = self.entries(tree, path, what, f"its keys are {', '.join(known)}")
        for key in [key for key in entries if key not in known]:
            place = self.places[_join(path, key) + ":key"]
            self.report(place, "unknown-key", f'{what} has no key "{truncate(key)}"', did_you_mean(key, known))
            del entries[key]
        for key, value in needed.items():
            if isinstance(tree, YamlMapping) and tree.get(key) is None:
                self.report(self.places[path], "missing-key", f"{what} needs the key `{key}`", f"add `{key}: {value}`")
        return entries

    def named(self, tree: Tree | None, path: str, what: str) -> dict[str, Tree]:
        """The entries of an object whose keys are ids."""
        entries = self.entries(tree, path, f"`{path}`")
        for key in entries:
            self._check_name(key, what, self.places[f"{path}/{key}:key"])
        return entries

    def name(self, tree: Tree | None, what: str) -> str | None:
        """An id."""
        value = self.text(tree, what)
        if tree is not None and value is not None:
            self._check_name(value, what, tree.place)
        return value

    def entries(self, tree: Tree | None, path: str, what: str, help: str = "") -> dict[str, Tree]:
        """The entries of an object with any keys; `help` is for what is not an object."""
        if tree is None:
            return {}
        self.places[path] = tree.place
        if not isinstance(tree, YamlMapping):
            self._wrong(tree, what, "an object", help)
            return {}
        for key, value in tree.entries:
            self.places[_join(path, key.text)] = value.place
            self.places[_join(path, key.text) + ":key"] = key.place
        return {key.text: value for key, value in tree.entries}

    def text(self, tree: Tree | None, what: str) -> str | None:
        value: str | None = self._scalar(tree, what, lambda value: isinstance(value, str) and value != "", "a string")
        return value

    def flag(self, tree: Tree | None, what: str) -> bool | None:
        value: bool | None = self._scalar(tree, what, lambda value: isinstance(value, bool), "true or false")
        return value

    def whole(self, tree: Tree | None, what: str, at_least: int) -> int | None:
        def fits(value: Any) -> bool:
            return isinstance(value, int) and not isinstance(value, bool) and value >= at_least

        value: int | None = self._scalar(tree, what, fits, f"a whole number of at least {at_least}")
        return value

    def number(self, tree: Tree | None, what: str, *, may_be_0: bool = False) -> float | None:
        """A number above 0, or also 0."""

        def fits(value: Any) -> bool:
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                return False
            return value > 0 or (may_be_0 and value == 0)

        value: float | None = self._scalar(tree, what, fits, f"a number {'of at least' if may_be_0 else 'above'} 0")
        return value

    def choice(self, tree: Tree | None, what: str, known: Collection[str]) -> Any:
        """One of `known`."""
        value = self.text(tree, what)
        if tree is None or value is None or value in known:
            return value
        self.report(tree.place, "bad-value", f'{what} cannot be "{truncate(value)}"', did_you_mean(value, known))
        return None

    def resource(self, tree: Tree | None, what: str) -> str | None:
        """The name of a schema, prompt or graph."""
        value = self.text(tree, what)
        if tree is None or value is None or _RESOURCE_NAME.fullmatch(value):
            return value
        self.report(
            tree.place, "name-invalid", f'{what} "{truncate(value)}" is not a name', "a bare name such as planner.input"
        )
        return None

    def texts(self, tree: Tree | None, path: str, what: str) -> tuple[str, ...]:
        """An array of strings; a single string is an array of one."""
        if tree is None:
            return ()
        items = tree.items if isinstance(tree, Sequence) else (tree,)
        self.places.update({f"{path}/{index}": item.place for index, item in enumerate(items)})
        return tuple(text for item in items if (text := self.text(item, what)))

    def expression(self, tree: Tree | None, what: str, key: Place | None = None) -> Expression | None:
        """A string is an expression, any other value a constant."""
        if tree is None:
            return None
        value = to_json(tree)
        if (isinstance(value, str) and not value.strip()) or (value is None and what in _NEVER_NULL):
            self.report(tree.place, "expression-syntax", f"`{what}` is empty", "an empty text is written '\"\"'")
            return None
        if isinstance(value, str):
            exact = isinstance(tree, Scalar) and tree.exact
            return Expression(value, tree.place, key, "exact" if exact else "folded")
        return Expression(repr(value), tree.place, key, "literal")

    def expressions(self, tree: Tree | None, path: str, what: str) -> dict[str, Expression]:
        """An object of names to expressions."""
        expressions = {}
        for key, value in self.entries(tree, path, f"`{what}`").items():
            if expression := self.expression(value, key, self.places[f"{path}/{key}:key"]):
                expressions[key] = expression
        return expressions

    def _check_name(self, name: str, what: str, place: Place) -> None:
        if not NAME_PATTERN.fullmatch(name):
            help = "use 1 to 64 of a-z, 0-9, _ and -, starting with a letter or digit"
            self.report(place, "name-invalid", f'"{truncate(name)}" cannot name a {what}', help)

    def _scalar(self, tree: Tree | None, what: str, fits: Callable[[Any], bool], wanted: str) -> Any:
        if tree is None:
            return None
        if isinstance(tree, Scalar) and fits(tree.value):
            return tree.value
        self._wrong(tree, what, wanted)
        return None

    def _wrong(self, tree: Tree, what: str, wanted: str, help: str = "") -> None:
        names: Mapping[type, str] = {YamlMapping: "an object", Sequence: "an array"}
        got = names.get(type(tree)) or (truncate(tree.text) if isinstance(tree, Scalar) else "")
        help = help or _REMEDIES.get(wanted, "write one such as 3, without quotes")
        self.report(tree.place, "wrong-type", f"{what} must be {wanted}, not {got or 'empty'}", help)


def _join(path: str, key: str) -> str:
    return f"{path}/{key}" if path else key
