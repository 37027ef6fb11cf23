"""The verdict of code on one sentence of a report."""

from __future__ import annotations

import pytest

from graph_research.research.audit.formats import where
from graph_research.research.audit.judge import LibraryDocument, judged
from graph_research.research.audit.model import Verdict
from graph_research.research.audit.statements import ReportSentence, sentences_of
from graph_research.text.locators import resolve
from graph_research.text.readers.markdown import markdown_document
from graph_research.text.readers.plain import plain_document
from graph_research.text.readers.separated import separated_document

DAMS = markdown_document(
    "# Dams of the county\n\nThe dams.\n\n| Dam | Cost (million euros) | Power, MW |\n|---|---|---|\n"
    "| Alder Dam | 1,340 | 120 |\n| Birch Dam | 900 | 80 |\n"
)


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("The cost of the Alder Dam was 900 million euros.", Verdict.CONTRADICTED),
        ("The Birch Dam has a power of 95 MW.", Verdict.CONTRADICTED),
        ("The Birch Dam has a power of 80 MW.", Verdict.SUPPORTED),
        ("The cost of the Alder Dam was 1,340 million euros.", Verdict.SUPPORTED),
        ("The Alder Dam has a power of 120 MW and the Birch Dam of 80 MW.", Verdict.SUPPORTED),
        ("The Alder Dam has a power of 80 MW and the Birch Dam of 120 MW.", Verdict.CONTRADICTED),
    ],
)
def test_a_row_of_a_table_is_compared_with_the_header_and_unit_of_its_columns(text: str, verdict: Verdict) -> None:
    [sentence] = sentences_of(plain_document(text))
    library = [LibraryDocument(source_id="src-1", title=DAMS.title, path="dams.md", document=DAMS)]
    assert judged(1, sentence, library, [], []).verdict is verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Schools cost 3400 euros in the budget of Tarn.", Verdict.SUPPORTED),
        ("Schools cost 1200 euros in the budget of Tarn.", Verdict.UNCLEAR),
        ("Parks have a cost of 3400 euros.", Verdict.UNCLEAR),
        ("Museums have a cost of 1200 euros in the budget of Tarn.", Verdict.UNCLEAR),
    ],
)
def test_a_row_supports_only_a_sentence_that_names_it(text: str, verdict: Verdict) -> None:
    budget = markdown_document(
        "# Budget of Tarn\n\n| Item | Cost (euros) |\n|---|---|\n"
        "| Roads | 1200 |\n| Schools | 3400 |\n| Parks | 500 |\n"
    )
    library = [LibraryDocument(source_id="src-1", title=budget.title, path="budget.md", document=budget)]
    assert judged(1, ReportSentence(text=text), library, [], []).verdict is verdict


def test_the_reason_names_the_row_that_a_sentence_does_not_name() -> None:
    budget = markdown_document("# Budget of Tarn\n\n| Item | Cost (euros) |\n|---|---|\n| Roads | 1200 |\n")
    library = [LibraryDocument(source_id="src-1", title=budget.title, path="budget.md", document=budget)]
    row = judged(1, ReportSentence(text="Museums have a cost of 1200 euros in the budget of Tarn."), library, [], [])
    assert row.reason == "words do not decide it: the row is that of Roads"


def test_the_reason_says_that_the_words_stand_in_several_rows() -> None:
    energy = markdown_document("# Energy\n\n| Use | Percent |\n|---|---|\n| Cooling | 41 |\n| Computing | 33 |\n")
    library = [LibraryDocument(source_id="src-1", title=energy.title, path="energy.md", document=energy)]
    row = judged(1, ReportSentence(text="Computing takes 41 percent of the energy."), library, [], [])
    assert row.reason == "words do not decide it: they stand in several passages, and no one of these says it"


ROWS = "# Ferry\n\n| Month | Line | Cars | Lorries |\n|---|---|---|---|\n{0}"
JULY = ROWS.format("| July | Red | 12,440 | 515 |\n| 2023 | Red | 90,000 | 4,000 |\n")


@pytest.mark.parametrize(
    ("table", "is_contradicted"),
    [
        (JULY, False),
        (ROWS.format("| July | Red | 12,440 | 655 |\n"), True),
        (ROWS.format("| July | Blue | 12,440 | 655 |\n"), False),
        ("# Ferry\n\n| Month | Lorries |\n|---|---|\n| July | 655 |\n", True),
        ("# Ferry\n\n| Month | Lorries |\n|---|---|\n| 2023 | 655 |\n", False),
    ],
    ids=["the same", "another value", "another row", "two columns", "a year of any table"],
)
def test_a_row_of_a_report_is_compared_with_the_row_of_its_label(table: str, is_contradicted: bool) -> None:
    ferries = markdown_document(JULY)
    library = [LibraryDocument(source_id="src-1", title=ferries.title, path="ferry.md", document=ferries)]
    sentence, *_ = sentences_of(markdown_document(table))
    verdict = judged(1, sentence, library, [], []).verdict
    assert (verdict is Verdict.CONTRADICTED) is is_contradicted
    assert (verdict is Verdict.SUPPORTED) is (table == JULY)


