"""The one way in which a role asks a model: render, call, parse, validate, repair once, else fall back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.contracts import Contract
from graph_research.graph.errors import HandoffInvalid
from graph_research.providers.errors import ProviderError, ProviderUnavailable
from graph_research.providers.llm.base import Model, ModelRequest
from graph_research.research.answers import json_candidates
from graph_research.research.mending import mended, wrapped_in
from graph_research.research.services import Services

__all__ = ["Agent", "AgentResult", "AnswerUnreadable", "Fallback", "ask_model"]

_MOST_READINGS = 12

Fallback = Callable[[str], Mapping[str, Any]]
"""Makes an answer that fits the schema without a model; it is given the last reply's text."""


class AnswerUnreadable(ProviderError):
    """No reply of the model fitted the answer's schema, and the agent has no fallback."""

    code = "answer-unreadable"


@dataclass(frozen=True, kw_only=True)
class AgentResult:
    """What came of a call. `degraded` says why the fallback answered, None where the model did."""

    output: dict[str, Any]
    degraded: str | None
    attempts: int
    tokens: int

    def degradations(self, agent: str, ctx: Context) -> list[dict[str, Any]]:
        """The entries for the state's `degraded` channel: none or one."""
        if self.degraded is None:
            return []
        return [{"node": ctx.path, "agent": agent, "reason": self.degraded}]


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A role's name (its prompts are `NAME/system` and `NAME/user`), model role and answer schema."""

    name: str
    role: str = "research"
    answer: str = ""
    """Name of the schema that the reply must fit; empty: `NAME.answer`."""
    repairs: int | None = None
    """Repair turns; None: as the settings say."""
    max_output_tokens: int | None = None
    system_prompt: str = ""
    """Name of the system template; empty: `NAME/system`."""
    user_prompt: str = ""

    async def call(
        self,
        services: Services,
        material: Mapping[str, Any],
        ctx: Context,
        *,
        local: Mapping[str, Any] | None = None,
        contract: Contract | None = None,
        fallback: Fallback | None = None,
    ) -> AgentResult:
        """Ask the role's models until an answer fits.

        `material` is JSON and is what the templates see; `local` joins it for models that run in this process
        (documents), and never reaches a prompt. Raises the models' `ProviderError` when none can be reached, and
        `AnswerUnreadable` when no reply fits and there is no `fallback`.
        """
        contract = contract or services.schemas.get(self.answer or f"{self.name}.answer")
        values = {**material, "schema": contract.schema}
        system = services.prompts.render(self.system_prompt or f"{self.name}/system", values)
        user = services.prompts.render(self.user_prompt or f"{self.name}/user", values)
        repairs = services.settings.repair_turns if self.repairs is None else self.repairs
        tokens, problem, reply, turn = 0, "", "", user
        for attempt in range(1, repairs + 2):
            request = ModelRequest(
                agent=self.name,
                role=self.role,
                system=system,
                user=turn,
                schema=contract.schema,
                max_output_tokens=self.max_output_tokens or services.settings.max_output_tokens,
                attempt=attempt,
                material={**material, **(local or {})},
            )
            reply, used = await ask_model(services, request, ctx)
            tokens += used
            output, problem = _read(reply, contract, ctx)
            if output is not None:
                return AgentResult(output=output, degraded=None, attempts=attempt, tokens=tokens)
            turn = services.prompts.render(
                "_partials/repair", {"user": user, "reply": reply[:8_000], "problem": problem}
            )
        return self._fall_back(fallback, reply, problem, attempts=repairs + 1, tokens=tokens)

    def _fall_back(
        self, fallback: Fallback | None, reply: str, problem: str, *, attempts: int, tokens: int
    ) -> AgentResult:
        if fallback is None:
            raise AnswerUnreadable(
                f"{self.name}: no usable answer after {attempts} turns: {problem}",
                provider=self.role,
                help="choose another model for this role",
            )
        reason = f"answer not usable after {attempts} turns ({problem}); the fallback answered"
        return AgentResult(output=dict(fallback(reply)), degraded=reason, attempts=attempts, tokens=tokens)


async def ask_model(services: Services, request: ModelRequest, ctx: Context) -> tuple[str, int]:
    """The reply of the first of the role's models that answers, and the tokens it took."""
    failures: list[ProviderError] = []
    for model in services.models.models(request.role):
        try:
            answer = await ctx.call("model", _recorded(request, model), _completion(model, request))
        except ProviderError as error:
            failures.append(error)
            continue
        return str(answer["text"]), int(answer["input_tokens"]) + int(answer["output_tokens"])
    if len(failures) == 1:
        raise failures[0]
    raise _none_answered(request, failures)


def _none_answered(request: ModelRequest, failures: list[ProviderError]) -> ProviderError:
    """One error for all; worth another try if any of the models was merely unavailable."""
    told = "; ".join(str(error) for error in failures) or "none is configured"
    message = f'no model answered {request.agent} (role "{request.role}"): {told}'
    retry = any(isinstance(error, ProviderUnavailable) for error in failures)
    return (ProviderUnavailable if retry else ProviderError)(
        message, provider=request.role, help="see `graph-research doctor`"
    )


def _recorded(request: ModelRequest, model: Model) -> dict[str, Any]:
    """The request as the journal keeps it: what was sent, not the material that never leaves the process."""
    return {
        "agent": request.agent,
        "role": request.role,
        "model": model.spec,
        "system": request.system,
        "user": request.user,
        "schema": dict(request.schema) if request.schema is not None else None,
        "max_output_tokens": request.max_output_tokens,
        "attempt": request.attempt,
    }


def _completion(model: Model, request: ModelRequest) -> Callable[[], Awaitable[dict[str, Any]]]:
    async def complete() -> dict[str, Any]:
        reply = await model.complete(request)
        return {
            "text": reply.text,
            "model": reply.model,
            "role": request.role,
            "agent": request.agent,
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
        }

    return complete


def _read(reply: str, contract: Contract, ctx: Context) -> tuple[dict[str, Any] | None, str]:
    """The answer in a reply, or None and what is wrong with it: the likeliest reading that fits, as it stands or else
    mended."""
    problem = "the reply holds no JSON object or array"
    readings = list(islice(json_candidates(reply), _MOST_READINGS))
    readings += [inner for one in readings for inner in wrapped_in(one)]
    for mend in (False, True):
        for place, one in enumerate(readings):
            value = mended(one, contract.schema) if mend else one
            if isinstance(value, dict) and contract.fits(value):
                return value, ""
            if place == 0 and not mend:
                problem = _misfit(value, contract, ctx)
    return None, problem


def _misfit(value: Any, contract: Contract, ctx: Context) -> str:
    try:
        contract.check(value, ctx.node)
    except HandoffInvalid as problem:
        return problem.message.partition("schema ")[2] or problem.message
    return "the answer must be one JSON object"
