"""Open points of a research, and what of them the statements of its report answer."""

from __future__ import annotations

import pytest

from graph_research.text.relevance.open_points import (
    Told,
    asked_again,
    is_answered,
    is_rest_of,
    left_open,
    single_questions,
    without_place,
)

TOLD = [
    Told("The lagoon's gates close at a tide of 4.2 metres."),
    Told("typically 100", "max_guests: Default. Settings of the inn"),
    Told("by judgement set it higher", "harbour_dues: Value"),
    Told("Rooms without a bath are let after the fair and not before."),
    Told("A keeper with a lamp stands at the gate all night."),
    Told("A long repair of the sluice can take the whole winter."),
    Told("Die Schleuse öffnet im Winter um neun Uhr."),
]


@pytest.mark.parametrize(
    ("point", "left"),
    [
        ("The default of max_guests is not in the parts shown.", ""),
        ("No source says at what tide the gates of the lagoon close.", ""),
        ("What happens to rooms without a bath after the fair?", ""),
        ("Ob die Schleuse im Winter öffnet, steht in keiner Quelle.", ""),
        ("How many guests the inn has by default (max_guests), and what each costs.", None),
        ("What becomes of rooms without a bath, and who repairs the sluice?", "Who repairs the sluice?"),
        (
            "Who repairs the sluice, what becomes of rooms without a bath, and how it shows?",
            "Who repairs the sluice, how it shows?",
        ),
        ("When are rooms without a bath let after the fair, and what does it cost?", None),
    ],
)
def test_a_point_is_open_without_the_clauses_that_statements_answer(point: str, left: str | None) -> None:
    assert left_open(point, TOLD) == (point if left is None else left)


@pytest.mark.parametrize(
    "point",
    [
        "Why a keeper with a lamp stands at the gate all night.",
        "How old the gates of the lagoon are.",
        "The largest value of max_guests is not in the parts shown.",
        "The default of max_guests and of max_guests_per_room is not given.",
        "How long a repair of the sluice takes is not stated.",  # "long", and no figure
        "No source recommends the dues.",  # one word does not say what is asked of it
        "How many rooms without a bath there are is not said.",
        "",
    ],
)
def test_a_point_stays_open_where_words_do_not_show_an_answer(point: str) -> None:
    assert left_open(point, TOLD) == point


def test_the_heading_of_a_section_is_said_in_each_of_its_sentences() -> None:
    point = "How many guests the inn of Larch has by default was not found."
    sentence = "By default the inn has 40 guests."
    assert left_open(point, [Told(sentence)]) == point
    assert left_open(point, [Told(sentence, heading="The inn of Larch")]) == ""
    assert left_open("What the inn of Larch costs.", [Told(sentence, heading="The inn of Larch")])


def test_the_default_value_of_a_setting_is_what_a_cell_below_default_says() -> None:
    told = [Told("none, guests wait", "gate_wait. Default", "The inn of Larch"), Told("5 s", "gate_wait. Value")]
    asked = "The {} value of gate_wait in the inn"
    assert left_open(asked.format("default"), told) == ""
    assert left_open(asked.format("largest"), told)
    assert left_open("The default value of room_wait in the inn", told)


def test_the_title_of_a_source_asks_for_nothing_but_a_name_that_is_a_title_does() -> None:
    told = [Told("By default the lock wait of Spruce is 5 s.")]
    assert is_answered("The default lock wait is not in 'Spruce for sailors'.", told, ["Spruce for sailors"])
    assert not is_answered("The default lock wait of Larch was not found.", told, ["Larch"])


def test_a_statement_that_says_no_more_than_what_is_asked_is_no_answer() -> None:
    assert left_open("What the gates of the lagoon are.", [Told("The gates of the lagoon")])


@pytest.mark.parametrize(
    ("rest", "is_rest"),
    [
        ("What clients of the inn meet in winter", True),
        ("What clients of the inn meet in winter and how long it lasts", True),
        ("What clients of the inn and of the harbour meet in winter, and how long that lasts", False),  # nothing less
        ("Whether clients of the inn pay in winter", True),
        ("When guests and clients without a room notice that the inn is shut", True),  # mostly in new words
        ("What the harbour costs", False),
        ("How that is?", False),
    ],
)
def test_what_is_left_of_a_point_is_less_of_it_and_has_two_of_its_words(rest: str, is_rest: bool) -> None:
    point = "What clients of the harbour or the inn meet in winter, and how long that lasts"
    assert is_rest_of(rest, point) is is_rest


