"""Fit the coefficients of the product's scores on the halves of judged sets that are there to tune on, and print them.

python benchmarks/fit_evidence.py --data FOLDER
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.quality import answers, support
from benchmarks.quality.sets import sets_in


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of judged sets")
    sets = sets_in(parser.parse_args().data)
    for name, fitted in {
        "graph_research/text/relevance/answerability.py": answers.coefficients(sets),
        "graph_research/text/relevance/support.py": support.coefficients(sets),
    }.items():
        print(name)
        for feature, value in fitted.items():
            print(f'    "{feature}": {value:.3f},')


if __name__ == "__main__":
    main()
