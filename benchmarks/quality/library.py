"""Ranking and speed of the library beside plain BM25 over whole documents.

`python -m benchmarks.quality.library --data FOLDER [--large]` prints these lines alone; `--large` adds the time of a
query among 100,000 passages, which takes minutes to prepare. The weight of titles was chosen on the `tune` halves.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import random
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.quality.plain import BM25, best, mean
from benchmarks.quality.sets import Set, Text, sets_in
from benchmarks.quality.switches import Switch, switched_off
from benchmarks.quality.table import Line, show
from graph_research.providers.search.local import Library, ranking
from graph_research.providers.search.local.index import Index, document_entry
from graph_research.text.document import Document
from graph_research.text.language.terms import STOP_WORDS
from graph_research.text.readers.plain import plain_document
from graph_research.text.relevance.embedding import Embedder

_FEWEST_TEXTS = 10
_MANY_DOCUMENTS = 5_000
_MANY_PASSAGES = 100_000
_QUERIES = 200
_FOUND = 30  # ten and their copies
_RULES: dict[str, Switch] = {"a title counts once": (ranking, "_TITLE", 1)}
_Item = dict[str, float]


def lines(sets: Sequence[Set], embedder: Embedder | None = None) -> Iterator[Line[Any]]:
    """nDCG@10 of each set with judged documents and what the method consists of, then times; and what an embedder
    gains and takes."""
    judged = [known for known in sets if len(known.texts) >= _FEWEST_TEXTS and known.queries]
    with tempfile.TemporaryDirectory() as folder:
        for number, known in enumerate(judged):
            yield from _ranking_lines(known, Path(folder, f"{number}.db"), embedder)
        if judged:
            yield from _speed_lines(judged, Path(folder), embedder)


def large_lines(sets: Sequence[Set]) -> Iterator[Line[Any]]:
    """The time of a query among 100,000 passages."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.db")
        passages = _index(path, _large_documents(sets), most_passages=_MANY_PASSAGES)
        yield _p50(f"library: ms of a query among {passages:,} passages, p50", Library(path), sets, bound=50.0)


def _ranking_lines(known: Set, path: Path, embedder: Embedder | None) -> Iterator[Line[Any]]:
    _index(path, (_document(text) for text in known.texts))
    plain, whole = BM25(f"{text.title} {text.text}" for text in known.texts), _fts5(known)
    first_of: dict[str, int] = {}
    same_text = [first_of.setdefault(text.text, number) for number, text in enumerate(known.texts)]
    items: dict[str, list[_Item]] = defaultdict(list)
    libraries = {"ours": Library(path)}
    if embedder:
        libraries["with the embedder"] = Library(path, embedder=embedder)
    for query in known.queries:
        if relevant := {same_text[number] for number in known.relevant(query)}:
            text = query["text"]
            scores = plain.scores(text)
            ranked = {
                **{name: _found(library, text) for name, library in libraries.items()},
                "BM25": best(scores, scores, _FOUND),
                "FTS5": whole(text),
            }
            for name, switch in _RULES.items():
                with switched_off(switch):
                    ranked[name] = _found(libraries["ours"], text)
            items[query["split"]].append(
                {name: _ndcg([same_text[number] for number in order], relevant) for name, order in ranked.items()}
            )
    for split, figures in sorted(items.items()):
        for name in ("BM25", "FTS5"):
            yield _compared(f"{known.name}: nDCG@10 ({split}), plain is {name}", figures, "ours", name)
        if embedder:
            what = f"{known.name}: nDCG@10 ({split}) with the embedder, plain is ours"
            yield _compared(what, figures, "with the embedder", "ours")
        for name in _RULES:
            yield _compared(f"{known.name}: nDCG@10 ({split}) if {name}, plain is ours", figures, name, "ours")
    path.unlink()


def _found(library: Library, text: str) -> list[int]:
    return [int(document.facts.url) for document in asyncio.run(library.find(text, limit=10))]


def _compared(what: str, items: Sequence[_Item], ours: str, plain: str) -> Line[_Item]:
    return Line(
        what,
        items,
        lambda sample: mean(item[ours] for item in sample),
        lambda sample: mean(item[plain] for item in sample),
    )


