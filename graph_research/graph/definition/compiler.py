"""A checked graph made ready to run: its definition with every expression, schema and subgraph compiled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from graph_research.graph.definition.schemas import find_schema
from graph_research.graph.definition.spec import GraphSpec, NodeSpec
from graph_research.graph.errors import Finding, GraphInvalid, HandoffInvalid
from graph_research.graph.expressions.compiled import Compiled, ExpressionGroup, compile_expression
from graph_research.graph.messages import did_you_mean
from graph_research.graph.registry import Registry
from graph_research.graph.source import Expression, Place
from graph_research.graph.values.json_schema import Contract, SchemaInvalid
from graph_research.graph.values.python_types import Misfit, NamedType, Typed, schema_of, type_names, typed


@dataclass(frozen=True, kw_only=True)
class NodeProgram:
    """The compiled expressions of one node; None or empty where the node has none.

    `fields` makes the handoff; the short form `input: NAME` is expanded, with `optional` the fields that are left out
    when null. `into` makes the update from `output`; where it is expanded from the short form, `only_present` is True:
    only the fields that the output has are written.
    """

    each: Compiled | None = None
    ask: Compiled | None = None
    default: Compiled | None = None
    fields: Mapping[str, Compiled] = field(default_factory=dict)
    optional: frozenset[str] = frozenset()
    into: Mapping[str, Compiled] = field(default_factory=dict)
    only_present: bool = False
    assignments: Mapping[str, Compiled] = field(default_factory=dict)
    typed: Mapping[str, Typed] = field(default_factory=dict)
    """Of a handler's handoff: the fields that are, or hold, values of a named type."""

    @cached_property
    def makes_json(self) -> bool:
        """Whether all expressions make JSON, because they call only built-in functions."""
        own = (self.each, self.ask, self.default, *self.into.values(), *self.assignments.values())
        return all(compiled.makes_json for compiled in own if compiled is not None)

    @cached_property
    def _input_group(self) -> ExpressionGroup:
        return ExpressionGroup(self.fields)

    @cached_property
    def _output_group(self) -> ExpressionGroup:
        return ExpressionGroup(self.into)

    def handoff(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """The node's handoff, from the channels (and the item) in `scope`. Raises `ExpressionFailed`."""
        values = self._input_group.evaluate(scope)
        if not self.optional:
            return values
        return {name: value for name, value in values.items() if value is not None or name not in self.optional}

    def from_stored(self, handoff: Mapping[str, Any], node: str) -> dict[str, Any]:
        """The handoff as a handler sees it, with the values of named types. Raises `HandoffInvalid`."""
        return _from_stored(self.typed, handoff, node)

    def update(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """The update of the channels; `scope` holds `output` (or `outputs` and `errors`). Raises `ExpressionFailed`."""
        if not self.only_present:
            return self._output_group.evaluate(scope)
        present = scope.get("output")
        return {
            channel: compiled.evaluate(scope)
            for channel, compiled in self.into.items()
            if isinstance(present, Mapping) and channel in present
        }

    def assign(self, scope: Mapping[str, Any]) -> dict[str, Any]:
        """The update of a `set` node: every expression sees the state before it. Raises `ExpressionFailed`."""
        return {channel: compiled.evaluate(scope) for channel, compiled in self.assignments.items()}


@dataclass(frozen=True, kw_only=True)
class Graph:
    """A graph without errors. `hash` (SHA-256, hex) covers it, its subgraphs, schemas and prompts."""

    spec: GraphSpec
    registry: Registry
    hash: str
    warnings: tuple[Finding, ...] = ()
    programs: Mapping[str, NodeProgram]
    """By node."""
    guards: Mapping[int, Compiled]
    """`when` by the edge's index; an edge without one has no entry."""
    loops: Mapping[str, Compiled]
    """`while` by loop; a loop without one has no entry."""
    contracts: Mapping[str, Contract]
    """By schema name: every one that a node's input, output or answer names."""
    channels: Mapping[str, Contract]
    """By channel: what its value must fit."""
    subgraphs: Mapping[str, Graph]
    """By graph name, as `graph:` nodes name them."""
    typed: Mapping[str, Typed] = field(default_factory=dict)
    """The channels whose values are, or hold, values of a named type."""

    def walk(self) -> Iterator[Graph]:
        """The graph and all its subgraphs, each once by its name, those nearer to it first."""
        seen: set[str] = set()
        waiting = [self]
        for graph in waiting:
            if graph.spec.name not in seen:
                seen.add(graph.spec.name)
                yield graph
                waiting.extend(graph.subgraphs.values())

    def from_stored(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values of channels from their stored JSON. Raises `HandoffInvalid`."""
        return _from_stored(self.typed, values, self.spec.name)

    def to_stored(self, update: Mapping[str, Any], values: Mapping[str, Any], node: str) -> Mapping[str, Any]:
        """An update of the channels `values` as the JSON that is stored, each operand checked against the channel's
        type. Raises `HandoffInvalid`."""
        if not self.typed:
            return update
        stored = dict(update)
        for name, kind in self.typed.items():
            operand = update.get(name)
            if operand is None:
                continue
            merged = self.spec.channels[name].reduce == "merge" and isinstance(operand, Mapping)
            try:
                whole = kind.to_stored({**(values.get(name) or {}), **operand} if merged else operand)
            except Misfit as problem:
                raise _misfit(problem, name, operand, node) from problem
            stored[name] = {key: whole[key] for key in operand if key in whole} if merged else whole
        return stored

    def types_used(self) -> list[NamedType]:
        """The types that the channels name."""
        names = {name for channel in self.spec.channels.values() for name in type_names(channel.schema)}
        return [self.registry.types[name] for name in sorted(names) if name in self.registry.types]

    @cached_property
    def replacing(self) -> frozenset[str]:
        """The nodes that do nothing but replace channels."""
        replaced = {name for name, channel in self.spec.channels.items() if channel.reduce == "replace"}
        return frozenset(name for name in self.spec.nodes if self.writes(name) <= replaced)

    def writes(self, node: str) -> frozenset[str]:
        """The channels that a node writes."""
        spec = self.spec.nodes[node]
        named = (spec.output and spec.output.into) or {}
        return frozenset({*spec.assignments, *named, *self.programs[node].into, *([spec.into] if spec.into else [])})


def _from_stored(typed: Mapping[str, Typed], values: Mapping[str, Any], node: str) -> dict[str, Any]:
    built = dict(values)
    for name, kind in typed.items():
        if name in built:
            try:
                built[name] = kind.from_stored(built[name])
            except Misfit as problem:
                raise _misfit(problem, name, built[name], node) from problem
    return built


def _misfit(problem: Misfit, name: str, value: Any, node: str) -> HandoffInvalid:
    return HandoffInvalid(
        f'node "{node}": "{name}" does not fit its type: {problem}',
        node=node,
        schema=problem.kind,
        path=f"/{name}{problem.path}",
        value=value,
    )


def compile_graph(spec: GraphSpec, registry: Registry, subgraphs: Mapping[str, Graph]) -> tuple[Graph, list[Finding]]:
    """Everything of `spec` that compiles, and a finding for each expression and schema that does not.

    `subgraphs` are those that `graph:` nodes name, compiled before.
    """
    compiler = _Compiler(spec, registry)
    contracts, channels = compiler.contracts(), compiler.channels()
    graph = Graph(
        spec=spec,
        registry=registry,
        hash="",
        programs={name: compiler.program(node, contracts) for name, node in spec.nodes.items()},
        guards={edge.index: guard for edge in spec.edges if (guard := compiler.expression(edge.when))},
        loops={name: guard for name, loop in spec.loops.items() if (guard := compiler.expression(loop.while_))},
        contracts=contracts,
        channels=channels,
        subgraphs=subgraphs,
        typed=compiler.typed(),
    )
    return replace(graph, hash=_whole_hash(graph)), compiler.findings


class _Compiler:
    def __init__(self, spec: GraphSpec, registry: Registry) -> None:
        self.spec = spec
        self.registry = registry
        self.findings: list[Finding] = []

    def expression(self, expression: Expression | None) -> Compiled | None:
        if expression is None:
            return None
        try:
            return compile_expression(expression, self.registry.functions)
        except GraphInvalid as invalid:
            self.findings.extend(invalid.findings)
            return None

    def expressions(self, expressions: Mapping[str, Expression]) -> dict[str, Compiled]:
        return {name: compiled for name, text in expressions.items() if (compiled := self.expression(text))}

    def typed(self) -> dict[str, Typed]:
        """The channels with a type. Reports unknown types, and defaults that do not fit."""
        types: Mapping[str, NamedType] = self.registry.types
        channels: dict[str, Typed] = {}
        for name, channel in self.spec.channels.items():
            for kind in sorted(set(type_names(channel.schema)) - types.keys()):
                self._report(
                    channel.place,
                    "unknown-type",
                    f'no type "{kind}"',
                    did_you_mean(kind, types, "register it: load_graph(…, types={NAME: CLASS})"),
                )
            if (type_ := typed(channel.schema, types)) is None:
                continue
            channels[name] = type_
            try:
                type_.to_stored(channel.default)
            except Misfit as problem:
                message = f'channel "{name}": the default does not fit: {problem}'
                place = self.spec.places.get(f"state/{name}/default", channel.place)
                self._report(place, "default-mismatch", message, "correct the default or the type")
        return channels

    def _typed_fields(
        self, node: NodeSpec, fields: Mapping[str, Compiled], each: Compiled | None, contract: Contract | None
    ) -> dict[str, Typed]:
        """The fields of a handler's handoff with a type: what its schema says, else what is handed on of channels."""
        if not self.registry.types or node.kind != "run":
            return {}
        scope: dict[str, Any] = {name: channel.schema for name, channel in self.spec.channels.items()}
        if each is not None:
            items = schema_of(each.tree, scope)
            scope[node.item_name] = items.get("items") if isinstance(items, Mapping) else None
        types = {name: typed(schema_of(compiled.tree, scope), self.registry.types) for name, compiled in fields.items()}
        for name, schema in contract.properties.items() if contract else ():
            types[name] = typed(schema, self.registry.types) or types.get(name)
        return {name: type_ for name, type_ in types.items() if type_ is not None}

    def program(self, node: NodeSpec, contracts: Mapping[str, Contract]) -> NodeProgram:
        fields, optional = self._fields(node, contracts)
        into, only_present = self._into(node, contracts)
        each = self.expression(node.each)
        contract = contracts.get(node.input.schema or "") if node.input else None
        return NodeProgram(
            each=each,
            typed=self._typed_fields(node, fields, each, contract),
            ask=self.expression(node.ask),
            default=self.expression(node.default),
            fields=fields,
            optional=optional,
            into=into,
            only_present=only_present,
            assignments=self.expressions(node.assignments),
        )

    def _fields(self, node: NodeSpec, contracts: Mapping[str, Contract]) -> tuple[dict[str, Compiled], frozenset[str]]:
        if node.input is None or node.input.with_ is not None:
            return self.expressions(node.input.with_ or {}) if node.input else {}, frozenset()
        contract = contracts.get(node.input.schema or "")
        if contract is None:
            return {}, frozenset()
        seen = {*self.spec.channels, *((node.item_name, "index") if node.each else ())}
        names = [name for name in contract.properties if name in seen]
        return self._plain(names, node.input.place), frozenset(names) - contract.required

    def _into(self, node: NodeSpec, contracts: Mapping[str, Contract]) -> tuple[dict[str, Compiled], bool]:
        if node.output is None or node.output.into is not None:
            return self.expressions(node.output.into or {}) if node.output else {}, False
        contract = contracts.get(node.output.schema or "")
        if contract is None:
            return {}, False
        names = [name for name in contract.properties if name in self.spec.channels]
        return self._plain(names, node.output.place, "output."), True

    def _plain(self, names: list[str], place: Place, prefix: str = "") -> dict[str, Compiled]:
        return self.expressions({name: Expression(f"{prefix}{name}", place) for name in names})

    def contracts(self) -> dict[str, Contract]:
        contracts: dict[str, Contract] = {}
        for name, place in schema_names(self.spec):
            found = contracts.get(name) or find_schema(name, place, self.registry.schemas)
            if isinstance(found, Finding):
                self.findings.append(found)
            else:
                contracts[name] = found
        return contracts

    def channels(self) -> dict[str, Contract]:
        contracts = {}
        for name, channel in self.spec.channels.items():
            try:
                contracts[name] = Contract(channel.schema, name, self.registry.schemas, what="channel")
            except SchemaInvalid as problem:
                self._report(channel.place, "schema-invalid", f'channel "{name}": {problem}', "correct its type")
        return contracts

    def _report(self, place: Place, code: str, message: str, help: str) -> None:
        self.findings.append(Finding.at(place, code, message, help))


def schema_names(spec: GraphSpec) -> Iterator[tuple[str, Place]]:
    for name, node in spec.nodes.items():
        for key, schema in (
            ("input", node.input and node.input.schema),
            ("output", node.output and node.output.schema),
            ("schema", node.schema),
        ):
            if schema:
                path = f"nodes/{name}/{key}"
                yield schema, spec.place(f"{path}/schema" if f"{path}/schema" in spec.places else path)


def _whole_hash(graph: Graph) -> str:
    spec, prompting = graph.spec, graph.registry.prompts
    contracts = [*graph.contracts.values(), *graph.channels.values()]
    schemas = [[contract.name, contract.schema, contract.referred] for contract in contracts]
    channels = [
        [channel.name, channel.reduce, channel.default, channel.input, channel.output]
        for channel in spec.channels.values()
    ]
    prompts = {
        name: prompt[0]
        for node in spec.nodes.values()
        if node.kind == "prompt" and node.target
        for name in (node.target, f"{node.target}/system", f"{node.target}/user")
        if (prompt := prompting.find(name))
    }
    subgraphs = {name: subgraph.hash for name, subgraph in graph.subgraphs.items()}
    parts: list[Any] = [spec.hash, schemas, channels, prompts, subgraphs]
    parts += [[kind.name, kind.schema] for kind in graph.types_used()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
