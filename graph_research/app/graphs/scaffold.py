"""A graph of one's own to begin with: a folder with a graph, its prompts and its schemas, copied from an example."""

from __future__ import annotations

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from graph_research.app.files import OutputUnwritable, check_writable
from graph_research.app.graphs import Template
from graph_research.app.workspace import Workspace
from graph_research.errors import UserMistake, check_name
from graph_research.settings import shipped_files

_SUFFIXES = {".yaml", ".j2", ".json"}
_SCHEMA_LINE = re.compile(r"^# yaml-language-server: \$schema=.*$", re.MULTILINE)


class StarterExists(UserMistake):
    """Something of the new graph's name is there already; nothing is overwritten."""


@dataclass(frozen=True, kw_only=True)
class Starter:
    """What was written: the folder and its files, relative to the working directory; `searches` is whether a run needs
    documents."""

    folder: str
    graph: str
    files: tuple[str, ...]
    searches: bool


def write_starter(workspace: Workspace, name: str, template: Template) -> Starter:
    """Write the folder `name` into the working directory, whole or not at all. `StarterExists`, `NameInvalid`,
    `OutputUnwritable`."""
    target = workspace.folder / check_name(name, "graph")
    if target.exists() or target.is_symlink():
        raise StarterExists(f"{name} is there already", help="choose another name, or remove it; nothing was written")
    texts = _texts(template, name)
    check_writable(workspace.folder)
    try:
        made = Path(tempfile.mkdtemp(dir=workspace.folder, prefix=f".{name}."))
        try:
            for path, text in texts.items():
                (made / path).parent.mkdir(parents=True, exist_ok=True)
                (made / path).write_text(text, encoding="utf-8", newline="")
            made.chmod(0o755)
            made.rename(target)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise OutputUnwritable(
            f"{target} cannot be written: {error.strerror}", help="work in another folder"
        ) from error
    files = tuple(f"{name}/{path}" for path in texts)
    searches = any("run: search" in text for text in texts.values())
    return Starter(folder=name, graph=f"{name}/{name}.yaml", files=files, searches=searches)


def _texts(template: str, name: str) -> dict[str, str]:
    """The new folder's files by their path in it, the graph first."""
    folder = shipped_files.starters() / template
    texts = {f"{name}.yaml": ""}
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SUFFIXES:
            inside = path.relative_to(folder)
            own = inside.as_posix() == f"{template}.yaml"
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".yaml":
                text = _renamed(text, template, name, up=len(inside.parts) - 1)
            texts[f"{name}.yaml" if own else inside.as_posix()] = text
    texts["schemas/graph.json"] = (shipped_files.shipped("schemas") / "graph.json").read_text(encoding="utf-8")
    return texts


def _renamed(text: str, template: str, name: str, *, up: int) -> str:
    """The graph under its new name, its schema for editors beside it, and commands in comments that name its file."""
    hint = f"# yaml-language-server: $schema={'../' * up}schemas/graph.json"
    text = _SCHEMA_LINE.sub(hint, text) if _SCHEMA_LINE.search(text) else f"{hint}\n{text}"
    text = text.replace(f"examples/graphs/{template}/{template}.yaml", f"{name}/{name}.yaml")
    text = re.sub(rf"^graph: {re.escape(template)}$", f"graph: {name}", text, flags=re.MULTILINE)
    return text.replace(" examples/library", " DIR")
