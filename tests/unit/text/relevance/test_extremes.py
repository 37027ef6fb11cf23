"""The row of a table with the largest or smallest value of the column that a question names."""

from __future__ import annotations

import pytest

from graph_research.text.document import Document
from graph_research.text.readers.separated import separated_document
from graph_research.text.relevance.answerability import absent_words
from graph_research.text.relevance.extremes import extreme_rows, rows_holding
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
    ("stays", "most"),
    [((5, 5, 0), ["Arbel", "Speer"]), ((0, 0, 0), ["Arbel", "Speer", "Zindlen"]), ((5, 2, 3), ["Zindlen"])],
    ids=["two alike and none", "none at all", "the first is the total"],
)
def test_no_row_is_a_total_where_several_are_the_sum_of_the_others(stays: tuple[int, ...], most: list[str]) -> None:
    huts = zip(("Arbel", "Speer", "Zindlen"), stays, strict=True)
    table = separated_document("Hut,Stays\n" + "".join(f"{hut},{number}\n" for hut, number in huts))
    found = extreme_rows(table, "en", parse("Which hut had the most stays?"))
    assert [table.rows[row][0] for row in found] == most


@pytest.mark.parametrize(
    ("question", "port"),
    [
        ("Which port has the lowest rate for a small container?", "Santos"),
        ("Which port has the most free days for a large container?", "Busan"),
    ],
)
def test_the_second_row_of_a_header_names_columns_too(question: str, port: str) -> None:
    table = separated_document(
        "Port,Small container,,Large container,\n,Rate,Free days,Rate,Free days\n"
        "Shanghai,2100,5,3350,5\nSantos,1275,9,2930,8\nBusan,2230,6,2480,9\n"
    )
    [row] = extreme_rows(table, "en", parse(question))
    assert table.rows[row][0] == port


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


WELLS = separated_document(
    "Well,Drilled,Last inspection,Depth in m,Litres\nBirkenau,1954,30 May 2024,1620,1240\n"
    "Hasengrund,1931,3 March 2025,1410,1950\nLohe,2009,12 November 2023,2020,1100\n"
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the newest drilled well?", ["Lohe"]),
        ("Which well is the oldest?", ["Hasengrund"]),  # `well` is as common as `the`
        ("Which well is the deepest?", ["Lohe"]),
        ("Which well was drilled first?", ["Hasengrund"]),
        ("Which well was drilled last?", ["Lohe"]),
        ("Which well was inspected most recently?", ["Hasengrund"]),
        ("Which well has the earliest inspection?", ["Lohe"]),
        ("Which well had its inspection the longest ago?", ["Lohe"]),
        ("Which well was sealed first?", []),
    ],
)
def test_old_and_new_are_measured_by_dates(question: str, expected: list[str]) -> None:
    assert [WELLS.rows[start][0] for start in extreme_rows(WELLS, "en", parse(question))] == expected


def test_numbers_that_look_like_years_are_dates_only_where_the_question_names_their_column() -> None:
    table = separated_document("Hut,Altitude\nArbel,1620\nRossboden,1410\nGelbwand,2020\n")
    assert extreme_rows(table, "en", parse("Which hut is the oldest?")) == {}
    opened = separated_document("Hut,Sealed\nArbel,1620\nRossboden,1410\nGelbwand,2020\n")
    [row] = extreme_rows(opened, "en", parse("Which hut was sealed most recently?"))
    assert opened.rows[row][0] == "Gelbwand"


def test_age_counts_before_dates() -> None:
    table = separated_document("Member,Age,Date of entry\nAda,81,2 May 2019\nBen,42,3 June 2001\n")
    [row] = extreme_rows(table, "en", parse("Who is the oldest member?"))
    assert table.rows[row][0] == "Ada"


@pytest.mark.parametrize(
    ("language", "header", "question", "expected"),
    [
        ("de", "Brunnen,Baujahr", "Welcher Brunnen ist der älteste?", "Rossboden"),
        ("de", "Brunnen,Gründungsjahr", "Welches ist der neueste Brunnen?", "Gelbwand"),
        ("fr", "Cabane,Construction", "Quelle est la cabane la plus ancienne ?", "Rossboden"),
        ("fr", "Cabane,Construction", "Quelle est la cabane la plus récente ?", "Gelbwand"),
        ("es", "Refugio,Construido", "¿Cuál es el refugio más antiguo?", "Rossboden"),
        ("es", "Refugio,Construido", "¿Cuál es el refugio más nuevo?", "Gelbwand"),
    ],
)
def test_old_and_new_are_known_in_some_languages(language: str, header: str, question: str, expected: str) -> None:
    table = separated_document(f"{header}\nArbel,1942\nRossboden,1938\nGelbwand,1955\n")
    [row] = extreme_rows(table, language, parse(question, language))
    assert table.rows[row][0] == expected


def test_a_superlative_that_a_table_answers_is_no_word_that_the_texts_lack() -> None:
    pool = Pool({"stays": STAYS})
    assert absent_words(pool, parse("In which month did Arbel have the fewest stays?")) == ()
    assert absent_words(pool, parse("In which month did Arbel have the fewest marmots?")) == ("fewest", "marmots")


