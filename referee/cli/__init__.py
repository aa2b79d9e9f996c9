"""The command line: ``referee``. Thin: every command parses, calls the library, and prints."""

import sys

import typer

from referee import __version__

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
    from referee.cli import book, check, look, report, run, submit  # noqa: F401  # they register their commands; late, to keep --version quick
    from referee.cli.errors import EXPECTED, exit_code

    try:
        app()
    except EXPECTED as error:
        typer.echo(f"referee: {error}", err=True)
        sys.exit(exit_code(error))
    except BrokenPipeError:
        sys.exit(141)


__all__ = ["app", "main"]
