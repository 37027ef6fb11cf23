"""Rules of the product switched off one at a time: a name of a module or class, and what stands for it meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from graph_research.research.extractive import analysis
from graph_research.text.language import stated
from graph_research.text.relevance import query, statements, support

Switch = tuple[Any, str, Any]
"""What holds the rule, the rule's name, and what stands for it."""

NO_MATCH = re.compile(r"(?!)")
_CACHES = (
    stated._stated,
    stated._stated_beside,
    support._sentence,
    statements._statements,
    query.parse,
    analysis._analysed,
)


def never(*_: object) -> bool:
    return False


def always(*_: object) -> bool:
    return True


def zero(*_: object) -> float:
    return 0.0


def nothing(*_: object, **__: object) -> list[Any]:
    return []


@contextmanager
def switched_off(switch: Switch) -> Iterator[None]:
    """Without the rule; what was worked out with it is forgotten before, and without it after."""
    for cache in _CACHES:
        cache.cache_clear()
    with patch.object(*switch):
        yield
    for cache in _CACHES:
        cache.cache_clear()
