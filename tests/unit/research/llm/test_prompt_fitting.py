"""Prompt fitting: quotation markers and questions stay whole, and what was cut is reported."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.research.llm.prompt_fitting import (
    MARK,
    PromptLimit,
    Section,
    Truncation,
    fit_prompt,
    shortened,
    shortened_quotes,
)
from graph_research.research.llm.prompt_templates import quoted

QUOTATION = re.compile(r"\[(QUOTED-\w+): [^\]]*\]\n.*?\n\[/\1\]", re.DOTALL)
SOURCES = Section(name="sources", noun="source", text="content")
NOTES = Section(name="notes", noun="note", keep=0)


def render(material: Mapping[str, Any]) -> str:
    sources = "\n".join(quoted(row["content"], f"source {row['id']}") for row in material["sources"])
    notes = "\n".join(material["notes"])
    return f"{quoted(material['question'], 'research question')}\n{sources}\n{notes}\nThe end."


def material(*lengths: int, notes: int = 0) -> dict[str, Any]:
    return {
        "question": "What of it?",
        "sources": [{"id": f"src-{n}", "content": "word " * (length // 5)} for n, length in enumerate(lengths)],
        "notes": [f"note number {n} of some length" for n in range(notes)],
    }


def test_what_fits_is_shown_whole() -> None:
    whole = material(500, 500)
    for limit in (None, 5_000):
        assert fit_prompt(whole, (SOURCES,), render, PromptLimit(chars=limit)).text == render(whole)
    assert fit_prompt(whole, (SOURCES,), render, PromptLimit(chars=5_000)).truncations == ()


def test_a_prompt_is_rendered_a_few_times_to_fit_it_and_once_for_its_own_words() -> None:
    rendered: list[str] = []

    def counted(material: Mapping[str, Any]) -> str:
        rendered.append(render(material))
        return rendered[-1]

    result = fit_prompt(material(400, 5_000, 5_000, notes=200), (NOTES, SOURCES), counted, PromptLimit(chars=6_000))
    assert 5_800 < len(result.text) <= 6_000
    assert len(rendered) <= 6
    rendered.clear()
    least = fit_prompt(material(400, 5_000, notes=200), (NOTES, SOURCES), counted, PromptLimit(chars=0))
    assert len(rendered) == 1
    assert least.material["notes"] == []
    assert [len(row["content"]) for row in least.material["sources"]] < [301]


def test_the_longest_sources_give_way_first_and_evenly() -> None:
    result = fit_prompt(material(400, 5_000, 5_000), (SOURCES,), render, PromptLimit(chars=5_000))
    assert 4_500 < len(result.text) <= 5_000
    lengths = [len(row["content"]) for row in result.material["sources"]]
    assert lengths[0] == 400
    assert abs(lengths[1] - lengths[2]) < 10
    [cut] = result.truncations
    assert (cut.rows, cut.in_part, cut.left_out) == (3, 2, 0)
    assert cut.description() == "2 of 3 sources in part"


def test_what_was_cut_is_reported_in_the_plural() -> None:
    assert Truncation(noun="sub-query", rows=3, in_part=0, left_out=3).description() == "3 of 3 sub-queries not at all"
    assert Truncation(noun="query", rows=1, in_part=0, left_out=1).description() == "1 of 1 query not at all"


def test_sources_too_short_to_be_worth_it_are_left_out_from_the_end() -> None:
    result = fit_prompt(material(*[2_000] * 10), (SOURCES,), render, PromptLimit(chars=3_000))
    assert len(result.text) <= 3_000
    assert result.material["sources"][0]["id"] == "src-0"
    assert all(len(row["content"]) >= SOURCES.least_chars - 10 for row in result.material["sources"])
    [cut] = result.truncations
    assert cut.left_out == 10 - len(result.material["sources"]) > 0


def test_a_rank_says_which_rows_go_first() -> None:
    part = Section(name="notes", noun="note", keep=0, rank=lambda row: float("7" in str(row)))
    result = fit_prompt(material(notes=20), (part,), render, PromptLimit(chars=250))
    assert result.material["notes"][-1] == "note number 17 of some length"


def test_the_first_part_gives_way_before_the_second() -> None:
    result = fit_prompt(material(2_000, notes=10), (SOURCES, NOTES), render, PromptLimit(chars=1_800))
    assert len(result.material["notes"]) == 10
    result = fit_prompt(material(2_000, notes=10), (SOURCES, NOTES), render, PromptLimit(chars=700))
    assert len(result.material["notes"]) < 10
    assert [cut.noun for cut in result.truncations] == ["source", "note"]


@given(st.lists(st.integers(0, 4_000), max_size=12), st.integers(0, 20), st.integers(0, 12_000))
def test_quotation_markers_and_question_stay_whole_at_any_limit(lengths: list[int], notes: int, limit: int) -> None:
    whole = material(*lengths, notes=notes)
    result = fit_prompt(whole, (SOURCES, NOTES), render, PromptLimit(chars=limit))
    assert result.text.startswith(quoted("What of it?", "research question"))
    assert result.text.endswith("The end.")
    begun = result.text.count("\n[/QUOTED-")
    assert len(QUOTATION.findall(result.text)) == begun == len(result.material["sources"]) + 1
    assert len(result.text) <= max(limit, len(render(material(300))) + 100)
    assert (result.text == render(whole)) or result.truncations


def test_a_prompt_of_which_nothing_is_known_loses_the_ends_of_its_longest_quotations() -> None:
    text = render(material(200, 6_000, 3_000))
    result = shortened_quotes(text, PromptLimit(chars=3_000))
    assert len(result.text) <= 3_000
    assert "What of it?" in result.text
    assert len(QUOTATION.findall(result.text)) == 4
    assert result.text.count(MARK) == 2
    assert result.truncations[0].description() == "2 of 3 quotations in part"


@pytest.mark.parametrize(("most", "short"), [(100, "one two three"), (11, "one two […]"), (9, "one […]"), (3, "")])
def test_a_text_is_cut_between_words_and_marked(most: int, short: str) -> None:
    assert shortened("one two three", most) == short
