"""A reader of JSON as careless models write it: other quotes, bare names, remarks, and an end that is missing."""

from __future__ import annotations

import json
import math
import re
from typing import Any

_DEEPEST = 60
_LONGEST_NUMBER = 300
_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_WORDS: dict[str, Any] = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_CLOSED_BY = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CHUNKS = {closing: re.compile(rf"[^{closing}\\]+") for closing in set(_CLOSED_BY.values())}
_CODE = re.compile(r"(?:\\u[0-9A-Fa-f]{4})+")
_MISSING = object()


class _Unreadable(Exception):
    """Not even carelessly written JSON."""


class LenientReader:
    """Reads one object or array at a place of a text.

    Where the text breaks off, brackets are closed and what is incomplete is left out: an entry of a list, a member of
    an object. Nothing is completed, and no half text is kept.
    """

    def __init__(self, text: str, start: int = 0) -> None:
        self._text = text
        self._at = start
        self._depth = 0
        self.broken_off = False
        """The text ended before the value did."""

    def value(self) -> tuple[Any, int]:
        """The object or array that begins at the place, and where it ends; `(None, place)` where there is none."""
        start = self._at
        try:
            return self._value(), self._at
        except _Unreadable:
            return None, start

    def _value(self) -> Any:
        self._skip()
        char = self._text[self._at : self._at + 1]
        if not char:
            self.broken_off = True
            return _MISSING
        if char in "{[":
            return self._nested(char)
        if char in _CLOSED_BY:
            return self._quoted(char)
        if number := _NUMBER.match(self._text, self._at):
            self._at = number.end()
            if self._ended():
                self.broken_off = True
                return _MISSING
            return _number(number[0])
        return self._bare_word()

    def _bare_word(self) -> Any:
        word = _WORD.match(self._text, self._at)
        if word is not None and word.end() == len(self._text):
            self.broken_off, self._at = True, word.end()
            return _WORDS.get(word[0], _MISSING)
        if word is None or word[0] not in _WORDS:
            raise _Unreadable
        self._at = word.end()
        return _WORDS[word[0]]

    def _nested(self, opening: str) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Unreadable
        self._at += 1
        value = self._object() if opening == "{" else self._array()
        self._depth -= 1
        return value

    def _object(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self._closed("}"):
            name = self._name()
            self._skip()
            if self._broke_off() or self._ended():
                self.broken_off = True
                break
            if self._text[self._at] not in ":=":
                raise _Unreadable
            self._at += 1
            value = self._value()
            if value is not _MISSING:
                members[name] = value
            if self._broke_off():
                break
        return members

    def _array(self) -> list[Any]:
        entries: list[Any] = []
        while not self._closed("]"):
            value = self._value()
            if self._broke_off():
                break  # the last entry is incomplete
            entries.append(value)
        return entries

    def _closed(self, closing: str) -> bool:
        """Whether the bracket closes here; commas before it, too many or too few, are passed over."""
        self._skip()
        while self._text[self._at : self._at + 1] == ",":
            self._at += 1
            self._skip()
        if self._ended():
            self.broken_off = True
            return True
        if self._text[self._at] == closing:
            self._at += 1
            return True
        if self._text[self._at] in "}]":
            raise _Unreadable
        return False

    def _name(self) -> str:
        char = self._text[self._at]
        if char in _CLOSED_BY:
            name = self._quoted(char)
            return name if isinstance(name, str) else ""
        word = _WORD.match(self._text, self._at)
        if word is None:
            raise _Unreadable
        self._at = word.end()
        return word[0]

    def _quoted(self, opening: str) -> Any:
        closing = _CLOSED_BY[opening]
        chunk = _CHUNKS[closing]
        parts: list[str] = []
        self._at += 1
        while not self._ended():
            char = self._text[self._at]
            if char == closing and not self._goes_on(closing):
                self._at += 1
                return "".join(parts)
            if char == "\\":
                parts.append(self._escaped())
            elif char == closing:
                parts.append(char)
                self._at += 1
            elif found := chunk.match(self._text, self._at):
                parts.append(found[0])
                self._at = found.end()
        self.broken_off = True
        return _MISSING

    def _goes_on(self, closing: str) -> bool:
        """Whether a closing quote is one inside a word, such as the apostrophe of `'it's'`."""
        around = self._text[self._at - 1 : self._at + 2]
        return closing in "'’" and len(around) == 3 and around[0].isalnum() and around[2].isalnum()

    def _escaped(self) -> str:
        if code := _CODE.match(self._text, self._at):
            self._at = code.end()
            return str(json.loads(f'"{code[0]}"')).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        char = self._text[self._at + 1 : self._at + 2]
        self._at += 2
        return _ESCAPES.get(char, char)

    def _skip(self) -> None:
        blank = _BLANK.match(self._text, self._at)
        if blank is not None:
            self._at = blank.end()

    def _broke_off(self) -> bool:
        return self.broken_off

    def _ended(self) -> bool:
        return self._at >= len(self._text)


def _number(text: str) -> int | float:
    if len(text) > _LONGEST_NUMBER:
        raise _Unreadable
    value = int(text) if text.lstrip("-").isdigit() else float(text)
    if not math.isfinite(value):
        raise _Unreadable
    return value
