"""The type of an answer in a prompt: everything that the schema says, in fewer words, or the schema itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from graph_research.app.definitions import schema_resolver
from graph_research.graph.values.json_schema import Contract
from graph_research.research.llm.answer_type import answer_type

ROW = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}, "why": {"type": "string"}}}


def test_members_that_a_prompt_does_not_ask_for_are_left_out_unless_they_are_required() -> None:
    schema = {
        "type": "object",
        "required": ["rows"],
        "properties": {"rows": {"type": "array", "items": ROW}, "why": {"type": "string"}},
    }
    assert answer_type(schema, ["why", "n", "rows"]) == "type answer = {rows: {n: integer}[]}"
    assert answer_type(schema).count("why?: string") == 2


def test_members_choices_limits_and_descriptions_are_stated() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "description": "For readers of the schema.",
        "type": "object",
        "required": ["rows", "kind"],
        "properties": {
            "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}, "minItems": 1, "description": "in order"},
            "kind": {"enum": ["a", "b"]},
            "kinds": {"type": "array", "items": {"enum": ["a", "b"]}},
            "name": {"type": ["string", "null"], "minLength": 1},
            "score": {"type": "number", "minimum": 1, "maximum": 10},
            "place": {"type": "integer", "minimum": 0},
            "table": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        },
        "$defs": {"row": ROW},
    }
    assert answer_type(schema) == (
        'type answer = {rows: row[] /* in order; items: at least 1 */, kind: "a" | "b", kinds?: ("a" | "b")[], '
        "name?: string | null, score?: number /* at least 1; at most 10 */, place?: integer, table?: string[][]}\n"
        "type row = {n: integer, why?: string}"
    )


def test_a_description_cannot_end_its_comment() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "description": "one */ two"}}}
    assert answer_type(schema) == "type answer = {n?: integer /* one * / two */}"


def test_a_name_that_is_no_identifier_stands_in_quotes() -> None:
    schema = {"type": "object", "properties": {"the n": {"type": "integer"}}}
    assert answer_type(schema) == 'type answer = {"the n"?: integer}'


@pytest.mark.parametrize(
    "part",
    [
        {"allOf": [{"type": "string"}, {"minLength": 2}]},
        {"type": "object", "patternProperties": {"^a": {"type": "string"}}},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"$ref": "other.json"},
        False,
    ],
)
def test_what_the_notation_cannot_say_is_left_as_a_schema(part: Any) -> None:
    schema = {"type": "object", "properties": {"rows": {"type": "array", "items": part}}}
    assert json.loads(answer_type(schema)) == schema


@pytest.mark.parametrize("name", ["analyzer", "extractor", "outliner", "section_writer", "supervisor", "verifier"])
def test_the_agents_answers_are_stated_in_less_than_half_the_length(name: str) -> None:
    schemas = schema_resolver()
    found = schemas.find(f"{name}.answer")
    assert found is not None
    schema = dict(Contract(json.loads(found[0]), name, schemas).schema)
    stated = answer_type(schema)
    assert stated.startswith("type answer = {")
    assert len(stated) < len(json.dumps(schema)) / 2
