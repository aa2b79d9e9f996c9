"""The reference of all commands, from what the command line itself declares."""

import inspect
import re
from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import typer
from typer.models import ArgumentInfo, CommandInfo, ParameterInfo

import referee.cli

ORDER: Final = ("run", "resume", "play", "standings", "show", "report", "replay", "verify", "explain", "protos")
"""The commands in the order in which a reader needs them; others follow by name."""

WORDS: Final = {int: "N", float: "N", str: "TEXT", Path: "PATH"}
"""How the values of options are called, by their type."""


def command_line() -> typer.Typer:
    """The command line with all its commands: each module of ``referee.cli`` registers its own."""
    for module in iter_modules(referee.cli.__path__):
        import_module(f"referee.cli.{module.name}")
    return referee.cli.app


def name_of(command: CommandInfo) -> str:
    """The word by which a command is called."""
    return command.name or str(getattr(command.callback, "__name__", "")).replace("_", "-")


def commands() -> str:
    """Every command: what it does, its arguments, options and example."""
    known = sorted(command_line().registered_commands, key=_place)
    return "\n".join(map(_command, known))


def _place(command: CommandInfo) -> tuple[int, str]:
    name = name_of(command)
    return ORDER.index(name) if name in ORDER else len(ORDER), name


def _command(command: CommandInfo) -> str:
    callback: Callable[..., Any] = command.callback or (lambda: None)
    arguments, options = [], []
    for name, parameter in inspect.signature(callback, eval_str=True).parameters.items():
        told, kind = _annotation(get_type_hints(callback, include_extras=True)[name])
        if isinstance(told, ArgumentInfo):
            arguments.append(f"- `{told.metavar or name.upper()}`: {told.help}")
        else:
            options.append(f"- `{_option(name, told, kind)}`: {told.help}{_default(parameter.default)}")
    usage = " ".join(["referee", name_of(command), *_usage(callback)])
    parts = [f"## `referee {name_of(command)}`", inspect.getdoc(callback) or "", f"    {usage}"]
    parts += ["\n".join(arguments), "\n".join(options)]
    parts += [f"```sh\n{example}\n```" for example in _examples(command.epilog or "")]
    return "\n\n".join(part for part in parts if part) + "\n"


def _usage(callback: Callable[..., Any]) -> Iterator[str]:
    yield "[OPTIONS]"
    for name, hint in get_type_hints(callback, include_extras=True).items():
        told, _ = _annotation(hint)
        if isinstance(told, ArgumentInfo):
            yield told.metavar or name.upper()


def _annotation(hint: Any) -> tuple[ParameterInfo, Any]:
    """What typer is told of a parameter, and its type."""
    if get_origin(hint) is Annotated:
        kind, told = get_args(hint)[:2]
        return told, kind
    return typer.Option(), hint


def _option(name: str, told: ParameterInfo, kind: Any) -> str:
    # In an Annotated, typer takes the first name for a default and sorts it out later.
    first = (told.default,) if isinstance(told.default, str) and told.default.startswith("-") else ()
    flags = ", ".join((*first, *(told.param_decls or ())) or (f"--{name.replace('_', '-')}",))
    if kind is bool:
        return flags
    plain = _plain(kind)
    if issubclass(plain, Enum):
        return f"{flags} {'|'.join(member.value for member in plain)}"
    return f"{flags} {told.metavar or WORDS[plain]}"


def _plain(kind: Any) -> type:
    """The type of one value: ``str`` for ``list[str] | None``."""
    if isinstance(kind, type) and not get_args(kind):
        return kind
    return next(_plain(one) for one in get_args(kind) if one is not type(None))


def _default(value: object) -> str:
    if value is inspect.Parameter.empty:
        return " Needed."
    if value in (None, False, ""):
        return ""
    return f" Default: `{value.value if isinstance(value, Enum) else value}`."


def _examples(epilog: str) -> list[str]:
    """The command lines of an epilog: ``Example: referee a``, then ``or: referee b``, a line each."""
    return [line.strip() for line in re.split(r"\s+or: ", epilog.partition("Example:")[2]) if line.strip()]
