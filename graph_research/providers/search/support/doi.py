"""Normalizes digital object identifiers."""

from __future__ import annotations

import re
from typing import Any

from graph_research.providers.search.support.json_fields import line

_PREFIX = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S+")
_MOST_CHARS = 300


def normal_doi(value: Any) -> str | None:
    """`10.1000/abc` for `https://doi.org/10.1000/ABC` and `doi:10.1000/abc`; None if it is not a DOI. In lower case,
    since DOIs are case-insensitive (DOI Handbook, 2.4)."""
    doi = _PREFIX.sub("", line(value), count=1).strip().lower()
    return doi if len(doi) <= _MOST_CHARS and _DOI.fullmatch(doi) else None
