"""The interactive page of a graph, in a real browser: hover, click, zoom, search, and hostile texts that stay texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from graph_research.graph.export import NodeStats, NodeVisit, Overlay, Picture, picture_of, render_html
from graph_research.graph.loader import load_graph
from tests.unit.graph.export.test_export import OVERLAY, random_graph, tangled

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>\u2028${x}"

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium at /usr/bin/chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that must neither complain nor ask the network for anything."""
    opened = browser.new_page(viewport={"width": 1200, "height": 800})
    said: list[str] = []
    asked: list[str] = []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("request", lambda request: asked.append(request.url))
    yield opened
    opened.close()
    assert said == []
    assert [url for url in asked if not url.startswith("file:")] == []


def show(page: Page, folder: Path, picture: Picture) -> None:
    file = folder / "graph.html"
    file.write_text(render_html(picture), encoding="utf-8")
    page.goto(file.as_uri())


def hostile() -> Picture:
    """A graph whose names, guards, summaries and run are all somebody's attempt to get out."""
    picture = tangled()
    spec = picture.spec
    node = replace(spec.nodes["a"], name=HOSTILE, summary=HOSTILE)
    edge = spec.edges[0]
    assert edge.when
    edge = replace(edge, source=HOSTILE, when=replace(edge.when, text=HOSTILE))
    edges = [edge, *(replace(one, source=HOSTILE) if one.source == "a" else one for one in spec.edges[1:])]
    nodes = {HOSTILE if name == "a" else name: one for name, one in {**spec.nodes, "a": node}.items()}
    visit = NodeVisit(
        where=HOSTILE,
        visit=1,
        attempt=1,
        status=HOSTILE,
        started_at=HOSTILE,
        seconds=0.1,
        input={HOSTILE: HOSTILE},
        output=[HOSTILE],
        calls=[
            {
                "kind": HOSTILE,
                "status": "answered",
                "seconds": 1,
                "request": {"system": HOSTILE * 5},
                "answer": {"text": HOSTILE},
            }
        ],
    )
    overlay = Overlay(
        nodes={HOSTILE: NodeStats(visits=1, seconds=0.1)},
        taken={0: 3},
        visits={HOSTILE: [visit]},
        facts={"run": HOSTILE},
    )
    spec = replace(spec, name=HOSTILE, summary=HOSTILE, nodes=nodes, edges=edges, start=HOSTILE)
    return Picture(spec=spec, sources={HOSTILE: {HOSTILE: HOSTILE}}).with_overlay(overlay)


def test_hovering_shows_a_nodes_definition_and_an_edges_guard(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, tangled().with_overlay(OVERLAY))
    page.hover('[data-node="b"] > .box')
    tip = page.locator("#tip")
    assert "b: {run: shout, each: xs, as: word" in tip.inner_text()
    assert "3 × · 7 items · 1.2 s · 1,204 tokens · 1 error" in tip.inner_text()
    page.hover('[data-edge="#7"] .label >> nth=0')
    assert "d → b" in tip.inner_text()
    assert "while hits > 0" in tip.inner_text()
    assert "not taken" in tip.inner_text()


def test_clicking_shows_visits_with_inputs_outputs_and_prompts(page: Page, tmp_path: Path) -> None:
    visit = NodeVisit(
        where="c/count",
        visit=2,
        attempt=1,
        status="finished",
        started_at="noon",
        seconds=0.25,
        input={"words": ["one"]},
        output={"replace": {"total": 1}},
        calls=[
            {"kind": "model", "status": "answered", "seconds": 1.5, "request": {"system": "S" * 200}, "answer": "A"}
        ],
    )
    inner = Overlay(nodes={"count": NodeStats(visits=30)}, visits={"count": [visit]})
    show(page, tmp_path, tangled().with_overlay(replace(OVERLAY, inner={"c": inner})))
    page.click('[data-node="c/count"] > .box')
    panel = page.locator("#panel")
    assert "c/count" in panel.inner_text()
    assert "visit 2 · finished · 0.250 s" in panel.inner_text()
    assert "and 29 more" in panel.inner_text()
    for summary in panel.locator("summary").all()[1:]:
        summary.click()
    shown = panel.inner_text()
    assert '"total": 1' in shown
    assert '"one"' in shown
    assert "S" * 200 in shown
    page.keyboard.press("Escape")
    assert panel.is_hidden()


