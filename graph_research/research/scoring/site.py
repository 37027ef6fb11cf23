"""The site of a web address: the domain that somebody registered, without the names of hosts below it."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import urlsplit

_MOST_KEPT = 2_000  # addresses: each source's is asked for again and again
_SECOND_LEVEL = frozenset(
    {"ac", "co", "com", "edu", "gob", "gouv", "gov", "go", "mil", "ne", "net", "nhs", "or", "org"}
)
"""What stands before the two letters of a country in a public suffix, as in `co.uk`."""


def hosts(written: str) -> frozenset[str]:
    """Hosts that are written with white space between them."""
    return frozenset(written.split())


_SHARED_HOSTS = hosts(
    """
    blogspot.com github.io gitlab.io hashnode.dev herokuapp.com medium.com netlify.app pages.dev readthedocs.io
    sourceforge.io substack.com tumblr.com vercel.app wordpress.com
    """
)
"""Domains whose hosts belong to different people."""


@lru_cache(maxsize=_MOST_KEPT)
def host_of(url: str | None) -> str:
    """The host of a web address in lower case without `www.`; empty where there is none."""
    if url is None or not url.startswith(("http://", "https://")):
        return ""
    try:
        return (urlsplit(url).hostname or "").lower().rstrip(".").removeprefix("www.")
    except ValueError:
        return ""


def belongs_to(host: str, domains: Collection[str]) -> bool:
    """Whether a host is one of the domains, or in one of them."""
    while host and host not in domains:
        host = host.partition(".")[2]
    return bool(host)


def site_of(url: str | None) -> str:
    """The registered domain of a web address, such as `example.co.uk` of `docs.example.co.uk`; for a domain whose hosts
    belong to different people the host; for a number the number."""
    host = host_of(url)
    labels = host.split(".")
    if len(labels) < 3 or labels[-1].isdigit() or ":" in host:
        return host
    is_national = len(labels[-1]) == 2 and labels[-2] in _SECOND_LEVEL
    site = ".".join(labels[-3 if is_national else -2 :])
    return ".".join(labels[-3:]) if site in _SHARED_HOSTS else site


def name_of_site(url: str | None) -> str:
    """The letters and digits of a site's name, such as `sqlite` of `https://www.sqlite.org/wal.html`."""
    return re.sub(r"[^a-z0-9]", "", site_of(url).partition(".")[0])
