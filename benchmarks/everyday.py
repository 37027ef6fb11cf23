"""What a user waits for: `--help`, the demo's report, indexing HTML pages, and indexing them again.

    python benchmarks/everyday.py [--html FOLDER] [--rounds N]

Prints the median wall seconds of whole commands, each beside its bound. `--html` is a folder of HTML pages; without it
Debian's `python3-doc` is used where it is installed, else the part is left out and said so.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = Path(sys.executable).with_name("graph-research")
PYTHON_DOC = Path("/usr/share/doc/python3-doc/html")
PAGES = 500


def seconds_of(command: Sequence[str], home: Path, folder: Path) -> float:
    """Wall seconds of one command; its failure ends the benchmark."""
    started = time.perf_counter()
    subprocess.run(
        [str(SCRIPT), *command],
        cwd=folder,
        env={**os.environ, "GRAPH_RESEARCH_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - started


def show(what: str, seconds: Sequence[float], bound: float) -> None:
    """One row: median, spread and bound."""
    median = statistics.median(seconds)
    verdict = "ok" if median < bound else "OVER"
    print(f"{what:<44} {median:8.2f} s  ({min(seconds):.2f} to {max(seconds):.2f})  bound {bound:g} s  {verdict}")


def copy_pages(source: Path, target: Path) -> int:
    """Copy up to PAGES HTML pages with their folders; returns how many."""
    pages = sorted(source.resolve().rglob("*.html"))[:PAGES]
    for page in pages:
        copy = target / page.relative_to(source.resolve())
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(page, copy)
    return len(pages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--html", type=Path, default=PYTHON_DOC)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rounds = range(options.rounds)
        show("--help", [seconds_of(["--help"], folder / "home", folder) for _ in range(9)], 0.4)

        question = (ROOT / "examples" / "question.txt").read_text().strip()
        demo = ["run", question, "--library", str(ROOT / "examples" / "library"), "--out", "out"]
        show("the demo's report, from nothing", [seconds_of(demo, folder / f"demo-{n}", folder) for n in rounds], 60)

        if not options.html.is_dir():
            print(f"indexing: left out, {options.html} is no folder (apt-get install python3-doc, or --html FOLDER)")
            return
        count = copy_pages(options.html, folder / "pages")
        add = ["library", "add", str(folder / "pages")]
        show(f"indexing {count} HTML pages", [seconds_of(add, folder / f"index-{n}", folder) for n in rounds], 60)
        again = [seconds_of(add, folder / "index-0", folder) for _ in rounds]
        show(f"indexing {count} HTML pages again", again, 3)


if __name__ == "__main__":
    main()
