"""Computed numbers: arithmetic that a writer declares over numbers of its evidence, evaluated and checked by code."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph_research.text.language.quantities import Value, figures

CONSTANTS = frozenset({2, 4, 7, 10, 12, 24, 30, 52, 60, 100, 365, 1000, 1024, 3600, 86_400, 1_000_000})
"""What a number of the evidence may be multiplied with or divided by: parts, units of time, percent, powers of ten."""

_LONGEST = 200
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")

Unit = tuple[str, float]
"""A dimension as `Value.unit` has it, and the scale word's factor: `("money:euro", 1e9)` for billions of euros."""


@dataclass(frozen=True)
class _Term:
    """A value with the units that it may have; None stands for any (a constant, a product of units)."""

    number: float
    units: frozenset[Unit] | None
    is_constant: bool = False


class ComputationInvalid(ValueError):
    """The expression cannot be evaluated, or a number of it stands in no quote, or its units do not fit."""


@dataclass(frozen=True)
class Computation:
    """A declared expression with its value; `problem` says why it does not hold, and is empty where it does."""

    expression: str
    value: float = 0.0
    units: frozenset[Unit] | None = None
    problem: str = ""

    def gives(self, figure: Value, text: str) -> bool:
        """Whether a number of the text is this value, rounded as it is written, in one of its units."""
        if self.problem or figure.date:
            return False
        percent = figure.unit == "percent"
        for written, unit in _readings(figure, text):
            close = abs(abs(self.value) - written) <= _half_place(figure, text) + 1e-9 * abs(written)
            if close and (self.units is None or percent or any(_fit(unit, own) for own in self.units)):
                return True
        return False


def compute(expression: str, quotes: Sequence[str]) -> Computation:
    """Evaluate `1.61 - 1.34`: numbers of the quotes as they are written there, `+ - * /`, parentheses, and `CONSTANTS`
    as factors. Numbers that are added or subtracted have one unit. Never raises."""
    cited = [(figure, quote) for quote in quotes for figure in figures(quote)]
    if len(expression) > _LONGEST:
        return Computation(expression, problem="a computation is too long")
    try:
        term = _term(ast.parse(expression.strip(), mode="eval").body, cited)
    except ComputationInvalid as error:
        return Computation(expression, problem=f"{expression}: {error}")
    except (SyntaxError, ValueError, RecursionError, MemoryError, ZeroDivisionError, OverflowError):
        return Computation(expression, problem=f"{expression}: is not arithmetic over numbers")
    return Computation(expression, term.number, term.units)


def _term(node: ast.expr, cited: Sequence[tuple[Value, str]]) -> _Term:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return _number(float(node.value), cited)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _term(node.operand, cited)
        return _Term(-inner.number, inner.units, inner.is_constant)
    if not isinstance(node, ast.BinOp):
        raise ComputationInvalid("only numbers, + - * / and parentheses are computed")
    left, right = _term(node.left, cited), _term(node.right, cited)
    if isinstance(node.op, ast.Add | ast.Sub):
        number = left.number + right.number if isinstance(node.op, ast.Add) else left.number - right.number
        return _Term(number, _common(left, right))
    if isinstance(node.op, ast.Mult):
        scaled = right if left.is_constant else left
        return _Term(left.number * right.number, scaled.units if left.is_constant or right.is_constant else None)
    if isinstance(node.op, ast.Div):
        if right.is_constant:
            return _Term(left.number / right.number, left.units)
        return _Term(left.number / right.number, None)
    raise ComputationInvalid("only numbers, + - * / and parentheses are computed")


def _number(number: float, cited: Sequence[tuple[Value, str]]) -> _Term:
    units = {
        unit
        for figure, quote in cited
        if not figure.date
        for written, unit in _readings(figure, quote)
        if abs(written - number) <= 1e-9 * max(1.0, abs(number))
    }
    years = any(figure.date and figure.date.year == number for figure, _ in cited)
    if units or years:
        return _Term(number, frozenset(units or {("", 1.0)}))
    if number in CONSTANTS:
        return _Term(number, None, is_constant=True)
    raise ComputationInvalid(f"{number:g} is not in the cited quotes")


def _common(left: _Term, right: _Term) -> frozenset[Unit] | None:
    if left.is_constant or right.is_constant:
        raise ComputationInvalid("a number that is added or subtracted is not in the cited quotes")
    if left.units is None or right.units is None:
        return left.units or right.units
    common = frozenset(own for own in left.units for other in right.units if _fit(own, other))
    if not common:
        raise ComputationInvalid("numbers of different units are added or subtracted")
    return common


def _fit(one: Unit, other: Unit) -> bool:
    """Whether two units are the same; a number without a unit fits any of its scale."""
    return one[1] == other[1] and (one[0] == other[0] or not one[0] or not other[0])


def _readings(figure: Value, text: str) -> list[tuple[float, Unit]]:
    """The number as it is written, with its scale, and as a whole."""
    whole = figure.low / figure.factor
    digits = _DIGITS.search(text, figure.start, figure.end)
    readings = [(whole, (figure.unit, 1.0))]
    if digits and figure.low:
        written = digits[0].replace(",", ".") if digits[0].count(",") + digits[0].count(".") == 1 else ""
        scale = whole / float(written) if written and float(written) else 1.0
        if written and scale not in (1.0, 0.001, 1000.0):
            readings.append((float(written), (figure.unit, round(scale, 6))))
        elif digits[0].isdigit() and int(digits[0]) and whole / int(digits[0]) > 1.0:
            readings.append((float(digits[0]), (figure.unit, whole / int(digits[0]))))
    return readings


def _half_place(figure: Value, text: str) -> float:
    """Half of the last place that is written, in the number's own scale."""
    digits = _DIGITS.search(text, figure.start, figure.end)
    decimals = re.search(r"[.,](\d+)$", digits[0]) if digits else None
    return 0.5 * 10.0 ** -(len(decimals[1]) if decimals else 0)
