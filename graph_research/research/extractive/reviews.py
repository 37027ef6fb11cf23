"""Decisions on how to go on: the answers of reflector, refiner and supervisor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph_research.research.evidence.contradictions import as_gap
from graph_research.research.extractive.gaps import new_queries
from graph_research.research.extractive.sources import question_of
from graph_research.research.models.evidence import Contradiction
from graph_research.text.document import Document
from graph_research.text.language.words import terms, words
from graph_research.text.relevance.query import Query, parse
from graph_research.text.relevance.ranking import Pool, rank

_ENOUGH_SOURCES = 3
_ENOUGH_COVERAGE = 0.7
_MOST_NAMES = 2
_BEST = 3


def reflect(material: Mapping[str, Any]) -> dict[str, Any]:
    """Complete with three relevant sources that cover the sub-query and each of its parts, which commas part; else a
    query that was not asked, if there is one.

    A source is relevant where its title, snippet or content holds at least half of the sub-query's content words.
    Where the handoff has only their titles, their number decides, and the titles say which words are not covered.
    """
    query = _query_of(material)
    wanted = frozenset(terms(query))
    texts = _texts(material)
    relevant = [text for text in texts if len(wanted.intersection(terms(text))) * 2 >= len(wanted)]
    count = len(relevant) if texts else int(material.get("source_count") or 0)
    read = relevant or [str(title) for title in material.get("titles") or ()]
    covered = frozenset().union(*(terms(text) for text in read)) & wanted
    enough = not texts or len(covered) >= _ENOUGH_COVERAGE * len(wanted)
    found = f"{count} relevant sources, with {len(covered)} of the sub-query's {len(wanted)} words"
    part = next(iter(new_queries(_parts(query, material), [query, *_asked(material)])), None)
    if part is not None and _searches_left(material):
        return _verdict(part, done=False, why=f"{found}; “{part}” was not asked on its own.")
    if count >= _ENOUGH_SOURCES and enough:
        return _verdict(None, done=True, why=f"{found}.")
    refined = _refined(query, wanted - covered, read, material)
    if refined is None or not _searches_left(material):
        return _verdict(None, done=False, why=f"{found}; there is no other query to try.")
    return _verdict(refined, done=False, why=f"{found}; other words may find more.")


def _verdict(refined: str | None, *, done: bool, why: str) -> dict[str, Any]:
    return {
        "continue_searching": refined is not None,
        "refined_query": refined,
        "research_complete": done,
        "rationale": why,
    }


def _query_of(material: Mapping[str, Any]) -> str:
    sub_query = material.get("sub_query")
    return str(sub_query.get("query", "")) if isinstance(sub_query, Mapping) else str(sub_query or "")


def _asked(material: Mapping[str, Any]) -> list[str]:
    return [str(query) for query in material.get("queries") or ()]


def _parts(query: str, material: Mapping[str, Any]) -> list[str]:
    """A sub-query that joins several things by commas, as one query for each, all with the question's subject."""
    subject = parse(question_of(material)).subject
    opening = subject if query.startswith(subject) else ""
    parts = [part.strip() for part in query.removeprefix(opening).split(",")]
    return [f"{opening} {part}".strip() for part in parts] if len(parts) > 1 else []


def _texts(material: Mapping[str, Any]) -> list[str]:
    rows: Sequence[Mapping[str, Any]] = material.get("sources") or ()
    return [f"{row.get('title', '')}. {row.get('snippet', '')}. {row.get('content') or ''}" for row in rows]


def _searches_left(material: Mapping[str, Any]) -> bool:
    left = material.get("searches_left")
    if left is None:
        left = int(material.get("max_searches") or 0) - len(material.get("queries") or ())
    return int(left) > 0


