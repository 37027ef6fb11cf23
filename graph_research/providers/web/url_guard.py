"""What a URL really names, and which addresses are never fetched from."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from urllib.parse import quote, urljoin

_MOST_CHARS = 4_000
_PORTS = {"http": 80, "https": 443}
_PRIVATE_NAMES = (
    *("localhost", "local", "invalid", "onion", "alt", "internal", "home.arpa"),
    *("localdomain", "intranet", "private", "corp", "home", "lan"),
)
"""Names that no public name server answers for (RFC 6761, 6762, 8375, 9476), and those that house networks use."""

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")

_IPV4: tuple[tuple[IPv4Network, str], ...] = tuple(
    (IPv4Network(network), what)
    for network, what in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "this machine"),
        ("168.63.129.16/32", "a cloud's metadata"),
        ("169.254.0.0/16", "link-local, where clouds keep metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "documentation"),
        ("192.31.196.0/24", "reserved"),
        ("192.52.193.0/24", "reserved"),
        ("192.88.99.0/24", "a relay into other networks"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "reserved"),
        ("198.18.0.0/15", "benchmarks"),
        ("198.51.100.0/24", "documentation"),
        ("203.0.113.0/24", "documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
"""IANA's special-purpose registry of IPv4."""

_IPV6: tuple[tuple[IPv6Network, str], ...] = tuple(
    (IPv6Network(network), what)
    for network, what in (
        ("::1/128", "this machine"),
        ("::/128", "unspecified"),
        ("::ffff:0:0/96", "an IPv4 address in disguise"),
        ("::/96", "an IPv4 address in disguise"),
        ("::ffff:0:0:0/96", "an IPv4 address in disguise"),
        ("64:ff9b::/96", "a way into IPv4 (NAT64)"),
        ("64:ff9b:1::/48", "a way into IPv4 (NAT64)"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private (site-local)"),
        ("ff00::/8", "multicast"),
        ("2001::/32", "a way into IPv4 (Teredo)"),
        ("2001::/23", "reserved"),
        ("2001:db8::/32", "documentation"),
        ("2002::/16", "a way into IPv4 (6to4)"),
        ("3fff::/20", "documentation"),
    )
)
"""IANA's special-purpose registry of IPv6; beside it everything outside of 2000::/3, which alone is handed out."""

_GLOBAL_IPV6 = IPv6Network("2000::/3")

_OWN = ("private", "shared by a carrier", "this machine")
"""What a host of the user's own may be; metadata services and the like are never fetched from."""


class AddressInvalid(ValueError):
    """A URL that names nothing which may be fetched; the text says why."""


@dataclass(frozen=True, kw_only=True)
class WebAddress:
    """A URL taken apart. `host` is in ASCII and lower case, without a last dot, or an address without brackets;
    `target` is path and query, without a fragment."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def netloc(self) -> str:
        """Host and port as they stand in a URL and in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.netloc}"

    def __str__(self) -> str:
        return self.origin + self.target

    def join(self, location: str) -> str:
        """The URL that `location`, as a redirect names it, means from here."""
        return urljoin(str(self), location)


@dataclass(frozen=True)
class OwnHosts:
    """Hosts of the user's own, `NAME` or `NAME:PORT`, that may be fetched although they are private."""

    hosts: frozenset[tuple[str, int | None]] = frozenset()

    @classmethod
    def named(cls, entries: Iterable[str]) -> OwnHosts:
        """From the user's words; `AddressInvalid` names the entry that is not a host."""
        return cls(frozenset(_entry(entry) for entry in entries))

    def allow(self, host: str, port: int) -> bool:
        """With a port named, that port alone; without one, 80 and 443."""
        return (host, port) in self.hosts or (port in _PORTS.values() and (host, None) in self.hosts)