def _ndcg(ranked: Sequence[int], relevant: set[int]) -> float:
    """`ranked` may name a text several times, since sets have copies; the library shows a text once."""
    best_ten = list(dict.fromkeys(ranked))[:10]
    gain = sum(1 / math.log2(place + 2) for place, number in enumerate(best_ten) if number in relevant)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(10, len(relevant))))


def _fts5(known: Set) -> Callable[[str], list[int]]:
    """FTS5 as its documentation shows it: Porter stems of title and text, any of the words, bm25."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE plain USING fts5 (text, tokenize = 'porter unicode61')")
    rows = ((number, f"{text.title} {text.text}") for number, text in enumerate(known.texts))
    connection.executemany("INSERT INTO plain (rowid, text) VALUES (?, ?)", rows)

    def search(text: str) -> list[int]:
        words = [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in words)
        query = f"SELECT rowid FROM plain WHERE plain MATCH ? ORDER BY bm25(plain), rowid LIMIT {_FOUND}"
        return [number for (number,) in connection.execute(query, (match,))] if match else []

    return search


def _document(text: Text) -> Document:
    return replace(plain_document(text.text), title=text.title)


def _index(path: Path, documents: Iterator[Document], most_passages: int | None = None) -> int:
    """Make an index whose URLs are the documents' numbers; the number of passages."""
    passages = 0
    with Index(path) as index:
        folder = index.folder("/texts")
        entries = []
        for number, document in enumerate(documents):
            url = str(number)
            facts = {
                "path": url,
                "mtime_ns": 0,
                "size": 0,
                "bytes_hash": url,
                "content_type": "text/plain",
                "entry": "{}",
            }
            entries.append(document_entry({"folder": folder, "url": url, **facts}, document))
            passages += len(entries[-1].passages)
            if most_passages and passages >= most_passages:
                break
        index.store(entries)
    return passages


def _speed_lines(sets: Sequence[Set], folder: Path, embedder: Embedder | None) -> Iterator[Line[Any]]:
    documents, home = folder / "documents", folder / "home"
    documents.mkdir()
    texts = islice(cycle([text for known in sets for text in known.texts]), _MANY_DOCUMENTS)
    for number, text in enumerate(texts):
        suffix, sign = ("md", "# ") if number % 2 else ("txt", "")
        (documents / f"{number}.{suffix}").write_text(f"{sign}{text.title}\n\n{text.text}\n", encoding="utf-8")
    started = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "graph_research", "library", "add", str(documents)],
        env={**os.environ, "GRAPH_RESEARCH_HOME": str(home)},
        check=True,
        capture_output=True,
    )
    what = f"library: seconds of `library add` with {_MANY_DOCUMENTS:,} files"
    yield Line(what, [time.monotonic() - started], statistics.median, bound=5.0, at_most=True)
    path = home / "index" / "library.db"
    what = f"library: ms of a query among {_MANY_DOCUMENTS:,} files, p50"
    yield _p50(what, Library(path), sets, bound=10.0)
    if embedder:
        yield _p50(f"{what}, with the embedder", Library(path, embedder=embedder), sets)


def _p50(what: str, library: Library, sets: Sequence[Set], *, bound: float | None = None) -> Line[Any]:
    """A whole search each: the index opened, ten documents read from it, passages cut out."""
    queries = [query["text"] for known in sets for query in known.queries]

    async def times() -> list[float]:
        measured = []
        for text in random.Random(1).sample(queries, min(_QUERIES, len(queries))):
            started = time.perf_counter()
            await library.search(text)
            measured.append((time.perf_counter() - started) * 1000)
        return measured

    return Line(what, asyncio.run(times()), statistics.median, bound=bound, at_most=True)


def _large_documents(sets: Sequence[Set]) -> Iterator[Document]:
    """Texts of 60 sentences from anywhere in the sets, without end."""
    sentences = [sentence for known in sets for text in known.texts for sentence in text.sentences]
    chance = random.Random(1)
    while True:
        yield plain_document("\n\n".join(" ".join(chance.choices(sentences, k=6)) for _ in range(10)))


def main() -> None:
    """Print the lines of the sets in a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--large", action="store_true")
    arguments = parser.parse_args()
    sets = sets_in(arguments.data)
    for line in (*lines(sets), *(large_lines(sets) if arguments.large else ())):
        show(line, random.Random(1))


if __name__ == "__main__":
    main()
