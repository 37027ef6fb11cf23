"""The comparer: what findings of different sources are to each other, by the model of the role `verification`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.claims import Ground
from graph_research.research.evidence.findings import scored
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import Section, shortened
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.evidence import AGREE, MOST_PAIRS, Comparison, Contradiction, Evidence, Side
from graph_research.research.models.finding import Confidence, Finding
from graph_research.research.models.ids import comparison_id, contradiction_id
from graph_research.research.models.source import Source
from graph_research.research.scoring.origin import origins
from graph_research.research.scoring.versions import pages
from graph_research.text.relevance.alike import alike_pairs
from graph_research.text.relevance.statements import Nature
from graph_research.text.relevance.support import support

_QUOTE_CHARS = 300
_VALUE_CHARS = 80


@dataclass(frozen=True, kw_only=True)
class _Said:
    """One of two statements: its words, and the evidence for it."""

    text: str
    evidence: Sequence[Evidence]

    @property
    def sources(self) -> frozenset[str]:
        return frozenset(one.source_id for one in self.evidence)


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two statements and the ids of what they stand for: of two findings, or of a contradiction."""

    about: tuple[str, ...]
    one: _Said
    other: _Said


_Judged = tuple[_Pair, Mapping[str, Any]]
"""A pair and the row of the answer on it."""


