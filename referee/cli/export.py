"""``export`` and ``rerun``: a league as plain files, and the same league played again from them."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.cli.exits import FAILED, INTERRUPTED
from referee.cli.lines import messages
from referee.cli.options import (
    LEAGUES,
    OutputFormat,
    OutputOption,
    SandboxMode,
    SandboxOption,
    TrustOption,
    WorkersOption,
)
from referee.cli.run import end, go_on, shut_in
from referee.league.definition.definition import restore_definition
from referee.league.entrants.roster import Roster, enter
from referee.league.export import write_export
from referee.league.ladder_history import is_ladder
from referee.league.league import League, LeagueError, begin, free_season, read_league
from referee.league.store import Exported, Store, StoreError

TABLES = ("standings", "cross", "games", "rulings", "seats")


@app.command(epilog="Example: referee export leagues/kitchen.sqlite --out kitchen-export")
def export(
    store: Annotated[Path, typer.Argument(metavar="LEAGUE.sqlite", help="The league's file.")],
    out: Annotated[Path, typer.Option(help="The folder to write; it must not exist.")],
) -> None:
    """Write a finished league as plain files: all records and what it takes to check them and to play them again.

    JSON lines with a versioned schema, and tables as CSV. The folder can be checked with: referee verify FOLDER.
    """
    from referee.report.csv_tables import csv_table
    from referee.report.report_data import collect

    with Store.read(store) as reader:
        league = read_league(reader)
        facts = collect(reader, league)
        tables = (*TABLES, "marks") if is_ladder(league) else TABLES
        folder = write_export(reader, league, out, {f"{name}.csv": csv_table(facts, name) for name in tables})
    typer.echo(f"Export: {folder}   Check it with: referee verify {folder}")


@app.command(epilog="Example: referee rerun kitchen-export --bots sample_bots/python")
def rerun(
    folder: Annotated[Path, typer.Argument(metavar="EXPORT", help="The folder of an export.")],
    bots: Annotated[Path, typer.Option(help="Where the paths of the bots start.")] = Path(),
    store: Annotated[Path | None, typer.Option(help="The new league's file. Default: leagues/EXPORT.sqlite.")] = None,
    changed: Annotated[
        bool, typer.Option("--changed-bots", help="Play though the bots' files are others now.")
    ] = False,
    workers: WorkersOption = 1,
    output: OutputOption = OutputFormat.RICH,
    sandbox: SandboxOption = SandboxMode.AUTO,
    trust_bots: TrustOption = False,
) -> None:
    """Play an exported league again, with the same packs, and say whether the results are the same.

    Its bots are strangers' programs: without a sandbox only sample bots play, unless you add --trust-bots.

    Exit codes: 0 played again (and the same, unless --changed-bots), 1 the results differ, 2 wrong usage, 130 stopped.
    """
    console = messages()
    league = read_league(Exported(folder))
    if is_ladder(league):
        raise LeagueError("a ladder cannot be played again: its bots came and went; check it with: referee verify")
    definition = restore_definition(league.facts["definition"], bots)
    if any(bot.remote for bot in definition.bots):
        raise LeagueError("a league with remote bots cannot be played again: nobody here can start them")
    roster = enter(definition)
    differ = _changed(league, roster)
    if differ and not changed:
        raise LeagueError(
            f"not the bots that played: {', '.join(differ)}; say where theirs are with --bots, or add --changed-bots"
        )
    path = store or free_season(LEAGUES / f"{folder.resolve().name}.sqlite")
    if path.exists():
        raise StoreError(f"{path} exists already; name another file with --store, or: referee resume {path}")
    choice = shut_in(sandbox, roster, trust_bots, console, "Who wrote an export chose what it runs")
    earlier = league.facts.get("earlier", ())
    begin(definition, roster, path, choice.kind, {}, revealed=league.master, earlier=earlier)
    code = go_on(path, workers, output, choice, ("", None), console)
    if code == INTERRUPTED:
        raise typer.Exit(code)
    if output is not OutputFormat.JSON:
        typer.echo(_compared(league, path))
    end(FAILED if not differ and not _same(league, path) else code)


def _changed(league: League, roster: Roster) -> list[str]:
    """The entrants that are not here, are here besides, or have other files."""
    then = {entrant.key: entrant.digest for entrant in league.entrants}
    now = {entrant.key: entrant.digest for entrant in roster.entrants}
    return sorted(key for key in then.keys() | now.keys() if then.get(key) != now.get(key))


def _same(league: League, path: Path) -> bool:
    with Store.read(path) as reader:
        return bool(reader.league().get("result_root") == league.facts.get("result_root"))


def _compared(league: League, path: Path) -> str:
    if _same(league, path):
        return "Every result is the same as in the export: the result roots are equal."
    return "The results are not those of the export: bots that draw chance from elsewhere, or that ran out of time, differ."
