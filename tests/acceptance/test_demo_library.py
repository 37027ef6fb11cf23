"""The demo library holds what its description promises: formats, marks, tiers, disagreements, a near-duplicate."""

import importlib.util
import json
import tomllib
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pypdf
import pytest
from rapidfuzz import fuzz
from selectolax.lexbor import LexborHTMLParser

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "examples" / "library"
MARK = "written for the graph-research demo library"
TIERS = {"PRIMARY_SOURCE", "AUTHORITATIVE", "SECONDARY", "UNVERIFIED", "FLAGGED"}
PLANTED: dict[str, Any] = json.loads((Path(__file__).parent / "planted.json").read_text(encoding="utf-8"))
DOCUMENTS = sorted(
    path.relative_to(LIBRARY).as_posix()
    for path in LIBRARY.rglob("*")
    if path.suffix in {".md", ".txt", ".html", ".pdf"}
)
PDFS = [document for document in DOCUMENTS if document.endswith(".pdf")]


@cache
def plain_text(document: str) -> str:
    """The text of a document with every run of white space as one space."""
    path = LIBRARY / document
    if path.suffix == ".pdf":
        text = " ".join(page.extract_text() for page in pypdf.PdfReader(path).pages)
    elif path.suffix == ".html":
        tree = LexborHTMLParser(path.read_text(encoding="utf-8"))
        tree.strip_tags(["script", "style"])
        assert tree.body is not None
        text = tree.body.text()
    else:
        text = path.read_text(encoding="utf-8")
    return " ".join(text.split())


def entries() -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = tomllib.loads((LIBRARY / "library.toml").read_text(encoding="utf-8"))["document"]
    return documents


def entry_of(document: str) -> dict[str, Any]:
    return next(entry for entry in entries() if fnmatchcase(document, entry["match"]))


def planted_sides() -> list[tuple[str, str, str]]:
    topics = PLANTED["disagreements"] + PLANTED["false_friends"]
    return [(side["file"], side["quote"], side["value"]) for topic in topics for side in topic["sides"]]


def pdf_maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pdfs", ROOT / "examples" / "make_pdfs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_library_has_at_least_fourteen_documents_in_four_formats() -> None:
    assert len(DOCUMENTS) >= 14
    assert {Path(document).suffix for document in DOCUMENTS} == {".md", ".txt", ".html", ".pdf"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_says_that_it_was_written_for_the_demo(document: str) -> None:
    assert MARK.casefold() in plain_text(document).casefold()
    assert any(word in plain_text(document).casefold() for word in ("fiction", "invented", "made up"))


@pytest.mark.parametrize(("document", "quote", "value"), planted_sides())
def test_every_planted_sentence_stands_word_for_word_in_its_document(document: str, quote: str, value: str) -> None:
    assert quote in plain_text(document)
    assert value in quote


@pytest.mark.parametrize("planted", PLANTED["disagreements"], ids=lambda planted: str(planted["topic"]))
def test_a_planted_disagreement_has_two_values_from_different_documents(planted: dict[str, Any]) -> None:
    files_by_value: dict[str, set[str]] = {}
    for side in planted["sides"]:
        files_by_value.setdefault(side["value"], set()).add(side["file"])
    first, second = files_by_value.values()
    assert not first & second


def test_the_library_plants_at_least_five_disagreements_and_three_false_friends() -> None:
    assert len(PLANTED["disagreements"]) >= 5
    assert len(PLANTED["false_friends"]) >= 3


def test_there_are_two_pdfs_of_three_to_six_pages_below_sixty_kilobytes() -> None:
    assert len(PDFS) == 2
    for document in PDFS:
        assert 3 <= len(pypdf.PdfReader(LIBRARY / document).pages) <= 6
        assert (LIBRARY / document).stat().st_size < 60_000


@pytest.mark.parametrize("document", PDFS)
def test_every_page_of_a_pdf_carries_its_running_header_and_number(document: str) -> None:
    pages = [page.extract_text().splitlines() for page in pypdf.PdfReader(LIBRARY / document).pages]
    assert len({page[0] for page in pages}) == 1
    assert [page[1] for page in pages] == [f"Page {number}" for number in range(1, len(pages) + 1)]


def test_one_word_is_divided_at_the_end_of_a_line_of_a_pdf() -> None:
    pages = pypdf.PdfReader(LIBRARY / "official/annual-report-2021.pdf").pages
    assert sum("commis-\nsioning" in page.extract_text() for page in pages) == 1


def test_the_pdfs_are_what_their_texts_give_byte_for_byte(tmp_path: Path) -> None:
    maker = pdf_maker()
    for source, target in maker.PDFS.items():
        made = tmp_path / Path(target).name
        maker.write_pdf(maker.read_text(ROOT / "examples" / "pdf_sources" / source), made)
        assert made.read_bytes() == (LIBRARY / target).read_bytes(), f"run examples/make_pdfs.py after editing {source}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_document_has_a_known_tier_and_publisher_from_the_library_file(document: str) -> None:
    entry = entry_of(document)
    assert entry["tier"] in TIERS
    assert entry.get("publisher")
    assert type(entry.get("date", date.min)) is date


def test_every_tier_occurs_and_every_entry_of_the_library_file_is_the_first_match_of_a_document() -> None:
    assert {entry_of(document)["tier"] for document in DOCUMENTS} == TIERS
    used = {entry_of(document)["match"] for document in DOCUMENTS}
    assert used == {entry["match"] for entry in entries()}


def test_the_syndicated_article_is_a_near_duplicate_but_not_a_copy() -> None:
    original = plain_text("press/courier-turbine-failure-2019.html")
    copy = plain_text("press/evening-post-turbine-failure-2019.html")
    assert original != copy
    assert fuzz.token_set_ratio(original, copy) > 90


@pytest.mark.parametrize("document", ["press/privacy-notice.html", "press/site-map.html"])
def test_a_boilerplate_page_names_the_subject_often_but_holds_no_planted_value(document: str) -> None:
    text = plain_text(document)
    assert text.count("Marrow Bay tidal lagoon") >= 6
    assert not [value for _, _, value in planted_sides() if value in text]


def test_the_demo_asks_the_question_that_the_disagreements_were_planted_for() -> None:
    assert (ROOT / "examples" / "question.txt").read_text(encoding="utf-8").strip() == PLANTED["question"]


def test_the_description_names_every_document_and_quotes_every_planted_value() -> None:
    description = " ".join((ROOT / "examples" / "README.md").read_text(encoding="utf-8").split())
    assert [document for document in DOCUMENTS if f"`{document}`" not in description] == []
    assert f"{len(DOCUMENTS)} documents" in description
    for planted in PLANTED["disagreements"]:
        assert [side["value"] for side in planted["sides"] if side["value"] not in description] == []
