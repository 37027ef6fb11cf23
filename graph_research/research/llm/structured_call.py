"""One structured call of a model role: render, fit, ask, validate, repair once, else fall back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.errors import HandoffInvalid
from graph_research.graph.values.json_schema import Contract
from graph_research.providers.errors import AnswerWithheld, BudgetReached, ContextExceeded, ProviderError
from graph_research.research.llm.context_windows import learned_windows
from graph_research.research.llm.failover import Answer, ModelSession, PromptRequest, Rejection
from graph_research.research.llm.json_answers import json_candidates
from graph_research.research.llm.prompt_fitting import (
    FittedPrompt,
    PromptLimit,
    Render,
    Section,
    Settle,
    fit_prompt,
    shortened,
)
from graph_research.research.llm.prompt_templates import PromptRenderer
from graph_research.research.llm.schema_coercion import coerced, without_misfits, wrapped_in
from graph_research.research.llm.services import Services
from graph_research.research.models.degradation import DegradationKind
from graph_research.research.models.ids import ShortIds

_MOST_READINGS = 12
_REPLY_CHARS = 8_000
"""How much of an answer that does not fit is sent back."""

Review = Callable[[Mapping[str, Any]], str]
"""Says what must be changed in an answer that fits the schema; empty: nothing."""

Fallback = Callable[[], Mapping[str, Any]]
"""Makes an answer that fits the schema without a model."""


class AnswerUnreadable(ProviderError):
    """No reply of the model fitted the answer's schema, and the agent has no fallback."""


