"""A leg: one game from each of many sets, all played at once by bot processes that have never met these packs.

Within a leg every bot has one process (a pair has two). All games are fed to it as it can take them; when the last is
over, every bot is sent off, and its process and storage are gone when the leg is: only then the next games of its sets may begin.
"""

import asyncio
import contextlib
import logging
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from referee.league.league import LeagueError
from referee.league.plan import GamePlan, LeaguePlan, log_file
from referee.league.play.arena import Arena, ArenaObserver, Slot, new_connection, send_off
from referee.league.play.event_sink import EventSink
from referee.net.connection import BotConnection
from referee.net.games_in_play import GameObserver
from referee.net.server import local_address
from referee.net.supervisor import LocalSupervisor, RemoteSupervisor, Supervisor, SupervisorObserver
from referee.sandbox.command import Command
from referee.sandbox.launch import BotProcess, launch
from referee.sandbox.temporary_folder import discard_folder, new_folder
from referee.umpire.events import Ruling
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Fault
from referee.umpire.record import Record, write_record
from referee.umpire.umpire import Umpire

_LOG = logging.getLogger(__name__)
_UNWRITTEN = "the referee could not write its record; its log says how"
_TICK_SECONDS = 0.25
_LOOK_AHEAD = 200

NARROW = 4
"""Games for each bot at a time while it is looked whether another leg beside this one would help."""

_NARROW_SECONDS = 3.0
_MOST_BEGUN = 128
_BEGUN_SECONDS = 2.0
_STARTS = 20
"""So many times the time that its bots took to start a leg lasts at the least, within twice the time that it was given."""


def _keeps_all(_games: Sequence[GamePlan]) -> None:
    """Whoever gives a leg all the time that it needs hears of no games that are left."""


