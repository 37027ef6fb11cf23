"""Expressions of a graph, compiled: evaluated as often as needed, never changing the state."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from graph_research.graph.errors import ExpressionFailed, GraphInvalid
from graph_research.graph.expressions.builtins import BUILTIN_FUNCTIONS
from graph_research.graph.expressions.syntax import free_names, inspect_expression
from graph_research.graph.expressions.translation import ScopeFunction, as_function, as_functions
from graph_research.graph.messages import show_value, truncate
from graph_research.graph.source import Expression

EVALUATION_ERRORS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What evaluating an expression may raise."""


class Compiled:
    """An expression ready to be evaluated; may be shared between threads.

    `names` are the free names it reads, `calls` the functions it calls, `tree` its syntax: found without running it.
    `makes_json` is True if it makes JSON of JSON, because it calls only built-in functions.
    """

    __slots__ = ("_function", "calls", "expression", "functions", "makes_json", "names", "tree")

    def __init__(self, expression: Expression, tree: ast.expr, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.expression = expression
        self.tree = tree
        self.names = frozenset(name.id for name in free_names(tree))
        self.calls = frozenset(
            node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        )
        self.functions = {name: functions[name] for name in self.calls}
        self.makes_json = all(function is BUILTIN_FUNCTIONS.get(name) for name, function in self.functions.items())
        self._function: ScopeFunction = self._translate

    def evaluate(self, scope: Mapping[str, Any]) -> Any:
        """The value under `scope` (name to JSON value). It may share lists and objects with the scope: treat it as
        read-only. Raises `ExpressionFailed` with the expression's place, its text and the values of its names.
        """
        try:
            return self._function(scope)
        except EVALUATION_ERRORS:
            return self._explain(scope)

    def _translate(self, scope: Mapping[str, Any]) -> Any:
        """Translate at the first evaluation: most expressions of a node are evaluated in an `ExpressionGroup` only."""
        self._function = as_function(self.tree, self.functions)
        return self._function(scope)

    def _explain(self, scope: Mapping[str, Any]) -> Any:
        """Evaluate again, more slowly, for an error that says what failed."""
        try:
            return as_function(self.tree, self.functions, explain=True)(scope)
        except EVALUATION_ERRORS as problem:
            raise self._failure(problem, scope) from problem

    def _failure(self, problem: Exception, scope: Mapping[str, Any]) -> ExpressionFailed:
        place = self.expression.place
        values = ", ".join(f"{name} = {show_value(scope[name])}" for name in sorted(self.names) if name in scope)
        reason = str(problem) or type(problem).__name__
        return ExpressionFailed(
            f'expression "{truncate(self.expression.text, 200)}" failed: {reason}'
            + (f" (with {values})" if values else ""),
            file=place.file_name,
            line=place.line,
            column=place.column,
        )


class ExpressionGroup:
    """Expressions by name that are evaluated under the same scope, in one call."""

    def __init__(self, compiled: Mapping[str, Compiled]) -> None:
        self._compiled = compiled
        functions = {name: call for expression in compiled.values() for name, call in expression.functions.items()}
        self._function = as_functions({name: expression.tree for name, expression in compiled.items()}, functions)

    def evaluate(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """Their values by name. Raises `ExpressionFailed` for the first that fails."""
        try:
            values: dict[str, Any] = self._function(scope)
        except EVALUATION_ERRORS:
            return {name: compiled.evaluate(scope) for name, compiled in self._compiled.items()}
        return values


def compile_expression(expression: Expression, functions: Mapping[str, Callable[..., Any]] | None = None) -> Compiled:
    """Parse and check an expression. `functions` are those registered beside the built-in ones.

    Raises `GraphInvalid` with every finding: syntax, a forbidden construct, an unknown function.
    """
    known = {**BUILTIN_FUNCTIONS, **(functions or {})}
    tree, findings = inspect_expression(expression, known)
    if tree is None or findings:
        raise GraphInvalid(findings)
    return Compiled(expression, tree, known)
