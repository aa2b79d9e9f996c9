"""Reading and writing the store of one league."""

import contextlib
import fcntl
import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Self

from referee.record import Record, canonical, result_digest
from referee.store.chain import chain_next, chain_start
from referee.store.schema import (
    SCHEMA,
    SCHEMA_VERSION,
    FaultRow,
    Finished,
    FixtureRow,
    GameRow,
    SetRow,
    StoreError,
    check_version,
)

MOST_RECORD_BYTES = 64 << 20
"""A record is never larger; a file that claims so is damaged, or wishes us ill."""


_COMPRESSION = 1  # records shrink fourfold at once; a higher level costs more than it saves


def now() -> str:
    """The time as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store:
    """The store of one league. ``create`` or ``write`` opens it for writing, ``read`` for looking."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: IO[bytes] | None) -> None:
        self.path, self._db, self._lock = path, connection, lock

    @classmethod
    def create(cls, path: Path, league: Mapping[str, Any]) -> Self:
        """A new store, readable by its owner alone (it holds the master). Raises ``StoreError`` if the file exists."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise StoreError(f"{path} exists already; resume it, or start a new season") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be made: {error.strerror}") from None
        store = cls._open(path, fresh=True)
        with store._transaction() as db:  # noqa: SLF001
            for statement in SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            db.executemany(
                "INSERT INTO league VALUES (?, ?)", [(key, json.dumps(value)) for key, value in league.items()]
            )
        return store

    @classmethod
    def write(cls, path: Path) -> Self:
        """An existing store, to write to. Raises ``StoreError`` if it is missing, in use, or of another version."""
        if not path.is_file():
            raise StoreError(f"there is no league at {path}")
        return cls._open(path, fresh=False)

    @classmethod
    def _open(cls, path: Path, *, fresh: bool) -> Self:
        lock = path.with_name(path.name + ".lock").open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise StoreError(f"{path} is in use by another referee; wait for it or stop it") from None
        db = sqlite3.connect(path, isolation_level=None, timeout=10)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            _write_durably(path, db)
            db.execute("PRAGMA foreign_keys = ON")
            if not fresh:
                check_version(path, db)
        except (sqlite3.DatabaseError, StoreError) as error:
            db.close()
            lock.close()
            raise _unopened(path, error) from None
        return cls(path, db, lock)

    @classmethod
    def read(cls, path: Path) -> Self:
        """An existing store, to look at; also while a league is running. Raises ``StoreError``."""
        if not path.is_file():
            raise StoreError(f"there is no league at {path}")
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None, timeout=10)
        try:
            check_version(path, db)
        except (sqlite3.DatabaseError, StoreError) as error:
            db.close()
            raise _unopened(path, error) from None
        return cls(path, db, None)

    def close(self) -> None:
        """Closes the file and gives the lock back."""
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.IntegrityError as error:
            raise StoreError(f"{self.path} refuses a doubled or contradicting entry: {error}") from None
        except sqlite3.Error as error:
            with contextlib.suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise StoreError(f"{self.path} could not be written ({error}); free some disk space and resume") from None

    # The league as a whole.

    def league(self) -> dict[str, Any]:
        """What is fixed for the league, by key: name, definition, master, commitment, code version and so on."""
        return {key: json.loads(value) for key, value in self._db.execute("SELECT key, value FROM league")}

    def put(self, **values: Any) -> None:
        """Sets facts of the league."""
        with self._transaction() as db:
            db.executemany(
                "INSERT OR REPLACE INTO league VALUES (?, ?)", [(k, json.dumps(v)) for k, v in values.items()]
            )

    def add_entrants(self, entrants: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
        """Enters the entrants, by key, with all that is known about them."""
        with self._transaction() as db:
            db.executemany(
                "INSERT INTO entrant (key, position, about) VALUES (?, ?, ?)",
                [(key, number, json.dumps(about)) for number, (key, about) in enumerate(entrants)],
            )

    def entrants(self) -> dict[str, dict[str, Any]]:
        """The entrants in the order of entry; ``withdrawn`` holds the reason or ``None``."""
        rows = self._db.execute("SELECT key, about, withdrawn FROM entrant ORDER BY position")
        return {key: {**json.loads(about), "withdrawn": withdrawn} for key, about, withdrawn in rows}

    def withdraw(self, entrant: str, reason: str) -> None:
        """Notes that an entrant is out of the league."""
        with self._transaction() as db:
            db.execute("UPDATE entrant SET withdrawn = ? WHERE key = ? AND withdrawn IS NULL", (reason, entrant))

    # The schedule.

    def add_sets(self, league: str, set_ids: Iterable[str], fixtures: Iterable[FixtureRow]) -> None:
        """Enters sets at the end of the schedule, with their fixtures."""
        with self._transaction() as db:
            start = db.execute("SELECT count(*) FROM game_set").fetchone()[0]
            db.executemany(
                "INSERT INTO game_set (id, position, chain) VALUES (?, ?, ?)",
                [(set_id, start + i, chain_start(league, set_id)) for i, set_id in enumerate(set_ids)],
            )
            db.executemany(
                "INSERT INTO fixture VALUES (?, ?, ?, ?)",
                [(f.id, f.set_id, f.rotation, json.dumps(f.seats)) for f in fixtures],
            )

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

    # Playing.

    def begin(self, fixtures: Sequence[tuple[str, int]]) -> list[int]:
        """Notes that games (fixture, redeal) are about to be played; returns the number of each attempt."""
        with self._transaction() as db:
            return [
                int(
                    db.execute(
                        "INSERT INTO attempt (fixture_id, redeal, started) VALUES (?, ?, ?)", (fixture, redeal, now())
                    ).lastrowid
                    or 0
                )
                for fixture, redeal in fixtures
            ]

    def note_processes(self, attempts: Sequence[int], processes: Sequence[Mapping[str, Any]]) -> None:
        """Notes which processes see the games of these attempts, so that a later run can prove them dead."""
        with self._transaction() as db:
            db.executemany(
                "UPDATE attempt SET processes = ? WHERE id = ?", [(json.dumps(list(processes)), i) for i in attempts]
            )

    def open_attempts(self) -> list[tuple[int, str, int, list[dict[str, Any]]]]:
        """Attempts that have not ended: (number, fixture, redeal, processes)."""
        rows = self._db.execute("SELECT id, fixture_id, redeal, processes FROM attempt WHERE ended IS NULL ORDER BY id")
        return [(number, fixture, redeal, json.loads(processes)) for number, fixture, redeal, processes in rows]

    def end_attempt(self, attempt: int, outcome: str, reason: str) -> None:
        """Ends an attempt without a game: NO_CONTEST or VOID."""
        with self._transaction() as db:
            db.execute(
                "UPDATE attempt SET ended = ?, outcome = ?, reason = ? WHERE id = ? AND ended IS NULL",
                (now(), outcome, reason, attempt),
            )

    def finish_games(self, finished: Sequence[Finished]) -> None:
        """Stores finished games, all in one transaction; a second result of one is refused, and the others with it."""
        with self._transaction() as db:
            number = int(db.execute("SELECT coalesce(max(number), 0) FROM game").fetchone()[0])
            for game in finished:
                number += 1
                self._insert_game(db, number, game)

    def _insert_game(self, db: sqlite3.Connection, number: int, game: Finished) -> None:
        fixture, record, written = game.fixture, game.record, canonical(game.record)
        key, digest = (fixture.id, game.redeal), hashlib.sha256(written).hexdigest()
        blob, result = zlib.compress(written, _COMPRESSION), result_digest(record)
        db.execute(
            "INSERT INTO game VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*key, game.attempt, number, blob, digest, result, json.dumps(game.summary)),
        )
        fields = ("step", "fault", "rule", "sentence", "consequence")
        db.executemany(
            "INSERT INTO ruling (fixture_id, redeal, number, entrant, seat, step, fault, rule, sentence, consequence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (*key, i, fixture.seats[entry["seat"]], entry["seat"], *(entry[name] for name in fields))
                for i, entry in enumerate(record["irregular"])
            ],
        )
        db.execute(
            "UPDATE attempt SET ended = ?, outcome = 'SCORED' WHERE id = ? AND ended IS NULL", (now(), game.attempt)
        )
        self._extend_chain(db, fixture.set_id, game.redeal, digest)

    def _extend_chain(self, db: sqlite3.Connection, set_id: str, redeal: int, digest: str) -> None:
        chain, games, now_redeal = db.execute(
            "SELECT chain, games, redeal FROM game_set WHERE id = ?", (set_id,)
        ).fetchone()
        if now_redeal != redeal:
            raise StoreError(f"{self.path}: set {set_id} is at redeal {now_redeal}, not {redeal}")
        db.execute(
            "UPDATE game_set SET chain = ?, games = ? WHERE id = ?", (chain_next(chain, digest), games + 1, set_id)
        )

    def close_set(self, set_id: str, state: str, reason: str | None = None) -> None:
        """Ends a set: SCORED, or VOID with the reason."""
        with self._transaction() as db:
            db.execute(
                "UPDATE game_set SET state = ?, reason = ? WHERE id = ? AND state = 'OPEN'", (state, reason, set_id)
            )

    def void_scored_set(self, set_id: str, reason: str) -> None:
        """Voids a set that was scored: its entrant left the league before half of its sets were."""
        with self._transaction() as db:
            db.execute("UPDATE game_set SET state = 'VOID', reason = ? WHERE id = ?", (reason, set_id))

    def redeal_set(self, league: str, set_id: str) -> int:
        """New packs for a whole set; its finished games stay for audit and are not scored. Returns the new redeal."""
        with self._transaction() as db:
            db.execute(
                "UPDATE game_set SET redeal = redeal + 1, chain = ?, games = 0 WHERE id = ?",
                (chain_start(league, set_id), set_id),
            )
            return int(db.execute("SELECT redeal FROM game_set WHERE id = ?", (set_id,)).fetchone()[0])

    def add_fault(self, entrant: str, fault: str, sentence: str, log: str) -> None:
        """Notes a fault of an entrant outside any single decision."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO fault (at, entrant, fault, sentence, log) VALUES (?, ?, ?, ?, ?)",
                (now(), entrant, fault, sentence, log),
            )

    # Looking.

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


def _unopened(path: Path, error: sqlite3.DatabaseError | StoreError) -> StoreError:
    """Why a store cannot be opened: the machine (a full disk, a folder that may not be written to), or the file."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, sqlite3.OperationalError):
        return StoreError(f"{path} cannot be opened: {error}. Is the disk full, or the folder not yours to write to?")
    return StoreError(f"{path} is no league: {error}")


def _write_durably(path: Path, db: sqlite3.Connection) -> None:
    """A commit is on the disk when it returns. Raises ``StoreError`` where SQLite does not take that setting."""
    db.execute("PRAGMA synchronous = FULL")
    if db.execute("PRAGMA synchronous").fetchone() != (2,):
        raise StoreError(f"{path}: this SQLite does not write durably (synchronous = FULL is not taken)")
