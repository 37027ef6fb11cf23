"""Ids that derive from content, so that the same thing has the same id in every run."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_DIGITS = 10
_LEAST_DIGITS = 4
"""Of an id in a prompt: of so few a model invents none that is another's."""
_KINDS = ("ev", "src", "find", "gap", "con", "cmp", "claim")
_KIND = "|".join(rf"{kind}(?<!\w{'.' * len(kind)})" for kind in _KINDS)  # several times as fast as with \b before it
_NAME = re.compile(rf"(?:{_KIND})-[0-9a-f]{{4,10}}\b")


def evidence_id(archive_hash: str, locator: str) -> str:
    """`ev-` and 10 hex digits of the archived text's hash and the place in it."""
    return _derived("ev", archive_hash, locator)


def finding_id(content: str) -> str:
    """`find-` and 10 hex digits of what the finding says; case and spacing do not count."""
    return _derived("find", _plain(content))


def gap_id(description: str) -> str:
    """`gap-` and 10 hex digits of what is missing; case and spacing do not count."""
    return _derived("gap", _plain(description))


def contradiction_id(kind: str, topic: str, evidence_ids: list[str]) -> str:
    """`con-` and 10 hex digits of its kind, topic and the evidence on all sides, in any order."""
    return _derived("con", kind, _plain(topic), *sorted(evidence_ids))


def comparison_id(about: Sequence[str]) -> str:
    """`cmp-` and 10 hex digits of the ids of what is compared, in any order."""
    return _derived("cmp", *sorted(about))


def sub_query_id(iteration: int, number: int) -> str:
    """`sq-ITERATION-NUMBER`, both counted from 1."""
    return f"sq-{iteration}-{number}"


def _derived(kind: str, *parts: str) -> str:
    return f"{kind}-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:_DIGITS]}"


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


@dataclass(frozen=True)
class ShortIds:
    """The ids of a prompt's material as the prompt shows them: a digest of which each character costs tokens is cut to
    the digits that tell it from the others."""

    _short: Mapping[str, str] = field(default_factory=dict)
    _whole: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, material: Any) -> ShortIds:
        """The short forms of all ids in a JSON value, at least 4 digits, none of which begins another name in it."""
        names = {name for text in _texts(material) for name in _NAME.findall(text)}
        ends = {name: range(name.index("-") + 1 + _LEAST_DIGITS, len(name)) for name in names}
        beginnings = Counter(name[:end] for name in names for end in ends[name])
        short = {}
        for name in names:
            if len(ends[name]) == _DIGITS - _LEAST_DIGITS:
                alone = (end for end in ends[name] if beginnings[name[:end]] == 1 and name[:end] not in names)
                short[name] = name[: next(alone, len(name))]
        return cls(short, {shown: name for name, shown in short.items()})

    def shorten(self, text: str) -> str:
        """A text with the short form of each id."""
        return _NAME.sub(lambda match: self._short.get(match[0], match[0]), text) if self._short else text

    def expand(self, value: Any) -> Any:
        """A JSON value with the ids that its texts have in their short form."""
        if isinstance(value, str):
            return _NAME.sub(lambda match: self._whole.get(match[0], match[0]), value)
        if isinstance(value, Mapping):
            return {name: self.expand(part) for name, part in value.items()}
        return [self.expand(part) for part in value] if isinstance(value, list) else value


def _texts(value: Any) -> Iterator[str]:
    """The texts in a JSON value."""
    waiting = [value]
    for part in waiting:
        if isinstance(part, str):
            yield part
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, (dict, Mapping)):
            waiting.extend(part.values())
