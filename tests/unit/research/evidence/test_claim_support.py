"""A statement rests on its valid citations: a quote to the character, a fact by the score of its words."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from graph_research.research.evidence.claim_support import Judgement, judge
from graph_research.research.models.draft import StatementKind


@dataclass(frozen=True)
class Quote:
    quote: str
    n: int = 1
    valid: bool = True


def judged(text: str, *quotes: str) -> Judgement:
    return judge(text, StatementKind.FACT, [Quote(quote) for quote in quotes])


def test_a_fact_in_the_words_of_its_quote_is_supported():
    score, problem = judged("The dam has sixteen turbines.", "The dam has 16 bulb turbines, and a lock.")
    assert score > 0.8
    assert problem == ""


@pytest.mark.parametrize(
    ("text", "quote", "why"),
    [
        ("The dam has 17 turbines.", "The dam has 16 turbines.", "not in the cited quotes: 17"),
        (
            "The dam opened in March 2019.",
            "The dam opened in April 2019.",
            "not in the cited quotes: March 2019",
        ),
        ("The dam did not fail.", "The dam did fail.", "otherwise in the cited quotes: not"),
        ("The pool has more fish.", "The pool has fewer fish.", "otherwise in the cited quotes: more"),
        ("Trams cross the bridge.", "Sixteen turbines turn.", "not in the cited quotes: Trams, bridge, cross"),
    ],
)
def test_a_fact_that_is_not_says_what_is_missing_or_otherwise(text, quote, why):
    assert judged(text, quote).problem == f"not supported by its words; {why}"


def test_a_fact_in_other_words_is_not_called_unsupported():
    score, problem = judged("The petition bore 31,000 names.", "Some 31,000 people signed it.")
    assert score < 0.5
    assert problem == ""


def test_a_fact_may_rest_on_several_quotes_but_not_on_an_invalid_one():
    assert judged("4 of 16 turbines stood still.", "Four turbines stood still.", "There are 16 turbines.").problem == ""
    quotes = [Quote("Four turbines stood still."), Quote("There are 16.", n=2, valid=False)]
    found = judge("4 of 16 turbines stood still.", StatementKind.FACT, quotes)
    assert found.problem.endswith("; not in the cited quotes: 16")


def test_a_fact_needs_one_valid_citation():
    assert judged("It stands.") == (0.0, "no citation")
    invalid = [Quote("It stands there.", valid=False)]
    assert judge("It stands.", StatementKind.FACT, invalid) == (0.0, "no valid citation")


def test_a_quote_is_its_first_citations_quote_to_the_character():
    quotes = [Quote("It stands there.")]
    assert judge("It stands there.", StatementKind.QUOTE, quotes) == (1.0, "")
    assert judge("It stands.", StatementKind.QUOTE, quotes) == (0.0, "not word for word what [1] quotes")
