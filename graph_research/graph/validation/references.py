"""Checks that every name in a graph is known: nodes, loops, channels, handlers, prompts."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator

from graph_research.graph import errors
from graph_research.graph.definition.channels import RESERVED_NAMES
from graph_research.graph.definition.compiler import Graph, schema_names
from graph_research.graph.definition.spec import EdgeSpec, LoopSpec, NodeSpec
from graph_research.graph.errors import Finding
from graph_research.graph.messages import closest, did_you_mean
from graph_research.graph.registry import ResourceKind
from graph_research.graph.source import Place
from graph_research.graph.statuses import Cause
from graph_research.graph.validation.handlers import is_not_async

_EVENTS = frozenset({Cause.ERROR, Cause.TIMEOUT})
"""What `retry.on` may name beside classes of errors."""
_NEW = {
    "unknown-node": "add it under `nodes`",
    "unknown-loop": "declare it under `loops`",
    "unknown-channel": "declare it under `state`",
    "unknown-handler": "register it: load_graph(…, handlers={NAME: FUNCTION})",
}
"""By the code of a finding, how to add what it misses."""
_PYTHON = [kind for kind in vars(builtins).values() if isinstance(kind, type) and issubclass(kind, Exception)]
_ENGINE = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]


def check_references(graph: Graph) -> Iterator[Finding]:
    """Findings about unknown names but those of channels, and about names in the wrong place."""
    spec = graph.spec
    if spec.start:
        yield from _known(spec.start, spec.nodes, spec.place("start"), "unknown-node", 'start "{}": no such node')
    for edge in spec.edges:
        yield from _check_edge(graph, edge)
    for loop in spec.loops.values():
        yield from _check_loop(graph, loop)
    yield from _check_hidden(graph)
    for node in spec.nodes.values():
        yield from _check_target(graph, node)
        yield from _check_retry(graph, node)
        for index, name in enumerate(node.join):
            place = spec.place(f"nodes/{node.name}/join/{index}")
            yield from _known(name, spec.nodes, place, "unknown-node", f'node "{node.name}" joins "{{}}": no such node')


def check_channel_names(graph: Graph) -> Iterator[Finding]:
    """Findings about channels that are written, or bound a loop or a fan-out."""
    spec = graph.spec
    for loop in spec.loops.values():
        if isinstance(loop.most, str):
            yield from _check_bound(graph, "most", loop.most, spec.place(f"loops/{loop.name}/most"))
    for node in spec.nodes.values():
        yield from _check_channels(graph, node)
        if isinstance(node.at_once, str):
            yield from _check_bound(graph, "at_once", node.at_once, spec.place(f"nodes/{node.name}/at_once"))


def _known(name: str, known: Collection[str], place: Place, code: str, message: str) -> Iterator[Finding]:
    if name not in known:
        yield Finding.at(place, code, message.replace("{}", name), did_you_mean(name, known, _NEW[code]))


def _check_edge(graph: Graph, edge: EdgeSpec) -> Iterator[Finding]:
    spec, path = graph.spec, f"edges/{edge.index}"
    label = f'edge "{edge.source} -> {edge.target}": no such node'
    if edge.source != "*":
        yield from _known(edge.source, spec.nodes, spec.place(f"{path}/from"), "unknown-node", label)
    elif not edge.on:
        help = "add `on: [error, timeout, cancelled]`, or name the node"
        yield Finding.at(edge.place, "star-without-on", '"*" leads only from events', help)
    yield from _known(edge.target, spec.nodes, spec.place(f"{path}/to"), "unknown-node", label)
    if edge.loop:
        yield from _known(edge.loop, spec.loops, spec.place(f"{path}/loop"), "unknown-loop", 'no loop "{}" is declared')


def _check_loop(graph: Graph, loop: LoopSpec) -> Iterator[Finding]:
    spec, path = graph.spec, f"loops/{loop.name}"
    if loop.per:
        yield from _known(loop.per, spec.loops, spec.place(f"{path}/per"), "unknown-loop", 'no loop "{}" is declared')
    chain, outer = [loop.name], loop.per
    while outer is not None and outer in spec.loops and outer not in chain:
        chain.append(outer)
        outer = spec.loops[outer].per
    if outer == loop.name:
        message = f"loops reset each other without end: {' per '.join([*chain, loop.name])}"
        yield Finding.at(spec.place(f"{path}/per"), "loop-per", message, "`per` names a loop around this one")


def _check_bound(graph: Graph, key: str, name: str, place: Place) -> Iterator[Finding]:
    channel = graph.spec.channels.get(name)
    code, label = "loop-most" if key == "most" else "at-once", f'`{key}` is "{name}"'
    help = "give a number, or an input channel that no node writes"
    if channel is None:
        yield Finding.at(
            place, "unknown-channel", f"{label}: no such channel", did_you_mean(name, graph.spec.channels, help)
        )
        return
    writer = next((node for node in graph.spec.nodes if name in graph.writes(node)), None)
    if writer:
        yield Finding.at(place, code, f'{label}, which node "{writer}" writes: it bounds nothing', help)
    is_fixed = not channel.input and any(other.input for other in graph.spec.channels.values())
    if channel.default is None and not channel.input:
        yield Finding.at(place, code, f"{label}, which never has a value", help)
    elif key == "at_once" and is_fixed and isinstance(channel.default, int) and channel.default < 1:
        yield Finding.at(place, code, f"{label}, which is always {channel.default}: no item ever runs", help)
    if channel.schema.get("type", "integer") != "integer":
        message = f"{label}, which is not an integer but {channel.schema['type']}"
        yield Finding.at(place, "type-mismatch", message, help)


def _check_target(graph: Graph, node: NodeSpec) -> Iterator[Finding]:
    spec, registry = graph.spec, graph.registry
    place = spec.place(f"nodes/{node.name}/{node.kind}")
    if node.kind == "run" and node.target:
        yield from _known(node.target, registry.handlers, place, "unknown-handler", 'no handler "{}" is registered')
        if node.target in registry.handlers and is_not_async(registry.handlers[node.target]):
            help = "declare it with `async def`"
            yield Finding.at(place, "handler-not-async", f'handler "{node.target}" is not async', help)
    if (
        node.kind == "prompt"
        and node.target
        and not any(registry.prompts.find(name) for name in (node.target, f"{node.target}/user"))
    ):
        names = {name.removesuffix("/user").removesuffix("/system") for name in registry.prompts.names()}
        prompts = {name for name in names if not name.startswith("_")}
        help = did_you_mean(node.target, prompts, f"write it as prompts/{node.target}.j2 beside the graph")
        yield Finding.at(place, "unknown-prompt", f'no prompt "{node.target}"', help)
    if node.role and registry.roles and node.role not in registry.roles:
        message = f'node "{node.name}" has the role "{node.role}", which no model can be given'
        help = did_you_mean(node.role, registry.roles)
        yield Finding.at(spec.place(f"nodes/{node.name}/role"), "unknown-role", message, help, warning=True)
    if node.kind == "ask" and not node.into:
        yield Finding.at(
            node.place, "missing-key", f'node "{node.name}": `ask` needs `into`', "name the channel of the answer"
        )
    if node.each and (not node.item_name.isidentifier() or node.item_name in RESERVED_NAMES):
        place = spec.place(f"nodes/{node.name}/as")
        yield Finding.at(place, "name-invalid", f'"{node.item_name}" cannot name an item', "use letters, digits and _")


def _check_hidden(graph: Graph) -> Iterator[Finding]:
    """Files beside the graph that are not what its names mean."""
    spec, hidden = graph.spec, graph.registry.hidden
    if hidden is None:
        return
    named: list[tuple[ResourceKind, str, Place]] = [("schemas", name, place) for name, place in schema_names(spec)]
    if spec.state_schema:
        named.append(("schemas", spec.state_schema, spec.place("state")))
    for node in spec.nodes.values():
        place = spec.place(f"nodes/{node.name}/{node.kind}")
        if node.kind == "graph" and node.target:
            named.append(("graphs", node.target, place))
        if node.kind == "prompt" and node.target:
            parts = (node.target, f"{node.target}/user", f"{node.target}/system")
            named += [("prompts", part, place) for part in parts]
    for kind, name, place in named:
        if file := hidden(kind, name):
            message = f'{file} is not used: the program, or a folder of your own, has another "{name}"'
            help = "give the file beside the graph another name, or trust its folder"
            yield Finding.at(place, "hidden-file", message, help, warning=True)


def _check_retry(graph: Graph, node: NodeSpec) -> Iterator[Finding]:
    """Errors that are tried again. What a handler raises cannot be known, so that a name that is not declared is a
    warning."""
    known = _names_of(graph.registry.errors) | _KNOWN_ERRORS
    for index, name in enumerate(node.retry.on):
        if name not in known:
            near = f'did you mean "{match}"?' if (match := closest(name, known)) else ""
            declare = "declare an error of your own with `load_graph(…, errors=[…])`"
            message = f'node "{node.name}" tries again on "{name}": no such error is known'
            place = graph.spec.place(f"nodes/{node.name}/retry/on/{index}")
            yield Finding.at(place, "unknown-error", message, f"{near} {declare}".strip(), warning=True)


def _names_of(errors: Iterable[type[BaseException]]) -> frozenset[str]:
    """The names of error classes and of their base classes."""
    return frozenset(kind.__name__ for error in errors for kind in error.__mro__ if issubclass(kind, Exception))


_KNOWN_ERRORS = _names_of([*_PYTHON, *_ENGINE]) | _EVENTS


def _check_channels(graph: Graph, node: NodeSpec) -> Iterator[Finding]:
    """Channels that are written."""
    spec = graph.spec
    message = f'node "{node.name}" writes "{{}}": no such channel'
    into = (node.output and node.output.into) or {}
    for name, expression in [*node.assignments.items(), *into.items()]:
        place = expression.key or expression.place
        yield from _known(name, spec.channels, place, "unknown-channel", message)
    if node.into:
        place = spec.place(f"nodes/{node.name}/into")
        yield from _known(node.into, spec.channels, place, "unknown-channel", message)
    contract = graph.contracts.get(node.output.schema or "") if node.output and node.output.into is None else None
    for name in contract.properties if contract and node.output else ():
        place = spec.place(f"nodes/{node.name}/output")
        yield from _known(name, spec.channels, place, "unknown-channel", message)
