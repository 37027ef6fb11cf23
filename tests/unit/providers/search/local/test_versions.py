"""Old versions in a library rank behind the newer one and say so; bibliographies beside documents give their data."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from graph_research.providers.search.local import Library
from graph_research.text.language.versions import (
    asked_version,
    head_and_foot,
    highest_version,
    is_marked_as_retracted,
    named_versions,
    own_versions,
    says_it_is_superseded,
    title_key,
    version_mark,
)

POLICY = """# Travel policy {version}

Employees who travel for the company book their trains and flights at least two weeks before the journey begins.
Hotels are paid up to {amount} euros a night. Receipts are handed in within thirty days after the return.
Whoever travels by car is paid thirty cents a kilometre. Meals are paid by the rates that the tax office publishes.
"""


@pytest.mark.parametrize(
    ("lines", "version"),
    [
        ("SQLite version 3.9.2\nSQLite Version 3.40.1", "3.40.1"),
        ("SQLite 3.40.1 Documentation\nIt waits", "3.40.1"),
        ("Index\nSQLite v2.8", "2.8"),
        ("Bugs of SQLite 8.1 Copies 8.2 Links", ""),
        ("SQLite 3\nMySQLite version 9.1", ""),
        ("SQLite version 3.5% faster", ""),
        ("Prev Up SQLite 15.20 Documentation Home\nThe SQLite 9.1 parser", "15.20"),
        ("Home > SQLite > 15.20 Documentation > Locks", "15.20"),
        ("SQLite release 15", "15"),
    ],
)
def test_the_newest_version_of_a_name_stands_behind_a_word_for_it_or_begins_a_line(lines: str, version: str) -> None:
    assert highest_version(named_versions("SQLite", lines.splitlines())) == version


def test_head_and_foot_of_a_page_are_what_stands_around_its_sentences() -> None:
    page = ["Locks", "SQLite 3.40.1", "It waits.", "Since version 3.9", "It does not wait.", "SQLite 3.40.1 GIT(1)"]
    assert head_and_foot(page) == ["Locks", "SQLite 3.40.1", "SQLite 3.40.1 GIT(1)"]
    assert head_and_foot(["Index", *["Since version 3.9"] * 50, "End"])[0] == "Index"
    assert len(head_and_foot(["Since version 3.9"] * 50)) == 10


@pytest.mark.parametrize(
    ("title", "text", "versions"),
    [
        (
            "Release History",
            "2022-12-28 (3.40.1)\nFix a loop of version 3.39.0 (2022-06-25).\n2022-11-16 (3.40.0) Add.",
            "3.40.1 3.40.0",
        ),
        ("Changes", "## [1.4.0] - 2024-03-01\n- Faster.\n\n## 1.3.2 (2023-12-24)", "1.4.0 1.3.2"),
        ("Changes", "Version 1.2 – 2021-05-06: locks.\nSince 7.5 it is 2021-05-07.", "1.2"),
        ("Indexes", "Added in version 3.9.0 (2015-10-14).\n3.40.1 Documentation »", "3.40.1"),
        ("Signed tags", "Changes since the tag:\nFroboz 3.2 (2011-09-30 14:20:57 -0700)", ""),
        ("E.21. Release 15", "Release date: 2022-10-13. See 13.3.", "15"),
        ("A v1 format", "", ""),
        ("Hashes", "SQLITE_SOURCE_ID: 2022-12-28 14:03:47 df5c253c 2022-12-28-1.2 10.1.2.3", ""),
    ],
)
def test_a_document_about_one_thing_names_a_release_where_a_paragraph_begins_or_in_its_title(
    title: str, text: str, versions: str
) -> None:
    assert own_versions(title, text.splitlines()) == set(versions.split())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("policy-v1.md", "1.0"), ("policy-v2.md", "2.0 (version 2)")),
        (("policy-2021.md", ""), ("policy-2023.md", "")),
        (("a.md", "version 9"), ("b.md", "version 10")),
        (("old/policy.md", "2022-01"), ("new/policy.md", "2022-11")),
    ],
)
async def test_the_newer_version_comes_first(tmp_path: Path, old: tuple[str, str], new: tuple[str, str]) -> None:
    folder = tmp_path / "papers"
    for (name, version), amount in ((old, 90), (new, 120)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(POLICY.format(version=version, amount=amount))
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    first, second = await library.find("Hotels 90 euros a night")
    assert (first.facts.url, first.facts.superseded) == (new[0], None)
    assert (second.facts.url, second.facts.superseded) == (old[0], new[0])
    (folder / new[0]).unlink()
    await library.add([folder])
    [alone] = await library.find("Hotels 90 euros a night")
    assert alone.facts.superseded is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("---\ntitle: Ferry fares\ndate: 2022-01-05\n---\n", "---\ntitle: Ferry fares\nupdated: 2024-06-01\n---\n"),
        ("# Ferry fares\n\nStand: März 2022\n", "# Ferry fares\n\nStand: Juni 2024\n"),
        ("# Ferry fares\n\nLast updated: 5 May 2022\n", "# Ferry fares\n\nLast updated: 6 June 2024\n"),
    ],
)
async def test_a_version_is_older_by_the_date_that_it_gives_itself(tmp_path: Path, old: str, new: str) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    fares = "\nThe ferry to Lowmere costs {} euros for adults, and children ride free on all days of the week.\n"
    (folder / "fares.md").write_text(old + fares.format(7))
    (folder / "tickets.md").write_text(new + fares.format(9))
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    found = await library.find("What does the ferry to Lowmere cost?")
    assert [(one.facts.url, one.facts.superseded) for one in found] == [
        ("tickets.md", None),
        ("fares.md", "tickets.md"),
    ]


@pytest.mark.parametrize(
    ("names", "query", "first"),
    [
        (("policy-2021.md", "policy-2023.md"), "Hotels in the policy of 2021", 0),
        (("policy-2021.md", "policy-2023.md"), "Hotels in the policy of 2023", 1),
        (("policy-2021.md", "policy-2023.md"), "Hotels in the policy since 2020", 1),
        (("policy-rev-A.md", "policy-rev-B.md"), "Hotels in revision A of the policy", 0),
        (("policy-rev-A.md", "policy-rev-B.md"), "Hotels in a revision of the policy", 1),
        (("policy-2023-01.md", "policy-2023-06.md"), "Hotels in the policy of 2023", 1),
    ],
)
async def test_the_version_that_a_query_names_is_not_behind(
    tmp_path: Path, names: tuple[str, str], query: str, first: int
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, amount in zip(names, (90, 120), strict=True):
        (folder / name).write_text(POLICY.format(version="", amount=amount))
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    found = await library.find(query)
    assert found[0].facts.url == names[first]
    assert {one.facts.url: one.facts.superseded for one in found} == {names[0]: names[1], names[1]: None}


@pytest.mark.parametrize("query", ["Django 3.2 release notes", "What is new in Django 3.2?"])
async def test_the_page_of_a_release_comes_before_the_other_pages_of_its_series(tmp_path: Path, query: str) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for version in ("3.1", "3.2", "3.2.1", "3.2.3"):
        title = f"Django {version} release notes — Django 3.2.25 documentation"
        said = f"Django {version} is new and fixes a bug." if version != "3.2" else "Signals are logged. " * 60
        (folder / f"{version}.html").write_text(f"<title>{title}</title><h1>Release</h1><p>{said}</p>")
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    found = await library.find(query, limit=10)
    assert (len(found), found[0].facts.url) == (4, "3.2.html")


async def test_reports_of_several_years_and_other_documents_of_one_name_are_no_versions(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "report-2021.md").write_text(
        "# Annual report 2021\n\nThe lagoon gave 412 GWh. Seals were exchanged in May."
    )
    (folder / "report-2022.md").write_text(
        "# Annual report 2022\n\nA dry year: 380 GWh. Nothing else is worth a word here."
    )
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    assert [fact.superseded for fact in await library.documents()] == [None, None]


async def test_a_document_that_says_that_it_no_longer_holds_ranks_lower(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "a.md").write_text("# Seals\n\nThis document has been superseded.\n\nShaft seals last nine years.")
    (folder / "b.md").write_text("# Seals\n\nThis document was checked again.\n\nShaft seals last seven years.")
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    found = await library.find("How long do shaft seals last?")
    assert [(one.facts.url, one.facts.superseded) for one in found] == [("b.md", None), ("a.md", "b.md")]


CANTEEN = "{head}The canteen serves lunch from {hour} on. Guests register at the counter. Dogs stay outside.\n"


@pytest.mark.parametrize(
    ("names", "head"),
    [
        (("canteen_old.txt", "canteen.txt"), "This document is superseded by canteen.txt."),
        (("fees.txt", "canteen-2.txt"), "Status: superseded by canteen-2.txt"),
        (("page.txt", "canteen.txt"), "This page is out of date."),
        (("canteen-draft.txt", "canteen-final.txt"), ""),
        (("canteen_old.txt", "canteen.txt"), ""),
        (("archive/canteen.txt", "canteen.txt"), ""),
        (("canteen_superseded.txt", "canteen.txt"), ""),
        (("canteen_v1.txt", "canteen_v2_final.txt"), ""),
        (("for_comments/canteen.txt", "canteen.txt"), "DRAFT - not for distribution"),
        (("mail/canteen.txt", "canteen.txt"), "Draft of 3 May 2024, for comments"),
    ],
)
async def test_the_newer_version_of_one_that_says_so_or_is_called_a_draft_is_named_or_has_its_title(
    tmp_path: Path, names: tuple[str, str], head: str
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, said, hour in zip(names, (head, ""), ("noon", "eleven"), strict=True):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(CANTEEN.format(head=f"Canteen rules\n\n{said}\n\n", hour=hour))
    (folder / "sauna_old.txt").write_text("Sauna\n\nThe sauna opens at six in the evening.\n")
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    superseded = {facts.url: facts.superseded for facts in await library.documents()}
    assert superseded == {names[0]: names[1], names[1]: None, "sauna_old.txt": None}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Status: Superseded by RFC 9110.", True),
        ("This page is out of date.", True),
        ("Diese Fassung wurde ersetzt durch die von 2023.", True),
        ("Ce document est remplacé par celui de 2023.", True),
        ("This is an outdated version of the fares.", True),
        ("Fares\nSUPERSEDED\nA ride costs 3 euros.", True),
        ("Fares\nOBSOLETE - do not use\nA ride costs 3 euros.", True),
        ("Fares\nSuperseded: see fares-2.md\nA ride costs 3 euros.", True),
        ("Fares\nReplaced by: fares-2.md", True),
        ("Fares\nArchived version.", True),
        ("Fares\nVersion 1, 4 April 2022. No longer valid, see the fares of 2025.\nA ride costs 3 euros.", True),
        ("Fares\nApproved 4 April 2022, withdrawn 10 February 2025.", True),
        ("Fares\nOut of date since February 2025.", True),
        ("This protocol no longer applies.", True),
        ("Preise\nFassung 1 vom 4. April 2022. Nicht mehr gültig, siehe die Fassung von 2025.", True),
        ("Preise\nAußer Kraft seit 10. Februar 2025.", True),
        ("Diese Preisliste gilt nicht mehr.", True),
        ("Dieses Dokument ist nicht mehr als ein Entwurf.", False),
        ("Tarifs\nVersion 1 du 4 avril 2022. N'est plus valable, voir ceux de 2025.", True),
        ("Tarifas\nVersión 1, 4 de abril de 2022. Ya no es válido, véase la de 2025.", True),
        ("Minutes\nThe old contract is no longer valid, so that a new one is signed in 2025.", False),
        ("Minutes\nIn 2022 the contract was withdrawn.", False),
        ("Boilers\nOutdated, inefficient boilers waste heat.", False),
        ("Changes\nVersion 2.1 of 4 April 2022\nThe coal store is no longer valid.", False),
        ("Changes\nObsolete\nThe coal store was taken out.", False),
        ("Changes\nDeprecated: the coal store", False),
        ("The ferry ran aground in the hall. Replaced by volunteers in 1994, it ran again.", False),
        ("A ride costs 3 euros.\nSUPERSEDED", False),
        ("In 1990 the steam engine was superseded by the diesel engine.", False),
        ("The option is deprecated.", False),
    ],
)
def test_only_what_a_document_says_of_itself_counts(text: str, says: bool) -> None:
    assert says_it_is_superseded(" ".join(text.split()), text.splitlines()) is says


@pytest.mark.parametrize(
    ("title", "marked"),
    [
        ("RETRACTED: Smolts and turbines", True),
        ("[Retracted article] Smolts and turbines", True),
        ("Zurückgezogen: Smolts", True),
        ("Withdrawal symptoms in smolts", False),
        ("Retracted works and their readers", False),
    ],
)
def test_a_mark_before_a_title_says_that_the_work_was_retracted(title: str, *, marked: bool) -> None:
    assert is_marked_as_retracted(title) is marked
    assert title_key("RETRACTED: Smolts") == title_key("Smolts")


async def test_a_document_whose_title_is_marked_as_retracted_is_shown_as_no_longer_valid(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "smolts.md").write_text("# RETRACTED: Smolts\n\nSmolts died in the turbines.")
    library = Library(tmp_path / "index.db")
    await library.add([tmp_path / "papers"])
    [facts] = await library.documents()
    assert facts.superseded == ""


def test_titles_are_compared_without_their_versions() -> None:
    assert title_key("Travel policy v2.1 (draft)") == title_key("travel_policy-2023-05-01") == "travel policy"
    assert version_mark("Policy v2.10").number == (2, 10)
    assert title_key("Emergency plan, revision A") == title_key("emergency-plan-rev-B") == "emergency plan"
    assert version_mark("Emergency plan, revision B").number > version_mark("emergency-plan-rev-A").number
    assert version_mark("Version a new plan needs", "Reverse A").number == ()
    assert version_mark("policy-2023-05").date == "2023-05"
    assert version_mark("Policy", date="2020-01-02").date == "2020-01-02"


@pytest.mark.parametrize("name", ["Fares 2023/24", "fares_2023-24", "Fares 2023–2024", "fares 2023-2024 final"])
def test_a_version_may_be_of_two_years(name: str) -> None:
    assert (title_key(name), version_mark(name).date) == ("fares", "2023/24")
    assert version_mark("fares-2022-23") < version_mark("Fares 2023") < version_mark(name) < version_mark("Fares 2024")


@pytest.mark.parametrize(
    ("name", "date"), [("log 2023-04", "2023-04"), ("log 2011-12-05", "2011-12-05"), ("2023-25", "2023")]
)
def test_other_numbers_behind_a_year_are_no_second_year(name: str, date: str) -> None:
    assert version_mark(name).date == date


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What were the fares of 2023/24?", "2023/24"),
        ("What were the fares in 2023?", "2023"),
        ("What were the fares in 2022/23?", ""),
        ("What are the fares of 2024-2025?", ""),
        ("What are the fares of 2024?", ""),
    ],
)
def test_a_question_names_a_version_of_two_years(question: str, asked: str) -> None:
    assert asked_version(question, "Fares 2023-24") == asked


FARES = "Ticket,Adults (EUR),Children (EUR)\n{}"


def fares(*prices: int) -> str:
    tickets = ("Single", "Return", "Day pass", "Week pass", "Bicycle")
    return FARES.format("\n".join(f"{name},{price},{price - 3}" for name, price in zip(tickets, prices, strict=True)))


@pytest.mark.parametrize(
    ("names", "texts", "older"),
    [
        (
            ("fares-2022-23.csv", "fares-2023-24.csv"),
            (fares(5, 9, 14, 40, 4), fares(6, 11, 16, 45, 7)),
            "fares-2022-23.csv",
        ),
        (("fares 2021.csv", "fares 2023.csv"), (fares(5, 9, 14, 40, 4), fares(6, 11, 16, 45, 7)), "fares 2021.csv"),
        (("fares v1.csv", "fares v2.csv"), (fares(5, 9, 14, 40, 4), fares(6, 11, 16, 45, 7)), "fares v1.csv"),
        (("sold-2023-04.csv", "sold-2023-05.csv"), (fares(510, 99, 14, 40, 4), fares(630, 111, 16, 45, 7)), None),
        (("level 2021.csv", "level 2022.csv"), ("Day,Level\n1,4.02\n2,4.11\n", "Day,Level\n1,3.87\n2,3.9\n"), None),
    ],
)
async def test_a_table_with_other_numbers_is_a_version_unless_it_is_one_of_a_series(
    tmp_path: Path, names: tuple[str, str], texts: tuple[str, str], older: str | None
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(text)
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    found = await library.find("day pass level single")
    assert {one.facts.url for one in found if one.facts.superseded is not None} == ({older} if older else set())


BIBTEX = r"""@article{writer2021, title = {The {Lagoon} of M{\"u}ller}, author = {Writer, Ann and Counter, Bob},
  year = 2021, month = may, doi = {10.1000/x}, journal = "Tides", file = {Full Text:/home/ann/lagoon.md:text/markdown}}
@comment{ignored}"""
RIS = """TY  - JOUR
AU  - Writer, Ann
AU  - Counter, Bob
TI  - The lagoon of Müller
PY  - 2021/05
DO  - 10.1000/x
PB  - Tides
ER  -
"""
CSL = """[{"type": "article", "title": "The lagoon of Müller", "DOI": "10.1000/x", "publisher": "Tides",
"author": [{"given": "Ann", "family": "Writer"}, {"given": "Bob", "family": "Counter"}],
"issued": {"date-parts": [[2021, 5]]}}]"""


@pytest.mark.parametrize(("name", "content"), [("refs.bib", BIBTEX), ("refs.ris", RIS), ("refs.json", CSL)])
async def test_a_bibliography_gives_authors_date_doi_and_publisher(tmp_path: Path, name: str, content: str) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / name).write_text(content)
    (folder / "lagoon.md").write_text("# The lagoon of Müller\n\nIt has sixteen turbines.")
    library = Library(tmp_path / "index.db")
    counts = await library.add([folder])
    assert (counts.added, counts.failed) == (1, ())
    [facts] = await library.documents()
    assert (facts.authors, facts.doi, facts.publisher) == (("Ann Writer", "Bob Counter"), "10.1000/x", "Tides")
    assert (facts.published_at or "").startswith("2021-05")
    (folder / "library.toml").write_text('[[document]]\nmatch = "*.md"\npublisher = "Lagoon Press"\n')
    await library.add([folder])
    [facts] = await library.documents()
    assert (facts.publisher, facts.doi) == ("Lagoon Press", "10.1000/x")


async def test_a_document_without_a_title_is_found_in_a_bibliography_by_the_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").write_text("@book{heath, title = {Heath fires}, publisher = {Moor Press}}")
    (tmp_path / "Heath fires.txt").write_text("In 1976:\nthe heath at Lund burnt.")
    library = Library(tmp_path / "index.db")
    await library.add([tmp_path])
    [facts] = await library.documents()
    assert (facts.title, facts.publisher) == ("Heath fires", "Moor Press")


async def test_a_zotero_library_gives_the_data_of_its_attachments(tmp_path: Path) -> None:
    folder = tmp_path / "Zotero"
    (folder / "storage" / "ABCD1234").mkdir(parents=True)
    (folder / "storage" / "ABCD1234" / "paper.txt").write_text("It has sixteen turbines.")
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as base:
        base.executescript(
            """CREATE TABLE items (itemID, key); CREATE TABLE itemAttachments (itemID, parentItemID, path);
            CREATE TABLE itemData (itemID, fieldID, valueID); CREATE TABLE itemDataValues (valueID, value);
            CREATE TABLE fields (fieldID, fieldName); CREATE TABLE creators (creatorID, firstName, lastName);
            CREATE TABLE itemCreators (itemID, creatorID, creatorTypeID, orderIndex);
            CREATE TABLE creatorTypes (creatorTypeID, creatorType); CREATE TABLE retractedItems (itemID);
            INSERT INTO items VALUES (1, 'PARENT00'), (2, 'ABCD1234');
            INSERT INTO itemAttachments VALUES (2, 1, 'storage:paper.txt');
            INSERT INTO fields VALUES (1, 'title'), (2, 'date'), (3, 'DOI');
            INSERT INTO itemDataValues VALUES (1, 'The lagoon'), (2, '2021-05-00 May 2021'), (3, '10.1000/x');
            INSERT INTO itemData VALUES (1, 1, 1), (1, 2, 2), (1, 3, 3);
            INSERT INTO creators VALUES (1, 'Ann', 'Writer'), (2, '', 'Tides, Rivers and Co'), (3, 'Eve', 'Editor');
            INSERT INTO creatorTypes VALUES (8, 'author'), (10, 'editor'); INSERT INTO retractedItems VALUES (1);
            INSERT INTO itemCreators VALUES (1, 3, 10, 0), (1, 1, 8, 1), (1, 2, 8, 2);"""
        )
        base.commit()
    library = Library(tmp_path / "index.db")
    await library.add([folder])
    [facts] = await library.documents()
    assert (facts.title, facts.authors, facts.doi) == (
        "The lagoon",
        ("Ann Writer", "Tides, Rivers and Co"),
        "10.1000/x",
    )
    assert facts.tier == "FLAGGED", "Zotero knows that it was retracted"
    assert (facts.published_at or "").startswith("2021-05")


@pytest.mark.parametrize(
    ("work", "trashed", "read"),
    [
        ("1", 2, []),
        ("1", 1, []),
        ("1", 9, ["storage/ABCD1234/paper.txt"]),
        ("NULL", 2, []),
        ("NULL", 9, ["storage/ABCD1234/paper.txt"]),
    ],
)
async def test_of_a_zotero_folder_its_own_files_and_its_trash_are_no_documents(
    tmp_path: Path, work: str, trashed: int, read: list[str]
) -> None:
    folder = tmp_path / "Zotero"
    for name in ("storage/ABCD1234/paper.txt", "translators/Site.js", "locate/engines.json", "notes/styles/mine.md"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("It has sixteen turbines.")
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as base:
        base.executescript(
            f"""CREATE TABLE items (itemID, key); CREATE TABLE itemAttachments (itemID, parentItemID, path);
            CREATE TABLE itemData (itemID, fieldID, valueID); CREATE TABLE itemDataValues (valueID, value);
            CREATE TABLE fields (fieldID, fieldName); CREATE TABLE creators (creatorID, firstName, lastName);
            CREATE TABLE itemCreators (itemID, creatorID, creatorTypeID, orderIndex);
            CREATE TABLE creatorTypes (creatorTypeID, creatorType); CREATE TABLE deletedItems (itemID);
            INSERT INTO items VALUES (1, 'PARENT00'), (2, 'ABCD1234'); INSERT INTO deletedItems VALUES ({trashed});
            INSERT INTO itemAttachments VALUES (2, {work}, 'storage:paper.txt');
            INSERT INTO fields VALUES (1, 'title'); INSERT INTO itemDataValues VALUES (1, 'The lagoon');
            INSERT INTO itemData VALUES (1, 1, 1);"""
        )
        base.commit()
    library = Library(tmp_path / "index.db")
    counts = await library.add([folder])
    assert [facts.url for facts in await library.documents()] == ["notes/styles/mine.md", *read]
    assert [failure.reason for failure in counts.failed] == ([] if read else ["it lies in Zotero's trash"])


@pytest.mark.parametrize("content", ["@article{a, title = {open", "@" * 10_000, "@a{b," * 5_000, "\0", "TY  - "])
async def test_a_broken_bibliography_does_no_harm(tmp_path: Path, content: str) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "refs.bib").write_text(content)
    (folder / "a.md").write_text("It has sixteen turbines.")
    assert (await Library(tmp_path / "index.db").add([folder])).added == 1
