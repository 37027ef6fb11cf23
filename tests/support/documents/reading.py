"""Reads foreign formats inside this process as the child of a `LimitedReader` does, which takes longer to start than to
read a file."""

from __future__ import annotations

import json
import warnings

from graph_research.text.document import Document
from graph_research.text.errors import DocumentUnreadable
from graph_research.text.readers.foreign.formats import read_parts
from graph_research.text.readers.formats import FORMATS
from graph_research.text.readers.limits import Limits


def read_here(data: bytes, media_type: str, name: str = "", limits: Limits | None = None) -> Document:
    """The one document in a file; `DocumentUnreadable` says why it gives no text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        [part, *_] = read_parts(data, media_type, name, limits or FORMATS[media_type].limits)
    if part.document is None:
        raise DocumentUnreadable(part.error)
    return Document.from_layout(part.document.text, json.loads(json.dumps(part.document.layout())))
