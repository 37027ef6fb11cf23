"""The scripted model: replies in order, errors and delays of the script, requests recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.providers.errors import ContextExceeded, ProviderRefused, ProviderUnavailable
from graph_research.providers.llm.base import ModelRequest
from graph_research.providers.llm.scripted import ScriptedModel, ScriptExhausted, ScriptInvalid


def request(agent: str = "planner", user: str = "user text") -> ModelRequest:
    return ModelRequest(agent=agent, role="research", system="system", user=user)


async def test_replies_come_in_order_and_the_last_again() -> None:
    model = ScriptedModel({"planner": ["one", {"two": 2}]})
    assert [(await model.complete(request())).text for _ in range(3)] == ["one", '{"two": 2}', '{"two": 2}']


async def test_without_repetition_one_request_too_many_is_an_error_that_names_the_agent() -> None:
    model = ScriptedModel({"planner": ["one"]}, repeat_last=False)
    await model.complete(request())
    with pytest.raises(ScriptExhausted, match='"planner"'):
        await model.complete(request())


async def test_an_agent_without_a_list_is_served_by_the_star() -> None:
    model = ScriptedModel({"*": ["anything"]})
    assert (await model.complete(request("analyzer"))).text == "anything"


async def test_an_agent_without_any_list_is_an_error() -> None:
    with pytest.raises(ScriptExhausted):
        await ScriptedModel({}).complete(request())


@pytest.mark.parametrize(
    ("name", "kind"),
    [("unavailable", ProviderUnavailable), ("refused", ProviderRefused), ("context_exceeded", ContextExceeded)],
)
async def test_errors_are_raised_by_name(name: str, kind: type[Exception]) -> None:
    model = ScriptedModel({"planner": [{"error": name, "message": "no"}, "yes"]})
    with pytest.raises(kind, match="no"):
        await model.complete(request())
    assert (await model.complete(request())).text == "yes"


async def test_a_function_answers_from_the_request() -> None:
    model = ScriptedModel({"planner": [lambda asked: asked.user.upper()]})
    assert (await model.complete(request())).text == "USER TEXT"


async def test_a_delay_uses_the_given_sleep_function() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    model = ScriptedModel({"planner": [{"delay_seconds": 90, "text": "late"}]}, sleep=sleep)
    assert (await model.complete(request())).text == "late"
    assert slept == [90.0]


async def test_usage_counts_four_characters_a_token() -> None:
    reply = await ScriptedModel({"planner": ["x" * 40]}).complete(request(user="u" * 94))
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (25, 10)


async def test_requests_are_kept_by_agent() -> None:
    model = ScriptedModel({"*": ["x"]})
    await model.complete(request("planner"))
    await model.complete(request("analyzer"))
    assert [asked.agent for asked in model.asked("analyzer")] == ["analyzer"]


async def test_a_script_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text('{"planner": [{"research_brief": "b"}]}')
    assert (await ScriptedModel.from_file(file).complete(request())).text == '{"research_brief": "b"}'


@pytest.mark.parametrize("text", ["", "[]", '{"planner": "text"}', "{"])
def test_a_script_of_another_shape_is_refused_with_its_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "script.json"
    file.write_text(text)
    with pytest.raises(ScriptInvalid, match=r"script\.json"):
        ScriptedModel.from_file(file)
