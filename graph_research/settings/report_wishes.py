"""What a user may wish of a report, as settings: how long, of which type, in which language."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

NAMED_LENGTHS = ("brief", "standard", "long")
_LEAST_WORDS, _MOST_WORDS = 100, 50_000
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")

ReportTypeName = Literal["report", "comparison", "timeline", "survey", "memo"]


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _length(value: str) -> str:
    if value in NAMED_LENGTHS:
        return value
    if value.isascii() and value.isdigit() and _LEAST_WORDS <= int(value) <= _MOST_WORDS:
        return str(int(value))
    names = ", ".join(NAMED_LENGTHS)
    raise ValueError(f"choose {names}, or a number of words from {_LEAST_WORDS:,} to {_MOST_WORDS:,}")


def _language(value: str) -> str:
    """The value, if it is a BCP 47 tag whose parts are registered at IANA."""
    from langcodes import tag_is_valid

    if not _LANGUAGE.fullmatch(value) or not tag_is_valid(value):
        raise ValueError("a language code is wanted, such as en, de, fr, es, it, pt, nl, pl, zh, ja or pt-BR")
    return value


def _line(value: str) -> str:
    if not value.strip() or not value.isprintable():
        raise ValueError("one line of text is wanted")
    return value


Length = Annotated[str, BeforeValidator(_as_text), AfterValidator(_length)]
LanguageCode = Annotated[str, AfterValidator(_language)]
Line = Annotated[str, AfterValidator(_line)]
