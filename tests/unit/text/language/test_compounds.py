"""Compounds are searched by their parts too, in the languages that write them as one word."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.providers.search.local import Library
from graph_research.text.language.compounds import compound_parts
from graph_research.text.language.words import terms
from graph_research.text.readers.plain import plain_document
from graph_research.text.relevance.answerability import FOUND, features
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank

WELLS = (
    "Der Bericht nennt die Werte der Brunnen und die Kosten des Jahres. Der Nitratgehalt lag im Brunnen Birkenau bei "
    "52 mg je Liter. Die Betriebsleitung hat seit Mai Frau Anselm. Der Monteur prüft die Pumpe alle vier Wochen."
)


@pytest.mark.parametrize(
    ("language", "compound", "parts"),
    [
        ("de", "Nitratgehalt", ["nitrat", "gehalt"]),
        ("de", "Grundwasserstand", ["grund", "wasser", "stand"]),
        ("de", "Feuerwehrhaus", ["feuerwehr", "haus"]),  # feuerwehr is more frequent than fire and defence are
        ("de", "Wirkungsdauer", ["wirkung", "dauer"]),
        ("de", "Brontazolgehalt", ["brontazol", "gehalt"]),  # no list has the drug
        ("nl", "kraanwater", ["kraan", "water"]),
        ("sv", "saltvatten", ["salt", "vatten"]),
        ("da", "lægemiddel", ["læge", "middel"]),
        ("no", "tidsformat", ["tids", "format"]),
    ],
)
def test_a_compound_is_cut_into_its_parts(language: str, compound: str, parts: list[str]) -> None:
    assert list(compound_parts(compound, language)) == parts


@pytest.mark.parametrize(
    ("language", "word"),
    [
        ("de", "Mannschaft"),
        ("de", "Verein"),
        ("de", "Freundinnen"),
        ("de", "Erdbeben"),
        ("de", "aufschreiben"),  # a verb: nouns are written with a capital
        ("nl", "gemeentelijke"),
        ("en", "Groundwater"),
        ("de", "W" + "asserwerk" * 8),
        ("de", ""),
    ],
)
def test_other_words_stay_whole(language: str, word: str) -> None:
    assert compound_parts(word, language) == ()


def test_compound_and_parts_are_terms_of_the_same_stem() -> None:
    assert set(terms("Häuser und Brunnen", "de")) < set(terms("Brunnenhäuser", "de"))


async def test_a_part_of_a_compound_finds_the_text_that_has_the_compound(tmp_path: Path) -> None:
    (tmp_path / "brunnen.txt").write_text(WELLS)
    (tmp_path / "pumpen.txt").write_text("Die Pumpe wird im Mai geprüft, das Wasser bleibt dabei im Behälter.")
    library = Library(tmp_path / "index.db")
    await library.add([tmp_path])
    assert [hit.path for hit in await library.search("Nitrat")] == ["brunnen.txt"]
    assert [hit.path for hit in await library.search("Wie hoch ist der Gehalt an Nitrat?")] == ["brunnen.txt"]


def test_a_question_with_the_parts_is_answered_by_the_compound() -> None:
    pool, query = Pool({"wells": plain_document(WELLS)}), parse("Wie hoch ist der Gehalt an Nitrat in Birkenau?")
    assert "Nitratgehalt" in rank(pool, query)[0].unit.text
    assert features(pool, query).score >= FOUND
