"""Words of a text as search terms, each with its place and its weight: how rarely the language uses it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple

import snowballstemmer

from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.compounds import compound_parts
from graph_research.text.language.frequencies import COMMON_ZIPF, UNKNOWN_ZIPF, frequencies, frequency
from graph_research.text.language.questions import QUESTION_WORDS, YES_NO
from graph_research.text.language.tables import facts, listed

MOST_WEIGHT = COMMON_ZIPF - UNKNOWN_ZIPF
"""The weight of a word that wordfreq's list of some 30,000 words does not have."""

_STEMMERS = facts("stemmer")
_VERY_COMMONEST = 20  # words; a list of names has few of them
_FREQUENT = listed("frequent")
"""The commonest words of each language written in Latin letters, the very commonest first: enough to tell a sentence's
language."""
_COMMONEST = {language: frozenset(words[:_VERY_COMMONEST]) for language, words in _FREQUENT.items()}
_LETTERS = {language: frozenset(letters) for language, letters in facts("letters").items()}
"""The letters of each language that English does not write."""
_TELLING = {
    language: {*words, *QUESTION_WORDS.get(language, ()), *YES_NO.get(language, ())}
    for language, words in _FREQUENT.items()
}
_LANGUAGES_OF = {
    word: [language for language, others in _TELLING.items() if word in others]
    for telling in _TELLING.values()
    for word in sorted(telling)
    if len(word) > 1 or not word.isascii()  # letters are the names of variables and initials as often
}
_IRREGULAR = {form: forms.split()[0] for forms in facts("irregular")["en"].split(",") for form in forms.split()[1:]}
"""English forms that no rule of endings brings to their first form."""
_PARTICIPLES = {language: re.compile(pattern) for language, pattern in facts("participle").items()}
"""Participles with a prefix that no other form of the verb has, which no stemmer takes off; nouns that begin so are
written with a capital."""
_ASCII = frozenset(map(chr, range(128)))
_SAMPLE_CHARS = 3_000
_TELLING_MORE = 2
_COMPARED_WORDS = 12  # where several languages are as likely
_CHARS_OF_A_WORD = 2  # of Chinese or Japanese
_LEAST_FREQUENT = 0.08  # of a text's words are its language's commonest; lists of names and formulas have fewer

_IDEOGRAPHS = "\u3400-\u9fff\uf900-\ufaff\u3005"
_KANA = "\u3040-\u30ff\uff66-\uff9f"
_UNSPACED = deferred(f"[{_IDEOGRAPHS}{_KANA}]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]{2,}")
_WRITTEN_UNSPACED = deferred(f"[{_IDEOGRAPHS}\u30a0-\u30ff]+")
_HIRAGANA = re.compile("[\u3040-\u309f]+")
_SCRIPTS = {language: re.compile(f"[{letters}]") for language, letters in facts("alphabet").items()}
"""Alphabets, each with the language that is written in it most."""

_OF_ONE_SCRIPT = {language: re.compile(letters) for language, letters in facts("own_letters").items()}
"""What only the other languages of these alphabets write."""

_PARTICLE = {
    language: re.compile(rf" ({'|'.join(particles)})\b") for language, particles in listed("verb_particles").items()
}
"""Behind a verb, what a noun has in one word with it (`back up`: backup)."""
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")
_MOST_OF_A_VERB = 16  # characters
_OF_TWO_WORDS = 0.5
_WORD = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:_+[^\W_]+)*")
_HUMPS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_MOST_REMEMBERED = 100_000  # words
_ONE_AT_A_TIME = Lock()  # a Snowball stemmer keeps the word that it works on, and answers are made in threads

MOST_STEMMED_CHARS = 64
"""Of a longer word the rest is left out: nobody searches for more."""

UNSPACED = frozenset({"ja", "zh"})
"""Languages that put no spaces between words."""

_Form = tuple[str, str, int, int, float]
"""Of a written word: its term, what it was made of, where it starts and ends in the written word, and its share."""


class Word(NamedTuple):
    """`text[start:end]` as a search term; `weight` is 0 (as common as `the`) to 3.5 (rare or unknown). Each of the n
    parts of a word has a `share` of 1 / n of its weight, since they stand wherever the whole does, and what two words
    make together has half of its weight, since they may mean something else."""

    term: str
    weight: float
    start: int
    end: int
    share: float = 1.0


