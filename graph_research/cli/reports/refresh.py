"""`refresh`: the sources of a report, fetched again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from graph_research.cli.display.output import in_line, show, show_json
from graph_research.cli.options import Json, RunId, examples
from graph_research.cli.reports.revise import ReportOut, show_revised, write_files
from graph_research.cli.workspace import open_here, wait_for
from graph_research.text.wording import counted, shortened

if TYPE_CHECKING:
    from graph_research.research.revision.refreshed import Freshness, SourceNow

_TEXT_CHARS = 110


def register(app: typer.Typer) -> None:
    """Add `refresh`."""
    app.command("refresh", epilog=examples("refresh RUN_ID", "refresh RUN_ID --rewrite", "refresh RUN_ID --json"))(
        _refresh
    )


def _refresh(
    run_id: RunId,
    rewrite: Annotated[
        bool, typer.Option("--rewrite", help="Make a version that quotes touched sentences anew or leaves them out.")
    ] = False,
    llm: Annotated[
        str | None,
        typer.Option("--llm", metavar="SPEC", help="With --rewrite: the model that writes, in place of the run's."),
    ] = None,
    accept_changes: Annotated[
        bool, typer.Option("--accept-changes", help="Let a run that came in a bundle name the pages to read.")
    ] = False,
    out: ReportOut = None,
    json: Json = False,
) -> None:
    """What changed in the sources since.

    The cited sources are read again: local files, and pages of the web. A quotation that no longer stands is named with
    the nearest new wording, and so is each sentence that a changed, moved, retracted or vanished source touches. A
    model is asked only by `--rewrite`, once for each touched section: the one that `--llm` names, else the one that
    wrote the report. Where it cannot be used nothing is read and no version made: exit code 2.
    """
    from graph_research.app.revisions.refresh import refresh_run

    workspace = open_here()
    done = wait_for(refresh_run(workspace, run_id, rewrite=rewrite, writer=llm, accept_changes=accept_changes))
    if json:
        files = write_files(workspace, done.revised, out) if done.revised else {}
        show_json({**done.to_json(), "files": files})
        return
    _show(done.freshness)
    if done.revised:
        show_revised(workspace, done.revised, out, json=False)
    elif rewrite:
        show(f"{run_id}: no sentence is touched, and the report stays as it is")


def _show(freshness: Freshness) -> None:
    from graph_research.research.revision.refreshed import SourceStatus

    for source in freshness.sources:
        if source.status is not SourceStatus.UNCHANGED:
            _show_source(source)
    unchanged = sum(source.status is SourceStatus.UNCHANGED for source in freshness.sources)
    show(f"{counted(len(freshness.sources), 'cited source')}, {unchanged} unchanged")
    show(f"sentences touched: {len(freshness.sentences)}")
    for sentence in freshness.sentences:
        show(f"  {sentence.id}: {shortened(in_line(sentence.text), _TEXT_CHARS)}")


def _show_source(source: SourceNow) -> None:
    from graph_research.research.revision.refreshed import is_touched

    status = source.status.value.replace("_", " ")
    more = "; ".join(filter(None, [source.address and f"now at {source.address}", source.reason]))
    show(f"[{source.n}] {status}: {in_line(source.url or source.title)}{f' ({in_line(more)})' if more else ''}")
    for quote in source.quotes:
        if is_touched(source, quote):
            show(f"    was: “{shortened(in_line(quote.quote), _TEXT_CHARS)}”")
            if quote.nearest:
                show(f"    now: “{shortened(in_line(quote.nearest), _TEXT_CHARS)}”")
