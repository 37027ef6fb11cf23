"""Words that one exception makes wrong."""

from __future__ import annotations

import pytest

from graph_research.text.language.opposites import is_absolute, permits, takes_back, tells_exception

ABSOLUTE = {
    "en": ("A commit is never lost.", "A commit may be lost."),
    "de": ("Leser blockieren niemals einen Schreiber.", "Leser blockieren den Schreiber nicht lange."),
    "fr": ("La porte reste toujours ouverte.", "La porte reste ouverte."),
    "es": ("Siempre espera.", "Espera un segundo."),
    "it": ("Qualsiasi scrittore attende.", "Lo scrittore attende."),
    "pt": ("Nenhum leitor espera.", "O leitor espera."),
    "nl": ("Alleen de eerste wacht.", "De eerste wacht."),
    "pl": ("Nikt nie czeka.", "Pisarz czeka."),
    "zh": ("读者从不等待。", "读者等待。"),
    "ja": ("読み手は常に待つ。", "読み手は待つ。"),
}


@pytest.mark.parametrize("language", ABSOLUTE)
def test_a_text_that_holds_of_all_cases_or_of_none_is_told_in_each_language_with_labels(language: str) -> None:
    absolute, hedged = ABSOLUTE[language]
    assert is_absolute(absolute, language)
    assert not is_absolute(hedged, language)
    assert not is_absolute(absolute, "xx")


TAKING_BACK = {
    "en": "Contrary to what the hint states, it waits.",
    "de": "Allerdings wartet sie.",
    "fr": "Toutefois, elle attend.",
    "es": "Sin embargo, espera.",
    "it": "Tuttavia aspetta.",
    "pt": "No entanto, espera.",
    "nl": "Echter, zij wacht.",
    "pl": "Jednak czeka.",
    "zh": "然而，它会等待。",
    "ja": "しかし、待つ。",
}


@pytest.mark.parametrize("language", TAKING_BACK)
def test_a_sentence_that_takes_back_the_one_before_is_told_in_each_language_with_labels(language: str) -> None:
    assert takes_back(TAKING_BACK[language], language)
    assert not takes_back(ABSOLUTE[language][1], language)
    assert not takes_back(TAKING_BACK[language], "xx")


DEFAULTS = {
    "en": "The default is safe.",
    "de": "Die Voreinstellung gilt.",
    "fr": "Par défaut la porte est ouverte.",
    "es": "El valor predeterminado vale.",
    "it": "Il valore predefinito vale.",
    "pt": "O valor padrão vale.",
    "nl": "Dit is de standaard.",
    "pl": "Wartość domyślna obowiązuje.",
    "zh": "默认值有效。",
    "ja": "既定の値を使う。",
}


@pytest.mark.parametrize("language", DEFAULTS)
def test_a_text_that_names_a_default_is_told_in_each_language_with_labels(language: str) -> None:
    assert is_absolute(DEFAULTS[language], language)


EXCEPTIONS = {
    "en": "A commit might also fail.",
    "de": "Ein Leser kann den Schreiber jedoch aufhalten.",
    "fr": "Sauf en mode partagé.",
    "es": "Salvo en modo compartido.",
    "it": "Tuttavia il lettore attende.",
    "pt": "Porém o leitor espera.",
    "nl": "Tenzij een lezer wacht.",
    "pl": "Jednak pisarz czeka.",
    "zh": "除非有读者。",
    "ja": "ただし読み手は待つ。",
}


@pytest.mark.parametrize("language", EXCEPTIONS)
def test_a_text_that_tells_of_an_exception_is_told_in_each_language_with_labels(language: str) -> None:
    assert tells_exception(EXCEPTIONS[language], language)
    assert not tells_exception(ABSOLUTE[language][0], language)
    assert not tells_exception(EXCEPTIONS[language], "xx")


PERMISSIONS = {
    "en": ("Copying is safe while nobody writes.", "Copying takes a minute."),
    "de": ("Man darf die Datei kopieren.", "Man kopiert die Datei."),
    "fr": ("La copie est permise.", "La copie est lente."),
    "es": ("Basta copiar el archivo.", "Se copia el archivo."),
    "it": ("La copia è consentita.", "La copia è lenta."),
    "pt": ("A cópia é segura.", "A cópia é lenta."),
    "nl": ("Kopiëren is toegestaan.", "Kopiëren duurt lang."),
    "pl": ("Kopiowanie jest bezpieczne.", "Kopiowanie jest wolniejsze."),
    "zh": ("复制是安全的。", "复制很慢。"),
    "ja": ("コピーは安全である。", "コピーは遅い。"),
}


@pytest.mark.parametrize("language", PERMISSIONS)
def test_a_text_that_permits_is_told_in_each_language_with_labels(language: str) -> None:
    permitting, plain = PERMISSIONS[language]
    assert permits(permitting, language)
    assert not permits(plain, language)
    assert not permits(permitting, "xx")
