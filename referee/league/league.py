"""A league in its store: frozen when it begins, read back when it goes on.

Everything that decides results is frozen: the definition, the house rules, the code's version, the bots by digest, and
the master of all packs with its commitment. ``resume`` needs the store alone.
"""

import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Final

import referee
from referee import deals
from referee.league.definition.definition import Definition, restore_definition
from referee.league.entrants.bot_digest import folder_digest
from referee.league.entrants.bot_source import with_links
from referee.league.entrants.roster import Entrant, Roster, enter
from referee.league.plan import BotPlan, LeaguePlan
from referee.league.schedule.format import Shape
from referee.league.schedule.formats import format_of, plan
from referee.league.schedule.schedule import PlannedSet, Schedule
from referee.league.store import FixtureRow, Source, Store
from referee.league.store.export_format import FILES, LEAGUE, misfit
from referee.league.store.league_facts import BotFacts, EarlierSeason, Host, LeagueFacts, RoundFacts
from referee.league.store.rounds import round_misfit
from referee.league.store.store import draft_of
from referee.rules import RuleSet
from referee.sandbox.command import PACKAGE, Command, bot_command, named_entries
from referee.sandbox.isolation import Policy
from referee.sandbox.limits import ResourceLimits as BotLimits
from referee.sandbox.machine_memory import available_mib
from referee.umpire.events import TimeLimits
from referee.umpire.fallback_player import FALLBACK_VERSION
from referee.umpire.faults import PROFILES

MOST_BY_DEFAULT: Final = 64
"""Bot processes alive at once at most, unless the definition allows more."""

_OF_ITS_LIMIT: Final = 8


class LeagueError(Exception):
    """A league that cannot be begun or go on. The message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class League:
    """A league as its store freezes it. ``round_masters``: on a ladder, the master of each set's packs, which is that of its round."""

    name: str
    definition: Definition
    rules: RuleSet
    master: bytes
    commitment: str
    seeded: bool
    entrants: tuple[Entrant, ...]
    facts: LeagueFacts
    round_masters: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def objective(self) -> str:
        """What ranks the entrants: place, stakes or points."""
        return self.definition.tournament.objective

    @property
    def shape(self) -> Shape:
        """What its schedule depends on; ``formats.format_of`` gives the format."""
        return self.definition.shape()


_PLAYED_BEFORE: Final = "The master was known before the first deal: these are the packs of an earlier league."


def begin(
    definition: Definition,
    roster: Roster,
    path: Path,
    sandbox: str,
    tokens: dict[str, str],
    revealed: "bytes | KnownMaster | None" = None,
    earlier: Sequence[EarlierSeason] = (),
    kept: tuple[Path, Iterable[str]] | None = None,
) -> Schedule:
    """Makes the store of a new league and enters the schedule that it begins with; raises ``StoreError`` or ``ScheduleError``.

    ``tokens`` are those of the remote bots, by entrant key. ``revealed`` is the master of an earlier league, to play its
    packs again, or another that is known beforehand. ``earlier`` has the masters of sets that come from seasons before, as ``season.CarriedOverSets`` gives them; ``kept`` is
    the store and the sets whose games are taken over.
    """
    schedule = plan(definition.shape(), roster.entrants)
    known = KnownMaster(revealed, _PLAYED_BEFORE) if isinstance(revealed, bytes) else revealed
    facts = _facts(definition, roster, schedule, sandbox, known)
    facts["tokens"], facts["earlier"] = tokens, list(earlier)
    endless = format_of(definition.shape()).endless
    with draft_of(path) as draft, Store.create(draft, facts, shrinks=endless) as store:
        if not endless:  # bots enter a ladder with its rounds
            store.add_entrants([(entrant.key, about(entrant)) for entrant in roster.entrants])
        add_sets(store, definition.tournament.name, schedule.sets)
        if kept is not None:
            store.keep_sets(*kept)
    return schedule


def add_sets(store: Store, league: str, sets: Sequence[PlannedSet]) -> None:
    """Enters sets, with their fixtures, at the end of the stored schedule of the league with that name."""
    games = (game for planned in sets for game in planned.fixtures)
    rows = [FixtureRow(game.id, game.set_id, game.rotation, game.seats) for game in games]
    store.add_sets(league, [planned.id for planned in sets], rows)


@dataclass(frozen=True, slots=True)
class KnownMaster:
    """A master that is known before the first deal; ``why`` is a sentence for the notes of the league."""

    master: bytes = field(repr=False)
    why: str


