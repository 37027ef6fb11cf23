"""Bundles: one run in one file, a ZIP archive with graph, prompts, schemas, log, journal and texts, hashes checked."""

from __future__ import annotations

import hashlib
import io
import tempfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, get_args, get_type_hints

import orjson

from graph_research.errors import UserMistake, check_name
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.events import unpacked_events
from graph_research.graph.history.bundle_archive import (
    DIGEST_CHARS,
    FORMAT,
    BundleInvalid,
    Members,
    is_member_name,
    opened,
)
from graph_research.graph.history.step_hashes import first_wrong_hash
from graph_research.graph.state.position import Position
from graph_research.graph.state.rows import CallRow, Instruction, RunRow, Snapshot, StepRow, Write
from graph_research.graph.values.codec import references, text_hash

_FOLDERS = {
    "graph": ("graphs", ".yaml"),
    "schema": ("schemas", ".json"),
    "prompt": ("prompts", ".j2"),
    "type": ("types", ".json"),
}
_MOMENT = (1980, 1, 1, 0, 0, 0)
_BATCH = 50
_MOST_NAME_CHARS = 255
_LEAST_RATIO_STORED = 50


@dataclass(frozen=True, kw_only=True)
class Packed:
    """A bundle file: its size, and the SHA-256 (hex) of all of it."""

    run_id: str
    bytes: int
    sha256: str


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A run as a bundle holds it, to be stored with `store_bundle`. `instructions` is empty in a bundle of an earlier
    version."""

    run: RunRow
    first: Write
    instructions: Sequence[Instruction]
    packed: Packed


async def store_bundle(store: Checkpointer, bundle: Bundle) -> None:
    """Store the run of a bundle under its own id. `RunExists`."""
    await store.create(bundle.run, bundle.first)
    for instruction in bundle.instructions:
        await store.instruct(bundle.run.run_id, instruction)


async def pack(
    store: Checkpointer, run_id: str, target: IO[bytes], metadata: Mapping[str, Any] | None = None
) -> Packed:
    """Write a run as a bundle into an empty file that can be read and sought. Equal runs give equal bytes. `metadata`
    is for readers of the file: it says in JSON what the run's state holds, and is not read back."""
    run = await store.run_row(run_id)
    definition = {name: entry["text"] for name, entry in orjson.loads(run.definition).items()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        packing = _Packing(archive)
        packing.add("run.json", [_json(run)])
        last = await store.last_step(run_id)
        scopes = dict.fromkeys(row.scope for row in await store.step_rows(run_id, None))
        rows = [row for scope in scopes for row in await store.step_rows(run_id, scope)]
        packing.add("steps.jsonl", (_json(row) for row in sorted(rows, key=lambda row: row.step)))
        packing.add("calls.jsonl", (_json(row) for row in await store.call_rows(run_id, None)))
        events = (event for batch in await store.event_batches(run_id, 0) for event in unpacked_events(batch))
        packing.add("events.jsonl", (orjson.dumps(event) for event in events))
        snapshot = await store.snapshot(run_id, "", last.step if last else None)
        if snapshot is not None:
            packing.add("snapshot.json", [_json(snapshot)])
        if metadata:
            packing.add("metadata.json", [orjson.dumps(metadata, option=orjson.OPT_SORT_KEYS)])
        if instructions := await store.instructions(run_id):
            packing.add("instructions.jsonl", (_json(row) for row in instructions))
        named = {path: text for name, text in sorted(definition.items()) if (path := _path(name)) is not None}
        for path, text in named.items():
            packing.add(path, [(await store.text(text)).encode()], lines=False)
        rest = sorted(await store.text_hashes(run_id) - set(named.values()))
        lines = [line async for line in _texts(store, rest)]
        packing.add("texts.jsonl", lines)
        manifest = {"format": FORMAT, "run_id": run_id, "graph": run.graph, "members": packing.members}
        packing.add("manifest.json", [orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)])
        archive.comment = b"0" * DIGEST_CHARS
    return _sealed(run_id, target)


