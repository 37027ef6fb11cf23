"""The JSON types that an expression can have according to the schemas; reports values that can never fit."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graph_research.graph.errors import Finding
from graph_research.graph.expressions.builtins import BUILTIN_FUNCTIONS
from graph_research.graph.expressions.compiled import Compiled
from graph_research.graph.expressions.syntax import place_in
from graph_research.graph.messages import closest, did_you_mean, show_value, truncate, unknown_name_help
from graph_research.graph.source import Expression
from graph_research.graph.validation.constants import check_constants

_ALL = frozenset({"null", "boolean", "number", "string", "array", "object"})
_WORDS = {
    "null": "null",
    "boolean": "a boolean",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}


@dataclass(frozen=True)
class Type:
    """The kinds a value may have, and the schema that says more about it (`{}` where none does)."""

    kinds: frozenset[str] = _ALL
    schema: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def solid(self) -> frozenset[str]:
        """The kinds besides null: any value may be absent, so null alone never proves a misfit."""
        return self.kinds - {"null"}

    def meets(self, *kinds: str) -> bool:
        """Whether a value of this type may be of one of `kinds`."""
        return not self.solid.isdisjoint(kinds) or (not self.solid and "null" in kinds)

    def __str__(self) -> str:
        return " or ".join(_WORDS[kind] for kind in sorted(self.solid or self.kinds))


ANY = Type()


def type_of_schema(schema: Any, root: Mapping[str, Any] | None = None, depth: int = 0) -> Type:
    """The type a JSON Schema allows; references inside `root` are followed, everything else unknown is `ANY`."""
    if not isinstance(schema, Mapping) or depth > 20:
        return ANY
    root = root if root is not None else schema
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return type_of_schema(_referred(reference, root), root, depth + 1) if reference.startswith("#/") else ANY
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return _union([type_of_schema(part, root, depth + 1) for part in schema[key]])
    full = {**schema, "$root": root}
    if isinstance(schema.get("enum"), list):
        return Type(frozenset(_kind_of(value) for value in schema["enum"]), full)
    if "const" in schema:
        return Type(frozenset({_kind_of(schema["const"])}), full)
    written = schema.get("type")
    names = [written] if isinstance(written, str) else written
    if not isinstance(names, list):
        return Type(_ALL, full)
    return Type(frozenset("number" if name == "integer" else str(name) for name in names) & _ALL, full)


def check_expression(
    compiled: Compiled, scope: Mapping[str, Type], functions: Mapping[str, Callable[..., Any]]
) -> tuple[Type, list[Finding]]:
    """The type of an expression whose names have the types of `scope`, and every name and type in it that is wrong, or
    else every part that fails whatever the names hold."""
    checker = _Checker(compiled.expression, functions)
    found = checker.infer(compiled.tree, scope)
    return found, checker.findings or list(check_constants(compiled, functions))


def type_of(node: ast.expr, scope: Mapping[str, Type]) -> Type:
    """The type of a part of an expression."""
    return _Checker(None, {}).infer(node, scope)


def _referred(reference: str, root: Mapping[str, Any]) -> Any:
    value: Any = root
    for part in reference[2:].split("/"):
        value = value.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(value, Mapping) else None
    return value


def _kind_of(value: Any) -> str:
    kinds: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "string", dict: "object"}
    return "null" if value is None else kinds.get(type(value), "array")


def _union(types: list[Type]) -> Type:
    solid = [kind for kind in types if kind.kinds != {"null"}]
    schema = solid[0].schema if len(solid) == 1 else {}
    return Type(frozenset().union(*(kind.kinds for kind in types)), schema) if types else ANY


def _only(*kinds: str) -> Type:
    return Type(frozenset(kinds))


_ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "len": ("string", "array", "object"),
    "any": ("string", "array", "object"),
    "all": ("string", "array", "object"),
    "sum": ("array",),
    "sorted": ("string", "array", "object"),
    "round": ("number", "boolean"),
    "abs": ("number", "boolean"),
    "int": ("number", "string", "boolean"),
    "float": ("number", "string", "boolean"),
}
_RESULTS: Mapping[str, Type] = {
    **dict.fromkeys(("len", "sum", "round", "abs", "int", "float"), _only("number")),
    **dict.fromkeys(("any", "all", "bool"), _only("boolean")),
    "sorted": _only("array"),
    "str": _only("string"),
}
_ALIKE = "take two numbers, strings or arrays: str(…) and float(…) convert"
_NUMBERS = "take two numbers: float(…) converts"
_CORRECT = "correct the expression, or the type of a channel in it"
_NUMERIC = ("number", "boolean")


class _Checker:
    def __init__(self, expression: Expression | None, functions: Mapping[str, Callable[..., Any]]) -> None:
        self.expression = expression
        self.functions = functions
        self.findings: list[Finding] = []

    def report(self, node: ast.AST, code: str, message: str, help: str, *, warning: bool = False) -> None:
        if self.expression:
            place = place_in(self.expression, node)
            self.findings.append(Finding.at(place, code, message, help, warning=warning))

    def infer(self, node: ast.AST, scope: Mapping[str, Type]) -> Type:
        method: Callable[[Any, Mapping[str, Type]], Type] | None = getattr(
            self, f"_{type(node).__name__.lower()}", None
        )
        if method:
            return method(node, scope)
        for child in ast.iter_child_nodes(node):
            self.infer(child, scope)
        return ANY

    def _constant(self, node: ast.Constant, scope: Mapping[str, Type]) -> Type:  # noqa: ARG002 -- one signature for all
        return Type(frozenset({_kind_of(node.value)}), {"const": node.value})

    def _name(self, node: ast.Name, scope: Mapping[str, Type]) -> Type:
        if node.id in scope:
            return scope[node.id]
        if node.id in self.functions or node.id in BUILTIN_FUNCTIONS:
            self.report(node, "unknown-name", f'"{node.id}" is a function', f"call it: {node.id}(…)")
        else:
            help = unknown_name_help(node.id, scope)
            self.report(node, "unknown-name", f'nothing is called "{node.id}" here', help)
        return ANY

    def _attribute(self, node: ast.Attribute, scope: Mapping[str, Type]) -> Type:
        return self._key(node, self.infer(node.value, scope), node.attr)

    def _subscript(self, node: ast.Subscript, scope: Mapping[str, Type]) -> Type:
        value, index = self.infer(node.value, scope), self.infer(node.slice, scope)
        if isinstance(node.slice, ast.Slice):
            return self._expect(node, value, "array", "string", doing="sliced") or value
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return self._key(node, value, node.slice.value)
        if index.solid == {"number"}:
            self._expect(node, value, "array", "string", doing="indexed by a number")
            if value.solid == {"array"}:
                return type_of_schema(value.schema.get("items"), value.schema.get("$root"))
        return ANY

    def _slice(self, node: ast.Slice, scope: Mapping[str, Type]) -> Type:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self._expect(part, self.infer(part, scope), *_NUMERIC, doing="used as a position")
        return ANY

    def _key(self, node: ast.AST, value: Type, key: str) -> Type:
        self._expect(node, value, "object", doing=f'looked up for its key "{key}"')
        properties = value.schema.get("properties")
        if not isinstance(properties, Mapping):
            return ANY
        if key in properties:
            found = type_of_schema(properties[key], value.schema.get("$root"))
            return Type(found.kinds | {"null"}, found.schema)
        closed = value.schema.get("additionalProperties") is False
        if closed or closest(key, properties):
            self.report(
                node,
                "unknown-field",
                f'no key "{key}" is known here',
                did_you_mean(key, properties) or "leave it out: no key is known",
                warning=not closed,
            )
        return ANY

    def _unaryop(self, node: ast.UnaryOp, scope: Mapping[str, Type]) -> Type:
        operand = self.infer(node.operand, scope)
        if isinstance(node.op, ast.Not):
            return _only("boolean")
        self._expect(node, operand, *_NUMERIC, doing="given a sign")
        return _only("number")

    def _binop(self, node: ast.BinOp, scope: Mapping[str, Type]) -> Type:
        left, right = self.infer(node.left, scope), self.infer(node.right, scope)
        groups = [_NUMERIC, ("string",), ("array",)] if isinstance(node.op, ast.Add) else [_NUMERIC]
        possible = [group for group in groups if left.meets(*group) and right.meets(*group)]
        if not possible:
            help = _ALIKE if isinstance(node.op, ast.Add) else _NUMBERS
            self._misfit(node, f"{left} and {right} cannot be {_OPERATIONS.get(type(node.op), 'computed')}", help)
            return ANY
        kinds = {"number" if group == _NUMERIC else group[0] for group in possible}
        return Type(frozenset(kinds), left.schema if kinds == {"array"} and left.schema == right.schema else {})

    def _boolop(self, node: ast.BoolOp, scope: Mapping[str, Type]) -> Type:
        return _union([self.infer(value, scope) for value in node.values])

    def _ifexp(self, node: ast.IfExp, scope: Mapping[str, Type]) -> Type:
        self.infer(node.test, scope)
        return _union([self.infer(node.body, scope), self.infer(node.orelse, scope)])

    def _compare(self, node: ast.Compare, scope: Mapping[str, Type]) -> Type:
        types = [self.infer(value, scope) for value in (node.left, *node.comparators)]
        for operator, left, right in zip(node.ops, types, types[1:], strict=False):
            if isinstance(operator, (ast.In, ast.NotIn)):
                self._membership(node, left, right)
            elif isinstance(operator, (ast.Eq, ast.NotEq)):
                self._equality(node, left, right)
            elif not isinstance(operator, (ast.Is, ast.IsNot)):
                groups = (_NUMERIC, ("string",), ("array",))
                if not any(left.meets(*group) and right.meets(*group) for group in groups):
                    self._misfit(node, f"{left} and {right} cannot be ordered", _ALIKE)
        return _only("boolean")

    def _equality(self, node: ast.AST, left: Type, right: Type) -> None:
        if not left.solid or not right.solid:
            return
        groups = (_NUMERIC, ("string",), ("array",), ("object",))
        if not any(left.meets(*group) and right.meets(*group) for group in groups):
            self._misfit(node, f"{left} never equals {right}", "convert one with str(…) or float(…)")
        for one, other in ((left, right), (right, left)):
            allowed = one.schema.get("enum")
            if isinstance(allowed, list) and "const" in other.schema and other.schema["const"] not in allowed:
                wrong = other.schema["const"]
                names = [name for name in allowed if isinstance(name, str)]
                near = did_you_mean(wrong, names) if isinstance(wrong, str) else ""
                help = near or f"its values are {show_value(allowed)}"
                self._misfit(node, f"{show_value(wrong)} is never a value here", help)

    def _membership(self, node: ast.AST, left: Type, right: Type) -> None:
        self._expect(node, right, "string", "array", "object", doing="searched with `in`")
        if right.solid in ({"string"}, {"object"}) and not left.meets("string"):
            self._misfit(node, f"{left} is never in {right}", "make it a string: str(…)")

    def _call(self, node: ast.Call, scope: Mapping[str, Type]) -> Type:
        types = [self.infer(argument, scope) for argument in node.args]
        for keyword in node.keywords:
            self.infer(keyword.value, scope)
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        function = self.functions.get(name, BUILTIN_FUNCTIONS.get(name))
        if function is not None:
            self._arity(node, name, function)
        if name in self.functions or not types:
            return ANY if name in self.functions else _RESULTS.get(name, ANY)
        if name in _ARGUMENTS and not types[0].meets(*_ARGUMENTS[name]):
            self._misfit(node, f"{name}() cannot take {types[0]}")
        if name in ("min", "max") and len(types) == 1:
            self._expect(node, types[0], "string", "array", "object", doing=f"given to {name}() alone")
        return _RESULTS.get(name, ANY)

    def _arity(self, node: ast.Call, name: str, function: Callable[..., Any]) -> None:
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return
        try:
            signature.bind(*node.args, **{keyword.arg: None for keyword in node.keywords if keyword.arg})
        except TypeError as problem:
            self.report(
                node, "wrong-arguments", f"`{ast.unparse(node)}`: {problem}", f"it is {name}{_unannotated(signature)}"
            )

    def _list(self, node: ast.List, scope: Mapping[str, Type]) -> Type:
        for item in node.elts:
            self.infer(item, scope)
        return _only("array")

    _tuple = _list

    def _dict(self, node: ast.Dict, scope: Mapping[str, Type]) -> Type:
        for key, value in zip(node.keys, node.values, strict=True):
            if key is not None:
                self._object_key(key, scope)
            self.infer(value, scope)
        return _only("object")

    def _object_key(self, node: ast.expr, scope: Mapping[str, Type]) -> None:
        kind = self.infer(node, scope)
        if "string" not in kind.kinds:
            self._misfit(node, f"{kind} cannot be the key of an object", "make it a string: str(…)")

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, scope: Mapping[str, Type]) -> Type:
        inner = dict(scope)
        for generator in node.generators:
            source = self.infer(generator.iter, inner)
            self._expect(generator.iter, source, "array", "string", "object", doing="gone through with `for`")
            items = type_of_schema(source.schema.get("items"), source.schema.get("$root"))
            plain = isinstance(generator.target, ast.Name) and source.solid == {"array"}
            inner |= {
                part.id: items if plain else ANY for part in ast.walk(generator.target) if isinstance(part, ast.Name)
            }
            for condition in generator.ifs:
                self.infer(condition, inner)
        if isinstance(node, ast.DictComp):
            self._object_key(node.key, inner)
        self.infer(node.value if isinstance(node, ast.DictComp) else node.elt, inner)
        return _only("object" if isinstance(node, ast.DictComp) else "array")

    _generatorexp = _dictcomp = _listcomp

    def _expect(self, node: ast.AST, value: Type, *kinds: str, doing: str) -> Type | None:
        if value.solid and not value.meets(*kinds):
            self._misfit(node, f"{value} cannot be {doing}")
            return ANY
        return None

    def _misfit(self, node: ast.AST, message: str, help: str = _CORRECT) -> None:
        text = ast.unparse(node)
        self.report(node, "type-mismatch", f"`{truncate(text)}`: {message}", help)


def _unannotated(signature: inspect.Signature) -> inspect.Signature:
    empty = inspect.Parameter.empty
    plain = [parameter.replace(annotation=empty) for parameter in signature.parameters.values()]
    return signature.replace(parameters=plain, return_annotation=empty)


_OPERATIONS: Mapping[type[ast.AST], str] = {
    ast.Add: "added",
    ast.Sub: "subtracted",
    ast.Mult: "multiplied",
    ast.Div: "divided",
    ast.FloorDiv: "divided",
    ast.Mod: "divided",
}
