"""The verdict on one sentence, from passages of documents: by code, with the score and the rules of reports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import PurePath

from graph_research.research.audit.model import AuditedSentence, AuditQuote, Verdict
from graph_research.research.audit.statements import ReportSentence
from graph_research.research.evidence.citations import AROUND_CHARS
from graph_research.research.evidence.cited import CitedPlace
from graph_research.research.evidence.claim_support import CitedPassage, Status, judge
from graph_research.research.models.draft import StatementKind
from graph_research.text.document import Document
from graph_research.text.language.quantities import Value, agree, figures, values
from graph_research.text.language.tables import any_of
from graph_research.text.language.words import held_weight, language_of, terms, words
from graph_research.text.locators import make_locator
from graph_research.text.places import place_of
from graph_research.text.relevance.answerability import FOUND, features
from graph_research.text.relevance.conflicts import contrary_value
from graph_research.text.relevance.exchange import Clause, clauses
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank
from graph_research.text.relevance.statements import SourceSentence, row_text
from graph_research.text.relevance.support import SUPPORTED, UNSUPPORTED, Lack, Support, support
from graph_research.text.relevance.units import Unit

_COMPARED = 12
"""Passages that a sentence is compared with."""
_SHOWN = 3
"""Passages of a sentence that a verifier model is shown."""
_ABOUT_THE_SAME, _SIDE_BY_SIDE, _OTHERWISE_SAID = 0.75, 0.5, 0.6
"""The share of a sentence's words, by weight, and of its pairs of neighbours, in a passage that tells against it by a
denial, an opposite or order of so much. Of 404 sentences of two reports that a model had verified 10 are then
called contradicted, of the same with one denial, comparison or quantifier turned round 52 of 374; with .6 of the words
alone it was 63 and 150."""
_SAID = 0.85
"""So much of a sentence's weight a passage that supports it holds: "made of chocolate" beside true words is .76."""
_IN_ORDER = 0.6
"""So many of the steps from word to word that a sentence shares with a passage that supports it are taken in the same
order: "the farm costs 132, the lagoon 74" has all words of "the lagoon costs 132, the farm 74"."""
_MOST_QUOTED_CHARS = 400
_NAMED = 5
_LIGHT = 0.5
"""A word of this weight or less, such as "takes" or "came", is not named as what a passage lacks."""
_FEWEST_WORDS = 2
"""Words of a sentence that a passage has with another value, and no others: fewer leave open what it is about."""
_WORD = re.compile(r"[^\W_]+")
_ATTRIBUTED = rf"(?<!\w)(?:{any_of('attributions')})\s+(?:\w{{1,3}}\s+)?"
"""What stands before whom a sentence has something from, with an article."""
_OTHER_ORDER = "words do not decide it: the passage has them in another order"
_IN_SEVERAL = "words do not decide it: they stand in several passages, and no one of these says it"
_OTHER_ROW = "words do not decide it: the row is that of"
_OTHERWISE = ("denied", "opposed", "order")


@dataclass(frozen=True, kw_only=True)
class LibraryDocument:
    """A document of the library with what names it: a sentence may name its authors, whom its passages do not. Its
    publisher may also be one of those that it is about. `superseded` is the path of a newer version, empty where the
    document says itself that it is superseded."""

    source_id: str
    title: str
    path: str
    document: Document
    superseded: str | None = None
    authors: Sequence[str] = ()
    publisher: str = ""

    def names_in(self, text: str) -> str:
        """The title with the authors, and the publisher where the sentence says that it is according to them."""
        is_attributed = self.publisher and re.search(_ATTRIBUTED + re.escape(self.publisher), text, re.IGNORECASE)
        publisher = self.publisher if is_attributed else ""
        return ". ".join(filter(None, (self.title, ", ".join(self.authors), publisher)))

    @property
    def caption(self) -> str:
        """What tells of which thing the tables of an untitled document are: the words of its file's name."""
        return " ".join(_WORD.findall(PurePath(self.path).stem)) if self.title == self.path else ""


@dataclass(frozen=True, kw_only=True)
class _Compared:
    """A passage beside the sentence."""

    quote: AuditQuote
    owner: LibraryDocument
    is_supporting: bool
    is_against: bool
    is_related: bool
    problem: str
    lacks: str


