"""The JSON Schemas that a graph names."""

from __future__ import annotations

import json

from graph_research.graph.errors import Finding
from graph_research.graph.messages import did_you_mean
from graph_research.graph.registry import Resolver
from graph_research.graph.source import Place
from graph_research.graph.values.json_schema import Contract, SchemaInvalid


def find_schema(name: str, place: Place, schemas: Resolver) -> Contract | Finding:
    """The schema `name`, which the graph names at `place`, or what keeps it from being used; a file that is no JSON is
    named with its own line and column."""
    resource = schemas.find(name)
    if resource is None:
        help = did_you_mean(name, schemas.names(), f"write it as schemas/{name}.json beside the graph")
        return Finding.at(place, "unknown-schema", f'no schema "{name}"', help)
    text, file = resource
    try:
        return Contract(json.loads(text), name, schemas)
    except json.JSONDecodeError as problem:
        at = Place(file, problem.lineno, problem.colno)
        return Finding.at(at, "schema-invalid", f'schema "{name}" is not JSON: {problem.msg}', "correct the text there")
    except (SchemaInvalid, ValueError, AttributeError) as problem:
        message = f'schema "{name}" ({file}) cannot be used: {problem}'
        return Finding.at(place, "schema-invalid", message, "correct the schema")
