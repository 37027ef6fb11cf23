"""For every test: no socket leaves this machine, and no key or setting of whoever runs the tests is seen."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from graph_research.cycle_collection import look_less_often
from graph_research.providers.keys import KEYS
from graph_research.settings.sources import ENV_PREFIX
from tests.support.network import socket_guard
from tests.support.network.http_server import WireServer
from tests.support.order_of_tests import longest_first

hypothesis.settings.register_profile("no-deadline", deadline=None)
hypothesis.settings.load_profile("no-deadline")  # a busy machine is not a defect

TESTS = Path(__file__).parent
GUARDED = TESTS / "support" / "network" / "child_startup"
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def pytest_configure() -> None:
    look_less_often()
    socket_guard.put_under_every_socket()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(GUARDED), *filter(None, [os.environ.get("PYTHONPATH")])])
    _keep_for_tests()
    _forget_keys()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes > 1:
        items[:] = longest_first(items, processes, unit_of=_unit_of)


def pytest_collection_finish() -> None:
    """What was loaded and collected stays to the end: nobody looks for cycles in it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def nothing_reached_outside() -> Iterator[list[str]]:
    """What was refused at the sockets. A test that means to try takes this and clears it; any other fails."""
    _forget_keys()
    socket_guard.ATTEMPTS.clear()
    yield socket_guard.ATTEMPTS
    assert not socket_guard.ATTEMPTS, f"a test wanted to leave this machine: {socket_guard.ATTEMPTS}"


@pytest.fixture
def server() -> Iterator[WireServer]:
    """A loopback server with nothing written down yet."""
    with WireServer() as running:
        yield running


@pytest.fixture
def tls_server() -> Iterator[WireServer]:
    """The same behind a certificate that nobody but its own `trust` believes in."""
    with WireServer(tls=True) as running:
        yield running


def _unit_of(item: pytest.Item) -> str | None:
    """Tests that start whole programs: those of acceptance with their module, whose fixtures they share, and each page
    of the docs for itself."""
    folder = item.path.relative_to(TESTS).parts[0]
    return {"acceptance": str(item.path), "docs": item.nodeid}.get(folder)


def _keep_for_tests() -> None:
    """What names something for a test, such as GRAPH_RESEARCH_TEST_GGUF, is called TEST_GGUF from here on: the program
    would take it for a setting."""
    for name in [name for name in os.environ if name.startswith(f"{ENV_PREFIX}TEST_")]:
        os.environ[name.removeprefix(ENV_PREFIX)] = os.environ.pop(name)


def _forget_keys() -> None:
    for name in list(os.environ):
        if name in KEYS or name.startswith(ENV_PREFIX) or name.lower() in PROXIES:
            del os.environ[name]
