"""Writes a league out as plain files, complete: whoever has the folder can check it, and play it again.

The form is ``referee.league.store.export_format``. What is private to one machine stays there: tokens, folders, machine ids, logs.
"""

import contextlib
import hashlib
import json
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import tomlkit

from referee import __version__
from referee.league.ladder_history import is_ladder, open_round
from referee.league.league import League, LeagueError
from referee.league.store import Store, StoreError
from referee.league.store.export_format import FORMAT, LEAGUE, MANIFEST, ExportManifest, dumped, export_schema
from referee.league.store.league_facts import LeagueFacts, public_facts
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
        _dump(folder / MANIFEST, _manifest(store.league(), rows, digests, out))
    return out


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
            yield "records", ({"number": n, "record": store.record(n)} for n in store.game_numbers())


def _write(path: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Writes a line each, in the canonical form of records; returns how many."""
    count = 0
    with path.open("wb") as file:
        for count, line in enumerate(lines, 1):  # noqa: B007  # the last number is the result
            file.write(canonical(line) + b"\n")
    return count


def _dump(path: Path, value: object) -> None:
    path.write_bytes(dumped(value))


def _manifest(facts: LeagueFacts, rows: dict[str, int], files: Mapping[str, str], out: Path) -> ExportManifest:
    name = shlex.quote(out.name)
    published = f" --commitment {facts['commitment']}"
    if facts.get("record_root"):
        published += f" --record-root {facts['record_root']}"
    return {
        "format": FORMAT,
        "league": facts["name"],
        "written_by": __version__,
        "files": dict(files),
        "rows": rows,
        "verify": f"referee verify {name}{published}",
        "rerun": f"referee rerun {name} --bots FOLDER",
    }


def definition_toml(league: League) -> str:
    """The frozen definition as a file of its own."""
    document = tomlkit.document()
    document.add(tomlkit.comment(f"The frozen definition of {json.dumps(league.name, ensure_ascii=False)}."))
    for name, value in league.definition.canonical().items():
        if name != "schema" and value not in ({}, []):
            document.add(name, tomlkit.item(value))
    return tomlkit.dumps(document)
