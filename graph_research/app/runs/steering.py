"""Steering a run that has begun: its plan before it goes on, and wishes for its next phase."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_research.app.request import RunRequest, valid_text
from graph_research.app.runs.limits.estimate import Amount, Shape
from graph_research.app.runs.plan import Plan
from graph_research.app.runs.research_state import research_state
from graph_research.app.runs.status import waits_with_plan
from graph_research.app.store import Store, request_of
from graph_research.errors import Action, Hint, check_name
from graph_research.graph.checkpoint.records import RunRecord
from graph_research.graph.errors import InputInvalid
from graph_research.graph.history.stored_definition import stored_spec
from graph_research.graph.state.rows import Instruction
from graph_research.graph.statuses import RunStatus
from graph_research.providers.llm.model_data import Prices
from graph_research.research.instructions import InstructionKind

_WISH_CHARS = 5_000


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """A run that waits with its plan: what it will do, with which searches and models (by role; `default` serves the
    others), and what the whole of it is likely to take."""

    run_id: str
    question: str
    plan: Plan
    providers: Sequence[str]
    models: Mapping[str, Sequence[str]]
    estimate: Amount

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {
            "run_id": self.run_id,
            "question": self.question,
            **self.plan.to_json(),
            "providers": list(self.providers),
            "models": {role: list(specs) for role, specs in self.models.items()},
            "estimate": self.estimate.to_json(),
        }


async def planned_run(store: Store, run_id: str, prices: Prices) -> PlannedRun:
    """The plan that a run waits with. `InputInvalid` where it does not wait with one."""
    record = await _waiting(store, run_id)
    request = request_of(record)
    told = [each for each in await store.instructions(run_id) if each.kind == InstructionKind.PLAN]
    plan = Plan(**json.loads(told[-1].content)) if told else Plan.of_state(research_state(await store.state(run_id)))
    return PlannedRun(
        run_id=run_id,
        question=request.question or "",
        plan=plan,
        providers=request.search,
        models={"default": request.models, **request.roles},
        estimate=_estimate(request, plan, prices),
    )


async def change_plan(store: Store, run_id: str, plan: Plan) -> None:
    """Put a plan in the place of the one that a run waits with; it takes it up when it goes on. `InputInvalid` where it
    does not wait with one."""
    await _waiting(store, run_id)
    content = json.dumps(plan.to_json(), ensure_ascii=False)
    await store.instruct(run_id, Instruction(InstructionKind.PLAN, content))


async def guide(store: Store, run_id: str, wish: str) -> list[str]:
    """Add a wish for the next phase of a run, whichever process drives it; all wishes of the run so far. `InputInvalid`
    for a run that is completed, and for one whose graph takes no wishes."""
    record = await store.run(check_name(run_id, "run id"))
    if not wish.strip() or len(wish) > _WISH_CHARS or not valid_text(wish):
        raise InputInvalid(
            f"a wish is a text of 1 to {_WISH_CHARS:,} characters", help='such as "look at prices since 2020"'
        )
    if record.status == RunStatus.COMPLETED:
        raise InputInvalid(
            f"run {run_id} is completed; no phase follows that could heed a wish",
            help="fork it to go on from an earlier step",
            hint=Hint(Action.SHOW_STEPS, run_id),
        )
    spec = await stored_spec(store, record)
    if spec is None or "guidance" not in spec.channels:
        raise InputInvalid(
            f"run {run_id} takes no wishes: its graph {record.graph} has no channel guidance",
            help="only a research takes them",
        )
    await store.instruct(run_id, Instruction(InstructionKind.GUIDANCE, wish.strip()))
    return [told.content for told in await store.instructions(run_id) if told.kind == InstructionKind.GUIDANCE]


async def inherit_wishes(store: Store, parent: str, run_id: str, state: Mapping[str, Any]) -> None:
    """Give a fork the wishes that were in force where it begins, as its `state` has them."""
    guidance = str(state.get("guidance") or "")
    for told in await store.instructions(parent):
        if told.kind == InstructionKind.GUIDANCE and told.content in guidance:
            await store.instruct(run_id, told)


async def _waiting(store: Store, run_id: str) -> RunRecord:
    record = await store.run(check_name(run_id, "run id"))
    if not waits_with_plan(record):
        raise InputInvalid(
            f"run {run_id} is {record.status} and does not wait with a plan",
            help="start one that waits",
            hint=Hint(Action.SET_OPTION, options={"plan": True}),
        )
    return record


def _estimate(request: RunRequest, plan: Plan, prices: Prices) -> Amount:
    shape = Shape.of(request.inputs, request.models, request.roles, prices)
    return replace(shape, sub_queries=max(len(plan.sub_queries), 1)).whole()
