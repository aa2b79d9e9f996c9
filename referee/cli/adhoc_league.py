"""Leagues that are asked for on the command line, without a definition file: errors name words and options."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from referee.league.definition.definition import Definition, DefinitionError, parse_definition
from referee.league.definition.names import harmless_name
from referee.league.definition.problems import Problem, ProblemsError, shown
from referee.league.entrants.bot_source import BotSourceError, find_bot
from referee.league.entrants.roster import Roster, enter

FILE: Final = "command line"
"""What stands in errors in place of a file."""


def adhoc_definition(text: str, bots: Sequence[str], words: Mapping[str, tuple[str, str]]) -> tuple[Definition, Roster]:
    """The definition that a command wrote for itself, and who takes part; ``DefinitionError`` in words of the command line.

    ``bots`` are the words behind the ``[[bots]]`` entries, in order. ``words`` says for a field what it is on the command
    line, and how a value is given there, with ``{}`` for the value.
    """
    try:
        definition = parse_definition(text, file=FILE, folder=Path.cwd())
        return definition, enter(definition)
    except ProblemsError as error:
        raise DefinitionError(dict.fromkeys(_seen(problem, bots, words) for problem in error.problems)) from None


def _seen(problem: Problem, bots: Sequence[str], words: Mapping[str, tuple[str, str]]) -> Problem:
    if problem.file != FILE:
        return problem  # of a bot.toml
    entry = re.match(r"\[\[bots\]\] entry (\d+)", problem.field)
    name = problem.field.rpartition(" ")[2]
    field = f"BOT {shown(bots[int(entry[1]) - 1])}" if entry else words.get(name, (problem.field, ""))[0]
    written = re.match(r"write (\w+) = (\S+)", problem.remedy)
    remedy = problem.remedy
    if written and written[1] in words:
        remedy = words[written[1]][1].format(written[2])
    return Problem(file=FILE, line=0, field=field, found=problem.found, allowed=problem.allowed, remedy=remedy)


def distinct_names(bots: Sequence[str]) -> dict[str, str]:
    """A name for each bot whose own is that of another on the command line: that of its folder goes before it."""
    own: dict[str, str] = {}
    for bot in dict.fromkeys(bots):
        try:
            own[bot] = find_bot(bot, Path.cwd()).name
        except BotSourceError:
            continue  # entering it reports that
    taken: set[str] = set()
    given: dict[str, str] = {}
    for bot, name in own.items():
        new = name
        if name.casefold() in taken:
            parts = Path(bot).absolute()
            folder = parts.parent.name if parts.suffix == ".py" else parts.name
            new = harmless_name(f"{folder}-{name}")
            number = 2
            while new.casefold() in taken:
                new, number = f"{name[:36]}-{number}", number + 1
            given[bot] = new
        taken.add(new.casefold())
    return given
