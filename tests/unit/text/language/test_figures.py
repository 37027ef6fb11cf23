"""Numbers and dates of two texts are compared, however they are written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.text.language.figures import figures, has_date, has_number


def stand_in(claim: str, quote: str) -> bool:
    numbers, dates = figures(claim)
    other_numbers, other_dates = figures(quote)
    return all(has_number(n, other_numbers) for n in numbers) and all(has_date(d, other_dates) for d in dates)


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
    ],
)
def test_another_figure_is_told_apart(claim: str, quote: str) -> None:
    assert not stand_in(claim, quote)


@given(st.text(alphabet="0123456789.,- ekm%€May年月日/", max_size=40))
@settings(deadline=None)
def test_a_text_always_has_its_own_figures(text: str) -> None:
    assert stand_in(text, text)
