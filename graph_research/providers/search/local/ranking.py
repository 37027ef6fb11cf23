"""Ranking: which documents answer a question, and which of their passages.

A passage's value is BM25 over its text, the headings above it and its document's title, where a word of the title
counts four times. How rare a term is and how long passages are is counted in the searched folders alone. A passage is
searched for the question's terms in its own language, and the parts of a name or compound count as one word. A document
is worth what its best passage is. Of a page in several languages the version in the question's language is searched,
else the English one. Relevance is the share of the question's weight (how rarely the language uses each word) that the
best passage of a search carries; that of every other passage is as much smaller as its value.

With an embedding model, the passages that rank best by their words are ranked by meaning too, as sentences are.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from pathlib import PurePosixPath

import orjson

from graph_research.providers.search.base import Passage
from graph_research.providers.search.local.index import Index, Row
from graph_research.providers.search.local.passage_ids import LENGTH_MASK, folder_of
from graph_research.providers.search.local.query import name_shares, query_terms
from graph_research.providers.search.local.translations import left_out
from graph_research.text.bm25 import MOST_SATURATED, length_norm, rarity
from graph_research.text.language.tags import question_language
from graph_research.text.language.versions import asked_version
from graph_research.text.relevance.embedding import Embedder, nearness
from graph_research.text.relevance.ranking import MEANING, OLD_VERSION

_CANDIDATES = 200  # passages, of which the best document may have many
_TITLE = 4  # times that a word of the title counts
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_NAMED_VERSION = re.compile(r"[^\W\d_][\w-]*\s+\d+(?:\.\d+)+(?![\w%]|[.,]\d)")
_RANKED_BY_MEANING = 30


@dataclass(frozen=True)
class RankedDocument:
    """A document's row, its best passages, best first, with their relevance as score, and the URLs of the same page in
    other languages."""

    row: Row
    passages: Sequence[Passage]
    translations: Sequence[str]


def rank(
    index: Index,
    text: str,
    *,
    folders: Sequence[int] | None,
    most: int,
    most_passages: int,
    language: str,
    embedder: Embedder | None = None,
) -> list[RankedDocument]:
    """The best documents, best first; each text once, and each page in one language: `language` (empty: that of
    `text`), else English, else that of the best passage. `folders` None is the whole index."""
    languages = index.rows("languages", folders=_json(folders))
    weights = query_terms(text, [row["language"] for row in languages])
    passages, length = (sum(row[size] for row in languages) for size in ("passages", "length"))
    counts = _counts_by_term(index, weights, languages, folders)
    sizes = {term: sum(row["passages"] for row in languages if term in weights[row["language"]]) for term in counts}
    worths = _worths(counts, name_shares(text, weights), sizes, length / max(1, passages))
    versions: dict[Hashable, list[Row]] = {}
    for row in index.rows("pages", folders=_json(folders)):
        versions.setdefault(_page(row), []).append(row)
    if versions:
        hidden = left_out(versions.values(), language or question_language(text))
        [row] = index.rows("passages_of", documents=_json(hidden))
        for passage in orjson.loads(f"[{row['ids'] or ''}]"):
            for worth in worths.values():
                worth.pop(passage, None)
    values = _sums(worths)
    rows = _best(index, values, max(_CANDIDATES, most * most_passages))
    if embedder is not None:
        rows = _by_meaning(index, text, rows, embedder)
    rows = _other_releases_behind(_old_versions_behind(rows, text), text)
    share = max(_covered(counts, rows[0]["id"], one) for one in weights.values()) / rows[0]["value"] if rows else 0
    return [
        RankedDocument(
            found[0],
            [Passage(start=row["start"], end=row["end"], score=share * row["value"]) for row in found[:most_passages]],
            [other["url"] for other in versions.get(_page(found[0]), ()) if other["id"] != found[0]["document"]],
        )
        for found in islice(_each_once(rows), most)
    ]


def _counts_by_term(
    index: Index, weights: Mapping[str, Collection[str]], languages: Sequence[Row], folders: Sequence[int] | None
) -> dict[str, Counter[int]]:
    """How often each passage has each term of its language: the stem of a word in another language is often that of
    another word ("server" is "serv" in Danish, as "serve" is in English)."""
    largest, *others = [row["language"] for row in sorted(languages, key=lambda row: -row["passages"])] or [""]
    within: dict[str, set[int]] = {}
    for language in others:
        [row] = index.rows("passages_in", language=language, folders=_json(folders))
        within[language] = set(orjson.loads(f"[{row['ids'] or ''}]"))
    counts = {}
    for term in sorted({term for terms in weights.values() for term in terms}):
        found = counts[term] = _counts(index, term, folders)
        having, lacking = (
            set[int]().union(*(within[language] for language in others if (term in weights[language]) is has))
            for has in (True, False)
        )
        wrong = found.keys() & lacking if term in weights[largest] else found.keys() - having
        for passage in wrong:
            del found[passage]
    return counts


def _counts(index: Index, term: str, folders: Sequence[int] | None) -> Counter[int]:
    """How often each of the searched passages has a term; 3.40 stands in 3.40.1 too."""
    [row] = index.rows("occurrences_of_version" if _VERSION.fullmatch(term) else "occurrences", term=term)
    anywhere, in_title = (Counter(orjson.loads(f"[{row[column] or ''}]")) for column in ("anywhere", "in_title"))
    for passage, count in in_title.items():
        anywhere[passage] += (_TITLE - 1) * count
    if folders is None:
        return anywhere
    return Counter({passage: count for passage, count in anywhere.items() if folder_of(passage) in folders})


def _worths(
    counts: Mapping[str, Mapping[int, int]], shares: Mapping[str, float], sizes: Mapping[str, int], average: float
) -> dict[str, dict[int, float]]:
    """What each term adds, with its share, to the BM25 of each passage that has it. It is as rare as it is among the
    passages in its languages (`sizes`): the few pages in another language than most have terms that no other page
    has."""
    norm = cache(partial(length_norm, average_length=average))
    worths = {}
    for term, found in counts.items():
        if found:
            most = shares[term] * rarity(sizes[term], len(found)) * MOST_SATURATED
            worths[term] = {
                passage: most * count / (count + norm(passage & LENGTH_MASK)) for passage, count in found.items()
            }
    return worths


def _sums(worths: Mapping[str, Mapping[int, float]]) -> dict[int, float]:
    """BM25 of each passage."""
    values: dict[int, float] = {}
    for found in worths.values():
        for passage, worth in found.items():
            values[passage] = values.get(passage, 0.0) + worth
    return values


def _each_once(rows: Iterable[Row]) -> list[list[Row]]:
    """The rows of each document, without those of which a better one has the same text or is the same page."""
    shown: dict[Hashable, int] = {}
    documents: dict[int, list[Row]] = {}
    for row in rows:
        keys = [key for key in (row["text_hash"], _page(row)) if key is not None]
        if all(shown.get(key, row["document"]) == row["document"] for key in keys):
            shown.update((key, row["document"]) for key in keys)
            documents.setdefault(row["document"], []).append(row)
    return list(documents.values())


def _page(row: Row) -> tuple[int, str] | None:
    """The page of which a document is a version in one language; None where it has no other."""
    return None if row["page"] is None else (row["folder"], row["page"])


def _best(index: Index, values: Mapping[int, float], most: int) -> list[Row]:
    """The best passages, best first."""
    least = min(heapq.nlargest(most, values.values()), default=0.0)
    best = sorted((-value, passage) for passage, value in values.items() if value >= least)[:most]
    rows = index.rows("passages", ids=_json(sorted(passage for _, passage in best)))
    return sorted(({**row, "value": values[row["id"]]} for row in rows), key=lambda row: -row["value"])


def _json(value: object) -> str | None:
    return None if value is None else orjson.dumps(value).decode()


def _old_versions_behind(rows: Sequence[Row], text: str) -> list[Row]:
    """Passages of superseded documents are worth less, and never more than the newer version's best, but for those of
    a version that the query names."""
    best: dict[tuple[int, str], float] = {}
    for row in rows:
        place = (row["folder"], row["url"])
        best[place] = max(row["value"], best.get(place, 0.0))

    def weighed(row: Row) -> Row:
        if row["superseded"] is None or _is_asked(row, text):
            return row
        newer: float = best.get((row["folder"], row["superseded"]), float(row["value"]))
        return {**row, "value": min(row["value"], newer) * OLD_VERSION}

    return sorted(map(weighed, rows), key=lambda row: -row["value"])


def _other_releases_behind(rows: Sequence[Row], text: str) -> list[Row]:
    """Where titles hold a name with its version as the query does, passages of pages whose titles differ from these in
    numbers alone are worth less than the best of these: 3.2 stands in 3.2.1 too, and in the title of each page of 3.2's
    manual."""
    asked = {match[0].casefold() for match in _NAMED_VERSION.finditer(text)}
    exact = [row for row in rows if asked & {match[0].casefold() for match in _NAMED_VERSION.finditer(_title(row))}]
    best: dict[str, float] = {}
    for row in exact:
        series = _VERSION.sub("", _title(row))
        best[series] = max(row["value"], best.get(series, 0.0))
    own = {row["document"] for row in exact}

    def weighed(row: Row) -> Row:
        most = best.get(_VERSION.sub("", _title(row))) if row["document"] not in own else None
        return row if most is None else {**row, "value": min(row["value"], most) * OLD_VERSION}

    return sorted(map(weighed, rows), key=lambda row: -row["value"])


def _title(row: Row) -> str:
    return row["own_title"] or ""


def _is_asked(row: Row, text: str) -> bool:
    """Whether a query names the version of a superseded document, and not that of the newer one."""
    asked = asked_version(text, row["own_title"], PurePosixPath(row["url"]).stem)
    return bool(asked) and asked_version(text, PurePosixPath(row["superseded"]).stem) != asked


def _by_meaning(index: Index, text: str, rows: Sequence[Row], embedder: Embedder) -> list[Row]:
    best = rows[:_RANKED_BY_MEANING]
    documents = {number: index.document(number) for number in {row["document"] for row in best}}
    texts = [f"{row['own_title']}. {documents[row['document']].text[row['start'] : row['end']]}" for row in best]
    asked, *vectors = embedder.vectors([text, *texts])
    gains = nearness(asked, vectors)
    nearer = [{**row, "value": row["value"] + MEANING * gain} for row, gain in zip(best, gains, strict=True)]
    return sorted([*nearer, *rows[_RANKED_BY_MEANING:]], key=lambda row: -row["value"])


def _covered(counts: Mapping[str, Mapping[int, int]], passage: int, weights: Mapping[str, float]) -> float:
    """The share of the question's weight that the terms in a passage have, 0 to 1."""
    return sum(weight for term, weight in weights.items() if passage in counts[term]) / sum(weights.values())
