"""What the library itself writes to a bot's output is marked, so that nobody takes it for the bot's own words."""

from typing import Final

MARK: Final = "[referee] "
"""Begins each line of the library; the referee passes over them when it tells the last words of a bot."""
