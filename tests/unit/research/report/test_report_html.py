"""`report.html`: one file, no script, nothing from elsewhere, every quote in its archived text."""

from __future__ import annotations

import base64
import copy
import hashlib
import re
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from graph_research.research.evidence.cited import QuoteSelector
from graph_research.research.report.build import build_report
from graph_research.research.report.formatting import live_link
from graph_research.research.report.page.html import WHOLE_TEXT_BYTES, render_html
from graph_research.research.report.page.source_view import CONTEXT_CHARS, Mark, context_of, paragraphs
from graph_research.research.report.page.svg_sanitizer import sanitized_svg
from graph_research.text.document import Document
from tests.support.research import finished_research, written_report
from tests.unit.research.report.test_report_markdown import HOSTILE, built, hostile_report

FETCHING = "script, iframe, object, embed, link, img, video, audio, base, form, input, image, use, foreignObject"


class Page(SingleFileSnapshotExtension):
    """The page as a file that a browser opens."""

    _write_mode = WriteMode.TEXT
    file_extension = "html"


def rendered(report=None, picture=finished_research.PICTURE, texts=None):
    return render_html(
        report or built(),
        texts=finished_research.texts() if texts is None else texts,
        layouts=finished_research.layouts(),
        picture_svg=picture,
    )


def parsed(page):
    return LexborHTMLParser(page)


def test_the_page_of_the_study_looks_as_before(snapshot):
    assert rendered() == snapshot(extension_class=Page)


def test_a_list_without_items_is_a_page():
    page = rendered(
        built(
            draft={
                "sections": [
                    {
                        "heading": "A",
                        "blocks": [
                            {"type": "list", "sentences": [finished_research.quote(finished_research.COST_AUDIT)]}
                        ],
                    }
                ]
            }
        )
    )
    assert parsed(page).css_first("h2").text()


def test_every_number_leads_to_the_marked_quote_and_back():
    page = parsed(rendered())
    for citation in built().citations:
        mark = page.css_first(f"#q-{citation.id}")
        assert mark.tag == "mark" and mark.text() == citation.quote
        whole = page.css_first(f"#f-{citation.id}")
        assert whole.tag == "mark" and whole.text() == citation.quote
        back = [link.attributes["href"] for link in page.css(f"#c-{citation.id} .back a")]
        assert f"#r-{citation.id}-1" in back
    targets = {node.attributes["id"] for node in page.css("[id]")} | {"closed"}
    assert {node.attributes["href"][1:] for node in page.css('a[href^="#"]')} <= targets


def test_what_sources_dispute_leads_to_their_disagreement():
    page = parsed(rendered())
    links = [node.attributes["href"] for node in page.css("#section-1 .disputed")]
    assert links == ["#disagreement-1", "#disagreement-1"]
    assert finished_research.COST_AUDIT["quote"] in page.css_first("#disagreement-1").text()
    assert not page.css("#section-2 .disputed")


def test_no_id_is_given_twice():
    ids = [node.attributes["id"] for node in parsed(rendered()).css("[id]")]
    assert len(ids) == len(set(ids))


def test_the_policy_allows_the_pages_own_style_sheets_and_nothing_else():
    page = rendered()
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    sheets = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode() for sheet in sheets]
    assert len(sheets) == 2, "the page's own and the picture's"
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}' 'sha256-{hashes[1]}'; base-uri 'none'; form-action 'none'"
    )


def test_nothing_in_the_page_can_fetch_or_run_anything():
    page = parsed(rendered())
    assert not page.css(FETCHING)
    names = {name for node in page.css("*") for name in node.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"style", "src", "srcset"})


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text):
    page = parsed(rendered(hostile_report(text)))
    assert not page.css(FETCHING)
    assert len(page.css("main")) == 1 and len(page.css("style")) == 2
    names = {name for node in page.css("*") for name in node.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"style", "src"})
    links = {node.attributes["href"] for node in page.css("a") if not node.attributes["href"].startswith("#")}
    assert links == {finished_research.SOURCES[1]["url"]}
    assert "49" not in page.css_first("h1").text()
    assert "\u202e" not in page.html


