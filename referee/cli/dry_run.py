"""What a league will be before it is played: tables, games, time, processes; and how many sets fit into a given time."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import typer

from referee.cli.ladder_rounds import games_of_a_round, ladder_dry_lines
from referee.league.definition.definition import Definition
from referee.league.definition.problems import counted
from referee.league.entrants.roster import Roster
from referee.league.league import LeagueError, most_processes
from referee.league.play.forecast import Rate, past_rate, peak_processes, schedule_of, trial_rate
from referee.league.schedule.formats import FORMATS, format_of
from referee.sandbox.isolation import SandboxChoice

TRIAL_SECONDS = 5.0
MOST_TABLES = 50
"""Tables that a dry run lists; ``referee schedule`` lists all."""


def seconds_of(text: str) -> float:
    """The seconds of a time such as 90s, 45m or 1.5h; raises ``BadParameter``."""
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smh])", text)
    if not found or not float(found[1]):
        raise typer.BadParameter(f"{text!r} is not a time; write it as 90s, 45m or 2h", param_hint="--time")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]


def rate_of(
    definition: Definition, roster: Roster, sandbox: Callable[[], SandboxChoice], earlier: Path, workers: int
) -> Rate:
    """How fast the league will go: as an earlier run of it did, else by a trial. Raises ``LeagueError``."""
    return past_rate(earlier) or trial_rate(definition, roster, sandbox().kind, TRIAL_SECONDS, workers)


def dry_lines(
    definition: Definition, roster: Roster, sandbox: Callable[[], SandboxChoice], earlier: Path, workers: int
) -> Iterator[str]:
    """A dry run, line by line; the last lines, about the time, may take a trial."""
    if format_of(definition.shape()).endless:
        yield from ladder_dry_lines(definition, roster)
        games = games_of_a_round(definition, len(roster.entrants))
        plain = (bot.model_copy(update={"owner": None, "panel": None}) for bot in definition.bots)
        trial = definition.with_schedule(format=next(iter(FORMATS)), sets=1, extra=None)
        trial = trial.model_copy(update={"bots": tuple(plain)})
        yield _time_line(trial, roster, sandbox, earlier, workers, games, "A round: about")
        return
    schedule = schedule_of(definition, roster)
    counts = schedule.counts
    parts = (counted(counts.tables, "table"), counted(counts.sets, "set"), counted(counts.games, "game"))
    peak = peak_processes(schedule, most_processes(definition), workers)
    legs, processes = counted(counts.legs, "leg"), counted(peak, "bot process", "bot processes")
    yield f"{', '.join(parts)} in {legs} of at most {processes}"
    for table in schedule.tables[:MOST_TABLES]:
        yield "  " + ", ".join(table)
    if counts.tables > MOST_TABLES:
        yield f"  and {counted(counts.tables - MOST_TABLES, 'table')} more: referee schedule lists them"
    yield from schedule.notes
    yield _time_line(definition, roster, sandbox, earlier, workers, counts.games, "About")


def _time_line(
    definition: Definition,
    roster: Roster,
    sandbox: Callable[[], SandboxChoice],
    earlier: Path,
    workers: int,
    games: int,
    about: str,
) -> str:
    """How long so many games take; a trial is played with that definition."""
    try:
        rate = rate_of(definition, roster, sandbox, earlier, workers)
    except LeagueError as error:
        return f"How long it takes is not known: {error}"
    return f"{about} {duration(rate.seconds(games))} ({60 * rate.games_a_second:,.0f} games a minute, {rate.source})"


def duration(seconds: float) -> str:
    """A time as people say it: 40 s, 12 min, 3 h 20 min."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"


def within(definition: Definition, roster: Roster, seconds: float, rate: Rate) -> Definition:
    """The same league with as many sets as fit into the time."""
    return definition.with_sets(min(rate.sets(schedule_of(definition, roster), seconds), 100_000))