def words(text: str, language: str = "en") -> list[Word]:
    """The words of `text` in order.

    A word's term is its Snowball stem in `language` (ISO 639-1), or the word in lower case where Snowball has none;
    ligatures and full-width letters count as the letters they stand for. A word in camel case or with underscores is
    followed by its parts (`TaskGroup`: taskgroup, task, group; `lock_timeout`: lock_timeout, lock, timeout), and so is
    a compound (`Nitratgehalt`: nitratgehalt, nitrat, gehalt); the parts together count as one word. Chinese and
    Japanese, which put no spaces between words, give the pairs of neighbouring characters. A verb and its particle are
    followed by the noun that they make, where the language has it (`backed up`: back, up, backup).
    """
    found = [
        Word(term, share * _weight(term, form, language), match.start() + start, match.start() + end, share)
        for match in _WORD.finditer(text)
        for term, form, start, end, share in _forms(match[0], language)
    ]
    if language in _PARTICLE and (joined := list(_joined(text, language))):
        found = sorted([*found, *joined], key=lambda word: word.end)
    return found


def _joined(text: str, language: str) -> Iterator[Word]:
    for particle in _PARTICLE[language].finditer(text):
        verb = _LAST_WORD.search(text, max(0, particle.start() - _MOST_OF_A_VERB), particle.start())
        form = f"{stem(verb[0], language)}{particle[1]}" if verb else ""
        if verb and form in frequencies(language):
            term = stem(form, language)
            weight = _OF_TWO_WORDS * _weight(term, form, language)
            yield Word(term, weight, verb.start(), particle.end(), _OF_TWO_WORDS)


@lru_cache(maxsize=2048)
def read_sentence(text: str) -> tuple[str, Sequence[Word]]:
    """A sentence's language and its words in that; rounds, sections and comparisons read the same sentences again."""
    language = language_of(text)
    return language, tuple(words(text, language))


def terms(text: str, language: str = "en") -> list[str]:
    """The terms of `words` in order, without those of weight 0."""
    return [word.term for word in words(text, language) if word.weight > 0.0]


def weights_of(written: Iterable[Word]) -> dict[str, float]:
    """The terms of words that weigh something, with their weights."""
    return {word.term: word.weight for word in written if word.weight > 0.0}


@lru_cache(maxsize=4096)
def whole_word_weights(text: str, language: str) -> Mapping[str, float]:
    """The terms of a short text that weigh something, with their weights; a name once, without its parts beside it."""
    return MappingProxyType(weights_of(word for word in words(text, language) if word.share == 1.0))


@lru_cache(maxsize=4096)
def term_weights(text: str) -> Mapping[str, float]:
    """The terms of a short text that weigh something, with their weights, in the text's own language."""
    return MappingProxyType(weights_of(words(text, language_of(text))))


def held_weight(weights: Mapping[str, float], terms: Container[str]) -> float:
    """What those of the weighted terms weigh together that are among `terms`."""
    return sum([weight for term, weight in weights.items() if term in terms])  # called for every pair of texts


def held_share(weights: Mapping[str, float], terms: Container[str]) -> float:
    """The part of the weight of all terms that those among `terms` have, 0 to 1."""
    total = sum(weights.values())
    return held_weight(weights, terms) / total if total else 0.0


def index_text(text: str, language: str) -> str:
    """The terms of `words`, those of weight 0 too but for what a verb and its particle make, joined by spaces; faster
    than `words`, since places do not count."""
    return " ".join(map(_joined_terms(language).__getitem__, _WORD.findall(text)))


@cache
def _joined_terms(language: str) -> _JoinedTerms:
    return _JoinedTerms(language)


