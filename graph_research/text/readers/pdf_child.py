"""The child process that reads PDFs: bytes in on standard input, lines of text out as JSON on standard output.

Run as a script by `graph_research.text.readers.pdf`, with the folder of pypdf as its first argument and the limits as
JSON as its second. It imports nothing of this project, so that it starts fast and works in isolated mode. Each
request is a line with a number of bytes, then the bytes; each answer is one line:
`{"title", "pages": [[[text, size, style, y], ...], ...], "warnings": [...], "error"}`.
"""

from __future__ import annotations

import codecs
import importlib
import io
import json
import logging
import sys
import time
import warnings
from contextlib import suppress
from typing import Any

_Line = list[Any]
_TITLE_CHARS = 1_000
_LATE_MODULES = (
    "pypdf._codecs.core_font_metrics",
    "pypdf.generic._image_xobject",
    "pypdf.xmp",
    "pypdf._crypt_providers",
    "fontTools.cffLib",
    "brotli",
)
_CODECS = """
    ascii latin_1 cp1250 cp1251 cp1252 mac_roman charmap utf_8 utf_16 utf_16_be utf_16_le utf_32_be unicode_escape
    gbk gb2312 gb18030 big5 big5hkscs cp950 euc_kr cp949 johab euc_jp shift_jis cp932 iso2022_jp
"""


def main() -> None:
    """Answer requests until standard input ends."""
    sys.path.append(sys.argv[1])
    limits = json.loads(sys.argv[2])
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    _warm_up()
    _confine(limits["memory_bytes"])
    while header := sys.stdin.buffer.readline():
        _limit_cpu(limits["seconds"])
        data = sys.stdin.buffer.read(int(header))
        sys.stdout.write(json.dumps(_answer(data, limits)) + "\n")
        sys.stdout.flush()


def _answer(data: bytes, limits: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"title": "", "pages": [], "warnings": [], "error": ""}
    try:
        _read(data, limits, answer)
    except MemoryError:
        answer.update(pages=[], error="it needs more memory than is allowed")
    except RecursionError:
        answer.update(pages=[], error="it is nested too deeply")
    except Exception as error:  # noqa: BLE001 -- this process exists to turn whatever a broken PDF raises into an answer
        said = f": {str(error)[:200]}" if type(error).__module__.startswith("pypdf") else ""
        answer.update(pages=[], error=f"it is damaged{said}")
    return answer


def _read(data: bytes, limits: dict[str, Any], answer: dict[str, Any]) -> None:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data), strict=False)
    if reader.is_encrypted and not reader.decrypt(""):
        if not _only_attachments_are_encrypted(reader):
            answer["error"] = "it is encrypted"
            return
        reader._encryption = None
    answer["title"] = _title(reader)
    total = len(reader.pages)
    if total > limits["pages"]:
        answer["warnings"].append(f"read the first {limits['pages']} of {total} pages")
    room = limits["chars"]
    deadline = time.monotonic() + limits["seconds"] * 0.9
    for number in range(min(total, limits["pages"])):
        lines = _page(reader, number, answer)
        size = sum(len(line[0]) + 1 for line in lines)
        answer["pages"].append(_cut(lines, room))
        room -= size
        if room <= 0:
            answer["warnings"].append(f"stopped after {limits['chars']} characters, on page {number + 1} of {total}")
            return
        if time.monotonic() > deadline:
            answer["warnings"].append(f"stopped after {limits['seconds']} seconds, on page {number + 1} of {total}")
            return


def _only_attachments_are_encrypted(reader: Any) -> bool:
    """Whether streams and strings have the filter that leaves them as they are, which is the default."""
    encryption = reader.trailer["/Encrypt"].get_object()
    return encryption.get("/V") in (4, 5) and {encryption.get("/StmF"), encryption.get("/StrF")} <= {"/Identity", None}


def _title(reader: Any) -> str:
    try:
        return str((reader.metadata or {}).get("/Title") or "")[:_TITLE_CHARS]
    except Exception:  # noqa: BLE001 -- a broken title is no reason to give up the pages
        return ""


def _page(reader: Any, number: int, answer: dict[str, Any]) -> list[_Line]:
    lines = _Lines()
    try:
        reader.pages[number].extract_text(visitor_text=lines.visit)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 -- one broken page leaves the others readable
        answer["warnings"].append(f"page {number + 1} is damaged")
    return lines.visible()


class _Lines:
    """Runs of text put together to lines; size, style and place are those of a line's first visible run."""

    def __init__(self) -> None:
        self._parts: list[list[str]] = [[]]
        self._facts: list[list[Any]] = [[]]

    def visit(self, text: str, cm: list[float], tm: list[float], font: Any, size: float) -> None:
        """What pypdf calls for each run, with the matrices that place it."""
        for number, part in enumerate(text.split("\n")):
            if number:
                self._parts.append([])
                self._facts.append([])
            if part.strip() and not self._facts[-1]:
                self._facts[-1] = [
                    round(abs(size * _scale(tm) * _scale(cm)), 1),
                    _style(str((font or {}).get("/BaseFont", "")).lower()),
                    round(tm[4] * cm[1] + tm[5] * cm[3] + cm[5], 1),
                ]
            self._parts[-1].append(part)

    def visible(self) -> list[_Line]:
        """The lines that are not empty, as `[text, size, style, y]`."""
        return [["".join(parts), *facts] for parts, facts in zip(self._parts, self._facts, strict=True) if facts]


def _style(font: str) -> str:
    if any(name in font for name in ("mono", "courier", "typewriter", "consol", "cmtt", "code")):
        return "mono"
    return "bold" if any(name in font for name in ("bold", "black", "heavy", "cmbx")) else ""


def _scale(matrix: list[float]) -> float:
    return abs(matrix[3]) or abs(matrix[1]) or 1.0


def _cut(lines: list[_Line], room: int) -> list[_Line]:
    kept = []
    for line in lines:
        if room <= 0:
            break
        kept.append([line[0][:room], *line[1:]])
        room -= len(line[0]) + 1
    return kept


def _warm_up() -> None:
    """Load what pypdf loads only when a PDF asks for it, since opening files will be forbidden."""
    for name in _LATE_MODULES:
        with suppress(ImportError):
            importlib.import_module(name)
    for name in _CODECS.split():
        with suppress(LookupError):
            codecs.lookup(name)
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(width=72, height=72)
    made = io.BytesIO()
    writer.write(made)
    limits = {"pages": 1, "chars": 100, "seconds": 30}
    _read(made.getvalue(), limits, {"title": "", "pages": [], "warnings": [], "error": ""})


def _confine(memory_bytes: int) -> None:
    """From here on: no new file or socket, no child process, bounded memory."""
    try:
        import resource
    except ImportError:
        return
    limits = [("RLIMIT_NOFILE", 0), ("RLIMIT_NPROC", 0), ("RLIMIT_FSIZE", 0), ("RLIMIT_CORE", 0)]
    for name, value in [*limits, ("RLIMIT_AS", _address_space() + memory_bytes)]:
        with suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


def _address_space() -> int:
    """Bytes of address space in use; a generous guess where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:  # noqa: PTH123 -- pathlib is not loaded here
            return int(statm.read().split()[0]) * 4096
    except OSError:
        return 256 * 1024 * 1024


def _limit_cpu(seconds: float) -> None:
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))


if __name__ == "__main__":
    main()
