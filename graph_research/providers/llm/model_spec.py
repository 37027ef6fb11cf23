"""A model spec taken apart: which kind of provider, which model, at which address, with which options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from urllib.parse import urlsplit

from graph_research.providers.errors import UnknownModel
from graph_research.providers.http.host_names import is_local

CLI = "[cli]"
EXTRACTIVE = "extractive"
"""The built-in model, which needs neither key nor network."""
SCRIPTED = "scripted"
"""A model that answers from a file."""

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""The efforts of reasoning that one provider or another knows."""

_UNPARSED = (EXTRACTIVE, SCRIPTED)
"""The kinds whose spec holds neither options nor an address."""

_AT_URL = re.compile(r"@(?=https?://)", re.IGNORECASE)
_BARE_HOST = re.compile(r"@([\w.-]+:\d+|localhost\b|\d+(\.\d+){3})", re.IGNORECASE)
"""An address whose `http://` was left out; no model is named like that."""
_MODEL = re.compile(r"[A-Za-z0-9@][\w@.:/+~-]{0,199}")
_COMMAND = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """`KIND:MODEL[?effort=E][@URL]`, or `[cli]COMMAND[:MODEL]`. `text` is the spec as it was written.

    For the kind `[cli]`, `command` is the name of a command line and `model` may be empty.
    """

    text: str
    kind: str
    model: str
    url: str | None = None
    command: str = ""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def host(self) -> str:
        """`host` or `host:port` of the address in lower case, empty where the spec has none."""
        return urlsplit(self.url).netloc.lower() if self.url else ""

    @cached_property
    def local(self) -> bool:
        """Whether the address is one of this machine or of a private network."""
        return self.url is not None and is_local(urlsplit(self.url).hostname or "")


@lru_cache(maxsize=256)
def parse_spec(text: str) -> ModelSpec:
    """Take a spec apart, whatever its kind. `UnknownModel` says what is wrong with it and how it is written."""
    if text.startswith(CLI):
        return _command_spec(text)
    kind, _, rest = text.partition(":")
    if kind in _UNPARSED:
        return ModelSpec(text=text, kind=kind, model=rest)
    named, *addresses = _AT_URL.split(rest, maxsplit=1)
    model, mark, options = named.partition("?")
    if not addresses and _BARE_HOST.search(model):
        raise UnknownModel(f"the address in {_shown(text)} does not begin with http:// or https://", help=_ADDRESS_HELP)
    if addresses and not model:
        raise UnknownModel(f"model {_shown(text)} names no model before its address", help=f"write {kind}:MODEL@URL")
    return ModelSpec(
        text=text,
        kind=kind,
        model=model,
        url=_checked_url(addresses[0], text) if addresses else None,
        options=_options(options, text) if mark else {},
    )


def without_address(text: str) -> str:
    """A spec without its address, as it may be told to people who do not run the model's server."""
    return _AT_URL.split(text, maxsplit=1)[0]


def url_of(text: str) -> str:
    """The address of a spec, empty where it has none."""
    return "".join(_AT_URL.split(text, maxsplit=1)[1:])


def checked_model(spec: ModelSpec) -> str:
    """The name of the spec's model. `UnknownModel` where it names none, or one that no server could mean."""
    if not spec.model:
        raise UnknownModel(f"model {_shown(spec.text)} names no model", help=f"write it as {spec.kind}:MODEL")
    if not _MODEL.fullmatch(spec.model):
        raise UnknownModel(
            f"{spec.model[:80]!r} in {_shown(spec.text)} is not a valid model name",
            help="use letters, digits and . _ : / - as the provider writes it",
        )
    return spec.model


def _command_spec(text: str) -> ModelSpec:
    command, _, model = text.removeprefix(CLI).partition(":")
    if not _COMMAND.fullmatch(command):
        raise UnknownModel(
            f"model {_shown(text)} names no command line",
            help="write it as [cli]claude:haiku, [cli]gemini:flash or [cli]codex:MODEL, or name one of `cli_commands`",
        )
    spec = ModelSpec(text=text, kind=CLI, model=model, command=command)
    if model:
        checked_model(spec)
    return spec


def _checked_url(url: str, text: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UnknownModel(f"the address in {_shown(text)} is not valid: {error}", help=_ADDRESS_HELP) from error
    if not parts.hostname or port == 0:
        raise UnknownModel(f"the address in {_shown(text)} has no host", help=_ADDRESS_HELP)
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise UnknownModel(
            f"the address at {parts.hostname} carries more than a host and a path",
            help="specs are stored with the run: put the key into a variable of the environment and name it for the "
            "host in the setting `model_keys`",
        )
    return url.rstrip("/")


_ADDRESS_HELP = "write it as openai:MODEL@http://127.0.0.1:8080/v1"


def _options(text: str, spec: str) -> dict[str, str]:
    options = dict(part.partition("=")[::2] for part in text.split("&"))
    for name, value in options.items():
        if name != "effort":
            raise UnknownModel(f"model {_shown(spec)} has no option {name[:40]!r}", help="the option is effort=low")
        if value not in EFFORTS:
            raise UnknownModel(
                f"effort {value[:40]!r} in {_shown(spec)} is not known", help=f"use {', '.join(EFFORTS)}"
            )
    return options


def _shown(text: str) -> str:
    """A spec as it may be shown: what could be a password in its address is left out."""
    hidden = re.sub(r"//[^/@\s]*@", "//…@", text)
    return repr(hidden if len(hidden) <= 80 else hidden[:77] + "...")
