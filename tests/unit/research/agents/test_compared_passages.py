"""What the verifier reads a sentence with: sentences of other sources on the same thing, what stands behind a
permission, and definitions of settings whose default is told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.agents.writing.further_passages import NearPassages
from graph_research.research.agents.writing.section_mender import section_mender
from graph_research.research.agents.writing.verifier import verifier
from graph_research.research.models.draft import DraftSection, Statement
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.ids import evidence_id
from graph_research.research.models.source import Source
from graph_research.text.document import source_id, text_hash
from graph_research.text.readers.markdown import markdown_document
from tests.support.research.harness import PlainContext, make_services

LARCH = """# Larch

A reader of Larch never blocks the writer of a page.

Larch keeps its pages in one file. A page of Larch holds rows, and Larch reads whole pages.

A reader of Larch might block the writer of a page while a checkpoint runs.
"""
SPRUCE = """# Spruce

Spruce is a store of rows. A reader of Spruce might block the writer of a page while Spruce sorts.

Spruce sorts rows at night, and a reader of Spruce waits for it.
"""


def near_in(*texts: str, question: str) -> tuple[NearPassages, list[str]]:
    sources = [Source(id=source_id(None, text), title="A manual", archive_hash=text_hash(text)) for text in texts]
    documents = {source.id: markdown_document(text) for source, text in zip(sources, texts, strict=True)}
    return NearPassages({source.id: source for source in sources}, documents, question), [row.id for row in sources]


@pytest.mark.parametrize(("cited", "others"), [(0, ["Larch"]), (1, ["Spruce"]), (None, ["Larch", "Spruce"])])
def test_an_exception_is_looked_for_in_sources_about_the_same_of_the_things_that_are_compared(
    cited: int | None, others: list[str]
) -> None:
    near, names = near_in(LARCH, SPRUCE, question='How do "Larch" and "Spruce" differ?')
    shown = [] if cited is None else [{"source_id": names[cited], "start": None}]
    near.limiting("A reader never blocks the writer of a page.", "", shown)
    found = [row.quote for row in near.evidence.values() if "might block" in row.quote]
    assert (
        sorted(name for name in ("Larch", "Spruce") for quote in found if f"reader of {name} might" in quote) == others
    )


def test_a_long_sentence_that_holds_a_few_of_the_words_is_about_something_else() -> None:
    long = (
        "A writer might, however, count how many pages a backup of another machine at another place has sent in an "
        "hour, print the sum for the operator, compare it with the hour before, and raise an alarm for the reader."
    )
    near, _ = near_in(f"# Larch\n\n{long}\n\nLarch has oars.", question="How is Larch set up?")
    assert near.limiting("A reader never waits for the writer of pages.", "", []) == []


class Asked:
    """A verifier that is asked about statements on one source, and its prompt."""

    def __init__(self, text: str) -> None:
        self.ctx = PlainContext()
        document = markdown_document(text)
        self.text = document.text
        self.source = Source(
            id=source_id(None, text),
            title="A manual",
            archive_hash=self.ctx.put_text(document.text),
            layout_hash=self.ctx.put_text(json.dumps(document.layout())),
        )
        self.evidence: dict[str, Evidence] = {}

    def cite(self, quote: str) -> str:
        start = self.text.index(quote)
        locator = f"char:{start}-{start + len(quote)}"
        row = Evidence(
            id=evidence_id(self.source.archive_hash, locator),
            source_id=self.source.id,
            quote=quote,
            locator=locator,
            archive_hash=self.source.archive_hash,
        )
        self.evidence[row.id] = row
        return row.id

    async def prompt(self, *statements: Mapping[str, Any]) -> str:
        rows = [{**Statement.model_validate(row).to_json(), **row} for row in statements]
        model = ScriptedModel(
            {"*": [{"verdicts": [{"n": n, "verdict": "supported"} for n in range(1, len(rows) + 1)]}]}
        )
        handoff = {
            "question": "How is Larch run?",
            "batch": rows,
            "evidence": [row.to_json() for row in self.evidence.values()],
            "sources": [self.source.to_json()],
        }
        await verifier(make_services([model]))(handoff, self.ctx)
        return model.requests[0].user


COPY = "It is fine to copy a store of Larch as long as nobody writes into it."
ALSO = (
    "If the last write was broken off by the loss of power or by the end of the process, however, then the journal "
    "that stands beside the store has to be copied together with it, in the same minute, by the same user and with the "
    "same rights, before anything else is started on the machine that reads or writes the store, or the copy is of no "
    "use."
)


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [("Copying a store is safe as long as nobody writes.", True), ("A store is copied while nobody writes.", False)],
)
async def test_behind_the_quote_of_a_permission_the_condition_that_follows_is_shown(text: str, is_shown: bool) -> None:
    asked = Asked(f"# Larch\n\n{COPY} {ALSO} Larch has oars.")
    user = await asked.prompt({"text": text, "kind": "fact", "evidence_ids": [asked.cite(COPY)]})
    assert (ALSO in user) is is_shown


SETTINGS = f"""# Settings

