"""Writes a league out as plain files, complete: whoever has the folder can check it, and play it again.

The form is ``referee.store.export_form``. What is private to one machine stays there: tokens, folders, machine ids, logs.
"""

import contextlib
import json
import os
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import tomlkit

from referee import __version__
from referee.record import canonical
from referee.store import Store, StoreError
from referee.store.export_form import FORMAT, LEAGUE, MANIFEST, export_schema
from referee.tournament.league import League, LeagueError

DEFINITION: Final = "definition.toml"

_PRIVATE: Final = frozenset({"tokens", "folder", "file"})
_HOST: Final = ("system", "python", "processors")


def write_export(store: Store, league: League, out: Path, more: Mapping[str, str]) -> Path:
    """Writes the league to the new folder ``out`` and returns it; it appears complete, or not at all.

    ``more``: further files by name, such as tables. Raises ``LeagueError`` while the packs are secret, ``StoreError`` if the
    folder exists or cannot be written.
    """
    if league.facts["state"] != "finished" and not league.seeded:
        raise LeagueError(
            f"{store.path} is not finished, and its packs are secret until then; finish it: referee resume {store.path}"
        )
    with _made_at_once(out) as folder, store.snapshot():
        rows = {name: _write(folder / name, lines) for name, lines in _files(store)}
        _dump(folder / LEAGUE, {key: value for key, value in _facts(league).items() if key not in _PRIVATE})
        _dump(folder / "schema.json", export_schema())
        _dump(folder / MANIFEST, _manifest(league, rows, out))
        for name, text in {DEFINITION: definition_toml(league), **more}.items():
            (folder / name).write_text(text, "utf-8")
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


def _files(store: Store) -> Iterator[tuple[str, Iterable[Mapping[str, Any]]]]:
    games = store.every_game()
    yield "entrants.jsonl", (_entrant(key, about) for key, about in store.entrants().items())
    yield "sets.jsonl", map(asdict, store.sets())
    yield "fixtures.jsonl", map(asdict, store.fixtures())
    yield "games.jsonl", map(asdict, games)
    yield "records.jsonl", ({"number": game.number, "record": store.record(game.number)} for game in games)
    yield "rulings.jsonl", store.rulings()
    yield "attempts.jsonl", store.attempts()
    yield "faults.jsonl", (_without(asdict(fault), "log") for fault in store.faults())


def _write(path: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Writes a line each, in the canonical form of records; returns how many."""
    count = 0
    with path.open("wb") as file:
        for count, line in enumerate(lines, 1):  # noqa: B007  # the last number is the result
            file.write(canonical(line) + b"\n")
    return count


def _dump(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


def _without(line: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name not in names}


def _entrant(key: str, about: Mapping[str, Any]) -> dict[str, Any]:
    """An entrant without the folders of our machine."""
    argv = [Path(word).name if os.path.isabs(word) else word for word in about["argv"]]  # noqa: PTH117  # a word, no path yet
    folder = about["folder"] and Path(about["folder"]).name
    told = {"key": key, **about, "argv": argv, "folder": folder}
    if partner := about.get("partner"):
        told["partner"] = _entrant(partner["key"], partner)
    return told


def _facts(league: League) -> dict[str, Any]:
    host = league.facts["host"]
    skipped = [[path, ""] for path, _ in league.facts.get("skipped", ())]  # the reasons name folders
    return {**league.facts, "host": {name: host[name] for name in _HOST if name in host}, "skipped": skipped}


def _manifest(league: League, rows: Mapping[str, int], out: Path) -> dict[str, Any]:
    name, facts = shlex.quote(out.name), league.facts
    published = f" --commitment {league.commitment}"
    if facts.get("record_root"):
        published += f" --record-root {facts['record_root']}"
    return {
        "format": FORMAT,
        "league": league.name,
        "written_by": __version__,
        "rows": dict(rows),
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
