"""Small leagues of every kind to forge: what can happen to a league has happened in them."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from unittest import mock

from referee import deals
from referee.league.definition.definition import parse_definition
from referee.league.entrants.roster import Entrant, Roster
from referee.league.league import begin
from referee.league.plan import GamePlan
from referee.league.sets_to_play import INTERRUPTED, STOPPED
from referee.league.store import Store
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import write_record
from tests.league.inprocess import (
    InProcess,
    Player,
    at_random,
    go_on,
    league_text,
    play_game,
    reneges,
    roster,
    stumbles,
)

EVENTFUL = "eventful 53"
"""The draw of that league: one of which a crash and a malformed move come."""

PLAYERS: Mapping[str, Player] = {
    "careful": fallback_move,
    "reneger": reneges,
    "stumbler": stumbles,
    "random": at_random,
}


def begin_secretly(text: str, whole: Roster, path: Path, tokens: dict[str, str], draw: str) -> None:
    """Begins a league whose master is not of a seed, yet the same each time: ``draw`` stands for the chance."""
    with mock.patch.object(deals, "secret_master", return_value=sha256(draw.encode()).digest()):
        begin(parse_definition(text), whole, path, "none", tokens)


def eventful(path: Path) -> None:
    """A round robin with a remote bot, copies, a bot that is withdrawn, void sets, no contests, redeals, stops and faults."""
    names = ["careful", "stumbler", "random"]
    bots = [f'[[bots]]\npath = "{name}"' for name in names]
    more = ['[[bots]]\nremote = true\nname = "far"\nversion = "7"', '[[bots]]\npath = "twice"\ncopies = 2']
    text = league_text([], seats=3, sets=1, seed=None, length="deal") + "\n".join([*bots, *more])
    text = text.replace("[schedule]", "[schedule]\nduplicate = false")
    there = roster([*names, "far", "twice"]).entrants
    far = Entrant(
        key="far",
        name="far",
        version="7",
        argv=(),
        folder=None,
        digest="",
        remote=True,
        variants=(),
        copy_of=None,
        wait_s=600,
    )  # a field among many
    twice = there[4]
    again = replace(twice, key="twice#2", copy_of="twice")
    whole = Roster((*there[:3], far, twice, again), notes=("a note on a submission",))
    begin_secretly(text, whole, path, {"far": "secret"}, EVENTFUL)
    players = {**PLAYERS, "far": fallback_move, "twice": fallback_move, "twice#2": at_random}
    go_on(path, players, most=4)
    with Store.write(path) as store:
        rows = {fixture.id: fixture for fixture in store.fixtures()}
        open_ = [fixture for fixture in rows.values() if not store.played([fixture.set_id])]
        local = next(f.id for f in open_ if not {"far", "random"} & set(f.seats))
        remote = next(f.id for f in open_ if "far" in f.seats and "random" not in f.seats)
        hopeless = next(f for f in reversed(open_) if not {"far", "random"} & set(f.seats))
        (first, second, third) = store.begin([(local, 0), (remote, 0), (open_[-1].id, 0)])
        store.end_attempt(first, "NO_CONTEST", "the referee stalled")
        store.end_attempt(second, "NO_CONTEST", "the referee stalled")
        store.redeal_set("Test league", rows[remote].set_id)
        store.end_attempt(third, "STOPPED", STOPPED)
        (died,) = store.begin([(remote, 1)])
        store.redeal_set("Test league", rows[remote].set_id)
        store.end_attempt(died, "STOPPED", INTERRUPTED)
        for _ in range(3):
            (never,) = store.begin([(hopeless.id, 0)])
            store.end_attempt(never, "NO_CONTEST", "the referee stalled")
        store.close_set(hopeless.set_id, "VOID", f"game {hopeless.id} was no contest three times")
        store.add_fault("stumbler", "CRASH", "Its process ended with code 1.", "/logs/stumbler.log")
        store.add_fault("random", "START_FAILED", "It did not join.", "/logs/random.log")
        store.withdraw("random", "It failed to start 3 times in a row: It did not join.")
    assert go_on(path, players).finished


def early(path: Path) -> None:
    """A gauntlet in which the rest is void, of one seed."""
    text = league_text(list(PLAYERS), seats=2, sets=2, more="")
    text = text.replace("[schedule]", '[schedule]\nformat = "gauntlet"')
    begin(parse_definition(text), roster(list(PLAYERS)), path, "none", {})
    assert go_on(path, PLAYERS).finished


def partners(path: Path) -> None:
    """A game of partners with a forfeit and malformed moves."""
    text = league_text(["stumbler", "reneger"], seats=4, sets=2, variant="seven-up-partners", seed=None)
    begin_secretly(text, roster(["stumbler", "reneger"]), path, {}, "partners")
    assert go_on(path, PLAYERS).finished


def compared(path: Path) -> None:
    """A comparison of two versions that ends early."""
    names = ["random", "careful", "reneger"]
    text = league_text(names, seats=2, sets=400, length="deal").replace("[schedule]", '[schedule]\nformat = "compare"')
    text = text.replace("sets = 400", "sets = 400\nduplicate = false")
    begin(parse_definition(text), roster(names), path, "none", {})
    assert go_on(path, PLAYERS).finished


class Scattered(InProcess):
    """Games as workers play them: all begun at once, and done in another order than that of the schedule."""

    async def _play_leg(self, _lane: object, games: Sequence[GamePlan], *, first: bool) -> None:
        self._event_sink.begin(games)
        for game in random.Random(len(games)).sample(games, len(games)):  # noqa: S311  # repeatable on purpose
            umpire = play_game(self._plan, game, self.players)
            self._event_sink.finished(game, umpire, write_record(umpire, self._plan.heading(game)))


def workers(path: Path) -> None:
    """A round robin whose games were played by several workers."""
    names = list(PLAYERS)
    text = league_text(names, seats=2, sets=2, seed=None, length="deal")
    begin_secretly(text, roster(names), path, {}, "workers")
    with Store.write(path) as store:
        assert Scattered(store, PLAYERS).run().finished


KINDS: Mapping[str, Callable[[Path], None]] = {
    "eventful": eventful,
    "gauntlet": early,
    "partners": partners,
    "compared": compared,
    "workers": workers,
}
