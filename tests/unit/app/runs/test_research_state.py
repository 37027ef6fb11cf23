"""A graph of one's own may call its channels as it likes, also like those of a research."""

from __future__ import annotations

import json

import pytest

from graph_research.app.runs.research_state import research_state
from tests.support.cli.cli_process import User

NAMESAKES = """
graph: namesakes
version: "1"
state:
  question: {type: string, input: true}
  sources: {type: array, default: [tides, salt]}
  findings: {type: integer, default: 3}
  draft: {type: string, default: Salt., output: true}
  decisions: {type: array, default: [no]}
  search_failures: {type: array, default: [{who: nobody}]}
  sub_queries: {type: integer, default: 2}
  iteration: {type: string, default: last}
  phase: {type: array, default: [1]}
  content_fidelity: {type: object, default: {}}
  claims: {type: array, default: [{text: Salt.}]}
  metadata: {type: string, default: none}
start: note
nodes:
  note: {set: {draft: question}}
  done: {end: completed}
edges:
  - {from: note, to: done}
"""
LIKE_A_REPORT = """
graph: like-a-report
version: "1"
state:
  question: {type: string, input: true}
  draft: {type: object, default: {}}
  topics: {type: array, default: [{}]}
start: note
nodes:
  note: {set: {draft: '{"title": "Tides", "summary": []}'}}
  done: {end: completed}
edges:
  - {from: note, to: done}
"""


@pytest.mark.parametrize(
    ("graph", "why"), [(NAMESAKES, "only a research has a report"), (LIKE_A_REPORT, "not that of a research")]
)
def test_a_graph_with_channels_called_like_those_of_a_research_runs_and_is_looked_at(
    user: User, graph: str, why: str
) -> None:
    user.write("own.yaml", graph)
    given = ["--set", f"question={json.dumps('Why is it salt?')}"]
    assert user.run("graph", "run", "own.yaml", *given, "--run-id", "own", "--json").json["status"] == "completed"
    user.run("run", "Why is it salt?", "--graph", "own.yaml", "--library", "library", "--run-id", "asked")
    for run_id in ("own", "asked"):
        status = user.run("status", run_id, "--json").json
        assert (status["sources"], status["findings"], status["iteration"]) == (0, 0, 1)
        assert why in user.run("report", run_id, expect=2).err
        user.run("diff", run_id, run_id, "--json")
        user.run("export-run", run_id, "--output", f"{run_id}.grb")
        user.run("graph", "inspect", f"{run_id}.grb")
        assert user.run("replay", run_id, "--json").json["identical"]
    user.run("prune", "--max-size", "1KB")


def test_what_fits_stays_as_it_is() -> None:
    state = {"sources": [], "draft": None, "iteration": 2, "anything": object, "topics": [{}], "gaps": "none"}
    assert research_state(state) == {name: value for name, value in state.items() if name != "gaps"}
