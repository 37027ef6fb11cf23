"""Opening the workspace of a command: data home, settings, and the working directory once the user trusts it."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from graph_research.cli.display.output import in_line, say
from graph_research.errors import Action, Hint

if TYPE_CHECKING:
    from graph_research.app.workspace import Workspace
    from graph_research.settings.trust import FolderOffer

_SHOWN_FILES = 8


def open_here(options: Mapping[str, Any] | None = None, *, reads_only: bool = False) -> Workspace:
    """The workspace of the working directory; a command that `reads_only` works with a data home that cannot be
    written, too. Asks on a terminal whether the folder's own files may be used; elsewhere they replace nothing, and
    a line on standard error says how to agree."""
    from graph_research.app.workspace import open_workspace

    return open_workspace(os.environ, Path.cwd(), may_use=_ask_or_leave_out, options=options, reads_only=reads_only)


def open_with(
    *,
    llm: Sequence[str] | None,
    search: Sequence[str] | None,
    library: Sequence[str] | None,
    timeout: float | None,
    max_iterations: int | None = None,
    max_sub_queries: int | None = None,
    source_rules: Sequence[str] | None = None,
    **settings: str | Sequence[str] | None,
) -> Workspace:
    """The workspace of the working directory for a new run, with what its options say in place of the settings;
    `settings` are those that an option sets as they are called, `source_rules` more of them, as `RULE=VALUE`."""
    options = {
        **settings,
        **_rules_of(source_rules or (), {name for name, value in settings.items() if value}),
        "default_provider": llm or None,
        "search_providers": ",".join(search) if search else None,
        "library": library or None,
        "max_iterations": max_iterations,
        "max_sub_queries": max_sub_queries,
        "task_timeout": timeout,
    }
    return open_here(options)


def _rules_of(texts: Sequence[str], given: Collection[str]) -> dict[str, str]:
    """Several values of one rule are joined with commas; one that is `given` by its own option is refused."""
    from graph_research.app.request import RequestInvalid, rule_settings

    rules: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value:
            hint = Hint(Action.SET_OPTION, options={"source_rules": ""})
            raise RequestInvalid(f"{text[:80]!r} is not RULE=VALUE", help="such as licences=cc-by,cc0", hint=hint)
        if name in given:
            raise RequestInvalid(f"{name} is given by --source-rule and by its own option", help="give one of them")
        rules[name] = f"{rules[name]},{value}" if name in rules else value
    return rule_settings(rules)


def describe_offer(offer: FolderOffer) -> str:
    """The files that are asked about, a few of them by name."""
    shown = ", ".join(in_line(name) for name in offer.files[:_SHOWN_FILES])
    more = len(offer.files) - _SHOWN_FILES
    return f"{shown} and {more} more" if more > 0 else shown


def _used_for(offer: FolderOffer) -> str:
    """What an offer serves before the user agreed to it."""
    if offer.settings_file is not None and len(offer.files) == 1:
        return "not used"
    return "only used by graph files in this folder that you name; never overrides other files"


def _ask_or_leave_out(offer: FolderOffer) -> bool | None:
    what = f"{in_line(offer.folder)} brings its own {describe_offer(offer)}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"graph-research: {what}; {_used_for(offer)}. If you trust it: graph-research config trust")
        return None
    sys.stderr.write(f"{what}.\nThey can change what is asked of a model and of searches. Use them? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() in {"y", "yes"}:
        return True
    say("graph-research: not used, not by graph files of this folder either; to use them: graph-research config trust")
    return False


_T = TypeVar("_T")


def wait_for(work: Coroutine[Any, Any, _T]) -> _T:
    """Run to the end in an event loop of its own."""
    import asyncio

    return asyncio.run(work)
