"""Sections of a report: which findings stand together, under which heading, in which order."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graph_research.research.extractive.claim_groups import Group
from graph_research.research.extractive.question import Question
from graph_research.research.extractive.ranking import Pool
from graph_research.research.extractive.sources import SourceFacts
from graph_research.text.language.lexicon import FUNCTION_WORDS, GENERIC_NOUNS, MEASURES, word_set
from graph_research.text.language.phrases import common_phrases, noun_phrases
from graph_research.text.language.stems import content_stems, words

_MOST_SECTIONS = 6
_FEWEST_SECTIONS = 3
_LARGEST = 5
_MOST_ON_PAGE = 22
_FILLED = 4
_FEWEST = 2
_SHARED_ON_PAGE = 18
_LEAST_SIMILARITY = 0.12
_FACET_WEIGHT = 1.0
_HEADING_WEIGHT = 0.4
_CLAUSE_WEIGHT = 0.5


@dataclass(frozen=True, kw_only=True)
class Section:
    """Groups in reading order: facet, tier, date, then place in the document."""

    heading: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """At most six sections of two to five groups, and what did not fit, best first."""

    sections: tuple[Section, ...]
    rest: tuple[Group, ...]


def outline(groups: Sequence[Group], question: Question, pool: Pool, sources: Mapping[str, SourceFacts]) -> Outline:
    """Sections by clustering. A sentence that stands alone goes to the rest, unless that leaves too few sections."""
    page, rest = _page(groups, question)
    vectors = [_vector(group, question, pool) for group in page]
    clusters = cluster(vectors, most=_MOST_SECTIONS, largest=_LARGEST, least_similarity=_LEAST_SIMILARITY)
    kept = _kept([[page[index] for index in members] for members in clusters])
    on_page = {group for members in kept for group in members}
    left = _filled_up(kept, [group for group in [*page, *rest] if group not in on_page])
    sections: list[Section] = []
    for members in sorted(kept, key=lambda inside: _reading_place(inside, question)):
        heading = choose_heading(members, question, pool, [section.heading for section in sections])
        ordered = sorted(members, key=lambda group: _reading_key(group, sources))
        sections.append(Section(heading=heading, groups=tuple(ordered)))
    return Outline(sections=tuple(sections), rest=tuple(left))


def _kept(clusters: Sequence[list[Group]]) -> list[list[Group]]:
    """The six best clusters of several members, and single ones where there are fewer than three."""
    ranked = sorted(clusters, key=lambda members: -sum(group.score for group in members))
    kept = [members for members in ranked if len(members) > 1][:_MOST_SECTIONS]
    alone = [members for members in ranked if len(members) == 1]
    return kept + alone[: max(0, _FEWEST_SECTIONS - len(kept))]


def _filled_up(kept: Sequence[list[Group]], left: Sequence[Group]) -> list[Group]:
    """Adds to short sections what speaks of a facet that is only theirs, best first; returns what is left then."""
    room = _MOST_ON_PAGE - sum(len(members) for members in kept)
    remaining = []
    for group in left:
        homes = [members for members in kept if any(group.facet == other.facet for other in members)]
        wanted = _FILLED if group.facet >= 0 else _FEWEST
        if len(homes) == 1 and len(homes[0]) < wanted and room > 0:
            homes[0].append(group)
            room -= 1
        else:
            remaining.append(group)
    return remaining


def _page(groups: Sequence[Group], question: Question) -> tuple[list[Group], list[Group]]:
    """The best groups for one page, no facet with more than its share of it, and the others."""
    share = max(2, _SHARED_ON_PAGE // max(1, len(question.facets)))
    seen: Counter[int] = Counter()
    page: list[Group] = []
    rest: list[Group] = []
    for group in groups:
        seen[group.facet] += 1
        (page if seen[group.facet] <= share and len(page) < _MOST_ON_PAGE else rest).append(group)
    return page, rest


def _vector(group: Group, question: Question, pool: Pool) -> dict[str, float]:
    """TF-IDF of the sentence without the subject, with its heading, facet and clause as further dimensions."""
    subject = question.subject.stems if question.subject else frozenset()
    counts = Counter(base for base in group.lead.stems if base not in subject and not base[0].isdigit())
    weights = {base: count * pool.idf(base) for base, count in counts.items()}
    vector = unit(weights)
    frame = unit({base: pool.idf(base) for base in group.lead.frame_stems - subject})
    for base, value in frame.items():
        vector[base] = vector.get(base, 0.0) + _HEADING_WEIGHT * value
    if group.facet >= 0:
        vector[f"facet:{group.facet}"] = _FACET_WEIGHT
        vector[f"clause:{question.facets[group.facet].clause}"] = _CLAUSE_WEIGHT
    return unit(vector)


def _reading_place(groups: list[Group], question: Question) -> tuple[int, float]:
    """Sections follow the question's facets, those of no facet come last; then the best sentence first."""
    facets = Counter(group.facet for group in groups)
    facet = min(facets, key=lambda index: (-facets[index], index))
    return (facet if facet >= 0 else len(question.facets), -max(group.score for group in groups))


