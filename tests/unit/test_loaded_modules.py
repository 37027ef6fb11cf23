"""A command loads what it needs: one that reads a stored run starts without the handlers of graphs and their models."""

from __future__ import annotations

import subprocess
import sys

import pytest

HANDLERS = {"graph_research.research.registry", "graph_research.providers.llm.catalog", "httpx", "jinja2", "rapidfuzz"}
PARSER = {"graph_research.graph.definition.parser", "graph_research.graph.export", "yaml"}
REPORT = {"graph_research.research.report.build", "graph_research.research.report.model"}
READERS = {"graph_research.text.readers.formats", "graph_research.providers.web.page_reader"}


@pytest.mark.parametrize(
    ("command", "module", "left_out"),
    [
        ("status", "graph_research.cli.jobs.queue", HANDLERS | PARSER | REPORT | READERS),
        ("show", "graph_research.app.runs.history", HANDLERS | PARSER | READERS),
        ("report", "graph_research.app.runs.report", HANDLERS | PARSER | READERS),
        ("verify", "graph_research.app.runs.bundles", HANDLERS | PARSER | READERS),
        ("graph validate", "graph_research.app.graphs.catalog", {"httpx", "rapidfuzz"} | READERS),
    ],
)
def test_a_command_leaves_out(command: str, module: str, left_out: set[str]) -> None:
    code = f"import sys, {module}; print(*sorted({left_out!r} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == [], f"`{command}` loads them at its start"