def judged(
    n: int,
    sentence: ReportSentence,
    documents: Sequence[LibraryDocument],
    cited: Sequence[LibraryDocument],
    unfollowed: Sequence[str],
) -> AuditedSentence:
    """The verdict on a sentence. The documents that it cites are asked first: what they say counts before the rest, and
    current versions before old ones."""
    plain = AuditedSentence(
        n=n,
        text=sentence.text,
        verdict=Verdict.NOT_CHECKABLE,
        citations=list(sentence.marks),
        unfollowed=list(unfollowed),
    )
    if not sentence.is_checkable:
        return plain
    compared = [*_compared(sentence, cited, is_cited=True)]
    if not any(row.is_supporting and row.owner.superseded is None for row in compared):
        names = {row.source_id for row in cited}
        others = [row for row in documents if row.source_id not in names]
        compared += _compared(sentence, others, is_cited=False)
    supporting = _current([row for row in compared if row.is_supporting])
    against = _current([row for row in compared if row.is_against])
    related = [row for row in compared if row.is_related]
    shown = {(row.quote.source_id, row.quote.locator): row.quote for row in sorted(compared, key=_score, reverse=True)}
    best = max(supporting or against or related or compared, key=_score, default=None)
    if best is None:
        return plain.model_copy(update={"verdict": Verdict.NOT_FOUND, "reason": "nothing in the library is near it"})
    verdict = Verdict.SUPPORTED if supporting else Verdict.CONTRADICTED if against else Verdict.NOT_FOUND
    if verdict is Verdict.NOT_FOUND and related and _is_answered(sentence.claim, [*cited, *documents]):
        verdict = Verdict.UNCLEAR
    reason = best.lacks if verdict is Verdict.NOT_FOUND else best.problem
    return plain.model_copy(
        update={
            "verdict": verdict,
            "score": best.quote.score,
            "reason": _old_version(best.owner) if supporting else reason,
            "quote": best.quote,
            "against": against[0].quote if supporting and against and not _is_older(against[0], best) else None,
            "passages": list(shown.values())[:_SHOWN],
        }
    )


def _current(rows: list[_Compared]) -> list[_Compared]:
    """The passages of current versions, those of old ones where there are no others."""
    return [row for row in rows if row.owner.superseded is None] or rows


def _is_older(one: _Compared, other: _Compared) -> bool:
    """Whether one passage is of an old version and the other is not: that they differ is no contradiction."""
    return one.owner.superseded is not None and other.owner.superseded is None


def _score(row: _Compared) -> float:
    return row.quote.score


def _old_version(owner: LibraryDocument) -> str:
    """That only an old version says it; empty for a current one."""
    if owner.superseded is None:
        return ""
    by = f"{owner.superseded} supersedes" if owner.superseded else "says of itself that it is superseded"
    return f"only an old version says it, which {by}"


def _compared(sentence: ReportSentence, documents: Sequence[LibraryDocument], *, is_cited: bool) -> list[_Compared]:
    if not documents:
        return []
    by_id = {row.source_id: row for row in documents}
    pool = Pool({name: row.document for name, row in by_id.items()})
    ranked = rank(pool, parse(sentence.claim))[:_COMPARED]
    units = [(by_id[item.source], item.unit) for item in ranked]
    compared = [_beside(sentence, owner, [unit], is_cited=is_cited) for owner, unit in units]
    together = [unit for owner, unit in units if owner is units[0][0]][:_SHOWN] if units else []
    if len(together) > 1 and not any(row.is_supporting or row.is_against for row in compared):
        compared.append(_beside(sentence, units[0][0], together, is_cited=is_cited))
    return compared


