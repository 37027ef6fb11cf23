"""Tokens without a tokenizer: four characters each in English, as measured in other scripts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.tokens import count_tokens, quarter_tokens


@pytest.mark.requirement("13.11")
def test_a_token_has_four_characters_and_a_broken_one_counts_whole() -> None:
    assert [count_tokens("x" * length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]


@pytest.mark.parametrize(
    ("language", "text", "tokens"),
    [
        ("English", "Everyone has the right to freedom of thought.", (9, 12)),
        ("German", "Jeder hat das Recht auf Gedankenfreiheit für sich.", (11, 14)),
        ("Russian", "Каждый человек имеет право на свободу мысли, совести и религии.", (26, 32)),
        ("Vietnamese", "Mọi người đều có quyền tự do tư tưởng, tín ngưỡng và tôn giáo.", (22, 34)),
        ("Greek", "Κάθε άτομο έχει το δικαίωμα της ελευθερίας της σκέψης.", (40, 54)),
        ("Arabic", "لكل شخص الحق في حرية التفكير والضمير والدين.", (28, 42)),
        ("Hebrew", "כל אדם זכאי לחירות המחשבה, המצפון והדת.", (26, 38)),
        ("Hindi", "प्रत्येक व्यक्ति को विचार, अन्तरात्मा और धर्म की स्वतंत्रता का अधिकार है।", (50, 75)),
        ("Bengali", "প্রত্যেকেরই ধর্ম, চিন্তা ও বিবেকের স্বাধীনতায় অধিকার রয়েছে।", (50, 85)),
        ("Tamil", "சிந்தனை, மனச்சாட்சி, மதச் சுதந்திரத்துக்கு உரிமை உண்டு.", (70, 110)),
        ("Thai", "ทุกคนมีสิทธิในอิสรภาพแห่งความคิด มโนธรรม และศาสนา", (42, 52)),
        ("Georgian", "ყოველ ადამიანს აქვს აზრის თავისუფლების უფლება.", (75, 95)),
        ("Amharic", "እያንዳንዱ ሰው የሃሳብና የሃይማኖት ነፃነት መብት አለው።", (70, 110)),
        ("Chinese", "人人有思想、良心和宗教自由的权利。", (17, 24)),
        ("Japanese", "すべて人は、思想、良心及び宗教の自由を享有する権利を有する。", (30, 42)),
        ("Korean", "모든 사람은 사상, 양심 및 종교의 자유에 대한 권리를 가진다.", (26, 38)),
        ("emoji", "🚀🔥🎉", (6, 9)),
    ],
)
def test_a_text_counts_by_its_script(language: str, text: str, tokens: tuple[int, int]) -> None:
    """The least is what cl100k or Llama 3 makes of such a text, about; the most what little room it may waste."""
    assert tokens[0] <= count_tokens(text) <= tokens[1], language


@given(st.text(), st.text())
def test_a_text_counts_what_its_parts_count(one: str, other: str) -> None:
    assert quarter_tokens(one + other) == quarter_tokens(one) + quarter_tokens(other)


@given(st.characters())
def test_every_character_counts_a_quarter_to_three_tokens(character: str) -> None:
    quarters = quarter_tokens(character)
    assert quarters == 1 if character.isascii() else 2 <= quarters <= 12


def test_half_of_a_surrogate_pair_counts_too() -> None:
    assert quarter_tokens("\ud800") == 5
