"""A user at the command line with a small library, and a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli.cli_process import NOW, User
from tests.support.cli.cli_user import QUESTION, make_user
from tests.support.postgres import PostgresServer, postgres_server


@pytest.fixture
def user(tmp_path: Path) -> User:
    return make_user(tmp_path)


@pytest.fixture(scope="session")
def researcher(tmp_path_factory: pytest.TempPathFactory) -> User:
    """A user with one finished research `tides` and its report in `out`; tests only look at it."""
    user = make_user(tmp_path_factory.mktemp("researcher"))
    done = user.run(
        "run", QUESTION, "--library", "library", "--run-id", "tides", "--now", NOW, "--out", "out", "--json"
    )
    (user.folder / "result.json").write_text(done.out)
    return user


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this test process."""
    with postgres_server() as server:
        yield server
