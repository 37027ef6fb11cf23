"""Words of a text and their stems: what ranking, clustering and comparison count."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from graph_research.text.language.lexicon import FUNCTION_WORDS

WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*|\d+(?:[.,]\d+)*", re.UNICODE)
_CAMEL = re.compile(r"[A-Z][a-z]+(?=[A-Z])|[A-Z][a-z]+|[a-z]+")
_ONE_AT_A_TIME = Lock()
"""The stemmer keeps the word it works on in itself, and answers are made in threads."""

_IRREGULAR = {
    "began": "begin",
    "begun": "begin",
    "built": "build",
    "lost": "loss",
    "lose": "loss",
    "loses": "loss",
    "losing": "loss",
    "ran": "run",
    "fell": "fall",
    "rose": "rise",
    "grew": "grow",
    "paid": "pay",
    "spent": "spend",
    "sold": "sell",
    "bought": "buy",
    "held": "hold",
    "gave": "give",
    "given": "give",
    "took": "take",
    "taken": "take",
    "wrote": "write",
    "written": "write",
    "led": "lead",
    "won": "win",
    "men": "man",
    "women": "woman",
    "children": "child",
    "died": "die",
    "dying": "die",
    "death": "die",
    "deaths": "die",
    "dead": "die",
    "raised": "raise",
    "raising": "raise",
}


def words(text: str) -> list[str]:
    """The words and numbers of a text in order, as they are written; `a_b` and `a.b` are two words."""
    return WORD.findall(text)


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The Snowball (English) stem of one word, with the commonest irregular forms brought together first."""
    lowered = word.lower().replace("’", "'").removesuffix("'s")
    with _ONE_AT_A_TIME:
        return str(_stemmer().stemWord(_IRREGULAR.get(lowered, lowered)))


@cache
def _stemmer() -> Any:
    """Imported with its first use: the package loads the stemmers of all its languages."""
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=65536)
def _stems_of_word(word: str) -> tuple[str, ...]:
    """A word's stem and the stems of its parts: `TaskGroup` is also `task` and `group`, `two-way` also `way`."""
    if word.lower() in FUNCTION_WORDS or (len(word) < 2 and not word.isdigit()):
        return ()
    parts = word.split("-") if "-" in word else _CAMEL.findall(word) if word[:1].isupper() else [word]
    if len(parts) < 2:
        return (stem(word),)
    kept = [stem(part) for part in parts if len(part) > 1 and part.lower() not in FUNCTION_WORDS]
    return (stem(word.replace("-", "")), *kept)


def stem_list(text: str) -> list[str]:
    """Stems of the content words in order, with repetitions; function words are left out."""
    return [part for word in WORD.findall(text) for part in _stems_of_word(word)]


def name_parts(word: str) -> frozenset[str]:
    """The stems that name a thing however it is written: those of `task` and `group` for `TaskGroup`."""
    stems = _stems_of_word(word)
    return frozenset(stems[1:] or stems)


def content_stems(text: str) -> frozenset[str]:
    """The set of `stem_list`, numbers left out."""
    return frozenset(part for part in stem_list(text) if not part[0].isdigit())
