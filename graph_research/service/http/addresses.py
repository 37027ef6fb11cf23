"""Addresses of the operator's own servers, which runs note and no user is told: labels in what the service answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph_research.app.labels import json_labels, labelled
from graph_research.providers.http.host_names import is_local, is_loopback
from graph_research.settings.config import Settings

_URL = re.compile(r"https?://[^\s\"',\\]+", re.IGNORECASE)
_TEXTS = ("application/json", "application/problem+json", "text/event-stream")
"""The media types of answers that hold what a run notes; reports for people name no address of a model."""


def labels_of(settings: Settings) -> Mapping[str, str]:
    """What stands for the addresses in the settings, but those of the machine itself, which tell nothing. The host of
    one is a secret by itself where it is of a private network or has a port; any other may be that of a page, too, and
    only a model's name with it is changed."""
    labels: dict[str, str] = {}
    urls = dict.fromkeys(_URL.findall(settings.model_dump_json()))
    for number, url in enumerate(urls, 1):
        parts, label = urlsplit(url), f"server-{number}.invalid"
        if is_loopback(parts.hostname or ""):
            continue
        labels[f"@{url}"] = f"@{parts.scheme}://{label}"
        if is_local(parts.hostname or "") or ":" in parts.netloc:
            labels[parts.netloc] = label
    return labels


class HiddenAddresses:
    """ASGI middleware: replaces what `labels` name in answers of JSON, and in each piece of a stream of events."""

    def __init__(self, app: ASGIApp, *, labels: Mapping[str, str]) -> None:
        self._app = app
        self._labels = json_labels(labels)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._labels:
            await self._app(scope, receive, send)
            return
        head: Message | None = None
        is_text = False

        async def hidden(message: Message) -> None:
            nonlocal head, is_text
            if message["type"] == "http.response.start":
                is_text = Headers(raw=message["headers"]).get("content-type", "").startswith(_TEXTS)
                if is_text:
                    head = message  # until the length of its first piece is known
                    return
            elif is_text:
                message = {**message, "body": labelled(message.get("body", b""), self._labels)}
                if head is not None:
                    await send(_with_length(head, len(message["body"])))
                    head = None
            await send(message)

        await self._app(scope, receive, hidden)


def _with_length(head: Message, length: int) -> Message:
    """The head of an answer, with its length where it states one."""
    headers = MutableHeaders(raw=list(head["headers"]))
    if "content-length" in headers:
        headers["content-length"] = str(length)
    return {**head, "headers": headers.raw}
