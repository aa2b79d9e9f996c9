"""Looking at the store of one league: every query, and nothing that changes a row."""

import contextlib
import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from referee.record import Record
from referee.store.schema import FaultRow, FixtureRow, GameRow, SetRow, StoreError

MOST_RECORD_BYTES = 64 << 20
"""A record is never larger; a file that claims so is damaged, or wishes us ill."""

_SET: Final = "SELECT id, position, redeal, state, reason, chain, games FROM game_set"
_AT_ONCE: Final = 500  # names in one query


class Reader:
    """What can be read of a league. What is asked for a few sets or games costs as much as these, not as the league."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._db = path, connection

    def league(self) -> dict[str, Any]:
        """What is fixed for the league, by key: name, definition, master, commitment, code version and so on."""
        return {key: json.loads(value) for key, value in self._db.execute("SELECT key, value FROM league")}

    def entrants(self) -> dict[str, dict[str, Any]]:
        """The entrants in the order of entry; ``withdrawn`` holds the reason or ``None``."""
        rows = self._db.execute("SELECT key, about, withdrawn FROM entrant ORDER BY position")
        return {key: {**json.loads(about), "withdrawn": withdrawn} for key, about, withdrawn in rows}

    def sets(self) -> list[SetRow]:
        """All sets in schedule order."""
        query = "SELECT id, position, redeal, state, reason, chain, games FROM game_set ORDER BY position"
        return [SetRow(*row) for row in self._db.execute(query)]

    def fixtures(self) -> list[FixtureRow]:
        """All fixtures, by set in schedule order, then by rotation."""
        rows = self._db.execute(
            "SELECT f.id, f.set_id, f.rotation, f.seats FROM fixture f JOIN game_set s ON s.id = f.set_id"
            " ORDER BY s.position, f.rotation"
        )
        return [FixtureRow(i, s, r, tuple(json.loads(seats))) for i, s, r, seats in rows]

    def open_attempts(self) -> list[tuple[int, str, int, list[dict[str, Any]]]]:
        """Attempts that have not ended: (number, fixture, redeal, processes)."""
        rows = self._db.execute("SELECT id, fixture_id, redeal, processes FROM attempt WHERE ended IS NULL ORDER BY id")
        return [(number, fixture, redeal, json.loads(processes)) for number, fixture, redeal, processes in rows]

    def games(self) -> list[GameRow]:
        """The scored games: those of each set's present redeal, in the order in which they were stored."""
        rows = self._db.execute(
            "SELECT g.fixture_id, g.redeal, g.number, g.record_digest, g.result_digest, g.summary FROM game g"
            " JOIN fixture f ON f.id = g.fixture_id JOIN game_set s ON s.id = f.set_id AND s.redeal = g.redeal"
            " ORDER BY g.number"
        )
        return [GameRow(f, r, n, d, e, json.loads(summary)) for f, r, n, d, e, summary in rows]

    def every_game(self) -> list[GameRow]:
        """All games by number: the scored ones, and those of earlier packs that are kept for audit."""
        rows = self._db.execute(
            "SELECT fixture_id, redeal, number, record_digest, result_digest, summary FROM game ORDER BY number"
        )
        return [GameRow(f, r, n, d, e, json.loads(summary)) for f, r, n, d, e, summary in rows]

    def record(self, number: int) -> Record:
        """The record of the game with that number; raises ``StoreError`` if there is none, or it cannot be read."""
        row = self._db.execute("SELECT record FROM game WHERE number = ?", (number,)).fetchone()
        if row is None:
            raise StoreError(f"{self.path} has no game {number}")
        try:
            inflater = zlib.decompressobj()
            record = json.loads(inflater.decompress(row[0], MOST_RECORD_BYTES))
        except (zlib.error, ValueError, RecursionError, TypeError) as error:
            raise StoreError(f"{self.path}: the record of game {number} cannot be read ({error})") from None
        if not isinstance(record, dict):
            raise StoreError(f"{self.path}: the record of game {number} is no JSON object")
        return record

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """While the body runs, everything is read as of one moment, though another process may write."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    def rulings(self) -> list[dict[str, Any]]:
        """All rulings of scored games with the number of their game."""
        cursor = self._db.execute(
            "SELECT g.number AS game, r.* FROM ruling r JOIN game g USING (fixture_id, redeal)"
            " JOIN fixture f ON f.id = r.fixture_id JOIN game_set s ON s.id = f.set_id AND s.redeal = r.redeal"
            " ORDER BY g.number, r.number"
        )
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def attempts(self) -> Iterator[dict[str, Any]]:
        """Every go at a fixture in order, and how it ended; without the processes that saw it."""
        cursor = self._db.execute(
            "SELECT id, fixture_id, redeal, started, ended, outcome, reason FROM attempt ORDER BY id"
        )
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def faults(self) -> list[FaultRow]:
        """All faults outside single decisions, oldest first."""
        query = "SELECT at, entrant, fault, sentence, log FROM fault ORDER BY id"
        return [FaultRow(*row) for row in self._db.execute(query)]

    def no_contests(self, fixture: str) -> int:
        """How many attempts at a fixture have ended as no contest."""
        query = "SELECT count(*) FROM attempt WHERE fixture_id = ? AND outcome = 'NO_CONTEST'"
        return int(self._db.execute(query, (fixture,)).fetchone()[0])

    # A part of the league.

    def sets_of(self, ids: Iterable[str]) -> dict[str, SetRow]:
        """These sets by id."""
        rows = self._for_each(f"{_SET} WHERE id IN", list(ids))
        return {row[0]: SetRow(*row) for row in rows}

    def played(self, set_ids: Iterable[str]) -> set[tuple[str, int]]:
        """The finished games of these sets: (fixture, redeal)."""
        query = "SELECT g.fixture_id, g.redeal FROM fixture f JOIN game g ON g.fixture_id = f.id WHERE f.set_id IN"
        return {(fixture, redeal) for fixture, redeal in self._for_each(query, list(set_ids))}

    def count_games(self) -> int:
        """How many scored games there are: those of each set's present redeal."""
        return int(self._db.execute("SELECT coalesce(sum(games), 0) FROM game_set").fetchone()[0])

    def _for_each(self, query: str, names: Sequence[str]) -> Iterator[Any]:
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            yield from self._db.execute(f"{query} ({', '.join('?' * len(some))})", some)
