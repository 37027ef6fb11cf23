"""Redacts secrets from messages, URLs and quoted responses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

_REDACTED = "[key]"
_SHORTEST = 6
"""Shorter values are not redacted: they would match parts of words."""

_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|rk|tvly|gsk|xai|hf|or)[-_][A-Za-z0-9_*.-]{8,}|\bAIza[A-Za-z0-9_-]{20,}|\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=*-]{8,}"
)
_KEY_PARAMETER = re.compile(
    r"(?i)([?&\"'](?:api[-_]?key|key|token|access[-_]?token|cx|secret|password)\"?\s*[=:]\s*[\"']?|"
    r"(?<![^\W_])(?:x-)?(?:api|access|secret)[-_]?(?:key|token)\s*[=:]\s*[\"']?(?=\S*\d))([^&\s\"',}]{6,})"
)
_USER_OF_URL = re.compile(r"(?<=://)[^\s/?#\"'<>]+(?=@)")


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """`text` without `secrets`, also in their URL-encoded forms, and without anything that looks like a key, and
    URLs without a user and password."""
    text = _USER_OF_URL.sub(_REDACTED, _LOOKS_LIKE_KEY.sub(_REDACTED, withhold(text, secrets)))
    return _KEY_PARAMETER.sub(rf"\1{_REDACTED}", text)


def withhold(text: str, secrets: Iterable[str]) -> str:
    """`text` without `secrets`, otherwise unchanged, for text that will be quoted."""
    for secret in sorted({value for value in secrets if len(value) >= _SHORTEST}, key=len, reverse=True):
        for shape in (secret, quote(secret, safe=""), quote_plus(secret)):
            text = text.replace(shape, _REDACTED)
    return text
