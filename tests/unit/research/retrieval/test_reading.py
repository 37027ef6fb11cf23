"""Several sources in one prompt: whose passages get the room, and how much of it."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from graph_research.research.models.source import Source
from graph_research.research.retrieval.reading import Reading, aspects_of
from graph_research.text.document import Document
from graph_research.text.readers.html import html_document
from graph_research.text.relevance.coverage import Aspect, covering_passages

FILLER = "The chapter goes on with a long remark on matters of style that says nothing of the subject. " * 8


def page(*sections: tuple[str, str]) -> Document:
    return html_document("<h1>Manual</h1>" + "".join(f"<h2>{head}</h2><p>{text}</p>" for head, text in sections))


def source(id_: str, document: Document, **metadata: Any) -> Source:
    return Source(
        id=id_,
        sub_query_id="sq-1-1",
        title=document.title,
        provider="local",
        iteration=1,
        retrieved_at="2024-06-01T12:00:00+00:00",
        archive_hash=document.hash,
        characters=len(document.text),
        metadata=metadata,
    )


def shown(documents: dict[str, Document], *queries: str, most_chars: int, most_each: int = 12_000) -> dict[str, str]:
    sources = [source(id_, document) for id_, document in documents.items()]
    reading = Reading(sources, documents, aspects_of(queries))
    return reading.texts(most_chars=most_chars, most_each=most_each, least_each=200)


def test_passages_on_another_aspect_come_before_more_of_the_same() -> None:
    text = page(
        *(
            (f"Locks {n}", f"A lock of kind {n} is held by a writer until the writer is done. {FILLER}")
            for n in range(5)
        ),
        ("Recovery", f"After a crash the journal is replayed. {FILLER}"),
    )
    aspects = [Aspect("locks held by a writer"), Aspect("crash recovery journal")]
    best = list(islice(covering_passages({"a": text}, aspects), 2))
    assert any("journal is replayed" in text.text[passage.start : passage.end] for passage in best)
    assert any("is held by a writer" in text.text[passage.start : passage.end] for passage in best)


def test_a_heading_above_a_passage_counts_for_it() -> None:
    text = page(
        ("Weather", f"It may rain. {FILLER}"), ("Group commit", f"Several sessions wait for one flush. {FILLER}")
    )
    [first, *_] = covering_passages({"a": text}, [Aspect("group commit")])
    assert "Several sessions wait" in text.text[first.start : first.end]


def test_a_passage_ends_behind_the_sentence_that_takes_it_back() -> None:
    taken_back = "However, a crash may lose it."
    text = html_document(f"<p>A commit is kept by the log. {FILLER}</p><p>{taken_back} {FILLER}</p>")
    [passage, *_] = covering_passages({"a": text}, [Aspect("commit log")])
    assert text.text[passage.start : passage.end].endswith(taken_back)


def test_all_sources_together_stay_within_the_room_and_each_within_its_own() -> None:
    long = page(*((f"Locks {n}", f"A writer holds lock {n}. {FILLER}") for n in range(20)))
    short = page(("Locks", "A reader holds no lock."))
    texts = shown({"a": long, "b": short, "c": short}, "who holds a lock", most_chars=9_000, most_each=4_000)
    assert len(texts["a"]) <= 4_000
    assert texts["b"] == short.text
    texts = shown({"a": long, "b": long}, "who holds a lock", most_chars=6_000)
    assert sum(map(len, texts.values())) <= 6_000


def test_the_source_with_more_to_say_gets_more_of_the_room() -> None:
    rich = page(*((f"Checkpoint {n}", f"Rule {n} of a checkpoint of the log. {FILLER}") for n in range(10)))
    poor = page(("Log", f"A log is kept. {FILLER}"), *((f"Part {n}", FILLER) for n in range(10)))
    texts = shown({"poor": poor, "rich": rich}, "checkpoint of the log", most_chars=7_000)
    assert len(texts["rich"]) > 2 * len(texts["poor"])
    assert "A log is kept." in texts["poor"]


def test_what_a_source_says_again_gives_way_to_what_no_source_has_said() -> None:
    same = [(f"Locks {n}", f"A lock is held by a writer until the writer is done with it. {FILLER}") for n in range(4)]
    documents = {name: page(*same) for name in "ab"} | {"c": page(*same, ("Recovery", f"A journal remains. {FILLER}"))}
    texts = shown(documents, "locks held by a writer", "recovery by a journal", most_chars=6_000)
    assert "A journal remains." in texts["c"]


def test_a_passage_that_several_sources_repeat_is_shown_once() -> None:
    call = (
        "A checkpoint call of the lock library returns the number of frames in its log, or a code of the busy writer."
    )
    own = {name: f"The {name} page is about what the {name} function alone does." for name in ("open", "close", "wait")}
    rest = [(f"Part {n}", FILLER.replace(" ", f" {n} ")) for n in range(4)]
    documents = {name: page(("Checkpoint", call), *rest, (name, text)) for name, text in own.items()}
    texts = shown(documents, "checkpoint call", *(f"what the {name} function does" for name in own), most_chars=1_500)
    assert "".join(texts.values()).count(call) == 1
    assert all(own[name] in text for name, text in texts.items())


def test_a_passage_counts_more_in_a_text_on_the_subject_than_as_a_chance_mention() -> None:
    on_it = page(*((f"Locks {n}", f"A lock of kind {n} is held by a writer. {FILLER}") for n in range(5)))
    annals = page(
        *((f"Year {n}", FILLER) for n in range(40)), ("End", f"A lock of kind 9 is held by a writer. {FILLER}")
    )
    aspects = [Aspect("lock of a writer")]
    order = [passage.source for passage in covering_passages({"annals": annals, "on_it": on_it}, aspects)]
    assert order.index("annals") == 5


def test_a_text_on_one_aspect_counts_for_that_aspect_only() -> None:
    def rows(name: str, what: str) -> list[tuple[str, str]]:
        return [(f"{name} {n}", f"{what} {FILLER}") for n in range(6)]

    locks = page(*rows("Locks", "A writer holds a lock."), ("Columns", f"A column is renamed. {FILLER}"))
    columns = page(*((f"Part {n}", f"{FILLER} A column is renamed or dropped.") for n in range(2)))
    aspects = [*(Aspect(f"lock of a writer {n}") for n in range(9)), Aspect("column renamed")]
    order = list(covering_passages({"locks": locks, "columns": columns}, aspects))
    on_columns = [one.source for one in order if one.source == "columns" or one.heading.endswith("Columns")]
    assert on_columns[0] == "columns"


def test_what_another_topic_asks_counts_in_the_sources_that_it_found() -> None:
    chapters = [(f"Supper {n}", f"Supper {n} is cooked at seven. {FILLER}") for n in range(9)]
    documents = {
        "found": page(*chapters, ("Boats", f"A boat is lent for two hours. {FILLER}")),
        "other": page(*chapters, ("Boats", f"Boats are painted in a boat shed. {FILLER}")),
    }
    sources = [source(id_, document) for id_, document in documents.items()]
    boats = {"query": "boats", "queries": ["how long a boat is lent"], "source_ids": ["found"]}
    reading = Reading(sources, documents, aspects_of(["supper"], other_topics=[boats]))
    assert "two hours" in reading.text("found", 700)
    assert "boat" not in reading.text("other", 700)


@pytest.mark.requirement("13.5")
def test_a_protected_source_that_says_nothing_on_the_question_keeps_a_headline() -> None:
    locks = page(*((f"Locks {n}", f"A lock of kind {n} is held by a writer. {FILLER}") for n in range(20)))
    other = page(*((f"Weather {n}", f"It may rain on day {n}. {FILLER}") for n in range(20)))
    sources = [source("src-a", locks), source("src-b", other, protected=True)]
    reading = Reading(sources, {"src-a": locks, "src-b": other}, aspects_of(["locks held by a writer"]))
    texts = reading.texts(most_chars=9_000, most_each=9_000, least_each=200)
    assert len(texts["src-b"]) >= 0.09 * len(other.text)
    assert len(texts["src-a"]) > len(texts["src-b"])


def test_what_the_search_found_best_is_always_shown() -> None:
    text = page(
        *((f"Locks {n}", f"A writer holds lock {n}. {FILLER}") for n in range(20)), ("End", "Its colour is blue.")
    )
    start = text.text.index("Its colour")
    found = source("a", text, passages=[[start, start + 19, 0.9]])
    reading = Reading([found], {"a": text}, aspects_of(["who holds a lock"]))
    assert "Its colour is blue." in reading.text("a", 2_000)


def test_of_what_the_search_found_best_the_part_that_says_the_most_is_shown() -> None:
    remarks = [f"Remark {n} is on style, and on nothing else, as long as it may be. " * 8 for n in range(2)]
    text = html_document(f"<h1>Pool</h1><h2>Size</h2><p>{remarks[0]}</p><p>{remarks[1]}</p><p>Ten slots wait.</p>")
    found = source("a", text, passages=[[len("Pool"), len(text.text), 0.9]])
    reading = Reading([found], {"a": text}, aspects_of(["how many slots wait"]))
    assert "Ten slots wait." in reading.text("a", 700)


def test_the_room_of_a_source_holds_its_passage_with_the_marks_around_it() -> None:
    filler = "Nothing of interest stands in this sentence of the annex. " * 50
    long = Document(text=f"{filler}The turbines opened their gates in 2016. {filler}", title="Annex")
    texts = shown({"a": long, "b": page(("Gates", "A gate opens."))}, "turbines opened gates", most_chars=2_000)
    assert "The turbines opened their gates in 2016." in texts["a"]


def test_sources_that_were_read_before_leave_the_room_to_new_ones() -> None:
    start = len("Manual")
    documents = {f"src-{n}": page((f"Locks {n}", f"A writer holds lock {n}. {FILLER}")) for n in range(9)}
    documents["src-new"] = page(("Pool", f"The pool has ten connections. {FILLER}"))
    sources = [source(name, one, passages=[[start, start + 20, 0.9]]) for name, one in documents.items()]
    asked = aspects_of(["how many connections the pool has"])
    reading = Reading(sources, documents, asked, {}, [name for name in documents if name != "src-new"])
    texts = reading.texts(most_chars=1_200, most_each=1_200, least_each=0)
    assert [name for name, text in texts.items() if text] == ["src-new"]
    assert "ten connections" in texts["src-new"]


@pytest.mark.parametrize("competing", [(), ("a",)])
def test_where_an_open_question_names_a_setting_all_that_explains_it_is_read(competing: tuple[str, ...]) -> None:
    remark = "It stands in the middle of a long remark on matters of style. " * 7
    entry = f"The header is max_guests, which the proxy sets.</p><p>{remark}</p><p>Be careful, it is dangerous to all. "
    mentions = [(f"slots_{n}", f"The header of max_guests and its proxy. {FILLER}") for n in range(9)]
    text = page(*mentions, ("max_guests", f"{entry}{remark}"), ("other_guests", FILLER))
    asked = ["which header of the proxy is max_guests"]
    shown = Reading([source("a", text)], {"a": text}, aspects_of(asked), {}, competing, asked[0]).text("a", 1_600)
    assert "which the proxy sets" in shown
    assert ("it is dangerous" in shown) == bool(competing)


def test_what_explains_a_named_setting_comes_before_what_mentions_it() -> None:
    mentions = [(f"slots_{n}", f"Slots of max_guests, max_guests for guests. {FILLER}") for n in range(9)]
    text = page(*mentions, ("max_guests", f"The default is 40, for all rooms together. {FILLER}"))
    asked = ["how many guests max_guests lets in"]
    texts = [
        Reading([source("a", text)], {"a": text}, aspects_of(asked), named=named).text("a", 700)
        for named in ("", asked[0])
    ]
    assert ["The default is 40" in shown for shown in texts] == [False, True]
