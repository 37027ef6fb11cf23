"""The report as Word, PDF, Markdown for pandoc and a table of evidence, read back with other programs' readers."""

import csv
import io
import re
from typing import Any

import pytest
from docx import Document
from pypdf import PdfReader

from graph_research.research.evidence.cited import Citation
from graph_research.research.report.build import build_report
from graph_research.research.report.documents.block_settings import settings_by_source
from graph_research.research.report.documents.evidence_table import COLUMNS, render_evidence
from graph_research.research.report.documents.markdown import escape
from graph_research.research.report.documents.pdf import PdfNotMade
from graph_research.research.report.formats import REPORT_FORMATS, ProvedReport
from graph_research.research.report.model import Report
from tests.support.research.finished_research import (
    COST_AUDIT,
    COST_REPORT,
    INTEREST,
    MAINTENANCE,
    TURBINES,
    fact,
    facts,
    layouts,
    paragraph,
    quote,
    quotes,
    state,
    texts,
)
from tests.support.research.written_report import analysis

HOSTILE = 'Cost #let x = 1 $a$ <b>x</b> | [y](z) `q` @src \\ "quoted" =1+1'


def table() -> dict[str, Any]:
    label = {"text": "Chamber", "kind": "transition"}
    return {
        "type": "table",
        "caption": HOSTILE,
        "header": ["Who", HOSTILE],
        "rows": [[label, fact("1.61 billion euros", COST_AUDIT)], [{**label, "text": "Company"}]],
    }


def report(**draft: Any) -> Report:
    given = state()
    sections = [
        {
            "heading": HOSTILE,
            "level": 2,
            "blocks": [
                table(),
                {"type": "code", "language": "ini", "sentences": [fact('a = "#let" ```', COST_REPORT)]},
                {"type": "list", "ordered": True, "items": [[fact(TURBINES["quote"], TURBINES)]]},
                {"type": "quote", "sentences": [fact(HOSTILE, TURBINES)]},
            ],
        }
    ]
    given["draft"] = {**given["draft"], "sections": [*given["draft"]["sections"], *sections], **draft}
    return build_report(given, texts=texts(), layouts=layouts(), run=facts(graph_hash="sha256:abc"))


def rendered(format: str, whole: Report | None = None) -> bytes:
    proved = ProvedReport(report=whole or report(), texts=texts(), layouts=layouts())
    made = REPORT_FORMATS[format].render(proved)
    assert made == REPORT_FORMATS[format].render(proved)
    return made


def in_language(language: str) -> Report:
    return report().model_copy(update={"language": language})


@pytest.mark.parametrize(("language", "is_slanted"), [("en", True), ("ja", False), ("zh", False)])
def test_emphasis_is_slanted_but_in_scripts_without_slanted_letters(language: str, is_slanted: bool) -> None:
    document = Document(io.BytesIO(rendered("docx", in_language(language))))
    runs = [run for paragraph in document.paragraphs for run in paragraph.runs]
    assert any(run.italic for run in runs) is is_slanted
    assert document.styles["Quote"].font.italic is is_slanted
    try:
        made = rendered("pdf", in_language(language))
    except PdfNotMade as error:
        assert not is_slanted, "the fonts for Latin letters come along"
        pytest.skip(f"this machine: {error}")
    pages = PdfReader(io.BytesIO(made)).pages
    fonts = str([font.get_object() for page in pages for font in page["/Resources"]["/Font"].values()])
    assert ("Italic" in fonts) is is_slanted


def test_the_numbers_of_a_word_file_look_like_links() -> None:
    document = Document(io.BytesIO(rendered("docx")))
    links = re.findall(r"<w:hyperlink.*?</w:hyperlink>", document.element.xml, re.DOTALL)
    assert links and all("<w:color" in link for link in links)


def test_a_word_file_has_headings_tables_code_and_numbers_that_lead_to_their_passages() -> None:
    document = Document(io.BytesIO(rendered("docx")))
    styles = {paragraph.text: paragraph.style.name for paragraph in document.paragraphs if paragraph.style}
    assert styles["Short answer"] == "Heading 1"
    assert styles[HOSTILE] in ("Heading 2", "Caption")
    assert document.tables[0].cell(0, 1).text == HOSTILE
    assert document.tables[0].cell(1, 1).text.startswith("1.61 billion euros [2]")
    xml = document.element.xml
    anchors = {part.split('"')[0] for part in xml.split('w:anchor="')[1:]}
    bookmarks = {part.split('"')[0] for part in xml.split('w:name="citation_')[1:]}
    assert anchors and anchors <= {f"citation_{name}" for name in bookmarks}
    assert document.core_properties.comments == "run-1"
    assert any("Graph: deep_research sha256:abc" in text for text in styles)


