"""Model failover: a role's models in turn, each with the prompt fitted to its window, until an answer can be used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from graph_research.graph.context import Context
from graph_research.providers.call_kind import CallKind
from graph_research.providers.errors import (
    AnswerWithheld,
    BudgetReached,
    ContextExceeded,
    ProviderError,
    ProviderUnavailable,
)
from graph_research.providers.http.telemetry import request_purpose
from graph_research.providers.llm.base import Model, ModelRequest
from graph_research.research.llm.context_windows import SHORTER, LearnedWindow, window_tokens
from graph_research.research.llm.phase_budget import phase_share
from graph_research.research.llm.prompt_fitting import FittedPrompt, PromptLimit
from graph_research.research.llm.services import Services
from graph_research.research.llm.usage import count
from graph_research.research.models.degradation import DegradationKind
from graph_research.text.tokens import WindowBudget, count_tokens

TOKEN_LIMIT_RETRIES = 3
"""How often a prompt that is too long is shortened and sent again to one model in one call of an agent."""

_SHOWN_EVERY_CHARS = 200
_CHECK_MODELS = "check the keys and addresses of its models"


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """A reply that is sent back, and what is wrong with it. `is_usable`: it can be used as it is."""

    reply: str
    problem: str
    is_usable: bool = False


@dataclass(frozen=True, kw_only=True)
class PromptRequest:
    """What is asked of whichever model answers. `prompt` gives the user prompt within a limit, with the model's
    rejected reply in a repair turn; the system prompt is never shortened."""

    agent: str
    role: str
    phase: str
    system: str
    prompt: Callable[[Rejection | None, PromptLimit], FittedPrompt]
    schema: Mapping[str, Any] | None
    max_output_tokens: int
    material: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The reply to `prompt` that is used: its `value`, or None and the `problem`. A value may have a `problem`, too.
    `before` is the value that was sent back for its problem. `turns` counts all replies."""

    text: str
    prompt: FittedPrompt
    value: dict[str, Any] | None
    problem: str
    turns: int
    in_process: bool
    model: str = ""
    broke_off: bool = False
    """The reply ends before the answer does; the value is what could be read until there."""
    before: dict[str, Any] | None = None


