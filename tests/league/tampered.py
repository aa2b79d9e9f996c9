"""Stores after somebody has been at them: with plain SQL, or with an editor's care for digests, chains and roots."""

import json
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from referee.league.store import Store, chain_next, chain_start
from referee.league.store.root_digests import roots
from referee.umpire.record import Record, canonical, record_digest, result_digest


def sql(path: Path, statement: str, *values: object) -> None:
    """Runs one statement on a store, foreign keys or not."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement, values)


def rows(path: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query finds."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query, values).fetchall()


def put(path: Path, table: str, values: dict[str, object], where: str, *about: object) -> None:
    """Sets columns of the rows that ``where`` names."""
    columns = ", ".join(f"{name} = ?" for name in values)
    sql(path, f"UPDATE {table} SET {columns} WHERE {where}", *values.values(), *about)  # noqa: S608  # our own words


def edit_fact(path: Path, key: str, change: Callable[[Any], Any]) -> None:
    """Replaces a fact of the league by what ``change`` makes of it."""
    ((text,),) = rows(path, "SELECT value FROM league WHERE key = ?", key)
    sql(path, "UPDATE league SET value = ? WHERE key = ?", json.dumps(change(json.loads(text))), key)


def edit_record(path: Path, number: int, change: Callable[[Record], object], *, cover: bool = True) -> None:
    """Changes a record in place. ``cover``: then makes digests, chains and roots fit it."""
    ((blob,),) = rows(path, "SELECT record FROM game WHERE number = ?", number)
    record = json.loads(zlib.decompress(blob))
    change(record)
    sql(path, "UPDATE game SET record = ? WHERE number = ?", zlib.compress(canonical(record)), number)
    if cover:
        cover_up(path)


def cover_up(path: Path) -> None:
    """Makes digests, chains and roots agree with the records as they stand now."""
    league = json.loads(rows(path, "SELECT value FROM league WHERE key = 'name'")[0][0])
    heads = {set_id: chain_start(league, set_id) for (set_id,) in rows(path, "SELECT id FROM game_set")}
    counts = dict.fromkeys(heads, 0)
    games = rows(path, "SELECT number, fixture_id, redeal, record FROM game ORDER BY number")
    now = dict(rows(path, "SELECT id, redeal FROM game_set"))
    with closing(sqlite3.connect(path)) as db, db:
        for number, fixture, redeal, blob in games:
            record = json.loads(zlib.decompress(blob))
            try:
                own, result = record_digest(record), result_digest(record)
            except (AttributeError, KeyError, TypeError):
                own, result = record_digest(record), ""
            db.execute("UPDATE game SET record_digest = ?, result_digest = ? WHERE number = ?", (own, result, number))
            set_id = fixture.rpartition("-")[0]
            if now.get(set_id) == redeal:
                heads[set_id], counts[set_id] = chain_next(heads[set_id], own), counts[set_id] + 1
        for set_id, head in heads.items():
            db.execute("UPDATE game_set SET chain = ?, games = ? WHERE id = ?", (head, counts[set_id], set_id))
    with Store.write(path) as store:
        if store.league()["state"] == "finished":
            store.put(**roots(store))
