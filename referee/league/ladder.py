"""A ladder in its store: a round begins with whoever is there, is played as any league, and closes; and then the next.

The definition that the ladder began with is frozen but for its bots. When a round begins, each bot of the definition is looked up
among those that have entered: the same files in the same version by the same owner are the same entrant; anything else enters as a
new one, and the bot's earlier version retires. Who is not in the definition any more is not in the round. What was scored stays.

Then it is fixed who plays, who is placed, and at whom the extra tables are aimed; after that the round's master is drawn, its
commitment is stored with all of this in one transaction, and the first pack is dealt. ``close_round`` adds the root of all results
to the round; from then on its master is no secret any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from referee import deals
from referee.league.definition.changes import told_changes
from referee.league.definition.definition import Definition
from referee.league.definition.names import is_readable
from referee.league.entrants.roster import Entrant, Roster
from referee.league.ladder_history import (
    LadderHistory,
    entered_on,
    history_of,
    key_of_version,
    open_round,
    round_master,
    rounds_of,
    sets_of_round,
    versions_of,
    voided_with_round,
)
from referee.league.league import League, LeagueError, about, read_league, rules_of
from referee.league.schedule.schedule import read_schedule
from referee.league.standings import closed_sets, skill_states, standings_of
from referee.league.store import FixtureRow, Store
from referee.league.store.league_facts import NewOnLadder, RoundFacts
from referee.league.store.root_digests import result_root, roots
from referee.league.store.rounds import has_room
from referee.statistics.standings import Standings

MOST_OF_A_REASON: Final = 1000
"""Characters of the reason for which somebody withdraws a bot."""


@dataclass(frozen=True, slots=True)
class BegunRound:
    """A round that has begun, and what is to be said of who plays in it and who does not, in sentences."""

    facts: RoundFacts
    notes: tuple[str, ...]


def history_in(store: Store, league: League, incoming: Sequence[Entrant] = ()) -> LadderHistory:
    """The history of a ladder as its store stands. ``incoming``: bots that are about to enter."""
    results = {one[0].set_id: one for one in closed_sets(store.sets(), store.games())}
    return history_of(league, read_schedule(store).sets, results, incoming)


def who_plays_next(
    store: Store, league: League, definition: Definition, roster: Roster, *, finals: bool = False
) -> list[str]:
    """Who would play if the next round began now, by key, in the order in which they entered; raises as ``begin_round`` does."""
    _check_may_begin(store, league, definition)
    return _Present(store, league, definition, roster, finals=finals).bots


def begin_round(
    store: Store, league: League, definition: Definition, roster: Roster, *, finals: bool = False
) -> BegunRound:
    """Begins the next round with the bots of a definition as they are now. ``finals``: it freezes the ladder, if it may begin.

    Raises ``LeagueError`` where it may not begin, ``ScheduleError`` where the bots cannot fill a table.
    """
    _check_may_begin(store, league, definition)
    present = _Present(store, league, definition, roster, finals=finals)
    history = history_in(store, league, present.incoming)
    history.enter(present.new)
    plan = history.plan(present.new, present.bots)
    digest = history.digest(plan, present.new)
    master = round_master(league, plan.number)
    drawn = history.draw(plan, master)
    facts: RoundFacts = {
        "number": plan.number,
        "entered": present.new,
        "bots": [bot.key for bot in plan.bots],
        "placed": list(plan.placed),
        "pairs": [list(pair) for pair in plan.pairs],
        "digest": digest,
        "commitment": deals.commitment(master, digest),
        "master": master.hex(),
        "tables": drawn.tables,
    }
    rounds = [*rounds_of(league), facts]
    if not has_room(rounds):
        raise LeagueError(
            f"{store.path} has no room for a round more than its {len(rounds) - 1:,}: end it with referee ladder {store.path} "
            "--finish, and begin another with --new-season"
        )
    fixtures = [
        FixtureRow(game.id, game.set_id, game.rotation, game.seats) for one in drawn.sets for game in one.fixtures
    ]
    if finals:
        freeze(store, league)
    store.add_round(
        league.name,
        [(one.key, about(one)) for one in present.incoming],
        [one.id for one in drawn.sets],
        fixtures,
        rounds,
    )
    carry_skills(store)
    return BegunRound(facts, tuple(present.notes))


def check_same_ladder(
    path: object, league: League, definition: Definition, remedy: str = "begin another ladder with --new-season"
) -> None:
    """Raises ``LeagueError`` if a definition differs from that of the ladder in more than its bots. ``remedy``: besides putting it back."""
    then, now = league.definition.canonical(), definition.canonical()
    for one in (then, now):
        one.pop("bots", None)
        one["limits"].pop("max_processes", None)  # how much runs at once decides nothing
    if then != now or rules_of(definition) != league.rules:
        raise LeagueError(
            f"{path} was begun with another definition: {told_changes(then, now)}. Only bots may come, go and change on a ladder: "
            f"put that back, or {remedy}"
        )


def _check_may_begin(store: Store, league: League, definition: Definition) -> None:
    check_same_ladder(store.path, league, definition)
    if league.facts["state"] == "finished":
        raise LeagueError(f"{store.path} is finished; begin another ladder with --new-season")
    if league.facts.get("paused"):
        raise LeagueError(f"{store.path} is paused; let it go on with: referee ladder {store.path} --go-on")
    if (round_ := open_round(league)) is not None:
        raise LeagueError(f"round {round_['number']} of {store.path} is not over; it has to be closed first")


class _Present:
    """Who is there when a round begins. ``bots``: all keys, in the order in which they entered; ``new`` and ``incoming``: who enters."""

    def __init__(self, store: Store, league: League, definition: Definition, roster: Roster, *, finals: bool) -> None:
        if finals:
            _check_has_rounds(store, league)
        self._finals = finals
        self._league, self._withdrawn = league, {key: one["withdrawn"] for key, one in store.entrants().items()}
        rounds = rounds_of(league)
        self._entered = [*entered_on(league).values()]
        self._known = {entrant.key: entrant for entrant in league.entrants}
        self._before = rounds[-1]["bots"] if rounds else []
        self.notes: list[str] = []
        self.new: list[NewOnLadder] = []
        self.incoming: list[Entrant] = []
        entries = _entries(definition, roster)
        found = [key for one in roster.entrants if (key := self._key_of(one, *entries.get(one.key, ("", False))))]
        order = [one["key"] for one in (*self._entered, *self.new)]
        self.bots = sorted(found, key=order.index)
        self._check_panel()
        self._tell_who_retires()

    def _key_of(self, bot: Entrant, owner: str, panel: bool) -> str:
        """The key under which a bot plays; empty if it does not. Who is new enters."""
        versions = versions_of(bot.key, self._entered)
        for one in versions:
            known = self._known[one["key"]]
            same = (known.digest, known.version, one["owner"].casefold(), one["panel"])
            if same == (bot.digest, bot.version, owner.casefold(), panel):
                if reason := self._withdrawn[one["key"]]:
                    self.notes.append(f"{bot.key} {bot.version} does not play: it was withdrawn ({reason}).")
                    return ""
                return one["key"]
        if "frozen" in self._league.facts or self._finals:
            what, since = "has changed" if versions else "is new", self._league.facts.get("frozen")
            raise LeagueError(
                f"{'nobody enters in the finals' if since is None else f'the ladder is frozen since round {since}'}, and {bot.key} {what}: "
                + ("put its files back, or take it out" if versions else "take it out of the definition")
            )
        if any(one["panel"] for one in versions) or (panel and self._entered):
            raise LeagueError(
                f"the panel never changes, or nothing could be compared with it: {bot.key} is not in it as it is now; "
                "put its files back, or enter it under another name and without panel"
            )
        key = key_of_version(bot.key, len(versions) + 1)
        self.new.append({"key": key, "bot": bot.key, "owner": owner, "panel": panel})
        self.incoming.append(replace(bot, key=key, name=bot.key))
        if versions:
            self.notes.append(f"{bot.key} {bot.version} enters as {key}; its version before retires.")
        elif self._entered:
            self.notes.append(f"{bot.key} {bot.version} enters.")
        return key

    def _check_panel(self) -> None:
        panel = [one for one in self._entered if one["panel"] and not self._withdrawn[one["key"]]]
        gone = [one["bot"] for one in panel if one["key"] not in self.bots]
        if gone:
            raise LeagueError(
                f"{', '.join(gone)} of the panel cannot play, and the panel plays every round: put it back as it was"
            )

    def _tell_who_retires(self) -> None:
        here = {one["bot"].casefold() for one in (*self._entered, *self.new) if one["key"] in self.bots}
        names = {one["key"]: one["bot"].casefold() for one in self._entered}
        self.notes += [f"{key} retires." for key in self._before if key not in self.bots and names[key] not in here]


def _entries(definition: Definition, roster: Roster) -> dict[str, tuple[str, bool]]:
    """Owner of each bot that has an entry of its own, or was handed in, and whether it is of the panel, by the bot's key."""
    own = [(bot.owner or "", bool(bot.panel)) for bot in definition.bots if bot.bots_from is None]
    invited = [entrant.key for entrant in roster.entrants if not entrant.submitted]
    return dict(zip(invited, own, strict=True)) | {key: (owner, False) for key, owner in roster.owners.items()}


