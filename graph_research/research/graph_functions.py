"""Functions that the research graphs' expressions may call: pure, over plain JSON values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any

from graph_research.graph.statuses import Cause
from graph_research.providers.errors import BudgetReached
from graph_research.research import decision_log, quality_gates, topic_functions, writing_functions
from graph_research.research.evidence.contradictions import as_gap
from graph_research.research.llm.context_windows import model_windows, token_limit_retries
from graph_research.research.models.evidence import Contradiction, is_open
from graph_research.research.models.ids import sub_query_id
from graph_research.research.models.phase import phase_of_node
from graph_research.research.models.plan import SubQuery, SubQueryStatus
from graph_research.research.models.source import Quality
from graph_research.research.retrieval.query_novelty import asked_before
from graph_research.text.relevance.open_points import is_rest_of
from graph_research.text.relevance.statements import Nature

Row = Mapping[str, Any]
Rows = Sequence[Row]

_MOST_QUERY_CHARS = 1_000
"""Of a question that is searched for as it was asked."""

_CAUSE_OF_ERROR: Mapping[str, Cause] = {
    "Cancelled": Cause.CANCELLED,
    "GraphTimeout": Cause.TIMEOUT,
    "TimeoutError": Cause.TIMEOUT,
}
"""The engine's names for a run that was cancelled and for a time that was over; all else is an error."""


@cache
def research_functions() -> Mapping[str, Callable[..., Any]]:
    """By the name that a graph uses; the same ones each time."""
    return {**_of_topics(), **_of_writing(), **_of_gates(), **_of_rounds()}


def _of_topics() -> dict[str, Callable[..., Any]]:
    return {
        "brought_new": topic_functions.brought_new,
        "flatten": topic_functions.flatten,
        "new_sources": topic_functions.new_sources,
        "quoted_sources": topic_functions.quoted_sources,
        "read_topics": topic_functions.read_topics,
        "read_whole": topic_functions.read_whole,
        "readings": topic_functions.readings,
        "topic_results": topic_functions.topic_results,
        "unread_sources": topic_functions.unread_sources,
        "upserted": topic_functions.upserted,
        "with_open_limits": topic_functions.with_open_limits,
    }


def _of_writing() -> dict[str, Callable[..., Any]]:
    return {
        "edited_blocks": writing_functions.edited_blocks,
        "edited_parts": writing_functions.edited_parts,
        "judged_repetitions": writing_functions.judged_repetitions,
        "mending_batches": writing_functions.mending_batches,
        "newest_versions": writing_functions.newest_versions_of,
        "newly_told": writing_functions.newly_told,
        "parts_to_mend": writing_functions.parts_to_mend,
        "section_searches": writing_functions.section_searches,
        "sections_to_mend": writing_functions.sections_to_mend,
        "sections_to_write": writing_functions.sections_to_write,
        "statement_batches": writing_functions.statement_batches,
        "without_repeated": writing_functions.without_repeated,
        "written_sections": writing_functions.written_sections,
    }


def _of_gates() -> dict[str, Callable[..., Any]]:
    return {
        "findings_gate": lambda findings, sources: quality_gates.findings_gate(findings, sources).to_json(),
        "plan_gate": lambda rows, brief, most: quality_gates.plan_gate(rows, brief, most).to_json(),
        "refinement_gate": lambda gaps, now, most: quality_gates.refinement_gate(gaps, now, most).to_json(),
        "report_gate": lambda report: quality_gates.report_gate(report).to_json(),
        "source_gate": lambda sources, rows: quality_gates.source_gate(sources, rows).to_json(),
    }


