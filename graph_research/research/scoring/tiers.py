"""Credibility tiers: what each is worth, and which tier a web address gets before anyone has read the page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from graph_research.research.models.source import Quality, Tier
from graph_research.research.scoring.site import belongs_to, host_of, hosts, name_of_site, site_of
from graph_research.text.language.tables import listed

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

_NAME = re.compile(r"[^\W\d_][\w+#-]*")

_PRIMARY_ENDINGS = (".gov", ".edu", ".mil", ".int")
_PRIMARY_NATIONAL = re.compile(r"(?:^|\.)(?:gov|gouv|gob|go|ac|edu|mil)\.[a-z]{2}$")
_PRIMARY_HOSTS = hosts(
    """
    acm.org biorxiv.org cell.com doi.org europa.eu ieee.org jstor.org medrxiv.org nature.com nejm.org plos.org
    pnas.org sciencedirect.com science.org springer.com thelancet.com wiley.com
    """
)
_AUTHORITATIVE_HOSTS = hosts(
    """
    apnews.com arxiv.org bbc.co.uk bbc.com docs.python.org economist.com ft.com ietf.org iso.org nytimes.com oecd.org
    python.org reuters.com rfc-editor.org theguardian.com un.org w3.org washingtonpost.com worldbank.org wsj.com
    """
)
_MAKERS_ENDINGS = (".com", ".dev", ".io", ".net", ".org")
_SHORTEST_NAME = 3
_LANGUAGE = re.compile(r"\A(?:golang|libjs|node|php|python|ruby)\d*-")
"""How the names of packages of libraries begin in Debian and its descendants."""
_AND = re.compile(rf"\s(?:&|{'|'.join(joining for joining, *_ in listed('joining').values())})\s")
"""The first word of each language's list."""
_SECONDARY_HOSTS = frozenset({"britannica.com", "scholarpedia.org", "wikidata.org", "wikipedia.org"})


def tier_of_address(url: str | None, flagged: Collection[str] = ()) -> Tier:
    """The tier that the host of a web address suggests; `UNVERIFIED` for unknown hosts and for local paths.

    Hosts of the domains in `flagged` (lower case) are `FLAGGED`. Otherwise .gov, .edu and journals are primary; major
    news and standards bodies are authoritative; encyclopedias are secondary.
    """
    host = host_of(url)
    if not host:
        return Tier.UNVERIFIED
    if belongs_to(host, flagged):
        return Tier.FLAGGED
    if belongs_to(host, _AUTHORITATIVE_HOSTS):
        return Tier.AUTHORITATIVE
    if belongs_to(host, _SECONDARY_HOSTS):
        return Tier.SECONDARY
    if host.endswith(_PRIMARY_ENDINGS) or _PRIMARY_NATIONAL.search(host) or belongs_to(host, _PRIMARY_HOSTS):
        return Tier.PRIMARY_SOURCE
    return Tier.UNVERIFIED


def is_makers_site(url: str | None, names: Collection[str]) -> bool:
    """Whether a web address belongs to the maker of a thing of one of these names: its site has that name, such as
    `sqlite.org`, under a domain that such sites use. What a maker says of its own product is official."""
    if not site_of(url).endswith(_MAKERS_ENDINGS):
        return False
    each = [part for name in names for part in _AND.split(name.casefold())]
    written = {re.sub(r"[^a-z0-9]", "", name) for name in each}
    name = name_of_site(url)
    return len(name) >= _SHORTEST_NAME and name in written


def is_maker(publisher: str | None, names: Collection[str]) -> bool:
    """Whether a publisher is called like a thing of one of these names, but for what the name of a package adds: a
    number, as in `sqlite3`, and of a library the language that it is for, as in `python3-django`."""
    called = _LANGUAGE.sub("", (publisher or "").casefold()).rstrip("0123456789.-_ ")
    return bool(called) and called in {name.casefold() for name in names}


class Document(Protocol):
    """What a source says of who made it, and the tier that it was given."""

    @property
    def tier(self) -> str: ...
    @property
    def publisher(self) -> str | None: ...
    @property
    def url(self) -> str | None: ...


class Makers:
    """Which of a research's sources are authoritative documents of a maker about a thing of its own: one that a
    statement names or, where it names nothing made by a maker of the sources, one that the question names."""

    def __init__(self, question: str, sources: Iterable[Document]) -> None:
        self._asked = _NAME.findall(question)
        official = [source for source in sources if _is_official(source)]
        self._one_of_each = {(source.publisher, site_of(source.url)): source for source in official}.values()

    def documents(self, text: str, support: Iterable[Document]) -> int:
        """How many of the sources that support a statement are such documents."""
        official = [source for source in support if _is_official(source)]
        named = _NAME.findall(text) if official else []
        if official and not any(_is_by_maker(source, named) for source in self._one_of_each):
            named = self._asked
        return sum(_is_by_maker(source, named) for source in official)


def _is_official(source: Document) -> bool:
    return source.tier in (Tier.PRIMARY_SOURCE, Tier.AUTHORITATIVE)


def _is_by_maker(source: Document, names: Collection[str]) -> bool:
    return is_maker(source.publisher, names) or is_makers_site(source.url, names)


def preliminary_quality(tier: Tier) -> Quality:
    """The quality of a source until the analyzer has judged it."""
    return _QUALITY[tier]