def _refined(query: str, missing: frozenset[str], texts: Sequence[str], material: Mapping[str, Any]) -> str | None:
    """The uncovered words beside the question's subject, else a name in the best sentences found, which a question of
    two steps does not give."""
    asked = parse(question_of(material))
    opening = asked.subject
    uncovered = " ".join(dict.fromkeys(query[w.start : w.end] for w in words(query) if w.term in missing))
    candidates = [f"{opening} {uncovered}".strip(), uncovered] if uncovered else []
    candidates += [f"{name} {uncovered or query}" for name in _new_names(asked, texts)]
    return next(iter(new_queries(candidates, [query, *_asked(material)])), None)


def _new_names(query: Query, texts: Sequence[str]) -> list[str]:
    """The names in the sentences that rank best for the question, without those that the question has."""
    ranked = rank(Pool({str(number): Document(text) for number, text in enumerate(texts) if text.strip()}), query)
    names = [name for item in ranked[:_BEST] for name in parse(item.unit.text).names]
    known = query.weights(query.language).keys()
    return [name for name in names if not known & set(terms(name, query.language))][:_MOST_NAMES]


_MOST_QUERIES = 2


def refine(material: Mapping[str, Any]) -> dict[str, Any]:
    """Severity by priority (1 critical, 2 moderate, else minor). A gap without a new query is not addressable.
    A conflict is a gap of priority 2 whose query has both values."""
    asked = [str(row.get("query", "")) for row in material.get("sub_queries") or ()]
    conflicts = [as_gap(Contradiction.model_validate(row)).to_json() for row in material.get("contradictions") or ()]
    gaps = [gap for gap in (*(material.get("gaps") or ()), *conflicts) if not gap.get("addressed")]
    rows: list[dict[str, Any]] = []
    for gap in gaps:
        fresh = new_queries([str(query) for query in gap.get("suggested_queries") or ()], asked)[:_MOST_QUERIES]
        asked += fresh
        rows.append(_row(gap, fresh))
    addressable = [row["gap_id"] for row in rows if row["addressable"]]
    go_on = bool(addressable) and _rounds_left(material)
    return {
        "gap_analysis": rows,
        "iteration_recommendation": {
            "should_iterate": go_on,
            "rationale": _rationale(rows, addressable, go_on=go_on),
            "priority_gaps": addressable if go_on else [],
        },
        "report_improvements": [],
    }


def _row(gap: Mapping[str, Any], queries: Sequence[str]) -> dict[str, Any]:
    priority = int(gap.get("priority") or 1)
    return {
        "gap_id": str(gap.get("id", "")),
        "severity": "critical" if priority == 1 else "moderate" if priority == 2 else "minor",
        "addressable": bool(queries),
        "follow_up_queries": [
            {"query": query, "expected_contribution": f"Sources for: {gap.get('description', '')}"} for query in queries
        ],
    }


def _rounds_left(material: Mapping[str, Any]) -> bool:
    remaining = material.get("remaining_iterations")
    if remaining is None:
        remaining = int(material.get("max_iterations") or 1) - int(material.get("iteration") or 1)
    return int(remaining) > 0


def _rationale(rows: Sequence[Mapping[str, Any]], addressable: Sequence[str], *, go_on: bool) -> str:
    if not rows:
        return "No gap is open."
    if go_on:
        return f"{len(addressable)} of {len(rows)} open gaps have a query that was not asked yet."
    if addressable:
        return "Queries are left that were not asked yet, but no round to ask them in."
    return "Every query that the open gaps suggest was asked already."


def supervise(material: Mapping[str, Any]) -> dict[str, Any]:
    """Always `proceed`: an answer made by code from the same material would be the same after a retry."""
    gate: Mapping[str, Any] = material.get("gate") or {}
    issues = [str(issue) for issue in gate.get("issues") or ()]
    phase = str(material.get("phase") or material.get("current_phase") or "phase")
    score = min(10.0, max(1.0, float(gate.get("quality_score") or 0.0)))
    passed = bool(gate.get("valid", not issues))
    return {
        "action": "proceed",
        "rationale": f"The gate of {phase} passed."
        if passed
        else f"The gate of {phase} found: {'; '.join(issues)}. Going on: the same material would give the same answer.",
        "quality_assessment": {"score": score, "strengths": [], "weaknesses": issues},
        "guidance": None,
    }
