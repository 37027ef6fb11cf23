"""What became of a report's sources since they were archived, and which sentences that touches."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph_research.research.evidence.archive import Archive
from graph_research.research.evidence.cited import Citation
from graph_research.research.evidence.quotes import find_quote
from graph_research.research.models.record import Record
from graph_research.research.report.model import Report, ReportSource
from graph_research.text.document import Document
from graph_research.text.language.versions import says_it_is_retracted
from graph_research.text.language.words import language_of
from graph_research.text.locators import make_locator
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank
from graph_research.text.relevance.support import support
from graph_research.text.sentences import sentence_spans

_SAME_MATTER = 0.45
"""The share of a quotation's words, by weight, in a new passage that takes its place."""


class SourceStatus(StrEnum):
    """What became of a source.

    `unchanged`: its text is the one that the citations rest on. `changed`: its text differs. `moved`: its address
    redirects to another for good; its text may differ too. `retracted`: it says that it was retracted or withdrawn.
    `gone`: it is no longer there. `not_checked`: it cannot be had now, or only a search result was archived of it.
    """

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    MOVED = "moved"
    RETRACTED = "retracted"
    GONE = "gone"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, kw_only=True)
class Reread:
    """What was found where a source was. `document` is None where nothing was, or it was not looked for; `reason` says
    why. `is_unchanged` where its server says that it is the archived version. `address` is where it is now, where that
    differs."""

    document: Document | None = None
    is_unchanged: bool = False
    is_gone: bool = False
    reason: str = ""
    address: str = ""


class QuoteNow(Record):
    """A quotation and the source as it is now: whether its words still stand, and where; else the `nearest` passage
    that is new in the source, in part at least, and about the same, empty where there is none."""

    citation: str
    evidence_id: str
    quote: str
    stands: bool
    nearest: str = ""
    locator: str = ""


class SourceNow(Record):
    """A cited source as it is now. `address` is set where it moved, `reason` where it was not checked or is gone."""

    source_id: str
    n: int
    title: str
    url: str | None
    status: SourceStatus
    address: str = ""
    reason: str = ""
    quotes: list[QuoteNow]


class TouchedSentence(Record):
    """A sentence that rests on a quotation whose words no longer stand, or whose source is gone or retracted."""

    id: str
    text: str
    citations: list[str]


class Freshness(Record):
    """The cited sources of a report as they are now, and the sentences that their changes touch."""

    sources: list[SourceNow]
    sentences: list[TouchedSentence]

    def other_sources(self) -> list[str]:
        """The ids of the sources that are not as they were archived."""
        kept = (SourceStatus.UNCHANGED, SourceStatus.NOT_CHECKED)
        return [source.source_id for source in self.sources if source.status not in kept]

    def touched_evidence(self) -> list[str]:
        """The ids of the evidence that no longer stands."""
        return [quote.evidence_id for source in self.sources for quote in source.quotes if is_touched(source, quote)]


def is_touched(source: SourceNow, quote: QuoteNow) -> bool:
    """Whether what rests on the quotation has to be looked at again."""
    if source.status in (SourceStatus.RETRACTED, SourceStatus.GONE):
        return True
    return source.status in (SourceStatus.CHANGED, SourceStatus.MOVED) and not quote.stands


def freshness(report: Report, found: Mapping[str, Reread], archive: Archive) -> Freshness:
    """Compare a report with its sources as they were read again, by the source's id; `archive` has the old ones."""
    sources = [
        _source_now(source, report.citations, found[source.id], _archived(archive, source.archive_hash))
        for source in report.sources
        if source.n
    ]
    touched = {quote.citation for source in sources for quote in source.quotes if is_touched(source, quote)}
    sentences = [
        TouchedSentence(id=row.id, text=row.text, citations=[name for name in row.citations if name in touched])
        for row in report.statements()
        if touched.intersection(row.citations)
    ]
    return Freshness(sources=sources, sentences=sentences)


