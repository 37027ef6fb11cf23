"""Sources for other programs: nothing in a title runs, breaks a line or closes a brace there."""

import json
from typing import Any

import pytest

from graph_research.research.report.documents.bibliography import RENDERERS
from graph_research.research.report.documents.pandoc import render_pandoc
from graph_research.research.report.formats import REPORT_FORMATS, ProvedReport
from graph_research.research.report.model import NamedVersion, Report
from tests.support.research.written_report import built


def source(**changes: Any) -> dict[str, Any]:
    return {
        "id": "src-0123456789",
        "title": "Cold climates",
        "authors": ["Ada Byron", "Institute of Heat"],
        "publisher": "Heat & Co",
        "url": "https://example.org/a_b",
        "doi": "10.1/x",
        "tier": "SECONDARY",
        "composite": -0.5,
        "published_at": "2024-03-09",
        "retrieved_at": None,
        "quality": "medium",
        "fidelity": "full",
        **changes,
    }


def test_bibtex_keeps_markup_of_a_title_as_text() -> None:
    text = RENDERERS["bibtex"]([source(title="50% of {x}_y & \\input{z}\n}")])
    assert r"title = {50\% of \{x\}\_y \& \textbackslash{}input\{z\} \}}," in text
    assert "author = {{Ada Byron} and {Institute of Heat}}," in text
    assert "year = {2024}," in text


def test_a_line_break_in_a_title_starts_no_ris_field() -> None:
    text = RENDERERS["ris"]([source(title="A\nER  - \nTY  - BOOK")])
    assert text.count("\nER  - ") == 1
    assert "DA  - 2024/03/09" in text
    assert text.startswith("TY  - ELEC\n")


@pytest.mark.parametrize(
    ("date", "parts"), [("2024", [2024]), ("2024-03", [2024, 3]), ("2024-03-09T10:00:00Z", [2024, 3, 9])]
)
def test_csl_json_gives_the_date_as_far_as_it_is_known(date: str, parts: list[int]) -> None:
    entry = json.loads(RENDERERS["csl-json"]([source(published_at=date)]))[0]
    assert entry["issued"] == {"date-parts": [parts]}
    assert entry["author"][0] == {"literal": "Ada Byron"}


@pytest.mark.parametrize("format", RENDERERS)
def test_a_source_of_which_little_is_known_is_still_written(format: str) -> None:
    bare = source(authors=[], publisher=None, url="notes/a.md", doi=None, published_at=None)
    text = RENDERERS[format]([bare])
    assert "None" not in text
    assert "null" not in text
    assert "Cold climates" in text


def manuals() -> Report:
    """Sources that are pages of the manuals of two products, in two folders, and one on the web."""
    whole = built()
    changes = [
        {
            "title": "13.3. Explicit Locking",
            "publisher": "postgresql",
            "url": "locking.html",
            "folder": "postgresql-doc",
        },
        {"title": "Write-Ahead Logging", "publisher": "sqlite3", "url": "wal.html", "folder": "sqlite3"},
        {"url": "https://forum.example/7"},
    ]
    sources = [
        source.model_copy(update={"n": n, **change})
        for n, (source, change) in enumerate(zip(whole.sources, changes, strict=True), 1)
    ]
    versions = [NamedVersion(name="PostgreSQL", version="15.13"), NamedVersion(name="SQLite", version="3.40.1")]
    return whole.model_copy(update={"sources": sources, "newest_versions": versions})


@pytest.mark.parametrize("format", RENDERERS)
def test_sources_are_named_as_in_the_report_and_only_an_address_on_the_web_is_one(format: str) -> None:
    proved = ProvedReport(report=manuals(), texts={}, layouts={})
    text = REPORT_FORMATS[format].render(proved).decode()
    addresses = [line for line in text.splitlines() if "url = " in line or "UR  - " in line or '"URL": ' in line]
    assert len(addresses) == 1 and "https://forum.example/7" in addresses[0]
    for said in ("PostgreSQL: 13.3. Explicit Locking", "postgresql-doc/locking.html", "sqlite3/wal.html"):
        assert said in text
    assert text.count("SQLite") == 2, "a publisher and the product before its title"


def test_the_bibliography_of_a_text_for_pandoc_names_them_likewise() -> None:
    metadata = json.loads(render_pandoc(manuals()).split("---")[1])
    first, *_, last = metadata["references"]
    assert (first["title"], first["note"]) == ("PostgreSQL: 13.3. Explicit Locking", "postgresql-doc/locking.html")
    assert "URL" not in first and last["URL"] == "https://forum.example/7"
