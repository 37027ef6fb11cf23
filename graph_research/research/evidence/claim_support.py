"""Whether a sentence may rest on the passages it cites, by code, and with a verifier model's verdict where one is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from graph_research.research.evidence.computed import Computation, compute_in_turn, values_of_names, wrong_multiples
from graph_research.research.evidence.judged import without_judged, without_judged_lines
from graph_research.research.evidence.misquotes import misquotes
from graph_research.research.models.draft import StatementKind, StatementVerdict, VerdictWord
from graph_research.text.deferred_patterns import deferred
from graph_research.text.language.names import new_names
from graph_research.text.language.opposites import PARTING
from graph_research.text.language.quantities import ARTICLE_BEFORE, BETWEEN_BEFORE, Value, figures
from graph_research.text.language.stated import unstated
from graph_research.text.language.tables import any_of
from graph_research.text.language.tags import primary
from graph_research.text.language.versions import is_behind_version_word, names_version
from graph_research.text.language.words import language_of, terms, written_in
from graph_research.text.relevance.support import DEFINITE, MISSING, SUPPORTED, UNSUPPORTED, Support, support

RELATED = 0.15
"""The least share of a fact's words, by weight, that its passages with their surroundings have. Of claims that people
call supported 0 to 3 % have less, of the same beside a passage of another source 86 to 97 %."""

_LISTED = 5
_ITEM = re.compile(r"\s*\(?\d{1,2}[.)]\s")
_TIMES = re.compile(rf"[\s-]?(?:{any_of('times')})\b")
_LARGEST_OWN_COUNT = 9
"""Of what a writer counts; larger numbers are seldom written as words, and seldom of the writer's own."""
_PARTS = re.compile(r"[^\W\d_]+|[,;]")
_CLAUSE = re.compile(r"[,;:.()–—]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_NAME = re.compile(r"\b[^\W\d_a-zß-ÿ]\w+")
_NAME_BEFORE = re.compile(r"[^\W\d_a-zß-ÿ]\w*[\s/-]v?$")
_WORD_BEFORE = re.compile(r"[^\W\d_]+\s$")
_ONE_LESS = re.compile(r"(?<![^\s(/])1\s?[-−–]\s?[^\W\d]")
"""The 1 from which a formula takes a share: "u / (1 - u)"."""
_DIVIDED = re.compile(rf"\s?(?:[/÷]|(?:{any_of('divided')})\b)")
"""Behind the unit that a relation divides: "1 second divided by the time that the lock is held"."""
_STEP = re.compile(r"[^\W\d]\w*\s[+−–-]\s$")
"""The end of a text before the 1 by which an expression counts: "hits = hits + 1"."""
_PLACEHOLDER = re.compile(r"\$\d{1,2}(?![\d.,]*\d|\w)")
"""A parameter of a statement behind its `=`: "WHERE id = $1"."""
_REFERS = deferred(rf"\b(?:{any_of('numbered_parts')})\s(?:\d+(?:,\s|\s?[-–]\s?|\s\w+\s))*$", re.IGNORECASE)
"""The end of a text before the number of a row, step or section of the report ("rows 1 to 6")."""
_FRAME = re.compile(r"</?[^\W\d][^<>=\"\n]*(?<!\s)>(?!\w)")
"""The name of a section or of a place to fill in, with where it is, but no value of an attribute (`<Host *:443>`), and
nothing between two signs that compare or redirect (`<in -n 5 >out`)."""
_GROUPED_OR_DECIMAL = re.compile(r"\d[.,]\d{3}(?!\d)")
_NUMBER_AND_UNIT = re.compile(r"(\d[\d.,]*)\s?([^\W\d_]+)")
_LISTED_IN_PARENTHESES = re.compile(r"\(([^()]*,[^()]*)\)")
_IN_BRACKETS = re.compile(r"\(([^()\d]{1,30})\)")


class Status(StrEnum):
    """How far a sentence is proved.

    `proved`: a quote that stands in the archive. `verified`: a fact that a verifier model found supported by its
    passages. `cited`: a fact with valid passages that no model verified. `analysis`, `transition`, `limit` and `user`
    as their kinds. `unsupported`: anything that fails its checks.
    """

    PROVED = "proved"
    VERIFIED = "verified"
    CITED = "cited"
    ANALYSIS = "analysis"
    TRANSITION = "transition"
    LIMIT = "limit"
    USER = "user"
    UNSUPPORTED = "unsupported"


class CitedPassage(NamedTuple):
    """A passage that a sentence cites: the number, title, date and whole `text` of its source, the quote, the text
    around it, the `headings` above it, and `beside` them the paragraph or row that it stands in."""

    number: int
    quote: str
    valid: bool
    surroundings: str = ""
    title: str = ""
    headings: Sequence[str] = ()
    beside: str = ""
    published_at: str | None = None
    text: str = ""


class Judgement(NamedTuple):
    """The status of a sentence, how far the words of the quotes support it, 0 to 1, and why they do not."""

    status: Status
    score: float = 1.0
    problem: str = ""


def judge(
    text: str,
    kind: StatementKind,
    passages: Sequence[CitedPassage],
    *,
    question: str = "",
    computed: Sequence[str] = (),
    judged: Sequence[str] = (),
    verdict: StatementVerdict | None = None,
    context: str = "",
    is_code: bool = False,
    language: str = "",
    limit: str = "",
) -> Judgement:
    """Judge a sentence by its passages, as its kind asks. `context` is the label and the header of a table's cell,
    `language` that in which the report is written, of which a cell of a few words tells little, `limit` the limit that
    the sentence stands behind, or what is assumed beside it.

    A quote must be the first passage's quote, to the character. A fact and an analysis need a valid passage, and
    what they state must be there: numbers in the quotes or computed, or where a `verdict` finds the sentence
    supported in the paragraph or row of a quote and the heading above it; dates and versions in the quotes, the
    titles, the headings above or, of dates, those of the sources, of versions, where a `verdict` finds the sentence
    supported, a remark near a quote ("New in version 3.11"); names and their numbers ("Zone 5") anywhere in the
    passages, the question or the context, and names, where a `verdict` finds the sentence supported, anywhere in
    the cited sources. A number word may count what the sentence itself lists ("two things: A and B"), and what a
    fact computes may have values that its writer `judged` for the names of a formula of a quote. An analysis may
    state a number of the question and the numbers that its writer `judged`, and one with such numbers may rest on
    these alone, as one may on the limit that it stands behind ("Not found; plan as if ...") and on such numbers of its
    block or of a table beside it, of which it says what they mean; it may compute with
    these and with those of its context, the "50 %" above its column; it may count in words, and refer to rows,
    steps and sections by their numbers. A transition and a limit have no numbers but those of the question, the
    quotes and the titles, and nothing that a `verdict` objects to; a table's label may have those around the
    quotes. An analysis of which a `verdict` finds all stated by its passages is judged as a fact, and if it fails
    as that, as the analysis that its writer calls it.

    A fact's words need `support` of at least `UNSUPPORTED`, of `SUPPORTED` where a denial, an opposite or another order
    tells against it, and a share of `RELATED` of them in the passages. A `verdict` overrules that, since it reads the
    meaning, but nothing before it. Code has no names and no numbers in the names of its sections, and in a line of it
    whose comment, or the comment above it, says `judgement` or `assumed`, in whatever language, the writer chose the
    value. What the user wrote is not judged. A cell without a letter or digit asserts nothing.
    """
    if kind is StatementKind.USER:
        return Judgement(Status.USER, 0.0)
    if kind is StatementKind.QUOTE:
        problem = _why_not_the_quote(text, passages, is_cell=bool(context))
        return _failed(problem) if problem else Judgement(Status.PROVED)
    if not has_words(text):
        return Judgement(Status.TRANSITION)
    claim = _Claim(text, passages, question, computed, judged, verdict, context, is_code, language, limit)
    if kind in (StatementKind.TRANSITION, StatementKind.LIMIT):
        return claim.as_lead(kind)
    if kind is StatementKind.ANALYSIS and verdict is not None and verdict.stated:
        as_fact = claim.as_statement(StatementKind.FACT)
        if as_fact.status is Status.VERIFIED:
            return as_fact
    return claim.as_statement(kind)


@dataclass(frozen=True)
class _Claim:
    """What `judge` is given."""

    text: str
    passages: Sequence[CitedPassage]
    question: str
    computed: Sequence[str]
    judged: Sequence[str]
    verdict: StatementVerdict | None
    context: str
    is_code: bool
    language: str
    limit: str

    def as_lead(self, kind: StatementKind) -> Judgement:
        """Judged as a transition or a limit."""
        told = [*(passage.quote for passage in self.passages), *(passage.title for passage in self.passages)]
        known = [self.question, self.context, *told]
        if self.context and kind is StatementKind.TRANSITION:  # a label only names what the cells of its row state
            known += [passage.surroundings for passage in self.passages]
        unknown = unstated(self.text, known)
        new = _written(self.text, [figure for figure in unknown if not _counts(figure, self.text)])
        if new:
            return _failed(f"states what it may not: {_listed(new)}")
        return _objected(self.verdict, 0.0) or Judgement(Status(kind.value))

    def as_statement(self, kind: StatementKind) -> Judgement:
        """Judged as a fact or an analysis."""
        is_analysis = kind is StatementKind.ANALYSIS
        if not self.passages and not (is_analysis and (self.judged or self.limit)):
            return _failed("names nothing that it rests on" if is_analysis else "no citation")
        valid = [passage for passage in self.passages if passage.valid]
        if self.passages and not valid:
            return _failed("no valid citation")
        question = "\n".join(filter(None, (self.question, self.limit if is_analysis else "")))
        given = [*(passage.quote for passage in valid), *([question] if is_analysis else ())]
        judged = self.judged if is_analysis else values_of_names(self.computed, self.judged, given)
        computations = compute_in_turn(self.computed, given, (*judged, self.context) if is_analysis else judged)
        if wrong := next((one.problem for one in computations if one.problem), ""):
            return _failed(wrong)
        is_supported = self.verdict is not None and self.verdict.verdict is VerdictWord.SUPPORTED
        ground = _Ground(valid, question, self.context, computations, self.is_code, judged, is_supported, self.language)
        missing = ground.missing(self.text, kind)
        if is_analysis and not missing:
            return Judgement(Status.ANALYSIS)
        found = ground.support(self.text)
        if missing:
            return _failed(f"not in the cited quotes: {_listed(missing)}", round(found.score, 2))
        translated, related = ground.is_translated(self.text), ground.is_related(self.text)
        return _judged_words(found, self.verdict, translated=translated, related=related)


def has_words(text: str) -> bool:
    """Whether a text has a letter or a digit; an empty cell has none."""
    return any(character.isalnum() for character in text)


def _judged_words(found: Support, verdict: StatementVerdict | None, *, translated: bool, related: bool) -> Judgement:
    score = round(found.score, 2)
    if verdict:
        return _objected(verdict, score) or Judgement(Status.VERIFIED, score)
    if translated:  # words of two languages say nothing of each other
        return Judgement(Status.CITED, score)
    refuted = any(lack in DEFINITE for lack, _ in found.lacks)
    if related and found.score >= (SUPPORTED if refuted else UNSUPPORTED):
        return Judgement(Status.CITED, score)
    return _failed(_why_not_supported(found), score)


def _objected(verdict: StatementVerdict | None, score: float) -> Judgement | None:
    """The judgement of a sentence that a verifier model does not find supported."""
    if verdict is None or verdict.verdict is VerdictWord.SUPPORTED:
        return None
    said = "partly supported" if verdict.verdict is VerdictWord.PARTLY else "not supported"
    return _failed(f"{said}, by a verifier model: {verdict.reason}" if verdict.reason else said, score)


@dataclass(frozen=True)
class _Ground:
    """What a fact or an analysis may rest on."""

    passages: Sequence[CitedPassage]
    question: str
    context: str
    computations: Sequence[Computation]
    is_code: bool
    judged: Sequence[str] = ()
    is_supported: bool = False
    language: str = ""

    @cached_property
    def quotes(self) -> list[str]:
        return [passage.quote for passage in self.passages]

    @cached_property
    def beside(self) -> list[str]:
        """What the quotes are read with, where a verifier finds the sentence supported."""
        return [passage.beside for passage in self.passages if self.is_supported]

    @cached_property
    def titles(self) -> list[str]:
        return [passage.title for passage in self.passages]

    @cached_property
    def headings(self) -> list[str]:
        return [heading for passage in self.passages for heading in passage.headings]

    @cached_property
    def dates(self) -> list[str]:
        return [passage.published_at for passage in self.passages if passage.published_at]

    @cached_property
    def around(self) -> list[str]:
        return [*self.quotes, *self.titles, *(passage.surroundings for passage in self.passages)]

    def missing(self, text: str, kind: StatementKind) -> list[str]:
        """The numbers, dates, multiples and names of a text that stand in nothing it may rest on, as written."""
        is_analysis = kind is StatementKind.ANALYSIS
        if self.is_code:
            text = _FRAME.sub("", without_judged_lines(text) if is_analysis else text)
        measured = _with_unit(text, self.context)
        known = [*self.quotes, self.question] if is_analysis else self.quotes
        unknown = unstated(measured, known, self.beside)
        new = [figure for figure in unknown if self._is_new(figure, measured, is_analysis=is_analysis)]
        rates = {figure.end for figure in unknown if figure.per and figure not in new}
        new = [figure for figure in new if figure.start - 1 not in rates]  # "200 times a second" is one number
        new = without_judged(new, measured, self.judged)
        misread = without_judged(self._misread(measured, known), measured, self.judged)
        around = [*self.around, self.question, self.context]
        at_start = not is_analysis  # advice begins with a verb
        names = [] if self.is_code else self._new_names(text, around, at_start=at_start)
        if names and self.is_supported:
            around += [passage.text for passage in self.passages]
            names = self._new_names(text, around, at_start=at_start)
        multiples = wrong_multiples(text, self.quotes, self.computations)
        quoted = [] if is_analysis or self.is_code else self._misquotes(text, around)
        return [*_written(measured, new), *_as_read(measured, misread), *multiples, *names, *quoted]

    def _misquotes(self, text: str, known: Sequence[str]) -> list[str]:
        more = [passage.text for passage in self.passages if self.is_supported]
        return misquotes(
            text, [*known, *more], translated=self._language_of(text) != language_of("\n".join(self.quotes))
        )

    def _misread(self, text: str, known: Sequence[str]) -> list[Value]:
        """The numbers that the known texts state, and that readers of the report's language take for others, since its
        decimals stand behind another sign: "1,200" in German."""
        if self.is_code or not _GROUPED_OR_DECIMAL.search(text):
            return []
        language = self._language_of(text)
        if language != primary(self.language):
            return []
        unknown = {figure.start for figure in unstated(text, known, self.beside)}
        read = unstated(text, known, self.beside, language=language)
        return [figure for figure in read if figure.start not in unknown and self._is_new(figure, text)]

    def _new_names(self, text: str, known: Sequence[str], *, at_start: bool) -> list[str]:
        language = self._language_of(text)
        translated = language != language_of("\n".join(self.around))
        return new_names(text, known, at_start=at_start, language=language, translated=translated)

    def _language_of(self, text: str) -> str:
        with_context = f"{self.context}: {text}" if self.context and self.language else text
        return written_in(with_context, self.language)

    def support(self, text: str) -> Support:
        """By the quotes and titles, what was computed, and the names that stand around the quotes, since a quote may
        have pronouns for them; of a cell the better of its own words and those with its context."""
        measured = _with_unit(text, self.context)
        unknown = unstated(measured, self.quotes)
        new = [figure for figure in unknown if self._is_new(figure, measured)]
        new = without_judged(new, measured, self.judged)
        given = [figure for figure in unknown if figure not in new]
        held = {word for other in self.around for word in _NAME.findall(other)}
        names = [name for name in _NAME.findall(text) if name in held]
        known = [*self.quotes, *self.titles, *_written(measured, given), " ".join(names)]
        return max((support(claim, known) for claim in self._claims(measured)), key=lambda found: found.score)

    def is_related(self, text: str) -> bool:
        """Whether the passages with their surroundings are about what the text says; a cell may be a number alone."""
        if self.context and figures(text):
            return True
        return max(support(claim, self.around).features["coverage"] for claim in self._claims(text)) >= RELATED

    def _claims(self, text: str) -> list[str]:
        return [text, f"{self.context}: {text}"] if self.context else [text]

    def is_translated(self, text: str) -> bool:
        """Whether the text has another language than the quotes; a short text's may be guessed wrong, so its words
        in lower case must stand in no quote for the most part."""
        if self._language_of(text) == language_of("\n".join(self.quotes)):
            return False
        written = [word for word in _WORD.findall(text) if word.islower()]
        held = {word for quote in self.quotes for word in _WORD.findall(quote.lower())}
        return 3 * sum(word in held for word in written) <= len(written)

    def _is_new(self, figure: Value, text: str, *, is_analysis: bool = False) -> bool:
        """Whether a number that no quote states is neither computed nor a title's date, a name's, a list's, one that
        the text refers to ("the two"), the 1 by which something is counted, or 0, 1 or `$2` in code."""
        written = text[figure.start : figure.end]
        if any(computation.gives(figure) for computation in self.computations):
            return False
        if self.is_code and (written in ("0", "1") or written.startswith("$")):
            return False
        if self.is_supported and self._has_unit_of_its_page(figure, written):
            return False
        if text[: figure.start].rstrip().endswith("=") and _PLACEHOLDER.match(text, figure.start):
            return False
        if written == "1" and _STEP.search(text[: figure.start]):
            return False
        if any(other.date for other in figures(written)):  # also of the year of a date
            return bool(unstated(written, [*self.titles, *self.headings, *self.dates]))
        is_period = figure.unit == "time" and figure.low == figure.factor
        if is_analysis and is_period and _DIVIDED.match(text, figure.end):
            return False
        if is_analysis and (_REFERS.search(text[: figure.start]) or _ONE_LESS.match(text, figure.start)):
            return False
        refers = is_analysis or written.isdigit() or self._says_which(text[: figure.start])
        if _counts(figure, text) and (refers or self._is_own_count(figure, text)):
            return False
        if not written.isalpha() and _NAME_BEFORE.search(text[: figure.start]):
            return not self._is_around(written)
        before = _WORD_BEFORE.search(text[: figure.start])
        if before and self._is_in_a_title(rf"\b{re.escape(before[0] + written)}"):
            return False
        is_version = "." in written and figure.unit in ("", "version")
        return not ((is_version or is_behind_version_word(text, figure.start)) and self._has_version(written))

    def _has_version(self, number: str) -> bool:
        """Whether a title or a heading above a quote has the version as exactly as it is written, or where a verifier
        finds the sentence supported a remark near the quote, `New in version 3.11`."""
        if any(names_version(above, number) for above in (*self.titles, *self.headings)):
            return True
        return self.is_supported and any(names_version(near, number, worded=True) for near in self.around)

    def _says_which(self, before: str) -> bool:
        """Whether what stands before a number says which things are meant: "the two", "between two", or where a
        verifier finds the sentence supported "the other two"."""
        ends = [before, _WORD_BEFORE.sub("", before)] if self.is_supported else [before]
        return any(map(ARTICLE_BEFORE.search, ends)) or bool(BETWEEN_BEFORE.search(before))

    def _is_around(self, number: str) -> bool:
        """Whether a name's number, or the beginning of such a version, stands behind a word around the quotes, in the
        question or the context, or in a title: a section's number at the beginning of a line is none."""
        behind_word = re.compile(rf"\w[\s/(-]v?{re.escape(number)}(?!\w)")
        given = [*self.around, self.question, self.context]
        return any(behind_word.search(other) for other in given) or self._is_in_a_title(rf"\b{re.escape(number)}")

    def _is_own_count(self, figure: Value, text: str) -> bool:
        """Whether a number word counts what the sentence itself says, and what no quote counts: the parts of the list
        behind it ("two things: A and B"), or where a verifier finds the sentence supported what no quote names. Then it
        may also count what a quote lists in parentheses, `ANY 2 (s1, s2, s3)`."""
        listed = (row.count(",") for quote in self.quotes for row in _LISTED_IN_PARENTHESES.findall(quote))
        if self.is_supported and any(figure.low == 1 + commas for commas in listed):
            return True
        stated = (other for quote in self.quotes for other in figures(quote) if not (other.date or other.unit))
        if figure.low > _LARGEST_OWN_COUNT or any(other.low <= _LARGEST_OWN_COUNT for other in stated):
            return False
        language, behind = self._language_of(text), text[figure.end :]
        parting = PARTING.get(language, frozenset())
        parts = [part for part in _PARTS.findall(behind.partition(":")[2]) if part in ",;" or part.lower() in parting]
        if figure.low <= 1 + len(parts):
            return True
        counted = terms(_CLAUSE.split(behind)[0], language)[:1]
        return self.is_supported and {*counted}.isdisjoint(terms("\n".join(self.quotes), language))

    def _has_unit_of_its_page(self, figure: Value, written: str) -> bool:
        """Whether a quote, such as a table's row, has the number without a unit, and its page names the unit, such as
        above the table."""
        number = _NUMBER_AND_UNIT.fullmatch(written)
        if not (figure.unit and number):
            return False
        named = re.compile(rf"\b{re.escape(number[2])}\b")
        return any(
            not other.unit and passage.quote[other.start : other.end] == number[1]
            for passage in self.passages
            if named.search(passage.text)
            for other in figures(passage.quote)
        )

    def _is_in_a_title(self, pattern: str) -> bool:
        """Whether a title has a word with its number, such as `release 15` or, by itself, `15.4` of "E.17. Release
        15.4"."""
        whole = re.compile(rf"{pattern}(?![\w.,])", re.IGNORECASE)
        return any(whole.search(title) for title in self.titles)


def _with_unit(text: str, context: str) -> str:
    """A cell's number with the unit that its context gives in brackets: "Cost (billion euros)"."""
    units = _IN_BRACKETS.findall(context)
    return f"{text} {units[-1]}" if units and text[-1:].isdigit() else text


def _counts(figure: Value, text: str) -> bool:
    """Whether a number counts what the text lists: in words ("two reasons", not "three times"), or before an item."""
    if figure.date or figure.unit or figure.scale > 1.0:
        return False
    number = _ITEM.match(text)
    is_word = text[figure.start : figure.end].isalpha() and not _TIMES.match(text, figure.end)
    return is_word or bool(number and figure.end <= number.end())


def _written(text: str, values: Iterable[Value]) -> list[str]:
    return [text[value.start : value.end].strip() for value in values]


def _as_read(text: str, values: Iterable[Value]) -> list[str]:
    return [f"{text[value.start : value.end].strip()} (read as {value.low / value.factor:g})" for value in values]


def _failed(problem: str, score: float = 0.0) -> Judgement:
    return Judgement(Status.UNSUPPORTED, score, problem)


def _why_not_the_quote(text: str, passages: Sequence[CitedPassage], *, is_cell: bool) -> str:
    """A table's cell may quote a piece of the cited row; anything else quotes the whole passage."""
    if not passages:
        return "no citation"
    if not passages[0].valid:
        return f"citation [{passages[0].number}] is not valid"
    quote = passages[0].quote
    stands = quote == text or (is_cell and bool(text) and f" {text} " in f" {quote} ")
    return "" if stands else f"not word for word what [{passages[0].number}] quotes"


def _why_not_supported(found: Support) -> str:
    missing = [written for lack, written in found.lacks if lack in MISSING]
    otherwise = [written for lack, written in found.lacks if lack not in MISSING]
    reasons = {"not in the cited quotes": missing, "otherwise in the cited quotes": otherwise}
    said = [f"{what}: {_listed(listed)}" for what, listed in reasons.items() if listed]
    return "; ".join(["not supported by its words", *said])


def _listed(written: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(written[:_LISTED]))
