"""The engine of the board of remote bots: checks who is new, calls who is connected, and plays a round with whoever comes.

Checks and rounds use the same door one after the other, and between two checks a round may be played: so nobody keeps the others
from playing. A bot that is called and does not come, or goes away in a round, is out of that round, and is not called again
before it has rested.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Final

from referee.host.disk import DiskRoom, room_on
from referee.host.door import Door, open_door
from referee.host.engine import NOTICE, Engine, EngineOptions, RoundLog, Waiting
from referee.host.entering import Eligibility
from referee.host.home import HostHome
from referee.host.jobs import JobLane, JobOptions
from referee.host.remote_ladder import RemoteEligibility, remote_definition, remote_house, wait_seconds
from referee.host.rows import BotCall, Job
from referee.host.store import HostStore
from referee.league.definition.definition import Definition, load_definition
from referee.league.entrants.roster import Roster
from referee.league.ladder_history import open_round
from referee.league.league import League
from referee.league.plan import LeaguePlan
from referee.league.play.runner import Runner
from referee.league.store import Store
from referee.report.sanitize import sanitize

MOST_CHECK_SECONDS: Final = 300.0
"""What the check of a remote bot may take; meanwhile no round begins."""

_POLITE: Final = 5
"""How much the games of the host's ladder come before those of this board."""

_log = logging.getLogger(__name__)


def play_remote(home: HostHome, stop: threading.Event, options: EngineOptions) -> None:
    """Plays rounds of the board of remote bots until ``stop`` is set. Raises ``HostStoreError`` and ``OSError``."""
    os.nice(_POLITE)
    with HostStore.open(home.store) as store:
        door = open_door(home, store)
        if door is None:
            stop.wait()
            return
        store.expire_leases(time.time(), remote=True)
        store.end_calls()
        RemoteEngine(home, store, stop, options, door).run()


class RemoteChecks(JobLane):
    """Checks remote bots, one at a time."""

    program: ClassVar[str] = "referee.host.remote_check"

    def next(self) -> Job | None:
        """The next check of somebody who is connected, if there is one: it is begun, and has to be done."""
        return self._lease() if self._has_room() else None  # without a sandbox too: nothing of it runs here

    def do(self, job: Job) -> None:
        """Does it, in a process of its own."""
        try:
            self._do(job)
        finally:
            self._store.end_calls()

    def _lease(self) -> Job | None:
        return self._store.lease(time.time(), self._options.lease, remote=True)

    def _build_seconds(self) -> float:
        return 0.0

    def _cut_short(self, job: Job, why: str) -> None:
        """Who is not there any more has not been slow: its check waits until it is back."""
        now = time.time()
        if any(one.version == job.version and not one.is_there(now) for one in self._store.connections()):
            self._store.give_back(job)
            self._store.rest(job.bot, now, "The check was broken off, as the connection was lost.")
        else:
            super()._cut_short(job, why)


class RemoteEngine(Engine):
    """Plays the rounds of the board of remote bots."""

    said: ClassVar[str] = "remote_"
    archived_as: ClassVar[str] = "remote-"

    def __init__(
        self,
        home: HostHome,
        store: HostStore,
        stop: threading.Event,
        options: EngineOptions,
        door: Door,
        clock: Callable[[], float] = time.time,
        room: Callable[[Path], DiskRoom] = room_on,
        wait_s: float | None = None,
    ) -> None:
        """``wait_s``: how long a bot that is called has to dial in, if not as long as the definition says."""
        super().__init__(home, store, stop, replace(options, workers=1, cluster="", until=0), clock, room)
        self._door, self._wait_s = door, wait_s
        self._calls: RoundCalls | None = None
        self._checks = RemoteChecks(home, store, stop, JobOptions(most=MOST_CHECK_SECONDS))

    def step(self) -> Waiting | None:
        """Checks somebody, if there is somebody to be checked, and plays a round if there can be one."""
        if (job := self._checks.next()) is not None:
            _log.log(NOTICE, "Checking %s of %s", sanitize(job.bot, 60), sanitize(job.owner, 60))
            self._checks.do(job)
        waiting = super().step() if not self._stop.is_set() else Waiting("Stopped.")
        return None if job is not None and not self._stop.is_set() else waiting

    @property
    def path(self) -> Path:
        """The file of the board of remote bots."""
        return self._home.remote

    def _definition(self) -> Definition:
        return remote_definition(load_definition(self._home.definition))

    def _house(self) -> tuple[Definition, Roster]:
        return remote_house(self._home)

    def _eligibility(self) -> Eligibility:
        return RemoteEligibility(self._home, self._store, lambda: self._store.to_be_called(self._clock()))

    def _may_begin(self, league: League, every_s: int) -> Waiting | None:
        if (waiting := super()._may_begin(league, every_s)) is not None:
            return waiting
        if not self._store.to_be_called(self._clock()):
            return Waiting("No remote bot that may play is connected: a round begins when one is.")
        return None

    def _runner(self, ladder: Store, league: League, plan: LeaguePlan) -> Runner:
        calls = self._calls = RoundCalls(self._store, league, self._door, self._clock)
        wait = float(wait_seconds(league.definition)) if self._wait_s is None else self._wait_s
        bots = {key: replace(one, wait_seconds=wait) if one.command is None else one for key, one in plan.bots.items()}
        plan = replace(plan, bots=bots, listen=self._door.address, tls=self._door.tls)
        return Runner(ladder, league, plan, calls)

    def _play(self, ladder: Store, league: League, roster: Roster) -> None:
        self._calls = None
        try:
            super()._play(ladder, league, roster)
        finally:
            self._store.end_calls()
        if self._calls is not None and not self._stop.is_set():
            for bot in self._calls.there:
                self._store.played(bot)


class RoundCalls(RoundLog):
    """Calls the remote bots of a round, and tells those that do not play why. ``there``: who was called and is still there."""

    def __init__(self, store: HostStore, league: League, door: Door, clock: Callable[[], float]) -> None:
        super().__init__()
        self._store, self._door, self._clock = store, door, clock
        round_ = open_round(league)
        self._what = f"round {round_['number']}" if round_ is not None else "a round"
        self._bots: Mapping[str, str] = {one.key: one.name for one in league.entrants if one.remote}
        self._sessions: dict[str, tuple[tuple[str, str], ...]] = {}
        self.there: set[str] = set()

    def remote(self, entrant: str, address: str, token: str) -> None:
        """It may dial in: it is called, or called once more for another session of it."""
        del address  # a proxy may stand before it
        bot = self._bots[entrant]
        self.there.add(bot)
        self._sessions[bot] = (*self._sessions.get(bot, ()), (self._door.told, token))
        self._store.call(bot, BotCall(self._what, self._sessions[bot]))

    def away(self, entrant: str, reason: str) -> None:
        """It is out of this round."""
        self.there.discard(self._bots[entrant])
        _log.log(NOTICE, "%s is out of %s: %s", sanitize(entrant, 60), self._what, sanitize(reason))
        self._store.rest(self._bots[entrant], self._clock(), f"Out of {self._what}: {reason}")

    def wrong_tokens(self, sentence: str) -> None:
        """Somebody has knocked."""
        _log.info("%s", sanitize(sentence, 600))
