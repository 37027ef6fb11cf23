"""What a user tells a run: wishes for its next phase, its plan as they edited it, changes of its finished report."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from enum import StrEnum

from graph_research.graph.context import Context
from graph_research.graph.state.rows import Instruction
from graph_research.providers.call_kind import CallKind

InstructionReader = Callable[[str], Awaitable[Sequence[Instruction]]]
"""Gives the instructions of a run, by its id, in the order in which they came."""


class InstructionKind(StrEnum):
    """Kinds of instructions."""

    GUIDANCE = "guidance"
    """A wish, in the user's words."""
    PLAN = "plan"
    """The plan as JSON; the last one counts."""
    REVISION = "revision"
    """A change of the finished report as JSON; no handler reads it."""
    ARCHIVE_ERROR = "archive_error"
    """Why the program could not write the archive's files at the end of the run; no handler reads it. The last one
    counts, and an empty one says that they were written."""


async def instructions_of(read: InstructionReader | None, kind: InstructionKind, ctx: Context) -> list[str]:
    """The contents of the run's instructions of this kind so far, journalled: a replay gets the same ones, and a fork
    its own. Empty without a reader."""
    if read is None:
        return []

    async def contents() -> list[str]:
        return [told.content for told in await read(ctx.run_id) if told.kind == kind]

    request = {"kind": kind.value, "run": ctx.run_id}
    answer: list[str] = await ctx.call(CallKind.INSTRUCTIONS.value, request, contents, at_hand=True)
    return answer