def test_a_judgement_is_told_apart_from_what_is_inferred():
    draft = copy.deepcopy(written_report.DRAFT)
    draft["conclusions"] = [
        {"sentences": [{**written_report.INFERRED, "text": "Plan for 9 weeks.", "judged": ["9 weeks"]}]}
    ]
    page = parsed(rendered(written_report.built(draft=draft)))
    assert [one.text() for one in page.css(".analysis .kind")] == ["(judgement)"]


def test_sentences_by_a_model_are_laid_out_by_block_and_marked_by_kind():
    page = parsed(rendered(written_report.built()))
    assert [one.text() for one in page.css("main > section > h2, main > section > h3, main > section > h4")][1:4] == [
        "What it cost",
        "Side by side",
        "What to do",
    ]
    runs = [one.text(separator=" ") for one in page.css("#section-1 .analysis")]
    assert len(runs) == 1 and runs[0].rstrip().endswith("(analysis)"), "one mark for two sentences"
    assert page.css_first(".legend").text() == "Shaded: analysis, what the writer infers from the cited passages"
    assert [one.text() for one in page.css("caption")] == ["Cost by account"]
    assert [one.text() for one in page.css(".grid th")] == ["Account", "Cost", "What follows"]
    assert len(page.css(".grid td:nth-child(3) > .analysis")) == 2
    assert page.css_first("pre").attributes["data-language"] == "sql"
    assert page.css_first("pre code").text() == "select `cost`\n  from accounts; -- ``` <b>"
    assert [one.text() for one in page.css("#section-3 ol.items > li:last-child")] == [
        "No figure for the cost of upkeep was found."
    ]
    assert "(judgement)" not in page.html
    told = [one.text() for one in page.css("#section-1 .card .said")]
    assert any("Computed: 1.61 - 1.37" in one for one in told)
    assert len(page.css("#disagreements .sides")) == 1
    assert {one.attributes["href"] for one in page.css(".disputed")} == {"#disagreement-1"}
    assert not page.css("#section-1 .disputed"), "the section compares the sides"


def test_a_web_source_is_opened_at_the_passage_and_a_local_one_is_not():
    page = parsed(rendered())
    links = {one.attributes["href"] for one in page.css(".passage .back a[rel]")}
    start = f"{finished_research.SOURCES[1]['url']}#:~:text="
    turbines, cost, closure = (
        quote(piece["quote"])
        for piece in (finished_research.TURBINES, finished_research.COST_REPORT, finished_research.MAINTENANCE)
    )
    assert links == {
        f"{start}was%201.37%20billion%20euros.-,{turbines}",
        f"{start}{cost},-Sixteen%20bulb%20turbines%20produce",
        f"{start}{closure}",
    }


def test_a_long_passage_is_named_by_its_ends_and_what_has_a_meaning_in_a_fragment_is_encoded():
    citation = built().citations[0]
    words = "a-b, c & d " * 8
    selectors = [QuoteSelector(exact=words, prefix="x y", suffix="z w")]
    long = citation.model_copy(update={"selectors": selectors})
    assert live_link("https://host.example/a#b", long) == (
        "https://host.example/a#b:~:text=a%2Db%2C%20c%20%26%20d%20a%2Db%2C,d%20a%2Db%2C%20c%20%26%20d"
    )
    assert live_link("notes/a.md", long) is None
    assert live_link("https://host.example/a", citation.model_copy(update={"selectors": []})) is None


def test_three_sources_in_a_row_are_one_mark_whose_card_leads_to_each_passage():
    pieces = (finished_research.COST_AUDIT, finished_research.COST_REPORT, finished_research.FISH)
    fact = finished_research.fact("There are turbines.", *pieces)
    page = parsed(rendered(built(draft={"summary": [finished_research.paragraph(fact)]}, contradictions=[])))
    (mark,) = page.css("#answer .cite")
    assert mark.css_first(".ref").text() == "[1–3]"
    assert [one.attributes["href"] for one in mark.css(".card a")] == ["#q-c1", "#q-c2", "#q-c3"]
    ids = {one.attributes["id"] for one in page.css("[id]")} | {"closed"}
    assert {one.attributes["href"][1:] for one in page.css('a[href^="#"]')} <= ids


