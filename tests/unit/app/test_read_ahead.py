"""What a research loads beside its first call."""

from __future__ import annotations

import pytest

from graph_research.app.read_ahead import read_ahead
from graph_research.graph.resources import TextResolver
from graph_research.research.llm import prompt_templates
from graph_research.research.llm.prompt_templates import PromptInvalid, PromptRenderer
from graph_research.research.llm.services import AnswerSchemas
from graph_research.research.report.page.html import page_template
from graph_research.text.language.frequencies import frequencies

PROMPTS = TextResolver({"one/system": "One.", "one/user": "{{ name }}", "two/system": "{{ broken"})
SCHEMAS = TextResolver({"one.answer": '{"type": "object"}', "two.answer": "{", "one.input": '{"type": "object"}'})


@pytest.fixture(autouse=True)
def _nothing_read() -> None:
    frequencies.cache_clear()
    prompt_templates._compiled.cache_clear()
    page_template.cache_clear()


async def test_the_word_list_of_the_question_the_prompts_and_the_page_are_read() -> None:
    async with read_ahead("Wie hoch ist der Turm und wer hat ihn gebaut?", PROMPTS, AnswerSchemas(SCHEMAS)):
        pass
    assert frequencies.cache_info().currsize == 1
    assert frequencies("de")
    assert frequencies.cache_info().hits == 1
    assert len(prompt_templates._compiled()._code) == 2
    assert page_template.cache_info().currsize == 1


async def test_prompts_are_compiled_ahead_also_where_one_was_rendered_before() -> None:
    PromptRenderer(PROMPTS).render("one/system", {})
    async with read_ahead("How high is the tower?", PROMPTS, AnswerSchemas(SCHEMAS)):
        pass
    assert len(prompt_templates._compiled()._code) == 2


async def test_a_prompt_that_does_not_parse_fails_where_it_is_rendered() -> None:
    async with read_ahead("How high is the tower?", PROMPTS, AnswerSchemas(SCHEMAS)):
        assert PromptRenderer(PROMPTS).render("one/user", {"name": "Tower"}) == "Tower"
    with pytest.raises(PromptInvalid, match="two/system"):
        PromptRenderer(PROMPTS).render("two/system", {})


async def test_schemas_of_answers_are_compiled_ahead_and_one_that_is_not_valid_fails_where_it_is_used() -> None:
    answers = AnswerSchemas(SCHEMAS)
    async with read_ahead("How high is the tower?", PROMPTS, answers):
        pass
    assert list(answers._compiled) == ["one.answer"]
    with pytest.raises(ValueError, match="property name"):
        answers.get("two.answer")


async def test_a_run_that_is_only_to_end_reads_nothing() -> None:
    async with read_ahead("How high is the tower?", PROMPTS, None):
        pass
    assert not prompt_templates._compiled()._code


@pytest.mark.parametrize("question", [None, ""])
async def test_without_a_question_nothing_is_read(question: str | None) -> None:
    async with read_ahead(question, PROMPTS, AnswerSchemas(SCHEMAS)):
        pass
    assert frequencies.cache_info().currsize == 0
    assert not prompt_templates._compiled()._code


async def test_the_next_research_of_a_process_reads_nothing_again() -> None:
    for _ in range(2):
        async with read_ahead("How high is the tower?", PROMPTS, AnswerSchemas(SCHEMAS)):
            pass
    assert frequencies.cache_info().misses == 1
