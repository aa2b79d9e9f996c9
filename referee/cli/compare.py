"""``compare``: is a new version of a bot better than the old one?"""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum, StrEnum
from itertools import cycle, islice
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.console import Console

from referee.cli import app
from referee.cli.adhoc_league import adhoc_definition, distinct_names
from referee.cli.dry_run import seconds_of
from referee.cli.lines import columns_of, messages
from referee.cli.live_screen import LineObserver, LiveObserver
from referee.cli.options import LEAGUES, OutputFormat, OutputOption, SandboxMode, SandboxOption, WorkersOption
from referee.cli.run import shut_in, stopping
from referee.cli.standings_text import wrapped
from referee.league.definition.definition import Definition
from referee.league.definition.toml_values import toml_text as quoted
from referee.league.entrants.bot_build import require_built
from referee.league.league import (
    League,
    LeagueError,
    begin,
    check_unchanged,
    free_season,
    plan_of,
    read_league,
)
from referee.league.play.runner import Runner
from referee.league.store import Store
from referee.report.endings import comparison_of, ending_lines, verdict_lines, version_name
from referee.report.html_report import write_report
from referee.rules import RuleSetError, variant
from referee.statistics.version_comparison import ALPHA, VersionVerdict


class Length(StrEnum):
    """What a game is."""

    DEAL = "deal"
    TARGET = "target"


class CompareExit(IntEnum):
    """Exit codes of a comparison that went well."""

    NOT_WORSE = 0
    WORSE = 3
    UNDECIDED = 4
    INTERRUPTED = 130


AgainstOption = Annotated[
    list[str] | None, typer.Option("--against", "-a", help="Who else sits there; repeatable. Default: OLD itself.")
]
SeatsOption = Annotated[int | None, typer.Option(min=2, max=7, help="Seats at the table. Default: 4, if it can be.")]
LengthOption = Annotated[Length, typer.Option(help="Single deals, by points; or games to the target, by place.")]
AlphaOption = Annotated[
    float,
    typer.Option(
        min=0.0001, max=0.5, help="How often, at most, equal versions may be called different, over all looks."
    ),
]
MarginOption = Annotated[
    float | None,
    typer.Option(
        min=0.001, max=100, help="The difference a game that does not matter. Default: 0.1 points, 0.05 place points."
    ),
]


@app.command(
    epilog="Example: referee compare old.py new.py --against careful\n\nor:      referee compare careful-1 careful-2 --time 10m"
)
def compare(
    old: Annotated[str, typer.Argument(metavar="OLD", help="The old version: a folder, a .py file, or a sample.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The new version.")],
    against: AgainstOption = None,
    variant_: Annotated[str, typer.Option("--variant", help="Which game.")] = "auction-pitch",
    seats: SeatsOption = None,
    length: LengthOption = Length.DEAL,
    alpha: AlphaOption = ALPHA,
    margin: MarginOption = None,
    max_games: Annotated[int, typer.Option(min=32, max=200_000, help="Stop after so many games at the most.")] = 4000,
    time: Annotated[str | None, typer.Option(help="Stop after so long, such as 90s, 10m or 2h.")] = None,
    seed: Annotated[str | None, typer.Option(help="Makes the deals reproducible.")] = None,
    keep: Annotated[Path | None, typer.Option(help="The comparison's file; one that exists goes on.")] = None,
    workers: WorkersOption = 1,
    output: OutputOption = OutputFormat.RICH,
    sandbox: SandboxOption = SandboxMode.AUTO,
) -> None:
    """Find out whether a new version of a bot is better than the old one, in as few games as it takes.

    Both play the same packs in the same seats against the same others; only the version is swapped. The test holds at every
    look, so the comparison stops as soon as NEW is shown to be better, worse, or no more than --margin different.

    Exit codes: 0 NEW is better or not different, 3 worse, 4 not decided, 1 failed, 2 wrong usage, 130 stopped.
    """
    text = definition_text(old, new, against or [], variant_, seats, length, alpha, margin, max_games, seed)
    definition, roster = adhoc_definition(text, [old, new, *dict.fromkeys(against or [old])], _WORDS)
    require_built(roster.entrants)
    console = messages()
    seconds = seconds_of(time) if time is not None else None
    choice = shut_in(sandbox, roster, True, console)
    path = keep or free_season(LEAGUES / "compare.sqlite")
    if path.exists():
        _check_same(path, definition)
        console.print(f"Going on with {path}", markup=False)
    else:
        begin(definition, roster, path, choice.kind, {})
    if roster.entrants[0].digest == roster.entrants[1].digest:
        console.print("OLD and NEW are the same program, file by file.", style="yellow", markup=False)
    raise typer.Exit(_play(path, workers, output, choice.kind, console, seconds))


_WORDS: Final = {
    "seats": ("--seats", "give --seats {}"),
    "variant": ("--variant", "give --variant {}"),
    "length": ("--length", "give --length {}"),
    "alpha": ("--alpha", "give --alpha {}"),
    "margin": ("--margin", "give --margin {}"),
    "seed": ("--seed", "give --seed {}"),
    "sets": ("--max-games", "give another --max-games"),
}
"""What the fields of its definition are on the command line."""


