"""Where a command works: the data home, the settings in force, and the folders that names are looked up in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_research.graph.resources import FolderResolver, SchemaResolver, beside
from graph_research.settings.config import Configuration, Settings, load_configuration
from graph_research.settings.home import Home, find_home
from graph_research.settings.shipped_files import Kind, shipped
from graph_research.settings.trust import FolderOffer, agree, find_offer, is_trusted

if TYPE_CHECKING:
    from graph_research.providers.search.catalog import SearchCatalog
    from graph_research.providers.search.spec import SearchSpec


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """`offer` is what the working directory brings along, None where that is nothing or not trusted, and `declined`
    where the user was asked and said no. `beside` is the folder that has what a named graph file brings, `flat` are
    those where more graphs lie with it. `more_searches` are search providers beside those that are shipped."""

    home: Home
    configuration: Configuration
    environ: Mapping[str, str]
    folder: Path
    offer: FolderOffer | None = None
    declined: bool = False
    beside: Path | None = None
    flat: tuple[Path, ...] = ()
    more_searches: tuple[SearchSpec, ...] = ()

    @property
    def settings(self) -> Settings:
        return self.configuration.settings

    @cached_property
    def searches(self) -> SearchCatalog:
        """Every search provider by name; loaded only where it is used, since it loads all of their adapters."""
        from graph_research.providers.search.catalog import SEARCHES

        return replace(SEARCHES, specs=(*SEARCHES.specs, *self.more_searches))

    @cached_property
    def graphs(self) -> FolderResolver:
        return graph_resolver(*self._own("graphs"), beside=self._beside("graphs"), flat=self.flat)

    @cached_property
    def schemas(self) -> FolderResolver:
        return schema_resolver(*self._own("schemas"), beside=self._beside("schemas"))

    @cached_property
    def prompts(self) -> FolderResolver:
        return prompt_resolver(*self._own("prompts"), beside=self._beside("prompts"))

    def _own(self, kind: Kind) -> tuple[Path, ...]:
        """The user's own folders: in the data home, then in the trusted working directory, which wins."""
        in_folder = self.offer.overrides(kind) if self.offer else None
        own = (self.home.path / kind, in_folder)
        return tuple(folder for folder in own if folder is not None and folder.is_dir())

    def _beside(self, kind: Kind) -> tuple[Path, ...]:
        """What stands beside the named graph file; nobody was asked about it, so that it takes the place of nothing."""
        if self.beside is None:
            return ()
        folder = (self.beside / kind).resolve()
        return (folder,) if folder.is_dir() and folder.is_relative_to(self.beside.resolve()) else ()


def open_workspace(
    environ: Mapping[str, str],
    folder: Path,
    *,
    may_use: Callable[[FolderOffer], bool | None],
    options: Mapping[str, Any] | None = None,
    reads_only: bool = False,
) -> Workspace:
    """Prepare the data home and load the settings; for a command that `reads_only` a home that cannot be written will
    do. `may_use` is asked about a folder that the user has not agreed to yet: its yes is remembered, its no keeps out
    whatever the folder brings, None says that nobody could be asked. `HomeUnusable`, `SettingInvalid` and
    `TrustRefused` say what is wrong."""
    home = find_home(environ).look() if reads_only else find_home(environ).prepare()
    offer = find_offer(folder)
    answer = None if offer is None else is_trusted(offer, home) or _agreed(offer, home, may_use)
    if not answer:
        offer = None
    configuration = load_configuration(
        home_file=home.config_file,
        folder_file=offer.settings_file if offer else None,
        environ=environ,
        options=options,
    )
    return Workspace(
        home=home,
        configuration=configuration,
        environ=environ,
        folder=folder,
        offer=offer,
        declined=answer is False,
    )


def _agreed(offer: FolderOffer, home: Home, may_use: Callable[[FolderOffer], bool | None]) -> bool | None:
    answer = may_use(offer)
    if answer:
        agree(offer, home)
    return answer


def is_file_name(name: str) -> bool:
    """Whether a graph is named by its file, not by the name of a known graph."""
    return name.endswith((".yaml", ".yml")) or "/" in name


def with_neighbours(workspace: Workspace, name: str) -> Workspace:
    """The workspace in which names are also looked up beside the graph file that the user named, where nothing else has
    them: graphs that lie with it, and `graphs/`, `prompts/` and `schemas/`. Nobody agreed to these files, so that they
    replace no shipped or own one. As it was for a known graph, and where the user was asked about the files of this
    very folder and said no. Settings beside a graph are never read."""
    if not is_file_name(name):
        return workspace
    home, flat = beside(workspace.folder / Path(name).expanduser())
    if workspace.declined and home.resolve() == workspace.folder.resolve():
        return workspace
    return replace(workspace, beside=home, flat=flat)


def graph_resolver(*own: Path, beside: Sequence[Path] = (), flat: Sequence[Path] = ()) -> FolderResolver:
    """Graphs by name, from the shipped folder and then a user's `own` folders, which win. Folders `beside` a graph, and
    `flat` ones of which only the files in them count, add names and never take one."""
    return FolderResolver(*beside, shipped("graphs"), *own, suffix=".yaml", flat=flat)


def schema_resolver(*own: Path, beside: Sequence[Path] = ()) -> FolderResolver:
    """Schemas by bare name, from `schemas/`, `schemas/handoffs/` and `schemas/tools/`, as `graph_resolver` has them."""
    return SchemaResolver(*beside, shipped("schemas"), *own)


def prompt_resolver(*own: Path, beside: Sequence[Path] = ()) -> FolderResolver:
    """Prompt templates such as `planner/system`, as `graph_resolver` has them."""
    return FolderResolver(*beside, shipped("prompts"), *own, suffix=".j2")
