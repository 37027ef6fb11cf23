"""From a graph's YAML to its `GraphSpec`: every shape that is wrong becomes a finding with its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import get_args

from graph_research.errors import UserMistake
from graph_research.graph.definition.channels import inline_channels, schema_channels
from graph_research.graph.definition.spec import (
    ChannelSpec,
    EdgeSpec,
    GraphSpec,
    InputSpec,
    LimitsSpec,
    LoopSpec,
    NodeKind,
    NodeSpec,
    OutputSpec,
    RetrySpec,
)
from graph_research.graph.definition.tree_reader import TreeReader
from graph_research.graph.definition.yaml_tree import (
    MOST_BYTES,
    Scalar,
    Sequence,
    Tree,
    YamlMapping,
    parse_yaml,
    to_json,
)
from graph_research.graph.errors import Finding
from graph_research.graph.messages import did_you_mean
from graph_research.graph.registry import Resolver
from graph_research.graph.source import Place
from graph_research.graph.statuses import END_STATUSES, Cause

_TOP = ("graph", "version", "summary", "state", "start", "limits", "loops", "nodes", "edges")
_KINDS: tuple[NodeKind, ...] = get_args(NodeKind)
_EVERY = frozenset({"summary", "join", "pause"})
_CALLED = _EVERY | {"fork", "input", "output", "each", "as", "at_once", "on_item_error", "retry", "timeout_seconds"}
_OPTIONS: Mapping[str, frozenset[str]] = {
    "run": _CALLED | {"role"},
    "prompt": _CALLED | {"role"},
    "graph": _CALLED,
    "ask": _EVERY | {"fork", "into", "default", "schema"},
    "set": _EVERY | {"fork"},
    "end": _EVERY,
}
_OF_EACH = ("as", "at_once", "on_item_error")
_NODE_KEYS = (*_KINDS, *sorted({key for keys in _OPTIONS.values() for key in keys}))
_EDGE_KEYS = ("from", "to", "when", "loop", "on")
_NEEDED = {"graph": "NAME", "start": "NODE", "nodes": "{NODE: {end: completed}}"}


def read_text(path: Path) -> str | Finding:
    """The file's text, or the finding that says why it cannot be read (too large, not UTF-8).

    Raises `UserMistake` when the file cannot be opened.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UserMistake(f'cannot read the graph "{path}": {reason}', help="give the path of a YAML file") from problem
    if len(data) > MOST_BYTES:
        return Finding.at(Place(str(path), 1, 1), "too-large", f"more than {MOST_BYTES:,} bytes", "split the graph")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        before = data[: problem.start]
        line, column = before.count(b"\n") + 1, problem.start - before.rfind(b"\n")
        message = f"byte 0x{data[problem.start]:02x} is not UTF-8"
        return Finding.at(Place(str(path), line, column), "not-utf8", message, "save the file as UTF-8 text")


def read_spec(
    text: str, file: str, schemas: Resolver, types: Collection[str] = ()
) -> tuple[GraphSpec | None, list[Finding]]:
    """The definition as far as it can be read, and a finding for everything in its shape that is wrong.

    `types` are those that channels may name. The definition is None where the text is not a YAML object or has no
    nodes. A node whose kind is unclear is read as an empty `set`.
    """
    tree, findings = parse_yaml(text, file)
    if tree is None and findings:
        return None, findings
    if not isinstance(tree, YamlMapping):
        help = "begin with `graph: NAME`, `start: NODE`, `nodes:` and `edges:`"
        return None, [Finding.at(Place(file, 1, 1), "wrong-type", "a graph is an object of keys", help)]
    return _GraphReader(findings).graph(tree, text, file, schemas, types), findings


