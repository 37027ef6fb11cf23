"""Graphs without Python: the examples answer from the demo library without a key, and `graph new` begins with one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from graph_research import deep_research, load_graph
from graph_research.app.application import Application
from graph_research.app.graphs import Template
from graph_research.app.graphs.catalog import validate
from graph_research.app.request import request_for
from graph_research.app.runs.run import RunResult
from graph_research.app.workspace import Workspace, open_workspace
from tests.support.cli.cli_process import NOW, User
from tests.support.graph.countdown_graph import COUNTDOWN

ROOT = Path(__file__).parents[4]
EXAMPLES = ROOT / "examples" / "graphs"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Somebody at the top of the checkout with the demo library."""
    home = tmp_path_factory.mktemp("home")
    return open_workspace(
        {"GRAPH_RESEARCH_HOME": str(home)},
        ROOT,
        may_use=lambda _: False,
        options={"library": ["examples/library"]},
    )


async def run(workspace: Workspace, example: str, answers: Sequence[str] = (), **values: Any) -> RunResult:
    graph = f"examples/graphs/{example}/{example}.yaml"
    request = request_for(workspace, graph=graph, inputs=values, interactive=bool(answers), now=NOW)
    async with Application(workspace) as app:
        run_id = await app.create(request)
        for answer in (None, *answers):
            async with aclosing(app.drive(run_id, answer=answer)) as events:
                async for _ in events:
                    pass
        return await app.result(run_id)


ONE_SEARCH = """\
graph: one_search
state: {question: {type: string, input: true}, found: {type: array, default: [], output: true}}
start: search
nodes:
  search:
    run: search
    input:
      schema: search.input
      with: {query: question, source_rules: RULES}
    output: {schema: search.output, into: {found: output.sources}}
  done: {end: completed}
edges: [{from: search, to: done}]
"""


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ("{media_types: [pdf], published_from: '2020', published_until: '2021'}", None),
        ("{alow_domains: [who.int]}", "'alow_domains' was unexpected"),
        ("{source_kinds: [journals]}", '/source_rules/source_kinds/0: "journals" is not one of'),
        ("{media_types: [word]}", "media_types: no file is known to be of type 'word'"),
        ("{published_from: '2021', published_until: '2020'}", "published_until: 2020 ends before 2021 begins"),
    ],
)
def test_a_mistake_in_the_rules_for_sources_is_found_before_a_graph_runs(
    workspace: Workspace, tmp_path: Path, rules: str, message: str | None
) -> None:
    file = tmp_path / "one_search.yaml"
    file.write_text(ONE_SEARCH.replace("RULES", rules))
    findings = validate(workspace, str(file))
    assert [finding.line for finding in findings] == ([] if message is None else [9])
    assert all(message and message in finding.message for finding in findings)


@pytest.mark.parametrize("example", Template)
def test_an_example_is_clean(workspace: Workspace, example: str) -> None:
    assert validate(workspace, f"examples/graphs/{example}/{example}.yaml") == []


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("The Marrow Bay tidal lagoon has 16 bulb turbines.", "disputed"),
        ("The Marrow Bay tidal lagoon has 20 bulb turbines.", "contradicted"),
        ("The Skerrow Head tidal lagoon has an installed capacity of 96 megawatts.", "supported"),
        ("The Marrow Bay tidal lagoon is painted green.", "not found"),
    ],
)
async def test_the_fact_checker_decides_by_proved_quotes(workspace: Workspace, claim: str, verdict: str) -> None:
    result = await run(workspace, "fact-checker", claim=claim)
    assert (result.status, result.state["verdict"]) == ("completed", verdict)
    assert result.outputs == ("verdict", "result")
    stances = {quote["stance"] for quote in result.state["quotes"]}
    expected: Mapping[str, set[str]] = {
        "supported": {"supports"},
        "contradicted": {"contradicts"},
        "disputed": {"supports", "contradicts"},
        "not found": set(),
    }
    assert stances == expected[verdict]
    assert all(
        quote["evidence_id"].startswith("ev-") and quote["quote"] in result.state["result"]
        for quote in result.state["quotes"]
    )