def test_every_format_has_the_parts_of_the_others_in_their_order() -> None:
    whole = report(conclusions=[paragraph(analysis("So the audit's figure is the higher one.", COST_AUDIT))])
    markdown = [line.lstrip("#").strip() for line in rendered("md", whole).decode().splitlines() if line[:1] == "#"]
    word = [
        row.text
        for row in Document(io.BytesIO(rendered("docx", whole))).paragraphs
        if row.style and row.style.name and row.style.name.startswith(("Title", "Heading"))
    ]
    only_printed = {"Claims by source", "Quoted passages"}
    assert len(word) > 10
    assert [escape(text) for text in word if text not in only_printed] == markdown


def test_analysis_says_what_it_is_inferred_from_and_the_report_says_once_what_that_means() -> None:
    said = ("So the audit's figure is the higher one.", "So it is the one to plan with.")
    cells = [fact("Cost", COST_AUDIT), analysis("much higher", COST_AUDIT)]
    table = {"type": "table", "header": ["What", "How much"], "rows": [cells]}
    whole = report(conclusions=[paragraph(*(analysis(text, COST_AUDIT) for text in said)), table])
    word = "\n".join(row.text for row in Document(io.BytesIO(rendered("docx", whole))).paragraphs)
    printed = "".join(page.extract_text() for page in PdfReader(io.BytesIO(rendered("pdf", whole))).pages)
    for text, marks in ((rendered("md", whole).decode(), 3), (word, 2), (printed, 3)):
        assert text.count("(from [2])") == marks and text.count("(analysis)") == 1
        assert (
            "What the writer infers from the cited passages or judges is marked (from …), (judgement), (analysis)."
            in " ".join(text.split())
        )
    tables = Document(io.BytesIO(rendered("docx", whole))).tables
    row = next(one.rows[1] for one in tables if one.cell(0, 0).text == "What")
    assert [cell.text for cell in row.cells] == ["Cost (disputed)", "much higher (from [2])"]


def test_print_shows_which_source_supports_and_which_contradicts_a_claim() -> None:
    whole = report()
    shown = next(one for one in Document(io.BytesIO(rendered("docx", whole))).tables if one.cell(0, 0).text == "Claim")
    cells = [[cell.text for cell in row.cells] for row in shown.rows]
    assert cells == [["Claim", "1", "2"], [COST_AUDIT["quote"], "−", "+"]]
    printed = "".join(page.extract_text() for page in PdfReader(io.BytesIO(rendered("pdf", whole))).pages)
    assert "Claims by source" in printed
    assert "Claims by source" not in rendered("md", whole).decode()


def test_code_in_bold_is_both() -> None:
    said = {**fact("--limit: set it to 1.61.", COST_AUDIT), "code": ["--limit"], "strong": ["--limit:"]}
    whole = report(conclusions=[{"type": "list", "items": [[said]]}])
    assert "- **`--limit`:** set it to 1.61. [2]" in rendered("md", whole).decode()
    assert "**`--limit`" in rendered("pandoc", whole).decode()
    assert "<b><code>--limit</code></b><b>:</b> set it" in rendered("html", whole).decode()
    [item] = [row for row in Document(io.BytesIO(rendered("docx", whole))).paragraphs if "--limit" in row.text]
    assert [run.text for run in item.runs if run.bold][:2] == ["--limit", ":"]


def test_code_and_bold_are_set_in_every_format_and_names_of_code_in_all_sentences_but_quotations() -> None:
    first = {
        **fact("Cost: set --limit and main | to 1.61.", COST_AUDIT),
        "code": ["--limit", "main |"],
        "strong": ["Cost:"],
    }
    later = fact("So --limit, not --limit-rate, is the main part.", COST_AUDIT)
    whole = report(conclusions=[{"type": "list", "items": [[first], [later]]}])
    assert "- **Cost:** set `--limit` and `main |` to 1.61. [2]" in rendered("md", whole).decode()
    table = report(conclusions=[{"type": "table", "header": ["Setting"], "rows": [[first]]}])
    assert "| **Cost:** set `--limit` and `main \\|` to 1.61. [2]" in rendered("md", table).decode()
    assert "and `main \\|` to 1" in rendered("pandoc", table).decode()
    assert "- So `--limit`, not --limit-rate, is the main part. [2]" in rendered("md", whole).decode()
    page = rendered("html", whole).decode()
    assert "<b>Cost:</b> set <code>--limit</code> and <code>main |</code> to 1.61." in page
    items = [row for row in Document(io.BytesIO(rendered("docx", whole))).paragraphs if "--limit" in row.text]
    assert [run.text for row in items for run in row.runs if run.font.name] == ["--limit", "main |", "--limit"]
    assert "Cost:" in [run.text for row in items for run in row.runs if run.bold]
    printed = PdfReader(io.BytesIO(rendered("pdf", whole)))
    assert any("--limit" in page.extract_text() for page in printed.pages)
    assert "**Cost\\:** set `--limit` and" in rendered("pandoc", whole).decode()


