"""Which passages a report quotes, and which sources it cites for a quotation."""

from __future__ import annotations

import pytest

from graph_research.research.extractive.analysis import analyze
from graph_research.research.extractive.short_answer import short_answer
from graph_research.research.models.source import Source
from graph_research.text.document import Document
from tests.support.research.extractive_sources import material, written

JURY = "# Hung jury\n\nIn most states the jurors of a criminal case must reach a unanimous verdict."
WEDDING = "# Jewish wedding\n\nThe primary reason is that joy must always be tempered. Many guests reach for a glass."


def test_what_shares_only_common_words_with_the_question_is_not_quoted() -> None:
    material = {**written([JURY, WEDDING]), "question": "How many jurors must agree to reach a verdict in a case?"}
    assert {group.lead.title for group in analyze(material).groups} == {"Hung jury"}


def test_the_authors_of_a_text_and_their_institute_are_not_quoted_unless_the_question_names_them() -> None:
    study = (
        "# Survival of smolts at Marrow Bay\n\nM. Ostrander-Lehn, P. Quillivic.\n\nOf 196 fish 88 passed the turbines."
    )
    quoted = {
        question: [group.lead.text for group in analyze({**written([study]), "question": question}).groups]
        for question in ("Do smolts survive at Marrow Bay?", "What did Quillivic find out on smolts at Marrow Bay?")
    }
    assert list(map(len, quoted.values())) == [1, 2]


def test_only_a_source_that_says_all_of_a_quotation_is_cited_beside_it() -> None:
    full = "# Streams\n\nThe Gudgeon server encrypts all traffic between clients with a certificate."
    same = "# Overview\n\nAll traffic between clients the Gudgeon server encrypts with a certificate."
    name_alone = "# Manual\n\nGudgeon server traffic"
    material = {**written([full, name_alone, same]), "question": "Does the Gudgeon server encrypt traffic?"}
    lead = analyze(material).groups[0]
    assert [quote.source_id for quote in lead.quotes] == ["s0", "s2"]


def test_a_part_is_ranked_with_the_words_of_the_whole_question() -> None:
    ferry = "# Ferry\n\nThe winter ferry takes two hours. A day ticket for the museum costs 12 crowns."
    prices = "# Prices\n\nA day ticket for the winter ferry costs 40 crowns."
    material = {
        **written([ferry, prices]),
        "question": "How long does the winter ferry take, and what does a day ticket cost?",
    }
    time, cost = ([group for group in analyze(material).groups if group.lead.part == part] for part in (0, 1))
    assert time[0].lead.text == "The winter ferry takes two hours."
    assert cost[0].lead.text == "A day ticket for the winter ferry costs 40 crowns."


def test_a_short_part_is_answered_by_a_quotation_that_has_all_its_words_beside_those_for_the_other_part() -> None:
    report = (
        "# Report on Lindenau\n\nThe losses of the pit store were 12 % in 2024. The pit store cost 1.61 billion crowns."
    )
    opinion = "# Opinion\n\nThe losses of the pit store were 19 % of the stored heat. The cover is wet."
    question = "What are the losses of the pit store in Lindenau and what did it cost?"
    sources = written([report, opinion])
    assert [part.found for part in analyze({**sources, "question": question}).parts] == [True, True]
    [alone] = analyze({**sources, "question": "What did it cost?"}).parts
    assert not alone.found


REGISTER = "# Register\n\nThe Alder mill has 6 stone wheels. The Alder mill has a capacity of 40 kilowatts."
WORKS = "# Works\n\nEach wheel of the Alder mill has a capacity of 7 kilowatts. The capacity of it all is 40 kilowatts."
ASKED = "What capacity from how many wheels does the Alder mill have?"


def test_a_part_of_a_question_is_quoted_until_half_of_its_words_are_held() -> None:
    answer = short_answer(analyze({**written([WORKS, REGISTER]), "question": ASKED}))
    assert any("40 kilowatts" in group.lead.text for group in answer)
    assert any("6 stone wheels" in group.lead.text for group in answer)


