"""An exported league as something to look at: what ``Source`` asks for, from the files of a folder.

Whoever hands us a folder may wish us ill: only plain files are opened, no line is longer than it can honestly be, nothing is
read that is not written just as an export writes it, and nothing that the form does not know is overlooked.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Any, Final, cast

from referee.league.store.archived_records import archived_in, told_archived
from referee.league.store.export_format import (
    FILES,
    FIRST_FORMAT,
    FORMAT,
    LEAGUE,
    MANIFEST,
    LadderManifest,
    dumped,
    inner_misfit,
    misfit,
)
from referee.league.store.json_text import MOST_BYTES, TextError, read_json
from referee.league.store.league_facts import (
    ArchivedRecords,
    AttemptLine,
    EntrantFacts,
    FaultLine,
    FixtureRow,
    GameRow,
    LeagueFacts,
    RulingLine,
    SetRow,
    public_facts,
)
from referee.league.store.schema import ArchivedError, NoGameError, NoLeagueError, StoreError
from referee.umpire.record import Record, canonical

PARTS: Final = ("entrants", "sets", "fixtures", "games", "rulings", "attempts", "faults")
"""The files of lines that are under the record root, in its order; records are there by their digests."""


class Exported:
    """The export of a league in a folder. Raises ``StoreError`` that names file, line and field for what is garbled."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if not os.path.lexists(folder / MANIFEST):
            raise NoLeagueError(
                f"{folder} is not an export of a league: it has no {MANIFEST}; name a league's file, or its export"
            )
        with self._open(MANIFEST) as file:
            try:
                read_json(file.read(MOST_BYTES + 1))
            except TextError as error:
                raise NoLeagueError(f"{folder / MANIFEST} is not an export of a league: {error}") from None
        manifest = self._read(MANIFEST)
        self._first = manifest.get("format") == FIRST_FORMAT
        if not self._first and manifest.get("format") != FORMAT:
            told = str(manifest.get("format"))[:40]
            raise StoreError(
                f"{folder / MANIFEST} has the form {told!r}; this Referee reads {FORMAT!r} and {FIRST_FORMAT!r}: "
                "if it comes from a newer one, update Referee"
            )
        self._manifest = cast("LadderManifest", self._known(MANIFEST, "", manifest))
        self._archives = self._manifest.get("archives", [])
        for at, one in enumerate(self._archives):
            if told := inner_misfit(ArchivedRecords, one):
                raise StoreError(f"{folder / MANIFEST}: archives[{at}]{told}")
        self._places: dict[int, int] | None = None

    @property
    def path(self) -> Path:
        """The folder."""
        return self._folder

    @property
    def manifest(self) -> LadderManifest:
        """What the folder says of itself."""
        return self._manifest

    def league(self) -> LeagueFacts:
        """What is fixed for the league. The folder of its definition is unknown here: it is the export's."""
        facts = cast("LeagueFacts", self._known(LEAGUE, "", self._read(LEAGUE)))
        if not self._first and public_facts(facts) != facts:
            raise StoreError(f"{self._folder / LEAGUE}: host, skipped: it holds what is never exported")
        facts["folder"] = str(self._folder)
        return facts

    def entrants(self) -> dict[str, EntrantFacts]:
        """The entrants in the order of entry."""
        found: dict[str, EntrantFacts] = {}
        for number, line in enumerate(self._lines("entrants"), 1):
            if line["key"] in found:
                raise StoreError(
                    f"{self._folder / 'entrants.jsonl'}, line {number}: key: an entrant stands there twice"
                )
            found[line.pop("key")] = cast("EntrantFacts", line)
        return found

    def sets(self) -> list[SetRow]:
        """All sets in schedule order."""
        return [SetRow(**line) for line in self._lines("sets")]

    def fixtures(self) -> list[FixtureRow]:
        """All fixtures, by set in schedule order, then by rotation."""
        lines = self._lines("fixtures")
        return [FixtureRow(**{**line, "seats": tuple(line["seats"])}) for line in lines]

    def every_game(self) -> list[GameRow]:
        """All games in the order of the file; their numbers should run from 1."""
        return [GameRow(**line) for line in self._lines("games")]

    def every_ruling(self) -> Iterator[RulingLine]:
        """All rulings with the number of their game."""
        return (cast("RulingLine", line) for line in self._lines("rulings"))

    def attempts(self) -> Iterator[AttemptLine]:
        """Every go at a fixture in order, and how it ended."""
        return (cast("AttemptLine", line) for line in self._lines("attempts"))

    def faults(self) -> list[FaultLine]:
        """All faults outside single decisions, oldest first; their logs stayed where they were."""
        return [FaultLine(**line) for line in self._lines("faults")]

    def parts(self) -> Iterator[tuple[str, Iterator[Mapping[str, Any]]]]:
        """All that the record root is taken of but the facts of the league: name and lines of each part."""
        for name in PARTS:
            yield name, self._lines(name)

    def record(self, number: int) -> Record:
        """The record of the game with that number; raises ``StoreError``, ``ArchivedError`` where it lies in an archive."""
        places = self.record_places()
        if number not in places:
            if archive := archived_in(self.archives(), number):
                raise ArchivedError(told_archived(self._folder, number, archive), archive)
            raise NoGameError(f"{self._folder / 'records.jsonl'} has no record of game {number}")
        with self._open("records.jsonl") as file:
            file.seek(places[number])
            line = self._line("records", f"game {number}", file.readline(MOST_BYTES + 1))
            record: Record = line["record"]
            return record

    def record_places(self) -> dict[int, int]:
        """The number of each game that has a record, in the order of the file, and where its line begins."""
        if self._places is None:
            places: dict[int, int] = {}
            place = 0
            with self._open("records.jsonl") as file:
                for at, line in enumerate(iter(lambda: file.readline(MOST_BYTES + 1), b""), 1):
                    number = self._line("records", f"line {at}", line)["number"]
                    if number in places:
                        raise StoreError(
                            f"{self._folder / 'records.jsonl'}, line {at}: a second record of game {number}"
                        )
                    places[number] = place
                    place += len(line)
            self._places = places
        return self._places

    def archives(self) -> list[ArchivedRecords]:
        """Of a ladder: the files that the records of old rounds lie in, oldest first."""
        return self._archives

    def oddities(self) -> tuple[str, ...]:
        """None: what is written otherwise than an export is never read."""
        return ()

    @property
    def is_first(self) -> bool:
        """Whether it has the form of Referee 0.1.0."""
        return self._first

    def snapshot(self) -> AbstractContextManager[None]:
        """Nobody writes to an export: it stands as it is."""
        return nullcontext()

    def text(self, name: str) -> bytes:
        """The bytes of a further file of the folder; raises ``StoreError``."""
        with self._open(name) as file:
            return file.read(MOST_BYTES)

    def _open(self, name: str) -> IO[bytes]:
        path = self._folder / name
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would keep us for ever
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                os.close(handle)
                raise NoLeagueError(f"{path} cannot be read: it is not a regular file")
            return os.fdopen(handle, "rb")
        except OSError as error:
            raise NoLeagueError(f"{path} cannot be read: {error.strerror}") from None

    def _read(self, name: str) -> dict[str, Any]:
        """A file that is one object."""
        with self._open(name) as file:
            data = file.read(MOST_BYTES + 1)
        place = str(self._folder / name)
        found = self._object(place, data)
        if data != (should := dumped(found)):
            raise StoreError(f"{place}: it is not written as an export writes it: {_oddity(data, should)}")
        return found

    def _lines(self, part: str) -> Iterator[dict[str, Any]]:
        with self._open(f"{part}.jsonl") as file:
            for number, line in enumerate(iter(lambda: file.readline(MOST_BYTES + 1), b""), 1):
                yield self._line(part, f"line {number}", line)

    def _line(self, part: str, where: str, data: bytes) -> dict[str, Any]:
        """A line as an object with every field of its schema, of the right type."""
        name = f"{part}.jsonl"
        place = f"{self._folder / name}, {where}"
        found = self._object(place, data)
        if data != (should := canonical(found) + b"\n"):
            raise StoreError(f"{place}: it is not written canonically: {_oddity(data, should)}")
        return self._known(name, where, found)

    def _object(self, place: str, data: bytes) -> dict[str, Any]:
        try:
            found = read_json(data)
        except TextError as error:
            raise StoreError(f"{place}: {error}") from None
        if not isinstance(found, dict):
            raise StoreError(f"{place}: an object is needed")
        return found

    def _known(self, name: str, where: str, found: dict[str, Any]) -> dict[str, Any]:
        """The object, which has every field of its schema, of the right type, and no other."""
        place = f"{self._folder / name}{f', {where}' if where else ''}"
        schema = FILES[name]
        lacking = () if self._first or name != "games.jsonl" else ("attempt",)
        for field in (*schema["required"], *lacking, *found):
            if field not in schema["properties"]:
                raise StoreError(f"{place}: {field[:60]!r}: a field that this form does not have")
            if needed := misfit(name, field, found.get(field, ...)):
                raise StoreError(f"{place}: {field}: {needed} is needed")
        return found


def _oddity(data: bytes, should: bytes) -> str:
    """Where two texts part, in words."""
    at = next((i for i, (a, b) in enumerate(zip(data, should, strict=False)) if a != b), min(len(data), len(should)))
    return f"it differs at byte {at + 1} (a key that stands twice, another order, blanks, or numbers written otherwise)"
