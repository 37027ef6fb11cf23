"""The blocks of a draft without statements that are dropped."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from graph_research.research.models.draft import Block, BlockType, Statement, StatementKind, rewritten
from graph_research.research.models.inline_marks import unmarked


def sentence(text: str, kind: StatementKind = StatementKind.FACT) -> Statement:
    return Statement(**unmarked(text)._asdict(), kind=kind)


WAITING = sentence("**Order of `waiting`:** The harbour keeps none.")
BURSTS = sentence("Bursts wait longer.")
FARES = sentence("**Night fares:** They double.")


def left(sentences: Collection[Statement], gone: Collection[Statement]) -> list[list[str]]:
    blocks = [Block(sentences=list(sentences)), Block(type=BlockType.LIST, items=[list(sentences)])]
    for dropped in gone:
        blocks = rewritten(blocks, lambda row, dropped=dropped: None if row.text == dropped.text else row)
    return [[row.marked for row in said] for block in blocks for said in (block.sentences, *block.items) if said]


@pytest.mark.parametrize(
    ("sentences", "gone", "expected"),
    [
        ((WAITING, BURSTS), (WAITING,), ["**Order of `waiting`:**", "Bursts wait longer."]),
        ((WAITING, FARES), (WAITING,), ["**Night fares:** They double."]),
        ((WAITING, BURSTS), (BURSTS,), ["**Order of `waiting`:** The harbour keeps none."]),
        ((WAITING, BURSTS), (WAITING, BURSTS), None),
    ],
)
def test_a_paragraph_and_an_item_keep_what_they_are_about_while_they_say_anything(sentences, gone, expected):
    assert left(sentences, gone) == ([expected, expected] if expected else [])


def test_a_sentence_in_place_of_the_one_with_the_label_stands_behind_it_and_keeps_its_id():
    (block,) = rewritten([Block(sentences=[WAITING])], lambda _: BURSTS)
    assert [row.text for row in block.sentences] == ["Order of waiting:", "Bursts wait longer."]
    assert (block.sentences[0].kind, block.sentences[1].id) == (StatementKind.TRANSITION, BURSTS.id)


def test_a_correction_that_begins_with_the_label_without_its_marks_does_not_get_it_twice():
    (block,) = rewritten([Block(sentences=[WAITING])], lambda _: sentence("Order of waiting: None is kept."))
    assert [row.marked for row in block.sentences] == ["**Order of `waiting`:** None is kept."]


def test_what_a_user_writes_in_place_of_a_sentence_gets_no_label():
    (block,) = rewritten([Block(sentences=[WAITING])], lambda _: sentence("None is kept.", StatementKind.USER))
    assert [row.text for row in block.sentences] == ["None is kept."]
