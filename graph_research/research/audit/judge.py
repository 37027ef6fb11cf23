"""The verdict on one sentence, from passages of documents: by code, with the score and the rules of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_research.research.audit.model import AuditedSentence, AuditQuote, Verdict
from graph_research.research.audit.statements import ReportSentence
from graph_research.research.evidence.citations import AROUND_CHARS
from graph_research.research.evidence.claim_support import CitedPassage, Status, judge
from graph_research.research.models.draft import StatementKind
from graph_research.text.document import Document
from graph_research.text.language.words import language_of, words
from graph_research.text.locators import make_locator
from graph_research.text.relevance.answerability import FOUND, features
from graph_research.text.relevance.conflicts import find_contradictions
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank
from graph_research.text.relevance.statements import SourceSentence
from graph_research.text.relevance.support import SUPPORTED, UNSUPPORTED, Support, support
from graph_research.text.relevance.units import Unit

_COMPARED = 12
"""Passages that a sentence is compared with."""
_SHOWN = 3
"""Passages of a sentence that a verifier model is shown."""
_ABOUT_THE_SAME = 0.6
"""The share of a sentence's words, by weight, in a passage that tells against it by a denial, an opposite or order."""
_SAID = 0.85
"""So much of a sentence's weight a passage that supports it holds: "made of chocolate" beside true words is .76."""
_IN_ORDER = 0.65
"""So many of the words that a sentence shares with a passage that supports it follow each other alike: "the farm costs
132, the lagoon 74" has all words of "the lagoon costs 132, the farm 74"."""
_NAMED = 5
_OTHER_ORDER = "words do not decide it: the passage has them in another order"
_CLAIM = "the sentence"
_OTHERWISE = ("denied", "opposed", "order")


@dataclass(frozen=True, kw_only=True)
class LibraryDocument:
    """A document of the library with what names it."""

    source_id: str
    title: str
    path: str
    document: Document


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """A passage beside the sentence."""

    quote: AuditQuote
    is_supporting: bool
    is_against: bool
    is_related: bool
    problem: str


def judged(
    n: int,
    sentence: ReportSentence,
    documents: Sequence[LibraryDocument],
    cited: Sequence[LibraryDocument],
    unfollowed: Sequence[str],
) -> AuditedSentence:
    """The verdict on a sentence. The documents that it cites are asked first: what they say counts before the rest."""
    plain = AuditedSentence(
        n=n,
        text=sentence.text,
        verdict=Verdict.NOT_CHECKABLE,
        citations=list(sentence.marks),
        unfollowed=list(unfollowed),
    )
    if not sentence.is_checkable:
        return plain
    compared = [*_compared(sentence.text, cited, is_cited=True)]
    if not any(row.is_supporting for row in compared):
        names = {row.source_id for row in cited}
        others = [row for row in documents if row.source_id not in names]
        compared += _compared(sentence.text, others, is_cited=False)
    supporting = [row for row in compared if row.is_supporting]
    against = [row for row in compared if row.is_against]
    related = [row for row in compared if row.is_related]
    best = max(supporting or against or related or compared, key=lambda row: row.quote.score, default=None)
    if best is None:
        return plain.model_copy(update={"verdict": Verdict.NOT_FOUND, "reason": "nothing in the library is near it"})
    verdict = Verdict.SUPPORTED if supporting else Verdict.CONTRADICTED if against else Verdict.NOT_FOUND
    if verdict is Verdict.NOT_FOUND and related and _is_answered(sentence.text, [*cited, *documents]):
        verdict = Verdict.UNCLEAR
    return plain.model_copy(
        update={
            "verdict": verdict,
            "score": best.quote.score,
            "reason": "" if supporting else best.problem,
            "quote": best.quote,
            "against": against[0].quote if supporting and against else None,
            "passages": [row.quote for row in sorted(compared, key=lambda row: -row.quote.score)[:_SHOWN]],
        }
    )


def _compared(text: str, documents: Sequence[LibraryDocument], *, is_cited: bool) -> list[_Compared]:
    if not documents:
        return []
    by_id = {row.source_id: row for row in documents}
    pool = Pool({name: row.document for name, row in by_id.items()})
    ranked = rank(pool, parse(text))[:_COMPARED]
    units = [(by_id[item.source], item.unit) for item in ranked]
    return [_beside(text, owner, unit, is_cited=is_cited) for owner, unit in units]


def _beside(text: str, owner: LibraryDocument, unit: Unit, *, is_cited: bool) -> _Compared:
    whole = owner.document.text
    around = whole[max(0, unit.start - AROUND_CHARS) : unit.end + AROUND_CHARS]
    passage = CitedPassage(number=1, quote=unit.text, valid=True, surroundings=around, title=owner.title)
    judgement = judge(text, StatementKind.FACT, [passage])
    found = support(text, [unit.text, owner.title])
    quote = AuditQuote(
        source_id=owner.source_id,
        title=owner.title,
        path=owner.path,
        locator=make_locator(owner.document, unit.start, unit.end),
        quote=unit.text,
        score=round(found.score, 2),
        cited=is_cited,
    )
    says_all = found.score >= SUPPORTED and found.features["coverage"] >= _SAID
    is_supporting = judgement.status is Status.CITED and says_all and _in_order(text, unit.text) >= _IN_ORDER
    return _Compared(
        quote=quote,
        is_supporting=is_supporting,
        is_against=not is_supporting and (_excludes(text, owner, unit) or _says_otherwise(found.features)),
        is_related=found.score >= UNSUPPORTED,
        problem=judgement.problem or _undecided(found),
    )


def _is_answered(text: str, documents: Sequence[LibraryDocument]) -> bool:
    """Whether the documents have as much of the sentence in one place as texts have that answer a question."""
    pool = Pool({row.source_id: row.document for row in documents})
    return features(pool, parse(text)).score >= FOUND


def _in_order(text: str, passage: str) -> float:
    """The longest run of words that both have in the same order, with others between them, as a share of those that
    both have."""
    language = language_of(f"{text}\n{passage}")
    ours, theirs = ([word.term for word in words(each, language) if word.weight > 0.0] for each in (text, passage))
    shared = [term for term in dict.fromkeys(ours) if term in set(theirs)]
    longest = [0] * (len(theirs) + 1)
    for term in shared:
        before = longest
        longest = [0]
        for place, other in enumerate(theirs):
            longest.append(before[place] + 1 if term == other else max(before[place + 1], longest[place]))
    return longest[-1] / len(shared) if shared else 1.0


def _undecided(found: Support) -> str:
    """Why words do not decide: what the passage has not, or that it says the same words in another order."""
    lacking = [word for _, word in found.lacks][:_NAMED]
    return f"words do not decide it: the passage has no {', '.join(lacking)}" if lacking else _OTHER_ORDER


def _excludes(text: str, owner: LibraryDocument, unit: Unit) -> bool:
    """Whether the passage gives another number or date for the same thing, or differs in a denial or a name."""
    stated = SourceSentence(source_id=_CLAIM, text=text, start=0, end=len(text))
    passage = SourceSentence(
        source_id=owner.source_id,
        text=unit.text,
        start=unit.start,
        end=unit.end,
        title=owner.title,
        heading=unit.heading,
        cells=owner.document.columns_at(unit.start),
    )
    return bool(find_contradictions([stated, passage]))


def _says_otherwise(features: Mapping[str, float]) -> bool:
    return features["coverage"] >= _ABOUT_THE_SAME and any(features[name] >= _ABOUT_THE_SAME for name in _OTHERWISE)
