"""A user at the command line: the installed console script, a folder to stand in, a data home, a small library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graph_research.cli import execute

SCRIPT = Path(sys.executable).with_name("graph-research")
NOW = "2026-01-01T00:00:00Z"
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


@dataclass(frozen=True, kw_only=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, kw_only=True)
class User:
    """Somebody with a folder and a data home, and nobody at the keyboard."""

    folder: Path
    home: Path

    def start(self, *arguments: str, environ: Mapping[str, str] | None = None, **more: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(SCRIPT), *arguments],
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": os.environ["PYTHONPATH"],
                "HOME": str(self.folder),
                "GRAPH_RESEARCH_HOME": str(self.home),
                "LANG": "C.UTF-8",
                **(environ or {}),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def run(self, *arguments: str, expect: int | Sequence[int] = 0, **more: Any) -> Done:
        """Run a command to its end; another exit code than expected fails the test with what was printed."""
        with self.start(*arguments, **more) as process:
            out, err = process.communicate(timeout=120)
        done = Done(code=process.returncode, out=out, err=err)
        expected = (expect,) if isinstance(expect, int) else expect
        assert done.code in expected, f"exit {done.code}\n--- out\n{out}\n--- err\n{err}"
        assert "Traceback" not in err, err
        assert "Warning" not in err, err
        if done.code:
            assert "graph-research: " in err, "an exit code other than 0 is explained on standard error"
        return done

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def script(self, name: str, replies: Mapping[str, Any]) -> str:
        """A scripted model's spec."""
        return f"scripted:{self.write(name, json.dumps(replies))}"


def make_user(folder: Path) -> User:
    for name, text in DOCUMENTS.items():
        path = folder / "library" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return User(folder=folder, home=folder / "home")


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
