"""Who plays on the ladder of a host: the bots of its definition, and those that were handed in.

Nobody's bot keeps the others from playing: one that cannot take part is left out, and a line says why.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from referee.host.home import HostHome
from referee.host.rows import Entered, Version, VersionState
from referee.host.store import HostStore
from referee.league.definition.definition import Definition, load_definition
from referee.league.entrants.bot_build import require_built
from referee.league.entrants.check_certificates import only_checked
from referee.league.entrants.roster import BotSourceError, Entrant, Roster, enter, handed_in
from referee.league.ladder_history import entered_on, open_round, rounds_of
from referee.league.league import League


@dataclass(frozen=True, slots=True)
class Entering:
    """The definition of a ladder as it is now, its bots with those that were handed in, and who is left out, in lines."""

    definition: Definition
    roster: Roster
    lines: tuple[str, ...]


def house_bots(home: HostHome) -> tuple[Definition, Roster]:
    """The definition of a ladder as it is now, and its bots. Raises ``ProblemsError`` if a bot is not there, or not built."""
    definition = load_definition(home.definition)
    roster = only_checked(definition, enter(definition), home.definition)
    require_built(roster.bots)
    return definition, roster


class Eligibility:
    """Says who plays. ``sandboxed``: whether strangers' bots can be shut in; else they do not play."""

    def __init__(self, home: HostHome, store: HostStore, *, sandboxed: bool) -> None:
        self._home, self._store, self._sandboxed = home, store, sandboxed

    def next_round(self, league: League, *, frozen: bool) -> Entering:
        """Who plays if the next round begins now. ``frozen``: nobody enters who has not played before.

        Raises ``ProblemsError`` where the definition or a bot of it is faulty.
        """
        definition, house = house_bots(self._home)
        lines = [f"{one.path} does not play: {one.reason}" for one in house.skipped]
        entrants, owners = list(house.entrants), dict[str, str]()
        entered, unknown = self._played(league) if frozen else (self._store.entered(_closes(definition)), [])
        if not self._sandboxed:
            strangers = [one.key for one in entrants if one.submitted] + [one.bot for one in entered]
            entrants = [one for one in entrants if not one.submitted]
            lines += [f"{key} does not play: there is no sandbox to shut it in" for key in strangers]
            entered, unknown = [], []
        known = _known(league) if frozen else None
        if known is not None:
            own = {bot for bot, _ in known}
            played = {one for versions in known.values() for one in versions}
            new = [one for one in entrants if one.key not in own or (one.digest, one.version) not in played]
            lines += [f"{one.key} does not play: the ladder is frozen, and it has not played before" for one in new]
            definition = _without(definition, house, new)
            entrants = [one for one in entrants if one not in new]
        lines += [
            f"{bot} of {owner} does not play: the ladder is frozen, and it has not played before"
            for bot, owner in unknown
        ]
        names = {one.key.casefold() for one in entrants}
        house_owners = {bot.owner.casefold() for bot in definition.bots if bot.owner}
        for one in entered:
            if one.bot.casefold() in names:
                lines.append(f"{one.bot} of {one.owner} does not play: a bot of the definition has that name")
                continue
            if one.owner.casefold() in house_owners:
                lines.append(
                    f"{one.bot} of {one.owner} does not play: bots of the definition have an owner of that name; give them another one"
                )
                continue
            found, reason = self._sound(definition, self._store.version(one.version))
            if found is None:
                lines.append(f"{one.bot} of {one.owner} does not play: {reason}")
            else:
                entrants.append(found)
                owners[found.key] = one.owner
        roster = replace(house, entrants=tuple(entrants), owners=owners)
        return Entering(definition, roster, tuple(lines))

    def _played(self, league: League) -> tuple[list[Entered], list[tuple[str, str]]]:
        """Of each bot that may play the newest version that has played, unless that was withdrawn; and who has no such version, bot and owner.

        What was accepted since, or withdrawn before it ever played, changes nothing on a ladder that is frozen.
        """
        entrants, before = {one.key: one for one in league.entrants}, defaultdict[tuple[str, str], list[Entrant]](list)
        for one in entered_on(league).values():
            before[one["bot"], one["owner"]].append(entrants[one["key"]])
        newest: dict[tuple[str, str], Version] = {}
        unknown: dict[tuple[str, str], None] = {}
        for version in self._store.on_ladder():
            bot = (version.bot, version.owner)
            if any(is_of(version, entrant) for entrant in before[bot]):
                newest.setdefault(bot, version)
            elif not before[bot] and version.state is VersionState.ACCEPTED:
                unknown[bot] = None
        playing = [one for one in newest.values() if one.state is VersionState.ACCEPTED]
        return [Entered(one.bot, one.owner, one.id) for one in playing], list(unknown)

    def _sound(self, definition: Definition, version: Version) -> tuple[Entrant | None, str]:
        """A version from its folder, or what is wrong with that."""
        folder = self._home.bot(version.id)
        try:
            found = handed_in(definition, folder, version.bot)
        except BotSourceError as error:
            return None, f"version {version.id} is damaged or does not fit: {error}"
        if version.digest and version.digest != found.digest:
            return None, f"the files of version {version.id} in {folder} are not those that were checked; put them back"
        return found, ""

    def going_on(self, league: League) -> tuple[Definition, Roster]:
        """The bots of the open round in the versions that play there, as they are now; one that is gone is left out.

        Raises ``ProblemsError`` where the definition or a bot of it is faulty.
        """
        definition, house = house_bots(self._home)
        round_ = open_round(league)
        if round_ is None:
            return definition, house
        keys = set(round_["bots"])
        entered = entered_on(league)
        strangers: list[Entrant] = []
        for entrant in league.entrants:
            if entrant.key not in keys or not entrant.submitted:
                continue
            bot, owner = entered[entrant.key]["bot"], entered[entrant.key]["owner"]
            versions = [one for one in self._store.versions(bot=bot) if one.bot == bot and one.owner == owner]
            if not versions:
                continue  # of the definition, which has submissions of its own
            candidates = (self._sound(definition, one)[0] for one in versions if is_of(one, entrant))
            strangers += [one for one in candidates if one is not None and one.digest == entrant.digest][:1]
        names = {one.key for one in strangers}
        return definition, Roster((*(one for one in house.entrants if one.key not in names), *strangers))

    def withdrawn(self, league: League, gone: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
        """Whom the organiser has withdrawn since: key and reason, of those who play. ``gone``: why each is withdrawn already, if so."""
        rounds, entered = rounds_of(league), entered_on(league)
        known = {one.key: one for one in league.entrants}
        decided = (VersionState.ACCEPTED, VersionState.WITHDRAWN)
        for key in rounds[-1]["bots"] if rounds else ():
            if gone.get(key) or not known[key].submitted:
                continue
            versions = [
                one
                for one in self._store.versions(bot=entered[key]["bot"])
                if one.owner == entered[key]["owner"] and one.state in decided and is_of(one, known[key])
            ]
            if versions and versions[0].state is VersionState.WITHDRAWN:
                yield key, versions[0].reason.strip() or "by the organiser"

    def seen(self) -> Sequence[object]:
        """What of the store decides who plays: another value when that has changed."""
        store = self._store
        gone = [one.id for one in store.versions(state=VersionState.WITHDRAWN)]
        return (store.entered(), gone, store.setting("paused"), store.setting("frozen"), store.setting("void_round"))


def present(league: League, roster: Roster) -> League:
    """The league with its bots where they lie now, and as they are started here: the host may have moved since they entered."""
    now = {(one.key, one.digest, one.version): one for one in roster.entrants}

    def here(entrant: Entrant) -> Entrant:
        one = now.get((entrant.name, entrant.digest, entrant.version))
        if one is None:
            return entrant
        return replace(entrant, folder=one.folder, argv=one.argv, environment=one.environment, cwd=one.cwd)

    return replace(league, entrants=tuple(here(one) for one in league.entrants))


def is_of(version: Version, entrant: Entrant) -> bool:
    """Whether an entrant of the ladder plays as that version: by its files, or by the folder that it entered from."""
    folder = entrant.folder
    return (bool(version.digest) and version.digest == entrant.digest) or (
        folder is not None and folder.parent.name == "bots" and folder.name == str(version.id)
    )


def _known(league: League) -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Digest and version of what has played, by bot and owner."""
    entrants = {one.key: one for one in league.entrants}
    found: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for one in entered_on(league).values():
        entrant = entrants[one["key"]]
        found.setdefault((one["bot"], one["owner"]), set()).add((entrant.digest, entrant.version))
    return found


def _without(definition: Definition, house: Roster, gone: Sequence[Entrant]) -> Definition:
    """The definition without the entries of these bots of its own."""
    own = [bot for bot in definition.bots if bot.bots_from is None]
    invited = [one for one in house.entrants if not one.submitted]
    left = [bot for bot, one in zip(own, invited, strict=True) if one not in gone]
    bots = tuple(bot for bot in definition.bots if bot.bots_from is not None or any(bot is one for one in left))
    return definition.model_copy(update={"bots": bots})


def _closes(definition: Definition) -> float | None:
    closes = definition.host.closes if definition.host else None
    return None if closes is None else closes.timestamp()