class Leg(GameObserver, ArenaObserver, SupervisorObserver):
    """One leg. ``play`` returns when every game is over, or soon after ``stop`` was set.

    The event sink is told of a game before any bot is, by ``begin``. What has not begun yet can be taken back: by
    ``give_back``, and by the leg itself after so many ``seconds``, unless half as much time would do for the rest.
    ``fed_s`` is when the bots were there, on the clock of the event loop; 0 before.
    """

    def __init__(
        self,
        plan: LeaguePlan,
        games: Sequence[GamePlan],
        event_sink: EventSink,
        stop: asyncio.Event,
        arena: Arena | None = None,
        *,
        seconds: float = 0.0,
        narrow: bool = False,
        leave: Callable[[Sequence[GamePlan]], None] = _keeps_all,
    ) -> None:
        """``arena`` is where the remote bots are, already open; without one the leg has its own, for local bots.

        After ``seconds`` (0: never) it leaves the games that have not begun to somebody else, who is told by ``leave``. A
        ``narrow`` leg plays few games at a time until it may ``widen``.
        """
        self.plan, self._event_sink, self._stop = plan, event_sink, stop
        self._queue = deque(games)
        self._slots = sorted({slot for game in games for slot in zip(game.seats, game.slots, strict=True)})
        self._seconds, self._narrow, self._leave = seconds, narrow, leave
        self._began_s = self.fed_s = 0.0
        self._begun: set[str] = set()
        self._finished = 0
        self._processes: dict[str, list[Mapping[str, object]]] = {}
        self._plans: dict[Umpire, GamePlan] = {}
        self._arena, self._arena_is_own = arena or Arena(plan, event_sink), arena is None
        self._games_in_play, self._server = self._arena.games_in_play, self._arena.server
        self._excused: dict[Umpire, str] = {}
        self._supervisors: dict[Slot, Supervisor] = {}
        self._load: dict[Slot, int] = {}
        self._starts = 0
        self._changed = asyncio.Event()
        self._failure: BaseException | None = None
        self._gone: dict[str, str] = {}
        self._turn_ids = random_ids()

    async def play(self) -> None:
        """Plays all games of the leg. Raises what the event sink raised, or what else kept the referee from going on.

        Raises ``LeagueError`` if a bot process could not be ended: it must not be there when its packs come again.
        """
        folder = new_folder()
        self._began_s = asyncio.get_running_loop().time()
        self._arena.begin(self)
        try:
            if self._arena_is_own:
                await self._arena.open()
            async with contextlib.AsyncExitStack() as endpoints:
                await self._admit(endpoints, folder)
                async with self._attended():
                    await self._play_all()
        finally:
            self._arena.end(self)
            if self._arena_is_own:
                await self._arena.close(stopped=self._stop.is_set())
            self._event_sink.took(replace(self._arena.sent(), starts=self._starts))
            await asyncio.to_thread(discard_folder, folder)

    async def _admit(self, endpoints: contextlib.AsyncExitStack, folder: Path) -> None:
        """Opens an endpoint for each local bot: a socket of its own."""
        for number, (key, slot) in enumerate(self._slots):
            self._load[key, slot] = 0
            command = self.plan.bots[key].command_of(slot)
            if command is None:
                remote = self._supervisors[key, slot] = self._arena.remote[key, slot]
                remote.begin_leg()
                continue
            connection = new_connection(self.plan, self._games_in_play, key, slot)
            address = local_address(folder / f"{number}.sock")
            endpoint = await endpoints.enter_async_context(self._server.serve(address, owner=connection))
            start = partial(self._launch, command, endpoint.address, connection, folder)
            supervisor = LocalSupervisor(connection, self._games_in_play, self, start, self.plan.start_seconds)
            self._supervisors[key, slot] = supervisor
            self._arena.admit(supervisor)

    def log_path(self, key: str, slot: int) -> Path:
        """Where the output of a bot's process goes."""
        return log_file(self.plan.log_dir, key, slot)

    def _launch(self, command: Command, address: str, connection: BotConnection, folder: Path) -> BotProcess:
        return launch(
            command,
            address=address,
            token=connection.token,
            work_dir=folder,
            log_path=self.log_path(connection.terms.name, connection.terms.slot),
            limits=self.plan.bot_limits,
            sandbox=self.plan.sandbox,
            terminal=self.plan.terminal,
        )

    @contextlib.asynccontextmanager
    async def _attended(self) -> AsyncIterator[None]:
        """Keeps the local bots while the body runs; afterwards sends them off and ends what does not leave."""
        locals_ = {
            slot: supervisor
            for slot, supervisor in self._supervisors.items()
            if isinstance(supervisor, LocalSupervisor)
        }
        keeping = [self._arena.attend(supervisor.run()) for supervisor in locals_.values()]
        try:
            yield
            for supervisor in locals_.values():
                send_off(supervisor.connection, stopped=self._stop.is_set())
            await asyncio.gather(*(supervisor.part() for supervisor in locals_.values()))
        finally:
            for supervisor in locals_.values():
                send_off(supervisor.connection, stopped=True)
            for task in keeping:
                task.cancel()  # which ends its process
            await asyncio.gather(*keeping, return_exceptions=True)
            for supervisor in locals_.values():
                self._arena.dismiss(supervisor)
        survivors = {pid for supervisor in locals_.values() for pid in supervisor.survivors}
        if survivors:
            named = ", ".join(map(str, sorted(survivors)))
            raise LeagueError(f"bot processes could not be ended: {named}; end them by hand, then run it again")

    async def _play_all(self) -> None:
        """Feeds the games as the bots can take them, until all are over or the leg is stopped."""
        stopped: asyncio.Future[Any] = asyncio.ensure_future(self._stop.wait())
        try:
            while not self._stop.is_set() and self._failure is None:
                self._changed.clear()
                if all(supervisor.settled.is_set() for supervisor in self._supervisors.values()):
                    self.fed_s = self.fed_s or asyncio.get_running_loop().time()
                    self._drop_withdrawn()
                    self._feed()
                    self._look_at_the_time()
                    self._server.pump()
                    if not self._queue and not self._plans:
                        break
                await self._change(stopped)
                self._event_sink.tick()
        finally:
            stopped.cancel()
        if self._failure is not None:
            raise self._failure

    async def _change(self, stopped: asyncio.Future[Any]) -> None:
        """Waits until something has changed, or for a moment."""
        changed: asyncio.Future[Any] = asyncio.ensure_future(self._changed.wait())
        await asyncio.wait({changed, stopped}, timeout=_TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        changed.cancel()

    def _feed(self) -> None:
        """Starts every game whose bots are there and have room for one more, in the order of the schedule."""
        ready = self._ready()
        self._begin(ready)
        for game in ready:
            slots = list(zip(game.seats, game.slots, strict=True))
            for slot in slots:
                self._supervisors[slot].connection.begin_game()
            spec = self.plan.spec(game, next(self._turn_ids))
            umpire = Umpire(spec, partial(self.plan.pack, game), self._turn_ids.__next__, fallback_move)
            self._plans[umpire] = game
            self._games_in_play.open(umpire, [self._supervisors[slot].connection.session for slot in slots], self)

    def _ready(self) -> list[GamePlan]:
        """Takes the games out of the queue that can start now, and counts them among what their bots have to do."""
        ready: list[GamePlan] = []
        waiting: deque[GamePlan] = deque()
        away: set[Slot] = {slot for slot, supervisor in self._supervisors.items() if not supervisor.present}
        missed: set[Slot] = set()
        full, most = 0, NARROW if self._narrow else self.plan.max_in_flight
        while self._queue and full < _LOOK_AHEAD:
            game = self._queue.popleft()
            slots = list(zip(game.seats, game.slots, strict=True))
            if away & set(slots):
                missed.update(away & set(slots))
                waiting.append(game)
            elif any(self._load[slot] >= most for slot in slots):
                waiting.append(game)
                full += 1
            else:
                ready.append(game)
                for slot in slots:
                    self._load[slot] += 1
        self._queue.extendleft(reversed(waiting))
        for slot, supervisor in self._supervisors.items():
            if isinstance(supervisor, RemoteSupervisor):
                supervisor.want(wanted=slot in missed)
        return ready

    def _begin(self, games: Sequence[GamePlan]) -> None:
        """Tells of games before any bot sees them; of some that come next too, for each telling has to wait for the disk."""
        new = [game for game in games if game.fixture_id not in self._begun]
        if not new:
            return
        if not self._narrow:
            played_s = asyncio.get_running_loop().time() - self.fed_s
            ahead = min(int(_BEGUN_SECONDS * self._finished / max(played_s, 1.0)), _MOST_BEGUN)
            new += islice((game for game in self._queue if game.fixture_id not in self._begun), ahead)
        self._event_sink.begin(new, [self._seen_by(game) for game in new])
        self._begun.update(game.fixture_id for game in new)

    def _seen_by(self, game: GamePlan) -> list[Mapping[str, object]]:
        return [process for key in dict.fromkeys(game.seats) for process in self._processes.get(key, ())]

    # What has not begun can be left to others.

    @property
    def fresh(self) -> int:
        """How many games have not begun."""
        return sum(1 for game in self._queue if game.fixture_id not in self._begun)

    @property
    def under_way(self) -> int:
        """How many games have begun and are not over."""
        return len(self._queue) + len(self._plans) - self.fresh

    @property
    def size(self) -> int:
        """How many bots it has."""
        return len(self._slots)

    def give_back(self, keep: int) -> None:
        """Leaves the games that have not begun, but for so many that come next."""
        fresh = [game for game in self._queue if game.fixture_id not in self._begun]
        left = fresh[max(keep, 0) :]
        gone = {game.fixture_id for game in left}
        self._queue = deque(game for game in self._queue if game.fixture_id not in gone)
        if left:
            self._leave(left)
        self._changed.set()

    @property
    def narrow(self) -> bool:
        """Whether it plays few games at a time."""
        return self._narrow

    def widen(self) -> None:
        """From now on it plays as many games at a time as its bots take."""
        self._narrow = False
        self._changed.set()

    def do_without(self, gone: Mapping[str, str]) -> None:
        """These entrants were withdrawn elsewhere."""
        self._gone.update(gone)
        self._changed.set()

    def _look_at_the_time(self) -> None:
        """When its time is up, leaves what has not begun, unless that is little beside what has. It is not narrow for long."""
        now = asyncio.get_running_loop().time()
        self._narrow = self._narrow and now - self.fed_s < _NARROW_SECONDS
        if not self._seconds:
            return
        seconds = min(max(self._seconds, _STARTS * (self.fed_s - self._began_s)), 2 * self._seconds)
        if now - self.fed_s >= seconds:
            self._seconds = 0.0
            if 2 * self.fresh > len(self._begun) > 0:  # where all wait for a bot that is away, they wait here
                self.give_back(0)

    def _drop_withdrawn(self) -> None:
        """Ends what cannot be played without a bot that was given up."""
        for (key, _), supervisor in self._supervisors.items():
            if supervisor.withdrawn and key not in self._gone:
                self._gone[key] = supervisor.withdrawn
                self._event_sink.withdrawn(key, supervisor.withdrawn)
        if not self._gone:
            return
        self._queue = deque(game for game in self._queue if not self._gone.keys() & set(game.seats))
        for umpire, game in tuple(self._plans.items()):
            if self._gone.keys() & set(game.seats):
                self._games_in_play.abandon(umpire, "a bot was withdrawn")

    # What the arena tells, and the supervisors of local bots.

    def plays(self, umpire: Umpire) -> bool:
        """Whether the game of this umpire is its own."""
        return umpire in self._plans

    def changed(self) -> None:
        """``play`` looks whether games can begin now."""
        self._changed.set()

    def faulted(self, connection: BotConnection, fault: Fault, sentence: str) -> None:
        """A fault of a local bot outside any single decision."""
        key, slot = connection.terms.name, connection.terms.slot
        self._event_sink.fault(key, fault, sentence, self.log_path(key, slot))

    def started(self, connection: BotConnection, process: BotProcess) -> None:
        """A local bot's process, which may see the games of this leg."""
        self._starts += 1
        key = connection.terms.name
        launched = {"entrant": key, "pid": process.pid, "sandbox": process.sandbox}
        self._processes.setdefault(key, []).append(launched)
        begun = [game for game in (*self._plans.values(), *self._queue) if game.fixture_id in self._begun]
        self._event_sink.launched([launched], [game for game in begun if key in game.seats])

    def may_replay(self, connection: BotConnection, umpire: Umpire) -> bool:
        """Whether a game may be played again for a late decision of this bot during a stall: once for each bot."""
        key = connection.terms.name
        if key in self._plans[umpire].excused:
            return False
        self._excused[umpire] = key
        return True

    def failed(self, error: BaseException) -> None:
        """Ends the leg by an error that no game and no bot has caused; ``play`` raises it."""
        self._failure = self._failure or error
        self._changed.set()

    def finished(self, umpire: Umpire) -> Record | None:
        """Reports a finished game and makes room for the next. What fails here ends the leg, not a bot's stream."""
        try:
            return self._report(umpire)
        except Exception as error:  # noqa: BLE001  # raised again by play, where somebody can act on it
            self.failed(error)
            return None

    def ruled(self, umpire: Umpire, ruling: Ruling) -> None:
        """Reports a ruling."""
        try:
            self._event_sink.ruled(self._plans[umpire], ruling)
        except Exception as error:  # noqa: BLE001  # as in finished
            self.failed(error)

    def _report(self, umpire: Umpire) -> Record | None:
        game = self._plans.pop(umpire)
        self._finished += 1
        late = self._excused.pop(umpire, None)
        for slot in zip(game.seats, game.slots, strict=True):
            self._load[slot] -= 1
        self._changed.set()
        record = self._record(umpire, game)
        if record is not None:
            self._event_sink.finished(game, umpire, record)
        elif not self._gone.keys() & set(game.seats):
            if late is not None:
                game = replace(game, excused=(*game.excused, late))
            self._event_sink.no_contest(game, umpire.void or _UNWRITTEN)
        return record

    def _record(self, umpire: Umpire, game: GamePlan) -> Record | None:
        """The record of a game that has a result and can be written down."""
        try:
            return None if umpire.result is None else write_record(umpire, self.plan.heading(game))
        except Exception:  # noqa: BLE001  # one game is spoiled by it, not the league
            _LOG.exception("game %s: %s", game.fixture_id, _UNWRITTEN)
            return None


def random_ids() -> Iterator[int]:
    """Ids that cannot be guessed, 1..2^53-1, drawn from the system a thousand at a time."""
    while True:
        for number in memoryview(secrets.token_bytes(8 * 1024)).cast("Q"):
            if number >> 11:
                yield number >> 11