def test_what_a_failed_visit_left_is_called_its_error(page: Page, tmp_path: Path) -> None:
    visit = NodeVisit(
        where="c/count",
        visit=1,
        attempt=1,
        status="failed",
        started_at="noon",
        seconds=0.25,
        output={"type": "ExpressionFailed", "message": "division by zero"},
    )
    inner = Overlay(nodes={"count": NodeStats(visits=1, errors=1)}, visits={"count": [visit]})
    show(page, tmp_path, tangled().with_overlay(replace(OVERLAY, inner={"c": inner})))
    page.click('[data-node="c/count"] > .box')
    panel = page.locator("#panel")
    panel.locator("summary").all()[1].click()
    assert panel.locator("summary").all()[1].inner_text() == "error"
    assert "division by zero" in panel.inner_text()


def test_wheel_buttons_and_dragging_zoom_and_move_the_picture(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, tangled())
    box = page.locator('[data-node="b"] > .box')

    def place() -> tuple[float, float, float]:
        found = box.bounding_box()
        assert found
        return found["x"], found["y"], found["width"]

    before = place()
    page.mouse.move(*before[:2])
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        f"document.querySelector('[data-node=b] > .box').getBoundingClientRect().width > {before[2] + 5}"
    )
    closer = place()
    assert abs(closer[0] - before[0]) < 2
    page.click("#further")
    assert place()[2] < closer[2]
    x, y, _ = place()
    page.mouse.move(600, 700)
    page.mouse.down()
    page.mouse.move(650, 720, steps=3)
    page.mouse.up()
    assert place()[:2] == pytest.approx((x + 50, y + 20), abs=1)
    assert page.locator("#panel").is_hidden()
    page.click("#fit")
    assert place()[2] <= before[2] + 1


def test_searching_leads_to_nodes_by_name_guard_and_definition(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, tangled())
    page.keyboard.press("/")
    page.keyboard.type("prompt planner")
    assert page.locator("#found").inner_text() == "1 node"
    page.keyboard.press("Enter")
    assert page.locator("#panel h2").inner_text() == "d"
    assert page.locator("g.node.dim").count() == page.locator("g.node[data-node]").count() - 1


def test_light_and_dark_follow_the_reader_and_the_button(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "graph.html"
    file.write_text(render_html(tangled()), encoding="utf-8")
    page = browser.new_page(color_scheme="dark")
    page.goto(file.as_uri())
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 24, 31)"
    page.click("#theme")
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    paper = "getComputedStyle(document.querySelector('.paper')).fill"
    assert page.evaluate(paper) == "rgb(255, 255, 255)"
    page.close()


def test_nodes_are_reached_and_opened_by_key(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, tangled())
    page.focus('[data-node="a"]')
    page.keyboard.press("Enter")
    assert page.locator("#panel h2").inner_text() == "a"


def test_hostile_names_guards_and_values_stay_text(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, hostile())
    page.locator("g.node.ran > .box").first.hover()
    page.locator("g.node.ran > .box").first.click()
    panel = page.locator("#panel")
    for summary in panel.locator("summary").all():
        summary.evaluate("one => { one.parentElement.open = true; }")
    assert HOSTILE.replace("\u2028", "") in panel.inner_text().replace("\u2028", "").replace("\n", "")
    assert page.locator("img, b").count() == 0
    assert page.locator("script").count() == 2
    assert page.title() != "owned"


def test_sixty_nodes_are_shown_whole_and_readable(page: Page, tmp_path: Path) -> None:
    show(page, tmp_path, Picture(spec=random_graph(60, 1)))
    assert page.locator("g.node[data-node]").count() == 60
    first = page.locator("g.node[data-node] .name").first.bounding_box()
    assert first
    assert first["height"] >= 10
    page.click("#fit")
    boxes = [one.bounding_box() for one in page.locator("g.node > .box").all()]
    assert all(box and box["x"] >= 0 and box["y"] >= 0 and box["y"] + box["height"] <= 800 for box in boxes)


def test_on_a_narrow_screen_the_page_begins_at_the_start_of_a_wide_graph(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    nodes = {f"n{number:02}": "{set: {}}" for number in range(12)}
    edges = ", ".join(f"{{from: first, to: {name}}}, {{from: {name}, to: last}}" for name in nodes)
    written = ", ".join(f"{name}: {node}" for name, node in nodes.items())
    text = f"""
graph: wide
start: begin
state: {{n: {{type: integer, default: 0}}}}
nodes:
  {{begin: {{set: {{}}}}, end: {{end: aborted}}, first: {{set: {{}}, fork: all}}, {written}, last: {{end: completed}}}}
edges: [{{from: begin, to: end, when: n > 0}}, {{from: begin, to: first}}, {edges}]
"""
    show(page, tmp_path, picture_of(load_graph("wide.yaml", text=text)))
    box = page.locator('[data-node="begin"] > .box').bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= box["x"] + box["width"] <= 390
