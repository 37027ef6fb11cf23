"""What the sentences of a summary rest on in the sections."""

from __future__ import annotations

from graph_research.research.agents.writing.summary_sources import outdated, with_sources_of_sections
from graph_research.research.models.draft import Block, BlockType, DraftSection, Statement, StatementKind

QUOTES = {
    "ev-checks": "The lock gates are checked at every change of the tide.",
    "ev-times": "The defaults are 5 hours and 3 metres, respectively.",
    "ev-other": "Visitors buy their tickets beside the harbour office.",
    "ev-fails": "This is known as a shutdown of last resort.",
    "ev-5": "A ferry takes 5 hours, and its draught is 3 metres.",
    "ev-fremd": "Die Tore der Schleuse werden bei jedem Wechsel der Gezeiten geprüft, und das ist nicht neu.",
}
CELL = Statement(text="every 5 hours or 3 metres of tide by default", evidence_ids=["ev-times"])
LABEL = Statement(text="When lock gates are checked", kind=StatementKind.TRANSITION)
SECTIONS = [
    DraftSection(
        heading="Gates",
        blocks=[
            Block(type=BlockType.TABLE, header=["What", "Value"], rows=[[LABEL, CELL]]),
            Block(
                sentences=[
                    Statement(text="A ferry takes 5 hours.", evidence_ids=["ev-5"]),
                    Statement(text="Where the gates jam, the plant stops.", evidence_ids=["ev-fails"]),
                ]
            ),
        ],
    )
]


def cited(text: str, *evidence_ids: str, kind: StatementKind = StatementKind.FACT) -> list[str]:
    block = Block(sentences=[Statement(text=text, kind=kind, evidence_ids=list(evidence_ids))])
    [changed] = with_sources_of_sections([block], SECTIONS, QUOTES)
    return changed.sentences[0].evidence_ids


def test_a_fact_cites_what_a_section_cites_for_the_figures_that_it_repeats() -> None:
    assert cited("The lock gates are checked every 5 hours or 3 metres.", "ev-checks") == ["ev-checks", "ev-times"]
    assert cited("The lock gates are checked at a change of the tide.", "ev-checks") == ["ev-checks"]
    assert cited("The lock gates are checked every 7 hours.", "ev-checks") == ["ev-checks"]
    assert cited("Larks sing for 5 hours over 3 metres.", "ev-checks") == ["ev-checks"]


def test_a_fact_does_not_cite_what_has_none_of_its_words() -> None:
    text = "The lock gates are checked at a change of the tide."
    assert cited(text, "ev-other", "ev-checks") == ["ev-checks"]
    assert cited(text, "ev-other") == ["ev-other"], "else it would cite nothing"
    assert cited(text, "ev-fremd", "ev-checks") == ["ev-fremd", "ev-checks"], "another language has other words"


def test_what_a_section_cites_for_the_same_stays_whatever_its_words() -> None:
    assert cited("The plant stops where gates jam.", "ev-fails", "ev-checks") == ["ev-fails", "ev-checks"]


def test_what_an_analysis_rests_on_is_its_writers_to_say() -> None:
    text = "So check the lock gates every 5 hours or 3 metres."
    assert cited(text, "ev-other", kind=StatementKind.ANALYSIS) == ["ev-other"]


def test_a_number_that_a_section_computes_is_computed_in_the_summary_as_there() -> None:
    hours = Statement(
        text="By judgement four crossings of a ferry take 20 hours.",
        kind=StatementKind.ANALYSIS,
        evidence_ids=["ev-5"],
        computed=["5 * 4"],
        judged=["4"],
    )
    lines = hours.model_copy(update={"text": "crossings = 20  # of the ferry, 21 on Sundays"})
    blocks = [Block(type=BlockType.CODE, sentences=[lines]), Block(sentences=[hours])]
    sections = [*SECTIONS, DraftSection(heading="Ferry", blocks=blocks)]

    def summed_up(text: str, kind: StatementKind = StatementKind.ANALYSIS) -> Statement:
        block = Block(sentences=[Statement(text=text, kind=kind, evidence_ids=["ev-checks"])])
        [changed] = with_sources_of_sections([block], sections, QUOTES)
        return changed.sentences[0]

    whole = summed_up("The crossings of a ferry take 20 hours.")
    assert (whole.computed, whole.judged, whole.evidence_ids) == (["5 * 4"], ["4"], ["ev-checks", "ev-5"])
    assert summed_up("The crossings of a ferry take 21 hours.").computed == []
    assert summed_up("In all, 4 crossings of a ferry take hours.").computed == [], (
        "a number of its text, not its result"
    )
    assert summed_up("Larks sing for 20 hours.").computed == []
    assert summed_up("The crossings of a ferry take 20 hours.", StatementKind.FACT).judged == []


