"""JSON texts that people write, read with whole numbers of any size."""

from __future__ import annotations

import json
import re
from typing import Any

import orjson

_MANY_DIGITS = re.compile("[0-9]{19}")


def read_json(text: str) -> Any:
    """The value of a JSON text. Raises `orjson.JSONDecodeError`, also for a number that no float can hold."""
    value = orjson.loads(text)  # a whole number of more than 64 bits becomes a float here, and loses digits
    return json.loads(text) if _MANY_DIGITS.search(text) else value
