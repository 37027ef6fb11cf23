"""Entries: where a text explains what it names as a heading, a term or a signature, such as a setting or an option."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from graph_research.text.document import Block, Document
from graph_research.text.language.words import MOST_WEIGHT, language_of, weight
from graph_research.text.sentences import SENTENCE_ENDS

_MOST_KEPT = 128
_HEAD_CHARS = {"item": 80, "paragraph": 120, "heading": 80, "code": 300}
_MOST_HEADS, _MOST_WORDS = 4, 4
"""More names in a row are a list of names, and a longer heading is no name."""
_MOST_CHARS = 8_000
"""What is longer is a chapter."""
_OPTION = r"(?<![\w-])--?[A-Za-z][\w-]*"
_JOINED = r"(?<![\w.])[A-Za-z]\w*(?:[._]\w+)+"
_CAMEL = r"(?<![\w.])(?:[A-Z][a-z\d]+){2,}(?!\w)"
_CAPITALS = r"(?<![\w.])[A-Z]{2,}(?: [A-Z]{2,})+(?!\w)"
_NAME = re.compile("|".join((_OPTION, _JOINED, _CAMEL, _CAPITALS)))
_WORD = re.compile(r"(?<![\w.-])[a-z]{4,}(?![\w-])")
_ONE_WORD = re.compile(r"(?:[A-Z]{2,} )?([a-z]{4,})(?: \(.*\))?")
_SIGNATURE = re.compile(r"(?:[a-z]+ ){0,2}[\w.]+\(.*\)", re.DOTALL)
_ARGUMENTS = re.compile(r"(?<=\w)\(.*\)", re.DOTALL)
_PLACEHOLDER = re.compile(r"[=\[<].*")


@dataclass(frozen=True, slots=True)
class Entry:
    """`document.text[start:end]` of the document `source`, which begins with the name and holds what explains it."""

    name: str
    source: str
    start: int
    end: int


def names_in(text: str) -> list[str]:
    """What a text writes as names are written: `max_connections`, `KeepAliveTimeout`, `FOR UPDATE`, options behind one
    or two dashes, and words that its language does not know, such as `fsync`; each once, in order."""
    language = language_of(text)
    found = [(match.start(), match[0]) for match in _NAME.finditer(text)]
    found += [(match.start(), match[0]) for match in _WORD.finditer(text) if weight(match[0], language) == MOST_WEIGHT]
    return list(dict.fromkeys(name for _, name in sorted(found)))


class Entries:
    """What some documents explain, by name."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        found = ((source, _entries(document)) for source, document in documents.items())
        self._of_sources = sorted(found, key=lambda pair: -len(pair[1]))

    def named(self, text: str, besides: Collection[str] = ()) -> Iterator[Entry]:
        """The entry of each name in a text, in order, but of those `besides`; of several that of the document that
        explains most things."""
        for name in names_in(text):
            spans = ((source, spans[name]) for source, spans in self._of_sources if name in spans)
            for source, span in islice(spans, 0 if name in besides else 1):
                yield Entry(name, source, *span)


@lru_cache(maxsize=_MOST_KEPT)
def _entries(document: Document) -> dict[str, tuple[int, int]]:
    """Where the first entry of each name stands."""
    found: dict[str, tuple[int, int]] = {}
    blocks = document.blocks
    heads = [_names_of(document, number) for number in range(len(blocks))]
    number = 0
    while number < len(blocks):
        first = number
        while number < len(blocks) and heads[number]:
            number += 1
        if first == number:
            number += 1
        elif number - first <= _MOST_HEADS and number < len(blocks) and blocks[number].kind in ("paragraph", "table"):
            head = document.text[blocks[first].start : blocks[first].end]
            again = document.text.startswith(head, blocks[number].start)
            start, end = blocks[number if again else first].start, _end(blocks, heads, first, number)
            for name in (name for names in heads[first:number] for name in names if end - start <= _MOST_CHARS):
                found.setdefault(name, (start, end))
    return found


def _end(blocks: Sequence[Block], heads: Sequence[Sequence[str]], first: int, body: int) -> int:
    """Where an entry ends: before the next heading, below a heading before the next that is no smaller, or before the
    next head of its kind."""
    kind, level = blocks[first].kind, blocks[first].level or 6
    for number in range(body + 1, len(blocks)):
        block = blocks[number]
        is_next = heads[number] and (block.kind == kind or kind == "item")
        if (block.kind == "heading" and block.level <= level) or (is_next and kind != "heading"):
            return blocks[number - 1].end
    return blocks[-1].end


def _names_of(document: Document, number: int) -> list[str]:
    """The names that a block is, if it is nothing else."""
    block = document.blocks[number]
    written = document.text[block.start : block.end]
    if len(written) > _HEAD_CHARS.get(block.kind, 0) or written.endswith(SENTENCE_ENDS) or block.level == 1:
        return []
    if block.kind == "code" and not _SIGNATURE.fullmatch(written):
        return []
    bare = _ARGUMENTS.sub("", written)
    if block.kind != "item" and len(bare.split()) > _MOST_WORDS and not written.endswith(";"):
        return []
    names = [_PLACEHOLDER.sub("", match[0]) for match in _NAME.finditer(bare)]
    names += [last for name in names if _NAME.fullmatch(last := name.rpartition(".")[2]) and last != name]
    if word := _ONE_WORD.fullmatch(bare):
        names.append(word[1])
    return [name for name in names if name not in document.title]
