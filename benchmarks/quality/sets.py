"""Sets of judged texts: `docs.jsonl`, `queries.jsonl`, `qrels.jsonl` and `pairs.jsonl` of a folder, one object a line.

docs: `id`, `title`, `text`, `sents` (offset at which each sentence begins). queries: `id`, `text`, `split`, and what a
kind of set has (`answers`, `long_answer`, `answerable`, `gold_answers`, `wrong_answers`). qrels: `query_id`, `doc_id`,
`relevance`, `evidence` (alternative sets of sentence numbers), `label`. pairs: `claim`, `evidence`, `label`, `split`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

from graph_research.text.document import Document
from graph_research.text.readers.plain import plain_document

Row = dict[str, Any]


@dataclass
class Text:
    """A document of a set: the product's own `document`, and the set's sentences as spans of its text."""

    id: str
    title: str
    text: str
    sents: Sequence[int]

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """`(start, end)` of each sentence, without the white space after it."""
        ends = [*self.sents[1:], len(self.text)]
        return [(a, a + len(self.text[a:b].rstrip())) for a, b in zip(self.sents, ends, strict=True)]

    @cached_property
    def sentences(self) -> list[str]:
        return [self.text[a:b] for a, b in self.spans]

    @cached_property
    def document(self) -> Document:
        """The text as the product reads it; its offsets are those of `text`."""
        read = plain_document(self.text)
        same = read.text == self.text
        return Document(text=self.text, blocks=read.blocks if same else (), title=self.title)


@dataclass
class Set:
    """One folder of judged texts."""

    name: str
    texts: list[Text] = field(default_factory=list)
    queries: list[Row] = field(default_factory=list)
    judged: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    pairs: list[Row] = field(default_factory=list)

    @cached_property
    def number(self) -> dict[str, int]:
        return {text.id: number for number, text in enumerate(self.texts)}

    @cached_property
    def firsts(self) -> list[int]:
        """The number of each text's first sentence among all sentences of the set, and behind the last their count."""
        return list(accumulate((len(text.sents) for text in self.texts), initial=0))

    def relevant(self, query: Row) -> list[int]:
        """Numbers of the texts that are judged relevant."""
        return [self.number[row["doc_id"]] for row in self.judged[query["id"]] if row["relevance"]]

    def gold(self, query: Row) -> set[tuple[int, int]]:
        """`(text number, sentence number)` of all evidence."""
        rows = self.judged[query["id"]]
        return {(self.number[row["doc_id"]], i) for row in rows for one in row["evidence"] for i in one}


def sets_in(folder: Path) -> list[Set]:
    """Every set at or below `folder`, by name; raises `SystemExit` where there is none."""
    places = sorted({file.parent for kind in ("docs", "pairs") for file in folder.rglob(f"{kind}.jsonl")})
    if not places:
        raise SystemExit(f"{folder}: no docs.jsonl or pairs.jsonl in this folder or below it")
    return [_read(place, str(place.relative_to(folder)) if place != folder else place.name) for place in places]


def _read(place: Path, name: str) -> Set:
    read = Set(name=name, queries=_rows(place / "queries.jsonl"), pairs=_rows(place / "pairs.jsonl"))
    read.texts = [Text(row["id"], row["title"], row["text"], row["sents"]) for row in _rows(place / "docs.jsonl")]
    for row in _rows(place / "qrels.jsonl"):
        read.judged[row["query_id"]].append(row)
    return read


def _rows(file: Path) -> list[Row]:
    if not file.is_file():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
