"""A model with scripted answers: for tests, demonstrations, and users' own graphs without a key."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph_research.errors import UserMistake, why_unreadable
from graph_research.providers.clients import Clients
from graph_research.providers.errors import (
    ContextExceeded,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    UnknownModel,
)
from graph_research.providers.llm.base import ModelReply, ModelRequest, estimated
from graph_research.providers.llm.model_spec import ModelSpec
from graph_research.providers.llm.provider_spec import ModelProviderSpec, window_in

_ERRORS: Mapping[str, type[ProviderError]] = {
    "unavailable": ProviderUnavailable,
    "refused": ProviderRefused,
    "context_exceeded": ContextExceeded,
}

_SCRIPT_HELP = (
    'scripted:FILE names a JSON object of lists of answers by agent, such as {"planner": [{"research_brief": …}]}'
)

Reply = Any
"""A text, a JSON value (sent as text), `{"error": NAME, "message": TEXT}`, `{"text": TEXT, "delay_seconds": N}`,
`{"text": TEXT, "cut": true}` for an answer that broke off, an exception, or a function of the request that gives one of
these."""


class ScriptInvalid(UserMistake):
    """A script file that is not an object of lists of replies by agent."""


class ScriptExhausted(ProviderError):
    """An agent asked once more than its script has replies."""


@dataclass
class ScriptedModel:
    """Replies per agent, in order; the last one is given again for ever when `repeat_last` is true.

    The key `"*"` serves agents without a list of their own. `requests` keeps what was asked. Errors are named
    `unavailable`, `refused` and `context_exceeded`. Delays go through `sleep`, so that a test need not wait.
    Usage is counted by characters. It stands in for a remote model: it has a window where one is given, and is not
    `in_process`.
    """

    replies: Mapping[str, Sequence[Reply]]
    spec: str = "scripted"
    repeat_last: bool = True
    window_tokens: int | None = None
    in_process: bool = False
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    requests: list[ModelRequest] = field(default_factory=list, init=False)
    _given: dict[str, int] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_file(cls, path: Path, *, spec: str = "scripted") -> ScriptedModel:
        """A model from a JSON file `{AGENT: [REPLY, …]}`; `ScriptInvalid` says what is wrong with it."""
        try:
            script = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ScriptInvalid(
                f"the model's script cannot be read: {why_unreadable(error)}", help=_SCRIPT_HELP, file=str(path)
            ) from error
        except json.JSONDecodeError as error:
            raise ScriptInvalid(
                f"the model's script is not valid JSON: {error.msg}",
                help=_SCRIPT_HELP,
                file=str(path),
                line=error.lineno,
                column=error.colno,
            ) from error
        if not isinstance(script, dict) or not all(isinstance(replies, list) for replies in script.values()):
            raise ScriptInvalid("the model's script is not a JSON object of lists", help=_SCRIPT_HELP, file=str(path))
        return cls(script, spec=spec)

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The agent's next reply. `ScriptExhausted` where there is none."""
        self.requests.append(request)
        reply = self._next(request)
        if isinstance(reply, Mapping) and "delay_seconds" in reply:
            await self.sleep(float(reply["delay_seconds"]))
            reply = reply.get("text", reply.get("json"))
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Mapping) and "error" in reply:
            raise self._error(reply)
        cut = isinstance(reply, Mapping) and reply.get("cut") is True
        if cut:
            reply = reply["text"]
        text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
        return ModelReply(text=text, usage=estimated(request, text), model=self.spec, cut=cut)

    def asked(self, agent: str) -> list[ModelRequest]:
        """The requests of one agent, in order."""
        return [request for request in self.requests if request.agent == agent]

    def _next(self, request: ModelRequest) -> Reply:
        key = request.agent if request.agent in self.replies else "*"
        replies = self.replies.get(key, ())
        given = self._given.get(key, 0)
        if not replies or (given >= len(replies) and not self.repeat_last):
            raise ScriptExhausted(
                f'the script has {len(replies)} replies for "{request.agent}", which asked once more',
                provider=self.spec,
                help=f'add a reply under "{request.agent}" or "*"',
            )
        self._given[key] = given + 1
        reply = replies[min(given, len(replies) - 1)]
        return reply(request) if callable(reply) else reply

    def _error(self, reply: Mapping[str, Any]) -> ProviderError:
        kind = _ERRORS.get(str(reply["error"]), ProviderError)
        return kind(str(reply.get("message", "as the script says")), provider=self.spec)


def _build(spec: ModelSpec, clients: Clients) -> ScriptedModel:
    if not spec.model:
        raise UnknownModel(f"model {spec.text!r} names no file", help="write it as scripted:FILE")
    path = Path(spec.model)
    model = ScriptedModel.from_file(path, spec=f"scripted:{path.name}")
    model.window_tokens = window_in(spec, clients.settings)
    return model


SPEC = ModelProviderSpec(
    name="scripted",
    usage="scripted:FILE",
    summary="answers from a JSON file, for tests and your own graphs",
    needs="the file",
    build=_build,
)
