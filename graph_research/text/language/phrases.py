"""Noun phrases without a tagger: the runs of content words between function words, verbs and punctuation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from graph_research.text.language.lexicon import FUNCTION_WORDS, GENERIC_NOUNS, VERBS, word_set
from graph_research.text.language.stems import stem

_TOKEN = re.compile(r"[^\W\d_][\w.]*(?:['’\-][^\W\d_]+)*|[^\s\w]|\d\S*")
_NOUN_TOO = word_set(
    "cost costs impact impacts work works use support supply rise fall change changes increase start "
    "stop end play run result results need needs growth influence look mean rule rules cut cuts rest cause "
    "causes deal open result operation"
)
_COUNTS = word_set(
    "one two three four five six seven eight nine ten eleven twelve dozen hundred thousand million billion"
)
_COMPARED = re.compile(r"\b(?:\w+er|worse|more \w+|less \w+) than\b")
_VERB_AT_END = word_set("work works use run runs look start starts stop stops mean rule rules deal play open")
_LONGEST = 4


def noun_phrases(text: str) -> list[tuple[str, ...]]:
    """The phrases in order, as they are written, each of one to four words.

    A word that can be verb or noun (`cost`, `work`) counts as a noun, but begins a phrase of its own after a name.
    """
    found: list[tuple[str, ...]] = []
    run: list[str] = []
    for token in [*_TOKEN.findall(_COMPARED.sub(" than", text)), "."]:
        word = token.strip(".").removesuffix("'s").removesuffix("’s")
        lowered = word.lower()
        ambiguous = lowered in _NOUN_TOO
        breaks = (
            lowered in _COUNTS
            or not word
            or not word[0].isalpha()
            or lowered in FUNCTION_WORDS
            or (lowered in VERBS and not ambiguous)
        )
        after_name = ambiguous and any(other[0].isupper() for other in run)
        if breaks or after_name or (run and len(lowered) > 4 and lowered.endswith("ed") and word.islower()):
            _close(run, found)
            run = []
        if not breaks and len(word) > 1:
            run.append(word)
    return found


def name_runs(text: str) -> list[tuple[str, ...]]:
    """The noun phrases that hold a name: a capital, a camel hump or a dot or underscore inside."""
    runs = []
    opening = next(iter(_TOKEN.findall(text)), "")
    for phrase in noun_phrases(text):
        named = [word for word in phrase if word != opening and re.search(r"[A-Z]|\w[._]\w", word)]
        if named:
            runs.append(phrase)
    return runs


def common_phrases(texts: Iterable[str], *, least: int = 2) -> list[tuple[tuple[str, ...], int]]:
    """Phrases of two or three words with the number of texts each stands in, most frequent first.

    Inflected forms count together; the form that was seen first is given.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    written: dict[tuple[str, ...], tuple[str, ...]] = {}
    for text in texts:
        here: dict[tuple[str, ...], tuple[str, ...]] = {}
        for phrase in noun_phrases(text):
            for run in _runs(phrase):
                here.setdefault(phrase_stems(run), run)
        for key, run in here.items():
            counts[key] += 1
            written.setdefault(key, run)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], -len(item[0]), item[0]))
    return [(written[key], count) for key, count in ranked if count >= least]


def phrase_stems(phrase: Iterable[str]) -> tuple[str, ...]:
    """The stems of a phrase's words in order."""
    return tuple(stem(word) for word in phrase)


def _close(run: list[str], found: list[tuple[str, ...]]) -> None:
    if len(run) > 1 and run[-1].lower() in _VERB_AT_END:
        run = run[:-1]
    if run and not all(word.lower() in GENERIC_NOUNS for word in run):
        found.append(tuple(run[-_LONGEST:]) if not run[0][0].isupper() else tuple(run[:_LONGEST]))


def _runs(phrase: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Every run of two or three words in a phrase."""
    sizes = [size for size in (3, 2) if size <= len(phrase)]
    return [phrase[start : start + size] for size in sizes for start in range(len(phrase) - size + 1)]