async def test_the_conversation_goes_on_with_what_the_person_asks(workspace: Workspace) -> None:
    answers = ["And what was its construction cost?", "Who invented the telephone?", ""]
    result = await run(
        workspace, "document-qa", answers, question="How many turbines does the Marrow Bay tidal lagoon have?"
    )
    assert result.status == "completed"
    first, second, third = result.state["conversation"]
    assert "16 bulb turbines" in first
    assert "1.34 billion euros" in second
    assert "The Chamber found" in second
    assert "says otherwise: " in second
    assert third.endswith("The documents do not answer this.")


async def test_a_conversation_that_nobody_attends_ends_after_one_answer(workspace: Workspace) -> None:
    result = await run(workspace, "document-qa")
    assert result.status == "completed"
    assert len(result.state["conversation"]) == 1


async def test_follow_up_questions_are_bounded(workspace: Workspace) -> None:
    result = await run(workspace, "document-qa", ["And who owns it?", "And who built it?"], follow_ups=1)
    assert result.status == "completed"
    assert len(result.state["conversation"]) == 2


async def test_items_and_criteria_become_a_table(workspace: Workspace) -> None:
    result = await run(workspace, "compare")
    assert result.status == "completed"
    head, _, marrow, skerrow = result.state["table"].splitlines()
    assert head == "|  | Turbines | Cost | Households | In operation since |"
    assert marrow == (
        "| Marrow Bay tidal lagoon | 16 bulb turbines (or 14 bulb turbines) "
        "| 1.61 billion euros (or 1.34 billion euros) | 118,000 households (or 155,000 households) "
        "| 14 March 2016 (or 2 May 2016) |"
    )
    assert skerrow == (
        "| Skerrow Head tidal lagoon | 8 bulb turbines | 0.72 billion euros | 61,000 households | 30 August 2019 |"
    )
    assert result.state["failures"] == []


async def test_an_item_that_nobody_knows_has_empty_cells(workspace: Workspace) -> None:
    result = await run(
        workspace,
        "compare",
        items=["Nowhere Bay airship"],
        criteria=[{"name": "Crew", "ask": "How many pilots has the"}],
    )
    assert result.state["table"].splitlines()[-1] == "| Nowhere Bay airship | – |"


@pytest.mark.parametrize("template", Template)
def test_a_new_graph_is_clean_under_its_new_name(user: User, template: str) -> None:
    written = user.run("graph", "new", "mine", "--template", template, "--json").json
    assert all((user.folder / file).is_file() for file in written["files"])
    assert user.run("graph", "validate", "mine/mine.yaml", "--json").json == []
    assert "\ngraph: mine\n" in (user.folder / "mine/mine.yaml").read_text()
    assert template not in (user.folder / "mine/mine.yaml").read_text().replace("starter", "") or template == "compare"


def test_a_new_graph_runs_at_once_and_shows_its_outputs(user: User) -> None:
    done = user.run("graph", "new", "canal")
    assert "graph-research graph run canal/canal.yaml" in done.err
    done = user.run("graph", "run", "canal/canal.yaml", "--run-id", "first")
    assert 'answer: "The canal has 17 locks, of which two are listed buildings."' in done.out
    assert "text:" not in done.out


@pytest.mark.parametrize(
    "command",
    [
        ("graph", "run", "canal.yaml"),
        ("run", "How many locks?", "--graph", "canal.yaml"),
        ("run", "How many locks?", "--detach"),
        ("debug", "--graph", "canal.yaml"),
    ],
    ids=" ".join,
)
def test_an_empty_id_of_a_run_is_refused_as_any_that_is_none(user: User, command: tuple[str, ...]) -> None:
    user.write("canal.yaml", COUNTDOWN)
    done = user.run(*command, "--run-id", "", expect=2)
    assert "'' is not a valid name" in done.err
    assert user.run("list", "--json").json == []


