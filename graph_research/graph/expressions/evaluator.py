"""How expressions are evaluated: on simpleeval with bounded operators, or, where they only look up, as functions."""

from __future__ import annotations

import ast
import operator
import threading
from collections.abc import Callable, Mapping
from typing import Any

import simpleeval

from graph_research.graph.messages import show_value, type_name

__all__ = ["MOST_INTEGER_BITS", "Evaluator", "as_function", "as_functions", "check_size"]

MOST_INTEGER_BITS = 63
_MOST_ITEMS = 100_000
_MOST_UNITS = 1_000_000


def as_function(tree: ast.expr) -> Callable[[Mapping[str, Any]], Any] | None:
    """An expression that only looks up, compares and chooses, as a Python function from the scope to its value; None
    where it does more. It makes nothing new, so its steps are those that were written, and the size of the result needs
    no check. What fails is to be evaluated again by an `Evaluator`, whose errors tell what is wrong."""
    body = _translated(tree)
    return None if body is None else _function(body)


def as_functions(trees: Mapping[str, ast.expr]) -> Callable[[Mapping[str, Any]], dict[str, Any]] | None:
    """Several such expressions as one function from the scope to their values by name."""
    bodies = [body for tree in trees.values() if (body := _translated(tree)) is not None]
    return _function(ast.Dict([ast.Constant(name) for name in trees], bodies)) if len(bodies) == len(trees) else None


