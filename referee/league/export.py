"""Writes a league out as plain files, complete: whoever has the folder can check it, and play it again.

The form is ``referee.league.store.export_format``. What is private to one machine stays there: tokens, folders, machine ids, logs.
"""

import contextlib
import hashlib
import json
import shlex
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import tomlkit

from referee import __version__
from referee.league.ladder_history import is_ladder, open_round, sets_of_round
from referee.league.league import League, LeagueError, read_league
from referee.league.store import Store, StoreError
from referee.league.store.archived_records import archived_in
from referee.league.store.export_format import FORMAT, LEAGUE, MANIFEST, LadderManifest, dumped, export_schema
from referee.league.store.json_text import column, read_json
from referee.league.store.league_facts import RoundFacts, public_facts
from referee.umpire.record import canonical

DEFINITION: Final = "definition.toml"
SCHEMA: Final = "schema.json"


def write_export(store: Store, league: League, out: Path, more: Mapping[str, str]) -> Path:
    """Writes the league to the new folder ``out`` and returns it; it appears complete, or not at all.

    ``more``: further files by name, such as tables. A ladder is written out between two rounds. Raises ``LeagueError`` while packs are secret, ``StoreError`` if the
    folder exists or cannot be written.
    """
    round_ = open_round(league)
    if round_ is not None and not league.seeded:
        raise LeagueError(
            f"round {round_['number']} of {store.path} is open, and its packs are secret until it is over; play it to its end first"
        )
    if league.facts["state"] != "finished" and not league.seeded and not is_ladder(league):
        raise LeagueError(
            f"{store.path} is not finished, and its packs are secret until then; finish it: referee resume {store.path}"
        )
    with _made_at_once(out) as folder, store.snapshot():
        rows = {f"{name}.jsonl": _write(folder / f"{name}.jsonl", lines) for name, lines in _parts(store)}
        _dump(folder / LEAGUE, public_facts(store.league()))
        further = {
            SCHEMA: dumped(export_schema(ladder=is_ladder(league))),
            DEFINITION: definition_toml(league).encode(),
        }
        further |= {name: text.encode() for name, text in more.items()}
        for name, data in further.items():
            (folder / name).write_bytes(data)
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in further.items()}
        _dump(folder / MANIFEST, _manifest(store, rows, digests, out))
    return out


def copy_closed_rounds(path: Path, copy: Path) -> int:
    """Copies a ladder to a new file as it stood between its last closed round and the next; returns how many are closed.

    The ladder may be played meanwhile. Raises ``LeagueError`` where no round is closed, ``StoreError`` where it cannot be read.
    """
    with Store.read(path) as store:  # it is a ladder's, and whole
        if not is_ladder(read_league(store)):
            raise LeagueError(f'{path} is no ladder: its definition does not say format = "ladder"')
    try:
        with (
            contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source,
            contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as db,
        ):
            source.backup(db)
            db.execute("PRAGMA journal_mode = DELETE")
            db.execute("PRAGMA application_id = 0")  # nobody writes this one
            facts = {key: read_json(value) for key, value in db.execute("SELECT key, value FROM league")}
            rounds = facts.get("rounds", [])
            closed = [one for one in rounds if "result_root" in one]
            if not closed:
                raise LeagueError(f"no round of {path} is closed yet")
            db.execute("BEGIN")
            _cut_off(db, rounds[len(closed) :], sum(map(sets_of_round, closed)))
            db.execute("UPDATE league SET value = ? WHERE key = 'rounds'", (column(closed),))
            if facts.get("frozen", 0) > len(closed):
                db.execute("DELETE FROM league WHERE key = 'frozen'")
            db.execute("COMMIT")
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be copied: {error}") from None
    return len(closed)


def _cut_off(db: sqlite3.Connection, rounds: Sequence[RoundFacts], sets: int) -> None:
    """Takes the rounds behind so many sets off a store, as if they had not begun."""
    gone = "(SELECT f.id FROM fixture f JOIN game_set s ON s.id = f.set_id WHERE s.position >= ?)"
    for table in ("ruling", "game", "attempt"):
        db.execute(f"DELETE FROM {table} WHERE fixture_id IN {gone}", (sets,))  # noqa: S608  # our own words
    db.execute("DELETE FROM fixture WHERE set_id IN (SELECT id FROM game_set WHERE position >= ?)", (sets,))
    db.execute("DELETE FROM game_set WHERE position >= ?", (sets,))
    new = [one["key"] for round_ in rounds for one in round_["entered"]]
    db.executemany("DELETE FROM entrant WHERE key = ?", [(key,) for key in new])
    if rounds:  # what went wrong since
        ended = db.execute("SELECT coalesce(max(ended), '') FROM attempt").fetchone()[0]
        db.execute("DELETE FROM fault WHERE id >= (SELECT min(id) FROM fault WHERE at > ?)", (ended,))


@contextlib.contextmanager
def _made_at_once(out: Path) -> Iterator[Path]:
    """A folder that is moved to ``out`` when the body is done."""
    if out.exists():
        raise StoreError(f"{out} exists already; name another folder with --out, or remove that one")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        try:
            yield folder
            folder.chmod(0o755)
            folder.rename(out)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise StoreError(f"{out} cannot be written: {error.strerror}") from None


def _parts(store: Store) -> Iterator[tuple[str, Iterable[Mapping[str, Any]]]]:
    """The files of lines: the parts of the league that are under its record root, and the records themselves."""
    for name, lines in store.parts():
        yield name, lines
        if name == "games":
            archives = store.archives()
            kept = (n for n in store.game_numbers() if archived_in(archives, n) is None)
            yield "records", ({"number": n, "record": store.record(n)} for n in kept)


def _write(path: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Writes a line each, in the canonical form of records; returns how many."""
    count = 0
    with path.open("wb") as file:
        for count, line in enumerate(lines, 1):  # noqa: B007  # the last number is the result
            file.write(canonical(line) + b"\n")
    return count


def _dump(path: Path, value: object) -> None:
    path.write_bytes(dumped(value))


def _manifest(store: Store, rows: dict[str, int], files: Mapping[str, str], out: Path) -> LadderManifest:
    facts, name = store.league(), shlex.quote(out.name)
    published = f" --commitment {facts['commitment']}"
    if facts.get("record_root"):
        published += f" --record-root {facts['record_root']}"
    manifest: LadderManifest = {
        "format": FORMAT,
        "league": facts["name"],
        "written_by": __version__,
        "files": dict(files),
        "rows": rows,
        "verify": f"referee verify {name}{published}",
        "rerun": f"referee rerun {name} --bots FOLDER",
    }
    if archives := store.archives():
        manifest["archives"] = [{**one, "file": Path(one["file"]).name} for one in archives]
    return manifest


def definition_toml(league: League) -> str:
    """The frozen definition as a file of its own."""
    document = tomlkit.document()
    document.add(tomlkit.comment(f"The frozen definition of {json.dumps(league.name, ensure_ascii=False)}."))
    for name, value in league.definition.canonical().items():
        if name != "schema" and value not in ({}, []):
            document.add(name, tomlkit.item(value))
    return tomlkit.dumps(document)
