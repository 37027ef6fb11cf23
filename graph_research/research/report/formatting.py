"""How values are shown in a report: texts without control characters, web links only, names and dates in words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from graph_research.research.evidence.citations import CitedContradiction
from graph_research.research.report.model import Report, ReportGap, ReportSource, Retries, RoleUse
from graph_research.text.wording import shortened

# Controls but tab and newline, direction overrides and isolates, and the invisible tag characters; a text must not
# be able to reorder or hide what stands beside it.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff"
    "\U000e0000-\U000e007f]"
)
_SHORT_CHARS = 64
_LOCATOR = re.compile(r"(?:page:(\d+):)?char:(\d+)-(\d+)")


def clean(text: str) -> str:
    """The text without characters that are invisible or change how their neighbours are shown."""
    return _UNSHOWABLE.sub("", text)


def one_line(text: str) -> str:
    """The cleaned text with every run of whitespace as one space."""
    return " ".join(clean(text).split())


def web_link(url: str | None) -> str | None:
    """The URL if it is a plain http or https one, else None: it may then be shown, never followed."""
    if not url or any(character.isspace() or not character.isprintable() for character in url):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def source_title(source: ReportSource) -> str:
    """What a source is called: its title, else its address, else its id."""
    return one_line(source.title) or one_line(source.url or "") or source.id


def attribution(source: ReportSource) -> str:
    """Who says it and when, short enough to stand behind a quote: `National Audit Chamber, 2018`."""
    who = one_line(source.publisher or "") or _authors(source) or source_title(source)
    who = shortened(who, _SHORT_CHARS)
    year = (source.published_at or "")[:4]
    return f"{who}, {year}" if year.isdigit() else who


def description_beside_values(contradiction: CitedContradiction) -> str:
    """The description, but nothing where it only strings the sides' values together, which are shown anyway."""
    rest = contradiction.description
    for side in contradiction.sides:
        rest = rest.replace(side.value, "")
    return contradiction.description if any(map(str.isalnum, rest)) else ""


def closed(gap: ReportGap) -> str:
    """How a gap was resolved; in its own iteration only the analysis was repeated, without new sources."""
    if gap.addressed_in == gap.iteration:
        return "resolved by a second analysis"
    return "resolved" if gap.addressed_in is None else f"resolved in iteration {gap.addressed_in}"


def day(timestamp: str | None) -> str:
    """The date of an ISO 8601 time, or a dash."""
    return one_line(timestamp[:10]) if timestamp else "–"


def percent(share: float) -> str:
    """`0.634` as `63%`."""
    return f"{share * 100:.0f}%"


def place(locator: str) -> str:
    """A locator in words: `page 3, characters 120–180`, counted as the locator counts, from 0."""
    match = _LOCATOR.fullmatch(locator)
    if not match:
        return one_line(locator)
    page = f"page {match[1]}, " if match[1] else ""
    return f"{page}characters {match[2]}–{match[3]}"


def _authors(source: ReportSource) -> str:
    names = [one_line(name) for name in source.authors]
    return names[0] + (" et al." if len(names) > 2 else f" and {names[1]}" if len(names) == 2 else "") if names else ""


def who_served(report: Report) -> list[str]:
    """The model that answered; by role, with those that were passed over, where there were several. Empty where none
    is known."""
    uses = report.statistics.model_roles
    named = {model for use in uses.values() for model in (*use.models, *(failure.model for failure in use.failures))}
    if len(named) < 2:
        return [name for name in (next(iter(named), report.model),) if name]
    roles: dict[str, list[str]] = {}
    for role, use in uses.items():
        roles.setdefault(_served(use), []).append(role)
    return [f"{', '.join(names)}: {served}" for served, names in roles.items()]


def _served(use: RoleUse) -> str:
    passed = [f"{failure.model} {failure.reason}" for failure in use.failures]
    return (", ".join(use.models) or "no model") + (f" ({', '.join(passed)})" if passed else "")


def retries_in_words(retries: Iterable[Retries]) -> list[str]:
    """Such as `3 to 127.0.0.1:8080 (model, report)` and `1 to searxng (search)`."""
    return [f"{row.requests} to {row.provider} ({row.kind}{f', {row.role}' if row.role else ''})" for row in retries]