def read_address(url: str, own: OwnHosts) -> WebAddress:
    """What `url` names, however it is written; `AddressInvalid` where that is not to be fetched. A name may still lead
    to a private address: that is asked when it is connected to."""
    if len(url) > _MOST_CHARS:
        raise AddressInvalid(f"it has more than {_MOST_CHARS:,} characters")
    text = url.strip(" ")
    if any(unicodedata.category(char)[0] == "C" or (char.isspace() and char != " ") for char in text):
        raise AddressInvalid("it holds control characters")
    found = re.fullmatch(r"(?i:(?P<scheme>[a-z][a-z0-9+.-]*):)//(?P<authority>[^/?#]*)(?P<target>[^#]*)(?:#.*)?", text)
    if found is None or found["scheme"].lower() not in _PORTS:
        raise AddressInvalid("it does not begin with http:// or https://")
    scheme = found["scheme"].lower()
    host, port = _host_and_port(found["authority"], _PORTS[scheme])
    if not own.allow(host, port):
        _check_public(host, port)
    path, mark, query = found["target"].partition("?")
    target = quote(path or "/", safe="/%:@!$&'()*+,;=~-._") + mark + quote(query, safe="/%:@!$&'()*+,;=~-._?[]|{}")
    return WebAddress(scheme=scheme, host=host, port=port, target=target)


def why_private(address: str, *, own: bool = False) -> str | None:
    """What keeps `address`, numbers without brackets, from being fetched from; None where it is public. `own` lets pass
    what a host of the user's own may be."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "no address"
    what = _special(parsed)
    return None if own and what in _OWN else what


def _special(address: IPv4Address | IPv6Address) -> str | None:
    if isinstance(address, IPv4Address):
        return next((what for network, what in _IPV4 if address in network), None)
    if address.scope_id is not None:
        return "link-local"
    if address == IPv6Address("fd00:ec2::254"):
        return "a cloud's metadata"
    special = next((what for network, what in _IPV6 if address in network), None)
    return special if special or address in _GLOBAL_IPV6 else "reserved"


def _check_public(host: str, port: int) -> None:
    if port not in _PORTS.values():
        raise AddressInvalid(f"port {port} is neither 80 nor 443")
    if _is_literal(host):
        if what := why_private(host):
            raise AddressInvalid(f"{host} is {what}")
        return
    if "." not in host or any(host == name or host.endswith("." + name) for name in _PRIVATE_NAMES):
        raise AddressInvalid(f"{host} is a name of a private network")


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _entry(text: str) -> tuple[str, int | None]:
    """`NAME`, `NAME:PORT`, `[ADDRESS]:PORT`."""
    host, port = _host_and_port(text.strip(), 0)
    return host, port or None


def _host_and_port(authority: str, default_port: int) -> tuple[str, int]:
    if "@" in authority:
        raise AddressInvalid("it holds a user or a password")
    found = re.fullmatch(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?::(?P<port>\d{0,5}))?", authority, re.ASCII)
    if found is None or not found["host"]:
        raise AddressInvalid("it names no host")
    port = int(found["port"]) if found["port"] else default_port
    if port > 65_535:
        raise AddressInvalid(f"port {port} is out of range")
    return _host(found["host"]), port


def _host(text: str) -> str:
    if text.startswith("["):
        try:
            return str(IPv6Address(text[1:-1]))
        except ValueError:
            raise AddressInvalid(f"{text[:60]} is not a valid address") from None
    name = unicodedata.normalize("NFKC", text).replace("。", ".").casefold()
    if not name.isascii():
        try:
            name = name.encode("idna").decode("ascii")
        except UnicodeError:
            raise AddressInvalid(f"{text[:60]!r} is not a valid host name") from None
    name = name.removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _numeric_host(labels, text)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise AddressInvalid(f"{text[:60]!r} is not a valid host name")
    return name


def _numeric_host(labels: list[str], text: str) -> str:
    """One to four numbers, decimal, octal or hexadecimal; the last fills what is left, as browsers and libc read it."""
    numbers = [_number(label) for label in labels]
    *first, last = [-1 if number is None else number for number in numbers]
    if len(labels) > 4 or any(not 0 <= number <= 255 for number in first) or not 0 <= last < 256 ** (4 - len(first)):
        raise AddressInvalid(f"{text[:60]!r} is not a valid address")
    value = last + sum(number << (8 * (3 - place)) for place, number in enumerate(first))
    return str(IPv4Address(value))


def _number(label: str) -> int | None:
    for prefix, base in (("0x", 16), ("0", 8), ("", 10)):
        if label.startswith(prefix):
            digits = label.removeprefix(prefix) or "0"
            allowed = "0123456789abcdef"[:base]
            return int(digits, base) if len(digits) < 20 and all(digit in allowed for digit in digits) else None
    return None
