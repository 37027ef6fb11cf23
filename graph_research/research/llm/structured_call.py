"""The one way in which a role asks a model: render, call, parse, validate, repair once, else fall back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.errors import HandoffInvalid
from graph_research.graph.values.json_schema import Contract
from graph_research.providers.errors import AnswerWithheld, ContextExceeded, ProviderError
from graph_research.research.llm.context_windows import Windows
from graph_research.research.llm.failover import Conversation, Told, Turn
from graph_research.research.llm.json_answers import json_candidates
from graph_research.research.llm.prompt_fitting import Cut, Fitted, Part, Settle, fitted, shortened
from graph_research.research.llm.schema_coercion import mended, wrapped_in
from graph_research.research.services import Services

__all__ = ["Agent", "AgentResult", "AnswerUnreadable", "Fallback"]

_MOST_READINGS = 12
_REPLY_CHARS = 8_000
"""How much of an answer that does not fit is sent back."""
_HALVINGS = 3

Fallback = Callable[[str], Mapping[str, Any]]
"""Makes an answer that fits the schema without a model; it is given the last reply's text."""


class AnswerUnreadable(ProviderError):
    """No reply of the model fitted the answer's schema, and the agent has no fallback."""

    code = "answer-unreadable"


@dataclass(frozen=True, kw_only=True)
class AgentResult:
    """What came of a call. `degraded` says why the fallback answered, None where the model did. `notes` are entries for
    the state's `degraded` channel: prompts that were cut, windows learned, models that were passed over. `shown` is the
    material as the answered prompt showed it, `cuts` what that lacks."""

    output: dict[str, Any]
    degraded: str | None
    attempts: int
    tokens: int
    notes: tuple[dict[str, Any], ...] = ()
    shown: Mapping[str, Any] = field(default_factory=dict, repr=False)
    cuts: tuple[Cut, ...] = ()

    def degradations(self, agent: str, ctx: Context) -> list[dict[str, Any]]:
        """The entries for the state's `degraded` channel."""
        if self.degraded is None:
            return list(self.notes)
        fallen = {"node": ctx.path, "agent": agent, "reason": self.degraded, "kind": "fallback"}
        return [*self.notes, fallen]


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A role's name (its prompts are `NAME/system` and `NAME/user`), model role, phase and answer schema.

    `parts` are the lists of its material that a prompt may show less of where a window is small, the first to give way
    first; `settle` takes out what belonged to rows that were left out.
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
    parts: tuple[Part, ...] = ()
    settle: Settle | None = None

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
    ) -> AgentResult:
        """Ask the role's models until an answer fits.

        `material` is JSON and is what the templates see; `local` joins it for models that run in this process
        (documents), and never reaches a prompt. `windows` is what the run has learned of its models' windows. Raises
        the models' `ProviderError` when none can be reached. Where no reply fits, the prompt fits no window, or the
        models decline, the `fallback` answers; without one it is `AnswerUnreadable`, `ContextExceeded` or
        `AnswerWithheld`.
        """
        contract = contract or services.schemas.get(self.answer or f"{self.name}.answer")
        agent = replace(self, role=ctx.role or self.role)
        asking = _Asking(agent, services, material, contract, local or {}, phase or self.phase)
        conversation = Conversation(services=services, ctx=ctx, windows=Windows.of(windows))
        repairs = services.settings.repair_turns if self.repairs is None else self.repairs
        try:
            answered = await _answered(conversation, asking, contract, repairs + 1)
        except (ContextExceeded, AnswerWithheld) as error:
            if fallback is None:
                raise
            reason = f"{_plain(error)}; the fallback answered"
            return self._result(conversation, dict(fallback("")), 1, degraded=reason)
        if answered.output is not None:
            return self._result(conversation, answered.output, answered.turns, shown=answered.shown)
        if fallback is None:
            raise AnswerUnreadable(
                f"{self.name}: no usable answer after {answered.turns} turns: {answered.problem}",
                provider=ctx.role or self.role,
                help="choose another model for this role",
            )
        reason = f"answer not usable after {answered.turns} turns ({answered.problem}); the fallback answered"
        return self._result(conversation, dict(fallback(answered.reply)), answered.turns, degraded=reason)

    def _result(
        self,
        conversation: Conversation,
        output: dict[str, Any],
        attempts: int,
        *,
        degraded: str | None = None,
        shown: Mapping[str, Any] | None = None,
    ) -> AgentResult:
        return AgentResult(
            output=output,
            degraded=degraded,
            attempts=attempts,
            tokens=conversation.tokens,
            notes=tuple(conversation.notes),
            shown=shown or {},
            cuts=conversation.cuts if degraded is None else (),
        )


