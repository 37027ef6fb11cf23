"""Basis and limits, the flow from search to citation, and the words of a report: they all come from one table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from graph_research.research.llm.usage import RoleUse
from graph_research.research.models.draft import StatementKind, Writer, statements_of
from graph_research.research.quality_gates import NO_SURE_FINDING
from graph_research.research.registry import research_handlers
from graph_research.research.report.basis import as_of, basis_of, making_of
from graph_research.research.report.documents.markdown import render_markdown
from graph_research.research.report.labels import languages
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import CitedBlock, NamedVersion, Report
from graph_research.research.report.page.flow import Stage, flow_of
from graph_research.research.report.page.html import render_html
from graph_research.research.report.reading import points_left_open, with_short_titles
from graph_research.research.scoring.origin import UNNAMED
from tests.support.research import finished_research, written_report
from tests.support.research.harness import make_services
from tests.support.research.written_report import built

ENGLISH = labels_for("en")


def test_what_was_read_of_what_age_and_how_sure_it_is_takes_a_few_lines() -> None:
    lines = basis_of(built(), ENGLISH)
    assert lines[0] == (
        "Sources read: 3; cited: 3; independent publishers or authors of these: 2 "
        "(National Audit Chamber, Lagoon Company)."
    )
    assert "A sub-question failed and was left out: effect of the turbines on fish." in lines
    assert any(line.startswith("Confidence: low (") and "few sources: 3" in line for line in lines)
    assert len(lines) <= 8
    assert len(set(lines)) == len(lines)


def test_what_the_titles_of_one_origin_end_with_is_not_said_for_each() -> None:
    report = built()
    names = ["Indexes", "Locks", "Queries", "Locks"]
    ends = ["Django 4.2 docs"] * 3 + ["Django 3.2 docs"]
    sources = [
        report.sources[0].model_copy(update={"id": f"s{n}", "archive_hash": f"{n}", "title": f"{name} — {end}"})
        for n, (name, end) in enumerate(zip(names, ends, strict=True))
    ]
    report = report.model_copy(update={"sources": sources})
    assert [row.title for row in with_short_titles(report).sources] == [
        "Indexes",
        "Locks",
        "Queries",
        "Locks — Django 3.2 docs",
    ]
    elsewhere = [row.model_copy(update={"origin": row.id}) for row in sources]
    unnamed = [row.model_copy(update={"origin": UNNAMED}) for row in sources]
    for others in (elsewhere, unnamed):
        assert with_short_titles(report.model_copy(update={"sources": others})).sources == others
    assert "Django 4.2" not in render_markdown(report)
    same = [row.model_copy(update={"title": "Locks — Django 4.2 docs"}) for row in sources]
    assert with_short_titles(report.model_copy(update={"sources": same})).sources == same


@pytest.mark.parametrize(
    ("dated", "said"),
    [
        (1, "Cited sources without a date (recency unknown): 3 of 4."),
        (2, "Date of the cited sources: 4 March 2021; without a date: 2."),
    ],
)
def test_the_date_of_a_few_is_not_the_age_of_all(dated: int, said: str) -> None:
    report = built()
    [first, *_] = report.sources
    sources = [
        first.model_copy(update={"id": f"s{n}", "published_at": "2021-03-04" if n < dated else None}) for n in range(4)
    ]
    assert as_of(report.model_copy(update={"sources": sources}), ENGLISH).endswith(said)


@pytest.mark.parametrize(("publisher", "is_said"), [("larch", False), ("Lagoon Company", True)])
def test_of_undated_pages_of_a_maker_whose_version_stands_above_no_date_is_missed(
    publisher: str, is_said: bool
) -> None:
    report = built()
    undated = {"published_at": None, "publisher": publisher}
    sources = [report.sources[0].model_copy(update={"id": f"s{n}", **undated}) for n in range(4)]
    versions = [NamedVersion(name="Larch", version="3.1.4")]
    said = as_of(report.model_copy(update={"sources": sources, "newest_versions": versions}), ENGLISH)
    assert said.startswith("Versions described: Larch 3.1.4. Confidence: ")
    assert said.endswith(ENGLISH.basis_no_dates) is is_said
    assert said.endswith("All cited documents come from Larch itself.") is not is_said
    others = [{**row.to_json(), "publisher": name} for row, name in zip(sources, ("larch", "elm") * 2, strict=True)]
    both = [*versions, NamedVersion(name="Elm", version="2.0")]
    told = report.model_copy(update={"sources": [type(sources[0])(**row) for row in others], "newest_versions": both})
    assert as_of(told, ENGLISH).endswith(ENGLISH.all_of_makers)


def test_of_one_publisher_the_basis_says_who_it_is_and_no_number() -> None:
    [audit, *_] = finished_research.SOURCES
    assert basis_of(built(sources=[audit]), ENGLISH)[0].endswith(
        "publisher or author of these: National Audit Chamber."
    )


@pytest.mark.parametrize(
    ("last", "said"), [("larch", ""), ("Forum", "Dates of the cited sources: 1 May 2019 to 4 March")]
)
def test_where_all_sources_are_their_makers_own_the_version_stands_for_their_dates(last: str, said: str) -> None:
    report = built()
    known = [("larch", "2019-05-01"), ("larch", None), ("larch", None), (last, "2021-03-04")]
    sources = [
        report.sources[0].model_copy(update={"id": f"s{n}", "publisher": who, "published_at": when})
        for n, (who, when) in enumerate(known)
    ]
    versions = [NamedVersion(name="Larch", version="3.1.4")]
    told = as_of(report.model_copy(update={"sources": sources, "newest_versions": versions}), ENGLISH)
    assert ("Dates" in told, said in told) == (bool(said), True)
    assert told.endswith("; without a date: 2.") is bool(said)


def test_that_every_cited_source_has_a_date_is_not_told() -> None:
    sources = [{**row, "published_at": "2021-03-04"} for row in finished_research.SOURCES]
    said = as_of(built(sources=sources), ENGLISH)
    assert said == "Confidence: low. Date of the cited sources: 4 March 2021."


@pytest.mark.parametrize(("level", "is_above"), [("low", True), ("medium", False), ("high", False)])
def test_below_the_title_stands_that_a_report_is_not_sure_and_among_its_limits_how_sure_it_is(
    level: str, is_above: bool
) -> None:
    report = built()
    report = report.model_copy(update={"confidence": report.confidence.model_copy(update={"level": level})})
    assert as_of(report, ENGLISH).startswith(f"Confidence: {level}.") is is_above
    assert any(row.startswith(f"Confidence: {level}") for row in basis_of(report, ENGLISH))


def test_claims_of_one_publisher_alone_are_told_with_how_many_of_them_are_authoritative() -> None:
    weak = [
        {**row, "tier": "UNVERIFIED"} if row["id"] == finished_research.SOURCES[1]["id"] else row
        for row in finished_research.SOURCES
    ]
    unverified = [{**row, "tier": "UNVERIFIED"} for row in finished_research.SOURCES]
    for sources, good in (
        (weak, "are what a single publisher or author says, in 1 of these an authority"),
        (unverified, "are what a single publisher or author says;"),
    ):
        [line] = [line for line in basis_of(built(sources=sources), ENGLISH) if line.startswith("Confidence")]
        assert f"2 of 2 claims {good}" in line
        assert ("disputed or rest on weak sources" in line) is (sources is not unverified)
    [line] = [line for line in basis_of(built(), ENGLISH) if line.startswith("Confidence")]
    assert "of 2 claims are what" not in line  # each rests on an authority on the matter


@pytest.mark.parametrize("language", languages.LANGUAGES)
def test_sources_that_name_nobody_and_no_date_are_no_origins_and_listed_by_their_titles(language: str) -> None:
    nameless = {"publisher": None, "authors": [], "url": "usage/notes.html", "published_at": None}
    report = built(sources=[{**row, **nameless} for row in finished_research.SOURCES])
    report = report.model_copy(update={"language": language})
    labels = labels_for(language)

    assert basis_of(report, labels)[0] == labels.basis_read_unnamed.format(read=3, cited=3)
    assert re.search(r"^- \[1\] \*[\w ]+\*(, |、|，)usage/notes\.html$", render_markdown(report), re.MULTILINE)


def test_sources_that_name_nobody_are_told_once_as_not_rated_and_not_as_doubtful() -> None:
    nameless = {"publisher": None, "authors": [], "url": "usage/notes.html", "tier": "UNVERIFIED"}
    report = built(sources=[{**row, **nameless} for row in finished_research.SOURCES])
    unsure = ENGLISH.limit_checks.format(issues=ENGLISH.checks[NO_SURE_FINDING])
    limitations = [*report.limitations, ENGLISH.limit_weak.format(n=3, all=3), unsure]
    told = basis_of(report.model_copy(update={"limitations": limitations}), ENGLISH)

    assert told[0] == ENGLISH.basis_read_unrated.format(read=3, cited=3)
    assert not any("unverified" in row or "high-confidence" in row for row in told)


@pytest.mark.requirement("17.2")
def test_sources_that_are_flagged_and_therefore_not_cited_are_named() -> None:
    flagged = {**finished_research.SOURCES[2], "id": "src-flagged001", "tier": "FLAGGED", "title": "A withdrawn survey"}
    told = ENGLISH.limit_flagged.format(titles="A withdrawn survey")
    assert told in basis_of(built(sources=[*finished_research.SOURCES, flagged]), ENGLISH)
    assert told not in basis_of(built(), ENGLISH)
    all_flagged = [{**row, "tier": "FLAGGED"} for row in finished_research.SOURCES]
    assert told not in basis_of(built(sources=[*all_flagged, flagged]), ENGLISH), "others are cited though flagged"


def test_that_one_maker_alone_gives_no_high_confidence_is_told_once() -> None:
    one = {"publisher": "The maker", "authors": []}
    unsure = ENGLISH.limit_checks.format(issues=ENGLISH.checks[NO_SURE_FINDING])

    def told(sources: list[dict[str, Any]]) -> list[str]:
        report = built(sources=sources)
        return basis_of(report.model_copy(update={"limitations": [*report.limitations, unsure]}), ENGLISH)

    alone = told([{**row, **one} for row in finished_research.SOURCES])
    assert ENGLISH.reason_one_origin in " ".join(alone)
    assert unsure not in alone
    assert unsure in told(finished_research.SOURCES)


def test_the_basis_tells_what_limits_the_report_and_the_methodology_what_was_discarded_in_writing() -> None:
    discarded = ENGLISH.limit_quotes.format(n=2)
    weak = ENGLISH.limit_weak.format(n=1, all=3)
    limitations = [ENGLISH.limit_standing, weak, discarded, ENGLISH.limit_left_out.format(n=4), ENGLISH.limit_open]
    report = built().model_copy(update={"limitations": [row.format(heading="?") for row in limitations]})
    assert basis_of(report, ENGLISH)[-1] == weak
    standing, counted, *told = making_of(report, ENGLISH)
    assert counted.startswith("Sentences: ")
    assert (standing, told) == (ENGLISH.limit_standing, [discarded])


def test_authors_who_stand_behind_sources_are_named_as_they_are_written() -> None:
    audit, company, forum = finished_research.SOURCES
    audit = {**audit, "publisher": None, "url": "audit.md", "authors": ["Ines Hartmann"]}
    assert "(Ines Hartmann, Lagoon Company)" in basis_of(built(sources=[audit, company, forum]), ENGLISH)[0]


def test_the_newest_versions_the_confidence_and_the_age_of_the_sources_stand_below_the_title() -> None:
    audit, company, forum = finished_research.SOURCES
    audit = {**audit, "title": "Release 15.2", "publisher": "PostgreSQL"}
    report = built(
        question="How do SQLite and PostgreSQL lock?",
        sources=[audit, {**company, "title": "SQLite version 3.9.1"}, forum],
    )
    said = as_of(report, ENGLISH)
    assert said == (
        "Versions described: SQLite 3.9.1, PostgreSQL 15.2. "
        "Confidence: low. "
        "Dates of the cited sources: 22 November 2018 to 4 March 2021; without a date: 1."
    )
    below = f"{said} {ENGLISH.analysis_legend.format(mark='(from …), (judgement), (analysis)')}"
    assert render_markdown(report).splitlines()[2] == f"*{below}*"
    assert said in render_html(report, texts=finished_research.texts())


def test_a_gap_of_which_a_section_says_that_nothing_was_found_is_no_open_question_beside_it() -> None:
    report = built()
    gap = report.gaps[0].model_copy(update={"description": "What a licence costs.", "addressed": False})
    other = gap.model_copy(update={"id": "gap-0000000002", "description": "Who repairs the turbines."})
    asked = gap.model_copy(update={"id": "gap-0000000003", "description": "Who pays?"})
    report = report.model_copy(update={"gaps": [gap, asked, other]})
    section = report.sections[0]
    [first, *_] = statements_of(section.blocks)
    limit = first.model_copy(update={"text": "What a licence costs was not found.", "kind": StatementKind.LIMIT})
    with_limit = section.model_copy(update={"blocks": [CitedBlock(sentences=[first, limit])]})
    told = render_markdown(report.model_copy(update={"sections": [with_limit]}))
    assert f"\n- Open questions:\n  - {asked.description}\n  - {other.description}\n" in told
    assert gap.description not in told


def test_a_part_of_the_question_without_a_section_is_an_open_question_with_the_reason() -> None:
    reason = "What a licence costs: no source names a price."
    known = built().gaps[0].description
    report = built(draft={**written_report.DRAFT, "not_answered": [reason, known]})
    assert [row.description for row in report.gaps if not row.addressed].count(reason) == 1
    assert [row.description for row in report.gaps].count(known) == 1
    assert reason in render_markdown(report)


def test_what_reading_did_not_find_is_listed_once_the_most_important_of_each_sub_question_first() -> None:
    """A reader takes silence for completeness."""
    report = built()
    [first, second, *_] = report.sub_queries
    lacking = [
        ["Who repairs the turbines is not said.", *(f"What pump {n} weighs is not said." for n in range(2, 14))],
        ["What a licence costs is not said.", "How long a repair takes is not said."],
    ]
    outcomes = [row.model_copy(update={"limits": own}) for row, own in zip([first, second], lacking, strict=True)]
    gap = report.gaps[0].model_copy(update={"description": "How long does a repair take?", "addressed": False})
    told = report.model_copy(update={"sub_queries": outcomes, "gaps": [gap]})
    points = [lacking[0][0], lacking[1][0], *lacking[0][1:]]
    lead = "\n- Not found in what was read, above all:\n  - "
    assert lead + "\n  - ".join(points[:6]) + "\n" in render_markdown(told)
    basis = LexborHTMLParser(render_html(told, texts=finished_research.texts())).css("#basis li li")
    assert [row.text() for row in basis] == points  # the page folds the rest
    assert ENGLISH.not_found_in_reading not in render_markdown(report)


def test_what_would_stand_in_the_same_document_is_one_point() -> None:
    report = built()
    blade, licence = "the weight of one blade of a turbine", "the price of a licence for divers in winter"
    limits = [f"{what}, in the manual" for what in (blade, licence)]
    [outcome, *_] = report.sub_queries
    outcomes = [outcome.model_copy(update={"limits": [limits[0], "who owns it, or not", limits[1]]})]
    left = points_left_open(report.model_copy(update={"sub_queries": outcomes}), ENGLISH)
    assert left.not_found == [f"{blade}; {licence}, in the manual", "who owns it, or not"]


@pytest.mark.parametrize(("served_by", "is_told"), [("extractive", True), ("openai:planner", False)])
def test_that_no_model_took_part_is_only_said_where_none_did(served_by: str, is_told: bool) -> None:
    """A report that code selects may follow a plan of a model."""
    counts = {"calls": 1, "repair_turns": 0, "too_long": 0, "input_tokens": 1, "output_tokens": 1, "cost_usd": None}
    use = RoleUse(models={served_by: 1}, failures=[], **counts)
    run = finished_research.facts(model_roles={"research": use})
    draft = {**finished_research.state()["draft"], "notice": ENGLISH.selected_by_code}
    notice = finished_research.report_of(finished_research.state(draft=draft), run).notice
    assert notice == (ENGLISH.selected_by_code if is_told else ENGLISH.written_by_no_model)


@pytest.mark.parametrize("is_compared", [False, True])
def test_what_is_said_of_a_disagreement_stands_once_in_the_section_that_compares_its_sides(
    is_compared: bool,
) -> None:
    said = "A test of both on one machine would settle it."
    report = built()
    rows = [row.model_copy(update={"description": said}) for row in report.contradictions]
    report = report.model_copy(update={"contradictions": rows})
    section = report.sections[0]
    sides = [name for side in rows[0].sides for name in side.citations] if is_compared else []
    first = next(statements_of(section.blocks)).model_copy(update={"citations": sides})
    blocks = [CitedBlock(sentences=[first])]
    sections = [section.model_copy(update={"blocks": blocks, "writer": Writer.MODEL})]
    report = report.model_copy(update={"sections": sections})
    assert (said in render_markdown(report)) is not is_compared
    assert (said in render_html(report, texts=finished_research.texts())) is not is_compared
    where = ENGLISH.compared_in.format(sections=f"“{section.heading}”")
    assert where not in render_markdown(report)
    assert (where in render_html(report, texts=finished_research.texts())) is is_compared


@pytest.mark.parametrize("is_compared", [False, True])
def test_both_sides_are_quoted_in_the_text_where_no_section_compares_them_and_always_in_the_page(
    is_compared: bool,
) -> None:
    report = built()
    section = report.sections[0]
    sides = [name for side in report.contradictions[0].sides for name in side.citations] if is_compared else []
    first = next(statements_of(section.blocks)).model_copy(update={"citations": sides})
    blocks = [CitedBlock(sentences=[first])]
    sections = [section.model_copy(update={"blocks": blocks, "writer": Writer.MODEL})]
    report = report.model_copy(update={"sections": sections})
    quotes = {citation.id: citation.quote for citation in report.citations}
    told = render_markdown(report).partition("## Where sources disagree\n")[2].partition("\n## ")[0]
    page = render_html(report, texts=finished_research.texts()).partition('<section id="disagreements">')[2]
    for name in (name for side in report.contradictions[0].sides for name in side.citations):
        assert (quotes[name] in told) is not is_compared
        assert quotes[name] in page


def test_the_apparatus_of_a_long_report_is_short() -> None:
    long = finished_research.paragraph(*[written_report.COST] * 180)
    text = render_markdown(built(draft={**written_report.DRAFT, "conclusions": [long]}))
    apparatus = text.partition("\n## Basis and limits\n")[2]
    words = [len(re.findall(r"\w+", part)) for part in (apparatus, text)]
    assert words[1] > 2_000 and words[0] < 0.15 * words[1]
    assert [line for line in apparatus.splitlines() if line[:1] == "#"] == ["## Sources", "## Methodology"]


def test_an_undisputed_report_of_one_publisher_without_dates_says_so_and_nothing_else() -> None:
    alike = {"publisher": "Lagoon Company", "doi": None, "published_at": None}
    report = built(
        sources=[{**source, **alike} for source in finished_research.SOURCES],
        gaps=[],
        claims=[],
        contradictions=[],
        sub_queries=[],
    )
    said = " ".join([as_of(report, ENGLISH), *basis_of(report, ENGLISH)])
    assert "None of the cited sources carries a date." in said
    assert "all cited sources have one publisher" in said
    assert "open" not in said and "disagree" not in said and "left out" not in said


def test_the_flow_says_what_was_found_removed_read_left_out_and_cited() -> None:
    low = {**finished_research.SOURCES[2], "id": "src-low0000001", "quality": "low"}
    flagged = {**finished_research.SOURCES[2], "id": "src-flagged001", "tier": "FLAGGED"}
    report = built(
        sources=[*finished_research.SOURCES, low, flagged, {**low, "id": "src-dropped001", "fidelity": "dropped"}],
        topics=[{"sub_query_id": "sq-1-1", "source_ids": ["a"], "duplicates_skipped": 4}],
        searches=[{"asked": ["web"], "skipped": [], "withheld": [], "pages_read": [], "pages_failed": ["p"]}],
    )
    assert flow_of(report, ENGLISH) == [
        Stage("Found by the searches", 10, ("Duplicates removed: 4", "Found, but not read for want of room: 1")),
        Stage(
            "Read",
            5,
            (
                "Pages that could not be opened, so that the search result stood for them: 1",
                "Left out: 2",
                "– flagged as unreliable: 1",
                "– of low quality for this question: 1",
            ),
        ),
        Stage("Cited", 3, ("Passages cited: 6",)),
    ]


def bracketed(value: Any) -> Any:
    """A language in which each text stands in brackets, whatever its placeholders hold."""
    if isinstance(value, str):
        parts = re.split(r"(\{\w+\})", value)
        return "".join(part if part.startswith("{") else re.sub(r"[A-Za-z]+", "\u25c6", part) for part in parts)
    if isinstance(value, Mapping):
        return {key: bracketed(text) for key, text in value.items()}
    return tuple(bracketed(text) for text in value)


@pytest.fixture
def in_another_language(monkeypatch: pytest.MonkeyPatch) -> Labels:
    made = {field.name: bracketed(getattr(ENGLISH, field.name)) for field in fields(Labels) if field.name != "language"}
    other = replace(ENGLISH, language="xx", **made)
    monkeypatch.setattr(languages, "LANGUAGES", ("en", "xx"))
    monkeypatch.setattr(languages, "_table", {"en": ENGLISH, "xx": other}.__getitem__)
    return other


def numbers_only(**changes: Any) -> Report:
    """A report whose own texts hold no Latin letter, so that each word that is left comes from the program."""
    rows = finished_research.state()
    piece = finished_research.COST_AUDIT
    source = {**finished_research.SOURCES[0], "title": "1", "publisher": "2", "authors": [], "url": "3"}
    fact = {"text": "4 \u00d7 5", "kind": "fact", "evidence_ids": [piece["id"]]}
    draft = {"summary": [finished_research.paragraph(fact)], "more": [fact]}
    state = {
        **rows,
        "question": "6?",
        "report_options": {"language": "xx"},
        "sources": [source, {**source, "id": "src-unread0001"}],
        "evidence": [{**piece, "quote": "1"}],
        "draft": {**draft, "sections": [{"heading": "7", "blocks": [finished_research.paragraph(fact)]}]},
        "contradictions": [
            {**rows["contradictions"][0], "topic": "8", "sides": [{"value": "9", "evidence_ids": [piece["id"]]}] * 2}
        ],
        "gaps": [{"id": "gap-1", "description": "10"}, {"id": "gap-2", "description": "11", "addressed_in": 2}],
        "sub_queries": [{"id": "sq-1-1", "query": "12", "status": "failed"}],
        "claims": [{**rows["claims"][0], "text": "13"}],
        "decisions": [],
        "degraded": [{"agent": "planner", "reason": "14", "kind": "fallback"}, {"agent": "gate", "reason": "15"}],
        "quotes_dropped": 1,
        "report_metadata": {"fabricated_citations": 1},
        **changes,
    }
    run = finished_research.facts(run_id="16", graph="17", search=[], usage=[], status="aborted", cause="timeout")
    return finished_research.report_of(state, run)


def test_every_word_that_the_program_writes_comes_from_the_table(in_another_language: Labels) -> None:
    report = numbers_only()
    assert labels_for("xx-Latn") is in_another_language
    assert re.findall(r"[A-Za-z]{3,}", render_markdown(report).replace("<br>", " ")) == []
    page = LexborHTMLParser(render_html(report, texts=finished_research.texts()))
    for gone in ("head", ".brand", "#texts .archived", ".passage .archived", ".hash", ".said", "time", "code"):
        for node in page.css(gone):
            node.decompose()
    shown = page.body.text(separator=" ") if page.body else ""
    assert re.findall(r"[A-Za-z]{3,}", shown) == []


def words_of(value: Any) -> set[str]:
    if isinstance(value, str):
        return set(re.findall(r"[A-Za-zÀ-ž]{3,}", re.sub(r"\{\w+\}", " ", value).lower()))
    return set().union(*map(words_of, value.values() if isinstance(value, Mapping) else value))


@pytest.mark.parametrize("language", [name for name in languages.LANGUAGES if name != "en"])
def test_a_report_has_no_word_of_another_languages_table(language: str) -> None:
    report = numbers_only(report_options={"language": language})
    page = LexborHTMLParser(render_html(report, texts=finished_research.texts()))
    for gone in ("head", ".brand", "#texts .archived", ".passage .archived", ".hash", ".said", "time", "code"):
        for node in page.css(gone):
            node.decompose()
    shown = f"{render_markdown(report)} {page.body.text(separator=' ') if page.body else ''}"
    table = labels_for(language)
    known = set().union(*(words_of(getattr(table, field.name)) for field in fields(Labels)))
    assert words_of(shown.replace("<br>", " ")) <= known


def test_a_language_without_a_table_of_its_own_is_answered_in_english() -> None:
    assert labels_for("tlh") is ENGLISH


def test_a_reader_is_told_what_an_agent_does_and_not_its_name() -> None:
    without_judgement = {"adopt_plan", "decide_iteration", "dispatch", "give_up", "prove_quotes", "scout", "search"}
    agents = research_handlers(make_services({})).keys() - without_judgement
    assert agents <= ENGLISH.steps.keys()
