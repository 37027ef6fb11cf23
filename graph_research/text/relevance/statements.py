"""What a sentence says of a value: subject, attribute, unit and scope, where they are plain."""

from __future__ import annotations

import re
from dataclasses import dataclass

from graph_research.text.language.dates import MONTHS
from graph_research.text.language.lexicon import AUXILIARIES, FUNCTION_WORDS, VERBS, WEEKDAYS, word_list
from graph_research.text.language.quantities import Value, values
from graph_research.text.language.stems import stem


@dataclass(frozen=True, kw_only=True)
class SourceSentence:
    """A sentence of a source: `document.text[start:end] == text`.

    `origin` is who stands behind the source; sentences of one origin never contradict each other, and near-duplicate
    documents share an origin. `title` is the document's, `heading` the nearest one above the sentence.
    """

    source_id: str
    origin: str
    text: str
    start: int
    end: int
    title: str = ""
    heading: str = ""


@dataclass(frozen=True, kw_only=True)
class Frame:
    """One value of one sentence.

    `key` holds the stems of subject and attribute, light words left out; `names` those of them that are written as
    names; `scope` the years, rates, plans and negations that the value is bound to. Two frames speak of the same
    thing where unit, key and scope are equal and a name is among the words. `topic` is subject and
    attribute as they are written.
    """

    sentence: SourceSentence
    value: Value
    key: frozenset[str]
    names: frozenset[str]
    scope: frozenset[str]
    topic: str

    @property
    def written(self) -> str:
        """The value as the sentence writes it."""
        return self.sentence.text[self.value.start : self.value.end]


_REPORTING = re.compile(
    r"^[^,;:]{0,120}?\b(?:found|finds|says|said|states|stated|reports|reported|records|recorded|shows|showed|"
    r"confirms|confirmed|concludes|concluded|notes|noted|claims|claimed|announced|announces|writes|wrote|assumes)"
    r"\sthat\s",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"^(?:according to|by the|by our|in the opinion of|in the view of|on the basis of|as)\s[^,\d]{1,80},\s",
    re.IGNORECASE,
)
_ATTRIBUTION = re.compile(r"\s(?:according to|as reported by)\s[^,;:\d]{1,80}$", re.IGNORECASE)
_BOUNDARY = re.compile(
    r"(?P<mark>\s?[;:]\s|[.!]\s(?=[A-Z\"“])|,\s|\s[–—]\s|\s?[()]\s?"
    r"|\s(?=(?:and|but|while|whereas|because|although|though|when|which|who|whose|where|until|than|compared|versus|"
    r"against|instead|after|before)\s))"
)
_OPENER = re.compile(
    r"^(?:and\s)?(?P<word>but|while|whereas|because|although|though|when|which|who|whose|where|until|than|compared|"
    r"versus|against|instead|after|before|it|they|this|these|that|he|she|if)\b",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"\b(?:per|each|every|an?)\s(?P<time>year|month|week|day|hour|minute|second|night|tide)\b"
    r"|\b(?:per|each|every)\s(?P<base>[a-z]+)|\b(?P<adverb>annual|annually|yearly|daily|monthly|weekly|hourly|"
    r"average|mean|median|maximum|minimum|peak|record|highest|lowest|net|gross)\b",
    re.IGNORECASE,
)
_PLAN = re.compile(
    r"\b(?:planned|plans?|schedul\w+|expect\w*|propos\w+|project(?:ed|s|ion)|target\w*|forecast\w*|would|could|might|"
    r"may|should|will|shall|aims?|intend\w*|suppos\w+|predict\w*|assum\w+|originally|initially|goal|hopes?|hoped|"
    r"denie[sd]|if|due to (?:open|begin|start|close)|to be)\b"
)
_NEGATION = re.compile(r"\b(?:not|never|no longer|without|neither|nor|cannot|\w+n't)\b", re.IGNORECASE)
_COUNTED_IN = re.compile(
    r"^[^.;]{0,60}?\b(?:not counting|not including|excluding|including|apart from|except|except for|plus)\s"
    r"(?:the\s|an?\s)?(?P<what>[a-z]+)",
    re.IGNORECASE,
)
_WITH = re.compile(r"^(?:with|at|for|having)\s", re.IGNORECASE)
_PARTICIPLE = re.compile(r"^(?:first\s)?[A-Z][a-z]+(?:ed|ilt|un|en)\s(?:in|on|at)\s")
_DATE_PREPOSITION = re.compile(r"\b(?:in|on|of|dated|born)\s(?:early\s|late\s|mid-)?$", re.IGNORECASE)
_EVENTS = frozenset(
    stem(word)
    for word in word_list(
        "begin start commence open found establish complete finish launch approve sign introduce invent discover die "
        "born close elect adopt enact build construct commission inaugurate create incorporate ratify ban abolish "
        "occur happen sink collapse crash fail erupt strike kill marry graduate join retire merge acquire release "
        "publish ship deliver connect demolish dissolve bear take arrive land depart burn flood appoint grant unveil "
        "automate electrify nationalise nationalize privatise privatize rename abandon restore rebuild renovate"
    )
)
_ACCOMPANYING = re.compile(r"^\s(?:with|by|after|during|as|amid|in|and|when|at)\s")
_MEASURED = re.compile(r"^\sof\s(?:electricity|energy|power)\b")
_HEADING_YEAR = re.compile(r"^\W*(?:[A-Za-z]+\s)?((?:19|20)\d\d)\W*$")
_INDEFINITE = re.compile(r"\b(?:a|an|another|some|several|many|new|first|second|third|last|next)\b", re.IGNORECASE)
_LIGHT = frozenset(
    stem(word)
    for word in word_list(
        "reach amount total stand now currently today also overall actual altogether measure estimate estimated "
        "contain comprise consist feature possess equip number figure value sum come put lie official whole entire "
        "about around roughly approximately some around exactly just only still officially finally year level "
        "according stood stands record recorded become remain equal say report"
    )
)
_SAME = {
    stem(word): common
    for common, group in {
        "height": "height high tall heights",
        "length": "length long lengths",
        "width": "width wide breadth broad",
        "depth": "depth deep",
        "weight": "weight weigh heavy",
        "begin": "begin start commence",
        "build": "build construct erect construction",
        "finish": "finish complete completion",
        "inhabitant": "inhabitant population resident people",
        "household": "household home",
        "found": "found founded establish",
        "employ": "employ employee staff",
        "mudflat": "mudflat mudflats",
    }.items()
    for word in group.split()
}


