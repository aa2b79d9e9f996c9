"""The entrants of a tournament: every ``[[bots]]`` entry found, named and counted out into seats.

Names. A bot is called by ``name`` in the definition, else by its own name. Copies are ``careful``, ``careful#2`` ...;
no other name holds a ``#``. Two entries of one name are an error. A submitted bot (``bots_from``) cannot take a name
away from anybody: where a name is taken or wanted twice, submissions are called by their folder instead.
"""

import glob
import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from referee.league.definition.definition import Definition, DefinitionError
from referee.league.definition.fields import BotSection
from referee.league.definition.names import is_name
from referee.league.definition.problems import Problem, near, one_of, plain, shown
from referee.league.entrants.bot_build import require_built
from referee.league.entrants.bot_digest import TooLarge, outer_links
from referee.league.entrants.bot_source import BotSource, BotSourceError, command_bot, find_bot, with_links
from referee.rules import RuleSetError, variant, variant_names
from referee.sandbox.command import Command, bot_command

__all__ = ["BotSource", "BotSourceError", "Entrant", "Roster", "Skipped", "command_bot", "enter", "find_bot"]

REMOTE_VERSION = "remote"
"""Version of a remote bot for which the definition gives none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entrant:
    """One bot, in one version, that takes part.

    ``key`` is its unique name (``careful#2``), ``name`` the bot's (``careful``), and ``copy_of`` the key of the first
    copy (``None`` for that one itself). A remote entrant has no command, folder or digest, and may take ``wait_s``
    seconds to dial in. ``variants`` is empty where the bot does not say what it plays. ``submitted`` marks bots from
    ``bots_from``: programs of somebody else. ``build``, ``description``, ``only``, ``environment`` and ``cwd`` are those of ``BotSource``. In a pair of
    two bots, ``partner`` is the one at the second seat of the side; version and digest are those of both together.
    """

    key: str
    name: str
    version: str
    argv: tuple[str, ...]
    folder: Path | None
    digest: str
    remote: bool
    variants: tuple[str, ...]
    copy_of: str | None
    build: tuple[str, ...] = ()
    description: str = ""
    only: tuple[str, ...] = ()
    submitted: bool = False
    wait_s: int = 0
    partner: "Entrant | None" = None
    environment: Mapping[str, str] = field(default_factory=dict, hash=False)
    cwd: str = ""

    def command(self) -> Command:
        """How to start it; ``ValueError`` for a remote one, which nobody here can start."""
        if self.folder is None:
            raise ValueError(f"{self.key} dials in from elsewhere")
        command = bot_command(self.argv, self.folder, self.key, only=self.only)
        command = replace(command, environment=self.environment, cwd=self.cwd)
        return command if self.submitted else with_links(command)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A submission that does not take part, and why (one line for each reason)."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Roster:
    """Who takes part, in the order of the definition, and which submissions do not. ``notes`` tell of new names.

    ``owners``: whose bots those are, by key, that are not in the definition but were handed in to the host of a ladder.
    """

    entrants: tuple[Entrant, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    owners: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def bots(self) -> tuple[Entrant, ...]:
        """Every bot that plays, the partners in pairs too."""
        return tuple(bot for one in self.entrants for bot in (one, one.partner) if bot is not None)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A bot that entry number ``place`` brought; ``source`` is ``None`` for a remote one.

    ``folder`` is the name of a submission's folder (or file, without ``.py``), which its author did not choose.
    """

    place: int
    entry: BotSection
    name: str
    source: BotSource | None = None
    folder: str = ""


def enter(definition: Definition) -> Roster:
    """The entrants of a definition; ``DefinitionError`` with every bot that is missing, faulty or misnamed.

    Submissions never fail a tournament: faulty ones are listed in ``skipped``.
    """
    problems: list[Problem] = []
    skipped: list[Skipped] = []
    invited: list[_Candidate] = []
    submitted: list[_Candidate] = []
    for place, entry in enumerate(definition.bots):
        try:
            if entry.bots_from is None:
                invited.append(_invited(definition, place, entry))
            else:
                submitted += _submissions(definition, place, entry, skipped)
        except BotSourceError as error:
            problems += [_placed(definition, place, entry, problem) for problem in error.problems]
    problems += _name_clashes(definition, invited)
    if problems:
        raise DefinitionError(sorted(dict.fromkeys(problems), key=lambda problem: (problem.file, problem.line)))
    renamed, notes = _renamed(submitted, {one.name.casefold() for one in invited}, skipped)
    in_file_order = sorted([*invited, *renamed], key=lambda one: one.place)
    bots = tuple(seat for one in in_file_order for seat in _copies(one))
    pairs = [f"{pair.name} is {pair.bots[0]} with {pair.bots[1]}." for pair in definition.pairs or () if pair.name]
    return Roster(tuple(_paired(definition, bots)), tuple(skipped), (*notes, *pairs))


def require_somebody(definition: Definition, roster: Roster) -> None:
    """Raises ``DefinitionError`` where nobody takes part: an open registration, or submissions that all cannot play."""
    if roster.entrants:
        return
    seats = definition.shape().table_size
    found = "no bot yet" if not definition.bots else f"no bot that can play; {len(roster.skipped)} were skipped"
    remedy = f"enter bots with referee submit BOT {plain(definition.file)}, or add a [[bots]] section for each"
    raise DefinitionError([definition.problem(("bots",), found, f"{seats} bots or more", remedy)])


def _paired(definition: Definition, bots: Sequence[Entrant]) -> Iterator[Entrant]:
    """The pairs of the definition, or the bots themselves where it has none; ``DefinitionError`` for unknown names."""
    if not definition.pairs:
        yield from bots
        return
    known = {bot.key: bot for bot in bots}
    names = [pair.name or " + ".join(pair.bots) for pair in definition.pairs]
    problems = []
    for place, (pair, name) in enumerate(zip(definition.pairs, names, strict=True)):
        for key in sorted(set(pair.bots) - known.keys()):
            meant = near(key, list(known))
            remedy = f'did you mean "{meant}"?' if meant else "add a [[bots]] entry for it"
            problems.append(definition.problem(("pairs", place, "bots"), shown(key), one_of(list(known)), remedy))
        if name.casefold() in map(str.casefold, names[:place]):
            found = f"the name {shown(name)} a second time"
            problems.append(definition.problem(("pairs", place), found, "a name for each pair", 'add name = "..."'))
    if problems:
        raise DefinitionError(problems)
    for pair, name in zip(definition.pairs, names, strict=True):
        one, other = (known[key] for key in pair.bots)
        digest = hashlib.sha256(f"{one.digest} {other.digest}".encode()).hexdigest()
        version = f"{one.version}+{other.version}"
        yield replace(one, key=name, name=name, version=version, digest=digest, copy_of=None, partner=other)


def _invited(definition: Definition, place: int, entry: BotSection) -> _Candidate:
    """The one bot of an entry; raises ``BotSourceError``."""
    source, folder = None, definition.folder
    if entry.path is not None:
        source = find_bot(entry.path, folder, name=entry.name, version=entry.version)
    elif entry.command is not None:
        source = command_bot(entry.command, folder, name=entry.name or "", version=entry.version)
    if source:
        source = source.with_options(entry.args or (), entry.env or {}, entry.version)
        _check_variant(definition, source)
    return _Candidate(place, entry, source.name if source else entry.name or "", source)


def _submissions(definition: Definition, place: int, entry: BotSection, skipped: list[Skipped]) -> list[_Candidate]:
    """The sound bots of a ``bots_from`` entry; ``BotSourceError`` if the pattern matches nothing at all."""
    pattern = entry.bots_from or ""
    paths = sorted(glob.glob(pattern, root_dir=definition.folder))  # noqa: PTH207 (the pattern may be absolute)
    if not paths:
        remedy = f"correct the pattern (it starts at {plain(str(definition.folder))})"
        raise BotSourceError(
            [
                Problem(
                    file="",
                    line=0,
                    field="",
                    found=f"{shown(pattern)}, which matches nothing",
                    allowed="a pattern of folders",
                    remedy=remedy,
                )
            ]
        )
    found: list[_Candidate] = []
    for path in paths:
        try:
            source = find_bot(os.path.abspath(definition.folder / path), definition.folder)  # noqa: PTH100 (without ..)
            _refuse_links(Path(os.path.abspath(definition.folder / path)), source)  # noqa: PTH100
            _check_variant(definition, source)
            require_built([source])
        except BotSourceError as error:
            where = Path(os.path.abspath(definition.folder / path))  # noqa: PTH100
            seen = plain(str(where.relative_to(Path.cwd()) if where.is_relative_to(Path.cwd()) else path))
            reasons = (str(problem).removeprefix(f"{seen}: ") for problem in error.problems)
            skipped.append(Skipped(seen, "\n".join(reasons)))
        else:
            file = Path(path)
            folder = file.stem if file.suffix == ".py" else file.name
            found.append(_Candidate(place, entry, source.name, source, folder))
    return found


def handed_in(definition: Definition, folder: Path, name: str) -> Entrant:
    """A bot that somebody has handed in, in a folder of its own, under that name; ``BotSourceError`` if it cannot take part.

    It is somebody else's program, as a submission is.
    """
    source = find_bot(str(folder.absolute()), definition.folder, name=name)
    _refuse_links(folder, source)
    _check_variant(definition, source)
    require_built([source])
    (entrant,) = _copies(_Candidate(0, BotSection(bots_from=str(folder)), name, source, folder.name))
    return entrant


def _refuse_links(place: Path, source: BotSource) -> None:
    """A stranger's link could show the bot a file of ours in its sandbox, so none of a submission leads out of it."""
    try:
        links = [place.name] if place.is_symlink() else [name for name, _ in outer_links(source.folder, source.only)]
    except (OSError, TooLarge):
        return  # told where the digest is made
    if links:
        found, remedy = f"{shown(links[0])}, a link that leads out of it", "put the file itself in its place"
        raise BotSourceError(
            [
                Problem(
                    file=plain(str(place)),
                    line=0,
                    field="the bot",
                    found=found,
                    allowed="a submission without links to outside",
                    remedy=remedy,
                )
            ]
        )


def _check_variant(definition: Definition, source: BotSource) -> None:
    """Raises ``BotSourceError`` if the bot says what it plays, and this tournament's game is not among it."""
    wanted = variant(definition.tournament.variant).name
    if not source.variants or wanted in map(_full_name, source.variants):
        return
    unknown = [name for name in source.variants if _full_name(name) is None]
    meant = near(unknown[0], variant_names()) if unknown else None
    remedy = f'write "{meant}" for {shown(unknown[0])} in its bot.toml' if meant else "leave the bot out"
    found = f"a bot for {one_of(source.variants)}"
    raise BotSourceError(
        [
            Problem(
                file=plain(str(source.folder)),
                line=0,
                field="variants",
                found=found,
                allowed=f"a bot for {shown(wanted)}",
                remedy=remedy,
            )
        ]
    )


def _full_name(name: str) -> str | None:
    try:
        return variant(name).name
    except RuleSetError:
        return None


def _placed(definition: Definition, place: int, entry: BotSection, problem: Problem) -> Problem:
    """A problem of a bot as a whole is told at its entry; one inside its bot.toml stays there."""
    if problem.line:
        return problem
    field = "path" if entry.path is not None else "command" if entry.command is not None else "bots_from"
    subject = f"{shown(entry.path)}: " if entry.path is not None else ""
    return definition.problem(("bots", place, field), subject + problem.found, problem.allowed, problem.remedy)


def _name_clashes(definition: Definition, candidates: list[_Candidate]) -> Iterator[Problem]:
    """Names differ in more than upper and lower case, so that they can be names of files anywhere."""
    first: dict[str, _Candidate] = {}
    for one in candidates:
        other = first.setdefault(one.name.casefold(), one)
        if other is not one:
            field = "name" if one.entry.name else "path"
            found = f"the name {shown(one.name)}, which entry {other.place + 1} has too"
            remedy = f'give one of them another name (name = "{one.name[:37]}-b"), or write copies = 2 for the same bot'
            yield definition.problem(("bots", one.place, field), found, "a name for each bot", remedy)


def _renamed(
    submitted: list[_Candidate], taken: set[str], skipped: list[Skipped]
) -> tuple[list[_Candidate], list[str]]:
    """The submissions under names of their own, with a note on each new name; those without one are skipped."""
    wishes = Counter(one.name.casefold() for one in submitted)
    folders = {one.folder.casefold(): one for one in submitted}
    clear = {
        name
        for one in submitted
        if wishes[name := one.name.casefold()] == 1 and name not in taken and folders.get(name, one) is one
    }
    taken = taken | clear
    named: list[_Candidate] = []
    notes: list[str] = []
    for one in submitted:
        if one.name.casefold() in clear:
            named.append(one)
            continue
        folder = one.folder
        if not is_name(folder) or folder.casefold() in taken:
            reason = f"its name {shown(one.name)} is taken or wanted twice, and {shown(folder)} cannot replace it"
            skipped.append(Skipped(plain(folder), reason))
            continue
        taken.add(folder.casefold())
        named.append(replace(one, name=folder))
        notes.append(f"{folder} calls itself {one.name}, a name that is taken or wanted twice; it plays as {folder}.")
    return named, notes


def _copies(candidate: _Candidate) -> Iterator[Entrant]:
    entry, source, name = candidate.entry, candidate.source, candidate.name
    for number in range(1, entry.copies + 1):
        yield Entrant(
            key=name if number == 1 else f"{name}#{number}",
            name=name,
            version=source.version if source else entry.version or REMOTE_VERSION,
            argv=source.argv if source else (),
            folder=source.folder if source else None,
            digest=source.digest if source else "",
            remote=source is None,
            variants=source.variants if source else (),
            copy_of=None if number == 1 else name,
            build=source.build if source else (),
            description=source.description if source else "",
            only=source.only if source else (),
            submitted=entry.bots_from is not None,
            wait_s=0 if source else entry.wait_s,
            environment=source.environment if source else {},
            cwd=source.cwd if source else "",
        )
