"""What a league can be read back from: its store, or anything that holds the same facts."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from referee.league.store.league_facts import (
    ArchivedRecords,
    AttemptLine,
    EntrantFacts,
    FaultLine,
    FixtureRow,
    GameRow,
    LeagueFacts,
    RulingLine,
    SetRow,
)
from referee.umpire.record import Record


class Source(Protocol):
    """The facts of one league, to look at. ``Store`` says what each method gives."""

    @property
    def path(self) -> Path:
        """Where it is kept; errors name it."""

    def league(self) -> LeagueFacts:
        """What is fixed for the league, by key."""

    def entrants(self) -> Mapping[str, EntrantFacts]:
        """The entrants in the order of entry."""

    def sets(self) -> list[SetRow]:
        """All sets in schedule order."""

    def fixtures(self) -> list[FixtureRow]:
        """All fixtures, by set in schedule order, then by rotation."""

    def every_game(self) -> list[GameRow]:
        """All games by number, those of earlier packs too."""

    def record(self, number: int) -> Record:
        """The record of the game with that number; raises ``StoreError``, ``ArchivedError`` where it lies in an archive."""

    def archives(self) -> Sequence[ArchivedRecords]:
        """Of a ladder: where the records of old rounds lie, oldest first."""

    def every_ruling(self) -> Iterable[RulingLine]:
        """All rulings with the number of their game."""

    def attempts(self) -> Iterable[AttemptLine]:
        """Every go at a fixture in order, and how it ended."""

    def faults(self) -> Sequence[FaultLine]:
        """All faults outside single decisions, oldest first."""

    def parts(self) -> Iterable[tuple[str, Iterable[Mapping[str, Any]]]]:
        """All that the record root is taken of but the facts of the league: name and lines of each part, as exported."""

    def oddities(self) -> Iterable[str]:
        """What is written otherwise than a referee writes it, each in a sentence."""

    def snapshot(self) -> AbstractContextManager[None]:
        """While it is entered, everything is read as of one moment."""
