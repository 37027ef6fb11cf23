"""What most pages of a folder bear, such as the day on which the set was made, is of none of its pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.providers.search.local import Library

PAGE = "# Gate {number}\n\nGate {number} of the lagoon opens at high tide.\n\nLast updated: {day} May 2024\n"


@pytest.mark.parametrize(
    ("pages", "other_days", "dated"),
    [(20, 2, 2), (20, 12, 12), (20, 22, 42), (3, 0, 3)],
    ids=["a set", "most of a set", "days of their own", "a few documents"],
)
async def test_the_date_of_a_set_is_no_date_of_its_pages(
    tmp_path: Path, pages: int, other_days: int, dated: int
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(pages + other_days):
        day = 5 if number < pages else number - pages + 6
        (folder / f"gate-{number:02}.md").write_text(PAGE.format(number=number, day=day))
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    found = await library.find("When does the gate of the lagoon open?", limit=50)
    assert len(found) == pages + other_days
    assert sum(bool(one.document.date) for one in found) == dated


async def test_a_date_of_a_set_is_none_of_a_few_pages_in_a_folder_beside_it_also_where_that_was_added_first(
    tmp_path: Path,
) -> None:
    library = Library(tmp_path / "index.db")
    for name, pages in (("faq", 3), ("library", 20)):
        folder = tmp_path / "manual" / name
        folder.mkdir(parents=True)
        for number in range(pages):
            (folder / f"gate-{number:02}.md").write_text(PAGE.format(number=number, day=5) + name)
        await library.add([folder])
    found = await library.find("When does the gate of the lagoon open?", limit=50)
    assert len(found) == 23 and not any(one.document.date for one in found)


HEAD = "<p>Lagoon Gates Version 2.4</p><h1>Gate {number}</h1><p>Gate {number} opens at {number}.</p>"


async def test_a_line_that_stands_on_most_pages_of_a_folder_is_no_passage_and_no_text_to_quote(tmp_path: Path) -> None:
    folder = tmp_path / "manual"
    folder.mkdir()
    for number in range(20):
        (folder / f"gate-{number}.html").write_text(HEAD.format(number=number))
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    assert await library.search("lagoon version 2.4") == []
    [hit, *_] = await library.search("When does gate 7 open?")
    assert hit.text == "Gate 7 opens at 7."
    (folder / "late.html").write_text(HEAD.format(number=99))
    await library.add([folder])
    assert await library.search("lagoon version 2.4") == [], "nor on a page that was added later"
    found = await library.find("When does gate 99 open?", limit=1)
    document = found[0].document
    assert document.text.startswith("Lagoon Gates") and document.blocks[0].kind == "boilerplate"
