"""Settings: who wins over whom, and what is said about a wrong one."""

import json
from pathlib import Path
from typing import Any

import pytest

from graph_research.process_tree import ProcessTree
from graph_research.settings.config import SettingInvalid, Settings
from graph_research.settings.folder_policy import why_not
from graph_research.settings.sources import Configuration, load_configuration
from tests.support.cli.cli_process import User


def load(tmp_path: Path, *, home: str = "", folder: str | None = None, **more: Any) -> Configuration:
    home_file, folder_file = tmp_path / "config.toml", tmp_path / "graph-research.toml"
    home_file.write_text(home)
    if folder is not None:
        folder_file.write_text(folder)
    return load_configuration(
        home_file=home_file,
        folder_file=folder_file if folder is not None else None,
        environ=more.get("environ", {}),
        options=more.get("options"),
    )


def test_each_source_wins_over_the_one_before(tmp_path: Path) -> None:
    home, folder = "[research]\nmax_iterations = 4\nmax_searches = 4\n", "[research]\nmax_searches = 5\n"
    environ = {"GRAPH_RESEARCH_MAX_CONCURRENT": "6", "GRAPH_RESEARCH_HOME": "/x", "PATH": "/bin"}
    loaded = load(tmp_path, home=home, folder=folder, environ=environ, options={"max_sub_queries": 7, "library": None})
    settings = loaded.settings
    assert (settings.max_iterations, settings.max_searches) == (4, 5)
    assert (settings.max_concurrent, settings.max_sub_queries) == (6, 7)
    assert settings.max_sources_per_query == 5
    assert loaded.origins["max_concurrent"] == "environment GRAPH_RESEARCH_MAX_CONCURRENT"
    assert loaded.origins["max_sub_queries"] == "option max_sub_queries"
    assert loaded.origins["max_searches"].endswith("graph-research.toml:2")


def test_an_unknown_name_is_reported_with_its_line_and_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match='did you mean "max_iterations"') as caught:
        load(tmp_path, home="# mine\n[research]\n\nmax_iteration = 2\n")
    assert (caught.value.line, Path(str(caught.value.file)).name) == (4, "config.toml")
    assert str(caught.value).count("config.toml") == 1


def test_an_unknown_name_without_a_near_one_is_to_be_removed_where_it_stands(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid) as caught:
        load(tmp_path, environ={"GRAPH_RESEARCH_ZZZ": "3"})
    assert caught.value.message == "unknown setting 'zzz' (environment GRAPH_RESEARCH_ZZZ)"
    assert caught.value.help == "correct or remove it"


@pytest.mark.parametrize("value", ['"three"', "0", "99", "[1]", "true"])
def test_a_wrong_type_or_range_is_reported_with_its_line(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingInvalid, match="max_iterations") as caught:
        load(tmp_path, home=f"[research]\nmax_iterations = {value}\n")
    assert caught.value.line == 2


@pytest.mark.parametrize("text", ["[research\n", "\x00", "max_iterations = 3\n", "[other]\na = 1\n"])
def test_a_file_that_is_no_settings_file_is_reported_with_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingInvalid) as caught:
        load(tmp_path, home=text)
    assert caught.value.line == 1


