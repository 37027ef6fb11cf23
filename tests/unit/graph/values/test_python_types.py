"""Values of named types: plain in the store and in expressions, themselves for handlers and in results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, computed_field

from graph_research import GraphInvalid, MemoryCheckpointer, Runtime, SqliteCheckpointer
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.context import Context
from graph_research.graph.definition.compiler import Graph
from graph_research.graph.errors import GraphChanged, InputInvalid
from graph_research.graph.history.replay import replay
from graph_research.graph.loader import check_graph, load_graph
from graph_research.graph.registry import Registry
from graph_research.graph.values.python_types import TypeInvalid
from tests.support.graph.harness import Texts, collect, runtime


class Stance(Enum):
    FOR = "for"
    AGAINST = "against"


@dataclass(frozen=True)
class Place:
    name: str
    tags: frozenset[str] = frozenset()
    label: str = field(default="", init=False)


class Claim(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: int
    text: str = Field(alias="claimText")
    stance: Stance = Stance.FOR
    at: datetime | None = None
    weight: Decimal = Decimal(1)
    raw: bytes = b""
    took: timedelta = timedelta()
    hour: time = time(0)
    place: Place | None = None
    by_stance: dict[Stance, list[int]] = Field(default_factory=dict)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def loud(self) -> str:
        return self.text.upper()


TYPES = {"Claim": Claim, "Stance": Stance, "Place": Place, "Places": dict[str, Place]}
FULL = Claim(
    id=7,
    claimText="a",
    stance=Stance.AGAINST,
    at=datetime(2026, 1, 2, tzinfo=UTC),
    weight=Decimal("1E+3"),
    raw=b"\x00\xff",
    took=timedelta(days=-1, microseconds=3),
    hour=time(3, 4),
    place=Place("x", frozenset({"b", "a"})),
    by_stance={Stance.FOR: [1]},
)

TEXT = """
    graph: typed
    version: "1"
    state:
      claim: {type: Claim, input: true, default: null}
      stance: {type: Stance, default: for}
      claims: {type: array, items: Claim, reduce: append, default: []}
      latest: {type: array, items: Claim, reduce: upsert, default: []}
      places: {type: Places, reduce: merge, default: {}}
      note: {type: string, default: ""}
    start: look
    nodes:
      look:
        run: look
        input: {with: {claim: claim, stance: stance}}
        output:
          into: {claim: output.claim, claims: "[output.claim]", latest: "[output.claim]", places: output.places}
      route: {set: {note: 'claim.text + claim.stance + places["x"].name', stance: claim.stance}}
      each:
        each: "[one for one in claims if one.stance == stance]"
        as: one
        run: again
        input: {with: {one: one, all: claims, first: 'claims[0]', place: claim.place}}
        output: {into: {claims: outputs}}
      done: {end: completed}
    edges:
      - {from: look, to: route}
      - {from: route, to: each, when: "claim.weight != None and stance == 'against'"}
      - {from: route, to: done}
      - {from: each, to: done}
