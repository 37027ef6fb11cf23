"""The audit log: whole lines, each event once, nothing secret, nothing long."""

import json
import resource
import stat
from pathlib import Path
from typing import Any

import pytest

from graph_research.audit_log import AuditLog, AuditUnwritable


def event(seq: int, **more: Any) -> dict[str, Any]:
    return {"type": "note", "seq": seq, **more}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_event_is_written_once_however_often_it_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    for _ in range(2):
        with AuditLog(path) as log:
            log.write(event(1))
            log.write(event(2))
    assert [one["seq"] for one in lines(path)] == [1, 2]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_line_that_a_crash_cut_short_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text('{"type":"note","seq":1}\n{"type":"no')
    with AuditLog(path) as log:
        assert log.last_seq == 1
        log.write(event(2))
    assert [one["seq"] for one in lines(path)] == [1, 2]


def test_secrets_are_left_out_and_token_counts_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with AuditLog(path) as log:
        log.write(event(1, data={"api_key": "sk-1", "Authorization": "x", "input_tokens": 7, "tokens": 3}))
    assert lines(path)[0]["data"] == {"input_tokens": 7, "tokens": 3}


def test_a_long_text_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with AuditLog(path) as log:
        log.write(event(1, data={"text": "x" * 100_000}))
    assert len(path.read_text()) < 1_000


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(AuditUnwritable, match=r"run\.jsonl"), AuditLog(tmp_path / "no" / "run.jsonl"):
        pass


def test_a_disk_that_gets_full_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with AuditLog(path) as log:
        log.write(event(1))
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with pytest.raises(AuditUnwritable, match=r"run\.jsonl"), AuditLog(path) as log:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limits[1]))
            log.write(event(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [one["seq"] for one in lines(path)] == [1]
