"""Source code is read as it is written; what a program made for programs is not."""

from __future__ import annotations

import json

import pytest

from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.code import code_document

SCRIPT = "function wait(seconds) {\n  // Waits until the gate is open.\n  return open(seconds);\n}\n" * 40
PROSE = "The gate opens when the tide has turned, and it closes before the lagoon is empty. " * 40
ROWS = [{"station": f"Marrow {number}", "depth": number / 7} for number in range(200)]


@pytest.mark.parametrize(
    "source",
    [
        SCRIPT,
        SCRIPT + "var image = '" + "iVBORw0KGgo" * 200 + "';",
        f'body: "{PROSE}"',
        "本文：" + "水门在涨潮后打开，泻湖干涸之前关闭。" * 150,
        json.dumps(ROWS),
        "\n".join(json.dumps(ROWS) for _ in range(2)),
        json.dumps({"notes": [PROSE, "x" * 5_000]}, indent=1),
    ],
)
def test_code_data_and_prose_in_long_lines_are_read(source: str) -> None:
    assert code_document(source).text


@pytest.mark.parametrize(
    "source",
    [
        "Search.setIndex({" + ",".join(f"term{number}:[{number},7]" for number in range(500)) + "})",
        "/*! A licence. */\n" + " ".join(SCRIPT.replace("  // Waits until the gate is open.", "").split()) * 2,
    ],
)
def test_what_a_program_made_for_programs_is_not_read(source: str) -> None:
    with pytest.raises(DocumentUnreadable, match="generated or minified: no sentences"):
        code_document(source)
