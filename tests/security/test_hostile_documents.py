"""Documents that are made to harm their reader: bombs, outside entities, paths, macros, and noise in every format."""

from __future__ import annotations

import gzip
import io
import random
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_research.text.canonical import canonical_text
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.passages import passages
from graph_research.text.places import place_of
from graph_research.text.readers import FORMATS, READERS, media_type_of
from graph_research.text.readers.foreign.formats import read_parts
from graph_research.text.readers.foreign.limited import LimitedReader
from graph_research.text.readers.formats import ZIP
from graph_research.text.readers.limits import FilePart, Limits
from tests.support.documents import foreign_files

LAUGHS = "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10))
BOMB = f"<!DOCTYPE a [<!ENTITY a0 'ha'>{LAUGHS}]><a>&a9;</a>"
OUTSIDE = (
    "<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'><!ENTITY % c SYSTEM 'http://127.0.0.1:1/x'>%c;]><a>&b;</a>"
)
SEEDS = {
    "a.xlsx": foreign_files.workbook(),
    "a.ods": foreign_files.spreadsheet(),
    "a.pptx": foreign_files.slides(),
    "a.odp": foreign_files.open_slides(),
    "a.eml": foreign_files.mail(),
    "a.xml": b"<article><title>A</title><para>One &amp; two.</para></article>",
    "a.rtf": b"{\\rtf1\\ansi{\\info{\\title T}} Open \\b both\\b0  gates.\\par A|B\\cell\\row}",
    "a.zip": foreign_files.packed({"a.md": "# A", "b/c.csv": "1,2"}),
    "a.md.gz": gzip.compress(b"# A\n\nOpen both gates."),
    "a.epub": foreign_files.packed(
        {
            "META-INF/container.xml": '<container><rootfile full-path="c.opf"/></container>',
            "c.opf": '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="a"/></spine></package>',
            "a.xhtml": "<html><body><h1>A</h1><p>Open both gates.</p></body></html>",
        }
    ),
}


def zip_bomb(name: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"<a>" + b" " * 300_000_000)
    return made.getvalue()


async def refusal(data: bytes, name: str) -> str:
    async with LimitedReader() as reader:
        with pytest.raises(DocumentUnreadable) as refused:
            await reader.document(data, media_type_of(name) or "", name)
    return refused.value.message


@pytest.mark.parametrize(
    ("name", "member"), [("a.docx", "word/document.xml"), ("a.odt", "content.xml"), ("a.xlsx", "xl/workbook.xml")]
)
async def test_a_bomb_in_an_office_file_is_refused(name: str, member: str) -> None:
    assert "unpacks to far more than its size" in await refusal(zip_bomb(member), name)


async def test_a_bomb_in_an_archive_leaves_its_other_files_readable() -> None:
    packed = io.BytesIO(zip_bomb("a.txt"))
    with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b.md", "Open both gates.")
    async with LimitedReader() as reader:
        parts = await reader.parts(packed.getvalue(), media_type_of("a.zip") or "", "a.zip")
    assert [(part.name, part.error, part.document and part.document.text) for part in parts] == [
        ("a.txt", "it unpacks to far more than its size", None),
        ("b.md", "", "Open both gates."),
    ]


async def test_a_bomb_that_understates_its_size_is_damaged() -> None:
    said = (300_000_003).to_bytes(4, "little")
    data = zip_bomb("a.txt")
    assert data.count(said) == 2
    assert "damaged" in await refusal(data.replace(said, (40).to_bytes(4, "little")), "a.zip")


async def test_bombs_in_archives_are_refused() -> None:
    assert "unpacks to far more" in await refusal(zip_bomb("a.txt"), "a.zip")
    assert "unpacks to far more" in await refusal(gzip.compress(b"a" * 300_000_000), "a.txt.gz")
    many = foreign_files.packed({f"{number}.txt": "" for number in range(10_001)})
    assert "more than 10,000" in await refusal(many, "a.zip")


@pytest.mark.parametrize(("text", "name"), [(BOMB, "a.xml"), (OUTSIDE, "a.xml")])
async def test_entities_neither_multiply_nor_lead_outside(text: str, name: str) -> None:
    async with LimitedReader() as reader:
        [part] = await reader.parts(text.encode(), media_type_of(name) or "", name)
        [office] = await reader.parts(
            foreign_files.packed({"content.xml": text}), media_type_of("a.odt") or "", "a.odt"
        )
    for found in (part, office):
        assert found.document is None or ("root:" not in found.document.text and len(found.document.text) < 1000)
        assert found.document is None or found.document.text


