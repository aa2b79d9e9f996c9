"""The tables of a store, and their rows."""

import os
import sqlite3
import stat
from collections.abc import Mapping
from pathlib import Path

from referee.league.store.league_facts import ArchivedRecords

SCHEMA_VERSION = 2
"""Version 1 is that of Referee 0.1.0: the same tables, another record root, JSON with the keys as they came."""

SCHEMA = """
CREATE TABLE league (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE entrant (
    key TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, about TEXT NOT NULL, withdrawn TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE game_set (
    id TEXT PRIMARY KEY, position INTEGER NOT NULL UNIQUE, redeal INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'OPEN' CHECK (state IN ('OPEN', 'SCORED', 'VOID')), reason TEXT,
    chain TEXT NOT NULL, games INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE TABLE fixture (
    id TEXT PRIMARY KEY, set_id TEXT NOT NULL REFERENCES game_set (id), rotation INTEGER NOT NULL, seats TEXT NOT NULL,
    UNIQUE (set_id, rotation)
) STRICT, WITHOUT ROWID;
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY, fixture_id TEXT NOT NULL REFERENCES fixture (id), redeal INTEGER NOT NULL,
    started TEXT NOT NULL, ended TEXT, outcome TEXT, reason TEXT, processes TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE TABLE game (
    fixture_id TEXT NOT NULL REFERENCES fixture (id), redeal INTEGER NOT NULL,
    attempt_id INTEGER NOT NULL UNIQUE REFERENCES attempt (id),
    number INTEGER NOT NULL UNIQUE, record BLOB NOT NULL, record_digest TEXT NOT NULL, result_digest TEXT NOT NULL,
    summary TEXT NOT NULL, PRIMARY KEY (fixture_id, redeal)
) STRICT;
CREATE TABLE ruling (
    fixture_id TEXT NOT NULL, redeal INTEGER NOT NULL, number INTEGER NOT NULL, entrant TEXT NOT NULL,
    seat INTEGER NOT NULL, step INTEGER NOT NULL, fault TEXT NOT NULL, rule TEXT NOT NULL, sentence TEXT NOT NULL,
    consequence TEXT NOT NULL, PRIMARY KEY (fixture_id, redeal, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE fault (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, entrant TEXT NOT NULL, fault TEXT NOT NULL, sentence TEXT NOT NULL,
    log TEXT NOT NULL
) STRICT;
CREATE INDEX no_contest ON attempt (fixture_id) WHERE outcome = 'NO_CONTEST';
"""

TABLES = {
    line.split()[2]: statement.strip() for statement in SCHEMA.split(";") for line in statement.strip().splitlines()[:1]
}
"""Tables and indexes by name, with the statement that makes each."""

KEEP = """
CREATE TEMP TABLE taken AS
    SELECT row_number() OVER (ORDER BY g.number) AS number, g.fixture_id, g.redeal, g.attempt_id
    FROM other.game g JOIN other.fixture f ON f.id = g.fixture_id
    JOIN other.game_set s ON s.id = f.set_id AND s.redeal = g.redeal
    WHERE s.id IN (SELECT id FROM temp.kept) AND s.state = 'SCORED';
UPDATE main.game_set SET (redeal, state, chain, games) =
    (SELECT o.redeal, o.state, o.chain, o.games FROM other.game_set o WHERE o.id = game_set.id)
    WHERE id IN (SELECT id FROM temp.kept);
INSERT INTO main.attempt SELECT t.number, a.fixture_id, a.redeal, a.started, a.ended, a.outcome, a.reason, '[]'
    FROM temp.taken t JOIN other.attempt a ON a.id = t.attempt_id;
INSERT INTO main.game SELECT g.fixture_id, g.redeal, t.number, t.number, g.record, g.record_digest, g.result_digest,
    g.summary FROM temp.taken t JOIN other.game g ON g.fixture_id = t.fixture_id AND g.redeal = t.redeal
    ORDER BY t.number;
INSERT INTO main.ruling SELECT r.* FROM other.ruling r JOIN temp.taken t USING (fixture_id, redeal);
DROP TABLE temp.taken
"""
"""Takes the sets of ``temp.kept`` over from the store ``other``; games are numbered anew, in their old order."""


