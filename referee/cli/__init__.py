"""The command line: ``referee``. Thin: every command parses, calls the library, and prints."""

import importlib
import io
import os
import sys
from typing import Any, Final, NoReturn

import typer
from typer.core import TyperGroup

from referee import __version__
from referee.cli.exits import FAILED, INTERRUPTED, PIPE_CLOSED

COMMANDS: Final = {
    "run": ("run", "Play a league from its definition, or go on with it."),
    "resume": ("run", "Go on with a league that was stopped or killed."),
    "play": ("run", "Let bots play some quick games at one table."),
    "table": ("table", "Play yourself: a seat for you, bots in the others."),
    "daily": ("table", "Play the packs of the day against the house."),
    "compare": ("compare", "Is the new version of a bot better than the old one?"),
    "ladder": ("ladder", "Print the rounds of a ladder; withdraw, pause, freeze, end."),
    "host": ("host", "Run a ladder on the network: its site, its checks and its rounds."),
    "schedule": ("schedule", "Print and check the schedule of a tournament."),
    "standings": ("standings", "Print the standings of a league, also while it runs."),
    "report": ("report", "Write the report of a league: HTML, Markdown or CSV."),
    "show": ("show", "Write a game down as a person would."),
    "replay": ("replay", "Step through a game, in the terminal or as a page."),
    "verify": ("verify", "Deal, replay, judge and rate a whole league again."),
    "export": ("export", "Write a finished league as plain files."),
    "rerun": ("export", "Play an exported league again and compare the results."),
    "ask": ("ask", "Put a decision of a stored game to a bot."),
    "check": ("check", "Check whether a bot keeps the rules, and show what it breaks."),
    "build": ("build", "Run the build step of bots."),
    "new": ("build", "Write a new bot project in the language of your choice."),
    "submit": ("submit", "Check a bot and, if it conforms, enter it in a tournament."),
    "push": ("push", "Hand a bot in at a host, and follow what becomes of it."),
    "connect": ("connect", "Let a bot that runs here play on a host's board of remote bots."),
    "withdraw": ("submit", "Take a bot out of a tournament's definition."),
    "rules": ("reference", "Print the rule book of a game."),
    "explain": ("reference", "Explain a clause of the rule book, or the fault table."),
    "vectors": ("reference", "Write the rules as JSON cases, for an engine or a bot."),
    "protos": ("reference", "Write the .proto files of the wire contract."),
}
"""Each command in the order of the help: its module, loaded only when it is asked for, and a summary for the list."""


def interrupted() -> NoReturn:
    """Ends the program after Ctrl-C."""
    typer.echo("referee: interrupted", err=True)
    sys.exit(INTERRUPTED)


def pipe_closed() -> NoReturn:
    """Ends the program when nobody reads its output any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that the last flush of the interpreter finds nothing to say
    sys.exit(PIPE_CLOSED)


class Commands(TyperGroup):
    """The commands. Ctrl-C and a closed pipe have exit codes of their own; typer alone would say that it failed."""

    def invoke(self, ctx: Any) -> Any:
        """Runs the command that was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            interrupted()
        except BrokenPipeError:
            pipe_closed()
        except typer.BadParameter as error:
            error.message = _in_words(error)
            raise


def _in_words(error: typer.BadParameter) -> str:
    """What is wrong with a word of the command line; the library that checks them has words for programmers alone."""
    found = getattr(error.__cause__, "errors", lambda: ())()
    if not found:
        return error.message
    kind, given, context = found[0]["type"], found[0]["input"], found[0].get("ctx", {})
    match kind:
        case "int_parsing" | "int_type" | "int_from_float" | "int_parsing_size":
            return f"{given!r} is not a whole number"
        case "float_parsing" | "float_type":
            return f"{given!r} is not a number"
        case "greater_than_equal":
            return f"{given} is too small: at least {context['ge']}"
        case "less_than_equal":
            return f"{given} is too large: at most {context['le']}"
        case "enum" | "literal_error":
            return f"{given!r} is none of {context['expected']}"
    return error.message.removeprefix("Value error, ")


app = typer.Typer(
    name="referee",
    cls=Commands,
    help="Tournaments and rules conformance for the All Fours family of card games.\n\n"
    "A first league: referee run tournaments/kitchen.toml\n\n"
    "A quick game: referee play mybot.py careful random\n\n"
    "More about a command: referee COMMAND --help",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"referee {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    del version


def main() -> None:
    """Runs the command line. What a user can put right is one sentence; ``referee.cli.exits`` has the exit codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a name that the terminal's encoding lacks is shown by its numbers
            stream.reconfigure(errors="backslashreplace")
    asked = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    try:
        if asked in COMMANDS:
            register(asked)
        else:
            list_commands()
        app()
    except BrokenPipeError:
        pipe_closed()
    except KeyboardInterrupt:
        interrupted()
    except MemoryError:
        typer.echo("referee: that takes more memory than there is", err=True)
        sys.exit(FAILED)
    except Exception as error:
        from referee.cli.errors import EXPECTED, exit_code, sentence

        if not isinstance(error, EXPECTED):
            raise
        told = f"referee: {sentence(error)}"
        if sys.stderr.isatty():
            from referee.cli.lines import broken, columns_of

            told = "\n".join(broken(line, columns_of(sys.stderr)) for line in told.splitlines())
        typer.echo(told, err=True)
        sys.exit(exit_code(error))


def register(command: str = "") -> None:
    """Loads the module of a command, which registers it; without a command, all of them."""
    for module in dict.fromkeys([COMMANDS[command][0]] if command else [module for module, _ in COMMANDS.values()]):
        importlib.import_module(f"referee.cli.{module}")


def list_commands() -> None:
    """Registers the names and summaries alone, for the help and for words that are no command.

    Neither the commands are loaded nor rich, which takes three times as long as all the rest.
    """
    app.rich_markup_mode = None
    for name, (_, summary) in COMMANDS.items():
        app.command(name, short_help=summary)(lambda: None)


__all__ = ["COMMANDS", "app", "list_commands", "main", "register"]
