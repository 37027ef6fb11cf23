"""The option `--db` of commands that share their jobs with other machines."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from graph_research.app.workspace import Workspace

Database = Annotated[
    str | None,
    typer.Option("--db", metavar="URL", help="The PostgreSQL database of the jobs. [env: GRAPH_RESEARCH_DATABASE]"),
]


def with_database(workspace: Workspace, url: str | None) -> Workspace:
    """The workspace with the runs and jobs of another database, where one is named."""
    return workspace if url is None else replace(workspace, home=replace(workspace.home, database=url))
