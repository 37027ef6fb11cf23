"""Settings: who wins over whom, and what is said about a wrong one."""

from pathlib import Path
from typing import Any

import pytest

from graph_research.config import Configuration, SettingInvalid, load_configuration
from tests.cli.conftest import User


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
    assert loaded.origins["max_sub_queries"] == "option --max-sub-queries"
    assert loaded.origins["max_searches"].endswith("graph-research.toml:2")


def test_an_unknown_name_is_told_with_its_line_and_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match='did you mean "max_iterations"') as caught:
        load(tmp_path, home="# mine\n[research]\n\nmax_iteration = 2\n")
    assert (caught.value.line, Path(str(caught.value.file)).name) == (4, "config.toml")


@pytest.mark.parametrize("value", ['"three"', "0", "99", "[1]", "true"])
def test_a_wrong_type_or_range_is_told_with_its_line(tmp_path: Path, value: str) -> None:
    with pytest.raises(SettingInvalid, match="max_iterations") as caught:
        load(tmp_path, home=f"[research]\nmax_iterations = {value}\n")
    assert caught.value.line == 2


@pytest.mark.parametrize("text", ["[research\n", "\x00", "max_iterations = 3\n", "[other]\na = 1\n"])
def test_a_file_that_is_no_settings_file_is_told_with_its_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingInvalid) as caught:
        load(tmp_path, home=text)
    assert caught.value.line == 1


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('library = ["/etc"]', "data paths"),
        ('default_provider = "openai:m@http://10.0.0.1/v1"', "model URLs"),
        ('report_model = ["extractive", "[cli]claude:haiku"]', "command lines"),
        ('research_model = "scripted:/etc/passwd"', "command lines or files"),
        ('search_providers = "local, scripted:/etc/passwd"', "command lines or files"),
        ('searxng_url = "http://10.0.0.1:8080"', "addresses"),
        ('fetch_allow_hosts = ["router.home"]', "hosts"),
    ],
)
def test_a_folders_file_reaches_no_host_no_command_and_no_path(tmp_path: Path, line: str, what: str) -> None:
    with pytest.raises(SettingInvalid, match=what):
        load(tmp_path, folder=f"[research]\n{line}\n")
    load(tmp_path, home=f"[research]\n{line}\n")


def test_a_key_in_a_file_is_refused_without_repeating_it(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="only from the environment") as caught:
        load(tmp_path, home='[research]\nopenai_api_key = "sk-very-secret"\n')
    assert "sk-very-secret" not in str(caught.value)


def test_a_list_may_be_written_as_one_text(tmp_path: Path) -> None:
    environ = {"GRAPH_RESEARCH_SEARCH_PROVIDERS": "local, scripted:x.json"}
    assert load(tmp_path, environ=environ).settings.search_providers == ("local", "scripted:x.json")


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
    assert "setting fetch_allow_hosts: '1.2.3.4.5' is no address; name hosts as" in done.err
