"""HTML to canonical text: what is kept, what is joined, what is boilerplate."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from graph_research.text.canonical import canonical_text
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.html import html_document
from graph_research.text.readers.html_nesting import MAX_DEPTH, MAX_TAGS, bound_nesting
from graph_research.text.relevance.units import units


def blocks(document: Document, kind: str | None = None) -> list[str]:
    return [document.text[one.start : one.end] for one in document.blocks if kind in (None, one.kind)]


@pytest.mark.requirement("11.10", "B3")
def test_entities_are_decoded_in_text_nodes_only() -> None:
    document = html_document("<p>a &lt; b and c &gt; d, &amp;lt;b&amp;gt; stays</p>")
    assert document.text == "a < b and c > d, &lt;b&gt; stays"


@pytest.mark.requirement("11.10")
def test_inline_tags_join_words_and_block_tags_part_them() -> None:
    document = html_document("<p>un<b>believ</b>able<i>!</i></p><div>next</div>line<br>break<ul><li>one<li>two</ul>")
    assert document.text == "unbelievable! next line break one two"


@pytest.mark.parametrize(
    "mark",
    [
        '<sup><a href="#n1">1</a></sup>',
        '<a href="notes.html#n1"><sup>[1]</sup></a>',
        '<sup id="c" class="reference"><a href="#n1"><span>[</span>1<span>]</span></a></sup>',
        '<sup>[<a href="#n1">1</a>]</sup>',
        '<a href="#n1" role="doc-noteref"><span>[</span>1<span>]</span></a>',
    ],
)
def test_raised_marks_that_lead_to_a_note_are_left_out_or_stand_in_brackets(mark: str) -> None:
    page = f"<p>It turns.{mark} It covers 12 km<sup>2</sup>.</p>"
    assert html_document(page).text == "It turns. It covers 12 km2."
    assert html_document(page, note_marks=True).text == "It turns.[1] It covers 12 km2."


def test_several_marks_of_notes_are_each_one_and_a_mark_may_be_a_letter_or_a_sign() -> None:
    page = '<p>Said.<sup><a href="#a">3</a>, <a href="#b">note 2</a></sup> So<sup><a href="#c">a</a></sup> it is.</p>'
    assert html_document(page).text == "Said. So it is."
    assert html_document(page, note_marks=True).text == "Said.[3][note 2] So[a] it is."


def test_what_a_raised_link_says_in_words_and_other_links_stay() -> None:
    page = '<p>It turns.<sup>[<a href="#c">citation needed</a>]</sup> See <a href="#top">3</a>.</p>'
    assert html_document(page).text == "It turns.[citation needed] See 3."


@pytest.mark.requirement("B3")
def test_scripts_styles_templates_and_noscript_give_no_text() -> None:
    page = "<script>var a = '<p>no</p>'</script><style>p{}</style><template>no</template><p>yes<noscript>no</noscript>"
    assert html_document(page).text == "yes"


@pytest.mark.requirement("B4")
def test_blocks_tell_headings_items_quotes_tables_and_code() -> None:
    page = (
        "<h1>Title</h1><p>Text.</p><h3>Part</h3><ul><li>One</li></ul><blockquote><p>Said.</p></blockquote>"
        "<table><tr><th>Year</th><th>GWh</th></tr><tr><td>2018</td><td><p>410</p></td></tr></table>"
        "<pre>a = 1\nb = 2</pre>"
    )
    document = html_document(page)
    assert [(one.kind, one.level) for one in document.blocks] == [
        ("heading", 1),
        ("paragraph", 0),
        ("heading", 3),
        ("item", 0),
        ("quote", 0),
        ("table", 1),
        ("table", 0),
        ("code", 0),
    ]
    assert blocks(document, "table") == ["Year GWh", "2018 410"]
    assert document.title == "Title"


def test_a_page_of_one_preformatted_text_is_read_as_plain_text_and_a_listing_of_code_is_not() -> None:
    manual = (
        "NAME\n  <b>ferry</b> - sells\n\nOPTIONS\n  <b>-f</b>  Sells every seat\n     of the <a href=q>queue</a>.\n"
    )
    document = html_document(f"<title>ferry(1)</title><body><pre>\n{manual}</pre>")
    assert (document.title, blocks(document, "heading")) == ("ferry(1)", ["NAME", "OPTIONS"])
    assert blocks(document, "paragraph") == ["ferry - sells", "-f Sells every seat of the queue."]
    listing = html_document("<pre>for (;;) {\n\n  sell(seat);\n\n}</pre>")
    assert [block.kind for block in listing.blocks] == ["code"]


def test_a_table_has_its_own_header_behind_its_caption_and_right_behind_another_table() -> None:
    ferries = "<table><caption>Ferries</caption><tr><th>Ferry<th>Cars<tr><td>Skarvik<td>22</table>"
    quays = "<table><tr><th>Quay<th>Depth<tr><td>North<td>7 m</table>"
    document = html_document(f"<h1>The crossing</h1>{ferries}{quays}")
    starts = {document.text[block.start : block.end]: block.start for block in document.blocks}
    assert document.columns_at(starts["Skarvik 22"]) == (("Ferry", "Skarvik"), ("Cars", "22"))
    assert document.columns_at(starts["North 7 m"]) == (("Quay", "North"), ("Depth", "7 m"))
    around = document.around(starts["North 7 m"], len(document.text)).splitlines()
    assert around == ["The crossing", "Skarvik 22", "Quay Depth", "North 7 m"]
    headers = {unit.text: unit.header for unit in units(document, "en") if unit.kind == "row"}
    assert (headers["Skarvik 22"], headers["North 7 m"]) == ("Ferries Ferry Cars", "Quay Depth")


def test_a_table_that_labels_its_rows_has_no_header_that_would_be_its_first_row() -> None:
    days = "<tr><!-- 1 --><th>Monday<td>8-12<tr><th>Tuesday<td>9-13<tr><th>Wednesday<td>closed"
    document = html_document(f"<h1>Hours</h1><table><caption>Office</caption>{days}</table>")
    rows = {unit.text: unit.header for unit in units(document, "en") if unit.kind == "row"}
    assert rows["Monday 8-12"] == rows["Tuesday 9-13"] == "Office"
    assert not any(document.names_columns(block.start) for block in document.blocks)
    cells = "<tr><th><th>Cats<th>Dogs<tr><th>Fasting<td>6 h<td>12 h<tr><th>Price<td>95<td>240"
    document = html_document(f"<table>{cells}</table>")
    assert document.columns_at(document.text.index("Price")) == (("", "Price"), ("Cats", "95"), ("Dogs", "240"))


def test_two_line_breaks_part_paragraphs() -> None:
    assert blocks(html_document("<div>One.<br><br>Two.<br>Still two.</div>")) == ["One.", "Two. Still two."]


def test_navigation_banners_link_lists_and_footers_are_boilerplate() -> None:
    page = """
        <div class="cookie" role="dialog"><p>We use cookies.</p></div>
        <header><a href="/">Courier</a><nav><ul><li><a href="/n">News</a></li></ul></nav></header>
        <main><article><h1>Seal fails</h1><p class="byline">By I. Varholm</p><p>Turbine 7 stopped.</p>
        <div class="ad"><p>Advertisement</p></div><ul><li><a href="/a">Ten walks</a></li></ul>
        <p>See <a href="/x">the report</a> of the company for more.</p></article>
        <aside><h2>Most read</h2></aside></main><footer>About us</footer>
    """
    document = html_document(page)
    content = [document.text[one.start : one.end] for one in document.blocks if one.kind != "boilerplate"]
    assert content == ["Seal fails", "Turbine 7 stopped.", "See the report of the company for more."]
    assert "We use cookies." in document.text


@pytest.mark.parametrize("attribute", ["class", "id"])
@pytest.mark.parametrize("name", ["toctree-wrapper compound", "sql-for-update-share", "session-cookie-secure"])
def test_a_section_or_much_prose_is_content_whatever_its_class_or_id_is(attribute: str, name: str) -> None:
    told = "Rows that are locked are skipped."
    section = f"<div {attribute}='{name}'><h3>The clause</h3><p>{told}</p></div>"
    assert blocks(html_document(section), "paragraph") == [told]
    much = " ".join([told] * 20)
    assert blocks(html_document(f"<div {attribute}='{name}'><p>{much}</p></div>"), "paragraph") == [much]
    short = f"<div {attribute}='{name}'><p>Tell your friends.</p></div>"
    assert blocks(html_document(short), "boilerplate") == ["Tell your friends."]
    links = f"<div {attribute}='{name}'><h3>Read on</h3><ul><li><a href='/x'>{told}</a></li></ul></div>"
    assert blocks(html_document(links), "boilerplate") == ["Read on", told]


def test_an_aside_in_the_content_is_content_where_it_has_prose() -> None:
    summary = '<aside class="topic"><p>Abstract</p><p>How annotations are read.</p></aside>'
    notes = '<aside class="footnote-list"><aside role="note"><span>[1]</span><p>Since 3.10.</p></aside></aside>'
    document = html_document(f"<main><h1>Annotations</h1>{summary}<p>Call it.</p>{notes}</main>")
    assert blocks(document, "paragraph") == ["Abstract", "How annotations are read.", "Call it.", "[1]", "Since 3.10."]
    outside = html_document(f"<main><p>Call it, then read it.</p></main>{summary}")
    assert blocks(outside, "boilerplate") == ["Abstract", "How annotations are read."]


def test_what_stands_beside_links_to_the_next_page_is_boilerplate_but_no_heading() -> None:
    links = (
        'Next: <a href="#b" rel="next">A real book</a>, Previous: <a href="#t" rel="prev">Top</a> of this manual &nbsp;'
    )
    page = f"<div><p>{links}</p></div><h2><a href='#b' rel='next'>A real book</a></h2><p>Books have chapters.</p>"
    document = html_document(page)
    assert blocks(document, "boilerplate") == ["Next: A real book, Previous: Top of this manual"]
    assert blocks(document, "heading") == ["A real book"]


def test_the_page_links_of_a_docbook_manual_are_boilerplate() -> None:
    row = "<table><tr><td><a href='a.html'>Prev</a></td><td>20.3. Connections</td></tr></table>"
    page = f"<div class='navheader'>{row}</div><p>The pump starts.</p><div class='navfooter'>{row}</div>"
    assert blocks(html_document(page), "paragraph") == ["The pump starts."]


def test_a_main_container_called_contents_is_content() -> None:
    document = html_document("<div class='contents'><p>The pump starts.</p><p>It stops again.</p></div>")
    assert blocks(document, "boilerplate") == []


def test_an_anchor_without_an_address_makes_no_link_of_what_follows() -> None:
    document = html_document("<p><a id='start'/>The pump starts at noon.</p><p>It stops at night.</p>")
    assert blocks(document, "boilerplate") == []


def test_a_page_wrapped_in_a_form_keeps_its_content() -> None:
    document = html_document("<form><h1>Report</h1><p>All of it.</p></form>")
    assert blocks(document, "paragraph") == ["All of it."]


def test_signs_that_link_to_their_own_heading_are_dropped() -> None:
    page = '<h2>Task Groups<a class="headerlink" href="#task-groups" title="Permalink">¶</a></h2><p>Cost: 5 ¶.</p>'
    assert html_document(page).text == "Task Groups Cost: 5 ¶."


def test_a_site_name_after_the_heading_is_no_part_of_the_title() -> None:
    page = "<title>Tasks — Python 3.11 documentation</title><h1>Tasks</h1>"
    assert html_document(page).title == "Tasks"
    assert html_document("<title>Other</title><h1>Tasks</h1>").title == "Other"
    assert html_document("<head><noscript><img></noscript><title>Late</title></head><p>x").title == "Late"
    assert html_document("<svg><title>icon</title></svg><p>x").title == ""


@given(st.text(st.sampled_from("<>/pdivbaul=\"'& \n!-x;"), max_size=200))
def test_any_markup_gives_a_document_with_exact_sorted_blocks(source: str) -> None:
    document = html_document(source)
    assert canonical_text(document.text) == document.text
    ends = [0]
    for block in document.blocks:
        assert ends[-1] <= block.start < block.end <= len(document.text)
        ends.append(block.end)
    assert html_document(source) == document


@pytest.mark.requirement("11.12")
@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=100))
def test_escaped_text_comes_back_as_its_canonical_self(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert html_document(f"<p>{escaped}</p>").text == canonical_text(text)


@pytest.mark.parametrize("tag", ["div", "span", "b", "ul><li"])
def test_deep_nesting_is_read_in_no_time_and_without_loss(tag: str) -> None:
    started = time.process_time()
    assert html_document(f"<{tag}>" * 50_000 + "deep").text == "deep"
    assert time.process_time() - started < 5


def test_nesting_is_left_alone_where_it_is_ordinary() -> None:
    source = "<div><ul><li><p>a<b>b</b></ul></div>" * 3
    assert bound_nesting(source) == source
    deepest = LexborHTMLParser(bound_nesting("<div>" * 5_000))
    assert len(deepest.css("div")) == MAX_DEPTH


def test_markup_in_scripts_and_comments_does_not_count_as_nesting() -> None:
    source = "<script>" + "'<div>' + " * 3_000 + "</script><!--" + "<div>" * 3_000 + "--><div>x</div>"
    assert bound_nesting(source) == source


def test_a_page_with_more_tags_than_anyone_wrote_is_refused() -> None:
    with pytest.raises(DocumentUnreadable, match="tags"):
        html_document("<p>" * (MAX_TAGS + 1))


@pytest.mark.parametrize(
    ("page", "date"),
    [
        ("<p>Text.</p><p>This page last modified on 2022-06-15 12:01:01 UTC</p>", "2022-06-15"),
        ("<p>Last updated: 3 May 2021</p><p>Text.</p>", "2021-05-03"),
        ("<p>Text.</p><footer>Zuletzt geändert am 4. März 2020</footer>", "2020-03-04"),
        ('<meta property="article:modified_time" content="2023-02-01"><p>Last updated: 3 May 2021</p>', "2023-02-01"),
        (
            '<meta property="article:modified_time" content="2023-02-01">'
            '<meta property="article:published_time" content="2019-10-05T08:00:00+00:00"><p>Text.</p>',
            "2019-10-05T08:00:00+00:00",
        ),
        ('<script type="application/ld+json">{"datePublished": "2018-07-09"}</script><p>Text.</p>', "2018-07-09"),
        ("<p>The dam was last modified by a flood in 1994 and again later.</p>", ""),
        ("<p>A study published on 3 May 2016 says so.</p>", ""),
        ("<p>The plant opened on 4 March 2016.</p>", ""),
    ],
)
def test_a_page_is_dated_by_what_it_says_of_itself_and_not_by_what_it_tells(page: str, date: str) -> None:
    document = html_document(f"<html><head></head><body>{page}</body></html>")
    assert document.date == date
    assert Document.from_layout(document.text, document.layout()) == document


def test_a_row_of_a_table_knows_its_cells_and_an_empty_one_keeps_its_place() -> None:
    rows = "<tr><th>Mode<th>Size<th>Note</tr><tr><td>WAL <i>mode</i><td></td><td><p>fast</tr><tr><td><td>9<td>x"
    document = html_document(f"<p>Before.</p><table>{rows}</table>")
    header, row, last = document.rows.values()
    assert (header, row, last) == (("Mode", "Size", "Note"), ("WAL mode", "", "fast"), ("", "9", "x"))
    assert document.text == "Before. Mode Size Note WAL mode fast 9 x"
    assert Document.from_layout(document.text, document.layout()) == document
    assert "cells" not in html_document("<p>No table.</p>").layout()


def test_a_cell_over_several_rows_is_said_in_each_and_one_over_several_columns_in_the_first() -> None:
    rows = """<tr><th>Well<th>Depth<th colspan=2>Flow<tr><td rowspan=2>A<td>31<td>4.5<td>3.9
        <tr><td>29<td>1.1<td rowspan=3>0.2<tr><td colspan=3>closed<tr><td>B<td colspan=2>9"""
    document = html_document(f"<table>{rows}</table><table><tr><td>x<td>y</table>")
    assert list(document.rows.values()) == [
        ("Well", "Depth", "Flow", ""),
        ("A", "31", "4.5", "3.9"),
        ("A", "29", "1.1", "0.2"),
        ("B", "9", "", "0.2"),
        ("x", "y"),
    ]
    assert document.text == "Well Depth Flow A 31 4.5 3.9 A 29 1.1 0.2 closed B 9 0.2 x y"
    note = "Dug by hand. " * 20
    document = html_document(f"<table><tr><td rowspan=2>{note}<td>1<td>2<tr><td>3<td>4</table>")
    assert list(document.rows.values())[1] == ("", "3", "4")  # a long text is no label


def test_the_second_row_of_a_header_names_the_columns_with_the_first() -> None:
    rows = """<tr><th rowspan=2>Site<th colspan=2>Area<th rowspan=2>Built<tr><th>indoor<th>outdoor
        <tr><td>Skagby<td>14200<td>5100<td>1987<tr><td>Lund<td>8300<td>900<td>1990"""
    document = html_document(f"<table>{rows}</table>")
    header, second, *below = document.rows
    assert document.columns_at(below[1]) == (
        ("Site", "Lund"),
        ("Area indoor", "8300"),
        ("Area outdoor", "900"),
        ("Built", "1990"),
    )
    assert document.table_at(below[0]) == (header, *below)
    assert document.columns_at(second) == ()


def test_a_first_row_without_a_label_is_no_second_row_of_the_header() -> None:
    rows = "<tr><th>Site<th>Area<th><tr><td><td>5<td>6<tr><td><td>7<td>8"
    document = html_document(f"<table>{rows}</table>")
    assert len(document.tables[0]) == 3


def test_spans_of_any_size_take_bounded_memory() -> None:
    row = '<tr><td colspan="9999" rowspan="9999">a<td colspan="0" rowspan="x">b<td>c'
    document = html_document(f"<table>{row * 500}</table>")
    assert sum(map(len, document.cells)) < 110_000
    assert document.text.replace("a ", "").split() == ["b", "c"] * 500


def test_a_footnote_of_a_book_is_no_boilerplate() -> None:
    document = html_document('<p>Text.</p><aside epub:type="footnote"><p>Measured in May.</p></aside>')
    assert [block.kind for block in document.blocks] == ["paragraph", "paragraph"]


@pytest.mark.parametrize(
    ("head", "authors", "licence"),
    [
        ('<meta name="author" content="Ann Writer">', ("Ann Writer",), ""),
        ('<meta name="author" content="Mail Project. &lt;https://mail.example/&gt;">', ("Mail Project",), ""),
        ('<meta name="author" content="J. Ames Jr. (ames@mail.example)">', ("J. Ames Jr",), ""),
        ('<meta name="DC.creator" content="Ann"><meta name="DC.rights" content="CC BY">', ("Ann",), "CC BY"),
        ('<meta name="citation_author" content="A"><meta name="citation_author" content="B">', ("A", "B"), ""),
        ('<link rel="license" href="https://example.org/by">', (), "https://example.org/by"),
        ('<meta property="article:author" content="https://example.org/ann">', (), ""),
        (
            '<script type="application/ld+json">{"@graph": [{"@type": "Article", "author": [{"name": "Ann"}, "Bob"], '
            '"license": "https://example.org/by"}]}</script>',
            ("Ann", "Bob"),
            "https://example.org/by",
        ),
        ('<script type="application/ld+json">{broken</script>', (), ""),
        ('<script type="application/ld+json">' + "[" * 100_000 + "</script>", (), ""),
    ],
)
def test_a_page_names_its_authors_and_its_licence(head: str, authors: tuple[str, ...], licence: str) -> None:
    document = html_document(f"<html><head>{head}</head><body><p>Open both gates.</p></body></html>")
    assert (document.authors, document.licence, document.text) == (authors, licence, "Open both gates.")


@pytest.mark.parametrize(
    "head",
    [
        '<meta property="og:site_name" content="Weir Board">',
        '<meta name="DC.publisher" content="Weir Board"><meta property="og:site_name" content="Weirs">',
        '<script type="application/ld+json">{"publisher": {"@type": "Organization", "name": "Weir Board"}}</script>',
    ],
)
def test_a_page_names_its_publisher(head: str) -> None:
    document = html_document(f"<head>{head}</head><p>Open both gates.")
    assert document.publisher == "Weir Board"
    assert Document.from_layout(document.text, document.layout()) == document


@pytest.mark.parametrize(
    ("foot", "authors"),
    [
        ("© Copyright 2023, restic authors. Built with Sphinx", ("restic authors",)),
        (
            "© 2010-2023 Jonas Borgström, 2015-2023 The Borg Collective (see AUTHORS)",
            ("Jonas Borgström", "The Borg Collective"),
        ),
        ("(c) 2020 Stadtwerke Musterstadt GmbH | Impressum", ("Stadtwerke Musterstadt GmbH",)),
        ("© The Tarn Company 2021. All rights reserved.", ("The Tarn Company",)),
        ("© 2001–2024 by the Django Software Foundation", ("the Django Software Foundation",)),
        ("© 2000-2022", ()),
        ("Last modified by the team", ()),
    ],
)
def test_who_holds_the_copyright_answers_for_a_page_that_names_no_author(foot: str, authors: tuple[str, ...]) -> None:
    page = f"<h1>Tides</h1><p>High water is late.</p><footer>{foot}</footer>"
    named = f'<head><meta name="author" content="Ines Hartmann"></head><body>{page}</body>'
    assert html_document(page).authors == authors
    assert html_document(named).authors == ("Ines Hartmann",)


@pytest.mark.parametrize(
    ("attributes", "language"), [("lang='pt-BR'", "pt"), ("xml:lang='DE'", "de"), ("lang=''", ""), ("", "")]
)
def test_a_page_declares_its_language(attributes: str, language: str) -> None:
    document = html_document(f"<html {attributes}><body><p>Open both gates.</p></body></html>")
    assert document.language == language
    assert Document.from_layout(document.text, document.layout()) == document


def test_empty_elements_of_a_page_in_xml_are_closed() -> None:
    body = '<p>It opened<a id="x"/> in 2016.<br/>It is <i class="a"/>open.</p><div/><p>It closed.</p>'
    page = f'<?xml version="1.0"?><html><head><title/><script src="a.js"/></head><body>{body}</body></html>'
    document = html_document(page)
    assert document.text.split() == ["It", "opened", "in", "2016.", "It", "is", "open.", "It", "closed."]
    assert html_document(page.replace("<title/>", "<title>Weirs</title>")).title == "Weirs"
