"""Functions of the graph that writes the report: what is written, checked and mended. Pure, over plain JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, groupby
from operator import itemgetter
from typing import Any

from graph_research.research.code_blocks import notes_on_code, without_lines_of
from graph_research.research.evidence.citations import assumed_beside, in_context, with_limits
from graph_research.research.evidence.contradictions import new_or_settled
from graph_research.research.models.draft import (
    EMPTY_CELL,
    STATEMENTS_OF_A_BATCH,
    Block,
    BlockType,
    DraftSection,
    Statement,
    StatementKind,
    VerdictWord,
    is_checked_by_code,
    is_label,
    without_statements,
)
from graph_research.research.models.evidence import Contradiction
from graph_research.research.models.outline import SectionAction
from graph_research.research.models.source import Source
from graph_research.research.scoring.versions import newest_versions
from graph_research.text.language.opposites import only_denies

SENTENCES_OF_A_MENDING = 20  # at most, unless a single section has more

_DENIES = "It does not answer its column: {column}; it only says that what its row names is not."
_STATING = (StatementKind.FACT, StatementKind.ANALYSIS)
_LOOKED_UP = "The program looked this up again in all sources of the research; passages near it are among those above."
Row = Mapping[str, Any]
Rows = Sequence[Row]


def newest_versions_of(question: str, sources: Rows, background: Rows = ()) -> list[str]:
    """What the report's header says of versions: each thing that the question names, with the newest that sources or
    the scout's `background` name."""
    newest = newest_versions(question, map(Source.model_validate, sources), background)
    return [f"{name} {version}" for name, version in newest.items()]


def sections_to_write(outline: Rows) -> list[Row]:
    """The sections that are new or revised; what is kept costs no call."""
    return [row for row in outline if row["action"] != SectionAction.KEEP]


def section_searches(outline: Rows) -> list[str]:
    """The queries for what the sections need that are written, each once."""
    return list(dict.fromkeys(query for row in sections_to_write(outline) for query in row.get("searches") or ()))


def written_sections(outline: Rows, draft: Row | None, outputs: Rows) -> list[Row]:
    """The sections that there are, in the outline's order: as they were just written, else as the last draft has
    them."""
    before = {row["id"]: row for row in (draft or {}).get("sections") or [] if row["id"]}
    now = {row["id"]: row["section"] for row in outputs if row["section"]}
    return [section for row in outline if (section := now.get(row["id"]) or before.get(row["id"]))]


def newly_told(contradictions: Rows, outputs: Rows) -> list[Row]:
    """The contradictions that writers of sections named beside the known ones, and the known ones that they settle."""
    told = [Contradiction.model_validate(row) for output in outputs for row in output["contradictions"]]
    known = map(Contradiction.model_validate, contradictions)
    return [row.to_json() for row in new_or_settled(told, known)]


def statement_batches(
    sections: Rows, checks: Rows, verdicts: Rows, kept: Rows = (), repeated: Rows = ()
) -> list[list[Row]]:
    """The statements of the sections that have no check, in batches: first those that no model has judged and those
    that were objected to and are `kept`, with the `answer`, then those with a `verdict`, which code checks again: of an
    earlier round, or of a statement of the `repeated` sections with the same words and evidence."""
    answers = {row["id"]: row["answer"] for row in kept}
    checked = {row["id"] for row in checks} - answers.keys()
    said = {row["id"]: row for row in verdicts if row["id"] not in answers}
    said_before = _said_before(repeated, said)
    fresh: dict[str, list[Row]] = {}
    judged: list[Row] = []
    seen: set[str] = set()
    for row in sections:
        section = DraftSection.model_validate(row)
        for statement, place in _with_places(section):
            name = statement.id
            if name in checked or name in seen or is_label(statement) or not statement.text.strip():
                continue
            seen.add(name)
            verdict = said.get(name)
            if verdict is None and name not in answers and (before := said_before.get(_content(statement, place))):
                verdict = {**before, "id": name}
            given = {**statement.to_json(), **place, "verdict": verdict, "answer": answers.get(name, "")}
            if verdict:
                judged.append(given)
            else:
                fresh.setdefault(f"{row.get('id')} {place['block']}", []).append(given)
    return [*_batches(list(fresh.values())), *([judged] if judged else [])]


def _said_before(sections: Rows, said: Mapping[str, Row]) -> dict[tuple[Any, ...], Row]:
    """The verdicts on the statements of the sections, by what the statements say."""
    return {
        _content(statement, place): said[statement.id]
        for row in sections
        for statement, place in _with_places(DraftSection.model_validate(row))
        if statement.id in said
    }


