"""Words divided at the ends of lines, joined only where the document itself shows how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_DIVIDED = re.compile(r"([^\W\d_]{2,})([-\u2010])$")
_SOFT_HYPHEN = "\u00ad"
_START = re.compile(r"[^\W\d_]+")


class Vocabulary:
    """The words that stand whole on some line of a document."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words: set[str] = set()
        for line in lines:
            text = _with_hyphens(line)
            words = [word.lower().replace("\u2010", "-") for word in _WORD.findall(text)]
            self._words.update(words[:-1] if text.endswith(("-", "\u2010", _SOFT_HYPHEN)) else words)

    def join(self, lines: Sequence[str]) -> str:
        """The lines as one text; `experi-` and `ment` become one word, `long-` and `term` keep their hyphen."""
        text = ""
        for line in map(_with_hyphens, lines):
            if text.endswith(_SOFT_HYPHEN):
                text = text.removesuffix(_SOFT_HYPHEN) + line
                continue
            divided = _DIVIDED.search(text)
            start = _START.match(line)
            if divided and start and line[0].islower():
                text = text.removesuffix(divided[2]) + self._link(divided[1], start[0]) + line
            else:
                text = f"{text} {line}" if text else line
        return text

    def _link(self, left: str, right: str) -> str:
        """What belongs between the halves: nothing, or the hyphen where that is how the word is written."""
        left, right = left.lower(), right.lower()
        if left + right in self._words:
            return ""
        whole_halves = left in self._words and right in self._words
        return "-" if f"{left}-{right}" in self._words or whole_halves else ""


def _with_hyphens(line: str) -> str:
    """The line without space around it; a soft hyphen that does not end it is drawn, and so a hyphen like any other."""
    line = line.strip()
    return line[:-1].replace(_SOFT_HYPHEN, "-") + line[-1:]