"""


class Seen:
    def __init__(self) -> None:
        self.handoffs: list[Mapping[str, Any]] = []

    async def look(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        self.handoffs.append(handoff)
        answer = await ctx.call("ask", {"q": 1}, self.answer)
        return {"claim": handoff["claim"], "places": {"x": Place("x")}, "answer": answer}

    async def again(self, handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        self.handoffs.append(handoff)
        changed: Claim = handoff["one"].model_copy(update={"id": handoff["one"].id + 1})
        return {"changed": changed}["changed"]  # type: ignore[return-value]

    async def answer(self) -> str:
        return "yes"

    def graph(self, text: str = TEXT, **options: Any) -> Graph:
        handlers = {"look": self.look, "again": self.again}
        return load_graph("typed.yaml", text=dedent(text), handlers=handlers, types=TYPES, **options)


async def test_handlers_and_results_get_the_types_that_channels_declare(store: Checkpointer) -> None:
    seen = Seen()
    result = await runtime(seen.graph(), store).run({"claim": FULL}, run_id="r")
    assert result.status == "completed", result.error
    first, item = seen.handoffs
    assert first == {"claim": FULL, "stance": Stance.FOR}
    assert (item["one"], item["all"], item["first"]) == (FULL, [FULL], FULL)
    assert item["place"] == {"name": "x", "tags": ["a", "b"]}
    assert result.state["claim"] == FULL
    assert result.state["stance"] is Stance.AGAINST
    assert result.state["claims"] == [FULL, FULL.model_copy(update={"id": 8})]
    assert result.state["latest"] == [FULL]
    assert result.state["places"] == {"x": Place("x")}
    assert result.state["note"] == "aagainstx"


async def test_the_store_holds_plain_json_without_names_of_classes(store: Checkpointer) -> None:
    await runtime(Seen().graph(), store).run({"claim": FULL}, run_id="r")
    stored = (await store.state("r"))["claim"]
    assert stored["weight"] == Decimal("1E+3") and stored["at"] == FULL.at and stored["raw"] == FULL.raw
    assert stored["stance"] == "against" and stored["place"] == {"name": "x", "tags": ["a", "b"]}
    assert "loud" not in stored
    rows = await store.step_rows("r", "")
    assert not any(b"Claim" in (row.delta or b"") or b"Place" in (row.delta or b"") for row in rows)


async def test_it_comes_back_the_same_from_a_resumed_a_forked_and_a_replayed_run(store: Checkpointer) -> None:
    seen = Seen()
    graph = seen.graph(TEXT.replace("run: again", "run: again\n        pause: before"))
    drive = runtime(graph, store)
    await drive.run({"claim": FULL}, run_id="r")
    await collect(
        runtime(Seen().graph(TEXT.replace("run: again", "run: again\n        pause: before")), store).resume("r")
    )
    assert (await drive.result("r")).state["claims"] == [FULL, FULL.model_copy(update={"id": 8})]
    assert (await drive.state("r", 1))["claims"] == [FULL]
    assert (await replay(store, graph, "r")).identical
    other = FULL.model_copy(update={"id": 1})
    fork = await drive.fork("r", 1, values={"claims": [other]})
    await collect(drive.resume(fork))
    await collect(drive.resume(fork))
    assert (await drive.result(fork)).state["claims"] == [other, other.model_copy(update={"id": 2})]


claims = st.builds(
    Claim,
    id=st.integers(-(2**70), 2**70),
    claimText=st.text(st.characters(exclude_categories=["Cs"])),
    stance=st.sampled_from(Stance),
    at=st.none() | st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(fold=0)),
    weight=st.decimals(allow_nan=False, allow_infinity=False),
    raw=st.binary(max_size=9),
    took=st.timedeltas(),
    hour=st.times().map(lambda moment: moment.replace(fold=0)),
    place=st.none() | st.builds(Place, st.text(max_size=3), st.frozensets(st.text("ab", max_size=2))),
    by_stance=st.dictionaries(st.sampled_from(Stance), st.lists(st.integers(-9, 9), max_size=2)),
)

KEPT = """
    graph: kept
    version: "1"
    state: {claim: {type: Claim, input: true}, claims: {type: array, items: Claim, default: []}}
    start: keep
    nodes:
      keep: {run: keep, input: {with: {claim: claim}}, output: {into: {claims: output.claims}}}
      done: {end: completed}
    edges: [{from: keep, to: done}]
