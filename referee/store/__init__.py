"""One SQLite file a league: the single source of truth. Any SQLite tool opens it.

A finished game, its record, the end of its attempt and the head of its set's hash chain are one transaction. Only one
process writes: ``Store.write`` takes a lock that dies with the process. Times are UTC in ISO 8601.
"""

from referee.store.chain import chain_end, chain_next, chain_start, fold_root
from referee.store.exported import Exported
from referee.store.league import Store, now
from referee.store.schema import FaultRow, Finished, FixtureRow, GameRow, NoGameError, NoLeagueError, SetRow, StoreError
from referee.store.source import Source

__all__ = [
    "Exported",
    "FaultRow",
    "Finished",
    "FixtureRow",
    "GameRow",
    "NoGameError",
    "NoLeagueError",
    "SetRow",
    "Source",
    "Store",
    "StoreError",
    "chain_end",
    "chain_next",
    "chain_start",
    "fold_root",
    "now",
]
