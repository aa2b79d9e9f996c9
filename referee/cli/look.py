"""``standings``, ``show``, ``verify``: everything that only looks at a league."""

import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import Progress

from referee.cli import app
from referee.cli.run import Output, OutputOption
from referee.cli.screen import columns_of, messages, plain_text
from referee.cli.tables import EXPLANATIONS, card_lines, counted, json_table, notes, standings_lines, wrapped
from referee.league.balance import told_of
from referee.league.league import read_league
from referee.league.standings import standings_of
from referee.league.store import Exported, NoLeagueError, Source, Store
from referee.report.endings import ending_lines, open_line
from referee.umpire.notation import write_down
from referee.verification.verify import verify as verify_league

StoreArgument = Annotated[Path, typer.Argument(metavar="LEAGUE.sqlite", help="The league's file.")]


AllOption = Annotated[bool, typer.Option("--all", help="All figures, a card for each bot.")]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Say what the columns mean.")]


@app.command(
    epilog="Example: referee standings leagues/kitchen.sqlite --output json   or: referee standings leagues/kitchen.sqlite --all"
)
def standings(
    store: StoreArgument, output: OutputOption = Output.RICH, all_: AllOption = False, explain_: ExplainOption = False
) -> None:
    """Print the standings of a league, also while it is running."""
    with Store.read(store) as reader:
        league = read_league(reader)
        table = standings_of(reader, league)
        faults = reader.faults()
        early = told_of(reader, league)
        ending = ending_lines(reader, league)
        if league.facts["state"] != "finished":
            ending.append(f"Not finished: {open_line(reader)}. If it has stopped, go on with: referee resume {store}")
    if output is Output.JSON:
        typer.echo(json_table(table))
        return
    width = columns_of(sys.stdout)
    typer.echo(wrapped(league.name, width))
    typer.echo("\n".join(card_lines(table, width) if all_ else standings_lines(table, width)))
    typer.echo()
    for line in (*notes(table), *([early] if early else []), *ending):
        typer.echo(wrapped(line, width))
    for fault in faults[-20:]:
        told = f"Fault: {fault.at} {fault.entrant}: {fault.fault}: {fault.sentence}"
        typer.echo(f"{wrapped(told, width)}\n  Its log: {plain_text(fault.log)}")
    if explain_:
        typer.echo()
        for line in EXPLANATIONS:
            typer.echo(wrapped(line, width))


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
    last = len(record["deals"])
    if deal and max(deal) > last:
        raise typer.BadParameter(f"the game has {counted(last, 'deal')}", param_hint="--deal")
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
    console = messages()
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
