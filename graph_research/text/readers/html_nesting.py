"""Bounds how deep a page nests before it is parsed: the parser's time grows with the square of the depth."""

from __future__ import annotations

import re
from collections import Counter

from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.html_tags import FORMATTING_TAGS, IMPLIED_TAGS, RAW_TAGS, VOID_TAGS

MAX_DEPTH = 400
MAX_FORMATTING = 6  # the parser opens formatting tags anew in every paragraph, so these multiply
MAX_TAGS = 250_000  # the largest page of the Python documentation has 60,000

# An element without any element in it, which cannot hide the end of a comment; else a single tag.
_TOKEN = re.compile(
    r"<(?P<leaf>[a-zA-Z]+[0-9]?)(?:\s[^<>]*+(?<!-))?>[^<>]*+</(?P=leaf)>|<!--|-->|</?[a-zA-Z][a-zA-Z0-9-]*"
)


def bound_nesting(source: str) -> str:
    """`source`, without the tags that lie deeper than `MAX_DEPTH` or are too many formatting tags at once.

    Text is never taken away. Raises `DocumentUnreadable` at more than `MAX_TAGS` start tags, which would take more
    memory than any page is worth.
    """
    cuts = _Scan().excess(source)
    if not cuts:
        return source
    kept: list[str] = []
    position = 0
    for start in cuts:
        end = source.find(">", start)
        kept.append(source[position:start])
        position = len(source) if end < 0 else max(position, end + 1)
    kept.append(source[position:])
    return "".join(kept)


class _Scan:
    """Counts open tags by name, which is enough for a bound and cannot be fooled into backtracking."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._cut: Counter[str] = Counter()
        self._depth = 0
        self._formatting = 0
        self._tags = 0

    def excess(self, source: str) -> list[int]:
        cuts = []
        skip_until = ""
        leaves = 0
        for match in _TOKEN.finditer(source):
            if match.lastgroup:
                leaves += 1
                if skip_until == f"</{match[1].lower()}":
                    skip_until = ""
                continue
            found = match[0].lower()
            if skip_until:
                skip_until = "" if found == skip_until else skip_until
            elif found == "<!--":
                skip_until = "-->"
            elif found.startswith("</"):
                if self._close(found[2:]):
                    cuts.append(match.start())
            elif found != "-->":
                skip_until = f"</{found[1:]}" if found[1:] in RAW_TAGS else ""
                if not skip_until and self._start(found[1:]):
                    cuts.append(match.start())
        self._count(leaves)
        return cuts

    def _start(self, name: str) -> bool:
        """Count a start tag; whether it is one too many."""
        self._count(1)
        if name in VOID_TAGS or name in IMPLIED_TAGS:
            return False
        formatting = name in FORMATTING_TAGS
        if self._depth >= MAX_DEPTH or (formatting and self._formatting >= MAX_FORMATTING):
            self._cut[name] += 1
            return True
        self._open[name] += 1
        self._depth += 1
        self._formatting += formatting
        return False

    def _count(self, tags: int) -> None:
        self._tags += tags
        if self._tags > MAX_TAGS:
            raise DocumentUnreadable(f"the page has more than {MAX_TAGS:,} tags")

    def _close(self, name: str) -> bool:
        """Count an end tag; whether it belongs to a start tag that was cut."""
        if self._cut[name]:
            self._cut[name] -= 1
            return True
        if self._open[name]:
            self._open[name] -= 1
            self._depth -= 1
            self._formatting -= name in FORMATTING_TAGS
        return False
