"""The base of the models that are called over HTTP."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from graph_research.providers.errors import AnswerWithheld, ProviderUnavailable
from graph_research.providers.http.client import Http
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.http.health_check import Probe
from graph_research.providers.llm.base import ModelReply, ModelRequest, Usage
from graph_research.providers.llm.error_mapping import ConstraintFailed, ErrorMapper, ParameterRefused
from graph_research.providers.llm.sse import events_of

_MOST_REQUESTS = 12
"""More than there are parameters to leave out, one after the other."""

_Answer = TypeVar("_Answer", bound="Gathered")
_Model = TypeVar("_Model", bound="ResponseModel")


class Gathered(Protocol):
    """An answer as it arrives."""

    @property
    def is_complete(self) -> bool: ...


class ResponseModel(BaseModel):
    """Base of the pydantic models of a server's responses; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True, defer_build=True)


@dataclass(frozen=True, kw_only=True)
class HttpModelConfig:
    """One model of one server.

    `effort` is the effort of reasoning where the user wants a certain one. `key_name` is the variable that the peer's
    key stands in, for messages. `official` is true at the provider's own server.
    """

    http: Http
    endpoint: Endpoint
    spec: str
    model: str
    window_tokens: int | None = None
    effort: str | None = None
    key_name: str = ""
    official: bool = False


class HttpModel(ABC, Generic[_Answer]):
    """A `Model` whose subclasses implement one protocol. Requests go to `path`; `answer` gathers what arrives.

    `optional` maps each optional parameter to a pattern of the errors about it. A parameter that the server refuses is
    left out from then on, for the lifetime of the model object.
    """

    in_process = False
    protocol_name: ClassVar[str]
    optional: ClassVar[Mapping[str, re.Pattern[str]]]
    answer: ClassVar[type[Any]]
    path: str
    models_path: ClassVar[str]
    models_params: ClassVar[Mapping[str, str]] = {}

    def __init__(self, config: HttpModelConfig) -> None:
        self._errors = ErrorMapper(
            provider=config.endpoint.name, model=config.model, key_name=config.key_name, parameters=self.optional
        )
        self._http = config.http
        self._endpoint = replace(config.endpoint, classify=self._errors)
        self.spec = config.spec
        self.window_tokens = config.window_tokens
        self._model = config.model
        self._effort = config.effort
        self._left_out: set[str] = set()

    @property
    def probe(self) -> Probe:
        """A request that shows that the server answers and takes the key: for its list of models."""
        return Probe(
            endpoint=self._endpoint,
            path=self.models_path,
            params=self.models_params,
            tells_key=bool(self._endpoint.secrets),
        )

    async def complete(self, request: ModelRequest) -> ModelReply:
        """The reply. A request that the server refuses for a parameter is sent again without it; one whose answer the
        server could not fit to the schema is sent again without the schema."""
        constrained = request.schema is not None
        for _ in range(_MOST_REQUESTS):
            body = self._body(request, constrained=constrained)
            try:
                return self._reply(await self._gathered(body, request.on_text), request)
            except ParameterRefused as refusal:
                if not self._leave_out(refusal.parameter, body):
                    raise
            except ConstraintFailed:
                if not constrained:
                    raise
                constrained = False
        raise ProviderUnavailable(
            f"{self._endpoint.name} refuses one parameter after the other", provider=self._endpoint.name
        )

    async def _gathered(self, body: dict[str, Any], on_text: Callable[[str], None] | None) -> _Answer:
        """The answer, streamed where `on_text` takes its pieces."""
        answer: _Answer = self.answer()
        if on_text is None:
            self._take(answer, await self._post(body), None)
            return answer
        async with aclosing(events_of(self._stream(body), self._endpoint.name)) as events:
            async for event in events:
                self._take(answer, event, on_text)
        if not answer.is_complete:
            raise self._endpoint.unavailable("the answer broke off")
        return answer

    def _leave_out(self, parameter: str, body: Mapping[str, Any]) -> bool:
        """Leave a parameter out from now on; false if this request did not have it."""
        if parameter in self._left_out or parameter not in self._parameters_of(body):
            return False
        self._left_out.add(parameter)
        return True

    def _parameters_of(self, body: Mapping[str, Any]) -> set[str]:
        return set(body)

    async def _post(self, body: Mapping[str, Any]) -> Any:
        """The JSON value in the response."""
        response = await self._http.ask(self._endpoint, "POST", self.path, json=body)
        try:
            return response.json()
        except ValueError as error:
            raise self._unreadable() from error

    def _parsed(self, model: type[_Model], loaded: Any) -> _Model:
        """A part of a response. `ProviderUnavailable` where it does not fit the protocol."""
        try:
            return model.model_validate(loaded)
        except ValidationError as error:
            raise self._unreadable() from error

    def _unreadable(self) -> ProviderUnavailable:
        return self._endpoint.unavailable(f"the answer is not in the format of {self.protocol_name}")

    def _withheld(self, what: str, usage: Usage) -> AnswerWithheld:
        return AnswerWithheld(
            f"{self.spec} {what}",
            provider=self._endpoint.name,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
        )

    @abstractmethod
    def _body(self, request: ModelRequest, *, constrained: bool) -> dict[str, Any]:
        """The request body; with `constrained`, the server enforces the request's schema."""

    @abstractmethod
    def _stream(self, body: dict[str, Any]) -> AsyncIterator[str]:
        """The lines of the answer to a request for a streamed one."""

    @abstractmethod
    def _take(self, answer: _Answer, loaded: Any, on_text: Callable[[str], None] | None) -> None:
        """Add a whole answer, or an event of a streamed one, None for `[DONE]`."""

    @abstractmethod
    def _reply(self, answer: _Answer, request: ModelRequest) -> ModelReply: ...
