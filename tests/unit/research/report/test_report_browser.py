"""The page in a real browser: a click on `[1]` shows the quote in its source, without a script or a request."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from pypdf import PdfReader

from graph_research.research.llm.usage import ModelFailure, Retries, RoleUse
from tests.support.research import finished_research, written_report
from tests.unit.research.report.test_report_html import rendered
from tests.unit.research.report.test_report_markdown import HOSTILE, built, hostile_report

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium at /usr/bin/chromium")


BROKEN_WORDS = """
() => {
  const broken = [];
  for (const cell of document.querySelectorAll("#run .facts dd")) {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      for (const word of text.data.matchAll(/[^\\s-]+/g)) {
        const range = document.createRange();
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) broken.push(word[0]);
      }
    }
  }
  return broken;
}
"""


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page; what it asked for and what the console said is in the lists."""
    contexts = []

    def open_page(html, **options):
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": 1360, "height": 800}, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(file.as_uri())
        return page, asked, said

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", [320, 375, 1200])
def test_the_methodology_is_closed_at_first_and_its_figure_fits_the_screen(visit, width):
    page, _, _ = visit(rendered())
    page.set_viewport_size({"width": width, "height": 900})
    boxes = page.locator(".flow .stage, .flow .notes")
    assert boxes.count() > 3 and not boxes.first.is_visible()
    page.locator("#methodology summary").first.click()
    for place in range(boxes.count()):
        box = boxes.nth(place).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


@pytest.mark.parametrize("options", [{}, {"java_script_enabled": False}, {"color_scheme": "dark"}])
def test_a_click_on_a_number_shows_the_marked_quote_and_close_leaves_the_reader_where_they_were(visit, options):
    page, asked, said = visit(rendered(), **options)
    first = built().citations[0]
    mark = page.locator("#q-c1")
    assert not mark.is_visible()
    page.locator("#r-c1-1").click()
    assert mark.is_visible() and mark.inner_text() == first.quote
    box = mark.bounding_box()
    assert 0 <= box["y"] <= 800 and box["x"] > 600, "in sight, in the panel on the right"
    assert page.locator("#r-c1-1").is_visible()
    page.locator("#c-c1 .close a").click()
    assert not mark.is_visible()
    assert (len(asked), said) == (1, []), "the file itself and nothing else"


def test_the_way_back_leads_to_the_sentence_and_the_whole_text_opens_at_the_quote(visit):
    page, _, said = visit(rendered())
    page.goto(page.url + "#q-c3")
    page.locator("#c-c3 .back a").first.click()
    assert page.url.endswith("#r-c3-1")
    assert page.locator("#r-c3-1").bounding_box()["y"] < 800
    page.goto(page.url.split("#")[0] + "#q-c3")
    page.get_by_text("in the whole text").locator("visible=true").click()
    assert page.locator("#f-c3").is_visible()
    assert said == []


def test_the_name_of_a_command_keeps_its_small_letter_in_headings_and_contents(visit):
    text = {"type": "paragraph", "sentences": [{"text": "It prunes.", "kind": "transition"}]}
    section = {"heading": "git-gc(1)", "level": 1, "blocks": [text], "writer": "model"}
    page, _, _ = visit(rendered(built(draft={"found": True, "summary": [text], "sections": [section]})))
    style = "(element) => getComputedStyle(element, '::first-letter').textTransform"
    for place in ("h2", ".contents li a"):
        assert page.locator(place, has_text="git-gc(1)").first.evaluate(style) == "none"


def test_the_page_fits_a_phone(visit):
    page, _, _ = visit(rendered())
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.locator("#r-c1-1").click()
    assert page.locator("#q-c1").is_visible()


