"""The archived texts of a run: read back as documents, and as what every quote is proved against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson

from graph_research.errors import GraphResearchError
from graph_research.graph.context import Context
from graph_research.research.models.record import Record
from graph_research.research.models.source import Source
from graph_research.text.document import Document, Places, places_of, text_hash
from graph_research.text.locators import resolve
from graph_research.text.wording import shortened

_SHOWN_CHARS = 120
_MOST_KEPT = 64
"""Documents that are kept in memory: each agent of a run reads the same ones."""


async def read_documents(sources: Sequence[Source], ctx: Context) -> dict[str, Document]:
    """The archived document of each source by the source's id; one without a title has the source's."""
    return {source.id: await _read(source, ctx) for source in sources}


async def _read(source: Source, ctx: Context) -> Document:
    text = await ctx.get_text(source.archive_hash)
    if source.layout_hash is None:
        return Document(text=text, title=source.title)
    return _document(text, await ctx.get_text(source.layout_hash), source.title)


@lru_cache(maxsize=_MOST_KEPT)
def _document(text: str, layout: str, title: str) -> Document:
    document = Document.from_layout(text, orjson.loads(layout))
    return document if document.title else replace(document, title=title)


class Proof(Record):
    """Where a quote stands in its archived text, as offsets of the whole text, or why it does not."""

    start: int = 0
    end: int = 0
    problem: str = ""


class Archive:
    """The archived texts by hash, with each text's page table; every quote is checked against them.

    `texts` maps `sha256:HEX` to canonical text; a text whose own hash differs from its name is never trusted.
    `layouts` maps the same hashes to `Document.layout()`.
    """

    def __init__(self, texts: Mapping[str, str], layouts: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        self._texts = texts
        self._layouts = layouts or {}
        self._sound: dict[str, bool] = {}
        self._places: dict[str, tuple[Places, ...]] = {}
        self._documents: dict[str, Document] = {}

    def prove(self, quote: str, locator: str, archive_hash: str) -> Proof:
        """Check `archive[locator] == quote`, to the character."""
        problem = self.problem_of(archive_hash)
        if problem:
            return Proof(problem=problem)
        text = self._texts[archive_hash]
        try:
            start, end = resolve(text, locator, self.pages(archive_hash))
        except (GraphResearchError, ValueError) as error:
            return Proof(problem=f"the locator {locator!r} leads nowhere: {error}")
        if not quote:
            return Proof(problem="the quote is empty")
        if text[start:end] != quote:
            return Proof(problem=f"the archived text has there: {shortened(text[start:end], _SHOWN_CHARS)!r}")
        return Proof(start=start, end=end)

    def problem_of(self, archive_hash: str) -> str:
        """Why the text of this hash cannot be trusted, or an empty string."""
        if archive_hash not in self._texts:
            return f"the archived text {archive_hash} is missing"
        if archive_hash not in self._sound:
            self._sound[archive_hash] = text_hash(self._texts[archive_hash]) == archive_hash
        return "" if self._sound[archive_hash] else f"the archived text {archive_hash} was changed: its hash differs"

    def text(self, archive_hash: str) -> str:
        """The archived text; `KeyError` where there is none."""
        return self._texts[archive_hash]

    def document(self, archive_hash: str) -> Document:
        """The text with its layout where one is known; `KeyError` where there is no text."""
        if archive_hash not in self._documents:
            text, layout = self.text(archive_hash), self.layout(archive_hash)
            self._documents[archive_hash] = Document.from_layout(text, layout) if layout else Document(text)
        return self._documents[archive_hash]

    def layout(self, archive_hash: str) -> Mapping[str, Any]:
        """The blocks and pages of a text; an empty mapping where none are known."""
        return self._layouts.get(archive_hash, {})

    def places(self, archive_hash: str) -> tuple[Places, ...]:
        """Where stretches of a text stand in its file; empty where that is not known."""
        if archive_hash not in self._places:
            self._places[archive_hash] = places_of(self.layout(archive_hash))
        return self._places[archive_hash]

    def pages(self, archive_hash: str) -> Sequence[int] | None:
        """The offset of each page, page 1 first, or None where the text has no page table."""
        return self.layout(archive_hash).get("pages") or None
