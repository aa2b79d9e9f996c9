"""The board of remote bots: a ladder of its own beside that of a host, for bots that their authors run on their own machines.

It has the game, the rules and the limits of the host's ladder, and plain deals alone: a bot that nobody here starts afresh may
remember a pack, so none is seen twice. The panel plays there too, or all house bots where there is no panel. A remote bot is
known by its owner, its name and the version that it declares: nobody here has seen its files. Nothing of this touches the
host's ladder.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from referee.host.entering import Eligibility, Entering
from referee.host.home import HostHome
from referee.host.rows import RemoteBot, VersionState
from referee.host.store import HostStore
from referee.league.definition.definition import Definition, load_definition
from referee.league.entrants.bot_build import require_built
from referee.league.entrants.check_certificates import only_checked
from referee.league.entrants.roster import Entrant, Roster, enter
from referee.league.ladder_history import entered_on, open_round, rounds_of
from referee.league.league import League

NAMED: Final = " (remote bots)"
"""What follows the ladder's name in that of its board of remote bots: packs are drawn by the name too, so none is the same."""

WAIT_SECONDS: Final = 60
"""So long a bot has to dial in when it is called, and the games of a round wait for one that is away; `start_s` if that is longer."""

_LONGEST_NAME: Final = 80


def remote_definition(definition: Definition) -> Definition:
    """The definition of the board of remote bots of a ladder: the same game in plain, secret deals, with its house bots alone."""
    tournament, schedule = definition.tournament, definition.schedule
    name = f"{tournament.name[: _LONGEST_NAME - len(NAMED)].rstrip()}{NAMED}"
    own = [bot for bot in definition.bots if bot.bots_from is None]
    panel = [bot for bot in own if bot.panel]
    return definition.model_copy(
        update={
            "tournament": tournament.model_copy(update={"name": name}),
            "schedule": schedule.model_copy(update={"duplicate": False, "seed": None}),
            "bots": tuple(panel or own),
        }
    )


def wait_seconds(definition: Definition) -> int:
    """How long a remote bot has to dial in."""
    return max(WAIT_SECONDS, definition.limits.start_s)


def remote_entrant(bot: str, version: str, wait_s: int) -> Entrant:
    """A remote bot in a version as it is declared: somebody else's program, which runs elsewhere."""
    return Entrant(
        key=bot,
        name=bot,
        version=version,
        argv=(),
        folder=None,
        digest="",
        remote=True,
        variants=(),
        copy_of=None,
        submitted=True,
        wait_s=wait_s,
    )


def remote_house(home: HostHome) -> tuple[Definition, Roster]:
    """The definition of the board of remote bots as it is now, and its house bots. Raises ``ProblemsError`` if one is faulty."""
    definition = remote_definition(load_definition(home.definition))
    roster = only_checked(definition, enter(definition), home.definition)
    require_built(roster.bots)
    return definition, roster


class RemoteEligibility(Eligibility):
    """Says who plays on the board of remote bots: its house bots, and who is connected. ``here``: who is, and may play."""

    def __init__(self, home: HostHome, store: HostStore, here: Callable[[], Sequence[RemoteBot]]) -> None:
        super().__init__(home, store, sandboxed=True)
        self._here = here

    def next_round(self, league: League, *, frozen: bool) -> Entering:
        """Who plays if the next round begins now. ``frozen``: nobody enters who has not played before.

        Raises ``ProblemsError`` where the definition or a bot of it is faulty.
        """
        definition, house = remote_house(self._home)
        entrants, owners, lines = list(house.entrants), dict[str, str](), list[str]()
        names = {one.key.casefold() for one in entrants}
        house_owners = {bot.owner.casefold() for bot in definition.bots if bot.owner}
        known = _declared(league)
        for one in self._here():
            told = f"{one.bot} of {one.owner} does not play"
            if one.bot.casefold() in names:
                lines.append(f"{told}: a bot of the definition has that name")
            elif one.owner.casefold() in house_owners:
                lines.append(f"{told}: bots of the definition have an owner of that name; give them another one")
            elif frozen and (one.bot, one.owner, one.declared) not in known:
                lines.append(f"{told}: the ladder is frozen, and it has not played before")
            else:
                entrants.append(remote_entrant(one.bot, one.declared, wait_seconds(definition)))
                owners[one.bot] = one.owner
        return Entering(definition, replace(house, entrants=tuple(entrants), owners=owners), tuple(lines))

    def going_on(self, league: League) -> tuple[Definition, Roster]:
        """The house bots as they are now, and the remote bots of the open round as they entered. Raises ``ProblemsError``."""
        definition, house = remote_house(self._home)
        round_ = open_round(league)
        keys = set(round_["bots"]) if round_ is not None else set()
        remote = [replace(one, key=one.name) for one in league.entrants if one.remote and one.key in keys]
        return definition, Roster((*house.entrants, *remote))

    def seen(self) -> Sequence[object]:
        """What of the store decides who plays: another value when that has changed."""
        there = [(one.version, one.state, one.session, one.seen > 0, one.rests) for one in self._store.connections()]
        return (*super().seen(), there)

    def withdrawn(self, league: League, gone: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
        """Whom the organiser has withdrawn since: key and reason, of those who play. ``gone``: why each is withdrawn already, if so."""
        rounds, entered = rounds_of(league), entered_on(league)
        known = {one.key: one for one in league.entrants}
        for key in rounds[-1]["bots"] if rounds else ():
            if gone.get(key) or not known[key].remote:
                continue
            for version in self._store.versions(bot=entered[key]["bot"], state=VersionState.WITHDRAWN):
                if (version.owner, version.name) == (entered[key]["owner"], known[key].version):
                    yield key, version.reason.strip() or "by the organiser"
                    break


def _declared(league: League) -> set[tuple[str, str, str]]:
    """Bot, owner and version of each remote bot that has played."""
    entrants = {one.key: one for one in league.entrants}
    return {
        (one["bot"], one["owner"], entrants[one["key"]].version)
        for one in entered_on(league).values()
        if entrants[one["key"]].remote
    }
