"""The settings in force: defaults, files, environment and options, with the place that each value came from."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from graph_research.errors import Action, Hint, suggestion, why_unreadable
from graph_research.settings.config import ALIASES, PROVIDER_ALIASES, SettingInvalid, Settings
from graph_research.settings.folder_policy import why_not

ENV_PREFIX = "GRAPH_RESEARCH_"
FOLDER_FILE = "graph-research.toml"
_TABLE = "research"

_PARAMETERS = {
    "default_provider": "llm",
    "research_max_concurrency": "concurrency",
    "search_providers": "search",
    "task_timeout": "timeout_seconds",
}
"""The parameters of a request that are not called as their setting is."""

_ENV_NOT_SETTINGS = frozenset({"HOME", "DATABASE", "TOKENS_FILE"})
"""`GRAPH_RESEARCH_*` variables that mean something else than a setting."""


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """The settings in force; `origins` says for each name where its value came from."""

    settings: Settings
    origins: Mapping[str, str]

    def role_specs(self) -> dict[str, tuple[str, ...]]:
        """The model specs of each role, and of each phase, that has its own."""
        suffix = "_model"
        named = {field.removesuffix(suffix): specs for field, specs in self.settings if field.endswith(suffix)}
        first = self.settings.deep_research_digest_provider
        named["digest"] = (*((first,) if first else ()), *self.settings.deep_research_digest_providers)
        named["summarization"] = (*named["summarization"], *self.settings.summarization_providers)
        return {name: specs for name, specs in named.items() if specs and name != "embedding"}

    def rows(self) -> list[dict[str, Any]]:
        """`{name, value, origin, description}` for each setting."""
        values = self.settings.model_dump(mode="json")
        return [
            {
                "name": name,
                "value": values[name],
                "origin": self.origins.get(name, "default"),
                "description": field.description or "",
            }
            for name, field in Settings.model_fields.items()
        ]


@dataclass(frozen=True, kw_only=True)
class _Given:
    """A value as a source gave it: `place` names file and line, variable or option."""

    value: Any
    place: str
    file: str | None = None
    line: int | None = None
    hint: Hint | None = None

    @property
    def said(self) -> str:
        """The place as the end of a message, empty where the error names file and line itself."""
        return "" if self.file else f" ({self.place})"


def load_configuration(
    *,
    home_file: Path,
    folder_file: Path | None,
    environ: Mapping[str, str],
    options: Mapping[str, Any] | None = None,
) -> Configuration:
    """Lay the sources over each other: defaults, `home_file`, `folder_file` (None: not trusted or absent),
    `GRAPH_RESEARCH_<NAME>`, `options`; the later wins. `SettingInvalid` names the first value that does not fit.
    """
    given: dict[str, _Given] = {}
    given.update(_by_setting(_from_file(home_file)))
    if folder_file is not None:
        given.update(_allowed_in_folder(_by_setting(_from_file(folder_file))))
    given.update(_by_setting(_from_environment(environ)))
    for alias, value in (options or {}).items():
        name = ALIASES.get(alias, alias)
        if value is not None:
            parameter = _PARAMETERS.get(name, name)
            hint = Hint(Action.SET_OPTION, options={parameter: ""})
            given[name] = _Given(value=value, place=f"option {parameter}", hint=hint)
    return Configuration(settings=_build(given), origins={name: source.place for name, source in given.items()})


def _by_setting(given: Mapping[str, _Given]) -> dict[str, _Given]:
    """The values by the names of the settings, where some are given under other names. A provider beside a model makes
    one spec of both. `SettingInvalid` where one setting is given under two names."""
    named: dict[str, tuple[str, _Given]] = {}
    for name, source in given.items():
        setting = ALIASES.get(name, name)
        if setting not in named:
            named[setting] = name, source
            continue
        other, before = named[setting]
        provider = {name: source, other: before}.get(f"{setting.removesuffix('_model')}_provider")
        models = {name: source, other: before}.get(setting)
        if setting not in PROVIDER_ALIASES.values() or provider is None or models is None:
            raise SettingInvalid(
                f"settings {other} and {name} mean the same{source.said}",
                help="keep one of them",
                file=source.file,
                line=source.line,
            )
        named[setting] = setting, replace(models, value=_specs_of(provider.value, models.value))
    return {setting: source for setting, (_, source) in named.items()}


def _specs_of(provider: Any, models: Any) -> list[Any]:
    """The models as specs of this provider; a provider that is a whole spec comes before the models, and a model of its
    name, such as `extractive`, is one."""
    listed = models.split(",") if isinstance(models, str) else list(models)
    if not isinstance(provider, str) or ":" in provider:
        return [provider, *listed]
    return [
        model if ":" in (name := str(model).strip()) or name == provider else f"{provider}:{name}" for model in listed
    ]


def _build(given: Mapping[str, _Given]) -> Settings:
    for name, source in given.items():
        if name not in Settings.model_fields:
            raise SettingInvalid(
                f"unknown setting {name!r}{source.said}", **_suggestion(name), file=source.file, line=source.line
            )
    try:
        return Settings.model_validate({name: source.value for name, source in given.items()})
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        name = str(first["loc"][0])
        what = Settings.model_fields[name].description
        why = first["msg"].removeprefix("Value error, ")
        where = ".".join(part for part in first["loc"] if isinstance(part, str) and part != "[key]")
        raise SettingInvalid(
            f"setting {where}{_shown(name, given[name].value)}{given[name].said} is not valid: {why}",
            help=f"it means: {what}",
            hint=given[name].hint,
            file=given[name].file,
            line=given[name].line,
        ) from error


def _suggestion(name: str) -> dict[str, Any]:
    """The help and the hint about a setting that does not exist."""
    if re.search(r"key|secret|token|password", name):
        return {"help": "keys come only from the environment", "hint": Hint(Action.CHECK_PROVIDERS)}
    return {"help": f"{suggestion(name, Settings.model_fields)}correct or remove it"}


def _shown(name: str, value: Any) -> str:
    """A value in a message; where a key belongs beside the name of its variable, it may have been written instead."""
    if name in ("model_keys", "mcp_servers"):
        return ""
    text = repr(value)
    return f" = {text if len(text) <= 80 else text[:77] + '...'}"


def _from_file(path: Path) -> dict[str, _Given]:
    text = _read(path)
    if text is None:
        return {}
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise SettingInvalid(
            f"not valid TOML: {error}", help="correct the line, or remove the file", file=str(path), line=line
        ) from error
    for name, value in tables.items():
        if name != _TABLE or not isinstance(value, dict):
            raise SettingInvalid(
                f"{name!r} stands outside of the table [{_TABLE}]",
                help=f"write settings under a line [{_TABLE}]",
                file=str(path),
                line=_line_of(text, name),
            )
    values: dict[str, Any] = tables.get(_TABLE, {})
    return {name: _given_in_file(path, text, name, value) for name, value in values.items()}


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingInvalid(
            f"the settings file cannot be read: {why_unreadable(error)}", help="correct or remove it", file=str(path)
        ) from error


def _given_in_file(path: Path, text: str, name: str, value: Any) -> _Given:
    line = _line_of(text, name)
    return _Given(value=value, place=f"{path}:{line}", file=str(path), line=line)


def _line_of(text: str, name: str) -> int:
    pattern = re.compile(rf"""^\s*(?:\[+\s*)?(?:{_TABLE}\s*\.\s*)?["']?{re.escape(name)}["']?\s*[=.\]]""")
    for number, line in enumerate(text.splitlines(), start=1):
        if pattern.match(line):
            return number
    return 1


def _allowed_in_folder(given: dict[str, _Given]) -> dict[str, _Given]:
    """The settings of a working directory, each of which it may set."""
    for name, source in given.items():
        what = why_not(name, source.value) if name in Settings.model_fields else None
        if what is not None:
            raise SettingInvalid(
                f"setting {name}: {what} may not be set by a folder's {FOLDER_FILE}",
                help="set it in config.toml of your own home, in the environment or on the command line",
                file=source.file,
                line=source.line,
            )
    return given


def _from_environment(environ: Mapping[str, str]) -> dict[str, _Given]:
    found = {}
    for variable in sorted(environ):
        name = variable.removeprefix(ENV_PREFIX)
        if variable.startswith(ENV_PREFIX) and name not in _ENV_NOT_SETTINGS:
            found[name.lower()] = _Given(value=environ[variable], place=f"environment {variable}")
    return found
