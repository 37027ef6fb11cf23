"""What a host's name or number alone says of where it is; nothing is looked up."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

_OF_PRIVATE_NETWORKS = (".local", ".localhost", ".lan", ".internal", ".home.arpa")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine for itself."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_local(host: str) -> bool:
    """Whether a host is this machine, or one of a private network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_OF_PRIVATE_NETWORKS)
    return address.is_loopback or address.is_private or address.is_link_local


def names_of_server(url: str) -> tuple[str, ...]:
    """How messages may name the server of an address, the longest first; none where it is this machine, which tells
    nothing. A host without a dot is a word by itself, and is named only with its port."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if not host or is_loopback(host):
        return ()
    names = {parts.netloc, *([host] if "." in host or ":" in host else [])}
    if parts.port is not None:
        names.add(f"{host}:{parts.port}")
    return tuple(sorted(names, key=len, reverse=True))
