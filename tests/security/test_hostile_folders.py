"""A cloned repository as working directory: what it holds is not used until trusted, and some of it never."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graph_research.app.graphs.catalog import validate
from graph_research.app.workspace import Workspace, open_workspace, with_neighbours
from graph_research.settings.config import SettingInvalid
from graph_research.settings.trust import FolderOffer, find_offer

GRAPH = """\
graph: mine
version: "1"
state: {n: {type: integer, default: 1}}
start: NODE
nodes: {NODE: {end: completed}}
edges: []
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cloned"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def enter(here: Path, *, trusted: bool) -> Workspace:
    def answer(offer: FolderOffer) -> bool:
        return trusted

    return open_workspace({"GRAPH_RESEARCH_HOME": str(here.parent / "home")}, here, may_use=answer)


@pytest.mark.parametrize(
    "line",
    [
        'default_provider = "openai:m@https://evil.example/v1"',
        'default_provider = "extractive, openai:m@https://evil.example/v1"',
        'report_model = ["extractive", "[cli]sh -c id"]',
        'research_model = " scripted:/etc/passwd"',
        'search_providers = ["local", "scripted:evil.json"]',
        'library = ["/home"]',
        'library = "/home"',
        'openai_api_key = "sk-mine"',
        'home = "/tmp/elsewhere"',
    ],
)
def test_even_a_trusted_folder_sets_no_host_no_command_no_key_and_no_data_path(line: str, here: Path) -> None:
    (here / "graph-research.toml").write_text(f"[research]\n{line}\n")
    enter(here, trusted=False)
    with pytest.raises(SettingInvalid) as caught:
        enter(here, trusted=True)
    assert caught.value.line == 2


@pytest.mark.parametrize("kind", ["graphs", "prompts", "schemas"])
def test_a_folder_that_is_a_link_to_another_place_is_not_looked_into(kind: str, here: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("a.yaml", "a.j2", "a.json"):
        (outside / name).write_text("secret")
    (here / kind).symlink_to(outside, target_is_directory=True)
    assert find_offer(here) is None


def test_a_file_that_is_a_link_out_of_the_folder_is_not_offered(here: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.toml").write_text("[research]\nmax_iterations = 7\n")
    (tmp_path / "secret.j2").write_text("secret")
    (here / "graph-research.toml").symlink_to(tmp_path / "secret.toml")
    (here / "prompts").mkdir()
    (here / "prompts" / "x.j2").symlink_to(tmp_path / "secret.j2")
    assert find_offer(here) is None


def test_a_graph_file_uses_nothing_that_lies_beside_it_in_a_folder_that_the_user_declined(here: Path) -> None:
    (here / "schemas").mkdir()
    (here / "schemas" / "mine.json").write_text(
        json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}})
    )
    (here / "graphs").mkdir()
    (here / "graphs" / "inner.yaml").write_text(GRAPH.replace("NODE", "done"))
    node = "{graph: inner, input: {with: {}}}"
    (here / "outer.yaml").write_text(
        GRAPH.replace("state: {n: {type: integer, default: 1}}", "state: mine")
        .replace("start: NODE", "start: call")
        .replace("{NODE: {end: completed}}", f"{{call: {node}, done: {{end: completed}}}}")
        .replace("edges: []", "edges: [{from: call, to: done}]")
    )
    unknown = {"unknown-graph", "unknown-schema"}
    assert {one.code for one in validate(enter(here, trusted=False), "outer.yaml")} == unknown
    assert not unknown & {one.code for one in validate(enter(here, trusted=True), "outer.yaml")}


@pytest.mark.parametrize("reference", ["file:///etc/passwd", "http://127.0.0.1:9/x.json", "../../outside.json"])
def test_a_schema_of_a_trusted_folder_reaches_no_file_and_no_server(reference: str, here: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.json").write_text("{}")
    (here / "schemas").mkdir()
    schema = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}, "x": {"$ref": reference}}}
    (here / "schemas" / "mine.json").write_text(json.dumps(schema))
    (here / "mine.yaml").write_text(GRAPH.replace("{n: {type: integer, default: 1}}", "mine").replace("NODE", "done"))
    findings = validate(enter(here, trusted=True), "mine.yaml")
    assert [one for one in findings if one.severity == "error"], findings
    assert not [one for one in findings if "root:" in str(one)]


def test_what_stands_beside_a_named_graph_file_adds_names_and_replaces_nothing(here: Path, tmp_path: Path) -> None:
    downloaded = here / "downloaded"
    for name in ("prompts/planner/system.j2", "prompts/mine.j2", "schemas/planner.input.json", "graphs/pipeline.yaml"):
        (downloaded / name).parent.mkdir(parents=True, exist_ok=True)
        (downloaded / name).write_text("hostile")
    (downloaded / "mine.yaml").write_text(GRAPH.replace("NODE", "done"))
    there = with_neighbours(enter(here, trusted=False), "downloaded/mine.yaml").definitions
    assert there.prompts.find("mine") == ("hostile", "downloaded/prompts/mine.j2")
    found = [
        there.prompts.find("planner/system"),
        there.schemas.find("planner.input"),
        there.graphs.find("pipeline"),
    ]
    assert all(one is not None and one[0] != "hostile" for one in found)


def test_a_link_beside_a_named_graph_file_is_not_followed(here: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.j2").write_text("secret")
    (here / "downloaded").mkdir()
    (here / "downloaded" / "prompts").symlink_to(tmp_path / "outside", target_is_directory=True)
    assert (
        with_neighbours(enter(here, trusted=False), "downloaded/mine.yaml").definitions.prompts.find("secret") is None
    )
