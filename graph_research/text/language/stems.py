"""Words of a text and their stems: what ranking, clustering and comparison count."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from threading import Lock
from typing import Any

WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*|\d+(?:[.,]\d+)*", re.UNICODE)
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