def test_of_quotations_of_one_source_in_a_row_the_first_says_whose_they_are() -> None:
    pieces = (TURBINES, MAINTENANCE, COST_AUDIT, TURBINES)
    whole = report(conclusions=[quotes(*map(quote, pieces))])
    lines = [line for line in rendered("md", whole).decode().splitlines() if line.startswith("- “")]
    names = [line.partition("] *")[2] for line in lines[-5:-1]]
    first, second, third, fourth = (piece["source_id"] for piece in pieces)
    assert first == second == fourth != third
    assert [bool(name) for name in names] == [True, False, True, True]
    page = rendered("html", whole).decode().partition('<section id="conclusions">')[2].partition("</section>")[0]
    assert page.count('<li class="quote">') == 4 and page.count('<p class="byline">') == 3


def test_the_heading_of_a_passage_is_no_other_name_where_it_is_not_shown() -> None:
    whole = report(conclusions=[quotes(quote(TURBINES), quote(MAINTENANCE))])
    apart = [one.model_copy(update={"heading": f"Heading {one.id}"}) for one in whole.citations]
    text = rendered("md", whole.model_copy(update={"citations": apart})).decode()
    conclusions = text.partition("## What follows from this")[2].partition("\n## ")[0]
    assert conclusions.count("*Lagoon Company, 2021*") == 1


def test_a_long_name_of_code_stays_in_its_cell_of_a_pdf_and_is_copied_whole() -> None:
    name = "autovacuum_vacuum_scale_factor_of_all_tables_of_this_cluster"
    cell = {**fact(name, COST_AUDIT), "code": [name]}
    other = fact("Z1.61", COST_AUDIT)
    whole = report(conclusions=[{"type": "table", "header": ["Name", "Other"], "rows": [[cell, other, other, other]]}])
    pages = PdfReader(io.BytesIO(rendered("pdf", whole))).pages
    [page] = [page for page in pages if "autovacuum" in page.extract_text()]
    ends: list[float] = []
    page.extract_text(visitor_text=lambda text, _, matrix, *__: ends.append(matrix[4]) if "cluster" in text else None)
    assert name in "".join(page.extract_text().split())
    assert ends and max(ends) < float(page.mediabox.width) / 4


def test_analysis_in_a_cell_has_its_code_and_its_mark() -> None:
    cell = {**analysis("kept, if --sync is on", COST_AUDIT), "code": ["--sync"]}
    table = {"type": "table", "header": ["What"], "rows": [[cell]]}
    whole = report(conclusions=[table])
    assert "| kept, if `--sync` is on (from [2]) |" in rendered("md", whole).decode()
    assert "| kept, if `--sync` is on \\(from [@" in rendered("pandoc", whole).decode()


def test_a_row_that_rests_on_one_source_has_its_number_once_and_other_rows_have_one_in_each_cell() -> None:
    label = {"text": "Audit", "kind": "transition"}
    empty = {"text": "", "kind": "transition"}
    rows = [
        [label, fact("412 gigawatt hours", TURBINES), analysis("but for 2020", MAINTENANCE), empty],
        [label, fact("412 gigawatt hours", TURBINES), fact("interest paid", INTEREST), empty],
        [label, fact("412 gigawatt hours", TURBINES), {"text": "not found", "kind": "limit"}, empty],
    ]
    rows.append(
        [fact("Turbines: 412", TURBINES), fact("gigawatt hours", TURBINES), fact("interest paid", INTEREST), empty]
    )
    table = {"type": "table", "header": ["Who", "Yield", "With", "Else"], "rows": rows}
    whole = report(conclusions=[table])
    written = rendered("md", whole).decode()
    assert "| Turbines: 412 | gigawatt hours [1] | interest paid [2] |  |" in written
    assert "| Audit [1] | 412 gigawatt hours | but for 2020 (analysis) |  |" in written
    assert "| Audit | 412 gigawatt hours [1] | interest paid [2] |  |" in written
    assert "| Audit | 412 gigawatt hours [1] | not found |  |" in written