def unpack(path: Path) -> Bundle:
    """Read a bundle. It comes from anywhere: whatever does not hold what its hashes promise, is not what `pack`
    writes, or is too large raises `BundleInvalid`; nothing in it is run and no file is made."""
    with opened(path) as members:
        run = _row(RunRow, members.data("run.json"), "run.json")
        _check_run(run)
        texts = dict(_texts_of(members))
        steps = [_row(StepRow, line, "steps.jsonl") for line in members.lines("steps.jsonl")]
        calls = [_row(CallRow, line, "calls.jsonl") for line in members.lines("calls.jsonl")]
        events = [_event(line) for line in members.lines("events.jsonl")]
        name = "snapshot.json"
        snapshot = _row(Snapshot, members.data(name), name) if name in members else None
        name = "instructions.jsonl"
        lines = members.lines(name) if name in members else ()
        instructions = [_row(Instruction, line, name) for line in lines]
        if "metadata.json" in members:
            _loaded(members.data("metadata.json"), "metadata.json")
        members.check_all_read()
        packed = Packed(run_id=run.run_id, bytes=members.size, sha256=members.sha256)
    first = Write(
        run_id=run.run_id,
        steps=steps,
        calls=calls,
        last_seq=events[-1]["seq"] if events else 0,
        events=orjson.dumps(events) if events else None,
        texts=texts,
        snapshot=snapshot,
    )
    _check_rows(first)
    _check_texts(run, first)
    return Bundle(run=run, first=first, instructions=instructions, packed=packed)


@dataclass
class _Packing:
    """Adds members and notes their hashes."""

    archive: zipfile.ZipFile
    members: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, parts: Iterable[bytes], *, lines: bool = True) -> None:
        """Store the parts, one a line or joined; what would be compressed beyond belief is stored as it is."""
        digest, size, squeezed, squeeze = hashlib.sha256(), 0, 0, zlib.compressobj(6)
        with tempfile.SpooledTemporaryFile(max_size=1 << 24) as spool:
            for part in parts:
                data = part + b"\n" if lines else part
                spool.write(data)
                digest.update(data)
                size += len(data)
                squeezed += len(squeeze.compress(data))
            squeezed += len(squeeze.flush())
            info = zipfile.ZipInfo(name, _MOMENT)
            info.create_system, info.external_attr = 3, 0o600 << 16
            info.compress_type = zipfile.ZIP_DEFLATED if size < _LEAST_RATIO_STORED * squeezed else zipfile.ZIP_STORED
            info.file_size = size
            spool.seek(0)
            with self.archive.open(info, "w") as member:
                while chunk := spool.read(1 << 16):
                    member.write(chunk)
        self.members[name] = {"sha256": digest.hexdigest(), "bytes": size}


def _sealed(run_id: str, target: IO[bytes]) -> Packed:
    """The archive's comment is the hash of all that stands before it, so that no byte can change unnoticed."""
    size = target.seek(0, io.SEEK_END)
    target.seek(0)
    digest, rest = hashlib.sha256(), size - DIGEST_CHARS
    while rest > 0 and (chunk := target.read(min(1 << 16, rest))):
        digest.update(chunk)
        rest -= len(chunk)
    seal = digest.hexdigest().encode()
    target.seek(size - DIGEST_CHARS)
    target.write(seal)
    digest.update(seal)
    return Packed(run_id=run_id, bytes=size, sha256=digest.hexdigest())


async def _texts(store: Checkpointer, names: list[str]) -> Any:
    for start in range(0, len(names), _BATCH):
        batch = await store.texts(names[start : start + _BATCH])
        for name in sorted(batch):
            yield orjson.dumps(batch[name])


def _path(name: str) -> str | None:
    """Where a part of the definition lies in the archive; None if its name cannot be a path: it goes to the texts."""
    kind, _, rest = name.partition(" ")
    folder, suffix = _FOLDERS[kind]
    path = f"{folder}/{rest}{suffix}"
    return path if is_member_name(path) else None


def _texts_of(members: Members) -> Iterator[tuple[str, str]]:
    for line in members.lines("texts.jsonl"):
        text = _loaded(line, "texts.jsonl")
        if not isinstance(text, str):
            raise BundleInvalid("texts.jsonl holds something that is not a text")
        yield text_hash(text), text
    for name in members:
        if name.startswith(tuple(f"{folder}/" for folder, _ in _FOLDERS.values())):
            text = members.text(name)
            yield text_hash(text), text


def _json(row: RunRow | StepRow | CallRow | Snapshot | Instruction) -> bytes:
    """A row with its bytes as text; hashes are the only bytes that are not JSON, and are written as hex."""
    values = row._asdict()
    shown = {
        name: (value.hex() if name in _HASHES else value.decode()) if isinstance(value, bytes) else value
        for name, value in values.items()
    }
    return orjson.dumps(shown)


