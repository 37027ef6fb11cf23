"""What the research tests share: services around a scripted model, hits, and a context that keeps all in memory."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from graph_research.providers.llm.base import Model
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.providers.search.base import Passage, SearchHit, SearchProvider, SearchRequest
from graph_research.research.hooks import Hooks, NoHooks
from graph_research.research.prompts import PromptRenderer
from graph_research.research.services import AnswerSchemas, ModelRouter, Services
from graph_research.research.settings import ResearchSettings
from graph_research.resources import prompt_resolver, schema_resolver
from graph_research.text.document import Block, Document, text_hash

NOW = datetime(2024, 6, 1, 12, 0, tzinfo=UTC)


class PlainContext:
    """A context without a journal: calls are made, texts and events kept."""

    run_id = "run-test"
    node = "node"
    path = "node"
    visit = 1
    item: int | None = None
    attempt = 1
    interactive = False

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.calls: list[tuple[str, Any, Any]] = []
        self.texts: dict[str, str] = {}
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def call(self, kind: str, request: Any, fn: Callable[[], Awaitable[Any]]) -> Any:
        answer = await fn()
        self.calls.append((kind, request, answer))
        return answer

    def now(self) -> datetime:
        return NOW

    def new_id(self, kind: str) -> str:
        return f"{kind}-0000000000"

    def put_text(self, text: str) -> str:
        self.texts[text_hash(text)] = text
        return text_hash(text)

    async def get_text(self, text_hash: str) -> str:
        return self.texts[text_hash]

    def emit(self, name: str, **data: Any) -> None:
        self.events.append((name, data))

    def progress(self, name: str, **data: Any) -> None:
        self.events.append((name, data))


class FolderOfHits:
    """A search provider that answers a query with what a function makes of it."""

    def __init__(self, name: str, answer: Callable[[SearchRequest], Sequence[SearchHit]]) -> None:
        self.name = name
        self.answer = answer
        self.requests: list[SearchRequest] = []

    async def search(self, request: SearchRequest) -> Sequence[SearchHit]:
        self.requests.append(request)
        return self.answer(request)


def hit(text: str, *, url: str | None = None, relevance: float = 0.8, **more: Any) -> SearchHit:
    """A hit whose document is one paragraph, found as a whole."""
    document = Document(text=text, blocks=(Block("paragraph", 0, len(text)),), title=more.pop("title", "A title"))
    return SearchHit(
        provider="hits",
        title=document.title,
        url=url,
        snippet=text[:120],
        relevance=relevance,
        document=document,
        passages=(Passage(start=0, end=len(text), score=1.0),),
        **more,
    )


def make_services(
    models: Sequence[Model] | Mapping[str, Sequence[Any]],
    *,
    search: Sequence[SearchProvider] = (),
    hooks: Hooks | None = None,
    **settings: Any,
) -> Services:
    """Services with the shipped prompts and schemas; `models` may be the script of one scripted model."""
    default = (ScriptedModel(models),) if isinstance(models, Mapping) else tuple(models)
    return Services(
        models=ModelRouter(default=default),
        search=search,
        prompts=PromptRenderer(prompt_resolver()),
        schemas=AnswerSchemas(schema_resolver()),
        settings=ResearchSettings(**settings),
        hooks=hooks or NoHooks(),
    )
