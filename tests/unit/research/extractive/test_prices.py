"""A question for an amount of money is answered by one, with or without the word "cost", and by nothing else."""

from __future__ import annotations

import pytest

from graph_research.research.extractive.analysis import analyze
from graph_research.research.extractive.short_answer import short_answer
from graph_research.text.language.questions import asked_kind
from tests.support.research.extractive_sources import written

PRICES = """# Articles

| Article | Size | Price |
|---|---|---|
| Perry | 0.33 l | 4.80 |
| Quince nectar | 0.5 l | 4.20 |
"""
MINUTES = """# Minutes

Tomasz proposed to lease a filler from Krones. It was rejected by four votes to one, since the monthly rate would exceed
the cost of repairs.

For 2026 a second cold store is planned. It will cost about £740,000.
"""


@pytest.mark.parametrize(
    ("question", "language", "kind"),
    [
        ("How much did the new filler from Krones cost?", "en", "money"),
        ("and what does the perry cost", "en", "money"),
        ("What is the price of cherry juice?", "en", "money"),
        ("How much water does the pump need?", "en", "number"),
        ("What does the study say about the cost?", "en", ""),
        ("Was kostet der Saft?", "de", "money"),
        ("Wie hoch ist die Miete?", "de", "money"),
        ("Wie hoch ist der Turm?", "de", "number"),
        ("Combien a coûté la machine ?", "fr", "money"),
        ("¿Cuánto cuesta la botella?", "es", "money"),
        ("Quanto costa il succo?", "it", "money"),
        ("Wat kost het sap?", "nl", "money"),
        ("Ile kosztuje sok?", "pl", "money"),
        ("Quanto custa o suco?", "pt", "money"),
    ],
)
def test_an_amount_of_money_is_asked_for(question: str, language: str, kind: str) -> None:
    assert asked_kind(question, language) == kind


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What does the perry cost?", "Perry 0.33 l 4.80"),
        ("How much does a second cold store cost?", "It will cost about £740,000."),
        ("How much did the filler from Krones cost?", None),
        ("How much does the quince jelly cost?", None),
    ],
)
def test_a_price_answers_by_its_currency_or_its_column(question: str, first: str | None) -> None:
    analysis = analyze({**written([PRICES, MINUTES]), "question": question})
    assert next((group.lead.text for group in short_answer(analysis)), None) == first