def _of_rounds() -> dict[str, Callable[..., Any]]:
    return {
        "abort_record": abort_record,
        "addressable_gaps": addressable_gaps,
        "analysis_metrics": analysis_metrics,
        "closed_gaps": closed_gaps,
        "completed_dispatch": decision_log.completed_dispatch,
        "count_quality": count_quality,
        "cut_off": cut_off,
        "differing": differing,
        "failed": failed,
        "failures_of": failures_of,
        "first_searches": first_searches,
        "further_sub_query": further_sub_query,
        "gap_queries": gap_queries,
        "gaps_left": gaps_left,
        "gathering_metrics": gathering_metrics,
        "gathering_stats": gathering_stats,
        "join": join,
        "markdown_table": markdown_table,
        "marked": marked,
        "model_windows": model_windows,
        "open_gaps": open_gaps,
        "open_points": open_points,
        "pending": pending,
        "plan_metrics": plan_metrics,
        "refinement_metrics": refinement_metrics,
        "reopened": reopened,
        "synthesis_metrics": synthesis_metrics,
        "token_limit_retries": token_limit_retries,
        "types_of": types_of,
        "unaddressed": unaddressed,
        "unread": unread,
        "unsettled": unsettled,
    }


def join(texts: Sequence[str], separator: str = ", ") -> str:
    """The texts as one, `separator` between them."""
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("join() joins texts only")
    return separator.join(texts)


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a Markdown table, the first one its head; short rows are filled up with empty cells."""
    width = max((len(row) for row in rows), default=0)
    if not width:
        return ""
    lines = [[_cell(value) for value in row] + [""] * (width - len(row)) for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in (lines[0], ["---"] * width, *lines[1:]))


def _cell(value: Any) -> str:
    return " ".join(str(value).replace("\\", "\\\\").replace("|", "\\|").split())


def pending(sub_queries: Rows) -> list[Row]:
    """The sub-queries not yet researched, in order."""
    return [row for row in sub_queries if row["status"] == SubQueryStatus.PENDING]


def first_searches(sub_queries: Rows) -> list[Row]:
    """What the researchers of these sub-queries search for first: a sub-query once for each of its queries."""
    return [
        {**row, "query": query} for row in sub_queries for query in (row["query"], *(row.get("further_queries") or ()))
    ]


def failed(sub_queries: Rows) -> list[Row]:
    """The sub-queries whose research failed."""
    return [row for row in sub_queries if row["status"] == SubQueryStatus.FAILED]


def failures_of(errors: Rows) -> list[Row]:
    """The items of a fan-out over sub-queries that failed, as entries of `search_failures`."""
    return [
        {
            "sub_query_id": row["item"]["id"],
            "query": row["item"]["query"],
            "provider": "all",
            "error": row["type"],
            "message": row["message"],
        }
        for row in errors
    ]


def cut_off(failures: Rows) -> bool:
    """Whether the limits of the run left no room for a search."""
    return any(row["error"] == BudgetReached.__name__ for row in failures)


def types_of(sub_query: Row, source_types: Sequence[str]) -> list[str]:
    """Where to look for a sub-query: its own source types as far as the run has them, else the run's."""
    own = sub_query.get("source_types") or []
    return [kind for kind in source_types if kind in own] or list(source_types)


def unread(errors: Rows) -> list[Row]:
    """The readings of a fan-out that failed, as entries of `degraded`: the analyzer reads their sources itself."""
    return [
        {
            "node": "read",
            "agent": "extractor",
            "reason": f"the sources of {row['item']['sub_query']['id']} are shown as they are: {row['message']}",
        }
        for row in errors
    ]


def reopened(sub_queries: Rows, sources: Rows, question: str) -> list[Row]:
    """All sub-queries, the failed ones pending again. Where no source was found at all, and the question itself was not
    searched for, it is one more."""
    again = [
        {**row, "status": SubQueryStatus.PENDING.value, "error": None}
        if row["status"] == SubQueryStatus.FAILED
        else row
        for row in sub_queries
    ]
    if sources or not sub_queries or asked_before(question, [row["query"] for row in sub_queries]):
        return again
    last = sub_queries[-1]
    number = 1 + sum(row["iteration"] == last["iteration"] for row in sub_queries)
    asked = SubQuery(
        id=sub_query_id(last["iteration"], number),
        query=question[:_MOST_QUERY_CHARS],
        priority=1 + max(row["priority"] for row in sub_queries),
        iteration=last["iteration"],
    )
    return [*again, asked.to_json()]


