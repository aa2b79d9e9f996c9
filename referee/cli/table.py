"""``table`` and ``daily``: a seat for a person, in the browser or in the terminal."""

import sys
import threading
import webbrowser
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from referee.cli import app
from referee.cli.adhoc_league import adhoc_definition, distinct_names
from referee.cli.exits import INTERRUPTED
from referee.cli.lines import messages, plain_text
from referee.cli.options import LEAGUES, SandboxMode, SandboxOption, refuse_idle
from referee.cli.reference import read_change
from referee.cli.run import is_sample
from referee.league.definition.names import harmless_name
from referee.league.entrants.bot_build import require_built
from referee.league.entrants.bot_source import BotSourceError, find_bot
from referee.league.league import free_season, remove_league
from referee.league.play.stop_signals import on_stop_signals
from referee.league.store import Store, StoreError
from referee.report.sanitize import name as harmless
from referee.rules import variant as rules_of_game
from referee.sandbox.isolation import choose_sandbox
from referee.table.day import NOTE, master_of_the_day, title_of_the_day
from referee.table.game import TableGame, TablePlan
from referee.table.seating import names_of_copies, seat_all, table_definition

YOU: Final = "You"

BotsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[BOT...]", help="From your left on: a .py file, a folder with bot.toml, or a sample."),
]
VariantOption = Annotated[str, typer.Option(help="Which game.")]
SeatsOption = Annotated[int | None, typer.Option(min=2, max=7, help="Seats at the table, yours among them.")]
SeatOption = Annotated[int, typer.Option(min=1, max=7, help="Which seat is yours; the first deals first.")]
ChangesOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="HOUSE_RULE=VALUE", help="Change a house rule; repeatable.")
]
NameOption = Annotated[str, typer.Option(help="What you are called, at the table and in the record.")]
PracticeOption = Annotated[bool, typer.Option("--practice", help="Moves can be taken back, and nothing is kept.")]
ClockOption = Annotated[
    float | None,
    typer.Option(
        min=2, max=3600, metavar="SECONDS", help="Time for a decision, for all. Without it you have no clock."
    ),
]
TerminalOption = Annotated[bool, typer.Option("--terminal", help="Play in this terminal, by keyboard alone.")]
NoBrowserOption = Annotated[bool, typer.Option("--no-browser", help="Show the link, and open no browser.")]
PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Where the page listens on this machine. 0: any port.")]
KeepOption = Annotated[Path | None, typer.Option(help="Keep the game in this file.")]


@app.command(
    epilog="Example: referee table careful montecarlo random\n\n"
    "or:      referee table careful --variant cinch --practice\n\n"
    "or:      referee table careful random --terminal"
)
def table(
    bots: BotsArgument = None,
    variant: VariantOption = "auction-pitch",
    seats: SeatsOption = None,
    seat: SeatOption = 1,
    changes: ChangesOption = None,
    name: NameOption = YOU,
    practice: PracticeOption = False,
    clock: ClockOption = None,
    terminal: TerminalOption = False,
    no_browser: NoBrowserOption = False,
    port: PortOption = 0,
    keep: KeepOption = None,
    sandbox: SandboxOption = SandboxMode.NONE,
) -> None:
    """Sit down at a table with bots: in your browser or in this terminal, before the same referee as they.

    You have all the time you like, unless you give a --clock. What the rules forbid is explained, and costs nothing.
    """
    _refuse(terminal=terminal, practice=practice)
    plan = _plan(
        _Wanted(bots or [], variant, dict(read_change(text) for text in changes or ()), seats, seat, name, clock),
        "Table",
        keep or free_season(LEAGUES / "table.sqlite"),
        sandbox,
    )
    _play(replace(plan, practice=practice), terminal=terminal, browser=not no_browser, port=port)


@app.command(
    epilog="Example: referee daily --variant auction-pitch\n\nor:      referee daily --variant cinch --terminal\n\nor:      referee daily --date 2026-12-24"
)
def daily(
    variant: VariantOption = "auction-pitch",
    day: Annotated[str, typer.Option("--date", metavar="YYYY-MM-DD", help="Another day than today (UTC).")] = "",
    practice: PracticeOption = False,
    clock: ClockOption = None,
    terminal: TerminalOption = False,
    no_browser: NoBrowserOption = False,
    port: PortOption = 0,
    keep: KeepOption = None,
) -> None:
    """Play the packs of the day, from the first seat, against bots of the house that never change.

    At home that is practice: the packs lie on your machine, so there is no table of players.
    """
    _refuse(terminal=terminal, practice=practice)
    chosen = _date(day)
    usual = LEAGUES / f"daily-{chosen.isoformat()}-{rules_of_game(variant).name}.sqlite"
    plan = _plan(
        _Wanted([], variant, {}, None, 1, YOU, clock),
        title_of_the_day(chosen),
        keep or free_season(usual),
        SandboxMode.NONE,
    )
    if usual.exists():
        typer.echo(f"You have played the packs of {chosen.isoformat()} before: {usual}")
    typer.echo(f"Daily of {chosen.isoformat()}. {NOTE}")
    known = master_of_the_day(chosen, rules_of_game(variant).name)
    _play(
        replace(plan, practice=practice, known=known),
        terminal=terminal,
        browser=not no_browser,
        port=port,
    )


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text) if text else datetime.now(UTC).date()
    except ValueError:
        told = f"{text!r} is no date; write year, month and day: 2026-12-24"
        raise typer.BadParameter(told, param_hint="--date") from None


