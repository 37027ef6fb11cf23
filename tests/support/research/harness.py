"""What the research tests share: services around a scripted model, hits, and a context that keeps all in memory."""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graph_research.app.definitions import graph_resolver, prompt_resolver, schema_resolver
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.context import Context
from graph_research.graph.loader import load_graph
from graph_research.graph.registry import Handler, Registry
from graph_research.graph.runtime import RunResult, Runtime
from graph_research.graph.values.codec import canonical
from graph_research.providers.errors import ProviderUnavailable
from graph_research.providers.llm.base import Model, ModelRequest
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.providers.search.base import SOURCE_TYPES, Passage, SearchHit, SearchProvider, SearchRequest
from graph_research.providers.web.page_cache import KeptPages
from graph_research.providers.web.page_reader import PageReader
from graph_research.research.extractive.model import ExtractiveModel
from graph_research.research.graph_functions import research_functions
from graph_research.research.hooks import Hooks, StateReader
from graph_research.research.llm.model_router import ModelRouter
from graph_research.research.llm.prompt_templates import PromptRenderer
from graph_research.research.llm.services import AnswerSchemas, Services
from graph_research.research.registry import research_handlers
from graph_research.research.report.build import build_report
from graph_research.research.report.model import Report
from graph_research.research.report.run_metadata import RunFacts
from graph_research.research.research_settings import ResearchSettings
from graph_research.settings.shipped_files import shipped
from graph_research.text.document import Block, Document, source_id, text_hash

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
    role: str | None = None

    def __init__(self) -> None:
        self.random = random.Random(7)
        self.calls: list[tuple[str, Any, Any]] = []
        self.texts: dict[str, str] = {}
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.stored = 0
        """How many of the events have been stored."""

    async def call(self, kind: str, request: Any, fn: Callable[[], Awaitable[Any]], *, at_hand: bool = False) -> Any:
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

    async def flush(self) -> None:
        self.stored = len(self.events)

    def progress(self, name: str, **data: Any) -> None:
        self.events.append((name, data))


class FolderOfHits:
    """A search provider that answers a query with what a function makes of it."""

    def __init__(self, name: str, answer: Callable[[SearchRequest], Sequence[SearchHit]]) -> None:
        self.name = name
        self.serves = SOURCE_TYPES
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
    read_state: StateReader | None = None,
    pages: PageReader | None = None,
    roles: Mapping[str, Sequence[Model]] | None = None,
    **settings: Any,
) -> Services:
    """Services with the shipped prompts and schemas; `models` may be the script of one scripted model."""
    default = (ScriptedModel(models),) if isinstance(models, Mapping) else tuple(models)
    return Services(
        models=ModelRouter(default=default, roles=roles or {}, quoting=ExtractiveModel()),
        search=search,
        prompts=PromptRenderer(prompt_resolver()),
        schemas=AnswerSchemas(schema_resolver()),
        settings=ResearchSettings(**settings),
        hooks=hooks,
        read_state=read_state,
        pages=None if pages is None else KeptPages(pages),
    )


DOCUMENTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "https://tarn.gov/opening": (
        "The Tarn plant opened in March 2016. It was the first tidal lagoon of the county.",
        {"publisher": "County", "title": "Opening"},
    ),
    "https://reuters.com/tarn-cost": (
        "Maintenance of the Tarn plant cost 4.1 million in 2020. Most of it was spent on gates.",
        {"publisher": "Reuters", "title": "Cost"},
    ),
    "https://tarn.example/blog": (
        "My visit to the Tarn plant was wet. The plant opened in March 2016, the guide told us.",
        {"title": "A visit"},
    ),
    "https://fish.edu/passage": (
        "Fish pass the Tarn plant through a channel beside the gates. Nine of ten smolts survive.",
        {"publisher": "Institute", "title": "Fish"},
    ),
}
"""A small web: address to text and what is known of it."""

WORDS: Mapping[str, Sequence[str]] = {
    "opening": ["https://tarn.gov/opening", "https://tarn.example/blog"],
    "cost": ["https://reuters.com/tarn-cost", "https://tarn.gov/opening"],
    "fish": ["https://fish.edu/passage"],
}


def outside_quotations(prompt: str) -> str:
    """The lines of a prompt that are not quoted from a source."""
    outside: list[str] = []
    marker = ""
    for line in prompt.splitlines():
        if marker:
            marker = "" if line == f"[/{marker}]" else marker
        elif line.startswith("[QUOTED-") and ": " in line:
            marker = line[1:].partition(":")[0]
        else:
            outside.append(line)
    return "\n".join(outside)