def test_of_a_computation_the_summary_takes_what_gives_its_own_number() -> None:
    text = "The locks of a ferry take 15 hours, and with 7 crossings, an assumed number, 35 hours."
    said = Statement(
        text=text,
        kind=StatementKind.ANALYSIS,
        evidence_ids=["ev-5"],
        computed=["5 * 3", "5 * 7"],
        judged=["7"],
    )
    sections = [DraftSection(heading="Ferry", blocks=[Block(sentences=[said])])]
    item = Statement(text="The locks of a ferry take 15 hours.", kind=StatementKind.ANALYSIS)
    [changed] = with_sources_of_sections([Block(sentences=[item])], sections, QUOTES)
    assert (changed.sentences[0].computed, changed.sentences[0].judged) == (["5 * 3"], [])


WAS = Statement(text="Inner gate: it is opened by hand, since the motor jams.", evidence_ids=["ev-hand"])
NOW = Statement(text="Inner gate: at low tide it is opened by hand, since the motor jams.", evidence_ids=["ev-hand"])
OUTER = Statement(text="Outer gate: a sensor and a guard see each ship that comes.", evidence_ids=["ev-1", "ev-2"])


def stand_ins(said: str, was: Statement, now: Block, *evidence_ids: str) -> list[Statement | None]:
    """What stands in the place of a sentence of the summary, or nothing where that stays."""
    [new, *_] = now.statements()
    section = DraftSection(heading="Gates", blocks=[now, Block(sentences=[OUTER])])
    prose = [row for block in section.blocks if block.type is not BlockType.CODE for row in block.sentences]
    summary = Statement(text=said, evidence_ids=list(evidence_ids))
    return list(outdated([summary], [(was, new.id)], prose, [section]).values())


def test_a_sentence_of_the_summary_gives_way_to_the_mended_one_on_the_same() -> None:
    said = "The inner gate is opened by hand, since the motor jams."
    assert stand_ins(said, WAS, Block(sentences=[NOW]), "ev-hand") == [NOW]


def test_a_sentence_of_the_summary_on_more_than_was_mended_stays_unless_it_says_what_was_taken_out() -> None:
    said = "Gates: the inner gate is opened by hand, since the motor jams, and a sensor sees each ship."
    assert stand_ins(said, WAS, Block(sentences=[NOW]), "ev-hand", "ev-1", "ev-2") == []
    without = NOW.model_copy(update={"text": "Inner gate: at low tide it is opened by hand."})
    assert stand_ins(said, WAS, Block(sentences=[without]), "ev-hand", "ev-1", "ev-2") == [None]


def test_a_sentence_of_the_summary_stays_beside_a_mended_block_to_copy_that_still_has_what_it_says() -> None:
    was = Statement(text="gate open --inner\ngate watch --outer", evidence_ids=["ev-hand", "ev-1"])
    code = was.model_copy(update={"text": "gate open --inner\ngate watch --outer\ngate log"})
    said = "The block opens the inner gate with --inner and watches the outer gate with --outer."
    assert stand_ins(said, was, Block(type=BlockType.CODE, sentences=[code]), "ev-hand", "ev-1") == []
    code = was.model_copy(update={"text": "gate open --inner"})
    assert stand_ins(said, was, Block(type=BlockType.CODE, sentences=[code]), "ev-hand", "ev-1") == [None]
