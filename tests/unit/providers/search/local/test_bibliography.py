"""Bibliographies that are malformed, hostile or too big are named, and the documents beside them are indexed."""

from __future__ import annotations

import json
import sqlite3
import sys
import unicodedata
from contextlib import closing
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from graph_research.providers.search.base import SearchRequest
from graph_research.providers.search.local import Library, LocalSearch, bibliography
from graph_research.providers.search.local.bibliography import Bibliography, ReferenceFile, reference_file
from graph_research.providers.search.local.catalog import CatalogEntry
from graph_research.providers.search.local.files import FoundFile, find_files
from graph_research.providers.search.local.records import Counts
from graph_research.providers.search.local.references import zotero

ISSUED = {"date-parts": [[2021, 5]]}
GOOD = {"type": "book", "title": "The lagoon", "issued": ISSUED, "publisher": "Tides"}
LEFT_OUT = "1 reference is malformed and left out"
ZOTERO = """CREATE TABLE items (itemID, key); CREATE TABLE itemAttachments (itemID, parentItemID, path);
CREATE TABLE itemData (itemID, fieldID, valueID); CREATE TABLE fields (fieldID, fieldName);
CREATE TABLE creators (creatorID, firstName, lastName); CREATE TABLE creatorTypes (creatorTypeID, creatorType);
CREATE TABLE itemCreators (itemID, creatorID, creatorTypeID, orderIndex);
INSERT INTO items VALUES (1, 'PARENT00'), (2, 'ABCD1234'), (3, 'EFGH5678');
INSERT INTO itemAttachments VALUES (2, 1, 5), (3, 1, 'storage:lagoon.md');
INSERT INTO fields VALUES (1, 'title'), (2, 'publisher'), (3, 'rights');
INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3);"""
VALUES = (
    "CREATE TABLE itemDataValues (valueID, value);"
    "INSERT INTO itemDataValues VALUES (1, 'The lagoon'), (2, 'Tides'), (3, 'CC0');"
)


def _write(folder: Path, name: str, content: str) -> None:
    folder.mkdir()
    (folder / name).write_text(content)
    (folder / "lagoon.md").write_text("# The lagoon\n\nIt has sixteen turbines.")


async def _add(folder: Path, name: str, content: str) -> tuple[Counts, Library]:
    _write(folder, name, content)
    library = Library(folder.parent / "index.db")
    return await library.add([folder]), library


@pytest.mark.parametrize(
    "item",
    [
        {"issued": {"date-parts": 5}},
        {"issued": {"date-parts": [5]}},
        {"issued": ISSUED, "author": 5},
        {"issued": ISSUED, "author": [{"family": "\ud800"}]},
        {"issued": ISSUED, "publisher": ["Tides"]},
    ],
)
async def test_a_malformed_item_is_left_out_and_the_others_count(tmp_path: Path, item: dict[str, Any]) -> None:
    content = json.dumps([{"type": "book", "title": "Weirs", **item}, GOOD])
    counts, library = await _add(tmp_path / "papers", "refs.json", content)
    assert (counts.added, counts.failed) == (1, ())
    assert [(Path(part.path).name, part.reason) for part in counts.partly] == [("refs.json", LEFT_OUT)]
    [facts] = await library.documents()
    assert (facts.publisher, facts.published_at) == ("Tides", "2021-05")


async def test_a_digit_that_is_no_number_is_no_part_of_a_date(tmp_path: Path) -> None:
    csl = json.dumps([{**GOOD, "issued": {"date-parts": [["²"]]}}])
    counts, library = await _add(tmp_path / "csl", "refs.json", csl)
    assert (counts.added, counts.failed, counts.partly) == (1, (), ())
    bibtex = "@book{a, title={The lagoon}, year={2021}, month={²}}"
    counts, library = await _add(tmp_path / "bibtex", "refs.bib", bibtex)
    assert (counts.added, counts.failed, counts.partly) == (1, (), ())
    assert {facts.published_at for facts in await library.documents()} == {None, "2021"}


def _steps(file: Path, text: str) -> int:
    """The steps of the interpreter in which a file is read."""
    file.write_text(text)
    steps = 0

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal steps
        steps += 1
        return count

    sys.settrace(count)
    try:
        Bibliography.read([ReferenceFile(path=file)])
    finally:
        sys.settrace(None)
    return steps


@pytest.mark.parametrize(
    "part", ["@a{b,c={", "@a{b,c={}}", '@a{b,c="{', "@book{a, title={Weirs \\'e}}\n", "TY  - JOUR\nTI  - x\n"]
)
@pytest.mark.parametrize("suffix", [".bib", ".ris"])
def test_the_steps_of_reading_a_file_grow_with_its_length(tmp_path: Path, part: str, suffix: str) -> None:
    file = tmp_path / f"refs{suffix}"
    _steps(file, part)
    assert _steps(file, part * 1_000) < 2.2 * _steps(file, part * 500)


