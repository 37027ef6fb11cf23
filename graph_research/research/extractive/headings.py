"""A heading for a section: a phrase that stands in its sources and that most of its sentences share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graph_research.research.extractive.claim_groups import Group
from graph_research.research.extractive.question import Question
from graph_research.research.extractive.ranking import Pool
from graph_research.text.language.lexicon import FUNCTION_WORDS, GENERIC_NOUNS, MEASURES, word_set
from graph_research.text.language.phrases import common_phrases, noun_phrases
from graph_research.text.language.stems import content_stems, words

__all__ = ["choose_heading"]

_SAYS_NOTHING = word_set(
    "introduction summary abstract conclusion conclusions background discussion overview results methods contents "
    "purpose notes note recommendations examples example description general miscellaneous other preface details "
    "what's new changelog faq questions answers findings of fact history conclusion part about"
)
_MOST_WORDS = 6


@dataclass(frozen=True)
class _Candidate:
    text: str
    stems: frozenset[str]
    prior: float


def choose_heading(groups: Sequence[Group], question: Question, pool: Pool, used: Sequence[str]) -> str:
    """The candidate whose stems most of the sentences hold, rarer stems first; never one of `used` again."""
    taken = [content_stems(heading) for heading in used]
    joint = _joint(groups, question)
    if joint and not any(content_stems(joint) & stems for stems in taken):
        return joint
    scored = [
        (-_fit(candidate, groups, question, pool), len(candidate.text), candidate.text)
        for candidate in _candidates(groups, question)
        if _is_free(candidate, taken, question)
    ]
    return _sentence_case(min(scored)[2]) if scored else _last_resort(groups, used)


def _joint(groups: Sequence[Group], question: Question) -> str:
    """ "Capacity and turbines": two facets of the question that share a section, each as the sources write it."""
    counts = Counter(group.facet for group in groups if group.facet >= 0)
    shared = sorted(facet for facet, count in counts.items() if count > 1)
    if len(shared) != 2 or sum(counts[facet] for facet in shared) < len(groups):
        return ""
    known = _text_of(groups)
    found = [_as_written(question.facets[facet].phrase, known) for facet in shared]
    return _sentence_case(" and ".join(found)) if all(found) else ""


def _as_written(phrase: str, known: str) -> str:
    """The phrase, or its singular or plural, where the sources have it."""
    for form in (phrase, phrase.removesuffix("s"), f"{phrase}s"):
        if re.search(rf"\b{re.escape(form.casefold())}\b", known):
            return form
    return ""


def _text_of(groups: Sequence[Group]) -> str:
    return " ".join(f"{group.lead.text} {group.lead.heading}" for group in groups).casefold()


def _is_free(candidate: _Candidate, taken: Sequence[frozenset[str]], question: Question) -> bool:
    """Whether the phrase names something, and something that no heading above names."""
    if not candidate.stems or all(word.lower() in MEASURES for word in words(candidate.text)):
        return False
    subject = question.subject.stems if question.subject else frozenset()
    own = candidate.stems - subject
    return not any(own <= other - subject or other - subject <= own for other in taken)


def _fit(candidate: _Candidate, groups: Sequence[Group], question: Question, pool: Pool) -> float:
    subject = question.subject.stems if question.subject else frozenset()
    own = candidate.stems - subject
    share = sum(_share(group, own or candidate.stems) for group in groups) / len(groups)
    rarity = sum(pool.idf(base) for base in sorted(own)) / max(1, len(own))
    return round(share * (0.6 + min(rarity, 5.0) / 10.0) + candidate.prior - (0.25 if not own else 0.0), 6)


def _share(group: Group, stems: frozenset[str]) -> float:
    own = len(stems & group.lead.stem_set) / len(stems)
    return max(own, 0.7 * len(stems & group.lead.frame_stems) / len(stems))


def _candidates(groups: Sequence[Group], question: Question) -> Iterator[_Candidate]:
    texts = [group.lead.text for group in groups]
    known = _text_of(groups)
    for facet in question.facets:
        written = _as_written(facet.phrase, known)
        if written:
            yield _Candidate(written, facet.stems, 0.30)
    for group in groups:
        heading = group.lead.heading
        if _speaks(heading) and heading.casefold() != question.text.casefold():
            yield _Candidate(heading, content_stems(heading), 0.10)
    for phrase, _ in common_phrases(texts):
        joined = " ".join(phrase)
        yield _Candidate(joined, content_stems(joined), 0.15)
    best = max(groups, key=lambda group: group.score)
    for phrase in noun_phrases(best.lead.text):
        if len(phrase) > 1:
            joined = " ".join(phrase)
            yield _Candidate(joined, content_stems(joined), 0.0)


def _speaks(heading: str) -> bool:
    """A heading of one to six words that says what it is about, not where in a document it stands."""
    own = [word.lower() for word in words(heading)]
    telling = [word for word in own if word not in FUNCTION_WORDS | GENERIC_NOUNS | _SAYS_NOTHING and word[0].isalpha()]
    return (
        bool(telling)
        and len(own) <= _MOST_WORDS
        and not heading.endswith("?")
        and not any(c in heading for c in "|{}<>")
    )


def _sentence_case(text: str) -> str:
    first, space, rest = text.partition(" ")
    return (first[:1].upper() + first[1:] if first.islower() else first) + space + rest


def _last_resort(groups: Sequence[Group], used: Sequence[str]) -> str:
    """A title of a source that is not used yet, else the opening words of the best sentence."""
    for group in sorted(groups, key=lambda g: (-g.score, g.lead.source_id)):
        if group.lead.title and group.lead.title not in used:
            return group.lead.title
    return " ".join(words(max(groups, key=lambda g: g.score).lead.text)[:5])
