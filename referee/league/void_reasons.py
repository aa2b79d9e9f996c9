"""Why a set is void, and why an attempt ended without a game: the sentences that the store keeps, and verification reads.

A set is void for one of three reasons, each with traces of its own in the store: so a set cannot be taken out of a league by
a word alone.
"""

from typing import Final

MOST_NO_CONTESTS: Final = 3
"""So many attempts at one game without a result, through no bot's fault, void its set."""

INTERRUPTED: Final = "the referee ended before the game"
"""An attempt that was under way when a referee died; the next one found it."""

STOPPED: Final = "stopped"
"""An attempt that was under way when somebody stopped the league."""

WITHDRAWN: Final = "a bot was withdrawn"
"""An attempt that could not be ended, or begun, without a bot that had left."""


def withdrawn_from(entrant: str, reason: str) -> str:
    """Of a set that was not over when the entrant was withdrawn for that reason."""
    return f"{entrant} was withdrawn: {reason}"


def withdrawn_early(entrant: str, reason: str) -> str:
    """Of a set that was scored, of an entrant that was withdrawn before half of its sets were."""
    return f"{entrant} was withdrawn before half of its sets: {reason}"


def never_contested(fixture: str) -> str:
    """Of a set with a game that came to nothing too often."""
    return f"game {fixture} was no contest three times"
