"""Claims × sources: which source supports a claim, refutes it, means something else, or says nothing of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from graph_research.research.evidence.cited import CitedContradiction
from graph_research.research.models.evidence import AGREE, Evidence
from graph_research.research.report.model import MatrixDifference, MatrixRow, ReportClaim, ReportSource
from graph_research.text.language.terms import content_terms
from graph_research.text.relevance.statements import Nature, SourceSentence, Statement, differences, statements
from graph_research.text.relevance.support import support

_TELLING = (
    Nature.CONFLICT,
    AGREE,
    Nature.DEFINITION,
    Nature.SCOPE,
    Nature.DATE,
    Nature.UNIT,
    Nature.NONE,
)
_SUPPORTED = 0.5
_LEAST_SHARED = 0.5
"""The share of a claim's words that a passage has at least where it is compared with the claim."""


def matrix_of(
    claims: Sequence[ReportClaim],
    sources: Sequence[ReportSource],
    evidence: Sequence[Evidence],
    contradictions: Sequence[CitedContradiction],
    judged: Mapping[frozenset[str], str],
) -> list[MatrixRow]:
    """A row for each claim over the sources that are cited or stand for or against a claim; none for less than two
    sources.

    A source supports or refutes a claim whose score counts it so. For the others a model's judgement of the claim and
    another one that the source supports decides, which `judged` holds by the ids of both claims. Without it a source
    supports the claim where the words of its passages do, and differs where its values are those of another date, unit,
    scope or definition.
    """
    named = {source_id for claim in claims for source_id in (*claim.support, *claim.against)}
    shown = [source for source in sources if source.citations or source.id in named]
    if len(shown) < 2:
        return []
    passages: dict[str, list[_Passage]] = {source.id: [] for source in shown}
    for one in evidence:
        if one.source_id in passages:
            passages[one.source_id].append(_Passage(one))
    apart = [row for row in contradictions if row.nature != Nature.CONFLICT]
    of_citation = {citation: source.id for source in shown for citation in source.citations}
    return [
        _row(claim, shown, passages, _verdicts(claim, claims, judged) | _apart(claim, apart, of_citation))
        for claim in claims
    ]


def _verdicts(
    claim: ReportClaim, claims: Sequence[ReportClaim], judged: Mapping[frozenset[str], str]
) -> dict[str, str]:
    """What was judged of the claim and each source of other claims; of several verdicts on a source the one that says
    most."""
    found: dict[str, str] = {}
    for other in claims:
        verdict = judged.get(frozenset([claim.id, other.id]))
        if verdict is not None:
            for source_id in other.support:
                found[source_id] = min(found.get(source_id, verdict), verdict, key=_TELLING.index)
    return {source_id: verdict for source_id, verdict in found.items() if verdict != Nature.CONFLICT}


def _apart(claim: ReportClaim, apart: Sequence[CitedContradiction], of_citation: Mapping[str, str]) -> dict[str, str]:
    """The sources on other sides than the claim of what only looks like a conflict, with what they mean apart."""
    found: dict[str, str] = {}
    for row in apart:
        sides = [set(side.citations) for side in row.sides]
        if any(side & set(claim.citations) for side in sides):
            others = [name for side in sides if not side & set(claim.citations) for name in side]
            found |= {of_citation[name]: row.nature for name in others if name in of_citation}
    return found


class _Passage:
    def __init__(self, evidence: Evidence) -> None:
        self.id = evidence.id
        self.quote = evidence.quote
        self.terms = frozenset(content_terms(evidence.quote))
        self._statements: list[Statement] | None = None

    @property
    def statements(self) -> list[Statement]:
        if self._statements is None:
            self._statements = statements(SourceSentence.of_text(self.quote))
        return self._statements


def _row(
    claim: ReportClaim,
    sources: Sequence[ReportSource],
    passages: Mapping[str, Sequence[_Passage]],
    verdicts: Mapping[str, str],
) -> MatrixRow:
    terms = frozenset(content_terms(claim.text))
    values = statements(SourceSentence.of_text(claim.text))
    supports, differs = list(claim.support), list[MatrixDifference]()
    for source in sources:
        if source.id in claim.support or source.id in claim.against:
            continue
        near = [one for one in passages[source.id] if len(terms & one.terms) >= _LEAST_SHARED * max(1, len(terms))]
        verdict = verdicts.get(source.id) or _verdict(claim.text, values, near)
        if verdict == AGREE:
            supports.append(source.id)
        elif verdict != Nature.NONE:
            differs.append(MatrixDifference.model_validate({"source": source.id, "nature": verdict}))
    said = {*supports, *claim.against, *(one.source for one in differs)}
    return MatrixRow(
        claim=claim.id,
        supports=supports,
        refutes=list(claim.against),
        differs=differs,
        silent=[source.id for source in sources if source.id not in said],
    )


def _verdict(text: str, values: Sequence[Statement], near: Sequence[_Passage]) -> str:
    """What the passages mean apart from the claim, whether they support it, or nothing."""
    found = differences(values, [statement for one in near for statement in one.statements])
    if len(found) == 1 and Nature.CONFLICT not in found:
        return found.pop().value
    return AGREE if near and _is_supported(text, near) else Nature.NONE.value


def _is_supported(text: str, near: Collection[_Passage]) -> bool:
    found = support(text, [one.quote for one in near])
    return found.score >= _SUPPORTED and not found.lacks
