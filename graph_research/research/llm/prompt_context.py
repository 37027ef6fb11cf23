"""What every prompt says of its circumstances: today's date, the language to write in, and who will read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_research.graph.context import Context
from graph_research.text.language.tags import language_name


def prompt_context(options: Mapping[str, Any] | None, ctx: Context) -> dict[str, Any]:
    """`today`, `language` and `audience` for `_partials/context`; the last two are None where the user named none.
    `options` are the run's `report_options`."""
    wished = options or {}
    tag = wished.get("language")
    return {
        "today": ctx.now().date().isoformat(),
        "language": language_name(tag) if tag else None,
        "audience": wished.get("audience"),
    }
