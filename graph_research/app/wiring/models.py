"""Model specs become models: the spec taken apart, the key it may take, the window and the price it has."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from graph_research.providers.clients import Clients
from graph_research.providers.errors import KeyMissing, UnknownModel
from graph_research.providers.http.endpoint import Peer
from graph_research.providers.llm import anthropic, gemini, openai
from graph_research.providers.llm.base import Model
from graph_research.providers.llm.command_line import COMMANDS, Command, CommandModel, own_command
from graph_research.providers.llm.http_model import HttpModelConfig
from graph_research.providers.llm.model_data import Price, Prices, window_of
from graph_research.providers.llm.model_spec import CLI, ModelSpec, checked_model, parse_spec
from graph_research.providers.llm.scripted import ScriptedModel, ScriptInvalid
from graph_research.research.extractive.model import ExtractiveModel
from graph_research.research.services import ModelRouter
from graph_research.settings.config import Settings

__all__ = [
    "DEFAULTS",
    "EXTRACTIVE",
    "MODEL_KINDS",
    "build_model",
    "build_router",
    "default_models",
    "default_roles",
    "hosts_of",
    "prices_of",
    "why_default",
    "window_tokens",
]

EXTRACTIVE = "extractive"

MODEL_KINDS: Mapping[str, str] = {
    "extractive": "sentences selected word for word by code; no key, no network, no weights",
    "openai": "openai:MODEL with OPENAI_API_KEY, or openai:MODEL@URL for any server of that protocol: Ollama, vLLM, "
    "llama.cpp, OpenRouter, …",
    "anthropic": "anthropic:MODEL with ANTHROPIC_API_KEY",
    "gemini": "gemini:MODEL with GEMINI_API_KEY",
    "[cli]": "[cli]claude:MODEL, [cli]gemini:MODEL, [cli]codex:MODEL, or a command line of the setting `cli_commands`",
    "scripted": "scripted:FILE answers from a JSON file, for tests and your own graphs",
}
"""Every kind that can be built, and what it is."""

DEFAULTS: Mapping[str, tuple[str, str]] = {
    "ANTHROPIC_API_KEY": ("anthropic:claude-sonnet-5-5", "anthropic:claude-haiku-4-5"),
    "OPENAI_API_KEY": ("openai:gpt-5.4-mini", "openai:gpt-5.4-nano"),
    "GEMINI_API_KEY": ("gemini:gemini-3.7-flash", "gemini:gemini-3.1-flash-lite"),
}
"""By the key that is set, the first in this order: the model of every role, and the cheap one that summarizes. Names of
November 2026; `default_provider` and the roles' settings replace them."""

_URLS: Mapping[str, str] = {"openai": openai.OFFICIAL_URL, "anthropic": anthropic.URL, "gemini": gemini.URL}
_HOW = "write extractive, openai:MODEL, openai:MODEL@URL, anthropic:MODEL, gemini:MODEL or [cli]claude:MODEL"
_SECONDS, _OWN_SECONDS = 120.0, 600.0
"""Time limits of a call where the setting `model_timeout` says nothing: a model on one's own machine may be slow."""

_TRIES = 3


