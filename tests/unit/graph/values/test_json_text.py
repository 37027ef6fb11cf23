"""JSON texts that people write: whole numbers are read with all their digits."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from graph_research.graph.values.json_text import read_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551616", 2**64),
        ('{"n": [-9223372036854775809]}', {"n": [-(2**63) - 1]}),
        ("0.12345678901234567890", 0.12345678901234567890),
        ('"18446744073709551616"', "18446744073709551616"),
        ("1e2", 100.0),
    ],
)
def test_a_whole_number_keeps_its_digits(text: str, value: Any) -> None:
    assert read_json(text) == value
    assert type(read_json(text)) is type(value)


@pytest.mark.parametrize("text", ["18446744073709551616]", "9" * 400, "[12345678901234567890, NaN]"])
def test_what_json_does_not_hold_is_refused(text: str) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        read_json(text)
