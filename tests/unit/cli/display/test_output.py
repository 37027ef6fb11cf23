"""What a command prints of values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from graph_research.cli.display.output import json_text, show_json


@dataclass(frozen=True, kw_only=True)
class Counted:
    count: int
    at: datetime = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("count", [3, 2**70])
def test_a_value_is_shown_as_json_whatever_the_size_of_its_numbers(count: int, capsys: Any) -> None:
    show_json({"state": [Counted(count=count)]})
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"state": [{"count": count, "at": "2026-01-02T00:00:00+00:00"}]}
    assert json_text({"n": count}).replace(" ", "") == f'{{"n":{count}}}'
