"""The possible combinations of guards: a truth table over the values that their comparisons distinguish."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_research.graph.expressions.operations import COMPARE, COMPARISONS
from graph_research.graph.messages import show_value
from graph_research.graph.validation.types import ANY, Type

MOST_ATOMS = 12


class TooManyAtoms(Exception):
    """More atoms than a truth table can hold."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One combination: which of the conditions hold (None: it fails to be evaluated), and values that make it so."""

    holds: tuple[bool | None, ...]
    given: Mapping[str, Any]
    subjects: _Subjects

    @property
    def values(self) -> str:
        """The values in words. Few rows are told of, so they are put into words only then."""
        return self.subjects.describe(self.given)


def truth_table(
    conditions: Sequence[Sequence[ast.expr | str]],
    types: Callable[[ast.expr], Type],
    most_values: int,
) -> list[Row]:
    """Every distinguishable combination of `conditions`, each a conjunction of expressions and of loops (texts) that
    may be used up.

    Comparisons with constants of one subject share its values (`n > 0` and `n <= 0` exclude each other, an enum has
    its members), comparisons of two subjects their order; everything else is an atom that is true or false. Values that
    no comparison tells apart count once: 12 atoms make some 4,096 rows. `types` tells what is known of a subject.
    Raises `TooManyAtoms` beyond 12 atoms, or where the table would have more than `most_values` truth values.
    """
    subjects = _Subjects(types)
    normal = [[part if isinstance(part, str) else _normalised(part) for part in parts] for parts in conditions]
    for part in itertools.chain.from_iterable(normal):
        subjects.collect(part)
    if len(subjects.atoms) > MOST_ATOMS or math.prod(map(len, subjects.cases())) * len(conditions) > most_values:
        raise TooManyAtoms
    tests = [[_test(part) for part in parts] for parts in normal]
    return [
        Row(holds=tuple(_holds(condition, values) for condition in tests), given=values, subjects=subjects)
        for values in subjects.rows()
    ]


def subjects_of(expression: ast.expr) -> frozenset[str]:
    """What decides a condition: the names, look-ups, calls and compared pairs in it."""
    subjects = _Subjects(lambda node: ANY)  # noqa: ARG005 -- only the texts count here
    subjects.collect(_normalised(expression))
    return frozenset(subjects.by_text)


def _normalised(expression: ast.expr) -> ast.expr:
    """The same condition with chained comparisons split, negations outside of comparisons, and `a["b"]` as `a.b`."""
    tree = ast.parse(ast.unparse(expression), mode="eval").body
    normal: ast.expr = _Normaliser().visit(tree)
    return normal


