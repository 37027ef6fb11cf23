"""Languages by tag, and the language of short questions."""

from __future__ import annotations

import pytest

from graph_research.text.language.frequencies import frequencies
from graph_research.text.language.tags import direction, language_name, primary, question_language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("How does a heat pump work?", "en"),
        ("electric car cost", "en"),
        ("SQLite vs PostgreSQL", "en"),
        ("Vergleich SQLite PostgreSQL", "de"),
        ("Geschichte der Stadt Hamburg", "de"),
        ("Comparaison SQLite et PostgreSQL", "fr"),
        ("Avantages et inconvénients de l'énergie solaire", "fr"),
        ("Ventajas y desventajas de la energía solar", "es"),
        ("Qual è la capitale dell'Australia?", "it"),
        ("Vantagens e desvantagens da energia solar", "pt"),
        ("Wie schreef Faust?", "nl"),
        ("Ile kosztuje samochód elektryczny?", "pl"),
        ("Hvordan virker en varmepumpe?", "da"),
        ("SQLite 和 PostgreSQL 有什么区别？", "zh"),
        ("SQLiteとPostgreSQLの違いは何ですか", "ja"),
        ("What does 道 mean?", "en"),
        ("CO2", "en"),
        ("IPv6", "en"),
        ("Was ist CO2?", "de"),
        ("Xqat vorble zintha mekkor dulbane frimp", "und"),
        ("Bwawa la Mtera lina uwezo gani wa umeme, na gharama ya ukarabati ilikuwa kiasi gani?", "und"),
        ("Kí ni iye owó tí wọ́n fi kọ́ afárá náà, ta sì ni ó kọ́ ọ?", "und"),
        ("Tko je izgradio branu Peruća i kolika je njezina snaga?", "und"),
        ("Mitkä ovat lämpöpumppujen hankintakustannukset ja takaisinmaksuaika?", "fi"),
        ("Hőszivattyús fűtőrendszerek beruházási költségei és megtérülési ideje", "hu"),
        ("Kolik elektřiny vyrobila elektrárna Dlouhé Stráně v roce 2022?", "cs"),
        ("", "en"),
    ],
)
def test_the_language_of_a_short_question_is_told_by_all_its_words(question: str, language: str) -> None:
    assert question_language(question) == language


def test_a_question_is_compared_with_many_languages_without_their_dictionaries() -> None:
    frequencies.cache_clear()
    assert question_language("Geschichte der Gemeinde Husum") == "de"
    assert frequencies.cache_info().currsize == 0, "each takes some 5 MB, for as long as the process lives"


@pytest.mark.parametrize(
    ("tag", "name"),
    [
        ("de", "German"),
        ("pt-BR", "Portuguese (pt-BR)"),
        ("zh-Hant-TW", "Traditional Chinese"),
        ("ZH-tw", "Traditional Chinese"),
        ("xx", "xx"),
    ],
)
def test_a_language_has_an_english_name(tag: str, name: str) -> None:
    assert language_name(tag) == name


def test_hebrew_is_written_from_right_to_left() -> None:
    assert (direction("he-IL"), direction("de")) == ("rtl", "ltr")


def test_a_region_does_not_change_the_language() -> None:
    assert primary("pt-BR") == "pt"
