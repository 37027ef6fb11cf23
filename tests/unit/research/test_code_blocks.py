"""The blocks to copy of a section, held against its tables of settings."""

from __future__ import annotations

from typing import Any

import pytest

from graph_research.research.code_blocks import with_lines_of, without_lines_of, without_objections
from graph_research.research.models.draft import Block, BlockType, DraftSection, Statement
from graph_research.research.writing_functions import parts_to_mend

MIXED = "Beside lock_wait this block gives another value than one above it to: sync. Who copies it for one gets both."
SETTINGS = [("sync", "full"), ("busy_wait", "5000"), ("isolation_level", "strict")]


def cells_of(*rows: tuple[str, str]) -> list[Block]:
    cells = [[Statement(text=text) for text in row] for row in rows]
    return [Block(type=BlockType.TABLE, header=["Setting", "Default"], rows=cells)]


def code_section(*rows: tuple[str, str]) -> dict[str, Any]:
    blocks = [*cells_of(*rows), Block(type=BlockType.CODE, sentences=[Statement(text="SYNC = full\nbusy_wait = 5000")])]
    return DraftSection(heading="h", blocks=blocks, id="s1").to_json()


OF_A_MACHINE = [("sync", "full"), ("busy_wait, for 8 GB of memory", "5000"), ("sync; from 3.37.0", "full")]


@pytest.mark.parametrize(
    ("rows", "missing"),
    [(SETTINGS, "isolation_level"), (SETTINGS[:2], ""), (SETTINGS[1:2], ""), (OF_A_MACHINE, "")],
)
def test_a_block_to_copy_without_a_setting_of_the_table_is_noted(rows: list[tuple[str, str]], missing: str) -> None:
    noted = [row for part in parts_to_mend([code_section(*rows)], [], []) for row in part["failing"]]
    unset = [row for row in noted if "no block of the section sets" in row["reason"]]
    assert [f"sets: {missing}." in row["reason"] for row in unset] == [True] * bool(missing)
    assert all(row["is_note"] for row in noted)


@pytest.mark.parametrize(
    ("value", "is_missed"),
    [
        ("leave", False),
        ("default, with a pool in front", False),
        ("leave at default: -2000 since 4.1", False),
        ("at most the default", False),
        ("bei der Voreinstellung belassen", False),
        ("unverändert", False),
        ("保持默认", False),
        ("keep", False),
        ("not EXCLUSIVE", False),
        ("beibehalten", False),
        ("keep 4GB free", True),
        ("leave headroom: 4GB", True),
        ("40, twice what it has by default", True),
        ("off", True),
        ("7", False),
        ("stays at 7", False),
        ("70", True),
    ],
)
def test_a_setting_that_the_table_leaves_at_its_default_is_not_missed_in_the_block(value: str, is_missed: bool) -> None:
    assert noted_settings(("sync", "off", "full"), ("busy_wait", "0", "5000"), ("pool", "7", value)) == is_missed


def test_a_value_that_the_default_has_already_is_not_missed_in_the_block() -> None:
    def is_missed(default: str, value: str) -> bool:
        return noted_settings(("sync", "off", "full"), ("busy_wait", "0", "5000"), ("pool", default, value))

    assert not is_missed("on", "on; off for unimportant writes")
    assert not is_missed("typically 128 MB", "128 MB")
    assert is_missed("128 MB", "128 GB")
    assert is_missed("off", "on")


def test_a_row_that_is_named_as_no_setting_of_the_block_is_not_missed_there() -> None:
    assert not noted_settings(("sync", "off", "full"), ("busy_wait", "0", "5000"), ("Pool", "loose", "STRICT"))
    assert noted_settings(("sync", "off", "full"), ("Busy_wait", "0", "5000"), ("Pool", "loose", "STRICT"), name="Pool")


def test_a_column_of_defaults_does_not_say_that_a_setting_stays_there() -> None:
    assert noted_settings(("sync", "default", "full"), ("busy_wait", "0", "5000"), ("pool", "default", "40"))


