"""`doctor` and `capabilities`: what works here, what is missing, and what each missing key would add."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph_research.cli.display.output import say, show, show_json, show_table
from graph_research.cli.errors import FAILED, CommandEnded
from graph_research.cli.options import Json, examples
from graph_research.cli.workspace import open_here, wait_for

if TYPE_CHECKING:
    from graph_research.app.diagnostics.checks import Check

_DOCTOR_EXAMPLES = ("doctor", "doctor --offline --json", "doctor tavily mcp:library", "doctor --accept mcp:library")


def register(app: typer.Typer) -> None:
    """Add `doctor` and `capabilities`."""
    app.command(
        "doctor",
        epilog=examples(*_DOCTOR_EXAMPLES),
    )(_doctor)
    app.command("capabilities", epilog=examples("capabilities", "capabilities --json"))(_capabilities)


def _doctor(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROVIDER…", help="Only these, such as tavily, mcp:NAME or a model's spec.", show_default=False
        ),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Send nothing over the network, and start nothing.")
    ] = False,
    accept: Annotated[
        str | None,
        typer.Option("--accept", metavar="mcp:NAME", help="Use an MCP server's tools as they are defined now."),
    ] = None,
    json: Json = False,
) -> None:
    """Check this machine, set-up and providers.

    Every provider is asked for a sign of life, which costs nothing. Exit code 1 if something that a run needs, or a
    provider that is named, does not work.
    """
    _resolve_names_quickly()
    if accept is not None:
        _accept(accept, json=json)
        return
    from graph_research.app.diagnostics.checks import examine

    checks = wait_for(examine(open_here(reads_only=True), names=names or (), network=not offline))
    if json:
        usable = all(check.ok or check.optional for check in checks)
        show_json({"ok": usable, "checks": checks})
    else:
        rows = [(_mark(check), check.name, _time(check), check.text) for check in checks]
        show_table(("", "WHAT", "ANSWER", ""), rows)
    broken = [check.name for check in checks if not check.ok and not check.optional]
    if broken:
        say(f"graph-research: not usable as it is: {', '.join(broken)}")
        raise CommandEnded(FAILED)


def _accept(name: str, *, json: bool) -> None:
    from graph_research.app.diagnostics.checks import accept

    tools = wait_for(accept(open_here(), name))
    if json:
        show_json({"accepted": name, "tools": [dict(tool) for tool in tools]})
        return
    show(f"accepted: {name} as it is now")
    for tool in tools:
        show(f"\n{tool['name']}: {tool.get('description') or 'no description'}")
        show(f"takes: {', '.join((tool.get('input_schema') or {}).get('properties') or ()) or 'nothing'}")


def _mark(check: Check) -> str:
    if check.ok:
        return "ok"
    if not check.optional:
        return "MISSING" if check.configured is None else "FAILS"
    return "FAILS" if check.configured and check.reachable is not None else "-"


def _time(check: Check) -> str:
    """How soon a provider answered; empty where it was not asked."""
    if check.reachable is None:
        return ""
    return f"{check.latency_ms} ms" if check.reachable else "none"


def _resolve_names_quickly() -> None:
    """Bound the wait for a name server that does not answer to seconds (`options` of resolv.conf(5)): the C library
    waits half a minute and cannot be interrupted."""
    os.environ.setdefault("RES_OPTIONS", "timeout:2 attempts:1")


def _capabilities(json: Json = False) -> None:
    """What this version can do.

    Models, roles, searches, formats and graphs.
    """
    from graph_research.app.diagnostics.checks import capabilities

    known = capabilities(open_here(reads_only=True))
    if json:
        show_json(known)
        return
    for name, values in known.items():
        if isinstance(values, list):
            show(f"{name}: {', '.join(values) or 'none'}")
            continue
        show(f"{name}:")
        for key, value in values.items():
            show(f"  {key}: {_plain(value)}")


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part is not None)
    return ", ".join(value) if isinstance(value, list) else str(value)