def check_round_unchanged(store: Store, league: League, roster: Roster) -> None:
    """Raises ``LeagueError`` if a bot that has still to play in the open round is not there any more as it entered."""
    round_ = open_round(league)
    if round_ is None:
        return
    withdrawn = {key for key, one in store.entrants().items() if one["withdrawn"]}
    open_ = {row.id for row in store.sets() if row.state == "OPEN"}
    left = [planned.table for planned in read_schedule(store).sets if planned.id in open_]
    to_play = {key for table in left if withdrawn.isdisjoint(table) for key in table}  # the others are void
    now = {one.key.casefold(): (one.digest, one.version) for one in roster.entrants}
    known = {one.key: one for one in league.entrants}
    bots = [key for key in round_["bots"] if key in to_play]
    changed = [key for key in bots if now.get(known[key].name.casefold()) != (known[key].digest, known[key].version)]
    if changed:
        entered = entered_on(league)
        free = [known[key].name for key in changed if not entered[key]["panel"]]
        one = len(changed) == 1
        raise LeagueError(
            f"round {round_['number']} is open, and {', '.join(changed)} {'has' if one else 'have'} changed since it began, or "
            f"{'is gone: put it back as it was' if one else 'are gone: put them back as they were'} until the round is over"
            + (
                f", or withdraw {'it' if one else free[0]}: referee ladder {store.path} --withdraw {free[0]}"
                if free
                else ""
            )
        )


