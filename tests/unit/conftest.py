"""A user at the command line with a small library, and their commands inside this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_research.cli import execute
from tests.support.cli.cli_process import NOW, Done, User
from tests.support.cli.cli_user import QUESTION, Run, make_user


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[User], Run]:
    """A user's commands inside this process: many of them take little time. For commands that drive no run."""

    def enter(user: User) -> Run:
        monkeypatch.chdir(user.folder)
        for name in [name for name in os.environ if name.startswith("GRAPH_RESEARCH_")]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("GRAPH_RESEARCH_HOME", str(user.home))

        def run(*arguments: str, expect: int = 0) -> Done:
            capsys.readouterr()
            code = execute(list(arguments))
            captured = capsys.readouterr()
            done = Done(code=code, out=captured.out, err=captured.err)
            assert code == expect, done
            assert not code or "graph-research: " in done.err
            return done

        return run

    return enter


@pytest.fixture
def here(user: User, inside: Callable[[User], Run]) -> Run:
    """The new user's commands inside this process."""
    return inside(user)


@pytest.fixture
def there(researcher: User, inside: Callable[[User], Run]) -> Run:
    """The commands, inside this process, of the user who has the finished research `tides`."""
    return inside(researcher)


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
