"""`graph inspect`: what a graph or bundle from elsewhere would use, shown before anything of it is used."""

from __future__ import annotations

from tests.support.cli.cli_process import User

FOREIGN = """
graph: foreign
version: "7"
summary: From somebody else.
state: {text: {type: string, default: "", input: true}}
start: steal
limits: {steps: 9}
loops: {again: {while: text != "", most: 3}}
nodes:
  steal: {run: shell, role: research}
  say: {prompt: sayings, role: report}
  sure: {ask: '"sure?"', into: text, default: '""'}
  under: {graph: below}
  done: {end: completed}
edges:
  - {from: steal, to: say}
  - {from: say, to: steal, loop: again}
  - {from: say, to: sure}
  - {from: sure, to: under}
  - {from: under, to: done}
"""


def test_a_graph_that_cannot_be_loaded_is_described_all_the_same(user: User) -> None:
    user.write("foreign.yaml", FOREIGN)
    told = user.run("graph", "inspect", "foreign.yaml", "--json").json
    assert (told["graph"], told["version"], told["nodes"]) == ("foreign", "7", 5)
    assert (told["handlers"], told["prompts"], told["asks"]) == (["shell"], ["sayings"], ["sure"])
    assert set(told["unknown"]) == {"handler shell", "prompt sayings", "graph below"}
    assert (told["loops"], told["limits"]["steps"]) == ({"again": 3}, 9)
    shown = user.run("graph", "inspect", "foreign.yaml").out
    assert "unknown: graph below, handler shell, prompt sayings" in shown
    assert "None" not in shown


def test_graphs_that_name_each_other_in_a_circle_end(user: User) -> None:
    circle = 'graph: {0}\nversion: "1"\nstate: {{}}\nstart: a\nnodes: {{a: {{graph: {1}}}, z: {{end: completed}}}}\n'
    for name, other in (("one", "two"), ("two", "one")):
        user.write(f"circle/graphs/{name}.yaml", circle.format("other", other) + "edges: [{from: a, to: z}]\n")
    user.write("circle/one.yaml", circle.format("one", "two") + "edges: [{from: a, to: z}]\n")
    assert user.run("graph", "inspect", "circle/one.yaml", "--json").json["subgraphs"] == ["other", "other"]


def test_what_is_no_graph_and_no_bundle_is_refused(user: User) -> None:
    user.write("broken.yaml", "graph: [")
    assert "broken.yaml:" in user.run("graph", "inspect", "broken.yaml", expect=2).err
    user.write("broken.grb", "PK")
    assert "too short" in user.run("graph", "inspect", "broken.grb", expect=2).err


def test_a_bundle_tells_its_run_models_searches_and_folders(researcher: User, tmp_path: object) -> None:
    file = f"{tmp_path}/tides.grb"
    researcher.run("export-run", "tides", "-o", file)
    told = researcher.run("graph", "inspect", file, "--json").json
    assert (told["run"]["run_id"], told["run"]["status"]) == ("tides", "completed")
    assert told["run"]["calls"]["search"] > 0
    assert (told["models"], told["searches"], told["hosts"]) == (["extractive"], ["local"], [])
    assert told["folders"] == [str(researcher.folder / "library")]
    assert (told["graph"], told["unknown"]) == ("deep_research", [])
    assert sorted(told["subgraphs"]) == ["topic_research", "write_report"]
    assert "run status: completed" in researcher.run("graph", "inspect", file).out
