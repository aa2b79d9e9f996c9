"""Reading and writing the store of one league."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import sqlite3
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, Self

from referee.league.store.json_text import MOST_BYTES, column
from referee.league.store.league_facts import (
    ArchivedRecords,
    BotFacts,
    FinishedGame,
    FixtureRow,
    LeagueFacts,
    RoundFacts,
)
from referee.league.store.reader import Reader
from referee.league.store.root_digests import FIRST_SCHEME, chain_next, chain_start
from referee.league.store.schema import (
    KEEP,
    SCHEMA,
    SCHEMA_VERSION,
    WITHOUT_RECORDS,
    NoLeagueError,
    StoreError,
    check_file,
    check_tables,
    check_version,
    missing_facts,
)
from referee.umpire.record import written_record

# Games come in no order of their ids. These keep the pages of the indexes at hand, and write each of them home seldom,
# so that a game costs as much in a large store as in a small one.
_CACHE_KIB = 65_536
_PAGES_A_CHECKPOINT = 8_000

_BEING_WRITTEN = 0x52656665
"""The ``application_id`` of a store while a referee has it open to write; 0 when it was closed."""

_COMPRESSION = 1  # records shrink fourfold at once; a higher level costs more than it saves


def now() -> str:
    """The time as the store writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class Store(Reader):
    """The store of one league. ``create`` or ``write`` opens it for writing, ``read`` for looking."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: IO[bytes] | None) -> None:
        super().__init__(path, connection)
        self._lock = lock
        self._copy: Path | None = None
        self._latest = ""

    @classmethod
    def create(cls, path: Path, league: LeagueFacts, *, shrinks: bool = False) -> Self:
        """A new store, readable by its owner alone (it holds the master). Raises ``StoreError`` if the file exists.

        ``shrinks``: it can give disk space back in small steps, for a page more in a thousand.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise StoreError(f"{path} exists already; resume it, or start a new season") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be made: {error.strerror}") from None
        store = cls._open(path, fresh=True, shrinks=shrinks)
        with store._transaction() as db:  # noqa: SLF001
            for statement in SCHEMA.split(";"):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            db.executemany("INSERT INTO league VALUES (?, ?)", [(key, column(value)) for key, value in league.items()])
        return store

    @classmethod
    def write(cls, path: Path) -> Self:
        """An existing store, to write to. Raises ``StoreError`` if it is missing, in use, or of another version."""
        check_file(path)
        return cls._open(path, fresh=False)

    @classmethod
    def _open(cls, path: Path, *, fresh: bool, shrinks: bool = False) -> Self:
        try:
            lock = path.with_name(path.name + ".lock").open("wb")
        except OSError as error:
            told = error.strerror
            raise StoreError(
                f"{path} cannot be written: {told}; copy it to a folder of yours and go on there"
            ) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise StoreError(f"{path} is in use by another referee; wait for it or stop it") from None
        db = sqlite3.connect(path, isolation_level=None, timeout=10)
        try:
            _guard(db)
            if shrinks:
                db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # before the first page is written
            db.execute("PRAGMA journal_mode = WAL")
            _write_durably(path, db)
            db.execute("PRAGMA foreign_keys = ON")
            db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            db.execute(f"PRAGMA wal_autocheckpoint = {_PAGES_A_CHECKPOINT}")
            if not fresh:
                check_version(path, db)
                check_tables(path, db)
                _migrate(db, check_version(path, db))
            # On the disk before anything else: a copy without the -wal file can then tell that it is not whole.
            db.execute(f"PRAGMA application_id = {_BEING_WRITTEN}")
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except (sqlite3.DatabaseError, StoreError) as error:
            db.close()
            lock.close()
            raise _unopened(path, error) from None
        return cls(path, db, lock)

    @classmethod
    def read(cls, path: Path) -> Self:
        """An existing store, to look at; also while a league is running, and where nothing can be written.

        Raises ``StoreError``, also for a copy whose last games have stayed behind in the -wal file of the original.
        """
        check_file(path)
        db, copy = _opened_to_read(path)
        try:
            check_version(path, db)
            _check_whole(path, db)
            check_tables(path, db)
        except (sqlite3.DatabaseError, StoreError) as error:
            db.close()
            _remove(copy)
            raise _unopened(path, error) from None
        store = cls(path, db, None)
        store._copy = copy
        return store

    def close(self) -> None:
        """Closes the file and gives the lock back."""
        if self._lock is not None:
            try:
                self._db.execute("PRAGMA application_id = 0")
            except sqlite3.Error:  # the disk is full: folding the -wal in makes room for it
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                    self._db.execute("PRAGMA application_id = 0")
        self._db.close()
        _remove(self._copy)
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Closes it. What went wrong because the file is damaged becomes a ``StoreError`` that says so."""
        told = None if error is None else self._damage(error)
        with contextlib.suppress(sqlite3.Error):
            self.close()
        if told:
            raise StoreError(f"{self.path} is damaged: {told}; put a copy of it in its place") from None

    def _damage(self, error: BaseException) -> str:
        """What is wrong with the file, if that is why something failed; else nothing."""
        if isinstance(error, sqlite3.Error):
            return str(error)
        if isinstance(error, StoreError) or not isinstance(error, _OF_GARBLED_DATA):
            return ""
        # Who only looks at a store has nothing else that could be garbled.
        told = (
            f"what it holds does not fit together ({type(error).__name__}: {_shown(error)})"
            if self._lock is None
            else ""
        )
        try:
            lacking = missing_facts(self.league())
            return f"it lacks {lacking}" if lacking else next(iter(self.oddities()), told)
        except (*_OF_GARBLED_DATA, sqlite3.Error) as second:
            return _shown(second)

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

    def _now(self) -> str:
        """The time, never before one that stands in the store: a clock that is set back must not make it look forged."""
        if not self._latest:
            query = "SELECT max(coalesce(max(started), ''), coalesce(max(ended), '')) FROM attempt"
            faults = "SELECT coalesce(max(at), '') FROM fault"
            self._latest = max(self._db.execute(one).fetchone()[0] for one in (query, faults))
        self._latest = max(self._latest, now())
        return self._latest

    # The league as a whole.

    def put(self, **values: Any) -> None:
        """Sets facts of the league."""
        with self._transaction() as db:
            db.executemany("INSERT OR REPLACE INTO league VALUES (?, ?)", [(k, column(v)) for k, v in values.items()])

    def add_entrants(self, entrants: Sequence[tuple[str, BotFacts]]) -> None:
        """Enters the entrants, by key, with all that is known about them, after those that are there."""
        with self._transaction() as db:
            _enter(db, entrants)

    def withdraw(self, entrant: str, reason: str) -> None:
        """Notes that an entrant is out of the league."""
        with self._transaction() as db:
            db.execute("UPDATE entrant SET withdrawn = ? WHERE key = ? AND withdrawn IS NULL", (reason, entrant))

    # The schedule.

    def add_sets(self, league: str, set_ids: Iterable[str], fixtures: Iterable[FixtureRow]) -> None:
        """Enters sets at the end of the schedule, with their fixtures."""
        with self._transaction() as db:
            _schedule(db, league, set_ids, fixtures)

    def add_round(
        self,
        league: str,
        entrants: Sequence[tuple[str, BotFacts]],
        set_ids: Iterable[str],
        fixtures: Iterable[FixtureRow],
        rounds: Sequence[RoundFacts],
    ) -> None:
        """Enters a round of a ladder, all or nothing of it: who is new, its sets, and ``rounds``, which has it as the last."""
        with self._transaction() as db:
            _enter(db, entrants)
            _schedule(db, league, set_ids, fixtures)
            db.execute("INSERT OR REPLACE INTO league VALUES ('rounds', ?)", (column(list(rounds)),))

    def drop_records(self, archives: Sequence[ArchivedRecords]) -> None:
        """Takes away the records that lie in the last of these archives, and notes all of them, in one transaction."""
        first, last = archives[-1]["first_game"], archives[-1]["last_game"]
        with self._transaction() as db:
            for statement in WITHOUT_RECORDS.split(";"):
                db.execute(statement, {"first": first, "last": last} if ":last" in statement else {})
            db.execute("INSERT OR REPLACE INTO league VALUES ('archives', ?)", (column(list(archives)),))

    def free_pages(self) -> int:
        """How many pages of the file hold nothing."""
        return int(self._db.execute("PRAGMA freelist_count").fetchone()[0])

    def shrink(self, pages: int) -> int:
        """Gives so many free pages back to the disk, if the file was made to shrink; returns how many are left."""
        try:
            self._db.execute(f"PRAGMA incremental_vacuum({int(pages)})").fetchall()
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} could not be made smaller ({error}); what it holds is unharmed") from None
        return self.free_pages()

    def rewrite(self) -> None:
        """Writes the whole file anew, without free pages, and so that it can ``shrink``. Takes twice its size on the disk."""
        try:
            self._db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} could not be made smaller ({error}); what it holds is unharmed") from None

    def keep_sets(self, other: Path, set_ids: Iterable[str]) -> None:
        """Takes scored sets over from another store, with their games, records and rulings; they are open here.

        Raises ``StoreError`` if this store has no such sets, or games already.
        """
        self._db.execute("ATTACH ? AS other", (str(other),))
        try:
            with self._transaction() as db:
                db.execute("CREATE TEMP TABLE kept (id TEXT PRIMARY KEY)")
                db.executemany("INSERT INTO kept VALUES (?)", [(one,) for one in set_ids])
                for statement in KEEP.split(";"):
                    db.execute(statement)
                db.execute("DROP TABLE temp.kept")
        finally:
            self._db.execute("DETACH other")

    # Playing.

    def begin(
        self, fixtures: Sequence[tuple[str, int]], processes: Sequence[Sequence[Mapping[str, Any]]] = ()
    ) -> list[int]:
        """Notes that games (fixture, redeal) are about to be played, and by which processes; returns the number of each attempt."""
        with self._transaction() as db:
            return [
                int(
                    db.execute(
                        "INSERT INTO attempt (fixture_id, redeal, started, processes) VALUES (?, ?, ?, ?)",
                        (fixture, redeal, self._now(), column(list(those))),
                    ).lastrowid
                    or 0
                )
                for (fixture, redeal), those in zip(fixtures, processes or [()] * len(fixtures), strict=True)
            ]

    def note_processes(self, seen: Sequence[tuple[int, Sequence[Mapping[str, Any]]]]) -> None:
        """Notes by attempt which processes see its game."""
        with self._transaction() as db:
            db.executemany(
                "UPDATE attempt SET processes = ? WHERE id = ?", [(column(list(those)), i) for i, those in seen]
            )

    def end_attempt(self, attempt: int, outcome: str, reason: str) -> None:
        """Ends an attempt without a game: NO_CONTEST or VOID."""
        with self._transaction() as db:
            db.execute(
                "UPDATE attempt SET ended = ?, outcome = ?, reason = ? WHERE id = ? AND ended IS NULL",
                (self._now(), outcome, reason, attempt),
            )

    def finish_games(self, finished: Sequence[FinishedGame]) -> None:
        """Stores finished games, all in one transaction; a second result of one is refused, and the others with it."""
        with self._transaction() as db:
            number = int(db.execute("SELECT coalesce(max(number), 0) FROM game").fetchone()[0])
            for game in finished:
                number += 1
                self._insert_game(db, number, game)

    def _insert_game(self, db: sqlite3.Connection, number: int, game: FinishedGame) -> None:
        fixture, record = game.fixture, game.record
        written, result = written_record(record)
        key, digest = (fixture.id, game.redeal), hashlib.sha256(written).hexdigest()
        blob = zlib.compress(written, _COMPRESSION)
        db.execute(
            "INSERT INTO game VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*key, game.attempt, number, blob, digest, result, column(game.summary)),
        )
        db.executemany(
            "INSERT INTO ruling (fixture_id, redeal, number, entrant, seat, step, fault, rule, sentence, consequence)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(*key, i, fixture.seats[entry["seat"]], entry["seat"], entry["step"]),
                    *(entry["fault"], entry["rule"], entry["sentence"], entry["consequence"]),
                )
                for i, entry in enumerate(record["irregular"])
            ],
        )
        db.execute(
            "UPDATE attempt SET ended = ?, outcome = 'SCORED' WHERE id = ? AND ended IS NULL",
            (self._now(), game.attempt),
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

    def void_sets(self, set_ids: Iterable[str], reason: str, **facts: Any) -> None:
        """Voids open sets for a reason, and sets facts of the league, all or nothing of it."""
        with self._transaction() as db:
            db.executemany(
                "UPDATE game_set SET state = 'VOID', reason = ? WHERE id = ? AND state = 'OPEN'",
                [(reason, one) for one in set_ids],
            )
            db.executemany(
                "INSERT OR REPLACE INTO league VALUES (?, ?)", [(key, column(value)) for key, value in facts.items()]
            )

    def score_sets(self, set_ids: Iterable[str]) -> None:
        """Ends open sets of which every game is stored: SCORED, all in one transaction."""
        with self._transaction() as db:
            db.executemany(
                "UPDATE game_set SET state = 'SCORED' WHERE id = ? AND state = 'OPEN'", [(one,) for one in set_ids]
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
                (self._now(), entrant, fault, sentence, log),
            )


def _enter(db: sqlite3.Connection, entrants: Sequence[tuple[str, BotFacts]]) -> None:
    start = db.execute("SELECT count(*) FROM entrant").fetchone()[0]
    db.executemany(
        "INSERT INTO entrant (key, position, about) VALUES (?, ?, ?)",
        [(key, start + number, column(about)) for number, (key, about) in enumerate(entrants)],
    )


def _schedule(db: sqlite3.Connection, league: str, set_ids: Iterable[str], fixtures: Iterable[FixtureRow]) -> None:
    start = db.execute("SELECT count(*) FROM game_set").fetchone()[0]
    db.executemany(
        "INSERT INTO game_set (id, position, chain) VALUES (?, ?, ?)",
        [(set_id, start + i, chain_start(league, set_id)) for i, set_id in enumerate(set_ids)],
    )
    db.executemany(
        "INSERT INTO fixture VALUES (?, ?, ?, ?)",
        [(f.id, f.set_id, f.rotation, column(f.seats)) for f in fixtures],
    )


def _shown(error: Exception) -> str:
    """What an error says, in one short line."""
    return " ".join(str(error).encode("ascii", "backslashreplace").decode().split())[:200]


_OF_GARBLED_DATA = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def _migrate(db: sqlite3.Connection, version: int) -> None:
    """Makes a store of an earlier version one of this: the tables are the same; a record root keeps its scheme."""
    if version == SCHEMA_VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        if db.execute("SELECT count(*) FROM league WHERE key = 'record_root'").fetchone()[0]:
            db.execute("INSERT OR IGNORE INTO league VALUES ('root_scheme', ?)", (column(FIRST_SCHEME),))
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _opened_to_read(path: Path) -> tuple[sqlite3.Connection, Path | None]:
    """A connection to look at a store, and the folder of the private copy that it looks at, if it needs one.

    SQLite makes a file beside the store even to read it. Where that cannot be, a store that nobody has open is read as it
    stands; one with games in its -wal file is copied, both files, to a temporary folder.
    """
    db = _connected(path, "mode=ro")
    try:
        db.execute("PRAGMA application_id").fetchone()
    except sqlite3.OperationalError as error:
        if os.access(path.parent, os.W_OK):
            db.close()
            raise _unopened(path, error) from None
    except sqlite3.DatabaseError:
        pass  # told by whoever looks closer
    else:
        return db, None
    db.close()
    wal = path.with_name(f"{path.name}-wal")
    if not _has_content(wal):
        return _connected(path, "mode=ro&immutable=1"), None
    try:
        folder = Path(tempfile.mkdtemp(prefix="referee-read-"))
        for file in (path, wal):
            shutil.copyfile(file, folder / file.name)
    except OSError as error:
        raise StoreError(f"{path} cannot be copied to be read: {error.strerror}") from None
    return _connected(folder / path.name, "mode=rw"), folder


def _connected(path: Path, how: str) -> sqlite3.Connection:
    db = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None, timeout=10)
    _guard(db)
    return db


def _guard(db: sqlite3.Connection) -> None:
    """Makes SQLite wary of a file that somebody else may have written: no value beyond measure, nothing run by its schema."""
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_BYTES)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")


def _has_content(path: Path) -> bool:
    try:
        return path.stat().st_size > 0
    except OSError:
        return False


def _check_whole(path: Path, db: sqlite3.Connection) -> None:
    """Raises ``StoreError`` for a copy that was made while a referee wrote, without the file that held the last games."""
    wal = path.with_name(f"{path.name}-wal")
    # Asked twice: a referee may come and go meanwhile, and takes the file and the mark away together.
    for _ in range(2):
        (mark,) = db.execute("PRAGMA application_id").fetchone()
        if mark != _BEING_WRITTEN or _has_content(wal):
            return
    raise StoreError(
        f"{path} was copied while a referee wrote to it, and without {wal.name}, which holds its last games: copy both, or stop "
        f"the referee first. If that file is lost, the next run goes on with what is here"
    )


def _remove(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)


def _unopened(path: Path, error: sqlite3.DatabaseError | StoreError) -> StoreError:
    """Why a store cannot be opened: the machine (a full disk, a folder that may not be written to), or the file."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, sqlite3.OperationalError):
        return StoreError(f"{path} cannot be opened: {error}. Is the disk full, or the folder not yours to write to?")
    return NoLeagueError(f"{path} is not a league: {error}")


