"""A report's sources for reference managers: BibTeX, RIS and CSL-JSON.

They are named as in the report's own list. Only an address on the web is a URL; the path of a local file is a note.
Nothing of a source is trusted: characters that are markup in BibTeX are escaped, and a line break never starts a new
RIS field.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from graph_research.research.report.formatting import listed_title, local_file, one_line, publisher, web_link
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.model import Report
from graph_research.research.report.reading import cited_folders, cited_makers
from graph_research.text.language.dates import date_parts

Sources = Sequence[Mapping[str, Any]]
"""As `listed_sources` gives them."""

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


def listed_sources(report: Report, *, only_cited: bool = False) -> Sources:
    """The report's sources as its own list names them, with `note`: the path of a local file."""
    products = [row.name for row in report.newest_versions]
    makers, folders, labels = cited_makers(report, products), cited_folders(report), labels_for(report.language)
    return [
        {
            **source.to_json(),
            "title": listed_title(source, makers, labels),
            "publisher": publisher(source, products) if source.publisher else None,
            "url": web_link(source.url),
            "note": None if web_link(source.url) else local_file(source, folders),
        }
        for source in report.sources
        if source.n is not None or not only_cited
    ]


def _bibtex_entry(source: Mapping[str, Any]) -> str:
    year, *_ = _date(source)
    fields = {
        "title": source.get("title"),
        "author": " and ".join(f"{{{_tex(author)}}}" for author in source.get("authors") or ()),
        "publisher": source.get("publisher"),
        "year": year,
        "url": source.get("url"),
        "doi": source.get("doi"),
        "note": source.get("note"),
    }
    lines = [
        f"  {name} = {{{value if name == 'author' else _tex(str(value))}}}," for name, value in fields.items() if value
    ]
    return "\n".join([f"@misc{{{source['id']},", *lines, "}", ""])


def _tex(text: str) -> str:
    return "".join(_TEX.get(character, character) for character in one_line(text))


def _ris_entry(source: Mapping[str, Any]) -> str:
    year, *rest = _date(source)
    fields = [
        ("TY", "ELEC" if source.get("url") else "GEN"),
        ("ID", source["id"]),
        ("TI", source.get("title")),
        *(("AU", author) for author in source.get("authors") or ()),
        ("PB", source.get("publisher")),
        ("PY", year),
        ("DA", "/".join([year, *rest]) if rest else None),
        ("UR", source.get("url")),
        ("DO", source.get("doi")),
        ("N1", source.get("note")),
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
    entry = {
        "id": source["id"],
        "type": "webpage" if source.get("url") else "document",
        "title": one_line(source.get("title") or ""),
        "author": [{"literal": one_line(author)} for author in source.get("authors") or ()],
        "publisher": one_line(source.get("publisher") or ""),
        "issued": {"date-parts": [[int(part) for part in (year, *rest)]]} if year else None,
        "URL": one_line(source.get("url") or ""),
        "DOI": one_line(source.get("doi") or ""),
        "note": one_line(source.get("note") or ""),
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
"""Renderers of `listed_sources`, by the name of the format."""
