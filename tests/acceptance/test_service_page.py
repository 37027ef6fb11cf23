"""The page of the service in a real browser: from a token to a report, without a request to anywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli.cli_user import QUESTION, make_user
from tests.support.service.service_process import serving

CHROMIUM = Path("/usr/bin/chromium")
SECONDS = 120
HOSTILE = "<img src=x onerror=document.title=1> What did it cost?"


@pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium at /usr/bin/chromium")
def test_a_user_asks_a_question_in_a_browser_and_gets_its_report(tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    user = make_user(tmp_path)
    token = user.run("token", "ada", "--file", "tokens").out.strip()
    environ = {"GRAPH_RESEARCH_TOKENS_FILE": "tokens"}
    with serving(user, "--library", "library", environ=environ) as (_, url), sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_default_timeout(SECONDS * 1000)
        asked: list[str] = []
        broken: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.goto(url)
        for text in ("wrong", token):
            page.get_by_text("the token is missing or not valid").wait_for()
            page.get_by_label("Your token").fill(text)
            page.get_by_text("Use it").click()
        page.get_by_label("Add documents").set_input_files(user.write("notes.md", "Tide mills need a pond."))
        page.get_by_text("notes.md").wait_for()
        for question in (HOSTILE, QUESTION):
            page.get_by_label("What is to be researched?").fill(question)
            page.get_by_role("button", name="Research").click()
            page.locator("article").get_by_text(question).wait_for()
        newest = page.locator("article").first
        newest.get_by_text("completed").wait_for()
        with page.expect_download() as download:
            newest.get_by_role("link", name="Report").click()
        assert QUESTION in download.value.path().read_text()
        assert page.title() == "graph-research"
        assert page.locator("img").count() == 0
        browser.close()
    assert broken == []
    assert all(address.removeprefix("blob:").startswith(url) for address in asked)
