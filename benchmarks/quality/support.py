"""Support of claims by their cited texts: judged pairs, judged claims, and true claims made false in one way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from benchmarks.quality.corruptions import corrupted, reworded
from benchmarks.quality.logistic import fit, probability
from benchmarks.quality.plain import auc, mean, terms
from benchmarks.quality.sets import Set
from benchmarks.quality.switches import NO_MATCH, Switch, switched_off, zero
from benchmarks.quality.table import Line
from graph_research.text.language import quantities, stated
from graph_research.text.relevance import support as module
from graph_research.text.relevance.support import COEFFICIENTS, SUPPORTED, Support, support
from graph_research.text.relevance.support import _Comparison as Comparison

SPLITS = ("tune", "check")
_TRUE = {"support", "supports", "supported", "attributable", "entailment", "entailed", "true"}
_OF_SENTENCES = "sentences corrupted"
_SENTENCES = 80  # of a set and a half that are reworded and corrupted
RULES: dict[str, Switch] = {
    "denials of the claim": (Comparison, "_denied_by_claim", zero),
    "denials of the quotes": (Comparison, "_denied_by_quotes", zero),
    "names that change places": (Comparison, "_order", zero),
    "values that change places": (Comparison, "_exchanged", zero),
    "figures of something else": (Comparison, "_misplaced", zero),
    "words such as by": (module, "TURNING", {}),
    "words that count, such as both": (stated, "COUNTS", {}),
    "about": (quantities, "_ABOUT", NO_MATCH),
    "rates": (quantities, "_PER", NO_MATCH),
    "a second and third sentence": (module, "_SENTENCES", 1),
}
"""What a feature is worked out with."""
_FEATURES = [name for name in COEFFICIENTS if name != "constant"]


@dataclass
class Case:
    """A claim and the text that it cites; `label` is what people said, or the kind of error that was put in."""

    claim: str
    quotes: Sequence[str]
    label: str
    supported: bool
    split: str

    @cached_property
    def judged(self) -> Support:
        return support(self.claim, self.quotes)

    @cached_property
    def coverage(self) -> float:
        """The plain method: how many of the claim's stemmed words stand anywhere in the text."""
        wanted, there = set(terms(self.claim)), {term for quote in self.quotes for term in terms(quote)}
        return len(wanted & there) / (len(wanted) or 1)


def lines(sets: list[Set]) -> Iterator[Line[Case]]:
    """AUC and macro-F1 of each half, AUC by label and by kind of error, and what each feature is worth."""
    for name, cases in groups(sets).items():
        bound = 0.05 if name in {one.name for one in sets if one.pairs} else None
        tuned = best_threshold([case for case in cases if case.split == "tune"] or cases)
        ours_f1, plain_f1 = partial(macro_f1, score_of, SUPPORTED), partial(macro_f1, coverage_of, tuned)
        for split in SPLITS:
            if half := [case for case in cases if case.split == split]:
                yield Line(
                    f"{name}, {split}: support AUC", half, auc_of(score_of), auc_of(coverage_of), bound, over_plain=True
                )
                yield Line(f"{name}, {split}: support macro-F1", half, ours_f1, plain_f1)
        rest = [case for case in cases if case.split == "check"] or cases
        for label in sorted({case.label for case in rest if not case.supported}):
            kind = [case for case in rest if case.supported or case.label == label]
            yield Line(f"{name}: supported against {label}, AUC", kind, auc_of(score_of), auc_of(coverage_of))
        if name.endswith((" corrupted", " quoted")) and name != _OF_SENTENCES:
            continue
        for feature in _FEATURES:
            without = auc_of(partial(_logit, without=feature))
            yield Line(f"{name}: AUC without {feature} (plain: with)", rest, without, auc_of(score_of))
        for rule, switch in RULES.items():
            with switched_off(switch):
                scores = {id(case): support(case.claim, case.quotes).score for case in rest}
            without = auc_of(lambda case, scores=scores: scores[id(case)])
            yield Line(f"{name}: AUC without {rule} (plain: with)", rest, without, auc_of(score_of))


def groups(sets: list[Set]) -> dict[str, list[Case]]:
    """The cases by where they come from: each judged set with whole texts and with the proving sentences alone, its
    true claims corrupted, and corrupted sentences of all sets."""
    found: dict[str, list[Case]] = defaultdict(list)
    for one in sets:
        for case, quoted in (*_pairs(one), *_claims(one)):
            found[one.name].append(case)
            found[f"{one.name} quoted"].append(quoted)
            if case.supported:
                found[f"{one.name} corrupted"] += _with_errors(case)
        for case in _sentences(one):
            found[_OF_SENTENCES] += _with_errors(case)
    return dict(found)