def test_numbers_stand_behind_the_clause_that_they_bear_out_where_that_is_clear() -> None:
    told = fact(
        "Turbines produce 412 gigawatt hours in an average year; the Chamber counts interest.", TURBINES, INTEREST
    )
    unclear = fact("Sixteen of them run; the rest is for others to say.", TURBINES, INTEREST)
    whole = report(conclusions=[paragraph(told, unclear)])
    written = rendered("md", whole).decode()
    assert "412 gigawatt hours in an average year [1]; the Chamber counts interest. [2]" in written
    assert "Sixteen of them run; the rest is for others to say. [1] [2]" in written
    page = re.sub(r'<span class="card".*?</span></span></span>', "", rendered("html", whole).decode(), flags=re.DOTALL)
    plain = re.sub(r"<[^>]+>", "", page).replace("&nbsp;", " ")
    assert re.search(r"in an average year \[1\].{0,40}; the Chamber counts interest. \[2\]", plain)


def test_a_row_of_analysis_alone_is_marked_once() -> None:
    label = {"text": "Yield", "kind": "transition"}
    cells = [analysis("enough for the town", TURBINES), analysis("less than it pays", INTEREST)]
    rows = [[label, *cells], [label, fact("412 gigawatt hours", TURBINES), cells[1]]]
    whole = report(conclusions=[{"type": "table", "header": ["What", "Use", "Price"], "rows": rows}])
    written = rendered("md", whole).decode()
    assert "| Yield (analysis) | enough for the town [1] | less than it pays [2] |" in written
    assert "| Yield | 412 gigawatt hours [1] | less than it pays (from [2]) |" in written


def test_a_number_that_the_writer_judged_is_said_to_be_a_judgement() -> None:
    said = {**analysis("Plan with 5 turbines.", TURBINES), "judged": ["5"]}
    cell = {**analysis("6 turbines"), "judged": ["6"]}
    table = {"type": "table", "header": ["What", "How many"], "rows": [[fact("Turbines", TURBINES), cell]]}
    written = rendered("md", report(conclusions=[paragraph(said), table])).decode()
    assert "Plan with 5 turbines. (judgement, from [1])" in written
    assert "| 6 turbines (judgement) |" in written


def test_a_row_whose_label_has_a_judged_number_is_said_to_be_a_judgement() -> None:
    label = {**analysis("Over half of the time?", TURBINES), "judged": ["half"]}
    table = {"type": "table", "header": ["Question", "Choice"], "rows": [[label, analysis("a lake", TURBINES)]]}
    assert "Over half of the time? (judgement" in rendered("md", report(conclusions=[table])).decode()


def test_a_composed_block_is_marked_also_where_the_text_has_its_sources() -> None:
    code = {**analysis("turbines = 6", TURBINES), "judged": ["6"]}
    told = paragraph(fact("The setting turbines = 16 is the number of turbines.", TURBINES))
    whole = report(conclusions=[told, {"type": "code", "language": "ini", "sentences": [code]}])
    assert "turbines = 6\n```\n\n(judgement)" in rendered("md", whole).decode()


def test_a_table_of_analysis_alone_is_marked_once_behind_its_caption() -> None:
    label = {"text": "Yield", "kind": "transition"}
    rows = [[label, analysis("enough for the town", TURBINES)], [label, analysis("less than it pays", INTEREST)]]
    table = {"type": "table", "caption": "What it is worth", "header": ["What", "Use"], "rows": rows}
    written = rendered("md", report(conclusions=[table])).decode()
    assert "**What it is worth (analysis)**" in written
    assert "| Yield | enough for the town [1] |" in written


def test_a_cell_that_repeats_a_value_of_a_block_to_copy_has_no_mark_of_its_own() -> None:
    code = {"type": "code", "language": "ini", "sentences": [analysis("turbines = 16", TURBINES)]}
    label = {"text": "turbines", "kind": "transition"}
    rows = [[label, analysis(text, TURBINES), fact("1.61 billion euros", COST_AUDIT)] for text in ("16", "many")]
    table = {"type": "table", "header": ["Setting", "Value", "Number"], "rows": rows}
    written = rendered("md", report(conclusions=[code, table])).decode()
    assert "| turbines | 16 [1] | 1.61" in written
    assert "| turbines | many (from [1]) | 1.61" in written


