"""Bytes of a text file become characters: byte order mark, UTF-8, declared charset, then the one that a text mostly
without Latin letters is likeliest in, else Windows-1252 or Latin-1."""

from __future__ import annotations

import codecs
import re

from graph_research.text.errors import DocumentUnreadable

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([a-z0-9_.:-]{2,40})""")
# Charsets a page may choose; Python knows codecs that are none (rot13) or that hide markup (utf-7).
_CHARSETS = re.compile(
    r"utf-?8|us-ascii|latin-?1|iso-?8859-\d{1,2}|(?:windows-?|cp)(?:125\d|866|874|932|949|950|1361)|koi8-[rut]"
    r"|mac-?(?:roman|cyrillic|greek|intosh)|shift[-_]?jis|sjis|euc-(?:jp|kr)|gb2312|gbk|gb18030|big5(?:-?hkscs)?"
    r"|tis-620|iso-2022-(?:jp|kr)(?:-\d)?",
    re.IGNORECASE,
)
_HEAD_BYTES = 2048
_SAMPLE_BYTES = 20_000
_NOT_IN_TEXTS = bytes({*range(32), 127} - {*b"\t\n\f\r\b\x1b"})
_WORDS = re.compile(
    r"""["'“‘«(\[]*[^\W\d_]+(?:['’/–—,，、。；：！？-]+[^\W\d_]+)*[.,:;!?…)"'”’»\]，、。；：！？）」』]*"""
)
"""A word with the punctuation around it, or several with nothing but punctuation between them."""
_LATIN_LETTER = re.compile(rb"[A-Za-z]")


def decode(data: bytes, charset: str | None = None) -> str:
    """The characters of `data`, without a byte order mark; raises `DocumentUnreadable` for binary data. `charset` is
    what somebody else said of it, such as a server; it counts before what the page says itself.

    Valid UTF-8 is UTF-8 whatever the page declares, since no other charset produces it by chance; only the seven-bit
    ISO-2022 charsets, which look like ASCII, are believed first.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    if b"\0" in data[:8192]:
        raise DocumentUnreadable("the file is binary, not text")
    declared = _known(charset or "") or _declared(data)
    seven_bit = [declared] if declared.startswith("iso-2022") else []
    for encoding in [*seven_bit, "utf-8", declared or _likeliest(data), "cp1252"]:
        try:
            return data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("latin-1")


def is_text(head: bytes) -> bool:
    """Whether a file that begins with `head` is text: it begins with a byte order mark, or has no control characters
    other than those that texts have, such as tabs."""
    return head.startswith(tuple(mark for mark, _ in _MARKS)) or head == head.translate(None, _NOT_IN_TEXTS)


def is_prose(head: bytes) -> bool:
    """Whether a file that begins with `head` is text of which at least half is words, counted by what white space
    parts; so is an empty one."""
    if not is_text(head):
        return False
    whole = head[: head.rfind(b"\n") + 1] or head  # what follows the last line may end within a character
    tokens = [token for token in decode(whole).split() if any(map(str.isalnum, token))]
    return 2 * sum(_WORDS.fullmatch(token) is not None for token in tokens) >= len(tokens)


def _likeliest(data: bytes) -> str:
    """The charset of a text most of whose letters are not Latin. Of one with a few accents it would be a guess."""
    end = data.rfind(b"\n", 0, _SAMPLE_BYTES) + 1  # within a line it might end within a character
    sample = data[:end] if 2 * end > _SAMPLE_BYTES else data
    if sum(byte > 127 for byte in sample) <= len(_LATIN_LETTER.findall(sample)):
        return "utf-8"
    from charset_normalizer import from_bytes  # takes long to import, and few files need it
    from charset_normalizer.constant import IANA_SUPPORTED

    found = from_bytes(sample, cp_isolation=[name for name in IANA_SUPPORTED if _known(name.replace("_", "-"))]).best()
    return found.encoding if found else "utf-8"


def _declared(data: bytes) -> str:
    match = _DECLARED.search(data[:_HEAD_BYTES].lower())
    return _known(match[1].decode("ascii")) if match else ""


def _known(charset: str) -> str:
    name = charset.lower()
    return name if _CHARSETS.fullmatch(name) else ""
