"""A finished research: what the state of a run holds when the report is built."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from graph_research.research.llm.usage import Usage
from graph_research.research.report.build import build_report
from graph_research.research.report.model import Report
from graph_research.research.report.run_metadata import RunFacts
from graph_research.text.document import Block, Document

AUDIT_TEXT = (
    "Review of the tidal lagoon Summary The National Audit Chamber examined what the public has paid. "
    "The construction cost of the tidal lagoon reached 1.61 billion euros. "
    "The Chamber counts interest paid before the first sale of electricity. "
    "The ministry accepted four of the five recommendations on 30 October 2018."
)
AUDIT = Document(
    text=AUDIT_TEXT,
    blocks=(
        Block("heading", 0, 26, 1),
        Block("heading", 27, 34, 2),
        Block("paragraph", 35, 96),
        Block("paragraph", 97, len(AUDIT_TEXT)),
    ),
    title="Review of the tidal lagoon",
)
REPORT_TEXT = (
    "Annual report of the operating company\n\n---PAGE 2---\n\n"
    "The construction cost of the tidal lagoon was 1.37 billion euros. "
    "Sixteen bulb turbines produce 412 gigawatt hours in an average year.\n\n---PAGE 3---\n\n"
    "Maintenance closed two turbines for nine weeks in 2020."
)
REPORT = Document(
    text=REPORT_TEXT,
    pages=(0, REPORT_TEXT.index("The construction"), REPORT_TEXT.index("Maintenance")),
    title="Annual report 2021",
)
FORUM = Document(
    text="Mackerel are back. I read that the sixteen turbines kill no fish at all. See you <b>Sunday</b> at the wall.",
    title="Angling forum",
)
DOCUMENTS = {"src-audit00001": AUDIT, "src-report0001": REPORT, "src-forum00001": FORUM}


def evidence(source_id: str, quote: str, *, page: int | None = None, **changes: Any) -> dict[str, Any]:
    """Evidence for a quote that stands in the document once; `changes` spoil it."""
    document = DOCUMENTS[source_id]
    start = document.text.index(quote)
    locator = f"char:{start}-{start + len(quote)}"
    if page:
        offset = start - document.pages[page - 1]
        locator = f"page:{page}:char:{offset}-{offset + len(quote)}"
    digest = hashlib.sha256(f"{document.hash} {locator}".encode()).hexdigest()[:10]
    whole = {"id": f"ev-{digest}", "source_id": source_id, "quote": quote, "locator": locator}
    return {**whole, "archive_hash": document.hash, "score": 0.31, **changes}


COST_AUDIT = evidence("src-audit00001", "The construction cost of the tidal lagoon reached 1.61 billion euros.")
INTEREST = evidence("src-audit00001", "The Chamber counts interest paid before the first sale of electricity.")
COST_REPORT = evidence("src-report0001", "The construction cost of the tidal lagoon was 1.37 billion euros.", page=2)
TURBINES = evidence("src-report0001", "Sixteen bulb turbines produce 412 gigawatt hours in an average year.", page=2)
FISH = evidence("src-forum00001", "I read that the sixteen turbines kill no fish at all.")
MAINTENANCE = evidence("src-report0001", "Maintenance closed two turbines for nine weeks in 2020.", page=3)


def source(source_id: str, title: str, tier: str, **more: Any) -> dict[str, Any]:
    """A source of the study in the form the state keeps it."""
    document = DOCUMENTS[source_id]
    return {
        "id": source_id,
        "title": title,
        "tier": tier,
        "quality": "medium",
        "archive_hash": document.hash,
        "characters": len(document.text),
        "provider": "local",
        **more,
    }


def score(authority: float, composite: float) -> dict[str, float]:
    """Scores with an unknown date and middling relevance."""
    return {
        "authority": authority,
        "recency": 0.5,
        "relevance": 0.62,
        "credibility": authority / 100,
        "composite": composite,
    }


def quote(*pieces: dict[str, Any]) -> dict[str, Any]:
    """A verbatim statement: the first piece's quote, further ones say the same."""
    return {"text": pieces[0]["quote"], "evidence_ids": [piece["id"] for piece in pieces], "kind": "quote"}


def fact(text: str, *pieces: dict[str, Any]) -> dict[str, Any]:
    """A sentence in a writer's own words."""
    return {"text": text, "evidence_ids": [piece["id"] for piece in pieces], "kind": "fact"}


def paragraph(*statements: dict[str, Any]) -> dict[str, Any]:
    """A paragraph of the draft."""
    return {"type": "paragraph", "sentences": list(statements)}


def quotes(*statements: dict[str, Any]) -> dict[str, Any]:
    """A list of the draft with one statement an item."""
    return {"type": "list", "items": [[statement] for statement in statements]}


SOURCES = [
    source(
        "src-audit00001",
        "Review of the tidal lagoon",
        "PRIMARY_SOURCE",
        url="official/audit-review-2018.md",
        publisher="National Audit Chamber",
        published_at="2018-11-22",
        quality="high",
        score=score(100, 0.767),
    ),
    source(
        "src-report0001",
        "Annual report 2021",
        "AUTHORITATIVE",
        url="https://lagoon.example/report-2021.pdf",
        publisher="Lagoon Company",
        authors=["R. Vance", "I. Marsh", "T. Okoye"],
        published_at="2021-03-04",
        doi="10.5555/lagoon.2021",
        score=score(85, 0.7),
    ),
    source("src-forum00001", "Angling forum", "UNVERIFIED", url="community/angling-forum.txt", score=score(30, 0.452)),
]


