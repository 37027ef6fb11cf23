"""The OpenAPI document of the service."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from graph_research.service.http.problems import TITLES, Problem

_TEMPLATE = "#/components/schemas/{model}"


def describe(api: FastAPI) -> None:
    """Let the document have what the framework does not write: the schema of problems in place of its own errors, and
    the answer to a body of another type where JSON is read."""

    def document() -> dict[str, Any]:
        if api.openapi_schema is None:
            api.openapi_schema = _document(api)
        return api.openapi_schema

    api.openapi = document  # type: ignore[method-assign]  # -- how FastAPI lets it be replaced


def _document(api: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=api.title, summary=api.summary, version=api.version, routes=api.routes, tags=api.openapi_tags
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    problem = Problem.model_json_schema(ref_template=_TEMPLATE)
    schemas |= problem.pop("$defs", {})
    schemas["Problem"] = problem
    for operation in (each for path in document["paths"].values() for each in path.values()):
        if "application/json" in operation.get("requestBody", {}).get("content", ()):
            answers = operation["responses"]
            answers["415"] = {**answers["413"], "description": TITLES[415]}
    return document
