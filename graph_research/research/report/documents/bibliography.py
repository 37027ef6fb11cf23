"""A report's sources for reference managers: BibTeX, RIS and CSL-JSON.

Nothing of a source is trusted: characters that are markup in BibTeX are escaped, and a line break never starts a new
RIS field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from graph_research.research.report.formatting import one_line
from graph_research.text.language.dates import date_parts

Sources = Sequence[Mapping[str, Any]]

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


def _bibtex_entry(source: Mapping[str, Any]) -> str:
    year, *_ = _date(source)
    fields = {
        "title": source.get("title"),
        "author": " and ".join(f"{{{_tex(author)}}}" for author in source.get("authors") or ()),
        "publisher": source.get("publisher"),
        "year": year,
        "url": source.get("url"),
        "doi": source.get("doi"),
    }
    lines = [
        f"  {name} = {{{value if name == 'author' else _tex(str(value))}}}," for name, value in fields.items() if value
    ]
    return "\n".join([f"@misc{{{source['id']},", *lines, "}", ""])


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in one_line(text))


def _ris_entry(source: Mapping[str, Any]) -> str:
    year, *rest = _date(source)
    url = source.get("url") or ""
    fields = [
        ("TY", "ELEC" if url.startswith(("http://", "https://")) else "GEN"),
        ("ID", source["id"]),
        ("TI", source.get("title")),
        *(("AU", author) for author in source.get("authors") or ()),
        ("PB", source.get("publisher")),
        ("PY", year),
        ("DA", "/".join([year, *rest]) if rest else None),
        ("UR", url),
        ("DO", source.get("doi")),
    ]
    lines = [f"{tag}  - {one_line(str(value))}" for tag, value in fields if value]
    return "\n".join([*lines, "ER  - ", "", ""])


def _csl_json(sources: Sources) -> str:
    return orjson.dumps(csl_items(sources), option=orjson.OPT_INDENT_2).decode() + "\n"


def csl_items(sources: Sources) -> list[dict[str, Any]]:
    """The sources as items of CSL-JSON."""
    return [_csl_entry(source) for source in sources]


def _csl_entry(source: Mapping[str, Any]) -> dict[str, Any]:
    year, *rest = _date(source)
    url = source.get("url") or ""
    entry = {
        "id": source["id"],
        "type": "webpage" if url.startswith(("http://", "https://")) else "document",
        "title": one_line(source.get("title") or ""),
        "author": [{"literal": one_line(author)} for author in source.get("authors") or ()],
        "publisher": one_line(source.get("publisher") or ""),
        "issued": {"date-parts": [[int(part) for part in (year, *rest)]]} if year else None,
        "URL": one_line(url),
        "DOI": one_line(source.get("doi") or ""),
    }
    return {name: value for name, value in entry.items() if value}


def _date(source: Mapping[str, Any]) -> tuple[str, ...]:
    """Year, month and day as far as they are known; an empty year where nothing is."""
    return date_parts(str(source.get("published_at") or "")) or ("",)


RENDERERS: Mapping[str, Callable[[Sources], str]] = {
    "bibtex": lambda sources: "\n".join(map(_bibtex_entry, sources)),
    "ris": lambda sources: "".join(map(_ris_entry, sources)),
    "csl-json": _csl_json,
}
"""Renderers of the `sources` of a `report.json`, by the name of the format."""
