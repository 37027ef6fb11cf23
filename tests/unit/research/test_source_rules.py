"""Rules for sources: what they exclude, before anything is read, and what the report says of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.research.report.build import build_report
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.page.flow import flow_of
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.retrieval.search import search_everywhere
from graph_research.research.source_rules import Exclusion, MediaTypeUnknown, PeriodEmpty, SourceRules
from graph_research.settings.config import Settings
from tests.support.research.extractive_sources import ROOT
from tests.support.research.harness import Bench, FolderOfHits, PlainContext, hit, research_script, small_web

SHORT = "Das Kraftwerk wurde im Jahr 1990 eröffnet und liefert Strom für die Stadt."
GERMAN = "Das Kraftwerk an der Mündung wurde im Jahr 1990 eröffnet und liefert seither Strom für die Stadt. " * 3
ODT = "application/vnd.oasis.opendocument.text"


def of(
    url: str | None = "https://www.example.org/a", text: str = "The plant opened in 1990.", **facts: Any
) -> SearchHit:
    return replace(hit(text, url=url or ""), **{"url": url, **facts})


def declaring(language: str, text: str) -> SearchHit:
    """A hit whose page says in which language it is."""
    found = of(text=text, title=text)
    return replace(found, document=replace(found.document, language=language))


@pytest.mark.parametrize(
    ("rules", "found", "reason"),
    [
        ({"deny_domains": ("example.org",)}, of(), Exclusion.DENIED_DOMAIN),
        ({"deny_domains": ("ample.org",)}, of(), None),
        ({"deny_domains": ("b.org",)}, of(metadata={"read_at": "https://sub.b.org/x"}), Exclusion.DENIED_DOMAIN),
        ({"allow_domains": ("example.org",)}, of(), None),
        ({"allow_domains": ("who.int",)}, of(), Exclusion.OTHER_DOMAIN),
        ({"allow_domains": ("who.int",)}, of("notes/a.md", provider="local"), None),
        ({"published_from": "2020-06"}, of(published_at="2020-05-31"), Exclusion.TOO_OLD),
        ({"published_from": "2020-06"}, of(published_at="2020"), None),
        ({"published_from": "2020"}, of(published_at="2020-01-01T10:00:00+00:00"), None),
        ({"published_from": "2020"}, of(), None),
        ({"published_until": "2020"}, of(published_at="2020-12-31"), None),
        ({"published_until": "2020"}, of(published_at="2021-01-01"), Exclusion.TOO_NEW),
        (
            {"media_types": ("pdf",)},
            of("notes/a.md", provider="local", content_type="text/markdown"),
            Exclusion.MEDIA_TYPE,
        ),
        (
            {"media_types": ("pdf", "MD")},
            of("notes/a.md", provider="local", content_type="text/markdown"),
            None,
        ),
        ({"media_types": ("docx",)}, of("https://a.org/plan.docx"), None),
        ({"media_types": ("docx",)}, of("https://a.org/plan.md"), Exclusion.MEDIA_TYPE),
        ({"media_types": ("text/*",)}, of("notes/a.md", provider="local", content_type="text/markdown"), None),
        ({"media_types": ("text/html",)}, of("https://a.org/paper.pdf"), Exclusion.MEDIA_TYPE),
        ({"media_types": (ODT,)}, of("a.odt", provider="local", content_type=ODT), None),
        ({"media_types": (ODT,)}, of("a.txt", provider="local", content_type="text/plain"), Exclusion.MEDIA_TYPE),
        ({"source_languages": ("en-GB",)}, of(text=GERMAN), Exclusion.LANGUAGE),
        ({"source_languages": ("de",)}, of(text=GERMAN), None),
        ({"source_languages": ("en",)}, of(text=SHORT, title="Das Kraftwerk"), Exclusion.LANGUAGE),
        ({"source_languages": ("de",)}, of(text=SHORT, title="Das Kraftwerk"), None),
        (
            {"source_languages": ("pl",)},
            of(text="It opened in spring 1990.", title="The plant at Tarn"),
            Exclusion.LANGUAGE,
        ),
        ({"source_languages": ("de",)}, of(text="pg_dump", title="pg_dump"), None),
        ({"source_languages": ("de",)}, declaring("fr", "pg_dump"), Exclusion.LANGUAGE),
        ({"source_languages": ("de-AT",)}, declaring("de", "The Tarn: power plant, turbines, grid"), None),
        ({"licences": ("cc-by",)}, of(metadata={"licence": "https://creativecommons.org/licenses/by/4.0/"}), None),
        ({"licences": ("cc-by",)}, of(metadata={"licence": "CC BY-NC 4.0"}), Exclusion.LICENCE),
        ({"licences": ("cc0",)}, of(metadata={"licence": "https://creativecommons.org/publicdomain/zero/1.0/"}), None),
        ({"licences": ("cc-by-nc",)}, of(metadata={"licence": "CCBYNC"}), None),
        ({"licences": ("cc-by",)}, of(metadata={"licence": "CCBYNC"}), Exclusion.LICENCE),
        ({"licences": ("cc0",)}, of(), Exclusion.LICENCE),
        ({"licences": ("cc0",)}, of(metadata={"extent": "snippet"}), None),
    ],
)
def test_the_reason_why_a_source_is_excluded(rules: dict[str, Any], found: SearchHit, reason: Exclusion | None) -> None:
    assert SourceRules(**rules).why_excluded(found) is reason


def test_a_page_that_was_read_is_excluded_by_its_own_type_and_not_by_its_address() -> None:
    read = of("https://a.org/paper.pdf", content_type="text/html", metadata={"bytes_hash": "sha256:0"})
    assert SourceRules(media_types=("pdf",)).why_excluded(read) is Exclusion.MEDIA_TYPE
    assert SourceRules(media_types=("html",)).why_excluded(read) is None
    assert SourceRules(media_types=("pdf",)).why_excluded(of("https://a.org/paper", content_type="text/html")) is None


@pytest.mark.parametrize("name", ["pdf", "DOCX", "md", "ipynb", "markdown", "text/html", "text/*", "image/x-own"])
def test_media_types_and_suffixes_that_files_have_are_taken(name: str) -> None:
    assert SourceRules(media_types=(name,)).media_types == (name,)


@pytest.mark.parametrize("name", ["word", "pdfs", "txt/html"])
def test_a_media_type_that_no_file_has_is_refused(name: str) -> None:
    with pytest.raises(MediaTypeUnknown, match=name):
        SourceRules().joined({"media_types": [name]})


def test_the_rules_of_a_node_are_written_as_those_of_the_settings() -> None:
    def patterns(schema: dict[str, Any]) -> set[str]:
        parts = [schema, schema.get("items", {}), *schema.get("anyOf", ())]
        return {part["pattern"] for part in parts if "pattern" in part}

    schema = json.loads((ROOT / "schemas" / "handoffs" / "search.input.json").read_text())
    settings = Settings.model_json_schema()["properties"]
    rules = schema["properties"]["source_rules"]["properties"]
    assert {name: patterns(rule) for name, rule in rules.items()} == {name: patterns(settings[name]) for name in rules}


@pytest.mark.parametrize(("first", "last"), [("2020", "2019"), ("2020-06", "2020-05-31"), ("2021-01-02", "2021-01-01")])
def test_a_period_that_ends_before_it_begins_is_refused(first: str, last: str) -> None:
    with pytest.raises(PeriodEmpty, match=f"{last} ends before {first}"):
        SourceRules(published_from=first).joined({"published_until": last})
    assert SourceRules(published_from=first, published_until=first[:4])


def test_the_days_of_a_month_and_a_year() -> None:
    rules = SourceRules(published_from="2020", published_until="2024-02")
    assert (rules.first_day, rules.last_day) == ("2020-01-01", "2024-02-29")
    assert SourceRules(published_until="2019").last_day == "2019-12-31"


def test_the_rules_of_a_node_add_denied_domains_and_replace_the_rest() -> None:
    rules = SourceRules(deny_domains=("a.org",), published_from="2020")
    joined = rules.joined({"deny_domains": ["B.org"], "published_from": "2022", "allow_domains": []})
    assert joined == SourceRules(deny_domains=("a.org", "b.org"), published_from="2022")


class Serving(FolderOfHits):
    def __init__(self, name: str, *serves: str) -> None:
        super().__init__(name, lambda request: [replace(hit(f"Of {name}.", url=f"https://{name}.org"), provider=name)])
        self.serves = frozenset(serves)


async def test_a_search_of_another_kind_is_not_asked_and_the_others_get_the_rules() -> None:
    web, papers = Serving("web", "web", "news"), Serving("papers", "academic")
    rules = SourceRules(source_kinds=("news",), deny_domains=("b.org",), published_from="2020")
    result = await search_everywhere(
        [web, papers], "tarn", PlainContext(), max_results=5, source_types=("web", "news"), rules=rules
    )
    assert (result.asked, result.skipped) == (("web",), ("papers",))
    [request] = web.requests
    assert request == SearchRequest(
        query="tarn", max_results=10, source_types=("news",), deny_domains=("b.org",), first_day="2020-01-01"
    )


@pytest.mark.requirement("17.2")
async def test_excluded_sources_are_neither_read_nor_used_and_are_counted_with_their_reasons() -> None:
    def web(request: SearchRequest) -> Sequence[SearchHit]:
        old = replace(hit("The Tarn plant in 1980.", url="https://old.org/1"), published_at="1980")
        return [*small_web(request), hit("Tarn, they say.", url="https://m.gossip.org/2"), old]

    rules = SourceRules(deny_domains=("gossip.org",), published_from="1985")
    result = await Bench(research_script(), search=web, settings={"rules": rules}).run()
    assert not {"https://m.gossip.org/2", "https://old.org/1"} & {row["url"] for row in result.state["sources"]}
    report = build_report(
        result.state, texts={}, run=RunFacts(run_id="run-1", question="What is Tarn?", search=["web"])
    )
    assert report.statistics.gathering.excluded == {"denied_domain": 1, "too_old": 1}
    found = flow_of(report, labels_for("en"))[0]
    assert found.notes[-3:] == (
        "Excluded by your rules for sources: 2",
        "– a domain that you deny: 1",
        "– published earlier: 1",
    )
