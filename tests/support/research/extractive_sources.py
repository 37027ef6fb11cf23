"""The demo library as the extractive model gets it, and small sources written for one test."""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from graph_research.research.models.source import Source, SourceScore, Tier
from graph_research.research.scoring.tiers import AUTHORITY, CREDIBILITY
from graph_research.text.document import Document
from graph_research.text.readers import PDF
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "examples" / "library"
PLANTED: dict[str, Any] = json.loads((ROOT / "tests" / "acceptance" / "planted.json").read_text(encoding="utf-8"))

Material = dict[str, Any]
_READERS = {".html": html_document, ".md": markdown_document, ".txt": plain_document}


@cache
def demo_documents() -> Mapping[str, Document]:
    """Every document of the demo library by its path."""
    return asyncio.run(_documents())


async def _documents() -> Mapping[str, Document]:
    found: dict[str, Document] = {}
    async with LimitedReader() as reader:
        for path in sorted(LIBRARY.rglob("*.*")):
            name = path.relative_to(LIBRARY).as_posix()
            if path.suffix == ".pdf":
                found[name] = await reader.document(path.read_bytes(), PDF)
            elif path.suffix in _READERS:
                found[name] = _READERS[path.suffix](path.read_text(encoding="utf-8"))
    return found


def demo_material(question: str = "") -> Material:
    """The analyzer's handoff with the whole demo library."""
    entries = tomllib.loads((LIBRARY / "library.toml").read_text(encoding="utf-8"))["document"]
    documents = demo_documents()
    rows = []
    for name, document in documents.items():
        entry = next(entry for entry in entries if fnmatchcase(name, entry["match"]))
        rows.append(_source(name, document, entry["tier"], entry.get("publisher"), str(entry.get("date", "")) or None))
    return material(question or PLANTED["question"], rows, documents)


def written(texts: Sequence[str], tiers: Sequence[str] = ()) -> Material:
    """A handoff without a question of one Markdown document for each text, with ids `s0`, `s1`, …"""
    documents = {f"s{number}": markdown_document(text) for number, text in enumerate(texts)}
    rows = [
        _source(
            name,
            document,
            tiers[number] if tiers else "SECONDARY",
            f"publisher {number}",
            None,
        )
        for number, (name, document) in enumerate(documents.items())
    ]
    return material("", rows, documents)


def material(question: str, rows: Sequence[Material], documents: Mapping[str, Document]) -> Material:
    return {"question": question, "sub_queries": [], "sources": list(rows), "documents": documents}


def analysed(handoff: Material, answer: Mapping[str, Any]) -> Material:
    """The synthesizer's handoff: the analyzer's answer with evidence ids, as the handler makes it."""
    evidence: dict[str, Material] = {}

    def keep(quote: Mapping[str, Any]) -> str:
        start, end = quote["start"], quote["start"] + len(quote["quote"])
        assert handoff["documents"][quote["source_id"]].text[start:end] == quote["quote"]
        key = f"ev-{quote['source_id']}-{start}-{end}"
        evidence[key] = {
            "id": key,
            "source_id": quote["source_id"],
            "quote": quote["quote"],
            "locator": f"char:{start}-{end}",
            "archive_hash": handoff["documents"][quote["source_id"]].hash,
        }
        return key

    findings = [{**row, "evidence_ids": [keep(quote) for quote in row["evidence"]]} for row in answer["findings"]]
    contradictions = [
        {**row, "sides": [{**side, "evidence_ids": [keep(q) for q in side["evidence"]]} for side in row["sides"]]}
        for row in answer["contradictions"]
    ]
    return {**handoff, "findings": findings, "evidence": list(evidence.values()), "contradictions": contradictions}


def _source(name: str, document: Document, tier: str, publisher: str | None, date: str | None) -> Material:
    level = Tier(tier)
    composite = 0.25 * AUTHORITY[level] / 100 + 0.2 * 0.5 + 0.35 * 0.5 + 0.2 * CREDIBILITY[level]
    return Source(
        id=name,
        url=name,
        title=document.title,
        tier=level,
        publisher=publisher,
        published_at=date,
        score=SourceScore(composite=composite),
        archive_hash=document.hash,
    ).to_json()