def test_a_reason_that_denies_something_does_not_say_that_a_setting_is_left_out() -> None:
    rows = (
        ("sync", "off", "full", "flushes"),
        ("busy_wait", "0", "5000", "no error at once"),
        ("pool", "7", "40", "no queue"),
    )
    assert noted_settings(*rows)


def test_variables_of_a_program_are_no_settings_beside_a_table_of_choices() -> None:
    rows = [[Statement(text=text) for text in ("Clients that block their calls", "threads", "they wait apart")]]
    table = Block(type=BlockType.TABLE, header=["Condition", "Choice", "Reason"], rows=rows)
    code = Block(type=BlockType.CODE, sentences=[Statement(text="body = await fetch(calls)\nblock = score(body)")])
    section = DraftSection(heading="h", blocks=[table, code], id="s1").to_json()
    assert [row for part in parts_to_mend([section], [], []) for row in part["failing"]] == []


def test_a_word_that_a_row_of_things_begins_with_is_no_setting_of_the_commands_below() -> None:
    rows = (("Deleted branch", "its log is gone"), ("Dropped stash", "30 days"), ("Added, never committed", "2 weeks"))
    code = Block(type=BlockType.CODE, sentences=[Statement(text="find --deleted\nfind --stash  # dropped entries")])
    section = DraftSection(heading="h", blocks=[*cells_of(*rows), code], id="s1").to_json()
    assert [row for part in parts_to_mend([section], [], []) for row in part["failing"]] == []


def noted_settings(*rows: tuple[str, ...], name: str = "pool") -> bool:
    """Whether a block is noted that sets the first two of three settings; a row has default, value and reason."""
    cells = [[Statement(text=text) for text in row] for row in rows]
    table = Block(type=BlockType.TABLE, header=["Setting", "Default", "Value", "Reason"], rows=cells)
    code = Block(type=BlockType.CODE, sentences=[Statement(text="sync = full\nbusy_wait = 5000")])
    parts = parts_to_mend([DraftSection(heading="h", blocks=[table, code], id="s1").to_json()], [], [])
    return any(f"no block of the section sets: {name}." in row["reason"] for part in parts for row in part["failing"])


@pytest.mark.parametrize(
    ("line", "untold"),
    [
        ("fill = 85", "fill"),
        ("ALTER ROLE web SET stop_after = '15s'; -- sync = off", "stop_after"),
        ("busy_wait = 7  # fill = 85", ""),
        ("share = 2GB", ""),
        ("UPDATE accounts\n  SET balance = balance - 100 WHERE id = 1;\nfill = 85", "fill"),
        ("# fill = 85", ""),
        ("fill = 85  # leaves room on each page", ""),
        ("# leaves room on each page\nfill = 85\ncost = 2", "cost"),
        ("fill = 85  # judgement", "fill"),
    ],
)
def test_a_line_of_a_block_to_copy_that_no_row_or_sentence_tells_of_is_noted(line: str, untold: str) -> None:
    prose = Block(sentences=[Statement(text="A third of the memory is a good start for share.")])
    code = Block(type=BlockType.CODE, sentences=[Statement(text=f"sync = full\nbusy_wait = 5000\n{line}")])
    section = DraftSection(heading="h", blocks=[*cells_of(*SETTINGS[:2]), prose, code], id="s1").to_json()
    reasons = [row["reason"] for part in parts_to_mend([section], [], []) for row in part["failing"]]
    assert [f"tells of: {untold}." in reason for reason in reasons] == [True] * bool(untold)


@pytest.mark.parametrize(
    ("label", "is_missed"),
    [
        ("follow", True),
        ("server wal_keep", True),
        ("index.cache (clients)", True),
        ("sync.busy", False),  # --sync-busy sets it
        ("no history", False),
        ("conflict while it waits", False),
        ("履歴なし", False),
    ],
)
def test_a_label_in_words_of_the_language_names_no_setting(label: str, is_missed: bool) -> None:
    code = Block(type=BlockType.CODE, sentences=[Statement(text="sync = full\nbusy_wait = 5000\nengine --sync-busy 4")])
    section = DraftSection(heading="h", blocks=[*cells_of(*SETTINGS[:2], (label, "7")), code], id="s1").to_json()
    reasons = [row["reason"] for part in parts_to_mend([section], [], []) for row in part["failing"]]
    assert [f"no block of the section sets: {label}." in reason for reason in reasons] == [True] * is_missed


