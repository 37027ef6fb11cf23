"""The links of a report, as citation marks in its text: a reader keeps their words only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape

_LINK = re.compile(
    r"""<a\b[^<>]{0,500}?\bhref\s*=\s*(["'])(?P<target>[^"'#][^"']{0,2000})\1[^<>]{0,500}>(?P<words>.{0,1000}?)</a\s*>""",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<[^<>]*>")
_NUMBER = re.compile(r"\W*(\d{1,4})\W*")
_NAME = "link."
_MARK = re.compile(r"\[(link\.\d+)\]")


def with_marks(html: str) -> tuple[str, Mapping[str, str]]:
    """The page with the mark `[link.N]` behind the words of each link that leads out of it, and the targets by
    `link.N`. Words that are only a number become the mark `[number]`."""
    targets: dict[str, str] = {}

    def marked(link: re.Match[str]) -> str:
        target = unescape(link["target"]).strip()
        name = next((known for known, other in targets.items() if other == target), f"{_NAME}{len(targets) + 1}")
        targets[name] = target
        number = _NUMBER.fullmatch(unescape(_TAG.sub("", link["words"])))
        return f"{f'[{number[1]}]' if number else link['words']} [{name}]"

    return _LINK.sub(marked, html), targets


def with_targets(text: str, targets: Mapping[str, str]) -> str:
    """The text with the targets of links in the place of their marks."""
    return _MARK.sub(lambda mark: targets.get(mark[1], mark[0]), text)
