"""Search in folders of local documents: an index in SQLite, and the provider `local` on top of it."""

from __future__ import annotations

from graph_research.providers.search.local.library import Library
from graph_research.providers.search.local.provider import LocalSearch
from graph_research.providers.search.local.records import Counts, FolderRecord, FoundDocument, PassageHit

__all__ = ["Counts", "FolderRecord", "FoundDocument", "Library", "LocalSearch", "PassageHit"]
