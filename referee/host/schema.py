"""The tables of a host's store, and how an older one is brought forward."""

import sqlite3
from typing import Final

SCHEMA: Final = """
CREATE TABLE owner (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, folded TEXT NOT NULL UNIQUE, organiser INTEGER NOT NULL DEFAULT 0,
    created REAL NOT NULL, blocked TEXT
) STRICT;
CREATE TABLE invitation (
    id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, name TEXT NOT NULL, organiser INTEGER NOT NULL DEFAULT 0,
    created REAL NOT NULL, expires REAL NOT NULL, owner_id INTEGER REFERENCES owner (id), revoked REAL
) STRICT;
CREATE TABLE token (
    id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL REFERENCES owner (id), digest TEXT NOT NULL UNIQUE,
    label TEXT NOT NULL, bot TEXT NOT NULL, created REAL NOT NULL, used REAL, revoked REAL
) STRICT;
CREATE TABLE bot (
    id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL REFERENCES owner (id), name TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE, created REAL NOT NULL, retired REAL
) STRICT;
CREATE TABLE version (
    id INTEGER PRIMARY KEY, bot_id INTEGER NOT NULL REFERENCES bot (id), name TEXT NOT NULL, archive TEXT NOT NULL,
    digest TEXT NOT NULL, created REAL NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'approval', 'accepted', 'refused', 'withdrawn')), reason TEXT NOT NULL
) STRICT;
CREATE TABLE job (
    id INTEGER PRIMARY KEY, version_id INTEGER NOT NULL REFERENCES version (id),
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'failed')), stage TEXT NOT NULL,
    attempt INTEGER NOT NULL, lease REAL, created REAL NOT NULL, started REAL, ended REAL, sentence TEXT NOT NULL,
    findings TEXT NOT NULL, log TEXT NOT NULL
) STRICT;
CREATE INDEX job_state ON job (state, id);
CREATE TABLE audit (
    id INTEGER PRIMARY KEY, at REAL NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL, about TEXT NOT NULL
) STRICT;
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""
"""Version 1. Times are seconds since 1970, tokens and invitations are kept as SHA-256 digests alone."""

_GIVEN_BACK: Final = "ALTER TABLE job ADD COLUMN given_back INTEGER NOT NULL DEFAULT 0"
"""How often a job was given back by a host that was stopped: those attempts do not count."""

_PUBLIC: Final = "ALTER TABLE version ADD COLUMN public INTEGER NOT NULL DEFAULT 0"
"""Whether everybody may have its archive: that of the time when it was handed in."""

_REMOTE: Final = """
ALTER TABLE bot ADD COLUMN remote INTEGER NOT NULL DEFAULT 0;
CREATE TABLE connection (
    bot_id INTEGER PRIMARY KEY REFERENCES bot (id), version_id INTEGER NOT NULL REFERENCES version (id),
    session TEXT NOT NULL, seen REAL NOT NULL, absences INTEGER NOT NULL DEFAULT 0, rests REAL NOT NULL DEFAULT 0,
    call TEXT NOT NULL DEFAULT '', line TEXT NOT NULL DEFAULT ''
) STRICT
"""
"""Remote bots, and where each is connected: by which session, in which version, when it was last heard of, and what it is called for."""

MIGRATIONS: Final[tuple[str, ...]] = (SCHEMA, _GIVEN_BACK, _PUBLIC, _REMOTE)
"""What brings a store from version n to n + 1, at place n. Entries are added, never changed."""


class HostStoreError(Exception):
    """A host's store that cannot be opened. Names the file and the remedy."""


def migrate(path: object, db: sqlite3.Connection) -> None:
    """Brings a store to the newest version, in one transaction. Raises ``HostStoreError`` where it is of a later referee."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise HostStoreError(
            f"{path} is of version {version}, this referee knows {len(MIGRATIONS)}: use the version that wrote it, or a later one"
        )
    if version == len(MIGRATIONS):
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        version = int(db.execute("PRAGMA user_version").fetchone()[0])  # another process may have been first
        for number in range(version, len(MIGRATIONS)):
            for statement in MIGRATIONS[number].split(";"):
                db.execute(statement)
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
