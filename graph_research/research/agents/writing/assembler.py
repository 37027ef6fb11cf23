"""The assembler: the report from its written sections, filled up with quotations where too little of it is proved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice, pairwise
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.section_text import HEADER, with_dashes, without_unfound_columns
from graph_research.research.agents.writing.summary_sources import outdated, proved_sentences, with_stand_ins
from graph_research.research.code_blocks import without_lines_of
from graph_research.research.evidence.findings import CONFIDENCE_RANK
from graph_research.research.graph_functions import closed_gaps, gaps_left
from graph_research.research.llm.services import Services
from graph_research.research.models.draft import (
    Block,
    BlockType,
    Draft,
    DraftSection,
    Statement,
    StatementKind,
    VerdictWord,
    Writer,
    paragraphs_of,
    rewritten,
    statements_of,
    without_statements,
    words_of,
)
from graph_research.research.models.outline import OutlineSection
from graph_research.research.models.report_options import ReportOptions, report_language
from graph_research.research.report.draft import checked_draft, draft_markdown, report_metadata
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.left_open import told_by
from graph_research.text.relevance.alike import said_again, says
from graph_research.text.relevance.open_points import is_answered

_MOST_OF_AN_OPENING = 0.7
"""An opening of which the first sentence of its section has so much of the words, by weight, is not needed."""
_MOST_QUOTES = 8
"""Quotations that take the place of a section."""
_MOST_MORE = 30
"""Findings that stand behind the sections, which cite nothing of them, in a report that is shorter than wanted."""
_STATING = (StatementKind.QUOTE, StatementKind.FACT, StatementKind.ANALYSIS)
_PROSE = (BlockType.PARAGRAPH, BlockType.LIST)
_DROPPED = (StatementKind.ANALYSIS, StatementKind.TRANSITION, StatementKind.LIMIT)
"""Kinds that are left out where they fail; a failing fact stays and is shown as unsupported."""


def assembler(services: Services) -> Handler:  # noqa: ARG001 -- every handler is made from services
    """The draft, its text and its numbers. No model is asked."""

    async def assemble(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:  # noqa: ARG001 -- a handler's
        by_code = handoff["analysis"].get("evidence") or []
        known = {row["id"] for row in handoff["evidence"]}
        parts = _Parts(handoff)
        draft, fabricated = checked_draft(parts.draft(), known | {row["id"] for row in by_code})
        is_filled = any(name not in known for row in draft.statements() for name in row.evidence_ids)
        analysis = handoff["analysis"] if is_filled else {}
        report = draft_markdown(handoff["original_query"], draft, parts.labels)
        metadata = report_metadata(
            draft,
            report,
            handoff["findings"],
            fabricated=fabricated + handoff["fabricated"],
            iteration=handoff["iteration"],
        )
        return {
            "gaps": parts.closed_gaps(draft),
            "settled_limits": parts.settled_limits(draft),
            "draft": draft.to_json(),
            "report": report,
            "report_metadata": metadata,
            **analysis,
        }

    return assemble


@dataclass(frozen=True)
class _Parts:
    """What the report is made of, as the handoff has it."""

    handoff: Mapping[str, Any]

    @cached_property
    def labels(self) -> Labels:
        return labels_for(report_language(self.handoff["report_options"], self.handoff["original_query"]))

    @cached_property
    def baseline(self) -> Draft:
        return Draft.model_validate(self.handoff["baseline"])

    @cached_property
    def failing(self) -> set[str]:
        """The statements that code or the verifier objects to."""
        said = {row["id"] for row in self.handoff["checks"] if row["problem"]}
        verdicts = self.handoff["statement_verdicts"]
        return said | {row["id"] for row in verdicts if row["verdict"] != VerdictWord.SUPPORTED}

    @cached_property
    def corrections(self) -> dict[str, Statement]:
        """By the id of a statement that fails since its passages say a part of it, what they bear out of it."""
        said = {row["id"]: row.get("correction") for row in self.handoff["checks"] if row["id"] in self.failing}
        return {name: Statement.model_validate(row) for name, row in said.items() if row}

    @cached_property
    def rests(self) -> dict[str, str]:
        """By the id of a block to copy of which lines fail what is left of it."""
        return {row["id"]: row["rest"] for row in self.handoff["checks"] if row.get("rest")}

    @cached_property
    def replaced(self) -> dict[str, Statement]:
        """By the id of a statement that fails, the one without a failure that it took the place of."""
        said = {row["id"]: Statement.model_validate(row["statement"]) for row in self.handoff.get("replaced") or []}
        return {name: row for name, row in said.items() if name in self.failing and row.id not in self.failing}

    @cached_property
    def answered_limits(self) -> set[str]:
        """The limits that the header or a proved statement of another place answers."""
        sections = [DraftSection.model_validate(row) for row in self.handoff["sections"]]
        proved = {HEADER} | {row.id for section in sections for row in section.statements() if self._is_proved(row)}
        return {row["limit"] for row in self.handoff.get("answered_limits") or [] if proved & self._answering(row)}

    def closed_gaps(self, draft: Draft) -> list[dict[str, Any]]:
        """The gaps that the header or a proved statement of the draft answers, closed in this round; of those that are
        answered in part, what is left."""
        proved = {HEADER} | {row.id for row in draft.statements() if self._is_proved(row)}
        answered = [row for row in self.handoff.get("answered_gaps") or [] if proved & self._answering(row)]
        gaps, named = self.handoff.get("gaps") or [], {row["gap"] for row in answered}
        left = [dict(row) for row in gaps_left(gaps, answered) if row["id"] in named]
        whole = named - {row["id"] for row in left}
        return [*closed_gaps(gaps, whole, self.handoff["iteration"]), *left]

    def _answering(self, answer: Mapping[str, Any]) -> set[str]:
        """The statements of an answer, and what the mender made of them."""
        names = set(answer["statements"])
        return names | {row["id"] for row in self.handoff.get("rewritten") or [] if row["was"] in names}

    def settled_limits(self, draft: Draft) -> list[str]:
        """The texts of the limits that are answered, also by what the mender found in place of one."""
        rows = self.handoff.get("answered_limits") or []
        proved = {row.id for row in draft.statements() if self._is_proved(row)}
        mended = (row for row in self.handoff.get("rewritten") or [] if row["id"] in proved)
        found = [row["statement"]["text"] for row in mended if row["statement"]["kind"] == StatementKind.LIMIT]
        return [*(row["text"] for row in rows if row["limit"] in self.answered_limits and row.get("text")), *found]

    def draft(self) -> Draft:
        """The report, with how many of the written sentences it lacks because they fail: of a corrected one it has what
        holds."""
        draft = self._draft()
        sections = [row for section in self.handoff["sections"] for row in section["blocks"]]
        blocks = [*sections, *self.handoff["summary"], *self.handoff["conclusions"]]
        written = {row.id for row in statements_of(map(Block.model_validate, blocks))}
        written |= {Statement.model_validate(row["statement"]).id for row in self.handoff["openings"]}
        there = {row.id for row in draft.statements()}
        corrected = {name for name, row in self.corrections.items() if row.id in there}
        lacking = written & self.failing - there - corrected
        return draft.model_copy(update={"left_out": len(lacking)})

    def _draft(self) -> Draft:
        """The model's report, filled up; the quotations alone where no model wrote a section."""
        written = self._sections()
        if not any(section.writer is Writer.MODEL for section in written):
            return (
                self.baseline
                if self.handoff["by_code"]
                else self.baseline.model_copy(update={"notice": self.labels.written_by_no_model})
            )
        said = proved_sentences(written, self._is_proved)
        now = self._outdated(written, said)
        failing = self.failing | {name for name, row in now.items() if row is None}
        lost = failing - self.corrections.keys() - self.replaced.keys()
        summary = self._sure(with_stand_ins(self._blocks("summary", now), said, lost), failing, keep_first=True)
        by_model = self._proved(summary) > 0
        if not by_model:
            summary = max(self._leading(written), self.baseline.summary, key=self._proved)
        conclusions = self._sure(self._blocks("conclusions", now), failing)
        told = [*(block for section in written for block in section.blocks), *conclusions]
        again = _limits_said_again(told) | self._answered_by_words(told, written)
        conclusions = without_statements(conclusions, again)
        unknown = _single_limits(conclusions)  # what was not found is listed in one place, below the conclusions
        draft = Draft(
            title=self.handoff["title"] if by_model else "",
            found=self.handoff["found"] if by_model else bool(summary),
            searched=self.baseline.searched,
            summary=summary,
            sections=[
                row.model_copy(update={"blocks": _as_read(without_statements(row.blocks, again))}) for row in written
            ],
            conclusions=_as_read(without_statements(conclusions, {row.id for row in unknown})),
            not_answered=[*(self.handoff.get("not_answered") or []), *(self._unknown(row) for row in unknown)],
        )
        draft = self._filled_up(draft)
        return draft.model_copy(update={"notice": _notice(draft.sections, self.labels), "more": self._uncited(draft)})

    def _unknown(self, limit: Statement) -> str:
        """What a sentence says was not found: what it is about, where it says nothing else."""
        about = next(filter(limit.text.startswith, limit.strong), "")
        rest = limit.text[len(about) :].strip(" .。:：").casefold()
        return about.rstrip(" :：") if about and rest == self.labels.not_found.casefold() else limit.text

    def _answered_by_words(self, blocks: Iterable[Block], sections: Sequence[DraftSection]) -> set[str]:
        """The ids of the sentences on what was not found that facts and quotes of the sections answer, as words show,
        but for those whose item says what to do without it."""
        facts = {row.id for section in sections for row in self._facts(section.blocks)}
        told = [one for section in sections for one in told_by(section.heading, section.blocks, facts)]
        return {row.id for row in _single_limits(blocks) if is_answered(row.text, told, ())}

    def _blocks(self, part: str, now: Mapping[str, Statement | None]) -> list[Block]:
        """The blocks of what the editor wrote, with what sections say `now` in place of what is outdated."""
        blocks = map(Block.model_validate, self.handoff[part])
        return rewritten(blocks, lambda row: now.get(row.id) or row)

    def _outdated(self, sections: Sequence[DraftSection], said: Sequence[Statement]) -> dict[str, Statement | None]:
        """By its id, each statement of the editor that rests on what a section no longer says, with the sentence that
        stands in its place."""
        own = [row for part in ("summary", "conclusions") for row in statements_of(self._blocks(part, {}))]
        written = (row for part in self.handoff["sections"] for row in DraftSection.model_validate(part).statements())
        mended = self.handoff.get("rewritten") or []
        gone = self.failing - {row.id for section in sections for row in section.statements()}
        changed = [(row, self._corrected(row).id) for row in written if row.id in gone]
        changed += [(Statement.model_validate(row["statement"]), row["id"]) for row in mended]
        return outdated([row for row in own if row.kind in _STATING], changed, said, sections)

    def _sections(self) -> list[DraftSection]:
        """The outline's sections in order: as they were written, else quotations of their findings' evidence."""
        written = {row["id"]: DraftSection.model_validate(row) for row in self.handoff["sections"]}
        sections = []
        for planned in (OutlineSection.model_validate(row) for row in self.handoff["outline"]):
            section = written.get(planned.id)
            blocks = self._edited(section) if section else []
            if section and self._proved(blocks):
                sections.append(section.model_copy(update={"blocks": blocks, "heading": planned.heading}))
                continue
            quotes = self._quotes(name for row in self._findings(planned) for name in row["evidence_ids"])
            if quotes:
                sections.append(
                    DraftSection(
                        heading=planned.heading,
                        level=planned.level,
                        blocks=paragraphs_of(quotes[:_MOST_QUOTES]),
                        id=planned.id,
                        writer=Writer.EXTRACTIVE,
                    )
                )
        return sections

    def _findings(self, planned: OutlineSection) -> list[Mapping[str, Any]]:
        wanted = set(planned.finding_ids)
        return [row for row in self.handoff["findings"] if row["id"] in wanted]

    def _edited(self, section: DraftSection) -> list[Block]:
        """The section's blocks without what fails and limits that are answered, behind its opening sentence, unless the
        first of their own says the same."""
        blocks = without_statements(self._sound(with_dashes(section.blocks)), self.answered_limits)
        blocks = without_unfound_columns(blocks, self.labels)
        openings = [
            Statement.model_validate(row["statement"])
            for row in self.handoff["openings"]
            if row["section"] == section.id
        ]
        first_said = next((row.text for row in statements_of(blocks[:1])), "")
        opening = [row for row in openings if row.id not in self.failing and not _are_alike(row.text, first_said)]
        if opening and blocks and blocks[0].type is BlockType.PARAGRAPH:
            first = blocks[0].model_copy(update={"sentences": [*opening, *blocks[0].sentences]})
            return [first, *blocks[1:]]
        return [Block(sentences=opening), *blocks] if opening and blocks else blocks

    def _sound(self, blocks: Iterable[Block]) -> list[Block]:
        """The blocks without the statements that fail and are neither facts nor the labels of rows; with what the
        passages bear out of a sentence that they support in part; where what a note asked for fails, with what stood
        there before; without what was added and fails, a row whole and its line in a block to copy, and of a block to
        copy without the lines that fail."""
        given = rewritten(blocks, self._without_failing_lines)
        unsound = self.failing.intersection(self.handoff.get("added") or []) - self.corrections.keys()
        sound = rewritten(map(partial(_without_rows, unsound), given), self._corrected)
        dropped = [row for block in given for row in block.rows if any(cell.id in unsound for cell in row)]
        left = without_lines_of(sound, dropped)
        kept = {cells[0].id for block in left for cells in block.rows if cells}
        fails = {row.id for row in statements_of(left) if row.kind in _DROPPED and row.id in self.failing} - kept
        return without_statements(left, fails | unsound)

    def _corrected(self, row: Statement) -> Statement:
        return self.corrections.get(row.id) or self.replaced.get(row.id, row)

    def _without_failing_lines(self, row: Statement) -> Statement:
        rest = self.rests.get(row.id) if row.id in self.failing else ""
        return row.model_copy(update={"text": rest}) if rest else row

    def _sure(self, blocks: Sequence[Block], failing: Collection[str], *, keep_first: bool = False) -> list[Block]:
        """The blocks without any statement that fails: the sections say themselves what the editor says of them. The
        first, which decides, may be kept: without it the condition after it would be read as the decision."""
        kept = {row.id for row in islice(statements_of(blocks), 1)} if keep_first else set()
        lost = set(failing) - kept
        return rewritten(blocks, lambda row: None if (row := self._corrected(row)).id in lost else row)

    def _leading(self, sections: Iterable[DraftSection]) -> list[Block]:
        """What each section that a model wrote begins with, where that states something and does not fail, as a list: a
        section begins with the answer to its question."""
        firsts = [
            next(statements_of(section.blocks[:1]))
            for section in sections
            if section.writer is Writer.MODEL and section.blocks and section.blocks[0].type in _PROSE
        ]
        items = {first.text: [first] for first in firsts if self._is_proved(first)}
        return [Block(type=BlockType.LIST, items=list(items.values()))] if items else []

    def _is_proved(self, row: Statement) -> bool:
        return row.kind in _STATING and bool(row.evidence_ids) and row.id not in self.failing

    def _proved(self, blocks: Iterable[Block]) -> int:
        return sum(map(self._is_proved, statements_of(blocks)))

    def _quotes(self, evidence_ids: Iterable[str]) -> list[Statement]:
        rows = {row["id"]: row for row in self.handoff["evidence"]}
        return [
            Statement(text=rows[name]["quote"], kind=StatementKind.QUOTE, evidence_ids=[name])
            for name in dict.fromkeys(evidence_ids)
            if name in rows
        ]

    def _filled_up(self, draft: Draft) -> Draft:
        """The draft with the quotations of the baseline that no fact or quote of it cites, where it has fewer of these
        proved than the baseline and than a report of its length needs. The summary is filled up likewise."""
        least = ReportOptions.model_validate(self.handoff["report_options"]).least_proved
        theirs = sum(len(list(section.statements())) for section in self.baseline.sections)
        if sum(len(self._facts(section.blocks)) for section in draft.sections) >= min(theirs, least):
            return draft
        written = [*draft.summary, *(block for section in draft.sections for block in section.blocks)]
        cited = {name for row in self._facts(written) for name in row.evidence_ids}

        def uncited(blocks: Iterable[Block]) -> list[Block]:
            return rewritten(blocks, lambda row: None if cited & set(row.evidence_ids) else row)

        more = [
            section.model_copy(update={"blocks": blocks})
            for section in self.baseline.sections
            if (blocks := uncited(section.blocks))
        ]
        is_short = len(self._facts(draft.summary)) < len(self._facts(self.baseline.summary))
        summary = [*draft.summary, *uncited(self.baseline.summary)] if is_short else draft.summary
        return draft.model_copy(update={"summary": summary, "sections": [*draft.sections, *more]})

    def _facts(self, blocks: Iterable[Block]) -> list[Statement]:
        """The facts and quotes that are proved."""
        return [row for row in statements_of(blocks) if self._is_proved(row) and row.kind is not StatementKind.ANALYSIS]

    def _uncited(self, draft: Draft) -> list[Statement]:
        """Findings of which a report that is shorter than wanted cites nothing, the surest first. A side of a
        contradiction and a version that the header names are told elsewhere."""
        least, _ = ReportOptions.model_validate(self.handoff["report_options"]).words
        sections = (block for section in draft.sections for block in section.blocks)
        words = words_of([*draft.summary, *sections, *draft.conclusions])
        most = _MOST_MORE if words < least else 0
        told = {name for row in draft.statements() for name in row.evidence_ids}
        told |= {
            name
            for row in self.handoff.get("contradictions") or []
            for side in row["sides"]
            for name in side["evidence_ids"]
        }
        uncited = [
            row
            for row in self.handoff["findings"]
            if row["evidence_ids"] and not told & set(row["evidence_ids"]) and not self._is_in_header(row["content"])
        ]
        uncited.sort(key=lambda row: -CONFIDENCE_RANK[row["confidence"]])
        return [Statement(text=row["content"], evidence_ids=list(row["evidence_ids"])) for row in uncited[:most]]

    def _is_in_header(self, text: str) -> bool:
        """Whether the text names a thing with the version that the header gives it."""
        named = self.handoff.get("versions") or []
        return any(all(word in text for word in version.split()) for version in named)


