"""Any MCP server's search and fetch tools as a search: one named tool of one configured server, pinned by hash."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from graph_research.errors import GraphResearchError
from graph_research.providers.errors import NoProvider, ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.providers.http.redaction import redact, withhold
from graph_research.providers.search.base import Extent, SearchHit, SearchRequest
from graph_research.providers.search.support.doi import normal_doi
from graph_research.providers.search.support.hit import RawHit, make_hits, words_of
from graph_research.providers.search.support.json_fields import line, lines
from graph_research.text.language.dates import iso_date

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, Tool

_MOST_DEPTH = 20
_MOST_PAGES = 100
_MOST_NAMES = 50
_NAME_CHARS = 80
_COUNT_NAMES = ("max_results", "limit", "num_results", "count", "top_k", "k", "n")
_QUERY_NAMES = ("query", "q", "question", "search_query", "text")
_LIST_NAMES = ("results", "items", "documents", "data", "papers", "hits")
_TITLE_NAMES = ("title", "name")
_URL_NAMES = ("url", "link", "uri", "href")
_TEXT_NAMES = ("text", "content", "abstract", "snippet", "summary", "description")
_DATE_NAMES = ("published_at", "published", "publication_date", "date")


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """A server as the user configured it: a `command` line for standard input and output, or a `url`.

    `environ` is the whole environment of a command beside PATH and the like, `key` what a server at a `url` lets in.
    `fetch_tool`, if named, is asked for the text behind each result that has an id.
    """

    name: str
    command: Sequence[str] = ()
    url: str | None = None
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: str | None = field(default=None, repr=False)
    search_tool: str = "search"
    fetch_tool: str | None = None
    serves: frozenset[str] = frozenset({"web", "academic", "news"})
    timeout_seconds: float = 60.0

    @property
    def secrets(self) -> tuple[str, ...]:
        """What only the server may see."""
        return (*self.environ.values(), *((self.key,) if self.key else ()))

    def redact(self, text: str) -> str:
        """`text` without the server's secrets."""
        return redact(text, self.secrets)


class Pins(Protocol):
    """Remembers which definition of a tool the user works with."""

    def pinned(self, name: str) -> str | None:
        """The hash that stands for `name`, None where it was never used."""
        ...

    def pin(self, name: str, digest: str) -> None: ...


