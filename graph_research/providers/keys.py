"""The keys of all providers. They come from the environment alone and are never stored or shown."""

from __future__ import annotations

from collections.abc import Mapping

from graph_research.providers.llm.catalog import HOSTINGS
from graph_research.providers.search.catalog import SEARCHES

KEYS: Mapping[str, str] = {
    **{hosting.key: f"models `{kind}:MODEL`" for kind, hosting in HOSTINGS.items()},
    **SEARCHES.key_purposes,
}
"""The variables of the environment that hold a key, and what each key adds."""


def keys_present(environ: Mapping[str, str]) -> dict[str, bool]:
    """Which keys are set; their values are not returned."""
    return {name: bool(environ.get(name)) for name in KEYS}