@pytest.mark.parametrize("text", ["@a{b," + " " * 1_000_000, "@a{" + " " * 1_000_000, "@book{a, title={" + "{" * 2000])
def test_spaces_and_braces_without_end_are_read(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(text)
    assert [failure.reason for failure in Bibliography.read([ReferenceFile(path=file)]).unread] == [
        f"{LEFT_OUT} at line 1"
    ]
    assert capsys.readouterr().err == "", "the library's own messages are not shown"


def test_a_value_nested_too_deep_is_left_out_alone(tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    file.write_text(
        "@book{a, title={" + "{" * 2_400 + "}" * 2_400 + "}}\n@book{b, title={The lagoon}, publisher={Tides}}"
    )
    found = Bibliography.read([ReferenceFile(path=file)])
    assert [failure.reason for failure in found.unread] == [LEFT_OUT]
    assert found.complete(CatalogEntry(), "x.md", "The lagoon").publisher == "Tides"


async def test_what_stands_before_an_unclosed_value_is_read(tmp_path: Path) -> None:
    content = "@book{a, title={The lagoon}, publisher={Tides}}\n@book{b, title={Weirs"
    counts, library = await _add(tmp_path / "papers", "refs.bib", content)
    assert [part.reason for part in counts.partly] == [f"{LEFT_OUT} at line 2"]
    assert [facts.publisher for facts in await library.documents()] == ["Tides"]


@pytest.mark.parametrize("line", ["", "ti  - small letters", "TI - one space"])
def test_an_entry_of_ris_is_read_whatever_stands_in_the_one_before(tmp_path: Path, line: str) -> None:
    file = tmp_path / "refs.ris"
    file.write_text(
        f"TY  - BOOK\nTI  - Weirs\nPB  - Dams\nER  - \n\nTY  - BOOK\n{line}\nTI  - The lagoon\nPB  - Tides\n"
    )
    read = Bibliography.read([ReferenceFile(path=file)])
    assert read.complete(CatalogEntry(), "lagoon.md", "The lagoon").publisher == "Tides"
    assert read.complete(CatalogEntry(), "weirs.md", "Weirs").publisher == "Dams"
    assert read.unread == []


def test_an_entry_of_ris_may_have_several_files(tmp_path: Path) -> None:
    file = tmp_path / "refs.ris"
    file.write_text("TY  - BOOK\nTI  - Gates\nPB  - Tides\nL1  - a/plan.pdf\nL1  - b/map.pdf\nER  - \n")
    read = Bibliography.read([ReferenceFile(path=file)])
    assert [read.complete(CatalogEntry(), name, "").publisher for name in ("plan.pdf", "b/map.pdf")] == ["Tides"] * 2


def test_entries_of_bibtex_with_one_key_are_read_alike(tmp_path: Path) -> None:
    file = tmp_path / "refs.bib"
    again = '@book{a, title="The lagoon", publisher=t, file={plans/lagoon.pdf}}'
    file.write_text('@string{t = "Tides"}\n@book{a, title={Weirs}}\n' + again)
    read = Bibliography.read([ReferenceFile(path=file)])
    for url, title in (("lagoon.md", "The lagoon"), ("plans/lagoon.pdf", "")):
        found = read.complete(CatalogEntry(), url, title)
        assert (found.title, found.publisher) == ("The lagoon", "Tides")


def _entry(folder: Path, name: str, content: str, title: str = "The lagoon") -> CatalogEntry:
    """What a file of references says of the document of this title."""
    (folder / name).write_text(content)
    file = reference_file(folder / name)
    assert file is not None
    return Bibliography.read([file]).complete(CatalogEntry(), "lagoon.md", title)


@pytest.mark.parametrize(
    ("written", "authors"),
    [
        ("{NASA, Ames and Partners}", ["NASA, Ames and Partners"]),
        ("King, Jr., Martin and others", ["Martin King Jr."]),
        (r"de la Fontaine, Jean and M{\"u}ller, J{\"o}rg", ["Jean de la Fontaine", "Jörg Müller"]),
    ],
)
def test_the_names_of_a_bibtex_entry_are_read_as_bibtex_does(tmp_path: Path, written: str, authors: list[str]) -> None:
    entry = _entry(tmp_path, "refs.bib", f"@book{{a, title={{The lagoon}}, author={{{written}}}}}")
    assert list(entry.authors) == authors


def test_a_bibtex_entry_has_the_publisher_and_date_of_the_one_that_it_refers_to(tmp_path: Path) -> None:
    whole = "@proceedings{All, title={Tides}, editor={Eve Editor}, publisher={Tides Press}, year=2020, month=jun}"
    entry = _entry(tmp_path, "refs.bib", f"@inproceedings{{a, title={{The lagoon}}, crossref={{all}}}}\n{whole}")
    assert (entry.publisher, entry.published_at, entry.authors) == ("Tides Press", "2020-06", ())


@pytest.mark.parametrize(
    ("fields", "publisher", "date"),
    [
        ('month = mar # "~5", year = 2021, school = {Hesket~University}', "Hesket University", "2021-03-05"),
        ('journaltitle = jt # " Letters", date = {2016-07-01/2016-07-03}', "Tides Letters", "2016-07-01"),
        ("month = {5 March}, year = 2021, journal = jt", "Tides", "2021-03-05"),
    ],
)
def test_values_of_bibtex_and_biblatex(tmp_path: Path, fields: str, publisher: str, date: str) -> None:
    entry = _entry(tmp_path, "refs.bib", f'@string{{jt = "Tides"}}\n@thesis{{a, title={{The lagoon}}, {fields}}}')
    assert (entry.publisher, entry.published_at) == (publisher, date)


@pytest.mark.parametrize(
    ("tags", "authors", "publisher", "date"),
    [
        ("AU  - King, Martin, Jr.\nT2  - Tides\nDA  - May 1999", ["Martin King Jr."], "Tides", "1999-05"),
        ("A1  - NASA\nJO  - Tides\nDA  - Spring\nPY  - 2016///", ["NASA"], "Tides", "2016"),
        ("ED  - Editor, Eve\nPB  - Press\nY1  - 2020/06//Summer", ["Eve Editor"], "Press", "2020-06"),
    ],
)
def test_values_of_ris(tmp_path: Path, tags: str, authors: list[str], publisher: str, date: str) -> None:
    entry = _entry(tmp_path, "refs.ris", f"TY  - JOUR\nTI  - The lagoon\n{tags}\nDO  - doi:10.1000/X\nER  - \n")
    assert (list(entry.authors), entry.publisher, entry.published_at) == (authors, publisher, date)
    assert entry.doi == "10.1000/x"


def test_values_of_csl(tmp_path: Path) -> None:
    people = [
        {"family": "Fontaine", "given": "Jean", "dropping-particle": "de la", "suffix": "Jr."},
        {"literal": "Tides, Rivers and Co"},
    ]
    item = {"type": "book", "title": "The <i>lagoon</i>", "author": people, "issued": {"raw": "May 2021"}}
    entry = _entry(tmp_path, "refs.json", json.dumps([item]))
    assert entry.title == "The lagoon"
    assert list(entry.authors) == ["Jean de la Fontaine Jr.", "Tides, Rivers and Co"]
    assert entry.published_at == "2021-05"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("refs.bib", "@article{a, title={The lagoon}, copyright={CC BY 4.0}}"),
        ("refs.json", '[{"type": "book", "title": "The lagoon", "license": "CC BY 4.0", "issued": {"raw": "2021"}}]'),
    ],
)
async def test_a_bibliography_gives_the_licence_of_a_document(tmp_path: Path, name: str, content: str) -> None:
    _, library = await _add(tmp_path / "papers", name, content)
    [hit] = await LocalSearch(library).search(SearchRequest(query="sixteen turbines", max_results=3))
    assert hit.metadata["licence"] == "CC BY 4.0"


