"""The date that a document gives itself, and dates of which it only tells."""

from __future__ import annotations

import pytest

from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Preisliste\n\nStand: März 2025\n\nDie Fahrt kostet 5 Euro.", "2025-03"),
        ("Preisliste, Stand März 2025", "2025-03"),
        ("Stand: 03/2025", "2025-03"),
        ("Stand: 31.03.2025", "2025-03-31"),
        ("Stand: 2024", "2024"),
        ("Prices (as of March 2025)", "2025-03"),
        ("Last updated March 2025", "2025-03"),
        ("Updated on 5 May 2021", "2021-05-05"),
        ("État au 3 mai 2021", "2021-05-03"),
        ("Mise à jour : 12 juin 2022", "2022-06-12"),
        ("Dernière mise à jour le 5 mai 2020", "2020-05-05"),
        ("Actualizado el 5 de mayo de 2020", "2020-05-05"),
        ("Ultimo aggiornamento: 5 maggio 2020", "2020-05-05"),
        ("Laatst gewijzigd op 5 mei 2020", "2020-05-05"),
        ("Última atualização em 5 de maio de 2020", "2020-05-05"),
        ("Stan na dzień 5 maja 2020", "2020-05-05"),
        ("Senast uppdaterad 2024-05-03", "2024-05-03"),
        ("по состоянию на 01.05.2024", "2024-05-01"),
        ("最終更新日：2024年5月3日", "2024-05-03"),
        ("截至2024年5月3日", "2024-05-03"),
        ("Price list\n\nPublished: 3 May 2024\n\nA seat is 5 euros.", "2024-05-03"),
        ("Veröffentlicht am 14. März 2024", "2024-03-14"),
        ("Publié le 14 mars 2024", "2024-03-14"),
        ("Fecha: 20/04/2024", "2024-04-20"),
        ("Pubblicato il 14 marzo 2024", "2024-03-14"),
        ("Publicado a 14 de março de 2024", "2024-03-14"),
        ("Datum: 20-04-2024", "2024-04-20"),
        ("Opublikowano 14 marca 2024 r.", "2024-03-14"),
        ("发布日期：2024年3月14日", "2024-03-14"),
        ("公表日：2024年3月14日", "2024-03-14"),
        ("Published in 3 May 2024 issues of the Courier.", ""),
        ("Date: 3 May 2024 and each Friday", ""),
        ("Date of birth: 3 May 1950", ""),
        ("The price, as of March 2025, was 5 euros for everyone.", ""),
        ("The lagoon has 20 members (as of March 2025).", ""),
        ("The ferry was updated on 3 May 2021 with new engines.", ""),
        ("Messe Stand 2025", ""),
        ("as of 5 employees", ""),
        ("The tide stood still on 5 May 2020", ""),
    ],
)
def test_a_document_is_dated_by_a_line_about_itself(text: str, date: str) -> None:
    assert plain_document(text).date == date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("# Larch 4.2\n\n6 April 2021\n\nLarch 4.2 has a new parser. Last updated 26 May 2026.", "2021-04-06"),
        ("# Notes\n\n## Larch 4.2\n\n*April 6, 2021*\n\nA new parser.\n\n## Larch 4.1\n\nMay 4, 2020", "2021-04-06"),
        ("# Opening\n\n4 May 1931\n\nA bridge.\n\nLast updated on 2024-06-15.", "2024-06-15"),
        ("# The Courier, 2 May 2024\n\nA bridge.", "2024-05-02"),
        ("# Nordauer Anzeiger – 2. Mai 2024\n\nEine Brücke.", "2024-05-02"),
        ("# 北港日报，2024年5月2日\n\n一座桥。", "2024-05-02"),
        ("# The attacks of 11 September 2001\n\nA history.", ""),
        ("# The Courier, May 2024\n\nA bridge.", ""),
        ("# Larch 4.2\n\nApril 2021\n\nA new parser.", ""),
        ("# Larch 4.2\n\n6 April 2021 is the last day of its support.", ""),
        ("# Larch 4.2\n\nA new parser.\n\n6 April 2021", ""),
    ],
)
def test_a_day_alone_below_a_heading_or_behind_its_title_is_the_documents_own(text: str, date: str) -> None:
    assert markdown_document(text).date == date


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("# Fees\n\nVersion 2, 4 April 2024.\n\nMembers pay 48 euros.", "2024-04-04"),
        ("# Gebühren\n\nFassung B (4. April 2024)\n\nMitglieder zahlen 48 Euro.", "2024-04-04"),
        ("Version 1.2 — April 2024\n\nMembers pay 48 euros.", "2024-04"),
        ("# Fees\n\nVersion 2 replaces that of 4 April 2024.", ""),
        ("# Fees\n\nVersion 2, 4 April 2024 to 5 May 2025", ""),
        ("# Fees\n\nVersion 1, 4 April 2022\n\nVersion 2, 4 April 2024", ""),
    ],
)
def test_a_version_with_its_date_and_nothing_else_dates_a_document(text: str, date: str) -> None:
    assert markdown_document(text).date == date
