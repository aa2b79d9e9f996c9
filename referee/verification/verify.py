"""Verifies a whole league from what is stored of it: nothing that was printed has to be believed.

Every pack is dealt again from the master, every record replayed by the umpire and judged by the second rules engine,
every figure computed anew, and all of it held against what is stored. The first divergence is named, with game, fixture
and deal; the others are counted.
"""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from referee import __version__
from referee.league.league import League, LeagueError, plan_of, read_league
from referee.league.schedule.schedule import Schedule
from referee.league.store import Exported, FixtureRow, GameRow, RulingLine, SetRow, Source, Store, StoreError
from referee.verification.receipts import check_receipts, read_receipts
from referee.verification.result import Check, Divergence, Findings, VerificationCounts, VerificationResult, shown
from referee.verification.verify_archives import ArchivedGames, check_result_row, digests_of
from referee.verification.verify_export import check_export
from referee.verification.verify_game import Checked, StoredGame, check_game, packs_of
from referee.verification.verify_history import HistoryCheck, check_entrants, check_facts, played_with
from referee.verification.verify_ladder import check_rounds
from referee.verification.verify_league import (
    check_definition,
    check_ending,
    check_roots,
    check_schedule,
    check_sets,
    check_skills,
    check_standings,
    notes,
    sort_games,
)

Progress = Callable[[int, int], None]
"""Told after each game: how many are verified, of how many."""


def verify(
    source: Source,
    progress: Progress | None = None,
    *,
    commitment: str | None = None,
    record_root: str | None = None,
    receipts: Sequence[Path] = (),
    archives: Sequence[Path] = (),
) -> VerificationResult:
    """Verifies the league of a store (or of anything that holds the same facts), also while it is being played.

    ``commitment`` and ``record_root`` are what was published elsewhere, if it was: whoever can rewrite a store can make
    it agree with itself, but not with what others have kept. ``receipts`` are files that bots have kept, one line a game; ``archives``
    are files that records of old rounds of a ladder lie in. Raises ``StoreError`` if one of these cannot be read. Never raises for what is wrong with the league.
    """
    for path in receipts:
        read_receipts(path, "")
    work = _Verification(source, progress, commitment, record_root, receipts, digests_of(archives))
    try:
        with source.snapshot():
            work.run()
    except (*_GARBLED, sqlite3.Error, LeagueError) as error:
        work.found.add(
            Divergence(
                check=Check.STORE, what=f"{source.path.name} cannot be read to its end", says=_told(error), should=""
            )
        )
    except MemoryError:
        what = f"{source.path.name} cannot be read to its end"
        work.found.add(Divergence(check=Check.STORE, what=what, says="it takes more memory than there is", should=""))
    return work.verdict()


_GARBLED = (ArithmeticError, AttributeError, LookupError, RecursionError, StoreError, TypeError, ValueError)
"""What reading may raise where anything may be written."""


def _told(error: Exception) -> str:
    return shown(str(error) if isinstance(error, StoreError | LeagueError) else f"{type(error).__name__}: {error}")


