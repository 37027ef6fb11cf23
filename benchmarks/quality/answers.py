"""The short answer, and whether there is one: ROUGE-L, answerable or not, questions about something else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial

from benchmarks.quality import logistic
from benchmarks.quality.plain import BM25, auc, best, mean, rouge_l
from benchmarks.quality.sets import Row, Set, Text
from benchmarks.quality.switches import NO_MATCH, Switch, always, switched_off
from benchmarks.quality.table import Line
from graph_research.text.language.questions import asked_kind
from graph_research.text.relevance import query as query_module
from graph_research.text.relevance import ranking, short_answer
from graph_research.text.relevance.answerability import FOUND, Features, features
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank
from graph_research.text.relevance.short_answer import Candidate, chosen
from graph_research.text.relevance.units import Unit

_FOUND_DOCUMENTS = 10
_EACH_OFF_TOPIC = 4  # of the other sets' questions every fourth is asked
_LEFT_OUT = 0.957  # the share of off-topic questions that the threshold leaves out
_SPLITS = ("check", "tune")
_RULES: dict[str, Switch] = {
    "figures that count against a yes or no": (short_answer, "_OF_NUMBERS", 0.0),
    "what states nothing": (short_answer, "states_something", always),
    "labels before values": (short_answer, "LABELLED", NO_MATCH),
    "topics before a colon": (query_module, "_TOPIC_END", NO_MATCH),
}
"""Of the choice of a short answer."""


@dataclass(frozen=True)
class Answer:
    """How good a short answer is, ours and the plain one: ROUGE-L, beside the two best sentences by BM25; or whether
    its first quotation holds a right answer, beside the best sentence by BM25."""

    split: str
    ours: float
    plain: float


@dataclass(frozen=True)
class Judged:
    """A question with its features; `plain` is the best sentence's BM25 as a part of its maximum."""

    kind: str
    split: str
    answerable: bool
    features: Features
    plain: float = 0.0

    @property
    def score(self) -> float:
        return self.features.score

    @property
    def found(self) -> bool:
        return self.score >= FOUND


def lines(sets: list[Set]) -> Iterator[Line[Answer] | Line[Judged]]:
    """Short answers from the right documents, then found or not found."""
    for one in sets:
        answers = list(_answers(one))
        for split in _SPLITS:
            if kept := [answer for answer in answers if answer.split == split]:
                yield Line(
                    f"{one.name}, {split}: ROUGE-L of the short answer",
                    kept,
                    _ours,
                    _plain,
                    bound=0.01,
                    over_plain=True,
                )
        yield from _without(f"{one.name}: ROUGE-L of the short answer", answers, partial(_answers, one))
        yield from _lead_lines(one)
        yield from _holding_lines(one)
    judged = [case for one in sets for case in cases(one, sets)]
    for split in _SPLITS:
        yield from _found_lines([case for case in judged if case.split == split], split)


def _found_lines(judged: Sequence[Judged], split: str) -> Iterator[Line[Judged]]:
    passages = [case for case in judged if case.kind.endswith("passage")]
    for kind in sorted({case.kind for case in passages if not case.answerable}):
        kept = [case for case in passages if case.kind == kind]
        yield Line(f"{kind}, {split}: answerable, AUC", kept, _auc_of_score, _auc_of_plain)
        yield Line(f"{kind}, {split}: answerable, macro-F1", kept, _macro_f1)
    own = [case for case in judged if case.kind.endswith("library") and case.answerable]
    for kind in sorted({case.kind for case in own}):
        yield Line(f"{kind}, {split}: wrongly not found", [case for case in own if case.kind == kind], _not_found)
    yield Line(f"all, {split}: wrongly not found", own, _not_found, bound=0.10, at_most=True)
    other = [case for case in judged if case.kind.endswith("off-topic")]
    yield Line(f"all, {split}: off-topic questions answered", other, _answered, bound=0.05, at_most=True)
    yield Line(f"all, {split}: own against off-topic questions, AUC", [*own, *other], _auc_of_score)
    for kind in sorted({case.kind for case in judged if case.kind.endswith("near")}):
        kept = [case for case in judged if case.kind in (kind, kind.replace(" near", " library"))]
        yield Line(f"{kind}, {split}: own texts against others on the subject, AUC", kept, _auc_of_score)


