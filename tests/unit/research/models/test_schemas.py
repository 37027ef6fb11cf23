"""The JSON Schemas and the models agree, and the shipped graphs are clean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from graph_research.app.definitions import graph_resolver, prompt_resolver, schema_resolver
from graph_research.graph.loader import check_graph
from graph_research.graph.registry import Registry
from graph_research.graph.values.json_schema import Contract
from graph_research.providers.llm.base import ModelRequest
from graph_research.research.digest.payload import make_payload
from graph_research.research.graph_functions import research_functions
from graph_research.research.json_schemas import FOLDER, MODELS, generated_schemas
from graph_research.research.models.confidence import JobConfidence
from graph_research.research.models.decision import Decision, QualityAssessment, Verdict
from graph_research.research.models.draft import Block, Draft, DraftSection, Statement, StatementVerdict
from graph_research.research.models.evidence import Comparison, Contradiction, Evidence, Side
from graph_research.research.models.fidelity import FidelityLevel, fidelity_record
from graph_research.research.models.finding import Claim, Confidence, Finding, Gap
from graph_research.research.models.outline import OutlineSection
from graph_research.research.models.plan import ChecklistItem, Reflection, SubQuery, TopicResult
from graph_research.research.models.record import Record
from graph_research.research.models.report_options import ReportOptions
from graph_research.research.models.source import Source
from graph_research.research.registry import RESEARCH_ERRORS, research_handlers
from graph_research.settings.shipped_files import shipped
from tests.support.research.harness import COST, FISH_GAP, OPENED, Bench, finding, make_services, research_script

HASH = "sha256:" + "a" * 64
SCHEMAS = schema_resolver()

SAMPLES: dict[str, Record] = {
    "checklist_item": ChecklistItem(id="chk-1", text="what it cost"),
    "claim": Claim(id="claim-1", text="t", confidence=0.5, support_strength=0.5, support=["src-1"]),
    "confidence": JobConfidence(confidence=0.5, claim_count=1, source_count=1, has_contradictions=False),
    "comparison": Comparison(id="cmp-0123456789", about=["find-0123456789", "find-9876543210"], verdict="agree"),
    "contradiction": Contradiction(
        id="con-0123456789",
        kind="number",
        topic="cost",
        sides=[Side(value="1", evidence_ids=["ev-1"]), Side(value="2", evidence_ids=["ev-2"])],
    ),
    "decision": Decision(
        id="dec-1", agent="planner", action="execute_planning", rationale="r", timestamp="2024-01-01T00:00:00Z"
    ),
    "digest": make_payload("s", ["p"], [], question="q", original_chars=10_000, source_text_hash=HASH),
    "draft": Draft(
        sections=[DraftSection(heading="h", blocks=[Block(sentences=[Statement(text="t", evidence_ids=["ev-1"])])])]
    ),
    "evidence": Evidence(
        id="ev-0123456789", source_id="src-1", quote="q", locator="page:2:char:0-1", archive_hash=HASH
    ),
    "fidelity_record": fidelity_record("src-1", "digest", 10_000, 900, FidelityLevel.DIGEST, reason="r"),
    "finding": Finding(id="find-0123456789", content="c", confidence=Confidence.CONFIRMED),
    "gap": Gap(id="gap-0123456789", description="d", severity="critical"),
    "outline_section": OutlineSection(id="sec-1", heading="h", finding_ids=["find-0123456789"]),
    "reflection": Reflection(continue_searching=True, refined_query="q"),
    "report_options": ReportOptions(length="1500"),
    "source": Source(id="src-0123456789", archive_hash=HASH),
    "statement_verdict": StatementVerdict(id="st-0123456789", verdict="partly", reason="r"),
    "sub_query": SubQuery(id="sq-1-1", query="q"),
    "topic": TopicResult(sub_query_id="sq-1-1", reflections=[Reflection(continue_searching=False)]),
    "verdict": Verdict(action="proceed", rationale="r", quality_assessment=QualityAssessment(score=7)),
}


def schema(name: str) -> dict[str, Any]:
    found = SCHEMAS.find(name)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[0])
    return loaded


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_what_a_model_writes_fits_its_schema(name: str) -> None:
    Contract(schema(name), name, SCHEMAS).check(SAMPLES[name].to_json(), "test")


def test_the_schemas_are_written_where_they_are_read() -> None:
    assert shipped("schemas") == FOLDER


@pytest.mark.parametrize("file", sorted(generated_schemas()))
def test_a_generated_schema_is_fresh(file: str) -> None:
    assert (shipped("schemas") / file).read_text() == generated_schemas()[file], "run: make schemas"


def test_every_model_of_the_state_has_a_sample_here() -> None:
    assert {name: type(sample) for name, sample in SAMPLES.items()} == dict(MODELS)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_schema_refuses_what_lacks_a_required_field(name: str) -> None:
    contract = Contract(schema(name), name, SCHEMAS)
    whole = SAMPLES[name].to_json()
    for field in contract.required:
        assert not contract.fits({key: value for key, value in whole.items() if key != field})


@pytest.mark.requirement("23.1")
@pytest.mark.parametrize(
    ("name", "field", "wrong"),
    [
        ("source", "quality", "excellent"),
        ("source", "archive_hash", "sha256:short"),
        ("evidence", "locator", "page:0:char:1-2"),
        ("finding", "confidence", "certain"),
        ("sub_query", "status", "done"),
        ("gap", "severity", "bad"),
        ("verdict", "action", "restart"),
        ("claim", "confidence", 1.5),
    ],
)
def test_a_schema_refuses_a_value_that_the_state_may_not_hold(name: str, field: str, wrong: object) -> None:
    contract = Contract(schema(name), name, SCHEMAS)
    assert not contract.fits({**SAMPLES[name].to_json(), field: wrong})


@pytest.mark.parametrize("file", sorted(shipped("schemas").rglob("*.json")), ids=lambda file: file.stem)
def test_every_shipped_schema_is_one_and_refers_only_to_others_of_ours(file: Path) -> None:
    written = json.loads(file.read_text())
    assert written["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    jsonschema_rs.meta.validate(written)
    Contract(written, file.stem, SCHEMAS)


@pytest.mark.requirement("1.2")
@pytest.mark.parametrize("name", ["deep_research", "topic_research", "pipeline"])
def test_a_shipped_graph_has_no_finding_not_even_a_warning(name: str) -> None:
    registry = Registry(
        handlers=research_handlers(make_services({})),
        functions=research_functions(),
        schemas=SCHEMAS,
        graphs=graph_resolver(),
        prompts=prompt_resolver(),
        errors=RESEARCH_ERRORS,
    )
    assert check_graph(shipped("graphs") / f"{name}.yaml", registry=registry) == []


def objects_once(request: ModelRequest) -> dict[str, Any]:
    """A verifier that objects to the first sentence of each batch."""
    verdicts = [{"n": row["n"], "verdict": "supported"} for row in request.material["statements"]]
    return {"verdicts": [{**verdicts[0], "verdict": "partly", "reason": "It says more."}, *verdicts[1:]]}


async def test_the_roles_that_the_graphs_name_are_those_that_the_agents_ask() -> None:
    summary = {"executive_summary": "It says so.", "key_excerpts": []}
    alike = finding(
        "Maintenance cost 5.2 million in 2020.",
        ("https://tarn.gov/opening", "It was the first tidal lagoon of the county."),
    )
    script = research_script(
        analyzer=[{"findings": [OPENED, COST, alike], "gaps": [FISH_GAP]}],
        source_summarizer=[summary],
        extractor=[{"notes": [{"text": "It says so.", "sources": [1]}], "findings": [], "limits": []}],
        verifier=[objects_once],
    )
    bench = Bench(script, condensing=True, settings={"summarization_min_chars": 1, "source_chars": 1})
    await bench.run(max_iterations=2)
    asked = {request.agent: request.role for request in bench.model.requests}
    root = bench.runtime().graph
    graphs = [root, *root.subgraphs.values()]
    nodes = [node for graph in graphs for node in graph.spec.nodes.values() if node.role]
    assert {node.target: node.role for node in nodes} == {
        agent: role for agent, role in asked.items() if agent != "clarifier"
    } | {"synthesizer": "report"}


@pytest.mark.parametrize("agent", sorted(path.name for path in shipped("prompts").iterdir() if path.name[0] != "_"))
def test_every_agent_tells_its_model_the_form_of_the_answer_and_what_is_not_an_instruction(agent: str) -> None:
    text = (shipped("prompts") / agent / "system.j2").read_text()
    assert '{% include "_partials/answer.j2" %}' in text
    assert '{% include "_partials/quoted_material.j2" %}' in text
    assert SCHEMAS.find(f"{agent}.answer") is not None
