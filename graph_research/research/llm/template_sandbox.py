"""Templates from somebody else (a bundle's): rendered in a limited child process, never in this one."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import jinja2

import graph_research
from graph_research.graph.registry import Resolver
from graph_research.research.llm.prompt_templates import PromptInvalid, PromptRenderer

_T = TypeVar("_T")

_SECONDS = 30.0
_KEPT_ENVIRONMENT = ("SYSTEMROOT", "LD_LIBRARY_PATH")
_HELP = "a bundle's templates have little time and memory, and no files"


class ConfinedRenderer(PromptRenderer):
    """Renders the templates of `own` here, and those that only `foreign` has in a child process without keys, files,
    processes and network, with limits of memory and time. A template of one never includes one of the other."""

    def __init__(self, own: Resolver, foreign: Mapping[str, str]) -> None:
        super().__init__(own)
        self._foreign = dict(foreign)

    def exists(self, name: str) -> bool:
        return super().exists(name) or name in self._foreign

    async def off_loop(self, work: Callable[[], _T]) -> _T:
        return await asyncio.to_thread(work)

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        if super().exists(name) or name not in self._foreign:
            return super().render(name, values)
        request = json.dumps({"prompts": self._foreign, "name": name, "values": values})
        try:
            done = subprocess.run(  # noqa: S603 -- our own script, with nothing of the template in the arguments
                [sys.executable, "-I", str(Path(__file__).with_name("template_sandbox_child.py")), *_folders()],
                input=request.encode(),
                capture_output=True,
                timeout=_SECONDS,
                env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
                check=True,
            )
            answer = json.loads(done.stdout)
        except (subprocess.SubprocessError, ValueError) as problem:
            raise PromptInvalid(f'prompt "{name}" of the bundle cannot be rendered', help=_HELP) from problem
        if "text" not in answer:
            raise PromptInvalid(f'prompt "{name}" of the bundle: {answer.get("error")}', help=_HELP)
        return str(answer["text"])


def _folders() -> list[str]:
    """Where the child finds this package and Jinja."""
    return [str(Path(str(module.__file__)).parent.parent) for module in (graph_research, jinja2)]