def cases(one: Set, sets: Sequence[Set]) -> Iterator[Judged]:
    """The set's questions over its ten best texts, over these without the judged ones, which are about the same subject
    and seldom answer, and over the judged one; and other sets' questions over its texts."""
    if not one.queries:
        return
    documents = BM25(f"{text.title} {text.text}" for text in one.texts)
    sentences = BM25(sentence for text in one.texts for sentence in text.sentences)
    for query in one.queries:
        answerable = bool(query.get("answerable", one.relevant(query)))
        if "answerable" in query:
            numbers = [one.number[row["doc_id"]] for row in one.judged[query["id"]]]
            plain = _best_sentence(one, numbers, sentences, query["text"])
            yield _judged(one, f"{one.name} passage", query, answerable, numbers, plain)
        if _has_evidence(one, query):
            found = _ten(one, documents, query)
            yield _judged(one, f"{one.name} library", query, answerable, found)
            if answerable and (others := [number for number in found if number not in one.relevant(query)]):
                yield _judged(one, f"{one.name} near", query, False, others)
    for other in sets:
        for query in other.queries[::_EACH_OFF_TOPIC] if other is not one else ():
            yield _judged(one, f"{one.name} off-topic", query, False, _ten(one, documents, query))


def coefficients(sets: list[Set]) -> dict[str, float]:
    """Fitted on the tuning halves, where each kind of question of each set has the same weight; and the threshold."""
    tune = (case for one in sets for case in cases(one, sets) if case.split == "tune")
    known = [case for case in tune if not case.kind.endswith("near")]
    rows = [[1.0, *astuple(case.features)] for case in known]
    sizes: dict[tuple[str, bool], int] = {}
    for case in known:
        sizes[case.kind, case.answerable] = sizes.get((case.kind, case.answerable), 0) + 1
    weights = [1_000.0 / sizes[case.kind, case.answerable] for case in known]
    found = logistic.fit(rows, [case.answerable for case in known], weights, ridge=1.0)
    fitted = dict(zip(("constant", *(row.name for row in fields(Features))), found, strict=True))
    other = [_logit(row, found) for row, case in zip(rows, known, strict=True) if case.kind.endswith("off-topic")]
    return {**fitted, "FOUND": logistic.probability(sorted(other)[int(_LEFT_OUT * len(other))])}


def _logit(row: Sequence[float], coefficients: Sequence[float]) -> float:
    return sum(value * coefficient for value, coefficient in zip(row, coefficients, strict=True))


def _answers(one: Set) -> Iterator[Answer]:
    sentences = BM25(sentence for text in one.texts for sentence in text.sentences)
    for query in one.queries:
        references = query.get("answers") or ([query["long_answer"]] if query.get("long_answer") else [])
        numbers = [one.number[row["doc_id"]] for row in one.judged[query["id"]]]
        if not references or len(numbers) != 1:
            continue
        text = one.texts[numbers[0]]
        scores = sentences.scores(query["text"])
        two = sorted(best(scores, range(one.firsts[numbers[0]], one.firsts[numbers[0] + 1]), 2))
        plain = " ".join(text.sentences[unit - one.firsts[numbers[0]]] for unit in two)
        ours = " ".join(unit.text for unit in sorted(_quoted([text], query), key=lambda unit: unit.start))
        yield Answer(
            query["split"], max(rouge_l(ours, r) for r in references), max(rouge_l(plain, r) for r in references)
        )


def _quoted(texts: Sequence[Text], query: Row) -> list[Unit]:
    """The units of the short answer, best first."""
    asked = parse(query["text"])
    ranked = rank(Pool({text.id: text.document for text in texts}), asked)
    candidates = [Candidate(item.unit.text, item.score, kind=item.unit.kind) for item in ranked]
    return [ranked[position].unit for position in chosen(asked, candidates)]


def _lead_lines(one: Set) -> Iterator[Line[Answer]]:
    """Whether the first quotation from the judged texts holds a right answer, and for questions that ask when, without
    the weight of a date too."""
    asked = [query for query in one.queries if "gold_answers" in query]
    dated = [query for query in asked if asked_kind(query["text"], "en") == "date"]
    for split in _SPLITS if asked else ():
        for what, queries in (("", asked), (", asked when", dated)):
            kept = list(_leads(one, [query for query in queries if query["split"] == split]))
            yield Line(f"{one.name}, {split}: first quotation has the answer{what}", kept, _ours, _plain)
        with switched_off((ranking, "_VALUED", 0.0)):
            without = list(_leads(one, [query for query in dated if query["split"] == split]))
        both = [replace(off, plain=on.ours) for on, off in zip(kept, without, strict=True)]
        yield Line(f"{one.name}, {split}: the same without `valued` (plain: with it)", both, _ours, _plain)


def _holding_lines(one: Set) -> Iterator[Line[Answer]]:
    """Whether the short answer from the ten best texts holds a right answer, beside the three best sentences."""
    held = list(_holding(one))
    for split in _SPLITS if held else ():
        kept = [answer for answer in held if answer.split == split]
        yield Line(f"{one.name}, {split}: short answer of 10 documents holds a right one", kept, _ours, _plain)
    yield from _without(f"{one.name}: short answer of 10 documents holds a right one", held, partial(_holding, one))