def _archived(archive: Archive, archive_hash: str) -> Document:
    return Document("") if archive.problem_of(archive_hash) else archive.document(archive_hash)


def _source_now(source: ReportSource, citations: Sequence[Citation], now: Reread, before: Document) -> SourceNow:
    own = [citation for citation in citations if citation.source_id == source.id]
    quotes = [_quote_now(citation, now, before) for citation in own]
    cited = {citation.archive_hash for citation in own} or {source.archive_hash}
    all_stand = len(cited) == 1 or all(quote.stands for quote in quotes)
    return SourceNow(
        source_id=source.id,
        n=source.n or 0,
        title=source.title,
        url=source.url,
        status=_status(source, now, before.text, cited if all_stand else ()),
        address=now.address,
        reason=now.reason,
        quotes=quotes,
    )


def _status(source: ReportSource, now: Reread, before: str, cited: Collection[str]) -> SourceStatus:
    """What became of a source whose text was `before`; `cited` are the hashes of the texts that its citations rest on,
    several where a refresh renewed some, empty where no text has all of them."""
    if now.is_gone:
        return SourceStatus.GONE
    if now.is_unchanged:
        return SourceStatus.UNCHANGED
    if now.document is None:
        return SourceStatus.NOT_CHECKED
    if says_it_is_retracted(now.document.title, now.document.text) and not says_it_is_retracted(source.title, before):
        return SourceStatus.RETRACTED
    if now.address:
        return SourceStatus.MOVED
    return SourceStatus.UNCHANGED if now.document.hash in cited else SourceStatus.CHANGED


def _quote_now(citation: Citation, now: Reread, before: Document) -> QuoteNow:
    stands, document = now.is_unchanged, now.document
    row = QuoteNow(citation=citation.id, evidence_id=citation.evidence_id, quote=citation.quote, stands=stands)
    if document is None:
        return row
    if place := find_quote(document.text, citation.quote):
        return row.model_copy(update={"stands": True, "locator": make_locator(document, *place)})
    label = _row_label(before, citation)
    nearest = _nearest_together(citation.quote, document, before) if not label else None
    if nearest := nearest or _nearest_new(citation.quote, document, before, label):
        start, end = nearest
        return row.model_copy(
            update={"nearest": document.text[start:end], "locator": make_locator(document, start, end)}
        )
    return row


def _nearest_together(quote: str, document: Document, before: Document) -> tuple[int, int] | None:
    """For a quotation of several sentences the passage of one block from the first to the last of them, each as it
    still stands or by what is new in its place; None where a sentence has neither."""
    parts = [quote[start:end] for start, end in sentence_spans(quote, language=language_of(quote))]
    if len(parts) < 2:
        return None
    places = [find_quote(document.text, part) or _nearest_new(part, document, before) for part in parts]
    found = [place for place in places if place]
    start, end = min((low for low, _ in found), default=0), max((high for _, high in found), default=0)
    is_one_block = any(block.start <= start and end <= block.end for block in document.blocks)
    return (start, end) if len(found) == len(parts) and is_one_block else None


def _nearest_new(text: str, document: Document, before: Document, label: str = "") -> tuple[int, int] | None:
    """The best sentence or row that the old text has not and that is about the same; of rows one with the `label`."""
    ranked = [item.unit for item in rank(Pool({"source": document}), parse(text))]
    new = [unit for unit in ranked if unit.text not in before.text]
    if label:
        new = [unit for unit in new if label == next(filter(None, document.rows.get(unit.start, ())), "")]
    is_near = new and (label or support(text, [new[0].text]).features["coverage"] >= _SAME_MATTER)
    return (new[0].start, new[0].end) if is_near else None


def _row_label(before: Document, citation: Citation) -> str:
    """What the first cell of the table row says that was quoted, empty where it was no row."""
    columns = before.columns_at(before.text.find(citation.quote))
    return next((text for _, text in columns if text), "")