def _content(statement: Statement, place: Row) -> tuple[Any, ...]:
    """What a verdict on a statement depends on, whatever stands around it."""
    context = place.get("context", ""), place["is_code"]
    said = statement.text, statement.kind, *sorted(statement.evidence_ids)
    return (*said, tuple(statement.computed), tuple(statement.judged), *context)


def _batches(blocks: Sequence[list[Row]]) -> list[list[Row]]:
    """Batches of statements that a model is asked about. Those of a section stay together, or where they are too many
    those of a block, and sections that cite the same evidence, so that a passage is shown in few batches."""
    left = dict(enumerate(_units(blocks)))
    batches: list[list[Row]] = []
    while left:
        first = next(iter(left))
        batch = {first: left.pop(first)}
        asked, cited = _asked(batch[first]), _cited(batch[first])
        while fitting := [n for n, rows in left.items() if _asked(rows) + asked <= STATEMENTS_OF_A_BATCH]:
            best = max(fitting, key=lambda n: len(_cited(left[n]) & cited))
            batch[best] = left.pop(best)
            asked, cited = asked + _asked(batch[best]), cited | _cited(batch[best])
        batches.append([row for n in sorted(batch) for row in batch[n]])
    return batches


def _units(blocks: Sequence[list[Row]]) -> Iterator[list[Row]]:
    """What is asked about in one batch: the blocks of a section, or parts of each where they are more than a batch."""
    for _, group in groupby(blocks, key=lambda rows: rows[0]["section"]):
        section = list(group)
        if sum(map(_asked, section)) <= STATEMENTS_OF_A_BATCH:
            yield list(chain.from_iterable(section))
        else:
            yield from (part for rows in section for part in _parts(rows))


def _parts(rows: Rows) -> list[list[Row]]:
    """The statements of a block in as few parts of whole rows as hold no more than a batch."""
    parts: list[list[Row]] = [[]]
    for _, line in groupby(rows, key=itemgetter("line")):
        statements = list(line)
        if parts[-1] and _asked([*parts[-1], *statements]) > STATEMENTS_OF_A_BATCH:
            parts.append([])
        parts[-1] += statements
    return parts


def _asked(rows: Rows) -> int:
    """How many of the statements a model is asked about."""
    return sum(not is_checked_by_code(row["kind"], in_table=bool(row.get("context"))) for row in rows)


def _cited(rows: Rows) -> set[str]:
    return {name for row in rows for name in row["evidence_ids"]}


def _with_places(section: DraftSection) -> Iterator[tuple[Statement, Row]]:
    """Each statement with what it needs to be understood: `where`, its `section` and table, for a cell its `row` and
    `column`, and both as the `context` that code reads it with, the `limit` right before a sentence or what is assumed
    beside it, the numbers of its `block` and of the `line` there, and `is_code`."""
    for number, (block, assumed) in enumerate(zip(section.blocks, assumed_beside(section.blocks), strict=True)):
        place = {
            "where": section.heading,
            "section": section.heading,
            "block": number,
            "is_code": block.type is BlockType.CODE,
        }
        prose = chain.from_iterable(with_limits(said, assumed) for said in (block.sentences, *block.items))
        for line, (statement, limit) in enumerate(prose, 1):
            yield statement, {**place, "line": line, "limit": limit}
        where = " / ".join(filter(None, (section.heading, block.caption)))
        for line, row in enumerate(block.rows, 1):
            at = {**place, "line": line, "where": where, "row": row[0].text if row else ""}
            for column, (cell, context) in enumerate(in_context(row, block.header, line)):
                title = block.header[column] if column < len(block.header) else ""
                yield cell, {**at, "column": title, "context": context}


def sections_to_mend(
    outline: Rows,
    sections: Rows,
    checks: Rows,
    verdicts: Rows,
    inconsistencies: Rows,
    others: Rows,
    missing: Rows,
) -> list[Row]:
    """`parts_to_mend` of the sections of this round, of one that is kept only what the editor found inconsistent, also
    with what stands in `others`: what the editor wrote, and the sections with what was left out of them; each also with
    what it does not tell, as `missing`: `{after, what}`. What was not found is looked up by the words of the editor,
    which are `sought`."""
    sought = {row["after"]: row["what"] for row in missing if row.get("is_limit")}
    written = {row["id"] for row in sections_to_write(outline)}
    named = {name for row in inconsistencies for name in row["change"]}
    failing = {
        part["section"]["id"]: [
            {**row, "sought": sought.get(row["id"], "")}
            for row in part["failing"]
            if part["section"]["id"] in written or row["id"] in named
        ]
        for part in parts_to_mend(sections, checks, verdicts, inconsistencies, others)
    }
    parts = (
        {
            "section": section,
            "failing": failing.get(section["id"], []),
            "missing": [row for row in missing if row["section"] == section["id"] and row["after"] not in sought],
        }
        for section in sections
    )
    return [part for part in parts if part["failing"] or part["missing"]]


