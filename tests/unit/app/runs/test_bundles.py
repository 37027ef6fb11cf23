"""Bundles at the command line: exported with a warning, imported elsewhere, replayed and verified as they are."""

from __future__ import annotations

import hashlib
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.cli.cli_process import User, new_user
from tests.support.network.fake_services import open_world
from tests.support.network.http_server import Answer, WireServer


@pytest.fixture(scope="module")
def bundle(researcher: User, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The research `tides` in a file."""
    file = tmp_path_factory.mktemp("bundle") / "tides.grb"
    done = researcher.run("export-run", "tides", "-o", str(file), "--json")
    assert (done.json["run_id"], done.json["bytes"]) == ("tides", file.stat().st_size)
    assert done.json["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert "holds texts of your local library" in done.err
    return file


@pytest.fixture
def stranger(user: User) -> User:
    """Somebody else, with an empty home and another library."""
    return user


def test_a_bundle_is_replayed_and_verified_without_being_imported(stranger: User, bundle: Path) -> None:
    assert stranger.run("replay", str(bundle), "--json").json["identical"] is True
    assert stranger.run("verify", str(bundle), "--json").json["invalid"] == 0
    assert stranger.run("list", "--json").json == []


@pytest.mark.requirement("6.6")
def test_an_imported_run_is_a_run_like_any_other_and_is_not_imported_twice(
    stranger: User, bundle: Path, researcher: User
) -> None:
    done = stranger.run("import-run", str(bundle), "--json")
    assert done.json == researcher.run("export-run", "tides", "-o", str(stranger.folder / "again.grb"), "--json").json
    assert done.json["local_texts"] > 0
    assert stranger.run("status", "tides", "--json").json["status"] == "completed"
    assert stranger.run("report", "tides").out == (researcher.folder / "out" / "report.md").read_text()
    assert stranger.run("replay", "tides", "--json").json["identical"] is True
    refused = stranger.run("import-run", str(bundle), expect=2).err
    assert "run tides exists already, and an imported run keeps its id" in refused
    assert "choose another id" not in refused


def test_a_file_that_is_not_a_bundle_is_told_from_a_damaged_one(stranger: User, bundle: Path) -> None:
    report = stranger.write("report.json", json.dumps({"run_id": "tides", "sections": ["text"] * 50}))
    done = stranger.run("verify", str(report), expect=2).err
    assert "it is not a bundle; name a run by its id, or a bundle" in done
    stranger.folder.joinpath("cut.grb").write_bytes(bundle.read_bytes()[:-100])
    assert "it was cut off, or is another archive than a bundle" in stranger.run("verify", "cut.grb", expect=2).err


@pytest.mark.requirement("13.8")
def test_status_and_report_say_the_same_of_how_much_was_shown_of_each_source(researcher: User) -> None:
    status, report = (researcher.run(command, "tides", "--json").json for command in ("status", "report"))
    shown = status["content_fidelity"]
    assert shown == report["statistics"]["content_fidelity"]
    assert shown["items"].keys() == {source["id"] for source in report["sources"]}
    assert {row["source_id"] for row in shown["records"]} <= shown["items"].keys()


@pytest.mark.requirement("1.14", "B38")
def test_the_decision_log_stands_in_the_report_and_goes_along_in_a_bundle(
    user: User, bundle: Path, researcher: User
) -> None:
    user.run("import-run", str(bundle), "--json")
    last = researcher.run("status", "tides", "--json").json["step"]
    state = researcher.run("show", "tides", "--step", str(last), "--json").json["state"]
    reports = [owner.run("report", "tides", "--json").json for owner in (researcher, user)]
    for report in reports:
        assert report["metadata"]["agent_decisions"] == state["decisions"]
    with zipfile.ZipFile(bundle) as archive:
        assert json.loads(archive.read("metadata.json")) == reports[0]["metadata"]
    for row in state["decisions"]:
        assert set(row) == {"id", "agent", "action", "rationale", "inputs", "outputs", "timestamp"}
    assert {"execute_planning", "execute_gathering", "evaluate_phase", "judge_phase", "decide_iteration"} <= {
        row["action"] for row in state["decisions"]
    }


def test_a_changed_bundle_is_refused_by_every_command_that_reads_one(
    stranger: User, bundle: Path, tmp_path: Path
) -> None:
    data = bytearray(bundle.read_bytes())
    data[len(data) // 2] ^= 1
    changed = tmp_path / "changed.grb"
    changed.write_bytes(data)
    for command in (("import-run",), ("replay",), ("verify",)):
        done = stranger.run(*command, str(changed), "--json", expect=2)
        assert done.json["error"]["code"] == "bundle-invalid"
        assert "checksum" in done.json["error"]["message"]
    assert stranger.run("list", "--json").json == []


def test_no_key_of_the_environment_gets_into_a_bundle(researcher: User, tmp_path: Path) -> None:
    file = tmp_path / "keyed.grb"
    researcher.run("export-run", "tides", "-o", str(file), environ={"OPENAI_API_KEY": "sk-very-secret-key"})
    assert b"sk-very-secret-key" not in file.read_bytes()
    assert "no run" in researcher.run("export-run", "nobody", "-o", str(file), expect=2).err


GREETER = """
graph: greeter
version: "1"
state: {name: {type: string, input: true, default: you}, text: {type: string, default: "", output: true}}
start: greet
nodes:
  greet:
    prompt: greeting
    input: {with: {name: name}}
    output: {into: {text: output.text}}
  done: {end: completed}
edges: [{from: greet, to: done}]
"""


def test_a_bundle_with_prompts_of_its_own_is_replayed_where_nobody_has_them(user: User, tmp_path: Path) -> None:
    user.write("theirs/greeter.yaml", GREETER)
    user.write("theirs/prompts/greeting.j2", "Greet {{ name }}.")
    model = user.script("model.json", {"greeting": ["hello"]})
    user.run("graph", "run", "theirs/greeter.yaml", "--llm", model, "--run-id", "g")
    user.run("export-run", "g", "-o", "g.grb")
    stranger = new_user(tmp_path / "elsewhere")
    assert stranger.run("replay", "../g.grb", "--json").json["identical"] is True
    (user.folder / "elsewhere" / "home" / "prompts").mkdir()
    (user.folder / "elsewhere" / "home" / "prompts" / "greeting.j2").write_text("Insult {{ name }}.")
    assert stranger.run("replay", "../g.grb", "--json").json["identical"] is True
    assert (
        stranger.run("replay", "../g.grb", "--current", "--json", expect=1).json["first_difference"]["node"] == "greet"
    )
    (user.folder / "theirs" / "prompts" / "greeting.j2").write_text("Insult {{ name }}.")
    assert user.run("replay", "g", "--json").json["identical"] is True
    user.run("replay", "g", "--current", expect=1)


def test_a_run_from_a_bundle_asks_no_model_of_somebody_elses_before_the_user_agrees(user: User, tmp_path: Path) -> None:
    stranger = replace(user, home=tmp_path / "stranger")
    with open_world(tmp_path / "calls") as world:
        asked = ("run", "How high are the tides?", "--llm", world.model, "--search", "searxng", "--run-id", "bait")
        user.run(*asked, "--max-iterations", "1", environ=world.environ())
        user.run("export-run", "bait", "-o", str(tmp_path / "bait.grb"))
        stranger.run("import-run", str(tmp_path / "bait.grb"))
        world.forget()

        forked = stranger.run("fork", "bait", "--step", "3", environ=world.environ(), expect=2)

        told = f"came in a bundle and would ask {world.model} and search searxng and read the pages found there"
        assert told in forked.err
        assert world.calls() == []


def test_a_run_from_a_bundle_searches_no_web_before_the_user_agrees_and_neither_does_a_fork_of_it(
    user: User, tmp_path: Path
) -> None:
    stranger = replace(user, home=tmp_path / "stranger")
    with open_world(tmp_path / "calls") as world:
        asked = ("run", "How high are the tides?", "--llm", "extractive", "--search", "searxng", "--run-id", "bait")
        user.run(*asked, "--max-iterations", "1", environ=world.environ())
        user.run("export-run", "bait", "-o", str(tmp_path / "bait.grb"))
        stranger.run("import-run", str(tmp_path / "bait.grb"))
        world.forget()
        fork = ("fork", "bait", "--step", "0", "--set", 'question="How deep are the tides?"')

        refused = stranger.run(*fork, environ=world.environ(), expect=2)
        assert "came in a bundle and would search searxng and read the pages found there" in refused.err
        assert world.calls() == []

        stranger.run(*fork, "--run-id", "mine", "--accept-changes", environ=world.environ())
        assert "search" in {call.kind for call in world.calls()}  # pages that the parent read come from its journal
        world.forget()
        again = stranger.run("fork", "mine", "--step", "0", environ=world.environ(), expect=2)
        assert "run mine came in a bundle" in again.err
        assert world.calls() == []


WAITING = """
graph: waiting
version: "1"
state: {answer: {type: string, default: ""}}
start: sure
nodes:
  sure: {ask: '"Are you sure?"', into: answer}
  done: {end: completed}
edges: [{from: sure, to: done}]
"""


@pytest.mark.parametrize(
    ("search", "told"), [("wikipedia", "search wikipedia"), ("mcp:mine", "search mcp:mine"), ("local", "")]
)
def test_a_waiting_run_from_a_bundle_goes_on_only_where_it_searches_nothing_outside(
    search: str, told: str, user: User, tmp_path: Path
) -> None:
    stranger = replace(user, home=tmp_path / "stranger")
    servers = {"GRAPH_RESEARCH_MCP_SERVERS": json.dumps({"mine": {"command": ["false"]}})}
    chosen = {**servers, "GRAPH_RESEARCH_SEARCH_PROVIDERS": search}
    file = user.write("waiting.yaml", WAITING)
    user.run("graph", "run", str(file), "--run-id", "bait", environ=chosen, expect=4)
    user.run("export-run", "bait", "-o", str(tmp_path / "bait.grb"))
    stranger.run("import-run", str(tmp_path / "bait.grb"))

    went_on = stranger.run("resume", "bait", "--answer", "yes", environ=servers, expect=2 if told else 0)

    assert not told or f"came in a bundle and would {told}" in went_on.err
    assert stranger.run("cancel", "bait", environ=servers).code == 0


def test_no_page_that_a_run_from_a_bundle_names_is_read_before_the_user_agrees(
    user: User, server: WireServer, tmp_path: Path
) -> None:
    stranger = replace(user, home=tmp_path / "stranger")
    page = "<p>The tides are eleven metres high, and ten metres deep."
    server.on("*", Answer(body=page, headers={"content-type": "text/html"}))
    hit = {"url": f"{server.url}/page", "text": "The tides are ten metres deep.", "metadata": {"extent": "snippet"}}
    script = user.write("found.json", json.dumps([{"hits": [hit]}]))
    readable = {"GRAPH_RESEARCH_FETCH_ALLOW_HOSTS": f"127.0.0.1:{server.port}"}
    asked = ("run", "How high are the tides?", "--llm", "extractive", "--search", f"scripted:{script}")
    user.run(*asked, "--max-iterations", "1", "--run-id", "bait", environ=readable)
    assert server.at("/page")
    user.run("export-run", "bait", "-o", str(tmp_path / "bait.grb"))
    stranger.run("import-run", str(tmp_path / "bait.grb"))
    server.received.clear()
    script.write_text(json.dumps([{"hits": [{**hit, "url": f"{server.url}/another"}]}]))
    fork = ("fork", "bait", "--step", "0", "--set", 'question="How deep are the tides?"')

    stranger.run(*fork, "--run-id", "closed", environ=readable)
    assert not server.received
    report = json.loads((user.folder / "research" / "closed" / "report.json").read_text())
    assert any(one.startswith("Pages that could not be read") and "1 of 1" in one for one in report["limitations"])

    stranger.run(*fork, "--run-id", "agreed", "--accept-changes", environ=readable)
    assert server.at("/another")
