"""The supervisor: evaluates each phase, holds the think pause, and decides how the run continues."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import isawaitable
from typing import Any

from pydantic import ValidationError

from graph_research.graph.context import Context
from graph_research.graph.errors import GraphTimeout, NodeFailed
from graph_research.graph.registry import Handler
from graph_research.providers.call_kind import CallKind
from graph_research.research import decision_log
from graph_research.research.instructions import InstructionKind, instructions_of
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section, shortened
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.decision import HookDecision, PhaseAction
from graph_research.research.retrieval.excerpts import fair_share

RESULT_CHARS = 24_000
"""How much of a phase's result the verdict's prompt shows; a longer one is shown as a digest of each part."""

_SECTIONS = (Section(name="result", noun="result", least_chars=200),)


def supervisor(services: Services) -> Handler:
    """Evaluate a phase, pause, then judge: by the gate, or by a model's verdict where that can change something.

    The order is: evaluate, build the prompt, call the hook, read what the user wished since the run began, record.
    These wishes guide the next phase and those after it. A model's verdict is bounded by the gate and by the retries
    left. Fallback: retry where the gate failed, else proceed. Raises `GraphTimeout` where the end of the time for
    gathering cut off the searches before they found anything (`searches_cut_off`): there is nothing to report.
    """
    agent = Agent(name="supervisor", sections=_SECTIONS)

    async def review(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        if handoff.get("searches_cut_off"):
            await _check_time(services, ctx)
        phase, iteration, gate = handoff["current_phase"], handoff["iteration"], handoff["gate"]
        log = [*_gathered(handoff), decision_log.evaluation(phase, iteration, handoff["metrics"], gate, ctx)]
        progress = {name: handoff[name] for name in ("iteration", "max_iterations")}
        facts = {"phase": phase, **progress, **handoff["metrics"]}
        prompt = await services.prompts.off_loop(lambda: services.prompts.render("supervisor/pause", facts))
        hinted, decided = await _think_pause(services, handoff, prompt, ctx)
        wishes = await instructions_of(services.instructions, InstructionKind.GUIDANCE, ctx)
        guidance = "\n".join(filter(None, (hinted, *wishes))) or None
        log.append(decision_log.pause(phase, iteration, prompt, guidance, ctx))
        if decided is not None:
            result = AgentResult(output=_by_the_hook(decided, gate))
        elif _can_change_something(handoff, hinted):
            result = await agent.call(
                services,
                _material(handoff, prompt, guidance, ctx),
                ctx,
                fallback=lambda: _by_the_gate(gate, "The verdict could not be read; the gate decides."),
                phase=phase,
                windows=handoff.get("model_windows"),
            )
        else:
            decides = "The gate holds" if gate["valid"] else "The gate objects, but nothing is left to retry"
            by_gate = _by_the_gate(gate, f"{decides}; no verdict of a model was needed.")
            result = AgentResult(output={**by_gate, "guidance": None})
        wanted = result.output["action"]
        action = _action(wanted, handoff, by_hook=decided is not None)
        verdict = {**result.output, "action": await _within_limits(services, action, handoff, ctx)}
        inputs = {"phase": phase, "iteration": iteration, "wanted": wanted}
        log.append(decision_log.verdict(verdict, inputs, ctx, agent="hook" if decided else "supervisor"))
        return {
            "phase": phase,
            "decision": verdict,
            "decisions": log,
            "guidance": "\n".join(filter(None, (guidance, _advice(verdict, gate)))) or None,
            "think_pauses": [{"phase": phase, "iteration": iteration, "prompt": prompt, "guidance": guidance}],
            "degraded": [*result.degradations(agent.name, ctx), *_passed_with_issues(handoff, verdict, ctx)],
        }

    return review


def iteration_decider(services: Services) -> Handler:
    """Whether another iteration follows: open gaps, iterations left, no verdict that the research is complete, and room
    for it within the limits of the run."""

    async def decide(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        gaps, iteration, most = handoff["gap_count"], handoff["iteration"], handoff["max_iterations"]
        complete = handoff.get("verdict") == PhaseAction.COMPLETE
        refused = "the review of the report found the research complete" if complete else None
        allowance = services.allowance
        if allowance is not None and refused is None and gaps > 0 and iteration < most:
            refused = await _refusal("round", allowance.refuses_round, ctx)
        record = decision_log.iteration_decision(gaps, iteration, most, ctx, refused=refused)
        return {**record["outputs"], "decisions": [record]}

    return decide


def dispatcher(services: Services) -> Handler:  # noqa: ARG001 -- every maker of a handler is given the services
    """The entry of the decision log that hands a phase to its agent, written before the agent begins."""

    async def dispatch(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        return {"phase": handoff["current_phase"], "decisions": [decision_log.dispatch(handoff, ctx)]}

    return dispatch


def _material(handoff: Mapping[str, Any], prompt: str, guidance: str | None, ctx: Context) -> dict[str, Any]:
    """What a model judges a phase by."""
    return {
        **prompt_context(handoff.get("report_options"), ctx),
        "question": handoff["original_query"],
        "checklist": list(handoff.get("checklist") or []),
        "phase": handoff["current_phase"],
        "metrics": handoff["metrics"],
        "gate": handoff["gate"],
        "iteration": handoff["iteration"],
        "max_iterations": handoff["max_iterations"],
        "retries_left": handoff["retries_left"],
        "reflection_prompt": prompt,
        "human_guidance": guidance,
        "result": _digest(handoff.get("result") or [], RESULT_CHARS),
    }


async def _think_pause(
    services: Services, handoff: Mapping[str, Any], prompt: str, ctx: Context
) -> tuple[str | None, HookDecision | None]:
    """The hook's guidance and its decision, journalled, so that a resumed run does not ask a second time."""
    hooks, phase = services.hooks, handoff["current_phase"]
    if hooks is None:
        return None, None

    async def ask() -> str | dict[str, Any] | None:
        channels = await services.read_state(ctx.run_id) if services.read_state else {}
        reviewed = {"phase": phase, "current_phase": phase, "metrics": handoff["metrics"], "gate": handoff["gate"]}
        answer = hooks.on_think_pause(copy.deepcopy({**channels, **reviewed}), prompt)
        return _of_the_hook(await answer if isawaitable(answer) else answer)

    answer = await ctx.call(CallKind.THINK_PAUSE.value, {"phase": phase, "prompt": prompt}, ask)
    if isinstance(answer, dict):
        decided = HookDecision.model_validate(answer)
        return decided.guidance, decided
    return answer or None, None