def test_sources_with_one_text_are_one_entry_with_both_addresses():
    copy = {
        **finished_research.SOURCES[1],
        "id": "src-copy000001",
        "url": "https://copy.example/report",
        "title": "Copy",
    }
    piece = {**finished_research.TURBINES, "id": "ev-copy000001", "source_id": "src-copy000001"}
    report = built(
        sources=[*finished_research.SOURCES, copy],
        evidence=[finished_research.TURBINES, piece],
        contradictions=[],
        draft={
            "summary": [
                finished_research.paragraph(finished_research.fact("412 hours", finished_research.TURBINES, piece))
            ]
        },
    )
    (entry,) = parsed(rendered(report)).css(".sources > li")
    assert entry.css_first(".numbers").text() == "1, 2"
    links = [one.attributes["href"] for one in entry.css(".title a, .meta a")]
    assert links == [finished_research.SOURCES[1]["url"], "https://copy.example/report"]
    assert "passages: 2; cited in sentences: 1" in entry.text()


def test_a_source_whose_address_is_no_web_address_is_named_and_not_linked():
    for url in ("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://a b", "http://[bad", "//x"):
        page = parsed(rendered(built(sources=[{**source, "url": url} for source in finished_research.SOURCES])))
        assert not [node for node in page.css("a") if not node.attributes["href"].startswith("#")], url


def test_a_citation_that_is_not_proved_shows_the_claimed_words_and_what_stands_there():
    moved = {**finished_research.FISH, "locator": "char:0-18"}
    report = built(
        draft={"summary": [finished_research.quotes(finished_research.quote(moved))]},
        evidence=[moved],
        contradictions=[],
    )
    page = parsed(rendered(report))
    assert not page.css("mark")
    panel = page.css_first("#c-c1").text()
    assert "not proved" in panel and "the archived text has there: 'Mackerel are back.'" in panel
    assert "(unsupported)" in page.css_first("#answer").text()


def test_a_mark_is_never_put_on_the_reports_own_word():
    assert not parsed(rendered(built(), texts={})).css("mark")


def test_a_passage_has_2000_characters_on_each_side_and_is_cut_between_words():
    text = "word " * 3000
    start, end = context_of(text, Mark(n=1, start=7000, end=7004))
    assert CONTEXT_CHARS <= 7000 - start <= CONTEXT_CHARS + 40
    assert CONTEXT_CHARS <= end - 7004 <= CONTEXT_CHARS + 40
    assert text[start:end].startswith("word") and text[start:end].endswith("word")
    assert context_of("short", Mark(n=1, start=0, end=5)) == (0, 5)


def test_overlapping_quotes_share_their_common_stretch():
    (shown,) = paragraphs("abcdefghij", {}, [Mark(n=1, start=1, end=6), Mark(n=2, start=4, end=8)])
    assert [(piece.text, piece.numbers, piece.begins) for piece in shown.pieces] == [
        ("a", (), ()),
        ("bcd", (1,), (1,)),
        ("ef", (1, 2), (2,)),
        ("gh", (2,), ()),
        ("ij", (), ()),
    ]


@settings(deadline=None)
@given(st.data())
def test_whatever_the_blocks_and_the_other_quotes_a_mark_holds_exactly_its_quote(data):
    text = data.draw(st.text(alphabet="ab .", min_size=1, max_size=60))
    place = st.integers(0, len(text))
    edges = sorted(data.draw(st.lists(place, max_size=6)))
    blocks = [["paragraph", start, end, 0] for start, end in pairwise(edges)]
    quotes = data.draw(st.lists(st.tuples(place, place).map(sorted).filter(lambda one: one[0] < one[1]), max_size=4))
    marks = [Mark(n=n, start=start, end=end) for n, (start, end) in enumerate(quotes, start=1)]
    pieces = [piece for one in paragraphs(text, {"blocks": blocks}, marks) for piece in one.pieces]
    for mark in marks:
        shown = "".join(piece.text for piece in pieces if mark.n in piece.numbers)
        assert shown.replace(" ", "") == text[mark.start : mark.end].replace(" ", "")
        begins = [piece for piece in pieces if mark.n in piece.begins]
        assert len(begins) == 1 or not text[mark.start : mark.end].strip()


