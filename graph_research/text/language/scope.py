"""Words that bind a value to a part, a rate, a plan or a kind of figure, by language."""

from __future__ import annotations

import re

SCOPES = {
    language: frozenset(listed.split())
    for language, listed in {
        "de": "je pro jeder jede jedes jährlich täglich monatlich durchschnittlich mittlere geplant geplante geplanten "
        "erwartet vorgesehen soll sollte würde könnte netto brutto einschließlich",
        "en": "each every per annual annually yearly daily monthly weekly hourly average mean median maximum minimum "
        "peak net gross planned plans plan scheduled expected proposed projected projection target targeted forecast "
        "predicted would could might may should will shall aim intended assumed originally initially goal hoped denied "
        "if excluding including except second third another compared versus instead than",
        "es": "cada por anual diario mensual promedio medio mediana máximo mínimo neto bruto previsto salvo incluido",
        "fr": "chaque par annuel annuelle quotidien mensuel moyen moyenne médian maximum minimum net brut prévu prévue",
    }.items()
}


def scopes(text: str, language: str) -> frozenset[str]:
    """The words of `SCOPES` that stand in the text, in lower case."""
    return SCOPES.get(language, frozenset()).intersection(re.findall(r"[^\W\d_]+", text.lower()))