def _facts(
    definition: Definition, roster: Roster, schedule: Schedule, sandbox: str, known: KnownMaster | None
) -> LeagueFacts:
    """What is fixed for a new league, and the master of its packs."""
    seed = definition.schedule.seed
    master = deals.seeded_master(seed) if seed is not None else known.master if known else deals.secret_master()
    again = [known.why] if known else []
    digest = definition.digest()
    return {
        "name": definition.tournament.name,
        "definition": definition.canonical(),
        "folder": str(definition.folder.absolute()),
        "file": definition.file,
        "digest": digest,
        "rules": rules_of(definition).as_dict(),
        "master": master.hex(),
        "seeded": seed is not None,
        "commitment": deals.commitment(master, digest),
        "code": {
            "referee": referee.__version__,
            "source": source_digest(),
            "house": FALLBACK_VERSION,
            "python": platform.python_version(),
        },
        "host": host(),
        "sandbox": sandbox,
        "state": "running",
        "notes": [*schedule.notes, *roster.notes, *again],
        "skipped": [(one.path, one.reason) for one in roster.skipped],
        "earlier": [],
    }


@cache
def source_digest() -> str:
    """SHA-256 over all files of this Referee: a version says less, between two releases nothing."""
    return folder_digest(Path(referee.__file__).parent, built=False)


def rules_of(definition: Definition) -> RuleSet:
    """The rule set of a league; where each deal is a game of its own, the game is capped at one deal."""
    rules = definition.rule_set()
    return rules.with_rules({"max_deals": 1}) if definition.tournament.length == "deal" else rules


def about(entrant: Entrant) -> BotFacts:
    """What a store keeps of an entrant when it enters."""
    facts: BotFacts = {
        "name": entrant.name,
        "version": entrant.version,
        "argv": list(entrant.argv),
        "folder": str(entrant.folder) if entrant.folder else None,
        "digest": entrant.digest,
        "remote": entrant.remote,
        "submitted": entrant.submitted,
        "copy_of": entrant.copy_of,
        "variants": list(entrant.variants),
        "description": entrant.description,
        "wait_s": entrant.wait_s,
    }
    if entrant.environment:
        facts["environment"] = dict(entrant.environment)
    if entrant.cwd:
        facts["cwd"] = entrant.cwd
    if entrant.partner:
        facts["partner"] = {"key": entrant.partner.key, **about(entrant.partner)}
    return facts


def read_league(store: Source) -> League:
    """The league of a store; raises ``LeagueError`` if this version cannot read it."""
    facts = store.league()
    for name, value in facts.items():
        if name in FILES[LEAGUE]["properties"] and (needed := misfit(LEAGUE, name, value)):
            raise LeagueError(f"{store.path} is damaged: the fact {name} is no {needed}; put a copy of it in its place")
    try:
        entrants = tuple(_entrant(key, known) for key, known in store.entrants().items())
        definition = restore_definition(facts["definition"], facts["folder"])
        _check_size(store, definition, len(entrants))
        return League(
            name=facts["name"],
            definition=definition,
            rules=RuleSet.from_dict(facts["rules"]),
            master=bytes.fromhex(facts["master"]),
            commitment=facts["commitment"],
            seeded=facts["seeded"],
            entrants=entrants,
            facts=facts,
            round_masters=_round_masters(store, facts.get("rounds", []), definition, entrants),
        )
    except KeyError as error:
        raise LeagueError(f"{store.path} lacks {error}: it was written by another version of the referee") from None


def _round_masters(
    store: Source, rounds: Sequence[RoundFacts], definition: Definition, entrants: Sequence[Entrant]
) -> dict[str, bytes]:
    """The master of each set of a ladder; raises ``LeagueError`` where its rounds are not those of these entrants and sets."""
    if not rounds or not format_of(definition.shape()).endless:
        return {}
    sets = store.sets()
    if told := round_misfit(rounds, {one.key for one in entrants}, len(sets)):
        raise LeagueError(f"{store.path} is damaged: {told}; put a copy of it in its place")
    masters = chain.from_iterable(
        repeat(bytes.fromhex(one["master"]), sum(part["sets"] for part in one["tables"])) for one in rounds
    )
    return {row.id: master for row, master in zip(sets, masters, strict=False)}


