"""A new season that keeps what it can of the one before: the sets in which every bot is still the same.

A set's id follows from its entrants with their versions, so a new version of a bot, or a bot that comes or goes, leaves
all other sets as they are. Their games are copied with their records; only the others are played. New sets get packs from a
new secret master, for that of the old season is public; which packs are of which master stays on record and is verified.
"""

from dataclasses import dataclass
from pathlib import Path

from referee.league.definition.definition import Definition
from referee.league.entrants.roster import Roster
from referee.league.league import League, LeagueError, read_league, rules_of
from referee.league.schedule.formats import plan
from referee.league.store import Store
from referee.league.store.league_facts import EarlierSeason


@dataclass(frozen=True, slots=True)
class CarriedOverSets:
    """What a new season takes over: from which store, which sets, and the masters of their packs, as stored facts."""

    store: Path
    sets: frozenset[str]
    earlier: tuple[EarlierSeason, ...]


def kept_of(path: Path, definition: Definition, roster: Roster) -> CarriedOverSets:
    """What a new season of a definition can keep of the league at that path.

    Raises ``LeagueError`` if that is not finished, was played otherwise, or nothing of it can be kept.
    """
    if not path.exists():
        raise LeagueError(f"there is no season at {path} to keep sets of; run without --new-version")
    with Store.read(path) as store:
        league = read_league(store)
        _check_same_game(path, league, definition)
        scored = {row.id for row in store.sets() if row.state == "SCORED"}
    _check_versions(league, roster)
    ids = frozenset(one.id for one in plan(definition.shape(), roster.entrants).sets if one.id in scored)
    if not ids:
        raise LeagueError(f"no set of {path} has only bots that are still the same; run with --new-season")
    return CarriedOverSets(path, ids, tuple(_earlier(league, ids)))


def _check_same_game(path: Path, league: League, definition: Definition) -> None:
    if league.facts["state"] != "finished":
        raise LeagueError(f"{path} is not finished; finish it first: referee resume {path}")
    own, other = definition.canonical(), league.definition.canonical()
    own["schedule"], other["schedule"] = (
        {name: one["schedule"].get(name) for name in ("duplicate", "format", "seed")} for one in (own, other)
    )
    for one in (own, other):
        one["limits"].pop("max_processes", None)  # how much runs at once decides nothing
    differ = [part for part in ("tournament", "schedule", "limits", "policy") if own[part] != other[part]]
    differ += ["rules"] if rules_of(definition) != league.rules else []
    if differ:
        named = ", ".join(f"[{part}]" for part in differ)
        raise LeagueError(f"{path} was played with another {named}: its sets do not count here; run with --new-season")


def _check_versions(league: League, roster: Roster) -> None:
    """Other files under the same version would pass for the same bot."""
    then = {(entrant.key, entrant.version): entrant.digest for entrant in league.entrants}
    same = sorted(one.key for one in roster.entrants if then.get((one.key, one.version), one.digest) != one.digest)
    if same:
        raise LeagueError(f"the files of {', '.join(same)} have changed, but not the version: raise it in bot.toml")


def _earlier(league: League, ids: frozenset[str]) -> list[EarlierSeason]:
    """The masters of the kept sets: that of the season, and those of seasons before it."""
    facts = league.facts
    known = facts.get("earlier", [])
    older = {one for entry in known for one in entry["sets"]}
    own: EarlierSeason = {
        "master": facts["master"],
        "commitment": facts["commitment"],
        "digest": facts["digest"],
        "sets": sorted(ids - older),
    }
    found = [*known, own]
    return [{**entry, "sets": kept} for entry in found if (kept := sorted(ids & set(entry["sets"])))]
