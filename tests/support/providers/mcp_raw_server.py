"""What an MCP server says, line by line or request by request, for tests of what servers do that no package allows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson

__all__ = ["reply"]

SEARCH = {"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}}}


def reply(asked: dict[str, Any], *, page_of_tool: int | None = 0, found: str = "A lagoon.") -> dict[str, Any] | None:
    """The answer to one message, None to a notification. The tool `search` stands on the page `page_of_tool` of the
    list, counted from 0; the list has no end where that is None."""
    method, params = asked["method"], asked.get("params") or {}
    if "id" not in asked:
        return None
    whole = {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        told = {"name": "speech", "version": "1"}
        return {
            **whole,
            "result": {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": told,
            },
        }
    if method == "tools/list":
        page = int(params.get("cursor") or 0)
        here = [SEARCH] if page == page_of_tool else [{**SEARCH, "name": f"tool-{page}"}]
        more = {} if page == page_of_tool else {"nextCursor": str(page + 1)}
        return {**whole, "result": {"tools": here, **more}}
    if method == "tools/call":
        return {**whole, "result": {"content": [{"type": "text", "text": found}]}}
    return {**whole, "error": {"code": -32601, "message": "no such method"}}


def main() -> None:
    """A server on standard input and output: `paged N`; `endless`, a line without end in place of a result; or `once
    FILE`, which ends without a result, and does better when it is started again."""
    how = sys.argv[1]
    for line in sys.stdin.buffer:
        asked = orjson.loads(line)
        if how == "once" and asked["method"] == "tools/call" and not Path(sys.argv[2]).exists():
            sys.exit(Path(sys.argv[2]).write_text("It ended once."))
        while how == "endless" and asked["method"] == "tools/call":
            sys.stdout.write("x" * 1_000_000)
        if (answer := reply(asked, page_of_tool=int(sys.argv[2]) if how == "paged" else 0)) is not None:
            sys.stdout.buffer.write(orjson.dumps(answer) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