def only_reading(handler: Handler) -> Handler:
    """The handler, which must change nothing of its handoff: it gets values of the state itself."""

    async def read(handoff: Mapping[str, Any], ctx: Context) -> Mapping[str, Any]:
        before = canonical(handoff)
        output = await handler(handoff, ctx)
        assert canonical(handoff) == before, f"{ctx.path} has changed its handoff"
        return output

    return read


def small_web(request: SearchRequest) -> list[SearchHit]:
    """The documents whose word stands in the query; `down` in a query is a provider that does not answer."""
    if "down" in request.query:
        raise ProviderUnavailable("the web is down", provider="web")
    urls = dict.fromkeys(url for word, urls in WORDS.items() if word in request.query for url in urls)
    return [hit(DOCUMENTS[url][0], url=url, **DOCUMENTS[url][1]) for url in urls][: request.max_results]


def finding(content: str, *quotes: tuple[str, str]) -> Any:
    """A finding of an analyzer's script from pairs of address and quote; sources' ids are derived as the gatherer
    does."""
    evidence = [{"source_id": source_id(url, DOCUMENTS[url][0]), "quote": quote} for url, quote in quotes]
    return {"content": content, "confidence": "high", "category": None, "evidence": evidence}


def proceed(request: Any) -> dict[str, Any]:
    """A supervisor without objections."""
    return verdict("proceed")


def verdict(action: str, guidance: str | None = None) -> dict[str, Any]:
    """A supervisor's verdict."""
    return {
        "action": action,
        "rationale": f"The script says {action}.",
        "quality_assessment": {"score": 7, "strengths": [], "weaknesses": []},
        "guidance": guidance,
    }


def one_section(request: ModelRequest) -> dict[str, Any]:
    """An outliner that puts every finding into one section, anew in each round."""
    row = {
        "heading": "What was found",
        "answers": "What is known?",
        "form": "a list",
        "findings": [row["n"] for row in request.material["findings"]],
        "words": 100,
    }
    previous = [row["id"] for row in request.material["previous"]]
    return {"sections": [{**row, "action": "revise", "previous": previous[0]} if previous else row]}


