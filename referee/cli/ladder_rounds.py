"""Rounds of a ladder from the command line: begun, played one after another, and closed; and what is told of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rich.console import Console

from referee.league.definition.definition import Definition
from referee.league.definition.problems import counted
from referee.league.entrants.roster import Roster
from referee.league.ladder import (
    close_round,
    finish,
    freeze,
    history_in,
    is_resolved,
    who_plays_next,
)
from referee.league.ladder_history import open_round, rounds_of
from referee.league.league import League, read_league
from referee.league.play.ladder_rounds import closed_line, with_open_round
from referee.league.play.run_figures import RunFigures
from referee.league.play.runner import RunOutcome
from referee.league.schedule.ladder import balanced_tables, extra_tables, rounds_to_meet
from referee.league.standings import standings_of
from referee.league.store import Store
from referee.statistics.standings import Standings

_QUICK_RESAMPLES: Final = 20

Play = Callable[[Store, League], RunOutcome]
"""Plays the open round of a ladder as far as it comes."""

Look = Callable[[], tuple[Definition, Roster]]
"""Reads the definition and its bots as they are now."""


@dataclass(frozen=True, slots=True)
class LadderRun:
    """What came of a run of rounds: whether it was stopped in one, what playing took, and the standings if the ladder is finished."""

    stopped: bool = False
    figures: RunFigures = field(default_factory=RunFigures)
    table: Standings | None = None


def play_rounds(
    path: Path, rounds: int, first: tuple[Definition, Roster], look: Look, play: Play, console: Console, *, finals: bool
) -> LadderRun:
    """Plays so many rounds of the ladder at that path; one that is open is the first. ``finals``: until all are told apart.

    Each round begins with the bots that are there then: ``first``, and from the second round on whom a ``look`` finds. Raises
    ``LeagueError`` or ``ScheduleError`` where none can begin.
    """
    figures = RunFigures()
    for number in range(rounds):
        definition, roster = look() if number else first
        with Store.write(path) as store:
            league = read_league(store)
            if finals and not number and _needs_no_round(store, league, definition, roster):
                freeze(store, league)
                return LadderRun(table=finish(store, read_league(store)))
            league, lines = with_open_round(store, league, definition, roster, finals=finals)
            for line in lines:
                console.print(line, markup=False)
            outcome = play(store, league)
            figures += outcome.figures
            if outcome.open:
                return LadderRun(stopped=True, figures=figures)
            closed = close_round(store, read_league(store))
            console.print(closed_line(closed), markup=False)
            if finals and _is_over(store):
                return LadderRun(figures=figures, table=finish(store, read_league(store)))
    return LadderRun(figures=figures)


def _needs_no_round(store: Store, league: League, definition: Definition, roster: Roster) -> bool:
    """Whether finals are over before they begin: a referee that had just closed the last round was killed, for example.

    Raises ``LeagueError`` where the next round may not begin.
    """
    if open_round(league) is not None:
        return False
    bots = who_plays_next(store, league, definition, roster, finals=True)
    return set(bots) <= set(rounds_of(league)[-1]["bots"]) and _is_over(store)


def _is_over(store: Store) -> bool:
    league = read_league(store)
    return is_resolved(history_in(store, league), standings_of(store, league, _QUICK_RESAMPLES))


def ladder_dry_lines(definition: Definition, roster: Roster) -> Iterator[str]:
    """The rounds of a ladder of these bots, in lines. Who sits where is drawn when a round begins."""
    shape, bots = definition.shape(), len(roster.entrants)
    balanced, extra = balanced_tables(shape, bots), extra_tables(shape, bots)
    games = shape.rotations if shape.duplicate else 1
    yield (
        f"A round of {counted(bots, 'bot')}: {counted(balanced, 'table')} in the balanced part, at most "
        f"{counted(extra, 'extra table')} for neighbours whose order is open, {counted(games, 'game')} each"
    )
    yield f"Each bot plays {shape.sets} sets or more a round; every two bots meet within {rounds_to_meet(shape, bots)} rounds"
    yield "Who sits where follows from the master of each round, which is drawn when it begins"


def games_of_a_round(definition: Definition, bots: int) -> int:
    """How many games a round of so many bots has at most, but for newcomers and pairs that have not met for long."""
    shape = definition.shape()
    return (balanced_tables(shape, bots) + extra_tables(shape, bots)) * (shape.rotations if shape.duplicate else 1)