def marked(sub_queries: Rows, outputs: Rows, errors: Rows) -> list[Row]:
    """All sub-queries with what became of those that were just researched.

    `outputs` are topics (`{topic: …}`, or the topic's own keys), `errors` the items of a fan-out that failed.
    """
    became: dict[str, str | None] = {}
    for output in outputs:
        topic = output.get("topic") or output
        became[topic["sub_query_id"]] = topic.get("error")
    for error in errors:
        became[error["item"]["id"]] = error["message"]
    return [_with_outcome(row, became) for row in sub_queries]


def _with_outcome(row: Row, became: Mapping[str, str | None]) -> Row:
    if row["id"] not in became:
        return row
    error = became[row["id"]]
    status = SubQueryStatus.FAILED if error else SubQueryStatus.COMPLETED
    return {**row, "status": status.value, "error": error}


def unaddressed(gaps: Rows) -> int:
    """How many gaps are still open."""
    return len(open_gaps(gaps))


def open_gaps(gaps: Rows) -> list[Row]:
    """The gaps still open."""
    return [row for row in gaps if not row["addressed"]]


def closed_gaps(gaps: Rows, answered: Collection[str], iteration: int) -> list[dict[str, Any]]:
    """The gaps whose ids are in `answered`, closed in this round."""
    closed = {"addressed": True, "addressed_in": iteration}
    return [{**row, **closed} for row in gaps if row["id"] in answered]


def gaps_left(gaps: Rows, answered: Rows) -> list[Row]:
    """The gaps that no `{gap, statements, left}` answers whole, one that is answered in part with what is left of
    it as its description and, where a search may close it, as its query: those that were suggested ask for the rest,
    too. An answer that leaves something else than a part of the gap, or all of it, is none."""
    whole = {row["gap"] for row in answered if not row.get("left")}
    asked = {row["id"]: row["description"] for row in gaps}
    left = {
        row["gap"]: row["left"]
        for row in answered
        if row.get("left") and row["gap"] in asked and is_rest_of(row["left"], asked[row["gap"]])
    }

    def reworded(row: Row) -> Row:
        rest = left[row["id"]]
        queries = [rest[:_MOST_QUERY_CHARS]] if row.get("suggested_queries") else []
        return {**row, "description": rest, "suggested_queries": queries}

    return [reworded(row) if row["id"] in left else row for row in gaps if row["id"] not in whole]


def addressable_gaps(gaps: Rows) -> list[Row]:
    """The gaps still open of which no refiner judged that a search cannot close them."""
    return [row for row in open_gaps(gaps) if row.get("addressable", True)]


def open_points(gaps: Rows, contradictions: Rows, sub_queries: Rows) -> list[Row]:
    """What is worth looking for once more: the gaps still open that a search may close, then what would settle each
    conflict that no sub-query was researched for, in the form of a gap."""
    conflicts = map(Contradiction.model_validate, unsettled(contradictions, sub_queries))
    return [*addressable_gaps(gaps), *(as_gap(conflict).to_json() for conflict in conflicts)]


def gap_queries(gaps: Rows) -> list[str]:
    """The queries that are suggested for the gaps still open, each once."""
    return list(dict.fromkeys(topic_functions.flatten(open_gaps(gaps), "suggested_queries")))


def further_sub_query(questions: Sequence[str], sub_queries: Rows, iteration: int) -> Row:
    """What is still to be found as one further sub-query of the round."""
    number = 1 + sum(row["iteration"] == iteration for row in sub_queries)
    query = "; ".join(questions)
    row = SubQuery(
        id=sub_query_id(iteration, number), query=query, status=SubQueryStatus.COMPLETED, iteration=iteration
    )
    return row.to_json()