@dataclass
class McpSearch:
    """`mcp:NAME`. The session starts at the first search and ends with `closing`.

    Tool descriptions never reach a prompt; results are documents like those of any search. The tool definitions are
    pinned at the first use; a server whose definitions changed since is not used.
    """

    server: McpServer
    pins: Pins
    closing: AsyncExitStack
    _session: asyncio.Task[None] | None = field(default=None, init=False, repr=False)
    _ready: asyncio.Future[_Ready] | None = field(default=None, init=False, repr=False)
    _leave: asyncio.Event = field(default_factory=asyncio.Event, init=False, repr=False)

    @property
    def name(self) -> str:
        return f"mcp:{self.server.name}"

    @property
    def serves(self) -> frozenset[str]:
        return self.server.serves

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        """The tool's results in its order, at most as many as were asked for."""
        ready = await self._open()
        rows = _rows(await self._call(ready, self.server.search_tool, ready.arguments(request)))
        rows = rows[: request.max_results]
        if self.server.fetch_tool is not None:
            fetch = self.server.fetch_tool
            rows = await asyncio.gather(*(self._fetched(ready, fetch, row) for row in rows))
        return make_hits(self.name, request, (_raw_hit(row, rank) for rank, row in enumerate(rows)))

    async def tools(self) -> Sequence[Mapping[str, Any]]:
        """`{name, description, input_schema}` of the tools that are used, after checking that they are there and
        unchanged. For a person to look at: their words are the server's own."""
        return (await self._open()).used

    async def _fetched(self, ready: _Ready, tool: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """The row with its whole text; where the server has none, the row as it was."""
        key = row.get("id")
        if not isinstance(key, str | int):
            return row
        try:
            answer = await self._call(ready, tool, {"id": key})
        except ProviderError:
            return row
        whole = answer if isinstance(answer, Mapping) else {"text": answer}
        return {**row, **{name: value for name, value in whole.items() if value}}

    async def _call(self, ready: _Ready, tool: str, arguments: Mapping[str, Any]) -> Any:
        from mcp import MCPError
        from mcp.types import CONNECTION_CLOSED

        if ready.leave.is_set():
            raise ProviderUnavailable(f"{self.name}: its server ended before {tool!r} was called", provider=self.name)
        try:
            result = await ready.client.call_tool(
                tool, dict(arguments), read_timeout_seconds=self.server.timeout_seconds
            )
        except (MCPError, OSError, TimeoutError) as error:
            if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
                ready.leave.set()
            raise ProviderUnavailable(
                self.server.redact(f"{self.name}: the tool {tool!r} did not answer: {error}"), provider=self.name
            ) from None
        value = self._without_secrets(_value(result))
        if result.is_error:
            raise ProviderUnavailable(f"{self.name}: {str(value)[:300]}", provider=self.name)
        return value

    def _without_secrets(self, value: Any, depth: int = _MOST_DEPTH) -> Any:
        """An answer without the server's secrets and without values nested deeper than `depth`."""
        if isinstance(value, str):
            return withhold(value, self.server.secrets)
        if isinstance(value, Mapping) and depth:
            return {name: self._without_secrets(item, depth - 1) for name, item in value.items()}
        if isinstance(value, list) and depth:
            return [self._without_secrets(item, depth - 1) for item in value]
        return None if isinstance(value, Mapping | list) else value

    async def _open(self) -> _Ready:
        """The open session, or a new one if it broke off. It has a task of its own, since the task that enters a
        session must also leave it."""
        if self._session is None or self._session.done() or self._leave.is_set():
            self._ready, self._leave = asyncio.get_running_loop().create_future(), asyncio.Event()
            self._session = asyncio.create_task(self._live(self._ready, self._leave))
            self.closing.push_async_callback(_close_session, self._session, self._ready, self._leave)
        assert self._ready is not None
        return await asyncio.shield(self._ready)

    async def _live(self, ready: asyncio.Future[_Ready], leave: asyncio.Event) -> None:
        errors = bytearray()
        try:
            async with _client(self.server, errors) as client:
                ready.set_result(await self._checked(client, leave))
                await leave.wait()
        except Exception as error:  # noqa: BLE001 -- whatever keeps a foreign server from starting is its failure
            if not ready.done():
                ready.set_exception(self._failure(error, errors))
        finally:
            ready.cancel()

    def _failure(self, error: BaseException, errors: bytearray) -> ProviderError:
        """The innermost of grouped errors as a provider's, with the last line that the server complained with."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, ProviderError):
            return error
        if isinstance(error, GraphResearchError):
            return ProviderRefused(f"{self.name}: {error.message}", provider=self.name, help=error.help)
        reason = _last_line(errors) or f"{type(error).__name__}: {error}"
        return ProviderUnavailable(
            self.server.redact(f"{self.name} cannot be {'reached' if self.server.url else 'started'}: {reason}"),
            provider=self.name,
            help=f"check [research.mcp_servers.{self.server.name}]",
        )

    async def _checked(self, client: Client, leave: asyncio.Event) -> _Ready:
        used = [name for name in (self.server.search_tool, self.server.fetch_tool) if name is not None]
        tools, others = await _listed(client, used)
        for name in used:
            if name not in tools:
                raise ProviderRefused(
                    f"{self.name} has no tool {name!r}",
                    provider=self.name,
                    help=f"it has {', '.join(sorted({*tools, *others}))[:300] or 'none'}",
                )
        definitions = [
            tools[name].model_dump(mode="json", include={"name", "description", "input_schema"}) for name in used
        ]
        digest = _digest(definitions)
        pinned = self.pins.pinned(self.name)
        if pinned is None:
            self.pins.pin(self.name, digest)
        elif pinned != digest:
            raise ProviderRefused(
                f"{self.name}: the definition of its tools has changed since you first used it",
                provider=self.name,
                help="look at what changed, then accept the new definition",
            )
        return _Ready(client=client, tool=tools[self.server.search_tool], used=tuple(definitions), leave=leave)


@dataclass(frozen=True, kw_only=True)
class _Ready:
    client: Client
    tool: Tool
    used: tuple[Mapping[str, Any], ...]
    leave: asyncio.Event
    """Set where the session is to be left: at the end, or since it broke off."""

    def arguments(self, request: SearchRequest) -> dict[str, Any]:
        """The query under the name that the tool's own schema has for it, and how many results, if it takes that."""
        properties = self.tool.input_schema.get("properties") or {}
        required = self.tool.input_schema.get("required") or []
        name = next((key for key in _QUERY_NAMES if key in properties), required[0] if required else "query")
        arguments: dict[str, Any] = {name: request.query}
        count = next((key for key in _COUNT_NAMES if key in properties), None)
        return {**arguments, count: request.max_results} if count else arguments


async def _listed(client: Client, used: Sequence[str]) -> tuple[dict[str, Tool], set[str]]:
    """The `used` tools of the server, and the names of others. The list is read page by page until all are found, it
    ends, or `_MOST_PAGES` are read."""
    tools: dict[str, Tool] = {}
    others: set[str] = set()
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            if tool.name in used:
                tools.setdefault(tool.name, tool)
            elif len(others) < _MOST_NAMES:
                others.add(tool.name[:_NAME_CHARS])
        cursor = page.next_cursor
        if cursor is None or len(tools) == len(set(used)):
            break
    return tools, others


def load_client() -> None:
    """Load what every server is called with, for who measures; without the MCP package the call itself will say so."""
    with contextlib.suppress(ImportError):
        importlib.import_module("graph_research.providers.search.mcp.http")
        importlib.import_module("graph_research.providers.search.mcp.stdio")


def _client(server: McpServer, errors: bytearray) -> Client:
    """The client of a server, not connected yet; what a command prints as errors goes into `errors`."""
    try:
        from mcp import Client

        from graph_research.providers.search.mcp.http import over_http
        from graph_research.providers.search.mcp.stdio import over_stdio
    except ImportError as error:
        raise NoProvider(
            f"search mcp:{server.name} needs the MCP package", help="install it with: pip install 'graph-research[mcp]'"
        ) from error
    if server.url is not None:
        return Client(
            over_http(server.url, name=f"mcp:{server.name}", key=server.key),
            read_timeout_seconds=server.timeout_seconds,
        )
    started = over_stdio(server.command, server.environ, errors)
    return Client(started, read_timeout_seconds=server.timeout_seconds)


async def _close_session(session: asyncio.Task[None], ready: asyncio.Future[_Ready], leave: asyncio.Event) -> None:
    """End a session; one that is still starting is cancelled."""
    leave.set()
    if not ready.done():
        session.cancel()
    await asyncio.wait([session])


def _last_line(errors: bytearray) -> str:
    lines = [line.strip() for line in errors.decode("utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _digest(definitions: Sequence[Mapping[str, Any]]) -> str:
    return "sha256:" + hashlib.sha256(orjson.dumps(definitions, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _value(result: CallToolResult) -> Any:
    """The structured answer, else the JSON in its texts, else the texts."""
    if result.structured_content is not None:
        return result.structured_content
    return _parsed("\n".join(block.text for block in result.content if block.type == "text"))


def _parsed(text: str) -> Any:
    """The JSON value of the text, or the text itself if it is not JSON."""
    try:
        return orjson.loads(text)
    except ValueError:
        return text


def _rows(value: Any) -> list[Mapping[str, Any]]:
    """The results in an answer of whatever shape; a plain text is one result."""
    if isinstance(value, str):
        return [{"text": value}] if value.strip() else []
    if isinstance(value, Mapping):
        inner = next((value[name] for name in (*_LIST_NAMES, "result") if isinstance(value.get(name), list)), None)
        if inner is None and isinstance(value.get("result"), str):
            return _rows(_parsed(value["result"]))
        value = [value] if inner is None else inner
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _raw_hit(row: Mapping[str, Any], rank: int) -> RawHit:
    return RawHit(
        title=_first(row, _TITLE_NAMES),
        url=_first(row, _URL_NAMES),
        body=_first(row, _TEXT_NAMES) or words_of(_first(row, _TITLE_NAMES)),
        extent=Extent.FULL,
        relevance=1 / (1 + rank),
        authors=lines(row.get("authors")),
        published_at=iso_date(_first(row, _DATE_NAMES)),
        doi=normal_doi(_first(row, ("doi",))),
        metadata={"id": line(str(row["id"]))} if isinstance(row.get("id"), str | int) else {},
    )


def _first(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((row[name].strip() for name in names if isinstance(row.get(name), str) and row[name].strip()), "")
