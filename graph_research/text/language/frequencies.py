"""How often each language uses its words: wordfreq's short lists."""

from __future__ import annotations

import gzip
import math
from functools import cache
from importlib.util import find_spec
from pathlib import Path

COMMON_ZIPF = 6.0
"""A word of this Zipf frequency (one in a thousand words) or above has weight 0: `the`, `what`, `and`."""

UNKNOWN_ZIPF = 2.5
"""The frequency that a word is given which the list of its language does not have."""


def frequency(word: str, language: str) -> float:
    """The word's Zipf frequency (log10 of its occurrences in a billion words), 0 where the list does not have it."""
    return frequencies(language).get(word, 0.0)


@cache
def frequencies(language: str) -> dict[str, float]:
    """The Zipf frequencies of the words above 1 in a million, empty for an unknown language. Only the list is read: to
    load the package's own code takes longer."""
    import msgpack  # not at the top: most commands never rank anything

    package = find_spec("wordfreq")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).with_name("data") / f"small_{'nb' if language == 'no' else language}.msgpack.gz"
    if not file.is_file():
        return {}
    _header, *bands = msgpack.unpackb(gzip.decompress(file.read_bytes()))
    zipf = [math.log10(10 ** (-centibels / 100)) + 9 for centibels in range(len(bands))]
    return {word: frequency for frequency, band in zip(zipf, bands, strict=True) for word in band}
