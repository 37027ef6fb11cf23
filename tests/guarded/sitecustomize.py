"""Puts the guard of `tests/guard.py` under the sockets of a child process whose PYTHONPATH names this folder."""

import importlib.util
import sys
from pathlib import Path

_spec = importlib.util.spec_from_file_location("guard", Path(__file__).parents[1] / "guard.py")
assert _spec is not None and _spec.loader is not None
_guard = sys.modules["guard"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_guard)
_guard.put_under_every_socket()
