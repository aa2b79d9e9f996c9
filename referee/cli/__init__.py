"""The command line: ``referee``. Thin: every command parses, calls the library, and prints."""

import importlib
import sys
from typing import Final

import typer

from referee import __version__

MODULES: Final = {
    "run": "run",
    "resume": "run",
    "play": "run",
    "compare": "compare",
    "schedule": "schedule",
    "standings": "look",
    "report": "report",
    "show": "look",
    "replay": "report",
    "verify": "look",
    "export": "export",
    "rerun": "export",
    "ask": "ask",
    "check": "check",
    "build": "build",
    "new": "build",
    "submit": "submit",
    "withdraw": "submit",
    "rules": "book",
    "explain": "look",
    "vectors": "book",
    "protos": "look",
}
"""The module of each command, in the order of the help. Only the one that is asked for is loaded."""

app = typer.Typer(
    name="referee",
    help="Tournaments and rules conformance for the All Fours family of card games.\n\n"
    "A first league: [bold]referee run tournaments/kitchen.toml[/bold]\n\n"
    "A quick game:   [bold]referee play mybot.py careful random[/bold]",
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
    """The entry point of the ``referee`` command."""
    register(sys.argv[1] if len(sys.argv) > 1 else "")
    try:
        app()
    except BrokenPipeError:
        sys.exit(141)
    except Exception as error:
        from referee.cli.errors import EXPECTED, exit_code

        if not isinstance(error, EXPECTED):
            raise
        typer.echo(f"referee: {error}", err=True)
        sys.exit(exit_code(error))


def register(command: str) -> None:
    """Loads the module of a command, which registers it; all of them for anything else, such as ``--help``."""
    if command == "--version":
        return
    for module in dict.fromkeys([MODULES[command]] if command in MODULES else MODULES.values()):
        importlib.import_module(f"referee.cli.{module}")


__all__ = ["MODULES", "app", "main", "register"]