@dataclass(kw_only=True)
class ModelSession:
    """One agent's requests in one call. It collects the tokens used, what was learned of windows, and `notes` for the
    state's `degraded` channel: failures of models, windows that were too small, and prompts that were shortened."""

    services: Services
    ctx: Context
    windows: defaultdict[str, LearnedWindow] = field(default_factory=lambda: defaultdict(LearnedWindow))
    tokens: int = 0
    notes: list[dict[str, Any]] = field(default_factory=list)
    _shortened: Counter[str] = field(default_factory=Counter)

    async def ask(
        self, request: PromptRequest, read: Callable[[str, bool], tuple[dict[str, Any] | None, str]], *, turns: int = 1
    ) -> Answer:
        """Ask the role's models one after the other, each at most `turns` times, until `read` finds a value in a reply.

        `read` gives the value, or None and what is wrong; a wrong reply is sent back with that. A value with a problem
        is sent back once where a turn is left, but not to a model in this process, and kept where no whole value comes
        of that. What is complete JSON (`read`'s second argument) in no reply has broken off: it is sent back while a
        turn is left, and what can be read of it is kept where nothing better comes of that. Where some model replied
        but none usably, the last answer has no value. Where none replied one error is raised for all of them:
        `ProviderUnavailable` where a later try may help, `ContextExceeded` where the prompt fits no window,
        `AnswerWithheld` where one declined, else `ProviderError`.
        """
        failures: list[tuple[Model, ProviderError]] = []
        answer: Answer | None = None
        unusable = ""
        for model in self.services.models.models(request.role, request.phase):
            name = self._name(model)
            if unusable:
                reason = f"{unusable} gave no usable answer; {name} was asked"
                self._note(request, DegradationKind.FAILOVER, reason, model=unusable)
            rejection = None
            kept: Answer | None = None
            for turn in range(1, turns + 1):
                try:
                    reply, prompt = await self._reply(request, model, turn, rejection)
                except ProviderError as error:
                    failures.append((model, error))
                    break
                for failed, failure in failures:
                    reason = f"{self._name(failed)} did not answer ({type(failure).__name__}); {name} did"
                    self._note(request, DegradationKind.FAILOVER, reason, model=self._name(failed))
                count_of_turns = answer.turns + 1 if answer else 1
                answer = _read_reply(reply, prompt, model, name, read, turns=count_of_turns, is_last=turn == turns)
                if kept is not None and not kept.broke_off:
                    return _better(kept, answer)
                is_usable = answer.value is not None
                if is_usable and (not answer.problem or turn == turns or model.in_process):
                    return answer
                kept = answer if is_usable else kept
                unusable = name
                is_whole = is_usable and not answer.broke_off
                rejection = Rejection(reply=answer.text, problem=answer.problem, is_usable=is_whole)
            if kept is not None and answer is not None:
                return replace(kept, turns=answer.turns)
        if answer is None:
            refused = _none_answered(request, [error for _, error in failures])
            refused.message = self.services.models.without_addresses(refused.message)
            raise refused
        return answer

    async def _reply(
        self, request: PromptRequest, model: Model, turn: int, rejection: Rejection | None
    ) -> tuple[Mapping[str, Any], FittedPrompt]:
        """One model's recorded reply, and the prompt it replied to. A prompt that is too long is shortened by a tenth,
        or at once to the limit that the server reports, at most `TOKEN_LIMIT_RETRIES` times for this model."""
        fitted, off_loop = partial(self._fitted, request, model, rejection), self.services.prompts.off_loop
        prompt, output_tokens = await off_loop(partial(fitted, None))
        name, retries = self._name(model), 0
        while "exceeded" in (reply := await self._call(request, model, prompt.text, output_tokens, turn)):
            exceeded, learned = reply["exceeded"], self.windows[name]
            self.windows[name] = learned.refused(request.system, prompt.text, exceeded["limit_tokens"])
            shorter, output_tokens = await off_loop(partial(fitted, int(len(prompt.text) * SHORTER)))
            most = TOKEN_LIMIT_RETRIES if self.services.settings.token_limit_recovery else 0
            if self._shortened[name] >= most or len(shorter.text) >= len(prompt.text):
                self._note_window(request, model, retries, answered=False)
                raise _too_long(request, model, retries, exceeded)
            prompt, retries = shorter, retries + 1
            self._shortened[name] += 1
        if "withheld" in reply:
            raise AnswerWithheld(reply["withheld"], provider=model.spec)
        if retries:
            self._note_window(request, model, retries, answered=True)
        if prompt.truncations:
            shown = "; ".join(filter(None, (lack.description() for lack in prompt.truncations))) or "less"
            reason = f"to fit the window of {name}{self._size(model)} the prompt shows {shown}"
            self._note(request, DegradationKind.CUT, reason, model=name)
        return reply, prompt

    def _fitted(
        self, request: PromptRequest, model: Model, rejection: Rejection | None, most_chars: int | None
    ) -> tuple[FittedPrompt, int]:
        """The prompt within the model's window and `most_chars`, and how many tokens its answer may take."""
        prompt = partial(request.prompt, rejection)
        accepted = self.windows[self._name(model)].prompt_chars
        limits = (most_chars, None if accepted is None else max(accepted - len(request.system), 0))
        limit = PromptLimit(chars=min((chars for chars in limits if chars is not None), default=None))
        window = self._window(model)
        if window is None:
            return prompt(limit), request.max_output_tokens
        budget = WindowBudget.of(
            window,
            wanted_output_tokens=request.max_output_tokens,
            safety_margin=self.services.settings.token_safety_margin,
        )
        system_tokens = count_tokens(request.system)
        phase_tokens = int(budget.prompt_tokens() * phase_share(request.role, request.phase))
        limit = replace(limit, tokens=min(phase_tokens, budget.prompt_tokens() - system_tokens))
        if not limit.holds(prompt(PromptLimit()).text):
            own_tokens = count_tokens(prompt(PromptLimit(chars=0)).text)
            material_tokens = min(phase_tokens, budget.material_tokens(system_tokens + own_tokens))
            limit = replace(limit, tokens=own_tokens + material_tokens)
        return prompt(limit), budget.output_tokens

    def _window(self, model: Model) -> int | None:
        return window_tokens(self.services.settings, model, self.windows[self._name(model)])

    def _name(self, model: Model) -> str:
        return self.services.models.name_of(model)

    async def _call(
        self, request: PromptRequest, model: Model, user: str, output_tokens: int, turn: int
    ) -> Mapping[str, Any]:
        """The recorded reply. Of the request all is recorded but the material, which never leaves the process."""
        stream = _AnswerStream(self.ctx, {"agent": request.agent, "role": request.role, "model": model.spec})
        recorded: dict[str, Any] = {
            "agent": request.agent,
            "role": request.role,
            "model": model.spec,
            "system": request.system,
            "user": user,
            "schema": None if request.schema is None else dict(request.schema),
            "max_output_tokens": output_tokens,
            "attempt": turn,
        }
        sent = {name: value for name, value in recorded.items() if name != "model"}
        complete = partial(_complete, model, ModelRequest(**sent, material=request.material, on_text=stream.add))
        reply: Mapping[str, Any] = await self.ctx.call(CallKind.MODEL.value, recorded, complete)
        stream.flush()
        count(reply)
        self.tokens += int(reply["input_tokens"]) + int(reply["output_tokens"])
        return reply

    def _note_window(self, request: PromptRequest, model: Model, retries: int, *, answered: bool) -> None:
        name = self._name(model)
        learned = self.windows[name]
        size = f"; its window is {learned.tokens:,} tokens" if learned.tokens else ""
        outcome = "and was answered" if answered else "and was refused again"
        again = f"was cut and sent again {_times(retries)} {outcome}" if retries else "could not be cut any further"
        reason = f"a prompt was too long for {name}{size}: it {again}"
        self._note(request, DegradationKind.WINDOW, reason, model=name, retries=retries, window=learned.to_json())

    def _size(self, model: Model) -> str:
        """How large a model's window is, and how that is known."""
        learned, window = self.windows[self._name(model)], self._window(model)
        if learned.tokens is None and model.window_tokens is None:
            if learned.prompt_chars is not None:
                return f" (prompts of about {learned.prompt_chars:,} characters, as its refusals showed)"
            return f" (assumed to be {window:,} tokens)" if window else ""
        return f" ({window:,} tokens)" if window else ""

    def _note(self, request: PromptRequest, kind: DegradationKind, reason: str, **more: Any) -> None:
        entry = {"node": self.ctx.path, "agent": request.agent, "reason": reason, "kind": kind.value, **more}
        if entry not in self.notes:
            self.notes.append(entry)


