"""Looking at the store of one league: every query, and nothing that changes a row."""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from referee.league.store.archived_records import archived_in, told_archived
from referee.league.store.export_format import inner_misfit
from referee.league.store.json_text import TextError, column, inflate, read_json, read_short
from referee.league.store.league_facts import (
    ArchivedRecords,
    AttemptLine,
    EntrantFacts,
    FaultLine,
    FaultRow,
    FixtureRow,
    GameRow,
    LeagueFacts,
    RulingLine,
    SetRow,
    entrant_line,
    field_names,
)
from referee.league.store.schema import TABLES, ArchivedError, NoGameError, StoreError
from referee.statistics.trueskill_ratings import SkillState
from referee.umpire.record import Record, canonical

_SET: Final = f"SELECT {', '.join(field_names(SetRow))} FROM game_set"  # noqa: S608  # our own words
_SET_COLUMNS: Final = field_names(SetRow)
_GAME: Final = (
    "SELECT g.number, g.fixture_id, g.redeal, g.attempt_id, g.record_digest, g.result_digest, g.summary FROM game g"
)
_RULING: Final = (
    "SELECT g.number AS game, r.fixture_id, r.redeal, r.number, r.entrant, r.seat, r.step, r.fault, r.rule, r.sentence,"
    " r.consequence FROM ruling r"
)
_JSON: Final = (
    ("league", "key", "value"),
    ("entrant", "key", "about"),
    ("fixture", "id", "seats"),
    ("attempt", "id", "processes"),
    ("game", "number", "summary"),
)
"""Columns of JSON: table, key, column."""
_AT_ONCE: Final = 500  # names in one query


_MOST: Final = 1 << 63
"""Beyond the numbers that SQLite has."""

