"""Installs `tests/support/network/socket_guard.py` in a child process whose PYTHONPATH names this folder."""

import importlib.util
import sys
from pathlib import Path

NAME = "tests.support.network.socket_guard"  # as the tests import it: one module, one list of attempts
_spec = importlib.util.spec_from_file_location(NAME, Path(__file__).parents[1] / "socket_guard.py")
assert _spec is not None and _spec.loader is not None
_guard = sys.modules[NAME] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_guard)
_guard.put_under_every_socket()
