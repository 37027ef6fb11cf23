"""The User-Agent header."""

from __future__ import annotations

from functools import cache
from importlib import metadata


def user_agent(contact: str | None = None) -> str:
    """`graph-research/VERSION`, with the user's mail address behind it where they gave one."""
    return f"graph-research/{_version()}" + (f" (mailto:{contact})" if contact else "")


@cache
def _version() -> str:
    """Read from the package metadata, once."""
    try:
        return metadata.version("graph-research")
    except metadata.PackageNotFoundError:
        return "0"
