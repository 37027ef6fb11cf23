"""The report as Markdown: readable as plain text, safe in any renderer, the same bytes for the same research."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from graph_research.research.evidence.citations import (
    Citation,
    CitedBlock,
    CitedContradiction,
    CitedSide,
    CitedStatement,
)
from graph_research.research.evidence.claim_support import Status
from graph_research.research.models.draft import BlockType, StatementKind
from graph_research.research.models.plan import SubQueryStatus
from graph_research.research.report.formatting import (
    attribution,
    clean,
    closed,
    day,
    description_beside_values,
    one_line,
    percent,
    retries_in_words,
    source_title,
    web_link,
    who_served,
)
from graph_research.research.report.labels import ENGLISH, Labels
from graph_research.research.report.model import Report, ReportSource
from graph_research.text.wording import counted

_ACTIVE = re.compile(r"[\\`*\[\]|~]|(?<=\])\(|!(?=\[)|(?<![^\W_])_|_(?![^\W_])|\$(?=\S)")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_LINE_START = re.compile(r"^(?=[#+=-])|^(\d{1,9})(?=[.)](?:\s|$))")


def escape(text: str) -> str:
    """Foreign text as one line that Markdown and HTML leave alone: no markup, link, image, table cell or heading."""
    line = _ACTIVE.sub(lambda match: "\\" + match[0], one_line(text))
    line = _ENTITY.sub("&amp;", line).replace("<", "&lt;")
    line = "\\" + line if line.startswith(">") else line
    return _LINE_START.sub(lambda match: f"{match[1]}\\" if match[1] else "\\", line)


def render_markdown(report: Report, labels: Labels = ENGLISH) -> str:
    """The report, ending in a newline. It holds no time, duration, absolute path or run id."""
    blocks = (block for block in _Page(report, labels).blocks() if block)
    return "\n\n".join(blocks) + "\n"


class _Page:
    """One report's blocks from top to bottom; an empty one is left out."""

    def __init__(self, report: Report, labels: Labels) -> None:
        self.report = report
        self.labels = labels
        self.citations = {citation.id: citation for citation in report.citations}
        self.sources = {source.id: source for source in report.sources}
        self.disputed = report.disputed()

    def blocks(self) -> Iterator[str]:
        report = self.report
        yield f"# {escape(report.question) or self.labels.untitled}"
        yield f"> {escape(report.notice)}" if report.notice else ""
        yield from self._answer()
        for section in report.sections:
            yield f"{'#' * (section.level + 1)} {escape(section.heading)}"
            yield from self._blocks(section.blocks)
        yield from self._disagreements()
        yield from self._gaps()
        yield from self._titled(self.labels.conclusions, report.conclusions)
        yield from self._confidence()
        yield from self._sources()
        yield from self._more()
        yield f"## {self.labels.limitations}"
        yield _bullets(escape(line) for line in report.limitations)
        yield f"## {self.labels.methodology}"
        yield self._how()

    def _answer(self) -> Iterator[str]:
        report, labels = self.report, self.labels
        if report.written and report.found:
            yield f"## {labels.short_answer}"
            yield from self._blocks(report.short_answer) if report.short_answer else iter([labels.nothing_written])
            return
        yield f"## {labels.not_found if report.written else labels.no_report_written}"
        yield self._not_found() if report.written else self._what_exists()
        yield from self._blocks(report.short_answer)
        if report.searched:
            yield f"{labels.searched_for}:"
            yield _bullets(escape(query) for query in report.searched)

    def _not_found(self) -> str:
        """Said by the writer itself where its answer opens with a limit."""
        opening = next((row for block in self.report.short_answer for row in block.statements()), None)
        said = opening and opening.kind is StatementKind.LIMIT
        return "" if said else self.labels.not_answered

    def _what_exists(self) -> str:
        report, labels = self.report, self.labels
        done = sum(outcome.status == SubQueryStatus.COMPLETED for outcome in report.sub_queries)
        return _bullets(
            [
                f"{labels.sub_queries_answered}: {done} of {len(report.sub_queries)}",
                f"{labels.sources_collected}: {len(report.sources)}",
                f"{labels.claims_scored}: {len(report.claims)}",
            ]
        )

    def _titled(self, title: str, blocks: Sequence[CitedBlock]) -> Iterator[str]:
        if blocks:
            yield f"## {title}"
            yield from self._blocks(blocks)

    def _more(self) -> Iterator[str]:
        if self.report.more_evidence:
            yield f"## {self.labels.more_evidence}"
            yield _bullets(self._item([statement]) for statement in self.report.more_evidence)

    def _blocks(self, blocks: Iterable[CitedBlock]) -> Iterator[str]:
        for block in blocks:
            if block.type is BlockType.LIST:
                items = [self._item(item) for item in block.items]
                yield "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1)) if block.ordered else _bullets(items)
            elif block.type is BlockType.TABLE:
                yield f"**{escape(block.caption)}**" if block.caption else ""
                yield _table(
                    [escape(head) for head in block.header], [[self._item([c]) for c in r] for r in block.rows]
                )
            elif block.type is BlockType.CODE:
                yield from (self._code(row, block.language) for row in block.sentences)
            else:
                prefix = "> " if block.type is BlockType.QUOTE else ""
                yield prefix + self._item(block.sentences)

    def _item(self, statements: Sequence[CitedStatement]) -> str:
        return " ".join(
            self._quote(row) if row.kind is StatementKind.QUOTE else self._sentence(row) for row in statements
        )

    def _code(self, statement: CitedStatement, language: str) -> str:
        text = clean(statement.text).strip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
        name = language if language.isalnum() else ""
        marks = " ".join([*self._numbers(statement.citations), *self._marks(statement)])
        return f"{fence}{name}\n{text}\n{fence}" + (f"\n\n{marks}" if marks else "")

    def _quote(self, statement: CitedStatement) -> str:
        parts = [f"“{escape(statement.text)}”", *self._numbers(statement.citations[:1])]
        first = self._source_of(statement.citations[0]) if statement.citations else None
        if first:
            parts.append(f"*{escape(attribution(first))}*")
        if len(statement.citations) > 1:
            parts[-1] += ";"
            parts.append(f"{self.labels.also_in} " + " ".join(self._numbers(statement.citations[1:])))
        return " ".join([*parts, *self._marks(statement)])

    def _sentence(self, statement: CitedStatement) -> str:
        return " ".join([escape(statement.text), *self._numbers(statement.citations), *self._marks(statement)])

    def _marks(self, statement: CitedStatement) -> list[str]:
        disputed = any(name in self.disputed for name in statement.citations)
        return [
            *([f"({self.labels.disputed})"] if disputed else []),
            *([f"*({self.labels.analysis})*"] if statement.status is Status.ANALYSIS else []),
            *([self._unsupported] if statement.status is Status.UNSUPPORTED else []),
        ]

    @property
    def _unsupported(self) -> str:
        return f"**({self.labels.unsupported})**"

    def _numbers(self, citations: Iterable[str]) -> list[str]:
        """The numbers of the cited sources, each once."""
        return [f"[{n}]" for n in dict.fromkeys(self.citations[name].n for name in citations)]

    def _source_of(self, citation: str) -> ReportSource | None:
        return self.sources.get(self.citations[citation].source_id)

    def _disagreements(self) -> Iterator[str]:
        if not self.report.contradictions:
            return
        yield f"## {self.labels.disagreements}"
        yield f"{self.labels.disagreements_lead} {self.labels.disagreements_marked}"
        for contradiction in self.report.contradictions:
            yield from self._disagreement(contradiction)

    def _disagreement(self, contradiction: CitedContradiction) -> Iterator[str]:
        yield f"### {escape(contradiction.topic)}"
        yield escape(description_beside_values(contradiction))
        sides = contradiction.sides
        yield "\n".join(
            [
                _row(f"**{escape(side.value)}**" for side in sides),
                _row("---" for _ in sides),
                _row(self._side(side) for side in sides),
            ]
        )

    def _side(self, side: CitedSide) -> str:
        return "<br>".join(self._side_quote(self.citations[name]) for name in side.citations)

    def _side_quote(self, citation: Citation) -> str:
        source = self.sources.get(citation.source_id)
        who = f" *{escape(attribution(source))}* ({self.labels.tiers.get(source.tier, source.tier)})" if source else ""
        return f"“{escape(citation.quote)}” [{citation.n}]{who}" + ("" if citation.valid else f" {self._unsupported}")

    def _gaps(self) -> Iterator[str]:
        if not self.report.gaps:
            return
        yield f"## {self.labels.open_questions}"
        yield _bullets(
            escape(gap.description) + (f" ({closed(gap)})" if gap.addressed else "") for gap in self.report.gaps
        )

    def _confidence(self) -> Iterator[str]:
        confidence, labels = self.report.confidence, self.labels
        value = "" if confidence.value is None else f" ({percent(confidence.value)})"
        yield f"## {labels.confidence}"
        yield f"**{labels.levels[confidence.level]}**{value}"
        yield _table(
            labels.factors,
            [[escape(factor.name), escape(factor.value), escape(factor.effect)] for factor in confidence.factors],
        )
        strong, weak = (self._claim_numbers(ids) for ids in (confidence.strong, confidence.weak))
        if strong:
            yield f"{labels.better_supported}: {strong}"
        if weak:
            yield f"{labels.weakly_supported}: {weak}"

    def _claim_numbers(self, ids: Sequence[str]) -> str:
        cited = [name for claim in self.report.claims if claim.id in ids for name in claim.citations]
        return " ".join(self._numbers(sorted(set(cited), key=lambda name: self.citations[name].n)))

    def _sources(self) -> Iterator[str]:
        yield f"## {self.labels.sources}"
        if not self.report.sources:
            yield self.labels.no_sources
            return
        yield _table(
            self.labels.source_columns,
            [self._source_row(source) for source in self.report.sources],
        )

    def _source_row(self, source: ReportSource) -> list[str]:
        title, link = escape(source_title(source)), web_link(source.url)
        shown = f"[{title}](<{_target(link)}>)" if link else title
        publisher = escape(source.publisher or "")
        where = escape(_relative(source.url)) if source.url and not link and one_line(source.url) != title else ""
        named = "<br>".join(part for part in (shown, publisher, where) if part)
        cited = " ".join(self._numbers(source.citations)) or "–"
        tier = self.labels.tiers.get(source.tier, escape(source.tier))
        return [named, tier, f"{source.composite:.2f}", escape(day(source.published_at)), cited]

    def _how(self) -> str:
        report, labels = self.report, self.labels
        numbers = report.statistics
        model = "; ".join(who_served(report)) or labels.none
        proved = sum(citation.valid for citation in report.citations)
        lines = [
            f"{labels.model}: {escape(model)}. {labels.search}: {escape(', '.join(report.search)) or labels.none}.",
            f"{labels.graph}: {escape(report.graph)}, {counted(report.iterations, 'iteration')}, "
            f"{counted(len(report.sub_queries), 'sub-question')}.",
            f"{counted(numbers.sources_found, 'source')} found, {numbers.sources_cited} cited, "
            f"from {counted(numbers.origins_cited, 'origin')}.",
            f"{counted(proved, 'citation', of=len(report.citations))} found word for word in the archived texts.",
        ]
        if again := ", ".join(retries_in_words(numbers.retries)):
            lines.append(f"{labels.retried_requests}: {escape(again)}.")
        return _bullets(lines)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join([_row(heads), _row("---" for _ in heads), *(_row(row) for row in rows)])


def _target(url: str) -> str:
    """A link's address inside `<…>`; what could end it or the table's cell is percent-encoded."""
    return "".join(f"%{ord(character):02X}" if character in '<>|\\`"' else character for character in url)


def _relative(url: str) -> str:
    """A local document's path below the folder that was added; of an absolute one only the file's name."""
    path = url.removeprefix("file://")
    return path.rsplit("/", 1)[-1] if path.startswith("/") or re.match(r"[A-Za-z]:[\\/]", path) else url
