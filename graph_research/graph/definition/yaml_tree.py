"""YAML as a tree with the place of every value: bounded in size and depth, without aliases, tags and YAML 1.1's
booleans such as `on`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from graph_research.graph.errors import Finding
from graph_research.graph.messages import truncate
from graph_research.graph.source import Place

MOST_BYTES = 1_000_000
_MOST_EVENTS = 20_000
_MOST_DEPTH = 24
_MOST_NUMBER_CHARS = 32
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,2})?")
_WORDS = {"": None, "~": None, "null": None, "Null": None, "NULL": None, "true": True, "True": True, "TRUE": True}
_WORDS |= {"false": False, "False": False, "FALSE": False}
_QUOTE_HELP = (
    "an expression that contains `,` `[` `{` or `: `, or begins with a quote, must be quoted as a whole, "
    'such as when: "xs[0] > 1"'
)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A single value as it is written; `place` is that of its first character, inside the quotes."""

    text: str
    plain: bool
    place: Place
    exact: bool = True
    """Whether it is written in one line, without escapes."""

    @property
    def value(self) -> str | int | float | bool | None:
        """By the core schema of YAML 1.2: `on`, `off`, `yes`, `no` are strings, as is everything in quotes."""
        if not self.plain:
            return self.text
        if self.text in _WORDS:
            return _WORDS[self.text]
        if len(self.text) > _MOST_NUMBER_CHARS:
            return self.text
        if _INTEGER.fullmatch(self.text):
            return int(self.text)
        return float(self.text) if _FLOAT.fullmatch(self.text) else self.text


