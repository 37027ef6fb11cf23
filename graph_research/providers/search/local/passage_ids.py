"""The ids of passages: the folder's id, a number within the folder, and how many terms the passage has, in bits."""

from __future__ import annotations

_LENGTH_BITS = 16
_NUMBER_BITS = 28
_FOLDER_SHIFT = _LENGTH_BITS + _NUMBER_BITS
LENGTH_MASK = (1 << _LENGTH_BITS) - 1
"""`id & LENGTH_MASK` is the number of terms; a longer passage counts as that long."""


def first_id(folder: int) -> int:
    """The ids of a folder's passages are above this, and below that of the next folder."""
    return folder << _FOLDER_SHIFT


def next_id(last: int, length: int) -> int:
    """The id that follows `last` in its folder, for a passage of `length` terms."""
    return (((last >> _LENGTH_BITS) + 1) << _LENGTH_BITS) + min(length, LENGTH_MASK)


def folder_of(passage: int) -> int:
    """The folder's id."""
    return passage >> _FOLDER_SHIFT
