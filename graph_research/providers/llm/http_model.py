"""A model that a server answers for over HTTP: what the adapters of all protocols have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from graph_research.providers.http.client import Http, Peer
from graph_research.providers.llm.error_mapping import ErrorMapper

__all__ = ["HttpModel", "HttpModelConfig"]


@dataclass(frozen=True, kw_only=True)
class HttpModelConfig:
    """One model of one server.

    `effort` is the effort of reasoning where the user wants a certain one. `key_name` is the variable that the peer's
    key stands in, for messages.
    """

    http: Http
    peer: Peer
    spec: str
    model: str
    window_tokens: int | None = None
    effort: str | None = None
    key_name: str = ""


class HttpModel:
    """A `Model` but for the asking. `parameters` are those that a request can do without where an error's words match;
    what the server refused is left out from then on, for as long as the model object lives."""

    in_process = False

    def __init__(self, service: HttpModelConfig, parameters: Mapping[str, re.Pattern[str]], left_out: set[str]) -> None:
        peer, model = service.peer, service.model
        self._http = service.http
        self._errors = ErrorMapper(peer.name, model=model, key_name=service.key_name, parameters=parameters)
        self._peer = replace(peer, classify=self._errors)
        self._service = service
        self._spec = service.spec
        self._model = model
        self._effort = service.effort
        self._left_out = left_out

    @property
    def spec(self) -> str:
        return self._spec

    @property
    def window_tokens(self) -> int | None:
        return self._service.window_tokens
