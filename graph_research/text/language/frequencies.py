"""How often each language uses its words: wordfreq's short lists."""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

COMMON_ZIPF = 6.0
"""A word of this Zipf frequency (one in a thousand words) or above has weight 0: `the`, `what`, `and`."""

UNKNOWN_ZIPF = 2.5
"""The frequency that a word is given which the list of its language does not have."""
_MOST_REMEMBERED = 16_384  # words of languages


@lru_cache(maxsize=_MOST_REMEMBERED)
def frequency(word: str, language: str) -> float:
    """The word's Zipf frequency (log10 of its occurrences in a billion words), 0 where the list does not have it. For
    languages that a few words are compared with: `frequencies` is faster and takes ten times the memory."""
    listed = _listed(language)
    at = listed.find(b"\n%s\n" % word.encode("utf-8", "surrogatepass"))
    return 0.0 if at < 0 else _zipf(listed.count(b"\0", 0, at))


@cache
def frequencies(language: str) -> dict[str, float]:
    """The Zipf frequencies of the words above 1 in a million, empty for an unknown language."""
    return {word: _zipf(band) for band, listed in enumerate(_bands(language)) for word in listed}


@cache
def _listed(language: str) -> bytes:
    """The words of a language, a line each, with a zero between those of one band and the next."""
    return b"\0".join(b"\n%s\n" % "\n".join(band).encode() for band in _bands(language))


def _zipf(centibels: int) -> float:
    return math.log10(10 ** (-centibels / 100)) + 9


def _bands(language: str) -> Sequence[Sequence[str]]:
    """The words of a language by their frequency in centibels, the commonest first. Only the list is read: to load the
    package's own code takes longer."""
    import msgpack  # not at the top: most commands never rank anything

    package = find_spec("wordfreq")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).with_name("data") / f"small_{'nb' if language == 'no' else language}.msgpack.gz"
    if not file.is_file():
        return ()
    _header, *bands = msgpack.unpackb(gzip.decompress(file.read_bytes()))
    return tuple(bands)
