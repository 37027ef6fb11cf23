"""Words as search terms: stems and weights by language, pairs of characters where there are no spaces."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
import wordfreq
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.language.frequencies import frequencies, frequency
from graph_research.text.language.words import (
    MOST_WEIGHT,
    index_text,
    language_of,
    stem,
    terms,
    weight,
    whole_word_weights,
    words,
    written_in,
    written_words,
)

INFLECTED = [
    f"{root}{ending}" for root in ("generat", "nation", "oper", "relat", "organiz") for ending in ("ing", "ed", "ional")
]


@pytest.mark.parametrize("language", ["en", "no", "zh", "sr"])
def test_frequencies_are_those_that_wordfreq_reads(language: str) -> None:
    listed = {"no": "nb"}.get(language, language)
    small = wordfreq.available_languages("small")
    listed_words = wordfreq.get_frequency_dict(listed, wordlist="small") if listed in small else {}
    sampled = dict(islice(listed_words.items(), 0, None, 97))
    expected = {word: math.log10(share) + 9 for word, share in sampled.items()}
    assert {word: frequency(word, language) for word in sampled} == expected
    assert {word: frequencies(language)[word] for word in sampled} == expected
    assert len(frequencies(language)) == len(listed_words)
    assert frequency("unlisted-word", language) == 0.0


def test_terms_are_stems_without_the_commonest_words() -> None:
    assert terms("What do the turbines in the Severn cost?") == ["turbin", "severn", "cost"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The tide turns twice a day, and the gates are opened by a motor.", "en"),
        ("Die Pumpe wird nicht von der Stadt, sondern von dem Verein bezahlt.", "de"),
        ("La bomba no se paga con el dinero de los vecinos.", "es"),
        ("La pompe est payée par la commune et non par les habitants.", "fr"),
        ("Pompa może działać także zimą, lub tylko latem, jeśli woda zamarza, więc gmina płaci.", "pl"),
        ("ポンプは町が払います。", "ja"),
        ("水泵由市政府支付。", "zh"),
        ("Насос оплачивает город, а не жители.", "ru"),
        ("Насос оплачує місто, а не мешканці.", "uk"),
        ("Την αντλία την πληρώνει ο δήμος.", "el"),
        ("پمپ را شهرداری می‌خرد.", "fa"),
        ("펌프는 시에서 지불합니다.", "ko"),
        ("TaskGroup 3.11", "en"),
        ("Der Nitratgehalt des Grundwassers", "de"),
        ("how do beavers build lodges?", "en"),
        ("Wann darf gebaut werden?", "de"),
        ("Komplexe oder besonders zuverlässige Anwendungen sollten aus Handlern keine Ausnahmen werfen.", "de"),
        ("Threads unter Windows ohne Daemon", "de"),
        ("Le verrou protège l'accès aux données.", "fr"),
        ("Indica quante righe vengono lette.", "it"),
        ("Wypisuje liczbę wierszy pliku.", "pl"),
        ("Não há limite de tempo.", "pt"),
        ("Toon wat er veranderd werd.", "nl"),
        ("参见 force group 选项。", "zh"),
        ("Lake Biwa (琵琶湖)", "en"),
    ],
)
def test_language_is_recognised_by_script_and_common_words(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_verb_and_its_particle_are_the_noun_that_they_make_too() -> None:
    assert terms("How do I back up a running database?") == ["backup", "run", "databas"]
    assert terms("It was backed up, the server shut down.") == ["backup", "server", "shut", "down", "shutdown"]
    assert terms("Walk up to the lake, and go over the bridge.") == terms("Walk to the lake, and go by the bridge.")
    noun, both = (next(iter(words(text))) for text in ("backup", "back up"))
    assert (words("back up")[-1].term, both.weight) == (noun.term, 0.0)
    assert words("back up")[-1].weight == noun.weight / 2


def test_stems_follow_the_language() -> None:
    assert stem("Häuser", "de") == stem("Hauses", "de")
    assert stem("turbines") == stem("turbine")
    assert stem("Töpfe", "und") == "töpfe"


def test_rare_words_weigh_more_than_common_ones() -> None:
    assert weight("the") == 0.0
    assert weight("die", "de") == 0.0
    assert weight("water") < weight("turbine") < weight("velorastat") == MOST_WEIGHT


def test_a_camel_case_word_is_also_its_parts() -> None:
    assert [word.term for word in words("asyncio.TaskGroup")] == ["asyncio", "taskgroup", "task", "group"]


def test_an_identifier_with_underscores_is_also_its_parts() -> None:
    assert [word.term for word in words("Set lock_timeout.")] == ["set", "lock_timeout", "lock", "timeout"]
    assert [word.term for word in words("__init__")] == ["init"]
    assert index_text("pg_stat_IOActivity", "en") == "pg_stat_ioact pg stat io activ"


def test_ligatures_and_full_width_letters_count_as_the_letters_they_stand_for() -> None:
    assert terms("e\ufb03cient \ufb01sh ＴＡＧ") == terms("efficient fish tag")
    assert [(word.start, word.end) for word in words("e\ufb03cient \ufb01sh")] == [(0, 7), (8, 11)]


def test_an_index_holds_every_term() -> None:
    assert index_text("The TaskGroup, tides", "en") == "the taskgroup task group tide"
    assert index_text("東京は", "ja") == "東京 京は"


def test_numbers_stay_whole() -> None:
    assert [word.term for word in words("1,250.5 MW of COVID-19")] == ["1250.5", "mw", "of", "covid", "19"]


def test_unspaced_scripts_give_pairs_of_characters() -> None:
    assert " ".join(word.term for word in words("東京タワーは高い", "ja")) == "東京 京タ タワ ワー ーは は高 高い"
    assert terms("です", "ja") == []


@given(st.text(max_size=200), st.sampled_from(["en", "de", "ja", "zh", "xx"]))
def test_places_are_places_in_the_text(text: str, language: str) -> None:
    for word in words(text, language):
        assert 0 <= word.start < word.end <= len(text)
        assert 0.0 <= word.weight <= MOST_WEIGHT


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("eager_switching")
def test_threads_do_not_mix_up_each_others_words() -> None:
    alone = [stem(word) for word in INFLECTED]
    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(lambda: [stem(word) for word in INFLECTED]) for _ in range(60)]
        assert all(run.result() == alone for run in runs)


def test_a_name_counts_once_and_not_its_parts_beside_it() -> None:
    assert [*whole_word_weights("TaskGroup, lock_timeout, group", "en")] == ["taskgroup", "lock_timeout", "group"]
    assert [*whole_word_weights("行级锁", "zh")] == ["行级", "级锁"]


@pytest.mark.parametrize(
    ("written", "language"), [("ZephyrQuorl", "en"), ("zephyr_quorl", "en"), ("Nitratgehalt", "de")]
)
def test_the_parts_of_a_word_count_as_one_word_together(written: str, language: str) -> None:
    whole, *parts = words(written, language)
    assert len(parts) == 2
    assert sum(part.weight for part in parts) <= whole.weight


@pytest.mark.parametrize(
    ("participle", "form"),
    [("gekostet", "kostete"), ("gebauten", "baute"), ("geöffnet", "öffnete"), ("gemessene", "gemessenen")],
)
def test_a_german_participle_has_the_stem_of_the_verbs_other_forms(participle: str, form: str) -> None:
    assert stem(participle, "de") == stem(form, "de")
    assert terms(f"Sie {participle} hier", "de")[-1] == index_text(f"Sie {form}", "de").split()[-1]


def test_a_german_noun_that_begins_like_a_participle_keeps_its_beginning() -> None:
    assert terms("Das Geschlecht der Lachse", "de")[0] != stem("schlecht", "de")


def test_words_are_written_as_they_stand_and_overlapping_pairs_of_characters_as_one() -> None:
    chinese, english = "南江大桥总投资为120亿元", "The test_group of Tarn"
    assert written_words(chinese, words(chinese, "zh")[:6]) == ["南江大桥总投资"]
    assert written_words(english, words(english, "en")) == ["The", "test_group", "of", "Tarn"]


def test_a_stretch_of_japanese_says_what_the_best_of_its_pairs_says() -> None:
    assert weight("分に実行する") == weight("実行") == 2.0
    assert weight("する") == 0.0


@pytest.mark.parametrize(
    ("text", "expected", "language"),
    [
        ("prune schlägt fehl, weil es selbst Platz braucht", "de", "de"),
        ("512 KiB bis 8 MiB, Ziel etwa 2 MiB", "de", "de"),
        ("compressione disattivata", "it", "it"),
        ("fsync", "zh", "zh"),
        ("每次提交都写入日志", "de", "zh"),
        ("the lock is held for as long as it is needed", "de", "en"),
        ("o bloqueio não é mantido", "pt-BR", "pt"),
        ("no limit", "en", "en"),
    ],
)
def test_a_few_words_are_in_the_language_that_they_were_to_be_written_in(
    text: str, expected: str, language: str
) -> None:
    assert written_in(text, expected) == language
