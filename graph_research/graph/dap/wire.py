"""Messages of the Debug Adapter Protocol on a byte stream: headers, a blank line, and JSON of the length they tell."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import orjson

from graph_research.errors import GraphResearchError

_MOST_BYTES = 4_000_000
_MOST_HEADERS = 16
_LENGTH = re.compile(rb"content-length:\s*(\d{1,9})\s*$", re.IGNORECASE)


class WireBroken(GraphResearchError):
    """The input is not a message of the protocol; nothing after it can be read."""

    code = "dap-broken"


async def read_message(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """The next message; None where the stream ends. Raises `WireBroken`."""
    length: int | None = None
    for _ in range(_MOST_HEADERS):
        try:
            line = await reader.readline()
        except ValueError as error:
            raise WireBroken("a header of the debug protocol is too long") from error
        if not line:
            return None
        if not line.strip():
            if length is not None:
                break
            continue
        if match := _LENGTH.match(line.strip()):
            length = int(match[1])
        elif not line.lower().startswith(b"content-"):
            raise WireBroken("a message of the debug protocol begins with other headers, as one of HTTP does")
    if length is None or length > _MOST_BYTES:
        raise WireBroken("a message of the debug protocol has no usable Content-Length")
    try:
        message = orjson.loads(await reader.readexactly(length))
    except asyncio.IncompleteReadError:
        return None
    except orjson.JSONDecodeError as error:
        raise WireBroken(f"a message of the debug protocol is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise WireBroken("a message of the debug protocol is not an object")
    return message


def encode_message(message: Mapping[str, Any]) -> bytes:
    """A message as it goes over the stream."""
    body = orjson.dumps(message, option=orjson.OPT_NON_STR_KEYS, default=str)
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
