"""Numbers and dates on which sources disagree, and everything that only looks like it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_research.text.readers.markdown import markdown_document
from graph_research.text.relevance.conflicts import Conflict, find_contradictions
from graph_research.text.relevance.statements import SourceSentence
from graph_research.text.relevance.units import units


def said(*sentences: str, titles: Sequence[str] = (), sources: Sequence[str] = ()) -> list[SourceSentence]:
    """Each sentence from a source of its own."""
    return [
        SourceSentence(
            source_id=sources[number] if sources else f"src-{number}",
            text=sentence,
            start=0,
            end=len(sentence),
            title=titles[number] if titles else "",
        )
        for number, sentence in enumerate(sentences)
    ]


def conflicts(*sentences: str) -> list[Conflict]:
    return find_contradictions(said(*sentences))


@pytest.mark.parametrize(
    ("one", "other", "values_"),
    [
        ("The Alder Dam is 120 metres high.", "The new Alder Dam is 135 metres high.", ["120 metres", "135 metres"]),
        ("The Alder Dam opened in 1962.", "The Alder Dam was opened in 1964.", ["1962", "1964"]),
        (
            "Anna Alder (July 15, 1905 – March 2, 1977) was a judge.",
            "Anna Alder (8 July 1900 – 2 March 1977) was a judge.",
            ["July 15, 1905", "8 July 1900"],
        ),
        ("Alder Dam | Height: 120 m", "Alder Dam | Height: 95 m", ["120 m", "95 m"]),
        ("The Alder Dam holds 100 to 120 boats.", "The Alder Dam holds 140 boats.", ["100 to 120 boats", "140 boats"]),
        ("The Alder Dam holds over 200 boats.", "The Alder Dam holds 140 boats.", ["200 boats", "140 boats"]),
        (
            "The Alder Dam holds about 400 boats.",
            "The Alder Dam holds 300 boats.",
            ["400 boats", "300 boats"],
        ),
        (
            "Das Kraftwerk Erlenbach liefert 240 Megawatt Strom.",
            "Das Kraftwerk Erlenbach liefert 4,2 Megawatt Strom.",
            ["240 Megawatt", "4,2 Megawatt"],
        ),
        (
            "With a reservoir of 40 hectares, the Alder Dam is small.",
            "The Alder Dam has a reservoir of 55 hectares.",
            ["40 hectares", "55 hectares"],
        ),
        (
            "Auditors found that the construction cost of the Alder Dam was 1.6 billion euros.",
            "The construction cost of the Alder Dam reached €1.3 billion.",
            ["1.6 billion euros", "€1.3 billion"],
        ),
        (
            "According to the union, the Alder Mill employs two hundred people.",
            "The Alder Mill employs 140 people.",
            ["two hundred", "140"],
        ),
        (
            "The Alder Dam cost 86,977 euros, a large sum then.",
            "The Alder Dam cost 83,126 euros according to the ledgers of the county.",
            ["86,977 euros", "83,126 euros"],
        ),
        ("The Alder Dam was automated in 1994.", "The Alder Dam was automated in 1992.", ["1994", "1992"]),
        (
            "The Alder Dam began operation on 14 March 2016, when the last permit came.",
            "The Alder Dam started operation on 2 May 2016.",
            ["14 March 2016", "2 May 2016"],
        ),
        (
            "The Alder observatory was opened by the king on 14 June 2021.",
            "The Alder observatory opened on 2 May 2021.",
            ["14 June 2021", "2 May 2021"],
        ),
        ("The Alder Ridge opened its doors in 2021.", "The Alder Ridge opened in 2022.", ["2021", "2022"]),
    ],
)
def test_two_values_for_one_attribute_of_one_subject_are_two_sides(one: str, other: str, values_: list[str]) -> None:
    (found,) = conflicts(one, other)
    assert [side.value for side in found.sides] == values_
    assert [side.evidence[0].text for side in found.sides] == [one, other]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("The Alder Dam is 120 metres high.", "The Birch Dam is 90 metres high.", id="other subject"),
        pytest.param("The Alder Dam is 120 metres high.", "The Alder Dam is 90 metres long.", id="other attribute"),
        pytest.param(
            "With Alderin 70 % of children recovered.", "With Alderin 55 % of adults recovered.", id="other group"
        ),
        pytest.param(
            "The north of Alder gets 900 mm of rain a year.",
            "The south of Alder gets 640 mm of rain a year.",
            id="side",
        ),
        pytest.param(
            "In 2018 the Alder Dam earned 5 million euros.", "In 2019 the Alder Dam earned 7 million euros.", id="year"
        ),
        pytest.param(
            "Each turbine of the Alder Dam has a power of 5 megawatts.",
            "The Alder Dam has a power of 60 megawatts.",
            id="each",
        ),
        pytest.param("The Alder Dam cost 9 million euros.", "The Alder Dam cost 9 million euros a year.", id="rate"),
        pytest.param(
            "The planned cost of the Alder Dam was 9 million euros.",
            "The cost of the Alder Dam was 12 million euros.",
            id="plan",
        ),
        pytest.param(
            "The Alder Dam was scheduled to open on 1 May 2015.", "The Alder Dam opened on 2 June 2016.", id="schedule"
        ),
        pytest.param(
            "The Alder Dam did not reduce the number of eels.",
            "The Alder Dam reduced the number of eels.",
            id="negation",
        ),
        pytest.param("The Alder Dam holds more than 100 boats.", "The Alder Dam holds 140 boats.", id="bound"),
        pytest.param("The Alder Dam holds 100 to 120 boats.", "The Alder Dam holds 110 boats.", id="range"),
        pytest.param(
            "The wall of the Alder Dam is 9.6 kilometres long.",
            "The wall of the Alder Dam is 9,600 metres long.",
            id="unit",
        ),
        pytest.param("The Alder Dam cost 4.1 million euros.", "The Alder Dam cost 4.12 million euros.", id="rounding"),
        pytest.param("The Alder Dam has a power of 0.24 GW.", "The Alder Dam has a power of 240 MW.", id="prefix"),
        pytest.param(
            "The Alder Dam has a crew of about 150 people.", "The Alder Dam has a crew of 155 people.", id="about"
        ),
        pytest.param("The Alder Dam has twelve gates.", "The Alder Dam has 12 gates.", id="number word"),
        pytest.param(
            "The Alder Dam opened in March 2016.", "The Alder Dam opened on 14 March 2016.", id="coarser date"
        ),
        pytest.param(
            "The Alder Dam spent 5 million euros on paint.",
            "The Alder Dam spent 3 million euros on steel.",
            id="purpose",
        ),
        pytest.param(
            "The Alder Dam is 120 metres high, compared with 90 metres for others.",
            "The Alder Dam is 120 metres high.",
            id="compared",
        ),
        pytest.param(
            "The Alder Dam cost 86,977 euros.", "The Alder Dam cost 83,126 euros excluding the harbour.", id="part"
        ),
        pytest.param(
            "The Alder Dam cost 14 million euros.", "The Alder Dam cost 18 million euros including interest.", id="all"
        ),
        pytest.param("The bridge is 120 metres long.", "The bridge is 90 metres long.", id="no name"),
        pytest.param(
            "The Alder observatory was opened on 14 June 2021.",
            "The Alder observatory won a prize in 2023.",
            id="event",
        ),
        pytest.param(
            "The Alder observatory was opened on 14 June 2021.",
            "In 2023 the Alder observatory had 24,100 visitors.",
            id="event of a count",
        ),
    ],
)
def test_what_differs_in_subject_attribute_scope_or_only_in_form_is_no_contradiction(one: str, other: str) -> None:
    assert conflicts(one, other) == []


def test_three_values_are_one_contradiction_with_three_sides_and_equal_values_share_one() -> None:
    (found,) = conflicts(
        "The Alder Dam has 14 gates.",
        "The Alder Dam has 16 gates.",
        "The Alder Dam has 14 gates, all of them rusty.",
        "The Alder Dam has 20 gates.",
    )
    assert [(side.value, len(side.evidence)) for side in found.sides] == [
        ("14 gates", 2),
        ("16 gates", 1),
        ("20 gates", 1),
    ]


def test_four_values_are_of_as_many_things() -> None:
    found = conflicts(*(f"The Alder Dam closed the release on {day} May 2021." for day in (2, 5, 9, 12)))
    assert found == []
    assert conflicts(*(f"The Alder Dam closed the release on {day} May 2021." for day in (2, 5, 9))) != []


def test_a_year_that_fits_two_dates_takes_neither_side() -> None:
    (found,) = conflicts(
        "The Alder Dam opened in 2016.", "The Alder Dam opened on 2 May 2016.", "The Alder Dam opened on 14 March 2016."
    )
    assert [side.value for side in found.sides] == ["2 May 2016", "14 March 2016"]


def test_sentences_of_one_source_never_contradict_each_other() -> None:
    sentences = said("The Alder Dam has 14 gates.", "The Alder Dam has 16 gates.", sources=["agency", "agency"])
    assert find_contradictions(sentences) == []


def test_sentences_without_a_name_need_one_in_both_titles() -> None:
    pair = ("The dam is 120 metres high.", "The dam is 90 metres high.")
    assert len(find_contradictions(said(*pair, titles=["Alder Dam", "History of the Alder Dam"]))) == 1
    assert find_contradictions(said(*pair, titles=["Alder Dam", "Birch Dam"])) == []


@pytest.mark.parametrize(
    ("sentence", "titles", "count"),
    [
        ("The refund period for online orders is {} days.", ("Terms of service 2023", "Customer handbook"), 1),
        ("A seal is changed in {} days.", ("Maintenance log", "Annual report"), 1),
        ("The sawmill employs {} people.", ("Annual review of the Brenn sawmill", "A visit to the Brenn sawmill"), 1),
        ("Peter Pan is a musical of {} acts.", ("Peter Pan (1976 musical)", "Peter Pan (1950 musical)"), 0),
        ("The default timeout is {} seconds.", ("postgresql configuration", "mysql settings"), 0),
        ("The construction cost of the dam was {} million euros.", ("Alder", "Birch project"), 0),
        ("The town has a population of {}.", ("Kitchen manual", "Annual report"), 0),
    ],
)
def test_the_same_sentence_with_another_value_conflicts_under_titles_that_name_no_thing(
    sentence: str, titles: Sequence[str], count: int
) -> None:
    found = find_contradictions(said(sentence.format(11), sentence.format(14), titles=titles))
    assert len(found) == count


def test_a_topic_without_spaces_between_words_is_written_as_it_stands() -> None:
    texts = ("南江大桥总投资为120亿元。", "审计署表示,南江大桥总投资为136亿元。")
    sentences = [SourceSentence.of_text(text, f"src-{n}") for n, text in enumerate(texts)]
    [found] = find_contradictions(sentences)
    assert found.topic == "南江大桥总投资为"


def test_the_topic_is_a_stretch_of_a_statement_with_its_value_left_out() -> None:
    (found,) = conflicts("The Alder Dam has 14 steel gates.", "The Alder Dam has 16 steel gates.")
    assert found.topic == "Alder Dam has … steel gates"
    assert (found.kind, found.description) == ("number", "14 steel gates · 16 steel gates")


def test_the_topic_is_the_stretch_with_the_fewest_words_that_one_side_alone_has() -> None:
    (found,) = conflicts(
        "By the survey of its owner, the Alder Dam has caused the loss of 190 hectares of oak forest.",
        "The Alder Dam has caused the loss of 310 hectares of oak forest, as a later survey found.",
    )
    assert found.topic == "Alder Dam has caused the loss of … of oak forest"


@given(st.text(max_size=300))
def test_any_text_is_read_without_an_error(text: str) -> None:
    assert find_contradictions(said(text, text)) == []


def test_the_dam_is_the_one_that_the_title_names() -> None:
    pair = ("The dam is 120 metres high.", "The Alder Dam is 135 metres high.")
    assert len(find_contradictions(said(*pair, titles=["Alder Dam", "A day out"]))) == 1
    assert find_contradictions(said(*pair, titles=["Birch Dam", "A day out"])) == []


def test_a_german_noun_at_the_beginning_is_not_the_name_of_what_a_sentence_is_about() -> None:
    pair = ("Die Baukosten betrugen 42,5 Millionen Euro.", "Die Baukosten betrugen 11,6 Millionen Euro.")
    of_two = ["Jahresbericht der Stadtwerke Eichenau", "Wärmenetz Waldstetten, ein kleiner Bruder"]
    assert find_contradictions(said(*pair, titles=of_two)) == []
    assert (
        len(find_contradictions(said(*pair, titles=["Wärmenetz Eichenau", "Geschichte des Wärmenetzes Eichenau"]))) == 1
    )
    named = [sentence.replace("Baukosten", "Baukosten des Wärmenetzes Eichenau") for sentence in pair]
    assert len(find_contradictions(said(*named, titles=["Jahresbericht der Stadtwerke Eichenau", "Prüfbericht"]))) == 1


def test_titles_of_two_things_of_one_kind_keep_their_sentences_apart() -> None:
    pair = ("It was created by Royal Order on 17 May 2001.", "It was created by Royal Order on 3 June 2002.")
    assert find_contradictions(said(*pair, titles=["Alder Valley Council", "Birch Valley Council"])) == []


def test_sources_without_titles_that_share_few_words_speak_of_two_things_of_one_name() -> None:
    one = [
        "Alder Valley had a population of 219 people.",
        "Its chapels face the fjord.",
        "Herring is smoked there.",
    ]
    other = [
        "Alder Valley had a population of 175 people.",
        "Miners founded it.",
        "A railway crosses the prairie.",
    ]
    sources = ["src-0"] * 3 + ["src-1"] * 3
    assert find_contradictions(said(*one, *other, sources=sources)) == []
    assert len(find_contradictions(said(*one, other[0], sources=sources[:4]))) == 1


def test_the_statement_most_like_the_other_is_the_one_that_it_contradicts() -> None:
    one = "The hall became the Alder Museum in 1980, and since 1999 the Alder Museum has been run by a trust."
    (found,) = conflicts(one, "The hall became the Alder Museum in 1955.")
    assert [side.value for side in found.sides] == ["1980", "1955"]


def test_who_differs_from_themselves_means_two_things() -> None:
    """Two years of a study and another thing's number in a forum are no conflict."""
    years = ("Of the tagged smolts 71 passed the turbines.", "Of the tagged smolts 84 passed the turbines.")
    other = "Of the tagged smolts 16 passed the turbines."
    assert not find_contradictions(said(*years, other, sources=["study", "study", "forum"]))
    assert find_contradictions(said(years[0], other, sources=["study", "forum"]))


