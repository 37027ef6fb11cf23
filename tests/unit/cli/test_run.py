"""`run` and what is done with a run afterwards, through the installed script."""

import json
import signal
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from graph_research import deep_research
from graph_research.app.application import Application
from graph_research.app.request import request_for
from graph_research.app.workspace import open_workspace
from graph_research.errors import UserMistake
from tests.support.cli.cli_process import NOW, CommandProcess, User, run_on_full_disk, wait_until
from tests.support.cli.cli_user import DOCUMENTS, QUESTION
from tests.support.graph.countdown_graph import COUNTDOWN

SLOW = {"planner": [{"delay_seconds": 60, "text": "{}"}], "*": [{"need_clarification": False, "question": ""}]}


def test_a_run_prints_one_json_document_and_writes_its_report(researcher: User) -> None:
    result = json.loads((researcher.folder / "result.json").read_text())
    assert result["run_id"] == "tides"
    assert result["status"] == "completed"
    assert set(result["report"]) == {"md", "html", "json"}
    assert all(Path(path).is_file() for path in result["report"].values())
    assert 0 <= result["confidence"] <= 1
    assert result["iterations"] >= 1
    assert result["statistics"]["calls"] >= 1


def test_the_home_is_closed_to_others(researcher: User) -> None:
    assert stat.S_IMODE(researcher.home.stat().st_mode) == 0o700
    lines = (researcher.home / "audit" / "tides.jsonl").read_text().splitlines()
    sequence = [json.loads(line)["seq"] for line in lines]
    assert sequence == list(range(1, len(sequence) + 1))


def test_status_list_and_history_tell_the_same_run(researcher: User) -> None:
    status = researcher.run("status", "tides", "--json").json
    assert (status["run_id"], status["status"], status["cause"]) == ("tides", "completed", None)
    assert status["phase"]
    assert status["iteration"] >= 1
    assert status["updated_at"].startswith("2026-01-01")
    assert status["interrupted"] is False
    listed = researcher.run("list", "--json").json
    assert [(run["run_id"], run["question"], run["status"]) for run in listed] == [("tides", QUESTION, "completed")]
    assert listed[0]["created_at"].startswith("2026-01-01")
    history = researcher.run("history", "tides", "--json").json
    assert {"plan", "gather", "synthesize"} <= {step["node"] for step in history}
    assert all({"step", "node", "item", "status", "started_at", "seconds", "hash"} <= set(step) for step in history)


@pytest.mark.parametrize("command", ["status", "history", "report", "verify"])
def test_every_command_about_a_run_has_a_text_form(command: str, researcher: User) -> None:
    assert researcher.run(command, "tides").out.strip()


@pytest.mark.parametrize("format", ["md", "html", "json"])
def test_the_report_comes_again_from_the_store_byte_for_byte(format: str, researcher: User) -> None:
    again = researcher.run("report", "tides", "--format", format).out
    assert again == (researcher.folder / "out" / f"report.{format}").read_text()


@pytest.mark.parametrize(
    ("format", "sign"),
    [
        ("csv", "section,sentence,text"),
        ("pandoc", "[@src-"),
        ("bibtex", "@misc{src-"),
        ("ris", "TY  - "),
        ("csl-json", '"id": "src-'),
    ],
)
def test_the_sources_come_for_other_programs(format: str, sign: str, researcher: User) -> None:
    assert sign in researcher.run("report", "tides", "--format", format).out


def test_a_report_may_go_to_a_file(researcher: User, tmp_path: Path) -> None:
    researcher.run("report", "tides", "-o", str(tmp_path / "deep" / "r.md"))
    assert (tmp_path / "deep" / "r.md").read_text() == (researcher.folder / "out" / "report.md").read_text()


@pytest.mark.parametrize(
    ("name", "options", "sign"),
    [
        ("r.pdf", (), b"%PDF-"),
        ("r.DOCX", (), b"PK"),
        ("r.json", (), b'{\n  "format"'),
        ("r.bib", (), b"@misc"),
        ("r.txt", (), b"# "),
        ("r.pdf", ("--format", "md"), b"# "),
    ],
)
def test_the_format_of_a_file_is_that_of_its_suffix_unless_it_is_named(
    name: str, options: tuple[str, ...], sign: bytes, researcher: User, tmp_path: Path
) -> None:
    researcher.run("report", "tides", "-o", str(tmp_path / name), *options)
    assert (tmp_path / name).read_bytes().startswith(sign)