@pytest.mark.parametrize(
    ("text", "is_supported"),
    [
        ("The Alder Dam opened in 1962, and the Birch Dam cost 900 million euros.", True),
        ("The Alder Dam cost 900 million euros, and the Birch Dam opened in 1962.", False),
        ("The Alder Dam cost 900 million euros.", False),
    ],
)
def test_each_part_of_a_sentence_stands_in_one_passage(text: str, is_supported: bool) -> None:
    said = "Dams\n\nThe Alder Dam was opened in 1962 by the mayor.\n\nThe Birch Dam cost 900 million euros.\n"
    [sentence] = sentences_of(plain_document(text))
    library = [LibraryDocument(source_id="src-1", title="Dams", path="dams.txt", document=plain_document(said))]
    assert (judged(1, sentence, library, [], []).verdict is Verdict.SUPPORTED) is is_supported


def test_a_sentence_may_name_the_authors_of_the_document_that_supports_it() -> None:
    text = "Smolt mortality at the lagoon was 4.2 percent."
    study = LibraryDocument(
        source_id="src-1", title="Smolts", path="a.txt", document=plain_document(text), authors=["M. Ostrander"]
    )
    forum = LibraryDocument(
        source_id="src-2", title="Talk", path="b.txt", document=plain_document(text.replace("4.2", "11"))
    )
    sentence = ReportSentence(text="Ostrander et al. found that smolt mortality at the lagoon was 4.2 percent.")
    assert judged(1, sentence, [study, forum], [], []).verdict is Verdict.SUPPORTED
    other = ReportSentence(text="Ostrander et al. found that smolt mortality at the lagoon was 5.1 percent.")
    assert judged(1, other, [study, forum], [], []).verdict is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("According to the Lagoon Press, smolt mortality at the lagoon was 4.2 percent.", Verdict.SUPPORTED),
        ("Smolt mortality at the lagoon was 4.2 percent, according to Lagoon Press.", Verdict.SUPPORTED),
        ("According to Harbour Weekly, smolt mortality at the lagoon was 4.2 percent.", Verdict.UNCLEAR),
        ("Smolt mortality at the Lagoon Press was 4.2 percent.", Verdict.UNCLEAR),
    ],
)
def test_a_sentence_may_say_that_it_is_according_to_the_publisher_of_the_document(text: str, verdict: Verdict) -> None:
    said = plain_document("Smolt mortality at the lagoon was 4.2 percent.")
    study = LibraryDocument(source_id="src-1", title="Smolts", path="a.txt", document=said, publisher="Lagoon Press")
    assert judged(1, ReportSentence(text=text), [study], [], []).verdict is verdict


def fares(source_id: str, amount: int, superseded: str | None = None) -> LibraryDocument:
    document = markdown_document(f"# Ferry fares\n\nAn adult ticket to Gull Island costs {amount} euros.\n")
    return LibraryDocument(
        source_id=source_id, title=document.title, path=f"{source_id}.md", document=document, superseded=superseded
    )


def test_what_only_an_old_version_says_is_shown_with_what_the_newer_one_says() -> None:
    [sentence] = sentences_of(plain_document("An adult ticket to Gull Island costs 7 euros."))
    old, new = fares("old", 7, superseded="new.md"), fares("new", 9)
    for library, cited in (([old, new], []), ([new], [old])):
        row = judged(1, sentence, library, cited, [])
        assert row.verdict is Verdict.SUPPORTED
        assert row.reason == "only an old version says it, which new.md supersedes"
        assert row.against is not None
        assert "9 euros" in row.against.quote
    current = judged(1, sentence, [old, fares("copy", 7)], [], [])
    assert (current.quote is not None and current.quote.path, current.reason) == ("copy.md", "")


def test_what_an_old_version_says_otherwise_is_not_shown_beside_a_current_one() -> None:
    [sentence] = sentences_of(plain_document("An adult ticket to Gull Island costs 9 euros."))
    old, new = fares("old", 7, superseded="new.md"), fares("new", 9)
    for cited in ([], [old]):
        row = judged(1, sentence, [old, new], cited, [])
        assert (row.verdict, row.reason, row.against) == (Verdict.SUPPORTED, "", None)
    [other] = sentences_of(plain_document("An adult ticket to Gull Island costs 8 euros."))
    contradicted = judged(1, other, [old, new], [], [])
    assert contradicted.quote is not None
    assert (contradicted.verdict, contradicted.quote.source_id) == (Verdict.CONTRADICTED, "new")


