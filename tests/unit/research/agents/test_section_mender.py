"""What the mender of a section is shown beside the sentences that fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.agents.writing.section_mender import section_mender
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.draft import Block, BlockType, DraftSection, Statement
from graph_research.research.models.source import Source
from graph_research.text.readers.html import html_document
from tests.support.research.harness import PlainContext, make_services

FORK = "Forking a process that has threads is unsafe."
CRASH = "On one system fork may crash the child."
SPAWN = "The method spawn starts a new interpreter."
NOISE = "Queues are described in another chapter."


class Mending:
    """One source of four sentences, far from each other, each of them evidence, and a mender that answers nothing."""

    def __init__(self) -> None:
        dull = f"<p>{'Pages are many. ' * 60}</p>"
        paragraphs = dull.join(f"<p>{text}</p>" for text in (FORK, CRASH, SPAWN, NOISE))
        self.document = html_document(paragraphs)
        size = len(self.document.text)
        self.source = Source(id="src-0000000001", title="Starts", archive_hash=self.document.hash, characters=size)
        finder = QuoteFinder("", {self.source.id: self.source}, {self.source.id: self.document})
        quotes = [{"source_id": self.source.id, "quote": text} for text in (FORK, CRASH, SPAWN, NOISE)]
        self.evidence = {row.quote: row for row in finder.evidence(quotes)}

    def ids(self, *quotes: str) -> list[str]:
        return [self.evidence[quote].id for quote in quotes]

    async def shown(
        self, section: DraftSection, *failing: dict[str, Any], findings: Sequence[Any] = (), answer: Sequence[Any] = ()
    ) -> Any:
        """The request that the mender gets; `output` is what it makes of the answer."""
        model, ctx = ScriptedModel({"section_mender": [{"sentences": list(answer)}]}), PlainContext()
        ctx.put_text(self.document.text)
        handoff = {
            "question": "Wie startet man Prozesse?",
            "parts": [{"section": section.to_json(), "failing": list(failing)}],
            "evidence": [row.to_json() for row in self.evidence.values()],
            "sources": [self.source.to_json()],
            "findings": list(findings),
        }
        self.output = await section_mender(make_services([model]))(handoff, ctx)
        [request] = model.asked("section_mender")
        return request


def objection(row: Statement, **more: Any) -> dict[str, Any]:
    return {"id": row.id, "where": "Starts", "reason": "partly supported: Von Abstürzen steht dort nichts.", **more}


def quotes_in(request: Any) -> list[str]:
    return [row["quote"] for row in request.material["passages"]]


async def test_the_mender_is_shown_all_evidence_of_the_finding_of_a_sentence() -> None:
    mending = Mending()
    row = Statement(text="Forken mit Threads kann den Kindprozess abstürzen lassen.", evidence_ids=mending.ids(FORK))
    section = DraftSection(id="s", heading="Starts", blocks=[Block(sentences=[row])])
    finding = {"evidence_ids": mending.ids(FORK, CRASH), "content": "Fork is unsafe."}
    other = {"evidence_ids": mending.ids(NOISE), "content": "Queues."}
    shown = quotes_in(await mending.shown(section, objection(row), findings=[finding, other]))
    assert CRASH in shown
    assert NOISE not in shown


async def test_the_mender_is_shown_what_the_row_of_a_cell_cites() -> None:
    mending = Mending()
    cell = Statement(text="unsicher", evidence_ids=mending.ids(FORK))
    rows = [[Statement(text="fork"), cell, Statement(text="stürzt ab", evidence_ids=mending.ids(CRASH))]]
    table = Block(type=BlockType.TABLE, header=["Art", "Mit Threads", "Folge"], rows=rows)
    section = DraftSection(id="s", heading="Starts", blocks=[table])
    assert CRASH in quotes_in(await mending.shown(section, objection(cell, cell="fork, Mit Threads")))


async def test_what_the_verifier_says_in_place_of_a_sentence_is_accepted_without_its_words() -> None:
    mending = Mending()
    row = Statement(text="`fork` is unsafe.", evidence_ids=mending.ids(FORK), code=["fork"], place="s")
    says = row.model_copy(update={"text": "`fork` is unsafe with threads.", "code": []})
    section = DraftSection(id="s", heading="Starts", blocks=[Block(sentences=[row])])
    request = await mending.shown(section, objection(row, says=says.to_json()), answer=[{"n": 1, "action": "accept"}])
    assert "Borne out: `fork` is unsafe with threads." in request.user
    [mended] = list(DraftSection.model_validate(mending.output["sections"][0]).statements())
    assert (mended.text, mended.code) == ("fork is unsafe with threads.", ["fork"])
    assert mended.evidence_ids == row.evidence_ids