def test_verify_finds_every_citation_valid(researcher: User) -> None:
    counts = researcher.run("verify", "tides", "--json").json
    assert counts["citations"] >= 3
    assert counts["valid"] == counts["citations"]
    assert counts["invalid"] == counts["fabricated"] == 0
    assert 0 <= counts["coverage"] <= 1


def test_resuming_a_completed_run_writes_its_report_again(researcher: User, tmp_path: Path) -> None:
    researcher.run("resume", "tides", "--out", str(tmp_path / "again"))
    assert (tmp_path / "again" / "report.json").read_bytes() == (researcher.folder / "out" / "report.json").read_bytes()


def test_an_id_that_exists_is_refused_and_nothing_is_lost(researcher: User) -> None:
    done = researcher.run("run", QUESTION, "--library", "library", "--run-id", "tides", "--json", expect=2)
    assert done.json["error"]["code"] == "run-exists"
    assert researcher.run("status", "tides", "--json").json["status"] == "completed"


def test_the_default_place_of_a_report_is_named_for_the_run(user: User) -> None:
    done = user.run("run", "tide mill power", "--library", "library", "--max-iterations", "1")
    run_id = done.err.split()[1]
    assert run_id.startswith("run-")
    assert (user.folder / "research" / run_id / "report.md").is_file()
    assert str(user.folder / "research" / run_id / "report.html") in done.out
    user.run("delete", run_id, "--json")
    assert user.run("list", "--json").json == []
    assert not (user.home / "audit" / f"{run_id}.jsonl").exists()


def test_a_question_of_one_character_is_answered_honestly(user: User) -> None:
    done = user.run("run", "?", "--library", "library", "--json", expect=(0, 1))
    assert done.json["status"] in {"completed", "aborted"}


def test_an_unreadable_document_is_named_and_the_rest_is_used(user: User) -> None:
    user.write("library/broken.pdf", "%PDF-1.7 not really")
    added = user.run("library", "add", "library", "--json")
    assert added.json["added"] == 3
    assert [Path(one["path"]).name for one in added.json["failed"]] == ["broken.pdf"]
    assert "broken.pdf" in added.err


def test_the_library_commands_tell_what_is_indexed(user: User) -> None:
    first = user.run("library", "add", "library", "--json").json
    assert {name: first[name] for name in ("added", "updated", "unchanged", "removed", "failed")} == {
        "added": 3,
        "updated": 0,
        "unchanged": 0,
        "removed": 0,
        "failed": [],
    }
    assert user.run("library", "add", "library", "--json").json["unchanged"] == 3
    found = user.run("library", "search", "pond behind a dam", "--json").json
    assert {"source_id", "title", "path", "locator", "text", "score"} <= set(found[0])
    assert found[0]["path"] in {"mills.md", "history.txt"}
    assert [one["documents"] for one in user.run("library", "list", "--json").json] == [3]
    user.run("library", "remove", "library")
    assert user.run("library", "list", "--json").json == []


@pytest.mark.requirement("B26")
def test_a_clarifier_may_ask_and_is_answered_later(user: User) -> None:
    reply = {"need_clarification": True, "question": "Which coast?", "verification": ""}
    asking = user.script("ask.json", {"clarifier": [reply]})
    options = ["--library", "library", "--role", f"research={asking},extractive", "--run-id", "asked"]
    for command in (["run", QUESTION, *options, "--interactive"], ["resume", "asked"]):
        done = user.run(*command, "--json", expect=4)
        assert done.json["status"] == "awaiting_input"
        assert done.json["waiting_for"] == "Which coast?"
        assert 'graph-research resume asked --answer "' in done.err
    assert user.run("status", "asked", "--json").json["waiting_for"] == "Which coast?"
    assert user.run("resume", "asked", "--answer", "the north", "--json").json["status"] == "completed"


