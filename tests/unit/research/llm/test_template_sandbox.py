"""Templates of a bundle: rendered in a child process that has little time and memory, and no files."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from graph_research.research.llm.prompt_templates import PromptInvalid
from graph_research.research.llm.template_sandbox import ConfinedRenderer
from tests.support.cli.cli_process import PATIENCE_SECONDS


@dataclass(frozen=True)
class Own:
    """The templates of this side."""

    texts: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> tuple[str, str] | None:
        return (self.texts[name], f"{name}.j2") if name in self.texts else None

    def names(self) -> list[str]:
        return sorted(self.texts)


def test_a_foreign_template_gives_the_text_that_it_would_give_here() -> None:
    texts = {"ask": "{% include 'part' %}{{ quoted(text, 'a') }}{{ rows | json }}", "part": "Read “{{ text }}”.\n"}
    values = {"text": "so\nit is", "rows": [{"n": 1}]}
    foreign = ConfinedRenderer(Own(), texts)
    assert foreign.render("ask", values) == ConfinedRenderer(Own(texts), {}).render("ask", values)
    assert foreign.exists("ask")
    assert not foreign.exists("other")


def test_own_templates_come_first_and_never_include_a_foreign_one() -> None:
    renderer = ConfinedRenderer(Own({"ask": "mine", "all": "{% include 'part' %}"}), {"ask": "theirs", "part": "x"})
    assert renderer.render("ask", {}) == "mine"
    with pytest.raises(PromptInvalid, match='no prompt "part"'):
        renderer.render("all", {})


@pytest.mark.parametrize(
    "text",
    [
        "{{ ''.__class__.__mro__ }}",
        "{% include '/etc/passwd' %}",
        "{{ missing }}",
        "{% for a in rows %}{% for b in rows %}{% for c in rows %}{% endfor %}{% endfor %}{% endfor %}",
    ],
    ids=["attributes", "files", "names", "time"],
)
def test_a_template_that_wants_more_than_a_prompt_needs_is_refused(text: str) -> None:
    with pytest.raises(PromptInvalid, match="of the bundle"):
        ConfinedRenderer(Own(), {"bad": text}).render("bad", {"rows": list(range(2000))})


async def test_the_event_loop_runs_while_a_foreign_template_is_rendered() -> None:
    renderer, has_run = ConfinedRenderer(Own(), {"ask": "{{ text }}"}), threading.Event()

    def render() -> str:
        assert has_run.wait(PATIENCE_SECONDS)
        return renderer.render("ask", {"text": "so"})

    asyncio.get_running_loop().call_later(0.01, has_run.set)
    assert await renderer.off_loop(render) == "so"