def judged_repetitions(
    sections: Rows,
    repeated: Rows,
    checks: Rows,
    verdicts: Rows,
    inconsistencies: Rows,
    missing: Rows,
    answered: Rows,
    contradictions: Rows = (),
) -> list[Row]:
    """The `repeated` sentences and rows, each with why it is `kept`, empty where it is left out: the place that tells
    the same is left out itself, or fails a check or agrees less than it does; or something depends on it: what is
    `missing` stands behind it, a gap or limit is `answered` by it, it alone settles one of the `contradictions`, or it
    alone has a name that is set as code, such as a setting's."""
    failing = {row["id"] for row in checks if row["problem"]}
    failing |= {row["id"] for row in verdicts if row["verdict"] != VerdictWord.SUPPORTED}
    failing |= {name for row in inconsistencies for name in row["change"]}
    needed = dict.fromkeys((row["after"] for row in missing), "what is added stands behind it")
    needed |= dict.fromkeys((name for row in answered for name in row["statements"]), "it answers an open point")
    parts = [DraftSection.model_validate(row) for row in sections]
    settling = _settling(parts, contradictions)
    written = {row.id: row for part in parts for row in part.statements()}
    gone: set[str] = set()
    judged: list[Row] = []
    for row in repeated:
        cut, told = set(row["statements"]), set(row["told"])
        reasons = [
            row.get("kept"),
            *(needed[name] for name in row["statements"] if name in needed),
            "it settles a contradiction" if cut & settling and not told & settling else "",
            "it alone names something" if told and _names_alone(cut, gone, written) else "",
            "the place that tells the same is left out" if told & gone else "",
            "the place that tells the same fails a check" if told & failing and not cut & failing else "",
        ]
        kept = next(filter(None, reasons), "")
        judged.append({**row, "kept": kept})
        if not kept:
            gone |= cut
            needed |= dict.fromkeys(told, "it tells what is left out elsewhere")
    return judged


def without_repeated(sections: Rows, repeated: Rows) -> list[Row]:
    """The sections without the `judged_repetitions` that are not kept. What is cut, since no place tells the same,
    takes its lines in blocks to copy along."""
    left_out = [row for row in repeated if not row["kept"]]
    gone = {name for row in left_out for name in row["statements"]}
    cut = {name for row in left_out if not row["told"] for name in row["statements"]}
    parts = map(DraftSection.model_validate, sections)
    return [part.model_copy(update={"blocks": _shorter(part.blocks, gone, cut)}).to_json() for part in parts]


def _settling(sections: Sequence[DraftSection], contradictions: Rows) -> set[str]:
    """The analysis that cites two sides of a contradiction which a section settles: it says which of them holds."""
    sides = [
        [set(side["evidence_ids"]) for side in row["sides"]] for row in contradictions if row.get("settled", False)
    ]
    analysis = (row for part in sections for row in part.statements() if row.kind is StatementKind.ANALYSIS)
    return {
        row.id for row in analysis if any(sum(bool(side & {*row.evidence_ids}) for side in one) > 1 for one in sides)
    }


def _names_alone(cut: Set[str], gone: Set[str], written: Mapping[str, Statement]) -> bool:
    """Whether a statement that is cut has a name set as code that no other has which is not gone."""
    others = "\n".join(row.text for name, row in written.items() if name not in cut | gone)
    return any(code not in others for name in cut if name in written for code in written[name].code)


def _shorter(blocks: Sequence[Block], gone: Set[str], cut: Set[str]) -> list[Block]:
    """The blocks without the statements that are gone, and in those to copy without the lines of rows that are cut."""
    rows = [row for block in blocks for row in block.rows if all(cell == EMPTY_CELL or cell.id in cut for cell in row)]
    return without_lines_of(without_statements(blocks, gone), rows)


def edited_parts(summary: Rows, conclusions: Rows) -> list[Row]:
    """What the editor wrote as sections, so that it is verified and mended like them."""
    parts = {"summary": summary, "conclusions": conclusions}
    return [{"id": name, "heading": name.capitalize(), "blocks": blocks} for name, blocks in parts.items() if blocks]


