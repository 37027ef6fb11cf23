"""Ids of passages hold their folder and their length."""

from __future__ import annotations

import pytest

from graph_research.providers.search.local.passage_ids import LENGTH_MASK, first_id, folder_of, next_id


@pytest.mark.parametrize(("length", "held"), [(1, 1), (240, 240), (LENGTH_MASK + 7, LENGTH_MASK)])
def test_an_id_follows_the_last_of_its_folder_and_says_its_length(length: int, held: int) -> None:
    first = next_id(first_id(3), length)
    second = next_id(first, 2)
    assert first_id(3) < first < second < first_id(4)
    assert (first & LENGTH_MASK, second & LENGTH_MASK) == (held, 2)
    assert folder_of(first) == folder_of(second) == 3