def test_a_graph_that_does_not_run_is_told_by_its_errors(user: User) -> None:
    text = COUNTDOWN.replace("state: {", "state: {unused: {type: string}, ").replace("to: done", "to: doen")
    user.write("doen.yaml", text)
    checked = user.run("graph", "validate", "doen.yaml", expect=2).out.splitlines()
    told = user.run("graph", "run", "doen.yaml", expect=2).err.removeprefix("graph-research: ").splitlines()
    assert any(line.startswith("warning: ") for line in checked)
    assert told == [line.removeprefix("error: ") for line in checked if line.startswith("error: ")]


@pytest.mark.parametrize(("name", "why"), [("nowhere.yaml", "there is no file"), ("nowhere", "no graph")])
def test_a_graph_that_is_not_there_is_a_finding_for_programs(user: User, name: str, why: str) -> None:
    done = user.run("graph", "validate", name, "--json", expect=2)
    (finding,) = done.json
    assert (finding["file"], finding["line"], finding["code"]) == (name, 1, "unknown-graph")
    assert finding["severity"] == "error" and "graph-research graph list" in finding["help"]
    assert why in finding["message"] and why in done.err
    assert user.run("graph", "validate", name, expect=2).err == done.err


def test_nothing_is_overwritten(user: User) -> None:
    user.run("graph", "new", "mine")
    user.write("mine/mine.yaml", "kept")
    done = user.run("graph", "new", "mine", "--json", expect=2)
    assert done.json["error"]["code"] == "starter-exists"
    assert (user.folder / "mine/mine.yaml").read_text() == "kept"
    assert user.run("graph", "new", "../elsewhere", expect=2)


def test_a_graph_of_the_working_directory_has_the_files_beside_it_too(user: User) -> None:
    user.run("graph", "new", "mine")
    inside = User(folder=user.folder / "mine", home=user.home)
    assert inside.run("graph", "validate", "mine.yaml", "--json").json == []
    assert inside.run("graph", "run", "mine.yaml", "--json").json["status"] == "completed"


def test_what_lies_in_the_working_directory_replaces_nothing_before_it_is_trusted(user: User) -> None:
    user.run("graph", "new", "mine")
    inside = User(folder=user.folder / "mine", home=user.home)
    inside.write("schemas/claims.json", '{"type": "object"}')
    inside.write("graphs/topic_research.yaml", 'graph: topic_research\nversion: "666"\n')
    told = inside.run("graph", "export", "mine.yaml", "--format", "json")
    assert "config trust" in told.err
    known = {one["name"]: one["version"] for one in inside.run("graph", "list", "--json").json}
    assert known["topic_research"] == "1"


def test_subgraphs_are_found_beside_their_graph_or_in_graphs(user: User) -> None:
    outer = """
graph: outer
version: "1"
state: {n: {type: integer, default: 1}, m: {type: integer, default: 1}}
start: one
nodes:
  one: {graph: near, output: {into: {n: output.k}}}
  two: {graph: far, output: {into: {m: output.k}}}
  done: {end: completed}
edges:
  - {from: one, to: two}
  - {from: two, to: done}
"""
    inner = """
graph: inner
version: "1"
state: {k: {type: integer, default: 7, output: true}}
start: double
nodes:
  double: {set: {k: k * 2}}
  done: {end: completed}
edges:
  - {from: double, to: done}
"""
    user.write("outer.yaml", outer)
    user.write("near.yaml", inner)
    user.write("graphs/far.yaml", inner)
    user.write("graphs/near.yaml", inner.replace("k * 2", "k * 3"))
    user.write("graphs/again.yaml", outer.replace("graph: outer", "graph: again"))
    user.write("deep/elsewhere.yaml", inner)
    told = user.run("graph", "run", "outer.yaml", "--json").json
    assert told["state"] == {"n": 21, "m": 14}
    assert user.run("graph", "run", "graphs/again.yaml", "--json").json["state"] == {"n": 21, "m": 14}
    assert load_graph(user.folder / "outer.yaml").subgraphs.keys() == {"near", "far"}
    user.write("wrong.yaml", outer.replace("graph: far", "graph: elsewhere"))
    assert 'no graph "elsewhere"' in user.run("graph", "validate", "wrong.yaml", expect=2).out