"""


async def keep(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
    assert type(handoff["claim"]) is Claim
    return {"claims": [handoff["claim"], handoff["claim"].model_copy(update={"id": 0})]}


@settings(deadline=None, max_examples=25)
@given(claims)
@pytest.mark.parametrize("where", ["memory", "sqlite"])
async def test_every_value_comes_back_equal(where: str, tmp_path_factory: pytest.TempPathFactory, claim: Claim) -> None:
    file = tmp_path_factory.mktemp("typed") / "runs.db"
    store: Checkpointer = MemoryCheckpointer() if where == "memory" else SqliteCheckpointer(file)
    graph = load_graph("kept.yaml", text=dedent(KEPT), handlers={"keep": keep}, types=TYPES)
    result = await runtime(graph, store).run({"claim": claim}, run_id="r")
    assert result.state == {"claim": claim, "claims": [claim, claim.model_copy(update={"id": 0})]}
    assert (await replay(store, graph, "r")).identical
    await store.close()


async def test_a_value_that_does_not_fit_fails_the_node_that_gave_it(store: Checkpointer) -> None:
    async def wrong(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        return {"claims": [{"id": 1, "text": "x", "stance": "maybe"}]}

    graph = load_graph("kept.yaml", text=dedent(KEPT), handlers={"keep": wrong}, types=TYPES)
    result = await runtime(graph, store).run({"claim": FULL}, run_id="r")
    assert result.status == "failed" and result.error
    assert result.error["type"] == "HandoffInvalid"
    assert 'node "keep": "claims" does not fit its type: it is not a Claim: /0/stance:' in result.error["message"]


async def test_an_input_that_does_not_fit_is_refused(store: Checkpointer) -> None:
    with pytest.raises(InputInvalid, match='"claim" does not fit its type: it is not a Claim: /claimText'):
        await runtime(Seen().graph(), store).run({"claim": {"id": 1}})


async def test_what_a_type_lets_pass_in_another_form_is_stored_in_its_own(store: Checkpointer) -> None:
    result = await runtime(Seen().graph(), store).run({"claim": {"id": "3", "text": "b", "weight": "2.50"}}, run_id="r")
    assert result.state["claim"] == Claim(id=3, claimText="b", weight=Decimal("2.50"))
    assert (await store.state("r"))["claim"]["id"] == 3


def test_an_unknown_type_is_a_finding_with_a_suggestion() -> None:
    text = dedent(TEXT).replace("type: Claim,", "type: Clam,").replace("items: Claim, reduce: append", "items: Klaim")
    found = [one for one in check_graph("typed.yaml", text=text, types=TYPES) if one.code == "unknown-type"]
    assert [(one.line, one.help) for one in found] == [(5, 'did you mean "Claim"?'), (7, 'did you mean "Claim"?')]
    alone = [one for one in check_graph("typed.yaml", text=text) if one.code == "unknown-type"]
    assert "types={NAME: CLASS}" in alone[0].help


def test_expressions_are_checked_against_what_is_known_of_the_types() -> None:
    text = dedent(TEXT).replace("stance == 'against'", "stance == 'agains'")
    found = {(one.code, one.help) for one in check_graph("typed.yaml", text=text, types=TYPES)}
    assert ("type-mismatch", 'did you mean "against"?') in found
    text = dedent(TEXT).replace("one.stance == stance", "one.id > 'x'")
    assert "type-mismatch" in {one.code for one in check_graph("typed.yaml", text=text, types=TYPES)}


def test_a_default_must_fit_its_type() -> None:
    with pytest.raises(GraphInvalid) as invalid:
        Seen().graph(TEXT.replace("default: for", "default: maybe"))
    assert "default-mismatch" in {one.code for one in invalid.value.findings}


@pytest.mark.parametrize(("name", "kind"), [("string", Claim), ("a b", Claim), ("Odd", 5)])
def test_what_cannot_be_a_type_is_refused(name: str, kind: Any) -> None:
    with pytest.raises(TypeInvalid):
        load_graph("kept.yaml", text=dedent(KEPT), types={name: kind})


SCHEMA = {
    "type": "object",
    "properties": {
        "claim": {"type": "object", "python": "Claim", "input": True},
        "claims": {"type": "array", "items": {"python": "Claim"}, "reduce": "append"},
    },
}
HANDOFF = {"type": "object", "properties": {"best": {"python": "Claim"}}, "required": ["best"]}


def schema_graph(seen: list[Any], schema: Mapping[str, Any] = SCHEMA) -> Graph:
    async def keep(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        seen.append(handoff["best"])
        return {"claims": [handoff["best"]]}

    text = KEPT.replace(
        "{claim: {type: Claim, input: true}, claims: {type: array, items: Claim, default: []}}", "claims"
    )
    text = text.replace("{with: {claim: claim}}", "{schema: best, with: {best: 'max([claim.id]) and claim or claim'}}")
    registry = Registry(
        handlers={"keep": keep}, types=TYPES, schemas=Texts({"claims": json.dumps(schema), "best": json.dumps(HANDOFF)})
    )
    return load_graph("kept.yaml", text=dedent(text), registry=registry)


async def test_a_json_schema_names_a_type_by_a_keyword(store: Checkpointer) -> None:
    seen: list[Any] = []
    result = await runtime(schema_graph(seen), store).run({"claim": FULL}, run_id="r")
    assert result.status == "completed", result.error
    assert seen == [FULL]
    assert result.state["claims"] == [FULL]


def test_an_unknown_type_of_a_json_schema_is_a_finding() -> None:
    with pytest.raises(GraphInvalid) as invalid:
        schema_graph([], {**SCHEMA, "properties": {"claim": {"python": "Clam", "input": True}, "claims": {}}})
    assert ("unknown-type", 'did you mean "Claim"?') in {(one.code, one.help) for one in invalid.value.findings}


async def test_a_changed_type_makes_another_graph_and_old_values_are_not_forced_into_it(tmp_path: Path) -> None:
    class Stricter(BaseModel):
        must: int

    store = SqliteCheckpointer(tmp_path / "runs.db")
    graph = load_graph("kept.yaml", text=dedent(KEPT), handlers={"keep": keep}, types=TYPES)
    await runtime(graph, store).run({"claim": FULL}, run_id="r")
    other = load_graph("kept.yaml", text=dedent(KEPT), handlers={"keep": keep}, types={"Claim": Stricter})
    assert other.hash != graph.hash
    with pytest.raises(GraphChanged, match="does not fit the types of its graph"):
        await Runtime(other, checkpointer=store).result("r")
    await store.close()


CHILD = """
    graph: child
    version: "1"
    state: {one: {type: Claim, input: true}, out: {type: Claim, default: null, output: true}}
    start: keep
    nodes:
      keep: {run: keep, input: {with: {claim: one}}, output: {into: {out: "output.claims[1]"}}}
      done: {end: completed}
    edges: [{from: keep, to: done}]
"""


async def test_subgraphs_have_types_of_their_own(store: Checkpointer) -> None:
    text = KEPT.replace("run: keep, input: {with: {claim: claim}}", "graph: child, input: {with: {one: claim}}")
    text = text.replace("output.claims", "'[output.out]'")
    registry = Registry(handlers={"keep": keep}, types=TYPES, graphs=Texts({"child": dedent(CHILD)}))
    graph = load_graph("kept.yaml", text=dedent(text), registry=registry)
    result = await runtime(graph, store).run({"claim": FULL}, run_id="r")
    assert result.state["claims"] == [FULL.model_copy(update={"id": 0})]
