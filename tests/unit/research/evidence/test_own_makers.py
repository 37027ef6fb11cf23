"""Which citations of a cell about one of two compared things are those of the other's maker."""

from __future__ import annotations

from graph_research.research.evidence.own_makers import OwnMakers
from graph_research.research.models.draft import Block, BlockType, Statement
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.source import Source

QUESTION = "How do Larch and Alder let writers wait?"
HASH = f"sha256:{'0' * 64}"


def source(number: int, publisher: str) -> Source:
    return Source(id=f"src-{number}", archive_hash=HASH, url=f"https://s{number}.example/", publisher=publisher)


LARCH, ALDER, PAPER = source(1, "larch3"), source(2, "Alder"), source(3, "Journal")


def passage(source: Source, quote: str) -> Evidence:
    name = f"ev-{source.id[-1]}{len(quote):09}"
    return Evidence(id=name, source_id=source.id, quote=quote, locator="char:0-9", archive_hash=HASH)


BUSY = passage(LARCH, "An error comes at once.")
COMPARES = passage(LARCH, "Alder waits where this one gives an error.")
WAITS = passage(ALDER, "It waits without limit.")
MEASURED = passage(PAPER, "The second writer waited 40 seconds.")


def cited(label: str, column: str, text: str, *passages: Evidence) -> list[Evidence]:
    """What is left of the citations of a cell, and of a sentence that reads the same."""
    cell = Statement(text=text, evidence_ids=[row.id for row in passages])
    table = Block(type=BlockType.TABLE, header=["Aspect", column], rows=[[Statement(text=label), cell]])
    evidence = (BUSY, COMPARES, WAITS, MEASURED)
    makers = OwnMakers(QUESTION, evidence, {row.id: row for row in (LARCH, ALDER, PAPER)})
    prose = Block(sentences=[cell])
    [made, sentences] = makers.applied([table, prose])
    assert sentences == prose
    return [row for row in evidence if row.id in made.rows[0][1].evidence_ids]


def test_a_cell_about_one_thing_does_not_cite_what_the_maker_of_the_other_says_of_its_own() -> None:
    assert cited("Second writer", "Alder", "waits without limit", BUSY, WAITS) == [WAITS]
    assert cited("Alder 3", "Second writer", "waits without limit", BUSY, WAITS) == [WAITS]


def test_it_cites_what_names_it_what_others_say_and_what_it_has_alone() -> None:
    assert cited("Second writer", "Alder", "waits", COMPARES, WAITS, MEASURED) == [COMPARES, WAITS, MEASURED]
    assert cited("Second writer", "Alder", "waits", BUSY, MEASURED) == [BUSY, MEASURED]
    assert cited("Second writer", "Alder", "waits; Larch gives an error", BUSY, WAITS) == [BUSY, WAITS]
    assert cited("Second writer", "Both", "waits or fails", BUSY, WAITS) == [BUSY, WAITS]
