"""Clusters of sparse vectors."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.extractive.analysis import analyze
from graph_research.research.extractive.sections import cluster, outline, unit
from tests.support.research.extractive_sources import written

VECTORS = st.lists(st.dictionaries(st.sampled_from("abcdef"), st.floats(0.1, 5.0), max_size=4), max_size=14)


def test_what_shares_words_comes_together_and_what_shares_none_stays_alone() -> None:
    vectors = [
        unit({"cost": 2, "dam": 1}),
        unit({"fish": 2, "eel": 1}),
        unit({"cost": 1, "euro": 1}),
        unit({"fish": 1}),
        unit({"x": 1}),
    ]
    assert cluster(vectors, largest=5, least_similarity=0.1) == [[0, 2], [1, 3], [4]]


@given(VECTORS, st.integers(1, 5))
def test_every_vector_is_in_one_cluster_and_none_is_too_large(vectors: list[dict[str, float]], largest: int) -> None:
    clusters = cluster([unit(vector) for vector in vectors], largest=largest, least_similarity=0.2)
    assert sorted(index for members in clusters for index in members) == list(range(len(vectors)))
    assert all(len(members) <= largest for members in clusters)


def test_no_heading_is_a_word_that_any_text_has() -> None:
    pages = ["The Borealis 12 must stand outdoors.\n", "The gate of the depot must be shut off at night.\n"]
    analysis = analyze({**written(pages), "question": "What must be shut off?"})
    assert not {"Must", "Off"} & {section.heading for section in outline(analysis, 900).sections}
