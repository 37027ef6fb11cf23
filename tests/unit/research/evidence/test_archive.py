"""The archived texts of a run as documents."""

from __future__ import annotations

from typing import cast

import orjson

from graph_research.graph.context import Context
from graph_research.research.evidence.archive import read_documents
from graph_research.research.models.source import Source
from graph_research.text.document import Document
from graph_research.text.readers.separated import separated_document
from tests.support.research import finished_research


class Texts:
    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    async def get_text(self, name: str) -> str:
        return self._texts[name]


async def test_a_document_without_a_title_has_that_of_its_source() -> None:
    table = separated_document("Month,Adults\nMay,310\n")
    titled = Document("The mill is old.", title="Mill")
    texts: dict[str, str] = {}
    sources = []
    for source_id, document in (("src-audit00001", table), ("src-report0001", titled)):
        layout = f"layout of {document.hash}"
        texts |= {document.hash: document.text, layout: orjson.dumps(document.layout()).decode()}
        row = finished_research.source(source_id, "museum/visitors.csv", "UNVERIFIED")
        sources.append(Source.model_validate({**row, "archive_hash": document.hash, "layout_hash": layout}))
    read = await read_documents(sources, cast(Context, Texts(texts)))
    assert [document.title for document in read.values()] == ["museum/visitors.csv", "Mill"]
