"""`check` on forty labelled sentences about the demo library: how often each verdict is right."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tests.support.cli.cli_process import DEMO_LIBRARY, User, new_user

SENTENCES = Path(__file__).with_name("checked_sentences.tsv")
TRUE = {"verbatim", "paraphrase", "free"}


def test_verdicts_are_right_on_labelled_sentences(tmp_path: Path) -> None:
    rows = [line.split("\t") for line in SENTENCES.read_text().splitlines()]
    user: User = new_user(tmp_path)
    user.write("mine.txt", "\n\n".join(text for _, text in rows))
    done = user.run("check", "mine.txt", "--library", str(DEMO_LIBRARY), "--json").json
    verdict_of = {row["text"]: row["verdict"] for row in done["sentences"]}
    counted = Counter((label, verdict_of[text]) for label, text in rows)
    by_verdict = {
        name: Counter({label: n for (label, verdict), n in counted.items() if verdict == name})
        for name in done["counts"]
    }
    assert len(rows) == 40
    assert counted["verbatim", "supported"] == 8
    assert counted["paraphrase", "supported"] >= 6
    assert counted["paraphrase", "not_found"] == 0
    assert counted["number", "contradicted"] == 6
    assert by_verdict["supported"].keys() <= TRUE
    assert not TRUE & by_verdict["contradicted"].keys()
    assert not {"number", "swapped"} & by_verdict["not_found"].keys()
    assert counted["absent", "not_found"] >= 6
