"""The sides of a comparison: each of the things that a question sets side by side has a search of its own, since one
search for all of them finds what says most on one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from graph_research.text.language.questions import joins
from graph_research.text.language.words import weight
from graph_research.text.relevance.query import parse

_MOST_SIDES = 4
_MOST_BETWEEN = 15  # characters between two sides, such as " compared with "
_PIECE_ENDS = re.compile(r"[,;:.!?](?=\s|$)|[，；：。！？、]")
_STATEMENT_ENDS = re.compile(r"[;；]")
_WORD = re.compile(r"[^\s,;:!?，；：。！？、]+")


def searches_by_side(query: str, question: str) -> list[str]:
    """The query for each side that it names, without what it says of the other sides; the query alone where it names
    fewer than two of the sides of the question. What names no side belongs to those named last before it, at the
    beginning to all; where a semicolon ends that, it is a search of its own."""
    sides = [side for side in compared(question) if _names(query, side)][:_MOST_SIDES]
    if len(sides) < 2:
        return [query]
    language = parse(query).language
    statements = _STATEMENT_ENDS.split(query)
    apart = list(takewhile(lambda statement: not any(_names(statement, side) for side in sides), statements))
    pieces: dict[str, list[str]] = {side: [] for side in sides}
    for piece, named in _of_sides("; ".join(statements[len(apart) :]), sides, language):
        for side in named:
            pieces[side].append(_of_one(piece, side, sides, language))
    return ["; ".join(filter(None, said)) for said in (*pieces.values(), apart) if said]


def compared(question: str) -> list[str]:
    """The names that a question sets side by side, as "A and B" or "A versus B"."""
    query = parse(question)
    names = _single_names(query.text, query.names, query.language)
    found = [
        query.text[slice(*name)]
        for one, other in pairwise(names)
        if joins(query.text[one[1] : other[0]], query.language)
        for name in (one, other)
    ]
    return list(dict.fromkeys(found))


def _single_names(text: str, names: Sequence[str], language: str) -> list[tuple[int, int]]:
    """Where the names stand, those apart that a word joins."""
    found: list[tuple[int, int]] = []
    at = 0
    for name in names:
        at = max(at, text.find(name, at))
        is_new = True
        for word in _WORD.finditer(text, at, at + len(name)):
            if joins(f" {word[0]} ", language):
                is_new = True
            elif is_new and weight(word[0], language) > 0.0:
                found.append(word.span())
                is_new = False
            elif not is_new:
                found[-1] = (found[-1][0], word.end())
        at += len(name)
    return found


def _of_sides(query: str, sides: Sequence[str], language: str) -> list[tuple[str, Sequence[str]]]:
    """The pieces of a query, each with the sides that it belongs to."""
    side = "|".join(map(_pattern, sides))
    listed = re.compile(rf"({side})([^;:]{{1,{_MOST_BETWEEN}}}?)(?={side})", re.IGNORECASE)
    whole = listed.sub(lambda match: f"{match[1]} " if joins(match[2], language) else match[0], query)
    found: list[tuple[str, Sequence[str]]] = []
    current = sides
    for piece in filter(str.strip, _PIECE_ENDS.split(whole)):
        current = [side for side in sides if _names(piece, side)] or current
        found.append((piece.strip(), current))
    return found


def _of_one(piece: str, side: str, sides: Sequence[str], language: str) -> str:
    """A piece with this side in the place of all sides that it names."""
    named = [one for one in sides if _names(piece, one)]
    if len(named) < 2:
        return piece
    start = min(_found(piece, one).start() for one in named)
    return f"{_rest(piece[:start], [], language)} {side} {_rest(piece[start:], named, language)}".strip()


def _rest(piece: str, names: Sequence[str], language: str) -> str:
    """The piece without these names and the words that join or begin it."""
    for name in names:
        piece = re.sub(_pattern(name), " ", piece, flags=re.IGNORECASE)
    words = _WORD.findall(piece)
    while words and joins(f" {words[0]} ", language):
        words = words[1:]
    return " ".join(words)


def _names(text: str, name: str) -> bool:
    return re.search(_pattern(name), text, re.IGNORECASE) is not None


def _found(text: str, name: str) -> re.Match[str]:
    match = re.search(_pattern(name), text, re.IGNORECASE)
    assert match is not None
    return match


def _pattern(name: str) -> str:
    return rf"(?<!\w){re.escape(name)}(?!\w)"