def test_copies_of_a_text_disagree_where_one_has_another_value() -> None:
    text = "The Alder Dam was built by the Birch family in {} and raised by two metres in 1951."
    (found,) = find_contradictions(said(text.format(1902), text.format(1885), text.format(1902)))
    assert [(side.value, len(side.evidence)) for side in found.sides] == [("1902", 2), ("1885", 1)]


def test_a_value_that_a_quotation_repeats_is_no_further_one() -> None:
    (found,) = conflicts(
        "Anna Alder (8 February 1900 – 2 March 1977) was a judge. Anna Alder was born on 8 February 1900.",
        "Anna Alder (15 July 1905 – 2 March 1977) was a judge. Anna Alder was born on 15 July 1905.",
    )
    assert [side.value for side in found.sides] == ["8 February 1900", "15 July 1905"]


@pytest.mark.parametrize(
    ("one", "other", "values_"),
    [
        (
            "The council of Alder has approved the purchase of the old mill.",
            "The council of Alder has not approved the purchase of the old mill.",
            ["The council of Alder has approved the purchase of the old mill.", "not"],
        ),
        (
            "The Alder treaty increased the tariff on imported copper wire.",
            "The Alder treaty reduced the tariff on imported copper wire.",
            ["increased", "reduced"],
        ),
        (
            "The house was owned by the Brank family and stands in Cloutierville beside the river.",
            "The house was owned by the Brank family and stands in Natchitoches beside the river.",
            ["Cloutierville", "Natchitoches"],
        ),
    ],
)
def test_sentences_that_differ_in_a_denial_an_opposite_or_a_name_are_two_sides(
    one: str, other: str, values_: list[str]
) -> None:
    (found,) = conflicts(one, other)
    assert (found.kind, [side.value for side in found.sides]) == ("statement", values_)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "Alder Mill was owned by the old family beside the river.",
            "Birch Mill was owned by the old family beside the river.",
            id="other subject",
        ),
        pytest.param(
            "The council of Alder has approved the purchase of the old mill.",
            "In the opinion of our group, the council of Alder has not approved the purchase of the old mill.",
            id="an opinion",
        ),
        pytest.param(
            "The council of Alder has bought the old copper mill.",
            "The council of Alder has purchased the old copper mill.",
            id="another word",
        ),
    ],
)
def test_sentences_that_differ_elsewhere_are_no_contradiction(one: str, other: str) -> None:
    assert conflicts(one, other) == []


