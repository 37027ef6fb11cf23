"""The public names of the package, and what importing them does not load."""

from __future__ import annotations

import subprocess
import sys

import pytest

import graph_research
import graph_research.graph


@pytest.mark.parametrize("name", graph_research.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(graph_research, name).__name__ == name


@pytest.mark.parametrize("name", graph_research.graph.__all__)
def test_every_public_name_of_the_engine_is_there(name: str) -> None:
    assert getattr(graph_research.graph, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = graph_research.nothing
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = graph_research.graph.nothing


def test_the_engine_runs_without_pydantic_or_anything_of_research() -> None:
    program = """
import sys
from graph_research.graph import Context, Finding, MemoryCheckpointer, Registry, Runtime, SqliteCheckpointer, events
heavy = {"pydantic", "httpx", "jinja2", "typer", "rich", "graph_research.research"}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
