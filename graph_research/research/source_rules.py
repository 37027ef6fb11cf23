"""Which sources a research may use: one set of rules for every search provider, applied before a page is read."""

from __future__ import annotations

import mimetypes
import re
from calendar import monthrange
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from graph_research.errors import UserMistake, suggestion
from graph_research.providers.search.base import LOCAL, Extent, SearchHit, SearchProvider
from graph_research.research.scoring.site import belongs_to, host_of
from graph_research.text.language.tags import UNDETERMINED, primary, question_language
from graph_research.text.language.words import language_of

_LEAST_CHARS = 200  # of a text whose language is judged by its commonest words
_LEAST_SAID_CHARS = 40  # of a title and a shorter text together whose language all their words tell
_LICENCE_URL = re.compile(r"creativecommons\.org/(?:licenses|publicdomain)/([a-z-]+)(?:/([\d.]+))?", re.IGNORECASE)
_JOINED_LICENCE = re.compile(r"cc(?:by|nc|nd|sa)+")
_NOT_LIMITING = re.compile(r"[\d.]+|v\d[\d.]*|igo|international|or|later|only|license|licence")


class Exclusion(StrEnum):
    """Why a source may not be used."""

    DENIED_DOMAIN = "denied_domain"
    OTHER_DOMAIN = "other_domain"
    MEDIA_TYPE = "media_type"
    LANGUAGE = "language"
    TOO_OLD = "too_old"
    TOO_NEW = "too_new"
    LICENCE = "licence"


class MediaTypeUnknown(UserMistake):
    """A rule names a media type or suffix that no file is known by, so that it would exclude every source."""


class PeriodEmpty(UserMistake):
    """Rules for dates that no day fits."""


@dataclass(frozen=True, kw_only=True)
class SourceRules:
    """What a source must be; an empty field asks for nothing. The fields are called like the settings of the user.
    `MediaTypeUnknown` where one of `media_types` is a suffix or the beginning of a type that no file has, `PeriodEmpty`
    where `published_until` is before `published_from`.

    Domains are in lower case and stand for their subdomains too; they are asked of web addresses only, since a
    local document has none. `source_kinds` are web, academic, news and local. `media_types` are such as
    `application/pdf`, `text/*`, or a suffix such as `docx`. Dates are a year, a month or a day in ISO 8601, both
    ends included. Where date, language or media type of a source are not known, it is kept; where its licence is
    not, it is excluded once its text was read. Sources of `flagged_domains` are not excluded but `FLAGGED`.
    `protected_sources` are domains, addresses and file names, in which `*` stands for anything: they are kept
    before others, and shown as a headline at least.
    """

    allow_domains: tuple[str, ...] = ()
    deny_domains: tuple[str, ...] = ()
    flagged_domains: tuple[str, ...] = ()
    protected_sources: tuple[str, ...] = ()
    source_kinds: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    source_languages: tuple[str, ...] = ()
    published_from: str | None = None
    published_until: str | None = None
    licences: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.first_day and self.last_day and self.last_day < self.first_day:
            raise PeriodEmpty(
                f"published_until: {self.published_until} ends before {self.published_from} begins",
                help="exchange them",
            )
        for name in self.media_types:
            if not _is_known(name.lower()):
                meant = suggestion(name.lower(), [suffix[1:] for suffix in _library_types()])
                raise MediaTypeUnknown(
                    f"media_types: no file is known to be of type {name!r}",
                    help=f"{meant}name suffixes such as pdf, or types such as text/html or text/*",
                )

    @property
    def excludes(self) -> bool:
        """Whether any source could be excluded."""
        return replace(self, flagged_domains=(), protected_sources=()) != SourceRules()

    @property
    def first_day(self) -> str | None:
        """The first day that `published_from` allows."""
        return None if self.published_from is None else (self.published_from + "-01-01")[:10]

    @property
    def last_day(self) -> str | None:
        """The last day that `published_until` allows."""
        if self.published_until is None or len(self.published_until) == len("2024-01-01"):
            return self.published_until
        year, month = int(self.published_until[:4]), int(self.published_until[5:7] or 12)
        return f"{year:04}-{month:02}-{monthrange(year, month)[1]}"

    def joined(self, row: Mapping[str, Any]) -> SourceRules:
        """These rules with those of a node, by the names of the fields: what is denied, flagged or protected is added,
        anything else replaces what is here. A name that is no field is left out."""
        given: dict[str, Any] = {
            field.name: tuple(value) if isinstance(value, list) else value
            for field in fields(self)
            if (value := row.get(field.name))
        }
        for name in given.keys() & {"allow_domains", "deny_domains", "flagged_domains"}:
            given[name] = tuple(map(str.lower, given[name]))
        for name in given.keys() & {"deny_domains", "flagged_domains", "protected_sources"}:
            given[name] = (*getattr(self, name), *given[name])
        return replace(self, **given)

    def protects(self, hit: SearchHit) -> bool:
        """Whether the user marked the source of a search result, by its domain, its address or its file's name."""
        addresses = [str(name).lower() for name in (hit.url, hit.metadata.get("read_at")) if name]
        if any(belongs_to(host_of(address), self.protected_sources) for address in addresses):
            return True
        marks = [mark.lower() for mark in self.protected_sources]
        return any(fnmatchcase(name, mark) or fnmatchcase(name, f"*/{mark}") for name in addresses for mark in marks)

    def kinds_of(self, provider: SearchProvider) -> frozenset[str]:
        """The kinds of sources of a provider that may be used; a provider without any is not asked."""
        kinds = frozenset({LOCAL}) if provider.name == LOCAL else provider.serves
        return kinds & frozenset(self.source_kinds) if self.source_kinds else kinds

    def why_excluded(self, hit: SearchHit, *, is_read: bool = False) -> Exclusion | None:
        """The first reason why a search result may not be used, None where it may. It `is_read` once its page was
        tried: nothing more will be known of it."""
        addresses = [address for address in (hit.url, hit.metadata.get("read_at")) if host_of(address)]
        if any(belongs_to(host_of(address), self.deny_domains) for address in addresses):
            return Exclusion.DENIED_DOMAIN
        if self.allow_domains and not all(belongs_to(host_of(address), self.allow_domains) for address in addresses):
            return Exclusion.OTHER_DOMAIN
        if self.media_types and not _is_of_type(_media_type(hit), self.media_types):
            return Exclusion.MEDIA_TYPE
        if (why := self._why_date(hit.published_at or hit.document.date or "")) is not None:
            return why
        if self.source_languages and not _is_in(hit, self.source_languages):
            return Exclusion.LANGUAGE
        licence = str(hit.metadata.get("licence") or hit.document.licence)
        is_known = bool(licence) or is_read or hit.extent is Extent.FULL
        if self.licences and is_known and not any(_permits(allowed, licence) for allowed in self.licences):
            return Exclusion.LICENCE
        return None

    def _why_date(self, published: str) -> Exclusion | None:
        """A date that is known in part is compared as far as it is known."""
        day = published[:10]
        first, last = self.published_from or "", self.published_until or ""
        if day and first and day[: len(first)] < first[: len(day)]:
            return Exclusion.TOO_OLD
        return Exclusion.TOO_NEW if day and last and day[: len(last)] > last[: len(day)] else None


