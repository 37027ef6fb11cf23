"""The parts of an expression that read nothing: their values, and why some of them can never be computed."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

from graph_research.graph.errors import Finding
from graph_research.graph.expressions.builtins import BUILTIN_FUNCTIONS
from graph_research.graph.expressions.compiled import EVALUATION_ERRORS, Compiled
from graph_research.graph.expressions.syntax import place_in
from graph_research.graph.expressions.translation import as_function
from graph_research.graph.messages import truncate

UNKNOWN = object()
"""Stands for a value that depends on more than the expression itself."""

_ROUNDS = (ast.ListComp, ast.GeneratorExp, ast.DictComp)
"""Syntax that may take long to evaluate, so that a check leaves it to the run."""


def constant_value(tree: ast.expr, registered: Collection[str]) -> Any:
    """The value of an expression that reads nothing and has no part that fails, else `UNKNOWN`. The functions that are
    `registered` by the program are not called."""
    return _evaluated(tree) if _is_constant(tree, registered) else UNKNOWN


def known_parts(tree: ast.expr, registered: Collection[str]) -> Any:
    """The same, but of an object that is constant in part the entries that are."""
    if not isinstance(tree, ast.Dict) or _is_constant(tree, registered):
        return constant_value(tree, registered)
    keys = [key.value if isinstance(key, ast.Constant) else UNKNOWN for key in tree.keys]
    entries = {key: known_parts(value, registered) for key, value in zip(keys, tree.values, strict=True)}
    return {key: value for key, value in entries.items() if UNKNOWN not in (key, value)}


def check_constants(compiled: Compiled, registered: Collection[str]) -> Iterator[Finding]:
    """A finding for each largest part of an expression that reads nothing and fails whenever it is evaluated."""
    parts = list(_constant_parts(compiled.tree, registered))
    if not parts:
        return
    try:
        _evaluated(ast.List(parts, ast.Load()))
    except EVALUATION_ERRORS:
        for part in parts:
            try:
                _evaluated(part)
            except EVALUATION_ERRORS as problem:
                message = f"`{truncate(ast.unparse(part))}` always fails: {problem}"
                place = place_in(compiled.expression, part)
                yield Finding.at(place, "always-fails", message, "correct it, or take the value from a channel")


def _constant_parts(tree: ast.AST, registered: Collection[str]) -> Iterator[ast.expr]:
    if isinstance(tree, ast.Constant):
        return
    if isinstance(tree, ast.expr) and not isinstance(tree, ast.Slice) and _is_constant(tree, registered):
        yield tree
        return
    for child in ast.iter_child_nodes(tree):
        yield from _constant_parts(child, registered)


def _is_constant(tree: ast.expr, registered: Collection[str]) -> bool:
    """Whether the value of `tree` depends on nothing else, and is soon found."""
    parts = list(ast.walk(tree))
    called = {id(part.func) for part in parts if isinstance(part, ast.Call)}
    return not any(
        isinstance(part, _ROUNDS) or (isinstance(part, ast.Name) and (id(part) not in called or part.id in registered))
        for part in parts
    )


def _evaluated(tree: ast.expr) -> Any:
    return as_function(tree, BUILTIN_FUNCTIONS, explain=True)({})
