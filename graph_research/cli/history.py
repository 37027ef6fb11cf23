"""Time travel: `show` a step, `diff` two runs, `fork` one from any of its steps, `replay` one offline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graph_research.cli.display.output import json_text, say, show, show_json
from graph_research.cli.errors import FAILED, CommandEnded
from graph_research.cli.options import Json, MaxCost, MaxTokens, NewRunId, Out, RunId, Timeout, examples
from graph_research.cli.workspace import open_here, wait_for
from graph_research.text.wording import shortened

if TYPE_CHECKING:
    from graph_research.app.runs.history import Differences
    from graph_research.graph.history.replay import Replayed

_VALUE_CHARS = 100
_CHANGES_SHOWN = 5
_CALLS_SHOWN = 40
_TEXTS_SHOWN = 20

Step = Annotated[int, typer.Option("--step", metavar="N", help="A step's number, as `history` shows it.")]


def register(app: typer.Typer) -> None:
    """Add `show`, `diff`, `fork` and `replay`."""
    app.command("show", epilog=examples("show RUN_ID --step 12", "show RUN_ID --step 12 --path sub_queries.0.query"))(
        _show
    )
    app.command(
        "diff", epilog=examples("diff RUN_ID OTHER_ID", "diff RUN_ID@5 RUN_ID@12 --json", "diff RUN_ID@v1 RUN_ID@v2")
    )(_diff)
    app.command(
        "fork",
        epilog=examples(
            "fork RUN_ID --step 12 --set max_iterations=3", "fork RUN_ID --step 0 --role report=scripted:mine.json"
        ),
    )(_fork)
    app.command("replay", epilog=examples("replay RUN_ID", "replay research.grb --json"))(_replay)


def _show(
    run_id: RunId,
    step: Step,
    path: Annotated[
        str | None, typer.Option("--path", metavar="P", help="One value, such as sub_queries.0.query.")
    ] = None,
    json: Json = False,
) -> None:
    """The state after a step.

    Of the graph that the step belongs to: the whole run's, or a subgraph's.
    """
    from graph_research.app.runs.history import Moment, show_step

    workspace = open_here(reads_only=True)
    shown = wait_for(show_step(workspace, run_id, step, path))
    if not isinstance(shown, Moment):
        show_json(shown) if json or not isinstance(shown, str) else show(shown)
        return
    if json:
        show_json(shown)
        return
    item = "" if shown.item is None else f"[{shown.item}]"
    show(f"step {shown.step}: {shown.node}{item}, visit {shown.visit}, {shown.status}, hash {shown.hash[:12]}")
    show(f"update: {_short(shown.update)}")
    for channel, value in shown.state.items():
        show(f"{channel}: {_short(value)}")


def _diff(
    old: Annotated[
        str,
        typer.Argument(metavar="RUN_ID[@N|@vN]", help="A run, after step N, or version N of its report."),
    ],
    new: Annotated[str, typer.Argument(metavar="RUN_ID[@N|@vN]", help="What it is compared with.")],
    json: Json = False,
) -> None:
    """What differs between two runs.

    By sentences of the report, claims, state and calls. Exit code 0 also where they differ.
    """
    from graph_research.app.runs.history import diff_runs

    differences = wait_for(diff_runs(open_here(reads_only=True), old, new))
    if json:
        show_json(differences)
    else:
        _show_differences(differences)


def _show_differences(differences: Differences) -> None:
    from graph_research.graph.history.state_diff import ChangeType

    signs = {ChangeType.ADDED: "+", ChangeType.REMOVED: "-", ChangeType.CHANGED: "~"}
    old, new = differences.old, differences.new
    sides = (f"{side['run_id']} {_place(side)} ({side['status']})" for side in (old, new))
    show(f"from {' to '.join(sides)}")
    sentences = [_short(change["path"]) for change in differences.sentences]
    claims = [_of_claim(change) for change in differences.claims]
    for name, changes, texts in (
        ("sentences", differences.sentences, sentences),
        ("claims", differences.claims, claims),
    ):
        show(f"{name}: {_count(changes, 'difference')}")
        shown = [(signs[change["change"]], text) for change, text in zip(changes, texts, strict=True) if text]
        for sign, text in shown[:_TEXTS_SHOWN]:
            show(f"  {sign} {text}")
        if left := len(changes) - len(shown[:_TEXTS_SHOWN]):
            show(f"  and {left} more; --json has all")
    show(f"state: {_count(differences.state, 'difference')}")
    for channel, changes in _by_channel(differences.state).items():
        kinds = Counter(change["change"] for change in changes)
        show(f"  {channel}: {', '.join(f'{number} {kind}' for kind, number in kinds.items())}")
        for change in changes[:_CHANGES_SHOWN]:
            show(f"    {signs[change['change']]} {change['path']}{_values_of(change)}")
        if len(changes) > _CHANGES_SHOWN:
            show(f"    and {len(changes) - _CHANGES_SHOWN} more; --json has all")
    calls = differences.calls
    show(f"calls: {calls['same']} the same, {len(calls['only_old'])} only before, {len(calls['only_new'])} only after")
    for sign, name in (("-", "only_old"), ("+", "only_new")):
        for call in calls[name][:_CALLS_SHOWN]:
            show(f"  {sign} {call['path']} {call['kind']}: {_short(call['asked'])}")


def _of_claim(change: Mapping[str, Any]) -> str:
    """The text of a claim that came or went, or whose confidence is another one; empty of its other values."""
    old, new = change["old"], change["new"]
    if isinstance(old or new, Mapping):
        return _short(change["path"])
    text, _, name = change["path"].rpartition(".")
    is_told = name == "confidence" and isinstance(old, float) and isinstance(new, float)
    return f"{_short(text)}: {old:.2f} → {new:.2f}" if is_told else ""


def _place(side: Mapping[str, Any]) -> str:
    return f"version {side['version']}" if "version" in side else f"step {side['step']}"


def _by_channel(changes: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    channels: dict[str, list[Mapping[str, Any]]] = {}
    for change in changes:
        channels.setdefault(change["path"].partition(".")[0], []).append(change)
    return channels


def _values_of(change: Any) -> str:
    from graph_research.graph.history.state_diff import ChangeType

    if change["change"] == ChangeType.CHANGED:
        return f": {_short(change['old'])} → {_short(change['new'])}"
    return f": {_short(change['new'] if change['change'] == ChangeType.ADDED else change['old'])}"


def _count(changes: Any, word: str) -> str:
    return f"{len(changes) or 'no'} {word}{'' if len(changes) == 1 else 's'}"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json_text(value)
    text = " ".join(text.split())
    return shortened(text, _VALUE_CHARS)


def _fork(
    run_id: RunId,
    step: Step,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=JSON",
            help="An edit of the state at that step, at a path such as sub_queries.0.query. May be repeated.",
        ),
    ] = None,
    graph: Annotated[str | None, typer.Option("--graph", metavar="NAME|FILE", help="Another graph.")] = None,
    role: Annotated[
        list[str] | None, typer.Option("--role", metavar="ROLE=SPEC", help="Another model for a role.")
    ] = None,
    max_cost: MaxCost = None,
    max_tokens: MaxTokens = None,
    timeout: Timeout = None,
    new_id: NewRunId = None,
    accept_changes: Annotated[
        bool, typer.Option("--accept-changes", help="Let a run that came in a bundle ask what it names.")
    ] = False,
    out: Out = None,
    json: Json = False,
) -> None:
    """Go on from any step, as a new run.

    With edited state, another graph, other models or limits. What the old run recorded is used again where the request
    is the same; the old run stays as it is.
    """
    from graph_research.cli.run_driver import start_fork

    wait_for(
        start_fork(
            open_here(),
            run_id,
            step,
            assignments=assignments or (),
            graph=graph,
            roles=role or (),
            limits={"max_cost": max_cost, "max_tokens": max_tokens, "timeout_seconds": timeout},
            new_id=new_id,
            accept_changes=accept_changes,
            out=out,
            json=json,
        )
    )


def _replay(
    run: Annotated[str, typer.Argument(metavar="RUN_ID|BUNDLE", help="A stored run, or a bundle file.")],
    current: Annotated[
        bool, typer.Option("--current", help="With the prompts and schemas that are installed now.")
    ] = False,
    json: Json = False,
) -> None:
    """Run a run again, offline.

    On its recorded answers and with the prompts and schemas it was made with, with no model and no network. Exit code 1
    where a step's hash is not the recorded one.
    """
    from graph_research.app.runs.bundles import replay_any

    replayed = wait_for(replay_any(open_here(reads_only=True), run, current=current))
    if json:
        show_json(replayed.to_json())
    else:
        _show_replayed(replayed)
    if not replayed.identical:
        say(f"graph-research: {run} came out differently: {_difference(replayed)}")
        raise CommandEnded(FAILED)


def _show_replayed(replayed: Replayed) -> None:
    show(f"{replayed.steps} steps with the recorded hashes")
    if replayed.taken_over:
        show(f"{replayed.taken_over} steps before them are the parent's")
    show("identical" if replayed.identical else f"different: {_difference(replayed)}")


def _difference(replayed: Replayed) -> str:
    first = replayed.first_difference
    if first is None:
        return ""
    item = "" if first.item is None else f"[{first.item}]"
    call = f", call {first.call}" if first.call else ""
    return f"{first.node}{item}, visit {first.visit}{call}: {first.difference}"
