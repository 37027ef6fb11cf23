"""Accents that a PDF draws as signs of their own, as TeX's older fonts make them: put together with their letters."""

from __future__ import annotations

import re
import unicodedata

_SIGNS = dict(
    zip("´`¨ˆ˜ˇ˘˙˝˚¯¸", "\u0301\u0300\u0308\u0302\u0303\u030c\u0306\u0307\u030b\u030a\u0304\u0327", strict=True)
)
_DOTLESS = {"ı": "i", "ȷ": "j"}
_ACCENT = re.compile(
    r"([´¨ˆ˜ˇ˘˙˝˚¯]|(?<=[^\W\d_])`)([^\W\d_])"  # ` begins quoted words, too
    r"|([CcSsTt])(¸)|(¸)([CcSsTt])"
)
_LEFT = re.compile(r"[´¨ˆ˜ˇ˘˙˝˚]")


def composed(text: str) -> str:
    """`text` with `é` for `´e`, where there is such a letter."""
    return text if text.isascii() else _ACCENT.sub(_letter, text)


def loose_accents(text: str) -> int:
    """How many accents stand beside no letter that they belong to."""
    return len(_LEFT.findall(text))


def _letter(match: re.Match[str]) -> str:
    letter, sign = (match[3], match[4]) if match[4] else (match[2] or match[6], match[1] or match[5])
    made = unicodedata.normalize("NFC", _DOTLESS.get(letter, letter) + _SIGNS[sign])
    return made if len(made) == 1 else match[0]
