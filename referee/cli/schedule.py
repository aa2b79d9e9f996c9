"""``schedule``: who will play whom, checked, without a game being played."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from referee.cli import app
from referee.cli.lines import plain_text
from referee.cli.options import OutputFormat, OutputOption
from referee.league.balance import Balance, check_schedule
from referee.league.definition.definition import load_definition
from referee.league.definition.problems import counted
from referee.league.entrants.check_certificates import only_checked
from referee.league.entrants.roster import enter, require_somebody
from referee.league.league import LeagueError
from referee.league.schedule.formats import format_of, plan
from referee.league.schedule.schedule import Schedule

MOST_IN_A_GRID = 24
"""Entrants up to which the pairs are printed as a grid."""


@app.command(epilog="Example: referee schedule tournaments/kitchen.toml")
def schedule(
    definition_file: Annotated[Path, typer.Argument(metavar="TOURNAMENT.toml", help="The tournament's definition.")],
    output: OutputOption = OutputFormat.RICH,
) -> None:
    """Print the schedule of a tournament and check it: pairs, seats, packs. Plays nothing. Exit 1 if a check fails."""
    definition = load_definition(definition_file)
    roster = only_checked(definition, enter(definition), definition_file)
    for one in roster.skipped:
        typer.echo(f"skipped {plain_text(one.path)}: {plain_text(one.reason)}", err=True)
    require_somebody(definition, roster)
    if format_of(definition.shape()).endless:
        raise LeagueError(
            f"{definition_file} is a ladder, whose tables are drawn when a round begins; how large a round is: "
            f"referee run {definition_file} --dry-run"
        )
    planned = plan(definition.shape(), roster.entrants)
    balance = check_schedule(planned, definition.shape(), [entrant.key for entrant in roster.entrants])
    if output is OutputFormat.JSON:
        typer.echo(json.dumps(_to_json(planned, balance), indent=1, ensure_ascii=True))
    else:
        typer.echo("\n".join(_lines(planned, balance)))
    if not balance.ok:
        raise typer.Exit(1)


def _to_json(planned: Schedule, balance: Balance) -> dict[str, Any]:
    counts = planned.counts
    return {
        "tables": [list(table) for table in planned.tables],
        "sets": counts.sets,
        "games": counts.games,
        "laps": counts.legs,
        "processes": counts.processes,
        "designed": planned.designed,
        "notes": list(planned.notes),
        **balance.to_json(),
        "fixtures": [
            {"id": game.id, "set": game.set_id, "rotation": game.rotation, "seats": list(game.seats)}
            for game in planned.fixtures
        ],
    }


def _lines(planned: Schedule, balance: Balance) -> list[str]:
    """The schedule for people: tables, what each entrant plays, who meets whom, and the checks."""
    counts = planned.counts
    width = max(len(share.entrant) for share in balance.shares)
    parts = (counted(counts.tables, "table"), counted(counts.sets, "set"), counted(counts.games, "game"))
    lines = [", ".join(parts), ""]
    lines += [f"table {number:>4}  {', '.join(table)}" for number, table in enumerate(planned.tables, 1)]
    lines += ["", f"{'entrant':{width}}  tables    sets   games  games in each seat"]
    lines += [
        f"{share.entrant:{width}}  {share.tables:>6}  {share.sets:>6}  {share.games:>6}  "
        + " ".join(map(str, share.seats))
        for share in balance.shares
    ]
    if len(balance.shares) <= MOST_IN_A_GRID:
        lines += ["", *_grid([share.entrant for share in balance.shares], balance, width)]
    lines += ["", *(f"{'ok' if one.ok else 'FAIL':<5} {one.name:<6} {one.sentence}" for one in balance.findings)]
    return [*lines, *planned.notes]


def _grid(names: list[str], balance: Balance, width: int) -> list[str]:
    """At how many tables each two meet."""
    head = " ".join(f"{number:>4}" for number in range(1, len(names) + 1))
    rows = [f"{'tables in which they meet':{width + 4}}  {head}"]
    for number, name in enumerate(names, 1):
        met = ["-" if name == other else str(balance.pairs[min(name, other), max(name, other)]) for other in names]
        row = " ".join(f"{cell:>4}" for cell in met)
        rows.append(f"{number:>2}  {name:{max(width, len('tables in which they meet') - 4)}}  {row}")
    return rows
