"""The hash chain of a set and the root of a league: what makes a cut tail or a moved record show.

A chain runs over the records of a set in the order in which they were stored; the root folds the ends of all sets in schedule
order, so that workers need no order. Every field is length-prefixed.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from referee.deals import encode

SCHEME: Final = "allfours-root/2"
"""How the record root is made: over every line that is exported."""

FIRST_SCHEME: Final = "allfours-root/1"
"""How it was made in 0.1.0: over the records of scored sets. Leagues that name no scheme have it."""


def chain_start(league: str, set_id: str) -> str:
    """The head of the hash chain of a set without games."""
    return _hash("set", league, set_id)


def chain_next(head: str, digest: str) -> str:
    """The head after one more game."""
    return _hash("game", head, digest)


def chain_end(head: str, count: int) -> str:
    """The end of a finished set's chain: a cut tail shows."""
    return _hash("end", head, count)


def fold_root(ends: Sequence[tuple[str, str]]) -> str:
    """The root of a league: (set id, end or empty) of every set in schedule order, their number first."""
    return _hash("root", len(ends), *(part for pair in ends for part in pair))


def _hash(*parts: str | int) -> str:
    return hashlib.sha256(encode(*parts)).hexdigest()
