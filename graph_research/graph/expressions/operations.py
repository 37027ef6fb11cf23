"""What the operators, look-ups and comprehensions of expressions do: bounded in work, with messages in JSON's words."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from graph_research.graph.messages import show_value, type_name

MOST_INTEGER_BITS = 63
_MOST_ITEMS = 100_000
_MOST_UNITS = 1_000_000
_MOST_ROUNDS = 10_000
_MOST_READ = 10_000_000
_UNIT_CHARS = 64
_LEAVES = frozenset({int, float, bool, type(None)})
_SCALARS = _LEAVES | {str}


class Limits:
    """The limits of one evaluation: the rounds of all its comprehensions, the size of what they make, and how much of
    other values they read in each round."""

    def __init__(self) -> None:
        self._rounds = 0
        self._units = 0
        self._read = 0
        self._sizes: dict[int, tuple[Any, int]] = {}

    def count(self, values: Iterable[Any]) -> Iterator[Any]:
        """The values, until the comprehensions have gone round too often."""
        for value in values:
            self._rounds += 1
            if self._rounds > _MOST_ROUNDS:
                raise ValueError(f"the comprehensions go round more than {_MOST_ROUNDS:,} times")
            yield value

    def keep(self, value: Any) -> Any:
        """`value`, which a comprehension makes in one round; what all rounds make counts together."""
        self._units = _units(value, self._units)
        return value

    def read(self, value: Any, weight: int) -> Any:
        """`value`, all of which is read in one round. What all rounds read counts together, an entry `weight` times."""
        if type(value) not in _SCALARS or (type(value) is str and len(value) >= _UNIT_CHARS):
            self._count_read(_size(value, _MOST_READ), weight)
        return value

    def read_again(self, value: Any, weight: int) -> Any:
        """The same of a value that outlives the rounds, so that its size has to be found once only."""
        if type(value) not in _SCALARS or (type(value) is str and len(value) >= _UNIT_CHARS):
            known = self._sizes.get(id(value)) or self._sizes.setdefault(id(value), (value, _size(value, _MOST_READ)))
            self._count_read(known[1], weight)
        return value

    def _count_read(self, size: int, weight: int) -> None:
        self._read += size * weight
        if self._read > _MOST_READ:
            raise ValueError(f"the comprehensions read more than {_MOST_READ:,} entries")


def bounded(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A registered function for arrays that a comprehension could go through: what it does for each pair of entries
    must end in time, too."""

    def call(*values: Any, **named: Any) -> Any:
        for value in (*values, *named.values()):
            if isinstance(value, list) and len(value) > _MOST_ROUNDS:
                raise ValueError(f"{name}() takes arrays of at most {_MOST_ROUNDS:,} entries")
        return function(*values, **named)

    return call


def sized(value: Any) -> Any:
    """`value`, if it is small enough to be stored."""
    _units(value, 0)
    return value


def _units(value: Any, units: int) -> int:
    """`units` and those of `value`."""
    units += _size(value, _MOST_UNITS - units)
    if units > _MOST_UNITS:
        raise ValueError("the result is too large")
    return units


def _size(value: Any, most: int) -> int:
    """The entries of a value and, in units of `_UNIT_CHARS`, its characters; some of them where they are more than
    `most`."""
    if not isinstance(value, (str, list, dict)):
        return 0
    units = 0
    containers: list[Any] = [[value]]
    for container in containers:
        units += len(container)
        for part in container if isinstance(container, list) else container.values():
            kind = type(part)
            if kind is str:
                units += len(part) // _UNIT_CHARS
            elif kind not in _LEAVES:
                if isinstance(part, (list, dict)):
                    containers.append(part)
                elif isinstance(part, str):
                    units += len(part) // _UNIT_CHARS
        if units > most:
            break
    return units


def of_scope(scope: Mapping[str, Any], name: str) -> Any:
    """The value of a name."""
    try:
        return scope[name]
    except KeyError:
        raise LookupError(f'"{name}" has no value here') from None


def entry(value: Any, key: str) -> Any:
    """`value.key`; an absent or null value is null."""
    if value is None:
        return None
    if not isinstance(value, (dict, Mapping)):
        raise TypeError(f'key "{key}" looked up in {type_name(value)}')
    return value.get(key)


def item(value: Any, key: Any) -> Any:
    """`value[key]`; what is absent, and what is looked up in null, is null."""
    if value is None:
        return None
    if isinstance(value, Mapping) != isinstance(key, str) or not isinstance(value, (Mapping, list, tuple, str)):
        what = "a slice" if isinstance(key, slice) else show_value(key)
        raise TypeError(f"{what} looked up in {type_name(value)}")
    try:
        return value[key]
    except (KeyError, IndexError):
        return None


def object_of(value: dict[Any, Any]) -> dict[str, Any]:
    """An object that an expression makes."""
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"the keys of an object must be strings, not {type_name(key)}")
    return value


def compare(symbols: tuple[str, ...], *operands: Callable[[], Any]) -> Any:
    """A chain of comparisons; each operand is evaluated once, when it is needed."""
    result, right = True, operands[0]()
    for symbol, operand in zip(symbols, operands[1:], strict=True):
        left, right = right, operand()
        try:
            result = COMPARE[symbol](left, right)
        except TypeError:
            raise TypeError(f"{type_name(left)} {symbol} {type_name(right)} cannot be compared") from None
        if not result:
            break
    return result


def _arithmetic(symbol: str, operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
            raise TypeError(f"{type_name(left)} {symbol} {type_name(right)} cannot be computed")
        return bounded_number(operation(left, right))

    return apply


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return bounded_number(left + right)
    for kind, most in ((str, _MOST_UNITS), (list, _MOST_ITEMS)):
        if isinstance(left, kind) and isinstance(right, kind):
            if len(left) + len(right) > most:
                raise ValueError("the sum is too long")
            return operator.add(left, right)
    raise TypeError(f"{type_name(left)} + {type_name(right)} cannot be computed")


def bounded_number(number: Any) -> Any:
    """`number`, if it is finite and, as a whole number, of at most 63 bits."""
    if isinstance(number, int):
        if number.bit_length() > MOST_INTEGER_BITS:
            raise ValueError("the number is too large")
    elif not -float("inf") < number < float("inf"):
        raise ValueError("the number is not finite")
    return number


def _signed(symbol: str, operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(value: Any) -> Any:
        if not isinstance(value, (int, float)):
            raise TypeError(f"{symbol} needs a number, not {type_name(value)}")
        return operation(value)

    return apply


OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _add,
    ast.Sub: _arithmetic("-", operator.sub),
    ast.Mult: _arithmetic("*", operator.mul),
    ast.Div: _arithmetic("/", operator.truediv),
    ast.FloorDiv: _arithmetic("//", operator.floordiv),
    ast.Mod: _arithmetic("%", operator.mod),
    ast.USub: _signed("-", operator.neg),
    ast.UAdd: _signed("+", operator.pos),
}

COMPARISONS: Mapping[type[ast.AST], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}

COMPARE: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "in": lambda value, container: value in container,
    "not in": lambda value, container: value not in container,
}
