"""Every provider of models and searches: whether it is set up, whether anybody answers there, and what it lacks."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from enum import StrEnum

from graph_research.app.wiring.mcp_servers import build_mcp, check_mcp, mcp_names, unset_of_mcp
from graph_research.app.wiring.models import MODELS
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake, suggestion
from graph_research.providers.clients import Clients
from graph_research.providers.errors import NoProvider, ProviderError, ProviderRefused, UnknownModel
from graph_research.providers.http.health_check import PROBE_SECONDS, HealthResult, check_health
from graph_research.providers.keys import KEYS
from graph_research.providers.llm.catalog import HOSTINGS
from graph_research.providers.llm.command_line import COMMANDS
from graph_research.providers.llm.model_spec import CLI, EXTRACTIVE, parse_spec
from graph_research.providers.search.base import MCP
from graph_research.providers.search.mcp.pins import HomePins
from graph_research.providers.search.mcp.search import load_client as load_mcp_client
from graph_research.providers.search.spec import SearchSpec

HealthCheck = Callable[[Clients], Awaitable[HealthResult]]


class ProviderKind(StrEnum):
    """What a provider serves."""

    MODEL = "model"
    SEARCH = "search"


@dataclass(frozen=True, kw_only=True)
class Provider:
    """A provider as it is set up. `lacks` is what it cannot be used without, such as `TAVILY_API_KEY is not set`;
    `adds` what that, or a key it does without, would add. `check` is None where there is no server."""

    name: str
    kind: ProviderKind
    lacks: tuple[str, ...] = ()
    adds: str = ""
    text: str = ""
    check: HealthCheck | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class ProviderHealth:
    """A provider and the result of its check, None where it was not checked."""

    provider: Provider
    result: HealthResult | None = None

    @property
    def works(self) -> bool:
        """Whether a run could use it; a provider that was not asked counts as answering."""
        answers = self.result is None or (self.result.reachable and not self.result.refused)
        return answers and not self.provider.lacks


def providers_of(workspace: Workspace, specs: Sequence[str]) -> list[Provider]:
    """Every provider there is: models, of which `specs` are those in use, then searches."""
    return [
        *_models(workspace, specs),
        *(_search(workspace, spec) for spec in workspace.searches.specs),
        *(_mcp(workspace, name) for name in mcp_names(workspace)),
    ]


def with_names(workspace: Workspace, names: Sequence[str], known: Sequence[Provider]) -> list[Provider]:
    """The providers that are named; beside the `known` ones, any model by its spec. `NoProvider` for a name of none."""
    by_name = {provider.name: provider for provider in known}
    return [by_name[name] if name in by_name else _other(workspace, name, list(by_name)) for name in names]


async def check_providers(providers: Sequence[Provider], clients: Clients, *, network: bool) -> list[ProviderHealth]:
    """Check all of them at the same time, each within a few seconds; without `network` none. The HTTP and MCP
    clients are loaded before, so that loading does not count as latency."""
    names = [provider.name for provider in providers if network and provider.check is not None]
    if names:
        from graph_research.providers.http.transport import load_client

        await load_client()
    if any(name.startswith(f"{MCP}:") for name in names):
        load_mcp_client()

    async def check(provider: Provider) -> ProviderHealth:
        if provider.check is None or not network:
            return ProviderHealth(provider=provider)
        return ProviderHealth(provider=provider, result=await provider.check(clients))

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(check(provider)) for provider in providers]
    return [task.result() for task in tasks]


def name_of_model(spec: str) -> str:
    """The name of the provider that serves a spec: models at the provider's own host share one."""
    parsed = parse_spec(spec)
    if parsed.kind == CLI:
        return f"{CLI}{parsed.command}"
    return spec if parsed.url is not None or parsed.kind not in HOSTINGS else parsed.kind


def _models(workspace: Workspace, specs: Sequence[str]) -> Iterator[Provider]:
    yield Provider(name=EXTRACTIVE, kind=ProviderKind.MODEL, text=MODELS[EXTRACTIVE].summary)
    for kind in HOSTINGS:
        yield _hosted(workspace, kind)
    for command in sorted({*COMMANDS, *workspace.settings.cli_commands}):
        yield _command(workspace, command)
    for spec in dict.fromkeys(specs):
        if _has_address(spec):
            yield Provider(name=spec, kind=ProviderKind.MODEL, check=_check_model(spec))


def _has_address(spec: str) -> bool:
    """Whether a spec names a server; an invalid spec is reported by the check of the models."""
    try:
        return parse_spec(spec).url is not None
    except UnknownModel:
        return False


