"""Credibility tiers: what each is worth, and which tier a web address gets before anyone has read the page."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from graph_research.research.models.source import Quality, Tier

CREDIBILITY: Mapping[Tier, float] = {
    Tier.PRIMARY_SOURCE: 1.0,
    Tier.AUTHORITATIVE: 0.85,
    Tier.SECONDARY: 0.65,
    Tier.UNVERIFIED: 0.3,
    Tier.FLAGGED: 0.0,
}
"""The credibility of a source by its tier, 0 to 1."""

AUTHORITY: Mapping[Tier, float] = {tier: 100 * credibility for tier, credibility in CREDIBILITY.items()}
"""The authority of a source by its tier, 0 to 100."""

_QUALITY: Mapping[Tier, Quality] = {
    Tier.PRIMARY_SOURCE: Quality.HIGH,
    Tier.AUTHORITATIVE: Quality.HIGH,
    Tier.SECONDARY: Quality.MEDIUM,
    Tier.UNVERIFIED: Quality.MEDIUM,
    Tier.FLAGGED: Quality.LOW,
}

_PRIMARY_ENDINGS = (".gov", ".edu", ".mil", ".int")
_PRIMARY_NATIONAL = re.compile(r"(?:^|\.)(?:gov|gouv|gob|go|ac|edu|mil)\.[a-z]{2}$")
_PRIMARY_HOSTS = frozenset(
    {
        "acm.org",
        "biorxiv.org",
        "cell.com",
        "doi.org",
        "europa.eu",
        "ieee.org",
        "jstor.org",
        "medrxiv.org",
        "nature.com",
        "nejm.org",
        "plos.org",
        "pnas.org",
        "sciencedirect.com",
        "science.org",
        "springer.com",
        "thelancet.com",
        "wiley.com",
    }
)
_AUTHORITATIVE_HOSTS = frozenset(
    {
        "apnews.com",
        "arxiv.org",
        "bbc.co.uk",
        "bbc.com",
        "docs.python.org",
        "economist.com",
        "ft.com",
        "ietf.org",
        "iso.org",
        "nytimes.com",
        "oecd.org",
        "python.org",
        "reuters.com",
        "rfc-editor.org",
        "theguardian.com",
        "un.org",
        "w3.org",
        "washingtonpost.com",
        "worldbank.org",
        "wsj.com",
    }
)
_SECONDARY_HOSTS = frozenset({"britannica.com", "scholarpedia.org", "wikidata.org", "wikipedia.org"})


def tier_of_address(url: str | None, flagged: Collection[str] = ()) -> Tier:
    """The tier that the host of a web address suggests; `UNVERIFIED` for unknown hosts and for local paths.

    Hosts of the domains in `flagged` (lower case) are `FLAGGED`. Otherwise .gov, .edu and journals are primary; major
    news and standards bodies are authoritative; encyclopedias are secondary.
    """
    host = _host(url)
    if not host:
        return Tier.UNVERIFIED
    if _belongs(host, flagged):
        return Tier.FLAGGED
    if _belongs(host, _AUTHORITATIVE_HOSTS):
        return Tier.AUTHORITATIVE
    if _belongs(host, _SECONDARY_HOSTS):
        return Tier.SECONDARY
    if host.endswith(_PRIMARY_ENDINGS) or _PRIMARY_NATIONAL.search(host) or _belongs(host, _PRIMARY_HOSTS):
        return Tier.PRIMARY_SOURCE
    return Tier.UNVERIFIED


def preliminary_quality(tier: Tier) -> Quality:
    """The quality of a source until the analyzer has judged it."""
    return _QUALITY[tier]


def _host(url: str | None) -> str:
    if url is None or not url.startswith(("http://", "https://")):
        return ""
    try:
        return (urlsplit(url).hostname or "").lower().rstrip(".")
    except ValueError:
        return ""


def _belongs(host: str, hosts: Collection[str]) -> bool:
    while host and host not in hosts:
        host = host.partition(".")[2]
    return bool(host)
