"""Which version of the things that a question names its sources describe."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from graph_research.research.models.source import Source
from graph_research.research.report.model import NamedVersion
from graph_research.text.language.versions import newest_named_version, version_mark
from graph_research.text.relevance.query import parse

_WORD = re.compile(r"[^\W\d_][\w+#-]*")


def newest_versions(question: str, sources: Sequence[Source], texts: Mapping[str, str]) -> list[NamedVersion]:
    """The newest version that the sources name of each thing that the question names, in its order. `texts` maps source
    ids to canonical texts."""
    words = (word for name in parse(question).names for word in _WORD.findall(name))
    names = dict.fromkeys(word for word in words if word != word.lower())
    return [
        NamedVersion(name=name, version=version)
        for name in names
        if (version := newest_named_version(name, _said_of(name, sources, texts)))
    ]


def _said_of(name: str, sources: Sequence[Source], texts: Mapping[str, str]) -> Iterator[str]:
    """Every text and title; the version in a title of its own publisher, such as `Release 15.14`, behind the name."""
    for source in sources:
        yield source.title
        yield texts.get(source.id, "")
        if (source.publisher or "").casefold() == name.casefold():
            yield f"{name} release {'.'.join(map(str, version_mark(source.title).number))}"
