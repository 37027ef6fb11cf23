"""Bundles: a run is packed and unpacked whole, equal runs give equal bytes, and hostile archives are refused."""

from __future__ import annotations

import hashlib
import io
import json
import stat
import zipfile
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research import MemoryCheckpointer, load_graph
from graph_research.graph.checkpoint.base import Checkpointer
from graph_research.graph.errors import RunExists
from graph_research.graph.history.bundle import pack, store_bundle, unpack
from graph_research.graph.history.bundle_archive import BundleInvalid
from graph_research.graph.history.replay import replay
from graph_research.graph.state.rows import Instruction
from tests.support.graph.harness import graph_of, runtime
from tests.unit.graph.history.test_fork import CHILD, PARENT, Asker, finished


async def packed(store: Checkpointer, run_id: str = "p") -> bytes:
    file = io.BytesIO()
    await pack(store, run_id, file)
    return file.getvalue()


@pytest.mark.requirement("6.6", "B36")
async def test_a_run_comes_out_of_its_bundle_as_it_went_in(store: Checkpointer, tmp_path: Path) -> None:
    await finished(store)
    wish = Instruction("guidance", "prefer official documents")
    await store.instruct("p", wish)
    file = tmp_path / "run.grb"
    file.write_bytes(await packed(store))
    bundle = unpack(file)
    assert bundle.packed.sha256 == hashlib.sha256(file.read_bytes()).hexdigest()
    assert (bundle.packed.run_id, bundle.packed.bytes) == ("p", file.stat().st_size)
    other = MemoryCheckpointer()
    await store_bundle(other, bundle)
    assert await other.instructions("p") == [wish]
    for read in ("run", "state", "steps", "calls", "events", "run_row"):
        assert await getattr(other, read)("p") == await getattr(store, read)("p"), read
    assert await other.text_hashes("p") == await store.text_hashes("p")
    assert await packed(other) == file.read_bytes()
    assert (await replay(other, graph_of(PARENT, {"child": CHILD}, asks=Asker()), "p")).identical
    with pytest.raises(RunExists):
        await store.create(bundle.run, bundle.first)


async def test_a_run_with_types_of_its_program_leaves_and_comes_back(store: Checkpointer, tmp_path: Path) -> None:
    text = """
graph: moods
version: "1"
state: {mood: {type: mood, default: calm}, last: {type: Mood, default: calm, output: true}}
start: note
nodes:
  note: {set: {last: mood}}
  done: {end: completed}
edges:
  - {from: note, to: done}
"""
    mood = Enum("Mood", {"CALM": "calm"})
    graph = load_graph("moods.yaml", text=text, types={"mood": mood, "Mood": mood})
    await runtime(graph, store).run({}, run_id="p")
    file = tmp_path / "run.grb"
    file.write_bytes(await packed(store))
    bundle = unpack(file)
    other = MemoryCheckpointer()
    await other.create(bundle.run, bundle.first)
    assert await other.state("p") == {"mood": "calm", "last": "calm"}
    assert (await replay(other, graph, "p")).identical


async def test_equal_runs_give_equal_bundles() -> None:
    one, other = MemoryCheckpointer(), MemoryCheckpointer()
    await finished(one)
    await finished(other)
    names = zipfile.ZipFile(io.BytesIO(await packed(one))).namelist()
    assert names == zipfile.ZipFile(io.BytesIO(await packed(other))).namelist()
    assert {"run.json", "steps.jsonl", "calls.jsonl", "texts.jsonl", "graphs/parent.yaml"} <= set(names)


@pytest.fixture(scope="module")
def whole() -> bytes:
    """The bytes of one bundle."""
    import asyncio

    async def make() -> bytes:
        store = MemoryCheckpointer()
        await finished(store)
        return await packed(store)

    return asyncio.run(make())


def refused(data: bytes, folder: Path, words: str) -> None:
    file = folder / "other.grb"
    file.write_bytes(data)
    with pytest.raises(BundleInvalid, match=words):
        unpack(file)


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_one_changed_byte_is_noticed_wherever_it_is(
    data: st.DataObject, whole: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(1, 255))
    changed = whole[:place] + bytes([whole[place] ^ other]) + whole[place + 1 :]
    refused(changed, tmp_path_factory.mktemp("changed"), "checksum|not a bundle")