class _JoinedTerms(dict[str, str]):
    """The terms of written words, made at the first look: a dictionary, since a cached function takes twice as long."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, written: str) -> str:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        if _is_spaced(written):
            made = " ".join([_stem(form, self._language) for form in _folded_forms(written, self._language)])
        else:
            made = " ".join([term for term, *_ in _pairs(written)])
        self[written] = made
        return made


def weight(word: str, language: str = "en") -> float:
    """How much a word says: 6 less its Zipf frequency (log10 of occurrences in a billion words), at least 0. A stretch
    of Chinese or Japanese says what the best of its pairs says."""
    if not _is_spaced(word):
        return max((pair.weight for pair in words(word, language)), default=0.0)
    form = _folded(word, language)
    return _weight(_stem(form, language), form, language)


def stem(word: str, language: str = "en") -> str:
    """The term of one word."""
    return _stem(_folded(word, language), language)


def language_of(text: str) -> str:
    """The likeliest ISO 639-1 code of a text by its script, its commonest words and its letters; of those that are as
    likely that in which its words are the commoner ones, and `en` where nothing tells."""
    return _language_of(text[:_SAMPLE_CHARS])


@lru_cache(maxsize=4096)
def _language_of(sample: str) -> str:
    if not sample.isascii() and (language := _language_by_script(sample)):
        return language
    written = _WORD.findall(sample.lower())
    counts = language_counts(written)
    most = max(counts.values())
    if most <= len(written) * _LEAST_FREQUENT:
        return "en"
    likeliest = [language for language, count in counts.items() if count == most]
    return likeliest[0] if len(likeliest) == 1 else _where_commonest(written[:_COMPARED_WORDS], likeliest)


def _language_by_script(sample: str) -> str | None:
    """The language of a text that is not in Latin letters for the most part; Chinese and Japanese by the words, since
    one in Latin letters takes more room."""
    unspaced = sum(len(run) for run in _UNSPACED.findall(sample))
    if unspaced * 4 > len(sample) or (unspaced and unspaced >= _CHARS_OF_A_WORD * len(_LATIN.findall(sample))):
        return "ja" if re.search(f"[{_KANA}]", sample) else "zh"
    if (len(sample) - len(sample.encode("ascii", "ignore"))) * 4 > len(sample):
        for language, letters in _SCRIPTS.items():
            if len(letters.findall(sample)) * 4 > len(sample):
                others = [other for other, script in facts("alphabet_of").items() if script == language]
                return next((other for other in others if _OF_ONE_SCRIPT[other].search(sample)), language)
    return None


def _where_commonest(written: Sequence[str], languages: Sequence[str]) -> str:
    """The language that has the words most often, by the sum of their Zipf frequencies."""
    return max(languages, key=lambda language: sum(frequency(word, language) for word in written))


def written_in(text: str, expected: str) -> str:
    """The language of a text that was to be written in `expected`: in another one only where that has at least two of
    its commonest words more, since a few words, as of a cell, tell little. What `language_of` says where none is."""
    found, expected = language_of(text), expected.partition("-")[0].lower()
    if not expected or found == expected or (found in UNSPACED) > (expected in UNSPACED):
        return found
    counts = language_counts(_WORD.findall(text[:_SAMPLE_CHARS].lower()))
    return found if counts.get(found, 0) >= counts.get(expected, 0) + _TELLING_MORE else expected


def language_counts(written: Iterable[str]) -> dict[str, int]:
    """How many of these words, in lower case, are among the commonest of each language, and how many have letters that
    English has not, and the language has; the likeliest is the first of those with the most."""
    counts = dict.fromkeys(("en", *QUESTION_WORDS, *_FREQUENT), 0)
    for word in written:
        for language in _LANGUAGES_OF.get(word, ()):
            counts[language] += 1
        for language in () if word.isascii() else _languages_with("".join(sorted({*word} - _ASCII))):
            counts[language] += 1
    return counts


@lru_cache(maxsize=4096)
def _languages_with(letters: str) -> Sequence[str]:
    return tuple(language for language, own in _LETTERS.items() if own.issuperset(letters))


def common_share(written: Sequence[str], language: str) -> float | None:
    """The share of some words that are among the commonest of a language, 0 to 1; None where these are not known."""
    common = _COMMONEST.get(language)
    if common is None:
        return None
    return sum(word.lower() in common for word in written) / max(1, len(written))


def unspaced_runs(text: str) -> list[str]:
    """The stretches of Chinese and Japanese characters in a text, which no sign or letter of another script parts."""
    return _UNSPACED.findall(text)


def written_words(text: str, found: Iterable[Word]) -> list[str]:
    """Words as they stand in the text, each once; pairs of Chinese or Japanese characters that overlap are one."""
    stretches: list[tuple[int, int]] = []
    for word in found:
        start, end = stretches[-1] if stretches else (0, 0)
        if start <= word.start < end:
            stretches[-1] = (start, max(end, word.end))
        else:
            stretches.append((word.start, word.end))
    return list(dict.fromkeys(text[start:end] for start, end in stretches))


def written_word(text: str, start: int, end: int) -> str:
    """What a reader takes `text[start:end]` for: of a pair of Chinese or Japanese characters the whole stretch of
    ideographs or katakana, else the text itself."""
    stretches = _WRITTEN_UNSPACED.finditer(text)
    return next((match[0] for match in stretches if match.start() <= start and end <= match.end()), text[start:end])


def _forms(written: str, language: str) -> Sequence[_Form]:
    return _spaced_forms(written, language) if _is_spaced(written) else tuple(_pairs(written))


def _is_spaced(written: str) -> bool:
    return written.isascii() or not _UNSPACED.search(written)


@lru_cache(maxsize=_MOST_REMEMBERED)
def _spaced_forms(written: str, language: str) -> Sequence[_Form]:
    """A word, then its parts where it has any; each at the place of the whole."""
    whole, *parts = _folded_forms(written, language)
    shared = ((whole, 1.0), *((part, 1.0 / len(parts)) for part in parts))
    return tuple((_stem(form, language), form, 0, len(written), share) for form, share in shared)


def _folded_forms(written: str, language: str) -> list[str]:
    parts: list[str] = []
    if ("_" in written or written[1:].lower() != written[1:]) and len(written) <= MOST_STEMMED_CHARS:
        parts = [part for piece in written.split("_") for part in _HUMPS.findall(piece) or [piece] if part]
    if len(parts) < 2:
        return [_folded(written, language), *compound_parts(written, language)]
    return [_folded(part, language) for part in (written, *parts)]


def _pairs(run: str) -> Iterator[_Form]:
    """Pairs of characters of each unspaced stretch in `run`, a lone one by itself, and the other words between."""
    for match in re.finditer(f"(?P<unspaced>{_UNSPACED.pattern})|[^{_IDEOGRAPHS}{_KANA}]+", run):
        start = match.start()
        if match["unspaced"] is None:
            form = _folded(match[0], "en")
            yield _stem(form, "en"), form, start, match.end(), 1.0
        elif len(match[0]) == 1:
            yield match[0], match[0], start, match.end(), 1.0
        else:
            for at in range(start, match.end() - 1):
                pair = run[at : at + 2]
                yield pair, pair, at, at + 2, 1.0


def _folded(word: str, language: str) -> str:
    """In lower case and without ligatures; of a participle what the verb's other forms have."""
    word = word[:MOST_STEMMED_CHARS]
    if language in _PARTICIPLES and (participle := _PARTICIPLES[language].fullmatch(word)):
        word = participle[1]
    return (word if word.isascii() else unicodedata.normalize("NFKC", word)).lower()


