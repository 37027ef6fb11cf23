"""The cited sources of a report as they are now, and the sentences that their changes touch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph_research.research.evidence.archive import Archive
from graph_research.research.revision.refreshed import Freshness, Reread, SourceStatus, freshness
from graph_research.text.document import Document
from tests.support.research import finished_research as study


def now(**changes: Reread) -> Freshness:
    report = study.built()
    as_before = {name: Reread(document=document) for name, document in study.DOCUMENTS.items()}
    found = {**as_before, **{name.replace("_", "-"): row for name, row in changes.items()}}
    return freshness(report, found, Archive(study.texts()))


def status(found: Freshness, source_id: str) -> SourceStatus:
    return next(row.status for row in found.sources if row.source_id == source_id)


def test_sources_that_are_as_they_were_touch_nothing() -> None:
    found = now()
    assert {row.status for row in found.sources} == {SourceStatus.UNCHANGED}
    assert (found.sentences, found.touched_evidence()) == ([], [])


def test_a_quotation_that_no_longer_stands_is_named_with_the_nearest_wording() -> None:
    text = study.AUDIT_TEXT.replace("1.61 billion", "1.75 billion")
    found = now(src_audit00001=Reread(document=Document(text=text)))
    assert status(found, "src-audit00001") is SourceStatus.CHANGED
    assert found.touched_evidence() == [study.COST_AUDIT["id"]]
    quotes = {quote.quote: quote for row in found.sources for quote in row.quotes}
    assert "1.75 billion euros" in quotes[study.COST_AUDIT["quote"]].nearest
    assert quotes[study.INTEREST["quote"]].stands
    assert {row.text for row in found.sentences} == {study.COST_AUDIT["quote"]}


def test_a_quotation_of_several_sentences_is_renewed_as_a_whole() -> None:
    quote = study.AUDIT_TEXT[study.AUDIT_TEXT.index("The Chamber counts") :]
    report = study.built()
    citations = [
        row.model_copy(update={"quote": quote}) if row.evidence_id == study.INTEREST["id"] else row
        for row in report.citations
    ]
    document = replace(study.AUDIT, text=study.AUDIT_TEXT.replace("four of the five", "none of the nine"))
    read = {name: Reread(document=other) for name, other in study.DOCUMENTS.items()}
    read["src-audit00001"] = Reread(document=document)
    found = freshness(report.model_copy(update={"citations": citations}), read, Archive(study.texts()))
    [row] = [row for source in found.sources for row in source.quotes if row.quote == quote]
    assert (row.stands, row.nearest) == (False, quote.replace("four of the five", "none of the nine"))


def test_a_source_that_moved_with_its_text_touches_nothing_and_a_vanished_one_all_that_rests_on_it() -> None:
    moved = Reread(document=study.DOCUMENTS["src-report0001"], address="https://elsewhere.example/report.pdf")
    found = now(src_report0001=moved, src_forum00001=Reread(is_gone=True, reason="it answered 404"))
    assert status(found, "src-report0001") is SourceStatus.MOVED
    assert status(found, "src-forum00001") is SourceStatus.GONE
    assert [row.text for row in found.sentences] == [study.FISH["quote"]]


@pytest.mark.parametrize(
    "notice",
    [
        "This article has been retracted by its editors.",
        "Dieser Artikel wurde zurückgezogen.",
        "Cet article a été rétracté à la demande des auteurs.",
        "本論文は撤回されました。",
    ],
)
def test_a_notice_of_retraction_at_the_beginning_is_told_in_several_languages(notice: str) -> None:
    whole = study.DOCUMENTS["src-forum00001"]
    found = now(src_forum00001=Reread(document=Document(text=f"{notice}\n\n{whole.text}", title=whole.title)))
    assert status(found, "src-forum00001") is SourceStatus.RETRACTED


def test_what_the_server_calls_unchanged_stands() -> None:
    found = now(src_forum00001=Reread(is_unchanged=True))
    assert status(found, "src-forum00001") is SourceStatus.UNCHANGED
    assert found.sentences == []


def test_a_retraction_is_told_from_the_title_and_what_cannot_be_had_touches_nothing() -> None:
    retracted = replace(study.DOCUMENTS["src-forum00001"], title="RETRACTED: Angling forum")
    found = now(src_forum00001=Reread(document=retracted), src_report0001=Reread(reason="it timed out"))
    assert status(found, "src-forum00001") is SourceStatus.RETRACTED
    assert status(found, "src-report0001") is SourceStatus.NOT_CHECKED
    assert [row.text for row in found.sentences] == [study.FISH["quote"]]
