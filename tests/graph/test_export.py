"""Pictures and texts of a graph: golden output, and nothing of a definition that could break out of it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from graph_research.graph.export import FORMATS, Overlay, render_json, render_mermaid, render_svg
from graph_research.graph.export.layout import lay_out
from graph_research.graph.loader import load_graph
from graph_research.graph.reader import read_spec
from graph_research.graph.spec import GraphSpec
from tests.graph.definitions import registry

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "graphs").glob("*.yaml"))

TANGLED = """\
graph: tangled
start: a
summary: Everything a picture has to show.
state: {hits: {type: integer, input: true}, xs: {type: array, input: true}, x: {type: string, default: ""}}
loops: {again: {while: hits > 0, most: 3}, back: {most: 2, per: again}}
nodes:
  a: {set: {x: '"<b>&"'}, summary: 'First & "foremost" <script>alert(1)</script>'}
  b: {run: shout, each: xs, as: word, input: {with: {text: word}}}
  question: {ask: '"Go on?"', into: x}
  c: {graph: child, input: {with: {words: xs}}}
  d: {prompt: planner}
  done: {end: completed}
  rescue: {set: {x: '"failed"'}}
  aborted: {end: aborted}
edges:
  - {from: a, to: b, when: 'hits > 0 and x != "<script>|`#"'}
  - {from: a, to: done, when: hits < -1}
  - {from: a, to: question}
  - {from: b, to: c}
  - {from: question, to: c}
  - {from: question, to: rescue, on: timeout}
  - {from: c, to: d}
  - {from: d, to: b, when: hits > 3, loop: again}
  - {from: d, to: c, loop: back}
  - {from: d, to: d, loop: again}
  - {from: d, to: done}
  - {from: "*", to: rescue, on: [error, cancelled]}
  - {from: rescue, to: aborted}
"""


def tangled() -> GraphSpec:
    spec, findings = read_spec(TANGLED, "tangled.yaml", registry().schemas)
    assert spec
    assert not findings
    return spec


@pytest.mark.parametrize("format", ["mermaid", "dot", "svg"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_drawn_as_before(path: Path, format: str, snapshot: Any) -> None:
    assert FORMATS[format](load_graph(path).spec) == snapshot


@pytest.mark.parametrize("format", ["mermaid", "dot", "svg", "json"])
def test_a_tangled_graph_is_drawn_as_before(format: str, snapshot: Any) -> None:
    assert FORMATS[format](tangled()) == snapshot


def test_the_json_spells_everything_out() -> None:
    graph = json.loads(render_json(tangled()))
    assert graph["nodes"]["b"]["item_name"] == "word"
    assert graph["edges"][0]["when"] == 'hits > 0 and x != "<script>|`#"'
    assert graph["edges"][11]["on"] == ["error", "cancelled"]
    assert graph["loops"]["again"]["while"] == "hits > 0"


def test_mermaid_keeps_the_signs_of_a_guard() -> None:
    drawn = render_mermaid(tangled())
    assert "hits #gt; 0 and x != #quot;#lt;script#gt;#124;#96;#35;#quot;" in drawn
    assert "<script" not in drawn


def test_the_svg_is_well_formed_and_holds_no_markup_of_the_definition() -> None:
    drawn = render_svg(tangled())
    root = ElementTree.fromstring(drawn)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "style", "rect", "g", "path", "text", "title"}
    texts = [element.text for element in root.iter() if element.text]
    assert 'First & "foremost" <script>alert(1)</script>' in texts
    assert 'hits > 0 and x != "<script>|`#"' in texts
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


def test_the_overlay_shows_what_ran() -> None:
    drawn = render_svg(tangled(), Overlay(notes={"a": "1 × · 0.2 s <", "gone": "?"}, taken=frozenset({2})))
    assert "1 × · 0.2 s &lt;" in drawn
    assert drawn.count(' ran"') == 2


def test_no_node_covers_another_and_everything_is_inside_the_picture() -> None:
    layout = lay_out(tangled())
    for one, other in combinations(layout.boxes.values(), 2):
        apart_x = abs(one.x - other.x) >= (one.width + other.width) / 2
        apart_y = abs(one.y - other.y) >= (one.height + other.height) / 2
        assert apart_x or apart_y, (one, other)
    points = [point for route in layout.routes for point in route.points]
    assert all(0 <= x <= layout.width and 0 <= y <= layout.height for x, y in points)
    assert len(layout.routes) == len(tangled().edges)


def test_edges_lead_down_and_loops_lead_back_in_lanes_of_their_own() -> None:
    layout = lay_out(tangled())
    for route in layout.routes:
        source, target = layout.boxes[route.edge.source], layout.boxes[route.edge.target]
        assert route.lane == (target.y <= source.y)
    assert {route.edge.loop for route in layout.routes if route.lane} == {"again", "back"}


def test_a_long_chain_is_laid_out_without_recursion() -> None:
    nodes = "\n".join(f"  n{number}: {{set: {{}}}}" for number in range(1_500))
    edges = "\n".join(f"  - {{from: n{number}, to: n{number + 1}}}" for number in range(1_499))
    spec, _ = read_spec(f"graph: long\nstart: n0\nnodes:\n{nodes}\nedges:\n{edges}\n", "l.yaml", registry().schemas)
    assert spec
    assert len(lay_out(spec).routes) == 1_499
