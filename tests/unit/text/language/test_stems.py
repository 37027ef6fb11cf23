"""Stems are the same however many threads ask for them: answers are made in threads, side by side."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from graph_research.text.language.stems import stem

WORDS = [
    f"{root}{ending}" for root in ("generat", "nation", "oper", "relat", "organiz") for ending in ("ing", "ed", "ional")
]


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("eager_switching")
def test_threads_do_not_mix_up_each_others_words() -> None:
    alone = [stem.__wrapped__(word) for word in WORDS]
    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(lambda: [stem.__wrapped__(word) for word in WORDS]) for _ in range(60)]
        assert all(run.result() == alone for run in runs)