def frames(sentence: SourceSentence) -> list[Frame]:
    """The frames of every usable value whose subject and attribute can be read off the sentence."""
    skipped = _lead_in_chars(sentence.text)
    body = sentence.text[skipped:]
    segments = _segments(body, skipped)
    found = values(sentence.text)
    subject = segments[0] if segments else None
    heading_year = _HEADING_YEAR.findall(sentence.heading)
    result = []
    for start, end in segments:
        inside = [value for value in found if start <= value.start and value.end <= end]
        phrase = _phrase(sentence.text, (start, end), segments, subject)
        if phrase is None:
            continue
        for value in inside:
            frame = _frame(sentence, value, (start, end), phrase, found, heading_year)
            if frame is not None:
                result.append(frame)
    return result


def same_statement(one: Frame, other: Frame) -> bool:
    """Whether two frames speak of the same subject and attribute in the same unit and scope."""
    if one.value.kind != other.value.kind or one.value.unit != other.value.unit or one.scope != other.scope:
        return False
    return one.key == other.key and bool(one.names | other.names)


def _lead_in_chars(text: str) -> int:
    """How many characters introduce who says it; a plan or a denial in them keeps them in."""
    skipped = 0
    for pattern in (_LEAD_IN, _REPORTING):
        match = pattern.match(text[skipped:])
        if match and not _PLAN.search(match[0]) and not re.search(r"\d", match[0]):
            skipped += match.end()
    return skipped


def _segments(body: str, offset: int) -> list[tuple[int, int]]:
    cuts, start = [], 0
    for match in _BOUNDARY.finditer(body):
        if match.end() > start:
            cuts.append((start + offset, match.start() + offset))
            start = match.end()
    cuts.append((start + offset, len(body) + offset))
    return [(first, last) for first, last in cuts if last > first]


def _phrase(
    text: str, segment: tuple[int, int], segments: list[tuple[int, int]], first: tuple[int, int] | None
) -> str | None:
    """The words that a segment's values belong to: its own, with the subject of its neighbour where it has none."""
    own = text[slice(*segment)]
    if _OPENER.match(own):
        return None
    position = segments.index(segment)
    if _WITH.match(own) or _PARTICIPLE.match(own):
        neighbour = position + 1 if position == 0 else position - 1
        if neighbour >= len(segments):
            return None
        beside = text[slice(*segments[neighbour])]
        return f"{_until_verb(beside)} {own}" if not _OPENER.match(beside) else None
    stripped = re.sub(r"^and\s", "", own)
    if _starts_with_verb(stripped):
        if first is None or first == segment:
            return None
        return f"{_until_verb(text[slice(*first)])} {stripped}"
    return own if any(_is_verb(word) for word in re.findall(r"[A-Za-z']+", own)) else None


def _until_verb(text: str) -> str:
    """The words before the first verb: the subject of a plain clause."""
    kept: list[str] = []
    for word in text.split():
        if kept and _is_verb(word.strip(",.")):
            break
        kept.append(word)
    return " ".join(kept)


def _is_verb(word: str) -> bool:
    lowered = word.lower()
    return lowered in AUXILIARIES or lowered in VERBS or (len(lowered) > 4 and lowered.endswith("ed"))


def _starts_with_verb(text: str) -> bool:
    word = re.match(r"[A-Za-z']+", text)
    return bool(word) and _is_verb(word[0]) if word else False


