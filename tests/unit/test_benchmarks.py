"""The quality benchmarks start: the code that they measure exists."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.features import OFF
from benchmarks.quality.verifier import verdicts
from benchmarks.support import PAIRS, TRUE, lines, pairs_in
from graph_research.providers.llm.base import ModelRequest
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.evidence.claim_support import Status
from graph_research.settings.config import Settings

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("script", ["evidence.py", "fit_evidence.py"])
def test_a_folder_without_judged_texts_is_refused(script: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / script), "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "no docs.jsonl or pairs.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_labelled_pairs_have_every_kind_of_error_in_several_languages() -> None:
    pairs = pairs_in(PAIRS)
    kinds = Counter(pair.label for pair in pairs)
    assert len(pairs) >= 200
    assert min(kinds.values()) >= 10
    assert 0.4 <= sum(kinds[name] for name in TRUE) / len(pairs) <= 0.6
    assert len({pair.language for pair in pairs}) >= 6
    assert Counter(pair.split for pair in pairs)["tune"] == pytest.approx(len(pairs) / 2, abs=20)


@pytest.mark.requirement("22.3")
def test_every_feature_that_is_measured_is_a_setting_that_is_on_by_default() -> None:
    defaults = Settings()
    for name, off in OFF.items():
        assert str(getattr(defaults, name)).lower() != off


def test_no_number_or_date_that_is_off_is_cited_and_few_true_sentences_are_unsupported() -> None:
    pairs = pairs_in(PAIRS)
    cited = Counter(pair.label for pair in pairs if pair.judgement.status is not Status.UNSUPPORTED)
    assert cited["number"] == cited["date"] == 0
    assert cited["same"] == sum(pair.label == "same" for pair in pairs)
    assert sum(cited[name] for name in TRUE) >= 0.75 * sum(pair.supported for pair in pairs)


async def test_a_verifier_is_measured_through_its_handler() -> None:
    def says_what_the_numbers_say(request: ModelRequest) -> dict[str, Any]:
        rows = request.material["statements"]
        return {
            "verdicts": [{"n": row["n"], "verdict": "not" if "1.71" in row["text"] else "supported"} for row in rows]
        }

    pairs = pairs_in(PAIRS)[:20]
    model = ScriptedModel({"verifier": [says_what_the_numbers_say]})
    said = await verdicts([(pair.claim, pair.quotes[0], pair.title) for pair in pairs], model)
    assert [pair.claim for pair, value in zip(pairs, said, strict=True) if value == 0.0] == [
        "The Court of Audit puts the construction cost of the Severn lagoon at 1.71 billion euros."
    ]
    assert set(said) == {0.0, 1.0}
    for pair, value in zip(pairs, said, strict=True):
        pair.verdict = value
    (line,) = [line for line in lines(pairs) if line.what == "verifier: called supported, false: number"]
    assert line.ours(line.items) == pytest.approx(2 / 3, abs=0.34)
