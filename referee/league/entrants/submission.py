"""Entering a bot in a definition, and taking one out: the file is edited in place, comments and layout kept.

Nothing is written that could not be read back: the new text is parsed, and every bot in it found, before the old file
is replaced in one step.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import tomlkit
from tomlkit.items import AoT, Array

from referee.league.definition.definition import Definition, DefinitionError, load_definition, parse_definition
from referee.league.definition.names import is_name
from referee.league.definition.problems import Problem, near, one_of, plain, shown
from referee.league.definition.toml_file import write_text
from referee.league.entrants.bot_digest import TooLarge, differing_files
from referee.league.entrants.bot_source import BotSource, BotSourceError, find_bot
from referee.league.entrants.roster import Entrant, enter
from referee.league.schedule.formats import format_of

_MOST_FILES: Final = 4
"""The most files that a difference names."""


@dataclass(frozen=True, slots=True)
class Submission:
    """How a bot is entered: under which name, and whether it is there already, as it is now.

    ``beside`` says in a phrase which other version of it is there, and what differs; empty if there is none. ``replaces``: whether
    it takes the place of that version, as on a ladder.
    """

    name: str
    known: bool
    beside: str = field(default="", compare=False)
    replaces: bool = False


def entry_for(definition: Definition, source: BotSource, name: str | None = None) -> Submission:
    """How a bot would be entered in a tournament; ``DefinitionError`` if its name is another's.

    A bot that is there in an earlier version stays, and the new version is a new player under a name of its own; but on a ladder,
    which knows the versions of a bot, it takes the place of that version. The panel of a ladder never changes.
    """
    entrants = [one for one in enter(definition).entrants if one.copy_of is None]
    for one in entrants:
        if (
            not one.remote
            and one.digest == source.digest
            and one.version == source.version
            and name in (None, one.name)
        ):
            return Submission(one.name, True)
    taken = {one.name.casefold(): one for one in entrants}
    wanted = name or source.name
    other = taken.get(wanted.casefold())
    if other is None:
        return Submission(wanted, False)
    if format_of(definition.shape()).endless:
        _check_may_be_replaced(definition, other)
        return Submission(other.name, False, _is_in(other, source), replaces=True)
    versioned = f"{source.name[: 39 - len(source.version)]}-{source.version}"
    if name is None and other.version != source.version and is_name(versioned) and versioned.casefold() not in taken:
        return Submission(versioned, False, _is_in(other, source))
    raise DefinitionError([_taken(definition, other, source, wanted)])


def _is_in(other: Entrant, source: BotSource) -> str:
    return f"{other.name} {other.version} is in already; {_differences(other, source)}"


def _check_may_be_replaced(definition: Definition, other: Entrant) -> None:
    """Raises ``DefinitionError`` if a bot of a ladder is of the panel, or came in by a pattern."""
    place = _place_of(definition, other.name)
    if definition.bots[place].bots_from is not None:
        remedy = "put the new version into its folder"
        raise DefinitionError(
            [_here(definition, ("bots", place, "bots_from"), f"{other.name}, which a pattern brings in", remedy)]
        )
    if definition.bots[place].panel:
        found, allowed = f"{shown(other.name)} in another version", "the panel as it is: it never changes"
        remedy = "enter it under another name with --name"
        raise DefinitionError([definition.problem(("bots", place, "panel"), found, allowed, remedy)])


def _taken(definition: Definition, other: Entrant, source: BotSource, wanted: str) -> Problem:
    same_version = other.version == source.version
    place = plain(str(other.folder or "remote"))
    found = f"the name {shown(wanted)}, which another bot has ({other.version}, {place}; {_differences(other, source)})"
    remedy = "change the version in its bot.toml, or enter it under another name with --name"
    if not same_version:
        remedy = "enter it under another name with --name"
    return definition.problem(("bots",), found, "a name for each bot", remedy)


def _differences(other: Entrant, source: BotSource) -> str:
    """What differs between a bot that is in and one that is submitted, in a phrase: version, and files by name."""
    found = (
        []
        if other.version == source.version
        else [f"version {plain(other.version)} there, {plain(source.version)} here"]
    )
    if other.digest == source.digest:
        return "; ".join([*found, "the same files"])
    if other.folder is None:
        return "; ".join([*found, "nobody here can look at its files"])
    try:
        files = differing_files(
            (other.folder, other.only, bool(other.build)), (source.folder, source.only, bool(source.build))
        )
    except (OSError, TooLarge):
        files = []
    named = ", ".join(map(plain, files[:_MOST_FILES])) + (
        f" and {len(files) - _MOST_FILES} more" if len(files) > _MOST_FILES else ""
    )
    return "; ".join([*found, f"other files: {named}" if named else "other files"])


def add_bot(file: Path, text: str, source: BotSource, entry: Submission) -> None:
    """Enters a bot in the definition of that file; ``text`` is how it was named. Raises ``DefinitionError``.

    A bot that replaces another has the owner of that, and nothing else of it.
    """
    document = _read(file)
    fields = {"path": _path_for(file, text, source)}
    if entry.name != source.name:
        fields["name"] = entry.name
    if entry.replaces:
        _play_instead(document["bots"][_place_of(load_definition(file), entry.name)], fields)
        _replace(file, tomlkit.dumps(document))
        return
    if "bots" not in document:
        document["bots"] = tomlkit.aot()
    bots = document["bots"]
    if isinstance(bots, AoT):
        table = tomlkit.table()
        for name, value in fields.items():
            table.add(name, value)
        _end_with_a_blank_line(bots)
        bots.append(table)
    elif isinstance(bots, Array):
        inline = tomlkit.inline_table()
        inline.update(fields)
        bots.append(inline)
    _replace(file, tomlkit.dumps(document))


def _play_instead(table: Any, fields: Mapping[str, str]) -> None:
    """Makes an entry play another bot: what it says of the program before goes."""
    for name in _OF_A_PROGRAM - fields.keys():
        table.pop(name, None)
    for name, value in fields.items():
        table[name] = value


_OF_A_PROGRAM: Final = frozenset({"path", "command", "name", "version", "args", "env"})
"""The fields of an entry that say which program plays, and with what."""


def _end_with_a_blank_line(bots: AoT) -> None:
    if not bots.body:
        return
    last = bots.body[-1]
    if not last.as_string().endswith("\n\n"):
        last.add(tomlkit.nl())


def remove_bot(file: Path, name: str) -> str:
    """Takes the bot of that name out of the definition of that file, and says how it was entered.

    Raises ``DefinitionError`` if there is no such bot, or if it came in by a pattern. Without its last bot a definition is an
    open registration.
    """
    definition = load_definition(file)
    place = _place_of(definition, name)
    if definition.bots[place].bots_from is not None:
        remedy = "move its folder away"
        raise DefinitionError(
            [_here(definition, ("bots", place, "bots_from"), f"{name}, which a pattern brings in", remedy)]
        )
    document = _read(file)
    bots = document["bots"]
    told = str(bots[place].get("path") or bots[place].get("command") or "remote")
    del bots[place]
    if not len(bots):
        del document["bots"]
    _replace(file, tomlkit.dumps(document), lenient=True)
    return told


def _here(definition: Definition, where: tuple[str | int, ...], found: str, remedy: str) -> Problem:
    return definition.problem(where, found, "a bot with an entry of its own", remedy)


def _place_of(definition: Definition, name: str) -> int:
    """The number of the entry that brought the bot of that name."""
    names: dict[str, int] = {}
    for place, bot in enumerate(definition.bots):
        own = bot.name
        if own is None and bot.path is not None:
            own = _name_at(bot.path, definition.folder)
        if own is not None:
            names[own.casefold()] = place
    if name.casefold() in names:
        return names[name.casefold()]
    for one in enter(definition).entrants:
        if one.name.casefold() == name.casefold() and one.submitted:
            return next(place for place, bot in enumerate(definition.bots) if bot.bots_from is not None)
    meant = near(name, names)
    remedy = f'did you mean "{meant}"?' if meant else "name one of these"
    allowed = one_of(names) if names else "a bot that is in; there is none"
    raise DefinitionError(
        [definition.problem(("bots",), shown(name), allowed, remedy if names else "check the file's name")]
    )


def _name_at(path: str, folder: Path) -> str:
    """The name of the bot at a path; of one that is not to be found any more, the last part of the path."""
    try:
        return find_bot(path, folder).name
    except BotSourceError:
        return Path(path).stem


def _path_for(file: Path, text: str, source: BotSource) -> str:
    """How the definition names the bot: as a sample, by the way from its own folder, or in full if that is far."""
    place = source.folder / source.only[0] if source.only else source.folder
    if not Path(text).exists():
        return text
    folder = file.absolute().parent
    shared = os.path.commonpath([folder, place])
    return os.path.relpath(place, folder) if len(Path(shared).parts) > 2 else str(place)


def _read(file: Path) -> tomlkit.TOMLDocument:
    load_definition(file)
    return tomlkit.parse(file.read_text("utf-8-sig"))


def _replace(file: Path, text: str, *, lenient: bool = False) -> None:
    """Puts the new text in place of the file, once it is known to be a sound definition."""
    new = parse_definition(text, file=str(file), folder=file.parent)
    if not lenient:
        enter(new)
    write_text(file, text)