def _hosted(workspace: Workspace, kind: str) -> Provider:
    hosting = HOSTINGS[kind]
    check = _check_model(hosting.default_specs[0])
    if workspace.environ.get(hosting.key):
        return Provider(name=kind, kind=ProviderKind.MODEL, check=check)
    return Provider(
        name=kind, kind=ProviderKind.MODEL, lacks=_not_set(hosting.key), adds=KEYS[hosting.key], check=check
    )


def _command(workspace: Workspace, command: str) -> Provider:
    own = workspace.settings.cli_commands.get(command)
    program = own[0] if own else COMMANDS[command].arguments[0]
    found = shutil.which(program, path=workspace.environ.get("PATH"))
    return Provider(
        name=f"{CLI}{command}",
        kind=ProviderKind.MODEL,
        lacks=() if found else (f"the program {program} is not on this machine",),
        adds="" if found else f"models {CLI}{command}:MODEL with the account you have there",
        text=f"{found}; whether you are logged in there shows when it is asked" if found else "",
    )


def _search(workspace: Workspace, spec: SearchSpec) -> Provider:
    async def check(clients: Clients) -> HealthResult:
        return await check_health(clients.http, spec.probe(clients, spec.endpoint(clients)))

    missing = spec.missing(workspace.environ, workspace.settings)
    if missing:
        has_address = not set(missing) & set(spec.required_settings)
        lacks = _not_set(*missing)
        return Provider(
            name=spec.name,
            kind=ProviderKind.SEARCH,
            lacks=lacks,
            adds=spec.summary,
            check=check if has_address else None,
        )
    unset = [f"{key}: {adds}" for key, adds in spec.optional_keys.items() if not workspace.environ.get(key)]
    text = f"{spec.summary} ({spec.content})"
    return Provider(name=spec.name, kind=ProviderKind.SEARCH, adds="; ".join(unset), text=text, check=check)


def _mcp(workspace: Workspace, name: str) -> Provider:
    try:
        check_mcp(workspace, name)
    except NoProvider as error:
        return Provider(name=name, kind=ProviderKind.SEARCH, lacks=(f"{error.message}; {error.help}",))
    unset = unset_of_mcp(workspace, name)
    if unset:
        return Provider(name=name, kind=ProviderKind.SEARCH, lacks=_not_set(*unset))

    tool = workspace.settings.mcp_servers[name.partition(":")[2]].search_tool
    text = f"its tool {tool!r} searches"
    return Provider(name=name, kind=ProviderKind.SEARCH, text=text, check=lambda _: _check_mcp(workspace, name))


async def _check_mcp(workspace: Workspace, name: str) -> HealthResult:
    """Start or call up the server and read the definitions of its tools, without calling or pinning any."""
    began = time.monotonic()
    async with AsyncExitStack() as closing:
        pins = HomePins(workspace.home, read_only=True)
        search = build_mcp(workspace, name, closing, pins=pins, timeout_seconds=PROBE_SECONDS)
        try:
            async with asyncio.timeout(PROBE_SECONDS):
                await search.tools()
        except TimeoutError:
            return HealthResult(latency_ms=None, text=f"no answer within {PROBE_SECONDS:g} s")
        except ProviderError as error:
            there = isinstance(error, ProviderRefused)
            text = f"{error.message}; {error.help}" if error.help else error.message
            return HealthResult(latency_ms=_since(began) if there else None, refused=there, text=text)
        return HealthResult(latency_ms=_since(began))


def _check_model(text: str) -> HealthCheck:
    """Checks the server of a hosted model or of one with an address."""

    async def check(clients: Clients) -> HealthResult:
        try:
            spec = parse_spec(text)
            probe = HOSTINGS[spec.kind].probe(spec, clients)
        except UserMistake as error:
            return HealthResult(latency_ms=None, text=f"{error.message}; {error.help}")
        return await check_health(clients.http, probe)

    return check


def _other(workspace: Workspace, name: str, known: Sequence[str]) -> Provider:
    """A model by its spec, whether it is in use or not."""
    if name.startswith(f"{MCP}:"):
        check_mcp(workspace, name)
    served = name_of_model(name) if name.startswith(CLI) or name.partition(":")[0] in HOSTINGS else ""
    if served in known:
        return next(provider for provider in providers_of(workspace, ()) if provider.name == served)
    if served and served == name:
        return Provider(name=name, kind=ProviderKind.MODEL, check=_check_model(name))
    help_text = f"{suggestion(name, known)}there are {', '.join(known)}, and models by their spec"
    raise NoProvider(f"no provider {name[:80]!r}", help=help_text)


def _not_set(*names: str) -> tuple[str, ...]:
    return (f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} not set",)


def _since(began: float) -> int:
    return max(1, round((time.monotonic() - began) * 1000))
