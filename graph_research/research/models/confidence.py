"""The confidence of a whole job, with the factors it is made of."""

from __future__ import annotations

from graph_research.research.models.record import Record, schema_field


class JobConfidence(Record):
    """`confidence` is `mean_claim_confidence` x `source_factor`, all 0 to 1; `origin_count` is how many stand behind
    the sources that were used."""

    confidence: float = schema_field(minimum=0, maximum=1)
    claim_count: int
    source_count: int
    has_contradictions: bool
    mean_claim_confidence: float = 0.0
    source_factor: float = 0.0
    origin_count: int = 0
