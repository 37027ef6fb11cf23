"""Of a page in several languages one version is found: the question's, else the English one."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.providers.search.base import SearchRequest
from graph_research.providers.search.local import Library
from graph_research.providers.search.local.provider import LocalSearch

ENGLISH = """# Locks of the lagoon

The setting GateTimeout says how many seconds the lock waits before it closes the gate. Its default is 60 seconds, and
with max_boats = 12 it is what the harbour needs. What the lock does with a boat that is late is said in chapter 7.
"""
GERMAN = """# Schleusen der Lagune

Die Einstellung GateTimeout sagt, wie viele Sekunden die Schleuse wartet, bevor sie das Tor schließt. Der Standard ist
45 Sekunden, und mit max_boats = 12 ist es das, was der Hafen braucht. Was mit einem Boot geschieht, das zu spät ist,
steht in Kapitel 7.
"""
FRENCH = """# Les écluses de la lagune

Le réglage GateTimeout dit combien de secondes l'écluse attend avant de fermer la porte. Par défaut ce sont 45 secondes,
et avec max_boats = 12 c'est ce dont le port a besoin. Ce que l'écluse fait d'un bateau en retard est dit au chapitre 7.
"""
OTHER = (
    "# Policy {name}\n\nEmployees of the {name} office book the trains of the {name} team with the setting GateTimeout."
)


def library(tmp_path: Path, files: dict[str, str]) -> tuple[Library, Path]:
    folder = tmp_path / "papers"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return Library(tmp_path / "index.db"), folder


@pytest.mark.parametrize(
    ("english", "german", "french"),
    [
        ("manual/en/locks.md", "manual/de/locks.md", "manual/fr/locks.md"),
        ("locks.md", "locks.de.md", "locks_fr.md"),
        ("locks.md.en", "locks.md.de.iso-8859-1", "locks.md.fr.utf8"),
        ("docs/locks.md", "docs/de-AT/locks.md", "docs/fr/locks.md"),
    ],
)
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("How many seconds does the lock wait by default, with GateTimeout?", 0),
        ("Wie viele Sekunden wartet die Schleuse mit GateTimeout vor dem Tor?", 1),
        ("Quante secondi aspetta la chiusa con GateTimeout e max_boats?", 0),
    ],
)
async def test_a_page_is_found_in_one_language(
    tmp_path: Path, english: str, german: str, french: str, question: str, wanted: int
) -> None:
    urls = (english, german, french)
    searched, folder = library(tmp_path, dict(zip(urls, (ENGLISH, GERMAN, FRENCH), strict=True)))
    await searched.add([folder])
    [found] = await searched.find(question)
    assert found.facts.url == urls[wanted]
    assert sorted(found.translations) == sorted({*urls} - {urls[wanted]})
    [hit] = await searched.search(question)
    assert hit.translations == found.translations
    (folder / urls[wanted]).unlink()
    await searched.add([folder])
    [other] = await searched.find(question)
    assert other.facts.url != urls[wanted]


async def test_a_page_that_lies_there_in_several_formats_is_found_in_one(tmp_path: Path) -> None:
    plain = ENGLISH.replace("The setting GateTimeout says", "include::setting.txt[]\nThe setting `GateTimeout` says")
    stub = "<h1>Locks of the lagoon</h1><p>How many seconds the lock waits by GateTimeout is said elsewhere.</p>"
    page = f"<h1>Locks</h1><p>{ENGLISH.partition('lagoon')[2]}</p>"
    files = {"locks.html": page, "locks.txt": plain, "stub.html": stub, "stub.txt": plain, "gates.txt": stub}
    searched, folder = library(tmp_path, files)
    await searched.add([folder])
    found = await searched.find("How long does the lock wait, by GateTimeout?")
    assert {one.facts.url for one in found} == {"locks.html", "stub.html", "stub.txt", "gates.txt"}
    [translated] = [one for one in found if one.translations]
    assert translated.translations == ["locks.txt"]


async def test_a_run_finds_pages_in_the_language_of_its_question(tmp_path: Path) -> None:
    searched, folder = library(tmp_path, {"en/locks.md": ENGLISH, "de/locks.md": GERMAN})
    await searched.add([folder])
    [hit] = await LocalSearch(searched).search(SearchRequest(query="GateTimeout default", language="de"))
    assert (hit.url, hit.metadata["page"]) == ("de/locks.md", "locks.md")


async def test_without_the_questions_language_and_english_the_best_version_is_found(tmp_path: Path) -> None:
    searched, folder = library(tmp_path, {"de/locks.md": GERMAN, "fr/locks.md": FRENCH})
    await searched.add([folder])
    assert len(await searched.find("GateTimeout max_boats")) == 1


async def test_a_copy_that_is_not_translated_is_found_under_the_path_of_its_language(tmp_path: Path) -> None:
    searched, folder = library(tmp_path, {"da/locks.md": ENGLISH, "en/locks.md": ENGLISH})
    await searched.add([folder])
    [found] = await searched.find("How many seconds does the lock wait?")
    assert found.facts.url == "en/locks.md"


@pytest.mark.parametrize(
    "files",
    [
        {"it/policy.md": OTHER.format(name="IT"), "hr/policy.md": OTHER.format(name="HR")},
        {"go/locks.md": ENGLISH, "no/locks.md": ENGLISH.replace("12", "31").replace("late", "early")},
        {
            "de/locks.md": GERMAN,
            "fr/locks.md": "# Les prix du port\n\nLe mouillage coûte 31 euros, 46 avec taxe et 8.5.",
        },
        {"de/locks.md": GERMAN, "fr/harbour.md": FRENCH},
    ],
)
async def test_folders_that_are_called_like_a_language_are_none(tmp_path: Path, files: dict[str, str]) -> None:
    searched, folder = library(tmp_path, files)
    await searched.add([folder])
    assert [fact.page for fact in await searched.documents()] == [None, None]
