"""Numbers and dates on which sources disagree, and everything that only looks like it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.language.quantities import agree, values
from graph_research.text.relevance.conflicts import Conflict, SourceSentence, find_contradictions


def said(*sentences: str, titles: Sequence[str] = (), origins: Sequence[str] = ()) -> list[SourceSentence]:
    """Each sentence from a source of its own."""
    return [
        SourceSentence(
            source_id=f"src-{number}",
            origin=origins[number] if origins else f"origin-{number}",
            text=sentence,
            start=0,
            end=len(sentence),
            title=titles[number] if titles else "",
        )
        for number, sentence in enumerate(sentences)
    ]


def conflicts(*sentences: str) -> list[Conflict]:
    return find_contradictions(said(*sentences))


@pytest.mark.parametrize(
    ("one", "other", "values_"),
    [
        ("The Alder Dam is 120 metres high.", "The Alder Dam stands 135 metres tall.", ["120 metres", "135 metres"]),
        ("The Alder Dam opened in 1962.", "The Alder Dam was opened in 1964.", ["1962", "1964"]),
        (
            "Completed in 1964, the Alder Dam supplies three towns.",
            "The Alder Dam was completed in 1962.",
            ["1964", "1962"],
        ),
        (
            "With a reservoir of 40 hectares, the Alder Dam is small.",
            "The Alder Dam has a reservoir of 55 hectares.",
            ["40 hectares", "55 hectares"],
        ),
        (
            "Auditors found that the construction cost of the Alder Dam was 1.6 billion euros.",
            "The construction cost of the Alder Dam reached €1.3 billion.",
            ["1.6 billion euros", "€1.3 billion"],
        ),
        (
            "According to the union, the Alder Mill employs two hundred people.",
            "The Alder Mill employs 140 people.",
            ["two hundred people", "140 people"],
        ),
        (
            "The Alder Dam cost 86,977 euros, a large sum then.",
            "The Alder Dam cost 83,126 euros according to the ledgers of the county.",
            ["86,977 euros", "83,126 euros"],
        ),
        ("The Alder Dam was automated in 1994.", "The Alder Dam was automated in 1992.", ["1994", "1992"]),
        (
            "The Alder Dam began operation on 14 March 2016, when the last permit came.",
            "The Alder Dam started operation on 2 May 2016.",
            ["14 March 2016", "2 May 2016"],
        ),
    ],
)
def test_two_values_for_one_attribute_of_one_subject_are_two_sides(one: str, other: str, values_: list[str]) -> None:
    (found,) = conflicts(one, other)
    assert [side.value for side in found.sides] == values_
    assert [side.evidence[0].text for side in found.sides] == [one, other]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("The Alder Dam is 120 metres high.", "The Birch Dam is 90 metres high.", id="other subject"),
        pytest.param("The Alder Dam is 120 metres high.", "The Alder Dam is 90 metres long.", id="other attribute"),
        pytest.param(
            "In 2018 the Alder Dam earned 5 million euros.", "In 2019 the Alder Dam earned 7 million euros.", id="year"
        ),
        pytest.param(
            "Each turbine of the Alder Dam has a power of 5 megawatts.",
            "The Alder Dam has a power of 60 megawatts.",
            id="each",
        ),
        pytest.param("The Alder Dam cost 9 million euros.", "The Alder Dam cost 9 million euros a year.", id="rate"),
        pytest.param(
            "The planned cost of the Alder Dam was 9 million euros.",
            "The cost of the Alder Dam was 12 million euros.",
            id="plan",
        ),
        pytest.param(
            "The Alder Dam was scheduled to open on 1 May 2015.", "The Alder Dam opened on 2 June 2016.", id="schedule"
        ),
        pytest.param(
            "The Alder Dam did not reduce the number of eels.",
            "The Alder Dam reduced the number of eels.",
            id="negation",
        ),
        pytest.param("The Alder Dam holds more than 100 boats.", "The Alder Dam holds 140 boats.", id="bound"),
        pytest.param("The Alder Dam holds 100 to 120 boats.", "The Alder Dam holds 140 boats.", id="range"),
        pytest.param(
            "The wall of the Alder Dam is 9.6 kilometres long.",
            "The wall of the Alder Dam is 9,600 metres long.",
            id="unit",
        ),
        pytest.param("The Alder Dam cost 4.1 million euros.", "The Alder Dam cost 4.12 million euros.", id="rounding"),
        pytest.param("The Alder Dam has a power of 0.24 GW.", "The Alder Dam has a power of 240 MW.", id="prefix"),
        pytest.param(
            "The Alder Dam has a crew of about 150 people.", "The Alder Dam has a crew of 155 people.", id="about"
        ),
        pytest.param("The Alder Dam has twelve gates.", "The Alder Dam has 12 gates.", id="number word"),
        pytest.param(
            "The Alder Dam opened in March 2016.", "The Alder Dam opened on 14 March 2016.", id="coarser date"
        ),
        pytest.param(
            "The Alder Dam spent 5 million euros on paint.",
            "The Alder Dam spent 3 million euros on steel.",
            id="purpose",
        ),
        pytest.param(
            "Staff of the Alder Dam fell from 81 to 74 people.",
            "Staff of the Alder Dam fell to 60 people.",
            id="change",
        ),
        pytest.param(
            "In 2018 the Alder Dam published a report.", "In 2019 the Alder Dam published a report.", id="repeated"
        ),
        pytest.param(
            "The Alder Dam is 120 metres high, compared with 90 metres for others.",
            "The Alder Dam is 120 metres high.",
            id="compared",
        ),
        pytest.param(
            "The Alder Dam cost 86,977 euros.", "The Alder Dam cost 83,126 euros, not counting the harbour.", id="part"
        ),
        pytest.param(
            "The Alder Dam cost 14 million euros.", "The Alder Dam cost 18 million euros including interest.", id="all"
        ),
        pytest.param("The bridge is 120 metres long.", "The bridge is 90 metres long.", id="no name"),
    ],
)
def test_what_differs_in_subject_attribute_scope_or_only_in_form_is_no_contradiction(one: str, other: str) -> None:
    assert conflicts(one, other) == []


def test_three_values_are_one_contradiction_with_three_sides_and_equal_values_share_one() -> None:
    (found,) = conflicts(
        "The Alder Dam has 14 gates.",
        "The Alder Dam has 16 gates.",
        "The Alder Dam has 14 gates, all of them rusty.",
        "The Alder Dam has 20 gates.",
    )
    assert [(side.value, len(side.evidence)) for side in found.sides] == [
        ("14 gates", 2),
        ("16 gates", 1),
        ("20 gates", 1),
    ]


def test_a_year_that_fits_two_dates_takes_neither_side() -> None:
    (found,) = conflicts(
        "The Alder Dam opened in 2016.", "The Alder Dam opened on 2 May 2016.", "The Alder Dam opened on 14 March 2016."
    )
    assert [side.value for side in found.sides] == ["2 May 2016", "14 March 2016"]


def test_sentences_of_one_origin_never_contradict_each_other() -> None:
    sentences = said("The Alder Dam has 14 gates.", "The Alder Dam has 16 gates.", origins=["agency", "agency"])
    assert find_contradictions(sentences) == []


def test_sentences_without_a_name_need_one_in_both_titles() -> None:
    pair = ("The dam is 120 metres high.", "The dam is 90 metres high.")
    assert len(find_contradictions(said(*pair, titles=["Alder Dam", "History of the Alder Dam"]))) == 1
    assert find_contradictions(said(*pair, titles=["Alder Dam", "Birch Dam"])) == []


def test_the_topic_is_made_of_words_of_the_first_sentence() -> None:
    (found,) = conflicts("The Alder Dam has 14 steel gates.", "The Alder Dam has 16 steel gates.")
    assert found.topic == "Alder Dam steel gates"
    assert (found.kind, found.description) == ("number", "14 steel gates · 16 steel gates")


@pytest.mark.parametrize(
    ("text", "unit", "amount"),
    [
        ("it weighs 1,200 tonnes", "mass", 1.2e6),
        ("it cost $4.5 million", "money:dollar", 4.5e6),
        ("it cost £5m", "money:pound", 5e6),
        ("it is 5 m long", "length", 5.0),
        ("it was 4.2 per cent", "percent", 4.2),
        ("it has twenty-five rooms", "count:room", 25.0),
        ("it covers 11.5 square kilometres", "area", 11.5e6),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, unit: str, amount: float) -> None:
    (value,) = values(text)
    assert (value.unit, value.amount) == (unit, pytest.approx(amount))


@pytest.mark.parametrize("text", ["turbine 7 failed", "see section 3.2", "at 04:10", "version 3.11.2", "CEC-2016-31"])
def test_names_with_numbers_are_no_values(text: str) -> None:
    assert values(text) == []


@given(st.integers(min_value=1, max_value=10**9))
def test_a_value_agrees_with_itself_however_it_is_grouped(number: int) -> None:
    plain, grouped = values(f"it has {number} rooms"), values(f"it has {number:,} rooms")
    assert agree(plain[0], grouped[0])


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert find_contradictions(said(text, text)) == []


def test_the_dam_is_the_one_that_the_title_names() -> None:
    pair = ("The dam is 120 metres high.", "The Alder Dam is 135 metres high.")
    assert len(find_contradictions(said(*pair, titles=["Alder Dam", "A day out"]))) == 1
    assert find_contradictions(said(*pair, titles=["Birch Dam", "A day out"])) == []
    assert find_contradictions(said(*pair, titles=["Alder Dam and Birch Dam", "A day out"])) == []