def test_each_sentence_of_analysis_has_its_numbers() -> None:
    told = fact("Turbines produce 412 gigawatt hours.", TURBINES)
    whole = report(conclusions=[paragraph(told, analysis("So they pay.", TURBINES), analysis("By a judgement, yes."))])
    written = rendered("md", whole).decode()
    assert "Turbines produce 412 gigawatt hours. [1] So they pay. (from [1])" in written


def test_below_a_block_to_copy_each_source_stands_with_the_settings_that_it_tells_of() -> None:
    told = fact("turbines = 16\nhours = 412  # a year\ninterest = on", TURBINES, INTEREST)
    whole = report(conclusions=[{"type": "code", "language": "ini", "sentences": [told]}])
    assert "Sources: `turbines`, `hours` [1]; `interest` [2]" in rendered("md", whole).decode()
    spaced = fact("# hours = 9\n<Site interest>\nturbines 16 hours=412\n</Site>\ninterest on", TURBINES, INTEREST)
    server = report(conclusions=[{"type": "code", "language": "Apache", "sentences": [spaced]}])
    assert "Sources: `turbines` [1]; `interest` [2]" in rendered("md", server).decode(), "a line begins with its name"
    cells = [fact("hours", TURBINES), fact("412 a year", TURBINES)]
    table = {"type": "table", "header": ["Setting", "Value"], "rows": [cells]}
    beside = report(conclusions=[{"type": "code", "language": "ini", "sentences": [told]}, table])
    assert "Sources: `turbines` [1]; `interest` [2]" in rendered("md", beside).decode(), "the table tells of the others"
    program = report(conclusions=[{"type": "code", "language": "python", "sentences": [told]}])
    assert "Sources: [1] [2]" in rendered("md", program).decode(), "a program's names are its own"


def test_a_setting_stands_beside_the_source_that_has_its_value_or_explains_it_under_its_name() -> None:
    def cited(n: int, quote: str, term: str = "") -> Citation:
        place = {"evidence_id": f"ev-{n}", "source_id": f"src-{n}", "locator": "char:0-9", "archive_hash": "sha256:0"}
        return Citation(id=f"c{n}", n=n, quote=quote, term=term, **place)

    passages = [
        cited(1, "Raise lock_wait and sync_interval together."),
        cited(2, "The lock_wait is best at 5s."),
        cited(3, "The default is 10min.", "sync_interval (integer)"),
        cited(4, "A second lock_wait of 5s."),
    ]
    code = "lock_wait = 5s\nsync_interval = 10min\nidle = 4"
    found = settings_by_source(code, "ini", [row.id for row in passages], {row.id: row for row in passages}, ())
    assert found == {1: [], 2: ["lock_wait"], 3: ["sync_interval"], 4: []}


def test_a_block_to_copy_has_no_numbers_where_its_section_has_them_all() -> None:
    code = {"type": "code", "language": "ini", "sentences": [fact("turbines = 16", TURBINES)]}
    whole = report(conclusions=[code, paragraph(fact("There are 16 turbines.", TURBINES))])
    assert "turbines = 16\n```\n\nThere are 16 turbines. [1]" in rendered("md", whole).decode()


@pytest.mark.parametrize("language", ["ini", "python"])
def test_a_block_to_copy_has_its_numbers_where_it_sets_what_its_section_does_not_tell_of(language: str) -> None:
    sets = fact("turbines = 16\nHOURS = 412", TURBINES)
    code = {"type": "code", "language": language, "sentences": [sets]}
    whole = report(conclusions=[code, paragraph(fact("There are 16 turbines.", TURBINES))])
    assert "HOURS = 412\n```\n\nSources: [1]" in rendered("md", whole).decode()


@pytest.mark.parametrize("format", ["md", "pandoc", "docx", "pdf", "html"])
def test_a_block_to_copy_stands_below_its_caption(format: str) -> None:
    code = {"type": "code", "language": "ini", "sentences": [fact("turbines = 16", TURBINES)], "caption": "lagoon.conf"}
    whole = report(conclusions=[code])
    if format == "docx":
        texts = [row.text for row in Document(io.BytesIO(rendered("docx", whole))).paragraphs]
        assert texts[texts.index("turbines = 16") - 1] == "lagoon.conf"
    else:
        text = "\n".join(pages_of_pdf(whole)) if format == "pdf" else rendered(format, whole).decode().replace("\\", "")
        assert 0 < text.rindex("turbines = 16") - text.rindex("lagoon.conf") < 120


