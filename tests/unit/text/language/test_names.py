"""Names that other texts do not have."""

import pytest

from graph_research.text.language.names import names_alone, new_names

DAM = ["The Severn lagoon in Wales was audited by the World Health Organization and Jane Goodall, an American."]


@pytest.mark.parametrize(
    "text",
    [
        "The lagoon on the Severn is Welsh land.",
        "America's Goodall saw it in May.",
        "Batching multiplies rows: Unconfigured sites show errors.",
        "An SSD or a CPU is of no use.",
        "SSDs and CPUs are of no use.",
        "• Flushing helps (Caching, too).",
        "In Wales it is 11 degrees Celsius.",
        "In Wales and on the Severn, 412 GWh and 5 kWh were made.",
    ],
)
def test_words_that_are_no_new_names(text: str) -> None:
    assert [name for name in new_names(text, DAM) if name != "Welsh"] == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It was audited by Brussels and Oracle.", ["Brussels", "Oracle"]),
        ("PostgreSQL does it.", ["PostgreSQL"]),
        ("Fabrikam did it.", ["Fabrikam"]),
        ("It uses XQZT.", ["XQZT"]),
    ],
)
def test_names_that_are_nowhere(text: str, names: list[str]) -> None:
    assert new_names(text, DAM) == names


@pytest.mark.parametrize("text", ["It runs on a CDN.", "The CDN's cache is full.", "CDNs are used."])
def test_an_abbreviation_is_the_same_in_the_plural(text: str) -> None:
    assert new_names(text, ["Static content solutions such as CDNs serve the files."]) == []
    assert new_names(text, ["Static content solutions such as a CDN serve the files."]) == []


def test_a_rare_word_at_the_beginning_of_a_sentence_is_a_name_only_where_it_is_said_to_count() -> None:
    text = "Rehearse the move. Then Fabrikam moves."
    assert new_names(text, DAM) == ["Rehearse", "Fabrikam"]
    assert new_names(text, DAM, at_start=False) == ["Fabrikam"]


def test_the_first_word_of_a_label_of_several_words_is_no_name() -> None:
    assert new_names("Unread damage: nobody sees it.", DAM) == []
    assert new_names("Fabrikam: nobody sees it.", DAM) == ["Fabrikam"]
    assert new_names("Bouclage partiel : personne.", DAM, language="fr", translated=False) == []
    assert new_names("Unread Élodie damage: it is.", DAM) == ["Unread", "Élodie"]
    assert new_names("Unread Fabrikam damage: Zylkreon sees it.", DAM) == ["Unread", "Fabrikam", "Zylkreon"]


def test_a_name_with_a_capital_within_it_may_be_parted_there() -> None:
    known = ["Mac OS X and Git Hub have it."]
    assert new_names("On macOS and GitHub it is MacHub.", known) == ["MacHub"]


def test_capitals_of_german_nouns_are_not_names() -> None:
    known = ["Der Bericht nennt die Kosten der Lagune, die in diesem Jahr gestiegen sind."]
    assert new_names("Der Prüfbericht nennt die Mehrkosten und die Schreiblastspitzen der Anlage.", known) == []
    assert new_names("Der Bericht nennt auch die Firma Zylkreon und MariaDB.", known) == ["Zylkreon", "MariaDB"]


def test_names_are_translated_but_not_their_inner_capitals() -> None:
    known = ["The lagoon was built in Germany by the company with PostgreSQL."]
    assert new_names("Die Lagune wurde in Deutschland mit PostgreSQL gebaut.", known) == []
    assert new_names("Die Lagune wurde in Deutschland mit MariaDB gebaut.", known) == ["MariaDB"]
    assert new_names("该泻湖由 Fabrikam 使用 PostgreSQL 建造。", known) == ["Fabrikam"]


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("SIGHUP beendet den Prozess.", ["SIGHUP"]),
        ("SIGTERM beendet die CPU-lastige Arbeit.", []),
        ("Zuerst run_in_threadpool() aufrufen.", ["run_in_threadpool"]),
        ("Zuerst loop.shutdown_foo() aufrufen.", ["shutdown_foo"]),
        ("Mit asyncio.Barrier wird run_in_executor() beendet.", ["Barrier"]),
        ("Der Aufruf close() beendet Nutzer(innen), z.B. in Version.", []),
        ("Das hat Guido van Rossum mit einer Art Schließvorrichtung behoben.", ["Rossum"]),
        ("Das hat Victor Zylkreon behoben.", []),
    ],
)
def test_names_of_code_rare_abbreviations_and_surnames_are_not_translated(text: str, new: list[str]) -> None:
    known = ["Zylkreon ends the process by SIGTERM, run_in_executor and close."]
    assert new_names(text, known, language="de") == new
    assert new_names("First call run_in_threadpool().", known) == ["run_in_threadpool"]
    assert new_names("Better call run_in_threadpool().", known, at_start=False) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("M. Ostrander-Lehn, P. Quillivic and S. Adebarro.", True),
        ("Institute of Estuarine Science.", True),
        ("Institut für Meereskunde, Kiel.", True),
        ("The Institute counts fish.", False),
        ("Das Institut zählt Fische.", False),
        ("研究所は魚を数える。", False),
    ],
)
def test_a_line_of_authors_or_of_their_institute_has_names_alone(text: str, *, expected: bool) -> None:
    assert names_alone(text) == expected
