"""A claim is supported where its words, names and figures stand in the quotes and nothing is turned round."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.text.relevance.support import COEFFICIENTS, SUPPORTED, UNSUPPORTED, Lack, support

DAM = [
    "The Severn dam was opened in 1968 by Ines Calloway.",
    "Its 24 turbines lowered the price of power in Bristol.",
    "Most of the fish pass through them unharmed.",
]


@pytest.mark.parametrize(
    "claim",
    [
        *DAM,
        "In 1968, Ines Calloway opened the Severn dam.",
        "The price of power in Bristol was lowered by 24 turbines.",
        "The dam, opened in 1968, has twenty-four turbines.",
    ],
)
def test_a_claim_in_the_words_of_its_quotes_is_supported_in_any_order(claim: str) -> None:
    assert support(claim, DAM).score >= SUPPORTED


@pytest.mark.parametrize(
    ("claim", "lack", "written"),
    [
        ("Its 27 turbines lowered the price of power in Bristol.", Lack.NUMBER, "27"),
        ("The Severn dam was opened in 1958 by Ines Calloway.", Lack.NUMBER, "1958"),
        ("The Severn dam was opened in May 1968 by Ines Calloway.", Lack.DATE, "May 1968"),
        ("The Severn dam was not opened in 1968 by Ines Calloway.", Lack.NEGATION, "not"),
        ("Its 24 turbines raised the price of power in Bristol.", Lack.OPPOSITE, "raised"),
        ("None of the fish pass through them unharmed.", Lack.NEGATION, "None"),
    ],
)
def test_an_error_is_not_supported_and_is_named(claim: str, lack: Lack, written: str) -> None:
    found = support(claim, DAM)
    assert found.score < SUPPORTED
    assert (lack, written) in found.lacks


QUAY = [
    "The quay of Tarn was built in 1886 by Ann Field.",
    "It was widened in 1931, when 40 cranes were bought.",
    "The harbour office has 12 clerks.",
]


@pytest.mark.parametrize(
    ("claim", "written"),
    [
        ("The quay of Tarn was built in 1931 by Ann Field.", "1931"),
        ("The harbour office has 40 clerks.", "40"),
    ],
)
def test_a_figure_that_the_quotes_give_something_else_is_not_supported(claim: str, written: str) -> None:
    found = support(claim, QUAY)
    assert found.score < SUPPORTED
    assert (Lack.ORDER, written) in found.lacks


@pytest.mark.parametrize("claim", ["The quay was widened in 1931.", "The quay, widened in 1931, got 40 cranes."])
def test_a_figure_that_stands_with_its_words_is_supported(claim: str) -> None:
    assert support(claim, QUAY).score >= SUPPORTED


def test_the_date_of_a_page_belongs_to_nothing_else_in_it() -> None:
    page = [
        "29 April 2014 / 11:04",
        "The league has today confirmed Mara Field as head of Team Alder for the 2015 games.",
    ]
    assert Lack.ORDER not in {
        lack for lack, _ in support("Mara Field became head of Team Alder on 29 April 2014.", page).lacks
    }
    named = ["The hall was sold on 29 April 2014.", page[1]]
    assert Lack.ORDER in {
        lack for lack, _ in support("Mara Field became head of Team Alder on 29 April 2014.", named).lacks
    }


@pytest.mark.parametrize(
    ("claim", "true", "lack"),
    [
        ("Ines Calloway was opened in 1968 by the Severn dam.", DAM[0], Lack.ORDER),
        ("All of the fish pass through them unharmed.", DAM[2], Lack.QUANTIFIER),
        ("Its 24 turbines lowered the price of power in Gloucester.", DAM[1], Lack.NAME),
    ],
)
def test_what_changes_few_words_lowers_the_score(claim: str, true: str, lack: Lack) -> None:
    found = support(claim, DAM)
    assert found.score < support(true, DAM).score - 0.1
    assert lack in {lack for lack, _ in found.lacks}


@pytest.mark.parametrize(
    ("claim", "quote", "written"),
    [
        ("Alder has 5 gates and Birch has 7 gates.", "Alder has 7 gates and Birch has 5 gates.", "5"),
        (
            "The lagoon costs 132 euros, the farm 74 euros.",
            "The farm costs 132 euros, the lagoon 74 euros.",
            "132 euros",
        ),
        (
            "Efficiency reaches 91 percent on the flood and 78 percent on the ebb.",
            "Efficiency reaches 91 percent on the ebb and 78 percent on the flood, as the blades are made for the ebb.",
            "78 percent",
        ),
        (
            "In 2018 the output was 417 GWh and in 2019 it was 412 GWh.",
            "In 2018 the output was 412 GWh, and in 2019 it was 417 GWh.",
            "2018",
        ),
        (
            "Die Lagune hat 5 Tore, während der Hafen 7 Tore hat.",
            "Die Lagune hat 7 Tore und der Hafen hat 5 Tore.",
            "5",
        ),
        (
            "The first gives 10 MW, the second 20 MW, the third 30 MW.",
            "The first gives 10 MW, the second 30 MW, the third 20 MW.",
            "20 MW",
        ),
    ],
)
def test_values_that_changed_places_are_not_supported(claim: str, quote: str, written: str) -> None:
    found = support(claim, [quote])
    assert (Lack.ORDER, written) in found.lacks
    assert found.score < UNSUPPORTED


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("Birch has seven, and Alder has 5 gates.", "Alder has 5 gates, while Birch has seven."),
        ("Alder and Birch have 5 and 7 gates.", "Alder has 5 gates and Birch has 7 gates."),
        ("Alder has 5 gates and Birch has 7 gates.", "Alder and Birch have 5 and 7 gates."),
        (
            "Revenue rose from 5 million to 7 million euros and staff fell from 120 to 90.",
            "Staff fell from 120 to 90, and revenue rose from 5 million to 7 million euros.",
        ),
    ],
)
def test_values_that_stand_with_the_same_things_in_another_order_are_supported(claim: str, quote: str) -> None:
    assert support(claim, [quote]).score >= SUPPORTED


def test_a_claim_about_something_else_is_not_even_partly_supported() -> None:
    assert support("Hosepipes may be used in the evening.", DAM).score < UNSUPPORTED


def test_another_voice_is_not_another_order() -> None:
    assert support("The capital of Norland is Vessaly.", ["Vessaly, Norland's capital, has a port."]).score >= SUPPORTED
    quote = ["Contoso acquired Northwind last spring."]
    assert support("Northwind was acquired by Contoso.", quote).score >= SUPPORTED
    swapped = support("Northwind acquired Contoso last spring.", quote)
    assert (Lack.ORDER, "acquired") in swapped.lacks
    assert swapped.score < SUPPORTED


def test_a_quote_that_denies_does_not_support_the_claim_that_affirms() -> None:
    found = support("The drug lowers blood pressure.", ["The drug does not lower blood pressure."])
    assert (Lack.NEGATION, "not") in found.lacks
    assert found.score < SUPPORTED


@pytest.mark.parametrize(
    ("claim", "wrong", "quote"),
    [
        ("Die Glocke stammt von 1388.", "Die Glocke stammt von 1398.", "Die älteste Glocke stammt aus dem Jahr 1388."),
        ("Die Glocke wird geläutet.", "Die Glocke wird nicht geläutet.", "Die Glocke wird jeden Abend geläutet."),
        ("La bomba pertenece a Vessaly.", "La bomba pertenece a Corley.", "La bomba nueva pertenece a Vessaly."),
        ("共同浴場は二つある。", "共同浴場は三つある。", "この村に共同浴場は二つある。"),
    ],
)
def test_other_languages_are_compared_by_words_names_and_numbers(claim: str, wrong: str, quote: str) -> None:
    assert support(wrong, [quote]).score < support(claim, [quote]).score
    assert support(claim, [quote]).score >= SUPPORTED


def test_every_feature_has_a_coefficient() -> None:
    assert {*support("It stands.", DAM).features, "constant"} == set(COEFFICIENTS)


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=3))
@settings(deadline=None)
def test_any_text_has_a_score(claim: str, quotes: list[str]) -> None:
    assert 0.0 <= support(claim, quotes).score <= 1.0


@pytest.mark.parametrize(
    "claim",
    [
        " ".join(f"Zq{letter}x{number}" for letter in "abcdefgh" for number in range(300)),
        f"Version 1.5.{'9' * 5_000} costs {'9' * 500} euros.",
        " ".join(f"Name{number} met" for number in range(2_000)),
    ],
    ids=["names", "digits", "reversed"],
)
def test_long_texts_have_a_score_too(claim: str) -> None:
    assert 0.0 <= support(claim, DAM).score <= 1.0
    assert support(claim, [" ".join(reversed(claim.split()))]).score <= 1.0
