"""The user's MCP servers as searches `mcp:NAME`: their settings, the variables they get to see, and their pins."""

from __future__ import annotations

import importlib.util
from contextlib import AsyncExitStack
from dataclasses import replace

from graph_research.app.workspace import Workspace
from graph_research.errors import suggestion
from graph_research.providers.errors import NoProvider
from graph_research.providers.search.base import MCP
from graph_research.providers.search.mcp.pins import HomePins
from graph_research.providers.search.mcp.search import McpSearch, McpServer, Pins


def mcp_names(workspace: Workspace) -> list[str]:
    """`mcp:NAME` of every server in the settings, in their order."""
    return [f"{MCP}:{name}" for name in workspace.settings.mcp_servers]


def check_mcp(workspace: Workspace, name: str) -> None:
    """`NoProvider` for a name that the settings do not know, and where the MCP package is missing."""
    known = mcp_names(workspace)
    if name not in known:
        hint = suggestion(name, known)
        there = f"there is {', '.join(known)}" if known else "there is none"
        raise NoProvider(
            f"no MCP server {name[:80]!r}",
            help=f"{hint}{there}; describe yours under [research.mcp_servers.NAME] in config.toml of your data home",
        )
    if importlib.util.find_spec("mcp") is None:
        raise NoProvider(
            f"search {name} needs the MCP package", help="install it with: pip install 'graph-research[mcp]'"
        )


def unset_of_mcp(workspace: Workspace, name: str) -> tuple[str, ...]:
    """The variables that a server is to see, or that hold its key, and that are not set."""
    given = workspace.settings.mcp_servers[name.partition(":")[2]]
    named = (*given.environ, *((given.key_name,) if given.key_name else ()))
    return tuple(variable for variable in named if not workspace.environ.get(variable))


def build_mcp(
    workspace: Workspace,
    name: str,
    closing: AsyncExitStack,
    *,
    pins: Pins | None = None,
    timeout_seconds: float | None = None,
) -> McpSearch:
    """The server as a search; nothing is started yet. `pins` and the time limit take the place of its own."""
    check_mcp(workspace, name)
    short = name.partition(":")[2]
    given = workspace.settings.mcp_servers[short]
    server = McpServer(
        name=short,
        command=given.command,
        url=given.url,
        environ={name: workspace.environ[name] for name in given.environ if workspace.environ.get(name)},
        key=workspace.environ.get(given.key_name) if given.key_name else None,
        search_tool=given.search_tool,
        fetch_tool=given.fetch_tool,
        serves=frozenset(given.serves),
        timeout_seconds=given.timeout_seconds,
    )
    if timeout_seconds is not None:
        server = replace(server, timeout_seconds=min(timeout_seconds, server.timeout_seconds))
    return McpSearch(server, pins or HomePins(workspace.home), closing)
