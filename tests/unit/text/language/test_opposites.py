"""Words that one exception makes wrong."""

from __future__ import annotations

import pytest

from graph_research.text.language.opposites import is_absolute

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
