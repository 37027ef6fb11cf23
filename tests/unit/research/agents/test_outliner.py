"""Which findings the sections of an outline are written from."""

from __future__ import annotations

import pytest

from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.agents.writing.outliner import outliner
from tests.support.research.harness import PlainContext, make_services

ON_CACHES = "A cache on disk grows until a cleaner is started by hand."
ON_NAMES = "Names beyond ASCII raise an error where the locale of the server is not UTF-8."


@pytest.mark.parametrize(("named", "in_caches"), [([1], [ON_CACHES]), ([], [ON_CACHES, ON_NAMES])])
async def test_a_finding_that_no_section_names_goes_to_one_that_holds_enough_of_its_words(
    named: list[int], in_caches: list[str]
) -> None:
    about = {
        "Queues": "how long requests wait",
        "Caches": "which cache on disk or in memory grows, and what a server does then",
    }
    sections = [
        {"heading": heading, "answers": answers, "form": "", "findings": numbers, "words": 100}
        for (heading, answers), numbers in zip(about.items(), (named, []), strict=True)
    ]
    texts = ["Requests wait in a queue.", ON_CACHES, ON_NAMES]
    findings = [
        {"id": f"f-{n}", "content": text, "confidence": "medium", "source_ids": [], "iteration": 1}
        for n, text in enumerate(texts, 1)
    ]
    model = ScriptedModel({"outliner": [{"sections": sections, "not_answered": []}]})
    handoff = {"question": "What fails?", "findings": findings, "sources": [], "iteration": 1}
    output = await outliner(make_services([model]))(handoff, PlainContext())
    held = {row["heading"]: row["finding_ids"] for row in output["outline"]}
    assert [texts[int(name[2:]) - 1] for name in held["Caches"]] == in_caches
