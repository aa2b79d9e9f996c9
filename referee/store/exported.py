"""An exported league as something to look at: what ``Source`` asks for, from the files of a folder."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Final

from referee.record import Record
from referee.store.export_form import FILES, FORMAT, LEAGUE, MANIFEST
from referee.store.schema import FixtureRow, GameRow, SetRow, StoreError

MOST_LINE_BYTES: Final = 64 << 20
"""A line is never longer; a file that has one is damaged, or wishes us ill."""

_KINDS: Final = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
    "null": (type(None),),
}


class Exported:
    """The export of a league in a folder. Raises ``StoreError`` that names file, line and field for what is garbled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        manifest = self._object(MANIFEST)
        if manifest.get("format") != FORMAT:
            told = str(manifest.get("format"))[:40]
            raise StoreError(f"{folder / MANIFEST} has the form {told!r}, this referee reads {FORMAT!r}")
        self._places: dict[int, int] | None = None

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder

    def league(self) -> dict[str, Any]:
        """What is fixed for the league. The folder of its definition is unknown here: it is the export's."""
        return {**self._object(LEAGUE), "folder": str(self._folder)}

    def entrants(self) -> dict[str, dict[str, Any]]:
        """The entrants in the order of entry."""
        return {line.pop("key"): line for line in self._lines("entrants.jsonl")}

    def sets(self) -> list[SetRow]:
        """All sets in schedule order."""
        names = tuple(FILES["sets.jsonl"]["properties"])
        return [SetRow(**{name: line[name] for name in names}) for line in self._lines("sets.jsonl")]

    def fixtures(self) -> list[FixtureRow]:
        """All fixtures, by set in schedule order, then by rotation."""
        lines = self._lines("fixtures.jsonl")
        return [FixtureRow(line["id"], line["set_id"], line["rotation"], tuple(line["seats"])) for line in lines]

    def every_game(self) -> list[GameRow]:
        """All games in the order of the file; their numbers should run from 1."""
        names = tuple(FILES["games.jsonl"]["properties"])
        return [GameRow(**{name: line[name] for name in names}) for line in self._lines("games.jsonl")]

    def rulings(self) -> list[dict[str, Any]]:
        """All rulings of scored games with the number of their game."""
        return list(self._lines("rulings.jsonl"))

    def record(self, number: int) -> Record:
        """The record of the game with that number; raises ``StoreError``."""
        name = "records.jsonl"
        if self._places is None:
            self._places = self._index(name)
        if number not in self._places:
            raise StoreError(f"{self._folder / name} has no record of game {number}")
        with self._open(name) as file:
            file.seek(self._places[number])
            record: Record = self._checked(name, f"game {number}", file.readline(MOST_LINE_BYTES))["record"]
            return record

    def snapshot(self) -> AbstractContextManager[None]:
        """Nobody writes to an export: it stands as it is."""
        return nullcontext()

    def _index(self, name: str) -> dict[int, int]:
        """Where the line of each game begins; of two lines for one game the first counts."""
        places: dict[int, int] = {}
        place = 0
        with self._open(name) as file:
            for at, line in enumerate(iter(lambda: file.readline(MOST_LINE_BYTES), b""), 1):
                places.setdefault(self._checked(name, f"line {at}", line)["number"], place)
                place += len(line)
        return places

    def _open(self, name: str) -> Any:
        try:
            return (self._folder / name).open("rb")
        except OSError as error:
            raise StoreError(f"{self._folder / name} cannot be read: {error.strerror}") from None

    def _object(self, name: str) -> dict[str, Any]:
        with self._open(name) as file:
            return self._checked(name, "", file.read(MOST_LINE_BYTES))

    def _lines(self, name: str) -> Iterator[dict[str, Any]]:
        with self._open(name) as file:
            for number, line in enumerate(iter(lambda: file.readline(MOST_LINE_BYTES), b""), 1):
                yield self._checked(name, f"line {number}", line)

    def _checked(self, name: str, where: str, line: bytes) -> dict[str, Any]:
        """A line as an object with every field of its schema, of the right type."""
        place = f"{self._folder / name}{f', {where}' if where else ''}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise StoreError(f"{place}: no JSON: {error}") from None
        if not isinstance(found, dict):
            raise StoreError(f"{place}: an object is needed")
        schema = FILES[name]
        for field in schema["required"]:
            kinds = schema["properties"][field]["type"]
            allowed = tuple(one for kind in ([kinds] if isinstance(kinds, str) else kinds) for one in _KINDS[kind])
            wrong = field not in found or not isinstance(found[field], allowed)
            if wrong or (isinstance(found[field], bool) and bool not in allowed):
                kind = " or ".join([kinds] if isinstance(kinds, str) else kinds)
                raise StoreError(f"{place}: {field}: {kind} is needed")
        return found
