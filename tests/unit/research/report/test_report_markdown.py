"""`report.md`: readable, the same bytes for the same research, and harmless whatever the sources hold."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from graph_research.research.evidence.cited import Citation
from graph_research.research.report.build import build_report
from graph_research.research.report.documents.markdown import escape, render_markdown
from graph_research.research.report.formatting import clean, one_line
from graph_research.research.report.model import NamedVersion
from graph_research.research.report.page.html import render_html
from graph_research.research.report.reading import source_marks
from tests.support.research import finished_research, written_report
from tests.support.research.finished_research import built

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
OUR_NUMBER = re.compile(r"(?<!\\)\[(\d+)\]")

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "![](http://evil.example/pixel.png)",
    "| a | b |",
    "```sh\nrm -rf /\n```",
    "# heading\n## another",
    "a\u202egnp.exe\u2066b\u2069",
    "[1]: http://evil.example",
    "<http://evil.example>",
    "**bold** _and_ ~~not~~ \\*",
    "&lt;script&gt; &#60;b&#62;",
    "</main></style>{{ 7*7 }}{% raw %}",
    "1. one",
    "> quoted",
    "[9] a number that nobody gave out",
    '"><svg onload=alert(1)>',
)


def hostile_report(text):
    """Everything a stranger may have written is `text`."""
    piece = {**finished_research.FISH, "quote": text}
    return built(
        question=text,
        report_options={"language": "en"},
        sources=[
            {**source, "title": text, "publisher": text, "authors": [text]} for source in finished_research.SOURCES
        ],
        evidence=[piece, finished_research.COST_AUDIT, finished_research.COST_REPORT],
        gaps=[
            {"id": "gap-1", "description": f"{text} who mended which turbine beside the harbour wall"},
            {"id": "gap-2", "description": text, "addressed": True},
        ],
        sub_queries=[{"id": "sq-1-1", "query": text, "status": "failed", "error": text}],
        topics=[{"sub_query_id": "sq-1-1", "source_ids": [], "limits": [text]}],
        search_failures=[{"query": text, "provider": "local", "error": "ProviderUnavailable", "message": text}],
        contradictions=[
            {
                "id": "con-1",
                "kind": "statement",
                "topic": text,
                "description": text,
                "sides": [
                    {"value": text, "evidence_ids": [piece["id"]]},
                    {"value": "x", "evidence_ids": [finished_research.COST_AUDIT["id"]]},
                ],
            }
        ],
        draft={
            "notice": text,
            "summary": [
                finished_research.quotes(finished_research.quote(piece)),
                finished_research.paragraph(finished_research.fact(text, piece)),
            ],
            "sections": [
                {
                    "heading": text,
                    "blocks": [
                        finished_research.paragraph(finished_research.fact(f"So. {text}", piece)),
                        finished_research.quotes(finished_research.quote(piece)),
                        {"type": "quote", "sentences": [finished_research.fact(text, piece)]},
                        {"type": "list", "ordered": True, "items": [[finished_research.fact(text, piece)] * 2]},
                        {
                            "type": "table",
                            "caption": text,
                            "header": [text, text],
                            "rows": [[finished_research.fact(text, piece), written_report.analysis(text, piece)]],
                        },
                        {"type": "code", "language": text, "sentences": [finished_research.fact(text, piece)]},
                    ],
                },
                {"heading": text, "level": 3, "blocks": [finished_research.paragraph({"text": text, "kind": "limit"})]},
            ],
            "conclusions": [finished_research.paragraph(written_report.analysis(text, piece, computed=(text,)))],
        },
    )


@pytest.mark.requirement("18.4")
def test_the_report_of_the_study_reads_as_before(snapshot):
    assert render_markdown(built()) == snapshot


def test_the_same_research_gives_the_same_bytes_whenever_and_as_whichever_run_it_was_made():
    later = finished_research.facts(
        run_id="another", started_at="2031-05-06T07:08:09Z", finished_at="2031-05-06T07:09:09Z", wall_seconds=99.0
    )
    assert render_markdown(built()) == render_markdown(built(run=later))
    assert render_markdown(built()) == render_markdown(built())


@pytest.mark.requirement("B25")
def test_every_number_has_a_citation_and_every_citation_a_number():
    report = built()
    assert {int(n) for n in OUR_NUMBER.findall(render_markdown(report))} == {one.n for one in report.citations}


def test_three_numbers_in_a_row_are_a_range_and_a_source_is_named_once():
    citations = {
        f"c{place}": Citation(
            id=f"c{place}", n=n, evidence_id="ev-1", source_id="s", quote="q", locator="char:0-1", archive_hash="h"
        )
        for place, n in enumerate([7, 3, 4, 5, 3, 9, 10])
    }
    marks = source_marks(citations, citations)
    assert [mark.label for mark in marks] == ["3–5", "7", "9", "10"]
    assert [one.id for one in marks[0].citations] == ["c1", "c4", "c2", "c3"]


def test_the_report_of_a_model_reads_as_before(snapshot):
    run = finished_research.facts(models={"report": "openai:strong@http://127.0.0.1:8971/v1"})
    report = written_report.built(run)
    text = render_markdown(report)
    assert text == snapshot
    assert "127.0.0.1" not in text


@pytest.mark.requirement("18.4")
def test_both_sides_of_a_disagreement_stand_in_one_table():
    lines = render_markdown(built()).splitlines()
    row = next(line for line in lines if line.startswith("| “"))
    assert finished_research.COST_AUDIT["quote"] in row and finished_research.COST_REPORT["quote"] in row


def test_what_sources_dispute_is_marked_where_it_is_quoted():
    lines = render_markdown(built()).splitlines()
    quoted = [line for line in lines if line.startswith(f"- “{finished_research.COST_REPORT['quote']}”")]
    assert quoted == [f"- “{finished_research.COST_REPORT['quote']}” [1] *Lagoon Company, 2021* (disputed)"]
    assert not [line for line in lines if finished_research.TURBINES["quote"] in line and "(disputed)" in line]
    silent = built().model_copy(update={"short_answer": [], "sections": [], "conclusions": [], "more_evidence": []})
    assert "All sides are quoted; none is preferred.\n" in render_markdown(silent)


def test_a_sentence_on_something_else_of_a_disputed_passage_is_not_marked() -> None:
    cost = finished_research.fact("The construction cost reached 1.61 billion euros.", finished_research.COST_AUDIT)
    builder = finished_research.fact("It has turbines of steel.", finished_research.COST_AUDIT)
    text = render_markdown(built(draft={"conclusions": [finished_research.paragraph(cost, builder)]}))
    assert "reached 1.61 billion euros. [1] (disputed)" in text
    assert "turbines of steel. [1]" in text and "turbines of steel. [1] (disputed)" not in text


def test_the_other_source_of_a_quotation_stands_behind_its_number_where_nobody_is_named() -> None:
    said = [
        finished_research.quote(finished_research.TURBINES),
        finished_research.quote(finished_research.MAINTENANCE, finished_research.INTEREST),
    ]
    text = render_markdown(built(draft={"conclusions": [finished_research.quotes(*said)]}))
    assert f"“{finished_research.MAINTENANCE['quote']}” [2]; also in [1]\n" in text


def test_only_the_short_answer_names_what_the_other_side_of_a_dispute_gives() -> None:
    answer, rest = render_markdown(built()).split("## Short answer", 1)[1].split("\n## ", 1)
    assert "*National Audit Chamber, 2018* (disputed: 1.37 billion euros [1])" in answer
    assert "(disputed)" in rest and "(disputed:" not in rest


@pytest.mark.parametrize("description", ["", "The audit counts the harbour, too."])
def test_statements_of_another_scope_are_explained_in_a_line_of_the_page_and_not_marked(description: str) -> None:
    state = finished_research.state()
    state["contradictions"] = [
        {**row, "nature": "scope", "description": description} for row in state["contradictions"]
    ]
    report = built(**state)
    text, page = render_markdown(report), render_html(report, texts=finished_research.texts())
    assert "(disputed)" not in text
    assert "Where sources disagree" not in text and "points on which sources disagree" not in text
    assert "Possibly not a conflict: another scope." in page
    assert description in page and 'class="disagreement"' not in page


def test_a_description_that_only_strings_the_values_together_is_left_out():
    (disagreement,) = finished_research.state()["contradictions"]
    strung = {**disagreement, "description": "1.61 billion euros · 1.37 billion euros"}
    assert render_markdown(built(contradictions=[strung])) == render_markdown(built())
    told = {**disagreement, "description": "They count interest differently."}
    assert "They count interest differently." in render_markdown(built(contradictions=[told]))


def test_a_closed_gap_is_no_open_question_and_the_page_says_when_it_was_closed():
    row = {"id": "gap-1", "description": "Cost of the locks", "addressed": True, "addressed_in": 3}
    report = built(gaps=[row])
    assert "Open questions" not in render_markdown(report)
    assert "Cost of the locks (resolved in iteration 3)" in render_html(report, texts=finished_research.texts())


def test_what_has_no_support_is_marked():
    spoilt = {**finished_research.FISH, "quote": "Nobody wrote this."}
    text = render_markdown(
        built(
            draft={"summary": [finished_research.quotes(finished_research.quote(spoilt))]},
            evidence=[spoilt],
            contradictions=[],
        )
    )
    assert "- “Nobody wrote this.” [1] *Angling forum* **(unsupported)**" in text


def test_a_publisher_who_is_the_author_too_is_named_once():
    sources = [
        {**source, "publisher": "Lagoon Company", "authors": ["Lagoon Company"]} for source in finished_research.SOURCES
    ]
    listed = render_markdown(built(sources=sources)).partition("## Sources")[2].splitlines()
    assert all(row.count("Lagoon Company") == 1 for row in listed if row.startswith("- ["))


def test_a_web_source_without_publisher_and_authors_is_its_host():
    sources = [{**source, "publisher": None, "authors": []} for source in finished_research.SOURCES]
    text = render_markdown(built(sources=sources))
    assert (
        "- [1] lagoon.example: [Annual report 2021](https://lagoon.example/report-2021.pdf), 4 March 2021, "
        "doi:10.5555/lagoon.2021\n" in text
    )
    assert "- [2] *Review of the tidal lagoon*, 22 November 2018, official/audit-review-2018.md\n" in text


def test_a_date_that_the_title_names_is_not_listed_again():
    sources = [{**source, "title": "The Courier, 4 March 2021"} for source in finished_research.SOURCES]
    text = render_markdown(built(sources=sources))
    assert "[The Courier, 4 March 2021](https://lagoon.example/report-2021.pdf), R. Vance" in text
    assert "*The Courier, 4 March 2021*, 22 November 2018, official/audit-review-2018.md\n" in text


def test_an_absolute_path_is_cut_to_the_files_name_and_only_web_addresses_are_links():
    urls = ["/home/somebody/notes.md", "javascript:alert(1)", "https://host.example/a|b<c>`d"]
    sources = [{**source, "url": url} for source, url in zip(finished_research.SOURCES, urls, strict=True)]
    text = render_markdown(built(sources=sources))
    assert "/home/somebody" not in text and "notes.md" in text
    links = [token.attrs["href"] for token in tokens(text) if token.type == "link_open"]
    assert links == ["https://host.example/a%7Cb%3Cc%3E%60d"]


def tokens(text):
    for token in MARKDOWN.parse(text):
        yield token
        yield from token.children or ()


def test_hostile_text_never_becomes_markup():
    for text in HOSTILE:
        page = render_markdown(hostile_report(text))
        found = list(tokens(page))
        html = {one.content for one in found if one.type in ("html_block", "html_inline")}
        assert html <= {"<br>"}, text
        assert not {one.type for one in found} & {"image", "code_block", "code_inline", "s_open"}, text
        (code,) = (one for one in found if one.type == "fence")
        assert code.content == f"{clean(text)}\n", "the block of code and nothing more"
        assert not code.info or code.info == text
        links = {one.attrs["href"] for one in found if one.type == "link_open"}
        assert links <= {finished_research.SOURCES[1]["url"]}, text


def test_hostile_text_does_not_change_the_outline_of_the_page():
    def outline(text):
        kept = ("heading_open", "table_open", "tr_open", "td_open", "th_open", "bullet_list_open", "list_item_open")
        return [(one.type, one.tag) for one in tokens(render_markdown(hostile_report(text))) if one.type in kept]

    plain = outline("plain words")
    for text in HOSTILE:
        assert outline(text) == plain, text


def test_hostile_text_gives_out_no_number():
    report = hostile_report("[9] a number that nobody gave out")
    outside_code = re.sub(r"```.*?```", "", render_markdown(report), flags=re.DOTALL)
    assert {int(n) for n in OUR_NUMBER.findall(outside_code)} == {1, 2}


TEXT = st.text(
    alphabet=st.one_of(st.sampled_from("[](){}<>!|*_#`~\\&;:/.-+=\"'$^ \n1aA"), st.characters(codec="utf-8")),
    max_size=60,
)


def test_names_keep_the_underscores_and_stars_that_begin_no_emphasis():
    assert escape("max_pred_locks_* and fsync_ at 2 * 3") == "max_pred_locks_* and fsync_ at 2 * 3"
    assert escape("*a* _b_ __c__") == "\\*a* \\_b_ \\_\\_c__"
    assert escape("locks_* of one", within_emphasis=True) == "locks_\\* of one"


@settings(deadline=None)
@given(TEXT)
@example("&amp; &#60; \\[ ](x) ![y](z)")
@example("snake_case __dunder__ 2*3*4")
@example("http://a.example <b@c.example>")
def test_escaped_text_reads_back_as_what_it_was(text):
    (paragraph,) = MARKDOWN.parseInline(f"“{escape(text)}”")
    children = paragraph.children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == f"“{one_line(text)}”"


@settings(deadline=None)
@given(TEXT)
@example("a_* b")
def test_text_within_emphasis_ends_it_nowhere(text):
    inside = escape(text, within_emphasis=True)
    (paragraph,) = MARKDOWN.parseInline(f"**x{inside}y** *x{inside}y*")
    kinds = [child.type for child in paragraph.children or [] if not child.type.startswith("text")]
    assert kinds == ["strong_open", "strong_close", "em_open", "em_close"]


@settings(deadline=None)
@given(TEXT)
def test_escaped_text_at_the_start_of_a_line_stays_a_paragraph(text):
    shown = escape(text)
    if shown:
        assert [token.type for token in MARKDOWN.parse(shown)] == ["paragraph_open", "inline", "paragraph_close"]


@pytest.mark.requirement("18.4")
def test_the_contents_lead_to_every_section_of_a_report_of_many_and_to_what_follows():
    blocks = [finished_research.paragraph(written_report.YIELD)]
    headings = ["Was kostet’s, und wer zahlt?", "Teil 1.5: `SQL`_x", "Methodology", "第二部分：费用", "Part 0"]
    sections = [{"heading": heading, "blocks": blocks} for heading in headings]
    draft = {"summary": [], "sections": sections, "conclusions": [finished_research.paragraph(written_report.COST)]}
    text = render_markdown(built(draft=draft, contradictions=[]))
    listed = text.partition("**Contents**")[2].partition("\n## ")[0]
    named = re.findall(r"^- \[(.*)\]\(#(.*)\)$", listed, re.MULTILINE)
    below = [line.lstrip("# ") for line in text.splitlines() if line.startswith("##")]
    assert [name for name, _ in named] == below[1:7]
    anchors = [
        "1-was-kostets-und-wer-zahlt",
        "2-teil-15-sql_x",
        "3-methodology",
        "4-第二部分费用",
        "5-part-0",
        "what-follows-from-this",
    ]
    assert [anchor for _, anchor in named] == anchors


def test_folders_licences_and_what_was_not_read_stand_with_the_sources():
    audit, company, forum = finished_research.SOURCES
    layouts = finished_research.layouts()
    told = {"licence": "CC BY 4.0", "warnings": ["read the first 500 of 900 pages"]}
    report = build_report(
        finished_research.state(sources=[{**audit, "metadata": {"library": "lagoon"}}, company, forum]),
        texts=finished_research.texts(),
        layouts={**layouts, company["archive_hash"]: {**layouts[company["archive_hash"]], **told}},
        run=finished_research.facts(),
    )
    text = render_markdown(report)
    page = render_html(report, texts=finished_research.texts())
    assert "Local files in these folders: lagoon." in text and "Local files in these folders: lagoon." in page
    assert ", licence: CC BY 4.0, not read whole: read the first 500 of 900 pages\n" in text
    assert "licence: CC BY 4.0 · not read whole: read the first 500 of 900 pages" in page.replace("<wbr>", "")


def test_sources_that_are_manuals_of_several_products_are_listed_with_the_product():
    report = built(contradictions=[])
    told = iter([("13.3. Locks", "larch3"), ("Locks in Larch", "Larch"), ("Queues", "Alder"), ("Forum", "Others")])
    names = [dict(zip(("title", "publisher"), next(told), strict=True)) if row.n else {} for row in report.sources]
    sources = [row.model_copy(update=update) for row, update in zip(report.sources, names, strict=True)]

    def listed(*products):
        versions = [NamedVersion(name=name, version="1") for name in products]
        text = render_markdown(report.model_copy(update={"sources": sources, "newest_versions": versions}))
        return re.findall(r"^- \[\d\] (\w+): [*[](.+?)[]*]", text.partition("## Sources")[2], re.MULTILINE)

    titles = ["13.3. Locks", "Locks in Larch", "Queues"]
    assert listed("Larch", "Alder") == list(zip(["Larch", "Larch", "Alder"], titles, strict=True))
    assert listed("Willow") == listed() == list(zip(["larch3", "Larch", "Alder"], titles, strict=True))


def test_sections_that_have_contents_are_numbered_with_their_parts():
    blocks = [finished_research.paragraph(written_report.YIELD)]
    levels = [("Before", 1), ("Cost", 1), ("By boat", 2), ("By train", 2), ("In winter", 3), ("After", 1)]
    sections = [{"heading": heading, "level": level, "blocks": blocks} for heading, level in levels]
    draft = {"summary": [], "sections": sections, "conclusions": []}
    text = render_markdown(built(draft=draft, contradictions=[]))
    numbered = [
        "## 1. Before",
        "## 2. Cost",
        "### 2.1 By boat",
        "### 2.2 By train",
        "#### 2.2.1 In winter",
        "## 3. After",
    ]
    assert [line for line in text.splitlines() if line.startswith("#")][2:8] == numbered
    few = render_markdown(built(draft={**draft, "sections": sections[:4]}, contradictions=[]))
    assert "\n### By boat\n" in few
