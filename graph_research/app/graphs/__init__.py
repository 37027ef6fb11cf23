"""Graph definitions as files: lookup, inspection, pictures, starters."""

from __future__ import annotations

from enum import StrEnum


class GraphFormat(StrEnum):
    """What a definition can be exported as."""

    MERMAID = "mermaid"
    DOT = "dot"
    SVG = "svg"
    PNG = "png"
    HTML = "html"
    JSON = "json"


class Template(StrEnum):
    """What a new graph can begin with; each is a folder of `shipped_files.starters()` with a graph of the same name."""

    STARTER = "starter"
    FACT_CHECKER = "fact-checker"
    DOCUMENT_QA = "document-qa"
    COMPARE = "compare"
