"""The wishes for a report: from options, settings and Python into the run, and what is said about a wrong one."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, get_args

import pytest

from graph_research import deep_research
from graph_research.app.request import request_for
from graph_research.app.workspace import open_workspace
from graph_research.research.models.report_options import LENGTHS, ReportType
from graph_research.settings.config import SettingInvalid
from graph_research.settings.report_wishes import NAMED_LENGTHS, ReportTypeName
from tests.support.cli.cli_process import User
from tests.support.cli.cli_user import QUESTION

DEFAULT = {"length": "standard", "type": "report", "language": None, "audience": None}


def wished(folder: Path, environ: dict[str, str] | None = None, **options: Any) -> Any:
    """The report options of a request with these settings."""
    home = {"GRAPH_RESEARCH_HOME": str(folder / "home")}
    workspace = open_workspace({**home, **(environ or {})}, folder, may_use=lambda _: False, options=options)
    return request_for(workspace, "why?").inputs["report_options"]


def test_settings_and_models_know_the_same_names() -> None:
    assert set(get_args(ReportTypeName)) == set(ReportType)
    assert set(NAMED_LENGTHS) == set(LENGTHS)


def test_without_wishes_the_report_is_a_standard_one_in_the_language_of_the_question(tmp_path: Path) -> None:
    assert wished(tmp_path) == DEFAULT


def test_wishes_come_from_the_environment_and_options_win(tmp_path: Path) -> None:
    environ = {"GRAPH_RESEARCH_LENGTH": "long", "GRAPH_RESEARCH_REPORT_TYPE": "memo", "GRAPH_RESEARCH_AUDIENCE": "me"}
    assert wished(tmp_path, environ, length=800, language="de") == {
        "length": "800",
        "type": "memo",
        "language": "de",
        "audience": "me",
    }


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"length": "huge"}, "brief, standard, long, or a number of words"),
        ({"length": "12"}, "from 100 to 50,000"),
        ({"length": True}, "length"),
        ({"report_type": "essay"}, "'comparison', 'timeline', 'survey' or 'memo'"),
        ({"language": "German"}, "such as en, de, fr"),
        ({"language": "ge"}, "such as en, de, fr"),
        ({"language": "de-Austria"}, "such as en, de, fr"),
        ({"audience": "  "}, "one line"),
    ],
)
def test_a_wrong_wish_is_refused_with_the_choices(tmp_path: Path, options: dict[str, Any], what: str) -> None:
    with pytest.raises(SettingInvalid, match=what) as caught:
        wished(tmp_path, **options)
    assert "Value error" not in str(caught.value)


@pytest.mark.parametrize("language", ["cs", "tlh", "zh-Hant", "es-419", "DE-at", "sr-Latn-RS"])
def test_any_registered_language_may_be_wished_for(tmp_path: Path, language: str) -> None:
    assert wished(tmp_path, language=language)["language"] == language


def test_wishes_of_a_command_reach_the_run(user: User) -> None:
    options = ["--length", "brief", "--type", "comparison", "--language", "pt-BR", "--audience", "millers"]
    user.run("run", QUESTION, "--library", "library", "--run-id", "wish", "--max-iterations", "1", *options)
    channel = user.run("show", "wish", "--step", "0", "--path", "report_options", "--json").json
    assert channel == {"length": "brief", "type": "comparison", "language": "pt-BR", "audience": "millers"}


@pytest.mark.parametrize(
    ("option", "value", "choices"),
    [("--length", "huge", "--length brief|standard|long|WORDS"), ("--type", "essay", "--type report|comparison|")],
)
def test_a_wrong_option_ends_with_2_and_names_the_choices(user: User, option: str, value: str, choices: str) -> None:
    for command in (["run", QUESTION], ["debug", QUESTION]):
        assert choices in user.run(*command, "--library", "library", option, value, expect=2).err


def test_wishes_of_a_call_in_python_reach_the_run(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(user.folder)
    wishes = {"length": 700, "report_type": "memo", "language": "en", "audience": "engineers"}
    environ = {"GRAPH_RESEARCH_HOME": str(user.home)}
    call = deep_research(
        QUESTION,
        library=["library"],
        max_iterations=1,
        run_id="called",
        environ=environ,
        system_prompt="metric units",
        **wishes,  # type: ignore[arg-type]
    )
    assert asyncio.run(call).status == "completed"
    shown = ["show", "called", "--step", "0", "--json", "--path"]
    channel = user.run(*shown, "report_options").json
    assert channel == {"length": "700", "type": "memo", "language": "en", "audience": "engineers"}
    assert user.run(*shown, "system_prompt").json == "metric units"


def test_rules_for_sources_of_one_run_are_settings_by_their_names(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(user.folder)
    options = ["--source-rule", "media_types=pdf", "--source-rule", "media_types=odt,docx", "--from", "2020"]
    run = ["run", QUESTION, "--library", "library", "--max-iterations", "1", "--run-id", "ruled", *options]
    assert user.run(*run, "--json").json["statistics"]["gathering"]["excluded"].keys() == {"media_type"}
    call = deep_research(
        QUESTION,
        library=["library"],
        max_iterations=1,
        source_rules={"licences": ["cc0"]},
        environ={"GRAPH_RESEARCH_HOME": str(user.home)},
    )
    assert asyncio.run(call).statistics["gathering"]["excluded"].keys() == {"licence"}


def test_rules_for_sources_hold_when_a_run_goes_on_later_or_in_the_background(user: User) -> None:
    options = ["--library", "library", "--max-iterations", "1", "--source-rule", "media_types=pdf"]
    user.run("run", QUESTION, *options, "--run-id", "later", "--plan-only")
    user.run("run", QUESTION, *options, "--run-id", "queued", "--detach")
    user.run("worker", "--until-idle")
    for run_id in ("later", "queued"):
        gathering = user.run("resume", run_id, "--json").json["statistics"]["gathering"]
        assert gathering["excluded"].keys() == {"media_type"}


def test_a_rule_for_sources_is_given_once(user: User) -> None:
    options = ["--deny-domain", "a.org", "--source-rule", "deny_domains=b.org"]
    assert "deny_domains is given by" in user.run("run", QUESTION, "--library", "library", *options, expect=2).err


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("medai_types=pdf", 'did you mean "media_types"?'),
        ("licences", "'licences' is not RULE=VALUE"),
        ("source_kinds=journals", "--source-rule source_kinds=VALUE"),
    ],
)
def test_a_wrong_rule_for_sources_ends_with_2_and_says_why(user: User, rule: str, message: str) -> None:
    assert message in user.run("run", QUESTION, "--library", "library", "--source-rule", rule, expect=2).err


@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 5),
        ({"default_provider": ["openai:a-model"]}, 5),
        ({"max_sources_per_query": 7}, 7),
    ],
)
def test_a_search_adds_five_sources_unless_a_number_is_set(tmp_path: Path, options: dict[str, Any], most: int) -> None:
    home = {"GRAPH_RESEARCH_HOME": str(tmp_path / "home")}
    workspace = open_workspace(home, tmp_path, may_use=lambda _: False, options=options)
    assert request_for(workspace, "why?").inputs["max_sources_per_query"] == most
