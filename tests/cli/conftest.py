"""A user at the command line with a small library, and their commands inside this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_research.cli import execute
from tests.shell import NOW, Done, User, new_user

QUESTION = "How do tide mills store water, and how much power did they give?"

DOCUMENTS = {
    "mills.md": (
        "# Tide mills\n\nTide mills store water at high tide in a pond behind a dam. The gates of the pond close by "
        "themselves when the tide turns. At low tide the miller lets the water run out over the wheel.\n\n"
        "## Power\n\nA large tide mill on the coast gave about 40 kilowatts of power in 1850. Most small mills gave "
        "less than ten kilowatts of power.\n"
    ),
    "history.txt": (
        "The oldest tide mill was built in the year 619 on an island in a lough. Its pond stored water behind a dam "
        "of stone and clay. Monks ran the tide mill for about a century.\n\n"
        "Tide mills ground grain twice a day, whenever the sea had left the gate. A millpond of two hectares stored "
        "enough water for four hours of grinding.\n"
    ),
    "power.html": (
        "<html><head><title>Power of the tides</title></head><body><h1>Power of the tides</h1>"
        "<p>Tide mills gave power for about three hours after each high tide. The power of a tide mill depends on "
        "the area of its pond and on the height of the tide.</p><p>A modern tidal barrage stores water in the same "
        "way, but it drives turbines instead of wheels.</p></body></html>"
    ),
}


def make_user(folder: Path) -> User:
    user = new_user(folder)
    for name, text in DOCUMENTS.items():
        user.write(f"library/{name}", text)
    return user


Run = Callable[..., Done]


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