def test_two_blocks_to_copy_of_the_same_sources_both_name_them() -> None:
    blocks = [{"type": "code", "language": "ini", "sentences": [fact(f"turbines = {n}", TURBINES)]} for n in (16, 412)]
    assert rendered("md", report(conclusions=blocks)).decode().count("```\n\nSources: [1]") == 2


def test_a_block_to_copy_says_what_it_is_made_of() -> None:
    def code(row: dict[str, Any]) -> dict[str, Any]:
        return {"type": "code", "language": "ini", "sentences": [row]}

    quoted, own = fact("turbines = 16", TURBINES), analysis("interest = 0  # judgement", INTEREST)
    whole = report(conclusions=[code(quoted), code(own)])
    written = rendered("md", whole).decode()
    assert re.search(r"```\n\nSources: \[\d\]\n", written)
    assert re.search(r"```\n\nSources: \[\d\] \(analysis\)\n", written)
    assert re.search(r"```\n\n来源：\[\d\]\n", rendered("md", whole.model_copy(update={"language": "zh"})).decode())
    page = rendered("html", whole).decode()
    assert re.search(r'<figcaption class="byline"><(?!span class="analysis")', page)
    assert re.search(r'<figcaption class="byline"><span class="analysis" title="[^"]+">analysis</span> <', page)


def test_the_contents_of_a_word_file_and_of_a_pdf_lead_to_the_headings() -> None:
    names = [f"Part {n}" for n in range(6)]
    block = paragraph(fact(TURBINES["quote"], TURBINES))
    whole = report(sections=[{"heading": name, "level": 1, "blocks": [block]} for name in names])
    numbered = [f"{n}. {name}" for n, name in enumerate(names, 1)]
    rows = [row for row in Document(io.BytesIO(rendered("docx", whole))).paragraphs if row.text in numbered]
    contents, headings = rows[: len(names)], rows[len(names) :]
    for entry, heading in zip(contents, headings, strict=True):
        [anchor] = re.findall(r'w:anchor="(\w+)"', entry._p.xml)
        assert entry.text == heading.text and f'w:name="{anchor}"' in heading._p.xml
    reader = PdfReader(io.BytesIO(rendered("pdf", whole)))
    annotations = [one.get_object() for page in reader.pages for one in page.get("/Annots", [])]
    linked = {str(one.get("/Dest") or one["/A"]["/D"]) for one in annotations if "/URI" not in (one.get("/A") or {})}
    assert sum("heading-" in place for place in linked) >= len(names)


def test_each_numbered_list_of_a_word_file_begins_with_one() -> None:
    steps = {"type": "list", "ordered": True, "items": [[fact(TURBINES["quote"], TURBINES)] * 2]}
    document = Document(io.BytesIO(rendered("docx", report(conclusions=[steps, steps]))))
    numbered = [row for row in document.paragraphs if row.style and row.style.name == "List Number"]
    lists = {row._p.pPr.numPr.numId.val for row in numbered}
    assert len(lists) == 3, "one in the sections, two in the conclusions"
    numbering = document.part.numbering_part.element
    assert all(numbering.num_having_numId(name).lvlOverride_lst[0].startOverride.val == 1 for name in lists)


def test_the_columns_of_a_word_table_are_as_wide_as_what_stands_in_them() -> None:
    cells = [[fact("16", TURBINES), fact("There are 16 turbines in the lagoon. " * 4, TURBINES)]] * 3
    wide = {"type": "table", "header": ["No.", "What they are"], "rows": cells}
    document = Document(io.BytesIO(rendered("docx", report(conclusions=[wide]))))
    table = next(table for table in document.tables if table.cell(0, 0).text == "No.")
    number, title = (table.cell(0, place).width for place in (0, 1))
    assert number * 2 < title
    assert "w:tblHeader" in table.rows[0]._tr.xml
    assert all("w:cantSplit" in row._tr.xml for row in table.rows)


def test_a_very_long_word_does_not_take_the_room_of_the_other_columns_of_a_word_table() -> None:
    cells = [fact("https://lagoon.example/" + "a" * 120, COST_AUDIT), *[fact("Commissioned in 2016", COST_AUDIT)] * 5]
    whole = report(conclusions=[{"type": "table", "header": ["Page", *"ABCDE"], "rows": [cells]}])
    document = Document(io.BytesIO(rendered("docx", whole)))
    table = next(table for table in document.tables if table.cell(0, 0).text == "Page")
    width_of_a_word = 0.6 * len("Commissioned") * table.cell(1, 1).paragraphs[0].runs[0].font.size
    assert all(table.cell(1, place).width > width_of_a_word for place in range(1, 6))


