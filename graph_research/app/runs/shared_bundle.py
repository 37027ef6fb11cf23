"""A bundle for users of a service: the folders of its machine and the addresses of its models are labels in it."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from graph_research.app.labels import in_json, json_labels, labelled
from graph_research.app.store import open_store, request_of
from graph_research.app.workspace import Workspace, is_file_name
from graph_research.errors import UserMistake
from graph_research.graph.checkpoint.memory import MemoryCheckpointer
from graph_research.graph.history.bundle import Bundle, pack, store_bundle, unpack
from graph_research.graph.state.rows import CallRow
from graph_research.graph.values.codec import canonical, decode
from graph_research.providers.call_kind import CallKind
from graph_research.providers.http.host_names import is_local, names_of_server
from graph_research.research.decision_log import run_metadata

_URL = re.compile(r"https?://[^\s\"\\',]+", re.IGNORECASE)
_ADDRESS = re.compile(r"@(https?://[^\s\"',]+)", re.IGNORECASE)


class BundleNotShareable(UserMistake):
    """A run whose bundle would name folders or servers of the machine that made it."""


@dataclass(frozen=True, kw_only=True)
class _Labels:
    """What stands for what only the operator may know. `everywhere`: folders, and addresses as the specs of models have
    them. `of_models`: addresses by themselves, as errors of models have them."""

    everywhere: Mapping[str, str]
    of_models: Mapping[str, str]


async def shared_bundle(workspace: Workspace, run_id: str) -> bytes:
    """The bundle of a stored run, with labels in place of the folders it searched and of the addresses of its models.
    It replays as the run does: the journal's requests are those that a run with the labels makes. `BundleNotShareable`
    where they are part of its state, whose hashes would not fit any more."""
    async with open_store(workspace.home) as store:
        request = request_of(await store.run(run_id))
        with tempfile.NamedTemporaryFile(suffix=".grb") as file:
            await pack(store, run_id, file)
            file.flush()
            bundle = unpack(Path(file.name))
    labels = _labels(request.to_json(), [*request.library, *_files(request.graph)])
    shared = _labelled(bundle, labels)
    of_settings = _URL.findall(workspace.settings.model_dump_json())
    servers = [name for url in of_settings for name in names_of_server(url)]
    secrets = [*labels.everywhere, *labels.of_models, *servers, str(workspace.home.path)]
    if any(_named(part, secrets) for part in _parts(shared)):
        raise BundleNotShareable(
            f"run {run_id} has addresses or folders of this machine in its state, and they can not be taken out",
            help="ask the operator of the service for its bundle",
        )
    scratch = MemoryCheckpointer()
    await store_bundle(scratch, shared)
    with tempfile.TemporaryFile() as target:
        await pack(scratch, run_id, target, run_metadata(await scratch.state(run_id)))
        target.seek(0)
        return target.read()


def _files(graph: str) -> list[str]:
    return [graph] if is_file_name(graph) else []


def _labels(request: Mapping[str, Any], paths: Sequence[str]) -> _Labels:
    """A label of the same kind for each path and address. That of an address in a private network is one for
    documentation, since the window of such a model is not looked up by its name. An address of the machine itself has
    none: it tells nothing, and its port may stand in pages."""
    everywhere = {path: f"/shared/{number}/{Path(path).name}" for number, path in enumerate(paths, 1)}
    of_models: dict[str, str] = {}
    urls = dict.fromkeys(url for text in _strings(request) for url in _ADDRESS.findall(text))
    for number, url in enumerate(urls, 1):
        parts = urlsplit(url)
        if names := names_of_server(url):
            new = f"192.0.2.{number}" if is_local(parts.hostname or "") else f"server-{number}.invalid"
            host = of_models.get(parts.netloc, new)
            everywhere[f"@{url}"] = f"@{parts.scheme}://{host}{parts.path}"
            of_models = {**dict.fromkeys(names, host), **of_models}
    return _Labels(everywhere=everywhere, of_models=of_models)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield str(key)
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


def _labelled(bundle: Bundle, labels: _Labels) -> Bundle:
    run, first = bundle.run, bundle.first
    everywhere, of_run = json_labels(labels.everywhere), json_labels({**labels.everywhere, **labels.of_models})
    run = run._replace(metadata=_replaced(run.metadata, of_run) or b"", error=_replaced(run.error, of_run))
    calls = [
        _relabelled(call, of_run if call.kind == CallKind.MODEL else everywhere, first.texts) for call in first.calls
    ]
    events = _replaced(first.events, of_run)
    return replace(bundle, run=run, first=first._replace(calls=calls, events=events))


def _relabelled(call: CallRow, labels: Mapping[bytes, bytes], texts: Mapping[str, str]) -> CallRow:
    request = _replaced(call.request, labels)
    if request is not None and request != call.request:
        call = call._replace(request_hash=hashlib.sha256(canonical(decode(request, texts))).digest())
    return call._replace(request=request, answer=_replaced(call.answer, labels))


def _replaced(data: bytes | None, labels: Mapping[bytes, bytes]) -> bytes | None:
    return None if data is None else labelled(data, labels)


def _parts(bundle: Bundle) -> Iterator[bytes]:
    """Everything that the bundle's file will hold."""
    run, first = bundle.run, bundle.first
    yield from _bytes(run)
    for rows in (first.steps, first.calls, bundle.instructions, [first.snapshot] if first.snapshot else []):
        for row in rows:
            yield from _bytes(row)
    yield first.events or b""
    for text in first.texts.values():
        yield text.encode()


def _bytes(row: Iterable[Any]) -> Iterator[bytes]:
    for value in row:
        if isinstance(value, bytes | str):
            yield value if isinstance(value, bytes) else value.encode()


def _named(part: bytes, secrets: Sequence[str]) -> bool:
    return any(secret.encode() in part or in_json(secret) in part for secret in secrets)
