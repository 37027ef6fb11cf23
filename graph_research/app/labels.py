"""Labels in place of names that only the operator may know, in JSON as it is stored and sent."""

from __future__ import annotations

from collections.abc import Mapping

import orjson


def in_json(text: str) -> bytes:
    """A text as it stands within a JSON string."""
    return orjson.dumps(text)[1:-1]


def json_labels(labels: Mapping[str, str]) -> Mapping[bytes, bytes]:
    """The names and their labels as JSON has them, the longest name first: one may begin with another."""
    return {in_json(name): in_json(labels[name]) for name in sorted(labels, key=len, reverse=True)}


def labelled(data: bytes, labels: Mapping[bytes, bytes]) -> bytes:
    """JSON with the labels in place of the names."""
    for name, label in labels.items():
        data = data.replace(name, label)
    return data
