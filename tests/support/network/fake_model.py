"""A model for the fake services: it answers every agent of the research graphs from the prompt, word for word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_BLOCK = re.compile(r"\[QUOTED-(\w+): ([^\]]*)\]\n(.*?)\n?\[/QUOTED-\1\]", re.DOTALL)
_AGENTS = {
    "need_clarification": "clarifier",
    "research_brief": "planner",
    "limits": "extractor",
    "findings": "analyzer",
    "comparisons": "comparer",
    "action": "supervisor",
    "continue_searching": "reflector",
    "gap_analysis": "refiner",
    "sections": "outliner",
    "blocks": "section_writer",
    "key_points": "digestor",
    "summary": "editor",
    "verdicts": "verifier",
    "sentences": "section_mender",
    "claims": "claim_extractor",
    "questions": "decomposer",
    "executive_summary": "source_summarizer",
}


def schema_of(request: Mapping[str, Any], prompt: str) -> Mapping[str, Any]:
    wanted = request.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return wanted["json_schema"]["schema"]
    declared = re.search(r"^type answer = \{(.*)\}$", prompt, re.MULTILINE)
    return {"properties": {name: {} for name in _members(declared[1])}} if declared else {}


def _members(declared: str) -> list[str]:
    """The names of an object type's own members."""
    shallow = re.sub(r"/\*.*?\*/", "", declared)
    while "{" in shallow:
        shallow = re.sub(r"\{[^{}]*\}", "", shallow)
    return re.findall(r'(\w+)"?\??:', shallow)


def agent_of(schema: Mapping[str, Any]) -> str:
    names = schema.get("properties", {})
    return next((agent for key, agent in _AGENTS.items() if key in names), "other")


def answer(agent: str, schema: Mapping[str, Any], prompt: str, options: Mapping[str, Any]) -> Any:
    blocks = [(label, text) for _, label, text in _BLOCK.findall(prompt)]
    question = next((text for label, text in blocks if label == "research question"), "")
    if options.get("long_sections") and agent in ("outliner", "section_writer"):
        return (_long_outline if agent == "outliner" else _long_section)(blocks, prompt)
    make = globals().get(f"_{agent}")
    return make(question, blocks, options) if make else _least(schema)


