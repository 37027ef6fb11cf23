"""Graphs, prompts and schemas by name: in the shipped folders, the user's own, and those beside a named graph."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from graph_research.graph.resources import FolderResolver, ResourceUnreadable, SchemaResolver, beside
from graph_research.settings.shipped_files import SUFFIXES, Kind, shipped
from graph_research.settings.trust import FolderOffer


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """The user's own folders, those in the data home and then those of the trusted `offer`, override the shipped ones.
    `beside` is the folder with what a named graph file brings, `flat` are those where more graphs lie with it: they add
    names and override nothing, since the user has not agreed to them."""

    home: Path
    offer: FolderOffer | None = None
    beside: Path | None = None
    flat: tuple[Path, ...] = ()

    @cached_property
    def graphs(self) -> FolderResolver:
        return graph_resolver(*self._own("graphs"), beside=self._beside("graphs"), flat=self.flat)

    @cached_property
    def schemas(self) -> FolderResolver:
        return schema_resolver(*self._own("schemas"), beside=self._beside("schemas"))

    @cached_property
    def prompts(self) -> FolderResolver:
        return prompt_resolver(*self._own("prompts"), beside=self._beside("prompts"))

    def with_neighbours(self, file: Path) -> Definitions:
        """With what lies beside the graph `file`: other graphs, and `graphs/`, `prompts/` and `schemas/`."""
        home, flat = beside(file)
        return replace(self, beside=home.resolve(), flat=flat)

    def hidden(self, kind: Kind, name: str) -> str | None:
        """The file beside the named graph that goes by `name` and is not read, since another file takes the name."""
        read = {"graphs": self.graphs, "prompts": self.prompts, "schemas": self.schemas}[kind].find(name)
        folders, flat = self._beside(kind), self.flat if kind == "graphs" else ()
        only = FolderResolver(*folders, suffix=SUFFIXES[kind], flat=flat)
        if kind == "schemas":
            only = SchemaResolver(*folders)
        with suppress(ResourceUnreadable):
            if read is not None and (found := only.find(name)) is not None and found[0] != read[0]:
                return found[1]
        return None

    def _own(self, kind: Kind) -> tuple[Path, ...]:
        own = (self.home / kind, self.offer.overrides(kind) if self.offer else None)
        return tuple(folder for folder in own if folder is not None and folder.is_dir())

    def _beside(self, kind: Kind) -> tuple[Path, ...]:
        """The folder of this kind beside the named graph, unless it is a link that leads out."""
        if self.beside is None:
            return ()
        folder = (self.beside / kind).resolve()
        return (folder,) if folder.is_dir() and folder.is_relative_to(self.beside) else ()


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
