"""``report``: what a league looks like, as HTML, Markdown or CSV."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.cli.options import newest_league, refuse_idle
from referee.league.definition.toml_file import write_text
from referee.league.league import read_league
from referee.league.store import Store


class ReportFormat(StrEnum):
    """How a report is written."""

    HTML = "html"
    MARKDOWN = "markdown"
    CSV = "csv"


class CsvTable(StrEnum):
    """What a CSV holds."""

    STANDINGS = "standings"
    CROSS = "cross"
    GAMES = "games"
    RULINGS = "rulings"
    SEATS = "seats"
    MARKS = "marks"


LeagueArgument = Annotated[
    Path | None, typer.Argument(metavar="[LEAGUE.sqlite]", help="The league's file. Default: the newest in leagues/.")
]
OutOption = Annotated[Path | None, typer.Option("--out", help="File to write.")]


@app.command(epilog="Example: referee report leagues/kitchen.sqlite")
def report(
    store: LeagueArgument = None,
    out: OutOption = None,
    form: Annotated[ReportFormat, typer.Option("--format", "-f", help="What to write.")] = ReportFormat.HTML,
    table: Annotated[CsvTable, typer.Option(help="Which table, with --format csv.")] = CsvTable.STANDINGS,
    games: Annotated[
        list[int] | None, typer.Option("--game", min=1, help="Show this game too; may be given several times.")
    ] = None,
) -> None:
    """Write the report of a league, also while it is running: one HTML file, Markdown, or a table as CSV.

    HTML goes to a file beside the league's (to the working directory where that cannot be), Markdown and CSV to the screen, unless --out says otherwise.
    """
    if form is not ReportFormat.CSV:
        refuse_idle("without --format csv", "--table")
    if form is not ReportFormat.HTML:
        refuse_idle("where no HTML is written", "--game")
    from referee.report.csv_tables import csv_table
    from referee.report.html_report import write_report
    from referee.report.markdown import markdown
    from referee.report.report_data import collect

    with Store.read(store or newest_league()) as reader:
        league = read_league(reader)
        if form is ReportFormat.HTML:
            path = write_report(
                reader, league, out or beside(reader.path, f"{reader.path.stem}.html"), games=games or ()
            )
            typer.echo(f"Report: {path}")
            return
        facts = collect(reader, league)
    text = markdown(facts) if form is ReportFormat.MARKDOWN else csv_table(facts, table.value)
    if out is None:
        typer.echo(text, nl=False)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    write_text(out, text)
    typer.echo(f"Report: {out}")


def beside(store: Path, name: str) -> Path:
    """A file beside the league's; in the working directory where nothing can be written there."""
    return store.with_name(name) if os.access(store.parent, os.W_OK) else Path(name)
