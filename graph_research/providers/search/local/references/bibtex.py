"""BibTeX files."""

from __future__ import annotations

import calendar
import logging
from collections.abc import Sequence

from bibtexparser.entrypoint import parse_string
from bibtexparser.library import Library
from bibtexparser.middlewares.parsestack import default_parse_stack
from bibtexparser.model import Block, DuplicateBlockKeyBlock, Entry, ParsingFailedBlock
from pylatexenc.latex2text import LatexNodes2Text

from graph_research.providers.search.local.references.reference import (
    Reference,
    ReferenceInvalid,
    make_reference,
    path_ends,
)

_FIELDS = ("title", "author", "publisher", "institution", "journal", "date", "year", "month", "doi")
_MONTHS = {name.lower(): f"{number:02}" for number, name in enumerate(calendar.month_abbr) if name}
_FIELD_CHARS = 5_000
for _package in ("bibtexparser", "pylatexenc"):
    logging.getLogger(_package).addHandler(logging.NullHandler())  # malformed entries are named by us


def bibtex_items(text: str) -> Sequence[Block]:
    """The entries of a file, those with the key of another too, and the parts that are none."""
    blocks = parse_string(text, parse_stack=[]).blocks
    library = Library([_with_own_key(block, number) for number, block in enumerate(blocks)])
    for middleware in default_parse_stack():
        library = middleware.transform(library)
    return [block for block in library.blocks if isinstance(block, Entry | ParsingFailedBlock)]


def _with_own_key(block: Block, number: int) -> Block:
    """The block, an entry under its number: the parser does not read the fields of one whose key it has already."""
    entry = block.ignore_error_block if isinstance(block, DuplicateBlockKeyBlock) else block
    if not isinstance(entry, Entry):
        return block
    entry.key = str(number)
    return entry


def bibtex_reference(block: Block) -> Reference:
    """The reference in an entry; raises `ReferenceInvalid` for a part of the file that is malformed."""
    if not isinstance(block, Entry):
        raise ReferenceInvalid(f"line {(block.start_line or 0) + 1:,}")
    values = {name.lower(): str(field.value) for name, field in block.fields_dict.items()}
    fields = {name: _plain(values[name]) for name in _FIELDS if name in values}
    month = fields.get("month", "")
    fields["month"] = _MONTHS.get(month[:3].lower(), month)
    return make_reference(fields, frozenset(path_ends(values.get("file", ""))))


def _plain(value: str) -> str:
    """A value without LaTeX: accents as letters, no braces."""
    value = value[:_FIELD_CHARS]
    if "\\" in value or "{" in value:
        value = LatexNodes2Text(math_mode="text").latex_to_text(value)
    return " ".join(value.split())
