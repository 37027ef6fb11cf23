"""How much of the text around a quote the verifier of a sentence is shown."""

from __future__ import annotations

import orjson
import pytest

from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.agents.writing.passages import Passages
from graph_research.research.agents.writing.verifier import verifier
from graph_research.research.evidence.claim_support import judge
from graph_research.research.evidence.quotes import QuoteFinder
from graph_research.research.models.draft import StatementKind
from graph_research.research.models.source import Source
from graph_research.research.writing_functions import statement_batches
from graph_research.text.readers.html import html_document
from tests.support.research.harness import PlainContext, make_services

BEFORE = "The log mode stays consistent at every crash."
QUOTE = "A commit in log mode is lost when power fails."
DULL = "The log is a file of its own, which stands beside the file of the database and is called as that is called."
DENIED = "This holds where the disk does not lie."


@pytest.mark.parametrize(
    ("before", "sentence", "shown"),
    [
        (BEFORE, "A failure of power loses a commit in log mode, and the file is consistent.", f"{BEFORE} ⟦{QUOTE}⟧"),
        (BEFORE, "A commit in log mode is lost.", f"⟦{QUOTE}⟧"),
        (DENIED, "A commit in log mode is lost.", f"{DENIED} ⟦{QUOTE}⟧"),
        (f"{BEFORE} {DULL}", "It is consistent after a crash.", f"{BEFORE} {DULL} ⟦{QUOTE}⟧"),
        (f"{DULL} {BEFORE}", "It is consistent after a crash.", f"{BEFORE} ⟦{QUOTE}⟧"),
        ("Otherwise choose it.", "A commit in log mode is lost.", f"Otherwise choose it. ⟦{QUOTE}⟧"),
        (f"{DENIED} {DULL}", "A commit in log mode is lost.", f"⟦{QUOTE}⟧"),
    ],
)
@pytest.mark.parametrize("part", ["section", "summary"])
async def test_around_a_quote_stands_what_a_sentence_says_beyond_it_and_what_denies(
    before: str, sentence: str, shown: str, part: str
) -> None:
    document = html_document(f"<p>{before} {QUOTE} Pages are written on Sundays.</p>")
    source = Source(id="src-0000000001", title="Modes", archive_hash=document.hash, characters=len(document.text))
    finder = QuoteFinder("", {source.id: source}, {source.id: document})
    [evidence] = finder.evidence([{"source_id": source.id, "quote": QUOTE}])
    said = {"text": sentence, "kind": "fact", "evidence_ids": [evidence.id]}
    checked = {"id": part, "heading": part.title(), "blocks": [{"type": "paragraph", "sentences": [said]}]}
    ctx, model = PlainContext(), ScriptedModel({"verifier": ["No."]})
    ctx.put_text(document.text)
    [batch] = statement_batches([checked], [], [])
    await verifier(make_services([model]))(
        {
            "question": "What does a crash lose?",
            "batch": batch,
            "sections": [checked if part == "section" else {"id": "s", "heading": "Other", "blocks": []}],
            "evidence": [evidence.to_json()],
            "sources": [source.to_json()],
        },
        ctx,
    )
    [row] = model.asked("verifier")[0].material["passages"]
    assert row["text"].strip() == shown


async def test_what_stands_around_a_quote_may_be_stated_and_is_then_cited() -> None:
    earlier = "In 2.6 and earlier it holds 90 locks."
    document = html_document(f"<p>A lock file has room for 400 locks.</p><p>{earlier}</p><p>It is a file.</p>")
    source = Source(id="src-0000000001", title="Locks", archive_hash=document.hash, characters=len(document.text))
    finder = QuoteFinder("", {source.id: source}, {source.id: document})
    [evidence] = finder.evidence([{"source_id": source.id, "quote": "A lock file has room for 400 locks."}])
    marks = {"code": ["400", "lost"], "strong": ["A lock"]}
    said = {"text": "A lock file holds 400 locks.", "kind": "fact", "evidence_ids": [evidence.id], **marks}
    section = {"id": "s", "heading": "Locks", "blocks": [{"type": "paragraph", "sentences": [said]}]}
    says = "A lock file can hold 400 locks, in 2.6 and earlier 90."
    ctx = PlainContext()
    ctx.put_text(document.text)
    layout = ctx.put_text(orjson.dumps(document.layout()).decode())
    model = ScriptedModel({"verifier": [{"verdicts": [{"n": 1, "verdict": "partly", "reason": "r", "says": says}]}]})
    output = await verifier(make_services([model]))(
        {
            "question": "How many locks does a lock file hold?",
            "batch": statement_batches([section], [], [])[0],
            "sections": [section],
            "evidence": [evidence.to_json()],
            "sources": [source.model_copy(update={"layout_hash": layout}).to_json()],
        },
        ctx,
    )
    assert "**A lock** file holds `400` locks." in model.asked("verifier")[0].user, "as it is printed, as `says` is"
    [further] = output["evidence"]
    assert further["quote"] == earlier
    correction = output["checks"][0]["correction"]
    assert (correction["text"], correction["evidence_ids"]) == (says, [evidence.id, further["id"]])
    assert (correction["code"], correction["strong"]) == (["400"], ["A lock"])


def test_a_heading_far_above_a_quote_tells_what_it_is_about() -> None:
    document = html_document(f"<h1>Manual</h1><h2>Linux memory</h2><p>{'Pages are many. ' * 60}</p><p>{QUOTE}</p>")
    source = Source(id="src-0000000001", title="Manual", archive_hash=document.hash, characters=len(document.text))
    finder = QuoteFinder("", {source.id: source}, {source.id: document})
    [evidence] = finder.evidence([{"source_id": source.id, "quote": QUOTE}])
    [passage] = Passages([evidence.to_json()], {source.id: source}, {source.id: document}).cited([evidence.id])
    said = "On Linux a commit in log mode is lost when power fails."
    assert judge(said, StatementKind.FACT, [passage], question="What is lost?").problem == ""
