"""Specs, windows, prices and keys of models: what is refused, what is chosen, and who gets which key."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from graph_research.app.request import request_for
from graph_research.app.runs.limits.budget import Budget, BudgetUnknowable, within_budget
from graph_research.app.wiring.models import build_model, build_router, hosts_of, window_tokens
from graph_research.app.wiring.prices import prices_of
from graph_research.app.workspace import open_workspace
from graph_research.errors import UserMistake
from graph_research.providers.clients import Clients
from graph_research.providers.errors import AnswerWithheld, KeyMissing, UnknownModel
from graph_research.providers.http.client import HttpClient
from graph_research.providers.http.host_names import is_local
from graph_research.providers.llm.base import ModelRequest, Usage
from graph_research.providers.llm.catalog import HOSTINGS, default_models
from graph_research.providers.llm.model_data import Prices
from graph_research.providers.llm.model_spec import parse_spec
from graph_research.providers.llm.scripted import ScriptedModel
from graph_research.research.llm.model_router import ModelRouter
from graph_research.settings.config import SettingInvalid, Settings
from graph_research.settings.sources import load_configuration

KEYS = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "GEMINI_API_KEY": "sk-g", "MINE": "sk-mine"}


def clients(environ: dict[str, str] | None = None, **settings: Any) -> Clients:
    return Clients(
        http=HttpClient(),
        settings=Settings(**settings),
        environ=KEYS if environ is None else environ,
        closing=AsyncExitStack(),
        pages=None,  # no model reads any
    )


def endpoint_of(spec: str, **settings: Any) -> Any:
    return build_model(spec, clients(**settings))._endpoint


@pytest.mark.requirement("16.4")
@pytest.mark.parametrize(
    ("text", "kind", "model", "url"),
    [
        ("openai:gpt-5-mini", "openai", "gpt-5-mini", None),
        ("openai:llama3.2:3b@http://127.0.0.1:11434/v1/", "openai", "llama3.2:3b", "http://127.0.0.1:11434/v1"),
        ("openai:meta/llama:free@https://openrouter.ai/api/v1", "openai", "meta/llama:free", "https://openrouter.ai/api/v1"),
        ("openai:@cf/meta/llama@https://a.example/v1", "openai", "@cf/meta/llama", "https://a.example/v1"),
        ("openai:o3?effort=low", "openai", "o3", None),
        ("anthropic:claude-haiku-4-5", "anthropic", "claude-haiku-4-5", None),
        ("scripted:/a/b@c?d", "scripted", "/a/b@c?d", None),
        ("extractive", "extractive", "", None),
        ("[cli]claude:haiku", "[cli]", "haiku", None),
    ],
)  # fmt: skip
def test_a_spec_is_taken_apart(text: str, kind: str, model: str, url: str | None) -> None:
    spec = parse_spec(text)
    assert (spec.kind, spec.model, spec.url) == (kind, model, url)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "no model"),
        ("extractive:x", "no model"),
        ("opnai:gpt-5", 'did you mean "openai"'),
        ("openai", "names no model"),
        ("openai:", "names no model"),
        ("openai:@http://127.0.0.1", "names no model"),
        ("openai:--help", "not a valid model name"),
        ("openai:a b", "not a valid model name"),
        ("openai:m@http://", "has no host"),
        ("openai:m@127.0.0.1/v1", "does not begin with http://"),
        ("openai:m@gpu-box:8080", "does not begin with http://"),
        ("gemini:m@localhost", "does not begin with http://"),
        ("openai:m@http://a:99999", "not valid"),
        ("openai:m@http://[::1", "not valid"),
        ("openai:m@http://me:hunter2@127.0.0.1/v1", "model_keys"),
        ("openai:m@http://127.0.0.1/v1?key=hunter2", "model_keys"),
        ("openai:m?size=1", "no option"),
        ("openai:m?effort=much", "effort"),
        ("scripted", "names no file"),
        ("scripted:", "names no file"),
        ("[cli]", "names no command line"),
        ("[cli]rm -rf:x", "names no command line"),
        ("[cli]nobody:x", "no command line 'nobody'"),
        ("[cli]claude", "names no model"),
        ("[cli]claude:--dangerous", "not a valid model name"),
    ],
)
def test_a_spec_that_means_nothing_is_refused_with_how_it_is_written(spec: str, words: str) -> None:
    with pytest.raises(UserMistake) as caught:
        build_model(spec, clients())
    assert words in str(caught.value)
    assert caught.value.help
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("kind", ["openai:m", "anthropic:m", "gemini:m"])
def test_a_provider_without_its_key_is_refused_by_the_variables_name(kind: str) -> None:
    with pytest.raises(KeyMissing, match="_API_KEY"):
        build_model(kind, clients({}))


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        ("openai:m", "sk-o"),
        ("openai:m@https://api.openai.com/v1", "sk-o"),
        ("openai:m@https://API.openai.com:443/v1", "sk-o"),
        ("openai:m@http://api.openai.com/v1", None),
        ("openai:m@https://api.openai.com:8443/v1", None),
        ("openai:m@https://api.openai.com.example.org/v1", None),
        ("openai:m@http://127.0.0.1:8080/v1", None),
        ("openai:m@http://named.example:8080/v1", "sk-mine"),
        ("openai:m@http://named.example:9090/v1", None),
        ("openai:m@https://anyport.example:9/v1", "sk-mine"),
        ("anthropic:m", "sk-a"),
        ("anthropic:m@https://proxy.example", None),
        ("gemini:m", "sk-g"),
        ("gemini:m@http://127.0.0.1:1/v1beta", None),
    ],
)
def test_a_key_goes_to_its_own_host_alone(spec: str, key: str | None) -> None:
    endpoint = endpoint_of(spec, model_keys={"named.example:8080": "MINE", "anyport.example": "MINE"})
    assert endpoint.secrets == ((key,) if key else ())
    sent = " ".join(endpoint.headers.values())
    assert [one for one in KEYS.values() if one in sent.split()] == ([key] if key else [])
    assert "sk-" not in repr(endpoint)


def test_a_key_that_is_named_for_a_host_and_not_set_is_refused() -> None:
    with pytest.raises(KeyMissing, match="NOT_THERE"):
        endpoint_of("openai:m@http://127.0.0.1/v1", model_keys={"127.0.0.1": "NOT_THERE"})


def test_a_slow_machine_of_ones_own_is_given_time() -> None:
    assert endpoint_of("openai:m").timeout_seconds == 120
    assert endpoint_of("openai:m@http://127.0.0.1/v1").timeout_seconds == 600
    assert endpoint_of("openai:m@http://127.0.0.1/v1", model_timeout=7).timeout_seconds == 7


def test_one_spec_is_built_once_however_many_roles_name_it() -> None:
    router = build_router(["openai:a", "extractive"], {"report": ["openai:a"]}, clients())
    assert router.models("report")[0] is router.models("research")[0]


@pytest.mark.requirement("16.1")
@pytest.mark.parametrize(
    ("environ", "model"),
    [
        ({}, "extractive"),
        ({"OPENAI_API_KEY": ""}, "extractive"),
        ({"GEMINI_API_KEY": "k"}, HOSTINGS["gemini"].default_specs[0]),
        ({"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"}, HOSTINGS["openai"].default_specs[0]),
        (KEYS, HOSTINGS["anthropic"].default_specs[0]),
    ],
)
def test_without_a_spec_the_first_key_that_is_set_chooses(environ: dict[str, str], model: str) -> None:
    assert default_models(environ) == (model,)


@pytest.mark.requirement("15.1", "16.1")
def test_a_roles_own_models_serve_it_then_those_of_the_phase_then_the_default() -> None:
    default, of_phase, of_role = (ScriptedModel({}, spec=f"scripted:{name}") for name in ("default", "phase", "role"))
    router = ModelRouter(default=[default], roles={"planning": [of_phase], "report": [of_role]})
    assert router.models("report", "planning") == [of_role]
    assert router.models("research", "planning") == [of_phase]
    assert router.models("research", "analysis") == [default]


@pytest.mark.requirement("15.1", "9.3")
def test_the_strongest_model_researches_and_a_cheap_one_of_its_provider_summarizes(tmp_path: Path) -> None:
    def asked(**options: Any) -> Any:
        environ = {"GRAPH_RESEARCH_HOME": str(tmp_path / "home"), "GEMINI_API_KEY": "k"}
        return request_for(open_workspace(environ, tmp_path, may_use=lambda _: False, options=options), "why?")

    strong, default, cheap = HOSTINGS["gemini"].default_specs
    usd = [Prices()(spec, 1_000_000, 1_000_000) or 0 for spec in (strong, default, cheap)]
    assert usd[0] > usd[1] > usd[2] > 0
    roles = {"summarization": (cheap, strong), "verification": (default, strong)}
    assert (asked().models, asked().roles) == ((strong,), roles)
    named = asked(default_provider="extractive")
    assert (named.models, named.roles) == (("extractive",), {})
    assert asked(default_provider="gemini:mine").roles == {"summarization": (cheap, "gemini:mine")}
    assert asked(research_model="gemini:mine").roles["summarization"] == (cheap, "gemini:mine")
    assert asked(default_provider="openai:no-key").roles == {}
    assert asked(default_provider="gemini:mine@http://127.0.0.1:1/v1").roles == {}
    assert asked(default_provider="gemini:mine", summarization_model="extractive").roles == {
        "summarization": ("extractive",)
    }
    assert asked(default_provider="gemini").models == (strong,)
    assert asked(summarization_provider="gemini").roles["summarization"] == (cheap,)


@pytest.mark.requirement("13.1", "B34")
@pytest.mark.parametrize(
    ("spec", "window"),
    [
        ("openai:gpt-4o-mini", 128_000),
        ("openai:gpt-4-0613", 8_192),
        ("anthropic:claude-haiku-4-5", 200_000),
        ("anthropic:claude-opus-5-5", 1_000_000),
        ("openai:anthropic/claude-haiku-4-5@https://openrouter.ai/api/v1", 200_000),
        ("openai:gpt-4o@http://127.0.0.1:8080/v1", None),
        ("openai:nobody-knows", None),
        ("extractive", None),
        ("[cli]claude:haiku", 140_000),
        ("[cli]gemini:flash", 988_576),
        ("openai:mine@http://127.0.0.1:8080/v1", 32_768),
        ("openai:qwen3:8b@http://127.0.0.1:8080/v1", 9_000),
    ],
)
def test_a_window_is_known_by_the_models_name_or_the_users_word(spec: str, window: int | None) -> None:
    own = {"openai:mine@http://127.0.0.1:8080": 32_768, "qwen3": 9_000}
    assert window_tokens(spec, Settings(model_context_overrides=own)) == window


@pytest.mark.requirement("B34")
def test_a_command_line_never_takes_more_than_the_whole_window() -> None:
    settings = Settings(model_context_overrides={"tiny": 1_000}, runtime_overhead=60_000)
    assert window_tokens("[cli]codex:tiny", settings) == 1


@pytest.mark.parametrize(
    ("spec", "usd"),
    [
        ("extractive", 0.0),
        ("scripted:a.json", 0.0),
        ("openai:m@http://127.0.0.1:8080/v1", 0.0),
        ("openai:m@http://gpu-box:8080/v1", 0.0),
        ("openai:gpt-5-mini", 2.25),
        ("openai:gpt-5-mini-2025-08-07", 2.25),
        ("openai:gpt-5-mini@https://api.openai.com/v1", 2.25),
        ("openai:gpt-5-mini@https://resold.example/v1", None),
        ("openai:gpt-5-minimal", None),
        ("openai:gpt-5-pro", 135.0),
        ("anthropic:claude-haiku-4-5-20251001", 6.0),
        ("gemini:gemini-3.1-pro-preview", 14.0),
        ("[cli]claude:haiku", None),
        ("nonsense", None),
    ],
)
def test_a_price_is_known_by_the_models_name(spec: str, usd: float | None) -> None:
    assert Prices()(spec, 1_000_000, 1_000_000) == (None if usd is None else pytest.approx(usd))


def test_what_the_provider_had_kept_is_cheaper() -> None:
    assert Prices()("anthropic:claude-haiku-4-5", 1_000_000, 0, 900_000) == pytest.approx(0.1 + 0.09)


def test_the_users_own_price_wins() -> None:
    own = {"openai:gpt-5-mini": {"input": 8.0, "output": 8.0}, "[cli]claude:haiku": {"input": 1.0, "output": 1.0}}
    prices = prices_of(Settings(model_price_overrides=own))
    assert prices("openai:gpt-5-mini", 500_000, 500_000, 400_000) == pytest.approx(8.0)
    assert prices("[cli]claude:haiku", 500_000, 500_000) == pytest.approx(1.0)


def test_a_budget_counts_by_the_price_table() -> None:
    budget = Budget(run_id="r", max_cost=1.0)
    budget.count(
        "openai:gpt-5-mini", Usage(input_tokens=1_000_000, output_tokens=300_000, cached_input_tokens=1_000_000)
    )
    assert budget.cost == pytest.approx(0.025 + 0.6)
    assert budget.spent() is None
    budget.count("openai:gpt-5-mini", Usage(output_tokens=200_000))
    assert "of 1 USD" in str(budget.spent())


def test_a_budget_in_money_is_refused_where_no_price_is_known() -> None:
    async def stop(run_id: str) -> None:
        raise AssertionError

    router = ModelRouter(default=(build_model("openai:gpt-unknown", clients()),))
    with pytest.raises(BudgetUnknowable, match="model_price_overrides"):
        within_budget(router, Budget(run_id="r", max_cost=1.0), stop=stop)


async def test_what_a_model_took_to_decline_counts_for_the_budget() -> None:
    async def stop(run_id: str) -> None:
        raise AssertionError

    declined = AnswerWithheld("declined", provider="m", input_tokens=70, output_tokens=30)
    budget = Budget(run_id="r", max_tokens=1_000)
    router = within_budget(ModelRouter(default=(ScriptedModel({"*": [declined]}),)), budget, stop=stop)
    with pytest.raises(AnswerWithheld):
        await router.default[0].complete(ModelRequest(agent="a", role="research", system="s", user="u"))
    assert budget.tokens == 100


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("10.1.2.3", True), ("localhost", True), ("gpu-box", True),
     ("nas.local", True), ("8.8.8.8", False), ("api.example.com", False), ("2606:4700::1", False)],
)  # fmt: skip
def test_a_machine_of_ones_own_is_known_by_its_address(host: str, local: bool) -> None:
    assert is_local(host) == local


@pytest.mark.parametrize(
    "line",
    [
        'model_keys = {"127.0.0.1" = "MINE"}',
        'cli_commands = {mine = ["/bin/sh"]}',
        'model_price_overrides = {"gpt" = {input = 0, output = 0}}',
        'default_provider = "openai:m@http://127.0.0.1/v1"',
        'report_model = ["extractive", "[cli]claude:haiku"]',
    ],
)
def test_a_folder_may_not_say_where_models_are_how_they_are_called_and_what_they_cost(
    line: str, tmp_path: Path
) -> None:
    file = tmp_path / "graph-research.toml"
    file.write_text(f"[research]\n{line}\n")
    with pytest.raises(SettingInvalid, match="may not be set") as caught:
        load_configuration(home_file=tmp_path / "none", folder_file=file, environ={})
    assert caught.value.line == 2


def test_a_key_that_stands_where_its_variables_name_belongs_is_not_shown() -> None:
    with pytest.raises(SettingInvalid) as caught:
        load_configuration(
            home_file=Path("/none"), folder_file=None, environ={"GRAPH_RESEARCH_MODEL_KEYS": "host=sk-secret"}
        )
    assert "sk-secret" not in str(caught.value)


def test_a_setting_may_be_a_table_in_the_users_file(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        '[research]\n[research.model_keys]\n"127.0.0.1:8080" = "MINE"\n[research.cli_commands]\na = ["b", "c"]\n'
    )
    configuration = load_configuration(home_file=file, folder_file=None, environ={})
    assert configuration.settings.model_keys == {"127.0.0.1:8080": "MINE"}
    assert configuration.settings.cli_commands == {"a": ("b", "c")}
    assert configuration.origins["cli_commands"] == f"{file}:4"


def test_the_hosts_that_specs_reach_are_reported() -> None:
    specs = [
        "extractive",
        "openai:m",
        "gemini:m",
        "openai:m@http://127.0.0.1:8080/v1",
        "openai:@http://x",
        "[cli]claude:m",
    ]
    assert hosts_of(specs) == {"api.openai.com", "generativelanguage.googleapis.com", "127.0.0.1"}


def test_no_model_is_named_by_an_unknown_kind() -> None:
    with pytest.raises(UnknownModel, match="no model is named"):
        build_router([], {}, clients())
