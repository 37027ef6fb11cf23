"""How questions are put in some languages: question words, openers of yes-or-no questions, words that join clauses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal

from graph_research.text.language.tables import facts
from graph_research.text.language.tables import listed as table_of

QUESTION_WORDS = table_of("question_words")
YES_NO = table_of("yes_no")
_JOINING = table_of("joining")
_HOW_MANY = facts("how_many")
"""What asks for a number of things, as patterns; the things follow."""
_THING = table_of("asks_a_thing")
_AMOUNT = facts("how_much")
"""What asks for a number, a length of time or another amount, as patterns."""
_PRICE = facts("what_price")
"""What asks for an amount of money, as patterns."""
_WHEN = facts("when")
"""What asks for a time, as patterns."""
_COMPARING = facts("comparing")
"""What asks how things differ, as patterns: texts on one of them seldom say "difference"."""
_SUPPORTING = facts("only_in_questions")
"""Verbs that a question needs and a statement that answers it lacks, as patterns."""
_DEFAULT_VALUE = facts("default_value")
"""What says of a default that it is a value, as patterns."""
_BY_DEFAULT = facts("by_default")
"""What says that nothing is set, or names what holds then, as patterns."""
_FOLLOWING, _BACK = facts("follows_up"), facts("points_back")
"""What a question that follows another one begins with, and the pronouns in it, as patterns."""

_UNSPACED_QUESTION_WORDS, _UNSPACED_PARTICLES = facts("asking"), facts("particles")
"""Of languages without spaces between words, as patterns."""


@cache
def _asking(language: str) -> re.Pattern[str] | None:
    if asking := _UNSPACED_QUESTION_WORDS.get(language):
        return re.compile("|".join(filter(None, (asking, _UNSPACED_PARTICLES.get(language)))))
    words = _either(QUESTION_WORDS, language) if language != "en" else ""  # those of English weigh next to nothing
    asking = "|".join(filter(None, (words, _SUPPORTING.get(language), _COMPARING.get(language))))
    return re.compile(rf"\b(?:{asking})\b", re.IGNORECASE) if asking else None


def asked_only(question: str, language: str) -> str:
    """The question with spaces for its question words, verbs that only questions need ("does") and words that ask for
    a comparison."""
    asking = _asking(language)
    return asking.sub(lambda match: " " * len(match[0]), question) if asking else question


def chinese_topic(clause: str, language: str) -> str:
    """What a Chinese clause is about: all of it that is not asked for, since its terms, pairs of characters, are no
    names by themselves; empty for other languages."""
    return "".join(asked_only(clause, language).split()) if language == "zh" else ""


def is_yes_no(question: str, language: str) -> bool:
    """Whether the question's first word asks for yes or no."""
    first = re.match(r"\W*([^\W\d_]+)", question)
    return first is not None and first[1].lower() in YES_NO.get(language, ())


def counted_words(question: str, language: str) -> str:
    """What follows the words that ask for a number of things, empty where a question begins otherwise."""
    asking = _opens(question, _HOW_MANY.get(language))
    return question[asking.end() :] if asking else ""


def asked_kind(question: str, language: str) -> Literal["date", "money", "number", ""]:
    """Which kind of value a question begins by asking for, with one word before that at most ("in what year")."""
    if _opens(question, _WHEN.get(language)):
        return "date"
    if _opens(question, _PRICE.get(language)):
        return "money"
    return "number" if _opens(question, _AMOUNT.get(language)) else ""


def price_asked(question: str, language: str) -> str:
    """The words with which a question begins by asking for an amount of money, up to "cost" or "price"; empty where it
    begins otherwise."""
    asking = _opens(question, _PRICE.get(language))
    return asking[0] if asking else ""


def without_amount(question: str, language: str) -> str:
    """What follows the words that ask for an amount, or the question where it begins otherwise."""
    asking = _opens(question, _AMOUNT.get(language))
    return question[asking.end() :] if asking else question


def without_default(question: str, language: str) -> str:
    """The question without the words that ask for what holds where nothing is set."""
    said = _BY_DEFAULT.get(language)
    return re.sub(rf"(?<!\w)(?:{said})(?!\w)", " ", question, flags=re.IGNORECASE) if said else question


def with_bare_default(question: str, language: str) -> str:
    """The question without the word for a value behind "default": a table has the default alone."""
    said = _DEFAULT_VALUE.get(language)
    return re.sub(rf"(?:{said})(?!\w)", "", question, flags=re.IGNORECASE) if said else question


