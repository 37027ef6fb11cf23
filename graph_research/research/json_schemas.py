"""The JSON Schemas of the nouns of the state, generated from their models: `python -m` this module writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph_research.research.models.confidence import JobConfidence
from graph_research.research.models.decision import Decision, Verdict
from graph_research.research.models.digest import DigestPayload
from graph_research.research.models.draft import Draft, StatementVerdict
from graph_research.research.models.evidence import Comparison, Contradiction, Evidence
from graph_research.research.models.fidelity import FidelityRecord
from graph_research.research.models.finding import Claim, Finding, Gap
from graph_research.research.models.outline import OutlineSection
from graph_research.research.models.plan import ChecklistItem, Reflection, SubQuery, TopicResult
from graph_research.research.models.record import Record
from graph_research.research.models.report_options import ReportOptions
from graph_research.research.models.source import Source
from graph_research.research.report.model import report_schema

MODELS: Mapping[str, type[Record]] = {
    "checklist_item": ChecklistItem,
    "claim": Claim,
    "comparison": Comparison,
    "confidence": JobConfidence,
    "contradiction": Contradiction,
    "decision": Decision,
    "digest": DigestPayload,
    "draft": Draft,
    "evidence": Evidence,
    "fidelity_record": FidelityRecord,
    "finding": Finding,
    "gap": Gap,
    "outline_section": OutlineSection,
    "reflection": Reflection,
    "report_options": ReportOptions,
    "source": Source,
    "statement_verdict": StatementVerdict,
    "sub_query": SubQuery,
    "topic": TopicResult,
    "verdict": Verdict,
}
"""By the name of the schema's file."""

FOLDER = Path(__file__).parents[2] / "schemas"
"""Where the files are in a checkout."""

_FILES = {model.__name__: f"{name}.json" for name, model in MODELS.items()}


def generated_schemas() -> dict[str, str]:
    """The text of each generated file in `schemas/`, by its name."""
    made = {f"{name}.json": _schema(model) for name, model in MODELS.items()}
    made["report.json"] = report_schema()
    return {name: json.dumps(schema, indent=2, ensure_ascii=False) + "\n" for name, schema in made.items()}


def _schema(model: type[Record]) -> dict[str, Any]:
    raw = model.model_json_schema()
    defs = raw.pop("$defs", {})
    own = {name: schema for name, schema in defs.items() if "enum" not in schema and name not in _FILES}
    top = _plain(raw, defs)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": model.__name__,
        "description": " ".join((model.__doc__ or "").replace("`", "").split()),
    }
    schema = {**head, **{key: value for key, value in top.items() if key not in head}}
    return schema if not own else {**schema, "$defs": {_snake(name): _plain(own[name], defs) for name in sorted(own)}}


def _plain(schema: Any, defs: Mapping[str, Any]) -> Any:
    """A part of pydantic's schema without titles and descriptions of classes, enums in place, and `X or null` as a
    list of types."""
    if isinstance(schema, list):
        return [_plain(part, defs) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        if "enum" in defs[name]:
            return {"type": "string", "enum": defs[name]["enum"], **rest}
        return {"$ref": _FILES.get(name, f"#/$defs/{_snake(name)}"), **rest}
    dropped = {"title", "description"} if schema.get("type") == "object" else {"title"}
    made = {
        key: {name: _plain(part, defs) for name, part in value.items()} if key == "properties" else _plain(value, defs)
        for key, value in schema.items()
        if key not in dropped or not isinstance(value, str)
    }
    if made.pop("additionalProperties", None) is False:
        made["additionalProperties"] = False
    choices = made.get("anyOf") or []
    if len(choices) == 2 and choices[1] == {"type": "null"} and set(choices[0]) == {"type"}:
        del made["anyOf"]
        made = {"type": [choices[0]["type"], "null"], **made}
    return made


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


if __name__ == "__main__":
    for file, text in generated_schemas().items():
        (FOLDER / file).write_text(text)
