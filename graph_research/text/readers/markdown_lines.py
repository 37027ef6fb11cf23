"""Marks in a page rendered from Markdown at which line of the source its text stands.

A mark is a comment, which is allowed wherever text is and shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_inline import StateInline, escape, newline
from markdown_it.token import Token

# Tags and comments in HTML; a named group where one is not closed.
_MARKUP = re.compile(
    r"""<!--(?:.*?-->|(?P<comment>.*))|<[/!?][^>]*>|<[a-zA-Z](?:"[^"]*"|'[^']*'|[^'">])*+>|(?P<tag><[a-zA-Z/!?].*)""",
    re.DOTALL,
)
_BREAKS = ("softbreak", "hardbreak")
_END = "end"

_Rule = Callable[[StateInline, bool], bool]


def keep_ends_of_lines(parser: MarkdownIt) -> None:
    """Let the parser say of each line break where in the paragraph's source it ends, which `marked_html` needs."""
    parser.inline.ruler.at("newline", _with_end(newline))
    parser.inline.ruler.at("escape", _with_end(escape))


def marked_html(parser: MarkdownIt, source: str, key: str) -> str | None:
    """`source` as HTML with the comment `KEY NUMBER` where the text of each line begins, lines counted from 1.

    Of a piece of HTML that the source itself holds, lines that begin within a tag or a comment are not marked. None
    where blocks stand in each other deeper than the parser goes, which leaves out what is within.
    """
    environment: dict[str, object] = {}
    tokens = parser.parse(source, environment)
    if any(token.level + 1 >= parser.options.maxNesting for token in tokens):
        return None
    marked = [_marked(token, key) for token in tokens]
    # Without the tag, a comment in front of the first text would not be in the page's body.
    return "<body>" + str(parser.renderer.render(marked, parser.options, environment))


def _with_end(rule: _Rule) -> _Rule:
    def rule_with_end(state: StateInline, silent: bool) -> bool:
        before = len(state.tokens)
        matches = rule(state, silent)
        for token in state.tokens[before:]:
            if token.type in _BREAKS:
                token.meta[_END] = state.pos
        return matches

    return rule_with_end


def _marked(token: Token, key: str) -> Token:
    if token.map is None:
        return token
    first = token.map[0] + 1
    if token.type == "inline":
        return token.copy(children=list(_marked_inline(token.content, token.children or [], first, key)))
    if token.type == "html_block":
        return token.copy(content="".join(_marked_markup(token.content, first, key)))
    if token.type in ("fence", "code_block"):
        lines = token.content.split("\n")
        code = _marked_lines([escapeHtml(line) for line in lines], first + (token.type == "fence"), key)
        return Token("html_block", "", 0, content=f"<pre><code>{code}</code></pre>\n")
    return token


def _marked_inline(content: str, children: Sequence[Token], line: int, key: str) -> Iterator[Token]:
    position = 0
    for number, child in enumerate(children):
        if number == 0:
            yield _mark_token(line, key)
        yield child
        if child.type in _BREAKS:
            end = child.meta[_END]
            line += content.count("\n", position, end)
            position = end
            yield _mark_token(line, key)


def _marked_markup(content: str, line: int, key: str) -> Iterator[str]:
    position = 0
    yield _mark(line, key)
    for match in _MARKUP.finditer(content):
        text = content[position : match.start()]
        yield _continued(text, line, key)
        yield match[0]
        line += text.count("\n") + match[0].count("\n")
        position = match.end()
        if "\n" in match[0] and match.lastgroup is None:
            yield _mark(line, key)
    yield _continued(content[position:], line, key)


def _continued(text: str, line: int, key: str) -> str:
    """A text that begins somewhere in `line`, its further lines marked."""
    begun, *lines = text.split("\n")
    return "\n".join([begun, _marked_lines(lines, line + 1, key)]) if lines else begun


def _marked_lines(lines: Sequence[str], first: int, key: str) -> str:
    return "\n".join(_mark(number, key) + line for number, line in enumerate(lines, start=first))


def _mark(line: int, key: str) -> str:
    return f"<!--{key} {line}-->"


def _mark_token(line: int, key: str) -> Token:
    return Token("html_inline", "", 0, content=_mark(line, key))
