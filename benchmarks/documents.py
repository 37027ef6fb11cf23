"""How long documents take: web pages and chunks by their size, PDFs, a library of 10,000 files, a folder of your own;
and what is shown of 150 long documents in a small window.

    python benchmarks/documents.py [--files 10000] [--folder FOLDER] [--only pages pdfs library window folder]

Prints CPU seconds with the ratio to half the size (2 is linear), PDF pages a second with the peak memory of the child
and of this process, files a second of an indexing and milliseconds of a search; of a research with the models of
`tests/support/network/fake_services.py`, whose window of 32,000 tokens refuses longer prompts, how many sources it has
and how much of them was shown; with `--only folder` how many files of a folder (`/usr/share/doc`) are read, with the
reasons of the others. Ends with 1 where a bound is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import io
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from wordfreq import top_n_list, word_frequency

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from graph_research.providers.search.local import Library
from graph_research.text.canonical import canonical_text
from graph_research.text.chunks import chunks
from graph_research.text.evidence import select_evidence
from graph_research.text.readers import PDF
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.html import html_document
from graph_research.text.readers.limits import Limits
from tests.support.network.fake_services import Faults, open_world

SCRIPT = Path(sys.executable).with_name("graph-research")
MEGABYTE = 1_000_000
QUESTION = "How long do the shaft seals of the turbines last?"
PARTS = ("pages", "pdfs", "library", "window", "folder")
WINDOW, LONG_DOCUMENTS = 32_000, 150


class Bounds:
    """Prints rows and remembers which bound was missed."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def show(
        self, what: str, value: float, unit: str, *, most: float | None = None, least: float | None = None
    ) -> None:
        holds = (most is None or value <= most) and (least is None or value >= least)
        bound = f"  at most {most:g}" if most is not None else f"  at least {least:g}" if least is not None else ""
        print(f"{what:<52} {value:10.2f} {unit}{bound}{'' if holds else '  MISSED'}", flush=True)
        if not holds:
            self.missed.append(what)


@cache
def vocabulary() -> tuple[list[str], list[float]]:
    """English words and how often they are used, added up."""
    known = top_n_list("en", 30_000)
    return known, list(accumulate(word_frequency(word, "en") for word in known))


def words(count: int, seed: int) -> str:
    """Sentences of English words, as often as English uses them."""
    known, frequencies = vocabulary()
    made = random.Random(seed).choices(known, cum_weights=frequencies, k=count)
    for place in range(11, count, 12):
        made[place] = f"{made[place]}.\nThe" if place % 5 == 0 else f"{made[place]}. The"
    return " ".join(made)


def page(size: int) -> str:
    """HTML of about `size` characters: headings, paragraphs, lists, tables, links."""
    parts, length, number = [], 0, 0
    while length < size:
        text = words(120, number)
        kind = number % 8
        part = f"<h2>Part {number}</h2><p>{text}</p>"
        if kind == 3:
            part = f"<ul>{''.join(f'<li>{text[at : at + 90]}</li>' for at in range(0, 700, 90))}</ul>"
        elif kind == 5:
            rows = [f"<tr><td>{at}</td><td>{text[at : at + 40]}</td></tr>" for at in range(0, 400, 40)]
            part = f"<table>{''.join(rows)}</table>"
        parts.append(part)
        length += len(part)
        number += 1
    return f"<html><head><title>Long page</title></head><body><main>{''.join(parts)}</main></body></html>"


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU time of three: the first of them pays for memory that the others find ready."""
    taken = []
    for _ in range(3):
        gc.collect()  # what earlier work left is not collected on this one's time
        started = time.process_time()
        result = work()
        taken.append(time.process_time() - started)
    return min(taken), result


def measure_pages(bounds: Bounds) -> None:
    before: dict[str, float] = {}
    for size in (2_500_000, 5_000_000, 10_000_000):
        source = page(size)
        half = size / MEGABYTE
        taken, document = cpu_seconds(lambda text=source: html_document(text))
        rows = {"read HTML": taken}
        rows["canonical text"], _ = cpu_seconds(lambda text=source: canonical_text(text))
        rows["chunks"], _ = cpu_seconds(lambda document=document: chunks.__wrapped__(document))
        rows["evidence scores"], _ = cpu_seconds(lambda document=document: select_evidence(document, QUESTION))
        for what, seconds in rows.items():
            most = 3.0 if what == "read HTML" and size == 10_000_000 else None
            bounds.show(f"{what}, {half:g} MB", seconds, "s CPU", most=most)
            if what in before and size == 10_000_000:
                bounds.show(f"{what}, ratio to half the size", seconds / max(before[what], 1e-3), "×", most=2.6)
            before[what] = seconds
    deep, _ = cpu_seconds(lambda: html_document("<div>" * 20_000 + "end" + "</div>" * 20_000))
    bounds.show("20,000 nested tags", deep, "s CPU", most=1.0)
    deep, _ = cpu_seconds(lambda: html_document("<b><i>" * 10_000 + "end"))
    bounds.show("20,000 nested formatting tags", deep, "s CPU", most=1.0)


def pdf(pages: int) -> bytes:
    from reportlab.pdfgen import canvas

    made = io.BytesIO()
    drawing = canvas.Canvas(made, pageCompression=1, invariant=True)
    for number in range(pages):
        text = words(450, number)
        for line in range(45):
            drawing.drawString(60, 780 - 16 * line, text[line * 70 : line * 70 + 70])
        drawing.showPage()
    drawing.save()
    return made.getvalue()


async def measure_pdfs(bounds: Bounds) -> None:
    data = pdf(400)
    async with LimitedReader() as reader:
        await reader.parts(pdf(1), PDF)
        started = time.perf_counter()
        document = await reader.document(data, PDF)
        seconds = time.perf_counter() - started
        child = reader._child
        bounds.show("PDF", len(document.pages) / seconds, "pages/s", least=20)
        if child is not None:
            bounds.show("peak memory of the child", peak_megabytes(child.pid), "MB", most=512)
    bounds.show("peak memory of the parent", peak_megabytes("self"), "MB", most=200)
    before, started = time.process_time(), time.perf_counter()
    async with LimitedReader(Limits(seconds=5.0)) as reader:
        await reader.parts(data[:-2000], PDF)
    wall = time.perf_counter() - started
    bounds.show("a torn PDF ends within its limit", wall, "s", most=6.0)
    bounds.show("CPU of the parent meanwhile", time.process_time() - before, "s CPU", most=1.0)


def peak_megabytes(process: int | str) -> float:
    """The most memory that a process had at once."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0.0
    rows = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(rows["VmHWM"].split()[0]) / 1024


