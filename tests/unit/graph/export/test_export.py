"""Pictures and texts of a graph: golden output, and nothing of a definition that could break out of it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from graph_research.graph.definition.parser import read_spec
from graph_research.graph.definition.spec import GraphSpec
from graph_research.graph.export import (
    TEXT_RENDERERS,
    NodeStats,
    Overlay,
    Picture,
    picture_of,
    render_json,
    render_mermaid,
    render_svg,
)
from graph_research.graph.export.layering import layers_of
from graph_research.graph.export.layout import lay_out
from graph_research.graph.export.png import render_png
from graph_research.graph.loader import load_graph
from tests.support.graph.sample_registry import CHILD, registry

EXAMPLES = sorted((Path(__file__).parents[4] / "examples" / "graphs").glob("[!g]*.yaml"))  # but `guided`

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


PARENT = """\
graph: parent
start: c
state: {words: {type: array, default: []}}
nodes: {c: {graph: child, input: {with: {words: words}}}, done: {end: completed}}
edges: [{from: c, to: done}]
"""
OVERLAY = Overlay(
    nodes={
        "a": NodeStats(visits=1, seconds=0.2),
        "b": NodeStats(visits=3, items=7, seconds=1.24, calls=2, tokens=1204, errors=1),
        "c": NodeStats(visits=1, seconds=75),
        "gone": NodeStats(visits=1),
    },
    taken={0: 2, 12: 1},
    inner={"c": Overlay(nodes={"count": NodeStats(visits=1)}, taken={0: 1})},
)


def random_graph(count: int, seed: int) -> GraphSpec:
    """A graph in the manner of those that people write: mostly a line, with branches, loops and guards."""
    chance = Random(f"{count} {seed}")
    names = [chance.choice(["check", "gather_more", "x", "summarize_the_sources"]) + f"_{n}" for n in range(count)]
    nodes = "\n".join(f"  {name}: {{set: {{}}}}" for name in names)
    edges = [f"  - {{from: {one}, to: {other}}}" for one, other in pairwise(names)]
    for _ in range(count // 2):
        source = chance.randrange(count - 1)
        target = min(count - 1, source + chance.choice([2, 2, 3, 5]))
        edges.append(f"  - {{from: {names[source]}, to: {names[target]}, when: len(sources) > {target}}}")
        if chance.random() < 0.4:
            back = max(0, source - chance.choice([0, 1, 2, 4]))
            edges.append(f"  - {{from: {names[source]}, to: {names[back]}, when: not enough, loop: again}}")
    loops = "loops: {again: {while: not enough, most: 3}}"
    text = f"graph: random\nstart: {names[0]}\n{loops}\nnodes:\n{nodes}\nedges:\n" + "\n".join(edges) + "\n"
    spec, findings = read_spec(text, "random.yaml", registry().schemas)
    assert spec, findings
    return spec


def tangled(text: str = TANGLED) -> Picture:
    spec, findings = read_spec(text, "tangled.yaml", registry().schemas)
    assert spec
    assert not findings
    child, _ = read_spec(CHILD, "child.yaml", registry().schemas)
    assert child
    return Picture(spec=spec, inner={"c": Picture(spec=child)})


def test_a_png_is_the_same_on_a_machine_without_fonts() -> None:
    graph = replace(tangled(), overlay=OVERLAY)
    assert render_png(graph, system_fonts=False) == render_png(graph)
    one, other = tangled(), tangled(TANGLED.replace("rescue", "resque"))
    assert render_png(one, system_fonts=False) != render_png(other, system_fonts=False)


@pytest.mark.parametrize("format", ["mermaid", "dot", "svg"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_are_drawn_as_before(path: Path, format: str, snapshot: Any) -> None:
    assert TEXT_RENDERERS[format](picture_of(load_graph(path))) == snapshot


@pytest.mark.parametrize("format", ["mermaid", "dot", "svg", "json"])
def test_a_tangled_graph_is_drawn_as_before(format: str, snapshot: Any) -> None:
    assert TEXT_RENDERERS[format](tangled()) == snapshot


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
    assert tags <= {"svg", "style", "rect", "g", "path", "text", "title", "circle"}
    texts = [element.text for element in root.iter() if element.text]
    assert 'First & "foremost" <script>alert(1)</script>' in texts
    assert 'hits > 0 and x != "<script>|`#"' in texts
    assert "http" not in drawn.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("format", ["mermaid", "dot", "svg"])
def test_the_overlay_shows_what_ran_and_the_way_it_took(format: str, snapshot: Any) -> None:
    assert TEXT_RENDERERS[format](tangled().with_overlay(OVERLAY)) == snapshot


def test_control_characters_leave_the_svg_well_formed() -> None:
    picture = tangled()
    drawn = render_svg(replace(picture, spec=replace(picture.spec, name="a\x00\x1b[2J\ud800b")))
    assert ElementTree.fromstring(drawn).attrib["aria-label"] == "The graph a\ufffd\ufffd[2J\ufffdb"


def test_the_overlay_names_visits_seconds_tokens_and_errors() -> None:
    drawn = render_svg(tangled().with_overlay(OVERLAY))
    assert "3 × · 7 items · 1.2 s · 1,204 tokens · 1 error" in drawn
    assert drawn.count('class="node set ran"') == 2
    assert drawn.count('class="node run failed ran"') == 1
    assert json.loads(render_json(tangled().with_overlay(OVERLAY)))["run"]["taken"] == {"0": 2, "12": 1}


@pytest.mark.parametrize("count", [8, 20, 60])
def test_boxes_and_labels_keep_clear_of_each_other(count: int) -> None:
    for seed in range(4):
        layout = lay_out(Picture(spec=random_graph(count, seed)))
        areas = [(box.x, box.y, box.width, box.height) for box in layout.boxes.values()]
        areas += [(lab.x, lab.y, lab.width, lab.height) for route in layout.routes if (lab := route.label)]
        for one, other in combinations(areas, 2):
            apart_x = abs(one[0] - other[0]) >= (one[2] + other[2]) / 2 - 0.01
            apart_y = abs(one[1] - other[1]) >= (one[3] + other[3]) / 2 - 0.01
            assert apart_x or apart_y, (seed, one, other)
        assert all(
            width / 2 <= x <= layout.width - width / 2 and height / 2 <= y <= layout.height - height / 2
            for x, y, width, height in areas
        )


@pytest.mark.parametrize("count", [8, 20, 60])
def test_no_edge_runs_through_a_box_that_is_not_its_own(count: int) -> None:
    for seed in range(4):
        layout = lay_out(Picture(spec=random_graph(count, seed)))
        for route in layout.routes:
            for box in layout.boxes.values():
                if box.name in (route.edge.source, route.edge.target):
                    continue
                for (x0, y0), (x1, y1) in pairwise(route.points):
                    beside = max(x0, x1) < box.left or min(x0, x1) > box.left + box.width
                    apart = max(y0, y1) <= box.top + 0.01 or min(y0, y1) >= box.bottom - 0.01
                    assert beside or apart, (seed, route.edge, box.name)


def test_edges_lead_down_and_loops_lead_up() -> None:
    layout = lay_out(tangled())
    for route in layout.routes:
        up = layout.boxes[route.edge.target].y <= layout.boxes[route.edge.source].y
        assert up == (route.edge.loop is not None)
        assert len(route.points) >= 2


def test_a_subgraph_is_drawn_inside_its_node_or_left_out() -> None:
    graph = load_graph(Path("parent.yaml"), registry=registry(child=CHILD), text=PARENT)
    box = lay_out(picture_of(graph)).boxes["c"]
    assert box.inner
    assert list(box.inner.boxes) == ["count", "done"]
    assert box.width > box.inner.width
    assert 'data-node="c/count"' in render_svg(picture_of(graph))
    assert "subgraph" in render_mermaid(picture_of(graph))
    assert lay_out(picture_of(graph, flat=True)).boxes["c"].inner is None
    assert "subgraph" not in render_mermaid(picture_of(graph, flat=True))


def test_a_long_chain_is_laid_out_without_recursion() -> None:
    nodes = "\n".join(f"  n{number}: {{set: {{}}}}" for number in range(1_500))
    edges = "\n".join(f"  - {{from: n{number}, to: n{number + 1}}}" for number in range(1_499))
    spec, _ = read_spec(f"graph: long\nstart: n0\nnodes:\n{nodes}\nedges:\n{edges}\n", "l.yaml", registry().schemas)
    assert spec
    assert len(lay_out(Picture(spec=spec)).routes) == 1_499


def test_only_the_declared_loop_leads_up_where_an_edge_skips_into_it() -> None:
    graph = load_graph(
        "skip.yaml",
        text="""