def test_rows_that_say_it_together_are_quoted_together() -> None:
    [sentence] = sentences_of(plain_document("The Alder Dam has a power of 120 MW and the Birch Dam of 80 MW."))
    library = [LibraryDocument(source_id="src-1", title=DAMS.title, path="dams.md", document=DAMS)]
    row = judged(1, sentence, library, [], [])
    assert row.quote is not None
    assert row.quote.quote == "Dam Cost (million euros) Power, MW Alder Dam 1,340 120 Birch Dam 900 80"
    start, end = resolve(DAMS.text, row.quote.locator)
    assert DAMS.text[start:end] == row.quote.quote
    assert len({quote.locator for quote in row.passages}) == len(row.passages)
    assert where(row.quote).startswith("Dams of the county (dams.md, line 5–8, characters ")


def test_the_few_words_of_a_short_sentence_stand_in_its_order_in_a_passage_that_supports_it() -> None:
    licence = markdown_document(
        "# Licence\n\nThe licence requires a stop of four turbines at night, a rule that had never been tested.\n"
    )
    held = [LibraryDocument(source_id="licence", title="Licence", path="licence.md", document=licence)]
    sentence = sentences_of(plain_document("Turbines never stop."))[0]
    assert judged(1, sentence, held, [], []).verdict is not Verdict.SUPPORTED


def test_a_word_that_the_nearest_passage_lacks_is_named_once() -> None:
    [sentence] = sentences_of(plain_document("The Birch generator delivers 400 kVA."))
    library = [LibraryDocument(source_id="src-1", title=DAMS.title, path="dams.md", document=DAMS)]
    reason = judged(1, sentence, library, [], []).reason
    named = reason.removeprefix("the nearest passage has no ").split(", ")
    assert "kVA" in named
    assert len(set(named)) == len(named)


def _verdict(text: str, said: str, path: str = "a.md", title: str = "") -> Verdict:
    document = separated_document(said) if path.endswith(".csv") else markdown_document(said)
    library = [LibraryDocument(source_id="src-1", title=title or document.title or path, path=path, document=document)]
    return judged(1, sentences_of(markdown_document(text))[0], library, [], []).verdict


FLEET = "Boat,Built,Weight (kg)\nOld Tom,1987,61\nHeron,2019,53\n"


@pytest.mark.parametrize(
    ("text", "said", "path"),
    [
        ("Women were admitted in 1936.", "# Between the wars\n\nWomen were admitted in 1926.", "a.md"),
        ("Old Tom was built in 1978.", FLEET, "fleet.csv"),
        ("No boat may turn within 120 metres of a weir.", "No boat may turn within 150 metres of a weir.", "a.md"),
        ("The policy covers up to 25,000 pounds.", "The policy covers up to 30,000 pounds.", "a.md"),
        ("Rowers are at least 16 years old.", "Rowers are at least 18 years old.", "a.md"),
    ],
)
def test_the_same_few_words_with_another_value_contradict(text: str, said: str, path: str) -> None:
    assert _verdict(text, said, path) is Verdict.CONTRADICTED


@pytest.mark.parametrize(
    ("text", "said", "path"),
    [
        ("It opened in 1936.", "# Between the wars\n\nIt opened in 1926.", "a.md"),
        ("Women were admitted in 1936.", "# Guests\n\nWomen were admitted as guests in 1926.", "a.md"),
        ("Women were admitted in 1936.", "# Guests\n\nWomen were admitted after 12 months.", "a.md"),
        ("Old Tom was sold in 1978.", FLEET, "fleet.csv"),
        ("Grebe was built in 1978.", FLEET, "fleet.csv"),
    ],
)
def test_other_words_beside_another_value_do_not_contradict(text: str, said: str, path: str) -> None:
    assert _verdict(text, said, path) is not Verdict.CONTRADICTED


FEES = "Category,Subscription (GBP),Rack fee (GBP)\nSenior,348,105\nStudent,172,105\n"
OWN = "# Fees\n\n| Category | Subscription 2024-25 | Rack fee |\n|---|---|---|\n| {0} pounds | 105 pounds |\n"


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        ("Senior | 348", Verdict.SUPPORTED),
        ("Student | 160", Verdict.CONTRADICTED),
        ("Social | 160", Verdict.UNCLEAR),
    ],
)
def test_a_row_is_compared_with_rows_of_its_label_and_with_the_name_of_an_untitled_file(
    row: str, verdict: Verdict
) -> None:
    assert _verdict(OWN.format(row), FEES, "club/subscriptions-season-2024-25.csv") is verdict


GLAZES = "Glaze,Base,Lead free,Food safe\nCeladon,iron,yes,yes\nBarium blue,barium,yes,no\n"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Barium blue is food safe.", Verdict.CONTRADICTED),
        ("Barium blue is not food safe.", Verdict.SUPPORTED),
        ("Celadon is not food safe.", Verdict.CONTRADICTED),
        ("Barium blue is lead free.", Verdict.SUPPORTED),
    ],
)
def test_a_cell_that_says_no_denies_its_header(text: str, verdict: Verdict) -> None:
    assert _verdict(text, GLAZES, "glazes.csv") is verdict