MODELS = {
    "extractive": None,
    "openai:gpt-5.4-mini?effort=low": None,
    "openai:m@http://10.0.0.1/v1": "model URLs",
    "extractive, [cli]claude:haiku": "command lines or files to read",
    "scripted:/etc/passwd": "command lines or files to read",
}
SEARCHES = {
    "local, tavily": None,
    "local, scripted:/etc/passwd": "command lines or files to read",
    "tavily, mcp:notes": "your own MCP servers",
}
ROLES_AND_PHASES = (
    *("research", "summarization", "compression", "reflection", "report", "verification"),
    *("clarification", "planning", "gathering", "analysis", "synthesis", "refinement"),
)
DECIDED: dict[str, dict[Any, str | None]] = {
    "default_provider": MODELS,
    **{f"{name}_model": MODELS for name in ROLES_AND_PHASES},
    "model_keys": {"{'gpu.example' = 'GPU_KEY'}": "keys"},
    "cli_commands": {"{mine = ['ask']}": "command lines"},
    "model_timeout": {30: None},
    "job_model_timeout": {5: None},
    "reasoning_effort": {"low": None},
    "model_context_overrides": {"{gpt = 8000}": None},
    "model_price_overrides": {"{gpt = {input = 0, output = 0}}": "prices"},
    "token_management_enabled": {False: None},
    "token_safety_margin": {0.2: None},
    "default_context_tokens": {4096: None},
    "report_output_tokens": {4096: None},
    "source_chars": {5000: None},
    "topic_chars": {64000: None},
    "token_limit_recovery": {False: None},
    "allow_content_dropping": {True: None},
    "runtime_overhead": {10: None},
    "search_providers": SEARCHES,
    "library": {"/etc": "data paths"},
    "embedding_model": {"wordllama": "data paths"},
    "max_iterations": {2: None},
    "max_sub_queries": {2: None},
    "max_sources_per_query": {2: None},
    "max_searches": {2: None},
    "max_concurrent": {2: None},
    "source_types": {"academic": None},
    "follow_links": {False: None},
    "fetch_pdfs": {True: None},
    "flagged_domains": {"example.org": None},
    "protected_sources": {"example.org": None},
    "allow_domains": {"example.org": None},
    "deny_domains": {"example.org": None},
    "source_kinds": {"academic": None},
    "media_types": {"pdf": None},
    "source_languages": {"en": None},
    "published_from": {"2020": None},
    "published_until": {"2020-06": None},
    "licences": {"cc-by": None},
    "search_timeout": {2: None},
    "page_timeout": {2: None},
    "page_max_bytes": {5000: None},
    "fetch_allow_hosts": {"router.home": "hosts"},
    "allow_local_terms_in_web_queries": {True: "permission to send local words out"},
    "fetch_time_summarization": {False: None},
    "summarization_providers": MODELS,
    "summarization_cache_enabled": {False: None},
    "summarization_min_chars": {2: None},
    "summarization_timeout": {2: None},
    "topic_reflection": {False: None},
    "topic_compression": {False: None},
    "deep_research_digest_policy": {"off": None},
    "deep_research_digest_min_chars": {2: None},
    "deep_research_digest_max_sources": {2: None},
    "deep_research_digest_timeout": {2: None},
    "deep_research_digest_max_concurrent": {2: None},
    "deep_research_digest_include_evidence": {False: None},
    "deep_research_digest_evidence_max_chars": {200: None},
    "deep_research_digest_max_evidence_snippets": {2: None},
    "deep_research_digest_provider": MODELS,
    "deep_research_digest_providers": MODELS,
    "research_max_concurrency": {64: "how much your machine does at once"},
    "service_models": {"openai:m": "what users of your service may choose"},
    "service_graphs": {"deep_research": "what users of your service may choose"},
    "service_own_graphs": {True: "what users of your service may choose"},
    "telemetry_content": {True: "what your traces show of your work"},
    "task_timeout": {60: None},
    "deep_research_archive_content": {True: None},
    "research_archive_dir": {"/etc": "data paths"},
    "content_archive_enabled": {True: None},
    "content_archive_ttl_hours": {1: "what is removed from your data home"},
    "deep_research_archive_retention_days": {0: "what is removed from your data home"},
    "searxng_url": {"http://10.0.0.1:8080": "addresses"},
    "mcp_servers": {"{evil = {command = ['touch', 'owned']}}": "MCP servers"},
    "contact_email": {"you@example.org": "who you are"},
    "search_rate_limits": {"{arxiv = 900.0}": "how hard services are asked"},
    "provider_cooldown": {0: "how hard services are asked"},
    "tavily_search_depth": {"advanced": None},
    "tavily_include_raw_content": {False: None},
    "tavily_include_domains": {"example.org": None},
    "tavily_exclude_domains": {"example.org": None},
    "tavily_time_range": {"week": None},
    "tavily_extract": {True: "who learns which pages you read"},
    "google_date_restrict": {"d7": None},
    "wikipedia_language": {"de": None},
    "length": {"brief": None},
    "report_type": {"memo": None},
    "language": {"de": None},
    "audience": {"anglers": None},
    "system_prompt": {"Prefer the tides.": None},
}
"""By setting, values and what of them a folder's file may not set; None where it may."""


def test_the_embedding_model_is_no_model_of_a_role() -> None:
    settings = Settings(embedding_model="wordllama", report_model=("extractive",))
    assert Configuration(settings=settings, origins={}).role_specs() == {"report": ("extractive",)}


@pytest.mark.requirement("B46")
def test_a_setting_is_known_by_its_other_name_too(tmp_path: Path) -> None:
    configuration = load(tmp_path, home="[research]\ndeep_research_digest_fetch_pdfs = true\n")
    assert configuration.settings.fetch_pdfs
    assert configuration.origins["fetch_pdfs"].endswith("config.toml:2")


