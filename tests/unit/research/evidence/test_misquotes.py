"""What stands between quotation marks is looked for where a sentence takes it from."""

import pytest

from graph_research.research.evidence.misquotes import misquotes

KNOWN = ["Output: Task exception was never retrieved.", "Safely forking such a process is problematic."]


@pytest.mark.parametrize(
    ("text", "is_translated", "expected"),
    [
        ('It reads "Task exception was never retrieved".', False, []),
        ('It reads "Task exception was never seen".', False, ["Task exception was never seen"]),
        ("Die Meldung lautet „Task exception was never seen“.", True, ["Task exception was never seen"]),
        ("Le message est « Task exception was never seen ».", True, ["Task exception was never seen"]),
        ('It reads "Task exception […] retrieved" and "Forking ... is problematic."', False, []),
        ('It calls forking "highly problematic".', False, ["highly problematic"]),
        ('It is a so-called "zip bomb", "risky", by "Safely Forking Everything".', False, []),
        ("Die Seite nennt das „höchst problematisch“, einen „Task mit Frist“.", True, []),
    ],
)
def test_a_quotation_has_the_words_of_its_text(text: str, expected: list[str], *, is_translated: bool) -> None:
    assert misquotes(text, KNOWN, translated=is_translated) == expected


def test_a_quotation_without_spaces_between_words_is_looked_for_too() -> None:
    known = ["この装置は毎朝六時に始動する。"]
    assert misquotes("説明書には「装置は毎朝六時に始動」とある。", known, translated=False) == []
    assert misquotes("説明書には「装置は毎朝八時に始動」とある。", known, translated=False) != []
