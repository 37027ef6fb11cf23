"""Every example of README and docs is run as a reader would run it, page by page, and every link leads somewhere.

A fenced block is run by its language: `sh` blocks with bash, `python` blocks with this interpreter, in the order of the
page and in one folder that holds a copy of `examples/`. A comment in front of a block changes that:
`<!-- file: NAME -->` writes the block to NAME, `<!-- exit: N -->` expects exit code N, `<!-- not run: why -->` skips
it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"(?:<!-- (?P<directive>[^\n]*?) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)|!\[[^\]]*\]\((?P<image>[^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
RUN_LANGUAGES = {"sh", "python"}


@dataclass(frozen=True, kw_only=True)
class Block:
    language: str
    code: str
    directive: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(
            language=match["language"],
            code=match["code"],
            directive=match["directive"] or "",
            line=text.count("\n", 0, match.start("language")) + 1,
        )
        for match in BLOCK.finditer(text)
    ]


def anchors_of(page: Path) -> set[str]:
    headings = HEADING.findall(FENCED.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_the_page_runs(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "GRAPH_RESEARCH_HOME": str(tmp_path / "home"),
        "LANG": "C.UTF-8",
    }
    for block in blocks_of(page):
        if block.directive.startswith("not run"):
            continue
        if block.directive.startswith("file: "):
            target = tmp_path / block.directive.removeprefix("file: ")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.code)
            continue
        if block.language not in RUN_LANGUAGES:
            continue
        command = ["bash", "-euo", "pipefail", "-c"] if block.language == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*command, block.code],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        expected = int(block.directive.removeprefix("exit: ")) if block.directive.startswith("exit: ") else 0
        assert done.returncode == expected, (
            f"{page.relative_to(ROOT)}:{block.line} ended with {done.returncode}, not {expected}\n"
            f"{done.stdout}\n{done.stderr}"
        )


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