def _beside(sentence: ReportSentence, owner: LibraryDocument, units: Sequence[Unit], *, is_cited: bool) -> _Compared:
    """The sentence beside a passage, or beside several of a document at once, which are quoted with what stands between
    them where that is little, else the first of them."""
    unit, text = units[0], sentence.claim
    whole = owner.document.text
    start, end = min(each.start for each in units), max(each.end for each in units)
    if end - start > max(_MOST_QUOTED_CHARS, unit.end - unit.start):
        start, end = unit.start, unit.end
    said, names = [_said(owner, each) for each in units], owner.names_in(text)
    passages = [
        CitedPassage(
            number=1,
            quote=quote,
            valid=True,
            surroundings=whole[max(0, each.start - AROUND_CHARS) : each.end + AROUND_CHARS],
            title=names,
        )
        for each, quote in zip(units, said, strict=True)
    ]
    judgement = judge(text, StatementKind.FACT, passages)
    found = support(text, [*said, names])
    in_file = place_of(owner.document.places, start, end)
    quote = AuditQuote(
        source_id=owner.source_id,
        title=owner.title,
        path=owner.path,
        locator=make_locator(owner.document, start, end),
        quote=whole[start:end],
        score=round(found.score, 2),
        cited=is_cited,
        place=CitedPlace(**in_file._asdict()) if in_file else None,
    )
    says_all = found.score >= SUPPORTED and found.features["coverage"] >= _SAID
    in_order = _stands_in_parts(text, said) if len(said) > 1 else _in_order(text, said[0]) >= _IN_ORDER
    label = "" if len(units) > 1 else _other_label(text, owner, unit)
    is_supporting = judgement.status is Status.CITED and says_all and in_order and not label
    return _Compared(
        quote=quote,
        owner=owner,
        is_supporting=is_supporting,
        is_against=not is_supporting and (_excludes(sentence, owner, unit) or _says_otherwise(found.features)),
        is_related=found.score >= UNSUPPORTED,
        problem=judgement.problem or _undecided(found, language_of(text), label, len(units)),
        lacks=_lacks(text, said),
    )


def _said(owner: LibraryDocument, unit: Unit) -> str:
    row = row_text(owner.document.columns_at(unit.start))
    return f"{row} {owner.caption}".rstrip() if row else unit.text


def _other_label(text: str, owner: LibraryDocument, unit: Unit) -> str:
    """The label of the row that a passage is, where the sentence has no word of it; else empty."""
    label = "".join(cell for _, cell in owner.document.columns_at(unit.start)[:1])
    language = language_of(f"{text}\n{unit.text}")
    named = _content(label, language)
    return label if named and not named & _content(text, language) else ""


def _stands_in_parts(text: str, passages: Sequence[str]) -> bool:
    """Whether a sentence of several clauses has each of them, with its values, in one of the passages."""
    language = language_of("\n".join((text, *passages)))
    parts = clauses(text, words(text, language), language)
    held = [({word.term for word in words(passage, language)}, figures(passage)) for passage in passages]
    return len(parts) > 1 and all(any(_holds(part, *one) for one in held) for part in parts)


def _holds(clause: Clause, terms: set[str], stated: Sequence[Value]) -> bool:
    said = held_weight(clause.terms, terms)
    given = all(any(agree(own, value) for value in stated) for own in clause.values)
    return given and said >= _SAID * sum(clause.terms.values())


def _is_answered(text: str, documents: Sequence[LibraryDocument]) -> bool:
    """Whether the documents have as much of the sentence in one place as texts have that answer a question."""
    pool = Pool({row.source_id: row.document for row in documents})
    return features(pool, parse(text)).score >= FOUND


def _in_order(text: str, passage: str) -> float:
    """How far the words that both texts have stand in the same order, 0 to 1: the longest common subsequence of these
    words, counted in steps from word to word, as a share of the steps through all of them."""
    language = language_of(f"{text}\n{passage}")
    ours, theirs = (terms(each, language) for each in (text, passage))
    shared = [term for term in dict.fromkeys(ours) if term in set(theirs)]
    longest = [0] * (len(theirs) + 1)
    for term in shared:
        before = longest
        longest = [0]
        for place, other in enumerate(theirs):
            longest.append(before[place] + 1 if term == other else max(before[place + 1], longest[place]))
    return (longest[-1] - 1) / (len(shared) - 1) if len(shared) > 1 else 1.0


def _undecided(found: Support, language: str, other_label: str, passages: int) -> str:
    """Why words do not decide: that the row is another one, which words the passage has not, or that these stand in
    several passages or in another order."""
    if other_label:
        return f"{_OTHER_ROW} {other_label}"
    telling = [word for lack, word in found.lacks if lack is not Lack.WORD or _is_telling(word, language)]
    if telling:
        return f"words do not decide it: the passage has no {', '.join(telling[:_NAMED])}"
    return _IN_SEVERAL if passages > 1 else _OTHER_ORDER


def _is_telling(word: str, language: str) -> bool:
    return any(each.weight > _LIGHT for each in words(word, language))


