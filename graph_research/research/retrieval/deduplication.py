"""What makes two search results the same document: address, DOI, text, or a near-identical title of the same work."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from graph_research.providers.search.base import Extent, SearchHit
from graph_research.providers.search.support.doi import normal_doi

SAME_TITLE = 95.0
"""How alike two titles must be (rapidfuzz ratio, 0 to 100) to name one work."""

_LEAST_TITLE_CHARS = 20
_LEAST_TITLE_WORDS = 4
_TRACKING = re.compile(
    r"utm_.*|hsa_.*|pk_.*|mtm_.*|mc_[ce]id|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|igshid|"
    r"srsltid|_ga|_gl|_hsenc|_hsmi|mkt_tok|oly_(?:anon|enc)_id|vero_id|ref_src|wt\.mc_id|cmpid",
    re.IGNORECASE,
)
_DEFAULT_PORTS = (80, 443)
_MOST_KEPT = 2_000  # addresses and identities: each hit's is asked for again whenever it is compared
_ARXIV = re.compile(r"https://(?:export\.)?arxiv\.org/(?:abs|pdf|html)/([a-z-]+(?:\.[A-Z]{2})?/\d{7}|\d{4}\.\d{4,5})")
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@lru_cache(maxsize=_MOST_KEPT)
def canonical_url(url: str) -> str:
    """One spelling for the addresses of one web page; other addresses stay as they are.

    `https` stands for both schemes. The host is in lower case without `www.` and user names, the port is left out
    where it is a default one. Tracking parameters, the fragment (but one that routes, `#/…` and `#!…`) and a slash at
    the end of the path do not count; the other parameters are sorted. A mobile host stays a host of its own: what it
    shows may differ.
    """
    url = url.strip()
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return url
    if parts.scheme.lower() not in ("http", "https") or not host:
        return url
    while host.startswith("www.") and host.count(".") > 1:
        host = host.removeprefix("www.")
    host = f"[{host}]" if ":" in host else host
    given = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode(sorted((name, value) for name, value in given if not _TRACKING.fullmatch(name)))
    fragment = parts.fragment if parts.fragment.startswith(("/", "!")) else ""
    place = host if port in (None, *_DEFAULT_PORTS) else f"{host}:{port}"
    return urlunsplit(("https", place, _spelled(parts.path).rstrip("/"), query, fragment))


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What a document is known by; what is None or empty is unknown and tells nothing."""

    provider: str = ""
    url: str | None = None
    doi: str | None = None
    text: str | None = None
    """Hash of its text, where that is more than a snippet."""
    title: str = ""
    year: str | None = None
    author: str | None = None
    numbers: frozenset[str] = frozenset()

    @classmethod
    def of_hit(cls, hit: SearchHit) -> Identity:
        """Of a search result."""
        is_whole = hit.extent is Extent.FULL and hit.document.text.strip()
        text = hit.document.hash if is_whole else None
        return _identity(hit.provider, hit.url, hit.doi, text, hit.title, hit.published_at, _first(hit.authors))

    @classmethod
    def of_source(cls, row: Mapping[str, Any]) -> Identity:
        """Of a source of the state (`schemas/source.json`)."""
        is_whole = (row.get("metadata") or {}).get("extent", Extent.FULL) == Extent.FULL
        text = row.get("archive_hash") if is_whole else None
        named = map(row.get, ("provider", "url", "doi"))
        return _identity(*named, text, row.get("title"), row.get("published_at"), _first(row.get("authors")))

    @property
    def marks(self) -> list[tuple[str, str]]:
        """What no two different documents share."""
        named = (("url", self.url), ("doi", self.doi), ("text", self.text))
        return [(kind, value) for kind, value in named if value]

    def same_work(self, other: Identity) -> bool:
        """Whether the titles name one work: nearly the same words and the same numbers, found by two providers (each
        knows its own documents apart), by the same author or of the same year, and nothing known that differs."""
        if self.provider == other.provider or self.numbers != other.numbers:
            return False
        if not (_telling(self.title) and _telling(other.title)):
            return False
        pairs = [(self.year, other.year), (self.author, other.author)]
        known = [(one, two) for one, two in pairs if one and two]
        if not known or any(one != two for one, two in known) or (self.doi and other.doi and self.doi != other.doi):
            return False
        from rapidfuzz import fuzz  # few titles come as far as this

        return fuzz.ratio(self.title, other.title, score_cutoff=SAME_TITLE) > 0


@dataclass
class Seen:
    """Documents that were met, each under a name; `find` says under which one a document was met before."""

    _by_mark: dict[tuple[str, str], str] = field(default_factory=dict)
    _titled: list[tuple[Identity, str]] = field(default_factory=list)

    def find(self, identity: Identity, *, titles: bool = True) -> str | None:
        """The name of the document that this is, None for a new one. Marks count before titles, and alone where not
        `titles`."""
        for mark in identity.marks:
            if mark in self._by_mark:
                return self._by_mark[mark]
        titled = self._titled if titles else ()
        return next((name for known, name in titled if known.same_work(identity)), None)

    def add(self, identity: Identity, name: str) -> None:
        """Remember a document under `name`; a mark that is known already keeps its first name."""
        for mark in identity.marks:
            self._by_mark.setdefault(mark, name)
        self._titled.append((identity, name))


@lru_cache(maxsize=_MOST_KEPT)
def _identity(
    provider: str | None,
    url: str | None,
    doi: str | None,
    text: str | None,
    title: str | None,
    published_at: str | None,
    author: str,
) -> Identity:
    address = canonical_url(url) if url and "://" in url else None
    words = " ".join(re.findall(r"\w+", (title or "").casefold()))
    return Identity(
        provider=provider or "",
        url=address,
        doi=normal_doi(doi) or _doi_of(address),
        text=text,
        title=words,
        year=(published_at or "")[:4] or None,
        author=_surname(author),
        numbers=frozenset(re.findall(r"\d+", words)),
    )


def _first(authors: Sequence[str] | None) -> str:
    return authors[0] if authors else ""


def _spelled(path: str) -> str:
    """Escapes of signs that need none are undone, the others written in capital letters."""

    def once(match: re.Match[str]) -> str:
        sign = chr(int(match[1], 16))
        return sign if sign in _UNRESERVED else match[0].upper()

    return _ESCAPE.sub(once, path)


def _doi_of(url: str | None) -> str | None:
    """The DOI that a resolver's address or one of arXiv stands for."""
    if url is None:
        return None
    if url.startswith(("https://doi.org/", "https://dx.doi.org/")):
        return normal_doi(unquote(url))
    found = _ARXIV.match(url)
    return f"10.48550/arxiv.{found[1].lower()}" if found else None


def _surname(author: str) -> str | None:
    """`Smith, Jane` and `Jane Smith` are both `smith`."""
    name = author.partition(",")[0] if "," in author else (author.split() or [""])[-1]
    return name.strip().casefold() or None


def _telling(title: str) -> bool:
    return len(title) >= _LEAST_TITLE_CHARS and title.count(" ") + 1 >= _LEAST_TITLE_WORDS
