"""Texts that say again what another one says."""

from __future__ import annotations

import pytest

from graph_research.text.relevance.alike import said_again, states, told_among

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


def test_what_two_texts_tell_is_told_and_what_one_does_or_only_common_words_is_not() -> None:
    texts = [
        "Serialization failures (40001) need a retry of the complete transaction.",
        "At 40001, a serialization failure, retry the complete transaction.",
        "A transaction holds its locks until it ends.",
        "The transaction log is written first.",
        "VACUUM FULL takes an exclusive lock on its table.",
    ]
    subjects = [
        "retry of the complete transaction after a serialization failure, 40001",
        "exclusive lock of VACUUM FULL on the table",
        "how often a transaction log is archived by which command",
    ]
    assert told_among(subjects, texts) == {0}
    assert told_among(subjects, []) == set()


def test_what_has_a_name_that_no_text_has_is_not_told_however_many_of_its_words_others_have() -> None:
    texts = [
        "A subscription has a slot of its own name on the publisher, and replication copies what is there.",
        "Slots of a subscription whose publisher is gone are dropped after the switch of the replication.",
        "The harbour is closed at night.",
    ]
    subject = "{} the replication slot on the publisher after the switch of the subscription"
    assert told_among([subject.format(name) for name in ("drop", "DROP SUBSCRIPTION", "slot_name")], texts) == {0}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The deposit is two months' rent.", "The deposit is one month's rent."),
        ("Die Kaution beträgt drei Mieten.", "Die Kaution beträgt zwei Mieten."),
        ("The ferry is not free.", "The ferry is free."),
    ],
)
def test_texts_that_differ_in_a_number_in_words_or_in_a_denial_do_not_say_the_same(text: str, other: str) -> None:
    assert not states(text, other)
    assert not states(other, text)
    assert states(text, text)
