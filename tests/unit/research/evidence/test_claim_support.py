"""A statement rests on its valid citations: a quote to the character, a fact by the score of its words."""

from __future__ import annotations

import pytest

from graph_research.research.evidence.claim_support import CitedPassage, Judgement, Status, judge
from graph_research.research.models.draft import StatementKind, StatementVerdict


def passage(quote: str, *, valid: bool = True, around: str = "") -> CitedPassage:
    return CitedPassage(number=1, quote=quote, valid=valid, surroundings=around)


def judged(text: str, *quotes: str, kind: StatementKind = StatementKind.FACT, **more) -> Judgement:
    return judge(text, kind, [passage(quote) for quote in quotes], **more)


def test_a_fact_in_the_words_of_its_quote_is_supported():
    status, score, problem = judged("The dam has sixteen turbines.", "The dam has 16 bulb turbines, and a lock.")
    assert score > 0.8
    assert (status, problem) == (Status.CITED, "")


@pytest.mark.parametrize(
    ("text", "quote", "why"),
    [
        ("The dam has 17 turbines.", "The dam has 16 turbines.", "not in the cited quotes: 17"),
        ("The dam opened in March 2019.", "The dam opened in April 2019.", "not in the cited quotes: March 2019"),
        (
            "The dam did not fail.",
            "The dam did fail.",
            "not supported by its words; otherwise in the cited quotes: not",
        ),
        (
            "The pool has more fish.",
            "The pool has fewer fish.",
            "not supported by its words; otherwise in the cited quotes: more",
        ),
        (
            "Trams cross the bridge.",
            "Sixteen turbines turn.",
            "not supported by its words; not in the cited quotes: Trams, bridge, cross",
        ),
    ],
)
def test_a_fact_that_is_not_says_what_is_missing_or_otherwise(text, quote, why):
    found = judged(text, quote)
    assert (found.status, found.problem) == (Status.UNSUPPORTED, why)


def test_a_fact_in_other_words_is_not_called_unsupported():
    status, score, problem = judged("The petition bore 31,000 names.", "Some 31,000 people signed it.")
    assert score < 0.5
    assert (status, problem) == (Status.CITED, "")


def test_a_fact_may_rest_on_several_quotes_but_not_on_an_invalid_one():
    assert judged("4 of 16 turbines stood still.", "Four turbines stood still.", "There are 16 turbines.").problem == ""
    passages = [passage("Four turbines stood still."), passage("There are 16.", valid=False)]
    found = judge("4 of 16 turbines stood still.", StatementKind.FACT, passages)
    assert found.problem == "not in the cited quotes: 16"


def test_a_fact_needs_one_valid_citation():
    assert judged("It stands.") == (Status.UNSUPPORTED, 0.0, "no citation")
    invalid = [passage("It stands there.", valid=False)]
    assert judge("It stands.", StatementKind.FACT, invalid) == (Status.UNSUPPORTED, 0.0, "no valid citation")


def test_a_quote_is_its_first_citations_quote_to_the_character():
    text = "It stands there."
    assert judged(text, text, kind=StatementKind.QUOTE) == (Status.PROVED, 1.0, "")
    cut = judged("It stands.", text, kind=StatementKind.QUOTE)
    assert cut == (Status.UNSUPPORTED, 0.0, "not word for word what [1] quotes")
    invalid = [passage(text, valid=False)]
    assert judge(text, StatementKind.QUOTE, invalid).problem == "citation [1] is not valid"


@pytest.mark.parametrize(
    ("word", "status", "problem"),
    [
        ("supported", Status.VERIFIED, ""),
        ("partly", Status.UNSUPPORTED, "partly supported, by a verifier model: it says most"),
        ("not", Status.UNSUPPORTED, "not supported, by a verifier model: it says most"),
    ],
)
def test_a_verifiers_word_decides_over_the_words_of_a_fact_but_over_no_number(word, status, problem):
    verdict = StatementVerdict(id="st-0123456789", verdict=word, reason="it says most")
    found = judged("The petition bore 31,000 names.", "Some 31,000 people signed it.", verdict=verdict)
    assert (found.status, found.problem) == (status, problem)
    wrong = judged("The petition bore 32,000 names.", "Some 31,000 people signed it.", verdict=verdict)
    assert (wrong.status, wrong.problem) == (Status.UNSUPPORTED, "not in the cited quotes: 32,000")


