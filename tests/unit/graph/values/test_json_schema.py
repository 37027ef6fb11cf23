"""JSON Schema contracts: what does not fit is named exactly, and nothing outside is ever read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graph_research.graph.errors import HandoffInvalid
from graph_research.graph.resources import TextResolver
from graph_research.graph.values.json_schema import Contract, SchemaInvalid
from tests.support.graph.sample_registry import registry

PLAN = {
    "type": "object",
    "properties": {
        "research_brief": {"type": "string"},
        "sub_queries": {"type": "array", "items": {"type": "object", "properties": {"query/text": {"type": "string"}}}},
    },
    "required": ["research_brief"],
}


def test_a_fitting_value_passes_silently() -> None:
    contract = Contract(PLAN, "planner.output")
    contract.check({"research_brief": "b", "sub_queries": []}, "plan")
    assert contract.fits({"research_brief": "b"})
    assert contract.required == {"research_brief"}
    assert list(contract.properties) == ["research_brief", "sub_queries"]


def test_a_contract_error_names_node_schema_pointer_and_value() -> None:
    with pytest.raises(HandoffInvalid) as invalid:
        Contract(PLAN, "planner.output").check({"research_brief": "b", "sub_queries": [{"query/text": 3}]}, "plan")
    error = invalid.value
    assert (error.node, error.schema, error.path, error.value) == (
        "plan",
        "planner.output",
        "/sub_queries/0/query~1text",
        3,
    )
    assert str(error) == (
        'node "plan": the value does not fit schema "planner.output": '
        "/sub_queries/0/query~1text: 3 is not of type string"
    )


def test_the_whole_value_has_the_empty_pointer() -> None:
    with pytest.raises(HandoffInvalid) as invalid:
        Contract(PLAN, "planner.output").check({}, "plan")
    assert invalid.value.path == ""
    assert '"research_brief" is a required property' in str(invalid.value)


def test_long_values_and_many_errors_are_cut_in_the_message_only() -> None:
    contract = Contract({"type": "array", "items": {"type": "integer"}}, "numbers")
    value = ["z" * 100_000] * 1_000
    with pytest.raises(HandoffInvalid) as invalid:
        contract.check(value, "n")
    assert len(str(invalid.value)) < 600
    assert str(invalid.value).endswith("and more")
    assert invalid.value.value == value[0]


def test_schemas_refer_to_each_other_by_bare_name() -> None:
    contract = Contract({"type": "array", "items": {"$ref": "decision.json"}}, "log", registry().schemas)
    assert contract.fits([{"action": "retry"}])
    assert not contract.fits([{"action": "rest"}])


def test_an_id_of_a_schema_does_not_change_what_references_mean() -> None:
    shelf = TextResolver(
        {"one": json.dumps({"$id": "https://example.org/one.json", "type": "integer"})}, suffix=".json"
    )
    contract = Contract({"$id": "https://example.org/two.json", "$ref": "one"}, "two", shelf)
    assert contract.fits(1)
    assert not contract.fits("1")


@pytest.mark.parametrize("scheme", ["file://", "http://127.0.0.1:9"])
def test_references_to_files_and_servers_are_refused(scheme: str, tmp_path: Path) -> None:
    target = tmp_path / "schema.json"
    target.write_text("{}")
    with pytest.raises(SchemaInvalid, match="not one of our schemas"):
        Contract({"$ref": f"{scheme}{target}"}, "stolen", registry().schemas)


@pytest.mark.parametrize("schema", [{"type": "objet"}, {"properties": 3}, {"pattern": "(?=a)b"}, {"$ref": "missing"}])
def test_a_broken_schema_is_refused_when_it_is_compiled(schema: dict[str, object]) -> None:
    with pytest.raises(SchemaInvalid):
        Contract(schema, "broken", registry().schemas)


def test_a_pattern_cannot_be_made_to_run_for_ever() -> None:
    assert not Contract({"pattern": "^(a+)+$"}, "slow").fits("a" * 50_000 + "b")