def stated(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each finding as a fact with its evidence."""
    return [{"text": row["content"], "evidence_ids": row["evidence_ids"], "kind": "fact"} for row in rows]


def states_findings(request: ModelRequest) -> dict[str, Any]:
    """A section writer that states each finding with its evidence, in a list."""
    return {"blocks": [{"type": "list", "items": [[row] for row in stated(request.material["findings"])]}]}


def repeats_the_first(request: ModelRequest) -> dict[str, Any]:
    """An editor whose summary is the first sentence of the first section."""
    text = request.material["sections"][0]["text"].splitlines()[0]
    ids = re.findall(r"\[(ev-[0-9a-f]{10})\]", text)
    said = re.sub(r"^(- )?\(\d+\.\d+\) | \[ev-.*$", "", text)
    sentence = {"text": said, "evidence_ids": ids, "kind": "fact"}
    return {"found": True, "summary": [{"type": "paragraph", "sentences": [sentence]}]}


def all_supported(request: ModelRequest) -> dict[str, Any]:
    """A verifier without objections."""
    return {"verdicts": [{"n": row["n"], "verdict": "supported"} for row in request.material["statements"]]}


def drops_all(request: ModelRequest) -> dict[str, Any]:
    """A mender that gives up on each sentence."""
    return {"sentences": [{"n": row["n"], "action": "drop"} for row in request.material["failing"]]}


WRITING: Mapping[str, Sequence[Any]] = {
    "outliner": [one_section],
    "section_writer": [states_findings],
    "editor": [repeats_the_first],
    "verifier": [all_supported],
    "section_mender": [drops_all],
}
"""A report that goes well."""


OPENED = finding(
    "The plant opened in March 2016.",
    ("https://tarn.gov/opening", "The Tarn plant opened in March 2016."),
    ("https://tarn.example/blog", "The plant opened in March 2016, the guide told us."),
)
COST = finding(
    "Maintenance cost 4.1 million in 2020.",
    ("https://reuters.com/tarn-cost", "Maintenance of the Tarn plant cost 4.1 million in 2020."),
)
SMOLTS = finding("Nine of ten smolts survive.", ("https://fish.edu/passage", "Nine of ten smolts survive."))
PLAN: Mapping[str, Any] = {
    "research_brief": "When it opened and what it cost.",
    "sub_queries": [
        {"query": "opening of the Tarn plant", "rationale": "when", "priority": 1},
        {"query": "maintenance cost of the Tarn plant", "rationale": "how much", "priority": 2},
    ],
}
FISH_GAP: Mapping[str, Any] = {
    "description": "How do fish fare?",
    "suggested_queries": ["fish passage at the Tarn plant"],
    "priority": 1,
}


def research_script(**changes: Sequence[Any]) -> dict[str, Sequence[Any]]:
    """A research that goes well in one iteration; `changes` replaces the replies of an agent."""
    script: dict[str, Sequence[Any]] = {
        "clarifier": [{"need_clarification": False, "question": "", "verification": "The plant at Tarn."}],
        "planner": [PLAN],
        "reflector": [{"continue_searching": False, "research_complete": True, "rationale": "Enough."}],
        "supervisor": [proceed],
        "analyzer": [{"findings": [OPENED, COST], "gaps": []}],
        "comparer": [{"comparisons": []}],
        **WRITING,
        "refiner": [ask_the_suggestions],
    }
    return {**script, **changes}


def ask_the_suggestions(request: ModelRequest) -> dict[str, Any]:
    """A refiner that asks what the gaps themselves suggest."""
    gaps = request.material["gaps"]
    return {
        "gap_analysis": [
            {
                "gap_id": gap["id"],
                "severity": "critical",
                "addressable": True,
                "follow_up_queries": [{"query": query} for query in gap["suggested_queries"]],
            }
            for gap in gaps
        ],
        "iteration_recommendation": {
            "should_iterate": True,
            "rationale": "It is worth it.",
            "priority_gaps": [gap["id"] for gap in gaps],
        },
        "report_improvements": ["Say more of fish."],
    }


ONE_TOPIC = Path(__file__).with_name("one_topic.yaml")
"""The graph that searches for its question alone and reads what it found."""


@dataclass
class Bench:
    """A graph, a shipped one by its name, with a scripted model and the small web, ready to run in memory."""

    script: Mapping[str, Sequence[Any]]
    graph: str | Path = "deep_research"
    search: Callable[[SearchRequest], Sequence[SearchHit]] = small_web
    hooks: Hooks | None = None
    interactive: bool = False
    timeout_seconds: float | None = None
    pages: PageReader | None = None
    others: Sequence[SearchProvider] = ()
    """Searches that are asked after the web."""
    condensing: bool = False
    """Whether the model is named for summaries and compression; a scripted one does neither unless it is."""
    window_tokens: int | None = None
    store: MemoryCheckpointer = field(default_factory=MemoryCheckpointer)
    settings: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, Sequence[Model]] = field(default_factory=dict)
    model: ScriptedModel = field(init=False)
    web: FolderOfHits = field(init=False)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.script, window_tokens=self.window_tokens)
        self.web = FolderOfHits("web", self.search)

    def runtime(self) -> Runtime:
        roles = {"summarization": [self.model], "compression": [self.model]} if self.condensing else {}
        services = make_services(
            [self.model],
            search=[self.web, *self.others],
            hooks=self.hooks,
            read_state=self.store.state,
            pages=self.pages,
            roles={**roles, **self.roles},
            **self.settings,
        )
        handlers = {name: only_reading(handler) for name, handler in research_handlers(services).items()}
        registry = Registry(
            handlers=handlers,
            read_only_handlers=handlers.keys(),
            functions=research_functions(),
            schemas=schema_resolver(),
            graphs=graph_resolver(),
            prompts=prompt_resolver(),
        )
        graph = load_graph(
            self.graph if isinstance(self.graph, Path) else shipped("graphs") / f"{self.graph}.yaml", registry=registry
        )
        return Runtime(
            graph,
            checkpointer=self.store,
            clock=StillClock(),
            interactive=self.interactive,
            timeout_seconds=self.timeout_seconds,
        )

    async def run(self, **input: Any) -> RunResult:
        return await self.runtime().run({"question": "What is known of the Tarn plant?", **input}, run_id="run-1")

    async def report(self, state: Mapping[str, Any]) -> Report:
        """The report of a state of the run, with the archived texts."""
        hashes = {row["archive_hash"] for row in (*state["sources"], *state.get("evidence", ()))}
        texts = {name: await self.store.text(name) for name in hashes}
        return build_report(state, texts=texts, run=RunFacts(run_id="run-1", question="q"))

    async def nodes(self) -> list[str]:
        """The root graph's nodes in the order in which they finished."""
        steps = await self.store.steps("run-1")
        return [step.node for step in steps if "/" not in step.path and step.item is None]


class StillClock:
    """A clock that always says the same."""

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0
