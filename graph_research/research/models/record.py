"""The base of every model of the state: frozen, closed to unknown keys on the way in, plain JSON on the way out."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


def schema_field(default: Any = ..., **constraints: Any) -> Any:
    """A field whose `constraints` (keywords of JSON Schema) stand in the generated schema: what enters the state is
    checked there, and not again each time a model is made from the state."""
    return Field(default, json_schema_extra=constraints)


class Record(BaseModel):
    """A frozen value that round-trips through JSON.

    Unknown keys are ignored, so that a state written by a later version still loads.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    def to_json(self) -> dict[str, Any]:
        """The value as plain JSON types, every field included."""
        return self.model_dump(mode="json")