async def test_a_macro_is_neither_run_nor_read() -> None:
    source = zipfile.ZipFile(io.BytesIO(foreign_files.workbook()))
    members = {name: source.read(name) for name in source.namelist()} | {"xl/vbaProject.bin": b"Shell calc.exe"}
    async with LimitedReader() as reader:
        document = await reader.document(foreign_files.packed(members), media_type_of("a.xlsm") or "", "a.xlsm")
    assert "Turbines" in document.text
    assert "calc" not in document.text


async def test_a_member_whose_path_leads_out_is_named_and_not_read(tmp_path: Path) -> None:
    names = ["../../out.txt", "/etc/out.txt", "a/../../out.txt", "..\\out.txt", "good.txt"]
    async with LimitedReader() as reader:
        parts = await reader.parts(foreign_files.packed(dict.fromkeys(names, "words")), ZIP, "a.zip")
    assert [part.name for part in parts if part.document] == ["good.txt"]
    assert len(parts) == 5


def check(part: FilePart) -> None:
    """Either a reason in plain words, or a sound document."""
    if part.document is None:
        assert part.error
        assert "Error" not in part.error
        return
    check_document(part.document)


def check_document(document: Document) -> None:
    assert document.pages or canonical_text(document.text) == document.text
    assert all(0 <= block.start < block.end <= len(document.text) for block in document.blocks)
    for passage in passages(document):
        place_of(document.places, passage.start, passage.end)
    for table in document.places:
        assert list(table.starts) == sorted(table.starts)
        assert len(table.starts) == len(table.at)


@pytest.mark.parametrize("name", SEEDS)
def test_a_damaged_file_gives_a_document_or_a_reason(name: str) -> None:
    """What the child does with files of which some bytes are others, missing or doubled; here without its limits."""
    chance = random.Random(name)
    seed = SEEDS[name]
    assert next(read_parts(seed, media_type_of(name) or "", name, Limits())).document is not None
    for _ in range(150):
        data = bytearray(seed)
        for _ in range(chance.randint(1, 8)):
            place = chance.randrange(len(data))
            change = chance.choice(
                (b"", bytes([chance.randrange(256)]), bytes(data[place : place + 20]) * 2, b"<", b"\0")
            )
            data[place : place + chance.randint(1, 4)] = change
        for part in read_parts(bytes(data), media_type_of(name) or "", name, Limits(seconds=5.0)):
            check(part)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(set(READERS))), st.text(max_size=600))
def test_any_text_is_a_document_or_refused(media_type: str, text: str) -> None:
    try:
        document = READERS[media_type](text)
    except DocumentUnreadable:
        return
    check_document(document)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(set(FORMATS) - set(READERS))), st.binary(max_size=300))
def test_any_bytes_are_a_document_or_a_reason(media_type: str, data: bytes) -> None:
    for part in read_parts(data, media_type, "a.txt.gz", Limits(seconds=5.0)):
        check(part)


def system_documents() -> dict[str, list[Path]]:
    by_type: dict[str, list[Path]] = {}
    for path in sorted(Path("/usr/share/doc").rglob("*"))[::7]:
        media_type = media_type_of(path.name)
        if media_type and path.is_file() and path.stat().st_size < 300_000:
            by_type.setdefault(media_type, []).append(path)
    return by_type


@pytest.mark.skipif(sys.platform != "linux", reason="reads the documentation of a Linux system")
async def test_the_documentation_of_the_system_is_read_or_refused_with_a_reason() -> None:
    """A few hundred files of every type that lies in /usr/share/doc."""
    by_type = system_documents()
    async with LimitedReader() as reader:
        for media_type, paths in by_type.items():
            for path in random.Random(1).sample(paths, min(40, len(paths))):
                data = path.read_bytes()
                if media_type in READERS:
                    try:
                        check_document(READERS[media_type](data.decode("utf-8", "replace")))
                    except DocumentUnreadable as error:
                        assert error.message
                else:
                    for part in await reader.parts(data, media_type, path.name):
                        check(part)