@dataclass(frozen=True, kw_only=True)
class AgentResult:
    """The output of a call. `degraded` says why the fallback answered, None where the model did. `notes` are entries
    for the state's `degraded` channel: prompts that were shortened, windows that were learned, models that failed.
    `model` is the one that answered, by its name in the state, empty for the fallback. `shown` is the material as the
    answered prompt showed it. `by_code` is true where the answer was computed in this process, so that asking again
    would give the same. `broke_off` is true where no reply of the model was whole: the output ends somewhere in the
    middle. `before` is the output that was sent back by the review, `problem` what the review says of `output`."""

    output: dict[str, Any]
    degraded: str | None = None
    kind: DegradationKind = DegradationKind.FALLBACK
    """Why it is degraded, where it is."""
    attempts: int = 0
    tokens: int = 0
    notes: tuple[dict[str, Any], ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict, repr=False)
    by_code: bool = False
    model: str = ""
    broke_off: bool = False
    before: Mapping[str, Any] | None = None
    problem: str = ""

    def degradations(self, agent: str, ctx: Context) -> list[dict[str, Any]]:
        """The entries for the state's `degraded` channel."""
        if self.degraded is None:
            return list(self.notes)
        fallback = {"node": ctx.path, "agent": agent, "reason": self.degraded, "kind": self.kind.value}
        return [*self.notes, fallback]


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A role's name (its prompts are `NAME/system` and `NAME/user`), model role, phase and answer schema.

    `sections` are the lists of its material that a prompt may show less of where a window is small, in the order in
    which they are reduced; `settle` removes what belonged to rows that were left out.
    """

    name: str
    role: str = "research"
    phase: str = ""
    answer: str = ""
    """Name of the schema that the reply must fit; empty: `NAME.answer`."""
    repairs: int | None = None
    """Repair turns; None: as the settings say."""
    max_output_tokens: int | None = None
    system_prompt: str = ""
    """Name of the system template; empty: `NAME/system`."""
    user_prompt: str = ""
    sections: tuple[Section, ...] = ()
    settle: Settle | None = None
    quotes: bool = False
    """The model that quotes in this process knows this agent: it answers where no other does and a call names no
    fallback of its own."""

    async def call(
        self,
        services: Services,
        material: Mapping[str, Any],
        ctx: Context,
        *,
        local: Mapping[str, Any] | None = None,
        contract: Contract | None = None,
        fallback: Fallback | None = None,
        phase: str = "",
        windows: Mapping[str, Any] | None = None,
        review: Review | None = None,
    ) -> AgentResult:
        """Ask the role's models until an answer fits.

        Templates see `material`, which is JSON. Models in this process also get `local` (documents). `windows` is what
        the run has learned of its models' windows. An answer to which `review` objects is sent back once where a repair
        turn is left; what comes of it is used, also where the review objects again. Of an answer that still does not
        fit after the last turn, what may be left out and does not fit is left out, where the rest fits, and noted.

        Raises the models' `ProviderError` when none can be reached. Where no reply fits, the prompt fits no window, the
        models decline, or the model in this process stands behind one that cannot be reached, the `fallback` answers,
        else for an agent that `quotes` the model in this process; without either it is `AnswerUnreadable`,
        `ContextExceeded` or `AnswerWithheld`.

        A call makes at most `models * (1 + repairs + TOKEN_LIMIT_RETRIES)` requests, a node at most its
        `retry.attempts` times as many; a provider's client may send each again (`Endpoint.attempts`).
        """
        contract = contract or services.schemas.get(self.answer or f"{self.name}.answer")
        ids = ShortIds.of(material)
        request = await self._request(services, material, ctx, contract, local or {}, phase, ids)
        session = ModelSession(services=services, ctx=ctx, windows=learned_windows(windows))
        repairs = services.settings.repair_turns if self.repairs is None else self.repairs
        try:
            answer = await session.ask(
                request,
                lambda text, closed: _reviewed(_read(text, contract, ctx, ids, closed=closed), review),
                turns=repairs + 1,
            )
        except ProviderError as error:
            if not (fallback or self.quotes) or not self._may_fall_back(services, request, error):
                raise
            kind = DegradationKind.BUDGET if isinstance(error, BudgetReached) else DegradationKind.FALLBACK
            result = await self._fallen_back(services, request, ctx, fallback)
            return _degraded(result, session, _without_server_text(error), 1, kind)
        answer, left_out = _with_what_fits(answer, contract, ids)
        misfits = [_misfit_note(self.name, left_out, ctx)] if left_out else []
        if answer.value is None:
            if not (fallback or self.quotes):
                raise _unreadable(self.name, request, answer)
            reason = f"answer not usable after {answer.turns} turns ({answer.problem})"
            result = await self._fallen_back(services, request, ctx, fallback)
            return _degraded(result, session, reason, answer.turns)
        return _answered(answer.value, answer, session, misfits)

    def is_by_code(self, services: Services, ctx: Context) -> bool:
        """Whether code answers in the place of every model that this agent could ask."""
        return all(model.in_process for model in services.models.models(ctx.role or self.role, self.phase))

    async def text(self, services: Services, material: Mapping[str, Any], ctx: Context) -> str:
        """The reply of the role's first model that answers, as it is: for prompts without an answer schema."""
        session = ModelSession(services=services, ctx=ctx)
        request = await self._request(services, material, ctx, None, {}, "", ShortIds())
        answer = await session.ask(request, lambda text, _closed: ({"text": text.strip()}, ""))
        return answer.text.strip()

    def fits_windows(self, services: Services, ctx: Context) -> bool:
        """Whether this agent's prompts are fitted to windows; those of models in this process are not."""
        models = services.models.models(ctx.role or self.role, self.phase)
        return services.settings.token_management_enabled and not any(model.in_process for model in models)

    async def _fallen_back(
        self, services: Services, request: PromptRequest, ctx: Context, fallback: Fallback | None
    ) -> AgentResult:
        if fallback is not None:
            return AgentResult(output=dict(fallback()))
        return AgentResult(output=await services.models.quoted(self.name, request.material, ctx), by_code=True)

    def _may_fall_back(self, services: Services, request: PromptRequest, error: ProviderError) -> bool:
        if isinstance(error, (ContextExceeded, AnswerWithheld)):
            return True
        return any(model.in_process for model in services.models.models(request.role, request.phase))

    async def _request(
        self,
        services: Services,
        material: Mapping[str, Any],
        ctx: Context,
        contract: Contract | None,
        local: Mapping[str, Any],
        phase: str,
        ids: ShortIds,
    ) -> PromptRequest:
        schema = None if contract is None else contract.schema
        prompts = _Prompts(self, services.prompts, material, schema, ids)
        system_prompt = partial(prompts.render, self.system_prompt or f"{self.name}/system", material)
        return PromptRequest(
            agent=self.name,
            role=ctx.role or self.role,
            phase=phase or self.phase,
            system=await services.prompts.off_loop(system_prompt),
            prompt=prompts.fitted,
            schema=schema,
            max_output_tokens=self.max_output_tokens or services.settings.max_output_tokens,
            material={**material, **local},
        )


def _answered(
    value: dict[str, Any], answer: Answer, session: ModelSession, misfits: Sequence[dict[str, Any]]
) -> AgentResult:
    """The result of a model's answer."""
    return AgentResult(
        output=value,
        attempts=answer.turns,
        tokens=session.tokens,
        notes=(*session.notes, *misfits),
        shown=answer.prompt.material,
        by_code=answer.in_process,
        model=answer.model,
        broke_off=answer.broke_off,
        before=answer.before,
        problem=answer.problem,
    )


def _degraded(
    result: AgentResult,
    session: ModelSession,
    reason: str,
    turns: int,
    kind: DegradationKind = DegradationKind.FALLBACK,
) -> AgentResult:
    """The result of a fallback, with why it answered and what the models took before."""
    return replace(
        result,
        kind=kind,
        degraded=f"{reason}; the fallback answered",
        attempts=turns,
        tokens=session.tokens,
        notes=tuple(session.notes),
    )