def comparer(services: Services) -> Handler:
    """Judges the contradictions that are known and the pairs of findings that may say otherwise of one thing, each once
    a run and all in one call. A conflict becomes a contradiction. Without a model of the role `verification` nothing is
    compared. Claims are scored again where a contradiction changed, and where a finding has none."""
    agent = Agent(
        name="comparer",
        role="verification",
        phase="analysis",
        sections=(Section(name="pairs", noun="pair"),),
        settle=_settled,
    )

    async def compare(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        pairs = [] if agent.is_by_code(services, ctx) else _pairs(handoff)
        if not pairs:
            return {"comparisons": [], "degraded": [], **(await _scored_if_changed(handoff, [], ctx))}
        result = await agent.call(
            services,
            {
                **prompt_context(handoff.get("report_options"), ctx),
                "question": handoff["original_query"],
                **_material(pairs, {row["id"]: row for row in handoff["sources"]}),
            },
            ctx,
            fallback=lambda: {"comparisons": []},
            windows=handoff.get("model_windows"),
        )
        shown = {row["n"] for row in result.shown.get("pairs") or []}
        verdicts = {row["n"]: row for row in result.output["comparisons"] if row["n"] in shown}
        judged = [(pairs[n - 1], verdicts[n]) for n in sorted(verdicts)]
        compared = _compared(pairs, judged)
        contradictions = [*_of_another_nature(handoff, compared), *_conflicts(judged)]
        compared |= {(row.id,): row.nature for row in contradictions if (row.id,) not in compared}
        return {
            "comparisons": [_comparison(about, verdict, result.model).to_json() for about, verdict in compared.items()],
            "degraded": result.degradations(agent.name, ctx),
            **(await _scored_if_changed(handoff, contradictions, ctx)),
        }

    return compare


def _pairs(handoff: Mapping[str, Any]) -> list[_Pair]:
    """What was not compared in this run yet: the first side of each conflict with its others, then pairs of findings of
    which one is of this round. A contradiction that is known for another date, unit, scope or definition is left so. A
    finding that only joins what others quote is not compared, nor two that quote the same."""
    compared = {frozenset(row["about"]) for row in handoff.get("comparisons") or []}
    evidence = {row["id"]: Evidence.model_validate(row) for row in handoff["evidence"]}
    named = [Contradiction.model_validate(row) for row in handoff.get("contradictions") or []]
    known: list[_Pair] = []
    for row in (row for row in named if row.nature == Nature.CONFLICT):
        first, *others = (_said(side.value, side, evidence) for side in row.sides)
        if frozenset([row.id]) not in compared and len(known) + len(others) <= MOST_PAIRS:
            known += [_Pair(about=(row.id,), one=first, other=other) for other in others]
    findings = [Finding.model_validate(row) for row in handoff["findings"]]
    said = [_said(row.content, row, evidence) for row in findings]
    page_of = pages(list(map(Source.model_validate, handoff["sources"])))
    read = [{page_of[name] for name in one.sources} for one in said]
    disputed = [[set(side.evidence_ids) for side in row.sides] for row in named]
    joining = _joining(said)

    def may_pair(a: int, b: int) -> bool:
        mine, theirs = findings[a], findings[b]
        if a in joining or b in joining or _share_a_quote(said[a].evidence, said[b].evidence):
            return False
        if not read[a] - read[b] or not read[b] - read[a]:  # versions of a page do not contradict it
            return False
        if (
            handoff["iteration"] not in (mine.iteration, theirs.iteration)
            or frozenset([mine.id, theirs.id]) in compared
        ):
            return False
        both = set(mine.evidence_ids), set(theirs.evidence_ids)
        return not any(all(any(side & own for side in sides) for own in both) for sides in disputed)

    chosen = alike_pairs([row.content for row in findings], MOST_PAIRS - len(known), may_pair)
    of_findings = [_Pair(about=(findings[a].id, findings[b].id), one=said[a], other=said[b]) for a, b in chosen]
    return [*known, *of_findings]


def _joining(said: Sequence[_Said]) -> set[int]:
    """The places of the findings of several sources of which others hold every quote: what they join is compared."""
    return {
        place
        for place, one in enumerate(said)
        if len(one.sources) > 1
        and all(
            any(_share_a_quote([row], other.evidence) for n, other in enumerate(said) if n != place)
            for row in one.evidence
        )
    }


def _share_a_quote(one: Iterable[Evidence], other: Sequence[Evidence]) -> bool:
    return any(a.source_id == b.source_id and (a.quote in b.quote or b.quote in a.quote) for a in one for b in other)


def _said(text: str, row: Side | Finding, evidence: Mapping[str, Evidence]) -> _Said:
    return _Said(text=text, evidence=[evidence[name] for name in row.evidence_ids if name in evidence])


def _material(pairs: Sequence[_Pair], sources: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Each statement once, with its first quote and that source's title and date, and the pairs by their numbers."""
    numbers: dict[str, int] = {}
    statements, rows = [], []
    for n, pair in enumerate(pairs, 1):
        both = []
        for said in (pair.one, pair.other):
            source = sources[said.evidence[0].source_id] if said.evidence else {}
            quote = shortened(said.evidence[0].quote, _QUOTE_CHARS) if said.evidence else ""
            text = "\n".join(dict.fromkeys(filter(None, (said.text, quote, source.get("title")))))
            if text not in numbers:
                numbers[text] = len(numbers) + 1
                statements.append(
                    {"n": numbers[text], "text": text, "date": (source.get("published_at") or "").partition("T")[0]}
                )
            both.append(numbers[text])
        rows.append({"n": n, "one": both[0], "other": both[1]})
    return {"statements": statements, "pairs": rows}


def _settled(material: dict[str, Any]) -> dict[str, Any]:
    """Only the statements of the pairs that are shown."""
    named = {name for row in material["pairs"] for name in (row["one"], row["other"])}
    return {**material, "statements": [row for row in material["statements"] if row["n"] in named]}


def _comparison(about: Sequence[str], verdict: str, model: str) -> Comparison:
    return Comparison(id=comparison_id(about), about=list(about), verdict=verdict, model=model)


def _compared(pairs: Iterable[_Pair], judged: Iterable[_Judged]) -> dict[tuple[str, ...], str]:
    """The verdict on all that was compared whole. One conflict of two sides makes a conflict of all; without it what
    tells two of them apart counts before what does not."""
    of: dict[tuple[str, ...], list[str]] = {}
    for pair, row in judged:
        of.setdefault(pair.about, []).append(row["verdict"])
    wanted = Counter(pair.about for pair in pairs)
    return {about: min(said, key=_rank) for about, said in of.items() if len(said) == wanted[about]}


def _rank(verdict: str) -> int:
    return 0 if verdict == Nature.CONFLICT else 2 if verdict in (AGREE, Nature.NONE) else 1


def _of_another_nature(handoff: Mapping[str, Any], compared: Mapping[tuple[str, ...], str]) -> Iterable[Contradiction]:
    """The known contradictions whose nature the verdict changes."""
    for contradiction in map(Contradiction.model_validate, handoff.get("contradictions") or []):
        verdict = compared.get((contradiction.id,), contradiction.nature)
        nature = Nature.NONE if verdict == AGREE else Nature(verdict)
        if nature != contradiction.nature:
            yield contradiction.model_copy(update={"nature": nature.value})


def _conflicts(judged: Iterable[_Judged]) -> Iterable[Contradiction]:
    """A contradiction for each conflict of two findings."""
    for pair, row in judged:
        if len(pair.about) == 2 and row["verdict"] == Nature.CONFLICT:
            yield _conflict(pair, row)


def _conflict(pair: _Pair, row: Mapping[str, Any]) -> Contradiction:
    """The contradiction of two findings, with the quote of each that says its value; a source that stands on both sides
    stands on none."""
    both = pair.one.sources & pair.other.sources
    values = [*(row.get("values") or []), "", ""]
    sides = [
        _side(
            " ".join(value.split()) or shortened(said.text, _VALUE_CHARS),
            [one for one in said.evidence if one.source_id not in both],
        )
        for said, value in zip((pair.one, pair.other), values, strict=False)
    ]
    topic = " ".join(str(row.get("topic") or "").split()) or shortened(pair.one.text, _VALUE_CHARS)
    ids = [name for side in sides for name in side.evidence_ids]
    return Contradiction(id=contradiction_id("statement", topic, ids), kind="statement", topic=topic, sides=sides)


def _side(value: str, evidence: Sequence[Evidence]) -> Side:
    nearest = max(evidence, key=lambda one: support(value, [one.quote]).score)
    return Side(value=value, evidence_ids=[nearest.id])


async def _scored_if_changed(
    handoff: Mapping[str, Any], changed: Sequence[Contradiction], ctx: Context
) -> dict[str, list[dict[str, Any]] | dict[str, Any]]:
    """The changed contradictions, and findings, claims and confidence as they are with them and with the findings that
    were found since they were scored; nothing where there is neither."""
    claimed = {row["finding_id"] for row in handoff.get("claims") or []}
    unscored = [row for row in map(Finding.model_validate, handoff["findings"]) if row.id not in claimed]
    if not changed and all(row.stated is Confidence.SPECULATION for row in unscored):
        return {}
    sources = [Source.model_validate(row) for row in handoff["sources"]]
    documents = await read_documents(sources, ctx)
    known = {row["id"]: Contradiction.model_validate(row) for row in handoff.get("contradictions") or []}
    ground = Ground(
        question=handoff["original_query"],
        sources={source.id: source for source in sources},
        evidence={row["id"]: Evidence.model_validate(row) for row in handoff["evidence"]},
        contradictions=list({**known, **{row.id: row for row in changed}}.values()),
        origins=origins(sources, {name: document.text for name, document in documents.items()}),
    )
    score = scored([Finding.model_validate(row) for row in handoff["findings"]], ground)
    return {
        "contradictions": [row.to_json() for row in changed],
        "findings": [row.to_json() for row in score.findings],
        "claims": [row.to_json() for row in score.claims],
        "confidence": score.confidence.to_json(),
    }
