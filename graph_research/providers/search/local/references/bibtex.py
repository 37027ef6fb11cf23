"""BibTeX files."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bibtexparser.entrypoint import parse_string
from bibtexparser.library import Library
from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names
from bibtexparser.middlewares.parsestack import default_parse_stack
from bibtexparser.model import Block, DuplicateBlockKeyBlock, Entry, ParsingFailedBlock
from pylatexenc.latex2text import LatexNodes2Text

from graph_research.providers.search.local.references.reference import (
    Reference,
    ReferenceInvalid,
    make_reference,
    path_ends,
)

_FIELDS = (
    *("title", "publisher", "institution", "school", "organization", "journal", "journaltitle"),
    *("date", "year", "month", "doi", "license", "rights", "copyright"),
)
_PART = re.compile(r'"[^"]*"|\{[^{}]*\}|[^\s#"{}]+')
_SEVERAL = re.compile(rf"(?:{_PART.pattern})(?:\s*#\s*(?:{_PART.pattern}))+")
_OTHERS = "others"  # how an entry writes "et al."
_FIELD_CHARS = 5_000
for _package in ("bibtexparser", "pylatexenc"):
    logging.getLogger(_package).addHandler(logging.NullHandler())  # malformed entries are named by us


def bibtex_items(text: str) -> Sequence[tuple[Block, Entry | None]]:
    """The entries of a file, those with the key of another too, and the parts that are none; with each the entry that
    its `crossref` names."""
    blocks = parse_string(text, parse_stack=[]).blocks
    entries = [block.ignore_error_block if isinstance(block, DuplicateBlockKeyBlock) else block for block in blocks]
    numbers: dict[str, str] = {}
    for number, entry in enumerate(entries):
        if isinstance(entry, Entry):  # under its number: the parser skips the fields of one whose key it has already
            numbers.setdefault(entry.key.lower(), str(number))
            blocks[number], entry.key = entry, str(number)
    library = Library(blocks)
    for middleware in default_parse_stack():
        library = middleware.transform(library)
    strings = {name.lower(): str(string.value) for name, string in library.strings_dict.items()}
    by_number = library.entries_dict
    for entry in by_number.values():
        for field in entry.fields:
            field.value = _joined(str(field.value), strings)
    return [
        (block, by_number.get(numbers.get(_values(block).get("crossref", "").strip().lower(), "")))
        for block in library.blocks
        if isinstance(block, Entry | ParsingFailedBlock)
    ]


def _joined(value: str, strings: Mapping[str, str]) -> str:
    """A value written as several, `jan # "~5"`, in one: the parser leaves these as they are."""
    if not _SEVERAL.fullmatch(value):
        return value
    return "".join(strings.get(part.lower(), part.strip('"{}')) for part in _PART.findall(value))


def bibtex_reference(item: tuple[Block, Entry | None]) -> Reference:
    """The reference in an entry, with the publisher and the date of the one that it refers to where it has none; raises
    `ReferenceInvalid` for a part of the file that is malformed."""
    block, whole = item
    if not isinstance(block, Entry):
        raise ReferenceInvalid(f"line {(block.start_line or 0) + 1:,}")
    found = _reference(_values(block))
    if whole is None:
        return found
    entry, others = found.entry, _reference(_values(whole)).entry
    given = replace(
        entry,
        publisher=entry.publisher or others.publisher,
        published_at=entry.published_at or others.published_at,
    )
    return replace(found, entry=given)


def _values(block: Block) -> Mapping[str, str]:
    fields = block.fields_dict if isinstance(block, Entry) else {}
    return {name.lower(): str(field.value) for name, field in fields.items()}


def _reference(values: Mapping[str, str]) -> Reference:
    fields = {name: _plain(values[name]) for name in _FIELDS if name in values}
    files = values.get("file", "")
    ends = {end for written in (files, _plain(files)) for end in path_ends(written)}  # some write LaTeX in it, too
    return make_reference(fields, _names(values.get("author") or values.get("editor", "")), frozenset(ends))


def _names(value: str) -> Iterator[str]:
    """The names of people in the order in which they are read; a name in braces is one of an organization."""
    for name in split_multiple_persons_names(value[:_FIELD_CHARS]):
        parts = parse_single_name_into_parts(name, strict=False)
        if name != _OTHERS:
            yield _plain(" ".join((*parts.first, *parts.von, *parts.last, *parts.jr)))


def _plain(value: str) -> str:
    """A value without LaTeX: accents as letters, no braces."""
    value = value[:_FIELD_CHARS]
    if any(sign in value for sign in "\\{~"):
        value = LatexNodes2Text(math_mode="text").latex_to_text(value)
    return " ".join(value.split())
