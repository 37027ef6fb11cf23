"""Pages behind search hits: HTML, text, Markdown and PDF become documents, and what is none is refused."""

from __future__ import annotations

import hashlib
import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from graph_research.providers.errors import FetchRefused
from graph_research.providers.web.fetcher import Fetched
from graph_research.providers.web.page_reader import WebPages

URL = "https://example.org/page"


class Bytes:
    """A fetcher that has one answer."""

    def __init__(self, body: bytes, content_type: str = "text/html", charset: str | None = None) -> None:
        self.answer = Fetched(
            url=URL,
            final_url="https://example.org/moved",
            content_type=content_type,
            charset=charset,
            body=body,
            fetched_from="192.0.2.1",
        )

    async def fetch(self, url: str) -> Fetched:
        return self.answer


def pdf(text: str) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out)
    canvas.drawString(72, 720, text)
    canvas.save()
    return out.getvalue()


async def test_a_page_of_html_is_its_text_and_stands_where_the_redirects_led() -> None:
    page = await WebPages(Bytes(b"<title>T</title><h1>Tarn</h1><p>It <b>opened</b>.</p><script>x()</script>")).read(URL)
    assert (page.url, page.content_type) == ("https://example.org/moved", "text/html")
    assert page.document.text == "Tarn It opened."
    assert [block.kind for block in page.document.blocks] == ["heading", "paragraph"]


@pytest.mark.parametrize(
    ("kind", "text"), [("text/markdown", "Tarn It opened."), ("text/plain", "# Tarn It *opened*.")]
)
async def test_markdown_and_text_are_read_as_what_they_are(kind: str, text: str) -> None:
    page = await WebPages(Bytes(b"# Tarn\n\nIt *opened*.", kind)).read(URL)
    assert page.document.text == text


async def test_the_servers_charset_counts_before_the_pages_own() -> None:
    body = '<meta charset="iso-8859-1"><p>Жители</p>'.encode("koi8-r")
    assert (await WebPages(Bytes(body, charset="koi8-r")).read(URL)).document.text == "Жители"


async def test_a_charset_that_is_none_does_no_harm() -> None:
    assert (await WebPages(Bytes(b"<p>caf\xe9</p>", charset="rot13")).read(URL)).document.text == "café"


@pytest.mark.requirement("B43")
@pytest.mark.parametrize("kind", ["text/html", "text/plain"])
async def test_the_bytes_of_a_page_are_hashed_as_they_were_sent(kind: str) -> None:
    body = b"<p>It   opened\r\nin 2016.</p>"
    page = await WebPages(Bytes(body, kind)).read(URL)
    assert page.bytes_hash == f"sha256:{hashlib.sha256(body).hexdigest()}"
    assert page.bytes_hash != page.document.hash


@pytest.mark.requirement("12.4")
async def test_reading_a_pdf_is_timed_and_its_memory_measured() -> None:
    async with WebPages(Bytes(pdf("The plant opened in 2016."), "application/pdf"), pdfs=True) as pages:
        page = await pages.read(URL)
        html = await WebPages(Bytes(b"<p>Text.</p>")).read(URL)
    assert page.pdf_seconds is not None
    assert page.pdf_seconds > 0
    assert 10_000_000 < page.pdf_peak_bytes < 512_000_000
    assert (html.pdf_seconds, html.pdf_peak_bytes) == (None, 0)


@pytest.mark.requirement("12.3")
async def test_a_pdf_is_read_where_pdfs_are_wanted() -> None:
    fetcher = Bytes(pdf("The plant opened in 2016."), "application/pdf")
    async with WebPages(fetcher, pdfs=True) as pages:
        page = await pages.read(URL)
    assert page.document.text == "The plant opened in 2016."
    assert page.document.pages == (0,)


@pytest.mark.requirement("12.3")
async def test_a_pdf_is_refused_where_they_are_not() -> None:
    with pytest.raises(FetchRefused, match="fetch_pdfs"):
        await WebPages(Bytes(pdf("Text."), "application/pdf")).read(URL)


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"<p> </p>", "text/html"), (b"\0\1\2", "text/plain"), (b"%PDF-1.4 broken", "application/pdf")],
)
async def test_what_has_no_text_is_refused(body: bytes, kind: str) -> None:
    async with WebPages(Bytes(body, kind), pdfs=True) as pages:
        with pytest.raises(FetchRefused, match=r"example\.org/moved"):
            await pages.read(URL)
