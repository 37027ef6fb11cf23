"""A graph's definition as data: what the YAML says, with the place of everything that an error may have to name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

from graph_research.graph.source import Expression, Place
from graph_research.graph.statuses import Cause

NodeKind = Literal["run", "prompt", "graph", "ask", "set", "end"]
CALLING_KINDS: frozenset[NodeKind] = frozenset({"run", "prompt", "graph"})
"""Kinds of nodes that call something: a handler, a model or a subgraph."""
Reducer = Literal["replace", "append", "upsert", "merge", "add"]


@dataclass(frozen=True, kw_only=True)
class ChannelSpec:
    """A state channel. `schema` is the JSON Schema of its value without our own keys; `required` means that an
    input channel has no default and must be given."""

    name: str
    schema: Mapping[str, Any]
    reduce: Reducer = "replace"
    default: Any = None
    input: bool = False
    output: bool = False
    required: bool = False
    place: Place


@dataclass(frozen=True, kw_only=True)
class LoopSpec:
    """A declared loop: how long it may go on (`while_`), how often at most, and which loop's edge resets it."""

    name: str
    while_: Expression | None = None
    most: int | str
    """A literal, or the name of a channel that no node writes."""
    per: str | None = None
    place: Place


@dataclass(frozen=True, kw_only=True)
class InputSpec:
    """How a handoff is made from the state: `schema` names what it must fit, `with_` maps fields to expressions;
    `with_` None takes each property of the schema from the channel of that name."""

    schema: str | None = None
    with_: Mapping[str, Expression] | None = None
    place: Place


@dataclass(frozen=True, kw_only=True)
class OutputSpec:
    """How an output becomes an update: `into` maps channels to expressions over `output` (`outputs`, `errors` under
    `each`); `into` None writes each property of the schema to the channel of that name."""

    schema: str | None = None
    into: Mapping[str, Expression] | None = None
    place: Place


@dataclass(frozen=True, kw_only=True)
class RetrySpec:
    """`attempts` includes the first. `on` lists error class names, empty for any error."""

    attempts: int = 1
    on: Sequence[str] = ()
    initial_seconds: float = 0.5
    factor: float = 2.0
    most_seconds: float = 30.0


@dataclass(frozen=True, kw_only=True)
class NodeSpec:
    """One node: its kind, what it names (`target`: the handler, prompt, graph or end status) and its options."""

    name: str
    kind: NodeKind
    place: Place
    target: str | None = None
    ask: Expression | None = None
    assignments: Mapping[str, Expression] = field(default_factory=dict)
    """Of `set`: channel to expression."""
    into: str | None = None
    """Of `ask`: the channel the answer goes to."""
    default: Expression | None = None
    """Of `ask`: the answer of a run that is not interactive."""
    schema: str | None = None
    """Of `ask`: the schema of the answer; of `prompt`: none, that one has `output`."""
    role: str | None = None
    input: InputSpec | None = None
    output: OutputSpec | None = None
    each: Expression | None = None
    item_name: str = "item"
    """The key `as`."""
    at_once: int | str = 1
    """Items at the same time: a number, or the name of a channel that no node writes."""
    on_item_error: Literal["fail", "keep_going"] = "fail"
    retry: RetrySpec = RetrySpec()
    timeout_seconds: float | None = None
    pause: Literal["before", "after"] | None = None
    fork_all: bool = False
    join: Sequence[str] = ()
    summary: str = ""


@dataclass(frozen=True, kw_only=True)
class EdgeSpec:
    """One edge; `source` may be `"*"` where `on` is not empty. `index` is its position in the file, from 0."""

    source: str
    target: str
    index: int
    place: Place
    when: Expression | None = None
    loop: str | None = None
    on: Sequence[Cause] = ()


@dataclass(frozen=True, kw_only=True)
class LimitsSpec:
    """Limits of a whole run: more than `steps` is an error, more than `seconds` a timeout. None: no limit."""

    steps: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class GraphSpec:
    """A whole definition. `hash` is the SHA-256 (hex) of its meaning: file name, comments and layout do not count."""

    name: str
    version: str
    file: str
    text: str
    hash: str
    start: str
    channels: Mapping[str, ChannelSpec]
    channels_known: bool
    """Whether the state could be read: else `channels` is empty, and nothing that names one can be checked."""
    state_schema: str | None
    """The name of the state's JSON Schema, None for inline channels."""
    loops: Mapping[str, LoopSpec]
    nodes: Mapping[str, NodeSpec]
    edges: Sequence[EdgeSpec]
    limits: LimitsSpec = LimitsSpec()
    summary: str = ""
    places: Mapping[str, Place] = field(default_factory=dict, repr=False, compare=False)
    """The place of each value by its path, such as `edges/3/to`; that of its key has `:key` behind the path."""

    @property
    def file_name(self) -> str:
        """The file without its folder."""
        return PurePath(self.file).name

    def place(self, path: str) -> Place:
        """The place of `path`, or of the nearest value around it that is written."""
        while path not in self.places and path:
            path = path.rpartition("/")[0]
        return self.places.get(path, Place(self.file, 1, 1))
