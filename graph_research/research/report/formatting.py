"""How values are shown in a report: texts without control characters, web links only, names and dates in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from urllib.parse import quote, urlsplit

from graph_research.providers.llm.model_spec import EXTRACTIVE
from graph_research.providers.search.base import LOCAL, provider_name
from graph_research.research.evidence.cited import Citation, CitedContradiction, CitedPlace, QuoteSelector
from graph_research.research.llm.usage import Retries, RoleUse
from graph_research.research.report.labels.table import Labels
from graph_research.research.report.model import Report, ReportSource
from graph_research.research.scoring.tiers import is_maker
from graph_research.text.language.dates import date_parts
from graph_research.text.places import FilePlace, in_words
from graph_research.text.sentences import SENTENCE_ENDS
from graph_research.text.wording import shortened

# Controls but tab and newline, direction overrides and isolates, and the invisible tag characters; a text must not
# be able to reorder or hide what stands beside it.
_UNSHOWABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff"
    "\U000e0000-\U000e007f]"
)
_JOINT = re.compile(r"(?<=[^\s/@:._][/@:._])(?=[^\s/@:._])|(?<=//)(?=[^\s/])")
_SHORT_CHARS = 64
_FULL_WIDTH_END = re.compile("[。！？][」』”’）]*$")
_BREAK = re.compile(r"\n|---PAGE \d+---")
_RANGE_WORDS, _EDGE_WORDS = 12, 5
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]*")  # what Debian and PyPI allow as the name of a package
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_BREAKING_SPACES = re.compile(r"[^\S\u00a0\u202f]+")
_CITED_NUMBER = re.compile(r"\[\d+\]")
_LOCATOR = re.compile(r"(?:page:(\d+):)?char:(\d+)-(\d+)")


def breakable(text: str) -> list[str]:
    """A name, such as a model's, an address or a setting's, in pieces between which a line may end."""
    return _JOINT.split(text)


def clean(text: str) -> str:
    """The text without characters that are invisible or change how their neighbours are shown."""
    return _UNSHOWABLE.sub("", text)


@lru_cache(maxsize=2048)  # a report shows the titles of its sources and its sentences again and again
def one_line(text: str) -> str:
    """The cleaned text with every run of whitespace as one space; a space that does not break stays what it is."""
    return _BREAKING_SPACES.sub(" ", clean(text)).strip()


def web_link(url: str | None) -> str | None:
    """The URL if it is a plain http or https one, else None: it may then be shown, never followed."""
    if not url or " " in url or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.hostname else None


def source_title(source: ReportSource) -> str:
    """What a source is called: its title, else its address, else its id."""
    return one_line(source.title) or one_line(source.url or "") or source.id


def listed_title(source: ReportSource, products: Sequence[str], labels: Labels) -> str:
    """The title in a list of sources: with the product whose manual it is before it, where the title names no product
    and the list has manuals of several of these `products`."""
    title = source_title(source)
    maker = next((name for name in products if is_maker(source.publisher, [name])), "")
    if len(products) < 2 or not maker or any(name.casefold() in title.casefold() for name in products):
        return title
    return labels.pair.format(name=maker, value=title)


def superseded(source: ReportSource, labels: Labels) -> str:
    """That a source is an old version, and which is the newer one; empty for a current one."""
    if source.superseded is None:
        return ""
    return labels.superseded_by.format(by=one_line(source.superseded)) if source.superseded else labels.superseded


def remarks(source: ReportSource, labels: Labels) -> list[str]:
    """What a reader should know of a source beside its name: that it is superseded, its licence, and what of its file
    could not be read."""
    said = [superseded(source, labels)]
    if source.licence:
        said.append(labels.licence.format(name=one_line(source.licence)))
    if source.warnings:
        said.append(labels.not_whole.format(what=one_line(labels.semicolon.join(source.warnings))))
    return [remark for remark in said if remark]


def publisher(source: ReportSource, products: Iterable[str] = ()) -> str:
    """Who stands behind a source: its publisher, else its authors, else the host of its web address. One that is called
    like one of the `products`, as the package `sqlite3` is, is written like it."""
    host = urlsplit(web_link(source.url) or "").hostname or ""
    product = next((name for name in products if is_maker(source.publisher, [name])), "")
    return (
        product or one_line(source.publisher or "") or one_line(", ".join(source.authors)) or host.removeprefix("www.")
    )


def local_file(source: ReportSource, folders: Sequence[str]) -> str:
    """A local document's path below the folder that was added, which is named where there are several; of an absolute
    path only the file's name."""
    url = one_line(source.url or "")
    path = url.removeprefix("file://")
    below = path.rsplit("/", 1)[-1] if path.startswith("/") or _DRIVE.match(path) else url
    return f"{one_line(source.folder)}/{below}" if source.folder and len(folders) > 1 else below


