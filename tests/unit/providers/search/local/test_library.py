"""The library: folders indexed, changed, searched and forgotten; `local` search on top of it."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pypdf import PdfWriter

from graph_research.providers.errors import ProviderRefused, ProviderUnavailable
from graph_research.providers.search.base import SearchRequest
from graph_research.providers.search.local import Counts, Library, LocalSearch
from graph_research.text.locators import resolve
from tests.support.documents.foreign_files import packed
from tests.support.research.topic_embedder import TopicEmbedder

PAGE = """<html><head><title>Turbines — Handbook</title></head><body><nav><a href="/">Home of turbines</a></nav>
<h1>Turbines</h1><p>The lagoon has sixteen bulb turbines in its powerhouse. Each turbine turns in both directions.</p>
<h2>Seals</h2><p>Shaft seals wear out after three years of service in salt water.</p></body></html>"""
BIRDS = "# Birds\n\nDunlin numbers fell by a third between two winters, and redshank nest on the new saltmarsh.\n"
TASKS = "<h1>Tasks</h1><p>The class asyncio.TaskGroup waits for its tasks. Call run_in_executor for blocking code.</p>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    (folder / "turbines.html").write_text(PAGE)
    (folder / "sub" / "birds.md").write_text(BIRDS)
    (folder / "tasks.htm").write_text(TASKS)
    return folder


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "index" / "library.db")


def counts(result: Counts) -> tuple[int, int, int, int]:
    return result.added, result.updated, result.unchanged, result.removed


async def test_a_second_run_changes_nothing_and_a_third_only_what_changed(folder: Path, library: Library) -> None:
    assert counts(await library.add([folder])) == (3, 0, 0, 0)
    assert counts(await library.add([folder])) == (0, 0, 3, 0)
    (folder / "sub" / "birds.md").write_text(BIRDS + "\nCurlews came back.\n")
    (folder / "tasks.htm").unlink()
    (folder / "new.txt").write_text("A new text about curlews.")
    os.utime(folder / "turbines.html", (1, 1))
    assert counts(await library.add([folder])) == (1, 1, 1, 1)
    assert {hit.path for hit in await library.search("curlews")} == {"sub/birds.md", "new.txt"}
    assert await library.search("TaskGroup") == []


async def test_a_hit_is_an_exact_slice_of_the_document(folder: Path, library: Library) -> None:
    await library.add([folder])
    [found] = await library.find("How long do shaft seals last?")
    [hit, *_] = await library.search("How long do shaft seals last?")
    assert found.facts.url == hit.path == "turbines.html"
    assert found.facts.source_id == hit.source_id
    start, end = resolve(found.document.text, hit.locator)
    assert found.document.text[start:end] == hit.text
    assert hit.text.startswith("Shaft seals")
    assert set(hit.to_json()) == {
        "source_id",
        "title",
        "path",
        "locator",
        "text",
        "score",
        "place",
        "superseded",
        "translations",
    }


async def test_boilerplate_is_not_found(folder: Path, library: Library) -> None:
    await library.add([folder])
    assert await library.search("home") == []


@pytest.mark.parametrize(
    "question",
    ["What is a task group?", "TaskGroup", "asyncio.TaskGroup", "taskgroups", "run_in_executor", "run in executor"],
)
async def test_identifiers_are_found_whole_and_by_their_parts(folder: Path, library: Library, question: str) -> None:
    await library.add([folder])
    assert (await library.search(question))[0].path == "tasks.htm"


@given(st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
def test_no_text_is_an_operator(library: Library, folder: Path, text: str) -> None:
    async def search() -> None:
        await library.add([folder])
        await library.search(text)

    asyncio.run(search())


@pytest.mark.parametrize("text", ['"', "NEAR(a b)", "title: x", "a* OR -b ^c", "({})", "'; DROP TABLE words", "\x00"])
async def test_operators_in_a_question_are_words(folder: Path, library: Library, text: str) -> None:
    await library.add([folder])
    await library.search(f"{text} turbines")
    assert await library.list()


async def test_a_search_stays_in_the_named_folders(tmp_path: Path, folder: Path, library: Library) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "turbines.txt").write_text("Other turbines stand on a hill.")
    await library.add([folder, other])
    assert {hit.path for hit in await library.search("turbines")} == {"turbines.html", "turbines.txt"}
    assert [hit.path for hit in await library.search("turbines", folders=[other])] == ["turbines.txt"]
    assert await library.search("turbines", folders=[tmp_path / "never-added"]) == []


@pytest.mark.parametrize("question", ["tide gates", "gates of the lagoon", "tides of the lagoon"])
async def test_what_else_is_indexed_does_not_change_the_order_in_a_folder(
    tmp_path: Path, library: Library, question: str
) -> None:
    asked, other = tmp_path / "asked", tmp_path / "other"
    for folder, texts in (
        (asked, ["The tide gates are high.", "Tides and tides again.", "Gates of the lagoon, and gates.", "A lagoon."]),
        (
            other,
            [f"The lagoon has many tides, says report {number} at length about gate {number}." for number in range(60)],
        ),
    ):
        folder.mkdir()
        for number, text in enumerate(texts):
            (folder / f"{number}.txt").write_text(text)
    await library.add([asked])
    alone = await library.search(question, folders=[asked])
    assert len(alone) > 1
    assert await library.search(question) == alone
    await library.add([other])
    assert await library.search(question, folders=[asked]) == alone


@pytest.mark.parametrize("question", ["Öresund bridge", "oresund", "ÖRESUND"])
async def test_accents_of_latin_letters_do_not_count(tmp_path: Path, library: Library, question: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bridge.txt").write_text("The Öresund crossing was opened in 2000.")
    await library.add([tmp_path / "docs"])
    assert [hit.path for hit in await library.search(question)] == ["bridge.txt"]


async def test_a_word_that_every_document_has_decides_nothing(tmp_path: Path, library: Library) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(8):
        (folder / f"lagoon-{number}.txt").write_text(f"The lagoon, the lagoon and the lagoon again, part {number}.")
    (folder / "cost.txt").write_text("Its construction was dear, and the lagoon paid for it.")
    await library.add([folder])
    assert (await library.find("construction of the lagoon"))[0].facts.url == "cost.txt"


async def test_the_same_text_counts_once(tmp_path: Path, folder: Path, library: Library) -> None:
    (folder / "copy.html").write_text(PAGE)
    await library.add([folder])
    assert len(await library.find("bulb turbines")) == 1


async def test_unreadable_files_are_reported_and_the_rest_goes_on(folder: Path, library: Library) -> None:
    (folder / "binary.txt").write_bytes(b"\x00\x01\x02")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (folder / "empty.md").write_text("")
    (folder / "fake.pdf").write_text("no pdf")
    os.mkfifo(folder / "pipe.txt")
    first, second = await library.add([folder]), await library.add([folder])
    assert counts(first) == (3, 0, 0, 0)
    assert counts(second) == (0, 0, 3, 0)
    reasons = {Path(failure.path).name: failure.reason for failure in first.failed}
    assert reasons.keys() == {"binary.txt", "broken.pdf", "empty.md", "fake.pdf", "pipe.txt"}
    assert "binary" in reasons["binary.txt"]
    assert "%PDF-" in reasons["fake.pdf"]
    assert "regular" in reasons["pipe.txt"]
    assert sorted(first.failed, key=str) == sorted(second.failed, key=str)
    assert first.to_json()["failed"][0].keys() == {"path", "reason"}


async def test_a_failed_file_that_was_corrected_is_added(folder: Path, library: Library) -> None:
    (folder / "late.txt").write_bytes(b"\x00")
    await library.add([folder])
    (folder / "late.txt").write_text("Now it is a text about eels.")
    result = await library.add([folder])
    assert (counts(result), result.failed) == ((1, 0, 3, 0), ())


async def test_reports_of_runs_are_no_documents_of_the_folder_that_they_were_written_into(
    folder: Path, library: Library
) -> None:
    run, other = folder / "research" / "run", folder / "research" / "other"
    for written in (run, other):
        written.mkdir(parents=True)
        (written / "report.md").write_text("The tide mill has nine wheels.")
        (written / "notes.md").write_text(f"The tide mill of {written.name} has ten wheels.")
    (run / "report.json").write_text('{\n  "format": "report/2",\n  "run_id": "x"\n}')
    (other / "report.json").write_text('{"format": "A4"}')
    await library.add([folder])
    found = {hit.path for hit in await library.search("tide mill")}
    assert found == {"research/run/notes.md", "research/other/notes.md", "research/other/report.md"}
    await library.add([run / "report.md"])
    assert "report.md" in {hit.path for hit in await library.search("tide mill nine wheels")}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_forbidden_file_is_reported(folder: Path, library: Library) -> None:
    (folder / "tasks.htm").chmod(0)
    assert [failure.reason for failure in (await library.add([folder])).failed] == ["permission denied"]


async def test_links_do_not_lead_out_of_the_folder_and_hidden_files_stay_hidden(
    tmp_path: Path, folder: Path, library: Library
) -> None:
    (tmp_path / "secret.txt").write_text("The secret word is xylophone.")
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "deep.txt").write_text("Another xylophone.")
    (folder / "out.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "vault").symlink_to(tmp_path / "vault")
    (folder / "loop.txt").symlink_to(folder / "loop.txt")
    (folder / ".hidden.txt").write_text("A hidden xylophone.")
    (folder / ".git").mkdir()
    (folder / ".git" / "x.txt").write_text("A xylophone in git.")
    result = await library.add([folder])
    assert result.added == 3
    assert {Path(failure.path).name for failure in result.failed} == {"out.txt", "loop.txt"}
    assert await library.search("xylophone") == []


async def test_a_linked_file_counts_once_under_the_path_of_its_target(folder: Path, library: Library) -> None:
    (folder / "a").mkdir()
    (folder / "a" / "birds.md").symlink_to("../sub/birds.md")
    (folder / "more.md").symlink_to("sub/birds.md")
    (folder / ".store").mkdir()
    (folder / ".store" / "x1").write_text("The eels of the lagoon swim at night.")
    for name in ("eels.txt", "fish.txt"):
        (folder / name).symlink_to(".store/x1")
    assert counts(await library.add([folder])) == (4, 0, 0, 0)
    assert counts(await library.add([folder])) == (0, 0, 4, 0)
    facts = await library.documents()
    assert [fact.url for fact in facts] == ["eels.txt", "sub/birds.md", "tasks.htm", "turbines.html"]
    assert {fact.library for fact in facts} == {f"{folder.parent.name}/{folder.name}"}


async def test_one_file_can_be_added_and_a_missing_one_is_reported(folder: Path, library: Library) -> None:
    result = await library.add([folder / "sub" / "birds.md", folder / "nothing"])
    assert counts(result) == (1, 0, 0, 0)
    assert "no such" in result.failed[0].reason
    assert [one.path for one in await library.list()] == [str(folder / "sub" / "birds.md")]


async def test_what_is_removed_is_not_found(folder: Path, library: Library) -> None:
    await library.add([folder])
    assert await library.remove(folder / "tasks.htm") == 1
    assert await library.search("TaskGroup") == []
    assert await library.remove(folder) == 2
    assert await library.list() == []
    assert await library.remove(folder) == 0


async def test_a_library_that_was_never_used_is_empty(library: Library, tmp_path: Path) -> None:
    assert await library.search("anything") == []
    assert await library.list() == []
    assert await library.documents() == []
    assert not (tmp_path / "index").exists()


async def test_progress_is_reported_before_each_file_and_at_the_end(folder: Path, library: Library) -> None:
    told: list[tuple[int, int, str]] = []
    await library.add([folder], on_progress=lambda done, total, path: told.append((done, total, path)))
    assert told == [(0, 3, "tasks.htm"), (1, 3, "turbines.html"), (2, 3, "sub/birds.md"), (3, 3, "")]


async def test_two_processes_index_the_same_folder_at_once(tmp_path: Path, library: Library) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.txt").write_text(f"Text number {number} about a heron.")
    code = (
        "import asyncio, sys; from pathlib import Path; from graph_research.providers.search.local import Library;"
        "print((asyncio.run(Library(Path(sys.argv[1])).add([sys.argv[2]]))).failed)"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path / "index" / "library.db"), str(folder)]
    children = [
        await asyncio.create_subprocess_exec(*arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        for _ in range(2)
    ]
    answers = [await child.communicate() for child in children]
    assert answers == [(b"()\n", b"")] * 2
    assert counts(await library.add([folder])) == (0, 0, 60, 0)
    assert [one.documents for one in await library.list()] == [60]


async def test_an_indexing_that_is_cancelled_keeps_whole_documents_only(tmp_path: Path, library: Library) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number:02}.txt").write_text(f"Text number {number} about a heron. " * 50)
    reached = asyncio.Event()

    def watch(done: int, total: int, path: str) -> None:
        if done == 5:
            reached.set()

    adding = asyncio.create_task(library.add([folder], watch))
    await reached.wait()
    adding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await adding
    stored = len(await library.documents())
    assert 5 <= stored < 40
    assert counts(await library.add([folder])) == (40 - stored, 0, stored, 0)


async def test_an_index_of_another_version_is_made_anew_and_keeps_what_was_added(
    tmp_path: Path, folder: Path, library: Library
) -> None:
    await library.add([folder])
    connection = sqlite3.connect(tmp_path / "index" / "library.db")
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert [(row.path, row.documents) for row in await library.list()] == [(str(folder), 0)]
    assert counts(await library.add([folder])) == (3, 0, 0, 0)


async def test_a_file_that_is_no_index_is_named(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "other.db").write_text("not a database at all, but long enough to be looked at" * 20)
    with pytest.raises(ProviderRefused, match=r"other\.db is not a usable index") as refused:
        await Library(tmp_path / "other.db").add([folder])
    assert str(tmp_path) not in str(refused.value), "users of a service read it"
    (tmp_path / "file").write_text("")
    with pytest.raises(ProviderUnavailable, match="cannot be used"):
        await Library(tmp_path / "file" / "library.db").add([folder])


@pytest.mark.parametrize(
    ("name", "first", "title"),
    [
        ("data-leaks.txt", "SECURITY\n--------", "data-leaks: SECURITY"),
        ("sql-explain.txt", "EXPLAIN\n-------", "EXPLAIN"),
        ("leaks.txt", "Table of contents:", "leaks.txt"),
    ],
)
async def test_a_lone_heading_in_capitals_is_shown_with_the_name_of_its_file(
    folder: Path, library: Library, name: str, first: str, title: str
) -> None:
    (folder / name).write_text(f"{first}\n\nthe zanderfish protocol is not designed to prevent this.\n")
    await library.add([folder])
    [hit] = await LocalSearch(library, folders=[folder]).search(SearchRequest(query="zanderfish", max_results=1))
    assert hit.title == title


@pytest.mark.requirement("B31")
async def test_local_search_gives_whole_documents_with_what_library_toml_says(folder: Path, library: Library) -> None:
    (folder / "library.toml").write_text(
        '[[document]]\nmatch = "sub/*.md"\ntier = "PRIMARY_SOURCE"\npublisher = "Observatory"\ndate = 2020-03-08\n'
        'authors = ["A. Hide"]\n[[document]]\nmatch = "**"\ntier = "FLAGGED"\n'
    )
    await library.add([folder])
    search = LocalSearch(library, folders=[folder])
    [hit] = await search.search(SearchRequest(query="dunlin numbers", max_results=3))
    assert (hit.provider, hit.url, hit.tier, hit.publisher) == (
        "local",
        "sub/birds.md",
        "PRIMARY_SOURCE",
        "Observatory",
    )
    assert (hit.published_at, hit.authors, hit.title) == ("2020-03-08", ("A. Hide",), "Birds")
    (folder / "wader.md").write_text("---\npublisher: Wader Club\n---\nA zanderfish was seen.\n")
    (folder / "sub" / "wader.md").write_text("---\npublisher: Wader Club\n---\nNo zanderfish was seen here.\n")
    await library.add([folder])
    found = await search.search(SearchRequest(query="zanderfish", max_results=3))
    assert {one.url: one.publisher for one in found} == {"wader.md": "Wader Club", "sub/wader.md": "Observatory"}
    assert hit.document.text == "Birds " + hit.snippet
    assert 0 < hit.relevance <= 1
    assert all(0 <= one.score <= 1 and hit.document.text[one.start : one.end] for one in hit.passages)


@pytest.mark.requirement("B43")
async def test_a_local_document_has_the_hash_of_its_file_beside_that_of_its_text(
    folder: Path, library: Library
) -> None:
    await library.add([folder])
    [hit] = await LocalSearch(library, folders=[folder]).search(SearchRequest(query="dunlin numbers", max_results=3))
    data = (folder / "sub" / "birds.md").read_bytes()
    assert hit.metadata["bytes_hash"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
    assert hit.metadata["bytes_hash"] != hit.document.hash


async def test_a_new_library_toml_counts_without_reading_the_documents_again(folder: Path, library: Library) -> None:
    await library.add([folder])
    assert {one.tier for one in await library.documents()} == {None}
    (folder / "library.toml").write_text('[[document]]\nmatch = "*.html"\ntier = "SECONDARY"\n')
    assert counts(await library.add([folder])) == (0, 1, 2, 0)
    assert [one.tier for one in await library.documents() if one.url == "turbines.html"] == ["SECONDARY"]


class IndexingEmbedder(TopicEmbedder):
    """While a search asks it, another process finds a document changed and puts it in the place of the old one."""

    def __init__(self, library: Library, file: Path) -> None:
        super().__init__("dunlin")
        self._library = library
        self._file = file

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        self._file.write_text(BIRDS.replace("third", "half"))
        asyncio.run(self._library.add([self._file.parents[1]]))
        return super().vectors(texts)


async def test_a_document_that_is_indexed_anew_during_a_search_is_found_as_it_was(
    tmp_path: Path, folder: Path, library: Library
) -> None:
    await library.add([folder])
    embedder = IndexingEmbedder(library, folder / "sub" / "birds.md")
    searched = Library(tmp_path / "index" / "library.db", embedder=embedder)
    [found] = await searched.find("dunlin numbers")
    assert "fell by a third" in found.document.text
    [found] = await library.find("dunlin numbers")
    assert "fell by a half" in found.document.text


async def test_an_embedder_puts_passages_that_mean_the_same_first(tmp_path: Path, library: Library) -> None:
    folder = tmp_path / "town"
    folder.mkdir()
    (folder / "gate.md").write_text("# Gate\n\nThe town has a gate. The town built the gate.\n")
    (folder / "care.md").write_text("# Care\n\nA physician from the town treats all patients of the valley.\n")
    await library.add([folder])
    by_meaning = Library(tmp_path / "index" / "library.db", embedder=TopicEmbedder("doctor physician", "gate wall"))

    async def found(searched: Library) -> list[tuple[str, str]]:
        return [(hit.path, hit.text[:11]) for hit in await searched.search("Does the town have a doctor?")]

    assert await found(library) == [("gate.md", "The town ha"), ("care.md", "A physician")]
    assert await found(by_meaning) == [("care.md", "A physician"), ("gate.md", "The town ha")]


async def test_results_are_the_same_every_time(folder: Path, tmp_path: Path) -> None:
    found = []
    for name in ("one.db", "two.db"):
        library = Library(tmp_path / name)
        await library.add([folder])
        found.append([hit.to_json() for hit in await library.search("turbine seals and task groups")])
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize(
    ("text", "question", "other"),
    [
        ("In den Häusern am Hafen ist die Heizung ausgefallen.", "Haus mit Heizungen", "Die Bäume am Hafen sind alt."),
        ("Les pompes ont été réparées par la commune.", "réparation de la pompe", "Les arbres sont vieux."),
        ("水泵由市政府支付，费用每年十万元。", "谁支付水泵的费用", "树木很老，由公园管理处照料。"),
        ("ポンプの費用は町が払います。", "ポンプの費用", "木はとても古いです。"),
    ],
)
async def test_words_are_found_as_their_language_inflects_and_divides_them(
    tmp_path: Path, library: Library, text: str, question: str, other: str
) -> None:
    folder = tmp_path / "languages"
    folder.mkdir()
    (folder / "answer.txt").write_text(text)
    (folder / "other.txt").write_text(other)
    (folder / "english.txt").write_text("The pumps are paid for by the town, and nobody knows what they cost.")
    await library.add([folder])
    assert (await library.search(question))[0].path == "answer.txt"


async def test_a_document_in_another_language_does_not_stand_first_for_words_that_all_have(
    tmp_path: Path, library: Library
) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.txt").write_text(f"The gate of the dam was opened for the tide, and it is gate {number}.")
    (folder / "de.txt").write_text("Das ist der Bericht von dem Tor, das die Stadt für den Hafen bauen will: The Gate.")
    (folder / "gate.txt").write_text("The gate of the dam cost a million, and it was paid for by the town.")
    await library.add([folder])
    assert (await library.find("What did the gate of the dam cost?"))[0].facts.url == "gate.txt"


async def test_a_ligature_is_found_as_its_letters_and_shown_as_it_stands(tmp_path: Path, library: Library) -> None:
    (tmp_path / "a.txt").write_text("An e\ufb03cient pump.")
    await library.add([tmp_path / "a.txt"])
    assert [hit.text for hit in await library.search("efficient")] == ["An e\ufb03cient pump."]


async def test_a_run_and_a_search_order_documents_alike(tmp_path: Path, library: Library) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(20):
        pumps = "The pump was repaired. " * (number % 7)
        (folder / f"{number}.txt").write_text(f"Report {number}\n\n{pumps}The town paid for report {number}, not us.")
    (folder / "pump.md").write_text("# Pump\n\nIt works.\n")
    await library.add([folder])
    for question in ("pump", "Who paid for the pump?", "repaired pump in the report"):
        hits = await LocalSearch(library).search(SearchRequest(query=question, max_results=10))
        found = await library.search(question, limit=10)
        assert [hit.url for hit in hits] == [hit.path for hit in found]
        assert [hit.relevance for hit in hits] == sorted((hit.relevance for hit in hits), reverse=True)
        assert [hit.relevance for hit in hits] == [hit.score for hit in found]


async def test_a_version_is_found_in_the_notes_on_its_later_releases(tmp_path: Path, library: Library) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for version in ("1.9", "2.4.1", "2.40.0", "2.5"):
        (folder / f"{version}.md").write_text(f"# Release {version}\n\nFixes a crash in the sluice.\n")
    await library.add([folder])
    found = await library.find("release 2.4 fixes")
    assert found[0].facts.url == "2.4.1.md"
    assert found[0].relevance > found[1].relevance


async def test_relevance_is_the_share_of_the_question_that_is_answered(folder: Path, library: Library) -> None:
    await library.add([folder])
    whole, part = [await library.find(text) for text in ("shaft seals", "shaft seals of xylophones")]
    assert whole[0].relevance == 1.0
    assert 0.3 < part[0].relevance < 0.7


async def test_a_word_that_looks_like_the_term_of_a_folder_is_a_word(tmp_path: Path, library: Library) -> None:
    for number, text in enumerate(["A heron stands in the F1 marsh.", "A heron, folder.1, stands in the f.1 marsh."]):
        (tmp_path / f"{number}.txt").write_text(text)
        await library.add([tmp_path / f"{number}.txt"])
    assert [hit.path for hit in await library.search("folder.1")] == ["1.txt"]
    assert (await library.search("heron F1"))[0].path == "0.txt"
    assert [hit.path for hit in await library.search("heron", folders=[tmp_path / "0.txt"])] == ["0.txt"]


async def test_many_folders_can_be_searched_at_once(tmp_path: Path, library: Library) -> None:
    files = [tmp_path / f"{number}.txt" for number in range(300)]
    for file in files:
        file.write_text(f"Text {file.stem} about a heron.")
    await library.add(files)
    assert len(await library.find("heron", folders=files[:299], limit=400)) == 299


@pytest.mark.requirement("12.2")
async def test_a_pdf_that_is_read_in_part_says_so_each_time(tmp_path: Path, library: Library) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    writer = PdfWriter(clone_from="examples/library/reference/smolt-passage-study.pdf")
    pages = len(writer.pages)
    for _ in range(505 - pages):
        writer.add_blank_page(width=72, height=72)
    writer.write(folder / "long.pdf")
    for _ in range(2):
        counts = await library.add([folder])
        assert [one.reason for one in counts.partly] == ["read the first 500 of 505 pages"]
        assert counts.to_json()["partly"][0]["path"] == str(folder / "long.pdf")
    [record] = await library.list()
    assert (record.documents, record.unread, record.partly) == (1, 0, 1)


async def test_an_archive_of_more_files_than_are_read_counts_as_read_in_part(tmp_path: Path, library: Library) -> None:
    archive = tmp_path / "many.zip"
    unread = {f"{number:04}.png": "x" for number in range(2_000)}
    archive.write_bytes(packed({"0.txt": "A first document.", **unread}))
    for _ in range(2):
        counts = await library.add([archive])
        assert [(one.path, one.reason) for one in counts.partly] == [
            (str(archive), "the first 2,000 of its files are read")
        ]
        assert {one.reason for one in counts.failed} == {"unsupported file type"}


async def test_files_whose_names_do_not_tell_are_read_where_they_are_text(tmp_path: Path, library: Library) -> None:
    folder = tmp_path / "works"
    folder.mkdir()
    (folder / "README").write_text("The sluices are opened at high water.\n")
    (folder / "README.Debian").write_text("The gates are painted in autumn.\n")
    (folder / "levels.dat").write_text("4.1 7.2\n3.9 8.0\n")
    (folder / "sluice").write_bytes(b"\x7fELF\2\1\1\0")
    (folder / "changelog.gz").write_bytes(gzip.compress(b"Gate 5 was painted in June."))
    (folder / "program.gz").write_bytes(gzip.compress(b"\x7fELF\2\1\1\0"))
    (folder / "torn.gz").write_bytes(b"torn")
    (folder / "notes.zip").write_bytes(packed({"CHANGES": "Gate 4 was painted in May.", "gate": b"\x7fELF\2\1\1\0"}))
    counts = await library.add([folder])
    read = {facts.url for facts in await library.documents()}
    assert read == {"README", "README.Debian", "changelog.gz", "notes.zip/CHANGES"}
    unread = {Path(failure.path).name: failure.reason for failure in counts.failed if failure.unsupported}
    assert unread.keys() == {"sluice", "levels.dat", "gate", "program.gz", "torn.gz"}
    assert unread["levels.dat"].endswith("its name does not tell what it is, and its content is no text in words")


async def test_documents_of_an_archive_are_found_by_their_paths_and_forgotten_with_it(
    tmp_path: Path, library: Library
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    archive = folder / "notes.zip"
    archive.write_bytes(
        packed({"a/seals.md": "# Seals\n\nShaft seals last nine years.", "b.png": "x", "c.md": "# C\n\nMore."})
    )
    assert counts(await library.add([folder])) == (2, 0, 0, 0)
    again = await library.add([folder])
    assert (counts(again), [one.reason for one in again.failed]) == ((0, 0, 2, 0), ["unsupported file type"])
    [hit] = await library.search("How long do shaft seals last?", limit=1)
    assert (hit.path, hit.title) == ("notes.zip/a/seals.md", "Seals")
    archive.write_bytes(packed({"a/seals.md": "# Seals\n\nShaft seals last ten years."}))
    assert counts(await library.add([folder])) == (0, 1, 0, 1)
    archive.unlink()
    assert counts(await library.add([folder])) == (0, 0, 0, 1)


async def test_a_superlative_finds_the_table_that_has_what_it_measures(tmp_path: Path, library: Library) -> None:
    (tmp_path / "fleet.md").write_text("# Fleet\n\n| Boat | Weight (kg) |\n|---|---|\n| Heron | 53 |\n| Auk | 28 |\n")
    for number in range(4):
        (tmp_path / f"rule-{number}.md").write_text(
            f"# Rule {number}\n\nA boat keeps right. No boat turns at weir {number}.\n"
        )
    await library.add([tmp_path])
    hits = await library.search("Which boat is the lightest?")
    assert hits[0].path == "fleet.md"


async def test_a_superlative_alone_leaves_the_search_to_the_common_words(tmp_path: Path, library: Library) -> None:
    (tmp_path / "wells.md").write_text("# Works\n\n| Well | Drilled |\n|---|---|\n| Lohe | 2009 |\n| Hag | 1931 |\n")
    (tmp_path / "birds.md").write_text(BIRDS)
    await library.add([tmp_path])
    assert [hit.path for hit in await library.search("Which well is the oldest?")] == ["wells.md"]
