"""Whether texts answer a question, and which of its words none of them has."""

from __future__ import annotations

from string import ascii_lowercase

from graph_research.text.readers.markdown import markdown_document
from graph_research.text.relevance.answerability import FOUND, absent_words, features
from graph_research.text.relevance.query import parse
from graph_research.text.relevance.ranking import Pool

DAM = "# Alder Dam\n\nThe Alder Dam has 17 sluices. Eels pass the Alder Dam at night.\n"
POOL = Pool({"dam": markdown_document(DAM)})


def test_a_question_in_the_words_of_the_text_is_answered() -> None:
    assert features(POOL, parse("How many sluices does the Alder Dam have?")).score > FOUND


def test_a_question_about_something_else_is_not() -> None:
    assert features(POOL, parse("Who won the football world cup?")).score < 0.1


def test_no_text_and_no_words_score_lowest() -> None:
    assert features(Pool({}), parse("sluices")).score < features(POOL, parse("??")).score < 0.05


def test_words_that_no_text_has_are_named_as_written() -> None:
    assert absent_words(POOL, parse("Do otters pass the Alder Dam?")) == ("otters",)


def test_a_stretch_of_chinese_that_no_text_has_is_named_whole() -> None:
    pool = Pool({"plant": markdown_document("# 月湖水厂\n\n水厂每天供水十二万吨，供水成本不高。")})
    assert absent_words(pool, parse("水厂的除藻设施是什么？")) == ("除藻设施",)
    assert absent_words(pool, parse("水厂的供水成本是多少？")) == ()


def test_a_word_of_a_heading_stands_in_the_text() -> None:
    pool = Pool(
        {"minutes": markdown_document("# Meeting\n\n## Forklifts\n\nTwo new ones are leased from 1 September.\n")}
    )
    assert absent_words(pool, parse("From when do we lease the new forklifts?")) == ()


def test_a_question_of_few_common_words_is_answered_where_these_are_rare_in_the_pool() -> None:
    texts = {
        name: f"# {name}\n\nThe {name} was repaired in May. Two offers were received for it.\n"
        for name in ascii_lowercase
    }
    texts["manual"] = (
        "# Cleaning\n\nNever use chlorine, because it attacks the seals. Rinse with water after each shift.\n"
    )
    pool = Pool({name: markdown_document(text) for name, text in texts.items()})
    assert features(pool, parse("Why must chlorine not be used for cleaning?")).score > FOUND


def test_a_word_that_is_missing_counts_against_an_answer() -> None:
    asked, with_bronze = (parse(f"Does the Alder Dam have sluices{what}?") for what in ("", " of bronze"))
    assert features(POOL, with_bronze).score < features(POOL, asked).score


def test_a_part_is_not_answered_by_what_answers_the_rest_of_the_question() -> None:
    first, second = parse("How many sluices does the Alder Dam have, and who paints the lighthouse?").parts
    assert features(POOL, second).best < features(POOL, first).best / 2
