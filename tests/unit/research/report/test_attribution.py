"""Who is named behind a quotation."""

from __future__ import annotations

from graph_research.research.report.formatting import attribution, identifiers
from graph_research.research.report.labels.languages import labels_for
from graph_research.research.report.model import ReportSource


def named(
    title: str,
    publisher: str | None,
    authors: tuple[str, ...] = (),
    superseded: str | None = None,
    *,
    by_title: bool = False,
    heading: str = "",
) -> str:
    source = ReportSource.model_construct(
        id="src-0000000001",
        title=title,
        publisher=publisher,
        authors=list(authors),
        url="wal.html",
        published_at="2022-12-14",
        superseded=superseded,
    )
    return attribution(source, labels_for("en"), by_title=by_title, heading=heading)


def test_pages_of_a_package_are_told_apart_by_their_titles() -> None:
    assert named("Write-Ahead Logging", "sqlite3") == "Write-Ahead Logging (sqlite3), 2022"
    assert named("13.1. Introduction", "postgresql-doc-15") == "13.1. Introduction (postgresql-doc-15), 2022"


def test_a_publisher_with_a_name_stands_alone() -> None:
    assert named("Annual report", "National Audit Chamber") == "National Audit Chamber, 2022"


def test_pages_of_one_publisher_may_be_told_apart_by_their_titles() -> None:
    assert named("Retry rules", "The Mail Project", by_title=True) == "Retry rules, 2022"
    assert named("", "The Mail Project", by_title=True) == "The Mail Project, 2022"


def test_a_title_has_the_heading_of_the_passage_behind_it() -> None:
    assert named("Release notes", None, heading="3.1.2") == "Release notes › 3.1.2, 2022"
    assert named("VACUUM", "sqlite3", heading="Limits") == "VACUUM › Limits (sqlite3), 2022"
    assert named("Release notes", None, heading="Release notes") == "Release notes, 2022"
    assert named("Annual report", "National Audit Chamber", heading="Costs") == "National Audit Chamber, 2022"
    title = "Ayuntamiento de Nortal: informe anual de los autobuses eléctricos"
    assert named(title, None, heading=title).count("Ayuntamiento") == 1, "both are shortened behind a quote"


def test_a_year_that_the_title_names_is_not_told_again() -> None:
    assert named("The Courier, 14 December 2022", None) == "The Courier, 14 December 2022"


def test_an_old_version_is_marked() -> None:
    assert named("Travel policy", None, superseded="travel-policy-v2.md") == "Travel policy, 2022, superseded"


def test_a_source_is_named_by_its_authors_and_its_doi_where_nothing_else_shows_them() -> None:
    facts = {"publisher": "Tides", "authors": ["Ann Writer", "Bob Counter"], "doi": "10.1000/x", "url": "lagoon.pdf"}
    assert identifiers(ReportSource.model_construct(**facts)) == ["Ann Writer, Bob Counter", "doi:10.1000/x"]
    shown = facts | {"publisher": None, "url": "https://doi.org/10.1000/X"}
    assert identifiers(ReportSource.model_construct(**shown)) == []
