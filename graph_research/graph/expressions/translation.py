"""Expressions translated to Python functions of their scope: look-ups, operators and loops become calls of ours."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from graph_research.graph.expressions.builtins import BUILTIN_FUNCTIONS
from graph_research.graph.expressions.operations import (
    COMPARISONS,
    OPERATORS,
    Limits,
    bounded,
    compare,
    entry,
    item,
    object_of,
    of_scope,
    sized,
)

ScopeFunction = Callable[[Mapping[str, Any]], Any]

_GLOBALS = {
    "__builtins__": {},
    "Limits": Limits,
    "compare": compare,
    "entry": entry,
    "item": item,
    "kind": type,
    "object": dict,
    "object_of": object_of,
    "of_scope": of_scope,
    "sized": sized,
    "slice": slice,
    **{f"op_{kind.__name__}": function for kind, function in OPERATORS.items()},
}
_MAKING = (ast.BinOp, ast.Call, ast.Dict, ast.DictComp, ast.GeneratorExp, ast.List, ast.ListComp, ast.Slice, ast.Tuple)
"""Syntax that makes a value which may be large."""
_SMALL = (ast.Constant, ast.Compare, ast.BoolOp)
"""Syntax whose value is small, or that of a part which is counted where it is read."""
_QUICK = frozenset({"abs", "bool", "float", "int", "len", "round"})
"""Built-in functions that take no longer for a large value."""
_OF_CALL, _OF_NEW = 10, 5
"""What an entry counts that a function reads, and one of a value that the same round makes, as against one of a value
that is there and that an operator reads."""


def as_function(tree: ast.expr, functions: Mapping[str, Callable[..., Any]], *, explain: bool = False) -> ScopeFunction:
    """An expression as a function from the scope to its value. It raises ArithmeticError, LookupError, TypeError or
    ValueError; their messages are for users only with `explain`, which is slower."""
    return _function(_limited(tree, explain=explain), functions)


def as_functions(trees: Mapping[str, ast.expr], functions: Mapping[str, Callable[..., Any]]) -> ScopeFunction:
    """Several expressions as one function from the scope to their values by name."""
    bodies = [_limited(tree, explain=False) for tree in trees.values()]
    return _function(ast.Dict([ast.Constant(name) for name in trees], bodies), functions)


def _function(body: ast.expr, functions: Mapping[str, Callable[..., Any]]) -> ScopeFunction:
    code = compile(ast.fix_missing_locations(ast.Expression(_lambda(body, "scope"))), "<expressions>", "eval")
    named = {
        f"f_{name}": call if call is BUILTIN_FUNCTIONS.get(name) else bounded(call, name)
        for name, call in functions.items()
    }
    function: ScopeFunction = eval(code, {**_GLOBALS, **named})  # noqa: S307 -- the code holds only what `_Translator` makes
    return function


def _limited(tree: ast.expr, *, explain: bool) -> ast.expr:
    """The translation, with the limits of one evaluation where it makes something."""
    body, parts = _Translator(explain=explain).translate(tree), list(ast.walk(tree))
    if any(isinstance(part, _MAKING) for part in parts):
        body = _call("sized", body)
    if any(isinstance(part, ast.comprehension) for part in parts):
        body = ast.Call(_lambda(body, "limits"), [_call("Limits")], [])
    return body


@dataclass(frozen=True, kw_only=True)
class _Translator:
    """Names become entries of `scope`, or, with the prefix `v_`, variables where a comprehension binds them."""

    explain: bool
    bound: frozenset[str] = frozenset()
    loops: bool = False
    """Whether it stands inside a comprehension, and is evaluated in each round."""
    inline: bool = True
    """Whether `:=` may be used, which Python forbids in what a comprehension iterates over."""

    def translate(self, tree: ast.expr) -> ast.expr:
        match tree:
            case ast.Constant():
                return tree
            case ast.Name(id=name):
                return self._name(name)
            case ast.Attribute(value=value, attr=key):
                return self._entry(self.translate(value), key)
            case ast.Subscript(value=value, slice=ast.Slice() as key):
                return _call("item", self._read(value), self.translate(key))
            case ast.Subscript(value=value, slice=key):
                return _call("item", self.translate(value), self.translate(key))
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [self.translate(bound) if bound else ast.Constant(None) for bound in (lower, upper, step)]
                return _call("slice", *bounds)
            case ast.Compare():
                return self._compare(tree)
            case ast.BoolOp(op=operation, values=values):
                return ast.BoolOp(operation, self._all(values))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return ast.IfExp(*self._all([test, body, orelse]))
            case ast.UnaryOp(op=ast.Not() as operation, operand=operand):
                return ast.UnaryOp(operation, self.translate(operand))
            case ast.UnaryOp(op=operation, operand=operand):
                return _call(f"op_{type(operation).__name__}", self.translate(operand))
            case ast.BinOp(left=left, op=operation, right=right):
                read = self._read if isinstance(operation, ast.Add) else self.translate
                return _call(f"op_{type(operation).__name__}", read(left), read(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                pass_on = self.translate if name in _QUICK else partial(self._read, weight=_OF_CALL)
                named = [ast.keyword(keyword.arg, pass_on(keyword.value)) for keyword in keywords]
                return ast.Call(_load(f"f_{name}"), [pass_on(argument) for argument in arguments], named)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return ast.List(self._all(elements), ast.Load())
            case ast.Dict(keys=keys, values=values):
                return _call("object_of", ast.Dict([key and self.translate(key) for key in keys], self._all(values)))
            case ast.ListComp(generators=generators) | ast.GeneratorExp(generators=generators):
                inner, loops = self._loops(generators)
                return ast.ListComp(inner._element(tree.elt), loops)
            case ast.DictComp(key=key, value=value, generators=generators):
                inner, loops = self._loops(generators)
                return _call("object_of", ast.DictComp(inner.translate(key), inner._element(value), loops))
        raise AssertionError(f"{type(tree).__name__} is not in the allow-list")

    def _all(self, trees: list[ast.expr]) -> list[ast.expr]:
        return [self.translate(tree) for tree in trees]

    def _read(self, tree: ast.expr, weight: int = 1) -> ast.expr:
        """The translation of what is read as a whole, which counts where that happens in each round."""
        value = self.translate(tree)
        if not self.loops or isinstance(tree, _SMALL):
            return value
        if isinstance(tree, (ast.Name, ast.Attribute)):
            return _limit("read_again", value, ast.Constant(weight))
        return _limit("read", value, ast.Constant(max(weight, _OF_NEW)))

    def _name(self, name: str) -> ast.expr:
        if name in self.bound:
            return _load(f"v_{name}")
        if self.explain:
            return _call("of_scope", _load("scope"), ast.Constant(name))
        return ast.Subscript(_load("scope"), ast.Constant(name), ast.Load())

    def _entry(self, value: ast.expr, key: str) -> ast.expr:
        """`entry(value, key)`, spelled out for plain objects: `it.get(key) if kind(it := value) is object else …`."""
        if not self.inline:
            return _call("entry", value, ast.Constant(key))
        return ast.IfExp(
            test=ast.Compare(
                _call("kind", ast.NamedExpr(ast.Name("it", ast.Store()), value)), [ast.Is()], [_load("object")]
            ),
            body=ast.Call(ast.Attribute(_load("it"), "get", ast.Load()), [ast.Constant(key)], []),
            orelse=_call("entry", _load("it"), ast.Constant(key)),
        )

    def _compare(self, tree: ast.Compare) -> ast.expr:
        parts = [tree.left, *tree.comparators]
        searches = any(isinstance(operation, (ast.In, ast.NotIn)) for operation in tree.ops)
        is_short = len(parts) == 2 and not searches and any(isinstance(part, ast.Constant) for part in parts)
        operands = [self.translate(part) if is_short else self._read(part) for part in parts]
        if not self.explain:
            return ast.Compare(operands[0], tree.ops, operands[1:])
        symbols = ast.Tuple([ast.Constant(COMPARISONS[type(operation)]) for operation in tree.ops], ast.Load())
        return _call("compare", symbols, *(_lambda(operand) for operand in operands))

    def _loops(self, generators: list[ast.comprehension]) -> tuple[_Translator, list[ast.comprehension]]:
        """The translator of what stands inside the loops, and the loops."""
        inner, loops = self, []
        for loop in generators:
            values = _limit("count", replace(inner, inline=False).translate(loop.iter))
            names = {node.id for node in ast.walk(loop.target) if isinstance(node, ast.Name)}
            inner = replace(inner, bound=inner.bound | names, loops=True)
            loops.append(ast.comprehension(_target(loop.target), values, inner._all(loop.ifs), 0))
        return inner, loops

    def _element(self, tree: ast.expr) -> ast.expr:
        element = self.translate(tree)
        return _limit("keep", element) if any(isinstance(node, _MAKING) for node in ast.walk(tree)) else element


def _target(tree: ast.expr) -> ast.expr:
    match tree:
        case ast.Name(id=name):
            return ast.Name(f"v_{name}", ast.Store())
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return ast.Tuple([_target(element) for element in elements], ast.Store())
    raise AssertionError(f"{type(tree).__name__} is not in the allow-list")


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _call(function: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_load(function), list(arguments), [])


def _limit(method: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(_load("limits"), method, ast.Load()), list(arguments), [])


def _lambda(body: ast.expr, *names: str) -> ast.Lambda:
    given = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments(posonlyargs=[], args=given, kwonlyargs=[], kw_defaults=[], defaults=[]), body)
