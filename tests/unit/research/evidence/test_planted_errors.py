"""Nothing true is marked unsupported, and each planted error is caught, in every kind of sentence and ten languages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_research.research.evidence.claim_support import CitedPassage, Status, judge
from graph_research.research.models.draft import StatementKind, StatementVerdict, VerdictWord

AUDIT = "The audit puts the cost of the Severn lagoon at 1.61 billion euros."
PLAN = "The company had planned with 1.34 billion euros."
OPENED = "The lagoon opened on 3 March 2016, two years before the Humber barrage."
SHARE = "Of the 250 inspected pumps, 36.83 percent failed within four cycles of 15 minutes."
DELAY = "The WAL writer flushes every 200 milliseconds; the risk window is at most three times wal_writer_delay."
OFF = "With synchronous_commit = off, a crash of the server may lose recent commits, but cannot corrupt the data."
BUSY = "BEGIN IMMEDIATE takes the write lock at once; otherwise SQLite may return SQLITE_BUSY later."
FULL = "With synchronous=FULL the WAL is synced on every commit."
DEAL = "Northwind acquired Contoso in 2019 for $4.5 million."
READERS = "Readers do not block writers in PostgreSQL."
TITLE = "PostgreSQL 15.2 Documentation: Asynchronous Commit"
QUOTES = [AUDIT, PLAN, OPENED, SHARE, DELAY, OFF, BUSY, FULL, DEAL, READERS]


def judged(text: str, *quotes: str, kind: str = "fact", **more):
    passages = [CitedPassage(number=1, quote=quote, valid=True, title=TITLE) for quote in quotes]
    return judge(text, StatementKind(kind), passages, **more)


FACTS = [
    ("The lagoon cost 1.61 billion euros, says the audit.", AUDIT),
    ("According to the audit, the Severn lagoon cost €1,610 million.", AUDIT),
    ("1. The audit puts the cost at about 1.6 billion euros.", AUDIT),
    ("It opened on 3 March 2016.", OPENED),
    ("The Severn lagoon opened in March 2016.", f"{AUDIT} {OPENED}"),
    ("The lagoon opened two years before the Humber barrage, in 2016.", OPENED),
    ("36.83% of the 250 pumps failed.", SHARE),
    ("About 37 percent of the inspected pumps failed.", SHARE),
    ("The pumps failed within four cycles of a quarter of an hour, or 15 min.", SHARE),
    ("The WAL writer flushes every 0.2 s.", DELAY),
    ("In PostgreSQL 15.2 the WAL writer flushes every 200 ms.", DELAY),
    ("`synchronous_commit = off` may lose recent commits when the server crashes.", OFF),
    ("With asynchronous commit, a server crash may lose recent commits but cannot corrupt data.", OFF),
    ("Use `BEGIN IMMEDIATE`, which takes the write lock at once.", BUSY),
    ("In WAL mode, `synchronous=FULL` syncs the WAL on every commit.", FULL),
    ("Contoso was acquired by Northwind in 2019.", DEAL),
    ("Northwind paid 4.5 million dollars for Contoso.", DEAL),
    ("In PostgreSQL, readers do not block writers.", READERS),
    ("Die Baukosten betrugen 1,61 Milliarden Euro.", AUDIT),
    ("Laut Prüfbericht kostete die Lagune 1,61 Mrd. Euro.", AUDIT),
    ("Die Lagune wurde am 3. März 2016 eröffnet.", OPENED),
    ("Le projet a coûté 1,61 milliard d’euros.", AUDIT),
    ("La lagune a ouvert le 3 mars 2016.", OPENED),
    ("El proyecto costó 1,61 mil millones de euros.", AUDIT),
    ("La laguna se inauguró el 3 de marzo de 2016.", OPENED),
    ("La laguna è costata 1,61 miliardi di euro ed è stata aperta il 3 marzo 2016.", f"{AUDIT} {OPENED}"),
    ("A lagoa custou 1,61 bilhões de euros e foi aberta em 3 de março de 2016.", f"{AUDIT} {OPENED}"),
    ("De lagune kostte 1,61 miljard euro en werd op 3 maart 2016 geopend.", f"{AUDIT} {OPENED}"),
    ("Laguna kosztowała 1,61 mld euro i została otwarta 3 marca 2016 r.", f"{AUDIT} {OPENED}"),
    ("该项目耗资16.1亿欧元，于2016年3月3日启用。", f"{AUDIT} {OPENED}"),
    ("この事業の費用は16.1億ユーロで、2016年3月3日に開業した。", f"{AUDIT} {OPENED}"),
    ("WAL 每 200 毫秒写入一次。", DELAY),
    ("The dam has sixteen turbines.", "Das Wehr hat 16 Turbinen."),
    ("The works cost 27,400 euros.", "Les travaux ont coûté 27 400 euros."),
    ("Das Wehr hat 3 Turbinen.", "Das Wehr hat drei Turbinen."),
    ("It handles 120 requests per second.", "It handles 7,200 requests per minute."),
    ("It reads 50 MB per second.", "The disk reads 50 MB/s."),
    ("The two companies merged when Northwind acquired Contoso in 2019.", DEAL),
    ("Subtrees before 2.32.0 held the hash of the tag.", "pre-2.32.0 subtrees held the hash of the tag."),
    ("Northwind 2.32.0 holds the hash of the tag.", "Northwind-2.32.0 holds the hash of the tag."),
    ("Northwind-2.32.0 holds the hash of the tag.", "Northwind v2.32.0 holds the hash of the tag."),
    ("–", ""),
]


@pytest.mark.parametrize(("text", "quote"), FACTS)
def test_a_true_fact_is_cited(text: str, quote: str) -> None:
    found = judged(text, quote)
    assert found.problem == ""
    assert found.status in (Status.CITED, Status.TRANSITION)


@pytest.mark.parametrize(
    ("text", "quote", "named"),
    [
        ("The lagoon cost 1.71 billion euros, says the audit.", AUDIT, "1.71 billion euros"),
        ("The lagoon cost 1.61 million euros, says the audit.", AUDIT, "1.61 million euros"),
        ("The lagoon cost 1.61 billion dollars, says the audit.", AUDIT, "1.61 billion dollars"),
        ("The lagoon opened on 4 March 2016.", OPENED, "4 March 2016"),
        ("The lagoon opened in March 2018.", OPENED, "March 2018"),
        ("36.38% of the 250 pumps failed.", SHARE, "36.38%"),
        ("36.83 percentage points of the pumps failed.", SHARE, "36.83 percentage points"),
        ("It took four cycles of 15 seconds.", SHARE, "15 seconds"),
        ("The WAL writer flushes every 200 seconds.", DELAY, "200 seconds"),
        ("Subtrees before 2.31.0 held the hash.", "pre-2.32.0 subtrees held the hash.", "2.31.0"),
        ("In Northwind-2.31.0 subtrees held the hash.", "In Northwind-2.32.0 subtrees held the hash.", "2.31.0"),
        ("In PostgreSQL 15.3 the WAL writer flushes every 200 ms.", DELAY, "15.3"),
        ("The risk window is 600 ms.", DELAY, "600 ms"),
        ("`synchronous_commit = off` can corrupt the data.", OFF, "cannot"),
        ("BEGIN IMMEDIATE does not take the write lock at once.", BUSY, "not"),
        ("Contoso acquired Northwind in 2019.", DEAL, "otherwise"),
        ("Northwind acquired Contoso in 2019, said Jane Goodall.", DEAL, "Goodall"),
        ("Fabrikam acquired Contoso in 2019.", DEAL, "Fabrikam"),
        ("Readers block writers in PostgreSQL.", READERS, "not"),
        ("Readers do not block writers in Oracle.", READERS, "Oracle"),
        ("The pumps were made in a factory near the coast.", DEAL, "pumps"),
        ("Die Baukosten betrugen 1,71 Milliarden Euro.", AUDIT, "1,71 Milliarden Euro"),
        ("Die Baukosten betrugen 1,61 Millionen Euro.", AUDIT, "1,61 Millionen Euro"),
        ("Die Lagune wurde am 3. Mai 2016 eröffnet.", OPENED, "3. Mai 2016"),
        ("Le projet a coûté 1,71 milliard d’euros.", AUDIT, "1,71 milliard d’euros"),
        ("La laguna se inauguró el 13 de marzo de 2016.", OPENED, "13 de marzo de 2016"),
        ("La laguna è stata aperta il 3 maggio 2016.", OPENED, "3 maggio 2016"),
        ("A lagoa foi aberta em 3 de maio de 2016.", OPENED, "3 de maio de 2016"),
        ("De lagune werd op 3 mei 2016 geopend.", OPENED, "3 mei 2016"),
        ("Laguna została otwarta 3 maja 2016 r.", OPENED, "3 maja 2016"),
        ("该项目耗资17.1亿欧元。", AUDIT, "17.1亿欧元"),
        ("该项目耗资16.1万欧元。", AUDIT, "16.1万欧元"),
        ("この施設は2016年5月3日に開業した。", OPENED, "2016年5月3日"),
        ("Das Wehr hat vier Turbinen.", "Das Wehr hat drei Turbinen.", "vier"),
        ("It handles 120 requests per second.", "It handles 120 requests per minute.", "120"),
        ("It reads 50 MB per minute.", "The disk reads 50 MB/s.", "50 MB"),
    ],
)
def test_a_planted_error_in_a_fact_is_caught_and_named(text: str, quote: str, named: str) -> None:
    found = judged(text, quote)
    assert found.status is Status.UNSUPPORTED
    assert named in found.problem


FULL_PAGES = (
    "Turn it off only where fsync may be off. With file-system software that prevents partial page writes, such as "
    "ZFS, full_page_writes can be turned off."
)


GANZE_SEITEN = (
    "Das Handbuch erlaubt es nur, wo fsync aus sein darf. Mit Software wie ZFS, die halbe Seiten verhindert, darf "
    "full_page_writes aus sein."
)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (
            "On full_page_writes the manual says two things: off only where fsync may be off, and off if file-system "
            "software such as ZFS prevents partial page writes.",
            FULL_PAGES,
        ),
        ("Two cases allow full_page_writes off: fsync off and software that prevents partial writes.", FULL_PAGES),
        ("Zwei Dinge sagt das Handbuch: nur, wo fsync aus sein darf, oder mit Software wie ZFS.", GANZE_SEITEN),
    ],
)
def test_a_number_word_for_what_the_sentence_lists_itself_is_no_figure(text: str, quote: str) -> None:
    assert judged(text, quote).problem == ""


def test_a_number_word_for_what_no_quote_names_is_left_to_a_verifier() -> None:
    text = "The manual gives two cases in which full_page_writes can be turned off."
    supported = StatementVerdict(id="st-0123456789", verdict=VerdictWord.SUPPORTED)

    assert judged(text, FULL_PAGES).problem == "not in the cited quotes: two"
    assert judged(text, FULL_PAGES, verdict=supported).status is Status.VERIFIED


def test_what_stands_between_two_is_not_counted() -> None:
    quote = "If the source is modified between calls to backup_step(), the backup is restarted by the next call."
    assert not judged("A change between two calls restarts the backup.", quote).problem
    assert judged("A change restarts the backup after two calls.", quote).problem == "not in the cited quotes: two"


@pytest.mark.parametrize("text", ["PREFIX sets the next two.", "PREFIX is on; the other two are left as they are."])
def test_a_number_word_that_says_which_things_are_meant_is_no_figure_where_a_verifier_agrees(text: str) -> None:
    quote = "PREFIX sets index.version=4 and core.cache=true."
    supported = StatementVerdict(id="st-0123456789", verdict=VerdictWord.SUPPORTED)

    assert judged(text, quote).problem == "not in the cited quotes: two"
    assert judged(text, quote, verdict=supported).status is Status.VERIFIED


@pytest.mark.parametrize(
    ("text", "quote", "named"),
    [
        ("The window is at most two times wal_writer_delay: 200 ms, 400 ms.", DELAY, "two"),
        ("Two page writes are partial on ZFS.", FULL_PAGES, "Two"),
        ("The WAL writer waits the first two seconds.", DELAY, "two seconds"),
        ("Four page writes are prevented: on ZFS and elsewhere.", FULL_PAGES, "Four"),
        ("Two gates are open: the north gate and the south gate.", "Three gates are open, all in the north.", "Two"),
    ],
)
def test_a_number_word_that_the_quotes_could_state_is_a_figure_whatever_a_verifier_says(
    text: str, quote: str, named: str
) -> None:
    supported = StatementVerdict(id="st-0123456789", verdict=VerdictWord.SUPPORTED)
    assert named in judged(text, quote, verdict=supported).problem.removeprefix("not in the cited quotes: ")


def test_a_name_may_stand_anywhere_in_the_source_where_a_verifier_finds_the_sentence_supported() -> None:
    quote = "It may survive in some files only, where a transaction writes to several of them."
    text = f"{quote} Such files are joined by ATTACH. Fabrikam did not write this."
    passage = CitedPassage(1, quote, True, surroundings=quote, text=text)
    supported = StatementVerdict(id="st-0123456789", verdict=VerdictWord.SUPPORTED)

    def problem(text: str, verdict: StatementVerdict | None, kind: StatementKind = StatementKind.ANALYSIS) -> str:
        return judge(text, kind, [passage], verdict=verdict).problem

    attached = "A transaction that writes to several ATTACHed files may survive in some files only."
    for kind in (StatementKind.FACT, StatementKind.ANALYSIS):
        assert problem(attached, supported, kind) == ""
        assert problem(attached, None, kind) == "not in the cited quotes: ATTACHed"
        partly = supported.model_copy(update={"verdict": VerdictWord.PARTLY})
        assert problem(attached, partly, kind) == "not in the cited quotes: ATTACHed"
        elsewhere = attached.replace("ATTACHed", "Northwind")
        assert problem(elsewhere, supported, kind) == "not in the cited quotes: Northwind"


def test_a_number_beside_the_quotes_is_no_other_quantity_whatever_a_verifier_says() -> None:
    journal = "The next process will see the hot journal and roll the changes back."
    scan = "Recovery does a single pass over the log."
    passages = [
        CitedPassage(1, journal, True, beside=f"5.0 Writing to a database file\n{journal}"),
        CitedPassage(2, scan, True, beside=f"3. Recovery\n{scan} Frames are indexed starting with 1, mxFrame."),
    ]
    text = "The log is replayed from the last checkpoint, which begins every 5 minutes or after 1 GB."
    supported = StatementVerdict(id="st-0123456789", verdict=VerdictWord.SUPPORTED)

    found = judge(text, StatementKind.FACT, passages, verdict=supported)
    assert found.problem == "not in the cited quotes: 5 minutes, 1 GB"
    told = passages[1]._replace(beside=f"{scan} The defaults are 5 minutes and 1 GB.")
    assert judge(text, StatementKind.FACT, [told], verdict=supported).status is Status.VERIFIED


ANALYSES = [
    ("The overrun is about 270 million euros.", ["1.61 - 1.34"]),
    ("The overrun is 0.27 billion euros, or about 20 percent.", ["1.61 - 1.34", "(1.61 - 1.34) / 1.34 * 100"]),
    ("That is 20% more than planned.", ["(1.61 − 1.34) ÷ 1.34"]),
    ("Es sind 270 Millionen Euro mehr.", ["1,61 - 1,34"]),
    ("成本超支2.7亿欧元。", ["1.61 - 1.34"]),
    ("A test of all cycles takes one hour at least, that is 1 hour or 60 minutes.", ["4 * 15"]),
    ("Some 63 percent of the pumps held.", ["100 - 36.83"]),
    ("About 92 of the 250 pumps failed.", ["250 * 36.83 / 100"]),
    ("So a crash may cost the commits of 0.6 s.", ["3 * 200"]),
    ("The mean of the two is 1.475 billion euros.", ["(1.61 + 1.34) / 2"]),
    ("The barrage followed in 2018.", ["2016 + 2"]),
    ("Both cost figures are the makers' own, which makes them weak for two reasons.", []),
    ("First, there are two ways to lose a commit; second, none of the three corrupts data.", []),
    ("For many concurrent writers, PostgreSQL is therefore the safer choice.", []),
    ("Whoever needs `BEGIN IMMEDIATE` should set it on each connection.", []),
    ("Batching multiplies rows, not transactions.", []),
    ("In this case, an SSD without a battery may lose more.", []),
    ("In 2030 this will matter more.", []),
]


@pytest.mark.parametrize(("text", "computed"), ANALYSES)
def test_a_true_analysis_with_computed_numbers_is_an_analysis(text: str, computed: list[str]) -> None:
    question = "What will the Severn lagoon cost in 2030?"
    found = judged(text, *QUOTES, kind="analysis", computed=computed, question=question)
    assert (found.status, found.problem) == (Status.ANALYSIS, "")


@pytest.mark.parametrize(
    ("text", "computed", "named"),
    [
        ("The overrun is 0.27 million euros.", ["1.61 - 1.34"], "0.27 million euros"),
        ("The overrun is 0.27 billion dollars.", ["1.61 - 1.34"], "0.27 billion dollars"),
        ("The overrun is 280 million euros.", ["1.61 - 1.34"], "280 million euros"),
        ("That is 25 percent more.", ["(1.61 - 1.34) / 1.34"], "25 percent"),
        ("The window is 0.6 ms.", ["3 * 200"], "0.6 ms"),
        ("The overrun is 300 million euros.", ["1.64 - 1.34"], "1.64 is not in the cited quotes"),
        ("Together that makes 37 euros.", ["1.61 + 36.83"], "different units"),
        ("That makes 102.", ["36.83 + 65"], "65 is not in the cited quotes"),
        ("An hour has 3,600 seconds.", ["60 * 60"], "has no number of the cited quotes"),
        ("It costs twice as much as planned.", ["1.61 / 1.34"], "twice"),
        ("It will cost 3 billion euros in the end.", [], "3 billion euros"),
        ("It is five times as expensive.", [], "five"),
        ("It opened on 5 May 2017.", [], "5 May 2017"),
        ("Under load, Oracle would do better.", [], "Oracle"),
        ("In the end, MariaDB would do better.", [], "MariaDB"),
    ],
)
def test_a_planted_error_in_an_analysis_is_caught_and_named(text: str, computed: list[str], named: str) -> None:
    found = judged(text, AUDIT, PLAN, SHARE, DELAY, READERS, kind="analysis", computed=computed)
    assert found.status is Status.UNSUPPORTED
    assert named in found.problem


def test_a_computed_fact_is_cited_and_needs_no_word_of_its_result() -> None:
    found = judged("The audit's cost is 270 million euros above the plan.", AUDIT, PLAN, computed=["1.61 - 1.34"])
    assert (found.status, found.problem) == (Status.CITED, "")


@pytest.mark.parametrize("kind", ["transition", "limit"])
def test_a_transition_and_a_limit_may_count_what_follows_but_state_no_number(kind: str) -> None:
    assert judged("Two points remain open; the first is cost.", kind=kind).status == kind
    assert judged("2. What remains open is this.", kind=kind).status == kind
    assert judged("Nothing was found for 2031.", kind=kind, question="What happens in 2031?").status == kind
    assert judged("PostgreSQL 15.2 says no more.", READERS, kind=kind).status == kind
    wrong = judged("It has 17 turbines.", kind=kind)
    assert wrong.problem == "states what it may not: 17"
    verdict = StatementVerdict(id="st-0123456789", verdict="not", reason="it states a fact")
    asserting = judged("Nothing is faster.", kind=kind, verdict=verdict)
    assert asserting.problem == "not supported, by a verifier model: it states a fact"


CELLS = [
    ("about 0.6 s", "Loss window, synchronous_commit=off", DELAY, ["3 * 200"]),
    ("200 ms", "wal_writer_delay, Default", DELAY, []),
    ("200", "wal_writer_delay, Default (ms)", DELAY, []),
    ("1.61", "Audit, Cost (billion euros)", AUDIT, []),
    ("1,61", "Prüfbericht, Kosten (Mrd. Euro)", AUDIT, []),
    ("0.27", "Overrun, Cost (billion euros)", f"{AUDIT} {PLAN}", ["1.61 - 1.34"]),
    ("36.83", "Pumps, Failed (%)", SHARE, []),
    ("no", "Readers block writers, PostgreSQL", READERS, []),
    ("Row", "Unit of locking, PostgreSQL", "PostgreSQL locks a row while it is written.", []),
    ("March 2016", "Lagoon, Opened", OPENED, []),
    ("recent commits", "Lost in a crash, synchronous_commit=off", OFF, []),
    ("–", "Lost in a crash, SQLite", "", []),
]


@pytest.mark.parametrize(("text", "context", "quote", "computed"), CELLS)
def test_a_true_cell_is_read_with_its_label_and_its_header(text: str, context: str, quote: str, computed: list[str]):
    found = judged(text, quote, context=context, computed=computed)
    assert found.problem == ""


@pytest.mark.parametrize(
    ("text", "context", "quote"),
    [
        ("400 ms", "wal_writer_delay, Default", DELAY),
        ("200 s", "wal_writer_delay, Default", DELAY),
        ("200", "wal_writer_delay, Default (s)", DELAY),
        ("1.61", "Audit, Cost (million euros)", AUDIT),
        ("1.61", "Audit, Cost (billion dollars)", AUDIT),
        ("May 2016", "Lagoon, Opened", OPENED),
        ("Ines Calloway", "Lagoon, Opened by", OPENED),
        ("the whole table", "Unit of locking, Oracle", DEAL),
    ],
)
def test_an_invented_cell_is_caught(text: str, context: str, quote: str) -> None:
    assert judged(text, quote, context=context).status is Status.UNSUPPORTED


CODE = "PRAGMA synchronous = FULL;\nBEGIN IMMEDIATE;\nUPDATE account SET version = version + 1 WHERE id = $1;\nCOMMIT;"


def test_code_has_no_names_and_its_numbers_stand_in_the_quotes() -> None:
    assert judged(CODE, BUSY, FULL, kind="analysis", is_code=True).status is Status.ANALYSIS
    delay = "wal_writer_delay = 200ms\nsynchronous_commit = off"
    assert judged(delay, DELAY, OFF, kind="analysis", is_code=True).status is Status.ANALYSIS
    wrong = judged(delay.replace("200", "500"), DELAY, OFF, kind="analysis", is_code=True)
    assert wrong.problem == "not in the cited quotes: 500ms"


def test_a_name_may_stand_in_the_question_the_title_or_around_the_quote() -> None:
    passage = CitedPassage(1, "It opened in 2016.", True, surroundings="The Severn lagoon is new. It opened in 2016.")
    fact = StatementKind.FACT
    assert judge("The Severn lagoon opened in 2016.", fact, [passage]).status is Status.CITED
    titled = passage._replace(surroundings="", title="Severn lagoon")
    assert judge("The Severn lagoon opened in 2016.", fact, [titled]).status is Status.CITED
    bare = passage._replace(surroundings="")
    asked = judge("The lagoon on the Severn opened in 2016.", fact, [bare], question="When did the Severn lagoon open?")
    assert asked.status is Status.CITED
    assert "Severn" in judge("The lagoon on the Severn opened in 2016.", fact, [bare]).problem
    numbered = passage._replace(surroundings="Zone 5 is new. It opened in 2016.")
    assert judge("The new Zone 5 opened in 2016.", fact, [numbered]).status is Status.CITED
    assert judge("The new Zone 6 opened in 2016.", fact, [numbered]).status is Status.UNSUPPORTED
    listed = passage._replace(surroundings="Zones are new.\n6. Openings\nIt opened in 2016, 6 years late.")
    assert judge("The new Zone 6 opened in 2016.", fact, [listed]).status is Status.UNSUPPORTED


_ANY = st.text(max_size=60) | st.text(alphabet="0123456789.,- $%€元亿万年月日ないません不没PqZ()`\n", max_size=40)


@given(_ANY, st.lists(_ANY, max_size=2), _ANY, st.sampled_from([*StatementKind]), st.lists(_ANY, max_size=2))
@settings(deadline=None)
def test_any_sentence_is_judged(
    text: str, quotes: list[str], around: str, kind: StatementKind, computed: list[str]
) -> None:
    passages = [CitedPassage(1, quote, valid=True, surroundings=quote + around, title=around) for quote in quotes]
    for context in ("", around):
        for is_code in (False, True):
            found = judge(text, kind, passages, question=around, computed=computed, context=context, is_code=is_code)
            assert 0.0 <= found.score <= 1.0
            assert (found.status is Status.UNSUPPORTED) == bool(found.problem)


def test_a_value_in_code_that_the_writer_calls_a_judgement_is_no_new_number() -> None:
    passage = CitedPassage(number=1, quote="busy_timeout sets how long a statement waits.", valid=True)

    def status(text: str) -> Status:
        return judge(text, StatementKind.ANALYSIS, [passage], is_code=True).status

    assert status("PRAGMA busy_timeout = 5000; -- judgement: below the time-out of a request") is Status.ANALYSIS
    assert status("PRAGMA busy_timeout = 5000; -- a good value") is Status.UNSUPPORTED
    assert status("PRAGMA busy_timeout = 5000; -- judgement\nPRAGMA cache_size = 700;") is Status.UNSUPPORTED


def test_a_zero_that_the_quote_spells_out_is_no_new_number() -> None:
    passage = CitedPassage(number=1, quote="A value of zero (the default) disables the timeout.", valid=True)
    assert (
        judge("0, which disables it", StatementKind.FACT, [passage], context="Default: timeout").status is Status.CITED
    )
    assert judge("7, which disables it", StatementKind.FACT, [passage]).status is Status.UNSUPPORTED
