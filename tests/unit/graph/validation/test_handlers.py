"""A handler that is certainly not async is a finding; whatever can be awaited, or may be, is accepted."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

import pytest

from graph_research import MemoryCheckpointer, Runtime
from graph_research.graph.loader import check_graph, load_graph
from graph_research.graph.registry import Handler

TEXT = """graph: g
start: a
state: {n: {type: integer, default: 0, output: true}}
nodes:
  a: {run: work, output: {into: {n: output.n}}}
  done: {end: completed}
edges: [{from: a, to: done}]
"""


async def wanted(handoff: Mapping[str, Any], ctx: Any) -> Mapping[str, Any]:
    return {"n": 1}


def plain(handoff: Mapping[str, Any], ctx: Any) -> Any:
    return {"n": 1}


def plain_over_lines(handoff: Mapping[str, Any], ctx: Any) -> Any:
    output = {"n": len(handoff)}
    output["n"] += 1
    return output


def generator(handoff: Mapping[str, Any], ctx: Any) -> Iterator[int]:
    yield 1


async def async_generator(handoff: Mapping[str, Any], ctx: Any) -> AsyncIterator[int]:
    yield 1


def delegates(handoff: Mapping[str, Any], ctx: Any) -> Any:
    return wanted(handoff, ctx)


def delegates_in_two_steps(handoff: Mapping[str, Any], ctx: Any) -> Any:
    result = wanted(handoff, ctx)
    return result  # noqa: RET504 -- a variable is what is tested


def annotated(handoff: Mapping[str, Any], ctx: Any) -> Awaitable[Mapping[str, Any]]:
    task = asyncio.ensure_future(wanted(handoff, ctx))
    tasks = [task]
    return tasks[0]


def logged(handler: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(handler)
    def inner(*given: Any) -> Any:
        tasks = [handler(*given)]
        return tasks[0]

    return inner


def anonymous(handler: Callable[..., Any]) -> Callable[..., Any]:
    def inner(*given: Any) -> Any:
        tasks = [handler(*given)]
        return tasks[0]

    return inner


class Agent:
    async def method(self, handoff: Mapping[str, Any], ctx: Any) -> Mapping[str, Any]:
        return {"n": 1}

    def plain_method(self, handoff: Mapping[str, Any], ctx: Any) -> Any:
        return {"n": 1}

    async def __call__(self, handoff: Mapping[str, Any], ctx: Any) -> Mapping[str, Any]:
        return {"n": 1}


class PlainAgent:
    def __call__(self, handoff: Mapping[str, Any], ctx: Any) -> Any:
        return {"n": 1}


@pytest.mark.parametrize(
    "handler",
    [
        plain,
        plain_over_lines,
        generator,
        async_generator,
        lambda handoff, ctx: {"n": 1},
        Agent().plain_method,
        PlainAgent(),
        functools.partial(plain, ctx=None),
    ],
    ids=lambda handler: getattr(handler, "__name__", type(handler).__name__),
)
def test_a_handler_that_is_certainly_not_async_is_a_finding(handler: Any) -> None:
    (finding,) = check_graph("g.yaml", text=TEXT, handlers={"work": handler})
    assert (finding.line, finding.column, finding.code) == (5, 12, "handler-not-async")
    assert str(finding).startswith('g.yaml:5:12: handler "work" is not async')
    assert "async def" in finding.help


@pytest.mark.parametrize(
    "handler",
    [
        wanted,
        delegates,
        delegates_in_two_steps,
        annotated,
        logged(wanted),
        anonymous(wanted),
        Agent().method,
        Agent(),
        functools.partial(Agent().method),
        functools.partial(wanted),
        lambda handoff, ctx: wanted(handoff, ctx),
    ],
    ids=lambda handler: getattr(handler, "__name__", type(handler).__name__),
)
async def test_whatever_can_be_awaited_is_accepted_and_runs(handler: Handler) -> None:
    graph = load_graph("g.yaml", text=TEXT, handlers={"work": handler})
    result = await Runtime(graph, checkpointer=MemoryCheckpointer()).run({})
    assert (result.status, result.state["n"]) == ("completed", 1)


async def test_a_handler_that_returns_no_awaitable_fails_and_says_what_to_do() -> None:
    def undecided(handoff: Mapping[str, Any], ctx: Any) -> Any:
        return dict(zip(("n",), (1,), strict=True))

    graph = load_graph("g.yaml", text=TEXT, handlers={"work": undecided})
    result = await Runtime(graph, checkpointer=MemoryCheckpointer()).run({})
    assert result.status == "failed"
    assert result.error is not None
    assert 'handler "work" returned an object, which cannot be awaited' in result.error["message"]


def test_a_graph_that_was_loaded_before_is_checked_with_the_handlers_of_now() -> None:
    assert not check_graph("again.yaml", text=TEXT, handlers={"work": wanted})
    assert [finding.code for finding in check_graph("again.yaml", text=TEXT, handlers={"work": plain})] == [
        "handler-not-async"
    ]


class Guard:
    async def __call__(self, n: int) -> bool:
        return n > 0


async def is_large(n: int) -> bool:
    return n > 0


@pytest.mark.parametrize("function", [is_large, functools.partial(is_large), Guard()])
def test_a_function_of_expressions_that_is_async_is_a_finding_since_what_it_returns_always_counts_as_true(
    function: Callable[..., Any],
) -> None:
    text = TEXT.replace("to: done}]", "to: done, when: is_large(n)}, {from: a, to: done}]")

    findings = check_graph("g.yaml", text=text, handlers={"work": wanted}, functions={"is_large": function})

    assert [str(finding) for finding in findings] == [
        'g.yaml:7:35: function "is_large" is async, and an expression cannot wait for it; register a plain function, '
        "or call it in a handler"
    ]
    assert [finding.code for finding in findings] == ["function-async"]
