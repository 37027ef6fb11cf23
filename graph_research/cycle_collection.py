"""How often Python looks for cycles among its objects."""

from __future__ import annotations

import gc

_AFTER_OBJECTS = 50_000


def look_less_often() -> None:
    """Look only after so many new objects: loading modules makes many, and hardly a cycle."""
    gc.set_threshold(_AFTER_OBJECTS)