class _Prompts:
    """The user prompts of one call, within any limit; each is rendered once."""

    def __init__(
        self,
        agent: Agent,
        templates: PromptRenderer,
        material: Mapping[str, Any],
        schema: Mapping[str, Any] | None,
        ids: ShortIds,
    ) -> None:
        self._agent = agent
        self._templates = templates
        self._material = material
        self._schema = schema
        self._ids = ids
        self._whole: dict[str, str] = {}
        self._fitted: dict[tuple[Rejection | None, PromptLimit], FittedPrompt] = {}

    def fitted(self, rejection: Rejection | None, limit: PromptLimit) -> FittedPrompt:
        """The prompt within `limit`, with the rejected reply in a repair turn."""
        key = (rejection, limit)
        if key not in self._fitted:
            agent = self._agent
            render: Render = partial(self.render, agent.user_prompt or f"{agent.name}/user")
            if rejection is not None:
                render = partial(self._repair, rejection, limit, render)
            self._fitted[key] = fit_prompt(self._material, agent.sections, render, limit, settle=agent.settle)
        return self._fitted[key]

    def render(self, name: str, material: Mapping[str, Any]) -> str:
        """The template with `material`; with the whole material it is rendered once."""
        whole = material is self._material
        if whole and name in self._whole:
            return self._whole[name]
        text = self._ids.shorten(self._templates.render(name, {**material, "schema": self._schema}))
        if whole:
            self._whole[name] = text
        return text

    def _repair(self, rejection: Rejection, limit: PromptLimit, render: Render, material: Mapping[str, Any]) -> str:
        """The prompt with what is wrong with the reply to it, and as much of that as takes a quarter of the limit. To
        one that can be used as it is only what to change."""
        most = len(rejection.reply) if rejection.is_usable else _REPLY_CHARS
        reply = shortened(rejection.reply, min(most, limit.share(rejection.reply, 4)))
        values = {
            "reply": reply,
            "problem": self._ids.shorten(rejection.problem),
            "is_usable": rejection.is_usable,
            "user": render(material),
        }
        return self._templates.render("_partials/repair", values)


def _without_server_text(error: ProviderError) -> str:
    """Why no model answered, and what helps, without the server's own words."""
    if isinstance(error, BudgetReached):
        return error.message
    if isinstance(error, AnswerWithheld):
        return "every model of this role that could be reached declined to answer, or its provider's filter did"
    if not isinstance(error, ContextExceeded):
        return "no language model of this role could be reached"
    return f"the prompt fits the window of no model of this role; {error.help}" if error.help else error.message


def _read(
    reply: str, contract: Contract, ctx: Context, ids: ShortIds, *, closed: bool
) -> tuple[dict[str, Any] | None, str]:
    """The answer in a reply, its ids whole, or None and what is wrong with it: the likeliest candidate that fits, first
    as it stands, then coerced to the schema. With `closed` only complete JSON counts."""
    problem = "the reply holds no JSON object or array"
    candidates: list[Any] = []
    for value in map(ids.expand, _candidates(reply, closed=closed)):
        if isinstance(value, dict) and contract.fits(value):
            return value, ""
        if not candidates:
            problem = _misfit(value, contract, ctx)
        candidates.append(value)
    for value in (coerced(candidate, contract.schema) for candidate in candidates):
        if isinstance(value, dict) and contract.fits(value):
            return value, ""
    return None, problem


def _with_what_fits(answer: Answer, contract: Contract, ids: ShortIds) -> tuple[Answer, list[str]]:
    """The answer; in place of one that does not fit the likeliest candidate of its reply that fits once what may be
    left out and does not fit is left out, if there is one, and the names of what is."""
    for candidate in map(ids.expand, _candidates(answer.text, closed=True)) if answer.value is None else ():
        left_out: list[str] = []
        value = without_misfits(coerced(candidate, contract.schema), contract.schema, left_out)
        if isinstance(value, dict) and contract.fits(value):
            return replace(answer, value=value, problem=""), left_out
    return answer, []


def _unreadable(agent: str, request: PromptRequest, answer: Answer) -> AnswerUnreadable:
    return AnswerUnreadable(
        f"{agent}: no usable answer after {answer.turns} turns: {answer.problem}",
        provider=request.role,
        help="choose another model for this role",
    )


def _misfit_note(agent: str, left_out: Sequence[str], ctx: Context) -> dict[str, Any]:
    reason = f"left out of the answer, since it does not fit its schema: {', '.join(left_out)}"
    return {"node": ctx.path, "agent": agent, "reason": reason, "kind": DegradationKind.MISFIT.value}


def _reviewed(read: tuple[dict[str, Any] | None, str], review: Review | None) -> tuple[dict[str, Any] | None, str]:
    value, problem = read
    return value, review(value) if review and value is not None else problem


def _candidates(reply: str, *, closed: bool) -> Iterator[Any]:
    """The likeliest first, then what they may wrap; each is looked for when it is asked for."""
    found: list[Any] = []
    for candidate in islice(json_candidates(reply, closed=closed), _MOST_READINGS):
        found.append(candidate)
        yield candidate
    for candidate in found:
        yield from wrapped_in(candidate)


def _misfit(value: Any, contract: Contract, ctx: Context) -> str:
    try:
        contract.check(value, ctx.node)
    except HandoffInvalid as problem:
        return problem.message.partition("schema ")[2] or problem.message
    return "the answer must be one JSON object"