def _refuse(*, terminal: bool, practice: bool) -> None:
    if terminal:
        refuse_idle("with --terminal, which has no page", "--no-browser", "--port")
    if practice:
        refuse_idle("with --practice, which keeps nothing", "--keep")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What was asked for on the command line."""

    bots: list[str]
    variant: str
    house_rules: dict[str, Any]
    seats: int | None
    seat: int
    name: str
    seconds: float | None


def _plan(wanted: _Wanted, title: str, path: Path, sandbox: SandboxMode) -> TablePlan:
    """The table that was asked for; raises ``SeatingError`` or ``DefinitionError``."""
    rules = rules_of_game(wanted.variant)
    seating = seat_all(rules.with_rules(wanted.house_rules), wanted.bots, wanted.seats, wanted.seat)
    named = list(dict.fromkeys(bot for bot in seating.bots if bot))
    names = {bot: _own_name(bot) for bot in named} | distinct_names(named)
    by_seat = names_of_copies(seating, names)
    person = harmless_name(wanted.name)
    if person == "bot" and wanted.name != person:
        person = YOU  # nothing of the name can stand in a record
    if person.casefold() in map(str.casefold, by_seat.values()):
        raise typer.BadParameter(f"a bot at the table is called {person}; give another name", param_hint="--name")
    text = table_definition(title, rules, wanted.house_rules, seating, by_seat, person, wanted.seconds)
    definition, roster = adhoc_definition(text, [bot or "your seat" for bot in seating.bots], _WORDS)
    require_built(roster.bots)
    choice = choose_sandbox(sandbox.value)
    if choice.line and not all(bot.remote or is_sample(bot) for bot in roster.bots):
        messages().print(choice.line, style="dim", markup=False)
    return TablePlan(
        definition=definition,
        roster=roster,
        you=seating.you,
        path=path,
        sandbox=choice.kind,
        seconds=wanted.seconds,
        person=harmless(wanted.name),
    )


_WORDS: Final = {
    "seats": ("--seats", "give --seats {}"),
    "variant": ("--variant", "give --variant {}"),
    "move_ms": ("--clock", "give another --clock"),
}
"""What the fields of its definition are on the command line of ``table``."""


def _own_name(bot: str) -> str:
    try:
        return find_bot(bot, Path.cwd()).name
    except BotSourceError:
        return "bot"  # entering it reports that


def _play(plan: TablePlan, *, terminal: bool, browser: bool, port: int) -> None:
    game = TableGame(plan)
    front = _Terminal(game) if terminal else _Browser(game, port, browser=browser)
    stopped = threading.Event()

    def stop() -> None:
        again = stopped.is_set()
        stopped.set()
        front.stop()
        game.stop(at_once=again)

    is_ours = False  # until it is begun, what lies at its path is somebody else's
    try:
        with game.begun():
            is_ours = True
            shown = threading.Thread(target=front.run, name="table-front", daemon=True)
            with on_stop_signals(stop):
                shown.start()
                game.play()
                shown.join()
    finally:
        over = game.table.state().over
        if is_ours and not plan.practice and (over is None or not over.command):
            _remove_if_empty(game.path)
    if front.failure is not None:
        raise front.failure
    _tell_what_is_kept(game, is_told=terminal)
    if game.failure is not None:
        raise game.failure
    if stopped.is_set() and game.table.state().over is None:
        raise typer.Exit(INTERRUPTED)


class _Front:
    """What shows the table, in a thread of its own: ``run`` returns when the person leaves, and then the game ends."""

    def __init__(self, game: TableGame) -> None:
        self._game = game
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            self.show()
        except Exception as error:  # noqa: BLE001  # raised by the command
            self.failure = error
        self._game.stop()

    def show(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        raise NotImplementedError


class _Browser(_Front):
    def __init__(self, game: TableGame, port: int, *, browser: bool) -> None:
        from referee.table.web import TableSite

        super().__init__(game)
        self._site, self._port, self._browser = TableSite(game), port, browser

    def show(self) -> None:
        from referee.table.web import serve_table

        serve_table(self._site, self._port, self._told)

    def stop(self) -> None:
        self._site.stop.set()

    def _told(self, link: str) -> None:
        typer.echo(f"Your table: {link}")
        typer.echo("The link is for you alone. Ctrl-C closes the table.")
        if self._browser:
            with suppress(webbrowser.Error, OSError):
                threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


class _Terminal(_Front):
    def __init__(self, game: TableGame) -> None:
        from referee.table.terminal import TerminalTable

        super().__init__(game)
        self._terminal = TerminalTable(game.table, sys.stdin, sys.stdout)

    def show(self) -> None:
        self._terminal.run()

    def stop(self) -> None:
        self._terminal.stop()


def _remove_if_empty(path: Path) -> None:
    """A game that did not come to its end leaves nothing behind."""
    with suppress(StoreError, OSError):
        with Store.read(path) as store:
            is_empty = not store.count_games()
        if is_empty:
            remove_league(path)


def _tell_what_is_kept(game: TableGame, *, is_told: bool) -> None:
    """``is_told``: how it has ended stands there already."""
    over = game.table.state().over
    if over is not None and not is_told:
        typer.echo(plain_text(over.sentence))
    if over is None:
        typer.echo("The game was left before its end; it is not kept.")
    elif over.command:
        typer.echo(f"Replay: {over.command}   Record: {game.path}")