def test_a_graph_with_searches_says_that_there_is_nothing_to_search(user: User) -> None:
    user.run("graph", "new", "checker", "--template", "fact-checker")
    done = user.run("graph", "run", "checker/checker.yaml", "--search", "local", "--json", expect=2)
    error = json.loads(done.out)["error"]
    assert error["code"] == "library-empty"
    assert "--library DIR" in error["help"]
    assert "graph-research library add DIR" in error["help"]
    assert user.run("list", "--json").json == []


def test_a_failed_items_message_is_the_same_wherever_its_graph_lies(user: User) -> None:
    user.write(
        "there/graphs/share.yaml",
        """
graph: share
version: "1"
state: {n: {type: integer, input: true}, part: {type: number, default: 0, output: true}}
start: divide
nodes:
  divide: {set: {part: 10 / n}}
  done: {end: completed}
edges:
  - {from: divide, to: done}
""",
    )
    user.write(
        "there/shared out.yaml",
        """
graph: shares
version: "1"
state: {parts: {type: array, default: []}, failed: {type: array, default: []}}
start: all
nodes:
  all:
    each: "[5, 0, 1]"
    as: n
    graph: share
    on_item_error: keep_going
    input: {with: {n: n - 1 + 0 * (10 // n)}}
    output: {into: {parts: outputs, failed: errors}}
  done: {end: completed}
edges:
  - {from: all, to: done}
""",
    )
    first = user.run("graph", "run", "there/shared out.yaml", "--run-id", "first", "--json").json["state"]
    assert "shared out.yaml:12:" in first["failed"][0]["message"]
    assert "share.yaml:7:" in first["failed"][1]["message"]
    assert "there/" not in str(first["failed"])
    user.run("replay", "first")
    inside = User(folder=user.folder / "there", home=user.home)
    assert inside.run("graph", "run", "shared out.yaml", "--run-id", "second", "--json").json["state"] == first
    user.run("export-run", "first", "-o", "first.grb")
    user.run("replay", "first.grb")


def test_a_bundle_is_inspected_with_the_schemas_and_prompts_that_it_holds(user: User) -> None:
    user.run("graph", "new", "canal")
    user.run("graph", "run", "canal/canal.yaml", "--run-id", "first")
    user.run("export-run", "first", "-o", "first.grb")
    told = user.run("graph", "inspect", "first.grb", "--json").json
    assert (told["prompts"], told["schemas"], told["unknown"]) == (["reply"], ["reply"], [])


def test_a_name_that_no_graph_has_is_reported_in_the_same_way_by_every_command(user: User) -> None:
    told = {user.run("graph", command, "piplin", expect=2).err for command in ("run", "validate", "export", "inspect")}
    assert len(told) == 1
    assert 'did you mean "pipeline"?' in told.pop()


def test_a_replay_with_other_prompts_says_where_what_is_asked_differs(user: User) -> None:
    user.run("graph", "new", "canal")
    user.run("graph", "run", "canal/canal.yaml", "--run-id", "first")
    prompt = user.folder / "canal/prompts/reply.j2"
    prompt.write_text(f"{prompt.read_text()}\nIn ten words.\n")
    first = user.run("replay", "first", "--current", "--json", expect=1).json["first_difference"]
    assert (first["node"], first["call"]) == ("reply", "model")
    assert "a recorded one differs in user: " in first["difference"]
    assert "In ten words." in first["difference"]


