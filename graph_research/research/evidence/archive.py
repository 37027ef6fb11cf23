"""Reading sources back from the archive, as documents with their blocks and pages."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from graph_research.graph.context import Context
from graph_research.research.models.source import Source
from graph_research.text.document import Document


async def read_documents(sources: Sequence[Source], ctx: Context) -> dict[str, Document]:
    """The archived document of each source by the source's id."""
    return {source.id: await _read(source, ctx) for source in sources}


async def _read(source: Source, ctx: Context) -> Document:
    text = await ctx.get_text(source.archive_hash)
    if source.layout_hash is None:
        return Document(text=text, title=source.title)
    return Document.from_layout(text, orjson.loads(await ctx.get_text(source.layout_hash)))
