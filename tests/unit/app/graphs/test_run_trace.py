"""Exporting with what a run did, at the command line: every format, the extra that may be missing, other graphs."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_research.cli import execute
from graph_research.graph.checkpoint.sqlite import SqliteCheckpointer
from graph_research.graph.loader import load_graph
from graph_research.graph.runtime import Runtime
from tests.support.graph.countdown_graph import COUNTDOWN
from tests.support.graph.sample_registry import CHILD, registry

PARENT = """\
graph: parent
version: "1"
state:
  lists: {type: array, default: [[a], [b, c]], input: true}
  totals: {type: array, default: []}
start: every
nodes:
  every:
    each: lists
    as: words
    graph: child
    input: {with: {words: words}}
    output: {into: {totals: "[one.total for one in outputs]"}}
  done: {end: completed}
edges:
  - {from: every, to: done}
"""

Export = Callable[..., tuple[int, str, str]]


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Export:
    """`graph export` in a folder with two graphs and a run of each."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (tmp_path / "countdown.yaml").write_text(COUNTDOWN)
    (tmp_path / "flows" / "graphs").mkdir(parents=True)
    (tmp_path / "flows" / "parent.yaml").write_text(PARENT)
    (tmp_path / "flows" / "graphs" / "child.yaml").write_text(CHILD)
    asyncio.run(_drive(home))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPH_RESEARCH_HOME", str(home))

    def run(*arguments: str) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        code = execute(["graph", "export", *arguments])
        out, err = capfdbinary.readouterr()
        return code, out.decode("latin-1" if out.startswith(b"\x89PNG") else "utf-8"), err.decode()

    return run


async def _drive(home: Path) -> None:
    store = SqliteCheckpointer(home / "runs.db")
    for text, run_id in ((COUNTDOWN, "counted"), (PARENT, "parted")):
        graph = load_graph(Path(f"{run_id}.yaml"), registry=registry(child=CHILD), text=text)
        await Runtime(graph, checkpointer=store).run({}, run_id=run_id)
    await store.close()


def test_json_tells_visits_edges_and_the_run(export: Export) -> None:
    code, out, err = export("countdown.yaml", "--run", "counted", "--format", "json")
    assert code == 0
    assert err == ""
    run = json.loads(out)["run"]
    assert run["facts"] == {"run": "counted", "status": "completed", "graph": "countdown"}
    assert run["taken"] == {"0": 2, "1": 1}
    assert run["nodes"]["tick"]["visits"] == 3
    assert run["nodes"]["done"]["visits"] == 1


def test_items_of_a_subgraph_are_counted_together_inside_its_node(export: Export) -> None:
    code, out, _ = export("flows/parent.yaml", "--run", "parted", "--format", "json")
    assert code == 0
    graph = json.loads(out)
    assert graph["run"]["nodes"]["every"]["items"] == 2
    assert graph["subgraphs"]["every"]["run"]["nodes"]["count"]["visits"] == 2
    assert graph["subgraphs"]["every"]["run"]["taken"] == {"0": 2}


@pytest.mark.parametrize(
    ("format", "told"),
    [("mermaid", "==>"), ("dot", "taken 2 ×"), ("svg", "taken 2 ×"), ("html", "taken 2 ×")],
)
def test_every_picture_shows_the_way_that_was_taken(export: Export, format: str, told: str) -> None:
    code, out, err = export("countdown.yaml", "--run", "counted", "--format", format)
    assert code == 0, err
    assert told in out
    assert "3 ×" in out


def test_the_page_holds_each_visit_with_its_input_and_what_it_wrote(export: Export) -> None:
    _, out, _ = export("flows/parent.yaml", "--run", "parted", "--format", "html")
    data = json.loads(out.split('id="data">')[1].split("</script>")[0])
    items = [visit for visit in data["nodes"]["every"]["visits"] if visit["title"].startswith("every[1] ")]
    assert len(items) == 1
    assert json.loads(items[0]["parts"][0][1]) == {"words": ["b", "c"]}
    assert json.loads(items[0]["parts"][1][1]) == {"total": 2}
    assert len(data["nodes"]["every/count"]["visits"]) == 2


def test_a_png_is_written_light_and_dark(export: Export, tmp_path: Path) -> None:
    drawn = []
    for theme in ("light", "dark"):
        code, _, err = export("countdown.yaml", "--format", "png", "--theme", theme, "-o", f"{theme}.png")
        assert code == 0, err
        drawn.append((tmp_path / f"{theme}.png").read_bytes())
    assert all(png.startswith(b"\x89PNG\r\n\x1a\n") for png in drawn)
    assert drawn[0] != drawn[1]
    code, out, _ = export("countdown.yaml", "--format", "png")
    assert out.encode("latin-1") == drawn[0]


def test_a_missing_extra_is_named(export: Export, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    code, out, err = export("countdown.yaml", "--format", "png", "-o", "x.png")
    assert code == 2
    assert out == ""
    assert "graph-research[viz]" in err
    assert "Traceback" not in err


def test_a_run_of_another_graph_and_an_unknown_run_are_refused(export: Export) -> None:
    code, _, err = export("countdown.yaml", "--run", "parted")
    assert code == 2
    assert "parent" in err
    assert export("countdown.yaml", "--run", "nobody")[0] == 2
    assert export("countdown.yaml", "--run", "../x")[0] == 2


def test_a_graph_that_changed_since_the_run_is_drawn_with_a_warning(export: Export, tmp_path: Path) -> None:
    changed = COUNTDOWN.replace("  done: {end: completed}", "  done: {end: completed}\n  aside: {end: failed}").replace(
        "  - {from: tick, to: done}", "  - {from: tick, to: aside, when: n < -5}\n  - {from: tick, to: done}"
    )
    (tmp_path / "countdown.yaml").write_text(changed)
    code, out, err = export("countdown.yaml", "--run", "counted", "--format", "json")
    assert code == 0
    assert "has changed since run counted" in err
    assert json.loads(out)["run"]["nodes"]["tick"]["visits"] == 3


def test_flat_leaves_subgraphs_out(export: Export) -> None:
    assert "subgraph" in export("flows/parent.yaml")[1]
    assert "subgraph" not in export("flows/parent.yaml", "--flat")[1]