def edited_blocks(name: str, blocks: Rows, mended: Rows) -> Rows:
    """The blocks of the part `name`, as they are among the `mended` ones if they were."""
    return next((row["blocks"] for row in mended if row["id"] == name), blocks)


def mending_batches(parts: Rows) -> list[list[Row]]:
    """Parts to mend in their order, those side by side together that have few failing statements and additions."""
    batches: list[list[Row]] = []
    room = 0
    for row in parts:
        count = len(row["failing"]) + len(row.get("missing") or [])
        if count > room:
            batches.append([])
            room = SENTENCES_OF_A_MENDING
        batches[-1].append(row)
        room -= count
    return batches


def parts_to_mend(
    sections: Rows, checks: Rows, verdicts: Rows, inconsistencies: Rows = (), others: Rows = ()
) -> list[Row]:
    """`{section, failing: [{id, reason, where, cell, is_note, against, says}]}` for each section with statements that
    code or the verifier objects to, or of which there is a note: what the editor found inconsistent, with what it does
    not agree with as `against`, from these sections and from `others`; with what the verifier finds borne out in place
    of a statement to which nothing else is objected, as `says`; a cell that does not answer its column; a limit; a
    block to copy without a setting that a table names."""
    problems = {row["id"]: row["problem"] for row in checks if row["problem"]}
    objections = {
        row["id"]: f"{row['verdict']} supported: {row['reason']}"
        for row in verdicts
        if row["verdict"] != VerdictWord.SUPPORTED
        and not (row["reason"] and row["reason"] in problems.get(row["id"], ""))
    }
    disagreements, against = _disagreements(inconsistencies, [*sections, *others])
    mending: list[Row] = []
    misplaced = {row["id"]: row["note"] for row in checks if row.get("note")}
    corrections = {row["id"]: row["correction"] for row in checks if row.get("correction")}
    for row in sections:
        section = DraftSection.model_validate(row)
        limits = (statement.id for statement in section.statements() if statement.kind is StatementKind.LIMIT)
        places = {statement.id: place for statement, place in _with_places(section)}
        notes = {**_notes_on_cells(section, places), **misplaced, **dict.fromkeys(limits, _LOOKED_UP)}
        notes |= notes_on_code(section)
        reasons = {
            name: [said[name] for said in (problems, objections, disagreements, notes) if name in said]
            for name in places
        }
        failing = [
            {
                "id": name,
                "reason": "; ".join(reasons[name]),
                "where": place["where"],
                "cell": place.get("context", ""),
                "is_note": name not in problems and name not in objections,
                "against": against.get(name, []),
                "says": corrections.get(name) if name not in disagreements and name not in notes else None,
            }
            for name, place in places.items()
            if reasons[name]
        ]
        if failing:
            mending.append({"section": row, "failing": failing})
    return mending


def _notes_on_cells(section: DraftSection, places: Mapping[str, Row]) -> dict[str, str]:
    """Notes on the cells that say no more than that what their row's label names is not, by id."""
    stating = ((row, places[row.id]) for row in section.statements() if row.kind in _STATING and row.id in places)
    cells = ((cell, place) for cell, place in stating if place.get("column") and cell.text != place["row"])
    empty = ((cell, place) for cell, place in cells if only_denies(cell.text, place["row"]))
    return {cell.id: _DENIES.format(column=place["column"]) for cell, place in empty}


def _disagreements(inconsistencies: Rows, sections: Rows) -> tuple[dict[str, str], dict[str, list[Row]]]:
    """By the id of each statement to change: what does not agree, and the other side of it as `{where, cell, row,
    column, text, evidence_ids}`: what it is against, or where all sides are to change, the others."""
    told: dict[str, Row] = {}
    for section in sections if inconsistencies else ():
        for statement, place in _with_places(DraftSection.model_validate(section)):
            shown = {"text": statement.text, "evidence_ids": list(statement.evidence_ids)}
            at = {"cell": place.get("context", ""), "row": place.get("row", ""), "column": place.get("column", "")}
            told[statement.id] = {"where": place["where"], **at, **shown}
    problems: dict[str, dict[str, None]] = {}
    against: dict[str, dict[str, None]] = {}
    for row in inconsistencies:
        for name in row["change"]:
            others = (other for other in row["against"] or row["change"] if other in told and other != name)
            against.setdefault(name, {}).update(dict.fromkeys(others))
            problems.setdefault(name, {})[f"does not agree: {row['problem']}"] = None
    reasons = {name: "; ".join(said) for name, said in problems.items()}
    return reasons, {name: [told[other] for other in others] for name, others in against.items()}