def differing(contradictions: Rows) -> list[Row]:
    """The contradictions without those that a model found to be none."""
    return [row for row in contradictions if row.get("nature") != Nature.NONE]


def unsettled(contradictions: Rows, sub_queries: Rows) -> list[Row]:
    """The conflicts for which no sub-query was researched yet; differences of date, unit, scope or definition, and what
    a section settles, are none."""
    asked = {row.get("gap_id") for row in sub_queries if row["status"] != SubQueryStatus.PENDING}
    return [row for row in contradictions if row["id"] not in asked and is_open(row)]


def count_quality(sources: Rows, quality: str) -> int:
    """How many sources have this quality."""
    return sum(1 for row in sources if row["quality"] == quality)


def plan_metrics(sub_queries: Rows, research_brief: str | None) -> dict[str, Any]:
    return {"sub_query_count": len(sub_queries), "has_research_brief": bool(research_brief)}


def gathering_metrics(sources: Rows, sub_queries: Rows) -> dict[str, Any]:
    """`source_count`, and how the sub-queries and the qualities are spread."""
    return {
        "source_count": len(sources),
        "sub_queries_completed": sum(1 for row in sub_queries if row["status"] == SubQueryStatus.COMPLETED),
        "sub_queries_failed": len(failed(sub_queries)),
        "quality_distribution": {
            quality.value: count_quality(sources, quality)
            for quality in (Quality.HIGH, Quality.MEDIUM, Quality.LOW, Quality.UNKNOWN)
        },
    }


def gathering_stats(sub_queries: Rows, topics: Rows, sources: Rows, iteration: int) -> dict[str, Any]:
    """The gatherer's numbers of one iteration, summed up from its topics. What two topics found, or what an earlier
    iteration had, counts as a duplicate too."""
    ids = {row["id"] for row in sub_queries if row["iteration"] == iteration}
    own = [row for row in topics if row["sub_query_id"] in ids]
    collected = sum(1 for row in sources if row["iteration"] == iteration)
    shared = max(sum(len(row["source_ids"]) for row in own) - collected, 0)
    return {
        "queries_executed": sum(row["searches_performed"] for row in own),
        "queries_failed": sum(1 for row in failed(sub_queries) if row["id"] in ids),
        "sources_collected": collected,
        "duplicates_skipped": sum(row["duplicates_skipped"] for row in own) + shared,
    }


def analysis_metrics(findings: Rows, gaps: Rows, sources: Rows) -> dict[str, Any]:
    return {
        "finding_count": len(findings),
        "high_confidence_count": sum(1 for row in findings if row["confidence"] in quality_gates.HIGH_CONFIDENCE),
        "gap_count": unaddressed(gaps),
        "source_count": len(sources),
    }


def synthesis_metrics(report: str | None) -> dict[str, Any]:
    return {"has_report": bool(report), "report_length": len(report or "")}


def refinement_metrics(gaps: Rows, should_iterate: bool) -> dict[str, Any]:
    return {
        "unaddressed_gaps": unaddressed(gaps),
        "should_iterate": bool(should_iterate),
        "gaps_addressed": len(gaps) - unaddressed(gaps),
        "gap_total": len(gaps),
    }


def abort_record(error: Row, iteration: int, degraded: Rows = ()) -> dict[str, Any]:
    """What an aborted run keeps in `metadata`: the cause, the phase, the iteration, and how many prompts were cut."""
    cause = _CAUSE_OF_ERROR.get(str(error["type"]), Cause.ERROR)
    node = str(error["node"])
    phase = phase_of_node(node) or node.removeprefix("review_")
    record = {cause.value: True, "abort_phase": phase, "abort_iteration": iteration}
    record["token_limit_retries"] = token_limit_retries(degraded)
    return {**record, "abort_reason": error["message"]} if cause == Cause.ERROR else record
