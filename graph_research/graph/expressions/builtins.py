"""The functions that every expression may call: pure, and bounded in work."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from graph_research.graph.expressions.operations import bounded_number

_MOST_DIGITS = 15
_MOST_NUMERAL_CHARS = 64


def _sum(values: Iterable[Any]) -> Any:
    total: int | float = 0
    for value in values:
        if not isinstance(value, (int, float)):
            raise TypeError("sum() adds numbers only")
        total = bounded_number(total + value)
    return total


def _round(value: float, digits: int = 0) -> Any:
    if abs(digits) > _MOST_DIGITS:
        raise ValueError(f"round() takes at most {_MOST_DIGITS} digits")
    return bounded_number(round(value, digits) if digits else round(value))


def _int(value: Any) -> int:
    number: int = bounded_number(int(_numeral(value, "int")))
    return number


def _float(value: Any) -> float:
    number = float(_numeral(value, "float"))
    if not math.isfinite(number):
        raise ValueError("float() takes finite numbers only")
    return number


def _numeral(value: Any, function: str) -> Any:
    if isinstance(value, str) and len(value) > _MOST_NUMERAL_CHARS:
        raise ValueError(f"{function}() takes a string of at most {_MOST_NUMERAL_CHARS} characters")
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"{function}() takes a number or a string")
    return value


def _sorted(values: Iterable[Any], *, reverse: bool = False) -> list[Any]:
    return sorted(values, reverse=reverse)


BUILTIN_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "len": len,
        "any": any,
        "all": all,
        "min": min,
        "max": max,
        "sum": _sum,
        "sorted": _sorted,
        "round": _round,
        "abs": abs,
        "str": str,
        "int": _int,
        "float": _float,
        "bool": bool,
    }
)
"""Beside these an expression may call only what the program that loads the graph registers."""