@pytest.mark.requirement("B46", "6.7")
def test_settings_under_the_names_of_other_tools_are_accepted(tmp_path: Path) -> None:
    given = {
        "deep_research_max_sources": "7",
        "summarization_provider": '"gemini:gemini-3.1-flash-lite"',
        "summarization_providers": '["openai:gpt-5.4-nano"]',
        "compression_provider": '"[cli]claude:haiku"',
        "reflection_provider": '"openai"',
        "reflection_model": '"gpt-5.4-nano"',
        "research_provider": '"extractive"',
        "research_model": '"extractive"',
        "planning_provider": '"anthropic:claude-sonnet-5-5"',
        "deep_research_archive_content": "false",
        "content_archive_enabled": "true",
        "content_archive_ttl_hours": "24",
        "research_archive_dir": '"/data/archive"',
        "allow_content_dropping": "true",
        "summarization_cache_enabled": "false",
        "token_safety_margin": "0.2",
    }
    configuration = load(tmp_path, home="[research]\n" + "".join(f"{name} = {one}\n" for name, one in given.items()))
    assert configuration.settings.max_sources_per_query == 7
    assert not configuration.settings.deep_research_archive_content
    assert configuration.role_specs() == {
        "summarization": ("gemini:gemini-3.1-flash-lite", "openai:gpt-5.4-nano"),
        "compression": ("[cli]claude:haiku",),
        "reflection": ("openai:gpt-5.4-nano",),
        "research": ("extractive",),
        "planning": ("anthropic:claude-sonnet-5-5",),
    }
    shown = {row["name"]: (row["value"], row["origin"]) for row in configuration.rows()}
    assert shown["max_sources_per_query"][0] == 7
    assert shown["max_sources_per_query"][1].endswith("config.toml:2")


@pytest.mark.requirement("B46")
def test_two_names_of_one_setting_in_one_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="max_sources and deep_research_max_sources mean the same"):
        load(tmp_path, home="[research]\nmax_sources = 3\ndeep_research_max_sources = 4\n")


@pytest.mark.requirement("13.1")
def test_prompts_are_fitted_to_windows_with_a_margin_of_15_percent_and_60000_tokens_for_a_command_line() -> None:
    settings = Settings()
    assert (settings.token_management_enabled, settings.token_safety_margin) == (True, 0.15)
    assert (settings.runtime_overhead, settings.model_context_overrides) == (60_000, {})


@pytest.mark.requirement("13.2", "9.3", "B19")
def test_sources_are_summarized_within_60_seconds_by_the_roles_own_models_and_summaries_are_used_again() -> None:
    settings = Settings()
    assert (settings.fetch_time_summarization, settings.summarization_timeout) == (True, 60.0)
    assert (settings.summarization_model, settings.summarization_providers) == ((), ())
    assert settings.summarization_cache_enabled


@pytest.mark.requirement("11.2", "B2")
def test_the_defaults_of_digests() -> None:
    digest = {name: value for name, value in Settings() if name.startswith("deep_research_digest_")}
    assert {name.removeprefix("deep_research_digest_"): value for name, value in digest.items()} == {
        "policy": "auto",
        "min_chars": 10_000,
        "max_sources": 8,
        "timeout": 120.0,
        "max_concurrent": 3,
        "include_evidence": True,
        "evidence_max_chars": 400,
        "max_evidence_snippets": 5,
        "provider": None,
        "providers": (),
    }
    assert not Settings().fetch_pdfs


@pytest.mark.requirement("11.18", "B33")
def test_texts_are_archived_and_kept_for_30_days() -> None:
    settings = Settings()
    assert (settings.deep_research_archive_content, settings.deep_research_archive_retention_days) == (True, 30)


@pytest.mark.requirement("B19")
def test_features_are_on_unless_they_are_switched_off() -> None:
    settings = Settings()
    assert settings.topic_reflection
    assert settings.topic_compression
    assert settings.token_limit_recovery


@pytest.mark.requirement("13.3")
def test_nothing_is_dropped_and_no_record_written_unless_that_is_wished() -> None:
    settings = Settings()
    assert (settings.allow_content_dropping, settings.content_archive_enabled) == (False, False)
    assert (settings.content_archive_ttl_hours, settings.research_archive_dir) == (168, None)


def test_a_time_of_publication_that_ends_before_it_begins_is_refused(tmp_path: Path) -> None:
    load(tmp_path, home="[research]\npublished_from = '2021-03'\npublished_until = '2021'\n")
    with pytest.raises(SettingInvalid, match="it ends before 2021, where published_from begins"):
        load(tmp_path, home="[research]\npublished_from = '2021'\npublished_until = '2020-12'\n")


