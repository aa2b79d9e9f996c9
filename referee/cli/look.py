"""``standings``, ``show``, ``verify``: everything that only looks at a league."""

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from referee.cli import app
from referee.cli.run import Output, OutputOption
from referee.cli.screen import plain_text
from referee.cli.tables import json_table, notes, plain_table, rich_table
from referee.notation import write_down
from referee.report.endings import ending_lines
from referee.store import Exported, NoLeagueError, Source, Store
from referee.tournament.balance import told_of
from referee.tournament.league import read_league
from referee.tournament.table_of import standings_of
from referee.verification.verify import verify as verify_league

StoreArgument = Annotated[Path, typer.Argument(metavar="LEAGUE.sqlite", help="The league's file.")]


@app.command(epilog="Example: referee standings leagues/kitchen.sqlite --output json")
def standings(store: StoreArgument, output: OutputOption = Output.RICH) -> None:
    """Print the standings of a league, also while it is running."""
    with Store.read(store) as reader:
        league = read_league(reader)
        table = standings_of(reader, league)
        void = [row for row in reader.sets() if row.state == "VOID"]
        faults = reader.faults()
        early = told_of(reader, league)
        ending = ending_lines(reader, league)
    if output is Output.JSON:
        typer.echo(json_table(table))
        return
    if output is Output.RICH:
        Console().print(rich_table(table, league.name))
    else:
        typer.echo(plain_table(table))
    for line in (*notes(table), *([early] if early else []), *ending):
        typer.echo(line)
    for row in void:
        typer.echo(f"void: set {row.id}: {plain_text(row.reason or '')}")
    for fault in faults[-20:]:
        typer.echo(f"fault: {fault.at} {fault.entrant}: {fault.fault}: {plain_text(fault.sentence)}  log: {fault.log}")


@app.command(epilog="Example: referee show 17 --league leagues/kitchen.sqlite")
def show(
    game: Annotated[int, typer.Argument(min=1, help="The number of the game.")],
    league: Annotated[Path | None, typer.Option(help="The league's file. Default: the newest in leagues/.")] = None,
    deal: Annotated[list[int] | None, typer.Option(min=1, help="Only this deal, counted from 1; repeatable.")] = None,
    ascii_: Annotated[bool, typer.Option("--ascii", help="Letters for suits.")] = False,
) -> None:
    """Write a game down as a person would: bids, tricks, items, scores, rulings."""
    with Store.read(league or newest_league()) as reader:
        record = reader.record(game)
    typer.echo(write_down(record, deals=deal or None, symbols=not ascii_))


@app.command(epilog="Example: referee verify leagues/kitchen.sqlite   or: referee verify kitchen-export")
def verify(
    store: Annotated[Path, typer.Argument(metavar="LEAGUE", help="The league's file, or the folder of its export.")],
    output: OutputOption = Output.RICH,
    commitment: Annotated[str | None, typer.Option(help="The commitment as it was published before play.")] = None,
    record_root: Annotated[str | None, typer.Option(help="The record root as it was published after play.")] = None,
    receipts: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Receipts that a bot has kept; may be given several times."),
    ] = None,
) -> None:
    """Deal, replay, judge and rate a whole league again; print the first divergence. Exit 1 if there is any.

    With --receipts, also whether each game of that bot is there, as the bot was told of it, and no other.
    """
    console = Console(stderr=True)
    with _source(store) as source, Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("games", total=None)
        verdict = verify_league(
            source,
            lambda done, total: bar.update(task, completed=done, total=total),
            commitment=commitment,
            record_root=record_root,
            receipts=receipts or (),
        )
    typer.echo(json.dumps(verdict.to_json(), indent=2) if output is Output.JSON else str(verdict))
    if not verdict.ok:
        raise typer.Exit(1)


def _source(path: Path) -> AbstractContextManager[Source]:
    return nullcontext(Exported(path)) if path.is_dir() else Store.read(path)


def newest_league() -> Path:
    """The league in ``leagues/`` that was written last; raises ``StoreError`` if there is none."""
    found = sorted(Path("leagues").glob("*.sqlite"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise NoLeagueError("there is no league in leagues/; name its file with --league")
    return found[-1]
