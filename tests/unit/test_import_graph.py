"""The shape of the package: no circle among modules or sibling packages, and no folder too full to look through."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import grimp
import networkx as nx
import pytest

ROOT = "graph_research"
FOLDER = Path(__file__).parents[2] / ROOT
MOST_MODULES = 16


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph:
    """An edge for each import, also those under TYPE_CHECKING and in functions."""
    found = grimp.build_graph(ROOT, cache_dir=None)
    return nx.DiGraph(
        (module, imported) for module in found.modules for imported in found.find_modules_directly_imported_by(module)
    )


def circles(graph: nx.DiGraph) -> list[list[str]]:
    return sorted(sorted(group) for group in nx.strongly_connected_components(graph) if len(group) > 1)


def test_no_module_imports_itself_through_others(imports: nx.DiGraph) -> None:
    assert circles(imports) == []


@pytest.mark.parametrize(
    "package", [ROOT, *(f"{ROOT}.{name}" for name in ("graph", "providers", "research", "app", "cli", "text"))]
)
def test_no_circle_among_the_children_of(package: str, imports: nx.DiGraph) -> None:
    """Each child, a module or a package with all that is in it, counts as one; `__init__` only exports."""

    def child(module: str) -> str:
        return module.removeprefix(package).removeprefix(".").partition(".")[0]

    inside = [pair for pair in imports.edges if all(module.startswith(f"{package}.") for module in pair)]
    between = nx.DiGraph((child(module), child(imported)) for module, imported in inside)
    between.remove_edges_from(list(nx.selfloop_edges(between)))
    assert circles(between) == []


def test_every_folder_can_be_looked_through() -> None:
    modules = [file for file in FOLDER.rglob("*.py") if file.name != "__init__.py"]
    sizes = Counter(str(file.parent.relative_to(FOLDER)) for file in modules)
    assert {folder: size for folder, size in sizes.items() if size > MOST_MODULES} == {}
