"""A scripted model that answers as a strong one does: long sections, tables, inference, computed numbers, German and
Chinese; and the small web that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.providers.llm.base import ModelRequest
from graph_research.providers.search.base import SearchHit, SearchRequest
from graph_research.text.document import source_id
from tests.support.research.harness import all_supported, drops_all, hit, research_script

Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Study:
    """A question in one language: what it asks, the pages that answer it, and the sections written of them."""

    question: str
    pages: Mapping[str, tuple[str, str]]
    """Address to title and text."""
    findings: Sequence[tuple[str, str, str]]
    """Content, address, quote."""
    sections: Callable[[Writer], Sequence[tuple[str, str, list[Row]]]]
    """Heading, what it answers, blocks; the words of its findings decide where each finding belongs."""
    summary: Callable[[Writer], list[Row]]

    def search(self, request: SearchRequest) -> list[SearchHit]:
        """Every page, whatever is asked."""
        return [hit(text, url=url, title=title, publisher=title) for url, (title, text) in self.pages.items()]

    def script(self, **changes: Sequence[Any]) -> dict[str, Sequence[Any]]:
        """The replies of each agent; `changes` replaces an agent's."""
        plan = {
            "research_brief": "Each side, then both together.",
            "sub_queries": [{"query": f"{self.question} {n}", "rationale": "r", "priority": n} for n in (1, 2)],
        }
        return research_script(
            planner=[plan],
            **{
                "analyzer": [{"findings": [self._finding(*row) for row in self.findings], "gaps": []}],
                "outliner": [self.outline],
                "section_writer": [self.section],
                "editor": [self.edit],
                "verifier": [all_supported],
                "section_mender": [drops_all],
                **changes,
            },
        )

    def outline(self, request: ModelRequest) -> Row:
        """One section a part of the question; each finding is named by the first section, and kept by the others."""
        rows = self.sections(Writer({}, {}))
        numbers = [row["n"] for row in request.material["findings"]]
        return {
            "sections": [
                {
                    "heading": heading,
                    "answers": answers,
                    "form": "a table, then what follows",
                    "findings": numbers,
                    "words": 300,
                }
                for heading, answers, _ in rows
            ],
            "not_answered": [],
        }

    def section(self, request: ModelRequest, *more: Callable[[Writer], Row]) -> Row:
        """The section of the heading that is asked for, with more sentences in a paragraph; what no evidence shows is
        asked for by its words."""
        evidence = [*request.material["evidence"], *request.material["passages"]]
        writer = Writer({row["id"]: row["quote"] for row in evidence}, dict(self._texts()))
        blocks = next(
            made for heading, _, made in self.sections(writer) if heading == request.material["section"]["heading"]
        )
        if more:
            blocks = [*blocks, paragraph(*(make(writer) for make in more))]
        return {"blocks": blocks, "quotes": writer.asked}

    def edit(self, request: ModelRequest) -> Row:
        """A summary that cites what the sections cite."""
        return {"found": True, "summary": self.summary(Writer(self._cited(request), {})), "conclusions": []}

    def _cited(self, request: ModelRequest) -> dict[str, str]:
        """The sentences before each evidence id, as the editor is shown them."""
        cited: dict[str, str] = {}
        for section in request.material["sections"]:
            for line in section["text"].splitlines():
                for sentence in line.split("("):
                    text, _, rest = sentence.partition(" [ev-")
                    if rest:
                        name = "ev-" + rest[:10]
                        cited[name] = f"{cited.get(name, '')} {text}"
        return cited

    def _texts(self) -> list[tuple[str, str]]:
        return [(source_id(url, text), text) for url, (_, text) in self.pages.items()]

    def _finding(self, content: str, url: str, quote: str) -> Row:
        evidence = [{"source_id": source_id(url, self.pages[url][1]), "quote": quote}]
        return {"content": content, "confidence": "high", "category": None, "evidence": evidence}


class Writer:
    """Makes sentences: each names a piece of the text that it rests on, and gets the id of the evidence that has it."""

    def __init__(self, evidence: Mapping[str, str], texts: Mapping[str, str]) -> None:
        self._evidence = evidence
        self._texts = texts
        self.asked: list[Row] = []

    def fact(self, text: str, *pieces: str, computed: str = "") -> Row:
        return self._sentence("fact", text, pieces, computed)

    def analysis(self, text: str, *pieces: str, computed: str = "") -> Row:
        return self._sentence("analysis", text, pieces, computed)

    def limit(self, text: str) -> Row:
        return {"text": text, "kind": "limit", "evidence_ids": []}

    def _sentence(self, kind: str, text: str, pieces: Sequence[str], computed: str) -> Row:
        ids = [self._id(piece) for piece in pieces]
        row = {"text": text, "kind": kind, "evidence_ids": [name for name in ids if name]}
        return {**row, "computed": [computed]} if computed else row

    def _id(self, piece: str) -> str:
        """The evidence that holds the piece, else a key under which the whole of it is asked for."""
        for name, quote in self._evidence.items():
            if piece in quote:
                return name
        for name, text in self._texts.items():
            if piece in text:
                key = f"q{len(self.asked) + 1}"
                self.asked.append({"key": key, "source_id": name, "quote": piece})
                return key
        return ""


