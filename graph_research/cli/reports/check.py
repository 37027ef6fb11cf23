"""`check`: the audit of anyone's report."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graph_research.cli.display.output import in_line, say, show, show_document, show_json
from graph_research.cli.display.progress import IndexingLines
from graph_research.cli.options import Json, Llm, Role, chosen_format, examples
from graph_research.cli.workspace import open_here, wait_for
from graph_research.text.wording import shortened

if TYPE_CHECKING:
    from graph_research.research.audit.model import Audit

_TEXT_CHARS = 110


class AuditFormat(StrEnum):
    """What `check` writes."""

    TABLE = "table"
    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add `check`."""
    app.command(
        "check",
        epilog=examples(
            "check report.pdf --library papers/",
            "check draft.md --library papers/ --library minutes/ -o audit.html",
            "check draft.md --library papers/ --role verification=openai:gpt-5.4-mini",
        ),
    )(_check)


def _check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A report: md, txt, html, pdf and what libraries read.")],
    library: Annotated[
        list[Path], typer.Option("--library", metavar="DIR", help="The documents it has to agree with; repeatable.")
    ],
    format: Annotated[
        AuditFormat | None, typer.Option("--format", help="What to write. [default: by the suffix of -o, else table]")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="A file instead of standard output.")] = None,
    llm: Llm = None,
    role: Role = None,
    json: Json = False,
) -> None:
    """Audit a report, sentence by sentence.

    Anyone's report: each sentence that states a fact is supported, contradicted, unclear or not found in the documents
    of folders, with the best passage and its place. What the report cites or links to is looked at first. Code
    compares; where a model serves the role `verification`, it judges what code found. Exit code 0 whatever is found, 2
    for a file that cannot be read.
    """
    from graph_research.app.check import check_report
    from graph_research.app.check_by_model import verifying_models

    workspace = open_here({"default_provider": llm or None})
    if models := verifying_models(workspace, role or ()):
        say(f"verification: {', '.join(models)}")
    audit = wait_for(check_report(workspace, file, library, on_index=IndexingLines(), roles=role or ()))
    for name in audit.unread:
        say(f"not read: {in_line(name)}")
    by_suffix = {f".{name}": name for name in AuditFormat}
    chosen = AuditFormat.JSON if json else chosen_format(format, output, by_suffix, AuditFormat.TABLE)
    if output is None and chosen is AuditFormat.JSON:
        show_json(audit.to_json())
    elif output is None and chosen is AuditFormat.TABLE:
        _show(audit)
    elif output is None:
        show_document(_rendered(audit, chosen))
    else:
        from graph_research.app.files import write_atomically

        write_atomically(output, _rendered(audit, chosen))
        say(f"written: {output}")


def _rendered(audit: Audit, format: AuditFormat) -> str:
    from graph_research.research.audit.formats import html, markdown

    if format is AuditFormat.HTML:
        return html(audit)
    return audit.model_dump_json(indent=2) if format is AuditFormat.JSON else markdown(audit)


def _show(audit: Audit) -> None:
    from graph_research.research.audit.formats import WORDS, footnote, summary, where
    from graph_research.research.audit.model import Verdict

    for row in audit.sentences:
        show(f"{row.n:>4}  {WORDS[row.verdict]:<13} {row.score:.2f}  {shortened(in_line(row.text), _TEXT_CHARS)}")
        near = "says" if row.verdict in (Verdict.SUPPORTED, Verdict.CONTRADICTED) else "nearest"
        for sign, quote in ((near, row.quote), ("but", row.against)):
            if quote is not None:
                show(f"{'':>25}{sign}: “{shortened(in_line(quote.quote), _TEXT_CHARS)}”")
                show(f"{'':>25}{in_line(where(quote))}")
        if row.reason:
            show(f"{'':>25}{in_line(row.reason)}")
    show(summary(audit))
    if footnote(audit):
        show(footnote(audit))