def search_name(search: str, labels: Labels) -> str:
    """What the readers of a report know a search as: a service by its name, the library as local files."""
    return labels.local_search if search == LOCAL else provider_name(search)


def identifiers(source: ReportSource) -> list[str]:
    """What names a source in a catalogue beside its title: its authors where a publisher stands behind it, and its
    DOI where its address does not hold it."""
    authors = one_line(", ".join(source.authors)) if source.publisher else ""
    doi = one_line(source.doi or "")
    is_said = doi.lower() in (source.url or "").lower()
    return [said for said in (authors, "" if is_said else f"doi:{doi}") if said]


def attribution(source: ReportSource, labels: Labels, *, by_title: bool, heading: str) -> str:
    """Who says it and when, short enough to stand behind a quote: `National Audit Chamber, 2018`. The pages of an
    installed package are named by their titles: `Write-Ahead Logging (sqlite3), 2022`. An old version is marked. With
    `by_title` the title says it, as where most sources of a report have one publisher. A title has the `heading` of
    the passage behind it: `Release notes › 3.1.2`. A year that is named already is not told again."""
    stated = one_line(source.publisher or "")
    title, below = source_title(source), one_line(heading)
    named = [title] if below.casefold() in title.casefold() else [title, below]
    place = " › ".join(shortened(name, _SHORT_CHARS) for name in named)
    is_package = _PACKAGE.fullmatch(stated) is not None
    by_title = by_title and bool(source.title)
    author = "" if by_title or (is_package and source.title) else stated or _authors(source, labels)
    who = shortened(author, _SHORT_CHARS) or (f"{place} ({stated})" if is_package and not by_title else place)
    year = (source.published_at or "")[:4]
    dated = f"{who}{labels.aside}{year}" if year.isdigit() and year not in who else who
    return dated if source.superseded is None else f"{dated}{labels.aside}{labels.superseded}"


def description_beside_values(contradiction: CitedContradiction) -> str:
    """The description, but nothing where it only strings the sides' values together, which are shown anyway."""
    rest = contradiction.description
    for side in contradiction.sides:
        rest = rest.replace(side.value, "")
    return contradiction.description if any(map(str.isalnum, rest)) else ""


def day(timestamp: str | None, labels: Labels) -> str:
    """The date of an ISO 8601 time as far as it goes, as the language writes it, or a dash."""
    year, *rest = date_parts(timestamp or "") or ("",)
    if not rest:
        return year or one_line((timestamp or "")[:10]) or "–"
    template = labels.date_of if len(rest) > 1 else labels.month_of
    return template.format(year=year, month=labels.months[int(rest[0]) - 1], day=int(rest[-1]))


def percent(share: float, labels: Labels) -> str:
    """`0.634` as `63%`, or as the language writes it."""
    return labels.percent.format(n=f"{share * 100:.0f}")


def number(value: float, labels: Labels, digits: int = 0) -> str:
    """The number with so many digits behind the point, grouped by thousands."""
    return f"{value:,.{digits}f}".translate({ord(","): labels.thousands, ord("."): labels.decimal})


def quoted(text: str, labels: Labels) -> str:
    """The text in the language's quotation marks."""
    return text.join(labels.quotes)


def bracketed(text: str, labels: Labels) -> str:
    """The text in the language's parentheses."""
    return text.join(labels.brackets)


def gap_behind(text: str) -> str:
    """What stands between a sentence and the next one: nothing behind the full stop of Chinese or Japanese."""
    return "" if _FULL_WIDTH_END.search(text) else " "


def in_one_line(parts: Iterable[str], labels: Labels) -> str:
    """The parts one behind the other, with semicolons between those that end no sentence."""
    text = ""
    for part in parts:
        between = gap_behind(text) if text.endswith(SENTENCE_ENDS) else labels.semicolon
        text += f"{between}{part}" if text else part
    return text


def side_by_side(sentences: Iterable[str]) -> str:
    """The sentences as running text."""
    text = ""
    for sentence in sentences:
        text += f"{gap_behind(text)}{sentence}" if text else sentence
    return text


