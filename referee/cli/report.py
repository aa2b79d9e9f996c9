"""``report`` and ``replay``: what a league and a game look like."""

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from referee.cli import app
from referee.cli.look import newest_league
from referee.cli.options import refuse_idle
from referee.league.league import League, read_league
from referee.league.store import Store
from referee.umpire.record import Record


class Format(StrEnum):
    """How a report is written."""

    HTML = "html"
    MARKDOWN = "markdown"
    CSV = "csv"


class Table(StrEnum):
    """What a CSV holds."""

    STANDINGS = "standings"
    CROSS = "cross"
    GAMES = "games"
    RULINGS = "rulings"
    SEATS = "seats"


LeagueArgument = Annotated[
    Path | None, typer.Argument(metavar="[LEAGUE.sqlite]", help="The league's file. Default: the newest in leagues/.")
]
OutOption = Annotated[Path | None, typer.Option("--out", help="File to write.")]


@app.command(epilog="Example: referee report leagues/kitchen.sqlite")
def report(
    store: LeagueArgument = None,
    out: OutOption = None,
    form: Annotated[Format, typer.Option("--format", "-f", help="What to write.")] = Format.HTML,
    table: Annotated[Table, typer.Option(help="Which table, with --format csv.")] = Table.STANDINGS,
    games: Annotated[
        list[int] | None, typer.Option("--game", min=1, help="Show this game too; may be given several times.")
    ] = None,
) -> None:
    """Write the report of a league, also while it is running: one HTML file, Markdown, or a table as CSV.

    HTML goes to a file beside the league's (to the working directory where that cannot be), Markdown and CSV to the screen, unless --out says otherwise.
    """
    if form is not Format.CSV:
        refuse_idle("without --format csv", "--table")
    if form is not Format.HTML:
        refuse_idle("where no HTML is written", "--game")
    from referee.report import csv_table, gather, markdown, write_report

    with Store.read(store or newest_league()) as reader:
        league = read_league(reader)
        if form is Format.HTML:
            path = write_report(
                reader, league, out or beside(reader.path, f"{reader.path.stem}.html"), games=games or ()
            )
            typer.echo(f"Report: {path}")
            return
        facts = gather(reader, league)
    text = markdown(facts) if form is Format.MARKDOWN else csv_table(facts, table.value)
    if out is None:
        typer.echo(text, nl=False)
        return
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, "utf-8")
    typer.echo(f"Report: {out}")


@app.command(epilog="Example: referee replay 17 --html   or: referee replay 17 --seat 2")
def replay(
    game: Annotated[int, typer.Argument(min=1, help="The number of the game.")],
    league: Annotated[Path | None, typer.Option(help="The league's file. Default: the newest in leagues/.")] = None,
    html: Annotated[bool, typer.Option("--html", help="Write a page with real cards, to step through.")] = False,
    out: OutOption = None,
    seat: Annotated[int | None, typer.Option(min=1, help="In the terminal: only what this seat saw.")] = None,
) -> None:
    """Step through a game: in the terminal, or as one HTML file."""
    if seat is not None and (html or out):
        told = "a page holds every hand, so it cannot be for one seat alone; leave out --html and --out, or --seat"
        raise typer.BadParameter(told, param_hint="--seat")
    with Store.read(league or newest_league()) as reader:
        record, found = reader.record(game), read_league(reader)
        names, still_open = _seated(reader, found, game)
        path = out or beside(reader.path, f"{reader.path.stem}-game-{game}.html")
    if still_open:
        typer.echo("The set of this game is still being played: keep its packs to yourself.", err=True)
    if html or out:
        from referee.report import write_replay

        typer.echo(f"Replay: {write_replay(record, game, path, names)}")
    else:
        _step_through(record, game, names, seat)


def beside(store: Path, name: str) -> Path:
    """A file beside the league's; in the working directory where nothing can be written there."""
    return store.with_name(name) if os.access(store.parent, os.W_OK) else Path(name)


def _seated(store: Store, league: League, game: int) -> tuple[list[str], bool]:
    """What the entrants are called by seat, and whether the game's set is still being played."""
    from referee.report.facts import names_of

    row = next((row for row in store.games() if row.number == game), None)
    if row is None:  # a game of an earlier deal of its set: kept for audit, counted nowhere
        return [], False
    names = names_of([entrant.key for entrant in league.entrants])
    still_open = any(one.id == row.summary["set"] and one.state == "OPEN" for one in store.sets())
    return [names[key] for key in row.summary["entrants"]], still_open


def _step_through(record: Record, game: int, names: list[str], seat: int | None) -> None:
    from referee.cli.stepping import step_through
    from referee.report.film import film
    from referee.report.terminal import frames

    filmed = film(record, game, names)
    if seat is not None and seat > filmed.seats:
        raise typer.BadParameter(f"there are {filmed.seats} seats", param_hint="--seat")
    pictures = frames(filmed, None if seat is None else seat - 1, symbols=_symbols())
    if sys.stdin.isatty() and sys.stdout.isatty():
        step_through(pictures)
    else:
        for picture in pictures:
            typer.echo("\n".join(picture.lines) + "\n")


def _symbols() -> bool:
    """Whether the terminal can show suits as symbols."""
    try:
        "♣♦♥♠–".encode(sys.stdout.encoding or "ascii")  # noqa: RUF001  # what the frames are written with
    except (UnicodeEncodeError, LookupError):
        return False
    return True
