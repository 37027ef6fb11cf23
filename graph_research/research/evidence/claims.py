"""Claims: findings scored against the sources that carry them and those that contradict them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from graph_research.research.models.evidence import Contradiction, Evidence
from graph_research.research.models.finding import Claim, Finding
from graph_research.research.models.source import Source
from graph_research.research.scoring.claim import claim_level, confidence_level, score_claim
from graph_research.research.scoring.origin import independent
from graph_research.research.scoring.tiers import Makers
from graph_research.text.language.words import language_of
from graph_research.text.relevance.statements import Nature
from graph_research.text.relevance.support import support as support_score


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What claims stand on: the question, sources, evidence and contradictions by id, and each source's origin."""

    question: str
    sources: Mapping[str, Source]
    evidence: Mapping[str, Evidence]
    contradictions: Sequence[Contradiction]
    origins: Mapping[str, str]

    def supporting(self, finding: Finding) -> list[str]:
        """Ids of the sources of the finding's evidence, in order."""
        return [name for name in dict.fromkeys(self._source_ids(finding.evidence_ids)) if name in self.sources]

    def opposing(self, finding: Finding) -> list[str]:
        """Ids of the sources on the other sides of the contradictions that the finding's evidence takes part in; those
        of another date, unit, scope or definition do not oppose it."""
        own = set(finding.evidence_ids)
        against: dict[str, None] = {}
        for contradiction in self.contradictions:
            if contradiction.nature != Nature.CONFLICT:
                continue
            sides = [set(side.evidence_ids) for side in contradiction.sides]
            if any(own & side for side in sides):
                for side in sides:
                    if not own & side:
                        against.update(dict.fromkeys(self._source_ids(sorted(side))))
        return [source_id for source_id in against if source_id not in self.supporting(finding)]

    def by_maker(self, text: str, source_ids: Iterable[str]) -> int:
        """How many of the sources are authoritative documents of the maker of what the text is about."""
        return self._makers.documents(text, [self.sources[name] for name in source_ids])

    @cached_property
    def _makers(self) -> Makers:
        return Makers(self.question, self.sources.values())

    def count_origins(self, source_ids: Iterable[str]) -> int:
        """How many independent origins the sources have."""
        return independent(self.origins.get(name, name) for name in source_ids)

    def _source_ids(self, evidence_ids: Iterable[str]) -> list[str]:
        return [self.evidence[name].source_id for name in evidence_ids if name in self.evidence]


def claim_of(finding: Finding, ground: Ground) -> Claim:
    """The finding as a claim, scored by its sources."""
    support, against = ground.supporting(finding), ground.opposing(finding)
    return scored_claim(finding, support, against, ground)


def scored_claim(finding: Finding, support: Sequence[str], against: Sequence[str], ground: Ground) -> Claim:
    """A claim with the sources for and against it given."""
    composite = {source_id: ground.sources[source_id].score.composite for source_id in [*support, *against]}
    quotes = [ground.evidence[name].quote for name in finding.evidence_ids if name in ground.evidence]
    score = score_claim([composite[one] for one in support], [composite[one] for one in against])
    return Claim(
        id=finding.id.replace("find-", "claim-", 1),
        text=finding.content,
        confidence=score.confidence,
        support_strength=score.support_strength,
        support=list(support),
        against=list(against),
        contradiction=score.contradiction,
        finding_id=finding.id,
        level=claim_level(
            score.confidence,
            origins=ground.count_origins(support),
            against=ground.count_origins(against),
            by_maker=ground.by_maker(finding.content, support),
            support=support_by(quotes, finding.content),
        ),
    )


def support_by(quotes: Sequence[str], text: str) -> float:
    """The share of a claim's words, by weight, that its quotes hold, 0 to 1. A claim of several facts in a researcher's
    own words is far from any one quote, so the score of a single sentence would call it unsupported. 1 where one quote
    holds it word for word, and where it has another language than the quotes, of which its words tell nothing."""
    if any(text in quote for quote in quotes) or (quotes and language_of(text) != language_of("\n".join(quotes))):
        return 1.0
    return support_score(text, quotes).features["coverage"] if quotes else 0.0


def levelled(finding: Finding, claim: Claim, ground: Ground) -> Finding:
    """The finding with the confidence that its claim, the number of its origins and the documents of a maker allow."""
    origins = ground.count_origins(claim.support)
    by_maker = ground.by_maker(finding.content, claim.support)
    level = confidence_level(finding.stated or finding.confidence, claim.confidence, origins, by_maker)
    return finding.model_copy(update={"confidence": level})