def test_a_file_that_was_cut_off_or_is_something_else_is_no_bundle(whole: bytes, tmp_path: Path) -> None:
    for data in (b"", b"PK", whole[:-1], whole[: len(whole) // 2], whole + b"0", b"x" * 5000):
        refused(data, tmp_path, "not a bundle|cut off|checksum")
    with pytest.raises(BundleInvalid, match="cannot be read"):
        unpack(tmp_path / "missing.grb")


Change = Callable[[dict[str, bytes]], None]


def rebuilt(
    whole: bytes, change: Change = lambda members: None, write: Any = None, squeezed: str = "", **manifest: Any
) -> bytes:
    """The bundle with changed members and a manifest and a seal that fit them again: what a forger can make."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}
    change(members)
    told = {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()}
    members["manifest.json"] = json.dumps({"format": "graph-research bundle 1", "members": told, **manifest}).encode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name != squeezed else zipfile.ZIP_DEFLATED)
        if write is not None:
            write(archive)
        archive.comment = b"0" * 64
    data = file.getvalue()[:-64]
    return data + hashlib.sha256(data).hexdigest().encode()


def test_an_archive_repacked_without_changes_is_accepted(whole: bytes, tmp_path: Path) -> None:
    file = tmp_path / "same.grb"
    file.write_bytes(rebuilt(whole))
    assert unpack(file).run.run_id == "p"


def test_an_update_that_its_hash_does_not_tell_of_is_refused_whatever_made_it(whole: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        rows = [json.loads(line) for line in archive.read("steps.jsonl").splitlines()]
    made = [number for number, row in enumerate(rows) if row["status"] in ("started", "finished") and row["delta"]]
    kinds = {(bool(rows[number]["scope"]), rows[number]["item"] is None) for number in made}
    assert kinds == {(False, True), (False, False), (True, True)}, "of the graph, of items and of subgraphs"
    for number in made:
        forged = [
            {**row, "delta": row["delta"] + " " * (at == number)} if row["delta"] else row
            for at, row in enumerate(rows)
        ]

        def change(members: dict[str, bytes], rows: list[Any] = forged) -> None:
            members["steps.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)

        refused(
            rebuilt(whole, change), tmp_path, f"the update of step {rows[number]['step']}, .* does not give its hash"
        )


async def test_metadata_for_readers_of_the_file_change_nothing_that_is_read_back(
    store: Checkpointer, tmp_path: Path
) -> None:
    await finished(store)
    file = io.BytesIO()
    await pack(store, "p", file, {"agent_decisions": [{"agent": "supervisor"}]})
    with zipfile.ZipFile(file) as archive:
        assert json.loads(archive.read("metadata.json")) == {"agent_decisions": [{"agent": "supervisor"}]}
    paths = [tmp_path / "with.grb", tmp_path / "without.grb"]
    for path, data in zip(paths, (file.getvalue(), await packed(store)), strict=True):
        path.write_bytes(data)
    one, other = map(unpack, paths)
    assert (one.run, one.first, one.instructions) == (other.run, other.first, other.instructions)
    refused(rebuilt(file.getvalue(), lambda members: members.update({"metadata.json": b"{"})), tmp_path, "not JSON")


@pytest.mark.parametrize(
    "name",
    [
        "../evil.json",
        "/etc/passwd",
        "graphs/../../evil.yaml",
        "prompts/a//b.j2",
        "prompts/../x.j2",
        "C:\\evil.json",
        "graphs\\x.yaml",
        "extra.txt",
        "graphs/",
        "schemas/.json",
        "graphs/\x00.yaml",
    ],
)
def test_a_name_that_has_no_place_in_a_bundle_is_refused(whole: bytes, tmp_path: Path, name: str) -> None:
    wrong = rebuilt(whole, lambda members: members.update({name: b"{}"}))
    refused(wrong, tmp_path, "not the name|manifest|not a bundle")


def test_links_duplicates_bombs_and_too_many_entries_are_refused(whole: bytes, tmp_path: Path) -> None:
    def link(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("graphs/link.yaml")
        info.create_system, info.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")

    def twice(archive: zipfile.ZipFile) -> None:
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("run.json", b"{}")

    def crowd(archive: zipfile.ZipFile) -> None:
        for number in range(10_000):
            archive.writestr(f"graphs/g{number}.yaml", b"")

    refused(rebuilt(whole, write=link), tmp_path, "link")
    refused(rebuilt(whole, write=twice), tmp_path, "twice")
    refused(rebuilt(whole, write=crowd), tmp_path, "10,000 entries")
    bomb = rebuilt(
        whole, lambda members: members.update({"texts.jsonl": b'"' + b"0" * 5_000_000 + b'"\n'}), squeezed="texts.jsonl"
    )
    refused(bomb, tmp_path, "more than 100 times")


@pytest.mark.parametrize(
    ("member", "old", "new"),
    [
        ("run.json", b'"run_id":"p"', b'"run_id":"../p"'),
        ("run.json", b'"run_id":"p"', b'"run_id":7'),
        ("run.json", b'"seed":"p"', b'"seed":"P P"'),
        ("run.json", b'"parent":null', b'"parent":"/etc"'),
        ("run.json", b'"definition":"{', b'"definition":"['),
        ("run.json", b'"waiting":null', b'"waiting":null,"more":1'),
        ("steps.jsonl", b'"step":1,', b'"step":0,'),
        ("steps.jsonl", b'"step":1,', b'"step":"1",'),
        ("steps.jsonl", b'"hash":"', b'"hash":"zz'),
        ("steps.jsonl", b'\\"active\\":[[', b'\\"active\\":[[1,2,3,4,5,6,7],['),
        ("calls.jsonl", b'"seq":2,', b'"seq":1,'),
        ("events.jsonl", b'"seq":1,', b'"seq":null,'),
        ("texts.jsonl", b'"', b"["),
    ],
)
def test_rows_that_are_not_what_they_must_be_are_refused(
    whole: bytes, tmp_path: Path, member: str, old: bytes, new: bytes
) -> None:
    def change(members: dict[str, bytes]) -> None:
        assert old in members[member]
        members[member] = members[member].replace(old, new, 1)

    refused(rebuilt(whole, change), tmp_path, member.partition(".")[0] + "|out of order|position")


def test_missing_members_and_texts_are_named(whole: bytes, tmp_path: Path) -> None:
    refused(rebuilt(whole, lambda members: members.pop("calls.jsonl") and None), tmp_path, "calls.jsonl is missing")
    refused(rebuilt(whole, lambda members: members.update({"texts.jsonl": b""})), tmp_path, "texts are missing")
    refused(rebuilt(whole, format="graph-research bundle 2"), tmp_path, "does not know the format")
    refused(rebuilt(whole, members={}), tmp_path, "other members")