@pytest.mark.parametrize("facts", [{"title": "RETRACTED: The lagoon"}, {"title": "The lagoon", "status": "retracted"}])
def test_a_retracted_work_is_flagged(tmp_path: Path, facts: dict[str, str]) -> None:
    entry = _entry(tmp_path, "refs.json", json.dumps([{"type": "book", "issued": ISSUED, **facts}]))
    assert (entry.tier, entry.title) == ("FLAGGED", facts["title"])


def test_a_file_name_that_several_works_have_leads_to_none_of_them(tmp_path: Path) -> None:
    content = "@book{a, title={Weirs}, file={a/full.pdf}}\n@book{b, title={Gates}, file={:b/full.pdf:PDF}}"
    (tmp_path / "refs.bib").write_text(content)
    read = Bibliography.read([ReferenceFile(path=tmp_path / "refs.bib")])
    found = [read.complete(CatalogEntry(), url, "").title for url in ("x/full.pdf", "files/b/full.pdf")]
    assert found == [None, "Gates"]


def test_files_are_found_whatever_form_their_names_have(tmp_path: Path) -> None:
    (tmp_path / "refs.ris").write_text("TY  - BOOK\nTI  - Häfen\nL1  - file:///home/me/Gr%C3%B6%C3%9Fe.txt\nER  - \n")
    (tmp_path / "refs.bib").write_text(r"@book{a, title={Weirs}, file={:C$\backslash$:/me/big{\_}weirs.txt:txt}}")
    read = Bibliography.read([ReferenceFile(path=tmp_path / name) for name in ("refs.ris", "refs.bib")])
    names = (unicodedata.normalize("NFD", "Größe.txt"), "big_weirs.txt")
    assert [read.complete(CatalogEntry(), name, "").title for name in names] == ["Häfen", "Weirs"]