def test_settings_of_another_situation_in_a_table_of_their_own_are_not_missed_in_the_block() -> None:
    code = Block(type=BlockType.CODE, sentences=[Statement(text="sync = full\nbusy_wait = 5000")])
    restoring = ("restore_from", "the archive"), ("follow", "the standby")

    def reasons(*blocks: Block) -> list[str]:
        parts = parts_to_mend([DraftSection(heading="h", blocks=[*blocks, code], id="s1").to_json()], [], [])
        return [row["reason"] for part in parts for row in part["failing"]]

    assert reasons(*cells_of(*SETTINGS[:2]), *cells_of(*restoring)) == []
    [reason] = reasons(*cells_of(*SETTINGS[:2], *restoring))
    assert "no block of the section sets: restore_from; follow." in reason
    assert "belongs to another situation than the block" in reason


@pytest.mark.parametrize(
    ("second", "noted"),
    [
        ("SET LOCAL lock_wait = '2s';\nSET LOCAL sync TO OFF; -- where it may be lost", True),
        ("SET LOCAL sync TO OFF; -- where it may be lost", False),
        ("SET LOCAL lock_wait = '2s';\nSET LOCAL sync TO ON; -- lock_wait", False),
    ],
)
def test_a_block_that_relaxes_what_another_sets_beside_a_line_of_its_own_is_noted(second: str, noted: bool) -> None:
    blocks = [
        *cells_of(("sync", "on"), ("lock_wait", "off")),
        *(Block(type=BlockType.CODE, sentences=[Statement(text=text)]) for text in ("sync = on  # or off", second)),
    ]
    parts = parts_to_mend([DraftSection(heading="h", blocks=blocks).to_json()], [], [])
    reasons = [row["reason"] for part in parts for row in part["failing"] if "Beside" in row["reason"]]
    assert reasons == [MIXED] * noted


def test_the_mender_is_told_what_code_objects_to_and_what_the_verifier_objects_to() -> None:
    section = code_section(*SETTINGS)
    [statement, *_] = DraftSection.model_validate(section).statements()
    checks = [{"id": statement.id, "problem": "not in the cited quotes: 1.2"}]
    verdicts = [{"id": statement.id, "verdict": "partly", "reason": "the rate is another"}]
    ((row, *_),) = [part["failing"] for part in parts_to_mend([section], checks, verdicts)]
    assert "not in the cited quotes: 1.2; partly supported: the rate is another" in row["reason"]
    checks = [{"id": statement.id, "problem": "partly supported, by a verifier model: the rate is another"}]
    ((row, *_),) = [part["failing"] for part in parts_to_mend([section], checks, verdicts)]
    assert row["reason"].count("the rate is another") == 1


def test_a_table_about_something_else_than_the_block_is_not_compared_with_it() -> None:
    assert parts_to_mend([code_section(("Larch", "files"), ("Alder", "rows"))], [], []) == []
    noted = parts_to_mend([code_section(*SETTINGS)], [{"id": "st-0123456789", "problem": "p"}], [])
    assert [row["is_note"] for row in noted[0]["failing"]] == [True]


CONF = "sync = full  # from the table\nSET LOCAL busy_wait = '5000ms';\nlogged = on"


def settings_section(*rows: tuple[str, ...], code: str = CONF) -> DraftSection:
    """A section with a table of settings, the last of whose rows was added, and a block to copy."""
    cells = [[Statement(text=text, place=f"{n}") for text in row] for n, row in enumerate(rows)]
    cells[-1] = [cell.model_copy(update={"evidence_ids": ["ev-0000000001"]}) for cell in cells[-1]]
    table = Block(type=BlockType.TABLE, header=["Setting", "Default", "Value"], rows=cells)
    block = Block(type=BlockType.CODE, sentences=[Statement(text=code, evidence_ids=["ev-0000000002"])])
    return DraftSection(heading="h", blocks=[table, block])


