"""The revisions of a run's report in its store: an append-only log beside the steps of the run, which stay as they are.

Version 1 is the report as the run wrote it; each entry makes the next version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from graph_research.app.store import Store
from graph_research.errors import Action, Hint
from graph_research.graph.errors import InputInvalid, StoreDamaged
from graph_research.graph.state.rows import Instruction
from graph_research.research.instructions import InstructionKind
from graph_research.research.revision.model import Revision, holding, revision_json, revision_of
from graph_research.research.revision.revise import State, revised, with_added


async def stored_revisions(store: Store, run_id: str) -> list[Revision]:
    """All revisions of a run's report, in order. `StoreDamaged` for one that cannot be read."""
    rows = [row.content for row in await store.instructions(run_id) if row.kind == InstructionKind.REVISION]
    try:
        return [revision_of(row) for row in rows]
    except ValueError as error:
        raise StoreDamaged(
            f"a revision of the report of run {run_id} cannot be read",
            help="it was made by another version of graph-research",
        ) from error


async def add_revision(store: Store, run_id: str, revision: Revision) -> int:
    """Append a revision; the number of the version that it makes."""
    content = orjson.dumps(revision_json(revision)).decode()
    await store.instruct(run_id, Instruction(InstructionKind.REVISION, content))
    return len(await stored_revisions(store, run_id)) + 1


def up_to(revisions: Sequence[Revision], version: int | None, run_id: str) -> Sequence[Revision]:
    """The revisions that make a version, of the latest where it is None. `InputInvalid` where there is no such one."""
    if version is None:
        return revisions
    if not 1 <= version <= len(revisions) + 1:
        raise InputInvalid(
            f"the report of run {run_id} has no version {version}",
            help=f"its latest is {len(revisions) + 1}",
            hint=Hint(Action.SHOW_VERSIONS, run_id),
        )
    return revisions[: version - 1]


async def revised_state(store: Store, run_id: str, version: int) -> State:
    """The state that a version of the report is made of. Claims are scored as in the report, but without telling copies
    of one text, since no text is read."""
    revisions = holding(up_to(await stored_revisions(store, run_id), version, run_id))
    state: Mapping[str, Any] = await store.state(run_id)
    return revised(state, revisions, {})


async def all_sources(store: Store, run_id: str, state: State) -> State:
    """The state with the sources, evidence and sentences of every version of the report, for what has to be kept."""
    return with_added(state, await stored_revisions(store, run_id))
