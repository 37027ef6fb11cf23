"""What is looked up beside jobs: what the operator offers, passages of documents, and what they say to a report."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from graph_research.app.check import check_report
from graph_research.app.graphs import GraphFormat
from graph_research.app.graphs.render import draw
from graph_research.app.library import search_passages
from graph_research.research.audit.formats import html, markdown
from graph_research.research.audit.model import Audit
from graph_research.service.backend import FromBackend, FromUser
from graph_research.service.http.problems import problems
from graph_research.service.libraries import naming_folders, require_library, without_folders
from graph_research.service.models import Name
from graph_research.service.rate_limit import count_within_limit
from graph_research.service.report_models import (
    AuditFormat,
    AuditRequest,
    Drawing,
    GraphCheck,
    GraphDefinition,
    Options,
    PassageList,
)
from graph_research.service.submission import (
    chosen_models,
    chosen_roles,
    options_of,
    require_offered,
    with_settings,
)
from graph_research.service.untrusted.checking import check_graph
from graph_research.service.uploads import Uploads

router = APIRouter(tags=["lookups"])
_MOST_CHARS = 5_000
Searched = Annotated[
    str,
    Query(min_length=1, max_length=_MOST_CHARS, examples=["high tide"], description="What the passages are about"),
]
Libraries = Annotated[list[Name] | None, Query(max_length=20, description="As in a submission; all without it")]
Written = Annotated[AuditFormat, Query(description="As JSON, as Markdown, or as a page to read")]
Most = Annotated[int, Query(ge=1, le=100, description="Passages at most")]
_PICTURES = {
    Drawing.SVG: "image/svg+xml",
    Drawing.HTML: "text/html",
    Drawing.JSON: "application/json",
    Drawing.MERMAID: "text/plain",
    Drawing.DOT: "text/vnd.graphviz",
}
_FILES: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file", "content": {media_type: {"schema": {}} for media_type in _PICTURES.values()}}
}
_WRITTEN = {AuditFormat.MARKDOWN: ("text/markdown", markdown), AuditFormat.HTML: ("text/html", html)}
_TEXTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {media_type: {"schema": {"type": "string"}} for media_type, _ in _WRITTEN.values()}}
}
_SANDBOX = {"Content-Security-Policy": "sandbox allow-scripts"}


@router.get("/api/research/options", responses=problems(401))
async def get_options(backend: FromBackend, user: FromUser) -> Options:
    """What a submission may name."""
    return options_of(backend, user.name)


@router.get("/api/research/graphs/{graph}.{picture}", response_class=Response, responses=problems(401, 422) | _FILES)
async def get_definition(
    graph: str,
    picture: Drawing,
    backend: FromBackend,
    user: FromUser,  # noqa: ARG001 -- only a user may look
) -> Response:
    """A graph that the operator offers, as a picture, a page or JSON."""
    require_offered(backend.app.workspace, graph)
    drawn, _ = await draw(backend.app.workspace, graph, GraphFormat(picture.value))
    return Response(drawn, media_type=_PICTURES[picture], headers=_SANDBOX)


@router.post("/api/research/graphs/check", responses=problems(401, 413, 422))
async def check_definition(wanted: GraphDefinition, backend: FromBackend, user: FromUser) -> GraphCheck:
    """What is wrong with a graph of one's own, and its picture. It is not run here, and may name what is shipped."""
    picture = "" if wanted.picture is None else wanted.picture.value
    return GraphCheck.of(await backend.turns.work(user.name, partial(check_graph, wanted.definition, picture)))


@router.get("/api/library/passages", responses=problems(401, 422))
async def find_passages(
    text: Searched, backend: FromBackend, user: FromUser, library: Libraries = None, limit: Most = 10
) -> PassageList:
    """The best passages of the documents that the user may search, best first."""
    workspace = backend.app.workspace
    folders = require_library(workspace, user.name, library)
    searched = with_settings(workspace, {"library": tuple(map(str, folders))})
    with naming_folders(workspace, user.name):
        found = await backend.turns.work(user.name, partial(search_passages, searched, text, most=limit))
    return PassageList(passages=found)


@router.post("/api/library/audits", response_model=Audit, responses=problems(401, 404, 413, 422, 429) | _TEXTS)
async def audit(
    wanted: AuditRequest, backend: FromBackend, user: FromUser, response: Response, format: Written = AuditFormat.JSON
) -> Audit | Response:
    """Compare each sentence of a document, which may be anyone's report, with those of a library: supported,
    contradicted, unclear or not found, with the best passage. Counts as a submission."""
    workspace = backend.app.workspace
    document = await Uploads(workspace, user.name).get(wanted.document)
    names = [wanted.library] if isinstance(wanted.library, str) else wanted.library
    folders = require_library(workspace, user.name, names)
    file = workspace.home.user_library(user.name) / document.name
    workspace = with_settings(workspace, {"default_provider": chosen_models(workspace, wanted.model)})
    roles = chosen_roles(workspace, wanted.roles)
    quota = (await count_within_limit(backend.jobs, user.name)).headers()
    with naming_folders(workspace, user.name):
        audited = partial(check_report, workspace, file, folders, roles=roles)
        found = await backend.turns.work(user.name, audited)
    unread = [without_folders(workspace, user.name, line) for line in found.unread]
    named = found.model_copy(update={"file": document.name, "run_id": "", "unread": unread})
    if format is AuditFormat.JSON:
        response.headers.update(quota)
        return named
    media_type, write = _WRITTEN[format]
    return Response(write(named), media_type=media_type, headers={**_SANDBOX, **quota})