def _read_reply(
    reply: Mapping[str, Any],
    prompt: FittedPrompt,
    model: Model,
    name: str,
    read: Callable[[str, bool], tuple[dict[str, Any] | None, str]],
    *,
    turns: int,
    is_last: bool,
) -> Answer:
    """A reply, read; one that broke off as far as it goes. Not every server says that a reply did: JSON that only a
    repair closes is not whole."""
    text, cut = str(reply["text"]), bool(reply.get("cut"))
    value, problem = read(text, True)
    broke_off = False
    if value is None:
        value, problem_of_part = read(text, False)
        broke_off = cut or value is not None
        if broke_off and is_last:
            problem = problem_of_part
        elif broke_off:
            problem = f"it broke off; say the same in a shorter whole ({problem})"
    return Answer(
        text=text,
        prompt=prompt,
        value=value,
        problem=problem,
        turns=turns,
        in_process=model.in_process,
        model=name,
        broke_off=broke_off,
    )


def _better(kept: Answer, answer: Answer) -> Answer:
    """The answer to a value that was sent back, or that value where the answer has none or broke off."""
    if answer.value is None or answer.broke_off:
        return replace(kept, turns=answer.turns)
    return replace(answer, before=kept.value)


def _too_long(request: PromptRequest, model: Model, retries: int, exceeded: Mapping[str, Any]) -> ContextExceeded:
    cut = f"although it was cut {_times(retries)}" if retries else "and nothing in it can be cut"
    return ContextExceeded(
        f"{request.agent}: the prompt is too long for {model.spec}, {cut}: {exceeded['message']}",
        provider=model.spec,
        limit_tokens=exceeded["limit_tokens"],
        help="use a model with a larger window for this role, set this one's in model_context_overrides, "
        "or gather less: max_sub_queries, max_sources_per_query",
    )