@pytest.mark.parametrize(("answer", "question"), [("  ", QUESTION), (" in Wales\n", f"{QUESTION} (in Wales)")])
def test_blanks_around_an_answer_and_an_answer_of_blanks_are_none(user: User, answer: str, question: str) -> None:
    asking = user.script(
        "ask.json", {"clarifier": [{"need_clarification": True, "question": "Where?", "verification": ""}]}
    )
    options = ["--library", "library", "--role", f"research={asking},extractive", "--run-id", "asked"]
    user.run("run", QUESTION, *options, "--interactive", expect=4)
    for _ in range(2):
        assert user.run("resume", "asked", "--answer", answer, "--json").json["status"] == "completed"
    assert user.run("report", "asked", "--json").json["question"] == question


def test_a_model_that_fails_ends_the_run_with_its_reason(user: User) -> None:
    broken = user.script("broken.json", {"*": [{"error": "refused", "message": "no such account"}]})
    done = user.run("run", QUESTION, "--library", "library", "--llm", broken, "--run-id", "off", "--json", expect=1)
    assert (done.json["status"], done.json["cause"], done.json["report"]) == ("aborted", "error", None)
    assert "no such account" in done.err
    assert "no such account" in user.run("status", "off", "--json").json["error"]


@pytest.mark.requirement("18.3")
def test_a_pipeline_whose_writer_fails_reports_what_it_collected_and_why_nothing_was_written(user: User) -> None:
    claim = {"text": "Tide mills store water.", "supportingIndices": [0], "contradictingIndices": []}
    no_quota = {"error": "refused", "message": "no quota"}
    spec = user.script(
        "no-quota.json",
        {"decomposer": [{"questions": []}], "claim_extractor": [{"claims": [claim]}], "outliner": [no_quota]},
    )
    options = ("--graph", "pipeline", "--library", "library", "--llm", spec, "--run-id", "short")
    done = user.run("run", QUESTION, *options, "--out", "out", "--json")
    assert (done.json["status"], done.json["success"]) == ("completed", False)
    assert "the report could not be written" in done.err
    assert "no quota" in done.json["error"]
    report = json.loads((user.folder / "out" / "report.json").read_text())
    assert (report["partial"], report["written"], report["error"]) == (True, False, done.json["error"])
    assert report["sources"]
    assert "the run failed in the phase “writing”. No report had been written" in report["notice"]
    assert "no quota" in user.run("status", "short", "--json").json["error"]
    assert "## No report was written" in user.run("report", "short", "--format", "md").out


def test_a_scripted_search_needs_no_library(user: User) -> None:
    text = DOCUMENTS["history.txt"]
    hits = [{"title": "History", "url": "https://example.org/history", "text": text}]
    found = user.write("hits.json", json.dumps([{"match": "", "hits": hits}]))
    done = user.run("run", QUESTION, "--search", f"scripted:{found}", "--json").json
    assert done["status"] == "completed"
    assert done["sources"] == 1


