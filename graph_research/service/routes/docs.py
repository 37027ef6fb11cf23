"""A page about the API, made of its OpenAPI document; nothing of it comes from elsewhere."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import cache
from itertools import zip_longest
from typing import Any
from urllib.parse import urlencode

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse
from jinja2 import Environment, PackageLoader, Template
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from graph_research.service.backend import FromBackend
from graph_research.service.untrusted.own_graphs import may_bring_graphs

router = APIRouter()
_POLICY = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"}
_IN_SHELL = {
    "job_id": "$job",
    "other_id": "$job",
    "response_id": "$response",
    "step": "1",
    "format": "md",
    "graph": "deep_research",
    "picture": "svg",
    "name": "tides.md",
}
"""What stands in an example for each parameter of a path."""
_ID_VARIABLES = {"submit_job": ("job", "paused"), "fork": ("fork",), "create_response": ("response",)}
"""Operations whose answers have ids that later examples name, and the variables for the ids, one for each example."""
_WAITING = {"go_on": "$paused", **dict.fromkeys(("get_plan", "put_plan", "add_wish", "step", "answer_job"), "$fork")}
"""Operations that a job has to await, and the job that does in their examples."""
_EVENTS = "/api/research/jobs/{}/events"
_ID = """python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])'"""


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> JSONResponse:
    """The OpenAPI document, at a route that the log and the metrics name: they do not know the framework's own."""
    return JSONResponse(request.app.openapi())


@router.get("/docs", include_in_schema=False)
async def docs(request: Request, backend: FromBackend) -> HTMLResponse:
    """Every route with its parameters, answers, and an example to paste."""
    document = request.app.openapi()
    address = str(request.base_url).rstrip("/")
    has_tokens, own_graphs = backend.users.need_tokens, may_bring_graphs(backend)
    groups: dict[str, list[dict[str, Any]]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            examples = _examples(
                document, address, path, method, operation, has_tokens=has_tokens, own_graphs=own_graphs
            )
            shown = {
                **operation,
                "method": method.upper(),
                "path": path,
                "examples": examples,
                "fields": _fields(document, operation),
                "answers": [
                    (status, _answer(status, answer)) for status, answer in sorted(operation["responses"].items())
                ],
            }
            groups.setdefault(operation["tags"][0], []).append(shown)
    schemas = dict(sorted(document["components"]["schemas"].items()))
    page = _template().render(info=document["info"], groups=groups, schemas=schemas, has_tokens=has_tokens)
    return HTMLResponse(page, headers=_POLICY)


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("graph_research.service", "pages"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    markdown = MarkdownIt("commonmark", {"html": False})
    environment.filters |= {"type": _type, "markdown": lambda text: Markup(markdown.render(text))}  # noqa: S704 -- escaped
    return environment.get_template("docs.html.j2")


def _fields(document: Mapping[str, Any], operation: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """What an operation takes, by the place where it stands: a heading, and an object's schema."""
    places: dict[str, dict[str, Any]] = {}
    for parameter in operation.get("parameters", ()):
        place = places.setdefault(f"In the {parameter['in']}", {"properties": {}, "required": []})
        place["properties"][parameter["name"]] = parameter["schema"]
        place["required"] += [parameter["name"]] if parameter["required"] else []
    bodies = operation.get("requestBody", {}).get("content", {}).values()
    named = [_named(document, body["schema"]) for body in bodies if "$ref" in body["schema"]]
    return [*places.items(), *(("In the body", schema) for schema in named)]


def _answer(status: str, response: Mapping[str, Any]) -> str:
    """What an answer holds; its description where it is an error, whose shape is always the same, or no JSON."""
    schemas = [body["schema"] for body in response.get("content", {}).values() if "$ref" in body.get("schema", {})]
    return _type(schemas[0]) if schemas and status < "4" else response["description"]


def _type(schema: Mapping[str, Any]) -> Markup:
    """The type of a value in words, with links to the schemas that have names."""
    if "$ref" in schema:
        return Markup('<a href="#{0}">{0}</a>').format(_name(schema))
    if "anyOf" in schema:
        return Markup(" or ").join(_type(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "enum" in schema:
        return Markup(", ").join(Markup("<code>{}</code>").format(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return Markup("list of {}").format(_type(schema.get("items", {})))
    return escape(schema.get("const") or schema.get("format") or schema.get("type", "any value"))


def _examples(
    document: Mapping[str, Any],
    address: str,
    path: str,
    method: str,
    operation: Mapping[str, Any],
    *,
    has_tokens: bool,
    own_graphs: bool,
) -> list[str]:
    """Command lines for the operation, one for each example of its body that the service takes; those of a page work
    one after another in one shell, and are not more submissions than a user has."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    bodies: list[Any] = [None] if schema is None else _named(document, schema)["examples"]
    if operation["operationId"] == "submit_job":
        bodies = [body for body in bodies if "pause_before" not in body or ("definition" in body) == own_graphs]
    lines = [_line(body, address, path, method, operation, has_tokens=has_tokens) for body in bodies]
    names = _ID_VARIABLES.get(operation["operationId"], ())
    return [f"{name}=$({line} | {_ID})" if name else line for line, name in zip_longest(lines, names)]


def _line(example: Any, address: str, path: str, method: str, operation: Mapping[str, Any], *, has_tokens: bool) -> str:
    """A command line that sends an `example` of a body, where the operation has one in JSON; where a job has to wait
    for it, behind one that ends when it does."""
    curl = 'curl -sS -H "Authorization: Bearer $TOKEN"' if has_tokens and operation.get("security") else "curl -sS"
    words, in_shell = [curl], _IN_SHELL
    if job := _WAITING.get(operation["operationId"]):
        words, in_shell = [f'{curl} -o /dev/null "{address}{_EVENTS.format(job)}"\n{curl}'], _IN_SHELL | {"job_id": job}
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        body = shlex.quote(orjson.dumps(example).decode())
        words += ["-H 'Content-Type: application/json'", f"-d {body}"]
        words += ["-X PUT"] if method == "put" else []
    elif content and method == "post":
        words.append("--data-binary @job.grb")
    elif content:
        words.append("-X PUT --data-binary 'High tide comes twice a day.'")
    elif operation["operationId"] == "get_bundle":
        words.append("-o job.grb")
    elif method != "get":
        words.append(f"-X {method.upper()}")
    where = path.format_map(in_shell) + _required_query(operation)
    words.append(f'"{address}{where}"' if "$" in where else shlex.quote(f"{address}{where}"))
    return " ".join(words)


def _required_query(operation: Mapping[str, Any]) -> str:
    """The query that an operation cannot do without, with the examples of its parameters."""
    needed = [row for row in operation.get("parameters", ()) if row["in"] == "query" and row["required"]]
    return "?" + urlencode({row["name"]: row["schema"]["examples"][0] for row in needed}) if needed else ""


def _named(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    named: Mapping[str, Any] = document["components"]["schemas"][_name(schema)]
    return named


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema["$ref"].rpartition("/")[2])
