"""The syntax of expressions: parsed as Python and checked against an allow-list, node by node."""

from __future__ import annotations

import ast
import inspect
import math
import re
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from graph_research.graph.errors import Finding
from graph_research.graph.expressions.operations import MOST_INTEGER_BITS
from graph_research.graph.messages import did_you_mean, truncate
from graph_research.graph.source import Expression, Place

_MOST_CHARS = 2_000
_MOST_DEPTH = 40
_REGISTER = "register a function for it: load_graph(…, functions={NAME: FUNCTION})"
_FORBIDDEN = "forbidden-expression"
_SURROGATE = re.compile("[\ud800-\udfff]")

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


def inspect_expression(
    expression: Expression, functions: Mapping[str, Callable[..., Any]]
) -> tuple[ast.expr | None, list[Finding]]:
    """The syntax tree (None for a syntax error), and a finding for each part that an expression may not contain."""
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
    """The names that an expression reads from its scope, in order; names that a comprehension binds are not free."""
    found: list[ast.Name] = []
    _collect_names(tree, frozenset(), found)
    return found


def place_in(expression: Expression, node: ast.AST | None) -> Place:
    """The place of a part of an expression in its file; the expression's own place where it is folded."""
    place = expression.place
    if node is None or expression.written != "exact" or getattr(node, "lineno", 0) != 1:
        return place
    stripped = expression.text.lstrip()
    before = stripped.encode()[: getattr(node, "col_offset", 0)].decode(errors="replace")
    skipped = len(expression.text) - len(stripped)
    return Place(place.file, place.line, place.column + skipped + len(before))


class _Refused(Exception):
    """Why a text cannot be read as an expression: message, help."""


@lru_cache(maxsize=1024)
def _parse(text: str) -> ast.expr:
    """The tree of a text, which is not changed: the nodes of a graph are given the same channels again and again."""
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
            f'"{truncate(text, 120)}" is not an expression: {problem.msg}{column}', _syntax_help(text)
        ) from problem
    except (RecursionError, MemoryError, ValueError) as problem:
        raise _Refused(f'"{truncate(text, 120)}" cannot be parsed', "write it more simply") from problem
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


def _is_async(function: Callable[..., Any]) -> bool:
    return any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None))))  # noqa: B004 -- the method itself


def _problem(node: ast.AST, functions: Mapping[str, Callable[..., Any]]) -> tuple[str, str, str] | None:
    """`(code, message, help)` of what is wrong with one syntax node, its children aside."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name not in functions:
            return "unknown-function", f'unknown function "{name}"', did_you_mean(name, functions, _REGISTER)
        case ast.Call(func=ast.Name(id=name)) if _is_async(functions[name]):
            message = f'function "{name}" is async, and an expression cannot wait for it'
            return "function-async", message, "register a plain function, or call it in a handler"
        case ast.Call(func=ast.Name()):
            return None
        case ast.Call():
            return _FORBIDDEN, "only plain functions can be called, no methods", _REGISTER
    forbidden = _forbidden(node)
    return forbidden and (_FORBIDDEN, *forbidden)


def _forbidden(node: ast.AST) -> tuple[str, str] | None:
    """`(message, help)` of what an expression may not contain, calls aside."""
    match node:
        case ast.Attribute(attr=key) if key.startswith("_"):
            return (
                f'"{key}": a key with a leading underscore cannot be looked up',
                "give the key another name",
            )
        case ast.Constant(value=value) if not isinstance(value, (str, int, float, type(None))):
            return (
                f"the constant {value!r} is not a JSON value",
                "use a text, a number, True, False, None, a list or an object",
            )
        case ast.Constant(value=str(value)) if _SURROGATE.search(value):
            return (
                f"the string {value!a:.40} holds an unpaired surrogate",
                "write the whole character",
            )
        case ast.Constant(value=int(value)) if value.bit_length() > MOST_INTEGER_BITS:
            return (
                f"the number {truncate(str(value), 30)} is too large",
                f"integers have at most {MOST_INTEGER_BITS} bits; a text may hold more digits",
            )
        case ast.Constant(value=float(value)) if not math.isfinite(value):
            return "the number is too large", "numbers end near 1.8e308"
        case ast.keyword(arg=None):
            return "`**` cannot be used in a call", "write the arguments out"
        case ast.Dict(keys=keys) if None in keys:
            return "`**` cannot be used in an object", "use a channel with `reduce: merge`"
        case ast.Compare(ops=ops, comparators=values) if any(
            isinstance(op, (ast.Is, ast.IsNot)) and not (isinstance(value, ast.Constant) and value.value is None)
            for op, value in zip(ops, values, strict=True)
        ):
            return "`is` compares with None only", "use `==`"
        case ast.comprehension(is_async=1):
            return "`async` is not allowed", "leave `async` out"
        case ast.comprehension(target=target) if not all(map(_is_target, ast.walk(target))):
            return "a comprehension binds names only", "write `for NAME in LIST`"
        case _ if not isinstance(node, _ALLOWED_NODES):
            return f"{_spelled(node)} is not allowed in an expression", _REGISTER
    return None


def _is_target(node: ast.AST) -> bool:
    return isinstance(node, (ast.Name, ast.Tuple, ast.List, ast.expr_context))


def _spelled(node: ast.AST) -> str:
    names: dict[type[ast.AST], str] = {
        ast.Pow: "`**`",
        ast.MatMult: "`@`",
        ast.BitAnd: "`&`",
        ast.BitOr: "`|`",
        ast.BitXor: "`^`",
        ast.LShift: "`<<`",
        ast.RShift: "`>>`",
        ast.Invert: "`~`",
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
