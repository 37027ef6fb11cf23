"""What a research needs after its first model call, loaded in a thread while that call is on the way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph_research.graph.registry import Resolver
from graph_research.research.llm.prompt_templates import PromptRenderer
from graph_research.research.llm.services import AnswerSchemas
from graph_research.text.deferred_patterns import compile_deferred
from graph_research.text.language.frequencies import frequencies
from graph_research.text.language.words import language_of


@asynccontextmanager
async def read_ahead(question: str | None, prompts: Resolver, answers: AnswerSchemas | None) -> AsyncIterator[None]:
    """Inside, a thread reads the word list of the question's language and compiles the prompts, the schemas of answers,
    large patterns and the page of the report; without a question or `answers` nothing is read."""
    reading = (
        asyncio.create_task(asyncio.to_thread(_read, question, prompts, answers)) if question and answers else None
    )
    try:
        yield
    finally:
        if reading is not None:
            await reading


def _read(question: str, prompts: Resolver, answers: AnswerSchemas) -> None:
    answers.compile_all()
    frequencies(language_of(question))
    PromptRenderer(prompts).compile_all()
    compile_deferred()
    from graph_research.research.report.page.html import page_template  # loaded here, not where the process starts

    page_template()
