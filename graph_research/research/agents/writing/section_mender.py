"""The section mender: rewrites or drops the sentences of sections that their passages do not support, or that do not
agree with others, and adds what they do not tell."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.additions import Addition, answered_addition, with_additions
from graph_research.research.agents.writing.further_passages import NearPassages
from graph_research.research.agents.writing.passages import Passages, nearer, repeated, shown_once
from graph_research.research.agents.writing.section_text import answered_statement, section_text, with_answers
from graph_research.research.agents.writing.verifier import read_passages
from graph_research.research.code_blocks import with_lines_of
from graph_research.research.evidence.citations import without_markers
from graph_research.research.graph_functions import open_gaps
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import ALL_ROWS, Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent
from graph_research.research.models.draft import (
    Block,
    BlockType,
    DraftSection,
    Statement,
    StatementKind,
    rewritten,
    statements_of,
)
from graph_research.research.models.inline_marks import plain_line
from graph_research.research.report.draft import cited_only, with_chosen_operands
from graph_research.text.language.words import held_share, term_weights
from graph_research.text.wording import one_line

_SECTIONS = (
    Section(name="passages", noun="passage", text="text", least_chars=0, keep=ALL_ROWS, shorten=nearer),
    Section(name="parts", noun="section", text="text", keep=0),
    Section(name="missing", noun="addition", keep=0),
    Section(name="failing", noun="sentence", keep=1),
)
_LEAST_LACKING = 0.5
_ADDED = " / added "
"""In the place of each added statement, behind the id of its section."""


def section_mender(services: Services) -> Handler:
    """The sections with each sentence that fails, or has a note, rewritten, dropped, or as it was where no model gives
    a usable answer. `kept` are those that failed and that the model stands by, with its answer to the objection, for
    the verifier to read again; `replaced` are those that only had a note, by the id of what stands in their place, in
    case that fails; `added` the ids of what a section did not tell and does now; `answered_gaps` the open questions
    and `answered_limits` what readers did not find that new sentences answer, with their ids;
    `evidence` is what the sections cite newly: passages that code found near these sentences. A limit on which none
    bears, and which agrees with the rest, stays as it is, and what is missing and stands near no passage is not asked
    for; where nothing else is left no model is asked."""
    agent = Agent(name="section_mender", role="report", phase="synthesis", sections=_SECTIONS)

    async def mend(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        task = await _Task.of(handoff, ctx)
        if not task.failing and not task.missing:
            return _output(task.sections)
        result = await agent.call(
            services,
            {
                **prompt_context(handoff.get("report_options"), ctx),
                "question": handoff["question"],
                "system_prompt": handoff.get("system_prompt"),
                **await task.material(handoff, ctx),
            },
            ctx,
            fallback=lambda: {"sentences": []},
            windows=handoff.get("model_windows"),
        )
        return {**task.output(handoff, result.output), "degraded": result.degradations(agent.name, ctx)}

    return mend


@dataclass(frozen=True)
class _Task:
    """What the model is asked: the `failing` statements of the `sections` with the `objections` by their ids, what is
    `missing`, the open `gaps` and the `limits` of what was read, with the `passages` that the statements cite and those
    `near` them."""

    sections: Sequence[DraftSection]
    objections: Mapping[str, Mapping[str, Any]]
    failing: Sequence[Statement]
    missing: Sequence[Mapping[str, Any]]
    gaps: Sequence[Mapping[str, Any]]
    limits: Sequence[str]
    passages: Passages
    near: NearPassages

    @classmethod
    async def of(cls, handoff: Mapping[str, Any], ctx: Context) -> _Task:
        sections = [DraftSection.model_validate(part["section"]) for part in handoff["parts"]]
        objections = {row["id"]: row for part in handoff["parts"] for row in part["failing"]}
        named = {row.id: row for section in sections for row in section.statements() if row.id in objections}
        cited = list(_cited(named.values(), objections))
        sources = {row["id"]: row["source_id"] for row in handoff["evidence"]}
        passages, near = await read_passages(handoff, cited, ctx), await NearPassages.of(handoff, ctx)
        failing = await asyncio.to_thread(
            _looked_up, list(named.values()), _beside_cells(sections, sources), objections, passages, near
        )
        missing = await asyncio.to_thread(_told_missing, handoff["parts"], near)
        gaps = open_gaps(handoff.get("gaps") or [])
        limits = list(dict.fromkeys(handoff.get("limits") or []))
        return cls(sections, objections, failing, missing, gaps, limits, passages, near)

    async def material(self, handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        """What the prompt shows of it, numbered."""
        own = list(dict.fromkeys(_cited(self.failing, self.objections)))
        quotes = {row["id"]: row["quote"] for row in handoff["evidence"]}
        beside = _beside(self.failing, self.sections, handoff.get("findings") or [])
        offered = list(dict.fromkeys([*beside, *_lacking(self.failing, self.objections, quotes)]))
        further = await read_passages(handoff, offered, ctx)
        after = {row["after"] for row in self.missing}
        within = self.passages.within(own)
        shown = [
            *self.passages.rows(shown_once(own, within)),
            *further.rows((name for name in offered if name not in own), 0),
            *self.near.rows({*own, *offered}),
        ]
        within |= repeated(shown)
        return {
            "parts": [_part(section, self.failing, after) for section in self.sections],
            "failing": [
                {"cell": "", **self._objection(row, within), **row.to_json(), "text": row.marked, "n": n}
                | {"evidence_ids": shown_once(row.evidence_ids, within)}
                for n, row in enumerate(self.failing, 1)
            ],
            "missing": [_shown_addition(row, self.sections, within) for row in self.missing],
            "gaps": self.gaps,
            "limits": self.limits,
            "passages": [row for row in shown if row["id"] not in within],
        }

    def _accepted(self, name: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """An answer that accepts what the verifier says in a statement's place as a rewrite to that."""
        if row["action"] != "accept":
            return row
        says = self.objections[name].get("says")
        if not says:
            return {**row, "action": "keep"}
        return {**row, **says, "text": Statement.model_validate(says).marked, "action": "rewrite"}

    def _objection(self, row: Statement, within: Mapping[str, str]) -> dict[str, Any]:
        """What is said against a sentence, and with which passages."""
        objection = self.objections[row.id]
        against = objection.get("against") or []
        says = objection.get("says")
        return {
            **objection,
            "says": Statement.model_validate(says).marked if says else "",
            "against": [{**other, "evidence_ids": shown_once(other["evidence_ids"], within)} for other in against],
        }

    def output(self, handoff: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
        """The agent's output but for `degraded`, as the model's answer says."""
        rows, added = answer["sentences"], answer.get("added") or []
        named = ((self.failing[row["n"] - 1].id, row) for row in rows if 1 <= row["n"] <= len(self.failing))
        changed = {name: self._accepted(name, row) for name, row in named}
        additions = _additions(self.missing, added)
        longer = [with_additions(section, additions.get(section.id, ())) for section in self.sections]
        quotes = {row["id"]: row["quote"] for row in handoff["evidence"]}
        quotes |= {name: row.quote for name, row in self.near.evidence.items()}
        mended = [
            cited_only(with_chosen_operands(with_answers(_mended(section, changed)), quotes), quotes)
            for section in longer
        ]
        now = {_words(row.text): row for blocks, _ in mended for row in statements_of(blocks)}
        noted = [row for row in self.failing if self.objections[row.id].get("is_note")]
        replaced = _replaced(noted, changed, now)
        written = [
            section.model_copy(update={"blocks": new}) for section, (new, _) in zip(self.sections, mended, strict=True)
        ]
        whole = [with_lines_of(section, _added(section)) for section in written]
        used = {name for section in whole for row in section.statements() for name in row.evidence_ids}
        return _output(
            whole,
            replaced=[*replaced, *_lengthened(written, whole, replaced)],
            rewritten=_rewritten(self.failing, changed, now),
            kept=_kept(changed, self.objections),
            added=[name for section in whole for name in _added(section)],
            **_answered(self.gaps, self.limits, [*changed.values(), *added], now),
            evidence=[row.to_json() for name, row in self.near.evidence.items() if name in used],
            fabricated=sum(fabricated for _, fabricated in mended),
        )


def _output(sections: Sequence[DraftSection], **made: Any) -> dict[str, Any]:
    lists = ("kept", "replaced", "rewritten", "added", "answered_gaps", "answered_limits", "evidence", "degraded")
    nothing: dict[str, Any] = {**{name: [] for name in lists}, "fabricated": 0}
    return {**nothing, "sections": [section.to_json() for section in sections], **made}


def _cited(rows: Iterable[Statement], objections: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The evidence of the sentences, and of those that they do not agree with."""
    for row in rows:
        yield from row.evidence_ids
        for other in objections[row.id].get("against") or []:
            yield from other["evidence_ids"]


def _told_missing(parts: Iterable[Mapping[str, Any]], near: NearPassages) -> list[dict[str, Any]]:
    """What is missing that passages of the sources are near to, numbered, with its section's id and the passages'."""
    wanted = ((part["section"]["id"], row) for part in parts for row in part.get("missing") or [])
    looked_up = [{**row, "section": section, "passages": near.telling(row["what"])} for section, row in wanted]
    return [{**row, "n": n} for n, row in enumerate((row for row in looked_up if row["passages"]), 1)]


def _kept(
    changed: Mapping[str, Mapping[str, Any]], objections: Mapping[str, Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The statements that the model stands by though they failed, with its answer to the objection."""
    return [
        {"id": name, "answer": row.get("reason") or ""}
        for name, row in changed.items()
        if row["action"] == "keep" and not objections[name].get("is_note")
    ]


def _shown_addition(
    row: Mapping[str, Any], sections: Iterable[DraftSection], within: Mapping[str, str]
) -> dict[str, Any]:
    """What the prompt shows of what is missing; `after` are the words that it belongs behind."""
    section = next(section for section in sections if section.id == row["section"])
    after = next((statement.text for statement in section.statements() if statement.id == row["after"]), "")
    passages = shown_once(row["passages"], within)
    return {**row, "where": section.heading, "after": after, "passages": passages}


def _additions(missing: Sequence[Mapping[str, Any]], answers: Iterable[Mapping[str, Any]]) -> dict[str, list[Addition]]:
    """The additions by the id of their section."""
    additions: dict[str, list[Addition]] = {}
    for answer in answers:
        if 0 < answer["n"] <= len(missing):
            row = missing[answer["n"] - 1]
            place = f"{row['section']}{_ADDED}{answer['n']}"
            additions.setdefault(row["section"], []).append(answered_addition(row["after"], answer, place))
    return additions


def _part(section: DraftSection, failing: Iterable[Statement], after: Collection[str]) -> dict[str, Any]:
    """What the prompt shows of the section: the blocks with failing sentences, and those with something to stand
    behind; where a block to copy is among them, all of it with the evidence, since such a block is mended from what the
    others cite."""
    named = {*(row.id for row in failing), *after}
    near = [block for block in section.blocks if not named.isdisjoint(row.id for row in block.statements())]
    if any(block.type is BlockType.CODE for block in near):
        return {"heading": section.heading, "text": section_text(section)}
    shown = section.model_copy(update={"blocks": near})
    return {"heading": section.heading, "text": section_text(shown, with_evidence=False)}


def _mended(section: DraftSection, changed: Mapping[str, Mapping[str, Any]]) -> list[Block]:
    """The section's blocks with what the answer changes, by the statement's id. The label of a row is never dropped."""
    labels = {cells[0].id for block in section.blocks for cells in block.rows if cells}
    code = {row.id for block in section.blocks if block.type is BlockType.CODE for row in block.sentences}

    def change(statement: Statement) -> Statement | None:
        row = changed.get(statement.id)
        if row is None or row["action"] == "keep":
            return statement
        if row["action"] == "drop" or not (row.get("text") or "").strip():
            return statement if statement.id in labels else None
        answer = {"kind": statement.kind, "evidence_ids": statement.evidence_ids, **row, "place": statement.place}
        return answered_statement(answer, is_code=statement.id in code)

    return rewritten(section.blocks, change)


def _replaced(
    noted: Iterable[Statement], changed: Mapping[str, Mapping[str, Any]], now: Mapping[str, Statement]
) -> list[dict[str, Any]]:
    """The noted statements that were rewritten, each with the id of what stands in its place; `now` are the statements
    as they are mended, by their words."""
    made = ((row, now.get(_words((changed.get(row.id) or {}).get("text")))) for row in noted)
    return [{"id": new.id, "statement": row.to_json()} for row, new in made if new and new != row]


def _rewritten(
    failing: Iterable[Statement], changed: Mapping[str, Mapping[str, Any]], now: Mapping[str, Statement]
) -> list[dict[str, Any]]:
    """`{id, was, statement}` of each statement that was rewritten or dropped, the `id` of what stands in its place
    empty where nothing does: what the one before answered, this one may answer, and what was said of the one before
    may no longer hold."""
    made = ((row, now.get(_words((changed.get(row.id) or {}).get("text")))) for row in failing if row.id in changed)
    return [
        {"id": new.id if new else "", "was": row.id, "statement": row.to_json()}
        for row, new in made
        if changed[row.id]["action"] != "keep" and (new is None or new.id != row.id)
    ]


def _words(text: str | None) -> str:
    """The words of a text, without the marks that an answer set in it."""
    return plain_line(without_markers(text or "")[0])


def _added(section: DraftSection) -> list[str]:
    return [row.id for row in section.statements() if _ADDED in row.place]


def _lengthened(
    before: Iterable[DraftSection], after: Iterable[DraftSection], replaced: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """The blocks to copy that have a new line, each with what stood in its place before it was mended."""
    was = {row["id"]: row["statement"] for row in replaced}
    pairs = chain.from_iterable(
        zip(old.statements(), new.statements(), strict=True) for old, new in zip(before, after, strict=True)
    )
    return [{"id": new.id, "statement": was.get(old.id) or old.to_json()} for old, new in pairs if new.id != old.id]


def _answered(
    gaps: Sequence[Mapping[str, Any]],
    limits: Sequence[str],
    answers: Iterable[Mapping[str, Any]],
    now: Mapping[str, Statement],
) -> dict[str, list[dict[str, Any]]]:
    """The gaps that rewritten or added statements say they answer, each with those statements and what they leave; and
    the limits, numbered behind the gaps, of which they leave nothing."""
    of_gaps, of_limits = list[dict[str, Any]](), list[dict[str, Any]]()
    for row in answers:
        if row.get("action", "rewrite") == "rewrite":
            stated = [row, *(row.get("sentences") or []), *((row.get("row") or {}).get("cells") or [])]
            ids = [now[said].id for one in stated if (said := _words(one.get("text"))) in now]
            named = [(one["gap"], one_line(one.get("left") or "")) for one in row.get("answers") or [] if ids]
            of_gaps += [
                {"gap": gaps[n - 1]["id"], "statements": ids, "left": left} for n, left in named if 0 < n <= len(gaps)
            ]
            whole = [n - len(gaps) for n, left in named if not left]
            texts = [limits[n - 1] for n in whole if 0 < n <= len(limits)]
            of_limits += [
                {"limit": Statement(text=text, kind=StatementKind.LIMIT).id, "text": text, "statements": ids}
                for text in texts
            ]
    return {"answered_gaps": of_gaps, "answered_limits": of_limits}


def _beside(
    failing: Iterable[Statement], sections: Iterable[DraftSection], findings: Iterable[Mapping[str, Any]]
) -> list[str]:
    """The evidence of the findings that the sentences cite, and of the row of a cell: it may say what an objection
    misses, in whatever language that is written. A block to copy stands beside all that its section cites."""
    blocks = [block for section in sections for block in section.blocks if block.type is not BlockType.CODE]
    rows = {cell.id: row for block in blocks for row in block.rows for cell in row}
    stated = {row.id for row in statements_of(blocks)}
    own = [row for row in failing if row.id in stated and row.kind is not StatementKind.LIMIT]
    cited = {name for row in own for name in row.evidence_ids}
    of_rows = [name for row in own for cell in rows.get(row.id, ()) for name in cell.evidence_ids]
    of_findings = [
        name for one in findings if not cited.isdisjoint(one["evidence_ids"]) for name in one["evidence_ids"]
    ]
    return list(dict.fromkeys([*of_rows, *of_findings]))


def _lacking(
    failing: Sequence[Statement], objections: Mapping[str, Mapping[str, Any]], quotes: Mapping[str, str]
) -> list[str]:
    """For each sentence the evidence of the run that holds most of what its objection says is missing, and at least
    half of it: another sentence may cite what this one lacks."""
    held = {name: set(term_weights(quote)) for name, quote in quotes.items()}
    names = []
    for row in failing:
        missing = term_weights(_missing(objections[row.id]))
        said = term_weights(row.text)
        others = [name for name in quotes if name not in row.evidence_ids]
        best = max(others, key=lambda name: (held_share(missing, held[name]), held_share(said, held[name])), default="")
        if best and row.kind is not StatementKind.LIMIT and held_share(missing, held[best]) >= _LEAST_LACKING:
            names.append(best)
    return list(dict.fromkeys(names))


def _missing(objection: Mapping[str, Any]) -> str:
    """What the objection says is missing, without the word of the verdict before it."""
    return str(objection["reason"]).partition(": ")[2]


def _looked_up(
    named: Sequence[Statement],
    beside: Mapping[str, _BesideCell],
    objections: Mapping[str, Mapping[str, Any]],
    passages: Passages,
    near: NearPassages,
) -> list[Statement]:
    """The sentences without the limits that nothing in the sources bears on; a cell is looked up with its row and
    column, and what a limit names one by one, besides by the words in which the editor seeks it. Of a cell that only
    has a note, so that it answers something else than its row and column ask, these are looked up without it."""
    failing = []
    for row in named:
        shown = passages.rows(row.evidence_ids)
        cell, place = objections[row.id].get("cell") or "", beside.get(row.id, _BesideCell())
        text = f"{cell} {row.text}"
        if cell and objections[row.id].get("is_note") and row.kind is not StatementKind.LIMIT:
            near.lacking(cell, place.said, shown)
        if row.kind is not StatementKind.LIMIT or objections[row.id].get("against"):
            missing = _missing(objections[row.id])
            near.definitions(missing, shown) or near.definitions(text, shown)
            near.bearing(text, shown)
            near.bearing(missing, shown, context=text)
            near.limiting(row.text, cell, shown)
            failing.append(row)
        else:
            found = near.lacking(text, place.said, shown, place.column)
            if sought := objections[row.id].get("sought"):
                found = [*found, *near.telling(sought)]
            if found:
                failing.append(row)
    return failing


class _BesideCell(NamedTuple):
    """What stands beside a cell: the row's other cells that were found, and the caption; and the sources that its
    column cites."""

    said: str = ""
    column: Collection[str] = ()


def _beside_cells(sections: Iterable[DraftSection], sources: Mapping[str, str]) -> dict[str, _BesideCell]:
    """What stands beside each cell of the tables, `sources` being those of the evidence, by its id."""
    beside = {}
    for block in (block for section in sections for block in section.blocks):
        columns = [
            {sources[name] for cell in column if cell for name in cell.evidence_ids if name in sources}
            for column in zip_longest(*block.rows)
        ]
        for row in block.rows:
            others = [cell for cell in row[1:] if cell.kind is not StatementKind.LIMIT]
            for cell, column in zip(row, columns, strict=False):
                said = [other.text for other in others if other is not cell]
                beside[cell.id] = _BesideCell(". ".join(filter(None, [*said, block.caption])), column)
    return beside
