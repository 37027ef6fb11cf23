"""Whether a statement may rest on the quotes it cites, by code and without a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from graph_research.research.models.draft import StatementKind
from graph_research.text.relevance.support import DEFINITE, MISSING, SUPPORTED, UNSUPPORTED, Support, support

_LISTED = 5


class CitedQuote(Protocol):
    """What a statement leans on."""

    @property
    def n(self) -> int: ...
    @property
    def quote(self) -> str: ...
    @property
    def valid(self) -> bool: ...


class Judgement(NamedTuple):
    """How far the quotes support a statement, 0 to 1, and why they do not; empty where they do."""

    score: float
    problem: str = ""


def judge(text: str, kind: StatementKind, citations: Sequence[CitedQuote]) -> Judgement:
    """Judge a statement by its citations.

    A quote must be its first citation's quote, to the character. A fact needs one valid citation, and `support` by the
    validly cited quotes of at least `UNSUPPORTED`; of at least `SUPPORTED` where a number, a date, a denial or an
    opposite tells against it.
    """
    if not citations:
        return Judgement(0.0, "no citation")
    if kind is StatementKind.QUOTE:
        problem = _why_not_the_quote(text, citations[0])
        return Judgement(0.0 if problem else 1.0, problem)
    valid = [citation.quote for citation in citations if citation.valid]
    if not valid:
        return Judgement(0.0, "no valid citation")
    found = support(text, valid)
    refuted = any(lack in DEFINITE for lack, _ in found.lacks)
    holds = found.score >= (SUPPORTED if refuted else UNSUPPORTED)
    return Judgement(round(found.score, 2), "" if holds else _why_not_supported(found))


def _why_not_the_quote(text: str, first: CitedQuote) -> str:
    if not first.valid:
        return f"citation [{first.n}] is not valid"
    return "" if first.quote == text else f"not word for word what [{first.n}] quotes"


def _why_not_supported(found: Support) -> str:
    missing = [written for lack, written in found.lacks if lack in MISSING]
    otherwise = [written for lack, written in found.lacks if lack not in MISSING]
    reasons = {"not in the cited quotes": missing, "otherwise in the cited quotes": otherwise}
    said = [f"{what}: {', '.join(dict.fromkeys(listed[:_LISTED]))}" for what, listed in reasons.items() if listed]
    return "; ".join(["not supported by its words", *said])
