"""Dates as servers and people write them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.text.language.dates import dates_in, iso_date, iso_from_parts


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("2024", "2024"),
        ("2024-5", "2024-05"),
        ("2024-05-07", "2024-05-07"),
        ("2024/05/07", "2024-05-07"),
        ("2024-02-31", "2024-02"),
        ("2024-05-07T08:00:00Z", "2024-05-07T08:00:00+00:00"),
        ("Tue, 11 Nov 2025 10:00:00 GMT", "2025-11-11T10:00:00+00:00"),
        ("2024-05-07 and some", "2024-05-07"),
        ("yesterday", None),
        ("", None),
        (None, None),
        (2024, None),
        ("0000-01-01", None),
    ],
)
def test_a_date_is_as_exact_as_it_was_written(written: object, iso: str | None) -> None:
    assert iso_date(written) == iso


def test_a_date_in_parts_stops_at_the_first_that_is_none() -> None:
    assert iso_from_parts("2024", "May", "7") == "2024-05-07"
    assert iso_from_parts(2024, 13, 7) == "2024"
    assert iso_from_parts(2024, "Winter") == "2024"
    assert iso_from_parts(None, 5) is None
    assert iso_from_parts(1e300, {}, []) is None


@given(st.text(max_size=40))
@settings(deadline=None)
def test_no_text_breaks_a_date(written: str) -> None:
    iso_date(written)


def test_dates_are_found_in_sentences() -> None:
    text = (
        "Opened 14 March 2019, closed Sept. 2020 for 7 out of 10, on 3/5/2021 and 4月2日, on 9 May, 30 JUN 2018Updated."
    )
    found = [(one.year, one.month, one.day) for one in dates_in(text)]
    assert found == [(2019, 3, 14), (2020, 9, 0), (2021, 5, 3), (0, 4, 2), (0, 5, 9), (2018, 6, 30)]


@pytest.mark.parametrize(
    "written",
    [
        "3. März 2016",
        "3 mars 2016",
        "3 de marzo de 2016",
        "3 marzo 2016",
        "3 de março de 2016",
        "3 maart 2016",
        "3 marca 2016 r.",
        "3-3-2016",
        "2016年3月3日",
        "3° marzo 2016",
    ],
)
def test_dates_are_found_in_ten_languages(written: str) -> None:
    (found,) = dates_in(f"– {written}")
    assert (found.year, found.month, found.day) == (2016, 3, 3)


@pytest.mark.parametrize("written", ["dass sie 5 Tage", "marca 10 goles", "lip 4 of it"])
def test_polish_months_before_a_number_are_words_of_other_languages(written: str) -> None:
    assert list(dates_in(written)) == []
