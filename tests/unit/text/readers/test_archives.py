"""Zip files read in the child process: what is kept of them where reading ends early, and names that stand twice."""

from __future__ import annotations

import asyncio
import io
import zipfile

import pytest

from graph_research.text.document import Document
from graph_research.text.readers.foreign import limited
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.formats import ZIP
from graph_research.text.readers.limits import FilePart, Limits
from tests.support.documents.foreign_files import packed

LINE = "The gates of the lagoon open both ways.\n\n"
LONG = "".join(f"Gate {number:,} opens both ways.\n\n" for number in range(10_000))
CRASHED = "it crashed its reader or went over its memory or time limit; the rest of it is not read"


async def parts_of(archive: bytes, limits: Limits | None = None) -> dict[str, FilePart]:
    async with LimitedReader(limits) as reader:
        parts = await reader.parts(archive, ZIP, "a.zip")
    assert len({part.name for part in parts}) == len(parts)
    return {part.name: part for part in parts}


async def test_documents_of_an_archive_may_be_larger_together_than_a_single_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limited, "_PART_BYTES", 1_000_000)
    parts = await parts_of(packed({f"{number}.txt": LONG for number in range(8)} | {"small.txt": LINE}))
    assert [name for name, part in parts.items() if part.document] == [*(f"{n}.txt" for n in range(8)), "small.txt"]


async def test_parts_before_a_part_that_is_too_large_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "_PART_BYTES", 20_000)  # the pipe brings more than twice as much at once
    members = {"a.txt": LINE, "b.txt": LONG, "c.txt": LINE}
    async with asyncio.timeout(60), LimitedReader() as reader:
        parts = {part.name: part for part in await reader.parts(packed(members), ZIP, "a.zip")}
        assert (await reader.document(LONG[:999].encode(), "text/plain")).text, "another child reads the next file"
    assert parts["a.txt"].document is not None
    assert (len(parts), parts[""].error) == (2, CRASHED)


async def test_an_archive_gives_no_more_than_an_answer_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "_ANSWER_BYTES", 1_000_000)
    parts = await parts_of(packed({f"{number}.txt": LONG for number in range(8)}))
    assert 1 < len(parts) < 8
    assert parts[""].error == CRASHED


async def test_parts_before_the_time_ran_out_are_kept() -> None:
    slow = "<a>" + "<p>b</p>" * 200_000 + "</a>"
    members = {"a.txt": LINE} | {f"b{number}.xml": slow for number in range(40)}
    parts = await parts_of(packed(members), Limits(seconds=1.5))
    assert parts["a.txt"].document is not None
    assert parts[""].error.endswith("; the rest of it is not read")


async def test_two_members_of_one_name_are_told_apart_from_one() -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.txt", "The first.")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.txt", "The second.")
    parts = await parts_of(made.getvalue())
    assert (parts["a.txt"].document or Document(text="")).text == "The first."
    assert parts["a.txt (2)"].error == "its name stands twice in the archive"


async def test_a_name_that_stands_twice_is_reported_and_its_first_document_kept() -> None:
    long = "n" * 500
    names = ["a/b.txt", "a//b.txt", "a\\b.txt", "/c.txt", "c.txt", f"{long}1.txt", f"{long}2.txt"]
    parts = await parts_of(packed({name: f"Document {number}." for number, name in enumerate(names)}))
    twice = "its name stands twice in the archive"
    assert {name: part.document.text if part.document else part.error for name, part in parts.items()} == {
        "a/b.txt": "Document 1.",
        "a/b.txt (2)": twice,
        "a/b.txt (3)": twice,
        "c.txt": "Document 4.",
        "c.txt (2)": twice,
        long[:400]: "Document 5.",
        f"{long[:400]} (2)": twice,
    }