_HASHES = frozenset({"hash", "request_hash"})


def _row(kind: Any, line: bytes, where: str) -> Any:
    """The row of `kind` that `_json` wrote, every field of the type that it declares."""
    values = _loaded(line, where)
    if not isinstance(values, dict) or set(values) != set(kind._fields):
        raise BundleInvalid(f"{where} holds something that is not a {kind.__name__}")
    declared = get_type_hints(kind)
    return kind(**{name: _field(declared[name], name, value, where) for name, value in values.items()})


def _field(declared: Any, name: str, value: Any, where: str) -> Any:
    kinds = {kind.__name__ for kind in get_args(declared) or (declared,)}
    if value is None and "NoneType" in kinds:
        return None
    if "bytes" in kinds and isinstance(value, str):
        try:
            return bytes.fromhex(value) if name in _HASHES else _checked_json(value, where)
        except ValueError:
            pass
    elif "float" in kinds and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    elif type(value).__name__ in kinds and (isinstance(value, str) or 0 <= value < 1 << 32):
        return value
    raise BundleInvalid(f"{where}: {name} is {str(value)[:40]!r}")


def _checked_json(value: str, where: str) -> bytes:
    data = value.encode()
    _loaded(data, where)
    return data


def _loaded(data: bytes, where: str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise BundleInvalid(f"{where} is not JSON: {problem}") from problem


def _event(line: bytes) -> dict[str, Any]:
    event = _loaded(line, "events.jsonl")
    if not isinstance(event, dict) or not isinstance(event.get("seq"), int) or not isinstance(event.get("type"), str):
        raise BundleInvalid("events.jsonl holds something that is not an event")
    return event


def _check_run(run: RunRow) -> None:
    try:
        for name, what in ((run.run_id, "run"), (run.seed, "run"), (run.parent, "run"), (run.graph, "graph")):
            if name is not None:
                check_name(name, what)
    except UserMistake as problem:
        raise BundleInvalid(problem.message) from problem
    definition = orjson.loads(run.definition)
    good = isinstance(definition, dict) and all(
        name.partition(" ")[0] in _FOLDERS and _is_part(entry) for name, entry in definition.items()
    )
    if not good or not all(isinstance(orjson.loads(data), dict) for data in (run.metadata, run.input)):
        raise BundleInvalid("run.json does not describe a run")


def _is_part(entry: Any) -> bool:
    """Whether an entry describes a part of a definition: its hash and text, and of a graph the name of its file."""
    if not isinstance(entry, dict) or set(entry) - {"file"} != {"hash", "text"}:
        return False
    file = entry.get("file", "graph.yaml")
    return isinstance(file, str) and 0 < len(file) <= _MOST_NAME_CHARS and file.isprintable() and "/" not in file


def _check_rows(first: Write) -> None:
    """The log counts up, every position can be read, and every update gives the hash of its step."""
    steps, calls = [row.step for row in first.steps], [row.seq for row in first.calls]
    if not steps or steps[0] != 0 or steps != sorted(set(steps)) or calls != sorted(set(calls)):
        raise BundleInvalid("the steps or calls are out of order")
    positions = [row.position for row in first.steps if row.position is not None]
    if first.snapshot is not None:
        positions.append(first.snapshot.position)
    try:
        for data in positions:
            Position.from_bytes(data, b"")
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise BundleInvalid("a step's position cannot be read") from problem
    if (wrong := first_wrong_hash(first.steps)) is not None:
        what = f'of "{wrong.address.path}"' if wrong.node else "that starts a graph"
        raise BundleInvalid(f"the update of step {wrong.step}, {what}, does not give its hash")


def _check_texts(run: RunRow, first: Write) -> None:
    parts: list[bytes | None] = [run.metadata, run.input, *(row.delta for row in first.steps)]
    parts += [data for call in first.calls for data in (call.request, call.answer)]
    parts += [first.snapshot.values] if first.snapshot else []
    wanted = {name for data in parts if data is not None for name in references(data)}
    wanted |= {str(entry["text"]) for entry in orjson.loads(run.definition).values()}
    missing = wanted - set(first.texts)
    if missing:
        raise BundleInvalid(f"{len(missing)} texts are missing, such as sha256:{min(missing)}")
