"""Where the sources define the settings that a section is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from graph_research.research.agents.writing.further_passages import NAME_OF_A_SETTING, defined_settings, nearest
from graph_research.research.models.outline import OutlineSection
from graph_research.research.models.source import Source
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, Ranked


def definitions(
    section: OutlineSection,
    others: Iterable[OutlineSection],
    said: Iterable[str],
    sources: Mapping[str, Source],
    pool: Pool,
) -> Iterator[Ranked]:
    """The definition of each setting that the section is to tell of, in order. Then, of the publishers of whose
    settings no other section names more, those of further settings that the texts `said` name, which are the findings
    and notes of the run: the most often named first."""
    defined = defined_settings(pool)
    names = _names(section)
    for name in names:
        yield from ([defined[name]] if name in defined else islice(nearest(pool, parse(name), must_bear=True), 1))
    maker = {name: sources[item.source].publisher for name, item in defined.items()}
    own = Counter(maker[name] for name in names if name in defined)
    elsewhere = [Counter(maker[name] for name in _names(other) if name in defined) for other in others]
    led = {name for name, count in own.items() if all(counted[name] <= count for counted in elsewhere)}
    often = Counter(
        name for text in said for name in set(NAME_OF_A_SETTING.findall(text)) & defined.keys() - set(names)
    )
    yield from (defined[name] for name, _ in often.most_common() if maker[name] in led)


def _names(section: OutlineSection) -> Sequence[str]:
    return list(dict.fromkeys(NAME_OF_A_SETTING.findall(" ".join([section.answers, section.form, *section.parts]))))
