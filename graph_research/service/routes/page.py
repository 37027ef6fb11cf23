"""The page for people: questions, jobs, reports and documents in a browser, over the API. The page itself needs no
token: it holds nothing of any user, and asks for the token that its requests need. Where users have none, the address
with a one-time token lets its browser ask."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from graph_research.service.backend import FromBackend

router = APIRouter(include_in_schema=False)
_POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}
_PARTS = {
    "page.css": "text/css",
    "page.js": "text/javascript",
    "jobs.js": "text/javascript",
    "requests.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
"""What the page loads, with the media types."""


@router.get("/")
async def page(request: Request, backend: FromBackend, token: str | None = None) -> Response:
    """The page, after a token has been exchanged."""
    if backend.page is not None and token is not None:
        opened = RedirectResponse("/", status_code=303)
        if not backend.page.is_open_in(request):
            opened.headers["Set-Cookie"] = backend.page.exchange(token)
        return opened
    return Response(_file("index.html"), media_type="text/html", headers=_POLICY)


@router.get("/pages/{name}")
async def part(name: str) -> Response:
    """Its style, scripts and icon."""
    if name not in _PARTS:
        raise HTTPException(404)
    return Response(_file(name), media_type=_PARTS[name])


@cache
def _file(name: str) -> bytes:
    return files("graph_research.service").joinpath("pages", name).read_bytes()