def _reading_key(group: Group, sources: Mapping[str, SourceFacts]) -> tuple[int, int, str, str, int]:
    facts = sources[group.lead.source_id]
    facet = group.facet if group.facet >= 0 else 99
    newest_first = "".join(chr(0x10FFFF - ord(char)) if char else "" for char in facts.date) or "\U0010ffff"
    return (facet, facts.tier_rank, newest_first, group.lead.source_id, group.lead.start)


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


Vector = Mapping[str, float]


def unit(weights: Vector) -> dict[str, float]:
    """The vector scaled to length 1; an empty or zero one stays empty."""
    length = math.sqrt(math.fsum(value * value for _, value in sorted(weights.items())))
    return {key: value / length for key, value in sorted(weights.items())} if length else {}


def cosine(one: Vector, other: Vector) -> float:
    """The dot product of two unit vectors."""
    if len(other) < len(one):
        one, other = other, one
    return math.fsum(value * other[key] for key, value in one.items() if key in other)


def cluster(vectors: Sequence[Vector], *, most: int, largest: int, least_similarity: float) -> list[list[int]]:
    """Indices of `vectors` in clusters, each in order, the clusters by their first member.

    The two clusters with the highest mean pairwise similarity are merged again and again, none beyond `largest`
    members, until no pair reaches `least_similarity`. Then, while there are more than `most` clusters of several
    members, the most similar two of these are merged as well. Ties go to the earlier pair.
    """
    clusters = [[index] for index in range(len(vectors))]
    similarity = {(a, b): cosine(vectors[a], vectors[b]) for b in range(len(vectors)) for a in range(b)}
    while True:
        pair, value = _closest(clusters, range(len(clusters)), similarity, largest)
        if value < least_similarity:
            several = [index for index, members in enumerate(clusters) if len(members) > 1]
            if len(several) <= most:
                break
            pair, value = _closest(clusters, several, similarity, largest)
        if value < 0.0:
            break
        left, right = pair
        clusters[left] = sorted(clusters[left] + clusters[right])
        del clusters[right]
    return sorted(clusters)


def _closest(
    clusters: Sequence[list[int]], among: Sequence[int], similarity: Mapping[tuple[int, int], float], largest: int
) -> tuple[tuple[int, int], float]:
    """The pair with the highest mean similarity that may still be merged; the value is -1 where there is none."""
    best, pair = -1.0, (0, 0)
    for position, right in enumerate(among):
        for left in among[:position]:
            if len(clusters[left]) + len(clusters[right]) > largest:
                continue
            mean = _mean(clusters[left], clusters[right], similarity)
            if mean > best + 1e-12:
                best, pair = mean, (left, right)
    return pair, best


def _mean(left: list[int], right: list[int], similarity: Mapping[tuple[int, int], float]) -> float:
    return math.fsum(similarity[min(a, b), max(a, b)] for a in left for b in right) / (len(left) * len(right))
