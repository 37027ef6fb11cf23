"""Chunks, evidence and passages: sizes, borders, exact places."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.chunks import MAX_CHARS, MIN_CHARS, TARGET_CHARS, chunks
from graph_research.text.document import Block, Document
from graph_research.text.evidence import HIGHEST_SCORE, EvidenceScorer, select_evidence
from graph_research.text.pages import join_pages, page_end
from graph_research.text.passages import passages
from graph_research.text.readers.html import html_document
from graph_research.text.readers.plain import plain_document
from graph_research.text.relevance.units import units

WORD = st.text(st.sampled_from("abcdeé"), min_size=1, max_size=30)
PROSE = st.lists(st.tuples(WORD, st.sampled_from(["", "", "", ",", ".", "!", ";"])), max_size=300).map(
    lambda words: " ".join(word.capitalize() + sign for word, sign in words)
)


@pytest.mark.requirement("11.13")
@given(PROSE)
def test_chunks_cover_the_text_within_their_sizes(text: str) -> None:
    document = Document(text=text)
    pieces = chunks(document)
    assert " ".join(text[one.start : one.end] for one in pieces) == text
    assert all(one.end - one.start <= MAX_CHARS for one in pieces)
    assert all(one.end - one.start >= MIN_CHARS for one in pieces[:-1])
    assert chunks(document) == pieces


@pytest.mark.requirement("B14")
@given(st.integers(0, 1200))
def test_text_without_any_border_is_cut_hard(length: int) -> None:
    text = "x" * length
    pieces = chunks(Document(text=text))
    assert "".join(text[one.start : one.end] for one in pieces) == text
    assert all(one.end - one.start <= MAX_CHARS for one in pieces)


@pytest.mark.requirement("11.13")
@pytest.mark.parametrize(
    ("border", "expected"),
    [(". B", 431), (", b", 431), ("b b", 431)],
)
def test_a_chunk_ends_at_the_best_border_after_the_target(border: str, expected: int) -> None:
    text = "a" * 430 + border + "a" * 300
    assert chunks(Document(text=text))[0].end == expected


@pytest.mark.requirement("11.13")
def test_a_sentence_ends_before_a_capital_letter_and_is_a_better_border_than_a_clause() -> None:
    clause_first = "a" * 410 + ", " + "b" * 20 + ". C" + "c" * 300
    assert chunks(Document(text=clause_first))[0].end == clause_first.index(" C")
    abbreviated = "a" * 410 + ". b" + "b" * 20 + ". C" + "c" * 300
    assert chunks(Document(text=abbreviated))[0].end == abbreviated.index(" C")
    clause = "a" * 410 + " " + "b" * 20 + ", c" + "c" * 300
    assert chunks(Document(text=clause))[0].end == clause.index(" c", 420)


@pytest.mark.requirement("11.13")
def test_no_border_before_400_characters_ends_a_chunk_and_none_is_longer_than_500() -> None:
    assert (TARGET_CHARS, MAX_CHARS, MIN_CHARS) == (400, 500, 50)
    early = "a" * 350 + ". B" + "a" * 100 + " " + "c" * 300
    assert chunks(Document(text=early))[0].end == early.index(" c")
    assert chunks(Document(text="a" * 900))[0].end == 500


@pytest.mark.requirement("11.13")
def test_the_end_of_a_block_is_better_than_the_end_of_a_sentence() -> None:
    text = ("a" * 410 + ". B" + "a" * 60 + " " + "c" * 300).strip()
    block_end = text.index(" c")
    document = Document(
        text=text, blocks=(Block("paragraph", 0, block_end), Block("paragraph", block_end + 1, len(text)))
    )
    assert chunks(document)[0].end == block_end


@pytest.mark.requirement("11.13", "B15")
def test_a_short_rest_goes_to_the_chunk_before_it_or_the_two_are_divided_anew() -> None:
    fits = "a" * 440 + ", " + "b" * 80
    assert len(chunks(Document(text="a" * 440 + ", " + "b" * 40))) == 1
    assert [one.end - one.start for one in chunks(Document(text=fits))] == [441, 80]
    too_long = "a" * 495 + ", " + "b" * 30
    sizes = [one.end - one.start for one in chunks(Document(text=too_long))]
    assert all(50 <= size <= 500 for size in sizes)
    assert [one.end - one.start for one in chunks(Document(text="a" * 460 + ", " + "b" * 45))] != [461, 45]
    assert [one.end - one.start for one in chunks(Document(text="a" * 460 + ", " + "b" * 50))] == [461, 50]


def test_no_chunk_goes_across_a_page_or_over_boilerplate() -> None:
    text, starts = join_pages(["a" * 60, "b" * 60])
    pieces = chunks(Document(text=text, pages=starts))
    assert [(one.page, text[one.start : one.end]) for one in pieces] == [(1, "a" * 60), (2, "b" * 60)]
    document = html_document("<p>Before it.</p><nav>Menu</nav><p>After it.</p>")
    assert [document.text[one.start : one.end] for one in chunks(document)] == ["Before it.", "After it."]


def library() -> Document:
    parts = [
        "The lagoon has turbines. " + "Water flows in and out with the tide every day here. " * 8,
        "Mortality of salmon was 4.2 percent in the turbines. " + "Fish were counted by hand at night. " * 10,
        "Money came from banks and from the town and its people. " * 7,
    ]
    return plain_document("\n\n".join(parts))


@pytest.mark.requirement("11.15", "B17")
def test_the_evidence_score_is_the_specified_formula() -> None:
    document = library()
    scorer = EvidenceScorer(document, "How high is the mortality of salmon in turbines?")
    [best] = [one for one in scorer.chunks if "Mortality" in document.text[one.start : one.end]]
    # terms: high, mortality, salmon, turbines; df: mortality 1, salmon 1, turbines 2
    expected = 3 / 4 * ((1 / math.log2(3) + 1 / math.log2(3) + 1 / math.log2(4)) / 3)
    assert scorer.score(best.start, best.end) == pytest.approx(expected)
    assert scorer.score(0, 3) == 0.0


@pytest.mark.requirement("11.16")
def test_evidence_is_the_best_chunk_first_and_an_exact_slice() -> None:
    document = library()
    found = select_evidence(document, "mortality of salmon in turbines", max_chars=120)
    assert "Mortality of salmon" in document.text[found[0].start : found[0].end]
    assert all(0 < one.end - one.start <= 120 for one in found)
    assert all(0 < one.score <= HIGHEST_SCORE for one in found)
    assert select_evidence(document, "mortality of salmon in turbines", max_chars=120) == found


@pytest.mark.requirement("11.16")
def test_of_chunks_with_the_same_score_the_earlier_comes_first() -> None:
    paragraph = "Salmon mortality was low in the turbines of this lagoon. " + "Water flows in and out. " * 15
    document = plain_document("\n\n".join([paragraph] * 3))
    first, second, third = select_evidence(document, "salmon mortality", max_snippets=3)
    assert first.score == second.score == third.score
    assert first.start < second.start < third.start


@pytest.mark.requirement("B14", "B16")
def test_a_snippet_is_shortened_at_the_end_that_holds_fewer_of_the_terms() -> None:
    document = plain_document("Water flows in and out. " * 15 + "Mortality of salmon was low there.")
    [snippet] = select_evidence(document, "salmon mortality", max_chars=100)
    assert document.text[snippet.start : snippet.end].endswith("Mortality of salmon was low there.")
    assert document.text[snippet.start - 1] == " "


@pytest.mark.requirement("B16")
def test_a_snippet_that_loses_its_end_ends_with_a_word() -> None:
    document = plain_document("Mortality of salmon was low there. " + "Water flows in and out. " * 15)
    [snippet] = select_evidence(document, "salmon mortality", max_chars=100)
    assert 90 < snippet.end - snippet.start <= 100
    assert document.text[snippet.end] == " "


@pytest.mark.requirement("B17")
def test_the_highest_score_is_that_of_all_terms_in_one_of_many_chunks() -> None:
    document = plain_document("Salmon mortality was low.\n\n" + "Water flows in and out of the lagoon. " * 40)
    [best] = select_evidence(document, "salmon mortality")
    assert best.score == pytest.approx(HIGHEST_SCORE) == pytest.approx(0.631, abs=0.0005)


def test_evidence_for_a_question_that_nothing_matches_is_none() -> None:
    assert select_evidence(library(), "quantum chromodynamics") == ()


@pytest.mark.requirement("11.16")
def test_a_question_of_one_term_takes_introduction_headings_and_conclusion() -> None:
    document = html_document("".join(f"<h2>Part {n}</h2><p>{'Some words here. ' * 40}</p>" for n in range(4)))
    found = select_evidence(document, "turbines?", max_snippets=10)
    assert found[0].start == 0
    assert len(found) == 5
    assert found[-1].end == len(document.text)
    assert list(found) == sorted(found, key=lambda one: one.start)
    assert all("Part" in document.text[one.start : one.end] for one in found[:-1])
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@given(PROSE)
def test_passages_never_cut_a_word_or_leave_one_out(text: str) -> None:
    document = Document(text=text)
    assert " ".join(text[one.start : one.end] for one in passages(document)) == text


def test_passages_stay_within_headings_and_know_their_path() -> None:
    page = "<h1>Tasks</h1><p>Intro here.</p><h2>Groups</h2><p>" + "One sentence more. " * 100 + "</p><nav>Menu</nav>"
    document = html_document(page)
    found = passages(document)
    assert [one.heading for one in found[:2]] == ["Tasks", "Tasks > Groups"]
    assert all(document.text[one.end - 1] == "." for one in found)
    assert not any("Menu" in document.text[one.start : one.end] for one in found)


def test_headings_without_a_text_below_them_are_passages_and_units() -> None:
    page = """<h1>Contacts</h1><h2>Plumber: 555-1234</h2><h2>Glazier: 555-9876</h2><h2>Roofer</h2><p>Call at noon.</p>
        <h2>Smith: 555-1111</h2><nav>Menu</nav>"""
    document = html_document(page)
    found = [(document.text[one.start : one.end], one.heading) for one in passages(document)]
    assert found == [
        ("Plumber: 555-1234 Glazier: 555-9876", "Contacts"),
        ("Call at noon.", "Contacts > Roofer"),
    ]
    assert [unit.text for unit in units(document)] == ["Plumber: 555-1234", "Glazier: 555-9876", "Call at noon."]
    alone = html_document("<h1>Assembly point: north car park</h1>")
    assert [(one.start, one.end) for one in passages(alone)] == [(0, len(alone.text))]


def test_pages_end_passages() -> None:
    text, starts = join_pages(["One here.", "Two there."])
    document = Document(text=text, pages=starts)
    assert [(one.start, one.end) for one in passages(document)] == [
        (0, page_end(text, starts, 1)),
        (starts[1], len(text)),
    ]


def test_passages_are_as_long_as_they_are_wanted() -> None:
    document = plain_document("\n\n".join(f"Paragraph {n} says what it has to say about locks." * 3 for n in range(30)))
    lengths = [span.end - span.start for span in passages(document, 300)]
    assert all(300 <= length <= 600 for length in lengths)
    assert len(lengths) > len(passages(document))


def test_a_paragraph_that_fits_a_passage_of_its_own_is_not_cut() -> None:
    first = "The gate is shut by night. " * 15
    second = f"{'A pump drains the lock. ' * 35}For these reasons, open it at noon."
    document = plain_document(f"{first.strip()}\n\n{second}")
    found = [document.text[one.start : one.end] for one in passages(document)]
    assert found == [first.strip(), second]


def test_a_term_begins_the_passage_of_its_explanation() -> None:
    explained = dict.fromkeys(("ebb", "flood", "slack", "neap"), f"{'So it is with the gates of the lagoon. ' * 3}")
    listed = "".join(f"<dt>{name} (integer)</dt><dd><p>{text}</p></dd>" for name, text in explained.items())
    document = html_document(f"<main><h1>Tides</h1><dl>{listed}</dl></main>")
    shown = [document.text[span.start : span.end] for span in passages(document, 130)]
    assert len(shown) > 1
    assert all(f"{name} (integer) So it is" in " ".join("\n".join(shown).split()) for name in explained)
    assert not [text for text in shown if text.endswith("(integer)")]
