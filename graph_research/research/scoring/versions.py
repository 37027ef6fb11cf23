"""Which versions of the things that a question names its sources describe, and which source is a newer version of
another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from graph_research.research.models.source import Source
from graph_research.research.scoring.tiers import is_maker
from graph_research.text.document import Document
from graph_research.text.language.opposites import CAPITALISED_NOUNS
from graph_research.text.language.versions import head_and_foot, highest_version, named_versions, own_versions
from graph_research.text.language.words import MOST_WEIGHT, weight
from graph_research.text.relevance.query import parse

_WORD = re.compile(r"[^\W\d_][\w+#-]*")
_SECTION = re.compile(r"\d+(?:\.\d+)+(?=\.?\s)")
_LAST_NUMBER = re.compile(r"\d+(?:\.\d+)*$")
_SHORTEST = 4
"""Letters of a name in small letters."""


def versions_in(
    question: str, title: str, publisher: str | None, document: Document | None = None, *, folder: str = ""
) -> dict[str, str]:
    """The highest version of each thing that the question names which a document gives as its own: behind the name in
    its title, its head or its foot. In a document about one of them alone, by its publisher, its title or else the
    `folder` of a library that holds it, a version counts without the name: behind a word for it in the title, beside
    its date in a list of releases, and before a word for a manual; none is above that which stands behind the name of
    its publisher or folder, as in `python3.11`. A number without a point behind more of a title than the name is that
    of the document ("Rules of the ferry, version 2"). What begins with the number of the section that a title begins
    with is a section."""
    names = version_names(question)
    made = [name for name in names if is_maker(publisher, [name])]
    titled = [] if made else [name for name in names if name in title]
    about = made or titled or [name for name in names if not publisher and is_maker(folder, [name])]
    paragraphs = [document.text[block.start : block.end] for block in document.blocks] if document else []
    lines = [title, *head_and_foot(paragraphs)]
    found = {name: named_versions(name, lines) for name in names}
    if len(about) == 1:
        edition = next((number for called in (publisher, folder) if (number := _number_of(called, about[0]))), "")
        own = {one for one in own_versions(title, paragraphs) if "." in one or not titled}
        found[about[0]] = _up_to(edition, found[about[0]] | own)
    if section := _SECTION.match(title):
        found = {
            name: {one for one in some if not f"{one}.".startswith(f"{section[0]}.")} for name, some in found.items()
        }
    return {name: highest_version(versions) for name, versions in found.items() if versions}


def _number_of(called: str | None, name: str) -> str:
    """The number behind a name by which a publisher or a folder is called."""
    number = _LAST_NUMBER.search(called or "")
    return number[0] if number and is_maker(called, [name]) else ""


def _up_to(edition: str, versions: set[str]) -> set[str]:
    """The versions without those above an edition, of which it is a part itself where it has a point."""
    known = {*versions, edition} if "." in edition else versions
    return {
        one
        for one in known
        if not edition or f"{one}.".startswith(f"{edition}.") or one != highest_version([one, edition])
    }


def newest_versions(
    question: str, sources: Iterable[Source], scouted: Iterable[Mapping[str, Any]] = ()
) -> dict[str, str]:
    """The newest version that sources give as theirs of each thing that the question names, in its order: by their
    titles, by what was found in their texts when they were gathered, and by the `versions` of what the scout found,
    since the notes on a release are seldom a source of what is written."""
    rows = [dict(row.get("versions") or {}) for row in scouted]
    for source in sources:
        rows.append(versions_in(question, source.title, source.publisher, folder=source.folder or ""))
        rows.append(dict(source.metadata.get("versions") or {}))
    return highest_versions(question, rows)


def highest_versions(question: str, rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Of each thing that the question names the highest version that stands in the rows, in its order."""
    named = {name: [row[name] for row in rows if name in row] for name in version_names(question)}
    return {name: highest_version(versions) for name, versions in named.items() if versions}


def older_release(question: str, source: Source, newest: Iterable[str]) -> str:
    """The thing with its version of which a source's title says that it tells, such as `PostgreSQL 15.4` of the notes
    on that release, where one of the `newest`, such as `PostgreSQL 15.14`, is higher; else empty. What tells of
    PostgreSQL 15 tells of 15.14, too."""
    highest = dict(row.rsplit(" ", 1) for row in newest)
    own = versions_in(question, source.title, source.publisher, folder=source.folder or "")
    return next((f"{name} {own[name]}" for name in own if name in highest and _is_below(own[name], highest[name])), "")


def _is_below(version: str, highest: str) -> bool:
    """Whether a version is lower than the highest one, and not the series that this belongs to."""
    return not f"{highest}.".startswith(f"{version}.") and highest_version([highest, version]) != version


def newer_versions(sources: Sequence[Source]) -> dict[str, str | None]:
    """The id of the source that supersedes each, by id: empty where that is not among them, None for a current one."""
    files = {(source.folder, source.url): source.id for source in sources}
    urls = {source.id: source.metadata.get("superseded") for source in sources}
    libraries = {source.id: source.folder for source in sources}
    return {name: None if url is None else files.get((libraries[name], url), "") for name, url in urls.items()}


def pages(sources: Sequence[Source]) -> dict[str, str]:
    """By id what a source has in common with the same page in other languages and with newer versions of it."""
    newer, page_of = newer_versions(sources), {source.id: source.page for source in sources}
    return {name: page_of[[name, *later_versions(name, newer)][-1]] for name in page_of}


def later_versions(name: str, newer: Mapping[str, str | None]) -> list[str]:
    """The ids of all newer versions of a source, each superseded by the next."""
    later: list[str] = []
    while (name := newer.get(name) or "") and name not in later:
        later.append(name)
    return later


@lru_cache(maxsize=64)
def version_names(question: str) -> Sequence[str]:
    """The things that a question names, of which there may be versions: the words of its names that are no common
    words, and words in small letters that neither its language nor English knows, such as `nginx`. In a language that
    writes all nouns with a capital, such words and those with one inside, such as `BorgBackup`, come first. Of a name
    with a common word behind a hyphen, as in `SQLite-Datenbank`, it is the name."""
    query = parse(question)
    pieces = [word for name in query.names for word in _WORD.findall(name) if word != word.lower()]
    listed = {word: _without_common_word(word, query.language) for word in pieces}
    named = list(listed.values())
    found = _WORD.findall(question)
    written = [listed.get(word, word) for word in found if word in listed or _is_unknown(word, query.language)]
    if query.language in CAPITALISED_NOUNS:
        written.sort(key=lambda word: word[1:].islower() and not _is_unknown(word.lower(), query.language))
    return tuple(dict.fromkeys([*written, *named]))


def _without_common_word(word: str, language: str) -> str:
    name, _, behind = word.partition("-")
    is_name = _is_unknown(name.lower(), language) and behind and not _is_unknown(behind.lower(), language)
    return name if is_name else word


def _is_unknown(word: str, language: str) -> bool:
    """Whether a word in small letters stands in the lists of neither language."""
    known = (weight(word, listed) < MOST_WEIGHT for listed in (language, "en"))
    return len(word) >= _SHORTEST and word.isascii() and word.islower() and not any(known)
