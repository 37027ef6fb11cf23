"""The page of requirements agrees with the tests' marks."""

from __future__ import annotations

from tests.support.requirements import PAGE, groups, marked_tests, page


def test_the_page_of_requirements_is_the_one_that_make_writes() -> None:
    assert PAGE.read_text() == page(), "run `make requirements`"


def test_every_mark_names_a_row_of_the_table() -> None:
    assert marked_tests().keys() <= {row for rows in groups().values() for row in rows}
