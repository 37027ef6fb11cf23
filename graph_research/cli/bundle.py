"""Runs that travel: `export-run` to one file, `import-run` from one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graph_research.cli.display.output import say, show, show_json
from graph_research.cli.options import Json, RunId, examples
from graph_research.cli.workspace import open_here, wait_for
from graph_research.text.wording import counted


def register(app: typer.Typer) -> None:
    """Add `export-run` and `import-run`."""
    app.command("export-run", epilog=examples("export-run RUN_ID -o research.grb"))(_export)
    app.command("import-run", epilog=examples("import-run research.grb"))(_import)


def _export(
    run_id: RunId,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.grb", help="The bundle to write.")],
    json: Json = False,
) -> None:
    """A run as one portable file.

    With its graph, prompts, schemas, steps, journal and texts; equal runs give equal bytes.
    """
    from graph_research.app.runs.bundles import export_run

    exported = wait_for(export_run(open_here(reads_only=True), run_id, output))
    if exported.local_texts:
        say(
            f"graph-research: {output} holds texts of your local library, found by "
            f"{counted(exported.local_texts, 'search')}; everyone who gets the file can read them"
        )
    if json:
        show_json(exported)
    else:
        show(f"{output}: {exported.bytes:,} bytes, sha256 {exported.sha256}")


def _import(
    file: Annotated[Path, typer.Argument(metavar="FILE.grb", help="A bundle that `export-run` wrote.")],
    json: Json = False,
) -> None:
    """Store the run of a bundle.

    Under its own id, which must be free. Its hashes are checked: they prove that nothing was changed, not who made
    it. Nothing is run.
    """
    from graph_research.app.runs.bundles import import_run

    imported = wait_for(import_run(open_here(), file))
    if json:
        show_json(imported)
    else:
        show(f"{imported.run_id}: imported, {imported.bytes:,} bytes, sha256 {imported.sha256}")
