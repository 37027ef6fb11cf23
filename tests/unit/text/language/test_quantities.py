"""Numbers and dates in sentences as intervals."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.text.language.quantities import agree, unstated, values


@pytest.mark.parametrize(
    ("text", "unit", "low", "high"),
    [
        ("it weighs 1,200 tonnes", "mass", 1.2e6, 1.2e6),
        ("it cost $4.5 million", "money:dollar", 4.5e6, 4.5e6),
        ("it cost £5m", "money:pound", 5e6, 5e6),
        ("it has 55 dB(A)", "level", 55.0, 55.0),
        ("噪声为46分贝", "level", 46.0, 46.0),
        ("it cost €1340", "money:euro", 1340, 1340),
        ("it cost 1340 million euros", "money:euro", 1.34e9, 1.34e9),
        ("it is 5 m long", "length", 5.0, 5.0),
        ("it was 4.2 per cent", "percent", 4.2, 4.2),
        ("it has twenty-five rooms", "", 25.0, 25.0),
        ("it covers 11.5 square kilometres", "area", 11.5e6, 11.5e6),
        ("it takes 35 to 40 minutes", "time", 2100.0, 2400.0),
        ("between 10 and 12 km", "length", 1e4, 1.2e4),
        ("it cost 1.2 to 1.4 million euros", "money:euro", 1.2e6, 1.4e6),
        ("more than 100 boats", "", 100.0, inf),
        ("up to 100 boats", "", 0.0, 100.0),
        ("die Glocke wiegt 4,2 Tonnen", "mass", 4.2e3, 4.2e3),
        ("温度は68度です", "celsius", 68.0, 68.0),
    ],
)
def test_a_number_is_read_with_its_unit_and_bounds(text: str, unit: str, low: float, high: float) -> None:
    (value,) = values(text)
    assert (value.unit, value.low, value.high) == (unit, pytest.approx(low), pytest.approx(high))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 March 1742", "the 3rd of March, 1742"),
        ("14 March 2016", "March 2016"),
        ("2016-03-14", "2016"),
        ("am 14. März 2016", "14 March 2016"),
        ("2016年3月14日", "March 14, 2016"),
        ("el 14 de marzo de 2016", "14 March 2016"),
        ("about 1835", "1838"),
        ("8.7 km", "8,699 m"),
        ("about 150 boats", "155 boats"),
        ("0.24 GW", "240 MW"),
        ("14.03.2016", "14 March 2016"),
        ("27.400 Besucher", "27,400 visitors"),
        ("1.200.000 Euro", "1.2 million euros"),
        ("5 has", "5"),
    ],
)
def test_two_ways_to_write_a_value_agree(one: str, other: str) -> None:
    (a,), (b,) = values(one), values(other)
    assert agree(a, b)


@pytest.mark.parametrize(
    ("one", "other"),
    [("3 March 1742", "13 March 1742"), ("1835", "1838"), ("62 km", "68 km"), ("4 boats", "5 boats"), ("5 m", "5 kg")],
)
def test_values_that_exclude_each_other_do_not_agree(one: str, other: str) -> None:
    (a,), (b,) = values(one), values(other)
    assert not agree(a, b)


@pytest.mark.parametrize(
    "text",
    [
        "the Zone 5 ticket",
        "at 04:10",
        "version 3.11.2",
        "CEC-2016-31",
        "COVID-19",
        "[14]",
        "No. 3",
        "on 9 May",
        "staff fell from 81 to 74",
    ],
)
def test_names_notes_times_and_changes_are_no_values(text: str) -> None:
    assert values(text) == []


@given(st.integers(min_value=1, max_value=10**9).filter(lambda number: not 1000 <= number <= 2099))
def test_a_value_agrees_with_itself_however_it_is_grouped(number: int) -> None:
    plain, grouped = values(f"it has {number} rooms"), values(f"it has {number:,} rooms")
    assert agree(plain[0], grouped[0])


def stand_in(claim: str, quote: str) -> bool:
    return unstated(claim, [quote]) == []


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("It has 16 turbines.", "Sixteen bulb turbines turn."),
        ("It cost 1,200,000 euros.", "The price was 1.2 million euros."),
        ("About 5% die.", "Mortality was 5 percent."),
        ("It weighs 1.5 kg.", "It weighs 1500000 milligrams."),
        ("The ratio was 8.7.", "The ratio was 8.699."),
        ("Roughly 300 mm fell.", "In all 298 mm fell."),
        ("Some 31,000 signed.", "It bore 31,200 names."),
        ("It opened on 14 March 2019.", "Opened 2019-03-14."),
        ("It opened on 2019-03-14.", "It was opened on March 14th, 2019."),
        ("It opened in March 2019.", "Am 14. März 2019 wurde es eröffnet."),
        ("It opened on 14.03.2019.", "El 14 de marzo de 2019 abrió."),
        ("2019年3月14日に開いた。", "It opened on 14 March 2019."),
        ("Es kamen 27.400 Besucher.", "There were 27,400 visitors."),
        ("CO2, PM2.5, IL-6, COVID-19 and OCT3/4 fell.", "Pollution fell."),
        ("In May the birds come.", "The birds come in spring."),
        ("Python 3.11.2 has it.", "Since v3.11.2 it is there."),
        ("It opened in 2019.", "It opened on 14 March 2019."),
        ("It opened on 14 March 2019.", "In 2019, it opened on 14 March."),
        ("It rose to 74.", "It rose from 81 to 74."),
        ("It is one of the largest.", "It is large."),
        ("Es kostete 1,61 Mrd. Euro.", "It cost 1.61 billion euros."),
        ("Costó 1,61 mil millones de euros.", "Il a coûté 1,61 milliard d’euros."),
        ("耗资16.1亿欧元。", "It cost EUR 1.61 billion."),
        ("費用は1億2000万円。", "It cost 120 million yen."),
        ("Es hat drei Tore.", "It has 3 gates."),
        ("Il y a 27 400 visiteurs.", "There were 27,400 visitors."),
        ("There were 300 and 450.", "2019 | 120 300 450"),
        ("It takes 0.2 s.", "Es dauert 200 ms."),
        ("It does 120 km/h.", "It does 2 km per minute."),
        ("It takes 1500 requests per second.", "It takes 90,000 requests per minute."),
        ("One million came.", "1,000,000 came."),
    ],
)
def test_a_figure_may_be_written_in_another_way(claim: str, quote: str) -> None:
    assert stand_in(claim, quote)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("It has 17 turbines.", "Sixteen bulb turbines turn."),
        ("It cost 3 million.", "It cost 3 euros."),
        ("It cost 3 euros.", "It cost 3 dollars."),
        ("It is 16 GiB large.", "It is 16 MiB large."),
        ("The ratio was 8.699.", "The ratio was 8.7."),
        ("Exactly 300 mm fell.", "In all 298 mm fell."),
        ("It opened on 14 March 2019.", "It opened on 14 April 2019."),
        ("It opened on 14 March 2019.", "It opened on 15 March 2019."),
        ("It opened on 14 March 2019.", "It opened on 14 March 2018."),
        ("It opened about 1990.", "It opened in 1980."),
        ("Version v3.12 has it.", "Version v3.11 has it."),
        ("It opened in 2019.", "It opened on 14 March."),
        ("It opened in March 2019.", "It opened in 2019."),
        ("More than 150 boats came.", "More than 100 boats came."),
        ("Es kostete 1,71 Mrd. Euro.", "It cost 1.61 billion euros."),
        ("Es kostete 1,61 Mio. Euro.", "It cost 1.61 billion euros."),
        ("耗资16.1万欧元。", "It cost EUR 1.61 billion."),
        ("It takes 200 s.", "It takes 200 ms."),
        ("It does 50 MB/s.", "It does 50 MB per minute."),
        ("It takes 1500 requests per second.", "It takes 1,500 requests per minute."),
        ("Es hat vier Tore.", "Es hat drei Tore."),
        ("Two million came.", "One million came."),
    ],
)
def test_another_figure_is_distinguished(claim: str, quote: str) -> None:
    assert not stand_in(claim, quote)


@given(st.text(alphabet="0123456789.,- ekm%€May年月日/", max_size=40))
@settings(deadline=None)
def test_a_text_always_has_its_own_figures(text: str) -> None:
    assert stand_in(text, text)


@pytest.mark.parametrize(
    ("claim", "quote", "stated"),
    [
        ("It melts at 300 K.", "The alloy melts at 300K.", True),
        ("It melts at 300K.", "The alloy melts at 300 K, as measured.", True),
        ("It serves 400,000 requests a day.", "It serves 400K requests a day.", True),
        ("It serves 400 requests a day.", "It serves 400K requests a day.", False),
        ("It cost $400.", "It cost $400K.", False),
        ("It melts at 310 K.", "The alloy melts at 300K.", False),
    ],
)
def test_a_k_behind_a_number_is_thousand_where_it_counts_something(claim: str, quote: str, stated: bool) -> None:
    assert stand_in(claim, quote) is stated
