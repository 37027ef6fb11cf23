"""What a run begins with: the models and searches it uses, why these, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from graph_research.app.request import RunRequest
from graph_research.app.workspace import Workspace
from graph_research.cli.display.output import in_line, say
from graph_research.providers.llm.catalog import why_default
from graph_research.providers.llm.model_spec import EXTRACTIVE


def say_providers(workspace: Workspace, request: RunRequest, *, new: bool = True) -> None:
    """Say the `provider_lines`."""
    for line in provider_lines(workspace, request, new=new):
        say(line)


def provider_lines(workspace: Workspace, request: RunRequest, *, new: bool = True) -> list[str]:
    """The models by role and the searches of a run; of any other graph only what is not there by itself. Of a `new` one
    also why these, where they were not chosen."""
    research = request.question is not None
    lines = []
    if research or set(request.models) != {EXTRACTIVE} or request.roles:
        lines += _models(workspace, request, new=new)
    if research or request.skipped:
        lines += _searches(workspace, request, new=new)
    return lines


def _models(workspace: Workspace, request: RunRequest, *, new: bool) -> list[str]:
    why = why_default(workspace.environ) if new and not workspace.settings.default_provider else None
    said = [f"{why}; --llm chooses another, --llm extractive none"] if why else []
    return [*said, f"models: {'; '.join([_in_order(request.models), *_own_models(request)])}"]


def _searches(workspace: Workspace, request: RunRequest, *, new: bool) -> list[str]:
    lines = []
    if request.search:
        chosen = not new or workspace.settings.search_providers or request.library
        why = "" if chosen else " (those with documents and with their keys set; --search chooses others)"
        lines.append(f"searches: {', '.join(map(in_line, request.search))}{why}")
    if request.skipped:
        lines.append(f"searches left out: {'; '.join(request.skipped)}")
    return lines


def _own_models(request: RunRequest) -> list[str]:
    """The roles with models of their own, those of the same models together."""
    roles: dict[Sequence[str], list[str]] = {}
    for role, specs in request.roles.items():
        if tuple(specs) != tuple(request.models):
            roles.setdefault(tuple(specs), []).append(role)
    return [f"{' and '.join(names)}: {_in_order(specs)}" for specs, names in roles.items()]


def _in_order(specs: Sequence[str]) -> str:
    return ", else ".join(map(in_line, specs))
