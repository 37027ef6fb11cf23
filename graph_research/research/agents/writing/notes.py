"""The researchers' notes as single statements, and what their latest reading lacked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_research.text.relevance.open_points import Told, left_open

_NOTE = re.compile(r"^- (.+?)\s*((?:\[\d+\])+)$", re.MULTILINE)
_SOURCE = re.compile(r"^\[(\d+)\] (src-[0-9a-f]{10})\b", re.MULTILINE)
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Note:
    """What a researcher noted, and the sources that it names for it."""

    text: str
    source_ids: tuple[str, ...] = ()


def notes_of(topics: Iterable[Mapping[str, Any]]) -> list[Note]:
    """The notes of the topics in their order, each text once."""
    notes: dict[str, Note] = {}
    for topic in topics:
        text = topic.get("compressed_findings") or ""
        names = {int(n): name for n, name in _SOURCE.findall(text)}
        for said, marks in _NOTE.findall(text):
            read = [names[int(n)] for n in _NUMBER.findall(marks) if int(n) in names]
            notes.setdefault(said, Note(said, tuple(read)))
    return list(notes.values())


def latest_limits(topics: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the reading of the latest round lacked: what earlier ones lacked was searched for since."""
    return list(dict.fromkeys(limit for topic in latest(topics) for limit in topic.get("limits") or []))


def answered_by_words(limits: Iterable[str], texts: Iterable[str], titles: Sequence[str]) -> list[str]:
    """Those of the limits that a finding, or a quote, among the texts answers, as words alone show. The title of a
    source in a limit says where something was not found, and asks for nothing."""
    told = list(map(Told, texts))
    return [limit for limit in limits if not left_open(_without(limit, titles), told)]


def _without(limit: str, titles: Iterable[str]) -> str:
    for title in filter(None, titles):
        limit = limit.replace(title, "")
    return limit


def latest(topics: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The topics of the latest round."""
    rounds = [int(topic["sub_query_id"].split("-")[1]) for topic in topics]
    return [topic for topic, own in zip(topics, rounds, strict=True) if own == max(rounds)]