def test_a_short_question_with_a_telling_word_is_answered_by_what_has_all_its_words() -> None:
    glossary = "# Words\n\nPuddling: sealing the bed of a canal with wet clay.\n\nSluice: a gate for water."
    harvest = "# Harvest\n\nThe puddling season is over. We sold the sluice gate and some other things of the mill."
    sources = written([glossary, harvest])
    assert analyze({**sources, "question": "What is puddling?"}).found
    assert not analyze({**sources, "question": "What is said?"}).found
    assert not analyze({**sources, "question": "What is puddling steel?"}).found


def test_a_question_of_a_text_is_quoted_with_what_answers_it() -> None:
    page = "# Questions\n\n## I pushed a bad commit. How should I undo it?\n\nMake a new one with revert.\n\nRead on."
    material = {**written([page]), "question": "How do I undo a commit that I have pushed?"}
    assert "How should I undo it? Make a new one with revert." in analyze(material).groups[0].lead.text


def test_two_sentences_with_the_mark_of_a_note_between_them_are_not_one_quotation() -> None:
    question = {"question": "Which grain does the Alder mill grind with its stones?"}
    first, second = "The Alder mill stands by the weir.", "It grinds spelt grain between two stones."
    joined, apart = (
        analyze({**written([f"# Mills\n\n{first}{mark} {second}"]), **question}).groups[0] for mark in ("", "[4]")
    )
    assert (joined.lead.text, apart.lead.text) == (f"{first} {second}", second)


def test_a_sentence_that_leads_to_a_command_or_a_list_is_quoted_with_it() -> None:
    code = "```\npumpctl prime\npumpctl start\n```"
    page = f"# Pump\n\nThis starts the pump:\n\n{code}\n\nThe pump stands in:\n\n- the shed\n- the well"
    material = written([page])
    for question, said in {
        "What starts the pump?": "This starts the pump: pumpctl prime pumpctl start",
        "Where does the pump stand?": "The pump stands in: the shed the well",
    }.items():
        assert said in [group.lead.text for group in analyze({**material, "question": question}).groups]


def test_what_sources_dispute_and_nobody_asks_is_no_conflict_of_the_research() -> None:
    texts = [
        f"# {who}\n\n## Fish\n\nSmolt mortality at the Alder mill was {share} percent.\n\n"
        f"## Opening\n\nThe Alder mill was opened on {day}."
        for who, share, day in (("Study", 4, "2 May 2016"), ("Anglers", 11, "9 June 2016"))
    ]
    fish, both = (
        {side.value for row in analyze({**written(texts), "question": asked}).conflicts for side in row.sides}
        for asked in (
            "How does the Alder mill change the mortality of smolts?",
            "What is the mortality of smolts, and when was the Alder mill opened?",
        )
    )
    assert fish == {"4 percent", "11 percent"}
    assert both == {"4 percent", "11 percent", "2 May 2016", "9 June 2016"}


def test_values_in_examples_of_code_are_no_conflict() -> None:
    texts = [
        f"# Pump {name}\n\nAn example:\n\n```\nthe mill pump: timeout {n}\n```\n" for name, n in (("A", 30), ("B", 45))
    ]
    material = {**written(texts), "question": "What is the timeout of the mill pump?"}
    assert analyze(material).conflicts == []
    stated = [f"# Pump {name}\n\nThe timeout of the mill pump is {n} seconds.\n" for name, n in (("A", 30), ("B", 45))]
    assert len(analyze({**material, **written(stated), "question": material["question"]}).conflicts) == 1


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [("q104-d3.txt", "q104-d7.txt", 1), ("scan0412.txt", "scan0413.txt", 1), ("alder-dam.txt", "birch-dam.txt", 0)],
)
def test_only_the_words_of_a_files_name_stand_for_the_title_where_values_are_compared(
    one: str, other: str, count: int
) -> None:
    sentences = {
        one: "The spillway of the dam is 120 metres high.",
        other: "The spillway of the dam is 90 metres high.",
    }
    documents = {name: Document(text=text, title=name) for name, text in sentences.items()}
    sources = [
        Source(id=name, url=name, title=name, archive_hash=document.hash).to_json()
        for name, document in documents.items()
    ]
    assert len(analyze(material("How high is the dam?", sources, documents)).conflicts) == count
