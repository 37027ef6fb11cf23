"""What a model writes in the place of sentences whose sources changed."""

from __future__ import annotations

import pytest

from graph_research.research.agents.writing.section_text import placed
from graph_research.research.models.draft import (
    Block,
    BlockType,
    Draft,
    DraftSection,
    Statement,
    StatementKind,
    paragraphs_of,
    rewritten,
)
from graph_research.research.revision.mending import Mending, quoted_anew, touched_sections, with_answers_of
from graph_research.research.revision.refreshed import Freshness, QuoteNow, Reread, SourceNow, SourceStatus
from graph_research.research.revision.sentences import mended_draft
from graph_research.text.document import Document


def _fact(text: str, number: int) -> Statement:
    return Statement(text=text, kind=StatementKind.FACT, evidence_ids=[f"ev-{number:010}"])


def _quote(text: str, number: int) -> Statement:
    return Statement(text=text, kind=StatementKind.QUOTE, evidence_ids=[f"ev-{number:010}"])


@pytest.mark.parametrize(
    ("mended", "one", "two"),
    [
        (["A stands.", "New one.", "New two.", "B stands."], "New one.", "New two."),
        (["A stands.", "New one.", "Old two.", "B stands."], "New one.", "Two, quoted."),
        (["A stands.", "Old two.", "B stands."], None, "Two, quoted."),
        (["A stands.", "Old one.", "New two.", "B stands."], "One, quoted.", "New two."),
        (["A stands.", "Old one.", "B stands."], "One, quoted.", None),
        (["A stands.", "B stands."], None, None),
    ],
)
def test_a_sentence_that_the_model_keeps_is_quoted_whatever_becomes_of_its_neighbour(
    mended: list[str], one: str | None, two: str | None
) -> None:
    written = [_fact("A stands.", 1), _fact("Old one.", 2), _fact("Old two.", 3), _fact("B stands.", 1)]
    sentences = {"Old one.": _quote("One, quoted.", 4), "Old two.": _quote("Two, quoted.", 5)}
    draft = Draft(sections=[DraftSection(heading="Gates", level=1, blocks=paragraphs_of(written))])
    [touched] = touched_sections(draft, Mending([], sentences, {}, {}, {}), {})
    answered = touched.section.model_copy(update={"blocks": paragraphs_of([_fact(text, 4) for text in mended])})
    found = with_answers_of(sentences, touched, answered)
    assert {old: new.text for old, new in found.items()} == {
        old: new for old, new in (("Old one.", one), ("Old two.", two)) if new is not None
    }


OLD_TEXT = "The Alder gates weigh 40 tonnes. The Birch gates weigh 40 tonnes."
NEW_TEXT = "The Alder gates weigh 50 tonnes. The Birch gates weigh 40 tonnes."


def _weights() -> tuple[Draft, Freshness, dict[str, Reread]]:
    """A table of a model with two cells that read alike, of which the source of one changed."""
    alder, birch = _fact("40 t", 1), _fact("40 t", 2)
    rows = [[Statement(text=name, kind=StatementKind.TRANSITION), cell] for name, cell in (("A", alder), ("B", birch))]
    table = Block(type=BlockType.TABLE, header=["Gates", "Weight"], rows=rows)
    draft = Draft(sections=[DraftSection(heading="Gates", level=1, blocks=placed([table], "Gates"))])
    quotes = [
        QuoteNow(
            citation="c1",
            evidence_id="ev-0000000001",
            quote=OLD_TEXT.partition(". ")[0] + ".",
            stands=False,
            nearest=NEW_TEXT.partition(". ")[0] + ".",
            locator="char:0-32",
        )
    ]
    source = SourceNow(source_id="s", n=1, title="Gates", url=None, status=SourceStatus.CHANGED, quotes=quotes)
    return draft, Freshness(sources=[source], sentences=[]), {"s": Reread(document=Document(text=NEW_TEXT))}


@pytest.mark.parametrize(("answer", "now"), [("50 t", ["50 t", "40 t"]), ("40 t", ["40 t", "40 t"]), (None, None)])
def test_a_model_writes_a_cell_anew_and_the_cell_that_reads_alike_stays(
    answer: str | None, now: list[str] | None
) -> None:
    draft, freshness, found = _weights()
    assert quoted_anew(draft, freshness, found).sentences == {}, "a whole sentence fits no cell"
    mending = quoted_anew(draft, freshness, found, for_a_model=True)
    [touched] = touched_sections(draft, mending, {"ev-0000000001": "It was 40."})
    assert [*touched.cells.values()] == ["A, Weight"]
    assert [*touched.before.values()] == ["It was 40."]
    [name] = touched.cells

    def written(statement: Statement) -> Statement | None:
        if statement.id != name:
            return statement
        return None if answer is None else statement.model_copy(update={"text": answer})

    mended = touched.section.model_copy(update={"blocks": rewritten(touched.section.blocks, written)})
    sentences = with_answers_of(mending.sentences, touched, mended)
    assert [new.text for new in sentences.values()] == ([answer] if answer == "50 t" else [])
    [block] = mended_draft(draft, sentences, {}).sections[0].blocks
    assert [row[1].text for row in block.rows] == (now or ["40 t", "40 t"])
    cited = [row[1].evidence_ids for row in block.rows]
    assert (cited[0] == ["ev-0000000001"]) is (answer != "50 t"), "what is not written anew goes with its evidence"
