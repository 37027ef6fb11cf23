"""Expressions of a graph: parsed once, allowlisted node by node, evaluated on simpleeval, never changing the state."""

from __future__ import annotations

import ast
import json
import math
import operator
import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import simpleeval

from graph_research.graph.errors import Finding, GraphInvalid, GuardFailed
from graph_research.graph.functions import BUILTIN_FUNCTIONS
from graph_research.graph.naming import suggestion
from graph_research.graph.spec import Expression, Place

__all__ = ["Compiled", "compile_expression", "free_names", "inspect_expression", "json_kind", "place_in", "shown"]

_MOST_CHARS = 2_000
_MOST_DEPTH = 40
_MOST_ITEMS = 100_000
_MOST_UNITS = 1_000_000
_MOST_INTEGER_BITS = 63

_ALLOWED_NODES = (
    ast.Constant,
    ast.Name,
    ast.Attribute,
    ast.Subscript,
    ast.Slice,
    ast.UnaryOp,
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Call,
    ast.keyword,
    ast.List,
    ast.Tuple,
    ast.Dict,
    ast.ListComp,
    ast.GeneratorExp,
    ast.DictComp,
    ast.comprehension,
    ast.expr_context,
    ast.boolop,
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.Div,
    ast.FloorDiv,
    ast.Mod,
    ast.Not,
    ast.USub,
    ast.UAdd,
    ast.cmpop,
)


