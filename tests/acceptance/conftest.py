"""The command line as a user has it, with the demo's library and its question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli.cli_process import User
from tests.support.cli.cli_process import new_user as begun


@pytest.fixture
def shell(tmp_path: Path) -> User:
    return begun(tmp_path / "user")


@pytest.fixture
def new_user(tmp_path: Path) -> Callable[[str], User]:
    return lambda name: begun(tmp_path / name)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[User, Path]:
    """A finished demo run, made once; the second value is the folder of its reports. Tests only read it."""
    shell = begun(tmp_path_factory.mktemp("demo"))
    shell.research("demo", "--out", "out")
    return shell, shell.folder / "out"