def _write_durably(path: Path, db: sqlite3.Connection) -> None:
    """A commit is on the disk when it returns. Raises ``StoreError`` where SQLite does not take that setting."""
    db.execute("PRAGMA synchronous = FULL")
    if db.execute("PRAGMA synchronous").fetchone() != (2,):
        raise StoreError(f"{path}: this SQLite does not write durably (synchronous = FULL is not taken)")


_ELSEWHERE: Final = "name a file in a folder that you may write to (--store, or --keep)"


@contextlib.contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """A place to make the store of ``path`` at; it moves there when the body is done.

    So a referee that is killed while it begins a league leaves nothing that looks like one. Raises ``StoreError`` if
    there is something at ``path`` already, or nothing can be made there; ``NoLeagueError`` for a link that leads nowhere.
    """
    if path.is_symlink() and not path.exists():
        raise NoLeagueError(f"{path} is a link that leads nowhere; remove it, or {_ELSEWHERE}")
    with _private_folder(path) as folder:
        yield folder / path.name
        try:
            os.link(folder / path.name, path)
        except FileExistsError:
            raise StoreError(f"{path} exists already; resume it, or start a new season") from None
        except OSError as error:
            raise StoreError(f"{path} cannot be made: {error.strerror}; {_ELSEWHERE}") from None


@contextlib.contextmanager
def _private_folder(path: Path) -> Iterator[Path]:
    """A folder beside ``path`` that exists while the body runs; those of referees that were killed are removed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for left in path.parent.glob(f".{path.name}.*.draft"):
            with _held(left) as ours:
                if ours:
                    shutil.rmtree(left, ignore_errors=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".draft", dir=path.parent))
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {error.strerror}; {_ELSEWHERE}") from None
    try:
        with _held(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Holds a folder as ours while the body runs; whether nobody else does. The hold dies with the process."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(handle)
