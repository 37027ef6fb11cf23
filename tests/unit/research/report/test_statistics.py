"""The numbers of gathering in a report, and what it says was lost."""

from __future__ import annotations

from typing import Any

from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.limitations import about_the_gathering
from graph_research.research.report.model import SearchUse
from graph_research.research.report.statistics import gathering_of

ENGLISH = labels_for("en")


def account(**more: Any) -> dict[str, Any]:
    return {"asked": ["web"], "skipped": [], "withheld": [], "pages_read": [], "pages_failed": [], **more}


def failure(provider: str) -> dict[str, str]:
    return {"provider": provider, "query": "q", "error": "ProviderUnavailable", "message": "m"}


def text(n: int, *, done: bool = True, dropped: int = 0) -> dict[str, Any]:
    return {"hash": f"sha256:{n}", "done": done, "excerpts_dropped": dropped}


STATE = {
    "searches": [
        account(asked=["web", "local"], skipped=["arxiv"], pages_read=["a", "b"], pages_failed=["d", "c"]),
        account(asked=["local"], skipped=["web", "arxiv"], withheld=["secret"]),
        account(asked=[], pages_read=["b", "c"], pages_failed=["d"]),
    ],
    "search_failures": [failure("web"), failure("fetch"), failure("all")],
    "condensed": [
        {"kind": "summary", "texts": [text(1, dropped=2), text(2), text(3)]},
        {"kind": "summary", "texts": [text(2), text(4), text(5, done=False)]},
        {"kind": "compression", "done": False},
    ],
    "topics": [{"duplicates_skipped": 4, "source_ids": ["a", "b"]}, {"duplicates_skipped": 1, "source_ids": ["b"]}],
}


def test_each_search_says_how_often_it_was_asked_failed_and_was_skipped() -> None:
    gathered = gathering_of(STATE, ["local", "scripted:/a/file.yaml"])
    assert gathered.searches == [
        SearchUse(provider="local", asked=3, failed=1, skipped=0),
        SearchUse(provider="scripted", asked=1, failed=1, skipped=0),
        SearchUse(provider="web", asked=2, failed=2, skipped=1),
        SearchUse(provider="arxiv", asked=1, failed=1, skipped=2),
    ]
    assert (gathered.duplicates_skipped, gathered.queries_limited) == (6, 1)
    assert (gathered.pages_read, gathered.pages_failed) == (3, 1)
    assert (gathered.sources_summarized, gathered.summaries_failed, gathered.excerpts_dropped) == (4, 1, 2)
    assert (gathered.topics_compressed, gathered.compressions_failed) == (0, 1)


def test_what_was_lost_has_a_sentence_each() -> None:
    assert about_the_gathering(gathering_of(STATE), ENGLISH) == [
        "Pages that could not be read, so that search results were used instead: 1 of 4.",
        "Web searches from which words that occur only in local documents were removed: 1.",
        "Summaries of sources that could not be made: 1 of 5.",
        "Topics whose notes could not be put in order: 1 of 1.",
    ]


def test_results_that_the_users_rules_exclude_are_a_limit_of_the_report() -> None:
    reasons = ("licence", "licence", "too_old")
    rows = [{"address": f"page-{number}", "reason": reason} for number, reason in enumerate(reasons)]
    assert about_the_gathering(gathering_of({"searches": [account(excluded=rows)]}), ENGLISH) == [
        "Search results excluded by your rules for sources: 3 (published earlier: 1, another licence or none: 2)."
    ]


def test_a_run_that_lost_nothing_says_nothing() -> None:
    assert about_the_gathering(gathering_of({}), ENGLISH) == []
    assert about_the_gathering(gathering_of({"searches": [account(pages_read=["a"])]}), ENGLISH) == []
