"""Asking a role's models: the prompt fitted to each one's window, cut where it was too long, the next model tried where
one does not answer, and all of that on record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_research.graph.context import Context
from graph_research.providers.errors import AnswerWithheld, ContextExceeded, ProviderError, ProviderUnavailable
from graph_research.providers.http.telemetry import asking_for
from graph_research.providers.llm.base import Model, ModelRequest
from graph_research.research.llm.context_windows import LearnedWindow, Windows
from graph_research.research.llm.prompt_fitting import Cut, Fitted
from graph_research.research.llm.usage import count
from graph_research.research.services import Services
from graph_research.text.tokens import ScriptCounter, TokenCounter, WindowBudget

__all__ = ["TOKEN_LIMIT_RETRIES", "Conversation", "Told", "Turn"]

_CHECK_MODELS = "check the keys and addresses of its models"

TOKEN_LIMIT_RETRIES = 3
"""How often a prompt that was too long is cut and sent again to one model (requirements 14.2)."""

_SHORTER = 0.9
_LARGE_WINDOW_TOKENS = 128_000
"""Of a hosted model that is not in the table: newer than it, and so at least as large as was usual."""

_ROOM_TRIES = 5
_ROOM_USED = 0.85

_SHOWN_EVERY_CHARS = 200
_COUNTER = ScriptCounter()


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What is asked of whichever model answers. `prompt` gives the user prompt in at most so many characters, or whole;
    the system prompt is never cut."""

    agent: str
    role: str
    phase: str
    system: str
    prompt: Callable[[int | None], Fitted]
    schema: Mapping[str, Any] | None
    max_output_tokens: int
    attempt: int
    material: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Told:
    """A reply. `cut` is true where the model had to stop before its end; `fitted` is the prompt that it answered."""

    text: str
    cut: bool
    fitted: Fitted
    model: str


