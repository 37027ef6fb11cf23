"""Computed numbers: arithmetic that a writer declares over numbers of its evidence, evaluated and checked by code."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import isclose, log, nan

from graph_research.text.language.quantities import Value, figures
from graph_research.text.language.units import MULTIPLES, UNITS

CONSTANTS = frozenset({2, 4, 7, 8, 10, 12, 24, 30, 52, 60, 100, 365, 1000, 1024, 3600, 86_400, 1_000_000})
"""What a number of the evidence may be multiplied with or divided by: parts, units of time, percent, powers of ten."""

_LONGEST = 200
_MOST_READINGS = 64
_YEAR = UNITS["year"][1]
_SIZES = frozenset(UNITS.values())
_RATIO = "ratio"
_ANY_UNIT = "any"
"""Of a number without a unit that the writer chose: the text says what it is a number of."""
_SIGNS = str.maketrans("×·÷−–", "**/--")
_UNIT_WORDS = re.compile(r"[^\W\d_]+|[%€$£¥°]")
_RANGE = re.compile(r"\s?(?:[-–—/,]|\w{1,3})\s?")
_GROUPING = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_ROUNDED_MULTIPLE = 0.1  # "twice" may be 1.8 to 2.2
_TERM = re.compile(r"\d+(?:\.\d+)?|\S")
_NAME = r"(?:[^\W\d][\w.]*(?:\(\))?|\([^\W\d](?:\(\)|[^()])*\))"
"""A name of code, a call without arguments, or an expression in parentheses that begins with one."""


class ComputationInvalid(ValueError):
    """The expression cannot be evaluated, or a number of it stands in no quote, or its units do not fit."""


@dataclass(frozen=True, kw_only=True)
class _Reading:
    """What a number may be: `base` in the base unit of `unit`, `factor` and `scale` as in `Value`.

    A `constant` is only a factor. `summands` is how many numbers a sum has.
    """

    base: float
    unit: str = ""
    factor: float = 1.0
    scale: float = 1.0
    per: tuple[str, float] | None = None
    constant: bool = False
    summands: int = 1

    @property
    def whole(self) -> float:
        """In its own unit, with its scale word."""
        return self.base / self.factor

    def times(self, number: float, per: tuple[str, float] | None = None) -> _Reading:
        return replace(self, base=self.base * number, per=per or self.per, summands=1)


@dataclass(frozen=True)
class Computation:
    """A declared expression with what its value may be; `problem` says why it does not hold, else it is empty."""

    expression: str
    readings: tuple[_Reading, ...] = ()
    problem: str = ""

    def gives(self, figure: Value) -> bool:
        """Whether a number of the text is this value, rounded as it is written, in its unit or without one."""
        return any(_gives(reading, figure) for reading in self.readings)


def compute_in_turn(expressions: Iterable[str], quotes: Sequence[str], judged: Sequence[str] = ()) -> list[Computation]:
    """Each expression, in which a number may also be what one before it gives: `20 * 9` behind `0.9 / (1 - 0.9)`."""
    done: list[Computation] = []
    for expression in expressions:
        results = [reading for one in done for reading in one.readings]
        done.append(compute(expression, quotes, judged, results))
    return done


def compute(
    expression: str, quotes: Sequence[str], judged: Sequence[str] = (), results: Sequence[_Reading] = ()
) -> Computation:
    """Evaluate `1.61 - 1.34`: numbers of the quotes as they are written there and those that the writer `judged`,
    `+ - * /` and parentheses.

    A number stands for the quantity that the quote gives, with its scale word and unit; words in the expression are
    left out. Numbers that are added or subtracted have one unit. `CONSTANTS` are only factors, and the number of
    summands a divisor; 100 percent and 1 may be what a share is taken from. A judged number without a unit has whatever
    unit the text gives the result, and 80 may be the share 0.8, as 0.8 is. A number that no quote has may be one of
    the `results` of other computations, as exact as it is written. Never raises.
    """
    written = _UNIT_WORDS.sub("", expression.split("=")[0].translate(_SIGNS))
    written = _DECIMAL_COMMA.sub(".", _GROUPING.sub("", written)).strip()
    if len(written) > _LONGEST:
        return Computation(expression, problem="a computation is too long")
    cited = [figure for quote in quotes for figure in _with_range_units(quote)]
    chosen = [figure for value in judged for figure in figures(value)]
    cited += [replace(figure, unit=figure.unit or _ANY_UNIT) for figure in chosen if not figure.date]
    try:
        readings = _readings(ast.parse(written, mode="eval").body, cited, results)
    except ComputationInvalid as error:
        return Computation(expression, problem=f"{expression}: {error}")
    except (SyntaxError, ValueError, RecursionError, MemoryError, ArithmeticError):
        return Computation(expression, problem=f"{expression}: is not arithmetic over numbers")
    if all(reading.constant for reading in readings):
        return Computation(expression, problem=f"{expression}: has no number of the cited quotes")
    return Computation(expression, tuple(readings))


def values_of_names(expressions: Iterable[str], chosen: Iterable[str], quotes: Sequence[str]) -> list[str]:
    """Of the values that a writer chose those that an expression has where a quote states it with a name: the 8 of
    `8 + 4` beside the quoted `os.cpu_count() + 4`."""
    numbers = {match[0]: value for value in chosen if (match := _TERM.match(value)) and match[0][0].isdigit()}
    stated = [quote.translate(_SIGNS) for quote in quotes]
    found: list[str] = []
    for expression in expressions:
        terms = _TERM.findall(expression.split("=")[0].translate(_SIGNS))
        formula = r"\s?".join(_NAME if term in numbers else re.escape(term) for term in terms)
        whole = re.compile(rf"(?<![\w.]){formula}(?!\.?\w)")
        if any(map(whole.search, stated)):
            found += [numbers[term] for term in terms if term in numbers]
    return list(dict.fromkeys(found))


def wrong_multiples(text: str, quotes: Sequence[str], computations: Sequence[Computation]) -> list[str]:
    """Words such as "twice" that no computed ratio gives and no quote has, in a text whose numbers are computed."""
    ratios = [abs(one.base) for computation in computations for one in computation.readings if one.unit == _RATIO]
    ratios += [1 / ratio for ratio in ratios if ratio]
    held = {word for quote in quotes for word in re.findall(r"\w+", quote.lower())}
    return [
        word
        for word in re.findall(r"\w+", text)
        if (times := MULTIPLES.get(word.lower()))
        and word.lower() not in held
        and ratios
        and not any(abs(ratio / times - 1) <= _ROUNDED_MULTIPLE for ratio in ratios)
    ]


def _with_range_units(quote: str) -> Iterator[Value]:
    """The figures of a quote; a bare number just before one with a scale word or a unit ("1.34 to 1.61 billion euros",
    "200 and 300 ms") also with these."""
    found = sorted(figures(quote), key=lambda figure: figure.start)
    yield from found
    for one, other in pairwise(found):
        between = quote[one.end : other.start]
        is_bare = not (one.unit or other.date) and one.scale == 1.0 and quote[one.start : one.end][-1:].isdigit()
        if is_bare and _RANGE.fullmatch(between):
            size = other.factor * other.scale
            yield replace(other, start=one.start, end=one.end, low=one.low * size, high=one.low * size)


def _gives(reading: _Reading, figure: Value) -> bool:
    if figure.date:
        year = reading.unit in ("", "time") and round(reading.whole) == figure.date.year
        return year and not figure.date.month and reading.factor in (1.0, _YEAR)
    if reading.per and figure.per:
        rate = figure.per[1] / reading.per[1] if figure.per[0] == reading.per[0] else nan
    else:
        rate = 1.0
    if not figure.unit:
        values = {reading.whole} if figure.scale > 1.0 else {reading.whole, reading.whole / reading.scale}
    elif reading.unit == _ANY_UNIT:
        values = {reading.whole * figure.factor}
    elif reading.unit == _RATIO:
        values = {reading.base * 100} if figure.unit == "percent" else set()
    else:
        same = {figure.unit, reading.unit} in ({figure.unit}, {"percent", "points"})
        values = {reading.base} if same else set()
    return any(
        abs(abs(value) * rate - written) <= max(figure.slack, figure.rounding) + 1e-9 * abs(written)
        for value in values
        for written, _ in figure.readings
    )


def _readings(node: ast.expr, cited: Sequence[Value], results: Sequence[_Reading]) -> list[_Reading]:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return _number(float(node.value), cited, results)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [reading.times(-1.0) for reading in _readings(node.operand, cited, results)]
    operation = _OPERATIONS.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if not isinstance(node, ast.BinOp) or operation is None:
        raise ComputationInvalid("only numbers, + - * / and parentheses are computed")
    left = _readings(node.left, cited, results)
    count = node.right.value if isinstance(node.op, ast.Div) and isinstance(node.right, ast.Constant) else 0
    if count and count in {reading.summands for reading in left}:
        right = [_Reading(base=float(str(count)), constant=True)]
    else:
        right = _readings(node.right, cited, results)
    found = [result for one, other in product(left, right) for result in operation(one, other)]
    if not found:
        raise ComputationInvalid("numbers of different units, or a constant, are added or subtracted")
    return list(dict.fromkeys(found))[:_MOST_READINGS]


def _number(number: float, cited: Sequence[Value], results: Sequence[_Reading]) -> list[_Reading]:
    """What a number of an expression may be: figures that are written so, else those a thousand times as large or
    small, as percent are of a share, or else results of other computations; constants besides."""
    known = [
        _Reading(base=base, unit=figure.unit, factor=figure.factor, scale=figure.scale, per=figure.per)
        for figure in cited
        if not figure.date
        for base, _ in figure.readings
    ]
    exact = [one for one in known if _is_close(one.whole / one.scale, number)]
    near = [one for one in known if number and one.base and _is_thousands(one.whole / one.scale / number)]
    shares = [
        _Reading(base=number, unit=_RATIO)
        for one in known
        if one.unit in ("percent", _ANY_UNIT) and _is_close(one.base / 100, number)
    ]
    if 0.0 < number < 1.0 and any(one.unit == _ANY_UNIT for one in exact):
        exact.append(_Reading(base=number, unit=_RATIO))
    found = exact or shares or near
    if any(figure.date and figure.date.year == number for figure in cited):
        found += [_Reading(base=number * _YEAR, unit="time", factor=_YEAR), _Reading(base=number)]
    if number in CONSTANTS:
        found.append(_Reading(base=number, constant=True))
    if number in (1.0, 100.0):
        found.append(_Reading(base=number, unit=_RATIO if number == 1.0 else "percent"))
    if not found:
        decimals = len(f"{number:.15g}".partition(".")[2])
        found = [one for one in results if _is_close(round(one.whole, decimals), number)]
    if not found:
        raise ComputationInvalid(f"{number:.15g} is not in the cited quotes")
    return list(dict.fromkeys(found))


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(1.0, abs(other))


def _is_thousands(ratio: float) -> bool:
    power = log(ratio, 1000) if ratio > 0.0 else 0.5
    return abs(power - round(power)) < 1e-9


def _sum(one: _Reading, other: _Reading, sign: float = 1.0) -> list[_Reading]:
    if one.constant or other.constant:
        return []
    one, other = _in_unit_of(one, other), _in_unit_of(other, one)
    if one.unit != other.unit:
        return []
    if one.per and other.per and one.per != other.per:
        return []
    total = one.base + sign * other.base
    return [replace(one, base=total, per=one.per or other.per, summands=one.summands + other.summands)]


def _in_unit_of(one: _Reading, other: _Reading) -> _Reading:
    """A number of any unit in that of the other; without a unit the other is taken for one of any unit."""
    if one.unit == "" and other.unit == _ANY_UNIT:
        return replace(one, unit=_ANY_UNIT)
    if one.unit != _ANY_UNIT or other.unit in ("", _ANY_UNIT, _RATIO):
        return one
    return replace(one, base=one.whole * other.factor, unit=other.unit, factor=other.factor)


def _difference(one: _Reading, other: _Reading) -> list[_Reading]:
    return _sum(one, other, -1.0)


def _scaled(reading: _Reading, factor: float) -> list[_Reading]:
    """The reading times a constant, which may also only turn its unit into another of its kind: milliseconds / 1000 are
    seconds. Of a rate it may turn the period into another: 1 / 86400 of what there is in a day is what there is in a
    second. A number without a unit that is divided by the size of one may be in that unit: 7200 / 3600 are 2 hours."""
    scaled = [reading.times(factor)]
    if not (reading.unit or reading.constant):
        sizes = [(unit, size) for unit, size in _SIZES if size != 1.0 and isclose(size * factor, 1.0)]
        scaled += [replace(reading, unit=unit, factor=size) for unit, size in sizes]
    if any(unit == reading.unit and isclose(size * factor, reading.factor) for unit, size in _SIZES):
        scaled.append(replace(reading, factor=reading.factor / factor))
    if reading.per:
        scaled.append(reading.times(factor, (reading.per[0], reading.per[1] * factor)))
    return scaled


def _product(one: _Reading, other: _Reading) -> list[_Reading]:
    if one.constant or other.constant:
        amount, factor = (other, one) if one.constant else (one, other)
        return _scaled(amount, factor.base)
    if other.unit in ("", _RATIO):
        return [one.times(other.base)] if one.unit != _RATIO else [other.times(one.base)]
    if one.unit in ("", _RATIO) and not one.per:
        return [other.times(one.base)]
    for rate, amount in ((one, other), (other, one)):
        if rate.per and rate.per[0] == amount.unit:
            return [replace(rate.times(amount.base / rate.per[1]), per=None)]
    return [one.times(other.whole), other.times(one.whole)]


def _quotient(one: _Reading, other: _Reading) -> list[_Reading]:
    if other.constant:
        return _scaled(one, 1 / other.base)
    if other.per and (one.constant or (one.unit == _RATIO and not one.per)):
        return [_Reading(base=one.base / other.whole), *_time_of_one(one.base, other)]
    if one.unit and other.unit in ("", _RATIO):
        return [one.times(1 / other.base)]
    if one.constant:
        return [_Reading(base=one.base / other.whole)]
    if one.unit == other.unit:
        return [_Reading(base=one.base / other.base, unit=_RATIO)]
    return [one.times(1 / other.whole, (other.unit, other.factor))]


def _time_of_one(number: float, rate: _Reading) -> list[_Reading]:
    """`1000 / 60` of 60 a second is what each takes, 16.7 ms: the number is how often a unit goes into the period."""
    dimension, period = rate.per or ("", 1.0)
    return [
        _Reading(base=period / rate.whole, unit=dimension, factor=size)
        for unit, size in _SIZES
        if unit == dimension and isclose(size * number, period)
    ]


_OPERATIONS: dict[type[ast.operator], Callable[[_Reading, _Reading], list[_Reading]]] = {
    ast.Add: _sum,
    ast.Sub: _difference,
    ast.Mult: _product,
    ast.Div: _quotient,
}
