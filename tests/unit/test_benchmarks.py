"""The quality benchmarks start: the code that they measure exists."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("script", ["evidence.py", "fit_evidence.py"])
def test_a_folder_without_judged_texts_is_refused(script: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / script), "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "no docs.jsonl or pairs.jsonl" in done.stderr
    assert "Traceback" not in done.stderr