@dataclass(kw_only=True)
class Conversation:
    """One agent's turns in one call. It collects tokens, what was learned of windows, and what has to be said of it:
    `notes` are entries of the state's `degraded` channel."""

    services: Services
    ctx: Context
    windows: Windows
    counter: TokenCounter = _COUNTER
    tokens: int = 0
    notes: list[dict[str, Any]] = field(default_factory=list)
    cuts: tuple[Cut, ...] = ()
    passed_over: set[str] = field(default_factory=set)
    """Models whose answers could not be used."""

    async def ask(self, turn: Turn) -> Told:
        """The reply of the first model of the role's list that answers.

        Raises one error for all of them where none does: `ProviderUnavailable` where a later try may help,
        `ContextExceeded` where the prompt fits no window, `AnswerWithheld` where one declined, else `ProviderError`.
        """
        failures: list[tuple[Model, ProviderError]] = []
        for model in self._models(turn):
            try:
                told = await self._asked(turn, model)
            except ProviderError as error:
                failures.append((model, error))
                continue
            self._note_failover(turn, failures, model)
            return told
        raise _none_answered(turn, [error for _, error in failures])

    def pass_over(self, turn: Turn, told: Told) -> bool:
        """Ask a model no more that gave no usable answer; whether there is another one."""
        self.passed_over.add(told.model)
        left = self._models(turn)
        if left:
            self._note(
                turn, "failover", f"{told.model} gave no usable answer; {left[0].spec} was asked", model=told.model
            )
        return bool(left)

    def _models(self, turn: Turn) -> list[Model]:
        models = self.services.models.models(turn.role, turn.phase)
        return [model for model in models if model.spec not in self.passed_over]

    async def _asked(self, turn: Turn, model: Model) -> Told:
        """One model's reply, with at most `TOKEN_LIMIT_RETRIES` shorter prompts after one that was too long."""
        await self._recall(model)
        limit, output_tokens = self._limit(turn, model)
        fitted = turn.prompt(limit)
        retries = 0
        while True:
            answer = await self._call(turn, model, fitted.text, output_tokens)
            if "withheld" in answer:
                self.tokens += int(answer["input_tokens"]) + int(answer["output_tokens"])
                raise AnswerWithheld(answer["withheld"], provider=model.spec)
            if "exceeded" not in answer:
                break
            length = len(turn.system) + len(fitted.text)
            tokens = self.counter.tokens(turn.system) + self.counter.tokens(fitted.text)
            known = self.windows.get(model.spec).tokens
            self.windows = self.windows.refused(model.spec, length, tokens, answer["exceeded"]["limit_tokens"])
            self.services.memory.learn(model.spec, self.windows.get(model.spec))
            limit = int(len(fitted.text) * _SHORTER)
            if self.windows.get(model.spec).tokens != known:
                told_limit, output_tokens = self._limit(turn, model)
                limit = min(limit, limit if told_limit is None else told_limit)
            again = turn.prompt(limit)
            if retries == TOKEN_LIMIT_RETRIES or len(again.text) >= len(fitted.text):
                self._note_window(turn, model, retries, answered=False)
                raise _too_long(turn, model, retries, answer["exceeded"])
            fitted, retries = again, retries + 1
        if retries:
            self._note_window(turn, model, retries, answered=True)
        self._note_cuts(turn, model, fitted)
        self.tokens += int(answer["input_tokens"]) + int(answer["output_tokens"])
        return Told(text=str(answer["text"]), cut=bool(answer.get("cut")), fitted=fitted, model=model.spec)

    async def _recall(self, model: Model) -> None:
        """Take over what this process has learned meanwhile of a server whose window nobody told. What was known is
        recorded, so that the same prompt comes of it when the step is run again."""
        if model.in_process or model.window_tokens is not None or "@" not in model.spec:
            return
        memory, spec = self.services.memory, model.spec

        async def read() -> dict[str, int | None]:
            return memory.read(spec)

        told = await self.ctx.call("window", {"model": spec}, read)
        self.windows = self.windows.joined(spec, LearnedWindow.of(told))

    def _limit(self, turn: Turn, model: Model) -> tuple[int | None, int]:
        """How long the user prompt may be for a model, in characters, and the answer, in tokens."""
        settings, learned = self.services.settings, self.windows.get(model.spec)
        limit, output_tokens = None, turn.max_output_tokens
        window = self._window(model)
        if window is not None:
            budget = WindowBudget.of(
                window,
                wanted_output_tokens=turn.max_output_tokens,
                safety_margin=settings.token_safety_margin,
            )
            output_tokens = budget.output_tokens
            limit = self._room(turn, budget)
        if learned.prompt_chars is not None:
            shorter = max(learned.prompt_chars - len(turn.system), 0)
            limit = shorter if limit is None else min(limit, shorter)
        return limit, output_tokens

    def _window(self, model: Model) -> int | None:
        """A model's window in tokens: as its server told it, as it is known, else what is taken for granted; None where
        prompts are not fitted."""
        settings = self.services.settings
        if model.in_process:
            return None
        told = self.windows.get(model.spec).tokens
        if told is not None or not settings.token_management_enabled:
            return told
        own = settings.default_context_tokens if "@" in model.spec else _LARGE_WINDOW_TOKENS
        return model.window_tokens or own

    def _room(self, turn: Turn, budget: WindowBudget) -> int | None:
        """None where the whole prompt fits; else what its own words and as much material as there is room for take."""
        whole = turn.prompt(None).text
        if self.counter.tokens(turn.system) + self.counter.tokens(whole) <= budget.prompt_tokens():
            return None
        least = turn.prompt(0).text
        own = self.counter.tokens(least)
        most = budget.material_tokens(self.counter.tokens(turn.system) + own)
        if whole.isascii():
            return len(least) + self.counter.chars(most, whole)

        def taken(chars: int) -> int:
            return self.counter.tokens(turn.prompt(len(least) + chars).text) - own

        return len(least) + _room_of(most, len(whole) - len(least), self.counter.tokens(whole) - own, taken)

    async def _call(self, turn: Turn, model: Model, user: str, output_tokens: int) -> Mapping[str, Any]:
        shown = _Shown(self.ctx, {"agent": turn.agent, "role": turn.role, "model": model.spec})
        request = ModelRequest(
            agent=turn.agent,
            role=turn.role,
            system=turn.system,
            user=user,
            schema=turn.schema,
            max_output_tokens=output_tokens,
            attempt=turn.attempt,
            material=turn.material,
            on_text=shown.add,
        )
        answer: Mapping[str, Any] = await self.ctx.call("model", _recorded(request, model), _completion(model, request))
        shown.rest()
        count(answer)
        return answer

    def _note_failover(self, turn: Turn, failures: Sequence[tuple[Model, ProviderError]], model: Model) -> None:
        for failed, error in failures:
            reason = f"{failed.spec} did not answer ({type(error).__name__}); {model.spec} did"
            self._note(turn, "failover", reason, model=failed.spec)

    def _note_window(self, turn: Turn, model: Model, retries: int, *, answered: bool) -> None:
        learned = self.windows.get(model.spec)
        told = f"; its window is {learned.tokens:,} tokens" if learned.tokens else ""
        outcome = "and was answered" if answered else "and was refused again"
        again = f"was cut and sent again {_times(retries)} {outcome}" if retries else "could not be cut any further"
        reason = f"a prompt was too long for {model.spec}{told}: it {again}"
        self._note(turn, "window", reason, model=model.spec, retries=retries, window=learned.to_json())

    def _note_cuts(self, turn: Turn, model: Model, fitted: Fitted) -> None:
        self.cuts = fitted.cuts
        if fitted.cuts:
            shown = "; ".join(cut.told() for cut in fitted.cuts)
            reason = f"to fit the window of {model.spec}{self._size(model)} the prompt shows {shown}"
            self._note(turn, "cut", reason, model=model.spec)

    def _size(self, model: Model) -> str:
        """How large a model's window is, and how that is known."""
        learned, window = self.windows.get(model.spec), self._window(model)
        if learned.tokens is None and model.window_tokens is None:
            if learned.prompt_chars is not None:
                return f" (prompts of about {learned.prompt_chars:,} characters, as it showed)"
            return f" (taken for {window:,} tokens; model_context_overrides tells its size)" if window else ""
        return f" ({window:,} tokens)" if window else ""

    def _note(self, turn: Turn, kind: str, reason: str, **more: Any) -> None:
        entry = {"node": self.ctx.path, "agent": turn.agent, "reason": reason, "kind": kind, **more}
        if entry not in self.notes:
            self.notes.append(entry)


