"""What a league can be read back from: its store, or anything that holds the same facts."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from referee.record import Record
from referee.store.schema import FixtureRow, GameRow, SetRow


class Source(Protocol):
    """The facts of one league, to look at. ``Store`` says what each method gives."""

    @property
    def path(self) -> Path:
        """Where it is kept; errors name it."""

    def league(self) -> dict[str, Any]:
        """What is fixed for the league, by key."""

    def entrants(self) -> Mapping[str, dict[str, Any]]:
        """The entrants in the order of entry."""

    def sets(self) -> list[SetRow]:
        """All sets in schedule order."""

    def fixtures(self) -> list[FixtureRow]:
        """All fixtures, by set in schedule order, then by rotation."""

    def every_game(self) -> list[GameRow]:
        """All games by number, those of earlier packs too."""

    def record(self, number: int) -> Record:
        """The record of the game with that number; raises ``StoreError``."""

    def rulings(self) -> list[dict[str, Any]]:
        """All rulings of scored games with the number of their game."""

    def snapshot(self) -> AbstractContextManager[None]:
        """While it is entered, everything is read as of one moment."""
