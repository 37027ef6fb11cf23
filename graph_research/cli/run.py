"""`run` and `resume`: one research from the question, or from where it stopped, to its report."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from graph_research.cli.failure import CommandEnded
from graph_research.cli.folder import open_here
from graph_research.cli.loop import wait_for
from graph_research.cli.options import Json, Library, Llm, Now, Out, Role, RunId, Search, examples

__all__ = ["register"]

_RUN_EXAMPLES = (
    "run 'How do heat pumps cope with cold winters?' --library papers/",
    "run 'What changed in TLS 1.3?' --library rfcs/ --library notes/ --out report/",
    "run 'Your question' --library papers/ --llm anthropic:claude-sonnet-5-5 --max-cost 2",
    "run 'Your question' --library papers/ --llm openai:qwen3:8b@http://127.0.0.1:11434/v1",
    "run 'Your question' --llm extractive --search local --max-iterations 2 --json",
)


def register(app: typer.Typer) -> None:
    """Add `run` and `resume`."""
    app.command("run", epilog=examples(*_RUN_EXAMPLES))(_run)
    app.command("resume", epilog=examples("resume RUN_ID", "resume RUN_ID --answer 'the one in Europe'"))(_resume)


def _run(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="1 to 50,000 characters.", show_default=False)],
    graph: Annotated[str, typer.Option("--graph", metavar="NAME|FILE", help="The graph to run.")] = "deep_research",
    llm: Llm = None,
    role: Role = None,
    search: Search = None,
    library: Library = None,
    max_iterations: Annotated[int | None, typer.Option(metavar="N", help="Rounds at most.")] = None,
    max_sub_queries: Annotated[int | None, typer.Option(metavar="N", help="Sub-queries of a plan at most.")] = None,
    max_cost: Annotated[float | None, typer.Option(metavar="USD", help="Stop when the models have cost this.")] = None,
    max_tokens: Annotated[int | None, typer.Option(metavar="N", help="Stop when the models used so many.")] = None,
    timeout: Annotated[float | None, typer.Option(metavar="S", help="Stop after so many seconds.")] = None,
    interactive: Annotated[bool, typer.Option("--interactive", help="Let the clarifier ask you.")] = False,
    run_id: Annotated[str | None, typer.Option("--run-id", metavar="ID", help="The new run's id. [random]")] = None,
    now: Now = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Research a question, write its report.

    The report comes as report.md, report.html and report.json.
    """
    from graph_research.app.request import request_for
    from graph_research.cli.drive import start

    settings: dict[str, Any] = {
        "default_provider": llm or None,
        "search_providers": search and ",".join(search),
        "library": library or None,
        "max_iterations": max_iterations,
        "max_sub_queries": max_sub_queries,
        "task_timeout": timeout,
    }
    workspace = open_here(settings)
    request = request_for(
        workspace,
        question,
        graph=graph,
        roles=role or (),
        max_cost=max_cost,
        max_tokens=max_tokens,
        interactive=interactive,
        now=now,
    )
    code = wait_for(start(workspace, request, run_id=run_id, out=out, json=json))
    if code:
        raise CommandEnded(code)


def _resume(
    run_id: RunId,
    answer: Annotated[str | None, typer.Option("--answer", metavar="TEXT", help="The answer it waits for.")] = None,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Go on although its graph, a prompt or a schema has changed, or it came in a bundle.",
        ),
    ] = False,
    max_cost: Annotated[float | None, typer.Option(metavar="USD", help="A new budget in place of its own.")] = None,
    max_tokens: Annotated[int | None, typer.Option(metavar="N", help="A new budget in place of its own.")] = None,
    timeout: Annotated[float | None, typer.Option(metavar="S", help="A new time limit in place of its own.")] = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Go on with a run where it stopped.

    No recorded call is made again. A completed run writes its report again.
    """
    from graph_research.cli.drive import go_on

    code = wait_for(
        go_on(
            open_here(),
            run_id,
            answer=answer,
            out=out,
            json=json,
            accept_changes=accept_changes,
            max_cost=max_cost,
            max_tokens=max_tokens,
            timeout_seconds=timeout,
        )
    )
    if code:
        raise CommandEnded(code)
