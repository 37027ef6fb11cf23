"""Runs that came in a bundle: what they would ask was chosen by somebody else, so that the user agrees first."""

from __future__ import annotations

from graph_research.app.models import hosts_of
from graph_research.app.request import GraphRequest, ResearchRequest
from graph_research.errors import UserMistake
from graph_research.graph.checkpoint.base import RunRecord

__all__ = ["IMPORTED", "ForeignRun", "refuse_foreign"]

IMPORTED = "imported"
"""The mark in a run's metadata."""


class ForeignRun(UserMistake):
    """A run of somebody else's would send texts to models that they chose."""

    code = "foreign-run"


def refuse_foreign(record: RunRecord, request: ResearchRequest | GraphRequest) -> None:
    """Raise `ForeignRun` where an imported run names models outside of this process."""
    if not record.metadata.get(IMPORTED):
        return
    specs = {*request.models, *(spec for models in request.roles.values() for spec in models)}
    outside = sorted(spec for spec in specs if hosts_of([spec]) or spec.startswith("["))
    if outside:
        folders = f", with documents of {', '.join(request.library)}" if request.library else ""
        raise ForeignRun(
            f"run {record.run_id} came in a bundle and would ask {', '.join(outside)[:300]}{folders}",
            help=f"if that is what you want: graph-research resume {record.run_id} --accept-changes",
        )