def _room_of(most_tokens: int, chars: int, tokens: int, taken: Callable[[int], int]) -> int:
    """How many characters of a material of so many take `most_tokens`, which is less than the whole does. It is looked
    for between what was too little and what too much: what is shown of a material may be in another script than most
    of it."""
    fits, fits_tokens, exceeds, exceeds_tokens = 0, 0, chars, tokens
    for _ in range(_ROOM_TRIES):
        if fits_tokens >= _ROOM_USED * most_tokens or exceeds_tokens <= fits_tokens:
            break
        tried = fits + (exceeds - fits) * (most_tokens - fits_tokens) // (exceeds_tokens - fits_tokens)
        tokens = taken(tried)
        if tokens <= most_tokens:
            fits, fits_tokens = tried, tokens
        else:
            exceeds, exceeds_tokens = tried, tokens
    return fits


def _too_long(turn: Turn, model: Model, retries: int, exceeded: Mapping[str, Any]) -> ContextExceeded:
    cut = f"although it was cut {_times(retries)}" if retries else "and nothing in it can be cut"
    return ContextExceeded(
        f"{turn.agent}: the prompt is too long for {model.spec}, {cut}: {exceeded['message']}",
        provider=model.spec,
        limit_tokens=exceeded["limit_tokens"],
        help="use a model with a larger window for this role, tell this one's in model_context_overrides, "
        "or gather less: max_sub_queries, max_sources_per_query",
    )


def _none_answered(turn: Turn, failures: Sequence[ProviderError]) -> ProviderError:
    """One error for all; worth another try if any of the models was merely unavailable."""
    if len(failures) == 1:
        return failures[0]
    told = "; ".join(str(error) for error in failures) or "none is configured"
    message = f'no model answered {turn.agent} (role "{turn.role}"): {told}'
    for kind in (ProviderUnavailable, ContextExceeded, AnswerWithheld):
        found = next((error for error in failures if isinstance(error, kind)), None)
        if found is not None:
            return kind(message, provider=turn.role, help=found.help or _CHECK_MODELS)
    return ProviderError(message, provider=turn.role, help=_CHECK_MODELS)


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
    """The call as it is recorded. That a prompt was too long is an answer: it will be so again, and what is asked
    next depends on it. So it is that a model declined, which may be paid for."""
    told = {"model": model.spec, "role": request.role, "agent": request.agent}

    async def complete() -> dict[str, Any]:
        try:
            with asking_for("model", role=request.role):
                reply = await model.complete(request)
        except ContextExceeded as error:
            exceeded = {"message": error.message, "limit_tokens": error.limit_tokens}
            return {**told, "text": "", "input_tokens": 0, "output_tokens": 0, "exceeded": exceeded}
        except AnswerWithheld as error:
            counts = {"input_tokens": error.input_tokens, "output_tokens": error.output_tokens}
            return {**told, "text": "", **counts, "withheld": error.message}
        answer = {
            **told,
            "text": reply.text,
            "model": reply.model,
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
        }
        if reply.usage.cached_input_tokens:
            answer["cached_input_tokens"] = reply.usage.cached_input_tokens
        if reply.usage.cost_usd is not None:
            answer["cost_usd"] = reply.usage.cost_usd
        return {**answer, "cut": True} if reply.cut else answer

    return complete


class _Shown:
    """Shows an answer to whoever watches while it is written, a few lines at a time; nothing of it is stored."""

    def __init__(self, ctx: Context, who: Mapping[str, str]) -> None:
        self._ctx = ctx
        self._who = who
        self._waiting: list[str] = []
        self._length = 0

    def add(self, piece: str) -> None:
        """The next piece; shown with those before it once they are long enough together."""
        self._waiting.append(piece)
        self._length += len(piece)
        if self._length >= _SHOWN_EVERY_CHARS:
            self.rest()

    def rest(self) -> None:
        """Show what still waits."""
        if self._waiting:
            self._ctx.progress("model:text", **self._who, text="".join(self._waiting))
        self._waiting, self._length = [], 0


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