def _as_read(blocks: Iterable[Block]) -> list[Block]:
    """The blocks, a list of which one item is left as a paragraph."""
    return [
        Block(sentences=block.items[0]) if block.type is BlockType.LIST and len(block.items) == 1 else block
        for block in blocks
    ]


def _limits_said_again(blocks: Iterable[Block]) -> set[str]:
    """The ids of the sentences on what was not found that another such sentence says, too, but for those that begin an
    item whose next sentence says what to do without it."""
    limits = _single_limits(blocks)
    again = said_again([row.text for row in limits])
    once = {row.id for place, row in enumerate(limits) if place not in again}
    return {row.id for row in limits} - once


def _single_limits(blocks: Iterable[Block]) -> list[Statement]:
    """The sentences on what was not found, but for those that begin an item with more sentences, or that the advice
    behind them rests on."""
    blocks = list(blocks)
    leading = {item[0].id for block in blocks for item in block.items if len(item) > 1}
    leading |= {
        row.id for block in blocks for row, advice in pairwise(block.sentences) if _rests_on_nothing_else(advice)
    }
    prose = (row for block in blocks for row in block.prose())
    return [row for row in prose if row.kind is StatementKind.LIMIT and row.id not in leading]


def _rests_on_nothing_else(advice: Statement) -> bool:
    return advice.kind is StatementKind.ANALYSIS and not (advice.evidence_ids or advice.judged)


def _without_rows(unsound: Collection[str], block: Block) -> Block:
    rows = [row for row in block.rows if not any(cell.id in unsound for cell in row)]
    return block.model_copy(update={"rows": rows})


def _are_alike(one: str, other: str) -> bool:
    """Whether one of two sentences that lead into a section has most of what the other one says."""
    return says(one, other, least=_MOST_OF_AN_OPENING) or says(other, one, least=_MOST_OF_AN_OPENING)


def _notice(sections: Collection[DraftSection], labels: Labels) -> str:
    names = [section.heading for section in sections if section.writer is Writer.EXTRACTIVE]
    return labels.filled_up.format(count=len(sections), names=labels.semicolon.join(names)) if names else ""