@dataclass(frozen=True, kw_only=True)
class ExcludedSource:
    """A search result that may not be used; `address` is its web address, its path or its title."""

    address: str
    reason: Exclusion

    def to_json(self) -> dict[str, str]:
        """`{address, reason}`."""
        return {"address": self.address, "reason": self.reason.value}


def sift(
    hits: Sequence[SearchHit], rules: SourceRules, *, is_read: bool = False
) -> tuple[tuple[SearchHit, ...], tuple[ExcludedSource, ...]]:
    """The hits that may be used, and the others with their reasons."""
    reasons = [rules.why_excluded(hit, is_read=is_read) for hit in hits] if rules.excludes else [None] * len(hits)
    pairs = list(zip(hits, reasons, strict=True))
    return (
        tuple(hit for hit, reason in pairs if reason is None),
        tuple(
            ExcludedSource(address=hit.url or hit.title, reason=reason) for hit, reason in pairs if reason is not None
        ),
    )


def _media_type(hit: SearchHit) -> str:
    """The media type of a source: of the file or page where it was read, else by its address; empty where that does not
    tell it."""
    if hit.provider == LOCAL or hit.metadata.get("bytes_hash"):
        return hit.content_type
    return mimetypes.guess_type(urlsplit(hit.metadata.get("pdf_url") or hit.url or "").path)[0] or ""


def _is_of_type(media_type: str, allowed: Collection[str]) -> bool:
    if not media_type:
        return True
    main, _, sub = media_type.partition("/")
    names = {name.lower() for name in allowed}
    return not names.isdisjoint({media_type, f"{main}/*", sub}) or any(media_type in _types_of(name) for name in names)


def _is_known(name: str) -> bool:
    """Whether files of a media type or with a suffix are known; of a type any that begins like others counts."""
    from graph_research.text.readers.formats import FORMATS  # loads all readers, which few rules need

    main, slash, _ = name.partition("/")
    known = [each.partition("/") for each in (*FORMATS, *mimetypes.types_map.values())]
    if slash:
        return any(main == each for each, _, _ in known)
    return any(name == each for _, _, each in known) or bool(_types_of(name) - {None})


def _types_of(suffix: str) -> set[str | None]:
    """The media types of files with a suffix, such as `docx`: that of the library and that of the web."""
    if "/" in suffix:
        return set()
    return {_library_types().get(f".{suffix}"), mimetypes.guess_type(f"file.{suffix}")[0]}


def _library_types() -> Mapping[str, str]:
    """The media types that the library reads, by suffix."""
    from graph_research.text.readers.formats import MEDIA_TYPES

    return MEDIA_TYPES


def _is_in(hit: SearchHit, languages: Collection[str]) -> bool:
    """Whether a source is in one of these languages: by its text; a short one also where it declares one of them, else
    by its title and text, which in very few words tell nothing."""
    allowed = set(map(primary, languages))
    text = hit.document.text
    if len(text) >= _LEAST_CHARS:
        return language_of(text) in allowed
    said = f"{hit.title}\n{text}"
    declared = hit.document.language
    told = question_language(said) if len(said) >= _LEAST_SAID_CHARS else declared or UNDETERMINED
    return not allowed.isdisjoint((declared, told)) or told == UNDETERMINED


def _permits(allowed: str, licence: str) -> bool:
    """Whether a licence is the allowed one, in any version of it."""
    wanted, given = _licence_words(allowed), _licence_words(licence)
    return given[: len(wanted)] == wanted and all(map(_NOT_LIMITING.fullmatch, given[len(wanted) :]))


def _licence_words(name: str) -> list[str]:
    if address := _LICENCE_URL.search(name):
        kind = "0" if address[1].lower() == "zero" else address[1]
        name = f"cc {kind} {address[2] or ''}"
    words = re.findall(r"[a-z]+|[\d.]+", name.lower())
    parts = (re.findall("cc|by|nc|nd|sa", word) if _JOINED_LICENCE.fullmatch(word) else [word] for word in words)
    return [part for several in parts for part in several]
