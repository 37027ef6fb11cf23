"""Counted nouns and shortened texts."""

import pytest

from graph_research.text.wording import counted, shortened


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (counted(1, "source"), "1 source"),
        (counted(0, "source"), "0 sources"),
        (counted(2, "search"), "2 searches"),
        (counted(2, "entry"), "2 entries"),
        (counted(2, "day"), "2 days"),
    ],
)
def test_a_noun_follows_its_number(shown: str, expected: str) -> None:
    assert shown == expected


def test_a_text_is_cut_with_an_ellipsis_and_no_space_before_it() -> None:
    assert shortened("short", 5) == "short"
    assert shortened("one two three", 9) == "one two…"
