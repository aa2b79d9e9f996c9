"""Options that would have no effect are refused: whoever gives one expects something of it."""

from importlib import import_module
from typing import Any, Final

import typer

# Typer stands on click, and newer ones on a copy of their own: the context of a command is in the one that it stands on.
_CLICK: Final[Any] = import_module(f"{typer.Context.__mro__[1].__module__.rpartition('.')[0]}.globals")


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
