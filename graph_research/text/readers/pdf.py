"""Text from PDFs, extracted in a child process that has no network, no keys, no files and little time and memory."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graph_research.process_tree import ProcessTree
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.pdf_layout import PdfLine, pdf_document

_MAGIC = b"%PDF-"
_GLYPH_NAME = re.compile(r"/[A-Za-z]{1,6}\d+")
_MAGIC_WITHIN = 1024  # readers accept a header within the first kilobyte
_ANSWER_BYTES = 64 * 1024 * 1024
_KEPT_ENVIRONMENT = ("SYSTEMROOT", "LD_LIBRARY_PATH")


@dataclass(frozen=True, kw_only=True)
class PdfLimits:
    """Bounds of one extraction. `memory_bytes` comes on top of what the idle child takes."""

    bytes: int = 10 * 1024 * 1024
    pages: int = 500
    chars: int = 500_000
    seconds: float = 30.0
    memory_bytes: int = 512 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class PdfExtraction:
    """What a PDF gave: canonical text with the offset of each page, or an empty text with the warnings that say why."""

    document: Document
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return self.document.text


class PdfExtractor:
    """Extracts one PDF after the other in one child process, which is replaced when it has to be ended.

    Use it as an async context manager, so that the child ends with it.
    """

    def __init__(self, limits: PdfLimits | None = None) -> None:
        self._limits = limits or PdfLimits()
        self._child: asyncio.subprocess.Process | None = None
        self._tree = ProcessTree()
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def extract(self, data: bytes) -> PdfExtraction:
        """Never raises for a bad PDF: an empty text and a warning say what was wrong with it."""
        if len(data) > self._limits.bytes:
            return _nothing(f"the PDF has {len(data):,} bytes, more than {self._limits.bytes:,}")
        if _MAGIC not in data[:_MAGIC_WITHIN]:
            return _nothing("not a PDF: it does not start with %PDF-")
        async with self._turn:
            try:
                async with asyncio.timeout(self._limits.seconds):
                    answer = await self._ask(data)
            except TimeoutError:
                await self._end()
                return _nothing(f"the PDF took longer than {self._limits.seconds:g} seconds")
            except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                await self._end()
                return _nothing("the PDF crashed its reader or went over its memory or time limit")
            except BaseException:
                await self._end()
                raise
        return _extraction(answer)

    async def document(self, data: bytes) -> Document:
        """The document in a PDF; `DocumentUnreadable` with the warnings where it has no text."""
        extraction = await self.extract(data)
        if not extraction.text:
            raise DocumentUnreadable("; ".join(extraction.warnings))
        return extraction.document

    async def _ask(self, data: bytes) -> dict[str, Any]:
        child = self._child = self._child or await self._start()
        if child.stdin is None or child.stdout is None:
            raise OSError("the child process has no pipes")
        child.stdin.write(b"%d\n" % len(data) + data)
        await child.stdin.drain()
        answer: dict[str, Any] = json.loads(await child.stdout.readuntil(b"\n"))
        return answer

    async def _start(self) -> asyncio.subprocess.Process:
        """Isolated mode: no user's settings, no PYTHON* variables, no current folder on the path; pypdf's is given."""
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            str(Path(__file__).with_name("pdf_child.py")),
            _folder_of("pypdf"),
            json.dumps(asdict(self._limits)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=self._tree.environ({name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}),
            limit=_ANSWER_BYTES,
            start_new_session=True,
        )

    async def _end(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        self._tree.kill(child.pid)
        if child.stdin is not None:
            child.stdin.close()
        await child.wait()


def _folder_of(package: str) -> str:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed")
    return str(Path(spec.origin).parent.parent)


def _extraction(answer: dict[str, Any]) -> PdfExtraction:
    if answer["error"]:
        return _nothing(f"the PDF cannot be read: {answer['error']}", *answer["warnings"])
    pages = [[PdfLine(*line) for line in page] for page in answer["pages"]]
    legible = [page if _is_legible(page) else [] for page in pages]
    document = pdf_document(legible, answer["title"])
    warnings = list(answer["warnings"])
    if legible != pages:
        count = sum(old != new for old, new in zip(pages, legible, strict=True))
        warnings.append(f"on {count} of {len(pages)} pages the PDF does not say which letters it shows")
    elif not document.text:
        warnings.append("the PDF has no text; it may be a scan")
    return PdfExtraction(document=document, warnings=tuple(warnings))


def _is_legible(page: Sequence[PdfLine]) -> bool:
    """Whether most of a page is more than names of glyphs (`/g18/g152`), which a font without letters leaves."""
    text = "".join(line.text for line in page)
    return sum(map(len, _GLYPH_NAME.findall(text))) * 2 <= len(text)


def _nothing(*warnings: str) -> PdfExtraction:
    return PdfExtraction(document=Document(text=""), warnings=warnings)