class _Normaliser(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return ast.Attribute(node.value, key) if isinstance(key, str) and key.isidentifier() else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        values = [node.left, *node.comparators]
        singles = [
            self._single(ast.Compare(left, [op], [right]))
            for left, op, right in zip(values, node.ops, values[1:], strict=False)
        ]
        return singles[0] if len(singles) == 1 else ast.BoolOp(ast.And(), singles)

    def _single(self, node: ast.Compare) -> ast.expr:
        opposite = _OPPOSITES.get(type(node.ops[0]))
        if opposite is None or _read(node):
            return node
        return ast.UnaryOp(ast.Not(), ast.Compare(node.left, [opposite()], node.comparators))


@dataclass(slots=True)
class _Subject:
    """A name, look-up, call, or compared pair of them, whose value decides atoms."""

    text: str
    type: Type = ANY
    constants: list[Any] = field(default_factory=list)
    tested: bool = False
    pair: bool = False
    loop: bool = False
    tests: list[Callable[[Any], bool]] = field(default_factory=list)

    def cases(self) -> list[Any]:
        """One value for each way in which the atoms can come out."""
        cases: dict[tuple[bool | None, ...], Any] = {}
        for value in self.domain():
            cases.setdefault(tuple(_holds([test], value) for test in self.tests), value)
        return list(cases.values())

    def domain(self) -> list[Any]:
        """The values that atoms of this kind can tell apart, and one of those between them."""
        if self.pair:
            return [-1, 0, 1]
        members = self.type.schema.get("enum")
        if isinstance(members, list) and members:
            return _distinct([*members, *(None for value in self.constants if value is None)])
        if not self.constants or self.type.solid == {"boolean"}:
            return _distinct([True, False, *(None for value in self.constants if value is None)])
        values: list[Any] = [value for value in self.constants if isinstance(value, bool) or value is None]
        numbers = sorted(
            {value for value in self.constants if _is_number(value)}
            | ({0} if self.tested and self.type.meets("number") else set())
        )
        if any(_is_number(value) for value in self.constants):
            values += [value for value in self._around(numbers) if self._in_range(value)]
        texts = [value for value in self.constants if isinstance(value, str)]
        if texts:
            values += [*texts, *([""] if self.tested else []), _OTHER]
        elif not values or all(value is None or isinstance(value, bool) for value in values):
            values.append(_OTHER)
        return _distinct(values)

    def _around(self, numbers: list[Any]) -> Iterator[Any]:
        whole = self.type.schema.get("type") == "integer" or self.text.startswith("len(")
        yield numbers[0] - 1
        for low, high in itertools.pairwise(numbers):
            yield low
            if not whole or high - low > 1:
                yield low + 1 if whole else (low + high) / 2
        yield numbers[-1]
        yield numbers[-1] + 1

    def _in_range(self, value: Any) -> bool:
        schema = self.type.schema
        lowest = 0 if self.text.startswith("len(") else schema.get("minimum")
        highest = schema.get("maximum")
        return (lowest is None or value >= lowest) and (highest is None or value <= highest)


class _Other(str):
    """Any string other than the named ones; true."""

    __slots__ = ()


_OTHER = _Other("something else")


class _Subjects:
    def __init__(self, types: Callable[[ast.expr], Type]) -> None:
        self.types = types
        self.by_text: dict[str, _Subject] = {}
        self.atoms: set[str] = set()

    def collect(self, part: ast.expr | str) -> None:
        """Note the atoms of a condition."""
        match part:
            case str():
                subject = self._note(part, part)
                subject.loop = True
                subject.tests.append(bool)
            case ast.BoolOp(values=values):
                for value in values:
                    self.collect(value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.collect(operand)
            case ast.IfExp():
                for value in (part.test, part.body, part.orelse):
                    self.collect(value)
            case ast.Compare() if reading := _read(part):
                subject = self._note(reading.subject, reading.atom, reading.node)
                subject.pair = reading.node is None
                subject.constants += reading.constants
                subject.tests.append(reading.holds)
            case ast.Constant():
                pass
            case _:
                subject = self._note(ast.unparse(part), ast.unparse(part), part)
                subject.tested = True
                subject.tests.append(bool)

    def _note(self, text: str, atom: str, node: ast.expr | None = None) -> _Subject:
        self.atoms.add(atom)
        return self.by_text.setdefault(text, _Subject(text, self.types(node) if node is not None else ANY))

    def rows(self) -> Iterator[dict[str, Any]]:
        for values in itertools.product(*self.cases()):
            yield dict(zip(self.by_text, values, strict=True))

    def cases(self) -> list[list[Any]]:
        return [subject.cases() for subject in self.by_text.values()]

    def describe(self, values: Mapping[str, Any]) -> str:
        return ", ".join(filter(None, (self._described(self.by_text[text], value) for text, value in values.items())))

    def _described(self, subject: _Subject, value: Any) -> str:
        if subject.loop:
            return "" if value else f"loop {subject.text} used up"
        if subject.pair:
            left, right = subject.text.split(_PAIR)
            return f"{left} {('<', '==', '>')[value + 1]} {right}"
        if value is _OTHER:
            return (
                f"{subject.text} not {' or '.join(show_value(constant) for constant in _distinct(subject.constants))}"
            )
        if isinstance(value, bool) and not subject.constants and subject.type.solid != {"boolean"}:
            return f"{subject.text} {'holds' if value else 'does not hold'}"
        return f"{subject.text} = {show_value(value)}"


_Values = Mapping[str, Any]
"""The value of each subject, by its text."""


def _holds(condition: Sequence[Callable[[Any], bool]], values: Any) -> bool | None:
    """Whether all tests hold; None where a comparison cannot be made, which is an error of the node and not a question
    of routing."""
    try:
        return all(test(values) for test in condition)
    except TypeError:
        return None


def _test(part: ast.expr | str) -> Callable[[_Values], bool]:
    """A condition as a function: its syntax is read once, and not for each row of the table."""
    match part:
        case ast.BoolOp(op=operation, values=parts):
            tests, decide = list(map(_test, parts)), all if isinstance(operation, ast.And) else any
            return lambda values: decide(test(values) for test in tests)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            denied = _test(operand)
            return lambda values: not denied(values)
        case ast.IfExp():
            asked, body, orelse = map(_test, (part.test, part.body, part.orelse))
            return lambda values: body(values) if asked(values) else orelse(values)
        case ast.Compare() if reading := _read(part):
            return lambda values: reading.holds(values[reading.subject])
        case ast.Constant(value=constant):
            return lambda _: bool(constant)
        case _:
            text = part if isinstance(part, str) else ast.unparse(part)
            return lambda values: bool(values[text])


_PAIR = " ⋚ "
_COMPARISONS = {kind: COMPARE[symbol] for kind, symbol in COMPARISONS.items()}
_MIRRORED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
    ast.Eq: ast.Eq,
    ast.NotEq: ast.NotEq,
}
_OPPOSITES: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.NotEq: ast.Eq,
    ast.NotIn: ast.In,
    ast.IsNot: ast.Is,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """A comparison as a test of its subject's value; for a pair (`node` None) that is the sign of its order."""

    subject: str
    atom: str
    """The comparison in words that it shares with its negation."""
    node: ast.expr | None
    constants: list[Any]
    holds: Callable[[Any], bool]


def _read(node: ast.Compare) -> _Reading | None:
    """None where the comparison is better left an atom: order of texts, membership in something that changes."""
    left, kind, right = node.left, type(node.ops[0]), node.comparators[0]
    if _is_constant(left) and not _is_constant(right) and kind in _MIRRORED:
        left, kind, right = right, _MIRRORED[kind], left
    compare = _COMPARISONS[kind]
    if not _is_constant(left) and _is_constant(right):
        constant = ast.literal_eval(right)
        if kind in _ORDERS and not _is_number(constant):
            return None
        many = kind in (ast.In, ast.NotIn)
        if many and not isinstance(constant, (list, tuple)):
            return None
        constants = list(constant) if many else [constant]
        if not all(_is_number(value) or isinstance(value, (str, bool, type(None))) for value in constants):
            return None
        return _Reading(
            subject=ast.unparse(left),
            atom=f"{ast.unparse(left)} {_OPPOSITES.get(kind, kind).__name__} {ast.unparse(right)}",
            node=left,
            constants=constants,
            holds=lambda value: compare(_comparable(value, kind), constant),
        )
    if kind in _MIRRORED and not _is_constant(left):
        first, second = ast.unparse(left), ast.unparse(right)
        if first > second:
            first, second, kind = second, first, _MIRRORED[kind]
        sign = _COMPARISONS[kind]
        return _Reading(
            subject=f"{first}{_PAIR}{second}",
            atom=f"{first} {_OPPOSITES.get(kind, kind).__name__} {second}",
            node=None,
            constants=[],
            holds=lambda v: sign(v, 0),
        )
    return None


def _comparable(value: Any, kind: type[ast.cmpop]) -> Any:
    if kind in _ORDERS and not isinstance(value, (int, float)):
        raise TypeError
    return value


def _is_constant(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _distinct(values: Sequence[Any]) -> list[Any]:
    kept: list[Any] = []
    for value in values:
        if not any(value is other or (type(value) is type(other) and value == other) for other in kept):
            kept.append(value)
    return kept
