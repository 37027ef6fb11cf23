"""Sentences: where they end, and where they only seem to."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.sentences import sentence_spans


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "whole",
    [
        "The head is 6.3 metres at 3.5 percent.",
        "Dr. Brown met Mr. Smith vs. the board.",
        "In approx. 3 days it fell.",
        "See No. 5 and Fig. 3 for details.",
        "It uses asyncio.TaskGroup for that.",
        "Some tools, e.g. hammers, i.e. these, are old.",
        "Use os.path.join() to join.",
        "Set filter.<driver>.required to true.",
        "The U.S. Government agreed.",
        "Section 2.1. explains it.",
        "9.2. Must the system be stopped?",
        "3. Pour the water off.",
        "Smith et al. found it.",
    ],
)
def test_a_dot_within_a_sentence_does_not_end_it(whole: str) -> None:
    assert split(f"{whole} Then it rained.") == [whole, "Then it rained."]


@pytest.mark.parametrize(
    ("language", "whole"),
    [
        ("de", "Das sind max. 5 Stück inkl. Rand nach Abs. 2."),
        ("es", "Cuesta aprox. 30 euros según el art. 5."),
        ("fr", "M. Dupont cite l'art. 5 à Mme. Martin."),
        ("fr", "Elle a 422 kWh, c.-à-d. le double, soit plus qu'en 44 av. J.-C. selon lui."),
        ("it", "Il sig. Rossi cita pag. 12 e art. 3."),
        ("nl", "Dhr. Jansen en mevr. Smit lezen blz. 12."),
        ("nl", "Er zijn 5 bussen, d.w.z. het dubbele, o.a. in Gent en o.a. Breda."),
        ("pl", "Zob. str. 12 i rys. 3 wg art. 5 ust. 2."),
        ("pl", "O godz. 6 jest m.in. w Gdańsku tzw. zima, mówi dr hab. Nowak."),
        ("pt", "Ver pág. 12, da Sra. Lima, por aprox. 30 euros."),
    ],
)
def test_an_abbreviation_of_a_language_does_not_end_a_sentence(language: str, whole: str) -> None:
    text = f"{whole} Ende."
    assert [text[start:end] for start, end in sentence_spans(text, language=language)] == [whole, "Ende."]


def test_a_long_block_is_parted_behind_the_number_of_a_note() -> None:
    sentence = f"The mill stands at Marrow Point {'beside the old weir ' * 40}for long.[4][12]"
    assert split(" ".join([sentence] * 4)) == [sentence] * 4


def test_sentences_end_at_signs_and_quotes() -> None:
    assert split("Is it? Yes! “He left.” She stayed. It fell by 3. Then rose.") == [
        "Is it?",
        "Yes!",
        "“He left.”",
        "She stayed.",
        "It fell by 3.",
        "Then rose.",
    ]


@given(st.text(st.sampled_from('aB é.!?😀,"(3) '), max_size=120))
def test_sentences_cover_the_text_in_order(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans).replace(" ", "") == text.replace(" ", "")
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


def test_offsets_are_those_of_the_whole_text() -> None:
    text = "Über 😀 alles. Zwei. Drei."
    assert sentence_spans(text, 14, 19) == [(14, 19)]
    assert text[14:19] == "Zwei."


def test_chinese_and_japanese_sentences_end_without_a_space() -> None:
    text = "水厂于2015年投入运行。每吨1.85元！真的吗？是的。"
    assert [text[start:end] for start, end in sentence_spans(text, language="zh")] == [
        *("水厂于2015年投入运行。", "每吨1.85元！", "真的吗？", "是的。")
    ]
    text = "「はい。」と言った。値段は3.5円です。12月からです。"
    assert [text[start:end] for start, end in sentence_spans(text, language="ja")] == [
        *("「はい。」と言った。", "値段は3.5円です。", "12月からです。")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "It has 33.7 mg/l. | The pump is old.",
        "The flow is 12 m3/h. | A pump runs.",
        "It took 5 h. | Then it ended.",
        "Es wiegt 5 g. | Der Rest nicht.",
        "It is 3 m. long and 5 m. wide.",
        "J. Smith, 5 m. J. Miller",
        "The book has 245 p. Cambridge printed it.",
    ],
)
def test_a_sentence_ends_behind_a_unit_of_one_letter(text: str) -> None:
    plain = text.replace("| ", "")
    assert [plain[start:end] for start, end in sentence_spans(plain)] == text.split(" | ")


@pytest.mark.parametrize("language", ["es", "it"])
def test_a_sentence_ends_behind_a_unit_that_the_splitter_takes_for_an_abbreviation(language: str) -> None:
    text = "Arriva a 190 km. La Dra. Lima lo dice."
    assert len(sentence_spans(text, language=language)) == 2


def test_the_language_of_a_text_is_told_from_itself_where_it_is_not_given() -> None:
    whole = "Der Bus ist nicht neu und hat inkl. Rand die Nr. 5, bzw. Nummer 6, auf der Seite."
    assert split(f"{whole} Das ist auch so.") == [whole, "Das ist auch so."]
