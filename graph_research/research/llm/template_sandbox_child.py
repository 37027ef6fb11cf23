"""The child process that renders other people's templates: a request as JSON on standard input, the text as JSON back.

Run as a script by `graph_research.research.llm.template_sandbox`, in isolated mode, with folders to import from as its
arguments. A request is `{"prompts": {name: text}, "name", "values"}`, an answer `{"text"}` or `{"error"}`.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

sys.path.extend(sys.argv[1:])

from graph_research.research.llm.prompt_templates import PromptInvalid, PromptRenderer

_MEMORY_BYTES = 1 << 30
_CPU_SECONDS = 5
_WARM = "{% for one in ['a\\n'] if one %}{% include 'part' %}{{ quoted(one, 'part') | json }}{% endfor %}"


def main() -> None:
    """Answer one request. What rendering loads late is loaded before the limits hold."""
    request = json.load(sys.stdin)
    warm = PromptRenderer(_Texts({"good": _WARM, "part": "{{ one }}", "bad": "{{ ''.__class__ }}"}))
    for name in ("good", "bad", "missing"):
        _answer(warm, name, {})
    renderer = PromptRenderer(_Texts(request["prompts"]))
    _confine()
    sys.stdout.write(json.dumps(_answer(renderer, request["name"], request["values"])))


@dataclass(frozen=True)
class _Texts:
    """A resolver over the templates of the request."""

    texts: Mapping[str, str]

    def find(self, name: str) -> tuple[str, str] | None:
        return (self.texts[name], f"{name}.j2") if name in self.texts else None

    def names(self) -> list[str]:
        return sorted(self.texts)


def _confine() -> None:
    """From here on: no new file or socket, no child process, no more memory or time than a prompt needs."""
    for limit, value in [
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_AS, _MEMORY_BYTES),
        (resource.RLIMIT_CPU, _CPU_SECONDS),
    ]:
        resource.setrlimit(limit, (value, value))


def _answer(renderer: PromptRenderer, name: str, values: Mapping[str, Any]) -> dict[str, str]:
    try:
        return {"text": renderer.render(name, values)}
    except PromptInvalid as problem:
        return {"error": problem.message}
    except (MemoryError, OSError) as problem:
        return {"error": f"it goes beyond its limits ({type(problem).__name__})"}


if __name__ == "__main__":
    main()
