"""What the research handlers raise, by class: the names that `retry.on` of a graph may hold."""

from __future__ import annotations

from graph_research.providers.errors import ContextExceeded, ProviderError, ProviderRefused, ProviderUnavailable
from graph_research.research.llm.structured_call import AnswerUnreadable
from graph_research.research.registry import ResearchFailed
from graph_research.text.errors import DocumentUnreadable

RESEARCH_ERRORS: tuple[type[Exception], ...] = (
    AnswerUnreadable,
    ContextExceeded,
    DocumentUnreadable,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
    ResearchFailed,
)
