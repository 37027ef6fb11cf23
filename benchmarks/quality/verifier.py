"""What the report's verifier says of sentences and the passages they cite, through the handler that a run uses."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from graph_research.app.wiring.clients import open_clients
from graph_research.app.wiring.models import build_model
from graph_research.app.workspace import open_workspace
from graph_research.providers.llm.base import Model
from graph_research.research.agents.writing.verifier import verifier
from graph_research.research.models.draft import Statement, VerdictWord
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.ids import evidence_id
from graph_research.research.models.source import Source
from graph_research.text.document import source_id
from tests.support.research.harness import PlainContext, make_services

VALUES = {VerdictWord.SUPPORTED: 1.0, VerdictWord.PARTLY: 0.5, VerdictWord.NOT: 0.0}
_BATCH = 14
_QUESTION = "What is known of these subjects?"

Claim = tuple[str, str, str]
"""A sentence, the quote that it cites, and the title of its source."""


@asynccontextmanager
async def model_of(spec: str) -> AsyncIterator[Model]:
    """The model of a spec such as `openai:MODEL@URL`, with the keys of the environment."""
    with tempfile.TemporaryDirectory() as home:
        environ = {**os.environ, "GRAPH_RESEARCH_HOME": home}
        workspace = open_workspace(environ, Path(home), may_use=lambda _: False)
        async with open_clients(workspace) as clients:
            yield build_model(spec, clients)


async def verdicts(claims: Sequence[Claim], model: Model) -> list[float | None]:
    """1 supported, 0.5 partly, 0 not, None where the model said nothing. Sentences of several passages are asked about
    at once, in an order by chance, as a section has them."""
    order = list(range(len(claims)))
    random.Random(0).shuffle(order)
    found: list[float | None] = [None] * len(claims)
    for start in range(0, len(order), _BATCH):
        batch = order[start : start + _BATCH]
        for number, value in zip(batch, await _batch([claims[number] for number in batch], model), strict=True):
            found[number] = value
    return found


async def _batch(claims: Sequence[Claim], model: Model) -> list[float | None]:
    ctx = PlainContext()
    evidence, sources, statements = {}, {}, []
    for text, quote, title in claims:
        archive_hash, locator = ctx.put_text(quote), f"char:0-{len(quote)}"
        source = Source(id=source_id(None, quote), title=title, archive_hash=archive_hash)
        row = Evidence(
            id=evidence_id(archive_hash, locator),
            source_id=source.id,
            quote=quote,
            locator=locator,
            archive_hash=archive_hash,
        )
        sources[source.id], evidence[row.id] = source.to_json(), row.to_json()
        statements.append(Statement(text=text, evidence_ids=[row.id]))
    handoff = {
        "question": _QUESTION,
        "batch": [row.to_json() for row in statements],
        "evidence": list(evidence.values()),
        "sources": list(sources.values()),
    }
    output = await verifier(make_services([model]))(handoff, ctx)
    said = {row["id"]: VALUES[VerdictWord(row["verdict"])] for row in output["statement_verdicts"]}
    return [said.get(row.id) for row in statements]
