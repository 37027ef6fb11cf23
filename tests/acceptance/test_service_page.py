"""The page of the service in a real browser: from a token over a plan to a report and a further question, without a
request to anywhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli.cli_user import QUESTION, make_user
from tests.support.service.service_client import JOBS
from tests.support.service.service_process import said_in, serving

CHROMIUM = Path("/usr/bin/chromium")
SECONDS = 120
HOSTILE = "<img src=x onerror=document.title=1> What did it cost?"
NO_REPORT = """
graph: nothing
version: "1"
state: {question: {type: string, input: true}}
start: look
nodes:
  look: {set: {question: question}}
  done: {end: completed}
edges:
  - {from: look, to: done}
"""

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="no Chromium at /usr/bin/chromium")


@contextmanager
def opened(url: str) -> Iterator[Any]:
    """The page in a browser. At the end no script of it has failed, and nothing was asked of anyone but the service."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"], timeout=SECONDS * 1000
        )
        page = browser.new_page()
        page.set_default_timeout(SECONDS * 1000)
        asked: list[str] = []
        broken: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.goto(url)
        yield page
        browser.close()
    assert broken == []
    assert all(address.startswith(url) for address in asked)


def test_a_user_asks_a_question_in_a_browser_and_gets_its_report(tmp_path: Path) -> None:
    user = make_user(tmp_path)
    token = user.run("token", "ada", "--file", "tokens").out.strip()
    environ = {"GRAPH_RESEARCH_TOKENS_FILE": "tokens"}
    with serving(user, "--library", "library", environ=environ) as (_, url), opened(url) as page:
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
        with page.expect_popup() as report:
            newest.get_by_role("link", name="Report").click()
        report.value.get_by_role("heading", name=QUESTION).wait_for()
        assert page.title() == "graph-research"
        assert page.locator("img").count() == 0
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Your token").wait_for()
        report.value.reload()
        report.value.get_by_text("token-missing").wait_for()


def _opened(log: Path) -> str:
    """The address that the service says it has opened; it answers before it says so."""
    return said_in(log, r"has opened (\S+)\n")


def test_a_user_changes_the_plan_watches_asks_on_and_deletes(tmp_path: Path) -> None:
    user = make_user(tmp_path)
    with serving(user, "--library", "library", log="log") as (_, url):
        address = _opened(user.folder / "log")
        with opened(url) as page:
            page.goto(address)
            page.get_by_text("Options").click()
            page.get_by_label("Show me the plan first").check()
            page.get_by_label("What is to be researched?").fill(QUESTION)
            page.get_by_role("button", name="Research").click()
            page.get_by_label("Sub-query 1").fill("What does a tide mill need?")
            page.get_by_role("button", name="Approve the plan").click()
            research = page.locator("article").filter(has=page.get_by_role("heading", name=QUESTION))
            research.get_by_text("completed").wait_for()
            research.get_by_text("More").click()
            research.get_by_role("log").get_by_text("completed").wait_for()
            assert "gather[0]/search: search" in research.get_by_role("log").inner_text()
            research.get_by_role("button", name="Check citations").click()
            page.get_by_text("stand word for word in the archived sources").wait_for()
            research.get_by_role("button", name="Check sources for changes").click()
            page.get_by_text("cited sources has changed").wait_for()
            research.get_by_label("A further question").fill("What is a pond?")
            research.get_by_role("button", name="Ask").click()
            further = page.locator("article").filter(has=page.get_by_role("heading", name="What is a pond?"))
            further.get_by_text("completed").wait_for()
            job = page.request.get(f"{url}{JOBS}").json()["jobs"][-1]
            assert "What does a tide mill need?" in page.request.get(f"{url}{JOBS}/{job['id']}/report.json").text()
            page.once("dialog", lambda dialog: dialog.accept())
            research.get_by_role("button", name="Delete").click()
            research.wait_for(state="detached")


def test_a_cancelled_job_goes_on_as_another_and_a_job_without_a_report_links_none(tmp_path: Path) -> None:
    user = make_user(tmp_path)
    with serving(user, "--library", "library", log="log") as (_, url):
        address = _opened(user.folder / "log")
        with opened(url) as page:
            page.goto(address)
            page.get_by_label("What is to be researched?").wait_for()
            body = {"question": QUESTION, "definition": NO_REPORT, "pause_before": ["look"]}
            assert page.request.post(f"{url}{JOBS}", data=body).status == 202
            page.get_by_text("the run pauses before look").wait_for()
            page.get_by_role("button", name="Cancel").click()
            page.get_by_text("More").click()
            page.get_by_role("button", name="Go on where it stopped").click()
            newest = page.locator("article").filter(has_not=page.locator(".CANCELLED"))
            newest.get_by_label("Your answer").fill("Go on.")
            newest.get_by_role("button", name="Answer").click()
            newest.get_by_text("completed").wait_for()
            newest.get_by_text("More").click()
            newest.get_by_role("link", name="Outputs").wait_for()
            assert [link.inner_text() for link in newest.get_by_role("link").all()] == ["Graph", "Outputs"]