def test_five_thousand_sentences_are_compared_in_linear_time() -> None:
    number = iter(range(10_000))
    sentences = said(
        *(f"Station {next(number)} of Alder{n % 900} delivers {n} megawatts of power." for n in range(5_000))
    )
    started = time.process_time()
    find_contradictions(sentences)
    assert time.process_time() - started < 30


PLANTS = "# Plants of the coast\n\n| Plant | Turbines | Cost (million euros) |\n|---|---|---|\n"


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        pytest.param(
            f"{PLANTS}| Alder Dam | 16 | 1,340 |\n",
            "# The plants of the coast\n\n| Plant | Cost (€ million) | Turbines |\n|---|---|---|\n"
            "| Alder Dam | 1,340 | 16 |\n",
            [],
            id="other order of columns",
        ),
        pytest.param(
            f"{PLANTS}| Alder Dam | 16 | 1,340 |\n| Birch Dam | 14 | 1,610 |\n",
            "# The coast and its plants\n\nThe Alder Dam has 16 turbines and cost 1.34 billion euros.\n",
            [],
            id="in words",
        ),
        pytest.param(
            f"{PLANTS}| Alder Dam | 16 | 1,340 |\n",
            f"{PLANTS}| Alder Dam | 14 | 1,610 |\n",
            [{"16", "14"}, {"1,340 million euros", "1,610 million euros"}],
            id="another number and another cost",
        ),
        pytest.param(
            f"{PLANTS}| Alder Dam | 16 | 1,340 |\n",
            "# The coast and its plants\n\nThe cost of the Alder Dam was 1.61 billion euros.\n",
            [{"1,340 million euros", "1.61 billion euros"}],
            id="another cost in words",
        ),
        pytest.param(
            "# Alder Dam\n\n| Year | Electricity generated (GWh) |\n|---|---|\n| 2017 | 480 |\n| 2018 | 455 |\n",
            "# Alder Dam\n\n| Year | Electricity generated (GWh) |\n|---|---|\n| 2018 | 455 |\n| 2017 | 470 |\n",
            [{"480 GWh", "470 GWh"}],
            id="the same year",
        ),
    ],
)
def test_a_number_of_a_row_has_the_header_and_the_unit_of_its_column(
    one: str, other: str, found: list[set[str]]
) -> None:
    pages = [markdown_document(text) for text in (one, other)]
    sentences = [
        SourceSentence(
            source_id=f"src-{number}",
            text=unit.text,
            start=unit.start,
            end=unit.end,
            title=page.title,
            cells=page.columns_at(unit.start),
        )
        for number, page in enumerate(pages)
        for unit in units(page)
    ]
    sides = [{side.value for side in conflict.sides} for conflict in find_contradictions(sentences)]
    assert sides == found


