"""``report`` and ``replay``: what a league and a game look like."""

from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.store import Store
from referee.tournament.league import read_league

StoreArgument = Annotated[Path, typer.Argument(metavar="LEAGUE.sqlite", help="The league's file.")]


@app.command(epilog="Example: referee report leagues/kitchen.sqlite")
def report(
    store: StoreArgument,
    out: Annotated[Path | None, typer.Option(help="File to write. Default: beside the league.")] = None,
) -> None:
    """Write the report of a league as one HTML file; also while the league is running."""
    from referee.report import write_report

    with Store.read(store) as reader:
        path = write_report(reader, read_league(reader), out or store.with_suffix(".html"))
    typer.echo(f"Report: {path}")
