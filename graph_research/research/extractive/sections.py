"""Sections of a report: which quotations stand together, under which heading, in which order."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph_research.research.extractive.analysis import Analysis, Group
from graph_research.text.language.words import language_of, read_sentence, terms, unspaced_runs, weights_of, words
from graph_research.text.wording import shortened

_FEWEST_SECTIONS = 3
_LARGEST, _LARGEST_OF_MANY = 5, 10
_MANY = 30
_LEAST_SIMILARITY = 0.12
_SAME_PART = 1.0
_MOST_HEADING_WORDS = 6
_MOST_HEADING_CHARS = 80
_UNSPACED_PHRASE = (3, 8)  # characters
_CHARS_OF_AN_UNSPACED_WORD = 2
_TELLING = 0.5
"""What a word of a heading weighs more than."""

Vector = Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Section:
    """Groups in reading order: part of the question, tier, date, then place in the document. `part` is the number of
    the part that most of them belong to."""

    heading: str
    groups: tuple[Group, ...]
    part: int


@dataclass(frozen=True, kw_only=True)
class Outline:
    """Sections of two and more groups by the parts of the question, and what did not fit, best first."""

    sections: tuple[Section, ...]
    rest: tuple[Group, ...]


def outline(analysis: Analysis, words_left: int) -> Outline:
    """Sections by likeness of the best quotations, as many words of them as asked for. A quotation that stands alone
    goes to the rest, unless that leaves too few sections."""
    page = _on_page(analysis.groups, words_left)
    subject = frozenset(terms(analysis.query.subject, analysis.query.language))
    together = _tables_together(page)
    vectors = [_vector(groups[0], subject) for groups in together]
    largest = _LARGEST if len(page) <= _MANY else _LARGEST_OF_MANY
    clusters = cluster(vectors, largest=largest, least_similarity=_LEAST_SIMILARITY)
    alike = [[group for index in members for group in together[index]] for members in clusters]
    several = [groups for groups in alike if len(groups) > 1]
    alone = [groups for groups in alike if len(groups) == 1]
    kept = several + alone[: max(0, _FEWEST_SECTIONS - len(several))]
    sections: list[Section] = []
    for groups in sorted(kept, key=_place):
        heading = _heading(groups, analysis, subject, [section.heading for section in sections])
        ordered = tuple(sorted(groups, key=lambda group: _order(group, analysis)))
        sections.append(Section(heading=heading, groups=ordered, part=_place(groups)[0]))
    on_page = {group for section in sections for group in section.groups}
    return Outline(sections=tuple(sections), rest=tuple(group for group in analysis.groups if group not in on_page))


def _on_page(groups: Sequence[Group], words_left: int) -> list[Group]:
    """The first groups whose quotations come to so many words; a script without spaces counts by characters."""
    page: list[Group] = []
    for group in groups:
        words_left -= _words_in(group.lead.text)
        if words_left < 0 and page:
            break
        page.append(group)
    return page


def _tables_together(page: Sequence[Group]) -> list[list[Group]]:
    """The groups, each by itself, but the rows of one table as one."""
    found: dict[tuple[str, int, int], list[Group]] = {}
    for group in page:
        lead = group.lead
        found.setdefault((lead.source_id, lead.table, lead.start if lead.table < 0 else lead.table), []).append(group)
    return list(found.values())


def _words_in(text: str) -> int:
    return len(text.split()) + sum(map(len, unspaced_runs(text))) // _CHARS_OF_AN_UNSPACED_WORD


def _place(groups: Sequence[Group]) -> tuple[int, float]:
    """Sections follow the parts of the question; of one part the one with the best quotation is first."""
    counts = Counter(group.lead.part for group in groups)
    return min(counts, key=lambda part: (-counts[part], part)), -max(group.lead.score for group in groups)


def _order(group: Group, analysis: Analysis) -> tuple[int, int, bool, str, str, int]:
    facts = analysis.sources[group.lead.source_id]
    newest_first = "".join(chr(0x10FFFF - ord(char)) for char in facts.date) or "\U0010ffff"
    old = facts.newer is not None
    return group.lead.part, facts.tier_rank, old, newest_first, group.lead.source_id, group.lead.start


def _heading(groups: Sequence[Group], analysis: Analysis, subject: frozenset[str], used: Sequence[str]) -> str:
    """The phrase of the sources that says most of what the quotations share, and repeats no other heading."""
    taken = [frozenset(terms(heading)) - subject for heading in used]
    asked = {term for group in groups for term in analysis.parts[group.lead.part].query.own_terms} - subject
    held = [frozenset(_terms(group)) for group in groups]
    scored = []
    for phrase in dict.fromkeys(_candidates(groups)):
        own = weights_of(words(phrase, language_of(groups[0].lead.text)))
        fresh = {term: weight for term, weight in own.items() if term not in subject}
        if fresh and not any(fresh.keys() <= other or (other and other <= fresh.keys()) for other in taken):
            share = sum(
                weight * (1.0 + (term in asked)) * sum(term in terms_held for terms_held in held)
                for term, weight in fresh.items()
            )
            scored.append((-round(share / len(held) / (1 + len(own)), 6), len(phrase), phrase))
    chosen = min(scored)[2] if scored else groups[0].lead.title or groups[0].lead.text
    chosen = shortened(" ".join(chosen.split()[:_MOST_HEADING_WORDS]), _MOST_HEADING_CHARS)
    return chosen[:1].upper() + chosen[1:] if chosen.partition(" ")[0].islower() else chosen


def _candidates(groups: Sequence[Group]) -> Iterator[str]:
    for group in groups:
        if 0 < len(group.lead.heading.split()) <= _MOST_HEADING_WORDS and not re.search(
            r"[?|{}<>:]", group.lead.heading
        ):
            yield group.lead.heading
    texts = [group.lead.text for group in groups]
    yield from shared_phrases(texts)
    yield from _shared_runs(texts)
    stems = Counter(term for group in groups for term in set(_terms(group)))
    for text in texts:
        for word in read_sentence(text)[1]:
            if stems[word.term] > 1 and word.weight > _TELLING and text[word.start].isalpha():
                yield text[word.start : word.end]


def shared_phrases(texts: Sequence[str]) -> list[str]:
    """Runs of two or three neighbouring words that say something, of those in several texts; most first.

    Inflected forms count together; the form that was seen first is given.
    """
    written: dict[tuple[str, ...], str] = {}
    counts: dict[tuple[str, ...], int] = {}
    for text in texts:
        here = dict(_runs(text))
        for stems, phrase in here.items():
            counts[stems] = counts.get(stems, 0) + 1
            written.setdefault(stems, phrase)
    shared = [stems for stems, count in counts.items() if count > 1]
    return [written[stems] for stems in sorted(shared, key=lambda stems: (-counts[stems], -len(written[stems])))]


def _runs(text: str) -> Iterable[tuple[tuple[str, ...], str]]:
    found = read_sentence(text)[1]
    for size in (3, 2):
        for at in range(len(found) - size + 1):
            run = found[at : at + size]
            phrase = text[run[0].start : run[-1].end]
            telling = all(word.weight > _TELLING and word.term[0].isalpha() for word in run)
            if telling and re.fullmatch(rf"[\w'’-]+( [\w'’-]+){{{size - 1}}}", phrase):
                yield tuple(word.term for word in run), phrase


def _shared_runs(texts: Sequence[str]) -> list[str]:
    """Of texts without spaces between words, the runs of characters that several hold, none a part of a longer one."""
    fewest, most = _UNSPACED_PHRASE
    counts = Counter(
        phrase
        for text in texts
        for phrase in dict.fromkeys(
            run[at : at + size]
            for run in unspaced_runs(text)
            for size in range(fewest, most + 1)
            for at in range(len(run) - size + 1)
        )
    )
    shared = [phrase for phrase, count in counts.items() if count > 1]
    return [phrase for phrase in shared if not any(phrase != other and phrase in other for other in shared)]


def _terms(group: Group) -> list[str]:
    return [word.term for word in read_sentence(group.lead.text)[1] if word.weight > 0.0]


def _vector(group: Group, subject: frozenset[str]) -> dict[str, float]:
    """The quotation's words by weight without the subject's, and its part of the question as a further dimension."""
    weights = {
        word.term: word.weight
        for word in words(f"{group.lead.text} {group.lead.heading}", language_of(group.lead.text))
        if word.term not in subject and not word.term[0].isdigit()
    }
    return unit({**unit(weights), f"part:{group.lead.part}": _SAME_PART})


def unit(weights: Vector) -> dict[str, float]:
    """The vector scaled to length 1; an empty or zero one stays empty."""
    length = math.sqrt(math.fsum(value * value for _, value in sorted(weights.items())))
    return {key: value / length for key, value in sorted(weights.items())} if length else {}


def cluster(vectors: Sequence[Vector], *, largest: int, least_similarity: float) -> list[list[int]]:
    """Indices of `vectors` in clusters, each in order, the clusters by their first member.

    In turn each vector joins the cluster of less than `largest` members to which its mean cosine is highest and
    reaches `least_similarity`, the earlier of equals, and else begins another.
    """
    clusters: list[list[int]] = []
    for index, vector in enumerate(vectors):
        likeness = [
            math.fsum(_cosine(vectors[member], vector) for member in members) / len(members)
            if len(members) < largest
            else -1.0
            for members in clusters
        ]
        nearest = max(likeness, default=-1.0)
        if nearest >= least_similarity:
            clusters[likeness.index(nearest)].append(index)
        else:
            clusters.append([index])
    return clusters


def _cosine(one: Vector, other: Vector) -> float:
    if len(other) < len(one):
        one, other = other, one
    return math.fsum(value * other[key] for key, value in one.items() if key in other)
