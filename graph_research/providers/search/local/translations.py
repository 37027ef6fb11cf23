"""Pages in several languages or formats: documents whose paths differ in a language tag or in their suffix alone, and
which of them is shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from graph_research.text.language.tags import is_known, primary
from graph_research.text.readers.formats import CHARSET_SUFFIX

_TAG = r"[A-Za-z]{2}(?:[-_][A-Za-z]{2,4})?"
_FOLDER = re.compile(rf"(?:(?<=/)|^)({_TAG})/")
_SUFFIX = re.compile(rf"[._-]({_TAG})(?=\.[^/]*$|$)")
_LITERAL = re.compile(r"\w*[a-z][A-Z]\w*|\w+_\w+|\d[\d.,]*\d|\d")
"""What a translation does not translate: numbers, and names of settings and functions."""
_WORD = re.compile(r"\w+")
_FEWEST_LITERALS = 3
_LEAST_SHARED = 0.3  # of the literals of the text that has fewer; translations are made of older versions too
_SAME_TEXT = 0.6
"""The share of the word triples of a document that the same one in another format has: .66 and more of the manual pages
of Git as HTML and as its source, which has marks and includes other files."""

Row = Mapping[str, Any]
_Member = tuple[str, Row]
"""The language that a path names, empty for none, and the document."""


def pages(rows: Iterable[Row], text_of: Callable[[int], str]) -> dict[int, str]:
    """By id, the page of each document that lies in the folder in several languages or formats: its path without the
    language, or else without the suffix.

    `rows` have `id`, `url`, `language`, `text_hash` and `page`, what was found before. A path names a language with a
    folder (`fr/locks.html`) or before the end of its name (`locks.fr.html`, `locks_pt-BR.md`). Documents are versions
    of a page where at least two are written in the languages that their paths name, or none, and share what is not
    translated; a document in another language than its path says, such as an untranslated copy, is one of them. In
    another format a document is the same page where the first of these by its suffix has most of its text.
    """
    rows = list(rows)
    groups: dict[str, list[_Member]] = {}
    for row in rows:
        for key, tag in _keys(row["url"]):
            groups.setdefault(key, []).append((tag, row))
    found: dict[int, str] = {}
    for key, members in groups.items():
        if any(tag for tag, _ in members) and len(members) > 1:
            for number in _versions(key, members, text_of):
                found.setdefault(number, key)
    return found | _in_formats([row for row in rows if row["id"] not in found], text_of)


def _in_formats(rows: Iterable[Row], text_of: Callable[[int], str]) -> dict[int, str]:
    """By id, the path without its suffix of each document that lies there in several formats."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(str(PurePosixPath(row["url"]).with_suffix("")), []).append(row)
    found: dict[int, str] = {}
    for key, members in groups.items():
        if len(members) > 1:
            first, *others = sorted(members, key=lambda row: str(row["url"]))
            if not all(row["page"] == key for row in members):
                whole = _triples(text_of(first["id"]))
                others = [row for row in others if _is_within(_triples(text_of(row["id"])), whole)]
            found |= dict.fromkeys((row["id"] for row in (first, *others) if others), key)
    return found


def _triples(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return frozenset(zip(words, words[1:], words[2:], strict=False))


def _is_within(own: frozenset[tuple[str, ...]], whole: frozenset[tuple[str, ...]]) -> bool:
    return len(own & whole) >= _SAME_TEXT * len(own) > 0


def _keys(url: str) -> Iterator[tuple[str, str]]:
    """The paths that are left without each language that a path names, with that language; and the path itself."""
    bare = CHARSET_SUFFIX.sub("", url)
    yield bare, ""
    for pattern in (_FOLDER, _SUFFIX):
        for match in pattern.finditer(bare):
            tag = match[1].replace("_", "-")
            if is_known(tag):
                yield bare[: match.start()] + bare[match.end() :], primary(tag)


def _versions(key: str, members: Sequence[_Member], text_of: Callable[[int], str]) -> list[int]:
    """The ids of the members of a page that are versions of it; none where it is in one language only."""
    if not all(row["page"] == key for _, row in members):
        members = _alike(members, text_of)
    as_named = [row for tag, row in members if tag in ("", row["language"])]
    texts = {row["text_hash"] for row in as_named}
    is_copied = any(tag not in ("", row["language"]) and row["text_hash"] in texts for tag, row in members)
    is_translated = len({row["language"] for row in as_named}) > 1
    return [row["id"] for _, row in members] if is_translated or is_copied else []


def _alike(members: Sequence[_Member], text_of: Callable[[int], str]) -> list[_Member]:
    """The members that share with the first, if possible an English one, what is not translated."""
    first, *others = sorted(members, key=lambda member: (member[1]["language"] != "en", member[1]["url"]))
    literals = _literals(text_of(first[1]["id"]))
    return [first, *(member for member in others if _share(literals, _literals(text_of(member[1]["id"]))))]


def _literals(text: str) -> frozenset[str]:
    return frozenset(_LITERAL.findall(text))


def _share(one: frozenset[str], other: frozenset[str]) -> bool:
    fewer = min(len(one), len(other))
    return fewer < _FEWEST_LITERALS or len(one & other) >= _LEAST_SHARED * fewer


def left_out(versions: Iterable[Sequence[Row]], language: str) -> list[int]:
    """The ids of the documents that are not shown to a question in `language`: of each page all versions but the one in
    that language, else in English; none where there is neither. `versions` are those of each page, with `id`, `page`,
    `url` and `language`."""
    out: list[int] = []
    for of_page in versions:
        for wanted in (language, "en"):
            written = [row for row in of_page if row["language"] == wanted]
            if written:
                shown = min(written, key=_foreignness) if len(written) > 1 else written[0]
                out += [row["id"] for row in of_page if row is not shown]
                break
    return out


def _foreignness(row: Row) -> tuple[bool, str]:
    """A document comes before those whose path names another language than it is written in."""
    tags = [tag for key, tag in _keys(row["url"]) if key == row["page"]]
    return (not any(tag in ("", row["language"]) for tag in tags), row["url"])
