"""One SQLite file a league: the single source of truth. Any SQLite tool opens it.

A finished game, its record, the end of its attempt and the head of its set's hash chain are one transaction. Only one
process writes: ``Store.write`` takes a lock that dies with the process. Times are UTC in ISO 8601.
"""

from referee.league.store.exported import Exported
from referee.league.store.league_facts import (
    EntrantFacts,
    FaultLine,
    FaultRow,
    FinishedGame,
    FixtureRow,
    GameRow,
    GameSummary,
    LeagueFacts,
    RulingLine,
    SetRow,
)
from referee.league.store.root_digests import chain_end, chain_next, chain_start, fold_root
from referee.league.store.schema import ArchivedError, NoGameError, NoLeagueError, StoreError
from referee.league.store.source import Source
from referee.league.store.store import Store, now

__all__ = [
    "ArchivedError",
    "EntrantFacts",
    "Exported",
    "FaultLine",
    "FaultRow",
    "FinishedGame",
    "FixtureRow",
    "GameRow",
    "GameSummary",
    "LeagueFacts",
    "NoGameError",
    "NoLeagueError",
    "RulingLine",
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
