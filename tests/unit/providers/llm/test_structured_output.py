"""Answer schemas as the providers take them: nothing they refuse, and never another answer than was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from graph_research.providers.llm.structured_output import openapi_schema, refers_outside, sent_schema, strict_schema

ANSWERS = sorted(Path(__file__).parents[4].glob("schemas/handoffs/*.answer.json"))
FORBIDDEN = {"$ref", "$defs", "const", "additionalProperties", "default", "$schema", "pattern", "title", "format"}


def every(schema: Any) -> list[Any]:
    """The schema and all schemas inside of it."""
    below = [schema.get("items"), *(schema.get("properties") or {}).values(), *schema.get("anyOf", [])]
    return [schema, *(one for inner in below if inner for one in every(inner))]


def test_a_schema_is_sent_without_what_only_its_readers_need() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answer",
        "description": "What becomes of it.",
        "type": "object",
        "required": ["title"],
        "properties": {
            "title": {"type": "string", "default": "", "minLength": 1, "description": "of the page"},
            "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
        },
        "$defs": {"row": {"title": "Row", "anyOf": [{"type": "null", "examples": [None]}, {"type": "string"}]}},
    }
    assert sent_schema(schema) == {
        "type": "object",
        "required": ["title"],
        "properties": {
            "title": {"type": "string", "minLength": 1, "description": "of the page"},
            "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
        },
        "$defs": {"row": {"anyOf": [{"type": "null"}, {"type": "string"}]}},
    }


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_every_answer_of_an_agent_can_be_said_to_gemini(path: Path) -> None:
    said = openapi_schema(json.loads(path.read_text()))
    assert said is not None
    for one in every(said):
        assert not FORBIDDEN & one.keys()
        assert isinstance(one.get("type", "string"), str)


def test_a_reference_is_written_out_and_a_constant_becomes_a_choice_of_one() -> None:
    schema = {
        "type": "object",
        "$defs": {"kind": {"const": "a"}, "maybe": {"type": ["integer", "null"]}},
        "properties": {"kind": {"$ref": "#/$defs/kind"}, "number": {"$ref": "#/$defs/maybe", "description": "d"}},
    }
    assert openapi_schema(schema) == {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": ["a"]},
            "number": {"type": "integer", "nullable": True, "description": "d"},
        },
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "#"}}},
        {"type": "object", "properties": {"a": {"$ref": "claim.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}},
        {"type": "object"},
        {"type": "object", "properties": {"a": {}}},
        {"type": "object", "properties": {"a": {"type": ["string", "integer"]}}},
    ],
    ids=["itself", "another file", "nothing", "any object", "anything", "two types"],
)
def test_what_openapi_cannot_say_is_not_said(schema: dict[str, Any]) -> None:
    assert openapi_schema(schema) is None


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "required": [], "properties": {"a": {"type": "string"}}},
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "object"}}},
        {"type": "object", "required": ["a"], "properties": {"a": {"oneOf": [{"type": "string"}]}}},
        {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}, "additionalProperties": True},
        {"type": "object", "required": [], "properties": {}, "$defs": {"x": {"type": "object"}}},
    ],
    ids=["optional", "any object", "one of", "more properties", "in a definition"],
)
def test_a_schema_that_strict_mode_would_change_is_not_made_strict(schema: dict[str, Any]) -> None:
    assert strict_schema(schema) is None


def test_strict_mode_closes_every_object_and_leaves_out_what_is_checked_later() -> None:
    inner = {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer", "minimum": 1}}}
    schema = {
        "type": "object",
        "required": ["a", "c"],
        "properties": {"a": {"type": "array", "minItems": 1, "items": inner}, "c": {"$ref": "#/$defs/d"}},
        "$defs": {"d": {"enum": ["x", "y"], "default": "x"}},
    }
    assert strict_schema(schema) == {
        "type": "object",
        "required": ["a", "c"],
        "properties": {
            "a": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["b"],
                    "properties": {"b": {"type": "integer"}},
                    "additionalProperties": False,
                },
            },
            "c": {"$ref": "#/$defs/d"},
        },
        "$defs": {"d": {"enum": ["x", "y"]}},
        "additionalProperties": False,
    }


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}
    said = strict_schema(schema)
    assert said is not None
    assert said["properties"] == {"title": {"type": "string"}}


def test_a_reference_to_another_schema_is_noticed() -> None:
    assert refers_outside({"properties": {"a": {"items": [{"$ref": "claim.json"}]}}})
    assert not refers_outside({"properties": {"a": {"$ref": "#/$defs/a"}}})
