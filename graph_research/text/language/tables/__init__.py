"""What a language's TOML file in this folder says of it: lists of words parted by spaces, some with numbers (`zwei=2`).

Numbers and units are read in all languages at once, so that a word of a file must mean nothing else in another's.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any


def listed(subject: str) -> dict[str, list[str]]:
    """The words of a subject by language, of the languages whose file has it, in the order of their codes."""
    return {language: table[subject].split() for language, table in _tables().items() if subject in table}


def any_of(subject: str) -> str:
    """A pattern for the words of a subject in all languages, the longest first; `_` stands for white space in them."""
    written = {word for words in listed(subject).values() for word in words}
    return "|".join(sorted(written, key=lambda word: (-len(word), word))).replace("_", r"\s+")


def word_of(subject: str) -> str:
    """A pattern for one of these words by itself: between what is no letter, digit or _, or among Chinese or Japanese
    characters, which write no spaces between words."""
    return rf"(?<![^\W\u3040-\u9fff])(?:{any_of(subject)})(?![^\W\u3040-\u9fff])"


def numbered(subject: str) -> dict[str, int]:
    """The words of a subject in all languages with their numbers."""
    pairs = (word.split("=") for words in listed(subject).values() for word in words)
    return {word: int(number) for word, number in pairs}


def facts(subject: str) -> dict[str, str]:
    """What the files say of a subject that is no list, by language."""
    return {language: table[subject] for language, table in _tables().items() if subject in table}


def groups(subject: str) -> tuple[str, ...]:
    """The groups of words of a subject in English."""
    return tuple(_tables()["en"][subject])


def entries(subject: str, language: str) -> tuple[str, ...]:
    """The lines of a subject in one language, none where its file has none."""
    return tuple(_tables().get(language, {}).get(subject, ()))


def unit_names() -> Iterator[tuple[list[str], str, float]]:
    """The ways to write each unit, its dimension, and its factor to the dimension's base unit."""
    table = _read("units")
    for names, dimension, factor in table["units"]:
        yield names.split("|"), dimension, factor
    for names, sign, dimension in table["prefixed"]:
        for prefixes, letter, factor in table["prefixes"]:
            written = [prefix + name for prefix in prefixes.split("|") for name in names.split("|")]
            yield [*written, *([letter + sign] if letter or sign != "B" else [])], dimension, factor


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    names = sorted(file.name.removesuffix(".toml") for file in files(__package__).iterdir() if file.name[2:] == ".toml")
    return {name: _read(name) for name in names}


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
