"""Fixtures for the tests of connections and supervisors: those of bot processes."""

from tests.sandbox.conftest import bots_here, sandbox, short_waits

__all__ = ["bots_here", "sandbox", "short_waits"]