def close_round(store: Store, league: League) -> RoundFacts:
    """Closes the open round, all sets of which are over: its master is no secret any more. Returns it as it is kept.

    Raises ``LeagueError`` if none is open, or some of its sets are.
    """
    round_, sets = open_round(league), store.sets()
    if round_ is None:
        raise LeagueError(f"no round of {store.path} is open")
    left = sum(row.state == "OPEN" for row in sets)
    if left:
        raise LeagueError(f"round {round_['number']} of {store.path} has open sets ({left}); play them first")
    closed: RoundFacts = {**round_, "result_root": result_root(league.name, sets, store.games())}
    store.put(rounds=[*rounds_of(league)[:-1], closed])
    carry_skills(store)
    return closed


def void_open_sets(store: Store, league: League, reason: str) -> int:
    """Voids what is open of the open round, and returns how many sets that are. A set of which every game is stored counts: on a
    ladder nothing that is over is taken away.

    Raises ``LeagueError`` if no round is open, or the reason is blank, long, or no plain line.
    """
    round_, rounds = open_round(league), rounds_of(league)
    if round_ is None:
        raise LeagueError(f"no round of {store.path} is open, and what is over stays")
    if not reason.strip() or len(reason) > MOST_OF_A_REASON or not is_readable(reason):
        raise LeagueError(
            f"the reason stands in the record of the round: give a single line of at most {MOST_OF_A_REASON} printable characters"
        )
    rows = [row for row in store.tables(sum(map(sets_of_round, rounds[:-1]))) if row.state == "OPEN"]
    store.score_sets(row.id for row in rows if row.games == row.fixtures)
    left = [row.id for row in rows if row.games < row.fixtures]
    if left:
        voided: RoundFacts = {**round_, "voided": reason}
        store.void_sets(left, voided_with_round(round_["number"], reason), rounds=[*rounds[:-1], voided])
    return len(left)


