"""Fixtures of the research tests."""

from __future__ import annotations

import pytest
from workbench import PlainContext


@pytest.fixture
def context() -> PlainContext:
    return PlainContext()
