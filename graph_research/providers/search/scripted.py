"""A search with scripted results: for tests, demonstrations, and users' own graphs without a network."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from graph_research.errors import UserMistake, why_unreadable
from graph_research.providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.search.base import SOURCE_TYPES, Passage, SearchHit, SearchRequest
from graph_research.providers.search.support.hit import find_passages
from graph_research.text.readers import READERS

_ERRORS: Mapping[str, type[ProviderError]] = {"unavailable": ProviderUnavailable, "refused": ProviderRefused}
_FORMS: Mapping[str, str] = {"text": "text/plain", "markdown": "text/markdown", "html": "text/html"}
_FACTS = ("tier", "publisher", "published_at", "doi")
_HIT_KEYS = frozenset({*_FORMS, *_FACTS, "url", "title", "authors", "snippet", "relevance", "metadata"})
_ANSWER_KEYS = frozenset({"match", "hits", "error", "message", "delay_seconds", "times"})
_SNIPPET_CHARS = 400
_SCRIPT_HELP = "scripted:FILE names a YAML or JSON list of answers, such as - {match: turbine, hits: [{text: …}]}"


class SearchScriptInvalid(UserMistake):
    """A script that is not a list of answers."""

    code = "script-invalid"


@dataclass
class ScriptedSearch:
    """The first answer whose `match` (a regular expression, in small or capital letters) is found in the query.

    An answer is `{match, hits: [HIT, …]}` or `{match, error: unavailable | refused, message}`, either with
    `delay_seconds`, and with `times: N` to be passed over after N uses; without `match` it serves every query. A hit
    has `text`, `markdown` or `html`, and optionally url, title, tier, publisher, authors, published_at, doi, snippet,
    relevance and metadata. A query that nothing matches finds nothing. `requests` keeps what was asked. Delays go
    through `sleep`, so that a test need not wait.
    """

    answers: Sequence[Mapping[str, Any]]
    name: str = "scripted"
    serves: frozenset[str] = SOURCE_TYPES
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    requests: list[SearchRequest] = field(default_factory=list, init=False)
    _used: dict[int, int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        for number, answer in enumerate(self.answers, start=1):
            _check(answer, number)

    @classmethod
    def from_file(cls, path: Path, *, name: str = "scripted") -> ScriptedSearch:
        """A search from a YAML or JSON file, a list of answers; `SearchScriptInvalid` says what is wrong with it."""
        try:
            script = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise SearchScriptInvalid(
                f"the search's script cannot be read: {why_unreadable(error)}", help=_SCRIPT_HELP, file=str(path)
            ) from error
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = getattr(error, "problem", None) or "it holds a control character"
            raise SearchScriptInvalid(
                f"the search's script is not valid YAML: {problem}",
                help=_SCRIPT_HELP,
                file=str(path),
                line=mark and mark.line + 1,
                column=mark and mark.column + 1,
            ) from error
        if not isinstance(script, list):
            raise SearchScriptInvalid("the search's script is not a list", help=_SCRIPT_HELP, file=str(path))
        try:
            return cls(script, name=name)
        except SearchScriptInvalid as error:
            raise SearchScriptInvalid(error.message, help=error.help, file=str(path)) from error

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """The hits of the answer, best first, at most as many as were asked for; its error is raised."""
        self.requests.append(request)
        answer = self._next(request.query)
        if delay := answer.get("delay_seconds"):
            await self.sleep(float(delay))
        if error := answer.get("error"):
            message = answer.get("message", f"the script says {error}")
            raise _ERRORS[error](f"{self.name}: {message}", provider=self.name)
        return [self._hit(hit, request, rank) for rank, hit in enumerate(answer.get("hits", []))][: request.max_results]

    def _next(self, query: str) -> Mapping[str, Any]:
        for number, answer in enumerate(self.answers):
            used = self._used.get(number, 0)
            if used < answer.get("times", used + 1) and re.search(answer.get("match", ""), query, re.IGNORECASE):
                self._used[number] = used + 1
                return answer
        return {}

    def _hit(self, hit: Mapping[str, Any], request: SearchRequest, rank: int) -> SearchHit:
        [kind] = _FORMS.keys() & hit.keys()
        document = READERS[_FORMS[kind]](hit[kind])
        passages = find_passages(document, request.query)
        first = passages[0] if passages else Passage(start=0, end=_SNIPPET_CHARS, score=0.0)
        return SearchHit(
            provider=self.name,
            title=hit.get("title") or document.title,
            url=hit.get("url"),
            snippet=hit.get("snippet") or document.text[first.start : first.end],
            relevance=float(hit.get("relevance", 1 / (1 + rank))),
            document=document,
            passages=passages,
            authors=tuple(hit.get("authors", ())),
            content_type=_FORMS[kind],
            metadata=dict(hit.get("metadata", {})),
            **{name: None if hit.get(name) is None else str(hit[name]) for name in _FACTS},
        )


def _check(answer: object, number: int) -> None:
    """Raise `SearchScriptInvalid` for an answer that cannot be given."""
    problem = _problem(answer)
    if problem:
        raise SearchScriptInvalid(f"answer {number}: {problem[0]}", help=problem[1])


def _problem(answer: object) -> tuple[str, str] | None:
    if not isinstance(answer, Mapping):
        return "it is not a mapping", "such as {match: turbine, hits: [{text: …}]}"
    if unknown := sorted(map(str, answer.keys() - _ANSWER_KEYS)):
        return f"unknown key {unknown[0]!r}", f"known are {', '.join(sorted(_ANSWER_KEYS))}"
    if answer.get("error") not in (None, *_ERRORS):
        return f"unknown error {answer['error']!r}", f"known are {', '.join(_ERRORS)}"
    try:
        re.compile(str(answer.get("match", "")))
    except re.error as error:
        return f"`match` is not a regular expression: {error}", "put a backslash before signs that are meant literally"
    for hit in answer.get("hits", []):
        if not isinstance(hit, Mapping) or len(_FORMS.keys() & hit.keys()) != 1:
            return "a hit needs one of text, markdown and html", "such as {text: 'The lagoon has 16 turbines.'}"
        if unknown := sorted(map(str, hit.keys() - _HIT_KEYS)):
            return f"a hit has the unknown key {unknown[0]!r}", f"known are {', '.join(sorted(_HIT_KEYS))}"
    return None