def _function(body: ast.expr) -> Callable[[Mapping[str, Any]], Any]:
    scope = ast.arguments(posonlyargs=[], args=[ast.arg("scope")], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.fix_missing_locations(ast.Expression(ast.Lambda(scope, body)))
    known = {"__builtins__": {}, "entry": _entry, "item": _item, "kind": type, "object": dict}
    found: Callable[[Mapping[str, Any]], Any] = eval(compile(function, "<expressions>", "eval"), known)  # noqa: S307 -- nothing but what `_translated` makes
    return found


def _translated(tree: ast.expr) -> ast.expr | None:
    """Names become entries of `scope`, look-ups calls of our own functions."""
    match tree:
        case ast.Constant():
            return tree
        case ast.Name(id=name):
            return ast.Subscript(ast.Name("scope", ast.Load()), ast.Constant(name), ast.Load())
        case ast.Attribute(value=value, attr=key):
            return _looked_up(value, key)
        case ast.Subscript(value=value, slice=key) if not isinstance(key, ast.Slice):
            return _call("item", value, key)
        case ast.Compare(left=left, ops=[operation], comparators=[right]):
            pair = [part for value in (left, right) if (part := _translated(value)) is not None]
            return ast.Compare(pair[0], [operation], pair[1:]) if len(pair) == 2 else None
        case ast.UnaryOp(op=ast.Not() as operation, operand=operand) if (part := _translated(operand)) is not None:
            return ast.UnaryOp(operation, part)
        case ast.BoolOp(op=operation, values=values):
            parts = [part for value in values if (part := _translated(value)) is not None]
            return ast.BoolOp(operation, parts) if len(parts) == len(values) else None
    return None


def _call(function: str, *arguments: ast.expr) -> ast.expr | None:
    parts = [part for argument in arguments if (part := _translated(argument)) is not None]
    if len(parts) < len(arguments):
        return None
    return ast.Call(ast.Name(function, ast.Load()), parts, [])


def _looked_up(value: ast.expr, key: str) -> ast.expr | None:
    """`entry(value, key)`, spelled out for plain objects: `it.get(key) if kind(it := value) is object else …`."""
    if (part := _translated(value)) is None:
        return None
    it, name = ast.Name("it", ast.Load()), ast.Constant(key)
    named = ast.NamedExpr(ast.Name("it", ast.Store()), part)
    kind = ast.Call(ast.Name("kind", ast.Load()), [named], [])
    return ast.IfExp(
        test=ast.Compare(kind, [ast.Is()], [ast.Name("object", ast.Load())]),
        body=ast.Call(ast.Attribute(it, "get", ast.Load()), [name], []),
        orelse=ast.Call(ast.Name("entry", ast.Load()), [it, name], []),
    )


def _entry(value: Any, key: str) -> Any:
    """`value.key`; an absent or null value is null."""
    if value is None:
        return None
    if not isinstance(value, (dict, Mapping)):
        raise TypeError(f'key "{key}" looked up in {type_name(value)}')
    return value.get(key)


def _item(value: Any, key: Any) -> Any:
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


def check_size(value: Any) -> None:
    """Refuse a result so large that storing it would hurt; counts entries and, in units of 64, characters."""
    if not isinstance(value, (str, list, dict)):
        return
    units, rest = 0, [value]
    while rest:
        part = rest.pop()
        units += 1
        if isinstance(part, str):
            units += len(part) >> 6
        elif isinstance(part, list):
            rest.extend(part)
        elif isinstance(part, dict):
            rest.extend(part.values())
        if units + len(rest) > _MOST_UNITS:
            raise ValueError("the result is too large")


class Evaluator(simpleeval.EvalWithCompoundTypes):  # type: ignore[misc]  # -- simpleeval has no types
    """simpleeval with our look-ups and bounded operators. What may stand in an expression was decided before."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]]) -> None:
        super().__init__(operators=_OPERATORS, functions=dict(functions), names={})
        self.functions = dict(functions)
        self.nodes[ast.Tuple] = self._eval_list
        self.nodes[ast.DictComp] = self._eval_object_comprehension
        self._lock = threading.Lock()

    def run(self, tree: ast.expr, scope: Mapping[str, Any]) -> Any:
        with self._lock:
            self.names = scope
            self._max_count = 0
            try:
                return self._eval(tree)
            finally:
                self.names = {}

    def _eval(self, node: ast.AST) -> Any:
        return self.nodes[type(node)](node)

    def _eval_name(self, node: ast.Name) -> Any:
        try:
            return self.names[node.id]
        except KeyError:
            raise LookupError(f'"{node.id}" has no value here') from None

    def _eval_attribute(self, node: ast.Attribute) -> Any:
        return _entry(self._eval(node.value), node.attr)

    def _eval_subscript(self, node: ast.Subscript) -> Any:
        return _item(self._eval(node.value), self._eval(node.slice))

    def _eval_dict(self, node: ast.Dict) -> dict[str, Any]:
        pairs = zip(node.keys, node.values, strict=True)
        return _with_text_keys({self._eval(key): self._eval(value) for key, value in pairs if key is not None})

    def _eval_object_comprehension(self, node: ast.DictComp) -> dict[str, Any]:
        return _with_text_keys(self._eval_comprehension(node))


def _with_text_keys(value: dict[Any, Any]) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise TypeError(f"the keys of an object must be strings, not {type_name(key)}")
    return value


def _arithmetic(symbol: str, operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
            raise TypeError(f"{type_name(left)} {symbol} {type_name(right)} cannot be computed")
        return _bounded(operation(left, right))

    return apply


def _add(left: Any, right: Any) -> Any:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return _bounded(left + right)
    for kind, most in ((str, _MOST_UNITS), (list, _MOST_ITEMS)):
        if isinstance(left, kind) and isinstance(right, kind):
            if len(left) + len(right) > most:
                raise ValueError("the sum is too long")
            return operator.add(left, right)
    raise TypeError(f"{type_name(left)} + {type_name(right)} cannot be computed")


def _bounded(number: Any) -> Any:
    if isinstance(number, int):
        if number.bit_length() > MOST_INTEGER_BITS:
            raise ValueError("the number is too large")
    elif not -float("inf") < number < float("inf"):
        raise ValueError("the number is not finite")
    return number


def _comparison(symbol: str, operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def apply(left: Any, right: Any) -> bool:
        try:
            return operation(left, right)
        except TypeError:
            raise TypeError(f"{type_name(left)} {symbol} {type_name(right)} cannot be compared") from None

    return apply


def _signed(symbol: str, operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(value: Any) -> Any:
        if not isinstance(value, (int, float)):
            raise TypeError(f"{symbol} needs a number, not {type_name(value)}")
        return operation(value)

    return apply


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: _add,
    ast.Sub: _arithmetic("-", operator.sub),
    ast.Mult: _arithmetic("*", operator.mul),
    ast.Div: _arithmetic("/", operator.truediv),
    ast.FloorDiv: _arithmetic("//", operator.floordiv),
    ast.Mod: _arithmetic("%", operator.mod),
    ast.Not: operator.not_,
    ast.USub: _signed("-", operator.neg),
    ast.UAdd: _signed("+", operator.pos),
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.Lt: _comparison("<", operator.lt),
    ast.LtE: _comparison("<=", operator.le),
    ast.Gt: _comparison(">", operator.gt),
    ast.GtE: _comparison(">=", operator.ge),
    ast.In: _comparison("in", lambda value, container: value in container),
    ast.NotIn: _comparison("not in", lambda value, container: value not in container),
}
