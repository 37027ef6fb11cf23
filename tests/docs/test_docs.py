"""Every example of README and docs is run as a reader would run it, page by page, and every link leads somewhere.

A fenced block is run by its language: `sh` blocks with bash, `python` blocks with this interpreter, in the order of the
page and in one folder that holds a copy of `examples/` and `graphs/`, without a terminal. A comment in front of a
block changes that: `<!-- file: NAME -->` writes the block to NAME, `<!-- edit: NAME -->` makes the change that a
`diff` block shows, `<!-- exit: N -->` expects exit code N, `<!-- not run: why -->` skips it. In front of a `text` block
`<!-- printed -->` says that each of its lines was printed by the block that ran last before it.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"(?:<!-- (?P<directive>[^\n]*?) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)|!\[[^\]]*\]\((?P<image>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Block:
    language: str
    code: str
    directive: str
    place: str


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(
            language=match["language"],
            code=match["code"],
            directive=match["directive"] or "",
            place=f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start('language')) + 1}",
        )
        for match in BLOCK.finditer(text)
    ]


def anchors_of(page: Path) -> set[str]:
    headings = HEADING.findall(FENCED.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def edited(text: str, diff: str, place: str) -> str:
    """`text` after the change that `diff` shows; a line `@@` parts the places, each of which is there once."""
    for change in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = change.splitlines(keepends=True)
        before = "".join(line[1:] or "\n" for line in lines if not line.startswith("+"))
        after = "".join(line[1:] or "\n" for line in lines if not line.startswith("-"))
        assert text.count(before) == 1, f"{place}: these lines stand there {text.count(before)} times:\n{before}"
        text = text.replace(before, after)
    return text


def run(block: Block, folder: Path) -> str:
    """What the block printed."""
    command = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [sys.executable, "-c"]}[block.language]
    done = subprocess.run(
        [*command, block.code],
        cwd=folder,
        env={
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "HOME": str(folder),
            "GRAPH_RESEARCH_HOME": str(folder / "home"),
            "LANG": "C.UTF-8",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    expected = int(block.directive.removeprefix("exit: ")) if block.directive.startswith("exit: ") else 0
    assert done.returncode == expected, (
        f"{block.place} ended with {done.returncode}, not {expected}\n{done.stdout}\n{done.stderr}"
    )
    return done.stdout + done.stderr


@pytest.fixture
def ends_programs(tmp_path: Path) -> Iterator[None]:
    """What a page leaves running, with its process id in a file `NAME.pid`, ends with the test."""
    yield
    for file in tmp_path.glob("*.pid"):
        with suppress(ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGKILL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_the_page_runs(page: Path, tmp_path: Path, ends_programs: None) -> None:
    for name in ("examples", "graphs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    printed = ""
    for block in blocks_of(page):
        what, _, name = block.directive.partition(": ")
        target = tmp_path / name
        if what == "file":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.code)
        elif what == "edit":
            target.write_text(edited(target.read_text(), block.code, block.place))
        elif what == "printed":
            missing = set(block.code.splitlines()) - set(printed.splitlines())
            assert not missing, f"{block.place}: not printed: {sorted(missing)}; what was:\n{printed}"
        elif what != "not run" and block.language in {"sh", "python"}:
            printed = run(block, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_the_page_leads_somewhere(page: Path) -> None:
    for match in LINK.finditer(FENCED.sub("", page.read_text())):
        target = match["target"] or match["image"]
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name}: {target} leads nowhere"
        if anchor and file.suffix == ".md":
            assert anchor in anchors_of(file), f"{page.name}: {target} has no such heading"


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        targets = [match["target"] or "" for match in LINK.finditer(FENCED.sub("", page.read_text()))]
        waiting += [
            (page.parent / target.partition("#")[0]).resolve()
            for target in targets
            if target.partition("#")[0].endswith(".md") and "://" not in target
        ]
    assert set(PAGES) <= seen
