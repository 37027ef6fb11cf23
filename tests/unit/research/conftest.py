"""Fixtures of the research tests."""

from __future__ import annotations

import pytest

from tests.support.research.harness import PlainContext


@pytest.fixture
def context() -> PlainContext:
    return PlainContext()
