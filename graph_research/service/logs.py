"""The log of the service and of workers: a JSON object a line, with the ids of job and run where there are any."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TextIO

import orjson

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_LOGGERS = ("graph_research", "uvicorn", "asyncio", "psycopg")
"""Not that of every library: those that read documents quote them."""
_INFORMING = ("graph_research.service", "graph_research.jobs")


class JsonFormatter(logging.Formatter):
    """`{time, level, logger, message, …}` with the fields that were logged as `extra`, and `exception` if there is
    one."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in _OWN},
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(fields, default=str).decode()


@contextmanager
def logged_to(stream: TextIO, *, as_json: bool = True) -> Iterator[None]:
    """Write what is logged meanwhile to a stream, a line each: of the service and its jobs everything, of the rest
    warnings."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter() if as_json else logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    loggers = {name: logging.getLogger(name) for name in (*_LOGGERS, *_INFORMING)}
    before = {name: (logger.level, logger.propagate) for name, logger in loggers.items()}
    for name in _LOGGERS:
        loggers[name].addHandler(handler)
        loggers[name].propagate = False
    for name in _INFORMING:
        loggers[name].setLevel(logging.INFO)
    try:
        yield
    finally:
        for name, (level, propagate) in before.items():
            loggers[name].setLevel(level)
            loggers[name].propagate = propagate
            loggers[name].removeHandler(handler)