def _none_answered(request: PromptRequest, failures: Sequence[ProviderError]) -> ProviderError:
    """One error for all; worth another try if any of the models was merely unavailable."""
    if len(failures) == 1:
        return failures[0]
    reasons = "; ".join(str(error) for error in failures) or "none is configured"
    message = f'no model answered {request.agent} (role "{request.role}"): {reasons}'
    reached = next((error for error in failures if isinstance(error, BudgetReached)), None)
    if reached is not None:
        return reached
    for kind in (ProviderUnavailable, ContextExceeded, AnswerWithheld):
        error = next((error for error in failures if isinstance(error, kind)), None)
        if error is not None:
            return kind(message, provider=request.role, help=error.help or _CHECK_MODELS)
    return ProviderError(message, provider=request.role, help=_CHECK_MODELS)


async def _complete(model: Model, request: ModelRequest) -> dict[str, Any]:
    """The reply as it is recorded. A prompt that was too long and a model that declined are recorded as replies, since
    the next request depends on them and a declined one may be paid for."""
    origin = {"model": model.spec, "role": request.role, "agent": request.agent}
    try:
        with request_purpose("model", role=request.role):
            reply = await model.complete(request)
    except ContextExceeded as error:
        exceeded = {"message": error.message, "limit_tokens": error.limit_tokens}
        return {**origin, "text": "", "input_tokens": 0, "output_tokens": 0, "exceeded": exceeded}
    except BudgetReached:
        raise  # as a failed call: a run that goes on with more asks again
    except AnswerWithheld as error:
        counts = {"input_tokens": error.input_tokens, "output_tokens": error.output_tokens}
        return {**origin, "text": "", **counts, "withheld": error.message}
    usage = reply.usage
    counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
    optional = {
        "cached_input_tokens": usage.cached_input_tokens or None,
        "cost_usd": usage.cost_usd,
        "cut": reply.cut or None,
        "shared": reply.shared or None,
    }
    recorded = {**origin, "text": reply.text, "model": reply.model, **counts}
    return recorded | {name: value for name, value in optional.items() if value is not None}


class _AnswerStream:
    """Emits an answer's text while it is written, in pieces of a few lines; nothing of it is stored."""

    def __init__(self, ctx: Context, origin: Mapping[str, str]) -> None:
        self._ctx = ctx
        self._origin = origin
        self._text = ""

    def add(self, piece: str) -> None:
        """The next piece of the answer."""
        self._text += piece
        if len(self._text) >= _SHOWN_EVERY_CHARS:
            self.flush()

    def flush(self) -> None:
        """Emit the text that was not emitted yet."""
        if self._text:
            self._ctx.progress("model:text", **self._origin, text=self._text)
        self._text = ""


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
