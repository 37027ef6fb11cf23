"""Ranking of the library's documents: what the words of a question count in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.providers.search.local import Library

DANISH = (
    "# Havnen\n\nDet er en havn, og den er ikke stor. Skibene kommer til byen med korn, som de har hentet i fjorden."
)


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "index" / "library.db")


def write(folder: Path, pages: dict[str, str]) -> Path:
    folder.mkdir()
    for name, text in pages.items():
        (folder / name).write_text(text)
    return folder


async def test_a_stem_of_another_language_finds_no_other_word(tmp_path: Path, library: Library) -> None:
    pages = {
        "limits.md": "# Limits\n\nThe server allows a hundred connections at the same time.",
        "waiters.md": "# Waiters\n\nThe waiters serve the guests at their tables, and they bring the bill.",
        "havn.md": DANISH,
    }
    await library.add([write(tmp_path / "docs", pages)])
    assert [hit.path for hit in await library.search("server")] == ["limits.md"]


async def test_a_word_is_found_in_the_stems_of_each_language(tmp_path: Path, library: Library) -> None:
    pages = {
        "limits.md": "# Limits\n\nThe harbours are closed in the winter, and the ships wait for the spring.",
        "havn.md": f"{DANISH} Alle harbours er lukket om vinteren.",
    }
    await library.add([write(tmp_path / "docs", pages)])
    assert {hit.path for hit in await library.search("harbours")} == {"limits.md", "havn.md"}


async def test_a_page_in_another_language_is_not_found_first_since_its_stems_are_rare(
    tmp_path: Path, library: Library
) -> None:
    pages = {f"{n}.md": f"# Page {n}\n\nThe users of quay {n} give their passwords." for n in range(30)}
    pages["kept.md"] = "# Kept\n\nThe passwords of users."
    pages["havn.md"] = f"{DANISH} Man kan logge ind: users og passwords er ord, som ikke er af det danske sprog."
    await library.add([write(tmp_path / "docs", pages)])
    found = [hit.path for hit in await library.search("the passwords of users")]
    assert found[0] == "kept.md"


async def test_a_name_of_several_parts_counts_for_less_than_what_is_asked_of_it(
    tmp_path: Path, library: Library
) -> None:
    pages = {f"{n}.md": f"# Page {n}\n\nA table of the manual has {n} rows and is sorted by a key." for n in range(8)}
    pages["history.md"] = "# History\n\nPostgreSQL is a system. What is PostgreSQL today was called otherwise once."
    pages["rows.md"] = "# Rows\n\nA window function of PostgreSQL can rank what stands beside its own row."
    pages["panes.md"] = "# Panes\n\nThe window of a program has a function to rank each of its panes."
    await library.add([write(tmp_path / "docs", pages)])
    found = [hit.path for hit in await library.search("How does a window function of PostgreSQL rank?")]
    assert found[:2] == ["rows.md", "panes.md"]
