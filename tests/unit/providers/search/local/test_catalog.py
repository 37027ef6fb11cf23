"""`library.toml`: matched by path, refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.providers.search.local.catalog import (
    Catalog,
    CatalogEntry,
    CatalogInvalid,
    installed_package,
    library_name,
)


def catalog(folder: Path, text: str) -> Catalog:
    (folder / "library.toml").write_text(text)
    return Catalog.read(folder)


@pytest.mark.requirement("B31")
def test_the_first_entry_that_matches_counts(tmp_path: Path) -> None:
    read = catalog(
        tmp_path,
        '[[document]]\nmatch = "press/courier-*.html"\npublisher = "Courier"\ndate = "2019"\n'
        '[[document]]\nmatch = "**/*.html"\npublisher = "Others"\ntitle = "A page"\ndoi = "10.1/x"\n'
        'licence = "CC-BY-4.0"\n',
    )
    assert read.entry("press/courier-1.html").publisher == "Courier"
    assert read.entry("press/courier-1.html").published_at == "2019"
    assert read.entry("press/deep/courier-1.html") == CatalogEntry(
        match="**/*.html", publisher="Others", title="A page", doi="10.1/x", licence="CC-BY-4.0"
    )
    assert read.entry("top.html").publisher == "Others"
    assert read.entry("press/x.md") == CatalogEntry()


def test_without_a_file_nothing_is_known(tmp_path: Path) -> None:
    assert Catalog.read(tmp_path).entry("a.md").tier is None


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[[document]]\nmatch = ", 2, "not valid TOML"),
        ('# x\n[[document]]\nmatch = "a"\ntier = "GOOD"\n', 4, "unknown tier 'GOOD'"),
        ('[[document]]\nmatch = "a"\n\n[[document]]\nmatch = "b"\nautor = "x"\n', 6, "unknown key 'autor'"),
        ('[[document]]\ntier = "FLAGGED"\n', 1, "no `match`"),
        ('[[document]]\nmatch = "a"\nauthors = "x"\n', 3, "must be a list of names"),
        ('[[document]]\nmatch = "a"\ndate = "May 2020"\n', 3, "not a valid date"),
        ('[[document]]\nmatch = ""\n', 2, "must be a non-empty string"),
        ("[[documents]]\nmatch = 'a'\n", 1, "unknown key 'documents'"),
        ("document = 3\n", 1, "must be a list of tables"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(CatalogInvalid, match=message) as caught:
        catalog(tmp_path, text)
    assert caught.value.file == str(tmp_path / "library.toml")
    assert caught.value.line == line


def test_a_catalog_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "library.toml").write_bytes(b'x = "\xff"')
    with pytest.raises(CatalogInvalid, match="UTF-8"):
        Catalog.read(tmp_path)


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("/usr/share/doc/postgresql-doc-15/html/mvcc.html", "postgresql"),
        ("/usr/share/doc/sqlite3/wal.html", "sqlite3"),
        ("/usr/share/doc/python3-doc/html/index.html", "python3"),
        ("/home/ann/doc/sqlite3/wal.html", ""),
    ],
)
def test_documentation_that_the_system_installed_is_that_of_its_package(path: str, package: str) -> None:
    assert installed_package(path) == package


def test_a_library_is_called_as_its_folder_unless_that_says_nothing() -> None:
    assert library_name("/srv/manuals/sqlite", "/srv/manuals/sqlite/c3ref/open.html") == "sqlite"
    assert library_name("/srv/postgres/docs/html", "/srv/postgres/docs/html/mvcc.html") == "postgres/docs/html"
    assert library_name("/srv/notes.txt", "/srv/notes.txt") == "srv"
    assert library_name("/srv/papers", "/srv/papers/old/a.zip") == "papers"