class _Asking:
    """The prompts of one call, in whatever length a window has room for."""

    def __init__(
        self,
        agent: Agent,
        services: Services,
        material: Mapping[str, Any],
        contract: Contract,
        local: Mapping[str, Any],
        phase: str,
    ) -> None:
        self._agent = agent
        self._services = services
        self._material = material
        self._contract = contract
        self._local = local
        self._phase = phase
        self._system = self._render(agent.system_prompt or f"{agent.name}/system", material)
        self._user = agent.user_prompt or f"{agent.name}/user"
        self.most_chars: int | None = None
        """No prompt is longer, whatever the window."""

    def turn(self, attempt: int, reply: str, problem: str) -> Turn:
        """The first turn, or with a `problem` one that sends the reply back."""

        made: dict[int | None, Fitted] = {}

        def prompt(limit: int | None) -> Fitted:
            most = self.most_chars if limit is None else min(limit, self.most_chars or limit)
            if most not in made:
                made[most] = self._repair(reply, problem, most) if problem else self._first(most)
            return made[most]

        agent, settings = self._agent, self._services.settings
        return Turn(
            agent=agent.name,
            role=agent.role,
            phase=self._phase,
            system=self._system,
            prompt=prompt,
            schema=self._contract.schema,
            max_output_tokens=agent.max_output_tokens or settings.max_output_tokens,
            attempt=attempt,
            material={**self._material, **self._local},
        )

    def _first(self, limit: int | None) -> Fitted:
        return fitted(
            self._material,
            self._agent.parts,
            lambda material: self._render(self._user, material),
            limit,
            settle=self._agent.settle,
        )

    def _repair(self, reply: str, problem: str, limit: int | None) -> Fitted:
        shown = shortened(reply, _REPLY_CHARS if limit is None else min(_REPLY_CHARS, limit // 4))
        given = {"reply": shown, "problem": problem}
        words = self._services.prompts.render("_partials/repair", {**given, "user": ""})
        user = self._first(None if limit is None else max(limit - len(words), 0))
        return replace(user, text=self._services.prompts.render("_partials/repair", {**given, "user": user.text}))

    def _render(self, name: str, material: Mapping[str, Any]) -> str:
        return self._services.prompts.render(name, {**material, "schema": self._contract.schema})


@dataclass(frozen=True, kw_only=True)
class _Answered:
    """The answer that fits, or None with the last reply and what is wrong with it."""

    output: dict[str, Any] | None
    turns: int
    reply: str = ""
    problem: str = ""
    shown: Mapping[str, Any] = field(default_factory=dict)


async def _answered(conversation: Conversation, asking: _Asking, contract: Contract, most_turns: int) -> _Answered:
    """Ask each of the role's models until one gives an answer that fits, each at most `most_turns` times. A model that
    cannot be reached after another gave nothing usable is no error: the fallback knows what to do."""
    last = _Answered(output=None, turns=0)
    while True:
        reply, wrong = "", ""
        for attempt in range(1, most_turns + 1):
            try:
                told = await _ask(conversation, asking.turn(attempt, reply, wrong), asking)
            except ProviderError:
                if last.turns == 0:
                    raise
                return last
            reply = told.text
            output, wrong = _read(reply, contract, conversation.ctx)
            last = _Answered(
                output=output, turns=last.turns + 1, reply=reply, problem=wrong, shown=told.fitted.material
            )
            if output is not None:
                return last
            if told.cut:
                wrong = f"it broke off because it was too long, so be brief; {wrong}"
        if not conversation.pass_over(asking.turn(1, "", ""), told):
            return last


async def _ask(conversation: Conversation, turn: Turn, asking: _Asking) -> Told:
    """The reply; where no window was told and the prompt is too long even after its cuts, half of the material is
    asked about, and half of that."""
    before = None
    for _ in range(_HALVINGS):
        try:
            return await conversation.ask(turn)
        except ContextExceeded:
            length = len(turn.prompt(None).text)
            if length == before:
                raise
            before, asking.most_chars = length, length // 2
    return await conversation.ask(turn)


def _plain(error: ContextExceeded | AnswerWithheld) -> str:
    """Why, and what helps, without the server's own words."""
    if isinstance(error, AnswerWithheld):
        return "every model of this role that could be reached declined to answer, or its provider's filter did"
    return f"the prompt fits the window of no model of this role; {error.help}" if error.help else error.message


def _read(reply: str, contract: Contract, ctx: Context) -> tuple[dict[str, Any] | None, str]:
    """The answer in a reply, or None and what is wrong with it: the likeliest reading that fits, as it stands or else
    mended."""
    problem = "the reply holds no JSON object or array"
    readings: list[Any] = []
    for value in _readings(reply):
        if isinstance(value, dict) and contract.fits(value):
            return value, ""
        if not readings:
            problem = _misfit(value, contract, ctx)
        readings.append(value)
    for value in (mended(one, contract.schema) for one in readings):
        if isinstance(value, dict) and contract.fits(value):
            return value, ""
    return None, problem


def _readings(reply: str) -> Iterator[Any]:
    """The likeliest first; none is looked for before it is asked for."""
    told: list[Any] = []
    for one in islice(json_candidates(reply), _MOST_READINGS):
        told.append(one)
        yield one
    for one in told:
        yield from wrapped_in(one)


def _misfit(value: Any, contract: Contract, ctx: Context) -> str:
    try:
        contract.check(value, ctx.node)
    except HandoffInvalid as problem:
        return problem.message.partition("schema ")[2] or problem.message
    return "the answer must be one JSON object"