graph: skip
version: "1"
state: {n: {type: integer, default: 0}}
start: a
loops: {again: {most: 2}}
nodes:
  a: {set: {n: n + 1}}
  b: {set: {n: n + 2}}
  c: {set: {n: n + 3}}
  d: {set: {n: n + 4}}
  done: {end: completed}
edges:
  - {from: a, to: d, when: n > 5}
  - {from: a, to: b}
  - {from: b, to: c}
  - {from: c, to: d}
  - {from: d, to: b, when: n < 9, loop: again}
  - {from: d, to: done}
""",
    )
    assert layers_of(graph.spec).upwards == {4}


def test_an_arrow_into_a_cluster_points_at_it() -> None:
    inner = """
graph: inner
version: "1"
state: {n: {type: integer, default: 0, output: true}, m: {type: integer, default: 0}}
start: work
loops: {again: {while: n < 2, most: 5}}
nodes:
  work: {set: {n: n + 1, m: n}}
  check: {set: {n: 9 // n}}
  ok: {end: completed}
  bad: {end: aborted}
edges:
  - {from: work, to: work, loop: again}
  - {from: work, to: check}
  - {from: check, to: ok}
  - {from: check, to: bad, on: [error]}
"""
    outer = """
graph: outer
version: "1"
state: {n: {type: integer, default: 0}, items: {type: array, default: []}}
start: split
nodes:
  split: {set: {}, fork: all}
  many: {graph: inner, each: items, as: one, at_once: 2, output: {into: {n: len(outputs)}}}
  side: {set: {n: n}}
  side2: {set: {n: n}}
  meet: {set: {}, join: [many, side2]}
  done: {end: completed}
edges:
  - {from: split, to: many}
  - {from: split, to: side}
  - {from: many, to: meet}
  - {from: side, to: side2}
  - {from: side2, to: meet}
  - {from: meet, to: done}
"""
    specs = [read_spec(text, "x.yaml", registry().schemas)[0] for text in (outer, inner)]
    assert specs[0]
    assert specs[1]
    svg = render_svg(Picture(spec=specs[0], inner={"many": Picture(spec=specs[1])}))
    heads = [line for line in svg.splitlines() if 'class="head"' in line and 'data-edge="#' in line]
    assert len(heads) == 6
    assert all("l-4.5,-9h9z" in line for line in heads)
