"""Leagues that are played in a test's own process: their Python bots start at once."""

from collections.abc import Iterator

import pytest

from tests import warm_start


@pytest.fixture(scope="module", autouse=True)
def at_once() -> Iterator[None]:
    """A fifth of what the legs of these tests took was bots that import the same."""
    with warm_start.in_use():
        yield
