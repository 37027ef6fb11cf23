"""Front matter: the fields that a Markdown file has above its text, in YAML between `---` or in TOML between `+++`.

It is read line by line, since people write values there that no parser of YAML takes, such as `title: Tides: a guide`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from graph_research.text.canonical import canonical_text
from graph_research.text.language.dates import iso_date
from graph_research.text.language.tags import primary

_BLOCK = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n(.{0,20000}?)\r?\n(?:\1|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_LINE_END = re.compile(r"\r\n?|\n")
_FIELD = re.compile(r"([A-Za-z][\w-]*)[ \t]*[:=](?:[ \t]+|$)(.*)")
_ITEM = re.compile(r"\s*(?:-\s+|\s)(?:name\s*:\s*)?(?![\w-]+\s*:\s)(\S.*)")
_QUOTED = re.compile(r"""(["'])(.*)\1""")
_DATES = ("updated", "lastupdated", "lastmodified", "lastmod", "modified", "date", "published", "pubdate", "created")
_AUTHORS = ("authors", "author", "creator", "by")
_PUBLISHERS = ("publisher", "organization", "organisation", "institution")
_LICENCES = ("licence", "license", "rights")
_LANGUAGES = ("language", "lang", "locale")
_MOST_AUTHORS = 50


@dataclass(frozen=True, kw_only=True)
class FrontMatter:
    """What a file says of itself above its text, empty where it says nothing: `date` is when it was changed, else when
    it was written, as ISO 8601. `body` is the text with the front matter as empty lines, so that each line keeps its
    number."""

    title: str = ""
    date: str = ""
    authors: tuple[str, ...] = ()
    publisher: str = ""
    licence: str = ""
    language: str = ""
    body: str


def front_matter(source: str) -> FrontMatter:
    """The front matter with which a text begins."""
    block = _BLOCK.match(source)
    if block is None:
        return FrontMatter(body=source)
    fields = _fields(block[2])
    return FrontMatter(
        title=next(iter(fields.get("title", ())), ""),
        date=next((date for name in _DATES for value in fields.get(name, ()) if (date := iso_date(value))), ""),
        authors=_first(fields, _AUTHORS)[:_MOST_AUTHORS],
        publisher=next(iter(_first(fields, _PUBLISHERS)), ""),
        licence=next(iter(_first(fields, _LICENCES)), ""),
        language=primary(next(iter(_first(fields, _LANGUAGES)), "")),
        body="\n" * len(_LINE_END.findall(block[0])) + source[block.end() :],
    )


def _first(fields: Mapping[str, list[str]], names: tuple[str, ...]) -> tuple[str, ...]:
    return next((tuple(fields[name]) for name in names if fields.get(name)), ())


def _fields(text: str) -> dict[str, list[str]]:
    """The values of each field by its name in lower case, `last-modified` and `lastModified` as `lastmodified`."""
    fields: dict[str, list[str]] = {}
    values: list[str] = []
    for line in text.splitlines():
        if field := _FIELD.match(line):
            name = re.sub("[-_]", "", field[1]).lower()
            values = fields.setdefault(name, [])
            values += _values(field[2])
        elif item := _ITEM.match(line):
            values += _values(item[1])
    return fields


def _values(written: str) -> list[str]:
    """One value, or those of a list in brackets, without their quotation marks."""
    written = written.strip()
    parts = written[1:-1].split(",") if written[:1] == "[" and written[-1:] == "]" else [written]
    bare = [_QUOTED.sub(r"\2", part.strip()) for part in parts]
    return [value for one in bare if (value := canonical_text(one).strip()) and value not in "|>-~"]
