"""E-mails: subject, sender and date, the body, and the attachments that can be read."""

from __future__ import annotations

import email
import email.generator  # loaded late by a forwarded mail, when files may not be opened any more
import email.policy
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from email.message import EmailMessage, MIMEPart
from email.utils import getaddresses, parsedate_to_datetime
from itertools import groupby

from graph_research.text.canonical import DocumentBuilder
from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.foreign.archive import read_zip
from graph_research.text.readers.formats import ZIP, media_type_of
from graph_research.text.readers.html import html_document
from graph_research.text.readers.limits import FilePart, Limits
from graph_research.text.readers.plain import plain_document
from graph_research.text.sentences import PROSE

_HEADERS = ("From", "To", "Cc", "Date")
_MAIL = "message/rfc822"
_MAX_ATTACHMENTS = 100
_QUOTE_MARKS = re.compile(r"^(?:> ?)+")
_SIGNATURE = re.compile(r"^-- ?\n.*?(?=^>|\Z)", re.MULTILINE | re.DOTALL)
"""Marks of quoted lines, and a signature with the line that opens it, see RFC 3676, sections 4.5 and 4.3."""


def read_eml(data: bytes, limits: Limits, read: Callable[[bytes, str], Document]) -> Document:
    """A mail; the lines of its body are counted from 1. `read` reads an attachment by its bytes and its name."""
    message = email.message_from_bytes(data, policy=email.policy.default)
    if not isinstance(message, EmailMessage) or not message.keys():
        raise DocumentUnreadable("it is not a mail: it has no header")
    builder = DocumentBuilder()
    subject = _header(message, "Subject")
    builder.add("heading", subject, level=1)
    headers = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    builder.add("heading", ", ".join(headers), level=2)
    texts: list[MIMEPart] = []
    attachments: list[MIMEPart] = []
    for part in _parts(message):
        (texts if _is_inline(part, is_first=not texts and not attachments) else attachments).append(part)
    for number, part in enumerate(texts, start=1):
        builder.add_document(_body(part), within=f"part {number}" if number > 1 else "")
    warnings = []
    for number, file in enumerate(_files(attachments, limits, read)):
        if number == _MAX_ATTACHMENTS:
            warnings.append(f"read the first {_MAX_ATTACHMENTS} attachments")
            break
        if file.document is None:
            warnings.append(f"the attachment {file.name} is not read: {file.error}")
            continue
        builder.place("attachment", file.name)
        builder.add("heading", file.name, level=2)
        builder.add_document(_below(file.document, level=2), within=file.name)
    senders = tuple(name or address for name, address in getaddresses([_header(message, "From")]))
    return replace(builder.document(subject), authors=senders, date=_date(message), warnings=tuple(warnings))


def _files(
    attachments: Sequence[MIMEPart], limits: Limits, read: Callable[[bytes, str], Document]
) -> Iterator[FilePart]:
    """The attachments with their names, and of an archive each file in it, by its path behind the archive's name."""
    for number, attachment in enumerate(attachments, start=1):
        name = attachment.get_filename() or f"attachment {number}"
        if attachment.get_content_type() == _MAIL and not name.lower().endswith(".eml"):
            name += ".eml"
        is_text = attachment.get_content_maintype() == "text" and media_type_of(name) is None
        try:
            if media_type_of(name) == ZIP:
                for part in read_zip(_content(attachment), limits, read):
                    yield replace(part, name="/".join(filter(None, (name, part.name))))
            else:
                yield FilePart(name=name, document=read(_content(attachment), f"{name}.txt" if is_text else name))
        except DocumentUnreadable as error:
            yield FilePart(name=name, error=error.message)


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(message.get(name) or "")
    except (ValueError, IndexError, AttributeError, TypeError, LookupError):  # what broken headers raise
        return ""


def _date(message: EmailMessage) -> str:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (ValueError, TypeError, IndexError):
        return ""


def _parts(message: MIMEPart) -> Iterator[MIMEPart]:
    """The undivided parts of a mail in their order: of alternatives the first plain text that says something, or else
    the last one, and the files that stand in the others."""
    pending = [message]
    while pending:
        part = pending.pop()
        payload = part.get_payload()
        inner = [one for one in payload if isinstance(one, MIMEPart)] if isinstance(payload, list) else []
        if part.get_content_maintype() != "multipart" or not isinstance(payload, list):
            yield part
        elif part.get_content_subtype() == "alternative" and inner:
            chosen = next(filter(_is_plain_text, inner), inner[-1])
            files = [one for other in inner if other is not chosen for one in _parts(other) if _is_file(one)]
            pending += [*reversed(files), chosen]
        else:
            pending += reversed(inner)


def _is_plain_text(part: MIMEPart) -> bool:
    return part.get_content_type() == "text/plain" and not part.is_attachment() and bool(_content(part).strip())


def _is_file(part: MIMEPart) -> bool:
    """Whether a part is a file of its own, and no picture within a text."""
    return part.get_filename() is not None and part.get_content_maintype() != "image"


def _is_inline(part: MIMEPart, *, is_first: bool) -> bool:
    """Whether a part is text of the mail itself, as its first one is also with a name, and one that should be divided
    but has no boundary."""
    if part.get_content_maintype() == "multipart":
        return True
    is_text = part.get_content_type() in ("text/plain", "text/html") and not part.is_attachment()
    return is_text and (is_first or part.get_filename() is None)


def _body(part: MIMEPart) -> Document:
    if part.get_content_maintype() == "multipart":
        return plain_document(_content(part).decode("utf-8", "replace"))
    try:
        text = part.get_content()
    except (LookupError, ValueError, KeyError):  # a charset that does not exist
        text = _content(part).decode("utf-8", "replace")
    if not isinstance(text, str):
        return Document(text="")
    if part.get_content_type() != "text/html":
        return _plain(text)
    document = html_document(text)
    blocks = (block._replace(level=1) if block.kind == "quote" else block for block in document.blocks)
    return replace(document, blocks=tuple(blocks))


def _plain(text: str) -> Document:
    """The text without the marks of quoted lines, which are blocks of an earlier mail; its signature is boilerplate
    behind it. Lines keep their numbers."""
    text = text.replace("\r\n", "\n")
    signatures = _SIGNATURE.findall(text)
    lines = _SIGNATURE.sub(lambda found: "\n" * found[0].count("\n"), text).split("\n")
    builder = DocumentBuilder()
    number = 0
    for is_quoted, run in groupby(lines, key=lambda line: line.startswith(">")):
        said = [_QUOTE_MARKS.sub("", line) for line in run]
        part = plain_document("\n".join([*[""] * number, *said]))
        builder.add_document(_earlier(part) if is_quoted else part)
        number += len(said)
    for signature in signatures:
        builder.add("boilerplate", signature)
    return builder.document()


def _below(document: Document, *, level: int) -> Document:
    """The document with its headings below one of a level."""
    blocks = (
        block._replace(level=min(6, block.level + level)) if block.kind == "heading" else block
        for block in document.blocks
    )
    return replace(document, blocks=tuple(blocks))


def _earlier(document: Document) -> Document:
    """The document with its paragraphs and items marked as those of an earlier mail."""
    blocks = (block._replace(kind="quote", level=1) if block.kind in PROSE else block for block in document.blocks)
    return replace(document, blocks=tuple(blocks))


def _content(part: MIMEPart) -> bytes:
    payload = part.get_payload(decode=True)
    if isinstance(payload, bytes):
        return payload
    inner = part.get_payload()
    return (
        b"\n".join(one.as_bytes() for one in inner if isinstance(one, EmailMessage)) if isinstance(inner, list) else b""
    )
