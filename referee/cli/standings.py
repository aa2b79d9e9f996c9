"""``standings``: how a league stands, also while it runs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.cli.lines import columns_of, plain_text
from referee.cli.options import OutputFormat, OutputOption
from referee.cli.standings_text import EXPLANATIONS, card_lines, json_table, notes, standings_lines, wrapped
from referee.league.balance import told_of
from referee.league.ladder_history import is_ladder, open_round
from referee.league.league import read_league
from referee.league.standings import standings_of
from referee.league.store import Store
from referee.report.endings import ending_lines, open_line

StoreArgument = Annotated[Path, typer.Argument(metavar="LEAGUE.sqlite", help="The league's file.")]


AllOption = Annotated[bool, typer.Option("--all", help="All figures, a card for each bot.")]
ExplainOption = Annotated[bool, typer.Option("--explain", help="Say what the columns mean.")]


@app.command(
    epilog="Example: referee standings leagues/kitchen.sqlite --output json\n\nor:      referee standings leagues/kitchen.sqlite --all"
)
def standings(
    store: StoreArgument,
    output: OutputOption = OutputFormat.RICH,
    all_: AllOption = False,
    explain_: ExplainOption = False,
) -> None:
    """Print the standings of a league, also while it is running."""
    with Store.read(store) as reader:
        league = read_league(reader)
        table = standings_of(reader, league)
        faults = reader.faults()
        ladder, round_ = is_ladder(league), open_round(league)
        early = "" if ladder else told_of(reader, league)
        ending = ending_lines(reader, league)
        unfinished = league.facts["state"] != "finished"
        if ladder and round_ is not None:
            ending.append(f"Round {round_['number']} is being played: {open_line(reader)}.")
        elif unfinished and not ladder:
            ending.append(f"Not finished: {open_line(reader)}.")
    if output is OutputFormat.JSON:
        typer.echo(json_table(table))
        return
    width = columns_of(sys.stdout)
    typer.echo(wrapped(league.name, width))
    typer.echo("\n".join(card_lines(table, width) if all_ else standings_lines(table, width)))
    typer.echo()
    for line in (*notes(table), *([early] if early else []), *ending):
        typer.echo(wrapped(line, width))
    if unfinished:
        how = f"referee run {league.facts.get('file', 'LADDER.toml')}" if ladder else f"referee resume {store}"
        typer.echo(f"If it has stopped, go on with: {how}")
    for fault in faults[-20:]:
        told = f"Fault: {fault.at} {fault.entrant}: {fault.fault}: {fault.sentence}"
        typer.echo(f"{wrapped(told, width)}\n  Its log: {plain_text(fault.log)}")
    if explain_:
        typer.echo()
        for line in EXPLANATIONS:
            typer.echo(wrapped(line, width))
