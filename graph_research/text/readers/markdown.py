"""Markdown becomes a document: rendered as CommonMark with tables, then read like any other page."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt

from graph_research.text.canonical import canonical_text
from graph_research.text.document import Document
from graph_research.text.readers.html import html_document
from graph_research.text.readers.plain import plain_document

_FRONT_MATTER = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n(.{0,20000}?)\r?\n(?:\1|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_TITLE = re.compile(r"""^title\s*[:=]\s*(["']?)(.*?)\1\s*$""", re.MULTILINE | re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_SIGNS = re.compile(r"[\[\]*_<`~\\&!]")
_MAX_SIGNS = 5_000  # in one paragraph, where the parser's time grows with the square of their number
_MAX_PARTS = 100_000  # lines and signs in all; each costs the parser about 2 kB and 0.1 ms


def markdown_document(source: str) -> Document:
    """The text as it reads when rendered: no emphasis marks, no heading signs, links by their words.

    Front matter is not part of the text; its title is the document's, else the first heading is. A paragraph of
    thousands of markup signs is not hand-written Markdown: such a file is read as plain text, and so is one of
    more than a hundred thousand lines and signs.
    """
    front = _FRONT_MATTER.match(source)
    body = source[front.end() :] if front else source
    title = _TITLE.search(front[2]) if front else None
    if _is_too_much(body):
        return plain_document(body)
    document = html_document(_renderer().render(body))
    return replace(document, title=canonical_text(title[2])) if title and title[2].strip() else document


def markdown_html(source: str) -> str:
    """The page that the text behind the front matter is rendered to; empty for a text that is read as plain text."""
    front = _FRONT_MATTER.match(source)
    body = source[front.end() :] if front else source
    return "" if _is_too_much(body) else _renderer().render(body)


def _is_too_much(body: str) -> bool:
    signs = [len(_SIGNS.findall(paragraph)) for paragraph in _PARAGRAPH.split(body)]
    return max(signs) > _MAX_SIGNS or sum(signs) + body.count("\n") > _MAX_PARTS


@cache
def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    renderer.render("text")  # its rules are compiled at the first text, which threads must not do at once
    return renderer