def _of_the_hook(answer: object) -> str | dict[str, Any] | None:
    """What the hook returned, as it is journalled; a decision may be given as an object of its fields."""
    if isinstance(answer, Mapping):
        try:
            answer = HookDecision.model_validate(answer)
        except ValidationError as error:
            wrong = ", ".join(".".join(map(str, row["loc"])) for row in error.errors())
            raise _hook_is_wrong(f"an object that is not a HookDecision (see {wrong})") from error
    if isinstance(answer, HookDecision):
        return answer.to_json()
    if answer is None or isinstance(answer, str):
        return answer
    raise _hook_is_wrong(f"an object of the type {type(answer).__name__}")


def _hook_is_wrong(returned: str) -> NodeFailed:
    actions = ", ".join(PhaseAction)
    return NodeFailed(
        f"on_think_pause returned {returned}",
        help=f"return a text, None, or HookDecision(action, rationale, guidance) with one of the actions {actions}",
    )


def _gathered(handoff: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The dispatch of the gathering with what came of it; its topics have agents, the phase as a whole has none."""
    dispatched = handoff.get("dispatched")
    if not dispatched:
        return []
    outputs = {"source_ids": [row["id"] for row in dispatched["outputs"]["sources"]], **dispatched["outputs"]["stats"]}
    return decision_log.completed_dispatch(dispatched["decisions"], handoff["current_phase"], outputs)


async def _check_time(services: Services, ctx: Context) -> None:
    """`GraphTimeout` while the time for gathering is over; a run that is resumed has some again."""
    allowance = services.allowance
    if allowance and (over := await _refusal("searches", allowance.time_to_search_is_over, ctx)):
        raise GraphTimeout(over)


async def _within_limits(services: Services, action: str, handoff: Mapping[str, Any], ctx: Context) -> str:
    """A phase is not repeated where the limits of the run leave no room for it. Searches that were cut off are made in
    whatever time there is: without them there is nothing to report."""
    allowance, phase = services.allowance, handoff["current_phase"]
    if action != PhaseAction.RETRY or allowance is None or handoff.get("searches_cut_off"):
        return action
    refused = await _refusal("repetition", partial(allowance.refuses_repetition, phase), ctx)
    return PhaseAction.PROCEED.value if refused else action


async def _refusal(what: str, refuses: Callable[[], str | None], ctx: Context) -> str | None:
    """Why the limits of the run leave no room for something; None where they do. The answer is journalled."""

    async def ask() -> str | None:
        return refuses()

    answer: str | None = await ctx.call(CallKind.ALLOWANCE.value, {"for": what, "run": ctx.run_id}, ask, at_hand=True)
    return answer


def _action(wanted: str, handoff: Mapping[str, Any], *, by_hook: bool) -> str:
    """A phase whose gate failed, or that the model or the hook sends back, is retried as long as a retry is left; then
    the run proceeds. What a hook decides is done although the gate failed."""
    if handoff["retries_left"] > 0:
        return wanted if by_hook or handoff["gate"]["valid"] else PhaseAction.RETRY.value
    return PhaseAction.PROCEED.value if wanted == PhaseAction.RETRY else wanted


def _advice(verdict: Mapping[str, Any], gate: Mapping[str, Any]) -> str | None:
    """The verdict's guidance; for a phase that is sent back without any, what its gate found."""
    if verdict["action"] == PhaseAction.RETRY and not verdict.get("guidance"):
        return "; ".join(gate["issues"])
    return verdict.get("guidance")


def _can_change_something(handoff: Mapping[str, Any], guidance: str | None) -> bool:
    """Whether a model's verdict may change what follows: a failed gate with a retry left is to be mended, searches that
    failed may be repeated, a hook gave guidance to weigh, or the next round may be called off."""
    phase, metrics = handoff["current_phase"], handoff["metrics"]
    if guidance or (handoff["retries_left"] > 0 and (phase == "gathering" or not handoff["gate"]["valid"])):
        return True
    rounds_left = handoff["iteration"] < handoff["max_iterations"]
    return phase == "refinement" and rounds_left and bool(metrics["should_iterate"])


def _digest(result: Sequence[str], most_chars: int) -> str:
    """The result, or the beginning of each of its parts (the sections of a report), so that none is missing."""
    parts = [part for text in result for part in re.split(r"\n(?=## )", text or "")]
    each = fair_share(map(len, parts), most_chars - len(parts))
    return "\n".join(shortened(part, each) for part in parts)


def _by_the_gate(gate: Mapping[str, Any], rationale: str) -> dict[str, Any]:
    return {
        "action": (PhaseAction.PROCEED if gate["valid"] else PhaseAction.RETRY).value,
        "rationale": rationale,
        "quality_assessment": _marks_of_gate(gate),
        "guidance": "; ".join(gate["issues"]) or None,
    }


def _by_the_hook(decided: HookDecision, gate: Mapping[str, Any]) -> dict[str, Any]:
    """The hook's decision as a verdict; its guidance is passed on with that of the pause."""
    return {
        "action": decided.action.value,
        "rationale": decided.rationale,
        "quality_assessment": _marks_of_gate(gate),
        "guidance": None,
    }


def _marks_of_gate(gate: Mapping[str, Any]) -> dict[str, Any]:
    return {"score": min(max(gate["quality_score"], 1), 10), "strengths": [], "weaknesses": list(gate["issues"])}


def _passed_with_issues(handoff: Mapping[str, Any], verdict: Mapping[str, Any], ctx: Context) -> list[dict[str, Any]]:
    """A gate that failed and is passed all the same leaves its issues behind."""
    if handoff["gate"]["valid"] or verdict["action"] == PhaseAction.RETRY:
        return []
    issues = "; ".join(handoff["gate"]["issues"])
    return [{"node": ctx.path, "agent": "gate", "reason": f"{handoff['current_phase']}: {issues}"}]
