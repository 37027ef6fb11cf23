"""What a run's state calls a model, and which models serve whom."""

from __future__ import annotations

import pytest

from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.llm.model_router import ModelRouter


def router(*specs: str, **roles: str) -> ModelRouter:
    def model(spec: str) -> ScriptedModel:
        return ScriptedModel({}, spec=spec)

    return ModelRouter(default=[*map(model, specs)], roles={role: [model(spec)] for role, spec in roles.items()})


def names(of: ModelRouter) -> list[str]:
    return [of.name_of(model) for model in of.every()]


def test_a_model_is_called_by_its_spec_without_the_address() -> None:
    own, hosted, command = "openai:qwen@http://10.0.0.7:8000/v1", "openai:gpt", "[cli]claude:haiku"
    assert names(router(own, hosted, report=command)) == ["openai:qwen", hosted, command]


def test_models_of_one_name_are_told_apart_by_their_order() -> None:
    first, second = "openai:qwen@http://10.0.0.7:8000/v1", "openai:qwen@http://10.0.0.8:8000/v1"
    assert names(router(first, second, report=second)) == ["openai:qwen (1)", "openai:qwen (2)", "openai:qwen (2)"]


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("gpu.example:8000: no answer", "the server of openai:a: no answer"),
        ("openai:b@http://gpu.example:80/v1 declined", "openai:b declined"),
        ("the name gpu.example is unknown", "the name the server of openai:a is unknown"),
        ("nothing listens at fd00::7:8000", "nothing listens at the server of openai:c"),
        ("ollama:11434 does not speak HTTP", "the server of openai:d does not speak HTTP"),
        ("the name ollama is unknown", "the name ollama is unknown"),
        ("127.0.0.1:1 answered 500", "127.0.0.1:1 answered 500"),
    ],
)
def test_a_message_names_no_address_but_that_of_the_machine_itself(message: str, told: str) -> None:
    models = router(
        "openai:a@http://gpu.example:8000/v1",
        "openai:b@http://gpu.example:80/v1",
        "openai:c@http://[fd00::7]:8000",
        "openai:d@http://ollama:11434/v1",
        "openai:e@http://127.0.0.1:1/v1",
    )
    assert models.without_addresses(message) == told
