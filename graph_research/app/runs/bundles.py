"""Runs that travel: one exported to a bundle file, one imported, and a bundle read without importing it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from graph_research.app.files import write_atomically
from graph_research.app.runs.report import NoReport, build_from_store
from graph_research.app.store import Store, open_store, question_of, request_of
from graph_research.app.workspace import Workspace, with_neighbours
from graph_research.errors import NAME_PATTERN, check_name
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.errors import RunExists
from graph_research.graph.history.bundle import Packed, pack, store_bundle, unpack
from graph_research.providers.call_kind import CallKind
from graph_research.providers.search.base import LOCAL
from graph_research.research.decision_log import run_metadata
from graph_research.research.report.verification import Verification, verify

if TYPE_CHECKING:
    from graph_research.graph.history.replay import Replayed


@dataclass(frozen=True, kw_only=True)
class Exported:
    """A bundle file. `local_texts` counts the answers of the local library's search in it."""

    run_id: str
    bytes: int
    sha256: str
    local_texts: int = 0


def is_bundle(name: str) -> bool:
    """Whether a name means a file: no run id holds a dot or a slash."""
    return not NAME_PATTERN.fullmatch(name)


async def export_run(workspace: Workspace, run_id: str, target: Path) -> Exported:
    """Write a stored run as one file. Keys are not in it, since they are never stored; the texts of sources are."""
    check_name(run_id, "run id")
    async with open_store(workspace.home) as store:
        await store.run(run_id)
        local = await _local_searches(store, run_id)
        with tempfile.TemporaryFile() as file:
            packed = await pack(store, run_id, file, run_metadata(await store.state(run_id)))
            file.seek(0)
            write_atomically(workspace.folder / target, file.read())
    return Exported(**asdict(packed), local_texts=local)


async def import_run(workspace: Workspace, file: Path) -> Exported:
    """Store the run of a bundle under its own id. Nothing is run. `BundleInvalid`, `RunExists`."""
    from graph_research.app.runs.imported import imported_metadata  # needs the readers of pages

    bundle = unpack(workspace.folder / file)
    metadata = orjson.dumps(imported_metadata(orjson.loads(bundle.run.metadata)))
    async with open_store(workspace.home) as store:
        try:
            await store_bundle(store, replace(bundle, run=bundle.run._replace(metadata=metadata)))
        except RunExists as error:
            raise RunExists(
                f"run {bundle.run.run_id} exists already, and an imported run keeps its id",
                help="delete the stored run first, or verify and replay the file as it is",
            ) from error
        local = await _local_searches(store, bundle.run.run_id)
    return Exported(**asdict(bundle.packed), local_texts=local)


async def _local_searches(store: Store, run_id: str) -> int:
    """How many searches of the local library a run made, whose answers hold its texts."""
    return sum(
        call.kind == CallKind.SEARCH and isinstance(call.request, Mapping) and call.request.get("provider") == LOCAL
        for call in await store.calls(run_id)
    )


@asynccontextmanager
async def opened_bundle(workspace: Workspace, file: str) -> AsyncIterator[tuple[Store, Packed]]:
    """A bundle's run in a store of its own, in memory."""
    bundle = unpack(workspace.folder / file)
    store = MemoryCheckpointer()
    await store_bundle(store, bundle)
    yield store, bundle.packed


async def replay_any(workspace: Workspace, name: str, *, current: bool = False) -> Replayed:
    """Replay a stored run, or that of a bundle file, with the prompts and schemas it was made with (prompts that differ
    from this workspace's are rendered in a limited child process), or with the `current` ones."""
    from graph_research.app.graphs.replay import replay_stored  # needs every handler of a graph

    async with _opened(workspace, name) as (store, run_id):
        if not is_bundle(name):
            workspace = with_neighbours(workspace, request_of(await store.run(run_id)).graph)
        return await replay_stored(workspace, store, run_id, current=current)


async def verify_any(workspace: Workspace, name: str) -> Verification:
    """Every citation of a stored run, or of a bundle file's, against its archived texts. Those of a text that is
    missing or damaged are invalid."""
    async with _opened(workspace, name) as (store, run_id):
        built = await build_from_store(store, run_id, allows_damage=True)
    return await asyncio.to_thread(verify, built.report, built.texts, built.layouts)


async def check_bundle(workspace: Workspace, file: str) -> dict[str, Any]:
    """What the run in a bundle file is, its replay, and the verification of its report, None where it has none."""
    from graph_research.app.graphs.replay import replay_stored

    async with opened_bundle(workspace, file) as (store, packed):
        record = await store.run(packed.run_id)
        replayed = await replay_stored(workspace, store, packed.run_id)
        verification = None
        with suppress(NoReport):
            built = await build_from_store(store, packed.run_id)
            verification = (await asyncio.to_thread(verify, built.report, built.texts, built.layouts)).to_json()
    return {
        **asdict(packed),
        "status": record.status,
        "question": question_of(record),
        "replay": replayed.to_json(),
        "verification": verification,
    }


@asynccontextmanager
async def _opened(workspace: Workspace, name: str) -> AsyncIterator[tuple[Store, str]]:
    """The store of a stored run, or of a bundle file's, and the run's id."""
    if is_bundle(name):
        async with opened_bundle(workspace, name) as (store, packed):
            yield store, packed.run_id
    else:
        async with open_store(workspace.home) as store:
            yield store, name