def _clarifier(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    return {"need_clarification": False, "question": "", "verification": f"The question is: {question[:200]}"}


def _planner(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    facets = ("cost and price", "effects on birds and water", "power and output")
    topic = " ".join(question.split()[:8])
    return {
        "research_brief": "Each facet is researched on its own. The sources' own figures are compared.",
        "sub_queries": [{"query": f"{facet} {topic}", "priority": n} for n, facet in enumerate(facets, 1)],
    }


def _decomposer(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    return {"questions": [one["query"] for one in _planner(question, blocks, options)["sub_queries"]]}


def _reflector(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    return {
        "continue_searching": False,
        "refined_query": None,
        "research_complete": True,
        "rationale": "The sources found so far cover the sub-query.",
    }


def _supervisor(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    return {
        "action": "proceed",
        "rationale": "The phase gave what the next one needs.",
        "quality_assessment": {"score": 8, "strengths": ["complete"], "weaknesses": []},
        "guidance": None,
    }


def _source_summarizer(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    texts = [text for label, text in blocks if label != "research question"]
    longest = max(texts, key=len, default="")
    sentences = _sentences(longest)
    return {"executive_summary": " ".join(sentences[:3]) or "Nothing.", "key_excerpts": sentences[:3]}


def _digestor(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    texts = [text for label, text in blocks if label.startswith("source src-")]
    sentences = _sentences(_untitled(texts[0])) if texts else []
    return {"summary": " ".join(sentences[:3]) or "Nothing.", "key_points": sentences[:3]}


def _extractor(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    shown = [(label, text) for label, text in blocks if label.startswith("source src-")]
    notes = [
        {"text": sentence, "sources": [number]}
        for number, (_, text) in enumerate(shown, start=1)
        for sentence in _sentences(_untitled(text))[1:4]
    ]
    return {"notes": notes, "findings": _findings(shown), "limits": []}


def _findings(shown: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """The first sentence of each source as a finding, five at most."""
    findings = []
    for label, text in shown:
        sentences = _sentences(_untitled(text))
        if sentences:
            quote = {"source_id": label.removeprefix("source "), "quote": sentences[0]}
            findings.append({"content": sentences[0], "confidence": "high", "category": None, "evidence": [quote]})
    return findings[:5]


def _analyzer(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    findings = _findings([(label, text) for label, text in blocks if label.startswith("source src-")])
    open_gaps = [label.removeprefix("gap ") for label, _ in blocks if label.startswith("gap ")]
    number = 1 + len(re.findall(r"Open point", _gaps(blocks)))
    gap = {
        "description": f"Open point {number}: what the sources leave out about round {number}.",
        "suggested_queries": [f"missing figures of the lagoon, point {number} {'abcdefghij'[number % 10]}"],
        "priority": 1,
    }
    wanted = options["always_gaps"] or not open_gaps
    shown = "\n".join(text for label, text in blocks if label == "findings")
    listed = re.findall(r"^(find-[0-9a-f]+) \(", shown, re.MULTILINE)
    return {
        "findings": findings,
        "confidences": [{"finding_id": name, "confidence": "high"} for name in listed],
        "addressed_gaps": open_gaps,
        "gaps": [gap] if wanted else [],
    }


def _gaps(blocks: Sequence[tuple[str, str]]) -> str:
    return "\n".join(text for label, text in blocks if label.startswith("gap "))


def _refiner(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    gaps = [(label.removeprefix("gap "), text) for label, text in blocks if label.startswith("gap ")]
    rows = [
        {
            "gap_id": gap_id,
            "severity": "moderate",
            "addressable": True,
            "follow_up_queries": [
                {
                    "query": f"{text.partition('Suggested: ')[2] or text} number {place}",
                    "expected_contribution": "figures",
                }
                for place in range(1, 3)
            ],
        }
        for gap_id, text in gaps
    ]
    return {
        "gap_analysis": rows,
        "iteration_recommendation": {
            "should_iterate": bool(rows),
            "rationale": "The gaps matter.",
            "priority_gaps": [gap_id for gap_id, _ in gaps],
        },
        "report_improvements": [],
    }


def _claim_extractor(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    claims = []
    for place, (label, text) in enumerate(block for block in blocks if block[0].startswith("source src-")):
        sentences = _sentences(_untitled(text))
        if sentences:
            quote = {"source_id": label.removeprefix("source "), "quote": sentences[0]}
            claims.append(
                {"text": sentences[0], "supportingIndices": [place], "contradictingIndices": [], "evidence": [quote]}
            )
    return {"claims": claims}


def _outliner(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    numbers = _numbers_of_findings(blocks)
    third = max(1, (len(numbers) + 2) // 3)
    return {
        "sections": [
            {
                "heading": f"Part {place // third + 1} of what was found",
                "answers": "What was found?",
                "form": "a list",
                "findings": numbers[place : place + third],
                "words": 200,
                "layout_words": 0,
                "action": "new",
            }
            for place in range(0, len(numbers), third)
        ],
        "not_answered": [],
    }


def _numbers_of_findings(blocks: Sequence[tuple[str, str]]) -> list[int]:
    listed = "\n".join(text for label, text in blocks if label == "findings")
    return [int(number) for number in re.findall(r"^(\d+)\. ", listed, re.MULTILINE)]


def _section_writer(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    statements = [
        {"text": text, "evidence_ids": [name], "kind": "quote"} for name, text in _evidence(blocks, ("evidence",))
    ]
    return {"blocks": _quotes(statements), "quotes": []}


def _long_outline(blocks: Sequence[tuple[str, str]], prompt: str) -> Any:
    """Sections of about 300 words, as many as the wanted length has room for; each finding in one of them."""
    numbers = _numbers_of_findings(blocks)
    words = int(re.findall(r"All sections together have about (\d+) words", prompt)[-1])
    count = max(1, min(words // 300, len(numbers)))
    return {
        "sections": [
            {
                "heading": f"Part {place + 1} of what was found",
                "answers": "What was found, and what follows from it?",
                "form": "a table, then what follows",
                "findings": numbers[place::count],
                "words": words // count,
                "layout_words": words // count // 3,
                "action": "new",
            }
            for place in range(count)
        ],
        "not_answered": [],
    }


def _long_section(blocks: Sequence[tuple[str, str]], prompt: str) -> Any:
    """Facts in the words of the evidence until the section has its length: a table of the first three, then
    paragraphs that each end with what follows."""
    wanted = int(re.findall(r"It should have about (\d+) words", prompt)[-1])
    facts, words = [], 0
    for name, text in dict(_evidence(blocks, ("evidence", "passages"))).items():
        if words >= wanted * 9 // 10:
            break
        facts.append({"text": " ".join(text.split()), "kind": "fact", "evidence_ids": [name]})
        words += len(text.split())
    table = {
        "type": "table",
        "caption": "What the sources state",
        "header": ["", "Statement"],
        "rows": [{"label": f"Point {n}", "cells": [fact]} for n, fact in enumerate(facts[:3], 1)],
    }
    follows = "Read together, these statements carry the answer to this part, as far as the sources go."
    paragraphs = [
        {
            "type": "paragraph",
            "sentences": [
                *facts[place : place + 3],
                {
                    "text": follows,
                    "kind": "analysis",
                    "evidence_ids": [name for fact in facts[place : place + 3] for name in fact["evidence_ids"]],
                },
            ],
        }
        for place in range(3, len(facts), 3)
    ]
    return {"blocks": [*([table] if facts else []), *paragraphs], "quotes": []}


def _editor(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    sections = "\n".join(text for label, text in blocks if label.startswith("section "))
    written = re.findall(r"\(\d+\.\d+\) (.+) \[(ev-[0-9a-f]+)\]", sections)
    statements = [{"text": text, "evidence_ids": [name], "kind": "quote"} for text, name in written]
    places = re.findall(r"\((\d+\.\d+)\) ", sections) if options.get("objects") else []
    pairs = [(place, other) for place, other in zip(places[:1], places[-1:], strict=True) if place != other]
    return {
        "found": bool(statements),
        "summary": _quotes(statements[:2]),
        "conclusions": _quotes(statements[-1:]),
        "inconsistencies": [{"change": [place], "against": [other], "problem": "differ"} for place, other in pairs],
    }


def _verifier(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    listed = "\n".join(text for label, text in blocks if label == "sentences")
    objected = (
        {re.search(r"^(\d+)\. ", part, re.MULTILINE)[1] for part in _first_of_sections(listed)}
        if options.get("objects")
        else ()
    )
    return {
        "verdicts": [
            {"n": n, "verdict": "not" if str(n) in objected else "supported", "reason": ""} for n in _numbers(blocks)
        ]
    }


def _first_of_sections(listed: str) -> list[str]:
    """The first sentence of each section, as the verifier's prompt has it."""
    places: dict[str, str] = {}
    for part in re.split(r"^In (?=.+:$)", listed, flags=re.MULTILINE)[1:]:
        place, _, sentences = part.partition("\n")
        places.setdefault(re.split(r":$| / ", place)[0], sentences)
    return list(places.values())


def _section_mender(question: str, blocks: Sequence[tuple[str, str]], options: Mapping[str, Any]) -> Any:
    return {"sentences": [{"n": n, "action": "drop"} for n in _numbers(blocks)]}


def _numbers(blocks: Sequence[tuple[str, str]]) -> list[int]:
    """The numbers of the sentences that a verifier or a mender is asked about."""
    listed = "\n".join(text for label, text in blocks if label == "sentences")
    return [int(number) for number in re.findall(r"^(\d+)\. ", listed, re.MULTILINE)]


def _evidence(blocks: Sequence[tuple[str, str]], labels: Sequence[str]) -> list[tuple[str, str]]:
    """The id and the quote of each row of these lists, without the text around the quote."""
    listed = "\n".join(text for label, text in blocks if label in labels)
    return re.findall(r"^(ev-[0-9a-f]+): [^⟦]*⟦([^⟧]*)⟧", listed, re.MULTILINE)


def _quotes(statements: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "list", "items": [[statement] for statement in statements]}] if statements else []


def _sentences(text: str) -> list[str]:
    return [one.strip() for one in re.findall(r"[A-Z][^.!?\n\[\]]{40,280}[.!?]", text)]


def _untitled(text: str) -> str:
    """What is shown of a source, without the lines about it that a prompt puts before it."""
    return text.partition("\n\n")[2] if text.startswith("Title: ") else text


def _least(schema: Any) -> Any:
    """The smallest value that fits a plain schema; prose where there is none."""
    if not schema:
        return "The material, in order."
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: _least(schema["properties"][name]) for name in schema.get("required", ())}
    if kind == "array":
        return [_least(schema.get("items", {}))] if schema.get("minItems") else []
    return {"string": "text", "integer": 1, "number": 1, "boolean": False}.get(kind or "string")
