"""The marks that a writer may set within a sentence."""

from __future__ import annotations

import pytest

from graph_research.research.models.inline_marks import cut_at, marked, plain_line, unmarked


def test_the_text_stands_without_its_marks_and_what_they_stood_around_beside_it() -> None:
    marked = unmarked("**Partial clone:** `--filter` leaves out blobs, and so does `git fetch`, see `--filter`.")

    assert marked.text == "Partial clone: --filter leaves out blobs, and so does git fetch, see --filter."
    assert marked.code == ["--filter", "git fetch"]
    assert marked.strong == ["Partial clone:"]


def test_code_within_bold_is_both() -> None:
    assert unmarked("**The `fsync` setting:** leave it on") == (
        "The fsync setting: leave it on",
        ["fsync"],
        ["The fsync setting:"],
    )


@pytest.mark.parametrize(
    "text",
    ["f(*args, **kwargs) and **rest", "2**3 and 4**5", "a ` alone", "``two`` of them", "** no **", "5 * 3 ** 2"],
)
def test_what_is_no_mark_stays(text: str) -> None:
    assert unmarked(text) == (text, [], [])


def test_stars_within_code_are_stars() -> None:
    assert unmarked("`**kwargs` collects **what** is `*left*`") == (
        "**kwargs collects what is *left*",
        ["**kwargs", "*left*"],
        ["what"],
    )


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("With `on` only storage on the primary matters.", ["With `on` only"]),
        ("With `on`, and `on` alone, `fsync` matters.", ["on", "fsync"]),
        ("A `post` hook and an `update` hook see any update.", ["post", "an `update` hook"]),
        ("Set `busy_timeout`; busy_timeout is 0 by default.", ["busy_timeout"]),
    ],
)
def test_a_word_that_the_text_has_without_backticks_too_is_code_only_beside_the_same_words(
    text: str, code: list[str]
) -> None:
    assert unmarked(text).code == code


def test_a_heading_is_one_line_without_marks() -> None:
    assert plain_line("What `gc`\n costs") == "What gc costs"


@pytest.mark.parametrize(
    "text",
    [
        "**Partial clone:** `--filter` leaves out blobs, and so does `git fetch`.",
        "**The `fsync` setting:** leave it on, with `fsync-log` off",
        "An `update` hook refuses any update, and so does `update`.",
        "nothing is marked",
    ],
)
def test_what_was_written_is_shown_with_its_marks_again(text: str) -> None:
    assert marked(*unmarked(text)) == text


def test_the_first_part_of_a_compound_is_code_as_a_part_of_a_longer_name_is_not() -> None:
    written = "Die `-wal`-Datei gehört dazu, `max`-size nicht."
    assert unmarked(written).text == "Die -wal-Datei gehört dazu, max-size nicht."
    pieces = list(cut_at("Die -wal-Datei gehört zu max-size.", ["-wal", "max"]))
    assert pieces == [("Die ", False), ("-wal", True), ("-Datei gehört zu max-size.", False)]
