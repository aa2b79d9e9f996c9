"""Options that several commands have; and options that would have no effect are refused: whoever gives one expects something of it."""

from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final

import typer

# Typer stands on click, and newer ones on a copy of their own: the context of a command is in the one that it stands on.
_CLICK: Final[Any] = import_module(f"{typer.Context.__mro__[1].__module__.rpartition('.')[0]}.globals")


LEAGUES = Path("leagues")


class OutputFormat(StrEnum):
    """How results are printed."""

    RICH = "rich"
    PLAIN = "plain"
    JSON = "json"


class SandboxMode(StrEnum):
    """Whether bot processes run in a sandbox."""

    AUTO = "auto"
    BUBBLEWRAP = "bubblewrap"
    NONE = "none"


WorkersOption = Annotated[int, typer.Option("--workers", "-w", min=1, max=64, help="Processes that play games.")]
OutputOption = Annotated[OutputFormat, typer.Option("--output", "-o", help="How to print results.")]
SandboxOption = Annotated[
    SandboxMode, typer.Option("--sandbox", help="Run bots in a sandbox: where one works, always, or never.")
]
TrustOption = Annotated[bool, typer.Option("--trust-bots", help="Run strangers' bots even without a sandbox.")]


def newest_league() -> Path:
    """The league in ``leagues/`` that was written last; raises ``StoreError`` if there is none."""
    found = sorted(LEAGUES.glob("*.sqlite"), key=lambda path: path.stat().st_mtime)
    if not found:
        from referee.league.store import NoLeagueError

        raise NoLeagueError("there is no league in leagues/; name its file with --league")
    return found[-1]


def given(*options: str) -> list[str]:
    """Those of the options, as ``--listen``, that stand on the command line of the command that runs."""
    context = _CLICK.get_current_context()
    return [
        option
        for option in options
        for parameter in context.command.params
        if option in parameter.opts and context.get_parameter_source(parameter.name).name == "COMMANDLINE"
    ]


def refuse_idle(why: str, *options: str) -> None:
    """Raises ``BadParameter`` if one of the options was given; ``why`` follows "has no effect": ``with --script``."""
    for option in given(*options):
        raise typer.BadParameter(f"it has no effect {why}; leave it out", param_hint=option)


def refuse_together(remedy: str, *options: str) -> None:
    """Raises ``BadParameter`` if more than one of the options was given; ``remedy`` says which to keep."""
    found = given(*options)
    if len(found) > 1:
        raise typer.BadParameter(f"{found[0]} and {found[1]} exclude one another: {remedy}", param_hint=found[1])