def _frame(
    sentence: SourceSentence,
    value: Value,
    segment: tuple[int, int],
    phrase: str,
    found: list[Value],
    heading_years: list[str],
) -> Frame | None:
    if not value.usable:
        return None
    own = sentence.text[slice(*segment)]
    if value.kind == "date" and not _is_event(sentence.text, value, segment, found):
        return None
    words = _key_words(sentence.text, segment, _without_adjunct(phrase, sentence.text, value), found)
    key = _key(words) | frozenset(value.modifiers)
    if len(key) < 2:
        return None
    named = [base for _, base, is_name in words if is_name]
    meant = [] if named else _meant(sentence, phrase)
    names = frozenset([*named, *meant])
    key |= names
    return Frame(
        sentence=sentence,
        value=value,
        key=key,
        names=names,
        scope=_scope(own, value, found, heading_years) | _counted_in(sentence.text[value.end :]),
        topic=" ".join(dict.fromkeys([*(word for word, _, _ in words), *_counted_noun(sentence.text, value)])),
    )


def _without_adjunct(phrase: str, text: str, value: Value) -> str:
    """The phrase without what merely accompanies a date, "of electricity" behind a measure of it, or who says it."""
    written = text[value.start : value.end]
    before, found, after = phrase.partition(written)
    if value.kind == "date" and _ACCOMPANYING.match(after):
        return before + found
    return before + found + _ATTRIBUTION.sub("", _MEASURED.sub("", after).rstrip(" ."))


def _meant(sentence: SourceSentence, phrase: str) -> list[str]:
    """The stems of the title's name for "the dam", where the title names one dam; none otherwise."""
    noun = re.match(r"The\s([a-z]+)\s", phrase)
    if noun is None or not _is_verb(phrase[noun.end() :].partition(" ")[0]):
        return []
    kind = re.escape(noun[1])
    found = re.findall(rf"((?:[A-Z][\w'’-]+\s)+(?:[a-z]+\s){{0,2}})(?i:{kind})\b", sentence.title)
    return [stem(word) for word in f"{found[0]}{noun[1]}".split()] if len(found) == 1 else []


def _counted_noun(text: str, value: Value) -> list[str]:
    if not value.unit.startswith("count:"):
        return []
    return re.findall(r"[A-Za-z][\w'’-]*", text[value.start : value.end])[-1 - len(value.modifiers) :]


def _is_event(text: str, value: Value, segment: tuple[int, int], found: list[Value]) -> bool:
    """Whether the date says when something happened once: a verb of an event, a definite object, no other value."""
    before = text[segment[0] : value.start]
    alone = not any(v is not value and segment[0] <= v.start < segment[1] for v in found)
    event = any(stem(word) in _EVENTS for word in re.findall(r"[A-Za-z]+", before))
    return bool(alone and event and _DATE_PREPOSITION.search(before) and not _INDEFINITE.search(before))


def _key_words(text: str, segment: tuple[int, int], phrase: str, found: list[Value]) -> list[tuple[str, str, bool]]:
    """Words of subject and attribute, their stems, and whether each is a name; values and light words left out."""
    for value in sorted(found, key=lambda v: v.end - v.start, reverse=True):
        if segment[0] <= value.start < segment[1]:
            phrase = phrase.replace(text[value.start : value.end], " | ")
    tokens = re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\|", phrase)
    result = []
    for position, token in enumerate(tokens):
        lowered = token.lower()
        if (
            (not lowered.isalpha() and not lowered[0].isalpha())
            or lowered in FUNCTION_WORDS
            or lowered in MONTHS
            or lowered in WEEKDAYS
        ):
            continue
        if lowered in ("each", "every", "per"):
            continue
        base = stem(token)
        if base in _LIGHT:
            continue
        follows = tokens[position + 1] if position + 1 < len(tokens) else ""
        named = token[0].isupper() and (position > 0 or follows[:1].isupper())
        result.append((token, _SAME.get(base, base), named))
    return result


def _key(words: list[tuple[str, str, bool]]) -> frozenset[str]:
    """The stems that must agree; what something cost is what it cost to build, said or not."""
    bases = frozenset(base for _, base, _ in words)
    return bases - {"build"} if "cost" in bases else bases


def _counted_in(after: str) -> frozenset[str]:
    """What the words behind a value say that it leaves out or takes in, such as ", not counting the harbour"."""
    match = _COUNTED_IN.match(after)
    return frozenset({f"but:{stem(match['what'])}"}) if match else frozenset()


def _scope(own: str, value: Value, found: list[Value], heading_years: list[str]) -> frozenset[str]:
    """What the value is bound to: years, rates, averages, plans, negations."""
    dates = [v for v in found if v.kind == "date" and v is not value]
    scope = {f"when:{v.date[0]}" for v in dates} if value.kind == "number" else set()
    if not dates and value.kind == "number":
        scope |= {f"when:{year}" for year in heading_years}
    for match in _RATE.finditer(own):
        base = match["time"] or match["base"] or match["adverb"]
        scope.add(f"rate:{stem(base)}")
    if _PLAN.search(own):
        scope.add("planned")
    if _NEGATION.search(own):
        scope.add("negated")
    return frozenset(scope)
