"""The tables of fixed words: each language has every text, with the same placeholders, and none in English."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from graph_research.research.evidence.claim_support import CitedPassage, judge
from graph_research.research.models.draft import StatementKind, StatementVerdict
from graph_research.research.report.formatting import bracketed, day, number, percent, problem, quoted, side_by_side
from graph_research.research.report.labels import languages
from graph_research.research.report.labels.languages import LANGUAGES, has_labels, labels_for
from graph_research.research.report.labels.table import Labels

OTHERS = [language for language in LANGUAGES if language != "en"]
AS_IN_ENGLISH = {
    *("analysis", "bron", "clarification", "conclusions", "condensed", "condensada", "date", "factor", "fin", "graph"),
    *("methodology", "model", "origins", "page {n}", "passages", "phase", "planning", "question", "score"),
    *("score {score}", "sources", "source", "status", "transition", "usd", "no.", "tokens in", "tokens out"),
    *("tokens in / out", "{n} tokens"),
}
"""Texts that some other language writes as English does, in lower case."""


def texts(labels: Labels) -> Iterator[tuple[str, str]]:
    for field in fields(Labels):
        value: Any = getattr(labels, field.name)
        if isinstance(value, Mapping):
            yield from ((f"{field.name}.{key}", text) for key, text in value.items())
        elif isinstance(value, tuple):
            yield from ((f"{field.name}.{place}", text) for place, text in enumerate(value))
        else:
            yield field.name, value


def placeholders(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("language", OTHERS)
def test_each_table_has_the_texts_of_the_english_one_with_their_placeholders(language: str) -> None:
    english, other = dict(texts(labels_for("en"))), dict(texts(labels_for(language)))
    assert other["language"] == language
    assert other.keys() == english.keys()
    assert {name: placeholders(text) for name, text in other.items()} == {
        name: placeholders(text) for name, text in english.items()
    }
    assert all(text for text in other.values())


@pytest.mark.parametrize("language", OTHERS)
def test_no_text_of_a_table_is_left_in_english(language: str) -> None:
    english = dict(texts(labels_for("en")))
    same = {
        text for name, text in texts(labels_for(language)) if text == english[name] and not name.startswith("months")
    }
    with_words = {text for text in same if re.search(r"[a-z]{3}", re.sub(r"\{\w+\}", "", text))}
    assert {text.lower() for text in with_words} <= AS_IN_ENGLISH


@pytest.mark.parametrize(
    ("language", "date", "month", "large", "share", "quote"),
    [
        ("en", "7 May 2024", "May 2024", "1,234.5", "63%", "“so”"),
        ("de", "7. Mai 2024", "Mai 2024", "1.234,5", "63\u00a0%", "„so“"),
        ("fr", "7 mai 2024", "mai 2024", "1\u202f234,5", "63\u00a0%", "«\u00a0so\u00a0»"),
        ("es", "7 de mayo de 2024", "mayo de 2024", "1\u202f234,5", "63\u00a0%", "«so»"),
        ("pl", "7 maja 2024", "maja 2024", "1\u202f234,5", "63%", "„so”"),
        ("zh-CN", "2024年5月7日", "2024年5月", "1,234.5", "63%", "“so”"),
        ("ja", "2024年5月7日", "2024年5月", "1,234.5", "63%", "「so」"),
    ],
)
def test_dates_numbers_and_quotations_are_written_as_the_language_does(
    language: str, date: str, month: str, large: str, share: str, quote: str
) -> None:
    labels = labels_for(language)
    assert day("2024-05-07T10:00:00Z", labels) == date
    assert day("2024-05", labels) == month
    assert day("2024", labels) == "2024" and day(None, labels) == "–" and day("soon", labels) == "soon"
    assert number(1234.5, labels, 1) == large
    assert percent(0.634, labels) == share
    assert quoted("so", labels) == quote


def test_a_language_without_a_table_is_written_in_english() -> None:
    assert labels_for("cs") is labels_for("en") and not has_labels("cs")
    assert labels_for("pt-BR").language == "pt"


def test_a_tag_of_traditional_chinese_gets_traditional_characters() -> None:
    labels = labels_for("zh-TW")
    assert labels is labels_for("zh-Hant") and labels is not labels_for("zh-CN")
    shown = " ".join(text for _, text in texts(labels))
    assert labels.language == "zh-Hant" and quoted("x", labels) == "「x」"
    assert "來源" in shown and "程式" in shown
    assert not set(shown) & set("与个为关实发对应来说过这进问间题见语证据译网络软时无")


def test_no_table_has_a_text_that_nothing_shows() -> None:
    package = Path(languages.__file__).parents[3]
    code = "".join(file.read_text() for ending in ("*.py", "*.j2") for file in package.rglob(ending))
    used = set(re.findall(r"(?<=[\w)])\.(\w+)", code))
    assert not {field.name for field in fields(Labels)} - used


HELD = CitedPassage(1, "The dam has 16 turbines, and it opened in 2016.", valid=True)
DOUBT = StatementVerdict(id="st-0123456789", verdict="partly", reason="drops 'may'; adds a place: Bath")
UNSUPPORTED = {
    "no citation": ("The dam opened.", StatementKind.FACT, [], None),
    "no valid citation": ("The dam opened.", StatementKind.FACT, [HELD._replace(valid=False)], None),
    "citation is not valid": ("The dam opened.", StatementKind.QUOTE, [HELD._replace(valid=False)], None),
    "another quote": ("The dam opened.", StatementKind.QUOTE, [HELD], None),
    "nothing under it": ("The dam is fine.", StatementKind.ANALYSIS, [], None),
    "a number in a limit": ("Whether it has 7 doors was not found.", StatementKind.LIMIT, [], None),
    "another number": ("The dam has 17 turbines.", StatementKind.FACT, [HELD], None),
    "words": ("Salmon swim through the weir.", StatementKind.FACT, [HELD], None),
    "verdict": ("The dam has 16 turbines.", StatementKind.FACT, [HELD], DOUBT),
    "no": ("The dam has 16 turbines.", StatementKind.FACT, [HELD], DOUBT.model_copy(update={"verdict": "not"})),
    "bare": ("The dam has 16 turbines.", StatementKind.FACT, [HELD], DOUBT.model_copy(update={"reason": ""})),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_why_a_sentence_is_unsupported_is_said_in_each_language_with_what_is_named(case: str) -> None:
    text, kind, passages, verdict = UNSUPPORTED[case]
    found = judge(text, kind, passages, verdict=verdict).problem
    assert found
    assert problem(found, labels_for("en")) == found
    for language in OTHERS:
        said = problem(found, labels_for(language))
        assert found.partition(": ")[0].partition("; ")[0] not in said, (language, said)
        assert all(part in said for part in re.findall(r"\[\d+\]|\b(?:7|17|Bath|Salmon)\b", found))


@pytest.mark.parametrize(
    ("sentences", "text"),
    [
        (["One.", "Two."], "One. Two."),
        (["一句。", "二句！", "三句"], "一句。二句！三句"),
        (["見つかりません。", "「そうだ。」", "次の文"], "見つかりません。「そうだ。」次の文"),
        ([], ""),
    ],
)
def test_sentences_stand_side_by_side_as_their_script_writes_them(sentences: list[str], text: str) -> None:
    assert side_by_side(sentences) == text


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "Chamber, 2018 (disputed)"), ("zh", "Chamber，2018（有争议）"), ("ja", "Chamber、2018（異論あり）")],
)
def test_what_is_said_further_has_the_marks_of_the_language(language: str, said: str) -> None:
    labels = labels_for(language)
    mark = bracketed(labels.disputed, labels)
    assert f"Chamber{labels.aside}2018{' ' if language == 'en' else ''}{mark}" == said