@pytest.mark.parametrize(
    ("question", "boat"),
    [
        ("Welches Boot ist am leichtesten?", "Krabbe"),
        ("Welches ist das schwerste Boot?", "Tordalk"),
        ("Welches Boot hat die höchste Geschwindigkeit?", "Kiebitz"),
        ("Welches ist das schnellste Boot?", "Kiebitz"),
        ("Bei welchem Boot ist die Miete am höchsten?", "Krabbe"),
        ("Welches Boot ist das breiteste?", "Tordalk"),
    ],
)
def test_german_superlatives_measure_what_compounds_in_a_header_name(question: str, boat: str) -> None:
    header = "Boot,Leergewicht (kg),Höchstgeschwindigkeit (km/h),Tagesmiete,Breite (m)"
    boats = separated_document(f"{header}\nKiebitz,61,14,20,1.8\nTordalk,97,12,18,2.2\nKrabbe,28,9,25,1.4\n")
    [row] = extreme_rows(boats, "de", parse(question, "de"))
    assert boats.rows[row][0] == boat


RANGES = separated_document(
    "Group,Crew weight (kg),Fee,Season\nOne,50 to 65,12,2019\nTwo,66–80,14,2020\nThree,81 and more,17,2021\n"
)
CHAIRS = separated_document(
    "Zeitraum,Vorsitz,Mitglieder\n1946 bis 1971,Rau,112\n1972–1998,Specht,148\nseit 1999,Demir,96\n"
)
POST = separated_document("Gewicht der Sendung,Porto\nbis 3 kg,7 €\nab 3 bis 10 kg,12 €\nab 10 kg,Spedition\n")


@pytest.mark.parametrize(
    ("table", "question", "language", "expected"),
    [
        (RANGES, "Which group has a crew weight of 70 kg?", "en", ["66–80"]),
        (RANGES, "What is the fee of a group with a crew weight of 0.09 t?", "en", ["81 and more"]),
        (RANGES, "Which group has a crew weight of 70?", "en", ["66–80"]),
        (RANGES, "Which group has a crew weight of 70 m?", "en", []),
        (RANGES, "Which group has 70 members?", "en", []),
        (RANGES, "How many moths of 70 kg has a museum?", "en", []),
        (CHAIRS, "Wer hatte 1985 den Vorsitz?", "de", ["1972–1998"]),
        (CHAIRS, "Wer hatte im Mai 2012 den Vorsitz?", "de", ["seit 1999"]),
        (CHAIRS, "Wer hatte 1930 den Vorsitz?", "de", []),
        (CHAIRS, "Wer hatte 148 Mitglieder im Vorsitz?", "de", []),
        (POST, "Wie hoch ist das Porto einer Sendung von 5 kg?", "de", ["ab 3 bis 10 kg"]),
        (POST, "Wie hoch ist das Porto einer Sendung von 500 g?", "de", ["bis 3 kg"]),
        (POST, "Wie hoch ist das Porto einer Sendung von 10 kg?", "de", ["ab 3 bis 10 kg", "ab 10 kg"]),
    ],
)
def test_a_value_in_a_question_names_the_row_whose_range_holds_it(
    table: Document, question: str, language: str, expected: list[str]
) -> None:
    found = [table.rows[start] for start in rows_holding(table, language, parse(question, language))]
    assert [row[1] if table is RANGES else row[0] for row in found] == expected


def test_a_long_table_without_ranges_is_not_read_to_its_end() -> None:
    table = separated_document(
        "Group,Crew weight (kg)\n" + "\n".join(f"{n},{n % 90}" for n in range(200)) + "\nLast,60 to 80\n"
    )
    assert rows_holding(table, "en", parse("Which group has a crew weight of 70 kg?")) == {}


def test_the_cheapest_is_told_by_amounts_of_money_where_no_column_is_called_price() -> None:
    table = separated_document('Sorte,250-g-Glas,Ernte (kg)\nWaldhonig,"5,90 €",61\nBlütenhonig,"4,50 €",412\n')
    for question, sort in (
        ("Welche Sorte ist am billigsten?", "Blütenhonig"),
        ("Welche ist die teuerste Sorte?", "Waldhonig"),
    ):
        [row] = extreme_rows(table, "de", parse(question, "de"))
        assert table.rows[row][0] == sort


def test_a_value_that_a_range_holds_is_no_word_that_the_texts_lack() -> None:
    pool = Pool({"post": POST})
    assert absent_words(pool, parse("Wie hoch ist das Porto einer Sendung von 5 kg?", "de")) == ()


def test_a_table_of_names_is_read_in_the_language_of_the_question() -> None:
    boats = separated_document("Boot,Eigner,Länge (m)\nKiebitz,Brix,7.68\nTordalk,Petersen,8.86\nKrabbe,Witt,6.30\n")
    pool = Pool({"boats": boats})
    asked = parse("Welches Boot ist das längste?", "de")
    assert [pool.read["boats"].units[place].text for place in pool.extremes(asked)["boats"]] == [
        "Tordalk Petersen 8.86"
    ]
