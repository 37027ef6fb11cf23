"""A date that nearly all pages of a folder bear is when the set was made, and no page's date of publication."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.providers.search.local import Library

PAGE = "# Gate {number}\n\nGate {number} of the lagoon opens at high tide.\n\nLast updated: {day} May 2024\n"


@pytest.mark.parametrize(
    ("pages", "other_days", "dated"),
    [(20, 2, 2), (20, 10, 30), (3, 0, 3)],
    ids=["a set", "days of their own", "a few documents"],
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
