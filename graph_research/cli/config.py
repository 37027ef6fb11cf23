"""`config`: the settings in force and where each came from, and agreeing to a folder's own files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import typer

from graph_research.cli.display.output import show, show_json, show_table
from graph_research.cli.options import Json, examples
from graph_research.cli.workspace import describe_offer, open_here


def register(app: typer.Typer) -> None:
    """Add `config show` and `config trust`."""
    group = typer.Typer(
        help="Settings, and trust in a folder's own files.", no_args_is_help=True, rich_markup_mode=None
    )
    group.command("show", epilog=examples("config show", "config show --json"))(_show)
    group.command("trust", epilog=examples("config trust"))(_trust)
    app.add_typer(group, name="config")


def _show(json: Json = False) -> None:
    """Every setting and its origin.

    Keys are shown as set or not set.
    """
    from graph_research.providers.keys import keys_present

    workspace = open_here(reads_only=True)
    keys = keys_present(os.environ)
    rows = workspace.configuration.rows()
    if json:
        settings = {row["name"]: row["value"] for row in rows}
        origins = {row["name"]: row["origin"] for row in rows}
        home = str(workspace.home.path)
        show_json({"home": home, "settings": settings, "origins": origins, "keys": keys})
        return
    show(f"data home: {workspace.home.path}")
    show_table(("SETTING", "VALUE", "FROM"), [(row["name"], _value(row["value"]), row["origin"]) for row in rows])
    show("")
    show_table(("KEY", ""), [(name, "set" if there else "not set") for name, there in keys.items()])


def _value(value: Any) -> str:
    if value is None or value == []:
        return "-"
    return (
        ", ".join(value) if isinstance(value, list) else str(value).lower() if isinstance(value, bool) else str(value)
    )


def _trust(json: Json = False) -> None:
    """Trust this folder's own files.

    Agrees to its graph-research.toml, graphs/, prompts/ and schemas/ as they are now.
    """
    from graph_research.settings.home import find_home
    from graph_research.settings.trust import NothingToTrust, agree, find_offer

    home = find_home(os.environ).prepare()
    offer = find_offer(Path.cwd())
    if offer is None:
        raise NothingToTrust(
            "this folder brings no graph-research.toml, graphs/, prompts/ or schemas/ of its own",
            help="run this in the folder whose files you want to use",
        )
    agree(offer, home)
    if json:
        show_json({"folder": str(offer.folder), "files": list(offer.files), "hash": offer.hash})
    else:
        show(f"trusted as they are now: {describe_offer(offer)}")
