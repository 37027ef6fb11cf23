"""Verification: every citation and sentence of a report against the archived texts, from nothing but the two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from graph_research.research.evidence.archive import Archive
from graph_research.research.evidence.citations import assumed_beside, in_context, passage_of, with_limits
from graph_research.research.evidence.cited import Citation, CitedStatement
from graph_research.research.evidence.claim_support import CitedPassage, Judgement, Status, has_words, judge
from graph_research.research.models.draft import BlockType, Statement, StatementKind
from graph_research.research.models.record import Record
from graph_research.research.report.model import Report
from graph_research.research.scoring.origin import near_copies
from graph_research.research.scoring.site import site_of
from graph_research.text.wording import shortened

_KINDS = ("quote", *(status.value for status in Status if status is not Status.PROVED))
_STATING = (StatementKind.QUOTE, StatementKind.FACT, StatementKind.ANALYSIS)
_NOT_PROVED = (Status.TRANSITION, Status.LIMIT, Status.USER)


class VerificationProblem(Record):
    """One thing that is wrong: `where` is a citation's `[n]` and id, or a sentence's id with the start of its text."""

    where: str
    what: str


class KindSupport(Record):
    """The sentences that their writer calls a quote, a fact or an analysis, and how many of them are supported."""

    statements: int
    supported: int


class Diversity(Record):
    """Who the cited sources come from. `domains` counts their web sites, and origins of documents without an address;
    `top_share` is the greatest share of the citations that one of these has, 0 to 1; `near_copies` are the cited
    sources whose archived text is nearly that of an earlier one."""

    sources: int
    domains: int
    top_share: float
    near_copies: int


class Verification(Record):
    """Counts over a report. `statements` are the sentences that state something (all but transitions, limits and what
    the user wrote), `supported` those that are not unsupported; `coverage` is supported/statements, 0 to 1, and 1 for a
    report that states nothing.

    `kinds` counts all sentences and cells with words: `quote` (proved word for word), `verified` (by a model), `cited`,
    `analysis`, `transition` (the labels of rows, too), `limit`, `user`, `unsupported`. `fabricated` counts the ids and
    numbers that name no evidence, with the `fabricated_dropped`, which were dropped before the report was written.
    `validity` is valid/citations, 0 to 1, and 1 without any.
    """

    citations: int
    valid: int
    invalid: int
    statements: int
    supported: int
    unsupported: int
    fabricated: int
    fabricated_dropped: int
    coverage: float
    kinds: dict[str, int]
    validity: float
    support: dict[str, KindSupport]
    diversity: Diversity
    problems: list[VerificationProblem]

    @property
    def wrong_citations(self) -> int:
        """The citations of the report that are invalid or name no evidence."""
        return self.invalid + self.fabricated - self.fabricated_dropped


def verify(
    report: Report, texts: Mapping[str, str], layouts: Mapping[str, Mapping[str, Any]] | None = None
) -> Verification:
    """Prove a report again; nothing that it says of itself (`valid`, `status`) is believed, but for what a verifier
    model said of this very sentence and its evidence, which the run's journal holds.

    `texts` maps archive hash to canonical text, `layouts` the same hashes to `Document.layout()`.
    """
    archive = Archive(texts, layouts)
    sources = {source.id: source for source in report.sources}
    checked = [_proved(citation, archive, sources) for citation in report.citations]
    proved = {citation.id: citation for citation in checked}
    passages = {citation.id: passage_of(citation, archive, sources) for citation in checked}
    judged = [(row, _judged(row, read_with, proved, passages, report)) for row, read_with in _placed(report)]
    fabricated = [(_where(row), name) for row, _ in judged for name in _fabricated(row, proved)]
    fabricated += [
        (contradiction.id, name)
        for contradiction in report.contradictions
        for side in contradiction.sides
        for name in side.citations
        if name not in proved
    ]
    kinds = Counter(
        "quote" if found.status is Status.PROVED else found.status.value for row, found in judged if has_words(row.text)
    )
    stating = sum(found.status not in _NOT_PROVED for _, found in judged)
    unsupported = [VerificationProblem(where=_where(row), what=found.problem) for row, found in judged if found.problem]
    supported = stating - len(unsupported)
    valid = sum(citation.valid for citation in checked)
    return Verification(
        citations=len(checked),
        valid=valid,
        invalid=len(checked) - valid,
        statements=stating,
        supported=supported,
        unsupported=len(unsupported),
        fabricated=len(fabricated) + report.fabricated_dropped,
        fabricated_dropped=report.fabricated_dropped,
        coverage=round(supported / stating, 4) if stating else 1.0,
        kinds={name: kinds[name] for name in _KINDS},
        validity=round(valid / len(checked), 4) if checked else 1.0,
        support={kind.value: _support([found for row, found in judged if row.kind is kind]) for kind in _STATING},
        diversity=_diversity(report, texts),
        problems=[
            *(VerificationProblem(where=f"[{row.n}] {row.id}", what=row.problem) for row in checked if not row.valid),
            *unsupported,
            *(VerificationProblem(where=where, what=f"{name} names no evidence") for where, name in fabricated),
        ],
    )


def _support(judged: Sequence[Judgement]) -> KindSupport:
    return KindSupport(statements=len(judged), supported=sum(not found.problem for found in judged))


def _diversity(report: Report, texts: Mapping[str, str]) -> Diversity:
    cited = [source for source in report.sources if source.citations]
    shares = Counter[str]()
    for source in cited:
        shares[site_of(source.url) or source.origin] += len(source.citations)
    return Diversity(
        sources=len(cited),
        domains=len(shares),
        top_share=round(max(shares.values()) / sum(shares.values()), 4) if shares else 0.0,
        near_copies=len(near_copies({source.id: texts.get(source.archive_hash, "") for source in cited})),
    )


class _ReadWith(NamedTuple):
    """What a statement is read with: the label and header of a cell, the limit before a sentence, that it is code."""

    context: str = ""
    limit: str = ""
    is_code: bool = False


def _placed(report: Report) -> Iterator[tuple[CitedStatement, _ReadWith]]:
    """Every sentence and cell, in reading order."""
    parts = [report.short_answer, *(section.blocks for section in report.sections), report.conclusions]
    for block, assumed in (pair for blocks in parts for pair in zip(blocks, assumed_beside(blocks), strict=True)):
        for sentences in (block.sentences, *block.items):
            for statement, limit in with_limits(sentences, assumed):
                yield statement, _ReadWith(limit=limit, is_code=block.type is BlockType.CODE)
        for place, cells in enumerate(block.rows, 1):
            yield from ((cell, _ReadWith(context)) for cell, context in in_context(cells, block.header, place))
    yield from ((statement, _ReadWith()) for statement in report.more_evidence)


def _judged(
    statement: CitedStatement,
    read_with: _ReadWith,
    proved: Mapping[str, Citation],
    passages: Mapping[str, CitedPassage],
    report: Report,
) -> Judgement:
    cited = [proved[name] for name in statement.citations if name in proved]
    shown = Statement(
        text=statement.text,
        kind=statement.kind,
        evidence_ids=[citation.evidence_id for citation in cited],
        computed=statement.computed,
        judged=statement.judged,
        place=statement.place,
    )
    verdict = statement.verdict if statement.verdict and statement.verdict.id == shown.id else None
    return judge(
        statement.text,
        statement.kind,
        [passages[citation.id] for citation in cited],
        question=report.question,
        computed=statement.computed,
        judged=statement.judged,
        verdict=verdict,
        language=report.language,
        **read_with._asdict(),
    )


def _proved(citation: Citation, archive: Archive, known_sources: Iterable[str]) -> Citation:
    problem = archive.prove(citation.quote, citation.locator, citation.archive_hash).problem
    if citation.source_id not in known_sources:
        problem = f"the report lists no source {citation.source_id}"
    return citation.model_copy(update={"valid": not problem, "problem": problem})


def _fabricated(statement: CitedStatement, proved: Mapping[str, Citation]) -> list[str]:
    return [*statement.fabricated, *(name for name in statement.citations if name not in proved)]


def _where(statement: CitedStatement) -> str:
    return f"{statement.id} {shortened(statement.text, 60)!r}"
