"""A template that somebody else wrote: it reaches nothing, loads nothing from elsewhere and makes nothing huge."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_research.app.definitions import prompt_resolver
from graph_research.graph.resources import FolderResolver
from graph_research.research.llm.prompt_templates import PromptInvalid, PromptRenderer


def render(folder: Path, template: str) -> str:
    (folder / "attack.j2").write_text(template)
    return PromptRenderer(FolderResolver(folder, suffix=".j2")).render("attack", {"rows": [1], "text": "x"})


@pytest.mark.parametrize(
    "template",
    [
        "{{ 'a' * 10**9 }}",
        "{{ 'a' * 100000000000 }}",
        "{{ [1] * 100000000000 }}",
        "{{ 9 ** 9 ** 9 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ '{:>1000000000}'.format(1) }}",
        "{{ text.ljust(1000000000) }}",
        "{{ text | center(1000000000) }}",
        "{{ text | indent(1000000000) }}",
        "{% for i in range(1000000000) %}{% endfor %}",
    ],
)
def test_no_template_chooses_the_size_of_a_text(template: str, tmp_path: Path) -> None:
    with pytest.raises(PromptInvalid):
        render(tmp_path, template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__ }}",
        "{{ text | attr('__class__') }}",
        "{{ (rows | map(attribute='__class__') | list)[0] }}",
        "{{ quoted.__globals__['os'] }}",
        "{{ lipsum }}",
        "{{ namespace() }}",
        "{% import 'os' as os %}",
        "{% extends '../../etc/passwd' %}",
        "{% do rows.append(2) %}",
    ],
)
def test_a_template_reaches_nothing_of_the_program(template: str, tmp_path: Path) -> None:
    with pytest.raises(PromptInvalid):
        render(tmp_path, template)


def test_a_template_that_includes_itself_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(PromptInvalid, match="attack"):
        render(tmp_path, "{% include 'attack' %}")


def test_arithmetic_on_numbers_and_ordinary_filters_work(tmp_path: Path) -> None:
    assert render(tmp_path, "{{ 2 * 3 }} {{ 7 % 4 }} {{ rows | join(', ') }} {{ rows | json }}") == "6 3 1 [1]"


@pytest.mark.parametrize("name", ["../prompts/planner/system", "planner/../planner/system", "/planner/system"])
def test_a_prompt_is_found_by_its_plain_name_only(name: str) -> None:
    assert prompt_resolver().find("planner/system") is not None
    assert prompt_resolver().find(name) is None
