"""Progress: how the events of a run are shown."""

from datetime import UTC, datetime
from typing import Any

import pytest

from graph_research.cli.display.progress import IndexingLines, LineView, Progress, Snapshot
from graph_research.graph.events import ItemFinished, NodeFinished, NodeStarted, Note
from graph_research.providers.search.local.records import UNSUPPORTED, Failure

AT = datetime(2026, 1, 1, tzinfo=UTC)


def started(path: str) -> NodeStarted:
    return NodeStarted(run_id="r", seq=1, at=AT, path=path, visit=1, node=path.split("/")[-1])


def item(path: str) -> ItemFinished:
    return ItemFinished(run_id="r", seq=1, at=AT, path=path, visit=1, node="gather", item=0, status="ok", seconds=0)


def test_phases_are_the_nodes_of_the_root_without_the_supervisors() -> None:
    shown: list[Snapshot] = []
    progress = Progress(shown.append)
    for path in ("dispatch_plan", "plan", "review_plan", "gather", "gather[0]/search", "analyze"):
        progress.saw(started(path))
    assert [one.phase for one in shown] == ["plan", "gather", "analyze"]


def test_finished_items_count_before_the_node_is_through() -> None:
    progress = Progress([].append)
    progress.read({"sub_queries": [{"status": "pending"}, {"status": "pending"}, {"status": "completed"}]})
    progress.saw(item("gather[0]"))
    assert (progress.snapshot.done, progress.snapshot.planned) == (2, 3)
    assert progress.saw(NodeFinished(run_id="r", seq=1, at=AT, path="gather", visit=1, node="gather", seconds=0))
    progress.read({"sub_queries": [{"status": "completed"}] * 3, "sources": [{}] * 4, "iteration": 2})
    assert progress.snapshot.facts() == "3/3 sub-queries, 4 sources found"
    assert progress.snapshot.iteration == 2


def test_items_of_a_later_node_are_no_sub_queries() -> None:
    progress = Progress([].append)
    progress.read({"sub_queries": [{"status": "completed"}] * 2})
    progress.saw(item("read[0]"))
    assert (progress.snapshot.done, progress.snapshot.planned) == (2, 2)


def test_a_resumed_run_begins_where_it_stood() -> None:
    shown: list[Snapshot] = []
    Progress(shown.append).go_on(
        "gather", {"sub_queries": [{"status": "pending"}] * 2, "sources": [{}], "iteration": 2}
    )
    assert shown == [Snapshot(phase="gather", iteration=2, planned=2, sources=1)]


def test_a_line_is_said_once(capsys: Any) -> None:
    view = LineView()
    for _ in range(2):
        view.show(Snapshot(phase="plan"))
    view.show(Snapshot(phase="gather", planned=3))
    assert capsys.readouterr().err == "[1] plan\n[1] gather: 0/3 sub-queries\n"


def test_what_a_source_says_cannot_move_the_cursor(capsys: Any) -> None:
    LineView().show(Snapshot(phase="\x1b[2Jgone"))
    assert "\x1b" not in capsys.readouterr().err


def test_one_of_a_kind_is_not_many() -> None:
    assert Snapshot(done=1, planned=1, sources=1, findings=2).facts() == "1/1 sub-queries, 1 source found, 2 findings"


def test_the_first_unreadable_files_are_named_and_the_others_counted(capsys: pytest.CaptureFixture[str]) -> None:
    IndexingLines().unreadable([Failure(path=f"docs/{number}.pdf", reason="it is encrypted") for number in range(7)])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "not indexed: docs/0.pdf: it is encrypted"
    assert len(lines) == 6
    assert "2 more files" in lines[-1]


def test_files_of_types_that_are_not_read_are_counted_where_a_run_begins(capsys: pytest.CaptureFixture[str]) -> None:
    IndexingLines().unreadable([Failure(path=f"docs/{number}.png", reason=UNSUPPORTED) for number in range(7)])
    said = capsys.readouterr().err
    assert said == "not indexed: 7 files; `graph-research library list --unread` names all\n"


def retried(reason: str, attempt: int = 1, *, took: float, wait: float = 0.3) -> Note:
    data = {"peer": "oracle", "attempt": attempt, "reason": reason, "took_seconds": took, "wait_seconds": wait}
    return Note(run_id="r", seq=1, at=AT, path="gather[0]/search", visit=1, name="wire:retried", data=data)


def test_a_long_wait_for_a_server_is_reported_while_it_lasts(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(LineView().show)
    progress.read({"sub_queries": [{"status": "pending"}]})
    short, long = retried("oracle answered 503", took=0.2), retried("oracle answered 429\x1b[2J", took=0.2, wait=29.7)
    for event in (started("gather"), short, long, started("gather[0]/search"), item("gather[0]")):
        progress.saw(event)
    lines = capsys.readouterr().err.splitlines()[1:]
    assert lines[0] == "[1] gather: 0/1 sub-queries"
    assert lines[1].startswith("[1] gather: 0/1 sub-queries, oracle answered 429")
    assert lines[1].endswith(", attempt 2 follows in 30 s")
    assert "\x1b" not in lines[1]
    assert lines[2:] == ["[1] gather: 1/1 sub-queries"]


def test_every_request_that_a_server_leaves_unanswered_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(LineView().show)
    for attempt in (1, 2):
        progress.saw(retried("oracle: no answer within 60 s", attempt, took=60.0))
    assert capsys.readouterr().err.splitlines() == [
        "[1] starting: oracle: no answer within 60 s, attempt 2 follows",
        "[1] starting: oracle: no answer within 60 s, attempt 3 follows",
    ]
