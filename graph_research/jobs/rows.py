"""Jobs, their results and their sources as rows of the tables that both databases have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from graph_research.jobs.job import Job, JobError, JobStatus, ResultRow, SourceRow

Row = Mapping[str, Any]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TIMES = ("created_at", "expires_at", "updated_at", "started_at", "finished_at")
_JSON_COLUMNS = ("citations", "claims", "tokens")


def job_of(row: Row) -> Job:
    columns, code = _fields(row, Job), row["error_code"]
    for name in _TIMES:
        columns[name] = None if columns[name] is None else moment(columns[name])
    columns |= {
        "user": row["owner"],
        "status": JobStatus(columns["status"]),
        "request": orjson.loads(columns["request"]),
        "cancel_requested": bool(columns["cancel_requested"]),
        "keeps_run": bool(columns["keeps_run"]),
        "has_result": bool(columns.get("has_result")),
        "error": None if code is None else JobError(code=code, message=row["error_message"]),
    }
    return Job(**columns)


def result_columns(result: ResultRow) -> dict[str, Any]:
    columns = {**asdict(result), "has_contradictions": int(result.has_contradictions)}
    return columns | {name: orjson.dumps(columns[name]).decode() for name in _JSON_COLUMNS}


def result_of(row: Row) -> ResultRow:
    columns = _fields(row, ResultRow)
    columns |= {name: orjson.loads(columns[name]) for name in _JSON_COLUMNS}
    return ResultRow(**{**columns, "has_contradictions": bool(columns["has_contradictions"])})


def source_of(row: Row) -> SourceRow:
    return SourceRow(**_fields(row, SourceRow))


def _fields(row: Row, kind: type[Job | ResultRow | SourceRow]) -> dict[str, Any]:
    """The columns of a row that are fields of `kind`: a newer version may have added others."""
    names = set(row.keys())
    return {field.name: row[field.name] for field in fields(kind) if field.name in names}


def stamp(at: datetime) -> int:
    """A time in microseconds since 1970."""
    return (at - _EPOCH) // _MICROSECOND


def moment(stamped: int) -> datetime:
    """The time that `stamp` wrote."""
    return _EPOCH + stamped * _MICROSECOND


def cursor_of(job: Job) -> str:
    """The place of a job in the list of its user's jobs, which is there also when the job is removed."""
    return f"{stamp(job.created_at)}~{job.id}"


def place_of(cursor: str) -> dict[str, Any]:
    """The columns that jobs are sorted by, at the place that `cursor_of` wrote."""
    created_at, _, job_id = cursor.partition("~")
    return {"created_at": int(created_at), "id": job_id}
