"""The synthesizer: a draft of verbatim quotations that code selects, which every other draft is measured by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.providers.call_kind import CallKind
from graph_research.providers.llm.base import ModelRequest
from graph_research.research.evidence.archive import read_documents
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import AnswerUnreadable
from graph_research.research.models.source import Source


def synthesizer(services: Services) -> Handler:
    """The draft of the model in this process, whatever serves the role. It is recorded, since an embedding model may
    have ranked its sentences."""

    async def synthesize(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        sources = [Source.model_validate(row) for row in handoff["sources"]]

        async def select() -> Any:
            request = ModelRequest(
                agent="synthesizer",
                role="report",
                system="",
                user="",
                material={**handoff, "documents": await read_documents(sources, ctx)},
            )
            if services.models.quoting is None:
                raise AnswerUnreadable("synthesizer: no model in this process", provider="report")
            return orjson.loads((await services.models.quoting.complete(request)).text)

        request = {"question": handoff["question"], "findings": [row["id"] for row in handoff["findings"]]}
        return {"baseline": await ctx.call(CallKind.QUOTATIONS.value, request, select)}

    return synthesize