async def measure_library(bounds: Bounds, files: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        papers = Path(folder, "papers")
        for number in range(files):
            path = papers / f"{number % 100:02}" / f"{number}.{('md', 'txt', 'html', 'csv')[number % 4]}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"Notes of day {number}\n\n{words(300, number)}\n", encoding="utf-8")
        library = Library(Path(folder, "index.db"))
        started = time.perf_counter()
        counts = await library.add([papers])
        bounds.show(
            f"{counts.added:,} files indexed", counts.added / (time.perf_counter() - started), "files/s", least=100
        )
        started = time.perf_counter()
        await library.add([papers])
        bounds.show("indexed again, nothing changed", files / (time.perf_counter() - started), "files/s")
        taken = []
        for number in range(40):
            started = time.perf_counter()
            await library.search(f"{words(12, number)}?")
            taken.append((time.perf_counter() - started) * 1000)
        bounds.show("a search, median of 40", statistics.median(taken), "ms", most=50)


def measure_window(bounds: Bounds) -> None:
    """A research over long documents, none of which a prompt of the window holds whole beside others."""
    with (
        tempfile.TemporaryDirectory() as name,
        open_world(Path(name, "calls"), faults=Faults(window_chars=WINDOW * 4)) as world,
    ):
        (folder := Path(name, "library")).mkdir()
        for number in range(LONG_DOCUMENTS):
            lasts = [
                f"The seals of turbine {number} last {number + part} months at level {part}." for part in range(50)
            ]
            parts = [f"{last} {words(100, 50 * number + part)}" for part, last in enumerate(lasts)]
            (folder / f"{number}.md").write_text(f"# Turbine {number}\n\n" + "\n\n".join(parts))
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": name,
            "GRAPH_RESEARCH_HOME": f"{name}/home",
            "GRAPH_RESEARCH_DEFAULT_CONTEXT_TOKENS": str(WINDOW),
            "GRAPH_RESEARCH_MAX_SOURCES_PER_QUERY": "50",
            **world.environ(),
        }

        def answer(*arguments: str) -> Any:
            done = subprocess.run(
                [str(SCRIPT), *arguments, "--json"], cwd=name, env=environ, capture_output=True, text=True, check=False
            )
            return json.loads(done.stdout) if done.returncode == 0 else sys.exit(done.stderr[-400:])

        options = ("--library", "library", "--llm", world.model, "--max-iterations", "1", "--run-id", "long")
        answer("run", QUESTION, *options, "--out", "report")
        refused = sum(call.status != 200 for call in world.calls("model"))
        numbers = json.loads(Path(name, "report", "report.json").read_text())["statistics"]
        proofs = answer("verify", "long")
    fidelity = numbers["content_fidelity"]
    bounds.show(f"sources of {LONG_DOCUMENTS} long documents", len(fidelity["items"]), "")
    bounds.show(f"mean share of their texts shown ({fidelity['band']})", 100 * fidelity["score"], "%")
    bounds.show("prompts longer than the window", refused, "", most=0)
    bounds.show("citations", proofs["citations"], "", least=1)
    bounds.show("citations that are not valid", proofs["invalid"], "", most=0)


async def measure_folder(bounds: Bounds, folder: Path) -> None:
    slowest: list[tuple[float, str]] = []
    last = [time.perf_counter(), ""]

    def note(_done: int, _total: int, path: str) -> None:
        now = time.perf_counter()
        slowest.append((now - last[0], last[1]))
        last[:] = [now, path]

    with tempfile.TemporaryDirectory() as home:
        started = time.perf_counter()
        counts = await Library(Path(home, "index.db")).add([folder], note)
        seconds = time.perf_counter() - started
    bounds.show(f"{counts.added:,} documents of {folder}", counts.added / seconds, "documents/s")
    bounds.show("the slowest file", max(slowest)[0], "s", most=130)
    print(f"  {max(slowest)[1]}")
    reasons = Counter(failure.reason for failure in counts.failed if not failure.unsupported)
    print(f"not read, of other types: {sum(failure.unsupported for failure in counts.failed):,}")
    print(f"read in part: {len(counts.partly):,}")
    for reason, count in reasons.most_common(25):
        print(f"not read: {count:6,} × {reason}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, default=Path("/usr/share/doc"))
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS[:4])
    options = parser.parse_args(arguments)
    bounds = Bounds()
    if "pdfs" in options.only:
        asyncio.run(measure_pdfs(bounds))
    if "pages" in options.only:
        measure_pages(bounds)
    if "library" in options.only:
        asyncio.run(measure_library(bounds, options.files))
    if "window" in options.only:
        measure_window(bounds)
    if "folder" in options.only:
        asyncio.run(measure_folder(bounds, options.folder))
    return 1 if bounds.missed else 0


if __name__ == "__main__":
    sys.exit(main())
