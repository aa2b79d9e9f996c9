"""A leg: one game of many sets, played at once by bot processes that have never met these packs.

Within a leg every bot has one process (a pair has two). All games are fed to it as it can take them; when the last is
over, every bot is sent off and its process and storage are gone before the next leg begins.
"""

import asyncio
import contextlib
import logging
import secrets
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from referee.league.league import LeagueError
from referee.league.plan import GamePlan, LeaguePlan
from referee.league.play.arena import Arena, ArenaObserver, Slot, new_connection, send_off
from referee.league.play.event_sink import EventSink
from referee.net.connection import BotConnection
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


class Leg(ArenaObserver, SupervisorObserver):
    """One leg. ``play`` returns when every game is over, or soon after ``stop`` was set."""

    def __init__(
        self,
        plan: LeaguePlan,
        games: Sequence[GamePlan],
        event_sink: EventSink,
        stop: asyncio.Event,
        arena: Arena | None = None,
    ) -> None:
        """``arena`` is where the remote bots are, already open; without one the leg has its own, for local bots."""
        self.plan, self._event_sink, self._stop = plan, event_sink, stop
        self._queue = deque(games)
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
        self._arena.begin(self)
        try:
            if self._arena_is_own:
                await self._arena.open()
            async with contextlib.AsyncExitStack() as endpoints:
                await self._admit(endpoints, folder)
                async with self._attended():
                    await self._play_all()
        finally:
            if self._arena_is_own:
                await self._arena.close(stopped=self._stop.is_set())
            self._event_sink.took(replace(self._arena.sent(), starts=self._starts))
            await asyncio.to_thread(discard_folder, folder)

    async def _admit(self, endpoints: contextlib.AsyncExitStack, folder: Path) -> None:
        """Opens an endpoint for each local bot: a socket of its own."""
        slots = sorted({slot for game in self._queue for slot in zip(game.seats, game.slots, strict=True)})
        for number, (key, slot) in enumerate(slots):
            self._load[key, slot] = 0
            command = self.plan.bots[key].command_of(slot)
            if command is None:
                supervisor = self._supervisors[key, slot] = self._arena.supervisors[key, slot]
                if isinstance(supervisor, RemoteSupervisor):
                    supervisor.begin_leg()
                continue
            connection = new_connection(self.plan, self._games_in_play, key, slot)
            address = local_address(folder / f"{number}.sock")
            endpoint = await endpoints.enter_async_context(self._server.serve(address, owner=connection))
            start = partial(self._launch, command, endpoint.address, connection, folder)
            supervisor = LocalSupervisor(connection, self._games_in_play, self, start, self.plan.start_seconds)
            self._supervisors[key, slot] = supervisor
            self._arena.admit((key, slot), supervisor)

    def log_path(self, key: str, slot: int) -> Path:
        """Where the output of a bot's process goes."""
        name = key.replace("#", "-").replace(" ", "_") + (f".{slot}" if slot else "")
        return self.plan.log_dir / f"{name}.log"

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
            for slot in locals_:
                self._arena.dismiss(slot)
        survivors = {pid for supervisor in locals_.values() for pid in supervisor.survivors}
        if survivors:
            named = ", ".join(map(str, sorted(survivors)))
            raise LeagueError(f"bot processes could not be ended: {named}; end them by hand, then: referee resume")

    async def _play_all(self) -> None:
        """Feeds the games as the bots can take them, until all are over or the leg is stopped."""
        stopped: asyncio.Future[Any] = asyncio.ensure_future(self._stop.wait())
        try:
            while not self._stop.is_set() and self._failure is None:
                self._changed.clear()
                if all(supervisor.settled.is_set() for supervisor in self._supervisors.values()):
                    self._drop_withdrawn()
                    self._feed()
                    self._server.pump()
                    if not self._queue and not self._games_in_play.seated:
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
        waiting: deque[GamePlan] = deque()
        away: set[Slot] = {slot for slot, supervisor in self._supervisors.items() if not supervisor.present}
        missed: set[Slot] = set()
        full = 0
        while self._queue and full < _LOOK_AHEAD:
            game = self._queue.popleft()
            slots = list(zip(game.seats, game.slots, strict=True))
            if away & set(slots):
                missed.update(away & set(slots))
                waiting.append(game)
                continue
            if any(self._load[slot] >= self.plan.max_in_flight for slot in slots):
                waiting.append(game)
                full += 1
                continue
            for slot in slots:
                self._load[slot] += 1
                self._supervisors[slot].connection.begin_game()
            spec = self.plan.spec(game, next(self._turn_ids))
            table = Umpire(spec, partial(self.plan.pack, game), self._turn_ids.__next__, fallback_move)
            self._plans[table] = game
            self._games_in_play.open(table, [self._supervisors[slot].connection.session for slot in slots])
        self._queue.extendleft(reversed(waiting))
        for slot, supervisor in self._supervisors.items():
            if isinstance(supervisor, RemoteSupervisor):
                supervisor.want(wanted=slot in missed)

    def _drop_withdrawn(self) -> None:
        """Ends what cannot be played without a bot that was given up."""
        for (key, _), supervisor in self._supervisors.items():
            if supervisor.withdrawn and key not in self._gone:
                self._gone[key] = supervisor.withdrawn
                self._event_sink.withdrawn(key, supervisor.withdrawn)
        if not self._gone:
            return
        self._queue = deque(game for game in self._queue if not self._gone.keys() & set(game.seats))
        for table in tuple(self._games_in_play.seated):
            if self._gone.keys() & set(self._plans[table].seats):
                self._games_in_play.abandon(table, "a bot was withdrawn")

    # What the arena tells, and the supervisors of local bots.

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
        launched = {"entrant": connection.terms.name, "pid": process.pid, "sandbox": process.sandbox}
        self._event_sink.launched([launched])

    def may_replay(self, connection: BotConnection, table: Umpire) -> bool:
        """Whether a game may be played again for a late decision of this bot during a stall: once for each bot."""
        key = connection.terms.name
        if key in self._plans[table].excused:
            return False
        self._excused[table] = key
        return True

    def failed(self, error: BaseException) -> None:
        """Ends the leg by an error that no game and no bot has caused; ``play`` raises it."""
        self._failure = self._failure or error
        self._changed.set()

    def finished(self, table: Umpire) -> Record | None:
        """Reports a finished game and makes room for the next. What fails here ends the leg, not a bot's stream."""
        try:
            return self._report(table)
        except Exception as error:  # noqa: BLE001  # raised again by play, where somebody can act on it
            self.failed(error)
            return None

    def ruled(self, table: Umpire, ruling: Ruling) -> None:
        """Reports a ruling."""
        try:
            self._event_sink.ruled(self._plans[table], ruling)
        except Exception as error:  # noqa: BLE001  # as in finished
            self.failed(error)

    def _report(self, table: Umpire) -> Record | None:
        game = self._plans.pop(table)
        late = self._excused.pop(table, None)
        for slot in zip(game.seats, game.slots, strict=True):
            self._load[slot] -= 1
        self._changed.set()
        record = self._record(table, game)
        if record is not None:
            self._event_sink.finished(game, table, record)
        elif not self._gone.keys() & set(game.seats):
            if late is not None:
                game = replace(game, excused=(*game.excused, late))
            self._event_sink.no_contest(game, table.void or _UNWRITTEN)
        return record

    def _record(self, table: Umpire, game: GamePlan) -> Record | None:
        """The record of a game that has a result and can be written down."""
        try:
            return None if table.result is None else write_record(table, self.plan.heading(game))
        except Exception:  # noqa: BLE001  # one game is spoiled by it, not the league
            _LOG.exception("game %s: %s", game.fixture_id, _UNWRITTEN)
            return None


def random_ids() -> Iterator[int]:
    """Ids that cannot be guessed, 1..2^53-1, drawn from the system a thousand at a time."""
    while True:
        for number in memoryview(secrets.token_bytes(8 * 1024)).cast("Q"):
            if number >> 11:
                yield number >> 11