def test_an_analysis_names_what_it_rests_on_and_brings_no_number_or_name_of_its_own():
    def problem(text: str, *quotes: str) -> str:
        return judged(text, *quotes, kind=StatementKind.ANALYSIS).problem

    quotes = ("The audit counts 1.61 billion euros.", "The company counts 1.37 billion euros.")
    found = judged("The audit's figure is the higher one.", *quotes, kind=StatementKind.ANALYSIS)
    assert found == (Status.ANALYSIS, 1.0, "")
    assert problem("That is a lot.") == "names nothing that it rests on"
    assert problem("The audit's 1.61 billion is about 18 percent more.", *quotes).endswith(": 18 percent")
    assert problem("The audit is nearer to what Brussels pays.", *quotes).endswith(": Brussels")


def test_a_number_that_a_title_gives_to_a_word_is_that_words_name() -> None:
    rests_on = [CitedPassage(number=1, quote="Run the checkpointer during recovery.", valid=True, title="Release 15")]
    problems = [
        judge(text, StatementKind.ANALYSIS, rests_on).problem
        for text in ("Recovery is faster from release 15 on.", "Recovery takes 15 minutes less.")
    ]
    assert problems[0] == ""
    assert problems[1].endswith(": 15 minutes")


def test_a_computed_number_is_checked_against_the_quotes():
    quotes = ("The audit counts 1.61 billion euros.", "The company counts 1.37 billion euros.")
    text = "They differ by 0.24 billion euros."
    right = judged(text, *quotes, kind=StatementKind.ANALYSIS, computed=["1.61 - 1.37"])
    assert (right.status, right.problem) == (Status.ANALYSIS, "")
    wrong = judged("They differ by 0.34 billion euros.", *quotes, kind=StatementKind.FACT, computed=["1.61 - 1.37"])
    assert wrong.problem == "not in the cited quotes: 0.34 billion euros"
    made_up = judged(text, *quotes, kind=StatementKind.ANALYSIS, computed=["1.61 - 1.27"])
    assert made_up.problem == "1.61 - 1.27: 1.27 is not in the cited quotes"


@pytest.mark.parametrize("kind", [StatementKind.TRANSITION, StatementKind.LIMIT])
def test_a_transition_and_a_limit_may_repeat_a_figure_of_the_question_and_bring_no_other(kind):
    text = "Of the 16 turbines, this is left."
    assert judged(text, kind=kind, question="What of the 16 turbines?") == (Status(kind), 1.0, "")
    assert judged(text, kind=kind).problem == "states what it may not: 16"


def test_a_rows_label_may_have_a_number_that_stands_around_the_quotes_of_its_row():
    near = passage("It holds each commit.", around="With level 3 the disks mirror each other. It holds each commit.")
    label = StatementKind.TRANSITION
    assert judge("Level 3", label, [near], context="1, Setting").status is Status.TRANSITION
    assert judge("Level 4", label, [near], context="1, Setting").problem == "states what it may not: 4"
    assert judge("Level 3 comes next.", label, [near]).problem == "states what it may not: 3"


@pytest.mark.parametrize(
    ("text", "own", "computed", "problem"),
    [
        ("As a rule of thumb act from 50 % of the bound on.", "50 %", [], ""),
        ("As a rule of thumb act from 50 % of the bound on.", "", [], "not in the cited quotes: 50 %"),
        ("Act from 50 % of the bound on, at the latest at 80 %.", "50 %", [], "not in the cited quotes: 80 %"),
        ("Act between 50 and 80 %.", "50 and 80 %", [], "not in the cited quotes: 50, 80 %"),
        ("It was measured in 2023.", "2023", [], "not in the cited quotes: 2023"),
        ("Of 15 writers let 5 wait.", "5", [], "not in the cited quotes: 15"),
        ("Act after 50 writes.", "5", [], "not in the cited quotes: 50"),
        ("Act after 5 writes, and again after 5 more.", "5", [], ""),
        ("If a write holds the lock for 10 ms, 100 fit into a second.", "10 ms", ["1000 / 10"], ""),
        ("If a write holds the lock for 10 ms, 200 fit.", "10 ms", ["1000 / 10"], "not in the cited quotes: 200"),
    ],
)
def test_an_analysis_may_state_one_number_that_its_writer_judges_and_what_follows_from_it(
    text: str, own: str, computed: list[str], problem: str
) -> None:
    held = "One writer at a time holds the lock of a file."
    found = judged(text, held, kind=StatementKind.ANALYSIS, judged=own, computed=computed)
    assert found.problem == problem
    assert judged(text, held, judged=own).status is Status.UNSUPPORTED


@pytest.mark.parametrize("word", ["judgement", "Ermessen", "jugement", "juicio", "判断"])
def test_a_line_of_code_whose_comment_says_in_any_language_that_its_value_is_judged(word: str) -> None:
    text = f"wait = 5000  # {word}: nach Messung"
    assert judged(text, "wait sets how long", kind=StatementKind.ANALYSIS, is_code=True).status is Status.ANALYSIS
