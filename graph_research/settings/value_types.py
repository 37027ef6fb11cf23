"""Types of the settings' values: how text, TOML and JSON become them, and what they may be."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

_JSON_LIST = re.compile(r"\s*\[\s*[\"\]]")
"""The beginning of a JSON list of texts; the spec of a command line, such as `[cli]claude:haiku`, has another one."""


def _as_list(value: Any) -> Any:
    """A list; as text a JSON list, or entries with commas between them."""
    if isinstance(value, str) and _JSON_LIST.match(value):
        try:
            return tuple(json.loads(value))
        except ValueError as error:
            raise ValueError('a list is wanted, such as ["a", "b"] or a,b') from error
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list) else value


def _no_switch(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("a number is wanted, not true or false")  # noqa: TRY004 -- pydantic collects ValueErrors
    return value


def web_server(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or parts.query:
        raise ValueError("an address such as http://127.0.0.1:8080 is wanted, without a name, a password or a query")
    return value


def _as_mapping(value: Any) -> Any:
    """A table; as text a JSON object, or `NAME=VALUE` with commas between them."""
    if not isinstance(value, str):
        return value
    if value.strip().startswith("{"):
        return json.loads(value)
    pairs = [part.partition("=") for part in value.split(",") if part.strip()]
    return {name.strip(): one.strip() for name, _, one in pairs}


def _as_words(value: Any) -> Any:
    """A command line as a list: a text would have to be taken apart as a shell does."""
    return tuple(value) if isinstance(value, list) else value


def _priced(value: Mapping[str, float]) -> Mapping[str, float]:
    if not {"input", "output"} <= value.keys():
        raise ValueError("a price has input and output, and may have cached_input, in USD for a million tokens")
    return value


def _like(pattern: str, wanted: str) -> AfterValidator:
    """A text of a pattern; who writes another one is told what is `wanted`."""

    def checked(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise ValueError(wanted)
        return value

    return AfterValidator(checked)


Whole = Annotated[int, BeforeValidator(_no_switch)]
Seconds = Annotated[float, BeforeValidator(_no_switch)]
Specs = Annotated[tuple[str, ...], BeforeValidator(_as_list)]
"""A list of names, in TOML also one string; several in one string are separated by commas."""
Hosts = Annotated[
    tuple[Annotated[str, Field(pattern=r"^(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:[0-9]{1,5})?$", max_length=260)], ...],
    BeforeValidator(_as_list),
]
_DOMAIN = r"^[\w-]+(\.[\w-]+)*$"
Domains = Annotated[
    tuple[
        Annotated[
            str,
            Field(max_length=253, json_schema_extra={"pattern": _DOMAIN}),
            _like(_DOMAIN, "a domain is wanted, such as who.int"),
            AfterValidator(str.lower),
        ],
        ...,
    ],
    BeforeValidator(_as_list),
]
_VARIABLE = r"^[A-Z_][A-Z0-9_]*$"
KeyNames = Annotated[Mapping[str, Annotated[str, Field(pattern=_VARIABLE)]], BeforeValidator(_as_mapping)]
CommandLines = Annotated[
    Mapping[
        Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")], Annotated[tuple[str, ...], Field(min_length=1)]
    ],
    BeforeValidator(_as_mapping),
]
Windows = Annotated[Mapping[str, Annotated[int, Field(ge=1)]], BeforeValidator(_as_mapping)]
PriceTable = Annotated[
    Mapping[
        str,
        Annotated[
            Mapping[Literal["input", "cached_input", "output"], Annotated[float, Field(ge=0, allow_inf_nan=False)]],
            AfterValidator(_priced),
        ],
    ],
    BeforeValidator(_as_mapping),
]
Rates = Annotated[
    Mapping[str, Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)]], BeforeValidator(_as_mapping)
]
_DAY = r"^[12]\d{3}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?$"
Day = Annotated[
    str,
    Field(json_schema_extra={"pattern": _DAY}),
    _like(_DAY, "a year, month or day is wanted, such as 2020, 2020-06 or 2020-06-30"),
]
SourceKinds = Annotated[tuple[Literal["web", "academic", "news", "local"], ...], BeforeValidator(_as_list)]
MediaTypes = Annotated[
    tuple[
        Annotated[str, Field(pattern=r"^[\w.+-]+(/([\w.+-]+|\*))?$", max_length=127), AfterValidator(str.lower)], ...
    ],
    BeforeValidator(_as_list),
]
Languages = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$")], ...], BeforeValidator(_as_list)
]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
SourceTypes = Annotated[
    tuple[Literal["web", "academic", "news"], ...], Field(min_length=1, max_length=3), BeforeValidator(_as_list)
]


class McpServerSettings(BaseModel):
    """An MCP server that is searched as `mcp:NAME`: started by its `command` line, or called up at its `url`.

    `environ` names the variables that a command gets to see beside PATH and the like, `key_name` the variable whose
    value goes to a url as a bearer token.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: Annotated[tuple[str, ...], BeforeValidator(_as_words)] = ()
    url: Annotated[str, AfterValidator(web_server)] | None = None
    search_tool: str = Field("search", min_length=1, max_length=200)
    fetch_tool: str | None = Field(None, min_length=1, max_length=200)
    serves: SourceTypes = ("web", "academic", "news")
    environ: Annotated[tuple[Annotated[str, Field(pattern=_VARIABLE)], ...], BeforeValidator(_as_list)] = ()
    key_name: str | None = Field(None, pattern=_VARIABLE)
    timeout_seconds: Seconds = Field(60.0, gt=0, le=3600)

    @model_validator(mode="after")
    def _is_reached_one_way(self) -> McpServerSettings:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server has either a command, as a list of words, or a url")
        if self.url and self.environ:
            raise ValueError("a server at a url sees no environment")
        if self.command and self.key_name:
            raise ValueError("a command takes its key from a variable that environ names")
        return self


McpServers = Annotated[
    Mapping[Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")], McpServerSettings],
    BeforeValidator(_as_mapping),
]
