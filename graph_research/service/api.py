"""The application: routes, middleware and errors put together."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import FastAPI

from graph_research.service.backend import Backend
from graph_research.service.http.addresses import HiddenAddresses, labels_of
from graph_research.service.http.guard import RequestGuard
from graph_research.service.http.openapi import describe
from graph_research.service.http.problems import answer_with_problems
from graph_research.service.metrics import RequestLog
from graph_research.service.openai import routes as openai
from graph_research.service.routes import (
    bundles,
    control,
    deletion,
    docs,
    events,
    health,
    history,
    jobs,
    library,
    lookups,
    page,
    reports,
    revisions,
    steering,
)
from graph_research.service.untrusted.checking import MOST_BUNDLE_BYTES
from graph_research.service.uploads import MOST_BYTES

_MOST_JSON_BYTES = 1_000_000
_TAGS = ("jobs", "reports", "revisions", "history", "bundles", "control", "library", "lookups", "openai", "deletion")
"""The order of the groups in the page about the API: what removes a job comes behind what needs one."""


_GROUPS = (
    jobs,
    events,
    reports,
    revisions,
    history,
    bundles,
    steering,
    control,
    library,
    lookups,
    openai,
    deletion,
    health,
    docs,
    page,
)


def create_api(backend: Backend) -> FastAPI:
    """The service over a backend that is open as long as requests come."""
    api = FastAPI(
        generate_unique_id_function=lambda route: route.name,
        title="graph-research",
        summary="Deep research whose citations are proved.",
        version=version("graph-research"),
        openapi_tags=[{"name": name} for name in _TAGS],
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    api.state.backend = backend
    for group in _GROUPS:
        api.include_router(group.router)
    answer_with_problems(api)
    api.add_middleware(RequestGuard, is_open=not backend.users.need_tokens, most_bytes=_most_bytes)
    api.add_middleware(HiddenAddresses, labels=labels_of(backend.app.workspace.settings))
    api.add_middleware(
        RequestLog, metrics=backend.metrics, routes=[route for group in _GROUPS for route in group.router.routes]
    )
    describe(api)
    return api


def _most_bytes(path: str) -> int:
    if path == bundles.PATH:
        return MOST_BUNDLE_BYTES
    return MOST_BYTES if path.startswith(library.PREFIX) else _MOST_JSON_BYTES
