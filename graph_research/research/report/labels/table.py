"""Every heading, fixed word and sentence that a report shows of its own: what a table of a language holds.

Texts with `{names}` are templates for `str.format`. Numbers stand behind a colon, so that no language needs forms of a
noun for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Labels:
    """The table of one language. `language` is a BCP 47 tag; `months`, `date_of` and `month_of` write dates,
    `decimal`, `thousands` and `percent` numbers, `pair`, `comma` and `semicolon` what stands side by side, `aside` what
    is said further of a thing."""

    language: str

    # How the language writes
    quotes: tuple[str, str]
    decimal: str
    thousands: str
    percent: str
    months: tuple[str, ...]
    date_of: str
    month_of: str
    pair: str
    comma: str
    semicolon: str
    aside: str
    brackets: tuple[str, str]
    two_authors: str
    many_authors: str

    # The head and the parts
    untitled: str
    overline: str
    partial: str
    contents: str
    skip: str
    short_answer: str
    nothing_written: str
    not_found: str
    not_answered: str
    no_report: str
    no_report_written: str
    searched_for: str
    sub_queries_answered: str
    sources_collected: str
    claims_scored: str
    disagreements: str
    disagreements_lead: str
    disagreements_marked: str
    compared_in: str
    open_questions: str
    not_found_in_reading: str
    more_points: str
    above_all: str
    question: str
    conclusions: str
    more_evidence: str
    sources: str
    methodology: str
    passages: str
    date: str
    no_font: str
    archived_texts: str
    archived_texts_lead: str
    archived_text_too_long: str
    characters: str

    # How the run went, above everything
    no_search_answered: str
    ended: str
    ended_in_phase: str
    ended_how: Mapping[str, str]
    phases: Mapping[str, str]
    ended_with_report: str
    ended_without_report: str
    revised: str
    revisions: Mapping[str, str]

    # What code writes where no model did
    selected_by_code: str
    written_by_no_model: str
    quotes_by_code: str
    filled_up: str
    disputed_values: str
    nearest: str
    unrelated: str
    nothing_near: str
    no_passage_on: str
    or_word: str
    no_passage_answers: str
    no_source_for: str
    overview: str

    # Marks of sentences
    also_in: str
    disputed: str
    analysis: str
    unsupported: str
    analysis_title: str
    analysis_legend: str
    inferred_from: str
    judgement: str
    analysis_shaded: str
    computed: str
    statuses: Mapping[str, str]
    meanings: Mapping[str, str]

    # Basis and limits
    basis: str
    basis_read: str
    basis_read_unnamed: str
    basis_read_unrated: str
    basis_read_names: str
    basis_read_name: str
    basis_dates: str
    basis_date: str
    basis_undated: str
    basis_no_dates: str
    newest_versions: str
    all_of_makers: str
    all_of_one_maker: str
    confidence_above: str
    basis_confidence: str
    basis_sentences: str
    basis_status: str
    reason_origins: str
    reason_one_origin: str
    reason_few_sources: str
    reason_disputed: str
    reason_lone_unverified: str
    reason_lone_claims: str
    reason_weak_claims: str
    reason_failed: str
    why_one_origin: str
    why_tier: str
    why_against: str
    why_support: str
    reason_unscored: str

    # Sources
    no_sources: str
    none_cited: str
    folders: str
    score: str
    score_of: str
    passages_cited: str
    superseded: str
    superseded_by: str
    not_whole: str
    licence: str
    also_at: str
    not_cited: str
    no_date: str
    unknown_source: str
    tiers: Mapping[str, str]

    # The passage behind a number
    source_of: str
    close: str
    word_for_word: str
    not_proved: str
    text_missing: str
    back: str
    in_whole_text: str
    live_page: str
    place: str
    place_on_page: str
    file_places: Mapping[str, str]
    page: str
    hash_title: str

    # Methodology: from what was found to what is cited
    flow: str
    flow_found: str
    flow_duplicates: str
    flow_excluded: str
    flow_excluded_why: Mapping[str, str]
    flow_read: str
    flow_no_room: str
    flow_partly: str
    flow_unread: str
    flow_left_out: str
    flow_left_out_why: Mapping[str, str]
    flow_cited: str
    flow_passages: str

    # Methodology: the rest
    sub_queries: str
    sub_query_columns: tuple[str, ...]
    outcomes: Mapping[str, str]
    resolved: str
    resolved_in_iteration: str
    confidence: str
    levels: Mapping[str, str]
    factors: tuple[str, ...]
    claims: tuple[str, ...]
    claims_count: str
    matrix: str
    matrix_legend: str
    natures: Mapping[str, str]
    not_a_conflict: str
    no_claims: str
    no_claims_effect: str
    claims_mean: str
    claims_mean_effect: str
    source_count: str
    source_count_effect: str
    origins: str
    origins_effect: str
    disagreement_count: str
    disagreement_effect: str
    no_disagreement_effect: str
    supported_statements: str
    supported_effect: str
    supported_partly_effect: str
    of: str
    open_effect: str
    no_open_effect: str
    limitations: str
    limit_standing: str
    limit_standing_quoted: str
    limit_one_origin: str
    limit_undated: str
    limit_weak: str
    limit_flagged: str
    limit_partly: str
    limit_fidelity: str
    limit_failed_query: str
    limit_failed_searches: str
    failed_search: str
    all_searches: str
    limit_skipped: str
    limit_excluded: str
    limit_pages: str
    limit_withheld: str
    limit_summaries: str
    limit_topics: str
    limit_citations: str
    limit_fallback: str
    limit_reduced: str
    limit_length: str
    limit_audience: str
    limit_type: str
    report_types: Mapping[str, str]
    limit_archive: str
    limit_window: str
    limit_window_full: str
    limit_cut: str
    limit_failover: str
    limit_saved: str
    limit_tokens: str
    left_out: Mapping[str, str]
    limit_quotes: str
    limit_fabricated: str
    limit_left_out: str
    limit_checks: str
    limit_open: str
    limit_language: str
    limit_headings: str
    limit_language_unknown: str
    checks: Mapping[str, str]
    problems: Mapping[str, str]
    failures: Mapping[str, str]
    steps: Mapping[str, str]
    searches: str
    local_search: str
    search_use: str
    search_use_failed: str
    models: str
    no_model: str
    served: str
    passed_over: str
    none: str
    rounds: str
    proved_passages: str
    retried_requests: str
    retried: str
    retried_model: str
    graph: str
    decisions: str
    run: str
    status: str
    run_statuses: Mapping[str, str]
    statistics: str
    wall_clock: str
    model_time: str
    model_calls: str
    search_calls: str
    tokens: str
    cost: str
    cost_unknown: str
    cost_nothing: str
    content_fidelity: str
    bands: Mapping[str, str]
    billed_twice: str
    usage: str
    usage_columns: tuple[str, ...]
