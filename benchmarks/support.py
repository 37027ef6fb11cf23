"""Whether sentences are told apart that follow from what they cite and sentences that nearly do.

    python benchmarks/support.py [--pairs FILE] [--half tune|check] [--verifier MODEL]

FILE (`benchmarks/data/support.jsonl`) has a passage a line, with sentences that cite it: true ones in three degrees of
paraphrase (`same`, `reworded`, `free`) and false ones by their one error. All of it is made up, so that nothing can be
known from elsewhere; `en>de` is German about an English passage. Measured are the score of a report's sentence, its
status (cited or unsupported, and among equals the score), and plain coverage of words, at the threshold that is best
on the half called `tune`. MODEL, such as `openai:MODEL@http://127.0.0.1:8080/v1`, verifies each sentence too, with the
prompt of the report's verifier; without it that part is left out. `--half` prints the sentences of a half whose status
is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.quality.plain import mean
from benchmarks.quality.support import RULES, SPLITS, Case, auc_of, best_threshold, coverage_of, macro_f1
from benchmarks.quality.switches import nothing, switched_off
from benchmarks.quality.table import Line, show
from benchmarks.quality.verifier import model_of, verdicts
from graph_research.research.evidence import claim_support
from graph_research.research.evidence.claim_support import CitedPassage, Judgement, Status, judge
from graph_research.research.models.draft import StatementKind
from graph_research.text.relevance.support import SUPPORTED

PAIRS = Path(__file__).parent / "data" / "support.jsonl"
TRUE = ("same", "reworded", "free")


@dataclass
class Pair(Case):
    """A sentence, the passage that it cites, and what a verifier said: 1 supported, 0.5 partly, 0 not."""

    title: str = ""
    language: str = ""
    verdict: float | None = None

    @cached_property
    def judgement(self) -> Judgement:
        passages = [CitedPassage(1, quote, valid=True, title=self.title) for quote in self.quotes]
        return judge(self.claim, StatementKind.FACT, passages)


def pairs_in(file: Path) -> list[Pair]:
    """Every sentence of the file with its passage."""
    return [
        Pair(text, [row["quote"]], kind, kind in TRUE, row["split"], row["title"], row["language"])
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())
        for kind, text in row["claims"]
    ]


def lines(pairs: Sequence[Pair]) -> Iterator[Line[Pair]]:
    """AUC and macro-F1 by half, what the status says of each degree of paraphrase, AUC and catch by kind of error."""
    tuned = best_threshold([pair for pair in pairs if pair.split == "tune"])
    measured = [("score", _score, SUPPORTED), ("status", _status, 1.0)]
    if pairs[0].verdict is not None:
        measured.append(("verifier", _verdict, 1.0))
    plain_f1 = partial(macro_f1, coverage_of, tuned)
    for name, value, threshold in measured:
        for split in SPLITS:
            half = [pair for pair in pairs if pair.split == split]
            yield Line(f"{name}, {split}: AUC", half, auc_of(value), auc_of(coverage_of))
            yield Line(f"{name}, {split}: macro-F1", half, partial(macro_f1, value, threshold), plain_f1)
    for what, switch in (RULES | {"names that nothing has": (claim_support, "new_names", nothing)}).items():
        with switched_off(switch):
            statuses = {id(pair): _status(replace(pair)) for pair in pairs}
        without = auc_of(lambda pair, statuses=statuses: statuses[id(pair)])
        yield Line(f"status: AUC without {what} (plain: with)", pairs, without, auc_of(_status))
    for name, value, threshold in measured:
        for label in dict.fromkeys(pair.label for pair in pairs):
            kind = [pair for pair in pairs if pair.label == label]
            said, plain = partial(_called, value, threshold), partial(_called, coverage_of, tuned)
            yield Line(f"{name}: called supported, {'true' if label in TRUE else 'false'}: {label}", kind, said, plain)
        for label in dict.fromkeys(pair.label for pair in pairs if not pair.supported):
            kind = [pair for pair in pairs if pair.supported or pair.label == label]
            yield Line(f"{name}: true against {label}, AUC", kind, auc_of(value), auc_of(coverage_of))
        for language in dict.fromkeys(pair.language for pair in pairs):
            own = [pair for pair in pairs if pair.language == language]
            yield Line(f"{name}: AUC in {language}", own, auc_of(value), auc_of(coverage_of))


def _score(pair: Pair) -> float:
    return pair.judgement.score


def _status(pair: Pair) -> float:
    return pair.judgement.score + (pair.judgement.status is not Status.UNSUPPORTED)


def _verdict(pair: Pair) -> float:
    return pair.verdict or 0.0


def _called(value: Callable[[Pair], float], threshold: float, pairs: Sequence[Pair]) -> float:
    return mean(value(pair) >= threshold for pair in pairs)


async def verify(pairs: Sequence[Pair], spec: str) -> None:
    """Ask a model for its verdict on each pair; what it does not answer counts as not supported."""
    async with model_of(spec) as model:
        said = await verdicts([(pair.claim, pair.quotes[0], pair.title) for pair in pairs], model)
    print(f"  {spec}: {sum(value is None for value in said)} of {len(said)} sentences without a verdict")
    for pair, value in zip(pairs, said, strict=True):
        pair.verdict = value or 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, default=PAIRS)
    parser.add_argument("--half", choices=SPLITS)
    parser.add_argument("--verifier", metavar="MODEL", default=os.environ.get("SUPPORT_VERIFIER"))
    given = parser.parse_args()
    pairs = pairs_in(given.pairs)
    if given.verifier:
        asyncio.run(verify(pairs, given.verifier))
    for pair in pairs if given.half else ():
        if pair.split == given.half and (pair.judgement.status is not Status.UNSUPPORTED) != pair.supported:
            print(f"  {pair.label:9} {pair.judgement.score:.2f} {pair.claim}  ({pair.judgement.problem})")
    for line in lines(pairs):
        show(line, random.Random(0))


if __name__ == "__main__":
    main()
