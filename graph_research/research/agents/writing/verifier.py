"""The verifier: whether each sentence says what its passages say, by code, and by a model where one serves the role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from graph_research.graph.context import Context
from graph_research.graph.registry import Handler
from graph_research.research.agents.writing.comparisons import Beside
from graph_research.research.agents.writing.passages import Passages, nearer
from graph_research.research.agents.writing.section_text import answered_statement
from graph_research.research.code_blocks import without_objections
from graph_research.research.evidence.archive import read_documents
from graph_research.research.evidence.claim_support import Status, judge
from graph_research.research.llm.prompt_context import prompt_context
from graph_research.research.llm.prompt_fitting import ALL_ROWS, Section
from graph_research.research.llm.services import Services
from graph_research.research.llm.structured_call import Agent, AgentResult
from graph_research.research.models.draft import (
    Statement,
    StatementKind,
    StatementVerdict,
    VerdictWord,
    is_checked_by_code,
)
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.inline_marks import standing_in
from graph_research.research.models.report_options import report_language
from graph_research.research.models.source import Source

_SECTIONS = (
    Section(name="comparisons", noun="comparison", text="text", keep=0),
    Section(name="decisions", noun="section", text="text", keep=0),
    Section(name="passages", noun="passage", text="text", least_chars=0, keep=ALL_ROWS, shorten=nearer),
    Section(name="statements", noun="sentence", keep=1),
)
"""The text around quotes gives way first; a sentence that has no room is not verified."""
_STATED = "stated"
"""What the answer says of a sentence that is supported and infers nothing."""


class _Answer(NamedTuple):
    """The model's verdicts on the statements, and what it says of each of their rows, both by id, and what it was shown
    beside them."""

    verdicts: Mapping[str, StatementVerdict]
    said: Mapping[str, Sequence[Mapping[str, Any]]]
    beside: Beside | None = None
    degraded: Sequence[Mapping[str, Any]] = ()


class _Correction(NamedTuple):
    """What takes the place of a statement, with a verdict of its own, and the passage that it cites besides the
    statement's, if it needs one."""

    statement: Statement
    verdict: StatementVerdict
    further: Evidence | None


def verifier(services: Services) -> Handler:
    """`checks` has a row for each statement of the batch with what code objects to, a note on a cell that the model
    finds in the wrong column, the rest of a block to copy of which lines fail, and of a statement that is supported in
    part the `correction` that the model and code find supported whole. `statement_verdicts` has those that they came
    with and what the model says of those without one, and of the corrections, `evidence` the passages that these cite
    besides; without a model of the role `verification` nobody does, and the statements stay cited."""
    agent = Agent(name="verifier", role="verification", phase="synthesis", sections=_SECTIONS, settle=_settled)

    async def verify(handoff: Mapping[str, Any], ctx: Context) -> dict[str, Any]:
        statements = [Statement.model_validate(row) for row in handoff["batch"]]
        passages = await read_passages(handoff, [name for row in statements for name in row.evidence_ids], ctx)
        answer = await _answer(agent, services, handoff, statements, passages, ctx)
        notes, rests = _misplaced(answer.said), _rests(handoff, statements, passages, answer.said)
        corrections = await _corrections(handoff, statements, passages, answer, ctx)
        return {
            "checks": [
                {
                    "id": name,
                    "problem": problem,
                    "correction": corrections[name].statement.to_json() if name in corrections else None,
                    "note": notes.get(name, ""),
                    "rest": rests.get(name, ""),
                }
                for name, problem in _problems(handoff, statements, passages, answer.verdicts).items()
            ],
            "statement_verdicts": [
                *(row["verdict"] for row in handoff["batch"] if row.get("verdict")),
                *(verdict.to_json() for verdict in answer.verdicts.values()),
                *(correction.verdict.to_json() for correction in corrections.values()),
            ],
            "evidence": [row.further.to_json() for row in corrections.values() if row.further],
            "degraded": answer.degraded,
        }

    return verify


async def _answer(
    agent: Agent,
    services: Services,
    handoff: Mapping[str, Any],
    statements: Sequence[Statement],
    passages: Passages,
    ctx: Context,
) -> _Answer:
    """What the model says of the statements. Code alone checks quotes, limits and labels, and what cites no
    passage."""
    by_code = agent.is_by_code(services, ctx)
    asked = [
        (row, given)
        for row, given in zip(statements, handoff["batch"], strict=True)
        if not (given.get("verdict") or is_checked_by_code(row.kind, in_table=bool(given.get("context"))))
        and (row.kind is StatementKind.TRANSITION or passages.cited(row.evidence_ids))
    ]
    if by_code or not asked:
        return _Answer({}, {})
    rows = _numbered(asked)
    beside = await Beside.of(handoff, asked, passages, ctx)
    material = beside.material(rows)
    asking = partial(_ask, agent, services, handoff, ctx)
    results = [await asking(material)]
    said = _said(results, rows)
    if left := _unanswered(results[0], said):
        again = [row for row in material["statements"] if row["id"] in left]
        results.append(await asking(_settled({**material, "statements": again})))
        said = _said(results, rows)
    degraded = [row for result in results for row in result.degradations(agent.name, ctx)]
    return _Answer(_verdicts_of(said, rows, results[0].model), said, beside, degraded)


