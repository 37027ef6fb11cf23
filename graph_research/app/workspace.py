"""The workspace of a command: data home, settings in force, and the definitions of the trusted working directory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_research.app.definitions import Definitions
from graph_research.settings.config import Settings
from graph_research.settings.home import Home, find_home
from graph_research.settings.sources import Configuration, load_configuration
from graph_research.settings.trust import FolderOffer, agree, find_offer, is_trusted

if TYPE_CHECKING:
    from graph_research.providers.search.catalog import SearchCatalog
    from graph_research.providers.search.spec import SearchSpec


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """What a command works with. `folder` is the working directory; `declined` is true where the user was asked about
    its files and said no. `more_searches` are search providers beside those that are shipped."""

    home: Home
    configuration: Configuration
    environ: Mapping[str, str]
    folder: Path
    definitions: Definitions
    declined: bool = False
    more_searches: tuple[SearchSpec, ...] = ()

    @property
    def settings(self) -> Settings:
        return self.configuration.settings

    @cached_property
    def searches(self) -> SearchCatalog:
        """Every search provider by name; loaded only where it is used, since it loads all of their adapters."""
        from graph_research.providers.search.catalog import SEARCHES

        return replace(SEARCHES, specs=(*SEARCHES.specs, *self.more_searches))


def open_workspace(
    environ: Mapping[str, str],
    folder: Path,
    *,
    may_use: Callable[[FolderOffer], bool | None],
    options: Mapping[str, Any] | None = None,
    reads_only: bool = False,
) -> Workspace:
    """Prepare the data home and load the settings; for a command that `reads_only` a home that cannot be written will
    do. Hashes the folder's own files, so a program with an event loop calls it in a thread.

    `may_use` is asked about a folder that the user has not agreed to yet: its yes is remembered, its no excludes
    everything the folder brings, None means that the user could not be asked. `HomeUnusable`, `SettingInvalid` and
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
        definitions=Definitions(home=home.path, offer=offer),
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
    them. As it was for a known graph, and where the user was asked about the files of this very folder and said no.
    Settings beside a graph are never read."""
    if not is_file_name(name):
        return workspace
    definitions = workspace.definitions.with_neighbours(workspace.folder / Path(name).expanduser())
    if workspace.declined and definitions.beside == workspace.folder.resolve():
        return workspace
    return replace(workspace, definitions=definitions)