def _lacks(text: str, passages: Sequence[str]) -> str:
    """Which words of the sentence the passages do not have, the rarest first."""
    language = language_of("\n".join((text, *passages)))
    held = {word.term for passage in passages for word in words(passage, language)}
    lacking = [word for word in words(text, language) if word.weight > 0.0 and word.term not in held]
    written = {text[word.start : word.end]: word for word in lacking}
    rarest = sorted(written, key=lambda name: -written[name].weight)[:_NAMED]
    named = ", ".join(sorted(rarest, key=lambda name: written[name].start))
    return f"the nearest passage has no {named}" if named else _OTHER_ORDER


def _excludes(sentence: ReportSentence, owner: LibraryDocument, unit: Unit) -> bool:
    """Whether the passage gives another number or date for the same thing, or differs in a denial or a name."""
    passage = replace(SourceSentence.at(owner.source_id, owner.document, unit.start, unit.end), title=owner.title)
    if pairs := _same_columns(sentence.cells, passage.cells):
        return _is_another_value(pairs, label=sentence.cells[0][1])
    language = language_of(f"{sentence.text}\n{unit.text}")
    labels = [_content(cells[0][1], language) for cells in (sentence.cells, passage.cells) if cells]
    if len(labels) > 1 and not labels[0] & labels[1]:
        return False
    claim = replace(SourceSentence.of_text(sentence.text), cells=sentence.cells)
    return contrary_value(claim, passage) is not None or _has_its_words_alone(sentence.text, passage, language)


def _has_its_words_alone(text: str, passage: SourceSentence, language: str) -> bool:
    """Whether a passage has the words of a sentence and no others, with another value; of a row its label and the
    header of the cell."""
    said = _content(text, language)
    if len(said) < _FEWEST_WORDS:
        return False
    if not passage.cells:
        return said == _content(passage.text, language) and _is_other(text, passage.text)
    label, *cells = passage.cells
    named = _content(label[1], language)
    headers = [cell for header, cell in cells if said - named and said - named <= _content(header, language)]
    return bool(named) and named <= said and any(_is_other(text, cell) for cell in headers)


def _content(text: str, language: str) -> set[str]:
    """The terms of a text that say something, without its values."""
    given = values(text)
    return {
        word.term
        for word in words(text, language)
        if word.weight > 0.0 and not any(one.start <= word.start < one.end for one in given)
    }


def _is_other(text: str, passage: str) -> bool:
    """Whether two texts give values of the same units, and none that agree; of limits on one side the limits."""
    ours, theirs = ([_limit(one) for one in values(each)] for each in (text, passage))
    is_alike = bool(ours) and {one.unit for one in ours} == {one.unit for one in theirs}
    return is_alike and not any(agree(one, other) for one in ours for other in theirs)


def _limit(value: Value) -> Value:
    """The end of what is open on the other side: of "up to 120 metres" 120 metres."""
    if value.high == inf:
        return replace(value, high=value.low)
    return replace(value, low=value.high) if value.low == 0.0 else value


def _same_columns(ours: Sequence[tuple[str, str]], theirs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """The cells under the same headers of two rows with one label."""
    if not (ours and theirs) or ours[0][1].casefold() != theirs[0][1].casefold():
        return []
    named = {header.casefold(): cell for header, cell in theirs[1:]}
    return [(cell, named[header.casefold()]) for header, cell in ours[1:] if header.casefold() in named]


def _is_another_value(pairs: Sequence[tuple[str, str]], *, label: str) -> bool:
    """Whether cells of two rows give other values and all else agrees. A label that is a value itself, such as a year,
    stands in many tables: then something has to agree."""
    alike = [one.casefold() == other.casefold() or _agree(one, other) for one, other in pairs]
    others = [pair for pair, same in zip(pairs, alike, strict=True) if not same]
    have_values = all(figures(one) and figures(other) for one, other in others)
    return bool(others) and have_values and (any(alike) or _has_words(label))


def _has_words(label: str) -> bool:
    found = figures(label)
    return any(sign.isalpha() and not any(one.start <= n < one.end for one in found) for n, sign in enumerate(label))


def _agree(one: str, other: str) -> bool:
    """Whether two cells give the same values."""
    return bool(figures(one)) and all(any(agree(a, b) for b in figures(other)) for a in figures(one))


def _says_otherwise(features: Mapping[str, float]) -> bool:
    is_same = features["coverage"] >= _ABOUT_THE_SAME and features["nearness"] >= _SIDE_BY_SIDE
    return is_same and any(features[name] >= _OTHERWISE_SAID for name in _OTHERWISE)