@lru_cache(maxsize=_MOST_REMEMBERED)
def _weight(term: str, form: str, language: str) -> float:
    if _UNSPACED.match(form):
        # Hiragana mostly writes endings and particles, so a pair of it says little.
        return 1.0 if len(form) == 1 else (2.0, 0.7, 0.0)[sum(len(run) for run in _HIRAGANA.findall(form))]
    if form[0].isdigit():
        return MOST_WEIGHT if len(form) > 1 else MOST_WEIGHT / 2
    zipf = max(frequencies(language).get(written, UNKNOWN_ZIPF) for written in (form, term))
    return max(0.0, COMMON_ZIPF - zipf)


def _stem(form: str, language: str) -> str:
    if form[0].isdigit():
        return form.replace(",", "")
    stemmer = _stemmer(language)
    if stemmer is None:
        return form
    with _ONE_AT_A_TIME:
        return str(stemmer.stemWord(_IRREGULAR.get(form, form) if language == "en" else form))


def has_stems(language: str) -> bool:
    """Whether words of a language (ISO 639-1) are compared by their stems."""
    return _stemmer(language) is not None


@cache
def _stemmer(language: str) -> snowballstemmer.stemmer | None:
    name = _STEMMERS.get(language)
    if name not in snowballstemmer.algorithms():  # those of an older release of Snowball are fewer
        return None
    stemmer = snowballstemmer.stemmer(name)
    stemmer.maxCacheSize = 0  # words are remembered here, and its own memory takes longer than a stem does
    return stemmer
