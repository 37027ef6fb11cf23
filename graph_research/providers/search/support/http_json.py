"""Asking a search's server: its JSON or XML, or an error that says that it sent something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.http.client import Http
from graph_research.providers.http.endpoint import Endpoint
from graph_research.providers.search.support.json_fields import line, mapping
from graph_research.providers.search.support.xml import XmlRefused, read_xml


async def ask_json(
    http: Http,
    endpoint: Endpoint,
    path: str,
    *,
    holds: Sequence[str],
    params: Mapping[str, str] | None = None,
    json: Any = None,
) -> Mapping[str, Any]:
    """The object that a GET of `params`, or a POST of `json`, was answered with. `ProviderError` where it was none, or
    one without any of the keys `holds`, such as from a proxy that wants a password."""
    reply = await http.ask(endpoint, "GET" if json is None else "POST", path, params=params, json=json)
    try:
        answer = reply.json()
    except ValueError as error:
        raise _unreadable(endpoint, "JSON") from error
    if not isinstance(answer, Mapping) or not any(key in answer for key in holds):
        raise _unreadable(endpoint, "JSON")
    return answer


async def ask_xml(http: Http, endpoint: Endpoint, path: str, *, root: str, params: Mapping[str, str]) -> Element:
    """The element `root` that a GET was answered with. `ProviderError` where it was none."""
    reply = await http.ask(endpoint, "GET", path, params=params)
    try:
        found = read_xml(reply.body)
    except XmlRefused as error:
        raise _unreadable(endpoint, "XML") from error
    if found.tag != root:
        raise _unreadable(endpoint, "XML")
    return found


def message_in(body: Any, *path: str) -> str:
    """The server's own words in an error's JSON, found over `path`; empty where there are none."""
    found: Any = body
    for key in path:
        found = mapping(found).get(key)
    return line(found)[:200]


def _unreadable(endpoint: Endpoint, what: str) -> ProviderUnavailable:
    return ProviderUnavailable(
        f"{endpoint.name} answered with something that is not the {what} it documents",
        provider=endpoint.name,
        help="try again later; if it stays so, leave this search out",
    )
