"""A forger of stores: changes any value of any column of any table, whatever tables there are, and may make everything fit."""

import contextlib
import copy
import json
import random
import re
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.league.store.json_text import column
from referee.league.store.league_facts import entrant_line
from referee.umpire.record import canonical
from tests.verification.forging import Path_, at, changes, fit, places

Row = dict[str, Any]
Tables = dict[str, list[Row]]
"""The rows of every table, each column by its name; JSON and records as the values that they hold."""

FILES = {
    "league": "league.json",
    "entrant": "entrants.jsonl",
    "game_set": "sets.jsonl",
    "fixture": "fixtures.jsonl",
    "attempt": "attempts.jsonl",
    "game": "games.jsonl",
    "ruling": "rulings.jsonl",
    "fault": "faults.jsonl",
}
"""In which file of an export the rows of a table stand."""


@dataclass(frozen=True, slots=True)
class Form:
    """How a file is written: of each table its columns, those of its primary key, and which hold JSON or a record."""

    columns: dict[str, list[str]]
    keys: dict[str, list[str]]
    json: frozenset[tuple[str, str]]
    packed: frozenset[tuple[str, str]]


def load_store(path: Path) -> tuple[Form, Tables]:
    """Every table that the file has, found in the file itself."""
    columns, keys, tables = {}, {}, {}
    coded, packed = set(), set()
    with closing(sqlite3.connect(path)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            info = db.execute(f"PRAGMA table_info({table})").fetchall()
            columns[table] = [name for _, name, *_ in info]
            keys[table] = [name for _, name, *_, key in info if key]
            rows = [
                dict(zip(columns[table], row, strict=True))
                for row in db.execute(f"SELECT * FROM {table} ORDER BY {', '.join(keys[table])}")  # noqa: S608
            ]
            for name in columns[table]:
                values = [row[name] for row in rows]
                if values and all(isinstance(one, bytes) for one in values):
                    packed.add((table, name))
                elif values and all(_is_json(one) for one in values):
                    coded.add((table, name))
            for row in rows:
                for name, value in row.items():
                    if (table, name) in packed:
                        row[name] = json.loads(zlib.decompress(value))
                    elif (table, name) in coded:
                        row[name] = json.loads(value)
            tables[table] = rows
    return Form(columns, keys, frozenset(coded), frozenset(packed)), tables


def _is_json(value: object) -> bool:
    """Whether a text is JSON as the store writes it; a number or a name alone is taken for text."""
    if (
        not isinstance(value, str)
        or not re.match(r'[\[{"tfn]|-?\d+$', value)
        or re.fullmatch(r"\d{4,}|[0-9a-f]{20,}", value)
    ):
        return False
    try:
        return column(json.loads(value)) == value
    except ValueError:
        return False


def save_store(form: Form, tables: Tables, sound: Path, path: Path, known: Tables) -> bool:
    """Writes a copy of ``sound`` whose tables differ from ``known``; whether SQLite takes the rows at all."""
    shutil.copyfile(sound, path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA ignore_check_constraints = ON")
        db.execute("PRAGMA synchronous = OFF")
        try:
            with db:
                for table, rows in tables.items():
                    if rows == known[table]:
                        continue
                    db.execute(f"DELETE FROM {table}")  # noqa: S608  # names from the file that we made
                    names = form.columns[table]
                    db.executemany(
                        f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",  # noqa: S608
                        [[_written(form, table, name, row[name]) for name in names] for row in rows],
                    )
        except (sqlite3.Error, OverflowError):
            return False
    return True


def _written(form: Form, table: str, name: str, value: Any) -> Any:
    if (table, name) in form.packed:
        return zlib.compress(canonical(value), 1)
    return column(value) if (table, name) in form.json else value


def pattern(table: str, row: Row, path: Path_) -> str:
    """The place of a value: ``table: column.path``; a fact of the league goes by its key."""
    keys = list(path)
    if table == "league":
        keys = [row["key"], *keys[1:]] if keys[:1] == ["value"] else keys
    words = ["*" if isinstance(key, int) or re.fullmatch(r"-?\d+", key) else key for key in keys]
    return f"{table}: {'.'.join(words)}".strip()


def exported(pattern_: str) -> str:
    """The same place in an export."""
    table, _, path = pattern_.partition(":")
    path = path.strip()
    if table == "game" and (path == "record" or path.startswith("record.")):
        return f"records.jsonl: {path}"
    if table == "entrant":
        path = path.removeprefix("about.")
    return f"{FILES[table]}: {path}".strip()


def forgeries(
    form: Form,
    tables: Tables,
    table: str,
    rng: random.Random,
    most: int,
    always: Callable[[str], object],
    *,
    every_row: bool = False,
) -> Iterator[tuple[str, str, Tables]]:
    """What may be done to a table, one thing at a time: (pattern, what was done, the forged tables).

    ``most``: how many patterns are tried, chosen by chance; those that ``always`` says yes to come besides.
    ``every_row``: each pattern once in every row, not once for each type that stands there.
    """
    rows = tables[table]
    by_pattern: dict[str, list[tuple[int, Path_]]] = {}
    for number, row in enumerate(rows):
        for path in places(row):
            by_pattern.setdefault(pattern(table, row, path), []).append((number, path))
    names = sorted(by_pattern)
    chosen = set(rng.sample(names, min(most, len(names)))) | set(filter(always, names))
    for told in names:
        if told not in chosen:
            continue
        found = by_pattern[told]
        kinds: dict[Any, tuple[int, Path_]] = {}  # of one pattern, a place of each type that stands there
        for number, path in rng.sample(found, len(found)):
            kinds.setdefault(type(at(rows[number], path)) if not every_row else number, (number, path))
        for number, path in kinds.values():
            for what, value in changes(at(rows[number], path)):
                if value is None and path[0] == "id":
                    continue  # SQLite gives a row without a number the next one: it is as it was
                yield told, what, _edited(tables, table, number, path, value)
            if len(path) > 1:
                yield told, "dropped", _edited(tables, table, number, path, None, drop=True)
    yield from _of_rows(form, tables, table, rng)


def _of_rows(form: Form, tables: Tables, table: str, rng: random.Random) -> Iterator[tuple[str, str, Tables]]:
    """Rows that are dropped, doubled, and exchanged but for their keys."""
    rows, keys = tables[table], form.keys[table]
    if not rows:
        return
    place = rng.randrange(len(rows))
    told = pattern(table, rows[place], ("value",) if table == "league" else ())
    yield told, "row dropped", {**tables, table: rows[:place] + rows[place + 1 :]}
    twin = copy.deepcopy(rows[place])
    for key in keys:
        twin[key] = max(row[key] for row in rows) + 1 if isinstance(twin[key], int) else f"{twin[key]}x"
    if "position" in twin:
        twin["position"] = len(rows)
    if table == "game":
        twin |= {"number": len(rows) + 1, "attempt_id": 1 + max(row["id"] for row in tables["attempt"])}
    yield f"{table}:", "row doubled", {**tables, table: [*rows, twin]}
    if len(rows) > 1:
        one, other = rng.sample(range(len(rows)), 2)
        turned = copy.deepcopy(rows)
        for name in form.columns[table]:
            if name not in keys:
                turned[one][name], turned[other][name] = turned[other][name], turned[one][name]
        yield f"{table}:", "rows exchanged", {**tables, table: turned}


def _edited(tables: Tables, table: str, number: int, path: Path_, value: Any, *, drop: bool = False) -> Tables:
    rows = list(tables[table])
    rows[number] = copy.deepcopy(rows[number])
    holder = at(rows[number], path[:-1])
    if drop:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return {**tables, table: rows}


def cover_store(tables: Tables, folder: Path) -> Tables:
    """The tables, with digests, commitment, chains, roots, summaries and rulings made to fit what stands there now."""
    tables = copy.deepcopy(tables)
    numbers = {(row["fixture_id"], row["redeal"]): row["number"] for row in tables["game"]}
    told = ("number", "fixture_id", "redeal", "attempt_id", "record_digest", "result_digest", "summary")
    games = [{name: row[name] for name in told} for row in sorted(tables["game"], key=lambda row: row["number"])]
    for row in games:
        row["attempt"] = row.pop("attempt_id")
    entrants = sorted(tables["entrant"], key=lambda row: row["position"])
    sets = sorted(tables["game_set"], key=lambda row: row["position"])
    places_ = {row["id"]: row["position"] for row in sets}
    public = ("id", "fixture_id", "redeal", "started", "ended", "outcome", "reason")
    files: dict[str, Any] = {
        "league.json": {row["key"]: row["value"] for row in tables["league"]},
        "entrants.jsonl": [_entrant(row) for row in entrants],
        "sets.jsonl": sets,
        "fixtures.jsonl": sorted(tables["fixture"], key=lambda row: (places_.get(row["set_id"], 0), row["rotation"])),
        "games.jsonl": games,
        "records.jsonl": [{"number": row["number"], "record": row["record"]} for row in tables["game"]],
        "rulings.jsonl": [{"game": numbers.get((row["fixture_id"], row["redeal"])), **row} for row in tables["ruling"]],
        "attempts.jsonl": [{name: row[name] for name in public} for row in tables["attempt"]],
        "faults.jsonl": [
            {name: row[name] for name in ("at", "entrant", "fault", "sentence")} for row in tables["fault"]
        ],
        "export.json": {"verify": ""},
    }
    files["rulings.jsonl"].sort(key=lambda row: (row["game"] or 0, row["number"]))
    fit(files, folder)
    facts = files["league.json"]
    tables["league"] = [{"key": row["key"], "value": facts[row["key"]]} for row in tables["league"]]
    by_number = {row["number"]: row for row in files["games.jsonl"]}
    for row in tables["game"]:
        row |= {name: by_number[row["number"]][name] for name in ("record_digest", "result_digest", "summary")}
    tables["ruling"] = [
        {name: value for name, value in row.items() if name != "game"} for row in files["rulings.jsonl"]
    ]
    tables["ruling"].sort(key=lambda row: (row["fixture_id"], row["redeal"], row["number"]))
    return tables


def _entrant(row: Row) -> Row:
    return entrant_line(row["key"], {**row["about"], "withdrawn": row["withdrawn"]})


def covered(tables: Tables, folder: Path) -> Tables:
    """The same, as far as it can be made to fit."""
    with contextlib.suppress(Exception):  # so garbled that nothing can be computed of it
        return cover_store(tables, folder)
    return tables