def _without(what: str, given: Sequence[Answer], measure: Callable[[], Iterable[Answer]]) -> Iterator[Line[Answer]]:
    """The same without each rule, beside what it is with them."""
    for rule, switch in _RULES.items() if given else ():
        with switched_off(switch):
            answers = list(measure())
        both = [replace(off, plain=on.ours) for on, off in zip(given, answers, strict=True)]
        yield Line(f"{what} without {rule} (plain: with)", both, _ours, _plain)


def _holding(one: Set) -> Iterator[Answer]:
    asked = [query for query in one.queries if _short_answers(query)]
    documents = BM25(f"{text.title} {text.text}" for text in one.texts)
    sentences = BM25(sentence for text in one.texts for sentence in text.sentences)
    written = [sentence for text in one.texts for sentence in text.sentences]
    for query in asked:
        numbers = _ten(one, documents, query)
        units = [unit for number in numbers for unit in range(one.firsts[number], one.firsts[number + 1])]
        plain = [written[unit] for unit in best(sentences.scores(query["text"]), units, 3)]
        ours = [unit.text for unit in _quoted([one.texts[number] for number in numbers], query)]
        yield Answer(query["split"], *(_holds(texts, _short_answers(query)) for texts in (ours, plain)))


def _short_answers(query: Row) -> list[str]:
    """The right answers to a question for a name, a date or a number, as the set gives them."""
    if "long_answer" in query:
        return []
    given = query.get("gold_answers") or [query.get("answer", "")]
    return [answer for answer in given if answer.lower() not in ("", "yes", "no")]


def _leads(one: Set, queries: Sequence[Row]) -> Iterator[Answer]:
    sentences = BM25(sentence for text in one.texts for sentence in text.sentences)
    written = [sentence for text in one.texts for sentence in text.sentences]
    for query in queries:
        numbers = sorted({one.number[row["doc_id"]] for row in one.judged[query["id"]]})
        units = [unit for number in numbers for unit in range(one.firsts[number], one.firsts[number + 1])]
        plain = [written[unit] for unit in best(sentences.scores(query["text"]), units, 1)]
        ours = [unit.text for unit in _quoted([one.texts[number] for number in numbers], query)[:1]]
        yield Answer(query["split"], *(_holds(texts, query["gold_answers"]) for texts in (ours, plain)))


def _holds(texts: Sequence[str], answers: Sequence[str]) -> float:
    return float(any(answer.casefold() in text.casefold() for text in texts for answer in answers))


def _judged(one: Set, kind: str, query: Row, answerable: bool, numbers: Sequence[int], plain: float = 0.0) -> Judged:
    pool = Pool({one.texts[number].id: one.texts[number].document for number in numbers})
    return Judged(kind, query["split"], answerable, features(pool, parse(query["text"])), plain)


def _ten(one: Set, documents: BM25, query: Row) -> list[int]:
    return best(documents.scores(query["text"]), range(len(one.texts)), _FOUND_DOCUMENTS)


def _has_evidence(one: Set, query: Row) -> bool:
    """Whether the set says that its texts answer the query or do not; a claim without evidence is neither."""
    rows = one.judged[query["id"]]
    return "answerable" in query or not any("label" in row for row in rows) or any(row["evidence"] for row in rows)


def _best_sentence(one: Set, numbers: Sequence[int], sentences: BM25, question: str) -> float:
    scores = sentences.scores(question)
    units = [unit for number in numbers for unit in range(one.firsts[number], one.firsts[number + 1])]
    return max((scores.get(unit, 0.0) for unit in units), default=0.0) / sentences.most(question)


def _ours(answers: Sequence[Answer]) -> float:
    return mean(answer.ours for answer in answers)


def _plain(answers: Sequence[Answer]) -> float:
    return mean(answer.plain for answer in answers)


def _auc_of_score(judged: Sequence[Judged]) -> float:
    return auc([c.score for c in judged if c.answerable], [c.score for c in judged if not c.answerable])


def _auc_of_plain(judged: Sequence[Judged]) -> float:
    return auc([c.plain for c in judged if c.answerable], [c.plain for c in judged if not c.answerable])


def _not_found(judged: Sequence[Judged]) -> float:
    return mean(not case.found for case in judged)


def _answered(judged: Sequence[Judged]) -> float:
    return mean(case.found for case in judged)


def _macro_f1(judged: Sequence[Judged]) -> float:
    scores = []
    for wanted in (True, False):
        hit = sum(case.found == case.answerable == wanted for case in judged)
        told, true = (sum(value == wanted for value in values) for values in _columns(judged))
        scores.append(2 * hit / (told + true) if told + true else 0.0)
    return mean(scores)


def _columns(judged: Sequence[Judged]) -> tuple[list[bool], list[bool]]:
    return [case.found for case in judged], [case.answerable for case in judged]
