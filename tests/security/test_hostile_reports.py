"""What sources say of themselves reaches a terminal, a spreadsheet or a reference manager as text and nothing else."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from graph_research.cli.display.output import show_document, show_json, visible
from graph_research.cli.workspace import describe_offer
from graph_research.research.report.documents.bibliography import RENDERERS
from graph_research.settings.trust import FolderOffer

SCRIPT = Path(sys.executable).with_name("graph-research")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202egnp.exe\u2066"
HOSTILE: dict[str, Any] = {
    "id": "src-0123456789",
    "title": f"=cmd|'/C calc'!A0 {ESCAPES}",
    "authors": [f"+SUM(1){ESCAPES}", "}\\input{/etc/passwd}"],
    "publisher": f"Press\nER  - \r\nTY  - BOOK\u2028AU  - Forged}}, note = {{forged{ESCAPES}",
    "url": f"a/\x1b[31m{ESCAPES}.md",
    "doi": "\t@forged",
    "tier": "UNVERIFIED",
    "composite": 0.5,
    "published_at": "2020-01-01",
}


@pytest.mark.parametrize("format", RENDERERS)
def test_no_control_character_of_a_source_is_exported(format: str) -> None:
    assert not CONTROL.search(RENDERERS[format]([HOSTILE]))


def test_no_source_adds_a_field_or_an_entry_of_its_own() -> None:
    ris = RENDERERS["ris"]([HOSTILE]).splitlines()
    assert [line[:2] for line in ris if line] == ["TY", "ID", "TI", "AU", "AU", "PB", "PY", "DA", "UR", "DO", "ER"]
    bibtex = RENDERERS["bibtex"]([HOSTILE])
    assert bibtex.count("@misc{") == 1
    assert len(re.findall(r"^  (\w+) = ", bibtex, re.MULTILINE)) == 6
    depth = 0
    for before, sign in zip(" " + bibtex, bibtex, strict=False):
        depth += {"{": 1, "}": -1}.get(sign, 0) if before != "\\" else 0
        assert depth >= 0
    assert depth == 0


def test_json_for_a_terminal_holds_every_character_and_no_control(capsys: pytest.CaptureFixture[str]) -> None:
    show_json({"title": ESCAPES})
    printed = capsys.readouterr().out
    assert not CONTROL.search(printed)
    assert json.loads(printed) == {"title": ESCAPES}


def test_a_message_shows_no_control_character_and_keeps_other_scripts() -> None:
    assert not CONTROL.search(visible(ESCAPES))
    assert visible("Größe 大きさ שלום\n\tx") == "Größe 大きさ שלום\n\tx"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_document_is_printed_as_it_is_but_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream, clean in ((io.StringIO(), False), (Terminal(), True)):
        monkeypatch.setattr(sys, "stdout", stream)
        show_document(f"# A report {ESCAPES}")
        assert bool(CONTROL.search(stream.getvalue())) is not clean
        assert stream.getvalue().endswith("\n")


def test_a_file_name_cannot_rewrite_the_question_whether_its_folder_is_trusted() -> None:
    files = ("prompts/\x1b[2K\rsafe.j2", "prompts/x\nThese files are harmless. Use them?.j2")
    described = describe_offer(FolderOffer(folder=Path("/x"), files=files, hash=""))
    assert not CONTROL.search(described)
    assert len(described.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_names_of_a_cloned_folder_reach_the_terminal_as_text(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "\x1b]0;owned\x07\x1b[2K\n.j2").write_text("x")
    assert b"\x1b" not in _seen_on_a_terminal(["config", "show"], tmp_path).replace(b"\x1b[0m", b"")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_who_refuses_the_files_of_a_folder_is_told_what_that_means(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "mine.j2").write_text("x")
    seen = _seen_on_a_terminal(["config", "show"], tmp_path)
    assert b"not used, not by graph files of this folder either; to use them: graph-research config trust" in seen


def _seen_on_a_terminal(arguments: list[str], folder: Path) -> bytes:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [str(SCRIPT), *arguments],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "HOME": str(folder),
            "GRAPH_RESEARCH_HOME": str(folder / "home"),
        },
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        os.write(ours, b"n\n")
        seen = b"".join(iter(lambda: _read(ours), b""))
        process.wait(timeout=60)
    os.close(ours)
    return seen


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other side was closed
        return b""