def paragraph(*sentences: Row) -> Row:
    return {"type": "paragraph", "sentences": list(sentences)}


def listing(*sentences: Row) -> Row:
    return {"type": "list", "items": [[sentence] for sentence in sentences]}


def table(caption: str, header: Sequence[str], *rows: tuple[str, Sequence[Row]]) -> Row:
    return {
        "type": "table",
        "caption": caption,
        "header": list(header),
        "rows": [{"label": label, "cells": list(cells)} for label, cells in rows],
    }


LOCK = "Larch allows one write transaction at a time for each database file."
BUSY = "A writer that meets another writer gets LARCH_BUSY at once unless busy_wait is set."
ROWS = "Alder locks single rows, so that writers of different rows do not wait for each other."
WAITS = "A second writer of the same row waits without limit unless lock_wait is set."
STANDBY = "A standby typically follows within 1 second, if it is powerful enough to keep up."
LARCH_RATE = "In the test of 2023 Larch wrote 180 rows a second with 8 clients."
ALDER_RATE = "On the same machine Alder wrote 2,340 rows a second with 8 clients."
FULL = "With sync = full Larch flushes its log after each commit, and full is the default."
NORMAL = "With sync = normal a commit may be lost when power fails, but the file stays consistent."


def _stores(write: Writer) -> list[tuple[str, str, list[Row]]]:
    return [
        (
            "Who waits for whom",
            "How do Larch and Alder let many writers write at the same time?",
            [
                paragraph(
                    write.fact("Larch lets one transaction write to a database file at a time.", LOCK),
                    write.fact("Alder locks single rows instead, so writers of different rows do not wait.", ROWS),
                    write.analysis(
                        "The two fail in opposite directions: Larch shows errors under load, Alder shows requests "
                        "that hang.",
                        BUSY,
                        WAITS,
                    ),
                ),
                table(
                    "Writers that meet",
                    ["Aspect", "Larch", "Alder"],
                    ("Unit of a write lock", [write.fact("the database file", LOCK), write.fact("single rows", ROWS)]),
                    (
                        "Second writer",
                        [
                            write.fact("gets LARCH_BUSY at once unless busy_wait is set", BUSY),
                            write.fact("waits without limit unless lock_wait is set", WAITS),
                        ],
                    ),
                    ("Fairness", [write.limit("not stated in the sources"), write.limit("not stated in the sources")]),
                ),
                paragraph(
                    write.analysis(
                        "So each needs the opposite setting: a wait in Larch, a bound in Alder.", BUSY, WAITS
                    )
                ),
            ],
        ),
        (
            "What the figures say",
            "How many rows does each write, and under which conditions?",
            [
                paragraph(
                    write.fact("In the test of 2023 Larch wrote 180 rows a second with 8 clients.", LARCH_RATE),
                    write.fact("On the same machine Alder wrote 2,340 rows a second with 8 clients.", ALDER_RATE),
                    write.fact("That is 13 times as many.", LARCH_RATE, ALDER_RATE, computed="2340 / 180"),
                    write.analysis(
                        "The gap is what one lock for the whole file leads to once several clients write.",
                        LOCK,
                        LARCH_RATE,
                        ALDER_RATE,
                    ),
                    write.fact("A standby of Alder typically follows within 1 second, if it can keep up.", STANDBY),
                )
            ],
        ),
        (
            "How to set it up",
            "Which settings make Larch keep what it has committed?",
            [
                table(
                    "Durability of Larch",
                    ["Setting", "What is kept"],
                    ("sync = full", [write.fact("the log is flushed after each commit; the default", FULL)]),
                    ("sync = normal", [write.fact("a commit may be lost when power fails", NORMAL)]),
                ),
                {"type": "code", "language": "ini", "sentences": [write.fact("sync = full", FULL)]},
                paragraph(
                    write.analysis(
                        "Choose normal only where losing the last commits costs less than waiting for the disk.",
                        FULL,
                        NORMAL,
                    )
                ),
            ],
        ),
    ]


