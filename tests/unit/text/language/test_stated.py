"""Which numbers and dates of a text stand in another one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.text.language.stated import unstated


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
        ("Of the errors 40P01 is retried.", "A deadlock is retried."),
        ("By the M/M/1 model waits grow.", "Waits grow."),
        ("gitworkflows(7) and git-push(1) allow it.", "It is allowed."),
        ("May the birds come?", "The birds come in spring."),
        ("It opened in May.", "Opening day: 14 May 2016."),
        ("It opened in mid-June.", "Es wurde im Juni eröffnet, das erste Gutachten kam im April."),
        ("It opened in May 2016.", "It was opened in May 2016 and may close."),
        ("May it hold: it opened after years.", "It was opened in April."),
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
        ("Der Kauf kostete 21,6 Mio. Pfund.", "The purchase cost £21.6 million."),
        ("De aanschaf kostte 21,6 miljoen pond.", "The purchase cost £21.6 million."),
        ("Zakup kosztował 21,6 mln funtów.", "The purchase cost £21.6 million."),
        ("Le segment a 16 Mo ; la limite est de 1 Go.", "A segment has 16 MB; the limit is 1 GB."),
        ("段大小为16 MB的文件。", "A segment has 16 MB."),
        ("毎日約1万2000人が乗る。", "It carries about 12,000 passengers every day."),
        ("最初の1台が走った。", "The first bus ran."),
        ("台数は2倍になった。", "The fleet doubled."),
        ("Norville a 7 lignes.", "Les bus circulent sur sept lignes."),
        ("Er zijn 8 lijnen.", "De bussen rijden op acht lijnen."),
        ("Kursuje na 7 liniach.", "Jeździ na siedmiu liniach."),
        ("Há 7 linhas.", "Circulam em sete linhas."),
        ("运行于7条线路，共48辆。", "四十八辆车在七条线路上运行。"),
        ("Der Kauf kostete 21,6 Mio. Euro.", "L'achat a coûté 21,6 M€."),
        ("Bei minus 11 Grad sank sie.", "Sie sank bei −11 °C."),
        ("气温降至零下11℃。", "It was −11 °C."),
        ("Op 3-6-2021 reed hij.", "Hij reed op 3 juni 2021."),
        ("It waits 1,000 ms.", "deadlock_timeout (integer) 1s by default"),
        ("It waits 1s.", "The default is 1000 milliseconds."),
        ("It waits 1,000 ms.", "PRAGMA busy_timeout = 1000;"),
        ("Es sind 1’000 ms.", "It takes 1 s."),
        ("It does 120 km/h.", "It does 2 km per minute."),
        ("It takes 1500 requests per second.", "It takes 90,000 requests per minute."),
        ("One million came.", "1,000,000 came."),
        ("The default is 5 seconds.", "busy_timeout = 5000 (in ms); deadlock: 5"),
        ("It waits 5 seconds.", "Wait (seconds) | 5 | 10"),
        ("It has 100 connections.", "max_connections | 100 | restart"),
        ("Es sind zwei Sekunden.", "It takes two seconds."),
        ("It is sampled once a week.", "Sampling (weekly)"),
        ("It is sampled daily.", "It is sampled every 24 hours."),
        ("It is sampled every hour.", "Flow (m3/h), as sampled"),
        ("It is sampled every year.", "Es wird jährlich geprüft."),
        ("It takes a month.", "It is slow."),
        ("Es sind zweiundsechzig.", "There are 62."),
        ("Zwei Dutzend kamen.", "There were 24."),
        ("Es ist zehnmal schneller.", "It is ten times faster."),
        ("Es ist dreimal so groß.", "Its size tripled."),
        ("Einige hundert kamen.", "Hundreds came."),
        ("Zwanzigtausend kamen.", "A crowd of 20,000 came."),
        ("Il y en a vingt-cinq.", "There are 25."),
        ("Hay treinta y cinco.", "There are 35."),
        ("Er zijn drieëntwintig.", "There are 23."),
        ("A hundred came.", "There were 100."),
        ("Python 3.10 has it.", "New in version 3.10."),
        ("Version 2.5 has it.", "It came with 2.5."),
        ("Der Faktor ist 3.5.", "By a Factor 3.50 it grew."),
        ("The mean was 3.5.", "Mean 3.50"),
        ("It is 3.1 %.", "Version 3.10: 3.10 %"),
    ],
)
def test_a_figure_may_be_written_in_another_way(claim: str, quote: str) -> None:
    assert stand_in(claim, quote)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("It has 17 turbines.", "Sixteen bulb turbines turn."),
        ("Es sind höchstens sechzehn.", "There are at most 61."),
        ("Es sind zweiundsechzig.", "There are at most 61."),
        ("Es sind höchstens hundert.", "There are at most 61."),
        ("Es ist tausendmal schneller.", "It is 100 times faster."),
        ("Zwei Dutzend kamen.", "There were 42."),
        ("Il y en a quinze.", "There are 14."),
        ("Sono venti.", "There are 30."),
        ("Jest ich piętnaście.", "There are 14."),
        ("São dezasseis.", "There are 14."),
        ("A thousand came.", "There were 100."),
        ("Python 3.10 has it.", "New in version 3.1."),
        ("Python 3.2 hat es.", "Changed in version 3.20."),
        ("Es gilt seit 3.20.", "New in version 3.2."),
        ("Version 3.1 has it.", "It came with 3.10."),
        ("Python 3.1 has it.", "Python 3.10 has it."),
        ("バージョン3.1から使える。", "It came with 3.10."),
        ("It cost 3 million.", "It cost 3 euros."),
        ("It cost 3 euros.", "It cost 3 dollars."),
        ("It is 16 GiB large.", "It is 16 MiB large."),
        ("The ratio was 8.699.", "The ratio was 8.7."),
        ("Exactly 300 mm fell.", "In all 298 mm fell."),
        ("It waits 2,000 ms.", "It waits 1s."),
        ("It waits for 2 minutes.", "It was common in the 1920s."),
        ("It was so in 1000.", "It waits 1000 ms."),
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
        ("It takes 5 minutes.", "5.0 Writing to a database file"),
        ("It takes 5 minutes.", "5. Writing to a database file"),
        ("It takes 3 ms.", "The window is at most three times the delay, which is 200 ms."),
        ("Es dauert 3 Sekunden.", "Drei Server stehen bereit."),
        ("Cela prend 3 secondes.", "Il y a trois serveurs."),
        ("It takes two minutes.", "Both servers wait."),
        ("It has 16 servers.", "It has 16 MB."),
        ("毎日約1万3000人が乗る。", "It carries about 12,000 passengers every day."),
        ("1円かかる。", "It costs 2 yen."),
        ("Norville a 8 lignes.", "Les bus circulent sur sept lignes."),
        ("Kursuje na dziewięciu liniach.", "Jeździ na siedmiu liniach."),
        ("运行于8条线路。", "四十八辆车在七条线路上运行。"),
        ("L'achat a coûté 21,6 M€.", "Der Kauf kostete 21,6 Mrd. Euro."),
        ("It holds 7 rows.", "It is neuf, sept and due."),
        ("It holds 12K rows.", "15 to 20 of 500 hold more."),
        ("It opened in June.", "It was opened in April."),
        ("In May the birds come.", "The birds come in spring."),
        ("It opened in May.", "Am 14. April 2016 wurde es eröffnet."),
        ("Otwarto w czerwcu.", "It was opened in April."),
        ("Il a ouvert en mars.", "It opened on 2016-04-14."),
        ("It is sampled once a month.", "It is sampled once a week."),
        ("It is sampled every day.", "It is sampled weekly."),
        ("It is checked annually.", "It is checked twice a month."),
        ("Sie wird jede Woche geprüft.", "Sie wird täglich geprüft."),
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


@pytest.mark.parametrize(
    "claim",
    [
        *(
            f"raise it to 600 {word} ready"
            for word in ("once", "until", "before", "unless", "while", "without", "under", "since", "later")
        ),
        "SECURE_HSTS_SECONDS = 60  # raise to 600 once all assets come by HTTPS",
        "höchstens 600 sobald alles geprüft ist",
        "TIMEOUT = 60  # 600 sobald geprüft",
        "mettre 600 lorsque tout est prêt",
        "subir a 600 mientras dure la prueba",
        "portare a 600 finché dura la prova",
        "op 600 zodra alles klaar is",
        "ustawić 600 podczas próby",
        "usar 600 enquanto durar o teste",
    ],
)
def test_a_word_that_joins_what_follows_is_not_counted(claim: str) -> None:
    assert unstated(claim, ["Wait 600 seconds.", "60"]) == []


@pytest.mark.parametrize(
    ("claim", "beside", "stated"),
    [
        ("It waits 5 seconds.", "Timeout (seconds)\n5, unless set otherwise", True),
        ("It waits 5 minutes.", "Timeout (seconds)\n5, unless set otherwise", False),
        ("It holds 1 GB.", "Frames are numbered from 1, in bytes 4 through 7.", False),
        ("It holds 16 files.", "Files: 16, in all.", True),
        ("It waits 5 minutes.", "The default is 5 min.", True),
    ],
)
def test_a_number_beside_a_quote_has_the_units_that_are_named_there(claim: str, beside: str, stated: bool) -> None:
    assert (unstated(claim, ["It waits."], [beside]) == []) is stated
