"""Markdown becomes a document: rendered as CommonMark with tables, then read like any other page."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from graph_research.text.document import Document, text_hash
from graph_research.text.readers.front_matter import front_matter
from graph_research.text.readers.html import html_document
from graph_research.text.readers.plain import plain_document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_SIGNS = re.compile(r"[\[\]*_<`~\\&!]")
_MAX_SIGNS = 5_000  # in one paragraph, where the parser's time grows with the square of their number
_MAX_NESTING = 100  # of quotes and lists in each other; a list in a list is two
_MAX_PARTS = 100_000  # lines and signs in all; each costs the parser about 2 kB and 0.1 ms


def markdown_document(source: str) -> Document:
    """The text as it reads when rendered: no emphasis marks, no heading signs, links by their words.

    Front matter is not part of the text. Title, date, authors, publisher, licence and language are what it says, else
    what the text says.
    A paragraph of thousands of markup signs is not hand-written Markdown: such a file is read as plain text, and so are
    one of more than a hundred thousand lines and signs and one of a hundred quotes or lists in each other. Each line is
    a place.
    """
    front = front_matter(source)
    document = plain_document(front.body) if _is_too_much(front.body) else _rendered_document(front.body)
    return replace(
        document,
        title=front.title or document.title,
        date=front.date or document.date,
        authors=front.authors or document.authors,
        publisher=front.publisher or document.publisher,
        licence=front.licence or document.licence,
        language=front.language or document.language,
    )


def markdown_html(source: str) -> str:
    """The page that the text behind the front matter is rendered to; empty for a text that is read as plain text."""
    body = front_matter(source).body
    return "" if _is_too_much(body) else _renderer().render(body)


def _rendered_document(body: str) -> Document:
    from graph_research.text.readers.markdown_lines import marked_html

    key = text_hash(body)[7:19]
    html = marked_html(_renderer(), body, key)
    if html is None:
        return plain_document(body)
    marked = html_document(html, line_key=key)
    if "<" not in body:
        return marked
    # The comments may change how broken HTML within the text is read: then its lines are not known.
    document = html_document(_renderer().render(body))
    return replace(document, places=marked.places) if marked.text == document.text else document


def _is_too_much(body: str) -> bool:
    signs = [len(_SIGNS.findall(paragraph)) for paragraph in _PARAGRAPH.split(body)]
    return max(signs) > _MAX_SIGNS or sum(signs) + body.count("\n") > _MAX_PARTS


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt  # with the first text: it takes long to load, and most runs read none

    from graph_research.text.readers.markdown_lines import keep_ends_of_lines

    renderer = MarkdownIt("commonmark", {"html": True, "maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])
    keep_ends_of_lines(renderer)
    renderer.render("text")  # its rules are compiled at the first text, which threads must not do at once
    return renderer
