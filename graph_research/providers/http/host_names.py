"""What a host's name or number alone says of where it is; nothing is looked up."""

from __future__ import annotations

import ipaddress

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