async def test_a_graph_file_that_python_names_finds_what_lies_beside_it_as_on_the_command_line(
    user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(user.folder)
    main, topics = (
        (ROOT / "graphs" / f"{name}.yaml").read_text().replace("graph: topic_research", "graph: my_topics")
        for name in ("deep_research", "topic_research")
    )
    user.write("mine.yaml", main)
    user.write("graphs/my_topics.yaml", topics)
    script = user.script("brief.json", {"*": [{"need_clarification": True, "question": "Which?", "verification": ""}]})
    options = {"library": ["library"], "llm": script, "environ": {"GRAPH_RESEARCH_HOME": str(user.home)}}
    result = await deep_research("How do tide mills work?", graph="mine.yaml", max_iterations=1, now=NOW, **options)
    assert result.status == "completed"


JUDGE = """
graph: judge
version: "1"
state:
  title: {type: string, input: true}
  result: {type: object, default: {}}
start: ask_model
nodes:
  ask_model:
    prompt: opinion
    role: reviewer
    input: {with: {title: title}}
    output: {into: {result: output}}
  done: {end: completed}
edges:
  - {from: ask_model, to: done}
"""


def test_a_template_is_checked_with_its_graph_before_a_model_is_asked(user: User) -> None:
    user.write("judge.yaml", JUDGE)
    user.write("prompts/opinion.j2", "Judge {{ titel }}.\n{% if title %}It is by {{ author }}.{% endif %}")

    done = user.run("graph", "validate", "judge.yaml", expect=2)

    assert done.out.splitlines() == [
        'error: judge.yaml:10:13: node "ask_model" does not give "titel", which prompts/opinion.j2:1 uses; '
        'did you mean "title"? add it to `with` of `input`',
        'warning: judge.yaml:10:13: node "ask_model" does not give "author", which prompts/opinion.j2:2 uses; '
        "add it to `with` of `input`",
        'warning: judge.yaml:11:11: node "ask_model" has the role "reviewer", which no model can be given; known: '
        "analysis, clarification, compression, gathering, planning, refinement, reflection, report, research, "
        "summarization, synthesis, verification",
    ]


def test_a_template_that_does_not_parse_is_named_with_its_line(user: User) -> None:
    user.write("judge.yaml", JUDGE.replace("reviewer", "report"))
    user.write("prompts/opinion.j2", "Judge it.\n{{ title }")

    done = user.run("graph", "run", "judge.yaml", "--set", 'title="T"', expect=2)

    assert "prompts/opinion.j2:2:1: prompt \"opinion\": unexpected '}'; templates are written as in Jinja" in done.err


def test_a_file_beside_a_graph_that_the_programs_own_hides_is_named(user: User) -> None:
    user.write("judge.yaml", JUDGE.replace("reviewer", "report").replace("into:", "schema: finding, into:"))
    user.write("prompts/opinion.j2", "Judge {{ title }}.")
    user.write("schemas/finding.json", '{"type": "object", "properties": {"score": {"type": "number"}}}')

    hidden = user.run("graph", "validate", "judge.yaml")
    user.run("config", "trust")
    trusted = user.run("graph", "validate", "judge.yaml")

    assert hidden.out.splitlines() == [
        "warning: judge.yaml:13:22: schemas/finding.json is not used: the program, or a folder of your own, has "
        'another "finding"; give the file beside the graph another name, or trust its folder',
        "judge.yaml: valid, 1 warning",
    ]
    assert trusted.out == "judge.yaml: valid\n"


def test_a_prompt_that_is_missing_is_one_finding(user: User) -> None:
    user.write("judge.yaml", JUDGE.replace("reviewer", "report"))

    done = user.run("graph", "validate", "judge.yaml", expect=2)

    [finding] = done.out.splitlines()
    assert finding.split(": ", 2)[2].startswith('no prompt "opinion"; known: ')
    assert "_partials" not in finding