STORES = Study(
    question="How do Larch and Alder differ for many writers, and how should Larch be set up?",
    pages={
        "https://larch.example/locks": ("Locks of Larch", f"{LOCK} {BUSY} Readers do not block the writer."),
        "https://alder.example/locks": ("Locks of Alder", f"{ROWS} {WAITS} {STANDBY}"),
        "https://bench.example/2023": ("A comparison", f"{LARCH_RATE} {ALDER_RATE} Both ran with their defaults."),
        "https://larch.example/sync": ("Durability of Larch", f"{FULL} {NORMAL}"),
    },
    findings=[
        ("Larch has one writer a file.", "https://larch.example/locks", LOCK),
        ("A second writer of Larch fails at once by default.", "https://larch.example/locks", BUSY),
        ("Alder locks single rows.", "https://alder.example/locks", ROWS),
        ("Larch wrote 180 rows a second.", "https://bench.example/2023", LARCH_RATE),
        ("Alder wrote 2,340 rows a second.", "https://bench.example/2023", ALDER_RATE),
        ("sync = full flushes each commit.", "https://larch.example/sync", FULL),
    ],
    sections=_stores,
    summary=lambda write: [
        paragraph(
            write.analysis("For many writers take Alder; Larch queues them at one lock.", "Larch lets", "Alder locks"),
        ),
        listing(
            write.fact("On one machine Alder wrote 2,340 rows a second.", "On the same machine"),
            write.limit("Whether waiting is fair stands in none of the sources."),
        ),
    ],
)
"""Two made-up databases, in English: tables, inference, a computed ratio, a block to copy."""

COST = "Die Baukosten der Lagune betrugen 1,61 Milliarden Euro."
PLANNED = "Geplant waren 1,34 Milliarden Euro."
OPENED = "Die Lagune wurde am 3. März 2016 eröffnet."


def _lagoon(write: Writer) -> list[tuple[str, str, list[Row]]]:
    return [
        (
            "Kosten der Lagune",
            "Was hat die Lagune gekostet, und wie viel mehr als geplant?",
            [
                paragraph(
                    write.fact("Der Bau der Lagune kostete 1,61 Milliarden Euro.", COST),
                    write.fact("Geplant waren 1,34 Milliarden Euro.", PLANNED),
                    write.fact(
                        "Das sind 0,27 Milliarden Euro mehr als geplant.", COST, PLANNED, computed="1.61 - 1.34"
                    ),
                    write.analysis(
                        "Wer den Bau beurteilt, muss deshalb sagen, ob er Plan oder Rechnung meint.", COST, PLANNED
                    ),
                ),
                table(
                    "Kosten",
                    ["Stand", "Betrag"],
                    ("Plan", [write.fact("1,34 Milliarden Euro", PLANNED)]),
                    ("Rechnung", [write.fact("1,61 Milliarden Euro", COST)]),
                ),
            ],
        ),
        (
            "Eröffnung",
            "Wann wurde die Lagune eröffnet?",
            [paragraph(write.fact("Eröffnet wurde die Lagune am 3. März 2016.", OPENED))],
        ),
    ]


LAGOON = Study(
    question="Was hat die Lagune gekostet, und wann wurde sie eröffnet?",
    pages={
        "https://lagune.example/kosten": ("Kosten der Lagune", f"{COST} {PLANNED}"),
        "https://lagune.example/bau": ("Bau der Lagune", f"{OPENED} Der Bau dauerte vier Jahre."),
        "https://lagune.example/fische": ("Fische der Lagune", "In der Lagune leben Meerforellen und Lachse."),
    },
    findings=[
        ("Die Lagune kostete 1,61 Milliarden Euro.", "https://lagune.example/kosten", COST),
        ("Geplant waren 1,34 Milliarden Euro.", "https://lagune.example/kosten", PLANNED),
        ("Die Lagune wurde am 3. März 2016 eröffnet.", "https://lagune.example/bau", OPENED),
    ],
    sections=_lagoon,
    summary=lambda write: [paragraph(write.fact("Die Lagune kostete 1,61 Milliarden Euro.", "Der Bau der Lagune"))],
)
"""German, with a computed difference."""

LENGTH = "大桥全长2345米,于2018年10月24日通车。"
PRICE = "大桥总投资为120亿元。"


def _bridge(write: Writer) -> list[tuple[str, str, list[Row]]]:
    return [
        (
            "大桥的长度和通车时间",
            "大桥有多长?何时通车?",
            [
                paragraph(
                    write.fact("大桥全长2345米。", LENGTH),
                    write.fact("大桥于2018年10月24日通车。", LENGTH),
                    write.analysis("因此,大桥的长度和通车时间都有明确记载。", LENGTH),
                )
            ],
        ),
        ("大桥的投资", "大桥花了多少钱?", [paragraph(write.fact("大桥的总投资为120亿元。", PRICE))]),
    ]


BRIDGE = Study(
    question="大桥有多长,何时通车,总投资是多少?",
    pages={
        "https://qiao.example/chang": ("大桥", f"{LENGTH}大桥连接两岸。"),
        "https://qiao.example/touzi": ("投资", f"{PRICE}工程历时九年。"),
        "https://qiao.example/lvyou": ("旅游", "很多游客来看大桥。"),
    },
    findings=[
        ("大桥全长2345米。", "https://qiao.example/chang", LENGTH),
        ("大桥总投资120亿元。", "https://qiao.example/touzi", PRICE),
    ],
    sections=_bridge,
    summary=lambda write: [paragraph(write.fact("大桥全长2345米。", "大桥全长2345米"))],
)
"""Chinese."""

STUDIES: Mapping[str, Study] = {"English": STORES, "German": LAGOON, "Chinese": BRIDGE}