async def test_references_whose_attachments_are_not_there_are_named(tmp_path: Path) -> None:
    cited = ["lagoon.md", "x/notes.doc", "locked.pdf", "gone/weirs.pdf", "gates.pdf"]
    entries = [f"@book{{b{n}, title={{T{n}}}, file={{:{path}:X}}}}" for n, path in enumerate(cited)]
    library = Library(tmp_path / "index.db")
    _write(folder := tmp_path / "papers", "refs.bib", "\n".join([*entries, "@misc{c, title={Without a file}}"]))
    (folder / "x").mkdir()
    (folder / "x" / "notes.doc").write_bytes(b"old")
    (folder / "locked.pdf").write_bytes(b"broken")
    counts = await library.add([folder])
    [partly] = counts.partly
    assert partly.path == str(folder / "refs.bib")
    assert partly.reason == "2 references name files that are not there, such as weirs.pdf"
    (folder / "weirs.pdf").write_bytes(b"broken")
    counts = await library.add([folder])
    assert [row.reason for row in counts.partly] == ["1 reference names a file that is not there, such as gates.pdf"]


def test_csl_json_is_read_once(tmp_path: Path) -> None:
    file = tmp_path / "refs.json"
    file.write_text(json.dumps([GOOD]))
    [found] = find_files(tmp_path)
    file.unlink()
    assert isinstance(found, FoundFile)
    assert found.references is not None
    read = Bibliography.read([found.references])
    assert read.complete(CatalogEntry(), "lagoon.md", "The lagoon").publisher == "Tides"


async def test_a_bibliography_over_the_limit_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bibliography, "_MAX_BYTES", 50)
    counts, library = await _add(tmp_path / "papers", "refs.bib", "@" * 60)
    assert [(Path(failure.path).name, failure.reason) for failure in counts.failed] == [
        ("refs.bib", "it has 60 bytes, more than 50")
    ]
    assert not counts.failed[0].unsupported, "it is named, not counted among the files of types that are not read"
    assert (counts.added, len(await library.documents())) == (1, 1)


@pytest.mark.parametrize(
    "item",
    [
        {"type": "post", "author": "Ann Writer"},
        {"type": "recipe", "author": [{"family": "Writer"}]},
        {"type": "post", "author": ["Ann Writer"], "issued": "2021"},
        {"type": ["post"], "issued": ISSUED},
    ],
)
async def test_a_json_list_of_titled_things_is_a_document(tmp_path: Path, item: dict[str, Any]) -> None:
    content = json.dumps([{"title": "Weirs", "body": "A weir raises the level of a river.", **item}])
    counts, library = await _add(tmp_path / "papers", "posts.json", content)
    assert (counts.added, counts.failed, counts.partly) == (2, (), ())
    [hit, *_] = await library.search("Which level does a weir raise?")
    assert hit.path == "posts.json"


def _zotero(folder: Path, *scripts: str) -> Bibliography:
    file = folder / "zotero.sqlite"
    with closing(sqlite3.connect(file)) as base:
        base.executescript("".join(scripts))
        base.commit()
    return Bibliography.read([ReferenceFile(path=file)])


def test_an_attachment_whose_path_is_a_number_is_left_out(tmp_path: Path) -> None:
    found = _zotero(tmp_path, ZOTERO, VALUES)
    assert [failure.reason for failure in found.unread] == [LEFT_OUT]
    entry = found.complete(CatalogEntry(), "EFGH5678/lagoon.md", "")
    assert (entry.publisher, entry.licence) == ("Tides", "CC0")


def test_a_database_with_a_view_for_a_table_is_not_queried(tmp_path: Path) -> None:
    found = _zotero(tmp_path, ZOTERO, "CREATE VIEW itemDataValues AS SELECT 1 AS valueID, 'The lagoon' AS value;")
    assert [(failure.reason, failure.partly) for failure in found.unread] == [
        ("it is not the database of a Zotero library", False)
    ]


def test_a_query_of_a_database_ends_after_its_steps_and_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(zotero, "_MOST_ROWS", 4)
        [failure, _] = _zotero(tmp_path, ZOTERO, VALUES).unread
        assert (failure.reason, failure.partly) == ("only its first 4 values are read", True)
    monkeypatch.setattr(zotero, "_STEPS_A_CHECK", 10)
    monkeypatch.setattr(zotero, "_MOST_CHECKS", 3)
    [failure] = Bibliography.read([ReferenceFile(path=tmp_path / "zotero.sqlite")]).unread
    assert failure.reason == "its database cannot be read: interrupted"
