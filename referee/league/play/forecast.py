"""How long a league will take: from what an earlier run of it did, or from a short trial, in which its beginning is played."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from referee.league.definition.definition import Definition
from referee.league.entrants.roster import Roster
from referee.league.league import LeagueError, begin, plan_of, read_league
from referee.league.plan import GamePlan
from referee.league.play.event_sink import LeagueObserver
from referee.league.play.runner import Runner
from referee.league.schedule.blocks import by_processes
from referee.league.schedule.formats import plan
from referee.league.schedule.schedule import PlannedSet, Schedule
from referee.league.store import Store, StoreError
from referee.sandbox.isolation import Policy
from referee.sandbox.temporary_folder import private_folder

FEWEST_GAMES: Final = 20
"""Games from which a rate is taken: an earlier run with fewer tells nothing."""

TRIAL_GAMES: Final = 10
PATIENCE: Final = 6

SPARE: Final = 0.9
"""The share of the given time for which sets are picked: the end (standings, report) and chance need the rest."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Games a second, and where that is from: a sentence."""

    games_a_second: float
    source: str

    def seconds(self, games: int) -> float:
        """How long so many games take."""
        return games / self.games_a_second

    def sets(self, schedule: Schedule, seconds: float) -> int:
        """How many sets each table can play in that time; at least 1."""
        games = sum(len(planned.rotations) for planned in _first_of_each_table(schedule))
        return max(1, int(SPARE * seconds * self.games_a_second / games))


def peak_processes(schedule: Schedule, most: int, workers: int = 1) -> int:
    """The most bot processes that live at once, one leg for each worker: ``most`` are allowed (0 = any number), a table needs its own.

    Where processors are idle there are more legs at once, as far as ``most`` allows.
    """
    groups = by_processes(_first_of_each_table(schedule), max(most // workers, 1) if most else 0)
    sizes = sorted(
        (len({one for planned in group for game in planned.fixtures for one in game.processes}) for group in groups),
        reverse=True,
    )
    return sum(sizes[:workers]) if len(sizes) > 1 else sum(sizes) * workers


def _first_of_each_table(schedule: Schedule) -> list[PlannedSet]:
    first: dict[tuple[str, ...], PlannedSet] = {}
    for planned in schedule.sets:
        first.setdefault(planned.table, planned)
    return list(first.values())


def past_rate(path: Path) -> Rate | None:
    """The rate of the league in a store; None if there is none, or too little was played."""
    try:
        games, busy = _played(path)
    except (StoreError, ValueError):
        return None
    return Rate(games / busy, f"from {games:,} games of {path}") if games >= FEWEST_GAMES and busy > 0 else None


def _played(path: Path) -> tuple[int, float]:
    """Scored games of a store, and the seconds in which any game was under way."""
    with Store.read(path) as store:
        spans = [
            (one["outcome"], datetime.fromisoformat(one["started"]), datetime.fromisoformat(one["ended"]))
            for one in store.attempts()
            if one["ended"]
        ]
    games = sum(outcome == "SCORED" for outcome, _, _ in spans)
    return games, _covered([(start, stop) for _, start, stop in spans])


def _covered(spans: Sequence[tuple[datetime, datetime]]) -> float:
    """Seconds in which at least one of these spans runs."""
    total, end = 0.0, None
    for start, stop in sorted(spans):
        if end is None or start > end:
            total, end = total + (stop - start).total_seconds(), stop
        elif stop > end:
            total, end = total + (stop - end).total_seconds(), stop
    return total


def trial_rate(definition: Definition, roster: Roster, sandbox: Policy, seconds: float, workers: int = 1) -> Rate:
    """The rate of a trial: the league itself, begun in a temporary folder with other packs.

    It ends after ``seconds``, but not before ``TRIAL_GAMES`` games, and after ``PATIENCE`` times as long in any case. Raises ``LeagueError`` where no game is finished in that time, or a bot is remote.
    """
    if any(entrant.remote for entrant in roster.entrants):
        raise LeagueError("no trial is played with remote bots")
    chosen = definition.with_schedule(seed="trial")  # not the packs of the league: the bots may remember
    watch = _TrialObserver()
    with private_folder() as folder:
        path = folder / "trial.sqlite"
        begin(chosen, roster, path, sandbox, {})
        with Store.write(path) as store:
            league = read_league(store)
            planned = plan_of(league, folder / "logs", sandbox)
            runner = Runner(store, league, planned, watch, workers)
            watch.enough(runner.stop, seconds)
            timer = threading.Timer(PATIENCE * seconds, runner.stop)
            timer.start()
            try:
                runner.run()
            finally:
                timer.cancel()
        games, busy = _played(path)
    if not games or busy <= 0:
        raise LeagueError(
            f"no game was finished in a trial of {PATIENCE * seconds:g} s; {watch.last or 'games take longer'}"
        )
    return Rate(games / busy, f"from a trial of {games:,} games in {busy:.1f} s")


class _TrialObserver(LeagueObserver):
    """Ends a trial, and remembers the last thing that went wrong."""

    def __init__(self) -> None:
        self.last = ""
        self._games = 0
        self._until = 0.0
        self._stop: Callable[[], None] | None = None

    def enough(self, stop: Callable[[], None], seconds: float) -> None:
        """Has ``stop`` called once, by a game that ends after so many seconds."""
        self._stop, self._until = stop, time.monotonic() + seconds

    def game(self, game: GamePlan, summary: Mapping[str, Any]) -> None:  # noqa: ARG002
        """Counts it."""
        self._games += 1
        if self._stop is not None and self._games >= TRIAL_GAMES and time.monotonic() >= self._until:
            self._stop()
            self._stop = None

    def fault(self, entrant: str, fault: str, sentence: str, log: str) -> None:  # noqa: ARG002
        """Notes it."""
        self.last = f"{entrant}: {fault}: {sentence}"

    def withdrawn(self, entrant: str, reason: str) -> None:
        """Notes it."""
        self.last = f"{entrant} was withdrawn: {reason}"

    def no_contest(self, game: GamePlan, reason: str) -> None:  # noqa: ARG002
        """Notes it."""
        self.last = reason


def schedule_of(definition: Definition, roster: Roster) -> Schedule:
    """The schedule that a definition makes of these entrants."""
    return plan(definition.shape(), roster.entrants)
