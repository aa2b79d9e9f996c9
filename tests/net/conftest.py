"""Fixtures for the tests of connections and supervisors: those of bot processes."""

from tests.sandbox.conftest import camp, sandbox, short_waits

__all__ = ["camp", "sandbox", "short_waits"]
