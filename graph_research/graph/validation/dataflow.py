"""Checks what each expression reads and where its value goes: names, types, missing fields, unwritten channels."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graph_research.errors import UserMistake
from graph_research.graph.definition.channels import RESERVED_NAMES
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.paths import ShortestPaths, after_path
from graph_research.graph.definition.reduced_values import operand_misfit
from graph_research.graph.definition.spec import ChannelSpec, NodeSpec
from graph_research.graph.errors import Finding
from graph_research.graph.expressions.compiled import Compiled
from graph_research.graph.messages import closest, did_you_mean, known_or_closest
from graph_research.graph.registry import TemplateInvalid
from graph_research.graph.source import Place
from graph_research.graph.validation.constants import UNKNOWN, constant_value, known_parts
from graph_research.graph.validation.types import Type, check_expression, type_of_schema
from graph_research.graph.values.python_types import described

_ERROR_FIELDS = {"node": "string", "visit": "integer", "type": "string", "message": "string", "attempts": "integer"}
_ERROR = type_of_schema(
    {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in _ERROR_FIELDS.items()},
        "additionalProperties": False,
    }
)
_ITEM_ERRORS = type_of_schema({"type": "array", "items": {"type": "object"}})
_NUMBER = type_of_schema({"type": "integer"})


def channel_types(graph: Graph) -> dict[str, Type]:
    """The types of what every expression can read: the channels, and `loops` with a counter for each loop."""
    types = {name: _channel_type(graph, channel) for name, channel in graph.spec.channels.items()}
    taken = {name: {"type": "integer"} for name in graph.spec.loops}
    types["loops"] = type_of_schema({"type": "object", "properties": taken, "additionalProperties": False})
    return types


def check_handoffs(
    graph: Graph, channels: Mapping[str, Type], before: Callable[[str], frozenset[str]]
) -> Iterator[Finding]:
    """Findings about every expression; `before` gives the nodes that can have run before a node."""
    for loop in graph.loops.values():
        yield from _check(graph, loop, channels)
    for edge in graph.spec.edges:
        if edge.index in graph.guards:
            yield from _check(graph, graph.guards[edge.index], {**channels, "error": _ERROR} if edge.on else channels)
    led = {edge.target for edge in graph.spec.edges if not edge.on} | {graph.spec.start}
    writers: dict[str, set[str]] = {}
    for name in graph.spec.nodes:
        for channel in known_or_closest(graph.writes(name), graph.spec.channels):
            writers.setdefault(channel, set()).add(name)
    after_events = {edge.target for edge in graph.spec.edges if edge.on} - led  # only there is `error` always known
    for node in graph.spec.nodes.values():
        scope = {**channels, "error": _ERROR} if node.name in after_events else channels
        yield from _NodeChecker(graph, node, scope, before, writers).check()


def check_channel_use(graph: Graph) -> Iterator[Finding]:
    """Warnings about channels that nothing uses, or that are read and never written. A name that is not a channel's
    is a finding of its own, and counts here as the closest channel."""
    compiled = [*graph.guards.values(), *graph.loops.values()]
    for program in graph.programs.values():
        compiled += [part for part in (program.each, program.ask, program.default) if part]
        compiled += [*program.fields.values(), *program.into.values(), *program.assignments.values()]
    bounds = {loop.most for loop in graph.spec.loops.values() if isinstance(loop.most, str)}
    bounds |= {node.at_once for node in graph.spec.nodes.values() if isinstance(node.at_once, str)}
    read = known_or_closest(bounds.union(*(part.names for part in compiled)) - _bound(graph), graph.spec.channels)
    written = known_or_closest(
        frozenset().union(*(graph.writes(name) for name in graph.spec.nodes)), graph.spec.channels
    )
    outputs = any(channel.output for channel in graph.spec.channels.values())
    for name, channel in graph.spec.channels.items():
        message = None
        if name not in read and name not in written:
            if graph.spec.state_schema:
                continue  # one schema may serve several graphs
            message = "is neither read nor written"
        elif name not in read and outputs and not channel.output:
            message = "is written and never read, and no `output`"
        elif name not in written and not channel.input and channel.default is None:
            message = "is read and never written: it is always null"
        if message:
            help = "remove it, or use it"
            yield Finding.at(channel.place, "dead-channel", f'channel "{name}" {message}', help, warning=True)


def _bound(graph: Graph) -> frozenset[str]:
    """Names that expressions can read beside the channels."""
    items = {node.item_name for node in graph.spec.nodes.values() if node.each} - graph.spec.channels.keys()
    return RESERVED_NAMES | items


def _channel_type(graph: Graph, channel: ChannelSpec) -> Type:
    known = type_of_schema(described(channel.schema, graph.registry.types))
    return Type(known.kinds | {"null"}, known.schema) if channel.default is None else known


def _check(graph: Graph, compiled: Compiled, scope: Mapping[str, Type]) -> list[Finding]:
    return check_expression(compiled, scope, graph.registry.functions)[1]


@dataclass(frozen=True)
class _NodeChecker:
    graph: Graph
    node: NodeSpec
    scope: Mapping[str, Type]
    before: Callable[[str], frozenset[str]]
    writers: Mapping[str, set[str]]

    def check(self) -> Iterator[Finding]:
        program = self.graph.programs[self.node.name]
        inner = self.scope
        if program.each:
            items, findings = check_expression(program.each, self.scope, self.graph.registry.functions)
            yield from findings
            yield from self._fits(program.each, items, type_of_schema({"type": "array"}), "`each`")
            yield from self._never_written(program.each, "`each` goes through")
            item = type_of_schema(items.schema.get("items"), items.schema.get("$root"))
            inner = {**self.scope, self.node.item_name: item, "index": _NUMBER}
        yield from self._check_fields(program.fields, inner)
        yield from self._check_writes(program.into, {**self.scope, **self._results()})
        yield from self._check_writes(program.assignments, self.scope)
        if program.ask:
            yield from _check(self.graph, program.ask, self.scope)
        if program.default:
            yield from self._check_writes({self.node.into or "": program.default}, self.scope)
        if self.node.kind == "prompt" and self.node.target:
            yield from self._check_templates(self.node.target)

    def _check_fields(self, fields: Mapping[str, Compiled], scope: Mapping[str, Type]) -> Iterator[Finding]:
        known, required, closed, owner = self._wanted()
        for name, compiled in fields.items():
            actual, findings = check_expression(compiled, scope, self.graph.registry.functions)
            yield from findings
            yield from self._meant_as_expression(compiled, scope)
            if name in known:
                misfits = list(self._fits(compiled, actual, known[name], f'field "{name}" of {owner}'))
                yield from misfits or (() if findings else self._constant_fits(name, compiled, owner))
                if name in required and "null" not in known[name].kinds:
                    yield from self._never_written(compiled, f'{owner} needs "{name}", taken from')
            elif closed:
                place = compiled.expression.key or compiled.expression.place
                yield Finding.at(
                    place, "unknown-field", f'{owner} has no "{name}"', did_you_mean(name, known, "leave it out")
                )
        written = (self.node.input and self.node.input.with_) or {}
        for name in sorted(required - fields.keys() - written.keys()):
            given = self.node.input and self.node.input.with_ is not None
            help = (
                "add it to `with`"
                if given or not self.node.input
                else "add a channel of that name, or map it in `with`"
            )
            place = self._place("input")
            message = f'node "{self.node.name}": {owner} needs "{name}", which nothing gives it'
            yield Finding.at(place, "handoff-missing", message, help)

    def _constant_fits(self, name: str, compiled: Compiled, owner: str) -> Iterator[Finding]:
        """Findings about what is known of a field's value before anything runs."""
        value = known_parts(compiled.tree, self.graph.registry.functions)
        if value is None or value is UNKNOWN:
            return
        registry, target, place = self.graph.registry, self.node.target or "", compiled.expression.place
        if self.node.kind == "graph":
            contract, part = self.graph.subgraphs[target].channels.get(name), value
        else:
            contract, part = self.graph.contracts[(self.node.input and self.node.input.schema) or ""], {name: value}
        if contract and (why := contract.misfits(part, is_partial=True)):
            yield Finding.at(place, "type-mismatch", f'field "{name}" of {owner}: {why}', "correct the value")
        elif self.node.kind == "run" and target in registry.handoff_checks:
            try:
                registry.handoff_checks[target]({name: value})
            except UserMistake as mistake:
                yield Finding.at(place, "type-mismatch", mistake.message, mistake.help or "correct the value")

    def _check_templates(self, prompt: str) -> Iterator[Finding]:
        """What the prompt's templates take from the handoff, and whether they can be read at all."""
        registry = self.graph.registry
        if registry.template_names is None:
            return
        try:
            names = registry.template_names(registry.prompts, prompt)
        except TemplateInvalid as problem:
            place = Place(problem.file or prompt, problem.line or 1, 1)
            yield Finding.at(place, "template-syntax", f'prompt "{prompt}": {problem.message}', problem.help)
            return
        written = (self.node.input and self.node.input.with_) or {}
        given = self.graph.programs[self.node.name].fields.keys() | written.keys()
        for used in names:
            if used.name not in given:
                message = f'node "{self.node.name}" does not give "{used.name}", which {used.file}:{used.line} uses'
                near = closest(used.name, given)
                help = (f'did you mean "{near}"? ' if near else "") + "add it to `with` of `input`"
                yield Finding.at(self._place("prompt"), "handoff-missing", message, help, warning=not used.always)

    def _wanted(self) -> tuple[Mapping[str, Type], frozenset[str], bool, str]:
        """The fields a handoff may have, those it must have, whether others are refused, and whose they are."""
        child = self.graph.subgraphs.get(self.node.target or "") if self.node.kind == "graph" else None
        if child:
            inputs = {name: channel for name, channel in child.spec.channels.items() if channel.input}
            required = frozenset(name for name, channel in inputs.items() if channel.required)
            types = {name: _channel_type(self.graph, channel) for name, channel in inputs.items()}
            return types, required, True, f'graph "{self.node.target}"'
        contract = self.graph.contracts.get(self.node.input.schema or "") if self.node.input else None
        if contract is None:
            return {}, frozenset(), False, ""
        root = contract.schema
        types = {name: type_of_schema(schema, root) for name, schema in contract.properties.items()}
        closed = root.get("additionalProperties") is False
        return types, contract.required, closed, f'schema "{contract.name}"'

    def _results(self) -> dict[str, Type]:
        """`output`, or `outputs` and `errors` under `each`."""
        schema: Mapping[str, Any] = {}
        child = self.graph.subgraphs.get(self.node.target or "") if self.node.kind == "graph" else None
        contract = self.graph.contracts.get(self.node.output.schema or "") if self.node.output else None
        if child:
            given = {name: channel.schema for name, channel in child.spec.channels.items() if channel.output}
            schema = {"type": "object", "properties": given, "additionalProperties": False}
        elif contract:
            schema = contract.schema
        if not self.node.each:
            return {"output": type_of_schema(schema)}
        return {"outputs": type_of_schema({"type": "array", "items": schema}), "errors": _ITEM_ERRORS}

    def _check_writes(self, writes: Mapping[str, Compiled], scope: Mapping[str, Type]) -> Iterator[Finding]:
        for name, compiled in writes.items():
            actual, findings = check_expression(compiled, scope, self.graph.registry.functions)
            yield from findings
            yield from self._meant_as_expression(compiled, scope)
            channel = self.graph.spec.channels.get(name)
            if channel is None:
                continue
            misfits = list(self._fits(compiled, actual, _channel_type(self.graph, channel), f'channel "{name}"'))
            yield from misfits
            if not findings and not misfits:
                yield from self._constant_write_fits(channel, compiled)

    def _constant_write_fits(self, channel: ChannelSpec, compiled: Compiled) -> Iterator[Finding]:
        value = constant_value(compiled.tree, self.graph.registry.functions)
        if value is None or value is UNKNOWN:
            return
        why = operand_misfit(channel, value)
        if not why and channel.reduce == "replace" and (contract := self.graph.channels.get(channel.name)):
            why = contract.misfits(value)
        if why:
            message = f'channel "{channel.name}": {why}'
            yield Finding.at(compiled.expression.place, "type-mismatch", message, "correct the value or the schema")

    def _fits(self, compiled: Compiled, actual: Type, wanted: Type, what: str) -> Iterator[Finding]:
        if actual.solid and wanted.solid and not actual.meets(*wanted.solid):
            message = f"`{compiled.expression.text}` is {actual}, but {what} wants {wanted}"
            yield Finding.at(compiled.expression.place, "type-mismatch", message, "correct the expression or the type")

    def _meant_as_expression(self, compiled: Compiled, scope: Mapping[str, Type]) -> Iterator[Finding]:
        """Strings in a YAML array or object are constants, even where they name a channel."""
        if compiled.expression.written != "literal":
            return
        for part in ast.walk(compiled.tree):
            if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in scope:
                message = f'this holds the text "{part.value}", not the channel of that name'
                help = "quote the whole to make it an expression"
                yield Finding.at(compiled.expression.place, "literal-names-channel", message, help, warning=True)

    def _never_written(self, compiled: Compiled, why: str) -> Iterator[Finding]:
        channel = self.graph.spec.channels.get(_root(compiled.tree) or "")
        if channel is None or channel.input or channel.default is not None or channel.name == self.node.item_name:
            return
        writers = self.writers.get(channel.name, set())
        help = "write it before, give it a default, or declare it `input: true`"
        if self.before(self.node.name).isdisjoint(writers):
            message = f'node "{self.node.name}": {why} channel "{channel.name}", which no node before it writes'
            yield Finding.at(compiled.expression.place, "never-written", message, help)
        elif path := ShortestPaths(self.graph.spec, avoiding=writers).to(self.node.name):
            message = f'node "{self.node.name}": {why} channel "{channel.name}", which nothing writes{after_path(path)}'
            yield Finding.at(compiled.expression.place, "never-written", message, help, warning=True)

    def _place(self, key: str) -> Place:
        return self.graph.spec.place(f"nodes/{self.node.name}/{key}")


def _root(node: ast.expr) -> str | None:
    """The name that a chain of look-ups starts from: null there is null at the end."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
