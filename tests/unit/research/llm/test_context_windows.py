"""Windows that are too small: prompts are shortened and sent again, the window is learned, and the cut is reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from graph_research.app.wiring.replay_registry import recorded_failures
from graph_research.graph.history.replay import replay
from graph_research.providers.errors import ContextExceeded, ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.llm.base import ModelReply, ModelRequest
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.llm.context_windows import model_windows
from graph_research.research.llm.failover import TOKEN_LIMIT_RETRIES
from graph_research.research.llm.phase_budget import PHASE_SHARES
from graph_research.research.llm.prompt_fitting import Section
from graph_research.research.llm.structured_call import Agent
from graph_research.text.tokens import count_tokens, quarter_tokens
from tests.support.research.harness import Bench as WholeBench
from tests.support.research.harness import PlainContext, make_services, research_script

PLAN = {"research_brief": "A brief.", "sub_queries": [{"query": "a query of some length"}]}
AGENT = Agent(name="planner", sections=(Section(name="background", noun="passage", text="text", keep=0),))


class SmallModel(ScriptedModel):
    """A model that refuses prompts of more than `window_chars` characters, and tells the limit or not."""

    window_chars: int = 0
    tells: int | None = None

    async def complete(self, request: ModelRequest) -> ModelReply:
        if len(request.system) + len(request.user) > self.window_chars:
            self.requests.append(request)
            raise ContextExceeded("too long", provider=self.spec, limit_tokens=self.tells)
        return await super().complete(request)


def small(window_chars: int, script: Mapping[str, Any] | None = None, *, tells: int | None = None) -> SmallModel:
    model = SmallModel(script or {"planner": [PLAN]}, spec="openai:small@http://127.0.0.1:1/v1")
    model.window_chars, model.tells = window_chars, tells
    return model


def material(chars: int, passages: int = 8) -> dict[str, Any]:
    passage = {"title": "A passage", "text": "word " * (chars // passages // 5)}
    return {
        "question": "Why is the sky blue?",
        "max_sub_queries": 5,
        "system_prompt": None,
        "constraints": None,
        "guidance": None,
        "background": [passage] * passages,
        "titles": [],
        "versions": [],
        "is_local": False,
    }


def lengths(model: ScriptedModel) -> list[int]:
    return [len(request.user) for request in model.requests]


@pytest.mark.requirement("14.1", "B11")
async def test_a_prompt_is_cut_straight_to_the_limit_that_the_error_tells(context: PlainContext) -> None:
    model = small(16_000, tells=4_000)
    result = await AGENT.call(make_services([model]), material(30_000), context)
    assert result.output == PLAN
    before, after = lengths(model)
    assert before > 15_000 > after > 6_000
    [window, cut] = result.notes
    assert window["window"] == {"tokens": 4_000, "prompt_chars": None}
    assert window["retries"] == 1
    assert "8 of 8 passages in part" in cut["reason"]
    assert "4,000 tokens" in cut["reason"]


@pytest.mark.parametrize(
    "texts",
    [
        ["人人有思想、良心和宗教自由的权利。" * 300] * 8,
        ["Каждый человек имеет право на свободу мысли. " * 200] * 8,
        ["人人有思想、良心和宗教自由的权利。" * 300] * 2 + ["Everyone has the right to freedom of thought. " * 200] * 6,
        ["Everyone has the right to freedom of thought. " * 20] * 6 + ["ทุกคนมีสิทธิในอิสรภาพแห่งความคิด " * 400] * 6,
    ],
)
async def test_a_prompt_in_any_script_fits_the_window_at_once(texts: list[str], context: PlainContext) -> None:
    model = ScriptedModel({"planner": [PLAN]}, spec="known", window_tokens=6_000)
    given = {**material(10), "background": [{"title": "A passage", "text": text} for text in texts]}
    await AGENT.call(make_services([model]), given, context)
    [request] = model.requests
    taken = quarter_tokens(request.system) + quarter_tokens(request.user)
    assert 0.6 * 6_000 < taken / 4 <= 6_000 - request.max_output_tokens


@pytest.mark.requirement("13.7", "B22")
@pytest.mark.parametrize(
    "text", ["Everyone has the right to freedom of thought. ", "人人有思想、良心和宗教自由的权利。"]
)
@pytest.mark.parametrize("phase", PHASE_SHARES)
async def test_a_prompt_shows_no_more_material_than_its_phase_has_of_the_window(
    phase: str, text: str, context: PlainContext
) -> None:
    model = ScriptedModel({"planner": [PLAN]}, spec="known", window_tokens=24_000)
    given = {**material(10), "background": [{"title": "A passage", "text": text * 1_000}] * 8}
    agent, services = replace(AGENT, phase=phase), make_services([model])
    await agent.call(services, given, context)
    await agent.call(services, {**given, "background": []}, context)
    shown, bare = (count_tokens(request.user) for request in model.requests)
    usable = (24_000 - model.requests[0].max_output_tokens) * 0.85
    assert 0.9 * PHASE_SHARES[phase] <= (shown - bare) / usable <= PHASE_SHARES[phase]


@pytest.mark.requirement("14.2", "23.3", "B11")
async def test_without_a_reported_limit_each_cut_takes_a_tenth_of_the_user_prompt_and_none_of_the_system_prompt(
    context: PlainContext,
) -> None:
    model = small(18_500)
    result = await AGENT.call(make_services([model]), material(17_000), context)
    cuts = lengths(model)
    assert 2 <= len(cuts) <= 4
    assert [note["retries"] for note in result.notes if note["kind"] == "window"] == [len(cuts) - 1]
    for before, after in pairwise(cuts):
        assert 0.88 * before < after <= 0.9 * before
    assert len({request.system for request in model.requests}) == 1


@pytest.mark.requirement("14.2", "B11")
async def test_a_prompt_that_is_refused_each_time_is_sent_four_times_a_tenth_shorter_each(
    context: PlainContext,
) -> None:
    model = small(100)
    with pytest.raises(ContextExceeded):
        await AGENT.call(make_services([model]), material(40_000), context)
    cuts = lengths(model)
    assert len(cuts) == 4
    assert all(0.88 * before < after <= 0.9 * before for before, after in pairwise(cuts))


async def test_question_markers_and_schema_are_in_a_prompt_however_short(context: PlainContext) -> None:
    model = small(6_000, tells=1_500)
    await AGENT.call(make_services([model]), material(17_000), context)
    sent = model.requests[-1]
    assert "Why is the sky blue?" in sent.user
    assert sent.user.count("[QUOTED-") == sent.user.count("[/QUOTED-")
    assert '"sub_queries"' in sent.system


async def test_a_prompt_that_fits_nowhere_goes_to_the_next_model_of_the_list(context: PlainContext) -> None:
    first, second = small(100), ScriptedModel({"planner": [PLAN]}, spec="second")
    result = await AGENT.call(make_services([first, second]), material(5_000), context)
    assert result.output == PLAN
    assert [note["kind"] for note in result.notes] == ["window", "failover"]
    assert "did not answer (ContextExceeded); second did" in result.notes[1]["reason"]


@pytest.mark.parametrize("models", [1, 3])
@pytest.mark.parametrize("repairs", [0, 1, 3])
async def test_a_call_sends_no_more_requests_than_models_times_turns_and_shortened_prompts(
    models: int, repairs: int, context: PlainContext
) -> None:
    """The worst case: every model refuses as often as may be, then answers every turn with nothing usable."""
    script = {"planner": [*[ContextExceeded("too long", provider="m")] * TOKEN_LIMIT_RETRIES, "no"]}
    scripted = [ScriptedModel(script, spec=f"model-{number}") for number in range(models)]
    agent = replace(AGENT, repairs=repairs)
    result = await agent.call(make_services(scripted), material(30_000), context, fallback=lambda: PLAN)
    assert result.degraded is not None
    assert sum(len(model.requests) for model in scripted) == models * (1 + repairs + TOKEN_LIMIT_RETRIES)


async def test_a_model_that_refuses_every_prompt_is_sent_four(context: PlainContext) -> None:
    model = small(100)
    await AGENT.call(make_services([model]), material(60_000), context, fallback=lambda: PLAN)
    assert len(model.requests) == 1 + TOKEN_LIMIT_RETRIES


@pytest.mark.requirement("B11")
async def test_a_prompt_that_fits_no_window_is_an_error_that_says_what_helps(context: PlainContext) -> None:
    with pytest.raises(ContextExceeded, match="although it was cut 3 times") as caught:
        await AGENT.call(make_services([small(100)]), material(60_000), context)
    assert "model_context_overrides" in caught.value.help


async def test_with_a_fallback_a_prompt_that_fits_no_window_is_answered_by_code_and_degraded(
    context: PlainContext,
) -> None:
    result = await AGENT.call(make_services([small(100)]), material(9_000), context, fallback=lambda: PLAN)
    assert result.output == PLAN
    entry = result.degradations("planner", context)[-1]
    assert entry["kind"] == "fallback"
    assert "model_context_overrides" in entry["reason"]


async def test_a_known_window_is_kept_to_from_the_first_prompt_on(context: PlainContext) -> None:
    model = ScriptedModel({"planner": [PLAN]}, spec="known", window_tokens=5_000)
    result = await AGENT.call(make_services([model]), material(60_000), context)
    [sent] = model.requests
    assert len(sent.system) + len(sent.user) <= 5_000 * 4
    assert sent.max_output_tokens == 1_250
    assert [note["kind"] for note in result.notes] == ["cut"]


async def test_without_token_management_nothing_is_fitted_beforehand(context: PlainContext) -> None:
    model = ScriptedModel({"planner": [PLAN]}, spec="known", window_tokens=5_000)
    services = make_services([model], token_management_enabled=False)
    result = await AGENT.call(services, material(60_000), context)
    assert len(model.requests[0].user) > 60_000
    assert result.notes == ()


async def test_a_repair_turn_fits_too_and_still_says_what_is_wrong(context: PlainContext) -> None:
    model = small(12_000, {"planner": ["no " * 2_000, PLAN]}, tells=3_000)
    result = await AGENT.call(make_services([model]), material(30_000), context)
    assert result.output == PLAN
    sent = model.requests[-1]
    assert len(sent.system) + len(sent.user) <= 12_000
    assert "could not be used" in sent.user
    assert sent.user.count("[QUOTED-") == sent.user.count("[/QUOTED-")


async def test_what_was_learned_in_one_call_is_kept_to_in_the_next(context: PlainContext) -> None:
    model = small(24_000)
    services = make_services([model])
    first = await AGENT.call(services, material(25_000), context)
    asked = len(model.requests)
    await AGENT.call(services, material(25_000), context, windows=model_windows(first.notes))
    assert len(model.requests) == asked + 1


async def test_what_the_state_knows_is_kept_to_by_a_process_that_has_learned_nothing(context: PlainContext) -> None:
    model = small(13_500)
    known = {"openai:small": {"tokens": None, "prompt_chars": 12_000}}
    await AGENT.call(make_services([model]), material(30_000), context, windows=known)
    assert len(model.requests) == 1


async def test_a_short_prompt_that_is_refused_says_nothing_of_others(context: PlainContext) -> None:
    once = [ContextExceeded("too long", provider="m"), PLAN]
    model = ScriptedModel({"planner": once}, spec="openai:m@http://127.0.0.1:1/v1")
    services = make_services([model])
    first = await AGENT.call(services, material(500), context)
    await AGENT.call(services, material(15_000), context, windows=model_windows(first.notes))
    assert len(model.requests[-1].user) > 15_000


async def test_of_a_refused_prompt_of_few_but_dense_characters_is_learned_what_fits(context: PlainContext) -> None:
    model = small(9_000)
    given = {**material(10), "background": [{"title": "A passage", "text": "人人有思想、良心和宗教自由的权利。" * 230}]}
    services = make_services([model], default_context_tokens=16_000)
    first = await AGENT.call(services, given, context)
    refused = len(lengths(model))
    assert refused > 1
    await AGENT.call(services, given, context, windows=model_windows(first.notes))
    assert len(lengths(model)) == refused + 1, "the second prompt fits at once"


async def test_an_unavailable_model_beside_one_with_a_small_window_is_worth_a_retry(context: PlainContext) -> None:
    busy = ScriptedModel({"*": [{"error": "unavailable"}]}, spec="busy")
    with pytest.raises(ProviderUnavailable):
        await AGENT.call(make_services([small(100), busy]), material(500), context)
    refusing = ScriptedModel({"*": [{"error": "refused"}]}, spec="refusing")
    with pytest.raises(ProviderError) as caught:
        await AGENT.call(make_services([small(100), refusing]), material(500), context)
    assert isinstance(caught.value, ContextExceeded)


async def test_the_answer_is_shown_while_it_is_written_and_not_stored(context: PlainContext) -> None:
    class Writing(ScriptedModel):
        async def complete(self, request: ModelRequest) -> ModelReply:
            reply = await super().complete(request)
            assert request.on_text is not None
            for character in reply.text * 5:
                request.on_text(character)
            return reply

    model = Writing({"planner": [PLAN]}, spec="writing")
    await AGENT.call(make_services([model]), material(500), context)
    shown = [data["text"] for name, data in context.events if name == "model:text"]
    assert "".join(shown).startswith('{"research_brief"')
    assert 1 < len(shown) <= 4


class SmallBench(WholeBench):
    """The whole graph on a model with a small window."""

    window_chars = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.model = small(self.window_chars, self.script)


def quotes_what_is_shown(request: ModelRequest) -> dict[str, Any]:
    """An analyzer that quotes the first sentence of each source in its prompt."""
    findings = []
    for row in request.material["sources"]:
        text = (row["content"] or "").partition(". ")[0].rstrip(".") + "."
        findings.append({"content": text, "confidence": "high", "evidence": [{"source_id": row["id"], "quote": text}]})
    return {"findings": findings[:5], "gaps": []}


@pytest.mark.requirement("14.2", "22.3")
@pytest.mark.parametrize("tells", [None, 2_250])
async def test_a_window_of_9000_characters_gives_a_whole_report_and_the_same_calls_in_a_replay(
    tells: int | None,
) -> None:
    bench = SmallBench(research_script(analyzer=[quotes_what_is_shown], planner=["nonsense " * 500]))
    bench.model = small(9_000, bench.script, tells=tells)
    result = await bench.run(question="What of opening, cost and fish? " + "Mind each of them well. " * 60)
    assert result.status == "completed"
    assert len(result.state["sources"]) >= 3
    retries = sum(row.get("retries", 0) for row in result.state["degraded"])
    assert result.state["metadata"]["token_limit_retries"] == retries > 0
    report = await bench.report(result.state)
    assert report.citations
    assert all(citation.valid for citation in report.citations)
    runtime = bench.runtime()
    replayed = await replay(bench.store, runtime.graph, "run-1", failures=recorded_failures())
    assert replayed.identical


@pytest.mark.requirement("14.2")
async def test_where_recovery_is_off_a_prompt_that_is_too_long_is_sent_once(context: PlainContext) -> None:
    model = small(100)
    with pytest.raises(ContextExceeded):
        await AGENT.call(make_services([model], token_limit_recovery=False), material(60_000), context)
    assert len(model.requests) == 1


async def test_the_retries_of_an_aborted_run_are_counted_in_its_metadata() -> None:
    bench = SmallBench(research_script())
    bench.model = ScriptedModel(
        research_script(
            analyzer=[ProviderRefused("no quota", provider="m")] * 9,
        ),
        spec="openai:m@http://127.0.0.1:1/v1",
    )
    result = await bench.run()
    assert result.status == "aborted"
    assert result.state["metadata"]["token_limit_retries"] == 0
    assert "abort_phase" in result.state["metadata"]


async def test_the_retries_of_a_run_are_counted_in_its_metadata() -> None:
    bench = SmallBench(research_script())
    bench.model = ScriptedModel(
        research_script(planner=[ContextExceeded("too long", provider="m"), research_script()["planner"][0]]),
        spec="openai:m@http://127.0.0.1:1/v1",
    )
    state = (await bench.run()).state
    assert state["metadata"]["token_limit_retries"] == sum(row.get("retries", 0) for row in state["degraded"])
    assert "window" in {row.get("kind") for row in state["degraded"]}
