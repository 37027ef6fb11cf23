"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, TypeVar

import typer

F = TypeVar("F")
RunId = Annotated[str, typer.Argument(metavar="RUN_ID", help="The run's id, as `list` shows it.", show_default=False)]
NewRunId = Annotated[str | None, typer.Option("--run-id", metavar="ID", help="The new run's id. [random]")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for report.md, report.html and report.json. [default: ./research/RUN_ID/]"),
]
Library = Annotated[
    list[str] | None,
    typer.Option("--library", metavar="DIR", help="Search only this folder, indexed on the way. May be repeated."),
]
Llm = Annotated[
    list[str] | None,
    typer.Option(
        "--llm",
        metavar="SPEC",
        help="Model of every role: extractive, openai:MODEL, openai:MODEL@URL, anthropic:MODEL, gemini:MODEL or "
        "[cli]claude:haiku. Repeated, or with commas, a fallback order.",
    ),
]
Role = Annotated[
    list[str] | None,
    typer.Option(
        "--role",
        metavar="ROLE=SPEC",
        help="Model of one role (research, summarization, compression, reflection, report, verification), such as "
        "summarization=openai:gpt-5.4-nano. Commas make a fallback order.",
    ),
]
Search = Annotated[
    list[str] | None, typer.Option("--search", metavar="NAME,…", help="Searches, such as local,wikipedia.")
]
MaxIterations = Annotated[int | None, typer.Option(metavar="N", help="Rounds at most.")]
MaxSubQueries = Annotated[int | None, typer.Option(metavar="N", help="Sub-queries of a plan at most.")]
Length = Annotated[
    str | None,
    typer.Option("--length", metavar="brief|standard|long|WORDS", help="How long the report is. [default: standard]"),
]
ReportType = Annotated[
    str | None,
    typer.Option(
        "--type",
        metavar="report|comparison|timeline|survey|memo",
        help="How the report is built up. [default: report]",
    ),
]
Language = Annotated[
    str | None,
    typer.Option("--language", metavar="CODE", help="Its language, such as de or pt-BR. [default: the question's]"),
]
Audience = Annotated[str | None, typer.Option("--audience", metavar="TEXT", help="Who will read it, in your words.")]
AllowDomain = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-domain", metavar="DOMAIN", help="Use web pages of this domain only, such as who.int. May be repeated."
    ),
]
DenyDomain = Annotated[
    list[str] | None,
    typer.Option("--deny-domain", metavar="DOMAIN", help="Use no web page of this domain. May be repeated."),
]
PublishedFrom = Annotated[
    str | None,
    typer.Option("--from", metavar="DATE", help="Use nothing published before this day, month or year."),
]
PublishedUntil = Annotated[
    str | None,
    typer.Option("--until", metavar="DATE", help="Use nothing published after this day, month or year."),
]
SourceRule = Annotated[
    list[str] | None,
    typer.Option(
        "--source-rule",
        metavar="RULE=VALUE,…",
        help="Another rule for sources, such as licences=cc-by,cc0 or source_kinds=academic. May be repeated.",
    ),
]
MaxCost = Annotated[float | None, typer.Option(metavar="USD", help="What models may cost; a report is made within it.")]
MaxTokens = Annotated[
    int | None, typer.Option(metavar="N", help="How many models may use; a report is made within it.")
]
Timeout = Annotated[float | None, typer.Option(metavar="S", help="Seconds it may take; a report is made within them.")]
Now = Annotated[
    str | None,
    typer.Option("--now", metavar="TIMESTAMP", help="Fix the clock, such as 2026-01-31T12:00:00Z, for equal bytes."),
]


def chosen_format(given: F | None, output: Path | None, by_suffix: Mapping[str, F], default: F) -> F:
    """The format that is asked for, else that of the output's suffix, else the default."""
    by_name = by_suffix.get(output.suffix.lower()) if output else None
    return given or by_name or default


def examples(*lines: str) -> str:
    """The epilog of a command's help: one example a line (`\\b` keeps the lines apart)."""
    return "\b\nExamples:\n" + "\n".join(f"  graph-research {line}" for line in lines)
