"""The service with the settings of a user who has a small library."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.cli.cli_process import User
from tests.support.service.service_client import ServiceClient, service_client


@pytest.fixture
async def service(user: User) -> AsyncIterator[ServiceClient]:
    """Without tokens."""
    async with service_client(user) as client:
        yield client


@pytest.fixture
async def shared(user: User) -> AsyncIterator[ServiceClient]:
    """With tokens of `ada` and `bert`."""
    async with service_client(user, "ada", "bert") as client:
        yield client