def _check_size(store: Source, definition: Definition, entrants: int) -> None:
    """Raises ``LeagueError`` if the definition asks for far more sets than there are: their schedule might fill the memory."""
    shape = definition.shape()
    planned = format_of(shape).fewest_sets(shape, entrants)
    if planned > _PLANNED_AT_ONCE and planned > 2 * (stored := sum(1 for _ in store.sets())):
        raise LeagueError(
            f"{store.path} is damaged: its definition has {planned:,} sets or more, and it holds {stored:,}"
        )


_PLANNED_AT_ONCE: Final = 20_000
"""Sets that may be planned without a look at how many there are."""


def _entrant(key: str, facts: BotFacts) -> Entrant:
    """What ``about`` wrote down."""
    partner = facts.get("partner")
    return Entrant(
        key=key,
        name=facts["name"],
        version=facts["version"],
        argv=tuple(facts["argv"]),
        folder=Path(facts["folder"]) if facts["folder"] else None,
        digest=facts["digest"],
        remote=facts["remote"],
        variants=tuple(facts["variants"]),
        copy_of=facts["copy_of"],
        description=facts["description"],
        submitted=facts["submitted"],
        wait_s=facts["wait_s"],
        environment=facts.get("environment", {}),
        cwd=facts.get("cwd", ""),
        partner=_entrant(partner["key"], partner) if partner else None,
    )


def check_unchanged(league: League) -> None:
    """Raises ``LeagueError`` if a bot's files are not those that the league began with."""
    now = {entrant.key: entrant.digest for entrant in enter(league.definition).entrants}
    changed = sorted(entrant.key for entrant in league.entrants if now.get(entrant.key) != entrant.digest)
    if changed:
        raise LeagueError(
            f"the files of {', '.join(changed)} have changed since the league began; "
            "put them back, or start again with: referee run --new-season"
        )


def plan_of(
    league: League, log_dir: Path, sandbox: Policy, listen: str = "", tls: tuple[str, str] | None = None
) -> LeaguePlan:
    """What the processes that play the league need to know."""
    limits = league.definition.limits
    competitive = limits.clock == "competitive"
    tokens = league.facts.get("tokens", {})
    private = _private(league.entrants, log_dir)
    return LeaguePlan(
        league=league.name,
        master=league.master,
        rules=league.rules,
        seats=league.definition.tournament.seats,
        objective=league.objective,
        commitment=league.commitment,
        bots={entrant.key: _bot_plan(entrant, tokens.get(entrant.key, ""), private) for entrant in league.entrants},
        log_dir=log_dir,
        profile=PROFILES[league.definition.policy.profile],
        limits=TimeLimits(limits.move_ms * 1000, limits.bank_ms * 1000, limits.game_s * 1_000_000),
        bot_limits=BotLimits(memory_mib=limits.memory_mib),
        sandbox=sandbox,
        max_in_flight=limits.max_in_flight,
        asked_at_once=(os.cpu_count() or 1) if competitive else 0,
        max_processes=most_processes(league.definition),
        listen=listen,
        tls=tls,
        start_seconds=float(limits.start_s),
        earlier={
            one: bytes.fromhex(entry["master"]) for entry in league.facts.get("earlier", ()) for one in entry["sets"]
        }
        | dict(league.round_masters),
    )


def most_processes(definition: Definition) -> int:
    """Bot processes that may live at once: ``max_processes``, or as many as fit into half of the memory that is available.

    Each counts as an eighth of its limit; few bots need more. At least two a core and one a seat, at most ``MOST_BY_DEFAULT``.
    """
    limits = definition.limits
    if limits.max_processes:
        return limits.max_processes
    least = 2 * (os.cpu_count() or 1) + definition.tournament.seats
    room = available_mib() * _OF_ITS_LIMIT // (2 * limits.memory_mib)
    return max(least, min(room, MOST_BY_DEFAULT))


def _private(entrants: Sequence[Entrant], log_dir: Path) -> tuple[Path, ...]:
    """What no bot must see, though it may lie in a bot's folder: stores, logs and definitions of leagues, and other bots."""
    place = log_dir.parent.absolute()
    bots = [bot for entrant in entrants for bot in (entrant, entrant.partner) if bot is not None]
    folders = dict.fromkeys(bot.folder.absolute() for bot in bots if bot.folder is not None)
    found = [place]
    if any(folder.is_relative_to(place) for folder in folders):
        # Bots live there too: what is the league's is hidden file by file.
        found = [log_dir.absolute(), *(path for path in _entries(place) if _is_of_a_league(path))]
    found += [path for folder in folders for path in _entries(folder) if _is_definition(path)]
    return (*dict.fromkeys(found), *(path for bot in bots for path in _places(bot)))


