"""What can be wrong with a document or with a place in it."""

from __future__ import annotations

from graph_research.errors import GraphResearchError


class DocumentUnreadable(GraphResearchError):
    """A file that gives no text: not what its suffix says, too big, broken, encrypted or binary."""


class LocatorInvalid(GraphResearchError):
    """A locator that is malformed or leads out of the text it belongs to."""
