"""A guard under every socket of a Python process: loopback and Unix sockets pass, anything else is refused.

It is an audit hook, so no product code is replaced, and nothing can take it away again.
"""

import ipaddress
import sys
from collections.abc import Sequence
from typing import Any

ATTEMPTS: list[str] = []
"""What was refused in this process, in order."""

_STANDS: list[bool] = []
_NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr")
_ADDRESSES = ("socket.connect", "socket.sendto", "socket.sendmsg")


class ReachedOutside(RuntimeError):
    """Something wanted to leave this machine."""


def put_under_every_socket() -> None:
    """From here on this process reaches loopback only. A worker of the tests is guarded from its start, and once."""
    if not _STANDS:
        sys.addaudithook(_watch)
        _STANDS.append(True)


def _watch(event: str, arguments: Sequence[Any]) -> None:
    if not event.startswith("socket."):
        return
    if event in _NAMES:
        allowed = _is_name_of_loopback(arguments[0])
    elif event in _ADDRESSES:
        allowed = _is_loopback(arguments[1])
    else:
        return
    if not allowed:
        attempt = f"{event} {arguments[0 if event in _NAMES else 1]!r}"
        ATTEMPTS.append(attempt)
        raise ReachedOutside(f"a test wanted to leave this machine: {attempt}")


def _is_loopback(address: Any) -> bool:
    if not isinstance(address, tuple):
        return True
    host = str(address[0]).partition("%")[0]
    return host in ("", "localhost") or _literal(host) in ("loopback", "unspecified")


def _is_name_of_loopback(host: Any) -> bool:
    """Numbers ask no name server; whether they may be reached is asked when they are."""
    text = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else host
    return text is None or text in ("", "localhost", "ip6-localhost") or _literal(text.partition("%")[0]) != "name"


def _literal(host: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "name"
    if address.is_loopback:
        return "loopback"
    return "unspecified" if address.is_unspecified else "outside"
