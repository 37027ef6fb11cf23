"""Runs that came in a bundle: what they would ask was chosen by somebody else, so that the user agrees first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from graph_research.app.request import RunRequest
from graph_research.errors import Action, Hint, UserMistake
from graph_research.graph.checkpoint.records import RunRecord
from graph_research.providers.clients import Clients
from graph_research.providers.errors import ProviderRefused
from graph_research.providers.llm.model_spec import EXTRACTIVE, SCRIPTED
from graph_research.providers.search.base import LOCAL
from graph_research.providers.web.page_cache import KeptPages
from graph_research.providers.web.page_reader import Page

IMPORTED = "imported"
"""The mark in a run's metadata. An import sets it, whatever the bundle says, and forks inherit it."""
FOLLOW_UP_OF = "follow_up_of"
"""The key of a research's run id in the metadata of a run that answers a further question to it. An import removes it,
so that no run of somebody else's answers for a research."""

_INSIDE = (EXTRACTIVE, LOCAL, SCRIPTED)
"""The kinds of models and searches that reach nothing beyond this machine."""


class ForeignRun(UserMistake):
    """A run of somebody else's would send texts to models and searches that they chose."""


def is_foreign(record: RunRecord) -> bool:
    """Whether the run, or one that it was forked from, came in a bundle."""
    return bool(record.metadata.get(IMPORTED))


def imported_metadata(metadata: Mapping[str, object]) -> dict[str, object]:
    """The metadata of a run that came in a bundle, without what only this program may say of it."""
    return {name: value for name, value in metadata.items() if name != FOLLOW_UP_OF} | {IMPORTED: True}


def inherited(record: RunRecord) -> dict[str, object]:
    """What the metadata of a fork takes over from its parent beside the request."""
    return {IMPORTED: True} if is_foreign(record) else {}


def refuse_foreign(record: RunRecord, request: RunRequest) -> None:
    """Raise `ForeignRun` where an imported run names models outside of this process, or searches beyond the library:
    those of the web, and the user's own servers; and where it brings its graph."""
    if not is_foreign(record):
        return
    models = _outside({*request.models, *(spec for models in request.roles.values() for spec in models)})
    searches = _outside(request.search)
    would = ["run a graph that came with it"] if request.definition is not None else []
    would += [f"ask {', '.join(models)[:300]}"] if models else []
    would += [f"search {', '.join(searches)[:300]} and read the pages found there"] if searches else []
    if would:
        folders = f", with documents of {', '.join(request.library)}" if request.library else ""
        raise ForeignRun(
            f"run {record.run_id} came in a bundle and would {' and '.join(would)}{folders}",
            help="if that is what you want, accept it",
            hint=Hint(Action.RESUME_RUN, record.run_id, {"accept_changes": True}),
        )


def _outside(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.partition(":")[0] not in _INSIDE)


def without_pages(clients: Clients) -> Clients:
    """The clients of a run that the user has not agreed to: the pages that its journal names are not read."""
    return replace(clients, pages=KeptPages(_NoPages()))


class _NoPages:
    async def read(self, url: str) -> Page:
        raise ProviderRefused(
            f"{url[:200]} is not read, since the run came in a bundle",
            provider="fetch",
            help="accept what the run does to read pages",
        )