def coefficients(sets: list[Set]) -> dict[str, float]:
    """The features' coefficients, fitted on the halves to tune on.

    Each group has a constant of its own while the features are fitted, so that sets of other lengths and other shares
    of true claims do not blur them; then one constant is fitted for all. A judged set weighs twice as much as a
    corrupted one, true claims as much as false ones, and each kind of error as much as another.
    """
    cases = {
        name: [case for case in found if case.split == "tune"]
        for name, found in groups(sets).items()
        if not name.endswith(" quoted")
    }
    rows, labels, weights = [], [], []
    for name, found in cases.items():
        own = [float(name == other) for other in cases]
        for case, weight in zip(found, _weights(found), strict=True):
            rows.append([*(case.judged.features[feature] for feature in _FEATURES), *own])
            labels.append(case.supported)
            weights.append(weight if "corrupted" in name else 2 * weight)
    total = len(rows) / sum(weights)
    weights = [weight * total for weight in weights]
    found_values = dict(zip(_FEATURES, fit(rows, labels, weights), strict=False))
    logits = [sum(value * found_values[name] for name, value in zip(_FEATURES, row, strict=False)) for row in rows]
    return {"constant": _constant(logits, labels, weights), **found_values}


def _constant(logits: Sequence[float], labels: Sequence[bool], weights: Sequence[float]) -> float:
    """What makes the mean score the share of true claims."""
    low, high = -50.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        excess = sum(
            weight * (probability(logit + middle) - label)
            for logit, label, weight in zip(logits, labels, weights, strict=True)
        )
        low, high = (low, middle) if excess > 0 else (middle, high)
    return low


def _weights(cases: Sequence[Case]) -> list[float]:
    """1 in all for the supported cases and 1 for the others, the same for each label among them."""
    labels = defaultdict[tuple[bool, str], int](int)
    for case in cases:
        labels[case.supported, case.label] += 1
    kinds = {supported: sum(key[0] == supported for key in labels) for supported in (True, False)}
    return [1 / labels[case.supported, case.label] / kinds[case.supported] for case in cases]


def _pairs(one: Set) -> Iterator[tuple[Case, Case]]:
    """Each claim with the page it cites, and with the sentences alone that prove it."""
    for row in one.pairs:
        quotes = [quote for quote in row["evidence"] if not quote.startswith("(meta")] or row["evidence"]
        case = _case(row["claim"], quotes, str(row["label"]), row.get("split", "check"))
        yield case, _quoted(case, row["evidence"], row.get("support") or [])


def _claims(one: Set) -> Iterator[tuple[Case, Case]]:
    """The same for queries whose judgements say whether the document supports them."""
    if not any(str(row.get("label")).lower() in _TRUE for rows in one.judged.values() for row in rows):
        return
    for query in one.queries:
        for row in one.judged[query["id"]]:
            text = one.texts[one.number[row["doc_id"]]]
            case = _case(query["text"], [text.title, *text.sentences], str(row["label"]), query["split"])
            yield case, _quoted(case, text.sentences, row["evidence"])


def _quoted(case: Case, sentences: Sequence[str], evidence: Sequence[Sequence[int]]) -> Case:
    """The claim with its first set of evidence, or else with the two sentences that share most of its words."""
    wanted = set(terms(case.claim))
    likest = sorted(range(len(sentences)), key=lambda number: -len(wanted & set(terms(sentences[number]))))[:2]
    quotes = [sentences[number] for number in sorted(evidence[0] if evidence else likest)]
    return Case(case.claim, quotes, case.label, case.supported, case.split)


def _case(claim: str, quotes: Sequence[str], label: str, split: str) -> Case:
    return Case(claim, quotes, label, label.lower() in _TRUE, split)


def _sentences(one: Set) -> Iterator[Case]:
    """A reworded sentence from the middle of each of the first documents that a query judges."""
    counts = dict.fromkeys(SPLITS, 0)
    splits = {row["doc_id"]: query["split"] for query in reversed(one.queries) for row in one.judged[query["id"]]}
    for text in one.texts:
        split = splits.get(text.id, "")
        fit_to_use = [
            sentence
            for sentence in text.sentences
            if 8 <= len(sentence.split()) <= 40 and sentence[0].isupper() and sentence.endswith(".")
        ]
        if fit_to_use and counts.get(split, _SENTENCES) < _SENTENCES:
            counts[split] += 1
            sentence = fit_to_use[len(fit_to_use) // 2]
            yield Case(reworded(sentence), [text.title, *text.sentences], "true", True, split)


def _with_errors(case: Case) -> Iterator[Case]:
    yield case
    for kind, claim in corrupted(case.claim, " . ".join(case.quotes)):
        yield Case(claim, case.quotes, kind, False, case.split)


def score_of(case: Case) -> float:
    return case.judged.score


def _logit(case: Case, *, without: str = "") -> float:
    return sum(COEFFICIENTS[name] * value for name, value in case.judged.features.items() if name != without)


def coverage_of(case: Case) -> float:
    return case.coverage


def auc_of(value: Callable[[Case], float]) -> Callable[[Sequence[Case]], float]:
    return lambda cases: auc([value(c) for c in cases if c.supported], [value(c) for c in cases if not c.supported])


def macro_f1(value: Callable[[Case], float], threshold: float, cases: Sequence[Case]) -> float:
    said = [(value(case) >= threshold, case.supported) for case in cases]
    return mean(
        2 * sum(a == b == side for a, b in said) / (sum((a == side) + (b == side) for a, b in said) or 1)
        for side in (True, False)
    )


def best_threshold(cases: Sequence[Case]) -> float:
    return max(sorted({case.coverage for case in cases}), key=lambda value: macro_f1(coverage_of, value, cases))
