"""Quotes are proved in the archived texts, whoever gave them; what stands nowhere is dropped and counted."""

from __future__ import annotations

from typing import Any

from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.agents.quote_prover import quote_prover
from graph_research.research.graph_functions import join, markdown_table
from graph_research.research.models.source import Source
from tests.support.research.harness import PlainContext, make_services

TEXT = "The plant opened in 2016. It has 16 turbines. It has 16 turbines."


async def prove(*quotes: dict[str, Any]) -> dict[str, Any]:
    context = PlainContext()
    source = Source(id="src-0123456789", title="Report", url="report.md", archive_hash=context.put_text(TEXT))
    handoff = {"quotes": list(quotes), "sources": [source.to_json()], "question": "How many turbines?"}
    return dict(await quote_prover(make_services([ScriptedModel({})]))(handoff, context))


def quoted(text: str, **more: Any) -> dict[str, Any]:
    return {"source_id": "src-0123456789", "quote": text, **more}


async def test_a_quote_gets_its_place_and_keeps_what_else_was_said_of_it() -> None:
    proved = await prove(quoted("The plant opened\nin 2016.", stance="supports"))
    [quote] = proved["quotes"]
    assert (quote["quote"], quote["stance"], quote["locator"]) == ("The plant opened in 2016.", "supports", "char:0-25")
    assert (quote["title"], quote["url"]) == ("Report", "report.md")
    assert proved["dropped"] == 0


async def test_what_stands_nowhere_is_dropped_and_counted() -> None:
    proved = await prove(quoted("The plant opened in 2017."), quoted("It has 16 turbines.") | {"source_id": "src-none"})
    assert proved == {"quotes": [], "dropped": 2}


async def test_one_place_is_one_quote_and_equal_quotes_are_distinguished_by_their_start() -> None:
    same = quoted("It has 16 turbines.", start=26)
    proved = await prove(same, same, quoted("It has 16 turbines.", start=46))
    assert [quote["locator"] for quote in proved["quotes"]] == ["char:26-45", "char:46-65"]


def test_rows_become_a_table_that_no_cell_can_break() -> None:
    assert (
        markdown_table([["", "Cost"], ["a|b", "1\n2"], ["c"]])
        == "|  | Cost |\n| --- | --- |\n| a\\|b | 1 2 |\n| c |  |"
    )
    assert markdown_table([]) == ""
    assert join(["a", "b"], " and ") == "a and b"
