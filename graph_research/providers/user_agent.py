"""Who asks, as servers are told."""

from __future__ import annotations

from importlib import metadata

__all__ = ["user_agent"]


def user_agent(contact: str | None = None) -> str:
    """`graph-research/VERSION`, with the user's mail address behind it where they gave one."""
    try:
        version = metadata.version("graph-research")
    except metadata.PackageNotFoundError:
        version = "0"
    return f"graph-research/{version}" + (f" (mailto:{contact})" if contact else "")