async def test_the_same_research_is_one_call_in_python(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(user.folder)
    environ = {"GRAPH_RESEARCH_HOME": str(user.home)}
    result = await deep_research(QUESTION, library=["library"], run_id="called", now=NOW, environ=environ)
    assert (result.status, result.run_id) == ("completed", "called")
    assert result.report is not None
    assert Path(result.report["md"]) == user.folder / "research" / "called" / "report.md"
    assert result.citations >= 3


async def test_one_folder_and_one_search_need_no_list_in_python(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(user.folder)
    environ = {"GRAPH_RESEARCH_HOME": str(user.home)}
    result = await deep_research(QUESTION, library="library", search="local", run_id="one", environ=environ)
    assert result.status == "completed"
    assert result.sources > 0


@pytest.mark.requirement("6.6", "B36")
async def test_an_error_that_nobody_named_leaves_a_marker_for_its_run(user: User) -> None:
    environ = {"GRAPH_RESEARCH_HOME": str(user.home)}
    space = open_workspace(environ, user.folder, may_use=lambda _: False, options={"library": ["library"]})

    class Broken:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def __call__(self, done: int, total: int, path: str) -> None:
            raise self.error

        def unreadable(self, failures: object) -> None: ...

    async with Application(space) as app:
        for run_id, error in (("crashed", ZeroDivisionError("by nothing")), ("refused", UserMistake("not so"))):
            await app.create(request_for(space, QUESTION), run_id=run_id)
            with pytest.raises(type(error)):
                await anext(app.drive(run_id, on_index=Broken(error)))
    assert "by nothing" in (user.home / "crash" / "crashed.crash").read_text()
    assert [file.name for file in (user.home / "crash").iterdir()] == ["crashed.crash"]


WAITING = """\
graph: waiting
version: "1"
state: {name: {type: string, default: "", output: true}}
start: who
nodes:
  who: {ask: '"Your name?"', into: name, default: '"nobody"'}
  done: {end: completed}
edges:
  - {from: who, to: done}
"""


def running(user: User, run_id: str, *options: str, **more: Any) -> CommandProcess:
    """A run that waits for a slow model, seen by its audit log."""
    spec = user.script("slow.json", SLOW)
    process = user.start("run", QUESTION, "--library", "library", "--llm", spec, "--run-id", run_id, *options, **more)
    log = user.home / "audit" / f"{run_id}.jsonl"
    wait_until(lambda: log.exists() and '"path":"plan"' in log.read_text())
    return process


@pytest.mark.parametrize("received", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_and_names_the_way_on(received: signal.Signals, user: User) -> None:
    with running(user, "slow") as process:
        process.send_signal(received)
        _, err = process.finish()
    assert process.returncode == 130
    assert "graph-research resume slow" in err
    assert "Traceback" not in err
    status = user.run("status", "slow", "--json").json
    assert (status["status"], status["interrupted"]) == ("running", True)
    assert user.run("cancel", "slow", "--json").json["cause"] == "cancelled"


def test_a_signal_right_after_the_id_was_shown_names_the_way_on_since_the_run_is_stored(user: User) -> None:
    spec = user.script("slow.json", SLOW)
    with user.start("run", QUESTION, "--library", "library", "--llm", spec, "--run-id", "early") as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "run early\n"
        process.send_signal(signal.SIGINT)
        _, err = process.finish()
    assert process.returncode == 130
    assert "go on with: graph-research resume early" in err


def test_an_abandoned_run_is_cancelled_without_the_key_and_the_files_it_began_with(user: User) -> None:
    paid = ["--role", "report=openai:gpt-5.4-mini"]
    with running(user, "keyed", *paid, environ={"OPENAI_API_KEY": "sk-gone"}) as process:
        process.send_signal(signal.SIGINT)
        process.finish()
    assert "OPENAI_API_KEY" in user.run("resume", "keyed", expect=2).err
    (user.folder / "slow.json").unlink()
    status = user.run("cancel", "keyed", "--json").json
    assert (status["status"], status["cause"]) == ("aborted", "cancelled")


def test_an_abandoned_run_of_a_graph_is_cancelled_without_its_key(user: User) -> None:
    user.write("wait.yaml", WAITING)
    keyed = {"OPENAI_API_KEY": "sk-gone"}
    user.run("graph", "run", "wait.yaml", "--llm", "openai:m", "--run-id", "waits", expect=4, environ=keyed)
    assert user.run("cancel", "waits", "--json").json["cause"] == "cancelled"


@pytest.mark.requirement("1.15")
def test_a_run_that_another_process_drives_is_left_alone_and_can_be_cancelled(user: User) -> None:
    with running(user, "busy") as process:
        assert user.run("resume", "busy", "--json", expect=2).json["error"]["code"] == "run-busy"
        assert user.run("delete", "busy", "--json", expect=2).json["error"]["code"] == "run-busy"
        cancelled = user.run("cancel", "busy", "--json").json
        _, err = process.finish()
    assert (cancelled["status"], cancelled["cause"]) == ("aborted", "cancelled")
    assert process.returncode == 3
    assert "graph-research resume busy" in err


def test_a_damaged_run_is_named_and_hides_no_other(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    for name in ("sound", "broken"):
        user.run("graph", "run", "countdown.yaml", "--run-id", name)
    with closing(sqlite3.connect(user.home / "runs.db")) as store, store:
        store.execute("UPDATE steps SET hash = x'00' WHERE id >> 32 = (SELECT max(id >> 32) FROM steps)")
    listed = user.run("list", "--json")
    assert {run["run_id"]: "damaged" in run for run in listed.json} == {"sound": False, "broken": True}
    shown = user.run("list")
    assert "sound" in shown.out
    assert "of run broken is damaged in the store" in shown.err
    user.run("delete", "broken")
    assert [run["run_id"] for run in user.run("list", "--json").json] == ["sound"]


def test_verify_counts_the_citations_of_a_damaged_text_as_invalid_and_checks_the_others(user: User) -> None:
    user.run("run", QUESTION, "--library", "library", "--run-id", "tides", "--max-iterations", "1")
    report = user.run("report", "tides", "--json").json
    damaged, *_ = {row["archive_hash"] for row in report["citations"]}
    on_it = sum(row["archive_hash"] == damaged for row in report["citations"])
    with closing(sqlite3.connect(user.home / "runs.db")) as store, store:
        name = bytes.fromhex(damaged.removeprefix("sha256:"))
        store.execute("UPDATE texts SET content = substr(content, 1, 20) WHERE hash = ?", (name,))
    counts = user.run("verify", "tides", "--json", expect=1).json
    assert (counts["invalid"], counts["valid"]) == (on_it, len(report["citations"]) - on_it)
    assert user.run("report", "tides", "--json", expect=1).json["error"]["code"] == "store-damaged"


def test_a_disk_without_room_ends_in_one_clear_line(user: User) -> None:
    user.run("library", "add", "library")
    done = run_on_full_disk(user, "run", QUESTION, "--run-id", "full", "--json", most_bytes=60_000, expect=1)
    assert done.json["error"]["code"] in {"store-unreachable", "audit-unwritable"}
    assert user.run("list", "--json").code == 0


def test_any_graph_runs_without_python(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    done = user.run("graph", "run", "countdown.yaml", "--set", "n=4", "--run-id", "count", "--now", NOW, "--json")
    assert done.json["status"] == "completed"
    assert done.json["state"] == {"n": 0, "seen": [4, 3, 2, 1]}
    assert user.run("resume", "count", "--json").json["state"]["n"] == 0
    assert user.run("run", "why?", "--graph", "countdown.yaml", "--library", "library", "--json", expect=2).json


def test_the_json_of_a_graph_says_why_it_failed_and_what_it_asks(user: User) -> None:
    user.write("divided.yaml", COUNTDOWN.replace("n - 1", "n / (n - 2)"))
    failed = user.run("graph", "run", "divided.yaml", "--set", "n=2", "--json", expect=1).json
    assert (failed["cause"], failed["waiting_for"]) == ("error", None)
    assert 'expression "n / (n - 2)" failed: division by zero' in failed["error"]
    user.write("wait.yaml", WAITING)
    waiting = user.run("graph", "run", "wait.yaml", "--json", expect=4).json
    assert (waiting["status"], waiting["error"]) == ("awaiting_input", None)
    assert waiting["waiting_for"]


def test_validate_lists_every_finding_with_its_place(user: User) -> None:
    user.write("countdown.yaml", COUNTDOWN)
    assert user.run("graph", "validate", "countdown.yaml", "--json").json == []
    user.write("broken.yaml", COUNTDOWN.replace("to: done", "to: dune").replace("n - 1", "m - 1"))
    findings = user.run("graph", "validate", "broken.yaml", "--json", expect=2).json
    assert {finding["file"] for finding in findings} == {"broken.yaml"}
    assert all({"line", "column", "code", "severity", "message", "help"} <= set(finding) for finding in findings)
    assert len([finding for finding in findings if finding["severity"] == "error"]) >= 2
    user.write("bad.yaml", "a: [")
    assert user.run("graph", "validate", "bad.yaml", "--json", expect=2).json[0]["severity"] == "error"


def test_shipped_graphs_are_listed_valid_and_exported(user: User) -> None:
    names = [graph["name"] for graph in user.run("graph", "list", "--json").json]
    assert {"deep_research", "topic_research", "pipeline"} <= set(names)
    for name in names:
        findings = user.run("graph", "validate", name, "--json").json
        assert [finding for finding in findings if finding["severity"] == "error"] == []
    for format, sign in {"mermaid": "flowchart", "dot": "digraph", "svg": "<svg", "json": "{"}.items():
        assert sign in user.run("graph", "export", "deep_research", "--format", format).out
    user.run("graph", "export", "deep_research", "--format", "svg", "-o", "graph.svg")
    assert (user.folder / "graph.svg").read_text().startswith("<svg")
