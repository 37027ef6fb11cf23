"""Files made to cause harm: they cost little time and memory, and their readers can reach nothing."""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pypdf import PdfWriter

from graph_research.providers.search.local.library import Library
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.words import index_text, words
from graph_research.text.passages import passages
from graph_research.text.readers import PDF
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document
from graph_research.text.sentences import sentence_spans

KEY = "sk-never-to-be-seen"


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Fails what takes longer: far above what the work takes, far below what it would take unbounded."""

    def stop(received: int, frame: object) -> None:
        raise AssertionError(f"took longer than {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def environment_of(process: int) -> bytes:
    return Path(f"/proc/{process}/environ").read_bytes()


@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, "A" * 300_000, "aB" * 150_000, "a-" * 150_000, "_a" * 150_000],
    ids=["small", "capital", "camel", "hyphens", "underscores"],
)
def test_a_word_without_end_is_taken_apart_in_no_time(text: str) -> None:
    with at_most(5):
        words(text)
        index_text(text, "en")


@pytest.mark.parametrize("sign", ["![", "`", "! ", "a. b ", "Mr. ", "x.", "?", "The dam is 5 m high. ", "word "])
def test_one_paragraph_without_end_is_split_in_no_time(sign: str) -> None:
    text = (sign * (150_000 // len(sign))).strip()
    with at_most(10):
        document = plain_document(text)
        spans = sentence_spans(document.text)
        passages(document)
    assert "".join(document.text[start:end] for start, end in spans).replace(" ", "") == text.replace(" ", "")


def test_no_sentence_and_no_passage_is_longer_than_anyone_reads() -> None:
    document = plain_document("word " * 20_000 + "x" * 50_000)
    assert max(end - start for start, end in sentence_spans(document.text)) <= 2_000
    assert max(one.end - one.start for one in passages(document)) <= 3_500


@pytest.mark.parametrize("sign", ["- a\n", "=\n", "a|b\n-|-\n", "&", "\\", "*a* \n\n", "> ", "# a\n"])
def test_markdown_of_more_signs_than_anyone_writes_is_read_as_text_in_no_time(sign: str) -> None:
    with at_most(20):
        markdown_document(sign * (600_000 // len(sign)))


def test_more_items_than_anyone_writes_are_refused() -> None:
    with at_most(20), pytest.raises(DocumentUnreadable, match="more than 250,000"):
        markdown_document("- a\n" * 300_000)


def test_a_long_title_or_heading_is_not_kept_with_every_passage() -> None:
    words = "endless " * 10_000
    document = markdown_document(f"# {words}\n\n" + "The dam is five metres high. " * 200)
    assert len(document.title) <= 500
    assert max(len(one.heading) for one in passages(document)) <= 1_000


async def test_a_pdf_with_an_endless_title_is_read_like_any_other() -> None:
    writer = PdfWriter()
    writer.add_blank_page(width=72, height=72)
    writer.add_metadata({"/Title": "\u4e2d" * 2_000_000})
    made = io.BytesIO()
    writer.write(made)
    async with LimitedReader() as reader:
        [part] = await reader.parts(made.getvalue(), PDF)
    assert (part.document, part.error) == (None, "it has no text; it may be a scan")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the environment of the child from /proc")
async def test_the_child_that_reads_pdfs_is_given_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("HOME", "/home/somebody")
    async with LimitedReader() as reader:
        await reader.parts(b"%PDF-1.4 no", PDF)
        assert reader._child is not None
        environment = environment_of(reader._child.pid)
    assert KEY.encode() not in environment
    assert b"HOME=" not in environment


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
async def test_what_is_no_regular_file_is_reported_and_never_opened(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(folder / "pipe.txt")
    (folder / "device.md").symlink_to("/dev/zero")
    (folder / "good.txt").write_text("The dam of the valley is five metres high.")
    with at_most(20):
        counts = await Library(tmp_path / "index.db").add([folder])
    assert counts.added == 1
    assert {Path(one.path).name for one in counts.failed} == {"pipe.txt", "device.md"}
