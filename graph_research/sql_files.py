"""The SQL of a store, in the folder `sql` of its package: named statements, and scripts that make its tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files


def statements_of(package: str) -> Mapping[str, str]:
    """The statements of `queries.sql` by the names in its comments `-- name: …`."""
    text = (files(package) / "sql" / "queries.sql").read_text()
    return {name: query.strip() for name, query in re.findall(r"-- name: (\w+)\n(.*?)(?=\n-- name:|\Z)", text, re.S)}


def pyformat(statement: str) -> str:
    """A statement with its parameters `:name` as psycopg writes them."""
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement)


def migrations_of(package: str) -> Mapping[int, str]:
    """The scripts `0001_….sql` by the number of the format that each leads to, in their order."""
    folder = files(package) / "sql"
    names = sorted(entry.name for entry in folder.iterdir() if re.fullmatch(r"\d{4}_\w+\.sql", entry.name))
    return {int(name[:4]): (folder / name).read_text() for name in names}
