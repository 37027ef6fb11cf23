"""Texts that say again what another one says."""

from __future__ import annotations

import pytest

from graph_research.text.relevance.alike import said_again

DEFAULT = "The default of wal_autocheckpoint is not in the parts shown of the pragma page."
BLOCKED = "How long a checkpoint may block writers is not stated."


@pytest.mark.parametrize(
    ("texts", "again"),
    [
        ([BLOCKED, DEFAULT, "It is not stated how long checkpoints can block writers."], {2}),
        ([DEFAULT, "The pragma page: the default value of wal_autocheckpoint is not in the parts shown."], {1}),
        ([DEFAULT, f"{DEFAULT[:-1]}, nor which process runs a checkpoint."], {0}),
        ([DEFAULT, DEFAULT, DEFAULT], {1, 2}),
        ([DEFAULT, DEFAULT.replace("default", "largest value")], set()),
        ([DEFAULT, DEFAULT.replace("pragma page", "compile page")], set()),
        (["No figure for release 15 was found.", "No figure for release 16 was found."], set()),
        ([], set()),
    ],
)
def test_of_texts_that_say_the_same_the_first_stays_and_of_others_the_one_that_says_more(
    texts: list[str], again: set[int]
) -> None:
    assert said_again(texts) == again


def test_what_was_told_before_is_said_again_too() -> None:
    assert said_again([BLOCKED, DEFAULT], [BLOCKED.upper(), "Whatever else."]) == {0}