def definition_text(
    old: str,
    new: str,
    against: list[str],
    game: str,
    seats: int | None,
    length: Length,
    alpha: float,
    margin: float | None,
    max_games: int,
    seed: str | None,
) -> str:
    """The definition of the comparison, as TOML. Raises ``RuleSetError`` for an unknown game."""
    rules = variant(game)
    table = seats or _usual_seats(game, len(against))
    places = (rules.sides or table) - 1
    if len(against) > places:
        raise typer.BadParameter(f"there is room for {places} others, not {len(against)}; give --seats")
    others = list(islice(cycle(against or [old]), places))
    names = distinct_names(others)
    lines = [
        f"[tournament]\nname = {quoted(f'{new} against {old}'[:80])}",
        f"variant = {quoted(game)}\nseats = {table}\nlength = {quoted(length.value)}",
        f'[schedule]\nformat = "compare"\nduplicate = false\nsets = {max_games // 2}\nalpha = {alpha!r}',
        f"margin = {margin!r}" if margin is not None else "",
        f"seed = {quoted(seed)}" if seed is not None else "",
        f'[[bots]]\npath = {quoted(old)}\nname = "old"\n[[bots]]\npath = {quoted(new)}\nname = "new"',
        *(
            f"[[bots]]\npath = {quoted(bot)}\ncopies = {others.count(bot)}"
            + (f"\nname = {quoted(names[bot])}" if bot in names else "")
            for bot in dict.fromkeys(others)
        ),
    ]
    return "\n".join(lines) + "\n"


def _usual_seats(game: str, others: int) -> int:
    """Four seats, or as many as are named, or the next number at which the game is played."""
    rules = variant(game)
    wanted = others + 1 if others and not rules.sides else 4
    for seats in sorted(range(2, 8), key=lambda seats: (abs(seats - wanted), seats)):
        try:
            rules.check_seats(seats)
        except RuleSetError:
            continue
        return seats
    return wanted


def _check_same(path: Path, definition: Definition) -> None:
    with Store.read(path) as reader:
        facts = read_league(reader).facts
    if facts["digest"] != definition.digest():
        raise LeagueError(f"{path} was begun with other bots or options; name another file with --keep")


def _play(
    path: Path, workers: int, output: OutputFormat, sandbox: Any, console: Console, seconds: float | None
) -> CompareExit:
    """Plays what is left of a comparison, prints its verdict, and returns the exit code."""
    with Store.write(path) as store:
        league = read_league(store)
        check_unchanged(league)
        console.print(f"Commitment to all deals: {league.commitment}", markup=False)
        with _observer(output, console, store.count_fixtures(), store, league) as observer:
            plan = plan_of(league, path.with_suffix(".logs"), sandbox)
            runner = Runner(store, league, plan, observer, workers)
            with stopping(runner.stop, console), _at_most(seconds, runner.stop) as timer:
                outcome = runner.run()
        verdict = comparison_of(store, league)
        if verdict is None:
            raise LeagueError(f"{path} is not a comparison: see it with referee standings {path}")
        interrupted = not outcome.finished and not timer.is_set()
        written = None if interrupted else write_report(store, league, path.with_suffix(".html"))
        report = str(written or f"none yet; write one with: referee report {path}")
        _print_end(store, league, verdict, output, report, timed_out=timer.is_set() and not outcome.finished)
    if interrupted:
        typer.echo(f"Stopped. Go on with: referee resume {path}", err=True)
        return CompareExit.INTERRUPTED
    return {"worse": CompareExit.WORSE, "open": CompareExit.UNDECIDED}.get(verdict.answer, CompareExit.NOT_WORSE)


def _print_end(
    store: Store, league: League, verdict: VersionVerdict, output: OutputFormat, report: str, *, timed_out: bool
) -> None:
    if output is OutputFormat.JSON:
        versions = {entrant.key: entrant.version for entrant in league.entrants[:2]}
        found = {
            "versions": versions,
            **verdict.to_json(),
            "ended": store.league().get("ended"),
            "store": str(store.path),
        }
        typer.echo(json.dumps(found, indent=2))
        return
    for line in ending_lines(store, league):
        typer.echo(wrapped(line, columns_of(sys.stdout)))
    if timed_out:
        typer.echo(f"The time is up. Go on with: referee resume {store.path}")
    typer.echo(f"Check everything with: referee verify {store.path}\nReport: {report}")


@contextmanager
def _at_most(seconds: float | None, stop: Callable[[], None]) -> Iterator[threading.Event]:
    """Stops the run when its time is up; the event says whether that was so."""
    over = threading.Event()

    def ring() -> None:
        over.set()
        stop()

    timer = threading.Timer(seconds or 0.0, ring)
    timer.daemon = True
    if seconds is not None:
        timer.start()
    try:
        yield over
    finally:
        timer.cancel()


@contextmanager
def _observer(
    output: OutputFormat, console: Console, total: int, store: Store, league: League
) -> Iterator[LineObserver]:
    """Where there is a terminal, a live screen with the verdict so far."""

    def so_far(width: int, rows: int) -> list[str]:
        verdict = comparison_of(store, league)
        names = version_name(league, 0), version_name(league, 1)
        lines = verdict_lines(verdict, *names) if verdict is not None else []
        return [part for line in lines for part in wrapped(line, width).splitlines()][:rows]

    if output is OutputFormat.RICH and console.is_terminal:
        with LiveObserver(console, total, len(store.games()), so_far) as screen:
            yield screen
    else:
        yield LineObserver(console)
