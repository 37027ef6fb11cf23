"""Numbers and dates in sentences as intervals."""

from datetime import date
from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.language.quantities import agree, period, values


@pytest.mark.parametrize(
    ("text", "unit", "low", "high"),
    [
        ("it weighs 1,200 tonnes", "mass", 1.2e6, 1.2e6),
        ("it cost $4.5 million", "money:dollar", 4.5e6, 4.5e6),
        ("it cost £5m", "money:pound", 5e6, 5e6),
        ("it has 55 dB(A)", "level", 55.0, 55.0),
        ("噪声为46分贝", "level", 46.0, 46.0),
        ("it cost €1340", "money:euro", 1340, 1340),
        ("it cost 1340 million euros", "money:euro", 1.34e9, 1.34e9),
        ("it is 5 m long", "length", 5.0, 5.0),
        ("it was 4.2 per cent", "percent", 4.2, 4.2),
        ("it has twenty-five rooms", "", 25.0, 25.0),
        ("it covers 11.5 square kilometres", "area", 11.5e6, 11.5e6),
        ("it takes 35 to 40 minutes", "time", 2100.0, 2400.0),
        ("between 10 and 12 km", "length", 1e4, 1.2e4),
        ("it cost 1.2 to 1.4 million euros", "money:euro", 1.2e6, 1.4e6),
        ("staff fell from 81 to 74", "", 74.0, 81.0),
        ("more than 100 boats", "", 100.0, inf),
        ("up to 100 boats", "", 0.0, 100.0),
        ("no more than 100 boats", "", 0.0, 100.0),
        ("100 boats", "", 100.0, 100.0),
        ("boats of 16 m and over", "length", 16.0, inf),
        ("boats of 16 m and over 300 people", "length", 16.0, 16.0),
        ("children of 3 or less", "", 0.0, 3.0),
        ("boats with 10+ seats", "", 10.0, inf),
        ("ab 51 Personen", "", 51.0, inf),
        ("bis 10 Personen", "", 0.0, 10.0),
        ("ab 3 bis 10 kg", "mass", 3.0, 10.0),
        ("über 1 bis 3 kg", "mass", 1.0, 3.0),
        ("3,5 bis 7,5 t", "mass", 3.5e3, 7.5e3),
        ("60 kg und mehr", "mass", 60.0, inf),
        ("die Glocke wiegt 4,2 Tonnen", "mass", 4.2e3, 4.2e3),
        ("温度は68度です", "celsius", 68.0, 68.0),
    ],
)
def test_a_number_is_read_with_its_unit_and_bounds(text: str, unit: str, low: float, high: float) -> None:
    value = values(text)[0]
    assert (value.unit, value.low, value.high) == (unit, pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("1972 bis 1998", (1972, 1, 1), (1998, 12, 31)),
        ("1921–1933", (1921, 1, 1), (1933, 12, 31)),
        ("March 2019 to 5 April 2020", (2019, 3, 1), (2020, 4, 5)),
        ("since 2019", (2019, 1, 1), None),
        ("bis 1933", None, (1933, 12, 31)),
    ],
)
def test_a_period_goes_from_its_first_date_to_its_last(
    text: str, first: tuple[int, int, int] | None, last: tuple[int, int, int] | None
) -> None:
    found = period(text)
    assert found is not None
    assert found.low == (date(*first).toordinal() if first else -inf)
    assert found.high == (date(*last).toordinal() if last else inf)


def test_what_has_no_date_or_a_list_of_them_is_no_period() -> None:
    assert period("3 to 10 kg") is None
    assert period("2019, 2020 and 2021") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 March 1742", "the 3rd of March, 1742"),
        ("14 March 2016", "March 2016"),
        ("2016-03-14", "2016"),
        ("am 14. März 2016", "14 March 2016"),
        ("2016年3月14日", "March 14, 2016"),
        ("el 14 de marzo de 2016", "14 March 2016"),
        ("about 1835", "1838"),
        ("8.7 km", "8,699 m"),
        ("about 150 boats", "155 boats"),
        ("0.24 GW", "240 MW"),
        ("14.03.2016", "14 March 2016"),
        ("27.400 Besucher", "27,400 visitors"),
        ("1.200.000 Euro", "1.2 million euros"),
        ("21,6 mln zł", "21.600.000 złotych"),
        ("5 has", "5"),
    ],
)
def test_two_ways_to_write_a_value_agree(one: str, other: str) -> None:
    (a,), (b,) = values(one), values(other)
    assert agree(a, b)


@pytest.mark.parametrize(
    ("one", "other"),
    [("3 March 1742", "13 March 1742"), ("1835", "1838"), ("62 km", "68 km"), ("4 boats", "5 boats"), ("5 m", "5 kg")],
)
def test_values_that_exclude_each_other_do_not_agree(one: str, other: str) -> None:
    (a,), (b,) = values(one), values(other)
    assert not agree(a, b)


@pytest.mark.parametrize(
    "text",
    [
        "the Zone 5 ticket",
        "at 04:10",
        "version 3.11.2",
        "CEC-2016-31",
        "COVID-19",
        "[14]",
        "No. 3",
        "on 9 May",
        "See Section 43.18 and Table 9.2.",
        "told on p. 141, pp. 12-14",
        "siehe Kapitel 5 und Abbildung 12",
        "before PostgreSQL 8.4 and in version 15",
        "2.2. Kinds of transactions",
        "(2) What is stored",
        "a 64-bit identifier",
        "one of the functions returns zero",
    ],
)
def test_names_notes_and_times_are_no_values(text: str) -> None:
    assert values(text) == []


@given(st.integers(min_value=1, max_value=10**9).filter(lambda number: not 1000 <= number <= 2099))
def test_a_value_agrees_with_itself_however_it_is_grouped(number: int) -> None:
    plain, grouped = values(f"it has {number} rooms"), values(f"it has {number:,} rooms")
    assert agree(plain[0], grouped[0])


IN_WORDS = Path(__file__).with_name("units_in_words.txt").read_text(encoding="utf-8").splitlines()
"""A sign, and what stands for it in English, German, Spanish, French, Italian, Dutch, Polish, Portuguese, Japanese and
Chinese."""


@pytest.mark.parametrize("row", IN_WORDS)
def test_a_unit_in_words_is_its_sign_in_each_language(row: str) -> None:
    sign, *words = row.split("|")
    written = [f"50 {sign}" if sign not in "€$" else f"{sign}50", "60 kg" if sign == "g" else "60 g"]
    (same,), (other,) = map(values, written)
    for word in words:
        unspaced = word in words[-2:]
        sentence = f"{word}50。" if word == "百分之" else f"50{word}です。" if unspaced else f"there are 50 {word}."
        (value,) = values(sentence)
        assert agree(value, same), word
        assert not agree(value, other), word


@pytest.mark.parametrize("text", ["En 2010 s'ouvre le pont.", "Nel 2010 l'azienda chiude.", "En 2010 m’a plu le pont."])
def test_a_word_that_is_cut_at_an_apostrophe_is_no_unit(text: str) -> None:
    (value,) = values(text)
    assert value.kind == "date"
