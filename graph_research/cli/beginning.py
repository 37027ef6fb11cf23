"""What a run begins with: the models and searches it uses, why these, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.app.models import EXTRACTIVE, why_default
from graph_research.app.request import GraphRequest, ResearchRequest
from graph_research.app.workspace import Workspace
from graph_research.cli.output import in_line, say

__all__ = ["say_providers"]


def say_providers(workspace: Workspace, request: ResearchRequest | GraphRequest) -> None:
    """The models by role and the searches of a new run; of any other graph only what is not there by itself."""
    research = isinstance(request, ResearchRequest)
    if research or set(request.models) != {EXTRACTIVE} or request.roles:
        _say_models(workspace, request)
    if research or request.skipped:
        _say_searches(workspace, request)


def _say_models(workspace: Workspace, request: ResearchRequest | GraphRequest) -> None:
    """The models by role, and why these where nobody chose them."""
    if not workspace.settings.default_provider and (why := why_default(workspace.environ)):
        say(why)
    say(f"models: {'; '.join([_in_order(request.models), *_own_models(request)])}")


def _say_searches(workspace: Workspace, request: ResearchRequest | GraphRequest) -> None:
    """The searches, and why these where nobody chose them; and what is left out."""
    if request.search:
        chosen = workspace.settings.search_providers or request.library
        why = "" if chosen else " (what has documents or its key; --search chooses others)"
        say(f"searches: {', '.join(map(in_line, request.search))}{why}")
    if request.skipped:
        say(f"searches left out: {'; '.join(request.skipped)}")


def _own_models(request: ResearchRequest | GraphRequest) -> list[str]:
    """The roles with models of their own, those of the same models together."""
    roles: dict[Sequence[str], list[str]] = {}
    for role, specs in request.roles.items():
        if tuple(specs) != tuple(request.models):
            roles.setdefault(tuple(specs), []).append(role)
    return [f"{' and '.join(names)}: {_in_order(specs)}" for specs, names in roles.items()]


def _in_order(specs: Sequence[str]) -> str:
    return ", else ".join(map(in_line, specs))
