"""The base of the searches that ask a server over HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from xml.etree.ElementTree import Element

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.http.client import Http
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.providers.search.support.json_fields import line, mapping
from graph_research.providers.search.support.xml import XmlRefused, read_xml


@dataclass(frozen=True, kw_only=True)
class HttpSearch(ABC):
    """A `SearchProvider` at one endpoint. Subclasses set `name` and `serves`."""

    name: ClassVar[str]
    serves: ClassVar[frozenset[str]]
    http: Http = field(repr=False)
    endpoint: Endpoint

    @abstractmethod
    async def search(self, request: SearchRequest) -> Sequence[SearchHit]: ...

    async def ask_json(
        self, path: str, *, holds: Sequence[str], params: Mapping[str, str] | None = None, json: Any = None
    ) -> Mapping[str, Any]:
        """The JSON object in the response to a GET of `params`, or a POST of `json`. Raises `ProviderUnavailable` if
        it has none of the keys `holds`, such as the page of a proxy that asks for a password."""
        response = await self.http.ask(self.endpoint, "GET" if json is None else "POST", path, params=params, json=json)
        try:
            answer = response.json()
        except ValueError as error:
            raise self._unreadable("JSON") from error
        if not isinstance(answer, Mapping) or not any(key in answer for key in holds):
            raise self._unreadable("JSON")
        return answer

    async def ask_xml(self, path: str, *, root: str, params: Mapping[str, str]) -> Element:
        """The root element of the response to a GET. Raises `ProviderUnavailable` if its name is not `root`."""
        response = await self.http.ask(self.endpoint, "GET", path, params=params)
        try:
            element = read_xml(response.body)
        except XmlRefused as error:
            raise self._unreadable("XML") from error
        if element.tag != root:
            raise self._unreadable("XML")
        return element

    def _unreadable(self, format: str) -> ProviderUnavailable:
        return ProviderUnavailable(
            f"{self.endpoint.name} answered with something that is not the {format} it documents",
            provider=self.endpoint.name,
            help="try again later; if it stays so, leave this search out",
        )


def message_in(body: Any, *path: str) -> str:
    """The error message at `path` in a response's JSON, at most 200 characters; empty if there is none."""
    for key in path:
        body = mapping(body).get(key)
    return line(body)[:200]