def stated(source: str, text: str) -> list[SourceSentence]:
    """The sentences and rows of a Markdown document."""
    document = markdown_document(text)
    return [
        SourceSentence(
            source_id=source,
            text=unit.text,
            start=unit.start,
            end=unit.end,
            title=document.title,
            heading=unit.heading,
            cells=document.columns_at(unit.start),
        )
        for unit in units(document)
    ]


PROPERTIES = """# Regional dams

## Alder Dam

| Property | Value |
|---|---|
| Height | 84 m |
| Construction cost | 1,340 million euros |
| Year of opening | 1986 |
"""
COMPARED = """# Dams

| Measure | Alder Dam | Birch Dam |
|---|---|---|
| Height | 84 m | 60 m |
| Cost (million euros) | 1,340 | 900 |
"""
YEARS = """# Lagoon output

| Year | Output (GWh) |
|---|---|
| 2018 | 417 |
| 2019 | 412 |
"""


@pytest.mark.parametrize(
    ("table", "sentence", "topic", "values_"),
    [
        (PROPERTIES, "The height of the Alder Dam is 90 metres.", "Height of the Alder Dam", {"84 m", "90 metres"}),
        (
            PROPERTIES,
            "The construction cost of the Alder Dam was 1,200 million euros.",
            "Construction cost of the Alder Dam",
            {"1,340 million euros", "1,200 million euros"},
        ),
        (PROPERTIES, "The opening year of the Alder Dam was 1987.", "Opening year of the Alder Dam", {"1986", "1987"}),
        (
            COMPARED,
            "The Alder Dam cost 1,200 million euros.",
            "Alder Dam cost",
            {"1,340 million euros", "1,200 million euros"},
        ),
        (YEARS, "In 2018 the output of the lagoon was 412 GWh.", "Output of the lagoon", {"417 GWh", "412 GWh"}),
    ],
)
def test_a_row_of_a_table_and_a_sentence_about_the_same_thing_conflict(
    table: str, sentence: str, topic: str, values_: set[str]
) -> None:
    [found] = find_contradictions([*stated("table", table), *stated("news", f"# News of the region\n\n{sentence}")])
    assert (found.topic.lower(), {side.value for side in found.sides}) == (topic.lower(), values_)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (PROPERTIES, "The height of the Birch Dam is 90 metres."),
        (PROPERTIES, "The height of the Alder Dam is 84 metres."),
        (COMPARED, "The height of the Birch Dam is 60 m."),
        (COMPARED, "The Birch Dam cost 0.9 billion euros."),
        (YEARS, "In 2019 the output of the lagoon was 412 GWh."),
        (PROPERTIES, "| Property | Value |\n|---|---|\n| Height | 60 m |"),
    ],
)
def test_a_row_of_a_table_and_a_sentence_about_another_thing_do_not(table: str, sentence: str) -> None:
    assert not find_contradictions([*stated("table", table), *stated("news", f"# Birch Lake\n\n{sentence}")])