WITHOUT_RECORDS = """
CREATE TEMP TABLE small AS
    SELECT fixture_id, redeal, attempt_id, number, record_digest, result_digest, summary FROM main.game
    WHERE number BETWEEN :first AND :last;
DELETE FROM main.game WHERE number BETWEEN :first AND :last;
INSERT INTO main.game SELECT fixture_id, redeal, attempt_id, number, x'', record_digest, result_digest, summary
    FROM temp.small ORDER BY number;
DROP TABLE temp.small
"""
"""Takes the records of games away. What is left of them moves to the table's end: in its place each would keep a page of its own."""


class StoreError(Exception):
    """A store that cannot be opened, is in use, or refuses what would contradict it. Names the file and the remedy."""


class NoLeagueError(StoreError):
    """There is not a league, and no export of one, where it was looked for: no file, one that cannot be read, another kind."""


class NoGameError(StoreError):
    """The league has no game, or no record of a game, with the number that was asked for."""


class ArchivedError(StoreError):
    """The record of a game lies in a file of its own, ``archive``, and not in the league; names file, rounds and digest."""

    def __init__(self, sentence: str, archive: ArchivedRecords) -> None:
        super().__init__(sentence)
        self.archive = archive


def check_file(path: Path) -> None:
    """Raises ``StoreError`` unless there is a plain file with something in it."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise NoLeagueError(f"there is no league at {path}") from None
    except OSError as error:
        raise NoLeagueError(f"{path} cannot be read: {error.strerror}") from None
    if stat.S_ISDIR(found.st_mode):
        raise NoLeagueError(
            f"{path} is a folder, not the file of a league: name the file that run has made, such as leagues/NAME.sqlite"
        )
    if not stat.S_ISREG(found.st_mode):
        raise NoLeagueError(f"{path} is not a regular file, and so no league")
    if not found.st_size:
        raise NoLeagueError(f"{path} is empty, and so no league: put a copy of it in its place, or remove it")
    if not os.access(path, os.R_OK):
        raise NoLeagueError(f"{path} cannot be read: Permission denied; it belongs to whoever played the league")


def check_tables(path: Path, db: sqlite3.Connection) -> None:
    """Raises ``StoreError`` if a table of a league is missing, is made otherwise, or does something by itself.

    A view, a virtual table, a generated column in the place of a table could be endless; a trigger changes what is written.
    """
    made = db.execute("SELECT type, name, substr(sql, 1, 2000) FROM sqlite_master LIMIT 1000").fetchall()
    known = {name: " ".join(str(sql).split()) for kind, name, sql in made if kind in ("table", "view")}
    missing = [name for name, made in TABLES.items() if made.startswith("CREATE TABLE") and name not in known]
    if missing:
        raise StoreError(
            f"{path} is not a league, or damaged: it has no table {', '.join(missing)}; put a copy of it in its place"
        )
    foreign = [f"{kind} {name}" for kind, name, _ in made if kind == "trigger"]
    foreign += [
        f"table {name}" for name, sql in known.items() if name in TABLES and sql != " ".join(TABLES[name].split())
    ]
    if foreign:
        raise StoreError(
            f"{path} is not a league, or was tampered with: {foreign[0][:80]!r} is not as a referee makes it; put a copy of it in its place"
        )


def missing_facts(facts: Mapping[str, object]) -> str:
    """The facts of a league that are not there, in words; empty if all are."""
    return ", ".join(name for name in FACTS if name not in facts)


FACTS = (
    "name",
    "definition",
    "folder",
    "digest",
    "rules",
    "master",
    "commitment",
    "seeded",
    "state",
    "host",
    "sandbox",
    "code",
)
"""What is fixed for every league."""


def check_version(path: Path, db: sqlite3.Connection) -> int:
    """The version of the file; raises ``StoreError`` if it is none that this referee reads."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer Referee (store version {version}; this one reads up to {SCHEMA_VERSION}): "
            "update Referee"
        )
    if version < 1:
        raise NoLeagueError(f"{path} is not a league: a database without the tables of one")
    return version
