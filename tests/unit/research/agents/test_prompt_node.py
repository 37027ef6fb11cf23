"""A `prompt:` node of a user's own graph: a template, a schema, and no Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from graph_research.app.definitions import prompt_resolver, schema_resolver
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.loader import load_graph
from graph_research.graph.registry import Registry
from graph_research.graph.runtime import RunResult, Runtime
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.llm.model_router import ModelRouter
from graph_research.research.llm.prompt_templates import PromptRenderer
from graph_research.research.llm.services import AnswerSchemas, Services
from graph_research.research.llm.structured_call import AnswerUnreadable
from graph_research.research.registry import research_prompter
from tests.support.research.harness import PlainContext, make_services

GRAPH = """
graph: titles
version: "1"
state:
  text:  {type: string, input: true}
  title: {type: string, default: ""}
  usage: {type: array, reduce: append, default: []}
start: name_it
nodes:
  name_it:
    prompt: title
    role: summarization
    input: {with: {text: text}}
    output: {schema: title, into: {title: output.title, usage: output.usage}}
  done: {end: completed}
edges:
  - {from: name_it, to: done}
"""
SCHEMA = '{"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}'


async def run(folder: Path, model: ScriptedModel) -> RunResult:
    (folder / "title.j2").write_text("Give a title to:\n{{ quoted(text, 'text') }}")
    (folder / "title.json").write_text(SCHEMA)
    services = Services(
        models=ModelRouter(default=(model,)),
        search=(),
        prompts=PromptRenderer(prompt_resolver(folder)),
        schemas=AnswerSchemas(schema_resolver(folder)),
    )
    registry = Registry(
        schemas=schema_resolver(folder), prompts=prompt_resolver(folder), prompter=research_prompter(services)
    )
    graph = load_graph("titles.yaml", text=GRAPH, registry=registry)
    return await Runtime(graph, checkpointer=MemoryCheckpointer()).run({"text": "The plant opened in 2016."})


async def test_a_template_and_a_schema_are_a_whole_step(tmp_path: Path) -> None:
    model = ScriptedModel({"title": ['```json\n{"title": "Opening"}\n```']})
    result = await run(tmp_path, model)
    assert (result.status, result.state["title"]) == ("completed", "Opening")
    [usage] = result.state["usage"]
    assert (usage["phase"], usage["role"], usage["calls"]) == ("name_it", "summarization", 1)
    assert usage["input_tokens"] > usage["output_tokens"] > 0
    [request] = model.requests
    assert request.role == "summarization"
    assert request.user.startswith("Give a title to:\n[QUOTED-")
    assert "type answer = {title: string}" in request.system


async def test_an_answer_that_never_fits_is_the_nodes_error(tmp_path: Path) -> None:
    result = await run(tmp_path, ScriptedModel({"title": [{"name": "Opening"}]}))
    assert result.status == "failed"
    assert result.error is not None
    assert result.error["type"] == AnswerUnreadable.__name__


async def test_without_a_schema_the_answer_is_the_text(context: PlainContext, tmp_path: Path) -> None:
    (tmp_path / "poem.j2").write_text("Write about {{ thing }}.")
    model = ScriptedModel({"poem": ["  Waves.  "]})
    services = make_services([model])
    step = research_prompter(
        Services(
            models=services.models,
            search=(),
            prompts=PromptRenderer(prompt_resolver(tmp_path)),
            schemas=services.schemas,
        )
    )
    output = await step("poem", "", {"thing": "the sea"}, None, context)
    assert output["text"] == "Waves."
    assert [(row["role"], row["calls"]) for row in output["usage"]] == [("research", 1)]
    assert model.requests[0].user == "Write about the sea."
    assert "type answer" not in model.requests[0].system


async def test_a_schema_that_allows_no_other_properties_gets_no_usage(context: PlainContext, tmp_path: Path) -> None:
    (tmp_path / "title.j2").write_text("Give a title.")
    services = replace(
        make_services([ScriptedModel({"title": [{"title": "Opening"}]})]),
        prompts=PromptRenderer(prompt_resolver(tmp_path)),
    )
    schema = {"type": "object", "properties": {"title": {"type": "string"}}, "additionalProperties": False}
    assert await research_prompter(services)("title", "", {}, schema, context) == {"title": "Opening"}


@pytest.mark.parametrize("name", ["nobody", "../secret"])
async def test_a_prompt_that_is_not_there_is_named(context: PlainContext, name: str) -> None:
    step = research_prompter(make_services([ScriptedModel({})]))
    with pytest.raises(Exception, match="no prompt"):
        await step(name, "", {}, None, context)