def test_a_text_is_shown_whole_in_its_blocks_with_page_breaks_as_such():
    shown = paragraphs(finished_research.AUDIT.text, finished_research.AUDIT.layout(), [])
    assert [one.kind for one in shown] == ["heading", "heading", "paragraph", "paragraph"]
    assert " ".join(piece.text for one in shown for piece in one.pieces) == finished_research.AUDIT.text
    pages = paragraphs(finished_research.REPORT.text, finished_research.REPORT.layout(), [])
    assert [one.pieces[0].text for one in pages if one.kind == "page"] == ["2", "3"]


def test_whole_texts_are_carried_up_to_two_megabytes_and_the_passages_always():
    long = Document(text="The pier is 9 metres long. " + "Sand and sea. " * (WHOLE_TEXT_BYTES // 14))
    words = "The pier is 9 metres long."
    piece = {"id": "ev-long000001", "source_id": "src-long000001", "quote": words, "locator": f"char:0-{len(words)}"}
    report_texts = {long.hash: long.text, **finished_research.texts()}
    state = finished_research.state(
        sources=[{"id": "src-long000001", "title": "Long", "archive_hash": long.hash}, *finished_research.SOURCES],
        evidence=[{**piece, "archive_hash": long.hash}, finished_research.FISH],
        draft={
            "summary": [
                finished_research.quotes(
                    finished_research.quote(piece), finished_research.quote(finished_research.FISH)
                )
            ]
        },
        contradictions=[],
    )
    report = build_report(state, texts=report_texts, layouts=finished_research.layouts(), run=finished_research.facts())
    html = rendered(report, texts=report_texts)
    page = parsed(html)
    assert len(html) < 200_000
    assert page.css_first("#q-c1").text() == words
    assert page.css_first("#f-c1") is None and page.css_first("#f-c2") is not None
    assert "Too long to include whole" in page.css_first("#texts").text()


@pytest.mark.parametrize(
    "svg",
    [
        "<svg><script>alert(1)</script><text onload='alert(1)'>a</text></svg>",
        "<svg><image href='http://evil.example/x'/><use href='http://evil.example/#x'/></svg>",
        "<svg><rect fill='url(http://evil.example/x)' style='fill:red'/></svg>",
        "<svg><style>@import 'http://evil.example/x';</style></svg>",
        "<svg><style>rect{fill:URL (http://evil.example/x)}</style></svg>",
        "<svg><foreignObject><body xmlns='http://www.w3.org/1999/xhtml'><p>x</p></body></foreignObject></svg>",
        "<svg><a href='javascript:alert(1)'><text>x</text></a></svg>",
        "<svg><text>&lt;script&gt;alert(1)&lt;/script&gt;</text></svg>",
    ],
)
def test_a_picture_is_rebuilt_from_what_is_harmless(svg):
    markup = sanitized_svg(svg).markup
    assert not re.search(r"<script|evil|javascript:|onload|style=|foreignObject|<image|<use", markup), markup
    assert markup.startswith("<svg")


@pytest.mark.parametrize(
    "svg", ["", "no markup", "<html/>", "<svg>", '<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "<svg>&a;</svg>"]
)
def test_what_is_no_picture_is_left_out(svg):
    assert sanitized_svg(svg) is None
    assert 'class="graph"' not in rendered(picture=svg)


def test_a_publisher_who_is_the_author_too_is_named_once():
    sources = [
        {**source, "publisher": "Lagoon Company", "authors": ["Lagoon Company"]} for source in finished_research.SOURCES
    ]
    listed = LexborHTMLParser(rendered(built(sources=sources))).css("#sources .meta")
    assert listed
    assert all(row.text().count("Lagoon Company") == 1 for row in listed)


def test_a_quoted_row_has_its_number_once_behind_its_label():
    quoted = finished_research.quote(finished_research.TURBINES)
    own = finished_research.fact("412 gigawatt hours", finished_research.TURBINES)
    other = finished_research.fact("two turbines", finished_research.MAINTENANCE)
    rows = [[quoted, quoted, quoted], [own, own, other]]
    table = {"type": "table", "header": ["What", "How much", "Since when"], "rows": rows}
    page = parsed(rendered(built(draft={"summary": [table]})))
    marks = [[len(cell.css(".ref")) for cell in row.css("td")] for row in page.css("#answer tbody tr")]
    assert marks == [[1, 0, 0], [1, 1, 1]]