def _numbered(asked: Sequence[tuple[Statement, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The statements with the numbers that the prompt shows; each line of a block of code has a number of its own."""
    rows: list[dict[str, Any]] = []
    for statement, given in asked:
        lines = [line for line in statement.text.splitlines() if line.strip()] if given.get("is_code") else []
        for place, text in enumerate(lines or [statement.text]):
            rows.append(
                {
                    **statement.to_json(),
                    "n": len(rows) + 1,
                    "id": statement.id,
                    "text": text,
                    "marked": text if lines else statement.marked,
                    "where": given.get("where") or "",
                    "cell": given.get("context") or "",
                    "row": given.get("row") or "",
                    "column": given.get("column") or "",
                    "is_code": bool(lines),
                    "goes_on": place > 0,
                    "answer": given.get("answer") or "",
                    "limit": given.get("limit") or "",
                }
            )
    return rows


async def _ask(
    agent: Agent, services: Services, handoff: Mapping[str, Any], ctx: Context, material: Mapping[str, Any]
) -> AgentResult:
    context = {**prompt_context(handoff.get("report_options"), ctx), "question": handoff["question"]}
    return await agent.call(
        services,
        {**context, **material},
        ctx,
        fallback=lambda: {"verdicts": []},
        windows=handoff.get("model_windows"),
    )


def _said(results: Iterable[AgentResult], rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The rows of each statement that were shown, by its id, with what the answers say of them."""
    said: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        shown = _shown(result)
        for verdict in result.output["verdicts"]:
            if verdict["n"] in shown:
                row, stated = rows[verdict["n"] - 1], verdict["verdict"] == _STATED
                word = VerdictWord.SUPPORTED if stated else verdict["verdict"]
                known = {"verdict": word, "stated": stated, "reason": verdict.get("reason") or ""}
                said.setdefault(row["id"], []).append({**row, **verdict, **known})
    return said


def _shown(result: AgentResult) -> set[int]:
    return {row["n"] for row in result.shown.get("statements") or []}


def _unanswered(result: AgentResult, said: Mapping[str, Sequence[Mapping[str, Any]]]) -> set[str]:
    """The statements of which a row was shown that the answer leaves out."""
    answered = {row["n"] for rows in said.values() for row in rows}
    return {row["id"] for row in result.shown.get("statements") or [] if row["n"] not in answered}


def _misplaced(said: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, str]:
    """For each cell that the answer finds in the wrong column what the mender is told."""
    cells = {name: row for name, rows in said.items() for row in rows if row["column"] and row.get("misplaced")}
    return {name: f"It does not answer its column: {row['column']}; {row['reason']}" for name, row in cells.items()}


def _rests(
    handoff: Mapping[str, Any],
    statements: Sequence[Statement],
    passages: Passages,
    said: Mapping[str, Sequence[Mapping[str, Any]]],
) -> dict[str, str]:
    """For each block to copy of which some lines fail what is left without them."""
    rests: dict[str, str] = {}
    for row, given in zip(statements, handoff["batch"], strict=True):
        if given.get("is_code"):

            def holds(text: str, row: Statement = row, given: Mapping[str, Any] = given) -> bool:
                line = row.model_copy(update={"text": text, "kind": StatementKind.ANALYSIS})
                return not _problem(line, given, passages, handoff, None)

            objected = {one["text"].strip() for one in said.get(row.id, ()) if one["verdict"] != VerdictWord.SUPPORTED}
            rests[row.id] = without_objections(row.text, objected, holds)
    return rests


async def _corrections(
    handoff: Mapping[str, Any], statements: Sequence[Statement], passages: Passages, answer: _Answer, ctx: Context
) -> dict[str, _Correction]:
    """By the id of a statement that is supported in part what the model says that its passages bear out, where code
    objects to nothing in it: with the passages of the statement, else with the first further one that was shown beside
    it and has its words, since the model did not say which one it means."""
    corrections: dict[str, _Correction] = {}
    lacking: list[tuple[Statement, Mapping[str, Any], str]] = []
    for row, given in zip(statements, handoff["batch"], strict=True):
        text = _says_instead(row, answer)
        correction = _corrected(row, text, answer, None) if text else None
        if correction and correction.statement.text != row.text:
            if not _problem(correction.statement, given, passages, handoff, correction.verdict):
                corrections[row.id] = correction
            else:
                lacking.append((row, given, text))
    if lacking and answer.beside:
        shown = {row.id: answer.beside.further(row, passages, handoff) for row, *_ in lacking}
        evidence = [*handoff["evidence"], *(one.to_json() for further in shown.values() for one in further)]
        named = [name for row, *_ in lacking for name in (*row.evidence_ids, *(one.id for one in shown[row.id]))]
        wider = await read_passages({**handoff, "evidence": evidence}, named, ctx)
        for row, given, text in lacking:
            tried = (_corrected(row, text, answer, one) for one in shown[row.id])
            holding = (one for one in tried if not _problem(one.statement, given, wider, handoff, None))
            if correction := next(holding, None):
                corrections[row.id] = correction
    return corrections


def _says_instead(row: Statement, answer: _Answer) -> str:
    """What the model says that the passages bear out of a statement that they support in part, if it is no code."""
    verdict = answer.verdicts.get(row.id)
    if verdict is None or verdict.verdict is not VerdictWord.PARTLY:
        return ""
    said = (one["says"].strip() for one in answer.said.get(row.id, ()) if one.get("says") and not one["is_code"])
    return next(said, "")


def _corrected(row: Statement, text: str, answer: _Answer, further: Evidence | None) -> _Correction:
    ids = [*row.evidence_ids, *([further.id] if further else [])]
    answered = answered_statement({**row.to_json(), "text": text, "evidence_ids": ids, "place": row.place})
    marks = {
        "code": [*answered.code, *standing_in(answered.text, row.code)],
        "strong": [*answered.strong, *standing_in(answered.text, row.strong)],
    }
    statement = answered.model_copy(update={name: list(dict.fromkeys(found)) for name, found in marks.items()})
    model = answer.verdicts[row.id].model
    verdict = StatementVerdict(id=statement.id, verdict=VerdictWord.SUPPORTED, model=model)
    return _Correction(statement, verdict, further)


def _verdicts_of(
    said: Mapping[str, Sequence[Mapping[str, Any]]], rows: Sequence[Mapping[str, Any]], model: str
) -> dict[str, StatementVerdict]:
    """The worst verdict of the model on each statement, by id, with all reasons; a statement of which a row was not
    judged has none, unless another of its rows is objected to."""
    judged = {row["n"] for given in said.values() for row in given}
    partly_judged = {row["id"] for row in rows if row["n"] not in judged}
    verdicts: dict[str, StatementVerdict] = {}
    for name, given in said.items():
        objections = [row for row in given if row["verdict"] != VerdictWord.SUPPORTED]
        word = max((VerdictWord(row["verdict"]) for row in given), key=list(VerdictWord).index)
        if objections or name not in partly_judged:
            reason = "; ".join(dict.fromkeys(map(_reason, objections)))
            stated = all(row["stated"] for row in given)
            verdicts[name] = StatementVerdict(id=name, verdict=word, reason=reason, model=model, stated=stated)
    return verdicts


def _reason(row: Mapping[str, Any]) -> str:
    return f"{row['text'].strip()}: {row['reason']}" if row["is_code"] else str(row["reason"])


async def read_passages(handoff: Mapping[str, Any], evidence_ids: Sequence[str], ctx: Context) -> Passages:
    """The evidence of these ids with the texts of its sources, as the handoff and the archive have them."""
    wanted = set(evidence_ids)
    evidence = [row for row in handoff["evidence"] if row["id"] in wanted]
    named = {row["source_id"] for row in evidence}
    sources = [Source.model_validate(row) for row in handoff["sources"] if row["id"] in named]
    return Passages(evidence, {source.id: source for source in sources}, await read_documents(sources, ctx))


def _problems(
    handoff: Mapping[str, Any],
    statements: Sequence[Statement],
    passages: Passages,
    verdicts: Mapping[str, StatementVerdict],
) -> dict[str, str]:
    """What code objects to, by the statement's id; empty where it holds."""
    problems: dict[str, str] = {}
    for row, given in zip(statements, handoff["batch"], strict=True):
        earlier = given.get("verdict")
        verdict = StatementVerdict.model_validate(earlier) if earlier else verdicts.get(row.id)
        problems[row.id] = _problem(row, given, passages, handoff, verdict)
    return problems


def _problem(
    statement: Statement,
    given: Mapping[str, Any],
    passages: Passages,
    handoff: Mapping[str, Any],
    verdict: StatementVerdict | None,
) -> str:
    """Why the statement is not supported, as the report will judge it; empty where it is."""
    judgement = judge(
        statement.text,
        statement.kind,
        passages.cited(statement.evidence_ids),
        question=handoff["question"],
        computed=statement.computed,
        judged=statement.judged,
        verdict=verdict,
        context=given.get("context") or "",
        is_code=bool(given.get("is_code")),
        language=report_language(handoff.get("report_options"), handoff["question"]),
        limit=given.get("limit") or "",
    )
    return judgement.problem if judgement.status is Status.UNSUPPORTED else ""


def _settled(material: dict[str, Any]) -> dict[str, Any]:
    """Only the passages and comparisons of the statements that are shown."""
    named = {name for row in material["statements"] for name in (*row["cites"], *row["compares"])}
    return {
        **material,
        "passages": [row for row in material["passages"] if row["name"] in named],
        "comparisons": [row for row in material["comparisons"] if row["name"] in named],
    }
