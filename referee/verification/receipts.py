"""The receipts that bots have kept, held against a league: games that are missing, changed or made up.

A receipt names its game by the seed that the seat was given for its chance, which follows from the master: so the bot cannot tell
which games belong together before the reveal, and everybody can afterwards.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from referee import deals
from referee.league.league import League
from referee.league.plan import LeaguePlan
from referee.league.sets_to_play import INTERRUPTED
from referee.league.store import ArchivedError, FixtureRow, GameRow, Source, StoreError
from referee.umpire.faults import Fault
from referee.verification.result import Check, Divergence, Findings, shown

MOST_LINE: Final = 1024
_LINE: Final = re.compile(
    r"allfours-receipt/1 (?P<at>\S{1,40}) league=(?P<league>[0-9a-f]{64}|-) seat=(?P<seat>\d{1,2}) seed=(?P<seed>\d{1,16})"
    r" record=(?P<record>[0-9a-f]{64}) name=(?P<name>.{1,200})"
)
_LOST: Final = frozenset(str(fault) for fault in Fault) - {
    "ILLEGAL_ACTION",
    "MALFORMED",
    "TIMEOUT_MOVE",
    "TIMEOUT_GAME",
}


@dataclass(frozen=True, slots=True)
class GameReceipt:
    """One line of a file of receipts: for which entrant, at which seat, with which seed, of which record."""

    name: str
    seat: int
    seed: int
    record: str


class ReceiptsError(StoreError):
    """A file that was named as receipts is none. Names the file and the remedy."""


_REMEDY: Final = "name the file that the bot has written, such as NAME.receipts"


def read_receipts(path: Path, commitment: str) -> tuple[list[GameReceipt], int, int]:
    """The receipts in a file of the league with that commitment; how many are of other leagues; how many lines are none.

    Raises ``ReceiptsError`` if the file cannot be read, or holds no receipt of any league.
    """
    own: dict[GameReceipt, None] = {}  # one that came twice counts once
    others = garbled = 0
    if not path.is_file():
        what = "is not a regular file" if os.path.lexists(path) else "there is no such file"
        raise ReceiptsError(f"{path}: {what}; {_REMEDY}")
    try:
        with path.open("rb") as file:
            for line in iter(lambda: file.readline(MOST_LINE), b""):
                found = _LINE.fullmatch(line.decode("utf-8", "replace").rstrip("\n"))
                if found is None or not line.endswith(b"\n"):
                    garbled += bool(line.strip())
                elif found["league"] != commitment:
                    others += 1
                else:
                    own[GameReceipt(found["name"], int(found["seat"]), int(found["seed"]), found["record"])] = None
    except OSError as error:
        raise ReceiptsError(f"{path} cannot be read: {error.strerror}") from None
    if not own and not others:
        raise ReceiptsError(f"{path}: no line of it is a receipt; {_REMEDY}")
    return list(own), others, garbled


def check_receipts(
    path: Path, source: Source, league: League, plan: LeaguePlan, fixtures: Mapping[str, FixtureRow], found: Findings
) -> Iterator[str]:
    """Holds the receipts in a file against the league; yields sentences with what came of it.

    Found are: a receipt of a game that the league does not have, or has with another record; a game of such a bot of which it was
    never told. A game that was under way when the referee died, or that the bot was lost in, may lack its like: that is counted.
    """
    receipts, others, garbled = read_receipts(path, league.commitment)
    if not receipts:
        found.add(
            Divergence(
                check=Check.RECEIPT,
                what=shown(path.name),
                says="no receipt of this league",
                should="receipts with its commitment",
            )
        )
    by_name: dict[str, list[GameReceipt]] = defaultdict(list)
    for one in receipts:
        by_name[one.name].append(one)
    games = source.every_game()
    cut = {row["fixture_id"] for row in source.attempts() if row["reason"] == INTERRUPTED}
    for name, own in by_name.items():
        yield _Holder(name, league, plan, fixtures, found).compare(own, games, cut, source)
    if others:
        yield f"{path.name} has {others:,} receipts of other leagues besides."
    if garbled:
        yield f"{path.name} has {garbled:,} lines that are no receipts, such as one that a crash has cut short."


def _rulings_of(game: GameRow, source: Source) -> Iterator[Mapping[str, Any]]:
    """What was ruled in a game, as its record has it; of one whose record lies in an archive, as the league has it."""
    try:
        yield from source.record(game.number).get("irregular", [])
    except ArchivedError:
        yield from (row for row in source.every_ruling() if row["game"] == game.number)


class _Holder:
    """The receipts of one entrant."""

    def __init__(
        self, name: str, league: League, plan: LeaguePlan, fixtures: Mapping[str, FixtureRow], found: Findings
    ) -> None:
        self._name, self._league, self._plan, self._found = name, league, plan, found
        self._known = name in {entrant.key for entrant in league.entrants}
        self._seats: dict[tuple[int, int], list[str]] = defaultdict(list)
        for fixture in fixtures.values():
            for seat, key in enumerate(fixture.seats):
                if key == name:
                    self._seats[seat, self._seed(fixture, seat)].append(fixture.id)

    def _seed(self, fixture: FixtureRow, seat: int) -> int:
        master, rotation = self._plan.master_of(fixture.set_id), fixture.rotation % self._plan.seats
        return deals.bot_seed(master, self._plan.league, fixture.set_id, rotation, seat)

    def compare(self, receipts: Sequence[GameReceipt], games: Sequence[GameRow], cut: set[str], source: Source) -> str:
        """Finds what differs; returns the sentence with the counts."""
        name = shown(self._name)
        if not self._known:
            self._found.add(
                Divergence(
                    check=Check.RECEIPT,
                    what=f"receipts of {name}",
                    says="a name that is no entrant",
                    should="an entrant",
                )
            )
            return f"Receipts of {name}: no such entrant."
        stored: dict[str, list[GameRow]] = defaultdict(list)
        for game in games:
            stored[game.fixture_id].append(game)
        reported: set[tuple[int, int]] = set()
        counts: dict[str, int] = defaultdict(int)
        for one in receipts:
            fixtures = self._seats.get((one.seat, one.seed), [])
            there = [game for fixture in fixtures for game in stored[fixture]]
            same = [game for game in there if game.record_digest == one.record]
            reported |= {(game.number, one.seat) for game in same}
            if same:
                counts["confirmed"] += 1
            elif any(fixture in cut for fixture in fixtures):
                counts["cut"] += 1
            elif there:
                counts["differ"] += 1
                self._differs(there[0], one)
            else:
                counts["missing"] += 1
                self._missing(one, fixtures)
        for game in games:
            for seat, key in enumerate(self._fixture_seats(game)):
                if key == self._name and (game.number, seat) not in reported:
                    self._never(game, seat, source, counts)
        told = f"{counts['confirmed']:,} agree, {counts['differ']:,} differ, {counts['missing']:,} are of games that are missing"
        more = f"; {counts['never']:,} games were never reported to it" if counts["never"] else ""
        lost = f"; {counts['lost']:,} games in which it was lost have no receipt" if counts["lost"] else ""
        died = f"; {counts['cut']:,} are of games that were under way when the referee died" if counts["cut"] else ""
        return f"Receipts of {name}: {told}{more}{lost}{died}."

    def _fixture_seats(self, game: GameRow) -> Sequence[str]:
        seats: Any = game.summary.get("entrants")
        return seats if isinstance(seats, list) else ()

    def _differs(self, game: GameRow, receipt: GameReceipt) -> None:
        what = f"record of seat {receipt.seat}, for which {shown(self._name)} has a receipt"
        says, should = game.record_digest, receipt.record
        self._found.add(
            Divergence(
                check=Check.RECEIPT, what=what, says=says, should=should, game=game.number, fixture=game.fixture_id
            )
        )

    def _missing(self, receipt: GameReceipt, fixtures: Sequence[str]) -> None:
        what = f"game for which {shown(self._name)} has a receipt (seat {receipt.seat}, record {receipt.record})"
        self._found.add(
            Divergence(
                check=Check.RECEIPT, what=what, says="nothing", should="a game", fixture=fixtures[0] if fixtures else ""
            )
        )

    def _never(self, game: GameRow, seat: int, source: Source, counts: dict[str, int]) -> None:
        """A game of which the bot was never told: made up, unless it was lost in it and could not be told."""
        lost = any(entry.get("seat") == seat and entry.get("fault") in _LOST for entry in _rulings_of(game, source))
        counts["lost" if lost else "never"] += 1
        if not lost:
            what = f"game of {shown(self._name)} at seat {seat}"
            told = "never reported to it"
            self._found.add(
                Divergence(
                    check=Check.RECEIPT,
                    what=what,
                    says=told,
                    should="a receipt",
                    game=game.number,
                    fixture=game.fixture_id,
                )
            )