lock_log (boolean)

lock_log (boolean) Controls whether a long wait is logged. It takes effect at the next start. The default is off.

{"Logs are read by their owner. " * 9}

wait_limit (integer)

wait_limit (integer) Sets after how long a wait is logged if lock_log is on. The default is 40 seconds.
"""


@pytest.mark.parametrize(
    ("quote", "is_shown"),
    [
        ("Sets after how long a wait is logged if lock_log is on.", True),
        ("Controls whether a long wait is logged.", False),
    ],
)
async def test_what_is_called_a_default_is_read_beside_the_definition_of_its_setting(
    quote: str, is_shown: bool
) -> None:
    asked = Asked(SETTINGS)
    cell: Sequence[Mapping[str, Any]] = [
        {
            "text": "not logged",
            "kind": "fact",
            "evidence_ids": [asked.cite(quote)],
            "context": "lock_log, Default",
            "row": "lock_log",
            "column": "Default",
        }
    ]
    user = await asked.prompt(*cell)
    assert ("compare with" in user and "The default is off." in user) is is_shown


WHOLE = "A reader of Larch never blocks the writer of a page. It sees the page as it was."


async def test_a_quote_that_is_a_part_of_another_one_is_shown_once_to_the_verifier() -> None:
    asked = Asked(f"# Larch\n\n{WHOLE} Larch has oars.")
    long, short = asked.cite(WHOLE), asked.cite(WHOLE.partition(". ")[0] + ".")
    user = await asked.prompt(
        {"text": "Readers see the old page.", "kind": "fact", "evidence_ids": [long]},
        {"text": "Readers let a writer go on.", "kind": "fact", "evidence_ids": [short]},
    )
    assert user.count("A reader of Larch") == user.count("⟦A reader") == 1
    assert "1. fact; p1\n" in user
    assert "2. fact; p1\n" in user


async def test_a_quote_that_is_a_part_of_another_one_is_shown_once_to_the_mender() -> None:
    asked = Asked(f"# Larch\n\n{WHOLE} Larch has oars.")
    long, short = asked.cite(WHOLE), asked.cite(WHOLE.partition(". ")[0] + ".")
    said = [
        {"text": "Readers see the old page.", "kind": "fact", "evidence_ids": [long]},
        {"text": "Readers let a writer go on.", "kind": "fact", "evidence_ids": [short]},
    ]
    section = DraftSection.model_validate(
        {"id": "s", "heading": "Readers", "blocks": [{"type": "paragraph", "sentences": said}]}
    )
    failing = [{"id": row.id, "where": "Readers", "reason": "partly supported: r"} for row in section.statements()]
    handoff = {
        "question": "How is Larch run?",
        "parts": [{"section": section.to_json(), "failing": failing}],
        "evidence": [row.to_json() for row in asked.evidence.values()],
        "sources": [asked.source.to_json()],
    }
    model = ScriptedModel({"*": [{"sentences": []}]})
    await section_mender(make_services([model]))(handoff, asked.ctx)
    [request] = model.requests
    assert [row["id"] for row in request.material["passages"]] == [long]
    assert [row["evidence_ids"] for row in request.material["failing"]] == [[long], [long]]


def test_what_is_near_a_sentence_is_of_the_same_of_the_things_that_are_compared() -> None:
    near, names = near_in(LARCH, SPRUCE, question='How do "Larch" and "Spruce" differ?')
    text = "Sorts rows at night while a reader waits."
    assert near.bearing(text, [{"source_id": names[0], "start": None}]) == []
    assert near.bearing(text, [{"source_id": names[1], "start": None}]) != []


async def test_of_exceptions_a_sentence_is_compared_with_the_nearest_and_not_with_what_stands_around_its_quote() -> (
    None
):
    never, far = (
        "A reader of Larch never blocks the writer of a page.",
        "Rows of Larch are short, as are its names. " * 12,
    )
    asked = Asked(f"{LARCH}\n{far}\n\nAt night a reader of Larch might block the writer of a page.\n\n{far}")
    user = await asked.prompt({"text": never, "kind": "fact", "evidence_ids": [asked.cite(never)]})
    assert user.count("while a checkpoint runs") == user.count("⟦At night a reader") == 1