_NEWEST: Final = 4_000
"""Among so many of the newest attempts are all that are under way: a league plays fewer games at once."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A set with those who play it. ``seats``: of its first fixture; ``fixtures``: how many games it has, of which ``games`` are stored.

    ``begun``: whether a game of it is under way.
    """

    id: str
    position: int
    state: str
    seats: tuple[str, ...]
    fixtures: int
    games: int
    begun: bool


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A stored game of a set's present packs. ``nth``: which of the set's ``fixtures`` it was, counted from 1 as they were stored.

    ``position``, ``state`` and ``seats`` are those of its set, as in ``TableRow``.
    """

    number: int
    set_id: str
    position: int
    state: str
    seats: tuple[str, ...]
    nth: int
    fixtures: int


class Reader:
    """What can be read of a league. What is asked for a few sets or games costs as much as these, not as the league."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path, self._db = path, connection
        self._archives: tuple[str, list[ArchivedRecords]] = "", []

    def league(self) -> LeagueFacts:
        """What is fixed for the league, by key: name, definition, master, commitment, code version and so on."""
        rows = self._db.execute("SELECT key, value FROM league WHERE key != 'skills'")
        return cast("LeagueFacts", {key: read_json(value) for key, value in rows})

    def skills(self) -> list[SkillState]:
        """Of a ladder: from where TrueSkill goes on, so that old sets are not rated again; none where what stands there is no such thing."""
        row = self._db.execute("SELECT value FROM league WHERE key = 'skills'").fetchone()
        states = read_json(row[0]) if row else []
        return [one for one in states if not inner_misfit(SkillState, one)] if isinstance(states, list) else []

    def entrants(self) -> dict[str, EntrantFacts]:
        """The entrants in the order of entry; ``withdrawn`` holds the reason or ``None``."""
        rows = self._db.execute("SELECT key, about, withdrawn FROM entrant ORDER BY position")
        return {
            key: cast("EntrantFacts", {**read_json(about), "withdrawn": withdrawn}) for key, about, withdrawn in rows
        }

    def sets(self) -> list[SetRow]:
        """All sets in schedule order."""
        return list(map(_set, self._db.execute(f"{_SET} ORDER BY position")))

    def fixtures(self) -> list[FixtureRow]:
        """All fixtures, by set in schedule order, then by rotation."""
        rows = self._db.execute(
            "SELECT f.id, f.set_id, f.rotation, f.seats FROM fixture f JOIN game_set s ON s.id = f.set_id"
            " ORDER BY s.position, f.rotation"
        )
        known: dict[str, tuple[str, ...]] = {}  # few tables sit in many sets: each is read once
        found = []
        for name, set_id, rotation, text in rows:
            seats = known.get(text)
            if seats is None:
                seats = known[text] = tuple(read_json(text))
            found.append(FixtureRow(name, set_id, rotation, seats))
        return found

    def open_attempts(self) -> list[tuple[int, str, int, list[dict[str, Any]]]]:
        """Attempts that have not ended: (number, fixture, redeal, processes)."""
        rows = self._db.execute("SELECT id, fixture_id, redeal, processes FROM attempt WHERE ended IS NULL ORDER BY id")
        return [(number, fixture, redeal, read_json(processes)) for number, fixture, redeal, processes in rows]

    def games(self) -> list[GameRow]:
        """The scored games: those of each set's present redeal, in the order in which they were stored."""
        rows = self._db.execute(
            f"{_GAME} JOIN fixture f ON f.id = g.fixture_id JOIN game_set s ON s.id = f.set_id AND s.redeal = g.redeal"
            " ORDER BY g.number"
        )
        return list(map(_game, rows))

    def every_game(self) -> list[GameRow]:
        """All games by number: the scored ones, and those of earlier packs that are kept for audit."""
        return list(map(_game, self._db.execute(f"{_GAME} ORDER BY g.number")))

    def game_numbers(self) -> list[int]:
        """The numbers of all games, ascending."""
        return [number for (number,) in self._db.execute("SELECT number FROM game ORDER BY number")]

    def game(self, number: int) -> GameRow:
        """The game with that number; raises ``NoGameError`` if there is none."""
        asked = f"{_GAME} WHERE g.number = ?"
        row = self._db.execute(asked, (number,)).fetchone() if number < _MOST else None
        if row is None:
            raise NoGameError(f"{self.path} has no game {number}")
        return _game(row)

    def record(self, number: int) -> Record:
        """The record of the game with that number.

        Raises ``NoGameError`` if there is none, ``ArchivedError`` if it lies in an archive, ``StoreError`` if it cannot be read.
        """
        asked = "SELECT record FROM game WHERE number = ?"
        row = self._db.execute(asked, (number,)).fetchone() if number < _MOST else None
        if row is None:
            raise NoGameError(f"{self.path} has no game {number}")
        if not row[0] and (archive := archived_in(self.archives(), number)):
            raise ArchivedError(told_archived(self.path, number, archive), archive)
        try:
            data = inflate(row[0])
            record = read_json(data)
        except TextError as error:
            raise StoreError(f"{self.path}: the record of game {number} cannot be read ({error})") from None
        if data != canonical(record):
            raise StoreError(f"{self.path}: the record of game {number} is not written canonically")
        if not isinstance(record, dict):
            raise StoreError(f"{self.path}: the record of game {number} is no JSON object")
        return cast("Record", record)

    def archives(self) -> list[ArchivedRecords]:
        """Of a ladder: where the records of old rounds lie, oldest first; ``file`` is a path from the folder of the store."""
        row = self._db.execute("SELECT value FROM league WHERE key = 'archives'").fetchone()
        if row is None:
            return []
        if self._archives[0] != row[0]:
            self._archives = row[0], cast("list[ArchivedRecords]", read_json(row[0]))
        return self._archives[1]

    def record_digests(self, first: int, last: int) -> list[tuple[int, str]]:
        """The number of each game from one to another, and the digest of its record."""
        query = "SELECT number, record_digest FROM game WHERE number BETWEEN ? AND ? ORDER BY number"
        return list(self._db.execute(query, (first, last)))

    def last_game_before(self, position: int) -> int:
        """The highest number of a game of the sets before a place of the schedule; 0 if there is none.

        Raises ``StoreError`` if a later set has a game with a lower number.
        """
        query = "SELECT {}(g.number) FROM game g JOIN fixture f ON f.id = g.fixture_id JOIN game_set s ON s.id = f.set_id WHERE s.position {} ?"
        last = self._db.execute(query.format("max", "<"), (position,)).fetchone()[0] or 0
        after = self._db.execute(query.format("min", ">="), (position,)).fetchone()[0]
        if after is not None and after < last:
            raise StoreError(f"{self.path} is damaged: game {after} of a later round stands before game {last}")
        return int(last)

    def oddities(self) -> Iterator[str]:
        """What stands in the file otherwise than a referee writes it, each in a sentence: for a verification.

        Damaged pages, rows that point nowhere, tables, triggers and views that are not ours, JSON with keys that stand
        twice or in another order, with blanks, or with what is no JSON.
        """
        for (found,) in self._db.execute("PRAGMA integrity_check(5)"):
            if found != "ok":
                yield f"damaged: {found}"
        for table, row, other, _ in self._db.execute("PRAGMA foreign_key_check"):
            yield f"row {row} of table {table} names what table {other} does not have"
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version >= 2 and self.league().get("state") == "finished" and "root_scheme" not in self.league():
            yield "the fact root_scheme is missing"
        for kind, name in self._db.execute(
            "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        ):
            if name not in TABLES:
                yield f"{kind} {name}, which no league has"
        for table, name, first in (("entrant", "position", 0), ("fault", "id", 1)):
            rows = self._db.execute(f"SELECT {name} FROM {table} ORDER BY {name}")  # noqa: S608  # our own words
            odd = next((number for place, (number,) in enumerate(rows, first) if number != place), None)
            if odd is not None:
                yield f"table {table}: {name} {odd}, where the next is due: they run from {first} without a gap"
        for table, key, name in _JSON:
            for row, text in self._db.execute(f"SELECT {key}, {name} FROM {table}"):  # noqa: S608  # our own words
                try:
                    value = read_json(text)
                except TextError as error:
                    yield f"table {table}, row {row}, {name}: {error}"
                    continue
                if text not in (column(value), json.dumps(value)):  # the second is how 0.1.0 wrote it
                    yield f"table {table}, row {row}, {name}: JSON that is not written as a referee writes it"

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """While the body runs, everything is read as of one moment, though another process may write."""
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    def rulings(self) -> list[RulingLine]:
        """All rulings of scored games with the number of their game."""
        rows = self._rows(
            f"{_RULING} JOIN game g USING (fixture_id, redeal)"
            " JOIN fixture f ON f.id = r.fixture_id JOIN game_set s ON s.id = f.set_id AND s.redeal = r.redeal"
            " ORDER BY g.number, r.number"
        )
        return [cast("RulingLine", row) for row in rows]

    def every_ruling(self) -> Iterator[RulingLine]:
        """All rulings with the number of their game (``None`` if there is no such game), those of earlier packs too."""
        rows = self._rows(f"{_RULING} LEFT JOIN game g USING (fixture_id, redeal) ORDER BY g.number, r.number")
        return (cast("RulingLine", row) for row in rows)

    def parts(self) -> Iterator[tuple[str, Iterator[Mapping[str, Any]]]]:
        """All that the record root is taken of but the facts of the league: name and lines of each part, as exported."""
        yield "entrants", (entrant_line(key, about) for key, about in self.entrants().items())
        yield "sets", _lines(SetRow, self.sets())
        yield "fixtures", _lines(FixtureRow, self.fixtures())
        yield "games", _lines(GameRow, map(_game, self._db.execute(f"{_GAME} ORDER BY g.number")))
        yield "rulings", self.every_ruling()
        yield "attempts", self.attempts()
        yield "faults", self._rows(f"SELECT {', '.join(field_names(FaultLine))} FROM fault ORDER BY id")  # noqa: S608

    def attempts(self) -> Iterator[AttemptLine]:
        """Every go at a fixture in order, and how it ended; without the processes that saw it."""
        rows = self._rows(f"SELECT {', '.join(field_names(AttemptLine))} FROM attempt ORDER BY id")  # noqa: S608
        return (cast("AttemptLine", row) for row in rows)

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
        return {one.id: one for one in map(_set, rows)}

    def played(self, set_ids: Iterable[str]) -> set[tuple[str, int]]:
        """The finished games of these sets: (fixture, redeal)."""
        query = "SELECT g.fixture_id, g.redeal FROM fixture f JOIN game g ON g.fixture_id = f.id WHERE f.set_id IN"
        return {(fixture, redeal) for fixture, redeal in self._for_each(query, list(set_ids))}

    def count_games(self) -> int:
        """How many scored games there are: those of each set's present redeal."""
        return int(self._db.execute("SELECT coalesce(sum(games), 0) FROM game_set").fetchone()[0])

    def count_fixtures(self) -> int:
        """How many games the schedule has."""
        return int(self._db.execute("SELECT count(*) FROM fixture").fetchone()[0])

    def progress(self, position: int) -> tuple[int, int, int]:
        """Of the sets from a place of the schedule on, but void ones: how many are open, their stored games, and their games in all."""
        query = "SELECT coalesce(sum(state = 'OPEN'), 0), coalesce(sum(games), 0) FROM game_set WHERE position >= ? AND state != 'VOID'"
        open_, stored = self._db.execute(query, (position,)).fetchone()
        query = "SELECT count(*) FROM game_set s JOIN fixture f ON f.set_id = s.id WHERE s.position >= ? AND s.state != 'VOID'"
        return int(open_), int(stored), int(self._db.execute(query, (position,)).fetchone()[0])

    def ends(self) -> list[str]:
        """When the last game of each set ended, in schedule order; empty where none has."""
        query = (
            "SELECT coalesce(max(a.ended), '') FROM game_set s LEFT JOIN fixture f ON f.set_id = s.id"
            " LEFT JOIN attempt a ON a.fixture_id = f.id GROUP BY s.position ORDER BY s.position"
        )
        return [ended for (ended,) in self._db.execute(query)]

    def tables(self, position: int, most: int = 1 << 30) -> list[TableRow]:
        """So many sets from a place of the schedule on, each with who plays it and how far it is."""
        query = (
            "SELECT s.id, s.position, s.state, (SELECT seats FROM fixture f WHERE f.set_id = s.id ORDER BY f.rotation LIMIT 1),"
            " (SELECT count(*) FROM fixture f WHERE f.set_id = s.id), s.games"
            " FROM game_set s WHERE s.position >= ? ORDER BY s.position LIMIT ?"
        )
        begun = {
            fixture.rpartition("-")[0]
            for (fixture,) in self._db.execute(
                "SELECT fixture_id FROM (SELECT fixture_id, ended FROM attempt ORDER BY id DESC LIMIT ?) WHERE ended IS NULL",
                (_NEWEST,),
            )
        }
        return [
            TableRow(name, place, state, tuple(read_json(seats)), fixtures, games, state == "OPEN" and name in begun)
            for name, place, state, seats, fixtures, games in self._db.execute(query, (position, most))
        ]

    def stored_after(self, number: int, most: int) -> list[StoredRow]:
        """So many of the scored games that were stored after one, in their order, each with its place in its set."""
        query = (
            "SELECT g.number, s.id, s.position, s.state,"
            " (SELECT seats FROM fixture e WHERE e.set_id = s.id ORDER BY e.rotation LIMIT 1), (SELECT count(*) FROM fixture e JOIN game h ON h.fixture_id = e.id"
            " WHERE e.set_id = s.id AND h.redeal = s.redeal AND h.number <= g.number),"
            " (SELECT count(*) FROM fixture e WHERE e.set_id = s.id)"
            " FROM game g JOIN fixture f ON f.id = g.fixture_id JOIN game_set s ON s.id = f.set_id AND s.redeal = g.redeal"
            " WHERE g.number > ? ORDER BY g.number LIMIT ?"
        )
        rows = self._db.execute(query, (min(number, _MOST - 1), most))
        return [
            StoredRow(game, name, place, state, tuple(read_json(seats)), nth, fixtures)
            for game, name, place, state, seats, nth, fixtures in rows
        ]

    def numbers_of_closed(self, places: range, after: int, most: int) -> list[int]:
        """So many of the numbers after one of the scored games of the sets at these places that are over, ascending."""
        rest = (
            " JOIN game_set s ON s.id = f.set_id AND s.redeal = g.redeal WHERE g.number > ? AND s.position >= ?"
            " AND s.position < ? AND s.state != 'OPEN' ORDER BY g.number LIMIT ?"
        )
        query = f"SELECT g.number FROM game g JOIN fixture f ON f.id = g.fixture_id{rest}"  # noqa: S608  # our own words
        asked = (min(after, _MOST - 1), places.start, places.stop, most)
        return [number for (number,) in self._db.execute(query, asked)]

    def last_number(self) -> int:
        """The number of the game that was stored last; 0 if none was."""
        return int(self._db.execute("SELECT coalesce(max(number), 0) FROM game").fetchone()[0])

    def games_of(self, set_ids: Iterable[str]) -> list[GameRow]:
        """The scored games of these sets, by number."""
        query = (
            f"{_GAME} JOIN fixture f ON f.id = g.fixture_id JOIN game_set s ON s.id = f.set_id AND s.redeal = g.redeal"
            " WHERE s.id IN"
        )
        return sorted(map(_game, self._for_each(query, list(set_ids))), key=lambda one: one.number)

    def count_closed_sets(self) -> int:
        """How many sets are scored or void."""
        return int(self._db.execute("SELECT count(*) FROM game_set WHERE state != 'OPEN'").fetchone()[0])

    def pace(self, attempts: int) -> tuple[str, str, int] | None:
        """Of the last so many games that ended: when the first of them began, when the last ended, and how many they are.

        Times are as the store has them; ``None`` if none has ended.
        """
        query = (
            "SELECT min(started), max(ended), count(*) FROM "
            "(SELECT started, ended FROM attempt WHERE ended IS NOT NULL ORDER BY id DESC LIMIT ?)"
        )
        began, ended, number = self._db.execute(query, (attempts,)).fetchone()
        return (began, ended, number) if number else None

    def _rows(self, query: str) -> Iterator[dict[str, Any]]:
        """The rows of a query, each by the names of its columns."""
        cursor = self._db.execute(query)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def _for_each(self, query: str, names: Sequence[str]) -> Iterator[Any]:
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            yield from self._db.execute(f"{query} ({', '.join('?' * len(some))})", some)


def _lines(kind: type, rows: Iterable[object]) -> Iterator[dict[str, Any]]:
    """Rows as lines of an export; what a row holds is in its line too, not copied as ``asdict`` would."""
    names = field_names(kind)
    return ({name: getattr(row, name) for name in names} for row in rows)


def _set(row: Sequence[Any]) -> SetRow:
    return SetRow(**dict(zip(_SET_COLUMNS, row, strict=True)))


def _game(row: Sequence[Any]) -> GameRow:
    number, fixture, redeal, attempt, record, result, summary = row
    return GameRow(
        number=number,
        fixture_id=fixture,
        redeal=redeal,
        attempt=attempt,
        record_digest=record,
        result_digest=result,
        summary=read_short(summary),
    )
