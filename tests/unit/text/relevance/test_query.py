"""The parts of a question: its names, its clauses, its terms for texts in other languages."""

from __future__ import annotations

import pytest

from graph_research.text.relevance.query import parse


def own_texts(question: str) -> list[str]:
    return [part.own for part in parse(question).parts]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who wrote the Act of War and who is J. R. Okafor?", ("Act of War", "J. R. Okafor")),
        ("What changed on 3 May 2024?", ("3 May 2024",)),
        ("How does asyncio.TaskGroup end?", ("asyncio.TaskGroup",)),
        ("Is Windows 11 faster?", ("Windows 11",)),
        ("how are bridges built?", ()),
    ],
)
def test_names_dates_initials_and_identifiers_stay_whole(question: str, names: tuple[str, ...]) -> None:
    assert parse(question).names == names


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How old is the bridge?", ["How old is the bridge?"]),
        ("Who built the bridge, and what did it cost?", ["Who built the bridge", "what did it cost"]),
        (
            "The Alder Dam: at what cost, with what effects on eels and trout?",
            ["at what cost", "with what effects on eels", "trout"],
        ),
        ("Wie hoch sind die Kosten, und wann wird gebaut?", ["Wie hoch sind die Kosten", "wann wird gebaut"]),
        (
            "¿Cuántas barcas hay, cuánto costaron y quién las pagó?",
            ["Cuántas barcas hay", "cuánto costaron", "quién las pagó"],
        ),
        ("El faro: ¿cuánto costó y quién lo pagó?", ["cuánto costó", "quién lo pagó"]),
        ("駅は何年に建てられ、誰が設計しましたか", ["駅は何年に建てられ", "誰が設計しましたか"]),
        ("Who wrote Romeo and Juliet?", ["Who wrote Romeo and Juliet?"]),
        ("Does age predict pain in women, independently of weight?", None),
        ("Is sonography a reliable and sensitive procedure?", None),
        ("Which bread goes stale sooner, the rye or the white one?", None),
        ("What is the population of St. Paul, Texas?", None),
        ("Wie kann ich den Platz begrenzen, den das Journal belegt, und alte Einträge löschen?", None),
        ("貸出カードをなくしたときは、いくら払えばよいですか。", None),
        ("Tide gates: is silting slow and harmless?", None),
        ("Can two write at once, and does a log change that?", ["Can two write at once", "does a log change that"]),
    ],
)
def test_each_thing_that_is_asked_is_a_part(question: str, parts: list[str] | None) -> None:
    assert own_texts(question) == (parts or [question])


def test_a_part_without_a_name_takes_the_subject_of_the_question() -> None:
    built, cost = parse("Who built the Alder Dam, and what was the cost?").parts
    assert cost.text == "Alder Dam what was the cost"
    weights = cost.weights("en")
    assert weights["alder"] < parse("Alder").weights("en")["alder"]
    assert built.weights("en")["alder"] == parse("Alder").weights("en")["alder"]


@pytest.mark.parametrize("lead", ["", "–", "Not", "How do they differ"])
def test_a_list_behind_a_colon_has_parts_whatever_stands_before_it(lead: str) -> None:
    parts = parse(f"{lead}: a measured price of the flood, and how long the eels waited").parts
    assert [part.own for part in parts] == ["a measured price of the flood", "how long the eels waited"]


def test_a_short_question_is_in_the_language_that_has_its_words() -> None:
    query = parse("Was kostete das Hallenbad in Dornau?")
    assert (query.language, query.weights("de").get("das")) == ("de", None)
    assert parse("Rilke Duino").language == "en"


def test_terms_for_texts_in_another_language_are_stems_of_that_language() -> None:
    question = parse("What is the Freiheitsstrafen rule?")
    assert "freiheitsstraf" in question.weights("de").keys() - question.weights("en").keys()


def test_a_verb_that_only_questions_need_is_not_asked_for() -> None:
    assert parse("What does the perry cost?").weights("en").keys() == {"perri", "cost"}


def test_a_question_of_common_words_only_still_has_terms() -> None:
    assert set(parse("what is it").weights("en")) == {"what", "is", "it"}


def test_yes_or_no_questions_are_recognised_by_their_first_word() -> None:
    assert parse("Is it safe?").is_yes_no
    assert parse("Ist es sicher, und wie teuer ist es?").is_yes_no
    assert not parse("Why is it safe?").is_yes_no


def test_a_topic_before_a_colon_does_not_hide_a_yes_or_no_question() -> None:
    assert parse("Screening of newborns: is it safe?").is_yes_no
    assert not parse("Is it safe: what do the studies say?").is_yes_no


def test_behind_a_topic_and_a_colon_of_full_width_each_thing_is_a_part() -> None:
    query = parse("水厂改造带来了什么：总投资是多少，用电量有多大？")
    assert [part.own for part in query.parts] == ["总投资是多少", "用电量有多大"]
    assert {"水厂", "改造"} <= query.parts[1].weights("zh").keys() - query.parts[1].own_terms


@pytest.mark.parametrize(
    ("question", "asked"),
    [("去年发生了多少起事故？", "事故"), ("剧院里有多少座位？", "座位"), ("去年新增多少个岗位？", "岗位")],
)
def test_a_measure_word_behind_how_many_is_none_of_what_is_asked(question: str, asked: str) -> None:
    terms = parse(question).own_terms
    assert asked in terms
    assert not any(term[0] in "起个" for term in terms)


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the difference between a soft reset and a revert?", {"soft", "reset", "revert"}),
        ("How do soft resets differ?", {"soft", "resets"}),
        ("Which difference of pressure opens it?", {"difference", "pressure", "opens"}),
        ("Wie unterscheiden sich Schleusen?", {"Schleusen"}),
        ("Quelle est la différence entre les écluses ?", {"écluses"}),
    ],
)
def test_words_that_ask_for_a_comparison_are_none_of_what_is_asked(question: str, asked: set[str]) -> None:
    query = parse(question)
    assert {query.own[word.start : word.end] for word in query.own_words if word.weight > 0.0} == asked


def test_a_chinese_question_is_asked_without_its_question_words() -> None:
    query = parse("2022年，水厂的供水成本是多少，用电量有多大？")
    assert [part.own for part in query.parts] == ["2022年，水厂的供水成本是多少", "用电量有多大"]
    assert query.own_terms == {"2022", "水厂", "供水", "水成", "成本", "用电", "电量", "年"}


def test_a_japanese_question_is_asked_without_its_question_words() -> None:
    assert "何で" not in parse("東京の人口は何人ですか").own_terms
