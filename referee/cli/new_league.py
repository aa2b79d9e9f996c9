"""Before a league begins: who takes part, how many sets fit into a time, what is kept of the season before."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rich.console import Console

from referee.cli.dry_run import duration, rate_of, within
from referee.cli.lines import plain_text
from referee.league.definition.definition import Definition, load_definition
from referee.league.definition.problems import counted
from referee.league.entrants.check_certificates import only_checked
from referee.league.entrants.roster import Roster, enter, require_somebody
from referee.league.league import begin, free_season, newest_season, read_league
from referee.league.schedule.formats import format_of
from referee.league.season import kept_of
from referee.league.store import Store
from referee.sandbox.isolation import SandboxChoice

MANY_GAMES: Final = 20_000
"""So many games take longer to plan and to write down than one waits without a word."""


def load_league(file: Path, until_resolved: float | None, console: Console) -> tuple[Definition, Roster]:
    """The definition in a file, and who takes part; a line for each bot that cannot."""
    definition = load_definition(file)
    if until_resolved is not None:
        definition = definition.with_schedule(until_resolved=until_resolved)
    roster = only_checked(definition, enter(definition), file)
    for one in roster.skipped:
        console.print(f"skipped {plain_text(one.path)}: {plain_text(one.reason)}", markup=False)
    require_somebody(definition, roster)
    return definition, roster


def season_files(named: Path | None, usual: Path, *, fresh: bool) -> tuple[Path, Path]:
    """The file to play, a new one if ``fresh``; and the newest season that there is. ``named`` is what the user named."""
    newest = newest_season(named or usual)
    return free_season(named or usual) if fresh else named or newest, newest


def begin_league(
    definition: Definition, roster: Roster, path: Path, choice: SandboxChoice, last: Path | None, console: Console
) -> None:
    """Begins a league at a new path; with ``last``, the season before, it keeps the sets that are still the same."""
    shape = definition.shape()
    games = format_of(shape).fewest_sets(shape, len(roster.entrants)) * shape.rotations
    if games >= MANY_GAMES:
        console.print(f"Making the schedule of {games:,} games; that takes a while ...", markup=False)
    tokens = {entrant.key: secrets.token_urlsafe(24) for entrant in roster.entrants if entrant.remote}
    if last is None:
        begin(definition, roster, path, choice.kind, tokens)
        return
    kept = kept_of(last, definition, roster)
    begin(definition, roster, path, choice.kind, tokens, earlier=kept.earlier, kept=(kept.store, kept.sets))
    console.print(f"{counted(len(kept.sets), 'set')} kept from {last}", markup=False)


def fit_to_time(
    definition: Definition,
    roster: Roster,
    seconds: float,
    choice: Callable[[], SandboxChoice],
    path: Path,
    earlier: Path,
    workers: int,
    console: Console,
) -> Definition:
    """The definition with the sets that fit into the time; a league that has begun keeps those that were picked then."""
    if path.exists():
        with Store.read(path) as reader:
            return definition.with_sets(read_league(reader).definition.schedule.sets)
    rate = rate_of(definition, roster, choice, earlier, workers)
    chosen = within(definition, roster, seconds, rate)
    sets = counted(chosen.schedule.sets, "set")
    console.print(f"{sets} for each table in {duration(seconds)}, {rate.source}", markup=False)
    return chosen
