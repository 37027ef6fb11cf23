"""A fact's figures and dates have to stand in the quotes it cites, however they are written there."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from graph_research.research.evidence.claim_support import why_unsupported
from graph_research.research.models.draft import StatementKind


@dataclass(frozen=True)
class Quote:
    quote: str
    n: int = 1
    valid: bool = True


def missing(text: str, *quotes: str) -> str:
    return why_unsupported(text, StatementKind.FACT, [Quote(quote) for quote in quotes])


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("It has 16 turbines.", "Sixteen bulb turbines turn."),
        ("It cost 1,200,000 euros.", "The price was 1.2 million euros."),
        ("It cost 1.2 million.", "The price was 1,200,000 euros."),
        ("About 5% die.", "Mortality was 5 percent."),
        ("It opened on 14 March 2019.", "Opened 2019-03-14."),
        ("It opened on 2019-03-14.", "It was opened on March 14, 2019."),
        ("It opened on 2019-03-14.", "It was opened on 14th Mar. 2019."),
        ("CO2 and PM2.5 fell.", "Pollution fell."),
        ("In May the birds come.", "The birds come in spring."),
        ("It has 21 turbines.", "Twenty-one bulb turbines turn."),
        ("It opened on 5 September 2020.", "Opened Sept. 5, 2020."),
        ("Python 3.11.2 has it.", "Since 3.11.2 it is there."),
    ],
)
def test_a_figure_may_be_written_in_another_way(text, quote):
    assert missing(text, quote) == ""


@pytest.mark.parametrize(
    ("text", "quote", "what"),
    [
        ("It has 17 turbines.", "Sixteen bulb turbines turn.", "17"),
        ("It cost 3 million.", "It cost 3 euros.", "3 million"),
        ("It cost 3 euros.", "It cost 3 million.", "3"),
        ("It opened on 14 March 2019.", "It opened on 14 April 2019.", "March"),
        ("It opened in 2019-03.", "It opened in 2019-04.", "March"),
        ("Version v3.12 has it.", "Version v3.11 has it.", "3.12"),
        ("It has 20 turbines.", "Twenty-one bulb turbines turn.", "20"),
        ("It rose by 2.5.", "It rose by 2.51.", "2.5"),
    ],
)
def test_a_figure_that_no_quote_holds_is_named(text, quote, what):
    assert missing(text, quote) == f"not in the cited quotes: {what}"


def test_figures_may_come_from_several_quotes_but_not_from_an_invalid_one():
    assert missing("4 of 16 stood still.", "Four stood still.", "There are 16.") == ""
    quotes = [Quote("Four stood still."), Quote("There are 16.", n=2, valid=False)]
    assert why_unsupported("4 of 16 stood still.", StatementKind.FACT, quotes) == "not in the cited quotes: 16"


def test_a_fact_without_figures_needs_one_valid_citation():
    assert missing("It stands.", "It stands there.") == ""
    assert missing("It stands.") == "no citation"
    invalid = [Quote("It stands there.", valid=False)]
    assert why_unsupported("It stands.", StatementKind.FACT, invalid) == "no valid citation"
