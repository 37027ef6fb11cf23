"""A cache of the texts that a run read last: several nodes read the same sources, and a text never changes."""

from __future__ import annotations

from collections import OrderedDict

__all__ = ["TextCache"]


class TextCache:
    """Texts by hash, at most `most_chars` together; the one that was not read for the longest goes first."""

    def __init__(self, most_chars: int = 4_000_000) -> None:
        self._most_chars = most_chars
        self._chars = 0
        self._texts: OrderedDict[str, str] = OrderedDict()

    def get(self, name: str) -> str | None:
        """The text, if it is still here."""
        text = self._texts.get(name)
        if text is not None:
            self._texts.move_to_end(name)
        return text

    def add(self, name: str, text: str) -> None:
        """Keep a text as the last that was asked for."""
        if name not in self._texts:
            self._chars += len(text)
        self._texts[name] = text
        self._texts.move_to_end(name)
        while self._chars > self._most_chars:
            self._chars -= len(self._texts.popitem(last=False)[1])
