"""The verdict of code on one sentence of a report."""

from __future__ import annotations

import pytest

from graph_research.research.audit.judge import LibraryDocument, judged
from graph_research.research.audit.model import Verdict
from graph_research.research.audit.statements import sentences_of
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document

DAMS = markdown_document(
    "# Dams of the county\n\nThe dams.\n\n| Dam | Cost (million euros) | Power, MW |\n|---|---|---|\n"
    "| Alder Dam | 1,340 | 120 |\n| Birch Dam | 900 | 80 |\n"
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("The cost of the Alder Dam was 900 million euros.", Verdict.CONTRADICTED),
        ("The Birch Dam has a power of 95 MW.", Verdict.CONTRADICTED),
        ("The Birch Dam has a power of 80 MW.", Verdict.SUPPORTED),
        ("The cost of the Alder Dam was 1,340 million euros.", Verdict.UNCLEAR),
    ],
)
def test_a_row_of_a_table_is_compared_with_the_header_and_unit_of_its_columns(text: str, verdict: Verdict) -> None:
    [sentence] = sentences_of(plain_document(text))
    library = [LibraryDocument(source_id="src-1", title=DAMS.title, path="dams.md", document=DAMS)]
    assert judged(1, sentence, library, [], []).verdict is verdict