def _places(bot: Entrant) -> list[Path]:
    """The bot's own folder, or its own files in a folder that is not its own."""
    if bot.folder is None:
        return []
    folder = bot.folder.absolute()
    if (folder / "bot.toml").exists():
        return [folder]
    named = (folder / name for name in bot.only or named_entries(bot.argv, folder))
    return [path for path in named if not _is_of_the_referee(path)]


def _is_of_the_referee(path: Path) -> bool:
    """Whether a path leads to the interpreter or the package that the referee runs from, which may lie beside a bot."""
    return any(path.is_relative_to(place) for place in (Path(sys.prefix), PACKAGE))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_of_a_league(path: Path) -> bool:
    if path.suffix == ".html":
        return path.with_suffix(".sqlite").exists()  # its report
    return ".sqlite" in path.name or path.suffix == ".logs" or _is_definition(path)


def _is_definition(path: Path) -> bool:
    """Whether a file defines a tournament: its seed is every pack of it."""
    if path.suffix != ".toml" or path.name == "bot.toml":
        return False
    try:
        if not path.is_file():  # a pipe would keep us for ever
            return False
        with path.open("rb") as file:
            return b"[tournament]" in file.read(65536)
    except OSError:
        return False


def _bot_plan(entrant: Entrant, token: str, private: Sequence[Path]) -> BotPlan:
    partner = _command(entrant.partner, private) if entrant.partner else None
    return BotPlan(
        key=entrant.key,
        version=entrant.version,
        command=_command(entrant, private),
        token=token,
        wait_seconds=float(entrant.wait_s),
        partner=partner,
    )


def _command(entrant: Entrant, private: Sequence[Path]) -> Command | None:
    if entrant.remote or entrant.folder is None:
        return None
    own = tuple(map(str, _places(entrant)))
    # Only what lies in the bot's folder, or in what all bots see, can be seen at all.
    seen = (f"{entrant.folder.absolute()}/", "/usr/", f"{sys.prefix}/", f"{PACKAGE}/")
    hides = tuple(
        path
        for path in private
        if f"{path}/".startswith(seen) and not any(f"{place}/".startswith(f"{path}/") for place in own)
    )
    command = bot_command(entrant.argv, entrant.folder, entrant.key, hides=hides)
    command = replace(command, environment=entrant.environment, cwd=entrant.cwd)
    if entrant.submitted:
        return command
    command = with_links(command)
    others = [path for path in private if not any(f"{place}/".startswith(f"{path}/") for place in own)]
    shown = (path for path in command.reads if not _is_of_a_league(path))
    return replace(command, reads=tuple(path for path in shown if not any(map(path.is_relative_to, others))))


def host() -> Host:
    """This machine and its present boot: what a later run compares to prove that processes of this one are dead."""
    return {
        "system": platform.platform(),
        "python": sys.version.split()[0],
        "processors": f"{os.cpu_count()} {platform.machine()}",
        "machine": _line_of(Path("/etc/machine-id")),
        "boot": _line_of(Path("/proc/sys/kernel/random/boot_id")),
    }


def _line_of(file: Path) -> str:
    """The text of a file of the system; empty where there is none."""
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def same_machine(then: Host) -> bool:
    """Whether those facts are of this machine, as far as they tell."""
    here = host()
    if then.get("boot") and then.get("boot") == here.get("boot"):
        return True
    return bool(then.get("machine")) and then.get("machine") == here.get("machine")


def store_path(definition_file: str, folder: Path) -> Path:
    """Where the league of a definition is kept unless told otherwise."""
    return folder / f"{Path(definition_file).stem}.sqlite"


def remove_league(path: Path) -> None:
    """Removes a league's file with all that stands beside it: its -wal, its lock, and its logs if none has a line."""
    for suffix in ("", "-wal", "-shm", ".lock"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    logs = path.with_suffix(".logs")
    if logs.is_dir() and not any(file.stat().st_size for file in logs.iterdir()):
        for file in logs.iterdir():
            file.unlink()
        logs.rmdir()


def free_season(path: Path) -> Path:
    """The path itself if it is free, else the first free one for another season: ``kitchen-2.sqlite`` and so on."""
    number, season = 1, path
    while season.exists():
        number += 1
        season = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return season


def newest_season(path: Path) -> Path:
    """The newest store of a definition: the path itself, or its last season."""
    number, newest = 2, path
    while (season := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        newest, number = season, number + 1
    return newest
