"""``replay``: a game stepped through, key by key in the terminal or as a page."""

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from referee.cli import app
from referee.cli.options import newest_league
from referee.cli.report import OutOption, beside
from referee.league.league import League, read_league
from referee.league.store import Store
from referee.report.game_replay import game_replay
from referee.report.report_data import names_of
from referee.report.terminal_replay import Frame, frames
from referee.umpire.record import Record


@app.command(epilog="Example: referee replay 17 --html\n\nor:      referee replay 17 --seat 2")
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
        from referee.report.html_report import write_replay

        typer.echo(f"Replay: {write_replay(record, game, path, names)}")
    else:
        _step_through(record, game, names, seat)


def _seated(store: Store, league: League, game: int) -> tuple[list[str], bool]:
    """What the entrants are called by seat, and whether the game's set is still being played."""
    row = next((row for row in store.games() if row.number == game), None)
    if row is None:  # a game of an earlier deal of its set: kept for audit, counted nowhere
        return [], False
    names = names_of([entrant.key for entrant in league.entrants])
    still_open = any(one.id == row.summary["set"] and one.state == "OPEN" for one in store.sets())
    return [names[key] for key in row.summary["entrants"]], still_open


def _step_through(record: Record, game: int, names: list[str], seat: int | None) -> None:

    shown = game_replay(record, game, names)
    if seat is not None and seat > shown.seats:
        raise typer.BadParameter(f"there are {shown.seats} seats", param_hint="--seat")
    pictures = frames(shown, None if seat is None else seat - 1, symbols=_symbols())
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


KEYS: Final = {
    "\x1b[C": "on",
    "\x1b[D": "back",
    "\x1b[B": "next stop",
    "\x1b[A": "last stop",
    " ": "on",
    "\r": "on",
    "\n": "on",
    "n": "on",
    "b": "back",
    "t": "next stop",
    "T": "last stop",
    "r": "ruling",
    "g": "start",
    "G": "end",
    "q": "quit",
    "\x04": "quit",
    "\x1b": "quit",
    "": "quit",
}
"""What a key does; the empty key is the end of the input."""

HELP: Final = "right/space on, left/b back, down/t next trick, up/T last trick, r next ruling, g start, G end, q quit"


def step_through(frames: Sequence[Frame]) -> None:
    """Shows one frame at a time until the user quits; the terminal is as it was afterwards."""
    console = Console(highlight=False, emoji=False, markup=False)
    with console.screen(hide_cursor=True) as screen, _keys() as read_key:
        at = 0
        while True:
            lines = [*frames[at].lines, "", f"{at + 1} / {len(frames)}   {HELP}"]
            screen.update(Text("\n".join(lines), style="yellow" if frames[at].ruling else ""))
            try:
                command = KEYS.get(read_key())
            except KeyboardInterrupt:
                return
            if command == "quit":
                return
            at = move(frames, at, command)


def move(frames: Sequence[Frame], at: int, command: str | None) -> int:
    """Where a command leads from frame ``at``; an unknown one leads nowhere."""
    last = len(frames) - 1
    match command:
        case "on":
            return min(at + 1, last)
        case "back":
            return max(at - 1, 0)
        case "next stop":
            return next((i for i in range(at + 1, last) if frames[i].stop), last)
        case "last stop":
            return next((i for i in range(at - 1, 0, -1) if frames[i].stop), 0)
        case "ruling":
            rulings = [i for i, frame in enumerate(frames) if frame.ruling]
            return next((i for i in rulings if i > at), rulings[0] if rulings else at)
        case "start":
            return 0
        case "end":
            return last
    return at


@contextmanager
def _keys() -> Iterator[Callable[[], str]]:
    """A function that waits for a key; arrows come as one."""
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)

    def read_key() -> str:
        key = os.read(number, 1)
        if key == b"\x1b" and select.select([number], [], [], 0.05)[0]:
            key += os.read(number, 2)
        return key.decode("utf-8", "replace")

    tty.setcbreak(number)
    try:
        yield read_key
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