def carry_skills(store: Store) -> None:
    """Notes what TrueSkill has come to among those who play now, so that whoever looks need not rate old sets again."""
    league, before = read_league(store), store.skills()
    states = skill_states(league, read_schedule(store), store.sets(), store.games(), before)
    if states != before:
        store.put(skills=states)


def withdraw(store: Store, league: League, bot: str, reason: str) -> str:
    """Withdraws the version of a bot that plays now: its open sets are void, its closed ones stay. Returns its key.

    Raises ``LeagueError`` if no such bot plays, or it is of the panel, or the reason is blank, long, or no plain line.
    """
    if not reason.strip():
        raise LeagueError(f"{bot} is withdrawn for a reason, which stands in the record: say it, or leave --reason out")
    if len(reason) > MOST_OF_A_REASON or not is_readable(reason):
        raise LeagueError(
            f"the reason stands in the record of {bot} and of all its open sets: give a single line of at most "
            f"{MOST_OF_A_REASON} printable characters as --reason"
        )
    rounds, entered = rounds_of(league), entered_on(league)
    withdrawn = store.entrants()
    playing = [key for key in (rounds[-1]["bots"] if rounds else ()) if not withdrawn[key]["withdrawn"]]
    found = [key for key in playing if bot.casefold() in (key.casefold(), entered[key]["bot"].casefold())]
    if not found:
        raise LeagueError(
            f"no bot of {store.path} that plays is called {bot}; there are {', '.join(playing) or 'none'}"
        )
    if entered[found[0]]["panel"]:
        raise LeagueError(f"{bot} is of the panel, which plays every round")
    store.withdraw(found[0], reason)
    return found[0]


def freeze(store: Store, league: League) -> int:
    """From now on no bot and no version enters. Returns after which round; a ladder that is frozen stays as it is.

    Raises ``LeagueError`` if it has no round yet.
    """
    _check_has_rounds(store, league)
    if "frozen" not in league.facts:
        store.put(frozen=len(rounds_of(league)))
    return store.league()["frozen"]


def _check_has_rounds(store: Store, league: League) -> None:
    if not rounds_of(league):
        raise LeagueError(f"{store.path} has no round yet: nobody has entered; play one first")


def is_resolved(history: LadderHistory, table: Standings) -> bool:
    """Whether all neighbours in a table of a ladder are told apart; those of one owner never are, and do not count."""
    if any(row.status != "ranked" for row in table.rows):
        return False
    found = [history.orders.finding(one.entrant, other.entrant) for one, other in pairwise(table.rows)]
    return all(one.is_shown or not one.error for one in found)


def finish(store: Store, league: League) -> Standings:
    """Ends a ladder between two rounds: its standings and roots are those of any finished league.

    Raises ``LeagueError`` where a round is open.
    """
    if (round_ := open_round(league)) is not None:
        raise LeagueError(f"round {round_['number']} of {store.path} is open; play it to its end first")
    table = standings_of(store, league)
    last = {"ended": None, "state": "finished", "standings": table.to_json()}
    store.put(**last, **roots(store, last))
    return table