def state(**changes: Any) -> dict[str, Any]:
    """The channels of a research that ended well, with one disagreement, one gap and one failed sub-query."""
    return {
        "question": "What did the tidal lagoon cost, and what does it produce?",
        "iteration": 2,
        "phase": "completed",
        "research_brief": "Cost and yield of the lagoon.",
        "sub_queries": [
            {"id": "sq-1-1", "query": "construction cost of the tidal lagoon", "status": "completed"},
            {"id": "sq-1-2", "query": "effect of the turbines on fish", "status": "failed", "error": "index is locked"},
        ],
        "topics": [{"sub_query_id": "sq-1-1", "source_ids": ["src-audit00001", "src-report0001"]}],
        "sources": SOURCES,
        "evidence": [COST_AUDIT, INTEREST, COST_REPORT, TURBINES, FISH, MAINTENANCE],
        "findings": [
            {
                "id": "find-0000000001",
                "content": TURBINES["quote"],
                "confidence": "medium",
                "evidence_ids": [TURBINES["id"]],
            },
            {
                "id": "find-0000000002",
                "content": COST_AUDIT["quote"],
                "confidence": "high",
                "evidence_ids": [COST_AUDIT["id"]],
            },
        ],
        "claims": [
            {
                "id": "claim-0000000001",
                "text": TURBINES["quote"],
                "confidence": 0.75,
                "support_strength": 0.7,
                "support": ["src-report0001"],
                "finding_id": "find-0000000001",
            },
            {
                "id": "claim-0000000002",
                "text": COST_AUDIT["quote"],
                "confidence": 0.667,
                "support_strength": 0.767,
                "support": ["src-audit00001"],
                "against": ["src-report0001"],
                "contradiction": True,
                "finding_id": "find-0000000002",
            },
        ],
        "confidence": {"confidence": 0.2126, "claim_count": 2, "source_count": 3, "has_contradictions": True},
        "gaps": [
            {"id": "gap-0000000001", "description": "Effect on fish: one unverified voice only.", "priority": 1},
            {"id": "gap-0000000002", "description": "Cost of maintenance", "priority": 2, "addressed": True},
        ],
        "contradictions": [
            {
                "id": "con-0000000001",
                "kind": "number",
                "topic": "construction cost of the tidal lagoon",
                "sides": [
                    {"value": "1.61 billion euros", "evidence_ids": [COST_AUDIT["id"]]},
                    {"value": "1.37 billion euros", "evidence_ids": [COST_REPORT["id"]]},
                ],
            }
        ],
        "draft": {
            "notice": "Made without a language model: every sentence is quoted word for word from a source.",
            "summary": [quotes(quote(TURBINES), quote(COST_AUDIT))],
            "sections": [
                {
                    "heading": "Construction cost",
                    "blocks": [
                        paragraph({"text": "On this, the sources say:", "kind": "transition"}),
                        quotes(quote(COST_AUDIT, INTEREST), quote(COST_REPORT)),
                    ],
                },
                {"heading": "Turbines", "blocks": [quotes(quote(TURBINES), quote(FISH))]},
            ],
            "more": [quote(MAINTENANCE)],
        },
        "decisions": [
            {
                "id": "dec-1",
                "agent": "supervisor",
                "action": "evaluate_phase",
                "rationale": "Gate of gathering: No high-quality sources found (score 4.5 of 10).",
                "inputs": {"phase": "gathering", "iteration": 1},
                "outputs": {"quality_ok": False, "issues": ["No high-quality sources found"]},
                "timestamp": "2026-01-02T03:04:05Z",
            }
        ],
        **changes,
    }


def texts() -> dict[str, str]:
    """The archive of the study."""
    return {document.hash: document.text for document in DOCUMENTS.values()}


def layouts() -> dict[str, dict[str, Any]]:
    """The blocks and pages of the archive's texts."""
    return {document.hash: document.layout() for document in DOCUMENTS.values()}


def facts(**changes: Any) -> RunFacts:
    """The run of the study, on the built-in model."""
    whole: dict[str, Any] = {
        "run_id": "run-1",
        "question": "What did the tidal lagoon cost, and what does it produce?",
        "models": {"report": "extractive", "research": "extractive"},
        "search": ["local"],
        "started_at": "2026-01-02T03:04:05Z",
        "finished_at": "2026-01-02T03:04:09Z",
        "wall_seconds": 4.25,
        "searches": 3,
        "usage": [
            Usage(
                role="research",
                phase="plan",
                calls=2,
                seconds=0.5,
                input_tokens=1200,
                output_tokens=340,
                cost_usd=0.0,
            ),
            Usage(
                role="report",
                phase="synthesize",
                calls=1,
                seconds=0.25,
                input_tokens=2400,
                output_tokens=700,
                cost_usd=0.0,
            ),
        ],
    }
    return RunFacts(**{**whole, **changes})


PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 120 40" role="img"><style>.n{fill:none;stroke:currentColor}'
    '</style><rect class="n" x="4" y="4" width="50" height="20" onclick="alert(1)"/>'
    '<text x="8" y="18" fill="currentColor">plan</text></svg>'
)


def report_of(state: Mapping[str, Any], run: RunFacts | None = None) -> Report:
    """The report of a state whose texts are the archive of the study."""
    return build_report(state, texts=texts(), layouts=layouts(), run=run or facts())


def built(run: RunFacts | None = None, **changes: Any) -> Report:
    """The report of the study, its state changed."""
    return report_of(state(**changes), run)
