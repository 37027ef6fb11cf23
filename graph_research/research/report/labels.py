"""Every heading, fixed word and sentence that a report shows of its own, in one table for each language.

Texts with `{names}` are templates for `str.format`. Numbers stand behind a colon, so that no language needs forms of a
noun for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The words of Markdown and HTML reports; the defaults are English. `language` is a BCP 47 tag."""

    language: str = "en"

    # The head and the parts
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
    sub_queries_answered: str = "Sub-questions answered by a search: {done} of {all}"
    sources_collected: str = "Sources collected: {n}"
    claims_scored: str = "Claims scored: {n}"
    disagreements: str = "Where sources disagree"
    disagreements_lead: str = "All sides are quoted; none is preferred."
    disagreements_marked: str = "Statements that cite one of them are marked (disputed) above."
    disagreement_told: str = "Compared above, under “{heading}”."
    open_questions: str = "Open questions"
    conclusions: str = "Conclusions"
    more_evidence: str = "More evidence"
    sources: str = "Sources"
    methodology: str = "Methodology"
    passages: str = "Quoted passages"
    date: str = "Date"
    no_font: str = "No installed font has these characters of the report: {characters}"
    archived_texts: str = "Archived texts"
    archived_texts_lead: str = "The sources as they were read, with every quoted passage marked."
    archived_text_too_long: str = "Too long to include whole; the quoted passages are shown with the text around them."
    characters: str = "{n} characters"

    # How the run went, above everything
    no_search_answered: str = "No search provider answered, so the missing results say nothing about the question."
    ended: str = "Partial: the run {how}. {rest}"
    ended_in_phase: str = "Partial: the run {how} in the phase “{phase}”. {rest}"
    ended_how: Mapping[str, str] = field(
        default_factory=lambda: {
            "cancelled": "was cancelled",
            "timeout": "ran out of time",
            "error": "failed",
            "": "has not ended",
        }
    )
    phases: Mapping[str, str] = field(
        default_factory=lambda: {
            "clarification": "clarification",
            "planning": "planning",
            "gathering": "gathering",
            "analysis": "analysis",
            "synthesis": "writing",
            "refinement": "refinement",
            "completed": "end",
        }
    )
    ended_with_report: str = "This report was written before that and may lack what was still to come."
    ended_without_report: str = "No report had been written; what had been collected until then is listed here."

    # Marks of sentences
    also_in: str = "also in"
    disputed: str = "disputed"
    analysis: str = "analysis"
    unsupported: str = "unsupported"
    analysis_title: str = "Analysis: what the writer infers from the cited passages"
    computed: str = "Computed: {expressions}"
    statuses: Mapping[str, str] = field(
        default_factory=lambda: {
            "proved": "proved",
            "verified": "verified",
            "cited": "cited",
            "analysis": "analysis",
            "transition": "transition",
            "limit": "limit",
            "unsupported": "unsupported",
        }
    )
    meanings: Mapping[str, str] = field(
        default_factory=lambda: {
            "proved": "word for word in the source",
            "verified": "found supported by its passages by a model that checked it",
            "cited": "with passages, checked by code only",
            "analysis": "the writer's inference from cited passages",
            "unsupported": "failed its check",
        }
    )

    # Basis and limits
    basis: str = "Basis and limits"
    basis_read: str = "Sources read: {read}; cited: {cited}; independent publishers or authors of these: {origins}."
    basis_read_names: str = (
        "Sources read: {read}; cited: {cited}; independent publishers or authors of these: {origins} ({names})."
    )
    basis_dates: str = "Dates of the cited sources: {first} to {last}; without a date: {undated}."
    basis_date: str = "Date of the cited sources: {first}; without a date: {undated}."
    basis_no_dates: str = "None of the cited sources carries a date."
    basis_open: str = "Questions that the sources leave open: {n}, listed above."
    basis_failed: str = "Not looked into, because the search failed: {queries}."
    basis_confidence: str = "Confidence: {level} ({reasons})."
    basis_sentences: str = "Sentences: {counts}."
    reason_origins: str = "independent publishers or authors: {n}"
    reason_one_origin: str = "all cited sources have one publisher or author, so nothing confirms them independently"
    reason_few_sources: str = "few sources: {n}"
    reason_disputed: str = "points on which sources disagree: {n}"
    reason_weak_claims: str = "claims that rest on one source or on weak sources, or are disputed: {weak} of {all}"
    reason_unscored: str = "no claims were scored"

    # Sources
    source_columns: tuple[str, ...] = ("No.", "Source", "Publisher", "Date")
    no_sources: str = "No sources were found."
    none_cited: str = "No source is cited."
    score: str = (
        "The score weighs authority (0.25), recency (0.20), relevance to the question (0.35) and credibility by tier "
        "(0.20)."
    )
    score_of: str = "score {score}"
    passages_cited: str = "passages: {passages}; cited in sentences: {sentences}"
    also_at: str = "also at"
    not_cited: str = "Read and not cited: {n}"
    no_date: str = "no date"
    unknown_source: str = "unknown source"
    tiers: Mapping[str, str] = field(
        default_factory=lambda: {
            "PRIMARY_SOURCE": "primary",
            "AUTHORITATIVE": "authoritative",
            "SECONDARY": "secondary",
            "UNVERIFIED": "unverified",
            "FLAGGED": "flagged",
        }
    )

    # The passage behind a number
    source_of: str = "Source of [{n}]"
    close: str = "Close"
    word_for_word: str = "stands word for word in the archived text"
    not_proved: str = "not proved"
    text_missing: str = "The archived text of this source is not available."
    back: str = "back to the sentence"
    in_whole_text: str = "in the whole text"
    live_page: str = "on the live page"
    place: str = "characters {start}–{end}"
    place_on_page: str = "page {page}, characters {start}–{end}"
    page: str = "page {n}"
    hash_title: str = "The name of the archived text is the hash of its content"

    # Methodology: from what was found to what is cited
    flow: str = "From search to citation"
    flow_found: str = "Found by the searches"
    flow_duplicates: str = "Duplicates removed: {n}"
    flow_read: str = "Read"
    flow_partly: str = "Available only in part: {n}"
    flow_unread: str = "Pages that could not be opened, so that the search result stood for them: {n}"
    flow_left_out: str = "Left out: {n}"
    flow_left_out_why: Mapping[str, str] = field(
        default_factory=lambda: {
            "flagged": "flagged as unreliable: {n}",
            "low": "of low quality for this question: {n}",
            "other": "nothing in them was needed: {n}",
        }
    )
    flow_cited: str = "Cited"
    flow_passages: str = "Passages cited: {n}"

    # Methodology: the rest
    sub_queries: str = "Sub-questions"
    sub_query_columns: tuple[str, ...] = ("Question", "Sources", "Result")
    outcomes: Mapping[str, str] = field(
        default_factory=lambda: {"completed": "searched", "failed": "failed", "pending": "not reached"}
    )
    limits_of_reading: str = "Not found or not readable, by sub-question"
    resolved: str = "Resolved on the way"
    resolved_in_iteration: str = "{gap} (resolved in iteration {n})"
    resolved_by_analysis: str = "{gap} (resolved by a second analysis)"
    confidence: str = "Confidence"
    levels: Mapping[str, str] = field(
        default_factory=lambda: {"high": "High", "medium": "Medium", "low": "Low", "none": "Not assessed"}
    )
    factors: tuple[str, ...] = ("Factor", "Value", "Meaning")
    claims: tuple[str, ...] = ("Claim", "For", "Against", "Confidence")
    claims_count: str = "Claims: {n}"
    no_claims: str = "Claims"
    no_claims_effect: str = "there are no claims to score"
    claims_mean: str = "Mean confidence of the claims"
    claims_mean_effect: str = "claims: {n}, each scored by its sources"
    source_count: str = "Number of sources"
    source_count_effect: str = "× {share}; {full} or more count in full"
    origins: str = "Independent origins"
    origins_effect: str = "publishers or authors of the cited sources; a single origin is never rated high"
    disagreement_count: str = "Disagreements"
    disagreement_effect: str = "both sides are shown; each contradicting source lowers a claim by 0.15"
    no_disagreement_effect: str = "none found"
    supported_statements: str = "Statements with proof"
    supported_effect: str = "each with a citation that was checked against the archived text"
    supported_partly_effect: str = "the rest is marked (unsupported)"
    of: str = "{n} of {all}"
    open_effect: str = "listed in the report"
    no_open_effect: str = "none remain"

    limitations: str = "Limitations"
    limit_standing: str = (
        "A proved citation shows that the source says so, word for word. It does not show that the source is right."
    )
    limit_one_origin: str = "All cited sources have one origin; there is no independent confirmation."
    limit_undated: str = "Cited sources without a date (recency unknown): {n} of {all}."
    limit_weak: str = "Cited sources that are unverified or flagged: {n} of {all}."
    limit_partly: str = "Sources that are only partly available: {n} of {all}."
    limit_failed_query: str = "A sub-question failed and was left out: {query}."
    limit_failed_searches: str = "Failed searches: {searches}."
    failed_search: str = "{provider} on “{query}” ({error})"
    all_searches: str = "all"
    limit_skipped: str = "Search providers that could not be used: {names}."
    limit_pages: str = "Pages that could not be read, so that search results were used instead: {n} of {all}."
    limit_withheld: str = "Web searches from which words that occur only in local documents were removed: {n}."
    limit_summaries: str = "Summaries of sources that could not be made: {n} of {all}."
    limit_topics: str = "Topics whose notes could not be put in order: {n} of {all}."
    limit_citations: str = "Citations that could not be proved: {n} of {all}; statements that rest on them are marked."
    limit_fallback: str = "No model gave a usable answer, so code did it instead, for: {steps}."
    limit_reduced: str = "Steps completed with reduced quality: {steps}."
    limit_window: str = "The context window of {model} was too small; prompts shortened and sent again: {n}."
    limit_window_full: str = (
        "The context window of {model} was too small; the prompt could not be shortened any further."
    )
    limit_cut: str = "Prompt shortened for {step}: {reason}."
    limit_failover: str = "Another model answered for {steps}: {reason}."
    limit_saved: str = "Left out to keep within {limit}: {what}."
    left_out: Mapping[str, str] = field(
        default_factory=lambda: {
            "planning": "the plan was made without a model",
            "gathering": "gathering ended early",
            "analysis": "findings were made without a model",
            "writing": "parts of the report were written without a model",
            "verification": "sentences are passed on as cited, not verified",
            "round": "no further round was made",
            "length": "a shorter report than was asked for",
            "sub_queries": "fewer sub-questions than were asked for",
        }
    )
    limit_quotes: str = "Quotes discarded because no archived text holds them: {n}."
    limit_fabricated: str = "Citations discarded because they name no evidence: {n}."
    limit_checks: str = "Quality checks not met: {issues}."
    limit_open: str = "Questions remain open; see “{heading}”."
    steps: Mapping[str, str] = field(
        default_factory=lambda: {
            "clarifier": "clarifying the question",
            "planner": "planning",
            "decomposer": "splitting the question",
            "gatherer": "searching",
            "reflector": "deciding whether to search on",
            "source_summarizer": "summarizing sources",
            "compressor": "putting notes in order",
            "extractor": "reading sources",
            "analyzer": "analysis",
            "claim_extractor": "finding claims",
            "refiner": "looking for gaps",
            "synthesizer": "writing",
            "outliner": "outlining",
            "section_writer": "writing sections",
            "editor": "editing",
            "verifier": "verification",
            "section_mender": "correcting sentences",
            "assembler": "putting the report together",
            "plan_adopter": "adopting the plan",
            "supervisor": "reviews",
            "gate": "quality checks",
        }
    )

    searches: str = "Searches"
    search_use: str = "{provider}: {asked}"
    search_use_failed: str = "{provider}: {asked}, failed: {failed}"
    models: str = "Models"
    no_model: str = "no language model (sentences selected by code)"
    served: str = "{steps}: {models}"
    passed_over: str = "{model} {reason}"
    none: str = "none"
    rounds: str = "Rounds of gathering and writing"
    proved_passages: str = "Passages found word for word in the archived texts"
    retried_requests: str = "Retried requests"
    retried: str = "{who}: {n}"
    retried_model: str = "model"
    graph: str = "Graph"
    decisions: str = "Decisions: {n}"
    run: str = "Run"
    status: str = "Status"
    run_statuses: Mapping[str, str] = field(
        default_factory=lambda: {
            "running": "running",
            "awaiting_input": "waiting for an answer",
            "paused": "paused",
            "completed": "completed",
            "failed": "failed",
            "aborted": "ended early",
        }
    )
    statistics: str = "Statistics"
    wall_clock: str = "Wall clock"
    model_time: str = "Model time"
    model_calls: str = "Model calls"
    search_calls: str = "Searches"
    tokens: str = "Tokens in / out"
    cost: str = "Cost"
    cost_unknown: str = "unknown"
    cost_nothing: str = "nothing"
    content_fidelity: str = "Content fidelity"
    bands: Mapping[str, str] = field(
        default_factory=lambda: {
            "full": "full",
            "condensed": "condensed",
            "compressed": "compressed",
            "minimal": "minimal",
        }
    )
    billed_twice: str = "Calls possibly billed twice"
    usage: str = "Calls by role and phase"
    usage_columns: tuple[str, ...] = ("Role", "Phase", "Calls", "Seconds", "Tokens in", "Tokens out", "USD")


ENGLISH = Labels()

LABELS: Mapping[str, Labels] = {"en": ENGLISH}
"""By the first part of a BCP 47 tag."""


def labels_for(language: str | None) -> Labels:
    """The labels of a language; English where there are none of it."""
    return LABELS.get((language or "en").partition("-")[0].casefold(), ENGLISH)
