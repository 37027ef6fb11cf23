"""Blacks keys out of everything that is told: messages, addresses, quoted answers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

__all__ = ["black_out", "withhold"]

_BLACK = "[key]"
_SHORTEST = 6
"""Shorter secrets are none, and blacking them out would tear words apart."""

_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk|tvly|gsk|xai|hf|or)[-_][A-Za-z0-9_*.-]{8,}|\bAIza[A-Za-z0-9_-]{20,}|\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=*-]{8,}"
)
_KEY_PARAMETER = re.compile(
    r"(?i)([?&\"'](?:api[-_]?key|key|token|access[-_]?token|cx|secret|password)\"?\s*[=:]\s*[\"']?)([^&\s\"',}]{6,})"
)


def black_out(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without `secrets`, also as they stand in URLs, and without what looks like a key: servers quote them."""
    text = _LOOKS_LIKE_KEY.sub(_BLACK, withhold(text, secrets))
    return _KEY_PARAMETER.sub(rf"\1{_BLACK}", text)


def withhold(text: str, secrets: Iterable[str]) -> str:
    """`text` without `secrets`, and otherwise as it is: for what will be quoted."""
    for secret in sorted({one for one in secrets if len(one) >= _SHORTEST}, key=len, reverse=True):
        for shape in (secret, quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(shape, _BLACK)
    return text
