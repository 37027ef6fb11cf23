"""`run` and `resume`: one research from the question, or from where it stopped, to its report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph_research.cli.options import (
    AllowDomain,
    Audience,
    DenyDomain,
    Json,
    Language,
    Length,
    Library,
    Llm,
    MaxCost,
    MaxIterations,
    MaxSubQueries,
    MaxTokens,
    NewRunId,
    Now,
    Out,
    PublishedFrom,
    PublishedUntil,
    ReportType,
    Role,
    RunId,
    Search,
    SourceRule,
    Timeout,
    examples,
)
from graph_research.cli.workspace import open_here, open_with, wait_for
from graph_research.errors import UserMistake

if TYPE_CHECKING:
    from graph_research.app.request import RunRequest
    from graph_research.app.workspace import Workspace

_RUN_EXAMPLES = (
    "run 'How do heat pumps cope with cold winters?' --library papers/",
    "run 'What changed in TLS 1.3?' --library rfcs/ --library notes/ --out report/",
    "run 'Your question' --library papers/ --llm anthropic:claude-sonnet-5-5 --max-cost 2",
    "run 'Your question' --library papers/ --llm openai:qwen3:8b@http://127.0.0.1:11434/v1",
    "run 'Heat pumps or gas boilers?' --type comparison --length long --audience 'home owners'",
    "run 'Your question' --library papers/ --llm gemini:gemini-3-flash --plan",
    "run 'Your question' --llm extractive --search local --max-iterations 2 --json",
    "run 'Your question' --library papers/ --detach",
    "run 'Your question' --search wikipedia,tavily --deny-domain pinterest.com --from 2023",
)

_RESUME_EXAMPLES = ("resume RUN_ID", "resume RUN_ID --answer 'the one in Europe'", "resume RUN_ID --plan plan.yaml")


def register(app: typer.Typer) -> None:
    """Add `run` and `resume`."""
    app.command("run", epilog=examples(*_RUN_EXAMPLES))(_run)
    app.command("resume", epilog=examples(*_RESUME_EXAMPLES))(_resume)


Question = Annotated[str, typer.Argument(metavar="QUESTION", help="1 to 50,000 characters.", show_default=False)]
GraphName = Annotated[str, typer.Option("--graph", metavar="NAME|FILE", help="The graph to run.")]
PlanFirst = Annotated[
    bool, typer.Option("--plan", help="Show the plan and what it is likely to cost, and wait for your word.")
]
PlanOnly = Annotated[
    bool, typer.Option("--plan-only", help="Print the plan and the estimate; `resume` goes on with it.")
]
Detach = Annotated[
    bool, typer.Option("--detach", help="Print the run's id and go on in the background; `status` shows how far.")
]
Interactive = Annotated[bool, typer.Option("--interactive", help="Let the clarifier ask you.")]


def _run(
    question: Question,
    graph: GraphName = "deep_research",
    llm: Llm = None,
    role: Role = None,
    search: Search = None,
    library: Library = None,
    allow_domain: AllowDomain = None,
    deny_domain: DenyDomain = None,
    published_from: PublishedFrom = None,
    published_until: PublishedUntil = None,
    source_rule: SourceRule = None,
    max_iterations: MaxIterations = None,
    max_sub_queries: MaxSubQueries = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    length: Length = None,
    report_type: ReportType = None,
    language: Language = None,
    audience: Audience = None,
    plan: PlanFirst = False,
    plan_only: PlanOnly = False,
    detach: Detach = False,
    interactive: Interactive = False,
    run_id: NewRunId = None,
    now: Now = None,
    out: Out = None,
    json: Json = False,
) -> None:
    """Research a question, write its report.

    The report comes as report.md, report.html and report.json.
    """
    from graph_research.app.request import request_for

    if detach and plan_only:
        raise UserMistake("--detach and --plan-only exclude each other", help="with --detach, use --plan")
    workspace = open_with(
        llm=llm,
        search=search,
        library=library,
        timeout=timeout,
        max_iterations=max_iterations,
        max_sub_queries=max_sub_queries,
        length=length,
        report_type=report_type,
        language=language,
        audience=audience,
        allow_domains=allow_domain,
        deny_domains=deny_domain,
        published_from=published_from,
        published_until=published_until,
        source_rules=source_rule,
    )
    request = request_for(
        workspace,
        question,
        graph=graph,
        roles=role or (),
        max_cost=max_cost,
        max_tokens=max_tokens,
        interactive=interactive,
        plan_first=plan or plan_only,
        now=now,
    )
    _begin(workspace, request, run_id, out, json=json, plan_only=plan_only, detach=detach)


def _begin(
    workspace: Workspace,
    request: RunRequest,
    run_id: str | None,
    out: Path | None,
    *,
    json: bool,
    plan_only: bool,
    detach: bool,
) -> None:
    """Drive a new run here, or leave it to a worker in the background."""
    if run_id is not None:
        from graph_research.cli.jobs.queue import check_no_job

        wait_for(check_no_job(workspace, run_id))
    if detach:
        from graph_research.cli.jobs.detached import submit

        wait_for(submit(workspace, request, run_id=run_id, out=out, json=json))
        return
    from graph_research.cli.run_driver import start

    wait_for(start(workspace, request, run_id=run_id, out=out, json=json, plan_only=plan_only))


def _resume(
    run_id: RunId,
    answer: Annotated[str | None, typer.Option("--answer", metavar="TEXT", help="The answer it waits for.")] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            "--plan", metavar="FILE", help="The plan to go on with, in YAML or JSON, for one that waits with it."
        ),
    ] = None,
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
    from graph_research.cli.jobs.queue import take_over
    from graph_research.cli.run_driver import go_on

    workspace = open_here()
    wait_for(take_over(workspace, run_id))
    wait_for(
        go_on(
            workspace,
            run_id,
            answer=answer,
            plan=plan,
            out=out,
            json=json,
            accept_changes=accept_changes,
            max_cost=max_cost,
            max_tokens=max_tokens,
            timeout_seconds=timeout,
        )
    )