def test_the_models_of_digests_are_tried_in_order() -> None:
    settings = Settings(deep_research_digest_provider="extractive", deep_research_digest_providers=("openai:m",))
    assert Configuration(settings=settings, origins={}).role_specs() == {"digest": ("extractive", "openai:m")}


def test_of_every_setting_it_is_decided_whether_a_folder_may_set_it() -> None:
    assert list(DECIDED) == list(Settings.model_fields)


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [(name, value, what) for name, values in DECIDED.items() for value, what in values.items()],
)
def test_a_folders_file_sets_what_a_cloned_repository_may(
    name: str, value: Any, what: str | None, tmp_path: Path
) -> None:
    shown = value if isinstance(value, str) and value.startswith("{") else json.dumps(value)
    text = f"[research]\n{name} = {shown}\n"
    load(tmp_path, home=text)
    if what is None:
        assert load(tmp_path, folder=text).origins[name].endswith("graph-research.toml:2")
        return
    with pytest.raises(SettingInvalid, match=f"setting {name}: {what} may not be set by a folder's"):
        load(tmp_path, folder=text)


def test_a_setting_that_nobody_decided_about_is_the_users_own() -> None:
    assert why_not("added_tomorrow", True) == "this"


def test_a_key_in_a_file_is_refused_without_repeating_it(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="only from the environment") as caught:
        load(tmp_path, home='[research]\nopenai_api_key = "sk-very-secret"\n')
    assert "sk-very-secret" not in str(caught.value)


def test_a_list_may_be_written_as_one_text(tmp_path: Path) -> None:
    environ = {"GRAPH_RESEARCH_SEARCH_PROVIDERS": "local, scripted:x.json"}
    assert load(tmp_path, environ=environ).settings.search_providers == ("local", "scripted:x.json")


@pytest.mark.requirement("B46")
@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ('["[cli]claude:haiku", "openai:m"]', ("[cli]claude:haiku", "openai:m")),
        ("[cli]claude:haiku, openai:m", ("[cli]claude:haiku", "openai:m")),
        ("[]", ()),
    ],
)
def test_a_list_in_the_environment_may_be_json(tmp_path: Path, text: str, specs: tuple[str, ...]) -> None:
    environ = {"GRAPH_RESEARCH_DEEP_RESEARCH_DIGEST_PROVIDERS": text}
    assert load(tmp_path, environ=environ).settings.deep_research_digest_providers == specs


def test_a_json_list_that_does_not_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="a list is wanted"):
        load(tmp_path, environ={"GRAPH_RESEARCH_DEEP_RESEARCH_DIGEST_PROVIDERS": '["openai:m"'})


def test_a_program_that_this_one_started_may_start_it_again(tmp_path: Path) -> None:
    assert load(tmp_path, environ=ProcessTree().environ({})).origins == {}


def test_hosts_of_ones_own_are_names_with_or_without_a_port(tmp_path: Path) -> None:
    environ = {"GRAPH_RESEARCH_FETCH_ALLOW_HOSTS": "wiki.intern:8443, 10.0.0.7, [fd00::7]:80, münchen.intern"}
    hosts = load(tmp_path, environ=environ).settings.fetch_allow_hosts
    assert hosts == ("wiki.intern:8443", "10.0.0.7", "[fd00::7]:80", "münchen.intern")
    for wrong in ("http://wiki/", "wiki/page", "10.0.0.0/8", "*", "user@wiki", "wiki:port"):
        with pytest.raises(SettingInvalid, match="fetch_allow_hosts"):
            load(tmp_path, environ={"GRAPH_RESEARCH_FETCH_ALLOW_HOSTS": wrong})


def test_a_host_of_ones_own_that_is_none_is_refused_before_a_run(user: User) -> None:
    environ = {"GRAPH_RESEARCH_FETCH_ALLOW_HOSTS": "1.2.3.4.5"}
    done = user.run("run", "How often do tides turn?", "--library", "library", expect=2, environ=environ)
    assert "setting fetch_allow_hosts: '1.2.3.4.5' is not a valid address; name hosts as" in done.err


def test_flagged_domains_are_compared_in_lower_case_and_are_names_of_hosts(tmp_path: Path) -> None:
    settings = load_configuration(
        home_file=tmp_path / "config.toml",
        folder_file=None,
        environ={"GRAPH_RESEARCH_FLAGGED_DOMAINS": "Fake.org, b.de"},
    ).settings
    assert settings.flagged_domains == ("fake.org", "b.de")
    with pytest.raises(SettingInvalid, match="flagged_domains"):
        load_configuration(
            home_file=tmp_path / "config.toml",
            folder_file=None,
            environ={"GRAPH_RESEARCH_FLAGGED_DOMAINS": "https://fake.org/"},
        )
