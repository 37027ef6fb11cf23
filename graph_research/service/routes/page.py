"""The page for people: questions, jobs, reports and documents in a browser, over the API. The page itself needs no
token: it holds nothing of any user, and asks for the token that its requests need. Where users have none, the address
with a one-time token lets its browser ask."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from graph_research.service.backend import FromBackend

router = APIRouter(include_in_schema=False)
_POLICY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
}


@router.get("/")
async def page(request: Request, backend: FromBackend, token: str | None = None) -> Response:
    """The page, after a token has been exchanged."""
    if backend.page is not None and token is not None:
        opened = RedirectResponse("/", status_code=303)
        if not backend.page.is_open_in(request):
            opened.headers["Set-Cookie"] = backend.page.exchange(token)
        return opened
    return Response(_file("index.html"), media_type="text/html", headers=_POLICY)


@router.get("/page.js")
async def script() -> Response:
    """Its script."""
    return Response(_file("page.js"), media_type="text/javascript")


@cache
def _file(name: str) -> bytes:
    return files("graph_research.service").joinpath("pages", name).read_bytes()
