"""Archives of a ladder verified: that what it says of them fits, and that a file is the one that it tells of.

Each record of an archive is then verified as any other. Where a file is not at hand, the results of its games are taken as they are
stored, and the verdict says so.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Self

from referee.league.definition.problems import counted
from referee.league.ladder_history import is_ladder, rounds_of, sets_of_round
from referee.league.league import League
from referee.league.store import ArchivedError, FixtureRow, GameRow, SetRow, Source, StoreError
from referee.league.store.archived_records import RecordArchive, archived_in, file_digest, told_rounds
from referee.league.store.export_format import inner_misfit
from referee.league.store.league_facts import ArchivedRecords
from referee.umpire.record import Record
from referee.verification.result import Check, Divergence, Findings, shown

_FIELDS: Final = frozenset(ArchivedRecords.__annotations__)


class ArchivedGames:
    """The records of a league, wherever they lie: a context manager. ``unread``: the archives that are not at hand, oldest first."""

    def __init__(self, source: Source, league: League, digests: Sequence[tuple[Path, str]], found: Findings) -> None:
        """``digests``: the files that are at hand, with their SHA-256."""
        self._source, self._found = source, found
        self._archives = _sound(source, league, found)
        at_hand = {digest: path for path, digest in digests}
        known = {one["digest"] for one in self._archives}
        for path, digest in digests:
            if digest not in known:
                same = [one["digest"] for one in self._archives if Path(one["file"]).name == path.name]
                should = same[0] if same else f"one of the {len(known)} that {source.path.name} tells of"
                found.differ(Check.ARCHIVE, f"SHA-256 of {shown(path.name)}", digest, should)
        self._open = {digest: RecordArchive(at_hand[digest]) for digest in known & at_hand.keys()}
        self.unread = [one for one in self._archives if one["digest"] not in self._open]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self._open.values():
            one.close()

    def record(self, number: int) -> Record | None:
        """The record of a game; ``None`` where it lies in an archive that is not at hand. Raises ``StoreError``."""
        archive = archived_in(self._archives, number)
        try:
            record = self._source.record(number)
        except ArchivedError:
            if archive is None:  # what the ladder says of its archives is not sound, which has been found
                raise
            at_hand = self._open.get(archive["digest"])
            return at_hand.record(number) if at_hand else None
        if archive is not None:
            self._found.differ(Check.ARCHIVE, f"record of game {number}", "here too", f"in {archive['file']} alone")
        return record

    def check_placed(self, league: League, sets: Sequence[SetRow], games: Sequence[GameRow]) -> None:
        """Each archive holds the games of just its rounds, all of which are closed."""
        ends, place = [], 0
        for round_ in rounds_of(league):
            place += sets_of_round(round_)
            ends.append(place)
        position = {row.id: row.position for row in sets}
        closed = sum("result_root" in one for one in rounds_of(league))
        for one in self._archives:
            if one["last_round"] > closed:
                self._found.differ(
                    Check.ARCHIVE, f"last round of {shown(one['file'])}", one["last_round"], f"{closed} or less"
                )
                continue
            start, end = ends[one["first_round"] - 2] if one["first_round"] > 1 else 0, ends[one["last_round"] - 1]
            own = [game.number for game in games if start <= position.get(game.fixture_id.rpartition("-")[0], -1) < end]
            should = [min(own), max(own)] if own else []
            self._found.differ(
                Check.ARCHIVE, f"games of {shown(one['file'])}", [one["first_game"], one["last_game"]], should
            )
        for file in self._open.values():
            numbers = self._numbers(file)
            if numbers:
                self._found.add(numbers)

    def _numbers(self, archive: RecordArchive) -> Divergence | None:
        """That a file holds other games than the ladder says, if it does."""
        about = next(one for one in self._archives if self._open.get(one["digest"]) is archive)
        should = list(range(about["first_game"], about["last_game"] + 1))
        try:
            numbers = [number for number, _ in archive.lines()]
        except StoreError as error:
            return Divergence(check=Check.ARCHIVE, what=archive.path.name, says=shown(str(error)), should="")
        if numbers == should:
            return None
        told = f"one of each game from {should[0]} to {should[-1]}"
        return Divergence(
            check=Check.ARCHIVE, what=f"games of {archive.path.name}", says=f"{len(numbers)} records", should=told
        )

    def notes(self) -> Iterator[str]:
        """What was not looked at, and where it lies, in sentences; none if everything was."""
        if not self.unread:
            return
        yield (
            f"Of {counted(sum(map(_rounds, self.unread)), 'round')} chairs, draws, commitments and all that follows from the results were verified; "
            "the results themselves were taken as they are stored."
        )
        for one in self.unread[:_TOLD]:
            yield f"The records of {told_rounds(one)} lie in {Path(one['file']).name}, SHA-256 {one['digest']}: add it with --archive."
        if len(self.unread) > _TOLD:
            yield f"Those of later rounds lie in {len(self.unread) - _TOLD} more files."


_TOLD: Final = 5


def _rounds(archive: ArchivedRecords) -> int:
    return archive["last_round"] - archive["first_round"] + 1


def check_result_row(row: GameRow, fixture: FixtureRow, found: Findings) -> None:
    """The result of a game whose record is not at hand tells of that game."""
    for name, says, should in (
        ("set", row.summary.get("set"), fixture.set_id),
        ("entrants", row.summary.get("entrants"), list(fixture.seats)),
    ):
        found.differ(Check.SUMMARY, f"{name} of game {row.number}", says, should, fixture.id)


def _sound(source: Source, league: League, found: Findings) -> list[ArchivedRecords]:
    """What a ladder says of its archives; nothing if they are not rounds and games from the first on without a gap."""
    archives = list(source.archives())
    if archives and not is_ladder(league):
        found.differ(Check.ARCHIVE, "archives of a league that is no ladder", len(archives), 0)
        return []
    rounds = games = 0
    for at, one in enumerate(archives):
        told = inner_misfit(ArchivedRecords, one) or (f": fields {sorted(one)}" if one.keys() != _FIELDS else "")
        if not told and (one["first_round"], one["first_game"]) != (rounds + 1, games + 1):
            told = f": begins with round {one['first_round']}, game {one['first_game']}, where round {rounds + 1}, game {games + 1} is due"
        if not told and (one["last_round"] < one["first_round"] or one["last_game"] < one["first_game"]):
            told = ": ends before it begins"
        if told:
            found.add(Divergence(check=Check.ARCHIVE, what=f"archives[{at}]", says=shown(told.lstrip(": ")), should=""))
            return []
        rounds, games = one["last_round"], one["last_game"]
    return archives


def digests_of(paths: Sequence[Path]) -> list[tuple[Path, str]]:
    """Files with their SHA-256. Raises ``StoreError`` for one that cannot be read."""
    return [(path, file_digest(path)) for path in paths]
