"""A user's own documents: uploaded and listed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request, Response

from graph_research.service.backend import FromBackend, FromUser
from graph_research.service.http.problems import problems
from graph_research.service.models import DocumentList, DocumentResource
from graph_research.service.uploads import Document, Uploads

PREFIX = "/api/library/documents"
router = APIRouter(prefix=PREFIX, tags=["library"])
_BYTES = {"schema": {"type": "string", "format": "binary"}}
_BODY: dict[str, Any] = {"requestBody": {"required": True, "content": {"application/octet-stream": _BYTES}}}


@router.get("", responses=problems(401))
async def list_documents(backend: FromBackend, user: FromUser) -> DocumentList:
    """The user's documents, by name."""
    documents = await Uploads(backend.app.workspace, user.name).documents()
    return DocumentList(documents=[*map(_resource, documents)])


@router.put(
    "/{name}",
    status_code=201,
    openapi_extra=_BODY,
    responses={200: {"model": DocumentResource, "description": "Replaced"}, **problems(401, 413, 422)},
)
async def put_document(
    name: str, request: Request, backend: FromBackend, user: FromUser, response: Response
) -> DocumentResource:
    """Upload a document, the body as it is, in the place of one of the same name. Its format goes by the name. It is
    read when a job searches it."""
    document, is_new = await Uploads(backend.app.workspace, user.name).put(name, request.stream())
    response.status_code = 201 if is_new else 200
    return _resource(document)


@router.get("/{name}", responses=problems(401, 404, 422))
async def get_document(name: str, backend: FromBackend, user: FromUser) -> DocumentResource:
    """A document of the user's, without its text."""
    return _resource(await Uploads(backend.app.workspace, user.name).get(name))


def _resource(document: Document) -> DocumentResource:
    return DocumentResource(**asdict(document))
