"""Quality of ranking, short answers, "not found", support and conflicts, beside plain methods on the same texts.

    python benchmarks/evidence.py --data FOLDER [--only PART ...] [--embed NAME]

FOLDER holds judged sets as `benchmarks/quality/sets.py` describes them. Each line prints our figure, the plain method's
(BM25 over stemmed words, shared words), the 95 % bootstrap interval of the difference, the number of items, and the
bound where there is one. What was fitted was fitted on the halves called `tune` (`benchmarks/fit_evidence.py`); `check`
was only measured. `--embed` takes what the setting `embedding_model` takes, and adds lines that compare ranking with
it and without it. Ends with 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.quality import answers, conflicts, library, ranking, support
from benchmarks.quality.sets import sets_in
from benchmarks.quality.table import show
from graph_research.text.relevance.embedding import load_embedder

_PARTS = {
    "library": library.lines,
    "ranking": ranking.lines,
    "answers": answers.lines,
    "support": support.lines,
    "conflicts": conflicts.lines,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of judged sets")
    parser.add_argument("--only", nargs="+", choices=sorted(_PARTS), default=sorted(_PARTS), help="parts to measure")
    parser.add_argument("--embed", metavar="NAME", help="embedding model to measure too: a folder or a package")
    given = parser.parse_args()
    embedder = load_embedder(given.embed) if given.embed else None
    parts = _PARTS | {
        "library": partial(library.lines, embedder=embedder),
        "ranking": partial(ranking.lines, embedder=embedder),
    }
    sets = sets_in(given.data)
    missed = 0
    for name in given.only:
        started = time.perf_counter()
        print(name)
        for line in parts[name](sets):
            missed += not show(line, random.Random(0))
        print(f"  ({time.perf_counter() - started:.0f} s)")
    print(f"{missed} bounds missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
