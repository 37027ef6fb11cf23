"""Which texts are lists of names, of which nothing is said."""

from __future__ import annotations

import pytest

from graph_research.text.name_lists import lists_names
from graph_research.text.readers.html import html_document

WORDS = ("commit", "checkpoint", "journal", "writer", "reader", "lock", "snapshot", "recovery", "isolation", "vacuum")
PAIRS = [(one, other) for one in WORDS for other in WORDS]
INDEX = [f"{one}_{other} configuration parameter, {one.title()} Settings" for one, other in PAIRS]
CROSS_REFERENCES = [f"{one}.html#pragma_{other} → {{PRAGMA {other}}} {{{other} pragma}}" for one, other in PAIRS]


def is_list(items: list[str]) -> bool:
    document = html_document("<h1>Page</h1><ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>")
    return lists_names(document)


@pytest.mark.parametrize("items", [INDEX, CROSS_REFERENCES], ids=["index", "cross-references"])
def test_indexes_and_cross_references_are_lists_of_names(items: list[str]) -> None:
    assert is_list(items)
    assert not is_list(items[:20])


@pytest.mark.parametrize(
    "items",
    [
        [f"{one} {other}: what the {one} keeps of a {other} that is not done" for one, other in PAIRS],
        [f"Fix a crash of the {one} in case of a {other} (Bug {one})" for one, other in PAIRS],
        [f"{one} {other}: {number} MB" for number, (one, other) in enumerate(PAIRS * 2)],
        [f"Each {one} waits until its {other} ends." for one, other in PAIRS * 2],
        [f"Der {one} wartet auf den {other} und nicht auf die Sperre" for one, other in PAIRS],
    ],
    ids=["glossary", "changes", "values", "sentences", "German"],
)
def test_glossaries_changes_values_and_sentences_are_no_lists_of_names(items: list[str]) -> None:
    assert not is_list(items)


def test_an_index_may_have_its_letters_in_a_table() -> None:
    letters = "<table><tr><td>A</td><td>B</td><td>C</td></tr></table>"
    document = html_document(f"<h1>Index</h1>{letters}<ul>{''.join(f'<li>{item}</li>' for item in INDEX)}</ul>")
    assert lists_names(document)


def test_tables_and_code_are_not_judged() -> None:
    rows = "".join(f"<tr><td>{one}_{other}</td><td>on</td></tr>" for one, other in PAIRS * 2)
    code = "\n".join(f"{one}({other})" for one, other in PAIRS * 3)
    for html in (f"<table>{rows}</table>", f"<pre>{code}</pre>"):
        document = html_document(html)
        assert not lists_names(document)
