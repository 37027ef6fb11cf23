"""A statement rests on its valid citations: a quote to the character, a fact by the score of its words."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace

import pytest

from graph_research.research.evidence.citations import passage_in
from graph_research.research.evidence.claim_support import CitedPassage, Judgement, Status, judge
from graph_research.research.models.draft import Statement, StatementKind, StatementVerdict, VerdictWord
from graph_research.text.readers.markdown import markdown_document


def passage(quote: str, *, valid: bool = True, around: str = "") -> CitedPassage:
    return CitedPassage(number=1, quote=quote, valid=valid, surroundings=around)


def judged(text: str, *quotes: str, kind: StatementKind = StatementKind.FACT, **more) -> Judgement:
    return judge(text, kind, [passage(quote) for quote in quotes], **more)


def test_a_number_beside_the_quote_counts_where_a_verifier_finds_the_sentence_supported():
    text = "# Zone 5\n\nIt holds 40 boats. The gate opens at noon.\n\nIn 1999 it held 12."
    document = markdown_document(text)
    start = document.text.index("The gate")
    quote = document.text[start : start + len("The gate opens at noon.")]
    beside = CitedPassage(1, quote, valid=True, beside=document.around(start, start + len(quote)))
    supported = StatementVerdict(id="st-0123456789", verdict=VerdictWord.SUPPORTED)

    def status(said: str, verdict: StatementVerdict | None) -> Status:
        return judge(said, StatementKind.FACT, [beside], verdict=verdict).status

    said = "The gate, which opens at noon, is of a basin for 40 boats."
    assert status(said, supported) is Status.VERIFIED
    assert status(said, None) is Status.UNSUPPORTED
    assert status(said, supported.model_copy(update={"verdict": VerdictWord.PARTLY})) is Status.UNSUPPORTED
    assert status(said.replace("40", "12"), supported) is Status.UNSUPPORTED


SUPPORTED = StatementVerdict(id="st-0123456789", verdict=VerdictWord.SUPPORTED)


def test_a_number_of_a_table_may_have_the_unit_that_its_page_names() -> None:
    def missing(text: str, quote: str, page: str, verdict: StatementVerdict | None = SUPPORTED) -> str:
        row = CitedPassage(1, quote, valid=True, text=page)
        return judge(text, StatementKind.FACT, [row], verdict=verdict).problem

    row = "Larch 2.7: 13.061 Spruce 3: 4.373"
    page = f"Times are in seconds.\n\n{row}"
    assert missing("It took Larch 13.061 seconds.", row, page) == ""
    assert missing("It took Larch 13.061 seconds.", row, page, None) != ""
    assert missing("It took Larch 13.061 hours.", row, page).endswith(": 13.061 hours"), "no unit of the page"
    assert missing("It took Larch 13.061 seconds.", "Larch 2.7: 13.061 MB Spruce 3: 4.373 MB", page) != ""


@pytest.mark.parametrize(
    ("text", "quote", "language", "problem"),
    [
        ("Die Grenze liegt bei 1.000 Aufgaben.", "The limit is 1,000 tasks.", "de", ""),
        ("Die Grenze liegt bei 1,000 Aufgaben.", "The limit is 1,000 tasks.", "de", "1,000 (read as 1)"),
        ("Die Grenze liegt bei 1,000 Aufgaben.", "The limit is 1,000 tasks.", "", ""),
        ("Der Wert liegt bei 1.500 Sekunden.", "The value is 1.5 seconds.", "de", "1.500 Sekunden (read as 1500)"),
        ("Der Wert ist 1,125 und nicht mehr.", "The value is 1.125, no more.", "de", ""),
        ("The limit is at 1.000 tasks.", "There may be 1,000 tasks.", "en", "1.000 (read as 1)"),
        ("Es gilt ab Version 1.125 und nicht vorher.", "New in version 1.125.", "de", ""),
    ],
)
def test_a_number_says_what_readers_of_the_report_take_it_for(text: str, quote: str, language: str, problem: str):
    judgement = judged(text, quote, verdict=SUPPORTED, language=language)
    assert judgement.problem == (f"not in the cited quotes: {problem}" if problem else "")


def test_a_number_word_may_count_what_a_quote_lists() -> None:
    quote = "names = 'ANY 2 (s1, s2, s3)' waits for any two of them."
    assert judged("It waits for two of three servers.", quote, verdict=SUPPORTED).problem == ""
    assert judged("It waits for two of four servers.", quote, verdict=SUPPORTED).problem != ""


def test_analysis_that_its_passages_state_is_verified_if_it_holds_as_a_fact() -> None:
    quote = "The gate opens at noon, and the basin holds 40 boats."
    stated = SUPPORTED.model_copy(update={"stated": True})

    def status(text: str, verdict: StatementVerdict = stated, **more) -> Status:
        return judged(text, quote, kind=StatementKind.ANALYSIS, verdict=verdict, **more).status

    assert status("From noon on the gate is open.") is Status.VERIFIED
    assert status("From noon on the gate is open.", SUPPORTED) is Status.ANALYSIS
    assert status("Plan for 30 boats.", judged=["30 boats"]) is Status.ANALYSIS, "a number of the writer's is no fact"


def test_a_rule_of_thumb_may_rest_on_the_numbers_that_its_writer_judges() -> None:
    said = "By a textbook model (M/M/1, not from the sources) the wait is 4 times as long as the use at 80 %."
    chosen = ["80 %"]

    def problem(text: str, **more) -> str:
        return judged(text, kind=StatementKind.ANALYSIS, **more).problem

    assert problem(said, judged=chosen, computed=["0.8 / (1 - 0.8)"]) == ""
    assert problem(said, judged=chosen).endswith(": 4")
    assert problem("The wait grows steeply.") == "names nothing that it rests on"
    assert problem("As Brandt found, stay below 80 %.", judged=chosen).endswith(": Brandt")
    assert problem("1000 a second", judged=["1000"]) == ""
    assert problem("It has been slow since 2019.", judged=["2019"]).endswith(": 2019"), "a date is no judgement"


def test_how_often_something_is_to_be_done_may_be_its_writers_judgement() -> None:
    advice, kind = "Save every hour and copy daily, if a day may be lost.", StatementKind.ANALYSIS
    chosen = ["every hour", "daily"]
    assert judged(advice, "Save often.", kind=kind, judged=chosen).problem == ""
    assert judged(advice, "Save often.", kind=kind, judged=["daily"]).problem.endswith(": every hour")


def test_a_cell_may_compute_with_the_numbers_of_its_row_and_column() -> None:
    quote = "A disk takes about 60 writes per second."
    more = {"kind": StatementKind.ANALYSIS, "computed": ["1000 / 60 / (1 - 0.5)"]}
    assert judged("33 ms", quote, context="Disk: write time at 50 % use", **more).problem == ""
    assert "0.5 is not in the cited quotes" in judged("33 ms", quote, context="Disk: write time", **more).problem


def test_a_computation_may_go_on_with_the_result_of_one_before_it() -> None:
    quote = "A vessel needs the lock for 20 minutes."
    said = "Behind a queue of 9 vessels the wait is 180 minutes."
    computed = ["0.9 / (1 - 0.9)", "20 * 9"]
    found = judged(said, quote, kind=StatementKind.ANALYSIS, judged=["90 %"], computed=computed)
    assert found.problem == ""
    assert "9 is not in the cited quotes" in judged(said, quote, computed=computed[1:]).problem


def test_a_fact_in_the_words_of_its_quote_is_supported():
    status, score, problem = judged("The dam has sixteen turbines.", "The dam has 16 bulb turbines, and a lock.")
    assert score > 0.8
    assert (status, problem) == (Status.CITED, "")


@pytest.mark.parametrize(
    ("text", "quote", "why"),
    [
        ("The dam has 17 turbines.", "The dam has 16 turbines.", "not in the cited quotes: 17"),
        ("The dam opened in March 2019.", "The dam opened in April 2019.", "not in the cited quotes: March 2019"),
        (
            "The dam did not fail.",
            "The dam did fail.",
            "not supported by its words; otherwise in the cited quotes: not",
        ),
        (
            "The pool has more fish.",
            "The pool has fewer fish.",
            "not supported by its words; otherwise in the cited quotes: more",
        ),
        (
            "Trams cross the bridge.",
            "Sixteen turbines turn.",
            "not supported by its words; not in the cited quotes: Trams, bridge, cross",
        ),
    ],
)
def test_a_fact_that_is_not_says_what_is_missing_or_otherwise(text, quote, why):
    found = judged(text, quote)
    assert (found.status, found.problem) == (Status.UNSUPPORTED, why)


def test_a_fact_in_other_words_is_not_called_unsupported():
    status, score, problem = judged("The petition bore 31,000 names.", "Some 31,000 people signed it.")
    assert score < 0.5
    assert (status, problem) == (Status.CITED, "")


def test_a_fact_may_rest_on_several_quotes_but_not_on_an_invalid_one():
    assert judged("4 of 16 turbines stood still.", "Four turbines stood still.", "There are 16 turbines.").problem == ""
    passages = [passage("Four turbines stood still."), passage("There are 16.", valid=False)]
    found = judge("4 of 16 turbines stood still.", StatementKind.FACT, passages)
    assert found.problem == "not in the cited quotes: 16"


@pytest.mark.requirement("B45")
def test_a_fact_needs_one_valid_citation():
    assert judged("It stands.") == Judgement(Status.UNSUPPORTED, 0.0, "no citation")
    invalid = [passage("It stands there.", valid=False)]
    assert judge("It stands.", StatementKind.FACT, invalid) == Judgement(Status.UNSUPPORTED, 0.0, "no valid citation")


@pytest.mark.requirement("B45")
def test_a_quote_is_its_first_citations_quote_to_the_character():
    text = "It stands there."
    assert judged(text, text, kind=StatementKind.QUOTE) == Judgement(Status.PROVED, 1.0, "")
    cut = judged("It stands.", text, kind=StatementKind.QUOTE)
    assert cut == Judgement(Status.UNSUPPORTED, 0.0, "not word for word what [1] quotes")
    invalid = [passage(text, valid=False)]
    assert judge(text, StatementKind.QUOTE, invalid).problem == "citation [1] is not valid"


@pytest.mark.requirement("B45")
@pytest.mark.parametrize(
    ("word", "status", "problem"),
    [
        ("supported", Status.VERIFIED, ""),
        ("partly", Status.UNSUPPORTED, "partly supported, by a verifier model: it says most"),
        ("not", Status.UNSUPPORTED, "not supported, by a verifier model: it says most"),
    ],
)
def test_a_verifiers_word_decides_over_the_words_of_a_fact_but_over_no_number(word, status, problem):
    verdict = StatementVerdict(id="st-0123456789", verdict=word, reason="it says most")
    found = judged("The petition bore 31,000 names.", "Some 31,000 people signed it.", verdict=verdict)
    assert (found.status, found.problem) == (status, problem)
    wrong = judged("The petition bore 32,000 names.", "Some 31,000 people signed it.", verdict=verdict)
    assert (wrong.status, wrong.problem) == (Status.UNSUPPORTED, "not in the cited quotes: 32,000")


@pytest.mark.requirement("B45")
def test_an_analysis_names_what_it_rests_on_and_brings_no_number_or_name_of_its_own():
    def problem(text: str, *quotes: str) -> str:
        return judged(text, *quotes, kind=StatementKind.ANALYSIS).problem

    quotes = ("The audit counts 1.61 billion euros.", "The company counts 1.37 billion euros.")
    found = judged("The audit's figure is the higher one.", *quotes, kind=StatementKind.ANALYSIS)
    assert found == Judgement(Status.ANALYSIS, 1.0, "")
    assert problem("That is a lot.") == "names nothing that it rests on"
    assert problem("The audit's 1.61 billion is about 18 percent more.", *quotes).endswith(": 18 percent")
    assert problem("The audit is nearer to what Brussels pays.", *quotes).endswith(": Brussels")


def test_advice_may_rest_on_the_limit_that_it_stands_behind() -> None:
    advice = "Plan as if Zylkreon stopped its workers too, within 5 s."
    known = "What becomes of Zylkreon's workers within 5 s was not found."
    assert judged(advice, kind=StatementKind.ANALYSIS, limit=known) == Judgement(Status.ANALYSIS, 1.0, "")
    assert judged(advice, kind=StatementKind.ANALYSIS, limit="Not found.").problem.endswith(": 5 s, Zylkreon")
    assert judged(advice, kind=StatementKind.ANALYSIS).problem == "names nothing that it rests on"
    assert judged(advice, kind=StatementKind.FACT, limit=known).problem == "no citation"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("The case meets rows 1 to 6, so row 4 decides.", ""),
        ("Steps 2 and 3 come first.", ""),
        ("Der Fall trifft die Zeilen 1 bis 6.", ""),
        ("The rows hold 6 boats.", "not in the cited quotes: 6"),
        ("In row 4 there are 12 boats.", "not in the cited quotes: 12"),
    ],
)
def test_an_analysis_may_refer_to_rows_and_steps_by_their_numbers(text: str, problem: str) -> None:
    assert judged(text, "The gate opens at noon.", kind=StatementKind.ANALYSIS).problem == problem
    assert (
        judged(text, "The gate opens at noon. A case has rows. Der Fall. Steps come first.").status
        is Status.UNSUPPORTED
    )


def test_a_number_that_is_a_names_version_may_stand_anywhere_in_the_passages() -> None:
    given = passage("A slow request holds up the others of its connection.", around="This page is about HTTP/2.")
    assert judge("HTTP/2: a slow request holds up others of its connection", StatementKind.FACT, [given]).problem == ""
    assert judge("HTTP/3: a slow request holds up others", StatementKind.FACT, [given]).problem


def test_a_number_that_a_title_gives_to_a_word_is_that_words_name() -> None:
    rests_on = [CitedPassage(number=1, quote="Run the checkpointer during recovery.", valid=True, title="Release 15")]
    problems = [
        judge(text, StatementKind.ANALYSIS, rests_on).problem
        for text in ("Recovery is faster from release 15 on.", "Recovery takes 15 minutes less.")
    ]
    assert problems[0] == ""
    assert problems[1].endswith(": 15 minutes")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("A crash no longer replays a transaction twice (15.4).", ""),
        ("A crash no longer replays a transaction twice, and takes 15.4 s.", "15.4 s"),
        ("A crash no longer replays a transaction twice (17.2).", "17.2"),
        ("In 2023 a crash no longer replayed a transaction twice.", ""),
        ("In 2024 a crash no longer replayed a transaction twice.", "2024"),
    ],
)
def test_versions_of_a_title_and_the_date_of_a_source_are_stated(text: str, missing: str) -> None:
    quote = "Fix crash recovery, which could replay a transaction twice."
    cited = CitedPassage(1, quote, valid=True, title="17.2. Release 15.4", published_at="2023-08-10")
    problem = judge(text, StatementKind.ANALYSIS, [cited]).problem
    assert problem == (f"not in the cited quotes: {missing}" if missing else "")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("The changelog of 3.11 says that a fork may hang its children.", ""),
        ("The changelog of 3.11.0 says that a fork may hang its children.", ""),
        ("The changelog of 3.1 says that a fork may hang its children.", "3.1"),
        ("The changelog of 3.11.1 says that a fork may hang its children.", "3.11.1"),
        ("The pages, which describe version 15, say that a fork may hang its children.", ""),
        ("The pages, which describe version 14, say that a fork may hang its children.", "14"),
        ("A fork may hang its children for 15 minutes.", "15 minutes"),
        ("A fork has hung its children since 5 May 2022.", ""),
    ],
)
def test_versions_and_dates_of_the_headings_above_a_quote_are_stated(text: str, missing: str) -> None:
    page = markdown_document(
        "# Changelog\n\n## Python 3.11.0 beta 1, 5 May 2022\n\n### Library\n\nA fork may hang its children."
    )
    start = page.text.index("A fork")
    source = SimpleNamespace(title="Changelog", folder="engine-doc-15/html", published_at=None)
    cited = passage_in(passage("A fork may hang its children."), page, (start, len(page.text)), source)
    problem = judge(text, StatementKind.ANALYSIS, [cited]).problem
    assert problem == (f"not in the cited quotes: {missing}" if missing else "")


@pytest.mark.parametrize("remark", ["New in version 3.11.", "Changed in version 3.11.2: also for threads."])
def test_a_version_in_a_remark_near_a_quote_is_stated_where_a_verifier_finds_it_supported(remark: str) -> None:
    quote = "A pool replaces its workers."
    cited = [passage(quote, around=f"class Pool\n{quote}\n{remark} It held 3.12 tasks.")]
    supported = StatementVerdict(id="st-1", verdict=VerdictWord.SUPPORTED, model="m")
    text = "A pool replaces its workers since 3.11."
    assert judge(text, StatementKind.FACT, cited, verdict=supported).problem == ""
    assert judge(text, StatementKind.FACT, cited).problem == "not in the cited quotes: 3.11"
    other = judge(text.replace("3.11", "3.12"), StatementKind.FACT, cited, verdict=supported)
    assert other.problem == "not in the cited quotes: 3.12"


def test_a_computed_number_is_checked_against_the_quotes():
    quotes = ("The audit counts 1.61 billion euros.", "The company counts 1.37 billion euros.")
    text = "They differ by 0.24 billion euros."
    right = judged(text, *quotes, kind=StatementKind.ANALYSIS, computed=["1.61 - 1.37"])
    assert (right.status, right.problem) == (Status.ANALYSIS, "")
    wrong = judged("They differ by 0.34 billion euros.", *quotes, kind=StatementKind.FACT, computed=["1.61 - 1.37"])
    assert wrong.problem == "not in the cited quotes: 0.34 billion euros"
    made_up = judged(text, *quotes, kind=StatementKind.ANALYSIS, computed=["1.61 - 1.27"])
    assert made_up.problem == "1.61 - 1.27: 1.27 is not in the cited quotes"


@pytest.mark.parametrize(
    ("computed", "chosen", "problem"),
    [
        ("8 + 4", ["8"], ""),
        ("4 + 8", ["8"], "4 + 8: numbers of different units, or a constant, are added or subtracted"),
        ("8 + 4", [], "8 + 4: numbers of different units, or a constant, are added or subtracted"),
        ("8 + 5", ["8"], "8 + 5: 5 is not in the cited quotes"),
    ],
)
@pytest.mark.parametrize("formula", ["min(32, os.cpu_count() + 4)", "min(32, (os.cpu_count() or 1) + 4)", "cpus+4"])
def test_a_fact_may_compute_by_a_formula_of_its_quote_with_values_for_the_names(formula, computed, chosen, problem):
    supported = StatementVerdict(id="st-1", verdict=VerdictWord.SUPPORTED, model="m")
    quote = f"The default number of workers is {formula}."
    text = "The pool of 8 CPUs has 12 workers by default."
    judgement = judged(text, quote, computed=[computed], judged=chosen, verdict=supported)
    assert judgement.problem == problem


@pytest.mark.requirement("B45")
@pytest.mark.parametrize("kind", [StatementKind.TRANSITION, StatementKind.LIMIT])
def test_a_transition_and_a_limit_may_repeat_a_figure_of_the_question_and_bring_no_other(kind):
    text = "Of the 16 turbines, this is left."
    assert judged(text, kind=kind, question="What of the 16 turbines?") == Judgement(Status(kind), 1.0, "")
    assert judged(text, kind=kind).problem == "states what it may not: 16"


def test_a_rows_label_may_have_a_number_that_stands_around_the_quotes_of_its_row():
    near = passage("It holds each commit.", around="With level 3 the disks mirror each other. It holds each commit.")
    label = StatementKind.TRANSITION
    assert judge("Level 3", label, [near], context="1, Setting").status is Status.TRANSITION
    assert judge("Level 4", label, [near], context="1, Setting").problem == "states what it may not: 4"
    assert judge("Level 3 comes next.", label, [near]).problem == "states what it may not: 3"


@pytest.mark.parametrize(
    ("text", "own", "computed", "problem"),
    [
        ("As a rule of thumb act from 50 % of the bound on.", ["50 %"], [], ""),
        ("As a rule of thumb act from 50 % of the bound on.", [], [], "not in the cited quotes: 50 %"),
        ("Act from 50 % of the bound on, at the latest at 80 %.", ["50 %"], [], "not in the cited quotes: 80 %"),
        ("Act between 50 and 80 %.", ["50 and 80 %"], [], "not in the cited quotes: 50, 80 %"),
        ("Act between 50 and 80 %.", ["50", "80 %"], [], ""),
        ("Wait 2s and then 15s.", ["2s", "15s"], [], ""),
        ("Wait 2s and then 15s.", ["2s"], [], "not in the cited quotes: 15"),
        ("Wait 2s and then 15 s.", ["2 s", "15s"], [], ""),
        ("Start with 4GB for the cache.", ["4"], [], ""),
        ("Start with 40GB for the cache.", ["4"], [], "not in the cited quotes: 40GB"),
        ("At 80 % the wait is 20 ms.", ["5", "80"], ["5 * 0.8 / (1 - 0.8)"], ""),
        ("At 80 % the wait is 20 ms.", ["5 ms", "80 %"], ["5 * 0.8 / (1 - 0.8)"], ""),
        ("At a share of 0.8 the wait is 20 ms.", ["5 ms", "0.8"], ["5 * 0.8 / (1 - 0.8)"], ""),
        ("At a share of 0.8 the wait is 25 ms.", ["5", "0.8"], ["5 / (1 - 0.8)"], ""),
        ("At 80 % the wait is 25 ms.", ["5", "80"], ["5 * 0.8 / (1 - 0.8)"], "not in the cited quotes: 25 ms"),
        ("At 80 % the wait is 20 s.", ["5 ms", "80 %"], ["5 * 0.8 / (1 - 0.8)"], "not in the cited quotes: 20 s"),
        ("Of 10 ms, 100 a second; of 5000 KB, 50 a wait.", ["10 ms", "5000 KB", "50"], ["1000 / 10"], ""),
        ("It was measured in 2023.", ["2023"], [], "not in the cited quotes: 2023"),
        ("Of 15 writers let 5 wait.", ["5"], [], "not in the cited quotes: 15"),
        ("Act after 50 writes.", ["5"], [], "not in the cited quotes: 50"),
        ("Act after 5 writes, and again after 5 more.", ["5"], [], ""),
        ("If a write holds the lock for 10 ms, 100 fit into a second.", ["10 ms"], ["1000 / 10"], ""),
        ("If a write holds the lock for 10 ms, 200 fit.", ["10 ms"], ["1000 / 10"], "not in the cited quotes: 200"),
        ("At 10 ms each it is taken at most 100 times a second.", ["10 ms"], ["1000 / 10"], ""),
        ("At 10 ms each `UPDATE file SET locked = true WHERE id = $1` waits.", ["10 ms"], [], ""),
        ("The bound is 1 second divided by the time that the lock is held, such as 10 ms.", ["10 ms"], [], ""),
        ("The lock is held for 1 second.", [], [], "not in the cited quotes: 1 second"),
        ("At 10 ms each 1 / 3 of the writers wait.", ["10 ms"], [], "not in the cited quotes: 3"),
        ("At 10 ms each a lock costs USD $1.", ["10 ms"], [], "not in the cited quotes: $1"),
        ("At 10 ms each a lock has its price ($5).", ["10 ms"], [], "not in the cited quotes: $5"),
        ("At 10 ms each a lock costs $1.", ["10 ms"], [], "not in the cited quotes: $1"),
    ],
)
def test_an_analysis_may_state_the_numbers_that_its_writer_judges_and_what_follows_from_them(
    text: str, own: list[str], computed: list[str], problem: str
) -> None:
    held = "One writer at a time holds the lock of a file."
    found = judged(text, held, kind=StatementKind.ANALYSIS, judged=own, computed=computed)
    assert found.problem == problem
    assert judged(text, held, judged=own).status is Status.UNSUPPORTED


@pytest.mark.parametrize(
    ("text", "own"),
    [("长线路冬季每次充电按180公里计算。", "180公里"), ("冬は充電ごとに180キロと見積もる。", "180キロ")],
)
def test_a_judged_number_stands_among_characters_that_no_space_parts(text: str, own: str) -> None:
    held = "冬季续航里程缩短。"
    assert judged(text, held, kind=StatementKind.ANALYSIS, judged=[own]).status is Status.ANALYSIS
    assert judged(text, held, kind=StatementKind.ANALYSIS, judged=[own[1:]]).status is Status.UNSUPPORTED


def test_a_judged_number_is_added_to_one_of_a_quote_in_its_unit() -> None:
    quotes = ["The default is 50 tuples.", "The default is 0.2 (20% of table size).", "A flush takes 5 ms."]

    def problem(text: str, expression: str, own: str) -> str:
        return judged(text, *quotes, kind=StatementKind.ANALYSIS, judged=[own], computed=[expression]).problem

    said = "A table of 10,000,000 rows (assumed) is cleaned after 2,000,050 tuples."
    assert problem(said, "50 + 0.2 * 10000000", "10,000,000") == ""
    assert problem(said, "50 + 0.2 * 10000000", "7") == "50 + 0.2 * 10000000: 10000000 is not in the cited quotes"
    assert problem(said.replace("050", "500"), "50 + 0.2 * 10000000", "10,000,000") == (
        "not in the cited quotes: 2,000,500"
    )
    assert problem("With 3 (assumed) for the network that makes 8 ms.", "5 + 3", "3") == ""


def test_the_whole_that_a_formula_takes_a_share_from_is_no_new_number_of_an_analysis() -> None:
    held = "Writers wait for the lock of a file."
    for text, problem in (
        ("The mean wait is the hold times u / (1 - u).", ""),
        ("The wait lasts from 1 - 5 s.", "not in the cited quotes: 1, 5 s"),
        ("In 1 gate they wait.", "not in the cited quotes: 1"),
    ):
        assert judged(text, held, kind=StatementKind.ANALYSIS).problem == problem
    assert judged("The mean wait is the hold times u / (1 - u).", held).status is Status.UNSUPPORTED


def test_the_one_by_which_an_expression_counts_is_no_new_number() -> None:
    held = "An update of hits waits for the lock of its row."
    assert judged("`UPDATE site SET hits = hits + 1` waits for the lock of its row.", held).problem == ""
    assert judged("An update of hits waits for 1 lock of its row.", held).problem == "not in the cited quotes: 1"
    assert judged("An update by hits + 2 waits for the lock of its row.", held).problem == "not in the cited quotes: 2"


def test_the_folder_of_a_source_may_name_the_version_that_a_sentence_is_about() -> None:
    quote = "Data pages are not checksummed by default."
    for title, problem in (("Checksums (larch-doc-15)", ""), ("Checksums", "not in the cited quotes: 15")):
        passage = CitedPassage(1, quote, valid=True, surroundings=f"Larch. {quote}", title=title)
        found = judge("Larch 15 does not checksum data pages by default.", StatementKind.FACT, [passage])
        assert found.problem == problem


def test_an_analysis_may_compute_with_the_numbers_of_the_question_and_a_fact_may_not() -> None:
    text, quote = "The 200 calls take 100 seconds in a row.", "A call takes 0.5 seconds."
    more = {"computed": ("200 * 0.5",), "question": "How long do 200 calls take?"}
    assert judged(text, quote, kind=StatementKind.ANALYSIS, **more).status is Status.ANALYSIS
    assert judged(text, quote, **more).status is Status.UNSUPPORTED


@pytest.mark.parametrize("word", ["judgement", "assumed", "Ermessen", "jugement", "juicio", "判断"])
def test_a_line_of_code_whose_comment_says_in_any_language_that_its_value_is_judged(word: str) -> None:
    for text in (f"wait = 5000  # {word}: nach Messung", f"# {word}: 5 Sekunden\nwait 5000"):
        assert judged(text, "wait sets how long", kind=StatementKind.ANALYSIS, is_code=True).status is Status.ANALYSIS
    text = f"wait = 5000  # {word}: nach Messung\nmost = 7"
    assert judged(text, "wait sets how long", kind=StatementKind.ANALYSIS, is_code=True).problem.endswith(": 7")


def test_a_judged_value_that_an_earlier_version_stored_as_text_is_read_as_a_list_with_the_same_id() -> None:
    stored = {"text": "Act from 50 % on.", "kind": "analysis", "evidence_ids": ["ev-0123456789"], "judged": "50 %"}
    read = Statement.model_validate(stored)
    assert (read.judged, Statement.model_validate({**stored, "judged": ""}).judged) == (["50 %"], [])
    whole = "\x1f".join(["analysis", "Act from 50 % on.", "ev-0123456789", "", "", "50 %"])
    assert read.id == f"st-{hashlib.sha256(whole.encode()).hexdigest()[:10]}"


@pytest.mark.parametrize(
    ("text", "context", "language"),
    [
        ("512 KiB bis 8 MiB, Ziel etwa 2 MiB", "Stücke", "de"),
        ("Ganze Server holt man mit extract, einzelne Dateien aus einem Repository.", "", "de"),
        ("512 KiB à 8 MiB, cible de 2 MiB", "Morceaux", "fr"),
    ],
)
def test_a_noun_of_a_short_text_is_no_name_in_the_language_of_the_report(
    text: str, context: str, language: str
) -> None:
    quote = (
        "minimum chunk size = 512 kiB, maximum 8 MiB, target chunk size ~= 2 MiB; extract restores from a repository"
    )
    passages = [CitedPassage(1, quote, valid=True)]

    judged = judge(text, StatementKind.ANALYSIS, passages, context=context, language=language)
    swapped = judge(f"{text} MongoDB", StatementKind.ANALYSIS, passages, context=context, language=language)

    assert judged.problem == ""
    assert swapped.problem == "not in the cited quotes: MongoDB"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("# inside <Host *:8443>\nturbines 16", ""),
        ("<Host *:8443>\nturbines 16\n</Host>", ""),
        ("# port 8443\nturbines 16", "not in the cited quotes: 8443"),
        ('<host port="8443"/>\nturbines 16', "not in the cited quotes: 8443"),
        ("sort <in -n 5000 >out\nturbines 16", "not in the cited quotes: 5000"),
        ("turbines 17", "not in the cited quotes: 17"),
    ],
)
def test_a_number_in_the_name_of_a_section_of_code_is_no_value(line: str, problem: str) -> None:
    passages = [CitedPassage(1, "The default is turbines 16.", valid=True)]
    assert judge(line, StatementKind.ANALYSIS, passages, is_code=True).problem == problem
