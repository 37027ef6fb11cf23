"""The sentences of a foreign report, with the marks behind them."""

from __future__ import annotations

import pytest

from graph_research.research.audit.statements import ReportSentence, cited_entries, sentences_of
from graph_research.research.report.documents.markdown import render_markdown
from graph_research.research.report.formatting import side_by_side
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.page.html import render_html
from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_document
from tests.support.research import finished_research, written_report


def read(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(row.text, row.marks) for row in sentences_of(markdown_document(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It turns [1]. It hums [2, 3].", [("It turns.", ("1",)), ("It hums.", ("2", "3"))]),
        ("It turns [1] [2] [5]. It hums. [3] [4]", [("It turns.", ("1", "2", "5")), ("It hums.", ("3", "4"))]),
        (
            "It turns. (from [1] [2–4]) It hums. (Ermessen, aus [3]) Yes. (analysis)",
            [("It turns.", ("1", "2", "3", "4")), ("It hums.", ("3",)), ("Yes.", ())],
        ),
        ("It turns.[1] It hums.[2–4]", [("It turns.", ("1",)), ("It hums.", ("2", "3", "4"))]),
        ("It turns.[^1] It hums [2].", [("It turns.", ("1",)), ("It hums.", ("2",))]),
        ("It turns.¹ It covers 12 km².²³", [("It turns.", ("1",)), ("It covers 12 km².", ("23",))]),
        ("It turned in 2021². It hums^3^.", [("It turned in 2021.", ("2",)), ("It hums.", ("3",))]),
        (
            "It turns (Vance et al., 2021). It hums (Lagoon Company 2019a, p. 4; Écluse & Fils, 2020).",
            [("It turns.", ("Vance 2021",)), ("It hums.", ("Lagoon 2019a", "Écluse 2020"))],
        ),
        ("It turned (May 2021). It hums (in 2020).", [("It turned (May 2021).", ()), ("It hums (in 2020).", ())]),
        ("It turns [1].\n\n[1] A note of a Word document says where.", [("It turns.", ("1",))]),
        ("[Hint] It turns.", [("It turns.", ())]),
        ("- “It turns.” [4] *Company, 2022* (disputed)", [("It turns.", ("4",))]),
        ("- “It turns. It hums.” [4]", [("It turns.", ("4",)), ("It hums.", ("4",))]),
        ("See [the page](https://example.org/a). It hums.", [("See the page.", ()), ("It hums.", ())]),
        ("# The mill\n\nIt turns.\n\n## References\n\n[1] A book.\n\n### Web\n\nA page.\n", [("It turns.", ())]),
        ("It turns.\n\n## Sources\n\n1. A book.\n\n## More\n\nIt hums.", [("It turns.", ()), ("It hums.", ())]),
        ("# Notes\n\nIt turns.\n\n## Notes\n\n1. A book.", [("It turns.", ())]),
        ("a) It turns [1].\nb) It hums [2].", [("It turns.", ("1",)), ("It hums.", ("2",))]),
        (
            "(iv) It turns.\n\nb. It hums.\n\n2) A. Smith saw it.",
            [("It turns.", ()), ("It hums.", ()), ("A. Smith saw it.", ())],
        ),
        (
            "# The mill\n\nFor the council, May 2021\n\nJo Ames\n\nIt turns. It hums",
            [("It turns.", ()), ("It hums", ())],
        ),
        ("# The mill\n\nIt has two stones\n\n## Wheel\n\nIt turns.", [("It has two stones", ()), ("It turns.", ())]),
        ("# The mill\n\nIt has two stones [1]\n\nIt turns.", [("It has two stones", ("1",)), ("It turns.", ())]),
        (
            "# Mills\n\n| Now | Then |\n|---|---|\n| “It turns.” [1] *Mill, 2022*<br>“It turned.” [2] *Jo* | 16 |\n",
            [("It turns.", ("1",)), ("It turned.", ("2",))],
        ),
        ("| What | Value |\n| --- | --- |\n| Turbines | 16 |\n", [("Turbines 16", ())]),
    ],
)
def test_sentences_keep_their_marks_and_lose_what_is_not_said(
    text: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert read(text) == expected


def test_entries_of_a_list_of_sources_are_found_however_they_are_numbered() -> None:
    table = "| [3] | A page | b.html |\n| --- | --- | --- |\n"
    text = f"It turns [1].\n\n## Sources\n\n[1] Annual report, a.pdf\n\n2. A book\n\n{table}"
    entries = cited_entries(markdown_document(text))
    assert "a.pdf" in entries["1"]
    assert "b.html" in entries["3"]


def test_a_number_that_stands_alone_is_that_of_the_entry_behind_it() -> None:
    entries = "<li><p>1</p><p>On mills</p><p>mills.md</p></li><li><p>2</p><p>On tides</p></li>"
    foot = "<footer>Printed by the weir office</footer>"
    page = html_document(f"<h1>Mills</h1><p>A mill turns [1].</p><h2>References</h2><ol>{entries}</ol>{foot}")
    assert cited_entries(page) == {"1": "On mills mills.md", "2": "On tides"}


def test_what_a_table_of_contents_has_of_the_headings_is_no_sentence() -> None:
    contents = "- 1. How a mill turns\n- 2. What mills cost … 4\n"
    text = f"# Mills\n\n{contents}\n## How a mill turns\n\nBy water.\n\n## What mills cost\n\nMuch money.\n"
    assert [row.text for row in sentences_of(markdown_document(text))] == ["By water.", "Much money."]


def test_long_rows_of_digits_and_dots_are_read_at_once() -> None:
    """With a pattern that tries each way to group the digits they take years."""
    text = f"# {'1' * 60}x\n\nIt turns.\n\n{'.' * 100_000}x\n"
    assert read(text)[0] == ("It turns.", ())


def test_entries_are_not_counted_where_they_have_numbers() -> None:
    table = "| No. | Source |\n| --- | --- |\n| [1] | a.pdf |\n"
    text = f"It turns [1].\n\n## Sources\n\n{table}\n## Notes\n\n- Sources read: 4\n"
    assert "a.pdf" in cited_entries(markdown_document(text))["1"]


def test_entries_without_numbers_are_found_by_their_place_and_by_name_and_year() -> None:
    entries = cited_entries(
        html_document(
            "<p>1 of 2 hums.<h2>References</h2><ol><li>Annual report, a.pdf<li>R. Vance (2021b). Smolts. s.pdf</ol>"
        )
    )
    assert "a.pdf" in entries["1"]
    assert "s.pdf" in entries["2"]
    assert entries["2"] == entries["Vance 2021b"]


def test_of_a_page_of_this_program_neither_the_archived_texts_nor_what_a_mark_shows_is_checked() -> None:
    page = html_document(render_html(finished_research.built(), texts=finished_research.texts()))
    said = " ".join(row.text for row in sentences_of(page))
    assert finished_research.FISH["quote"] in said
    assert labels_for("en").archived_texts_lead in page.text
    assert labels_for("en").archived_texts_lead not in said
    assert labels_for("en").meanings["proved"] not in said


@pytest.mark.parametrize("language", ["en", "de", "ja"])
def test_what_a_report_of_this_program_says_of_itself_is_not_checked(language: str) -> None:
    labels = labels_for(language)
    dates = labels.basis_dates.format(first="3 May 2022", last="1 June 2022", undated="")
    revised = labels.revised.format(n=2, changes=labels.revisions["exclude"].format(what="mills.md"))
    above = side_by_side([revised, labels.selected_by_code])
    notes = f"*{labels.confidence_above.format(level=labels.levels['low'].lower())} {dates}*\n\n> {above}\n"
    lead = f"{labels.disagreements_lead} {labels.disagreements_marked}"
    lacking = (
        f"{labels.no_passage_on.format(words='“sails”')}\n\n{labels.no_passage_answers.format(part='who built it')}"
    )
    report = markdown_document(f"# Mills\n\n{notes}\nThe mill turns at night.\n\n{lacking}\n\n## More\n\n{lead}\n")
    assert [row.text for row in sentences_of(report)] == ["The mill turns at night."]


def test_raised_numbers_that_lead_nowhere_are_marks_behind_words_signs_and_years() -> None:
    said = "<p>It turned in 2021<sup>2</sup>. It covers 12 km<sup>2</sup> or 10<sup>6</sup> yards.<sup>3, 4</sup></p>"
    page = html_document(f"<html><body><h1>Mills</h1>{said}</body></html>", note_marks=True)
    read = [(row.text, row.marks) for row in sentences_of(page)]
    assert read == [("It turned in 2021.", ("2",)), ("It covers 12 km2 or 106 yards.", ("3", "4"))]


def test_of_a_report_of_this_program_each_sentence_keeps_its_sources() -> None:
    report = written_report.built()
    read = {row.text: row.marks for row in sentences_of(markdown_document(render_markdown(report)))}
    numbers = {one.id: str(one.n) for one in report.citations}
    written = [row for row in report.statements() if row.text[-1:] == "." and row.kind != "analysis"]
    assert {row.text: set(read[row.text]) for row in written} == {
        row.text: {numbers[name] for name in row.citations} for row in written
    }
    assert read["Company 1.37 billion euros the cost is the lower one"] == ("2",)


def test_of_a_report_of_this_program_the_marks_of_analysis_are_not_checked() -> None:
    report = written_report.built()
    page = html_document(render_html(report, texts=finished_research.texts()))
    for document in (page, markdown_document(render_markdown(report))):
        checked = [row.text for row in sentences_of(document) if row.is_checkable]
        assert not [text for text in checked if "(from" in text or "nalysis" in text]


@pytest.mark.parametrize(
    "text", ["Is the lagoon the largest power station?", "The sources say this here:", "So it is."]
)
def test_questions_leads_and_empty_sentences_are_not_checkable(text: str) -> None:
    assert not ReportSentence(text=text).is_checkable


@pytest.mark.parametrize("text", ["Paris is the capital of France.", "Turbines never stop."])
def test_a_short_statement_is_checkable(text: str) -> None:
    assert ReportSentence(text=text).is_checkable


def test_of_tables_right_behind_each_other_rows_are_read_with_their_own_headers_and_no_header_is_a_sentence() -> None:
    tables = "| Ferry | Cars |\n|---|---|\n| Skarvik | 22 [1] |\n\n| Quay | Depth |\n|---|---|\n| North | 7 m |\n"
    skarvik, north = sentences_of(markdown_document(f"# Ferries\n\n{tables}"))
    assert (skarvik.text, skarvik.marks, skarvik.claim) == ("Skarvik 22", ("1",), "Skarvik | cars: 22.")
    assert (north.text, north.claim) == ("North 7 m", "North | depth: 7 m.")


def test_the_captions_of_tables_and_of_code_are_no_sentences() -> None:
    table = "| Lock | Held for |\n| --- | --- |\n| row | a second |\n"
    code = "**In the file**\n\n```ini\nwait = 1\n```\n"
    text = f"# Locks\n\nA lock is held.\n\n**How long locks are held**\n\n{table}\n{code}"
    found = [row.text for row in sentences_of(markdown_document(text))]
    assert found == ["A lock is held.", "row a second"]
    assert "How long locks are held." in [
        row.text for row in sentences_of(markdown_document(text.replace("are held**", "are held.**")))
    ]
