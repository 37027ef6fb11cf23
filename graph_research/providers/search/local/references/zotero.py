"""The database of a Zotero library."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from graph_research.providers.search.local.references.reference import Reference, make_reference, path_ends
from graph_research.text.errors import DocumentUnreadable

_MOST_ROWS = 500_000
_MOST_CHARS = 1_000_000  # of a value in a database
_STEPS_A_CHECK = 1_000_000
_MOST_CHECKS = 300
_TABLES = {
    *("items", "itemAttachments", "itemData", "itemDataValues", "fields", "creators", "itemCreators", "creatorTypes")
}
_MARKED = {
    "retracted": ("retractedItems", "SELECT itemID FROM retractedItems"),
    "trashed": ("deletedItems", "SELECT itemID FROM deletedItems"),
}
"""By status, the table of the items that have it, which older versions of Zotero lack, and its query."""
_NAMES = {
    "DOI": "doi",
    "university": "school",
    "publicationTitle": "journal",
    "proceedingsTitle": "journal",
    "bookTitle": "journal",
    "websiteTitle": "journal",
}
_QUERY = """
SELECT attachment.key AS folder, itemAttachments.path AS path, fields.fieldName AS field,
       substr(itemDataValues.value, 1, 2000) AS value,
       (SELECT group_concat(name, char(10)) FROM (SELECT trim(coalesce(firstName, '') || ' ' || lastName) AS name
        FROM itemCreators JOIN creators USING (creatorID) WHERE itemCreators.itemID = parent.itemID
        AND creatorTypeID = (SELECT creatorTypeID FROM itemCreators JOIN creatorTypes USING (creatorTypeID)
        WHERE itemCreators.itemID = parent.itemID ORDER BY creatorType != 'author', orderIndex LIMIT 1)
        ORDER BY orderIndex)) AS authors, parent.itemID AS item, attachment.itemID AS file
FROM itemAttachments JOIN items AS attachment ON attachment.itemID = itemAttachments.itemID
LEFT JOIN items AS parent ON parent.itemID = itemAttachments.parentItemID
LEFT JOIN itemData ON itemData.itemID = parent.itemID LEFT JOIN fields USING (fieldID)
LEFT JOIN itemDataValues USING (valueID)
WHERE itemAttachments.path IS NOT NULL
AND (parent.itemID IS NULL OR fields.fieldName IN
     ('title', 'date', 'DOI', 'publisher', 'institution', 'university', 'publicationTitle', 'proceedingsTitle',
      'bookTitle', 'websiteTitle', 'rights'))
"""


def zotero_items(file: Path) -> Iterator[tuple[object, object, dict[str, str]]]:
    """The folder, path and data of each attachment."""
    works: dict[tuple[object, object], dict[str, str]] = {}
    rows, marked = _rows(file)
    for folder, path, field, value, authors, *items in rows:
        status = next((name for name, found in marked.items() if not found.isdisjoint(items)), "")
        if field is None and not status:  # an attachment of no work
            continue
        row = works.setdefault((folder, path), {"authors": authors or "", "status": status})
        if field is not None:
            row[_NAMES.get(field, field)] = str(value)
    for (folder, path), row in works.items():
        yield folder, path, row
    if len(rows) == _MOST_ROWS:
        raise DocumentUnreadable(f"only its first {_MOST_ROWS:,} values are read")


def _rows(file: Path) -> tuple[Sequence[tuple[Any, ...]], dict[str, frozenset[object]]]:
    """What the query finds, and by status the items that have it, within bounds of steps, rows and size; tables only,
    since a view may hold any query."""
    checks = iter(range(_MOST_CHECKS))
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_CHARS)
            connection.set_progress_handler(lambda: next(checks, None) is None, _STEPS_A_CHECK)
            real = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
            tables = {name for (name,) in connection.execute(real)}
            if not tables >= _TABLES:
                raise DocumentUnreadable("it is not the database of a Zotero library")
            rows = connection.execute(_QUERY).fetchmany(_MOST_ROWS)
            marked = {
                status: frozenset(item for (item,) in connection.execute(query).fetchmany(_MOST_ROWS))
                for status, (table, query) in _MARKED.items()
                if table in tables
            }
    except sqlite3.Error as error:
        raise DocumentUnreadable(f"its database cannot be read: {error}") from error
    return rows, marked


def zotero_reference(item: tuple[str, str, dict[str, str]]) -> Reference:
    """The work that an attachment belongs to."""
    folder, path, fields = item
    if fields.get("date"):  # Zotero writes `2021-05-00 May 2021`
        fields["date"] = fields["date"].split(" ")[0].replace("-00", "")
    name = path.removeprefix("storage:")
    files = path_ends(path) if name == path else [f"{folder}/{name}"]  # the file lies elsewhere, or in `storage`
    reference = make_reference(fields, fields.get("authors", "").splitlines(), frozenset(files))
    return replace(reference, is_trashed=fields["status"] == "trashed")
