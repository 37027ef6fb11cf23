"""A declared computation is evaluated over the numbers of the quotes, with their scales and units."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.research.evidence.computed import compute
from graph_research.text.language.quantities import figures

QUOTES = [
    "The audit puts the cost at 1.61 billion euros.",
    "The forecast was 1.34 billion euros.",
    "It runs four cycles of 15 minutes.",
    "wal_writer_delay is 200 ms and the limit three times that.",
    "Between 1998 and 2024, 36.83% failed.",
    "It covers 420 km in 3.5 hours at 0.30 euros per kWh and used 3,500 kWh.",
    "It takes 100 requests per second for 5 minutes.",
    "27.400 Besucher kamen, 1.200 davon wieder.",
    "There are 30 pages here and 18 there.",
    "It handles about 400K to 500K HTTP requests per day, 15-25% of which are dynamic.",
    "The share rose from 12 to 20 percent.",
    "Default: max_body 536870912, max_wait 7200",
]


def gives(expression: str, text: str) -> bool:
    computation = compute(expression, QUOTES)
    assert computation.problem == ""
    (figure,) = figures(text)
    return computation.gives(figure)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("1.61 - 1.34", "270 million euros"),
        ("1.61 - 1.34", "0.27 billion euros"),
        ("1.61 - 1.34", "0.27"),
        ("1.61 - 1.34", "2.7亿欧元"),
        ("1,61 − 1,34", "270 Millionen Euro"),
        ("1.61 billion euros - 1.34 billion euros = 0.27", "270 million euros"),
        ("(1.61 - 1.34) / 1.34 * 100", "about 20 percent"),
        ("(1.61 - 1.34) / 1.34", "20%"),
        ("1.61 / 1.34", "1.2"),
        ("4 * 15", "1 hour"),
        ("4 × 15", "60 minutes"),
        ("3 * 200", "0.6 s"),
        ("3 * 200", "600 ms"),
        ("3 * 200 / 1000", "0.6 s"),
        ("4 * 15 / 60", "1 hour"),
        ("2024 - 1998", "26 years"),
        ("1998 + 2024 - 1998", "2024"),
        ("100 - 36.83", "63.17 percent"),
        ("1 - 0.3683", "63 percent"),
        ("420 / 3.5", "120 km/h"),
        ("420 / 3.5", "2 km per minute"),
        ("0.30 * 3500", "1,050 euros"),
        ("100 * 5", "30,000"),
        ("27400 - 1200", "26,200"),
        ("27.400 - 1.200", "26.200"),
        ("20 - 12", "8 percentage points"),
        ("(12 + 20 + 36.83) / 3", "22.9 percent"),
        ("500000 * 0.25 / 86400", "1.4 pages a second"),
        ("500K * 0.25 / 86400", "1.4 pages a second"),
        ("500K / 24", "20,833 an hour"),
        ("100 * 3600", "360,000 per hour"),
        ("1000 / 100", "10 ms"),
        ("1 / 100", "0.01 s"),
        ("86400 / 500000", "0.17 s"),
        ("536870912 / (1024 * 1024)", "512 MiB"),
        ("536870912 / 1024 / 1024", "512 MiB"),
        ("7200 / 3600", "2 hours"),
        ("500000 * 0.25 / 24", "5,200 an hour"),
    ],
)
def test_a_result_may_be_written_in_any_scale_and_unit_of_its_kind(expression: str, text: str) -> None:
    assert gives(expression, text)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("1.61 - 1.34", "0.27 million euros"),
        ("1.61 - 1.34", "0.27 euros"),
        ("1.61 - 1.34", "0.27 billion dollars"),
        ("1.61 - 1.34", "280 million euros"),
        ("(1.61 - 1.34) / 1.34", "25%"),
        ("4 * 15", "2 hours"),
        ("3 * 200", "0.6 ms"),
        ("420 / 3.5", "120 km per minute"),
        ("0.30 * 3500", "1,050 dollars"),
        ("500000 * 0.25 / 86400", "1.4 pages a minute"),
        ("500000 / 1000", "500,000"),
        ("1000 / 100", "10 s"),
        ("60 / 100", "0.6 s"),
        ("500000 * 0.25 / 24", "5,100 an hour"),
        ("536870912 / (1024 * 1024)", "513 MiB"),
        ("7200 / 3600", "2 minutes"),
    ],
)
def test_another_number_scale_or_unit_is_not_the_result(expression: str, text: str) -> None:
    assert not gives(expression, text)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("1.71 - 1.34", "1.71 is not in the cited quotes"),
        ("1.61 + 18", "numbers of different units, or a constant, are added or subtracted"),
        ("1.61 + 10", "numbers of different units, or a constant, are added or subtracted"),
        ("1.61 + 36.83", "numbers of different units, or a constant, are added or subtracted"),
        ("60 * 60", "has no number of the cited quotes"),
        ("9**9**9", "only numbers, + - * / and parentheses are computed"),
        ("__import__('os').system('id')", "is not arithmetic over numbers"),
        ("(" * 150, "is not arithmetic over numbers"),
        ("1.61 / (30 - 30)", "is not arithmetic over numbers"),
        ("cost - forecast", "is not arithmetic over numbers"),
        ("", "is not arithmetic over numbers"),
    ],
)
def test_what_cannot_be_computed_says_why(expression: str, problem: str) -> None:
    assert compute(expression, QUOTES).problem == f"{expression}: {problem}"


def test_a_long_computation_is_refused() -> None:
    assert compute("1.61 + " * 100 + "1.34", QUOTES).problem == "a computation is too long"


@given(st.text(alphabet="0123456789.,+-*/() =×−%€abc'[]", max_size=60))
@settings(deadline=None)
def test_no_expression_raises(expression: str) -> None:
    computation = compute(expression, QUOTES)
    for figure in figures("1.61 billion euros, 20%, 3 May 2019 and 7"):
        computation.gives(figure)