class _Verification:
    """One run: the facts read so far, what was found, what was counted."""

    def __init__(
        self,
        source: Source,
        progress: Progress | None,
        commitment: str | None,
        record_root: str | None,
        receipts: Sequence[Path],
        archives: Sequence[tuple[Path, str]],
    ) -> None:
        self._source, self._progress, self._receipts, self._archives = source, progress, receipts, archives
        self._told: list[str] = []
        self._published = commitment, record_root
        self.found, self._tally = Findings(), VerificationCounts()
        self._league: League | None = None
        self._sets: list[SetRow] = []
        self._misplaced: list[Divergence] = []
        self._roots = {"result_root": "", "record_root": ""}

    def run(self) -> None:
        """All checks, in the order in which one rests on another."""
        source, found = self._source, self.found
        league = self._league = read_league(source)
        self._sets = source.sets()
        check_definition(league, found, self._published[0])
        check_entrants(league, source.entrants(), found)
        sets, games = {row.id: row for row in self._sets}, source.every_game()
        schedule = check_schedule(source, league, self._sets, _of_present_packs(games, sets), found)
        if schedule is None:
            return
        with ArchivedGames(source, league, self._archives, found) as records:
            records.check_placed(league, self._sets, games)
            counting = self._check_games(league, schedule, games, records)
            self._told += records.notes()
        check_ending(league, schedule, self._sets, counting, found)
        check_sets(league, schedule, sets, counting, found)
        for one in self._misplaced:
            found.add(one)
        check_standings(league, schedule, self._sets, counting, found)
        if isinstance(source, Store):
            check_skills(league, schedule, self._sets, counting, source.skills(), found)
        check_facts(league, schedule, sets, found)
        check_rounds(league, source.entrants(), schedule, self._sets, counting, found)
        HistoryCheck(source, league, schedule, sets, games, found).check()
        self._roots = check_roots(league, source, self._sets, counting, found, self._published[1])
        plan, fixtures = plan_of(league, Path(), "none"), {row.id: row for row in source.fixtures()}
        for path in self._receipts:
            self._told += check_receipts(path, source, league, plan, fixtures, found)
        if isinstance(source, Exported):
            check_export(source, league, games, found)
        for oddity in source.oddities():
            found.add(Divergence(check=Check.STORE, what=source.path.name, says=shown(oddity), should=""))

    def _check_games(
        self, league: League, schedule: Schedule, games: Sequence[GameRow], records: ArchivedGames
    ) -> list[GameRow]:
        """Verifies every game; returns those that count, with their figures as they should be."""
        planned = {f.id: FixtureRow(f.id, f.set_id, f.rotation, f.seats) for f in schedule.fixtures}
        plan = plan_of(league, Path(), "none")
        packs, sets = packs_of(plan), {row.id: row for row in self._sets}
        rulings, self._misplaced = _by_game(self._source.every_ruling(), games)
        counting, version = [], played_with(league)
        for done, (row, counts) in enumerate(sort_games(games, planned, sets, self.found), 1):
            try:
                fixture, record = planned[row.fixture_id], records.record(row.number)
                if record is None:
                    check_result_row(row, fixture, self.found)
                    self._tally.archived += 1
                    counting += [row] * counts
                    continue
                case = StoredGame(plan, packs, row, fixture, record)
                own = rulings.get(row.number, None if not counts and row.attempt is None else [])
                checked = check_game(case, own, lenient=version == "0.1.0", older=version != __version__)
            except _GARBLED as error:
                checked = Checked(row, None, None, [_unreadable(row, error)])
            self._take(checked, counts=counts)
            if counts:
                counting.append(checked.row)
            if self._progress:
                self._progress(done, len(games))
        return counting

    def _take(self, checked: Checked, *, counts: bool) -> None:
        for one in checked.found:
            self.found.add(one)
        tally, umpire, judged = self._tally, checked.umpire, checked.judged
        tally.games += 1
        tally.superseded += not counts
        if umpire is not None and judged is not None:
            tally.deals += len(umpire.deals)
            tally.decisions += judged.decisions
            tally.rulings += judged.rulings
            tally.unproven += judged.unproven

    def verdict(self) -> VerificationResult:
        """What came of it."""
        tally, league = self._tally, self._league
        return VerificationResult(
            league=league.name if league else self._source.path.name,
            commitment=league.commitment if league else "",
            games=tally.games,
            archived=tally.archived,
            superseded=tally.superseded,
            deals=tally.deals,
            decisions=tally.decisions,
            rulings=tally.rulings,
            unproven=dict(sorted(tally.unproven.items())),
            findings=tuple(self.found.named),
            divergences=self.found.count,
            notes=self._notes(league, tally) if league else (),
            **self._roots,
        )

    def _notes(self, league: League, tally: VerificationCounts) -> tuple[str, ...]:
        try:
            return (*notes(league, self._sets, tally.superseded), *self._told)
        except _GARBLED:  # it has been found
            return tuple(self._told)


def _of_present_packs(games: Iterable[GameRow], sets: Mapping[str, SetRow]) -> list[GameRow]:
    """The stored games whose packs are those that their set is at."""
    by_game = ((game, sets.get(game.fixture_id.rpartition("-")[0])) for game in games)
    return [game for game, row in by_game if row is not None and row.redeal == game.redeal]


def _by_game(
    rulings: Iterable[RulingLine], games: Sequence[GameRow]
) -> tuple[dict[int, list[RulingLine]], list[Divergence]]:
    """The rows of rulings by game, in the order in which they are kept; and those that are of no game, or not in order."""
    numbers, last = {game.number: game for game in games}, 0
    by_game: dict[int, list[RulingLine]] = {}
    misplaced = []
    for row in rulings:
        game = numbers.get(row["game"])
        if game is None or (row["fixture_id"], row["redeal"]) != (game.fixture_id, game.redeal) or game.number < last:
            place = f"ruling of game {shown(row['game'])}, fixture {shown(row['fixture_id'])}"
            misplaced.append(Divergence(check=Check.RULING, what=place, says="a ruling", should="none there"))
            continue
        last = game.number
        by_game.setdefault(row["game"], []).append(row)
    return by_game, misplaced


def _unreadable(row: GameRow, error: Exception) -> Divergence:
    return Divergence(
        check=Check.RECORD,
        what="it cannot be read",
        says=_told(error),
        should="",
        game=row.number,
        fixture=row.fixture_id,
    )
