"""A text is parsed once, however many searches and agents read it."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document
from tests.support.cli.cli_process import DEMO_LIBRARY, User
from tests.support.cli.cli_user import QUESTION
from tests.support.network.fake_services import open_world

READERS = {reader.__code__: reader.__name__ for reader in (html_document, markdown_document, plain_document)}


@contextmanager
def counted_readings() -> Iterator[Counter[tuple[str, str]]]:
    """How often each reader was given each text, here and in every thread that starts from here on."""
    counts: Counter[tuple[str, str]] = Counter()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in READERS:
            counts[READERS[frame.f_code], frame.f_locals["source"]] += 1

    before = sys.getprofile()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        yield counts
    finally:
        sys.setprofile(before)
        threading.setprofile(before)


def test_pages_and_snippets_of_the_web_are_parsed_once_a_run(user: User, tmp_path: Path) -> None:
    with open_world(tmp_path / "calls") as world, counted_readings() as counts:
        user.run("run", QUESTION, "--llm", "extractive", "--search", "searxng", environ=world.environ())
        searches, pages = len(world.calls("search")), len(world.calls("page"))

    assert searches > 1
    assert sum(reader == "html_document" for reader, _ in counts) == pages > 5
    assert [text for text, count in counts.items() if count > 1] == []


def test_documents_of_a_library_are_parsed_once_over_all_runs(user: User) -> None:
    with counted_readings() as counts:
        user.run("library", "add", str(DEMO_LIBRARY))
        for _ in range(2):
            user.run("run", QUESTION, "--llm", "extractive", "--library", str(DEMO_LIBRARY))

    assert len(counts) > 10
    assert [text for text, count in counts.items() if count > 1] == []
