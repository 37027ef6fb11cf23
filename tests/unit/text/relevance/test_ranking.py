"""What ranks first: the words asked for, what stands around them, and pages that the best evidence names."""

from __future__ import annotations

import pytest

from graph_research.text.document import Document
from graph_research.text.readers.html import html_document
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool, rank


def pool(*texts: str) -> Pool:
    return Pool({str(number): markdown_document(text) for number, text in enumerate(texts)})


def best(question: str, *texts: str) -> str:
    return rank(pool(*texts), parse(question))[0].unit.text


def test_the_sentence_with_the_rare_words_of_the_question_is_first() -> None:
    text = "# Dams\n\nThe dam is large. The dam has 17 sluices. The dam was visited by many people.\n"
    assert best("How many sluices does the dam have?", text) == "The dam has 17 sluices."


def test_a_question_for_an_amount_prefers_a_sentence_with_a_number() -> None:
    text = (
        "# Dams\n\nA turbine is out. The turbines by the pass stood still. The licence is for the turbines.\n\n"
        "Since its rebuilding the dam near Alder has sixteen old bulb turbines, of which all were at work last year.\n"
    )
    assert "sixteen" in best("How many turbines are there?", text)
    assert "sechs" in best("Wie viele Tore hat das Wehr?", "Ein Tor am Wehr ist zu.\n\nDas Wehr hat sechs neue Tore.")


@pytest.mark.parametrize("question", ["When did the dam start operation?", "In what year did the dam start operation?"])
def test_a_question_for_a_time_prefers_a_sentence_with_a_date(question: str) -> None:
    text = "The operator of the dam may start any operation at night. The dam began operation on 14 March 2016."
    assert "2016" in best(question, text)
    assert "night" in best("How did the dam start operation?", text)
    assert "night" in best("What may the dam start when in operation?", text)


def test_dates_are_asked_for_in_other_languages() -> None:
    text = "Der Betrieb, sagt der Verein im Betrieb am Rand, ruht an Sonntagen.\n\nDer Betrieb begann 1902."
    assert "1902" in best("Wann öffnete der Betrieb?", text)
    assert "1902" not in best("Wie öffnete der Betrieb?", text)


def test_words_of_the_heading_count_for_what_stands_below_it() -> None:
    text = "# Guide\n\n## Alder Dam\n\nIt opened in 1921.\n\n## Brindle Weir\n\nIt opened in 1934.\n"
    assert best("When did the Brindle Weir open?", text) == "It opened in 1934."


def test_the_term_counts_for_every_sentence_of_what_explains_it() -> None:
    page = (
        "<h1>Settings</h1><dl><dt>nap_time</dt><dd><p>Seconds between two rounds.</p><p>The default is 60.</p></dd>"
        "<dt>cost_limit</dt><dd><p>Stops a round.</p><p>The default is 200.</p></dd>"
        "<dt>scale</dt><dd><p>Of a table.</p></dd></dl>"
    )
    ranked = rank(Pool({"settings": html_document(page)}), parse("What is the default of cost_limit?"))
    assert next(item.unit.text for item in ranked if "default" in item.unit.text) == "The default is 200."


def test_a_page_that_the_best_evidence_names_ranks_higher() -> None:
    dam = "# Alder Dam\n\nThe Alder Dam was designed by Ines Calloway.\n"
    others = [
        f"# {name}\n\nThe designer was born in 18{year}.\n" for name, year in (("Tom Reed", 70), ("Ines Calloway", 71))
    ]
    ranked = rank(pool(dam, *others), parse("When was the designer of the Alder Dam born?"))
    born = [item.unit.text for item in ranked if "born" in item.unit.text]
    assert born[0] == "The designer was born in 1871."


def test_questions_find_texts_of_their_own_language() -> None:
    documents = {
        "de": plain_document("Der Verein\n\nDie Häuser wurden 1902 gebaut, und sie sind nicht groß."),
        "ja": plain_document("図書館\n\n港分館は2014年に開かれました。本館は古いです。"),
    }
    assert "1902" in rank(Pool(documents), parse("Wann wurde das Haus gebaut?"))[0].unit.text
    assert "2014" in rank(Pool(documents), parse("港分館はいつ開かれましたか"))[0].unit.text


def test_a_share_tells_how_many_but_not_how_long() -> None:
    told = "Of the young salmon 4.2 percent die."
    page = f"# Turbines\n\nAnglers say that young salmon die there.\n\n{told}\n"
    assert rank(pool(page), parse("How many young salmon die?"))[0].unit.text == told
    assert rank(pool(page), parse("How many years do young salmon live until they die?"))[0].unit.text != told


def test_equal_units_keep_the_order_of_the_sources() -> None:
    ranked = rank(Pool({"b": Document("Eels swim."), "a": Document("Eels swim.")}), parse("eels"))
    assert [item.source for item in ranked] == ["b", "a"]


def test_nothing_in_common_ranks_nothing() -> None:
    assert rank(pool("# Dam\n\nThe dam is old.\n"), parse("penguins")) == []
    assert rank(Pool({}), parse("penguins")) == []


def test_a_page_on_what_is_asked_ranks_above_a_long_list_that_names_it_often() -> None:
    changes = "".join(f"- Fix number {n} of the Gudgeon server for a task.\n" for n in range(200))
    log = f"# Changes\n\n{changes}- The Gudgeon server fails no more when a task group is empty.\n"
    page = "# Task groups\n\nWhen one task of a group fails, the Gudgeon server cancels the others of the group.\n"
    pool = Pool({"log": markdown_document(log), "page": markdown_document(page)})
    assert rank(pool, parse("What does the Gudgeon server do when a task of a group fails?"))[0].source == "page"


def test_when_to_do_something_asks_for_no_date() -> None:
    page = "# Logs\n\nUse a log where many write. Logs were added on 3 May 2019 where some write.\n"
    best = rank(Pool({"page": markdown_document(page)}), parse("When should I use a log where many write?"))[0]
    assert best.unit.text == "Use a log where many write."


def test_of_sentences_that_say_the_same_the_one_of_the_page_on_the_matter_is_first() -> None:
    work = "\n\n## Work\n\nThe sluices are cleaned in spring.\n"
    mention = f"# Walks{work}\n## Birds\n\nThe dunlin came back to the shore, and so did the redshank.\n"
    matter = f"# Dams{work}\n## Parts\n\nA gate of the sluices is cleaned with brushes, and the sluices have four.\n"
    ranked = rank(pool(mention, matter), parse("How are sluices cleaned?"))
    same = [item.source for item in ranked if item.unit.text == "The sluices are cleaned in spring."]
    assert same == ["1", "0"]


def test_a_number_of_what_is_asked_for_goes_before_numbers_of_other_things() -> None:
    checks = "An official said that the weekly checks on turbine 7 of the lagoon had been left out for 14 days."
    told = "The lagoon has 16 bulb turbines, which stand side by side in a powerhouse near a point."
    assert best("How many turbines does the lagoon have?", f"{checks}\n\n{told}") == told