@pytest.mark.parametrize("width", [400, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_model_spec_or_host_is_broken_in_the_middle_of_a_word(visit, width, scheme):
    spec = "openai:qwen3-coder-30b-a3b-instruct-q4_k_m@http://gpu.number.two.in.the.basement.of.lab.internal.example:8080/v1"
    served = {"calls": 3, "repair_turns": 0, "too_long": 0, "input_tokens": 1, "output_tokens": 1, "cost_usd": None}
    failure = ModelFailure(model=spec, reason="did not answer", calls=2)
    other = RoleUse(models={"gemini:gemini-3.1-flash-lite": 3}, failures=[failure], **served)
    run = finished_research.facts(
        models={"report": spec},
        model_roles={"research": RoleUse(models={spec: 3}, failures=[], **served), "report": other},
        retries=[Retries(kind="model", provider="gpu.number.two", role="report", requests=2)],
    )
    page, _, _ = visit(rendered(built(run=run)), color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.locator("#methodology summary").first.click()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    broken = page.evaluate(BROKEN_WORDS)
    assert broken == []
    shown = page.locator("#run .facts dd").all_inner_texts()
    name = "qwen3-coder-30b-a3b-instruct-q4_k_m"
    assert f"report: gemini-3.1-flash-lite ({name} did not answer)" in shown, "no address of a model"


def test_the_pointer_or_the_keyboard_on_a_number_shows_the_passage(visit):
    page, asked, said = visit(rendered(written_report.built()))
    number, card = page.locator("#r-c1-1"), page.locator("#r-c1-1 ~ .card")
    assert not card.is_visible()
    number.hover()
    page.wait_for_timeout(400)
    assert card.is_visible()
    shown = card.inner_text()
    assert finished_research.COST_AUDIT["quote"] in shown and finished_research.INTEREST["quote"] in shown
    assert "National Audit Chamber" in shown and "cited" in shown
    page.mouse.move(0, 0)
    page.wait_for_timeout(400)
    assert not card.is_visible()
    number.focus()
    page.wait_for_timeout(400)
    assert card.is_visible()
    assert (len(asked), said) == (1, [])


def test_a_card_in_a_table_is_cut_by_nothing_and_a_further_passage_opens_by_itself(visit):
    page, _, _ = visit(rendered(written_report.built()))
    cite = page.locator(".grid .cite").last
    cite.scroll_into_view_if_needed()
    cite.locator(".ref").first.hover()
    page.wait_for_timeout(400)
    card = cite.locator(".card")
    box = card.bounding_box()
    inside = "([x, y]) => document.elementFromPoint(x, y).closest('.card') !== null"
    assert page.evaluate(inside, [box["x"] + 20, box["y"] + box["height"] - 10])
    page.locator(".ref.further").first.click()
    assert page.locator("#q-c2").is_visible()
    assert page.locator("#q-c2").inner_text() == finished_research.INTEREST["quote"]


@pytest.mark.parametrize("width", [360, 390, 768])
def test_a_report_with_tables_and_code_never_scrolls_sideways(visit, width):
    page, _, _ = visit(rendered(written_report.built()), has_touch=True)
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize(("text", "fits"), [("1.61 billion euros", True), ("1.61 billion euros, " * 4, False)])
def test_on_a_phone_a_table_of_three_columns_is_seen_whole_unless_its_cells_are_long(visit, text, fits):
    cell = finished_research.fact(text, finished_research.COST_AUDIT)
    table = {"type": "table", "header": ["Account", "Cost", "What follows"], "rows": [[cell] * 3] * 2}
    page, _, _ = visit(rendered(built(draft={"summary": [table]})))
    page.set_viewport_size({"width": 390, "height": 800})
    shown, whole = page.locator(".table .scroll").first.evaluate("one => [one.clientWidth, one.scrollWidth]")
    assert (shown == whole) == fits
    least = min(page.locator(".grid td:last-child").evaluate_all("all => all.map(one => one.offsetWidth)"))
    assert fits or least > 120, "long cells are no columns of single words"


def test_a_printed_report_has_its_text_and_tables_and_no_panels(visit):
    page, _, _ = visit(rendered(written_report.built()))
    page.emulate_media(media="print")
    assert page.locator(".grid").is_visible() and page.locator("#basis").is_visible()
    for hidden in (".contents", "#c-c1", "#texts", ".card"):
        assert not page.locator(hidden).first.is_visible(), hidden
    assert page.locator(".flow").is_visible() and page.get_by_text("run-1", exact=True).first.is_visible()
    assert not page.locator(".methodology details").first.is_visible(), "long lists to unfold"
    printed = PdfReader(io.BytesIO(page.pdf(format="A4")))
    assert "run-1" in "".join(sheet.extract_text() for sheet in printed.pages)


CONTRASTS = """
() => {
  const channels = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
    return colour.startsWith("color(") ? [red * 255, green * 255, blue * 255, alpha] : [red, green, blue, alpha];
  };
  const over = (colour, ground) => ground.map((value, n) => colour[n] * colour[3] + value * (1 - colour[3]));
  const luminance = (colour) => colour
    .map((value) => (value / 255 <= 0.03928 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, n) => sum + value * [0.2126, 0.7152, 0.0722][n], 0);
  const low = new Set();
  for (const element of document.querySelectorAll("body *")) {
    const isSaying = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!isSaying || !element.getClientRects().length) continue;
    const outward = [];
    for (let one = element; one; one = one.parentElement) outward.push(getComputedStyle(one));
    const opacity = outward.reduce((whole, style) => whole * style.opacity, 1);
    const ground = outward.reduceRight((below, style) => over(channels(style.backgroundColor), below), [255, 255, 255]);
    const colour = channels(outward[0].color);
    const shown = over([...colour.slice(0, 3), colour[3] * opacity], ground);
    const [darker, lighter] = [luminance(shown), luminance(ground)].sort((one, other) => one - other);
    if (opacity && (lighter + 0.05) / (darker + 0.05) < 4.5) low.add(`${element.tagName}.${element.className}`);
  }
  return [...low];
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_a_contrast_of_at_least_four_and_a_half(visit, scheme):
    page, _, _ = visit(rendered(written_report.built()), color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    assert page.evaluate(CONTRASTS) == []


def test_a_printed_table_of_many_columns_has_its_last_column(visit):
    heads = ["Station", "Capacity", "Commissioned", "Turbines", "Households", "Cost", "Address", "Remarks"]
    cell = finished_research.fact(
        "Maintenance closed two turbines for nine weeks in 2020.", finished_research.MAINTENANCE
    )
    table = {"type": "table", "header": heads, "rows": [[cell] * len(heads)]}
    page, _, _ = visit(rendered(built(draft={"summary": [table]})))
    printed = PdfReader(io.BytesIO(page.pdf(format="A4")))
    assert "Remarks" in "".join(sheet.extract_text() for sheet in printed.pages)


def test_right_to_left_text_keeps_its_direction_beside_the_numbers(visit):
    text = "\u0628\u0644\u063a\u062a \u0627\u0644\u062a\u0643\u0644\u0641\u0629"
    draft = {"summary": [finished_research.paragraph(finished_research.fact(text, finished_research.COST_AUDIT))]}
    page, _, _ = visit(rendered(built(draft=draft)))
    direction = page.locator("#answer p").first.evaluate("one => getComputedStyle(one).direction")
    assert direction == "rtl"


def test_hostile_sources_run_and_fetch_nothing(visit):
    _, asked, said = visit(rendered(hostile_report(" ".join(HOSTILE))))
    assert (len(asked), said) == (1, [])
