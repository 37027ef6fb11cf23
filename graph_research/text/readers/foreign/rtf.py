"""RTF: its paragraphs as text, with the title and the author of its head."""

from __future__ import annotations

import re
from dataclasses import replace

from striprtf.striprtf import rtf_to_text

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.language.dates import iso_date
from graph_research.text.readers.limits import Limits
from graph_research.text.readers.plain import plain_document

_HEAD_CHARS = 100_000
_FACT = re.compile(r"\{\\(title|author)\s([^{}]{1,1000})\}")
_MADE = re.compile(r"\{\\(?:revtim|creatim)\\yr(\d{4})\\mo(\d{1,2})\\dy(\d{1,2})")


def read_rtf(data: bytes, limits: Limits) -> Document:
    """The text; its paragraphs are counted from 1."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise DocumentUnreadable("it is not RTF: it does not start with {\\rtf")
    source = data.decode("latin-1")
    facts = {name: _text(f"{{\\rtf1 {value}}}") for name, value in _FACT.findall(source[:_HEAD_CHARS])}
    made = _MADE.search(source[:_HEAD_CHARS])
    text = _text(source)
    warnings = (f"stopped after {limits.chars:,} characters",) if len(text) > limits.chars else ()
    builder = DocumentBuilder()
    for number, line in enumerate(text[: limits.chars].splitlines(), start=1):
        builder.place("paragraph", number)
        if line.endswith("|"):
            builder.add_row(line.split("|")[:-1])
        else:
            builder.add_document(replace(plain_document(line), places=()))
    document = builder.document()
    return replace(
        document,
        title=facts.get("title", "").strip() or document.title,
        authors=tuple(name for name in [facts.get("author", "").strip()] if name),
        date=(iso_date(f"{made[1]}-{int(made[2]):02}-{int(made[3]):02}") or "") if made else "",
        warnings=warnings,
    )


def _text(source: str) -> str:
    text: str = rtf_to_text(source, errors="ignore")  # type: ignore[no-untyped-call]  # -- striprtf has no annotations
    return text