def _opens(question: str, asking: str | None) -> re.Match[str] | None:
    return re.match(rf"\W*(?:\w+ )?(?:{asking})(?!\w)", question, re.IGNORECASE) if asking else None


def asks_otherwise(question: str, language: str) -> bool:
    """Whether a question asks who, why, where or how, with a question word that asks for no thing."""
    asking = {*QUESTION_WORDS.get(language, ())}.difference(_THING.get(language, ()))
    return any(word in asking for word in re.findall(r"\w+", question.lower()))


def points_back(question: str, language: str) -> bool:
    """Whether a question leans on an earlier one: it begins with a word such as "and", or has a pronoun."""
    following, back = _FOLLOWING.get(language), _BACK.get(language)
    pattern = rf"^\W*(?:{following})(?!\w)|(?<!\w)(?:{back})(?!\w)"
    return following is not None and re.search(pattern, question, re.IGNORECASE) is not None


def is_question_word(word: str, language: str) -> bool:
    return word.lower() in QUESTION_WORDS.get(language, ())


def clauses(question: str, language: str) -> list[str]:
    """The question cut where a sentence ends, and at a comma, colon or joining word with a question word soon after."""
    return _pieces(piece for clause in _clause_ends(language).split(question) for piece in _unspaced(clause, language))


def asked_things(question: str, language: str) -> list[str]:
    """The question cut into what it asks, one thing each: at the ends of clauses and between things that it lists, as
    far as what stands behind asks too. Where nothing asks, its clauses."""
    whole = clauses(question, language)
    pieces = [piece for clause in whole for piece in listed(clause, language)]
    if not any(_asks(piece, language) for piece in pieces):
        return whole
    things: list[tuple[int, int]] = []
    end = 0
    for piece in pieces:
        start = question.index(piece, end)
        end = start + len(piece)
        if things and not (_asks(piece, language) and _asks(question[slice(*things[-1])], language)):
            start, _ = things.pop()
        things.append((start, end))
    return [question[start:end] for start, end in things]


def listed(clause: str, language: str) -> list[str]:
    """A clause cut at the commas and joining words between the things that it lists; joined names stay together."""
    pieces: list[str] = []
    between = ""
    for at, piece in enumerate(_list_ends(language).split(clause)):
        if at % 2:
            between = piece
        elif pieces and re.search(r"(?<=\W)[A-Z]\w*$", pieces[-1]) and re.match(r"[A-Z]", piece):
            pieces[-1] += between + piece
        else:
            pieces.append(piece)
    return _pieces(pieces)


def _unspaced(clause: str, language: str) -> list[str]:
    """A Chinese clause cut behind each comma before which something is asked."""
    if language != "zh":
        return [clause]
    pieces = [""]
    for piece in re.split("(?<=，)", clause):
        pieces[-1] += piece
        if re.search(_UNSPACED_QUESTION_WORDS["zh"], piece):
            pieces.append("")
    return [*pieces[:-2], "".join(pieces[-2:])]


def _asks(piece: str, language: str) -> bool:
    """Whether a piece has a question word among its first three words, or asks for yes or no."""
    if unspaced := _UNSPACED_QUESTION_WORDS.get(language):
        return re.search(unspaced, piece) is not None
    asking = _either(QUESTION_WORDS, language)
    found = asking and re.match(rf"(?:\w+\s+){{0,2}}(?:{asking})\b", piece, re.IGNORECASE)
    return bool(found) or is_yes_no(piece, language)


def _pieces(parts: Iterable[str]) -> list[str]:
    return [piece for part in parts if (piece := part.strip(" \t\n,;:.?!¿¡？！。、，"))]


@cache
def _clause_ends(language: str) -> re.Pattern[str]:
    joining, asking = _either(_JOINING, language), _either(QUESTION_WORDS, language)
    ends = r"[?!;？！。]+|(?<=\w\w)\.\s"
    if asking:
        ends += rf"|(?:[,:]\s+(?:(?:{joining})\s+)?|\s(?:{joining})\s+)(?=¿?(?:[^\W\d_]+\s+){{0,2}}(?:{asking})\b)"
    return re.compile(f"{ends}|、" if language in ("ja", "zh") else ends, re.IGNORECASE)


@cache
def _list_ends(language: str) -> re.Pattern[str]:
    joining = _either(_JOINING, language)
    return re.compile(rf"(,\s(?:(?:{joining})\s)?|\s(?:{joining})\s)" if joining else r"(,\s|、)")


def _either(table: dict[str, list[str]], language: str) -> str:
    return "|".join(table.get(language, ()))
