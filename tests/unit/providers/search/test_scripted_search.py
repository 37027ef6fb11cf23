"""The scripted search: hits, errors and delays of the script, requests recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graph_research.providers.errors import ProviderRefused, ProviderUnavailable
from graph_research.providers.search.base import SearchRequest
from graph_research.providers.search.scripted import ScriptedSearch, SearchScriptInvalid

SCRIPT = """
- match: turbine
  hits:
    - {url: "https://example.org/a", html: "<h1>Turbines</h1><p>There are sixteen turbines.</p>", tier: SECONDARY}
    - {text: "Turbines stop at night.", title: Night, published_at: 2020-01-02, authors: [A. Name], relevance: 0.2}
- {match: "cost|price", error: unavailable, message: try later, times: 1}
- {match: cost, hits: [{markdown: "# Cost\\n\\nIt was *dear*."}], delay_seconds: 3}
- {match: secret, error: refused}
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "search.yaml"
    path.write_text(SCRIPT)
    return path


async def test_the_first_answer_that_matches_is_given(script: Path) -> None:
    search = ScriptedSearch.from_file(script)
    first, second = await search.search(SearchRequest(query="How many TURBINES?"))
    assert (first.title, first.tier, first.content_type) == ("Turbines", "SECONDARY", "text/html")
    assert (second.title, second.published_at, second.authors) == ("Night", "2020-01-02", ("A. Name",))
    assert (first.relevance, second.relevance) == (1.0, 0.2)
    assert first.document.text == "Turbines There are sixteen turbines."
    assert await search.search(SearchRequest(query="birds")) == []
    assert len(await search.search(SearchRequest(query="turbines", max_results=1))) == 1
    assert [request.query for request in search.requests] == ["How many TURBINES?", "birds", "turbines"]


async def test_an_error_is_raised_as_often_as_scripted_and_delays_are_waited(script: Path) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    search = ScriptedSearch.from_file(script)
    search.sleep = sleep
    with pytest.raises(ProviderUnavailable, match="try later"):
        await search.search(SearchRequest(query="the cost"))
    [hit] = await search.search(SearchRequest(query="the cost of it all"))
    assert (hit.title, hit.snippet, slept) == ("Cost", "Cost It was dear.", [3.0])
    with pytest.raises(ProviderRefused):
        await search.search(SearchRequest(query="secret"))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["x"], "answer 1: it is not a mapping"),
        ([{}, {"hit": []}], "answer 2: unknown key 'hit'"),
        ([{"error": "boom"}], "unknown error 'boom'"),
        ([{"match": "("}], "not a regular expression"),
        ([{"hits": [{"url": "x"}]}], "one of text, markdown and html"),
        ([{"hits": [{"text": "x", "html": "y"}]}], "one of text, markdown and html"),
        ([{"hits": [{"text": "x", "titel": "y"}]}], "unknown key 'titel'"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused(answers: list[Any], message: str) -> None:
    with pytest.raises(SearchScriptInvalid, match=message):
        ScriptedSearch(answers)


@pytest.mark.parametrize("text", ["{a: 1}", "- [", "- {error: boom}"])
def test_a_bad_script_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "search.yaml"
    path.write_text(text)
    with pytest.raises(SearchScriptInvalid) as caught:
        ScriptedSearch.from_file(path)
    assert caught.value.file == str(path)