SET = ("sync", "off", "full"), ("busy_wait", "0", "5000 ms"), ("logged", "off", "on")


@pytest.mark.parametrize(
    ("row", "behind", "line"),
    [
        (("patience", "0", "30 s (judgement)"), 2, "SET LOCAL patience = '30s';  # judgement"),
        (("traced", "off", "on"), 3, "traced = on"),
        (("traced", "off", "on (judgement:\ndrop = all)"), 3, "traced = on  # judgement: drop = all"),
        (("traced, on its host", "off", "on, for a day"), 3, "traced = on  # on its host; for a day"),
        (("traced", "off", "off, until needed"), 0, ""),
        (("share", "128 MB", "25 % of the memory"), 0, ""),
        (("cost", "4", "1.1"), 0, ""),
        (("patience, traced", "0", "30 s"), 0, ""),
        (("logged", "off", "on"), 0, ""),
    ],
)
def test_an_added_row_of_settings_has_its_line_in_the_block(row: tuple[str, str, str], behind: int, line: str) -> None:
    section = settings_section(*SET, row)
    added = [cell.id for cell in section.blocks[0].rows[-1]]
    [code] = with_lines_of(section, added).blocks[1].sentences
    expected = CONF.split("\n")
    assert code.text.split("\n") == [*expected[:behind], *([line] if line else []), *expected[behind:]]
    assert code.evidence_ids == ["ev-0000000002", *(["ev-0000000001"] if line else [])]
    assert with_lines_of(section, []) == section


def test_what_only_a_left_out_row_is_about_is_not_set() -> None:
    section = settings_section(*SET)
    table, _ = section.blocks
    left = table.model_copy(update={"rows": table.rows[:2]})
    [_, code] = without_lines_of([left, section.blocks[1]], [table.rows[2]])
    assert code.sentences[0].text == "\n".join(CONF.split("\n")[:2])
    assert without_lines_of(section.blocks, [table.rows[2]]) == section.blocks


SHELL = """mode = on   # sends segments; fills the disk
# judgement: 5 s
wait = 5000

cache = 64MB  # by judgement, below the half"""


@pytest.mark.parametrize(
    ("objected", "unproved", "rest"),
    [
        ("mode = on   # sends segments; fills the disk", "", SHELL.replace("   # sends segments; fills the disk", "")),
        ("wait = 5000", "", SHELL.replace("# judgement: 5 s\nwait = 5000\n", "")),
        ("# judgement: 5 s", "wait = 5000", SHELL.replace("# judgement: 5 s\nwait = 5000\n", "")),
        (
            "cache = 64MB  # by judgement, below the half",
            "cache = 64MB",
            SHELL.replace(" by judgement, below the half", " judgement"),
        ),
        ("", "", ""),
    ],
)
def test_of_a_block_to_copy_only_the_comment_or_the_line_that_fails_goes(
    objected: str, unproved: str, rest: str
) -> None:
    left = without_objections(SHELL, {objected}, lambda text: not unproved or text != unproved)
    assert left == rest


def test_a_value_that_no_source_has_is_called_a_judgement_unless_the_verifier_objects() -> None:
    block = "limit = 4GB      # judgement: a quarter\ntimeout = 60     # seconds; bounds the wait"
    called = "limit = 4GB      # judgement: a quarter\ntimeout = 60     # judgement: seconds; bounds the wait"

    def holds(text: str) -> bool:
        return "60" not in text or "judgement: seconds" in text

    assert without_objections(block, set(), holds) == called
    objected = {"timeout = 60     # seconds; bounds the wait"}
    assert without_objections(block, objected, holds) == "limit = 4GB      # judgement: a quarter"


def test_of_a_block_to_copy_nothing_is_left_where_only_comments_hold() -> None:
    assert without_objections("# how to set it\nwait = 5000", {"wait = 5000"}, bool) == ""