def default_models(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The models of a run that names none: those of the first key that is set, `extractive` without any."""
    key = _default_key(environ)
    return (DEFAULTS[key][0],) if key else (EXTRACTIVE,)


def why_default(environ: Mapping[str, str]) -> str | None:
    """Why a run that names no model asks one over the network; None where it asks none."""
    key = _default_key(environ)
    return (
        f"model {DEFAULTS[key][0]}, since {key} is set; --llm chooses another, --llm extractive none" if key else None
    )


def default_roles(environ: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The roles that have models of their own in a run that names none (requirement 15.1: a cheap one summarizes)."""
    key = _default_key(environ)
    return {"summarization": (DEFAULTS[key][1], DEFAULTS[key][0])} if key else {}


def build_router(models: Sequence[str], roles: Mapping[str, Sequence[str]], clients: Clients) -> ModelRouter:
    """The models behind each role; one spec is built once, however many roles name it.

    `UnknownModel`, `KeyMissing` and `CommandMissing` say which spec cannot be used and what it lacks.
    """
    if not models:
        raise UnknownModel("no model is named", help="use extractive, which needs no key, or scripted:FILE")
    of_roles = {
        spec: f"--role {role} or {role}_model" for role, specs in roles.items() for spec in specs if spec not in models
    }
    named = {**dict.fromkeys(models, "--llm or default_provider"), **of_roles}
    built = {spec: _named(option, spec, clients) for spec, option in named.items()}
    return ModelRouter(
        default=tuple(built[spec] for spec in models),
        roles={role: tuple(built[spec] for spec in specs) for role, specs in roles.items()},
    )


def _named(option: str, spec: str, clients: Clients) -> Model:
    """The model that an option or a setting names; an error about a file says which."""
    try:
        return build_model(spec, clients)
    except ScriptInvalid as error:
        error.message = f"{option}: {error.message}"
        raise


def build_model(spec: str, clients: Clients) -> Model:
    """The model that `spec` names. Nothing is asked of it yet."""
    parsed = parse_spec(spec)
    build = _BUILDERS.get(parsed.kind)
    if build is None or (parsed.kind == EXTRACTIVE and parsed.text != EXTRACTIVE):
        near = difflib.get_close_matches(parsed.kind, MODEL_KINDS, n=1)
        hint = f'did you mean "{near[0]}"? ' if near else ""
        raise UnknownModel(f"no model {spec[:80]!r}", help=hint + _HOW)
    return build(parsed, clients)


def window_tokens(spec: str, settings: Settings) -> int | None:
    """The window of the model that a spec names, as far as it can be known without asking it."""
    return _window(parse_spec(spec), settings)


def hosts_of(specs: Iterable[str]) -> set[str]:
    """The hosts that models of these specs are asked at; a spec that means nothing has none."""
    hosts = set()
    for text in specs:
        try:
            spec = parse_spec(text)
        except UnknownModel:
            continue
        hosts.add(urlsplit(spec.url or _URLS.get(spec.kind, "")).hostname or "")
    return hosts - {""}


def prices_of(settings: Settings) -> Prices:
    """What models cost, by the table and the user's own prices."""
    own = settings.model_price_overrides.items()
    return Prices({name: Price(**{str(rate): usd for rate, usd in rates.items()}) for name, rates in own})


def _default_key(environ: Mapping[str, str]) -> str | None:
    return next((name for name in DEFAULTS if environ.get(name)), None)


def _window(spec: ModelSpec, settings: Settings) -> int | None:
    return window_of(spec, settings.model_context_overrides, overhead_tokens=settings.runtime_overhead)


def _extractive(spec: ModelSpec, clients: Clients) -> Model:  # noqa: ARG001 -- one signature for all kinds
    return ExtractiveModel()


def _scripted(spec: ModelSpec, clients: Clients) -> Model:
    if not spec.model:
        raise UnknownModel(f"model {spec.text!r} names no file", help="write it as scripted:FILE")
    path = Path(spec.model)
    model = ScriptedModel.from_file(path, spec=f"scripted:{path.name}")
    model.window_tokens = _window(spec, clients.settings)
    return model


def _openai(spec: ModelSpec, clients: Clients) -> Model:
    official = spec.url is None or _is_official(spec.url)
    service = _service(
        spec,
        clients,
        url=openai.OFFICIAL_URL,
        key_name="OPENAI_API_KEY" if official else None,
        header=lambda key: {"Authorization": f"Bearer {key}"},
        reasons=official and openai.reasons(spec.model),
    )
    return openai.OpenAIModel(service, official=official)


def _anthropic(spec: ModelSpec, clients: Clients) -> Model:
    service = _service(
        spec,
        clients,
        url=anthropic.URL,
        key_name="ANTHROPIC_API_KEY" if spec.url is None else None,
        header=lambda key: {"x-api-key": key},
        reasons=anthropic.reasons(spec.model),
    )
    return anthropic.AnthropicModel(service)


def _gemini(spec: ModelSpec, clients: Clients) -> Model:
    service = _service(
        spec,
        clients,
        url=gemini.URL,
        key_name="GEMINI_API_KEY" if spec.url is None else None,
        header=lambda key: {"x-goog-api-key": key},
        reasons=gemini.reasons(spec.model),
    )
    return gemini.GeminiModel(service)


def _service(
    spec: ModelSpec,
    clients: Clients,
    *,
    url: str,
    key_name: str | None,
    header: Callable[[str], Mapping[str, str]],
    reasons: bool,
) -> HttpModelConfig:
    """What serves a spec: the provider itself at `url`, whose key `key_name` names; or a server of the user's own,
    which is given the key that they named for it."""
    model, own = checked_model(spec), key_name is None
    name = _own_key_name(spec.host, clients) if key_name is None else key_name
    key = _key(spec, name, clients)
    seconds = clients.settings.model_timeout or (_OWN_SECONDS if own else _SECONDS)
    peer = Peer(
        name=spec.host if own else spec.kind,
        base_url=spec.url or url,
        headers=header(key) if key else {},
        secrets=(key,) if key else (),
        attempts=_TRIES,
        timeout_seconds=seconds,
        budget_seconds=seconds * _TRIES,
        remedy=f"see `graph-research doctor` about {spec.kind}",
    )
    return HttpModelConfig(
        http=clients.http,
        peer=peer,
        spec=spec.text,
        model=model,
        window_tokens=_window(spec, clients.settings),
        effort=_effort(spec, clients, reasons=reasons),
        key_name=name,
    )


def _command(spec: ModelSpec, clients: Clients) -> Model:
    own = clients.settings.cli_commands
    key_name = clients.settings.model_keys.get(f"{CLI}{spec.command}", "")
    command: Command | None = COMMANDS.get(spec.command)
    if spec.command in own:
        command = own_command(own[spec.command], key_name)
    if command is None:
        known = ", ".join(sorted({*COMMANDS, *own}))
        raise UnknownModel(
            f"no command line {spec.command!r}", help=f"there are {known}; add yours with the setting `cli_commands`"
        )
    if command.wants_model != bool(spec.model):
        lacks = "names no model" if command.wants_model else "names a model that its command line has no {model} for"
        raise UnknownModel(f"model {spec.text!r} {lacks}", help=f"write it as [cli]{spec.command}:MODEL")
    return CommandModel(
        command,
        spec=spec.text,
        model=spec.model,
        environ=clients.environ,
        timeout_seconds=clients.settings.model_timeout or _OWN_SECONDS,
        window_tokens=_window(spec, clients.settings),
    )


_BUILDERS: Mapping[str, Callable[[ModelSpec, Clients], Model]] = {
    EXTRACTIVE: _extractive,
    "scripted": _scripted,
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    CLI: _command,
}


def _is_official(url: str) -> bool:
    """OpenAI's own address, written out; any other scheme, port or host is somebody else's."""
    parts, official = urlsplit(url), urlsplit(openai.OFFICIAL_URL)
    return (parts.scheme.lower(), parts.hostname, parts.port or 443) == (official.scheme, official.hostname, 443)


def _own_key_name(host: str, clients: Clients) -> str:
    """The variable that the user named for this host, with its port or without; empty where none is."""
    names = clients.settings.model_keys
    return names.get(host) or names.get(host.rpartition(":")[0] if ":" in host else host) or ""


def _key(spec: ModelSpec, name: str, clients: Clients) -> str | None:
    if not name:
        return None
    key = clients.key(name)
    if key is None:
        raise KeyMissing(
            f"model {spec.text!r} needs a key, and the variable {name} is not set",
            help=f"set {name}, or use extractive, which needs no key",
        )
    return key


def _effort(spec: ModelSpec, clients: Clients, *, reasons: bool) -> str | None:
    """The spec's own effort; else, for a model that is known to reason, the one of the settings."""
    return spec.options.get("effort") or (clients.settings.reasoning_effort if reasons else None)
