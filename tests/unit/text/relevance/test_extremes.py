"""The row of a table with the largest or smallest value of the column that a question names."""

from __future__ import annotations

import pytest

from graph_research.text.readers.separated import separated_document
from graph_research.text.relevance.answerability import absent_words
from graph_research.text.relevance.extremes import extreme_rows
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool

STAYS = separated_document(
    "Month,Year,Arbel stays,Gelbwand stays,Income\nJune,2023,412,198,1 800 €\nJuly,2023,1120,1544,9 100 €\n"
    "June,2024,398,205,1 750 €\nJuly,2024,1305,,9 900 €\nTotal,,3235,1947,\n"
)


def rows(question: str, language: str = "en") -> list[str]:
    found = extreme_rows(STAYS, "en", parse(question, language))
    return [" ".join(STAYS.rows[start][:2]) for start in found]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("In which month did Arbel have the most stays?", ["July 2024"]),
        ("In which month did Arbel have the fewest stays?", ["June 2024"]),
        ("Which month of 2023 had the fewest stays at Arbel?", ["June 2023"]),
        ("In which year were the Gelbwand stays highest?", ["July 2023"]),
        ("In which month did Arbel have stays?", []),
        ("In which month did Arbel have at most 400 stays?", []),
        ("Which month had the most marmots?", []),
        ("Which bishop had the most stays on the moon?", []),
    ],
)
def test_a_superlative_names_the_row_with_that_value_and_never_the_total(question: str, expected: list[str]) -> None:
    assert rows(question) == expected


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("de", "Welche Hütte ist am billigsten?"),
        ("fr", "Quelle cabane est la moins chère ?"),
        ("es", "¿Qué refugio es el más barato?"),
    ],
)
def test_superlatives_are_known_in_some_languages(language: str, question: str) -> None:
    header = {"de": "Hütte,Preis", "fr": "Cabane,Prix", "es": "Refugio,Precio"}[language]
    table = separated_document(f"{header}\nArbel,42\nRossboden,38\nGelbwand,55\n")
    [row] = extreme_rows(table, language, parse(question, language))
    assert table.rows[row] == ("Rossboden", "38")


def test_a_superlative_that_a_table_answers_is_no_word_that_the_texts_lack() -> None:
    pool = Pool({"stays": STAYS})
    assert absent_words(pool, parse("In which month did Arbel have the fewest stays?")) == ()
    assert absent_words(pool, parse("In which month did Arbel have the fewest marmots?")) == ("fewest", "marmots")
