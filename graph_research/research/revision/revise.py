"""The state of a run with the revisions of its report applied: sentences, findings, conflicts and confidence."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from graph_research.research.evidence.claims import Ground
from graph_research.research.evidence.contradictions import share_two_sides
from graph_research.research.evidence.findings import scored
from graph_research.research.models.draft import DraftSection, Statement, paragraphs_of, stored_draft
from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.finding import Claim, Finding
from graph_research.research.models.ids import finding_id
from graph_research.research.models.record import Record
from graph_research.research.models.report_options import report_language
from graph_research.research.models.source import Source
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.revision.model import Edit, Exclusion, FollowUp, Refresh, Revision
from graph_research.research.revision.sentences import edited_draft, mended_draft, with_sections, without_evidence
from graph_research.research.scoring.claim import job_confidence
from graph_research.research.scoring.origin import independent, origins
from graph_research.text.relevance.support import DEFINITE, SUPPORTED, support

State = Mapping[str, Any]


def with_added(state: State, revisions: Iterable[Revision]) -> State:
    """The state with what follow-up questions and refreshes added and nothing left out; what a caller needs the texts
    of."""
    for revision in revisions:
        if isinstance(revision, Refresh):
            cells = [cell for row in revision.rows.values() for cell in row if cell.evidence_ids]
            section = DraftSection(heading="", blocks=paragraphs_of([*revision.sentences.values(), *cells]))
            draft = with_sections(stored_draft(state.get("draft") or {}), [section])
            state = {**state, "draft": _row(draft), "evidence": _added(state, "evidence", revision.evidence)}
        if isinstance(revision, FollowUp):
            draft = with_sections(stored_draft(state.get("draft") or {}), revision.sections)
            state = {
                **state,
                "draft": _row(draft),
                "sources": _added(state, "sources", revision.sources),
                "evidence": _added(state, "evidence", revision.evidence),
                "findings": _added(state, "findings", revision.findings),
                "contradictions": _disputed(state, revision.contradictions),
                "statement_verdicts": _added(state, "statement_verdicts", revision.verdicts),
            }
    return state


def revised(state: State, revisions: Sequence[Revision], texts: Mapping[str, str]) -> State:
    """The state with `revisions`, those that hold, applied. `texts` maps archive hash to text, by which copies of one
    text are told.

    Claims and the confidence of the whole are scored again where evidence came or went, for which a source that a
    further question added counts only where a claim rests on it, and one that lost all its evidence does not count;
    edits are applied last, so that what the user said of a claim stays.
    """
    edits = [revision for revision in revisions if isinstance(revision, Edit)]
    others = [revision for revision in revisions if not isinstance(revision, Edit)]
    gathered, quoted = {row["id"] for row in state.get("sources") or []}, _quoted(state)
    for revision in others:
        state = _applied(state, revision)
    if others:
        state = _rescored(state, texts, gathered - (quoted - _quoted(state)))
    for edit in edits:
        state = _edited(state, edit)
    return state


def _quoted(state: State) -> set[str]:
    """The ids of the sources that there is evidence of."""
    return {row["source_id"] for row in state.get("evidence") or []}


def _applied(state: State, revision: Revision) -> State:
    if isinstance(revision, Exclusion):
        gone = [row["id"] for row in state.get("evidence") or [] if row["source_id"] == revision.source_id]
        return _without_source(_without(state, gone, revision.left_out), revision.source_id)
    if isinstance(revision, Refresh):
        return _without(_mended(state, revision), revision.evidence_ids, revision.left_out)
    if isinstance(revision, FollowUp):
        return with_added(state, [revision])
    return state


def _mended(state: State, revision: Refresh) -> State:
    """The state with the sentences of a refresh, in findings that read alike too, and with its contradictions in the
    place of those that they tell anew."""
    findings = [
        finding if (new := _said_now(finding, revision)) is None else _restated(finding, new)
        for finding in map(Finding.model_validate, state.get("findings") or [])
    ]
    return {
        **state,
        "draft": _row(mended_draft(stored_draft(state.get("draft") or {}), revision.sentences, revision.rows)),
        "evidence": _added(state, "evidence", revision.evidence),
        "findings": [_row(finding) for finding in findings],
        "contradictions": _disputed(state, revision.contradictions),
    }


def _said_now(finding: Finding, revision: Refresh) -> Statement | None:
    """What a finding says after a refresh, None where that does not change it."""
    row = revision.rows.get(finding.evidence_ids[0]) if len(finding.evidence_ids) == 1 else None
    if row is None:
        return revision.sentences.get(finding.content)
    quoted = [cell for cell in row if cell.evidence_ids]
    return quoted[0].model_copy(update={"text": " ".join(cell.text for cell in quoted)})


def _disputed(state: State, new: Sequence[Contradiction]) -> list[dict[str, Any]]:
    """The contradictions of the state and the new ones, which take the place of those that they tell anew."""
    old = map(Contradiction.model_validate, state.get("contradictions") or [])
    standing = [row for row in old if not any(share_two_sides(row, other) for other in new)]
    return [_row(row) for row in (*standing, *new)]


def _restated(finding: Finding, new: Statement) -> Finding:
    changes = {"id": finding_id(new.text), "content": new.text, "evidence_ids": new.evidence_ids}
    return finding.model_copy(update=changes)


def _without(state: State, gone: Collection[str], left_out: Collection[str]) -> State:
    """The state without this evidence, and without the sentences, findings and sides that rest only on it."""
    evidence = [Evidence.model_validate(row) for row in state.get("evidence") or []]
    quotes = {row.id: row.quote for row in evidence if row.id not in gone}
    contradictions = list(_contradictions(state, gone))
    if not contradictions:
        labels = labels_for(report_language(state.get("report_options"), state.get("question") or ""))
        left_out = [*left_out, labels.disputed_values]
    draft = without_evidence(stored_draft(state.get("draft") or {}), quotes, gone, left_out)
    return {
        **state,
        "draft": _row(draft),
        "evidence": [_row(row) for row in evidence if row.id not in gone],
        "findings": list(_findings(state, {row.id: row.source_id for row in evidence if row.id not in gone})),
        "contradictions": contradictions,
    }


def _findings(state: State, source_of: Mapping[str, str]) -> Iterable[dict[str, Any]]:
    for finding in map(Finding.model_validate, state.get("findings") or []):
        ids = [name for name in finding.evidence_ids if name in source_of]
        if ids:
            sources = list(dict.fromkeys(source_of[name] for name in ids))
            yield _row(finding.model_copy(update={"evidence_ids": ids, "source_ids": sources}))


def _contradictions(state: State, gone: Collection[str]) -> Iterable[dict[str, Any]]:
    for contradiction in map(Contradiction.model_validate, state.get("contradictions") or []):
        sides = [
            side.model_copy(update={"evidence_ids": ids})
            for side in contradiction.sides
            if (ids := [name for name in side.evidence_ids if name not in gone])
        ]
        if len(sides) > 1:
            yield _row(contradiction.model_copy(update={"sides": sides}))


def _without_source(state: State, source_id: str) -> State:
    topics = [
        {**topic, "source_ids": [name for name in topic.get("source_ids") or [] if name != source_id]}
        for topic in state.get("topics") or []
    ]
    sources = [row for row in state.get("sources") or [] if row["id"] != source_id]
    return {**state, "topics": topics, "sources": sources}


def _rescored(state: State, texts: Mapping[str, str], gathered: Collection[str]) -> State:
    sources = [Source.model_validate(row) for row in state.get("sources") or []]
    evidence = [Evidence.model_validate(row) for row in state.get("evidence") or []]
    findings = [Finding.model_validate(row) for row in state.get("findings") or []]
    behind = origins(sources, {row.id: texts[row.archive_hash] for row in sources if row.archive_hash in texts})
    ground = Ground(
        question=state.get("question") or "",
        sources={row.id: row for row in sources},
        evidence={row.id: row for row in evidence},
        contradictions=[Contradiction.model_validate(row) for row in state.get("contradictions") or []],
        origins=behind,
    )
    score = scored(findings, ground)
    behind_claims = {name for claim in score.claims for name in (*claim.support, *claim.against)}
    counted = [row.id for row in sources if row.id in gathered or row.id in behind_claims]
    origin_count = independent(behind[name] for name in counted)
    return {
        **state,
        "findings": [_row(finding) for finding in score.findings],
        "claims": [_row(claim) for claim in score.claims],
        "confidence": _confidence(score.claims, len(counted), origin_count),
    }


def _confidence(claims: Sequence[Claim], sources: int, origin_count: int) -> dict[str, Any]:
    return _row(job_confidence(claims, sources, origin_count))


def _edited(state: State, edit: Edit) -> State:
    claims = [Claim.model_validate(row) for row in state.get("claims") or []]
    changed = [claim for old in claims if (claim := _edited_claim(old, edit, state)) is not None]
    before = state.get("confidence") or {}
    draft = stored_draft(state.get("draft") or {})
    draft = edited_draft(draft, edit.sentence, edit.text, drop=edit.drop, place=edit.place)
    state = {
        **state,
        "draft": _row(draft),
        "claims": [_row(claim) for claim in changed],
    }
    if changed == claims or not before:
        return state
    sources, origin_count = int(before.get("source_count") or 0), int(before.get("origin_count") or 0)
    return {**state, "confidence": _confidence(changed, sources, origin_count)}


def _edited_claim(claim: Claim, edit: Edit, state: State) -> Claim | None:
    """The claim as the user wants it, None where it goes. Sources whose quotes do not support its new text stand
    neither for nor against it any more."""
    if claim.id != edit.claim_id:
        return claim
    if edit.drop:
        return None
    new: dict[str, Any] = {"edited": True}
    if edit.text is not None:
        found = support(edit.text, _quotes(claim, state))
        follows = found.score >= SUPPORTED and not any(kind in DEFINITE for kind, _ in found.lacks)
        none = {"support": [], "against": [], "support_strength": 0.0, "contradiction": False, "confidence": 0.0}
        new |= {"text": edit.text} | ({} if follows else none)
    if edit.confidence is not None:
        new["confidence"] = edit.confidence
    return claim.model_copy(update=new)


def _quotes(claim: Claim, state: State) -> list[str]:
    """The quotes that a claim rests on."""
    findings = (row for row in state.get("findings") or [] if row["id"] == claim.finding_id)
    ids = {name for row in findings for name in row.get("evidence_ids") or []}
    return [row["quote"] for row in state.get("evidence") or [] if row["id"] in ids]


def _added(state: State, channel: str, rows: Iterable[Record]) -> list[dict[str, Any]]:
    old = list(state.get(channel) or [])
    known = {row["id"] for row in old}
    return [*old, *(row for record in rows if (row := _row(record))["id"] not in known)]


def _row(record: Record) -> dict[str, Any]:
    return record.model_dump(mode="json")
