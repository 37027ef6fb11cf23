"""The synthesizer: a draft of verbatim quotations that code selects, which every other draft is measured by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.findings import Known, analyse
from graph_research.research.graph_functions import differing
from graph_research.research.llm.services import Services


def synthesizer(services: Services) -> Handler:
    """The draft of the model in this process, whatever serves the role. Where models read the sources, it is made of
    what code finds in these, too: how much models found says nothing of how much of it was asked. `analysis` has the
    evidence of that and all contradictions. Otherwise it is empty."""

    async def synthesize(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        known = Known.of({**handoff, "original_query": handoff["question"]})
        documents = await read_documents(list(known.sources.values()), ctx)
        material = {**handoff, "documents": documents, "contradictions": differing(handoff["contradictions"])}
        analysis: dict[str, Any] = {}
        if not handoff["by_code"]:
            found = analyse(await services.models.quoted("analyzer", material, ctx), known, documents)
            analysis = {
                "evidence": [row.to_json() for row in found.evidence],
                "contradictions": [row.to_json() for row in found.contradictions],
            }
            material = {
                **material,
                "findings": [row.to_json() for row in found.findings],
                "evidence": [*handoff["evidence"], *analysis["evidence"]],
                "contradictions": differing(analysis["contradictions"]),
            }
        return {"baseline": await services.models.quoted("synthesizer", material, ctx), "analysis": analysis}

    return synthesize
