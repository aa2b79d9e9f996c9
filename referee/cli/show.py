"""``show``: a game written down as a person would write it."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.cli.options import newest_league
from referee.league.definition.problems import counted
from referee.league.store import Store
from referee.umpire.notation import write_down


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
