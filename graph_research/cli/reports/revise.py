"""Changes of a finished report: `exclude`, `edit` and `versions`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph_research.cli.display.output import show, show_json, show_table
from graph_research.cli.options import Json, RunId, examples
from graph_research.cli.workspace import open_here, wait_for
from graph_research.text.wording import counted, shortened

if TYPE_CHECKING:
    from graph_research.app.revisions.changes import Revised
    from graph_research.app.workspace import Workspace

_SHOWN = 10
_TEXT_CHARS = 100

ReportOut = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for the new report files. [default: ./research/RUN_ID/, if there]"),
]


def register(app: typer.Typer) -> None:
    """Add `exclude`, `edit` and `versions`."""
    app.command("exclude", epilog=examples("exclude RUN_ID 3", "exclude RUN_ID https://example.org/page --json"))(
        _exclude
    )
    app.command(
        "edit",
        epilog=examples(
            "edit RUN_ID s12 --drop",
            "edit RUN_ID 'a piece of the sentence' --text 'What it has to say.'",
            "edit RUN_ID claim-0123456789 --confidence 0.3",
        ),
    )(_edit)
    app.command("versions", epilog=examples("versions RUN_ID", "versions RUN_ID --undo"))(_versions)


def _exclude(
    run_id: RunId,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="Its number in the report, id, URL or path.", show_default=False)
    ],
    out: ReportOut = None,
    json: Json = False,
) -> None:
    """Make a report without a source.

    Sentences that rest only on it are left out; findings, conflicts, confidence and numbers are worked out again. No
    model is asked. `versions RUN_ID --undo` takes it back.
    """
    from graph_research.app.revisions.changes import exclude_source

    workspace = open_here()
    show_revised(workspace, wait_for(exclude_source(workspace, run_id, source)), out, json=json)


def _edit(
    run_id: RunId,
    claim: Annotated[
        str,
        typer.Argument(
            metavar="CLAIM", help="The id of a claim or sentence, or a piece of its text.", show_default=False
        ),
    ],
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="What it reads from now on.")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Leave it out.")] = False,
    confidence: Annotated[
        float | None, typer.Option("--confidence", metavar="0-1", help="Your confidence in a claim.")
    ] = None,
    out: ReportOut = None,
    json: Json = False,
) -> None:
    """Change a sentence or claim.

    Your words are marked as yours and never count as proved. No model is asked. `versions RUN_ID --undo` takes it back.
    """
    from graph_research.app.revisions.changes import edit_claim

    workspace = open_here()
    changed = edit_claim(workspace, run_id, claim, text=text, drop=drop, confidence=confidence)
    show_revised(workspace, wait_for(changed), out, json=json)


def _versions(
    run_id: RunId,
    undo: Annotated[bool, typer.Option("--undo", help="Take the latest change back.")] = False,
    out: ReportOut = None,
    json: Json = False,
) -> None:
    """The versions of a report.

    Each with the change that made it. `report RUN_ID --version N` shows one, `diff RUN_ID@v1 RUN_ID@v2` compares two.
    """
    from graph_research.app.revisions.changes import undo_last, versions_of

    workspace = open_here(reads_only=not undo)
    if undo:
        show_revised(workspace, wait_for(undo_last(workspace, run_id)), out, json=json)
        return
    versions = wait_for(versions_of(workspace, run_id))
    if json:
        show_json([vars(row) for row in versions])
        return
    rows = [
        (row.version, row.kind if row.holds else f"{row.kind} (undone)", row.at[:19], shortened(row.what, 60))
        for row in versions
    ]
    show_table(("VERSION", "CHANGE", "MADE", "WHAT"), rows)


def write_files(workspace: Workspace, revised: Revised, out: Path | None) -> dict[str, str]:
    """Write the new report into `out`, or where the run's report is; `{format: path}`, empty where it is nowhere."""
    from graph_research.app.runs.report import write_report

    folder = workspace.folder / (out or Path("research", revised.run_id))
    return write_report(workspace, revised.built, folder) if out or (folder / "report.md").exists() else {}


def show_revised(workspace: Workspace, revised: Revised, out: Path | None, *, json: bool) -> None:
    """Write the new report into its folder, and say what changed."""
    files = write_files(workspace, revised, out)
    if json:
        show_json({**revised.to_json(), "files": files})
        return
    changed = revised.difference
    show(f"{revised.run_id}: version {revised.version}, {counted(revised.calls, 'new call')}")
    _show_lines("-", "sentences left out", changed.sentences_removed)
    _show_lines("+", "sentences added", changed.sentences_added)
    show(f"claims:      {len(changed.claims_removed)} gone, {len(changed.claims_added)} new, {_rescored(changed)}")
    show(f"confidence:  {_number(changed.confidence[0])} before, {_number(changed.confidence[1])} now")
    if changed.contradictions_removed:
        show(f"no longer in conflict: {'; '.join(changed.contradictions_removed)}")
    for path in files.values():
        show(f"written: {path}")
    if not files:
        show(f"read it with: graph-research report {revised.run_id}")


def _rescored(changed: Any) -> str:
    return f"{len(changed.rescored)} with another confidence"


def _show_lines(sign: str, heading: str, texts: Sequence[str]) -> None:
    if not texts:
        return
    show(f"{heading}: {len(texts)}")
    for text in texts[:_SHOWN]:
        show(f"  {sign} {shortened(' '.join(text.split()), _TEXT_CHARS)}")
    if len(texts) > _SHOWN:
        show(f"    and {len(texts) - _SHOWN} more; --json has all")


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
