"""Checks of forks and joins: branches that write one channel, end, ask, or meet with and without a join."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice

from graph_research.graph.definition.compiler import Graph
from graph_research.graph.definition.paths import Search, ShortestPaths, reachable
from graph_research.graph.definition.spec import EdgeSpec, GraphSpec
from graph_research.graph.errors import Finding

_MOST_WRITER_PAIRS = 20_000
_MOST_PAIRS_REPORTED = 20
"""Of one channel behind one fork; those that are sure to meet come first."""
_MOST_FORKS = 50
_MOST_STEPS = 200
"""Limits of the check: pairs of nodes, forks, and steps after a fork."""


def check_branches(graph: Graph, edges: Sequence[EdgeSpec]) -> Iterator[Finding]:
    """Findings about forks and joins; `edges` are those between known nodes."""
    spec = graph.spec
    paths = ShortestPaths(spec)
    forks = [_Fork(spec, edges, name) for name, node in spec.nodes.items() if node.fork_all][:_MOST_FORKS]
    for fork in forks:
        yield from _check_inside(spec, fork)
        yield from _check_merges(spec, fork)
        yield from _check_writers(graph, fork, paths.to(fork.name))
    yield from _check_joins(spec, edges, forks)


@dataclass(frozen=True)
class _Fork:
    """A fork and its branches. A branch is named by its first node; what several branches reach belongs to none."""

    spec: GraphSpec
    edges: Sequence[EdgeSpec]
    name: str

    @cached_property
    def _leaving(self) -> Mapping[str, list[EdgeSpec]]:
        leaving: dict[str, list[EdgeSpec]] = {name: [] for name in self.spec.nodes}
        for edge in self.edges:
            if not edge.on and edge.source in leaving:
                leaving[edge.source].append(edge)
        return leaving

    @cached_property
    def onwards(self) -> Mapping[str, list[EdgeSpec]]:
        """The edges that a finished node may take, without those that lead back round a loop."""
        return {name: [edge for edge in edges if not edge.loop] for name, edges in self._leaving.items()}

    @cached_property
    def reach(self) -> Mapping[str, frozenset[str]]:
        """By branch, every node that it can reach."""
        return {first: reachable([first], self.next) for first in self.next(self.name)}

    @cached_property
    def _reached_by(self) -> Counter[str]:
        """By node, how many branches reach it."""
        return Counter(chain.from_iterable(self.reach.values()))

    @cached_property
    def branches(self) -> Mapping[str, frozenset[str]]:
        """By branch, the nodes that only it reaches."""
        return {
            first: frozenset(name for name in reached if self._reached_by[name] == 1)
            for first, reached in self.reach.items()
        }

    @cached_property
    def shared(self) -> frozenset[str]:
        return frozenset(name for name, count in self._reached_by.items() if count > 1)

    @cached_property
    def joins(self) -> list[str]:
        """The joins that several branches lead to."""
        return [name for name in self.spec.nodes if name in self.shared and self.spec.nodes[name].join]

    def lengths(self, first: str) -> dict[str, set[int]]:
        """How many steps after the fork each node of a branch can run, each loop left out."""
        inside = self.branches[first]
        lengths: dict[str, set[int]] = {name: set() for name in inside}
        layer = {first} & inside
        for length in range(1, min(len(inside), _MOST_STEPS) + 1):
            for name in layer:
                lengths[name].add(length)
            layer = {edge.target for name in layer for edge in self.onwards[name]} & inside
        return lengths

    def certain(self, first: str) -> dict[int, set[str]]:
        """By step after the fork, the nodes of a branch that are sure to run in it."""
        steps: dict[int, set[str]] = {}
        layer = {first} if any(edge.target == first and not edge.when for edge in self.onwards[self.name]) else set()
        for step in range(1, min(len(self.branches[first]), _MOST_STEPS) + 1):
            layer = {name for name in layer & self.branches[first] if not self.spec.nodes[name].join}
            steps[step] = layer
            layer = {target for name in layer for target in self._surely_next(name)}
        return steps

    def _surely_next(self, name: str) -> list[str]:
        leaving = self._leaving[name]
        if self.spec.nodes[name].fork_all:
            return [edge.target for edge in leaving if not edge.when and not edge.loop]
        return [edge.target for edge in leaving[:1] if not edge.when and not edge.loop]

    def path(self, node: str) -> str:
        """The shortest path `fork -> … -> node`."""
        return " -> ".join(Search([self.name]).run(self.next).path_to(node))

    def next(self, name: str) -> list[str]:
        """The nodes that `onwards` leads to."""
        return [edge.target for edge in self.onwards[name]]


def _check_inside(spec: GraphSpec, fork: _Fork) -> Iterator[Finding]:
    """`ask` and `end` between a fork and its join, also behind an inner join."""
    if not fork.joins:
        return
    joins = frozenset(fork.joins)
    inside = reachable([fork.name], lambda name: [target for target in fork.next(name) if target not in joins])
    for other in [name for name in spec.nodes if name in inside and name != fork.name]:
        kind = spec.nodes[other].kind
        if kind in ("ask", "end"):
            message = (
                f'node "{other}": `{kind}` stands between the fork "{fork.name}" and its join ({fork.path(other)})'
            )
            help = "put it after the join" if kind == "ask" else "lead this branch to the join"
            yield Finding.at(spec.nodes[other].place, f"{kind}-in-branch", message, help)


def _check_merges(spec: GraphSpec, fork: _Fork) -> Iterator[Finding]:
    """A node without `join` that branches of unequal length lead to: it runs when the first arrives, and again."""
    arrivals: dict[str, dict[str, set[int]]] = {}
    for first in fork.branches:
        if first in fork.shared:
            arrivals.setdefault(first, {}).setdefault(first, set()).add(1)
        for name, lengths in fork.lengths(first).items():
            for edge in fork.onwards[name]:
                if edge.target in fork.shared:
                    arrivals.setdefault(edge.target, {}).setdefault(first, set()).update(
                        length + 1 for length in lengths
                    )
    for name, by_branch in arrivals.items():
        if spec.nodes[name].join or len(by_branch) < 2 or len(set().union(*by_branch.values())) < 2:
            continue
        lengths_of = " and ".join(f"{_numbers(lengths)} over {first}" for first, lengths in list(by_branch.items())[:2])
        ends = spec.nodes[name].kind == "end"
        effect = "the first to arrive ends the run" if ends else "it runs again for each that arrives later"
        message = f'branches of the fork "{fork.name}" reach node "{name}" after unequal steps ({lengths_of}): {effect}'
        help = "lead them to a node with `join` first" if ends else "give it a `join` of the nodes that lead to it"
        yield Finding.at(spec.nodes[name].place, "unequal-branches", message, help, warning=True)


def _numbers(lengths: set[int]) -> str:
    return " or ".join(map(str, sorted(lengths)[:3]))


def _check_writers(graph: Graph, fork: _Fork, way: Sequence[str]) -> Iterator[Finding]:
    """The pairs of nodes in different branches that replace one channel; an error where one step is sure to hold
    both."""
    spec = graph.spec
    inside = frozenset().union(*fork.branches.values())
    replaced = {name for name, channel in spec.channels.items() if channel.reduce == "replace"}
    replacing = {name: graph.writes(name) & replaced for name in spec.nodes if name in inside}
    writers = {name: channels for name, channels in replacing.items() if channels}
    branch_of = {name: first for first, names in fork.branches.items() for name in names}
    certain = {(step, name) for first in fork.branches for step, names in fork.certain(first).items() for name in names}
    sure_steps = {name: {step for step, other in certain if other == name} for name in writers}
    pairs: dict[str, list[tuple[bool, str, str]]] = {}
    for first, other in islice(combinations(writers, 2), _MOST_WRITER_PAIRS):
        if branch_of[first] == branch_of[other]:
            continue
        sure = bool(sure_steps[first] & sure_steps[other])
        for channel in writers[first] & writers[other]:
            pairs.setdefault(channel, []).append((sure, first, other))
    for channel, conflicts in sorted(pairs.items()):
        for sure, first, other in sorted(conflicts, key=lambda pair: not pair[0])[:_MOST_PAIRS_REPORTED]:
            yield _writers_finding(spec, fork, way, channel, first, other, sure=sure)


def _writers_finding(
    spec: GraphSpec, fork: _Fork, way: Sequence[str], channel: str, first: str, other: str, *, sure: bool
) -> Finding:
    lengths = {name: steps for first in fork.branches for name, steps in fork.lengths(first).items()}
    together = "run at once" if sure else "run side by side"
    message = f'nodes "{first}" and "{other}" {together} and both replace channel "{channel}"'
    if not sure:
        both = "in one step that fails" if lengths[first] & lengths[other] else "the later step's value stays"
        message += f": {both}"
    before = f"after {' -> '.join(way[:-1])}: " if len(way) > 1 else ""
    message += f" ({before}{fork.path(first)}, {fork.path(other)})"
    help = "give the channel another `reduce`, or write it after the join"
    return Finding.at(spec.nodes[other].place, "parallel-writers", message, help, warning=not sure)


def _check_joins(spec: GraphSpec, edges: Sequence[EdgeSpec], forks: Sequence[_Fork]) -> Iterator[Finding]:
    for name, node in spec.nodes.items():
        all_led = True
        for index, source in enumerate(node.join):
            led = any(edge.source == source and edge.target == name for edge in edges)
            all_led = all_led and led
            if source in spec.nodes and not led:
                place = spec.place(f"nodes/{name}/join/{index}")
                message = f'node "{name}" joins "{source}", but no edge leads from there'
                yield Finding.at(place, "join-without-edge", message, f"add {{from: {source}, to: {name}}}")
        if all_led and len(set(node.join)) > 1 and not any(_parts(fork, node.join) for fork in forks):
            message = f'node "{name}" joins {" and ".join(node.join)}, but no fork leads to more than one of them'
            help = "leave `join` out, or put `fork: all` on the node that the branches come from"
            yield Finding.at(spec.place(f"nodes/{name}/join"), "join-without-fork", message, help, warning=True)


def _parts(fork: _Fork, sources: Sequence[str]) -> bool:
    """Whether a fork leads to more than one of the sources at once."""
    branches = {first for first, inside in fork.branches.items() if not inside.isdisjoint(sources)}
    return len(branches) + (fork.name in sources) > 1