class Compiled:
    """An expression ready to be evaluated; may be shared between threads.

    `names` are the free names it reads, `calls` the functions it calls, `tree` its syntax: found without running it.
    `plain` tells that it makes JSON of JSON, because it calls none but the built-in functions.
    """

    __slots__ = ("_direct", "_evaluator", "calls", "expression", "names", "plain", "tree")

    def __init__(self, expression: Expression, tree: ast.expr, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.expression = expression
        self.tree = tree
        self.names = frozenset(name.id for name in free_names(tree))
        self.calls = frozenset(
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        )
        self.plain = all(functions[name] is BUILTIN_FUNCTIONS.get(name) for name in self.calls)
        self._evaluator = _Evaluator(functions)
        self._direct = _direct(tree)

    def evaluate(self, scope: Mapping[str, Any]) -> Any:
        """The value under `scope` (name to JSON value). It may share lists and objects with the scope: treat it as
        read-only. Raises `GuardFailed` with the expression's place, its text and the values of its names.
        """
        try:
            if self._direct is not None:
                try:
                    return self._direct(scope)
                except KeyError as missing:
                    raise _unvalued(missing.args[0]) from None
            value = self._evaluator.run(self.tree, scope)
            _check_size(value)
        except (
            simpleeval.InvalidExpression,
            ArithmeticError,
            AttributeError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
        ) as problem:
            raise self._failure(problem, scope) from problem
        return value

    def _failure(self, problem: Exception, scope: Mapping[str, Any]) -> GuardFailed:
        place = self.expression.place
        values = ", ".join(f"{name} = {shown(scope[name])}" for name in sorted(self.names) if name in scope)
        reason = str(problem) or type(problem).__name__
        return GuardFailed(
            f'expression "{shortened(self.expression.text, 200)}" failed: {reason}'
            + (f" (with {values})" if values else ""),
            file=place.file,
            line=place.line,
            column=place.column,
        )


def compile_expression(expression: Expression, functions: Mapping[str, Callable[..., Any]] | None = None) -> Compiled:
    """Parse and allowlist an expression. `functions` are those registered beside the built-in ones.

    Raises `GraphInvalid` with every finding: syntax, a forbidden construct, an unknown function.
    """
    known = {**BUILTIN_FUNCTIONS, **(functions or {})}
    tree, findings = inspect_expression(expression, known)
    if tree is None or findings:
        raise GraphInvalid(findings)
    return Compiled(expression, tree, known)


def inspect_expression(
    expression: Expression, functions: Mapping[str, Callable[..., Any]]
) -> tuple[ast.expr | None, list[Finding]]:
    """The syntax tree (None where there is none) and everything an expression may not contain."""
    try:
        tree = _parse(expression.text)
    except _Refused as refusal:
        return None, [Finding.at(expression.place, "expression-syntax", *refusal.args)]
    findings: list[Finding] = []
    rest: list[ast.AST] = [tree]
    while rest:
        node = rest.pop()
        if problem := _problem(node, functions):
            findings.append(Finding.at(place_in(expression, node), *problem))
        else:
            rest.extend(ast.iter_child_nodes(node))
    return tree, findings


def free_names(tree: ast.expr) -> list[ast.Name]:
    """The names an expression reads from its scope, with their places; those a comprehension binds are not free."""
    found: list[ast.Name] = []
    _collect_names(tree, frozenset(), found)
    return found


def place_in(expression: Expression, node: ast.AST | None) -> Place:
    """Where a part of an expression stands in its file; the expression's own place where it is folded."""
    place = expression.place
    if node is None or expression.written != "exact" or getattr(node, "lineno", 0) != 1:
        return place
    stripped = expression.text.lstrip()
    before = stripped.encode()[: getattr(node, "col_offset", 0)].decode(errors="replace")
    skipped = len(expression.text) - len(stripped)
    return Place(place.file, place.line, place.column + skipped + len(before))


def json_kind(value: Any) -> str:
    """What a JSON value is, in words for a message: `null`, `a number`, `a text` …"""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {int: "a number", float: "a number", str: "a text", list: "a list", tuple: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")


def shown(value: Any, most_chars: int = 80) -> str:
    """A value as short JSON for a message; what is no JSON is shown by its type."""
    if isinstance(value, (list, dict)) and len(value) > most_chars:
        return f"{json_kind(value)} of {len(value)} entries"
    if isinstance(value, str):
        value = value[: most_chars + 1]
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = json_kind(value)
    return shortened(text, most_chars)


def shortened(text: str, most_chars: int) -> str:
    """`text`, cut to `most_chars` with an ellipsis at the end."""
    return text if len(text) <= most_chars else text[: most_chars - 1] + "…"


class _Refused(Exception):
    """Why a text is no expression: message, help."""


def _parse(text: str) -> ast.expr:
    if len(text) > _MOST_CHARS:
        raise _Refused(f"expression of {len(text)} characters", f"at most {_MOST_CHARS} are read; register a function")
    if not text.strip():
        raise _Refused("empty expression", "write one, or leave the key out")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text.lstrip(), mode="eval").body
    except SyntaxError as problem:
        column = f" at character {problem.offset}" if problem.offset else ""
        raise _Refused(
            f'"{shortened(text, 120)}" is no expression: {problem.msg}{column}', _syntax_help(text)
        ) from problem
    except (RecursionError, MemoryError, ValueError) as problem:
        raise _Refused(f'"{shortened(text, 120)}" cannot be parsed', "write it more simply") from problem
    if _depth(tree) > _MOST_DEPTH:
        raise _Refused(f"expression nested deeper than {_MOST_DEPTH}", "split it over a `set` node")
    return tree


def _syntax_help(text: str) -> str:
    for wrong, right in (("&&", "and"), ("||", "or"), ("!", "not"), ("?", "A if CONDITION else B")):
        if wrong in text.replace("!=", ""):
            return f"write `{right}` instead of `{wrong}`"
    return "expressions are written as in Python; one with `,` `[` `{` or `: ` in a flow mapping must be quoted"


def _depth(tree: ast.AST) -> int:
    depth, layer = 0, [tree]
    while layer and depth <= _MOST_DEPTH:
        depth += 1
        layer = [child for node in layer for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return depth


def _problem(node: ast.AST, functions: Mapping[str, Callable[..., Any]]) -> tuple[str, str, str] | None:
    """`(code, message, help)` of what is wrong with one syntax node, its children aside."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name not in functions:
            return "unknown-function", f'unknown function "{name}"', suggestion(name, functions)
        case ast.Call(func=ast.Name()):
            return None
        case ast.Call():
            return "forbidden-expression", "only plain functions can be called, no methods", "register a function"
        case ast.Attribute(attr=key) if key.startswith("_"):
            return "forbidden-expression", f'"{key}": a key with a leading underscore cannot be looked up', ""
        case ast.Constant(value=value) if not isinstance(value, (str, int, float, type(None))):
            return "forbidden-expression", f"a constant {value!r} is no JSON value", ""
        case ast.Constant(value=int(value)) if value.bit_length() > _MOST_INTEGER_BITS:
            return "forbidden-expression", f"the number {shortened(str(value), 30)} is too large", ""
        case ast.Constant(value=float(value)) if not math.isfinite(value):
            return "forbidden-expression", "the number is too large", ""
        case ast.keyword(arg=None):
            return "forbidden-expression", "`**` cannot be used in a call", ""
        case ast.Dict(keys=keys) if None in keys:
            return "forbidden-expression", "`**` cannot be used in an object", "use a channel with `reduce: merge`"
        case ast.Compare(ops=ops, comparators=values) if any(
            isinstance(op, (ast.Is, ast.IsNot)) and not (isinstance(value, ast.Constant) and value.value is None)
            for op, value in zip(ops, values, strict=True)
        ):
            return "forbidden-expression", "`is` compares with None only", "use `==`"
        case ast.comprehension(is_async=1):
            return "forbidden-expression", "`async` is not allowed", ""
        case _ if not isinstance(node, _ALLOWED_NODES):
            return "forbidden-expression", f"{_spelled(node)} is not allowed in an expression", ""
    return None


def _spelled(node: ast.AST) -> str:
    names: dict[type[ast.AST], str] = {
        ast.Pow: "`**`",
        ast.Lambda: "`lambda`",
        ast.NamedExpr: "`:=`",
        ast.JoinedStr: "an f-string",
        ast.Starred: "`*`-unpacking",
        ast.Await: "`await`",
        ast.Set: "a set",
        ast.SetComp: "a set",
    }
    return names.get(type(node), f"`{type(node).__name__}`")


def _collect_names(node: ast.AST, bound: frozenset[str], found: list[ast.Name]) -> None:
    match node:
        case ast.Name(id=name):
            if name not in bound:
                found.append(node)
        case ast.Call(args=arguments, keywords=keywords, func=function):
            for part in [*([] if isinstance(function, ast.Name) else [function]), *arguments, *keywords]:
                _collect_names(part, bound, found)
        case ast.ListComp() | ast.GeneratorExp() | ast.DictComp() | ast.SetComp():
            for generator in node.generators:
                _collect_names(generator.iter, bound, found)
                bound |= {part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name)}
                for condition in generator.ifs:
                    _collect_names(condition, bound, found)
            for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
                _collect_names(part, bound, found)
        case _:
            for child in ast.iter_child_nodes(node):
                _collect_names(child, bound, found)


def _direct(tree: ast.expr) -> Callable[[Mapping[str, Any]], Any] | None:
    """An expression that only looks up, compares and chooses, as a Python function of the scope; None for any other. It
    makes nothing new, so its steps are those that were written, and the size of its result needs no check."""
    body = _translated(tree)
    if body is None:
        return None
    scope = ast.arguments(posonlyargs=[], args=[ast.arg("scope")], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.fix_missing_locations(ast.Expression(ast.Lambda(scope, body)))
    known = {"__builtins__": {}, "entry": _entry, "item": _item, **{k.__name__: f for k, f in _OPERATORS.items()}}
    found: Callable[[Mapping[str, Any]], Any] = eval(compile(function, "<expression>", "eval"), known)  # noqa: S307 -- nothing but what `_translated` makes
    return found


def _translated(tree: ast.expr) -> ast.expr | None:
    """Names become entries of `scope`, look-ups and comparisons calls of our own functions."""
    match tree:
        case ast.Constant():
            return tree
        case ast.Name(id=name):
            return ast.Subscript(ast.Name("scope", ast.Load()), ast.Constant(name), ast.Load())
        case ast.Attribute(value=value, attr=key):
            return _call("entry", value, ast.Constant(key))
        case ast.Subscript(value=value, slice=key) if not isinstance(key, ast.Slice):
            return _call("item", value, key)
        case ast.Compare(left=left, ops=[operation], comparators=[right]):
            return _call(type(operation).__name__, left, right)
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


def _unvalued(name: str) -> LookupError:
    return LookupError(f'"{name}" has no value here')


def _entry(value: Any, key: str) -> Any:
    """`value.key`; an absent or null value is null."""
    if value is None:
        return None
    if not isinstance(value, (dict, Mapping)):
        raise TypeError(f'key "{key}" looked up in {json_kind(value)}')
    return value.get(key)


def _item(value: Any, key: Any) -> Any:
    """`value[key]`; what is absent, and what is looked up in null, is null."""
    if value is None:
        return None
    if isinstance(value, Mapping) != isinstance(key, str) or not isinstance(value, (Mapping, list, tuple, str)):
        raise TypeError(f"{shown(key) if not isinstance(key, slice) else 'a slice'} looked up in {json_kind(value)}")
    try:
        return value[key]
    except (KeyError, IndexError):
        return None


def _check_size(value: Any) -> None:
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


class _Evaluator(simpleeval.EvalWithCompoundTypes):  # type: ignore[misc]  # -- simpleeval has no types
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
            raise _unvalued(node.id) from None

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
            raise TypeError(f"the keys of an object are texts, not {json_kind(key)}")
    return value


def _arithmetic(symbol: str, operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(left: Any, right: Any) -> Any:
        if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
            raise TypeError(f"{json_kind(left)} {symbol} {json_kind(right)} cannot be computed")
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
    raise TypeError(f"{json_kind(left)} + {json_kind(right)} cannot be computed")


def _bounded(number: Any) -> Any:
    if isinstance(number, int):
        if number.bit_length() > _MOST_INTEGER_BITS:
            raise ValueError("the number is too large")
    elif not -float("inf") < number < float("inf"):
        raise ValueError("the number is not finite")
    return number


def _comparison(symbol: str, operation: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def apply(left: Any, right: Any) -> bool:
        try:
            return operation(left, right)
        except TypeError:
            raise TypeError(f"{json_kind(left)} {symbol} {json_kind(right)} cannot be compared") from None

    return apply


def _signed(symbol: str, operation: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def apply(value: Any) -> Any:
        if not isinstance(value, (int, float)):
            raise TypeError(f"{symbol} needs a number, not {json_kind(value)}")
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