class _GraphReader(TreeReader):
    """The keys of a graph and what each becomes."""

    def graph(
        self, tree: YamlMapping, text: str, file: str, schemas: Resolver, types: Collection[str]
    ) -> GraphSpec | None:
        top = self.keys(tree, "", "the graph", _TOP, _NEEDED)
        nodes = self.named(top.get("nodes"), "nodes", "node")
        if not nodes:
            if isinstance(top.get("nodes"), YamlMapping):
                self.report(
                    self.places["nodes"], "missing-key", "a graph has at least one node", "add `NODE: {end: completed}`"
                )
            return None
        loops = self.named(top.get("loops"), "loops", "loop")
        state, version = top.get("state"), top.get("version")
        state_schema, channels = self.state(state, schemas, types)
        return GraphSpec(
            name=self.name(top.get("graph"), "graph") or "",
            version=version.text if isinstance(version, Scalar) else self.text(version, "version") or "1",
            file=file,
            text=text,
            hash=_meaning_hash(tree),
            start=self.text(top.get("start"), "start") or "",
            channels=channels or {},
            channels_known=channels is not None,
            state_schema=state_schema,
            loops={name: self.loop(name, value) for name, value in loops.items()},
            nodes={name: self.node(name, value) for name, value in nodes.items()},
            edges=self.edges(top.get("edges")),
            limits=self.limits(top.get("limits")),
            summary=self.text(top.get("summary"), "summary") or "",
            places=self.places,
        )

    def state(
        self, tree: Tree | None, schemas: Resolver, types: Collection[str]
    ) -> tuple[str | None, Mapping[str, ChannelSpec] | None]:
        """The name of the state's schema, and the channels, None where they cannot be known."""
        if isinstance(tree, Scalar):
            name = self.resource(tree, "state")
            return name, schema_channels(name, tree.place, schemas, self) if name else None
        channels = inline_channels(tree, self, types)
        return None, None if isinstance(tree, Sequence) else channels

    def loop(self, name: str, tree: Tree) -> LoopSpec:
        path = f"loops/{name}"
        keys = self.keys(tree, path, f'loop "{name}"', ("while", "most", "per"), {"most": "10"})
        return LoopSpec(
            name=name,
            while_=self.expression(keys.get("while"), "while"),
            most=self.bound(keys.get("most"), "most", at_least=0) or 0,
            per=self.text(keys.get("per"), "per"),
            place=self.places[f"{path}:key"],
        )

    def bound(self, tree: Tree | None, key: str, *, at_least: int) -> int | str | None:
        """A whole number, or the name of a channel."""
        if isinstance(tree, Scalar) and isinstance(tree.value, str):
            return self.text(tree, key)
        return self.whole(tree, key, at_least=at_least)

    def limits(self, tree: Tree | None) -> LimitsSpec:
        keys = self.keys(tree, "limits", "`limits`", ("steps", "seconds"))
        steps = self.whole(keys.get("steps"), "steps", at_least=1)
        return LimitsSpec(steps=steps, seconds=self.number(keys.get("seconds"), "seconds"))

    def node(self, name: str, tree: Tree) -> NodeSpec:
        path = f"nodes/{name}"
        keys = self.keys(tree, path, f'node "{name}"', _NODE_KEYS)
        kind = self.kind(name, keys) if isinstance(tree, YamlMapping) else "set"
        target = keys.get(kind)
        return NodeSpec(
            name=name,
            kind=kind,
            place=self.places[f"{path}:key"],
            target=self.target(kind, target),
            ask=self.expression(target, "ask") if kind == "ask" else None,
            assignments=self.expressions(target, f"{path}/set", "set") if kind == "set" else {},
            into=self.text(keys.get("into"), "into"),
            default=self.expression(keys.get("default"), "default"),
            schema=self.resource(keys.get("schema"), "schema"),
            role=self.text(keys.get("role"), "role"),
            input=self.input(path, keys.get("input")),
            output=self.output(path, keys.get("output")),
            each=self.expression(keys.get("each"), "each"),
            item_name=self.text(keys.get("as"), "as") or "item",
            at_once=self.bound(keys.get("at_once"), "at_once", at_least=1) or 1,
            on_item_error=self.choice(keys.get("on_item_error"), "on_item_error", ("fail", "keep_going")) or "fail",
            retry=self.retry(path, keys.get("retry")),
            timeout_seconds=self.number(keys.get("timeout_seconds"), "timeout_seconds"),
            pause=self.choice(keys.get("pause"), "pause", ("before", "after")),
            fork_all=self.choice(keys.get("fork"), "fork", ("all",)) == "all",
            join=self.texts(keys.get("join"), f"{path}/join", "join"),
            summary=self.text(keys.get("summary"), "summary") or "",
        )

    def target(self, kind: NodeKind, tree: Tree | None) -> str | None:
        match kind:
            case "run":
                return self.name(tree, "handler")
            case "prompt" | "graph":
                return self.resource(tree, kind)
            case "end":
                ending: str | None = self.choice(tree, kind, END_STATUSES)
                return ending
            case _:
                return None

    def kind(self, name: str, keys: Mapping[str, Tree]) -> NodeKind:
        """The node's kind, `set` where it is unclear; options that this kind does not have are reported."""
        kinds = [kind for kind in _KINDS if kind in keys]
        if len(kinds) != 1:
            place = self.places[f"nodes/{name}:key"]
            what = f"has {' and '.join(f'`{kind}`' for kind in kinds)}" if kinds else "has no kind"
            self.report(place, "bad-node-kind", f'node "{name}" {what}', f"give it exactly one of {', '.join(_KINDS)}")
            return "set"
        for key in keys:
            place = self.places[f"nodes/{name}/{key}:key"]
            if key != kinds[0] and key not in _OPTIONS[kinds[0]]:
                self.report(place, "misplaced-key", f'node "{name}": `{kinds[0]}` has no `{key}`', _home(key))
            elif key in _OF_EACH and "each" not in keys:
                self.report(place, "misplaced-key", f'node "{name}": `{key}` stands without `each`', "add `each`")
        return kinds[0]

    def input(self, path: str, tree: Tree | None) -> InputSpec | None:
        if tree is None or isinstance(tree, Scalar):
            return InputSpec(schema=self.resource(tree, "input"), place=tree.place) if tree else None
        keys = self.keys(tree, f"{path}/input", "`input`", ("schema", "with"))
        with_ = self.expressions(keys["with"], f"{path}/input/with", "with") if "with" in keys else None
        return InputSpec(schema=self.resource(keys.get("schema"), "schema"), with_=with_, place=tree.place)

    def output(self, path: str, tree: Tree | None) -> OutputSpec | None:
        if tree is None or isinstance(tree, Scalar):
            return OutputSpec(schema=self.resource(tree, "output"), place=tree.place) if tree else None
        keys = self.keys(tree, f"{path}/output", "`output`", ("schema", "into"))
        into = self.expressions(keys["into"], f"{path}/output/into", "into") if "into" in keys else None
        return OutputSpec(schema=self.resource(keys.get("schema"), "schema"), into=into, place=tree.place)

    def retry(self, path: str, tree: Tree | None) -> RetrySpec:
        keys = self.keys(tree, f"{path}/retry", "`retry`", ("attempts", "on", "backoff"))
        names = ("initial_seconds", "factor", "most_seconds")
        backoff = self.keys(keys.get("backoff"), f"{path}/retry/backoff", "`backoff`", names)
        numbers = {
            key: number
            for key in names
            if (number := self.number(backoff.get(key), key, may_be_0=key != "factor")) is not None
        }
        attempts = self.whole(keys.get("attempts"), "attempts", at_least=1) or 1
        return RetrySpec(attempts=attempts, on=self.texts(keys.get("on"), f"{path}/retry/on", "on"), **numbers)

    def edges(self, tree: Tree | None) -> tuple[EdgeSpec, ...]:
        if tree is None:
            return ()
        self.places["edges"] = tree.place
        if not isinstance(tree, Sequence):
            self.report(tree.place, "wrong-type", "`edges` must be an array", "write `- {from: a, to: b}` lines")
            return ()
        return tuple(edge for index, item in enumerate(tree.items) if (edge := self.edge(index, item)))

    def edge(self, index: int, tree: Tree) -> EdgeSpec | None:
        path = f"edges/{index}"
        keys = self.keys(tree, path, "an edge", _EDGE_KEYS, {"from": "NODE", "to": "NODE"})
        source, target = self.text(keys.get("from"), "from"), self.text(keys.get("to"), "to")
        events = self.texts(keys.get("on"), f"{path}/on", "on")
        for number, event in enumerate(events):
            if event not in tuple(Cause):
                place = self.places[f"{path}/on/{number}"]
                self.report(place, "bad-value", f'no event "{event[:40]}"', did_you_mean(event, Cause))
        if source is None or target is None:
            return None
        return EdgeSpec(
            source=source,
            target=target,
            index=index,
            place=tree.place,
            when=self.expression(keys.get("when"), "when"),
            loop=self.text(keys.get("loop"), "loop"),
            on=tuple(cause for cause in Cause if cause in events),
        )


def _home(key: str) -> str:
    """Where a misplaced option belongs."""
    kinds = [kind for kind in _KINDS if key == kind or key in _OPTIONS[kind]]
    return f"`{key}` belongs to {', '.join(f'`{kind}`' for kind in kinds)}"


def _meaning_hash(tree: YamlMapping) -> str:
    """SHA-256 of what the definition says: summaries, comments and the order of keys do not count, but the order of
    the nodes does."""
    meaning = {key: value for key, value in to_json(tree).items() if key != "summary"}
    nodes = meaning.get("nodes")
    if isinstance(nodes, dict):
        meaning["nodes"] = [[name, without_summary(node)] for name, node in nodes.items()]
    return hashlib.sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()


def without_summary(node: object) -> object:
    """A node as JSON, without the summary, which has no meaning for a run."""
    return {key: value for key, value in node.items() if key != "summary"} if isinstance(node, dict) else node
