"""Every heading and fixed name that a report shows, in one table for each language."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The words of Markdown and HTML reports; the defaults are English. `language` is a BCP 47 tag."""

    language: str = "en"

    untitled: str = "Research"
    overline: str = "Research report"
    partial: str = "partial"
    contents: str = "Contents"
    skip: str = "Skip to the answer"

    short_answer: str = "Short answer"
    nothing_written: str = "No summary was written."
    not_found: str = "Not found"
    not_answered: str = "The sources do not answer this question; the closest passages are quoted below."
    no_report: str = "No report"
    no_report_written: str = "No report was written"
    searched_for: str = "Searched for"
    sub_queries_answered: str = "Sub-questions answered by a search"
    sources_collected: str = "Sources collected"
    claims_scored: str = "Claims scored"

    disagreements: str = "Where sources disagree"
    disagreements_lead: str = "All sides are quoted; none is preferred."
    disagreements_marked: str = "Statements that cite one of them are marked (disputed) above."
    open_questions: str = "Open questions"
    conclusions: str = "Conclusions"
    more_evidence: str = "More evidence"
    limitations: str = "Limitations"
    methodology: str = "Methodology"
    passages: str = "Quoted passages"
    date: str = "Date"
    no_font: str = "No installed font has these characters of the report: {characters}"
    archived_texts: str = "Archived texts"
    archived_texts_lead: str = "The sources as they were read, with every quoted passage marked."

    confidence: str = "Confidence"
    factors: tuple[str, ...] = ("Factor", "Value", "Meaning")
    claims: tuple[str, ...] = ("Claim", "For", "Against", "Confidence")
    better_supported: str = "Better supported"
    weakly_supported: str = "Weakly supported (one source, low-rated sources, or contradicted)"
    citations_proved: str = "Citations proved"
    sources_cited: str = "Sources cited"
    disagreement_count: str = "Disagreements"

    sources: str = "Sources"
    source_columns: tuple[str, ...] = ("Source", "Tier", "Score", "Date", "Cited as")
    no_sources: str = "No sources were found."
    score: str = (
        "The score weighs authority (0.25), recency (0.20), relevance to the question (0.35) and credibility by tier "
        "(0.20)."
    )
    not_cited: str = "not cited"
    no_date: str = "no date"
    unknown_source: str = "unknown source"
    also_in: str = "also in"
    disputed: str = "disputed"
    unsupported: str = "unsupported"
    analysis: str = "analysis"

    model: str = "Model"
    search: str = "Search"
    graph: str = "Graph"
    iterations: str = "Iterations"
    run: str = "Run"
    status: str = "Status"
    none: str = "none"
    sub_queries: str = "Sub-questions"
    sub_query_columns: tuple[str, ...] = ("Question", "Sources", "Status")
    statistics: str = "Statistics"
    wall_clock: str = "Wall clock"
    model_time: str = "Model time"
    model_calls: str = "Model calls"
    searches: str = "Searches"
    tokens: str = "Tokens in / out"
    cost: str = "Cost"
    content_fidelity: str = "Content fidelity"
    billed_twice: str = "Calls possibly billed twice"
    retried_requests: str = "Retried requests"
    usage: str = "Calls by role and phase"
    usage_columns: tuple[str, ...] = ("Role", "Phase", "Calls", "Seconds", "Tokens in", "Tokens out", "USD")

    levels: Mapping[str, str] = field(
        default_factory=lambda: {"high": "High", "medium": "Medium", "low": "Low", "none": "Not assessed"}
    )
    tiers: Mapping[str, str] = field(
        default_factory=lambda: {
            "PRIMARY_SOURCE": "primary",
            "AUTHORITATIVE": "authoritative",
            "SECONDARY": "secondary",
            "UNVERIFIED": "unverified",
            "FLAGGED": "flagged",
        }
    )


ENGLISH = Labels()
