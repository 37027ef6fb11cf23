"""`doctor` and `capabilities`: what works here, what is missing, and what each missing key would add."""

from __future__ import annotations

import typer

from graph_research.cli.failure import FAILED, CommandEnded
from graph_research.cli.folder import open_here
from graph_research.cli.loop import wait_for
from graph_research.cli.options import Json, examples
from graph_research.cli.output import say, show, show_json, show_table

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add `doctor` and `capabilities`."""
    app.command("doctor", epilog=examples("doctor", "doctor --json"))(_doctor)
    app.command("capabilities", epilog=examples("capabilities", "capabilities --json"))(_capabilities)


def _doctor(json: Json = False) -> None:
    """Check this machine and set-up.

    Exit code 1 if something that a run needs does not work.
    """
    from graph_research.app.doctor import examine

    checks = wait_for(examine(open_here(reads_only=True)))
    if json:
        usable = all(check.ok or check.optional for check in checks)
        show_json({"ok": usable, "checks": [check.to_json() for check in checks]})
    else:
        marks = {True: "ok", False: "MISSING"}
        rows = [
            ("-" if check.optional and not check.ok else marks[check.ok], check.name, check.text) for check in checks
        ]
        show_table(("", "WHAT", ""), rows)
    broken = [check.name for check in checks if not check.ok and not check.optional]
    if broken:
        say(f"graph-research: not usable as it is: {', '.join(broken)}")
        raise CommandEnded(FAILED)


def _capabilities(json: Json = False) -> None:
    """What this version can do.

    Models, roles, searches, formats and graphs.
    """
    from graph_research.app.doctor import capabilities

    known = capabilities(open_here(reads_only=True))
    if json:
        show_json(known)
        return
    for name, values in known.items():
        show(f"{name}: " + ", ".join(values if isinstance(values, list) else [f"{k} ({v})" for k, v in values.items()]))
