"""Contradictions among Excel workbooks of a library: a number means what the header of its column says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from graph_research.providers.search.local import Library
from graph_research.research.evidence.contradictions import by_place, disagreements
from graph_research.research.models.evidence import Evidence
from graph_research.research.models.ids import evidence_id
from graph_research.research.models.source import Source
from graph_research.text.locators import make_locator
from graph_research.text.relevance.units import units
from tests.support.documents.foreign_files import workbook_of

HEADER = ("Plant", "Turbines", "Cost (million euros)")


@pytest.mark.parametrize(
    ("other", "found"),
    [
        pytest.param(
            [("Plant", "Cost (€ million)", "Turbines"), ("Alder Dam", 1340, 16)], [], id="columns in another order"
        ),
        pytest.param([("Plant", "Turbines"), ("Alder Dam", 16)], [], id="without the cost"),
        pytest.param([("Plant", "Cost (million euros)"), ("Alder Dam", 1340)], [], id="without the turbines"),
        pytest.param(
            [HEADER, ("Alder Dam", 16, 1610)],
            [{"1340 million euros", "1610 million euros"}],
            id="another cost",
        ),
        pytest.param(
            [HEADER, ("Alder Dam", 14, 1610)],
            [{"16", "14"}, {"1340 million euros", "1610 million euros"}],
            id="two numbers of a row",
        ),
        pytest.param([("Plant", "Turbines", "Opened (year)"), ("Alder Dam", 16, 2016)], [], id="a year beside a cost"),
    ],
)
async def test_a_number_of_a_sheet_has_the_header_and_the_unit_of_its_column(
    tmp_path: Path, other: list[Sequence[str | int]], found: list[set[str]]
) -> None:
    folder = tmp_path / "plants"
    folder.mkdir()
    (folder / "one.xlsx").write_bytes(workbook_of([HEADER, ("Alder Dam", 16, 1340)]))
    (folder / "other.xlsx").write_bytes(workbook_of(other))
    library = Library(tmp_path / "library.db")
    await library.add([folder])

    sources, documents, evidence = {}, {}, []
    for facts in await library.documents(folder):
        document = await library.document(folder, facts.url)
        assert document is not None
        sources[facts.source_id] = Source(
            id=facts.source_id, title=facts.title, url=facts.url, archive_hash=document.hash
        )
        documents[facts.source_id] = document
        for unit in units(document):
            locator = make_locator(document, unit.start, unit.end)
            evidence.append(
                Evidence(
                    id=evidence_id(document.hash, locator),
                    source_id=facts.source_id,
                    quote=unit.text,
                    locator=locator,
                    archive_hash=document.hash,
                )
            )
    assert len(documents) == 2

    contradictions = disagreements([], by_place(evidence, documents), sources=sources, documents=documents)
    assert [{side.value for side in one.sides} for one in contradictions] == found
    translated = {name: one.model_copy(update={"metadata": {"page": "plants"}}) for name, one in sources.items()}
    assert not disagreements([], by_place(evidence, documents), sources=translated, documents=documents)
    first, last = sources
    old = sources[first].model_copy(update={"metadata": {"superseded": sources[last].url}})
    assert not disagreements([], by_place(evidence, documents), sources={**sources, first: old}, documents=documents)
