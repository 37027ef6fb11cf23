"""Whether a sentence may rest on the passages it cites, by code, and with a verifier model's verdict where one is."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from graph_research.research.evidence.computed import Computation, compute
from graph_research.research.models.draft import StatementKind, StatementVerdict, VerdictWord
from graph_research.text.language.quantities import figures, states
from graph_research.text.language.words import language_of, terms
from graph_research.text.relevance.support import DEFINITE, MISSING, SUPPORTED, UNSUPPORTED, Lack, Support, support

_LISTED = 5


class Status(StrEnum):
    """How far a sentence is proved.

    `proved`: a quote that stands in the archive. `verified`: a fact that a verifier model found supported by its
    passages. `cited`: a fact with valid passages that no model verified. `analysis`, `transition` and `limit` as their
    kinds. `unsupported`: anything that fails its checks.
    """

    PROVED = "proved"
    VERIFIED = "verified"
    CITED = "cited"
    ANALYSIS = "analysis"
    TRANSITION = "transition"
    LIMIT = "limit"
    UNSUPPORTED = "unsupported"


class CitedPassage(NamedTuple):
    """A passage that a sentence cites: its source's number, the quote, and the title and text around it."""

    number: int
    quote: str
    valid: bool
    surroundings: str = ""


class Judgement(NamedTuple):
    """The status of a sentence, how far the words of the quotes support it, 0 to 1, and why they do not."""

    status: Status
    score: float = 1.0
    problem: str = ""


def judge(
    text: str,
    kind: StatementKind,
    passages: Sequence[CitedPassage],
    *,
    question: str = "",
    computed: Sequence[str] = (),
    verdict: StatementVerdict | None = None,
) -> Judgement:
    """Judge a sentence by its passages, as its kind asks.

    A quote must be the first passage's quote, to the character. A fact and an analysis need a valid passage, and their
    numbers, dates and names must stand there; those of a transition or a limit, in the question. A fact's words need
    `support` of at least `UNSUPPORTED`, of `SUPPORTED` where a denial or an opposite tells against it; a `verdict`
    overrules that, since it reads the meaning, but no missing number.
    """
    if kind is StatementKind.QUOTE:
        problem = _why_not_the_quote(text, passages)
        return _failed(problem) if problem else Judgement(Status.PROVED)
    if kind in (StatementKind.TRANSITION, StatementKind.LIMIT):
        new = _new_figures(text, [question, *(passage.quote for passage in passages)])
        return _failed(f"states what it may not: {_listed(new)}") if new else Judgement(Status(kind.value))
    if not passages:
        return _failed("no citation" if kind is StatementKind.FACT else "names nothing that it rests on")
    valid = [passage for passage in passages if passage.valid]
    if not valid:
        return _failed("no valid citation")
    computations = [compute(expression, [passage.quote for passage in valid]) for expression in computed]
    if wrong := next((one.problem for one in computations if one.problem), ""):
        return _failed(wrong)
    if kind is StatementKind.FACT:
        return _judged_fact(text, valid, computations, verdict)
    return _judged_analysis(text, valid, computations, question)


def _judged_fact(
    text: str,
    passages: Sequence[CitedPassage],
    computations: Sequence[Computation],
    verdict: StatementVerdict | None,
) -> Judgement:
    quotes = [passage.quote for passage in passages]
    found = support(text, quotes)
    score = round(found.score, 2)
    missing = _new_figures(text, quotes, computations)
    if missing:
        return _failed(f"not in the cited quotes: {_listed(missing)}", score)
    if verdict and verdict.verdict is not VerdictWord.SUPPORTED:
        said = "partly supported" if verdict.verdict is VerdictWord.PARTLY else "not supported"
        return _failed(f"{said}, by a verifier model: {verdict.reason}" if verdict.reason else said, score)
    if verdict:
        return Judgement(Status.VERIFIED, score)
    if language_of(text) != language_of("\n".join(quotes)):  # words of two languages say nothing of each other
        return Judgement(Status.CITED, score)
    refuted = any(lack in DEFINITE for lack, _ in found.lacks)
    if found.score >= (SUPPORTED if refuted else UNSUPPORTED):
        return Judgement(Status.CITED, score)
    return _failed(_why_not_supported(found), score)


def _judged_analysis(
    text: str, passages: Sequence[CitedPassage], computations: Sequence[Computation], question: str
) -> Judgement:
    known = [question, *(passage.quote for passage in passages)]
    new = _new_figures(text, known, computations)
    names = _new_names(text, [*known, *(passage.surroundings for passage in passages)])
    problem = f"not in the cited quotes: {_listed([*new, *names])}" if new or names else ""
    return _failed(problem) if problem else Judgement(Status.ANALYSIS)


def _new_figures(text: str, known: Sequence[str], computations: Sequence[Computation] = ()) -> list[str]:
    """The numbers and dates of a text, as written, that no known text states and no computation gives."""
    stated = [figure for other in known for figure in figures(other)]
    return [
        text[figure.start : figure.end].strip()
        for figure in figures(text)
        if not any(states(other, figure) for other in stated)
        and not any(computation.gives(figure, text) for computation in computations)
    ]


def _new_names(text: str, known: Sequence[str]) -> list[str]:
    """The names of a text that none of the known texts has."""
    language = language_of(text)
    missing = support(text, known, language).lacks
    held = {term for other in known for term in terms(other, language)}
    return [written for lack, written in missing if lack is Lack.NAME and not held.issuperset(terms(written, language))]


def _failed(problem: str, score: float = 0.0) -> Judgement:
    return Judgement(Status.UNSUPPORTED, score, problem)


def _why_not_the_quote(text: str, passages: Sequence[CitedPassage]) -> str:
    if not passages:
        return "no citation"
    if not passages[0].valid:
        return f"citation [{passages[0].number}] is not valid"
    return "" if passages[0].quote == text else f"not word for word what [{passages[0].number}] quotes"


def _why_not_supported(found: Support) -> str:
    missing = [written for lack, written in found.lacks if lack in MISSING]
    otherwise = [written for lack, written in found.lacks if lack not in MISSING]
    reasons = {"not in the cited quotes": missing, "otherwise in the cited quotes": otherwise}
    said = [f"{what}: {_listed(listed)}" for what, listed in reasons.items() if listed]
    return "; ".join(["not supported by its words", *said])


def _listed(written: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(written[:_LISTED]))