def place(locator: str, labels: Labels, in_file: CitedPlace | None = None) -> str:
    """Where a passage stands in words: `sheet Costs, B4, characters 120–180`, the latter counted as the locator counts,
    from 0."""
    match = _LOCATOR.fullmatch(locator)
    if not match:
        return one_line(locator)
    template = labels.place_on_page if match[1] else labels.place
    characters = template.format(page=match[1], start=match[2], end=match[3])
    if in_file is None:
        return characters
    return f"{one_line(in_words(FilePlace(**in_file.model_dump()), labels.file_places))}{labels.aside}{characters}"


def live_link(url: str | None, citation: Citation) -> str | None:
    """The web address with a text fragment that scrolls to the passage; None without a web address or a proof.

    A long passage is named by its first and last words; of a short one what stands before and after it is given, too.
    """
    target = web_link(url)
    selector = next((one for one in citation.selectors if isinstance(one, QuoteSelector)), None)
    words = one_line(selector.exact).split(" ") if selector else []
    if not target or not selector or not words[0]:
        return None
    if len(words) >= _RANGE_WORDS:
        start, end = (" ".join(some) for some in (words[:_EDGE_WORDS], words[-_EDGE_WORDS:]))
        directive = f"{_in_fragment(start)},{_in_fragment(end)}"
    else:
        before, after = words_around(selector)
        directive = _in_fragment(" ".join(words))
        directive = f"{_in_fragment(before)}-,{directive}" if before else directive
        directive = f"{directive},-{_in_fragment(after)}" if after else directive
    return f"{target}{'' if '#' in target else '#'}:~:text={directive}"


def words_around(selector: QuoteSelector) -> tuple[str, str]:
    """The whole words before and after a passage, as far as its line or page goes."""
    before = one_line(_BREAK.split(selector.prefix)[-1])
    after = one_line(_BREAK.split(selector.suffix)[0])
    return before.partition(" ")[2], after.rpartition(" ")[0]


def _in_fragment(text: str) -> str:
    return quote(text, safe="").replace("-", "%2D")


def _authors(source: ReportSource, labels: Labels) -> str:
    first, *others = [one_line(name) for name in source.authors] or [""]
    template = labels.many_authors if len(others) > 1 else labels.two_authors if others else "{first}"
    return template.format(first=first, second=others[0] if others else "")


def problem(text: str, labels: Labels) -> str:
    """Why a sentence is unsupported, in the words of the report's language; what is named after a colon, and a reason
    in a model's words, stay as they are."""
    return labels.semicolon.join(_problem(part, labels) for part in text.split("; ")) if text else ""


def _problem(part: str, labels: Labels) -> str:
    name, _, value = part.partition(": ")
    number = _CITED_NUMBER.search(name)
    said = labels.problems.get(name.replace(number[0], "[n]") if number else name)
    if said is None:
        return part
    said = said.replace("[n]", number[0]) if number else said
    return labels.pair.format(name=said, value=value) if value else said


def model_name(spec: str) -> str:
    """The model of a spec without its provider and address: `strong` of `openai:strong@http://127.0.0.1:8080/v1`."""
    name = spec.partition("@http")[0]
    return name.partition(":")[2] or name


def who_served(report: Report, labels: Labels) -> list[str]:
    """The model that answered; by role, with those that were passed over, where there were several. Empty where none
    is known."""
    uses = report.statistics.model_roles
    named = {model for use in uses.values() for model in (*use.models, *(failure.model for failure in use.failures))}
    if len(named) < 2:
        names = named or set(filter(None, report.model.split(", ")))
        return [_model_in_words(name, labels) for name in sorted(names)]
    roles: dict[str, list[str]] = {}
    for role, use in uses.items():
        roles.setdefault(_served(use, labels), []).append(role)
    if len(roles) == 1:  # one model at several addresses
        return list(roles)
    return [labels.served.format(steps=labels.comma.join(names), models=served) for served, names in roles.items()]


def _served(use: RoleUse, labels: Labels) -> str:
    passed = [
        labels.passed_over.format(
            model=_model_in_words(failure.model, labels),
            reason=labels.failures.get(failure.reason, failure.reason),
        )
        for failure in use.failures
    ]
    served = labels.comma.join(_model_in_words(model, labels) for model in use.models) or labels.none
    return served + (f" ({', '.join(passed)})" if passed else "")


def _model_in_words(spec: str, labels: Labels) -> str:
    return labels.no_model if spec == EXTRACTIVE else model_name(spec)


def retries_in_words(retries: Iterable[Retries], labels: Labels) -> list[str]:
    """Such as `model (report): 3` and `searxng: 1`; of a model not its address."""
    return [
        labels.retried.format(
            who=f"{labels.retried_model}{f' ({row.role})' if row.role else ''}"
            if row.kind == "model"
            else row.provider,
            n=row.requests,
        )
        for row in retries
    ]
