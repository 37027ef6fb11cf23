"""`library`: the local documents that `local` searches."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from graph_research.cli.display.output import in_line, say, show, show_json, show_table
from graph_research.cli.display.progress import IndexingLines
from graph_research.cli.errors import FAILED, CommandEnded
from graph_research.cli.options import Json, Library, examples
from graph_research.cli.workspace import open_here, wait_for

if TYPE_CHECKING:
    from collections.abc import Container

    from graph_research.providers.search.local import Counts
    from graph_research.providers.search.local.records import Failure

_EXCERPT_CHARS = 300


def register(app: typer.Typer) -> None:
    """Add `library add`, `library list`, `library search` and `library remove`."""
    group = typer.Typer(
        help="Your own documents, to be searched.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    group.command("add", epilog=examples("library add papers/ notes/", "library add papers/ --json"))(_add)
    group.command("list", epilog=examples("library list", "library list --unread", "library list --json"))(_list)
    group.command("search", epilog=examples("library search 'defrost cycle'", "library search defrost -n 3 --json"))(
        _search
    )
    group.command("remove", epilog=examples("library remove papers/"))(_remove)
    app.add_typer(group, name="library")


def _add(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Folders to index, with what is below them.")],
    json: Json = False,
) -> None:
    """Index folders, or what changed.

    Every file that is not indexed is named with the reason; several of a type that is not read are counted. Exit code
    1 if one was named itself.
    """
    from graph_research.app.library import add_folders

    workspace = open_here()
    counts = wait_for(add_folders(workspace, [Path(path) for path in paths], IndexingLines()))
    named = {str((workspace.folder / Path(path).expanduser()).resolve()) for path in paths}
    _say_omissions(counts, named)
    documents = counts.added + counts.updated + counts.unchanged + counts.removed
    if not documents and all(failure.unsupported for failure in counts.failed):
        say(f"no file that can be read was found in {', '.join(map(in_line, paths))}")
    if json:
        show_json(counts.to_json())
    else:
        of_other_types = sum(failure.unsupported for failure in counts.failed)
        show(
            f"{counts.added} added, {counts.updated} updated, {counts.unchanged} unchanged, {counts.removed} removed, "
            f"{len(counts.failed) - of_other_types} failed"
            + (f", {of_other_types} of types that are not read" if of_other_types else "")
        )
    unread = sorted(named & {failure.path for failure in counts.failed})
    if unread:
        say(f"graph-research: not indexed: {', '.join(map(in_line, unread))}")
        raise CommandEnded(FAILED)


def _say_omissions(counts: Counts, named: Container[str]) -> None:
    """Name each file that is not indexed, or only in part, with the reason; files of types that are not read first, of
    several of one type their number, but for those that were `named` themselves."""
    kinds: dict[str, dict[str, Failure]] = {}
    for failure in (failure for failure in counts.failed if failure.unsupported):
        suffix = "" if failure.path in named else PurePath(failure.path).suffix.lower()
        kinds.setdefault(suffix or failure.path, {})[failure.path] = failure
    for kind, failures in sorted(kinds.items()):
        shown = f"{len(failures)} files *{kind}" if len(failures) > 1 else next(iter(failures))
        say(f"not indexed: {in_line(shown)}: {next(iter(failures.values())).reason}")
    for failure in (failure for failure in counts.failed if not failure.unsupported):
        say(f"not indexed: {in_line(failure.path)}: {in_line(failure.reason)}")
    for failure in counts.partly:
        say(f"indexed in part: {in_line(failure.path)}: {in_line(failure.reason)}")


def _list(
    unread: Annotated[
        bool, typer.Option("--unread", help="The files that were not read, or only in part, with the reason.")
    ] = False,
    json: Json = False,
) -> None:
    """The indexed folders."""
    from graph_research.app.library import list_folders, list_omissions

    if unread:
        omissions = wait_for(list_omissions(open_here(reads_only=True)))
        if json:
            show_json(omissions)
            return
        for row in omissions:
            show(f"{in_line(row['path'])}: {'only in part: ' if row['partly'] else ''}{in_line(row['reason'])}")
        if not omissions:
            show("every file was read")
        return
    folders = wait_for(list_folders(open_here(reads_only=True)))
    if json:
        show_json(folders)
    elif not folders:
        show("the index is empty; add documents with: graph-research library add FOLDER")
    else:
        columns = ("documents", "unread", "partly", "folder")
        show_table(
            ("DOCUMENTS", "UNREAD", "IN PART", "FOLDER"), [[folder[name] for name in columns] for folder in folders]
        )


def _search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to look for.", show_default=False)],
    library: Library = None,
    most: Annotated[int, typer.Option("-n", "--most", min=1, max=100, help="Passages at most.")] = 10,
    json: Json = False,
) -> None:
    """The best passages for a text."""
    from graph_research.app.library import search_passages

    passages = wait_for(
        search_passages(open_here({"library": library or None}, reads_only=not library), text, most=most)
    )
    if json:
        show_json(passages)
        return
    if not passages:
        show("nothing found")
    for passage in passages:
        where = ", ".join(in_line(part) for part in (passage.path, passage.place, passage.locator) if part)
        show(f"{passage.score:.2f}  {in_line(passage.title)}  ({where})")
        excerpt = " ".join(passage.text.split())
        show("      " + (excerpt if len(excerpt) <= _EXCERPT_CHARS else excerpt[:_EXCERPT_CHARS] + "…"))
        if passage.translations:
            show(f"      also in other languages or formats: {', '.join(map(in_line, passage.translations))}")


def _remove(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Folders to forget; the files stay.")],
    json: Json = False,
) -> None:
    """Forget folders; the files stay."""
    from graph_research.app.library import remove_folders

    removed = wait_for(remove_folders(open_here(), [Path(path) for path in paths]))
    if json:
        show_json({"removed": removed})
    else:
        show(f"{removed} documents removed from the index")
