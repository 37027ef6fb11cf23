"""A report as a strong model writes it, over the sources of the finished research: every type of block, every kind of
sentence."""

from __future__ import annotations

from typing import Any

from graph_research.research.models.draft import Statement
from graph_research.research.report.model import Report
from graph_research.research.report.run_metadata import RunFacts
from tests.support.research import finished_research as study


def analysis(text: str, *pieces: dict[str, Any], computed: tuple[str, ...] = ()) -> dict[str, Any]:
    """A sentence that infers."""
    return {
        "text": text,
        "kind": "analysis",
        "evidence_ids": [piece["id"] for piece in pieces],
        "computed": list(computed),
    }


def said(text: str, kind: str) -> dict[str, Any]:
    """A transition or a limit."""
    return {"text": text, "kind": kind}


COST = study.fact("The audit puts the construction cost at 1.61 billion euros.", study.COST_AUDIT, study.INTEREST)
YIELD = study.fact("The turbines produce 412 gigawatt hours in an average year.", study.TURBINES)
VERIFIED = study.fact("Maintenance closed two turbines for nine weeks in 2020.", study.MAINTENANCE)
INFERRED = analysis("So the audit's figure is the higher one.", study.COST_AUDIT, study.COST_REPORT)
JUDGED = analysis(
    "The gap of 0.24 billion euros is large for one plant.",
    study.COST_AUDIT,
    study.COST_REPORT,
    computed=("1.61 - 1.37",),
)

DRAFT: dict[str, Any] = {
    "summary": [study.paragraph(COST, YIELD, INFERRED)],
    "sections": [
        {
            "heading": "What it cost",
            "level": 1,
            "blocks": [
                study.paragraph(
                    said("Of the cost there is more than a single account.", "transition"), COST, INFERRED, JUDGED
                ),
                {"type": "quote", "sentences": [study.quote(study.COST_REPORT)]},
            ],
        },
        {
            "heading": "Side by side",
            "level": 2,
            "blocks": [
                {
                    "type": "table",
                    "caption": "Cost by account",
                    "header": ["Account", "Cost", "What follows"],
                    "rows": [
                        [
                            said("Audit", "transition"),
                            study.fact("1.61 billion euros", study.COST_AUDIT),
                            analysis("interest is in it", study.INTEREST, study.COST_AUDIT),
                        ],
                        [
                            said("Company", "transition"),
                            study.fact("1.37 billion euros", study.COST_REPORT),
                            analysis("the cost is the lower one", study.COST_REPORT),
                        ],
                        [said("Forum", "transition"), study.fact("9 billion euros", study.FISH)],
                    ],
                }
            ],
        },
        {
            "heading": "What to do",
            "level": 3,
            "blocks": [
                {
                    "type": "list",
                    "ordered": True,
                    "items": [
                        [VERIFIED, analysis("Plan for such a closure.", study.MAINTENANCE)],
                        [said("No figure for the cost of upkeep was found.", "limit")],
                    ],
                },
                {
                    "type": "code",
                    "language": "sql",
                    "sentences": [
                        {
                            "text": "select `cost`\n  from accounts; -- ``` <b>",
                            "kind": "analysis",
                            "evidence_ids": [study.COST_AUDIT["id"]],
                        }
                    ],
                },
            ],
        },
    ],
    "conclusions": [study.paragraph(JUDGED)],
}


def state(**changes: Any) -> dict[str, Any]:
    """The state of the finished research with this draft, one fact of which a model verified."""
    verified = [Statement.model_validate(row).id for row in (VERIFIED, YIELD)]
    verdicts = [{"id": name, "verdict": "supported", "model": "strong"} for name in verified]
    return study.state(**{"draft": DRAFT, "statement_verdicts": verdicts, **changes})


def built(run: RunFacts | None = None, **changes: Any) -> Report:
    """The report of the study as a model wrote it, its state changed."""
    return study.report_of(state(**changes), run)
