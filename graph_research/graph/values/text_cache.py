"""Texts by hash that are held in memory."""

from __future__ import annotations

from collections import OrderedDict


class TextCache:
    """Texts by hash, at most `most_chars` together; the least recently read goes first."""

    def __init__(self, most_chars: int = 4_000_000) -> None:
        self._most_chars = most_chars
        self._chars = 0
        self._texts: OrderedDict[str, str] = OrderedDict()

    def get(self, name: str) -> str | None:
        """The text, if it is still here."""
        if name in self._texts:
            self._texts.move_to_end(name)
        return self._texts.get(name)

    def add(self, name: str, text: str) -> None:
        """Keep a text as the most recently read."""
        if self.get(name) is not None:
            return
        self._texts[name] = text
        self._chars += len(text)
        while self._chars > self._most_chars:
            self._chars -= len(self._texts.popitem(last=False)[1])