def test_a_word_is_not_cut_in_a_narrow_column_of_a_word_file() -> None:
    name = "synchronous_commit=remote_apply"
    cell = {**fact(name, COST_AUDIT), "code": [name]}
    rest = [fact("as much is said about it as a cell of_a_very_wide_table may hold", COST_AUDIT) for _ in range(4)]
    whole = report(conclusions=[{"type": "table", "header": ["Set", *"ABCD"], "rows": [[cell, *rest]]}])
    document = Document(io.BytesIO(rendered("docx", whole)))
    cell_of_name = next(table.cell(1, 0) for table in document.tables if table.cell(0, 0).text == "Set")
    [code, *_] = cell_of_name.paragraphs[0].runs
    width_of_a_character = 0.6 * code.font.size  # of Courier, which is 8 points in most tables
    assert code.text == name and cell_of_name.width > len(name) * width_of_a_character
    assert 7 <= cell_of_name.paragraphs[0].runs[-1].font.size.pt < 9, "smaller, since it is a wide table"
    assert document.sections[0].page_width.mm == pytest.approx(210, abs=0.1)


def pages_of_pdf(whole: Report) -> list[str]:
    return [page.extract_text() for page in PdfReader(io.BytesIO(rendered("pdf", whole))).pages]


def test_a_row_a_block_of_code_and_a_caption_with_its_table_stay_on_one_page_of_a_pdf() -> None:
    cell = fact("First. " + "One of several lines. " * 8 + "Last.", COST_AUDIT)
    tables = [
        {"type": "table", "caption": f"Caption {n}", "header": [f"Head {n}"], "rows": [[cell]] * (8 + n)}
        for n in range(6)
    ]
    lines = "first = 1\n" + "a = 1\n" * 18 + "last = 1"
    code = {"type": "code", "language": "ini", "sentences": [fact(lines, TURBINES)]}
    pages = pages_of_pdf(report(conclusions=[*tables, code, code, code]))
    for page in pages[:-1]:
        assert page.count("First.") == page.count("Last.")
        assert page.count("first = 1") == page.count("last = 1")
        assert not page.rstrip(" \n0123456789").endswith("Caption")


def test_words_that_are_too_long_for_their_column_of_a_pdf_are_hyphenated_and_overlap_nothing() -> None:
    cells = [fact("Wiederherstellungszeitpunkt", COST_AUDIT)] * 8
    wide = {"type": "table", "header": [f"Spalte {n}" for n in range(8)], "rows": [cells]}
    narrow = {"type": "table", "header": ["Spalte"], "rows": [cells[:1]]}
    [wide_page] = pages_of_pdf(report(conclusions=[wide], sections=[]).model_copy(update={"language": "de"}))[:1]
    [narrow_page] = pages_of_pdf(report(conclusions=[narrow], sections=[]).model_copy(update={"language": "de"}))[:1]
    assert "Wiederherstellungszeitpunkt" not in wide_page and "Wiederher" in wide_page
    assert "Wiederherstellungszeitpunkt" in narrow_page


def test_english_words_are_hyphenated_in_a_wide_table_of_a_chinese_pdf() -> None:
    cells = [fact("Commissioned in 2016", COST_AUDIT)] * 8
    wide = {"type": "table", "header": ["Commissioned", *"ABCDEFG"], "rows": [cells]}
    [page] = pages_of_pdf(report(conclusions=[wide], sections=[]).model_copy(update={"language": "zh"}))[:1]
    assert "Commissioned" not in page and "Commis" in page


@pytest.mark.parametrize(("language", "mark"), [("en", "(from [2])"), ("de", "(aus [2])"), ("ja", "（[2]から）")])
def test_analysis_in_a_cell_says_what_it_is_inferred_from_in_the_language(language: str, mark: str) -> None:
    cells = [fact("Cost", COST_AUDIT), analysis("much higher", COST_AUDIT)]
    whole = report(conclusions=[{"type": "table", "header": ["What", "How much"], "rows": [cells]}])
    assert f"much higher {mark} |" in rendered("md", whole.model_copy(update={"language": language})).decode()


def test_a_long_cell_of_a_pdf_goes_on_on_the_next_page() -> None:
    cell = fact("word " * 3000 + "end.", COST_AUDIT)
    whole = report(conclusions=[{"type": "table", "header": ["What"], "rows": [[cell]]}])
    assert "end." in "".join(pages_of_pdf(whole))


def test_a_long_question_is_set_in_a_smaller_type() -> None:
    def size(question: str) -> Any:
        whole = report().model_copy(update={"question": question})
        return Document(io.BytesIO(rendered("docx", whole))).paragraphs[0].runs[0].font.size

    assert size("What did it cost?") is None
    assert size("What did it cost, and why? " * 9).pt == 15


