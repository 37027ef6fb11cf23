"""Conflicts: do two documents of a question contradict each other, and is nothing else called a contradiction?

A set has what it needs where documents are judged with a `label` and the `answer` that each gives. A pair of documents
is right where one is labelled `misinfo`, neither `noise`, and their answers differ; all pairs flagged in any question
count for precision. A question is numeric where a correct and a wrong answer hold digits.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import inf

from benchmarks.quality.plain import BM25, best
from benchmarks.quality.sets import Row, Set, Text
from benchmarks.quality.switches import NO_MATCH, Switch, always, never, switched_off
from benchmarks.quality.table import Line
from graph_research.research.extractive.analysis import analyze
from graph_research.text.language import quantities
from graph_research.text.relevance import conflicts, statements
from graph_research.text.relevance.conflicts import Conflict, find_contradictions
from graph_research.text.relevance.statements import SourceSentence
from tests.support.research.extractive_sources import PLANTED, demo_material

_NUMERIC = ("number", "date")
_NEAR_COPY = 0.1
_RUN_WORDS = 5
Pair = tuple[str, str]


_WITHOUT: dict[str, Switch] = {
    "words around that only one has": (statements, "_LEAST_ALIKE", 0.0),
    "nearness to the value": (statements, "_HALF", inf),
    "brackets and commas that keep words apart": (statements, "_MARK", NO_MATCH),
    "names that only one has": (statements, "_other_names", never),
    "subjects of titles": (statements, "other_subject", never),
    "titles for sentences without a name": (statements, "_leans", never),
    "titles of two things of one kind": (statements, "_SIBLINGS", inf),
    "further values that differ": (statements, "further_values", never),
    "words that bind to a scope": (statements, "SCOPES", {}),
    "clauses with words of their own": (statements, "_same_attribute", always),
    "sources that share few words": (conflicts, "_of_one_thing", always),
    "sources on two sides": (conflicts, "_disjoint_sources", list),
    "labels before numbers": (quantities, "_LABEL_BEFORE", NO_MATCH),
    "numbers within names": (quantities, "_NO_VALUE", NO_MATCH),
    "numbers before a colon or letter": (quantities, "_NO_VALUE_AFTER", NO_MATCH),
    "about": (quantities, "_ABOUT", NO_MATCH),
    "at most": (quantities, "_AT_MOST", NO_MATCH),
}
_WITHOUT_OTHER: dict[str, Switch] = {
    "denials": (conflicts, "NEGATIONS", {}),
    "opposites": (conflicts, "opposites", dict),
    "names": (conflicts, "is_name", never),
}
"""Of conflicts without numbers."""


@dataclass(frozen=True)
class Judged:
    """What was flagged in one question: pairs of documents by ours and by the plain methods, and the right ones."""

    holds: bool
    right: frozenset[Pair]
    ours: frozenset[Pair]
    copies: frozenset[Pair] = frozenset()
    numbers: frozenset[Pair] = frozenset()


def lines(sets: list[Set]) -> Iterator[Line]:
    """Precision and recall of numeric and other conflicts by half, without near copies, and without each rule; and
    what is flagged in texts that nobody judged, most of it wrongly."""
    plain_texts = []
    for one in sets:
        if any("label" in row and "answer" in row for rows in one.judged.values() for row in rows):
            yield from _halves(one)
            yield from _without(one, _WITHOUT, _NUMERIC, _is_numeric)
            yield from _without(one, _WITHOUT_OTHER, ("statement",), _is_other)
        elif one.texts:
            sentences = [sentence for text in one.texts for sentence in _sentences(text)]
            flagged = len(find_contradictions(sentences))
            yield Line(f"{one.name}: flagged in {len(sentences)} sentences of all its texts", [flagged], _first)
            if flagged:
                plain_texts.append(sentences)
    for what, switch in _WITHOUT.items():
        with switched_off(switch):
            found = sum(len(find_contradictions(sentences)) for sentences in plain_texts)
        yield Line(f"these sets without {what}: flagged", [found], _first)
    yield from _demo_lines()


def _demo_lines() -> Iterator[Line]:
    """What is found in the demo library of its planted conflicts, and what else, with each rule and without it."""
    planted, others = _demo()
    yield Line("demo library: planted conflicts found", [planted], _first, bound=len(PLANTED["disagreements"]))
    yield Line("demo library: other conflicts", [others], _first, bound=0.0, at_most=True)
    for what, switch in (_WITHOUT | _WITHOUT_OTHER).items():
        with switched_off(switch):
            planted, others = _demo()
        yield Line(f"demo library without {what}: planted conflicts found", [planted], _first)
        yield Line(f"demo library without {what}: other conflicts", [others], _first)


def _demo() -> tuple[int, int]:
    found = [
        {(e.source_id, s.value) for s in row.sides for e in s.evidence} for row in analyze(demo_material()).conflicts
    ]
    wanted = [{(side["file"], side["value"]) for side in row["sides"]} for row in PLANTED["disagreements"]]
    planted = sum(any(sides <= said for said in found) for sides in wanted)
    return planted, sum(not any(sides <= said for sides in wanted) for said in found)


def _without(
    one: Set, rules: Mapping[str, Switch], kinds: Sequence[str], asked: Callable[[Sequence[Row]], bool]
) -> Iterator[Line]:
    judged = [_judge(one, query, kinds, asked) for query in one.queries]
    for what, switch in rules.items():
        with switched_off(switch):
            without = [_judge(one, query, kinds, asked).ours for query in one.queries]
        both = [replace(case, copies=pairs) for case, pairs in zip(judged, without, strict=True)]
        name = f"{one.name}, {'/'.join(kinds)}, without {what} (plain: with)"
        for measure, shown in ((_precision, "precision"), (_recall, "recall")):
            yield Line(f"{name}: {shown}", both, partial(measure, by="copies"), partial(measure, by="ours"))


def _halves(one: Set) -> Iterator[Line]:
    index = BM25(sentence for text in one.texts for sentence in text.sentences)
    for split in ("tune", "check"):
        queries = [query for query in one.queries if query["split"] == split]
        for what, kinds, asked in (("numeric", _NUMERIC, _is_numeric), ("other", ("statement",), _is_other)):
            judged = [_judge(one, query, kinds, asked, index) for query in queries]
            bounds = (0.8, 0.3) if what == "numeric" else (None, None)
            for plain in ("copies", "numbers") if what == "numeric" else ("copies",):
                name = f"{one.name} {split}, {what} (plain: {plain})"
                yield _line(f"{name}: precision of questions", judged, _precision, plain, bounds[0])
                yield _line(f"{name}: recall of questions", judged, _recall, plain, bounds[1])
                yield _line(f"{name}: precision of pairs of documents", judged, _pair_precision, plain, None)
            far = [Judged(j.holds, j.right - j.copies, j.ours - j.copies, numbers=j.numbers - j.copies) for j in judged]
            name = f"{one.name} {split}, {what}, near copies left out"
            yield _line(f"{name}: precision of questions", far, _precision, "numbers", None)
            yield _line(f"{name}: recall of questions", far, _recall, "numbers", None)


def _line(
    what: str, judged: Sequence[Judged], measure: Callable[..., float], plain: str, bound: float | None
) -> Line[Judged]:
    return Line(what, judged, partial(measure, by="ours"), partial(measure, by=plain), bound)


def _judge(
    one: Set, query: Row, kinds: Sequence[str], asked: Callable[[Sequence[Row]], bool], index: BM25 | None = None
) -> Judged:
    rows = one.judged[query["id"]]
    texts = {row["doc_id"]: one.texts[one.number[row["doc_id"]]] for row in rows}
    found = find_contradictions([sentence for text in texts.values() for sentence in _sentences(text)])
    ours = {pair for conflict in found if conflict.kind in kinds for pair in _pairs(conflict)}
    right = {_pair(a["doc_id"], b["doc_id"]) for a, b in combinations(rows, 2) if _contradict(a, b)}
    if index is None:
        return Judged(asked(rows), frozenset(right), frozenset(ours))
    runs = {name: _runs(text.text) for name, text in texts.items()}
    likeness = {_pair(a, b): len(runs[a] & runs[b]) / max(1, len(runs[a] | runs[b])) for a, b in combinations(texts, 2)}
    copies = {pair for pair, alike in likeness.items() if alike >= _NEAR_COPY}
    return Judged(asked(rows), frozenset(right), frozenset(ours), frozenset(copies), _other_numbers(one, query, index))


def _other_numbers(one: Set, query: Row, index: BM25) -> frozenset[Pair]:
    """Pairs whose best sentences hold numbers, but none in common."""
    scores, first, places = index.scores(query["text"]), 0, {}
    wanted = {row["doc_id"] for row in one.judged[query["id"]]}
    for text in one.texts:
        if text.id in wanted:
            top = best(scores, range(first, first + len(text.sents)), 1)[0] - first
            places[text.id] = set(re.findall(r"\d[\d,.]*\d|\d", text.sentences[top]))
        first += len(text.sents)
    return frozenset(
        _pair(a, b) for a, b in combinations(places, 2) if places[a] and places[b] and not places[a] & places[b]
    )


def _sentences(text: Text) -> Iterator[SourceSentence]:
    for start, end in text.spans:
        if start < end:
            yield SourceSentence(source_id=text.id, text=text.text[start:end], start=start, end=end, title=text.title)


def _pairs(conflict: Conflict) -> Iterator[Pair]:
    for a, b in combinations(conflict.sides, 2):
        yield from (_pair(x.source_id, y.source_id) for x in a.evidence for y in b.evidence)


def _pair(one: str, other: str) -> Pair:
    return (one, other) if one < other else (other, one)


def _contradict(one: Row, other: Row) -> bool:
    labels = {one["label"], other["label"]}
    return "misinfo" in labels and "noise" not in labels and one["answer"] != other["answer"]


def _is_numeric(rows: Sequence[Row]) -> bool:
    holding: dict[str, bool] = defaultdict(bool)
    for row in rows:
        holding[row["label"]] |= bool(re.search(r"\d", row["answer"]))
    return holding["correct"] and holding["misinfo"]


def _is_other(rows: Sequence[Row]) -> bool:
    return any(row["label"] == "misinfo" for row in rows) and not _is_numeric(rows)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[^\W_]+", text.lower())
    return {tuple(words[i : i + _RUN_WORDS]) for i in range(len(words) - _RUN_WORDS + 1)}


def _flagged(one: Judged, by: str) -> frozenset[Pair]:
    pairs: frozenset[Pair] = getattr(one, by)
    return pairs


def _precision(judged: Sequence[Judged], by: str) -> float:
    """Of the questions with a flagged pair, the share with a right one."""
    flagged = [one for one in judged if _flagged(one, by)]
    return sum(bool(_flagged(one, by) & one.right) for one in flagged) / max(1, len(flagged))


def _recall(judged: Sequence[Judged], by: str) -> float:
    """Of the questions that hold such a conflict, the share with a right pair flagged."""
    holding = [one for one in judged if one.holds]
    return sum(bool(_flagged(one, by) & one.right) for one in holding) / max(1, len(holding))


def _pair_precision(judged: Sequence[Judged], by: str) -> float:
    flagged = sum(len(_flagged(one, by)) for one in judged)
    return sum(len(_flagged(one, by) & one.right) for one in judged) / max(1, flagged)


def _first(found: Sequence[int]) -> float:
    return float(found[0])
