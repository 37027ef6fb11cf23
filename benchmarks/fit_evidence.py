"""Fit the coefficients of the product's scores on the halves of judged sets that are there to tune on, and print them.

usage: python -m benchmarks.fit_evidence --data FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.quality import support
from benchmarks.quality.sets import sets_in


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of judged sets")
    sets = sets_in(parser.parse_args().data)
    for name, fitted in {"graph_research/text/relevance/support.py": support.coefficients(sets)}.items():
        print(name)
        for feature, value in fitted.items():
            print(f'    "{feature}": {value:.3f},')


if __name__ == "__main__":
    main()