def test_a_pdf_shows_hostile_text_as_text_and_links_numbers_to_passages() -> None:
    reader = PdfReader(io.BytesIO(rendered("pdf")))
    shown = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
    assert "Cost #let x = 1 $a$ <b>x</b>" in shown
    assert 'a = "#let" ```' in shown
    assert "Quoted passages" in shown
    assert "sha256:abc" in shown
    links = [note.get_object() for page in reader.pages for note in page.get("/Annots") or []]
    assert any("/Dest" in link or link.get("/A", {}).get("/S") == "/GoTo" for link in links)


def test_a_pdf_names_the_characters_that_no_font_has() -> None:
    made = rendered("pdf", report(notice="A sign: \U00012031."))
    shown = " ".join(PdfReader(io.BytesIO(made)).pages[0].extract_text().split())
    assert "No installed font has these characters of the report" in shown


def test_a_pdf_of_characters_without_a_font_is_refused_with_what_to_install() -> None:
    rows = [paragraph({"text": "\U00012031" * 60, "kind": "transition"}) for _ in range(40)]
    with pytest.raises(PdfNotMade, match="no installed font") as caught:
        rendered("pdf", report(summary=rows))
    assert "install a font" in str(caught.value.help)


def test_markdown_for_pandoc_cites_sources_of_its_own_bibliography() -> None:
    text = rendered("pandoc").decode()
    front, body = text.removeprefix("---\n").split("\n---\n", 1)
    for name in ("src-audit00001", "src-report0001"):
        assert f'"id": "{name}"' in front
        assert f"[@{name}, [c" in body
    assert "run run-1" in front
    assert "<b>x" not in body


def test_the_bibliography_of_pandoc_stands_under_the_heading_of_the_sources_and_once() -> None:
    _, behind = rendered("pandoc").decode().split("\n# Sources\n")
    sources, _ = behind.split("\n# ", 1)
    assert sources.rstrip().endswith("::: {#refs}\n:::")
    assert "\\[1\\]" not in sources
    assert "#refs" not in behind.removeprefix(sources)
    assert "#refs" not in rendered("pandoc", build_report({}, texts={}, run=facts())).decode()


def test_citations_side_by_side_are_one_for_pandoc_which_reads_two_pairs_of_brackets_as_a_link() -> None:
    said = fact("The audit counts interest, and so do we.", COST_AUDIT, INTEREST, TURBINES)
    body = rendered("pandoc", report(conclusions=[paragraph(said, said)])).decode()
    one = r"@src-[a-z0-9]+, \[c\d+\]\(#c\d+\)"
    assert re.search(rf" \[{one}; {one}", body)
    assert not re.search(r"\)\] ?\[@", body)


@pytest.mark.parametrize("name", ["html", "pandoc", "csv", "docx"])
def test_a_format_names_the_run_its_graph_and_model_and_no_address_of_a_model(name: str) -> None:
    written = report()
    statistics = written.statistics.model_copy(update={"model_roles": {}})
    whole = written.model_copy(update={"model": "openai:tide@http://192.168.7.7:8080/v1", "statistics": statistics})
    made = rendered(name, whole)
    if name == "docx":
        made = " ".join(paragraph.text for paragraph in Document(io.BytesIO(made)).paragraphs).encode()
    shown = made.decode().replace("<wbr>", "").replace("\\", "")
    assert all(word in shown for word in ("run-1", "sha256:abc", "tide"))
    assert "192.168.7.7" not in shown


def test_the_evidence_table_has_a_row_for_every_citation_and_runs_no_formula() -> None:
    whole = report(conclusions=[paragraph(*(fact(f"{sign}1+1 is said.", TURBINES) for sign in "=+-@"))])
    rows = list(csv.DictReader(io.StringIO(render_evidence(whole))))
    assert tuple(rows[0]) == COLUMNS
    pairs = {(statement.id, name) for statement in whole.statements() for name in statement.citations or [""]}
    assert {(row["sentence"], row["citation"]) for row in rows} == pairs
    said = [row["text"] for row in rows if row["section"] == "What follows from this"]
    assert said == ["'=1+1 is said.", "'+1+1 is said.", "'-1+1 is said.", "'@1+1 is said."]
    cited = next(row for row in rows if row["citation"] == "c1")
    assert (cited["status"], cited["quote"], cited["valid"]) == ("proved", TURBINES["quote"], "true")