@pytest.mark.parametrize(
    ("point", "single"),
    [
        (
            "How does a standby of Larch start, and how is a backup of Maple read?",
            ["How does a standby of Larch start?", "How is a backup of Maple read?"],
        ),
        ("How safe is the default of core.fsync, and which value should a server have?", []),
    ],
)
def test_a_point_is_cut_into_questions_that_name_their_subject(point: str, single: list[str]) -> None:
    assert single_questions(point) == (single or [point])


SLUICE = "How long the repair of the sluice at Maple takes is not said in these sources."
INN_WAIT = "The default value of the inn's gate_wait"
BY_DEFAULT = "The default of max_guests is not given."


@pytest.mark.parametrize(
    ("points", "again"),
    [
        ([SLUICE, "How long does the repair of the sluice take?"], {1}),
        (["How long does the repair of the sluice take?", SLUICE], {0}),  # the point that asks most stays
        ([SLUICE, "What the repair of the sluice at Maple costs is not said, nor who pays for it."], set()),
        ([BY_DEFAULT, BY_DEFAULT.replace("default", "largest value")], set()),  # a name in common is no question
        ([SLUICE.replace("Maple", "maple_gate"), SLUICE.replace("Maple", "larch_gate")], set()),
        (["What a repair in Maple costs is not said.", "What a repair in Larch costs is not said."], set()),
        (["No figure for release 15 was found.", "No figure for release 16 was found."], set()),
        (["Whether guests pay is not said.", "Whether guests pay is not said; only their number is given."], {1}),
        (["Failover is not described.", "How long a failover takes while guests pay is not described."], set()),
        (["Who pays?", "Who pays is not said."], {1}),
        ([INN_WAIT, "The value of the inn's gate wait when none is set"], {0}),  # "default" in other words
        (["The default of max_guests", "What max_guests is by default"], {1}),
        ([INN_WAIT.replace("default", "largest"), "The value of the inn's gate wait when none is set"], set()),
        (["The default of max_guests", "How max_guests is set"], set()),
        ([], set()),
    ],
)
def test_of_points_that_ask_the_same_the_one_that_asks_most_stays(points: list[str], again: set[int]) -> None:
    assert asked_again(points) == again


def test_what_is_told_as_not_found_is_asked_again_by_a_point_that_asks_more_of_it() -> None:
    told = "Repair of the sluice: not found."
    assert asked_again([SLUICE, BY_DEFAULT], [told]) == {0}


def test_a_title_in_a_point_asks_for_nothing() -> None:
    """Without the number of its chapter, too, but in its own case only: others' words ask."""
    titles = ["27.2. Keepers of Harbour Lights"]
    limit = "At what tide the gates of the lagoon close is not stated in Keepers of Harbour Lights."
    assert is_answered(limit, TOLD, titles)
    assert not is_answered(limit, TOLD, ())
    assert not is_answered(limit.replace("Keepers of Harbour Lights", "keepers of harbour lights"), TOLD, titles)
    other = "At what tide the gates of the lagoon close is not said at all."
    assert asked_again([limit, "What keepers of harbour lights cost."], titles=titles) == set()
    assert asked_again([other, limit], titles=titles) == {1}


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        ("What a licence costs is not said; it would stand in Dues.", "What a licence costs is not said."),
        ("What a licence costs is not said; it would stand in Fines.", None),
        ("What a licence costs is not said in Dues.", None),
    ],
)
def test_where_another_reader_had_the_source_that_is_not_said(limit: str, left: str | None) -> None:
    assert without_place(limit, ["Dues"]) == (left or limit)


def test_a_short_point_is_read_in_the_language_of_the_others() -> None:
    assert asked_again(["Fristen laufender Aufgaben", "Welche Frist haben die laufenden Aufgaben?"])