@dataclass(frozen=True, slots=True)
class Sequence:
    """An array."""

    items: tuple[Tree, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class YamlMapping:
    """An object; its keys are unique strings."""

    entries: tuple[tuple[Scalar, Tree], ...]
    place: Place

    def get(self, key: str) -> Tree | None:
        """The value of a key, or None where it is absent."""
        return next((value for name, value in self.entries if name.text == key), None)


Tree = Scalar | Sequence | YamlMapping


def to_json(tree: Tree) -> Any:
    """The tree's value without places."""
    match tree:
        case Scalar():
            return tree.value
        case Sequence(items=items):
            return [to_json(item) for item in items]
        case YamlMapping(entries=entries):
            return {key.text: to_json(value) for key, value in entries}


def parse_yaml(text: str, file: str) -> tuple[Tree | None, list[Finding]]:
    """One YAML document as a tree. Where it breaks there is no tree and one finding; repeated keys are findings too
    (the first counts). At most 1 MB, 20,000 events and 24 levels are read; aliases and tags are refused.
    """
    builder = _Builder(file)
    if len(text) > MOST_BYTES:
        return None, [builder.finding(1, 1, "too-large", f"more than {MOST_BYTES:,} characters", "split the graph")]
    try:
        events = yaml.parse(text, Loader=yaml.CSafeLoader)
        tree = builder.build(events)
    except _Stopped as stop:
        return None, [stop.finding]
    except yaml.MarkedYAMLError as problem:
        return None, [_syntax_finding(builder, text, problem)]
    except (yaml.YAMLError, UnicodeError) as problem:
        reason = getattr(problem, "reason", None) or "it cannot be read"
        return None, [builder.finding(1, 1, "yaml-syntax", f"this is not YAML text: {reason}", "save it as UTF-8 text")]
    return tree, builder.findings


class _Stopped(Exception):
    """Ends parsing with a finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(slots=True)
class _Open:
    """A collection that is still open. Of a mapping, `parts` holds keys and values in turn."""

    event: Any
    parts: list[Tree]


class _Builder:
    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: list[Finding] = []
        self._documents = 0

    def finding(self, line: int, column: int, code: str, message: str, help: str) -> Finding:
        return Finding.at(Place(self.file, line, column), code, message, help)

    def build(self, events: Iterator[Any]) -> Tree | None:
        stack: list[_Open] = [_Open(None, [])]
        for count, event in enumerate(events):
            self._check(event, count, len(stack))
            if isinstance(event, yaml.CollectionStartEvent):
                stack.append(_Open(event, []))
            elif isinstance(event, yaml.CollectionEndEvent):
                closed = self._close(stack.pop())
                stack[-1].parts.append(closed)
            elif isinstance(event, yaml.ScalarEvent):
                stack[-1].parts.append(self._scalar(event))
        return stack[0].parts[0] if stack[0].parts else None

    def _check(self, event: Any, count: int, depth: int) -> None:
        problem = None
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                problem = "several-documents", "a second document begins here", "put each graph into its own file"
        elif count > _MOST_EVENTS:
            problem = "too-large", f"more than {_MOST_EVENTS:,} values", "split the graph"
        elif depth > _MOST_DEPTH:
            problem = (
                "too-deep",
                f"nested deeper than {_MOST_DEPTH} levels",
                "write it flatter",
            )
        elif isinstance(event, yaml.AliasEvent):
            help = 'write "*" in quotes' if event.anchor == "" else "write the value out"
            problem = "alias", f"the alias *{event.anchor} is not allowed", help
        elif getattr(event, "tag", None) not in (None, "!"):
            problem = "tag", f"the tag {event.tag} is not allowed", "leave it out"
        if problem:
            place = self._place(event)
            raise _Stopped(self.finding(place.line, place.column, *problem))

    def _place(self, event: Any, shift: int = 0) -> Place:
        return Place(self.file, event.start_mark.line + 1, event.start_mark.column + 1 + shift)

    def _scalar(self, event: Any) -> Scalar:
        quoted = event.style in ("'", '"')
        start, end = event.start_mark, event.end_mark
        exact = start.line == end.line and end.column - start.column == len(event.value) + 2 * quoted
        return Scalar(event.value, event.style in (None, ""), self._place(event, int(quoted)), exact)

    def _close(self, opened: _Open) -> Tree:
        place = self._place(opened.event)
        if isinstance(opened.event, yaml.SequenceStartEvent):
            return Sequence(tuple(opened.parts), place)
        pairs = self._joined(list(zip(opened.parts[::2], opened.parts[1::2], strict=True)))
        unique: dict[str, tuple[Scalar, Tree]] = {}
        for key, value in pairs:
            if not isinstance(key, Scalar):
                self._add(key.place, "yaml-syntax", "a key must be a plain name", _QUOTE_HELP)
            elif key.text in unique:
                first = unique[key.text][0].place.line
                self._add(
                    key.place,
                    "duplicate-key",
                    f'the key "{truncate(key.text)}" stands here again',
                    f"first in line {first}",
                )
            else:
                unique[key.text] = (key, value)
        return YamlMapping(tuple(unique.values()), place)

    def _joined(self, pairs: list[tuple[Tree, Tree]]) -> list[tuple[Tree, Tree]]:
        """Pairs with an expression put together again that commas of a flow mapping have cut: `f(a` and `b)`."""
        kept: list[tuple[Tree, Tree]] = []
        for key, value in pairs:
            before = kept[-1][1] if kept else None
            rest = isinstance(key, Scalar) and isinstance(value, Scalar) and value.plain and not value.text
            if (
                rest
                and isinstance(key, Scalar)
                and isinstance(before, Scalar)
                and before.plain
                and _is_open(before.text)
            ):
                whole = Scalar(f"{before.text}, {key.text}", True, before.place)
                kept[-1] = (kept[-1][0], whole)
                if not _is_open(whole.text):
                    text = truncate(whole.text)
                    self._add(
                        before.place, "unquoted-expression", f'"{text}" is cut at its comma', f"quote it: '{text}'"
                    )
            else:
                kept.append((key, value))
        return kept

    def _add(self, place: Place, code: str, message: str, help: str) -> None:
        self.findings.append(self.finding(place.line, place.column, code, message, help))


def _is_open(text: str) -> bool:
    return text.count("(") > text.count(")")


def _syntax_finding(builder: _Builder, text: str, problem: yaml.MarkedYAMLError) -> Finding:
    mark = problem.problem_mark or problem.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    context, what = problem.context or "", problem.problem or "broken"
    written = dict(enumerate(text.splitlines())).get(line, "")
    before = written[:column]
    code, help = "yaml-syntax", "correct the quotes, brackets and indentation there"
    if "alias" in context:
        help = 'write "*" in quotes; where it multiplies, quote the expression as a whole'
    elif written[column : column + 1] == "\t":
        what, context, help = "a tab stands where only spaces may", "", "indent with spaces"
    elif before.count("{") > before.count("}"):
        code, help = "unquoted-expression", _QUOTE_HELP
    elif any(sign in what + context for sign in ("cannot start any token", "block mapping", "mapping values", "flow")):
        help = _QUOTE_HELP
    return builder.finding(line + 1, column + 1, code, f"not valid YAML: {what} {context}".rstrip(), help)
