"""What the graphs of these tests may name: two handlers, a few schemas, a subgraph, a prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from graph_research.errors import UserMistake
from graph_research.graph.context import Context
from graph_research.graph.registry import Registry
from graph_research.graph.resources import TextResolver

SCHEMAS: dict[str, Any] = {
    "shout.input": {
        "type": "object",
        "properties": {"text": {"type": "string"}, "times": {"type": "integer"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    "shout.output": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    "decision": {
        "type": "object",
        "properties": {"action": {"enum": ["proceed", "retry", "iterate", "complete"]}},
        "required": ["action"],
        "additionalProperties": False,
    },
    "decision_state": {
        "type": "object",
        "properties": {
            "decision": {"$ref": "#/$defs/decision", "input": True},
            "log": {"type": "array", "items": {"$ref": "decision.json"}, "reduce": "append"},
        },
        "$defs": {
            "decision": {"type": "object", "properties": {"action": {"$ref": "#/$defs/action"}}},
            "action": {"enum": ["proceed", "retry", "iterate", "complete"]},
        },
    },
    "limits": {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "known": {
                "type": "object",
                "properties": {"lowest": {"type": "integer"}, "highest": {"type": "integer"}},
                "required": ["lowest", "highest"],
                "additionalProperties": False,
            },
            "open": {"type": "object"},
        },
    },
    "broken": {"type": "objet"},
}

CHILD = """\
graph: child
start: count
state:
  words: {type: array, items: {type: string}, input: true}
  total: {type: integer, default: 0, output: true}
nodes:
  count: {set: {total: len(words)}}
  done: {end: completed}
edges: [{from: count, to: done}]
"""


async def shout(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
    return {"text": str(handoff["text"]).upper() * int(handoff.get("times", 1))}


def check_shout(handoff: Mapping[str, Any]) -> None:
    if handoff.get("text") == "x":
        raise UserMistake("x cannot be shouted", help="shout more")


def registry(**graphs: str) -> Registry:
    return Registry(
        handlers={"shout": shout},
        handoff_checks={"shout": check_shout},
        functions={"unaddressed": lambda gaps: len([gap for gap in gaps if not gap.get("addressed")])},
        schemas=TextResolver({name: json.dumps(schema) for name, schema in SCHEMAS.items()}, suffix=".json"),
        graphs=TextResolver({"child": CHILD, **graphs}, suffix=".yaml"),
        prompts=TextResolver({"planner/user": "{{ question }}", "planner/system": "You plan."}, suffix=".j2"),
    )
