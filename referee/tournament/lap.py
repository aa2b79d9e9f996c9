"""A lap: one game of many sets, played at once by bot processes that have never met these packs.

Within a lap every bot has one process (a pair has two). All games are fed to it as it can take them; when the last is
over, every bot is sent off and its process and storage are gone before the next lap begins.
"""

import asyncio
import contextlib
import logging
import secrets
import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from referee.faults import Fault
from referee.proceedings import Ruling
from referee.record import Record, write_record
from referee.seats.guest import Guest
from referee.seats.house import house
from referee.seats.keeper import Keeper, LocalKeeper, RemoteKeeper
from referee.seats.launch import BotProcess, launch
from referee.seats.scratch import discard_folder, new_folder
from referee.table import Table
from referee.tournament.league import LeagueError
from referee.tournament.plan import GamePlan, LeaguePlan
from referee.tournament.venue import Slot, Venue, new_guest, send_off

_LOG = logging.getLogger(__name__)
_UNWRITTEN = "the referee could not write its record; its log says how"
_TICK_SECONDS = 0.25
_LOOK_AHEAD = 200


class Sink(Protocol):
    """Where a lap reports. Every call is made from the event loop, in the order of events."""

    def finished(self, game: GamePlan, table: Table, record: Record) -> None:
        """A game has a result."""

    def no_contest(self, game: GamePlan, reason: str) -> None:
        """A game ended without a result, through no bot's fault."""

    def ruled(self, game: GamePlan, ruling: Ruling) -> None:
        """A ruling was made."""

    def fault(self, entrant: str, fault: Fault, sentence: str, log: Path) -> None:
        """A fault of an entrant outside any single decision."""

    def withdrawn(self, entrant: str, reason: str) -> None:
        """An entrant is given up."""

    def launched(self, processes: Sequence[Mapping[str, object]]) -> None:
        """These processes see the games of this lap."""

    def tick(self) -> None:
        """Called a few times a second while games are played."""


class Lap:
    """One lap. ``play`` returns when every game is over, or soon after ``stop`` was set."""

    def __init__(
        self,
        plan: LeaguePlan,
        games: Sequence[GamePlan],
        sink: Sink,
        stop: asyncio.Event,
        venue: Venue | None = None,
    ) -> None:
        """``venue`` is where the remote bots are, already open; without one the lap has its own, for local bots."""
        self.plan, self._sink, self._stop = plan, sink, stop
        self._queue = deque(games)
        self._plans: dict[Table, GamePlan] = {}
        self._venue = venue or Venue(plan, lambda _key, _fault, _sentence: None)
        self._is_guest = venue is not None
        self._hall, self._host = self._venue.hall, self._venue.host
        self._hall.organise(self._finish, self._ruled)
        self._host.may_replay = self._may_replay
        self._excused: dict[Table, str] = {}
        self._keepers: dict[Slot, Keeper] = {}
        self._load: dict[Slot, int] = {}
        self._changed = asyncio.Event()
        self._failure: BaseException | None = None
        self._gone: dict[str, str] = {}
        self._turn_ids = random_ids()

    async def play(self) -> None:
        """Plays all games of the lap. Raises what the sink raised, or what else kept the referee from going on.

        Raises ``LeagueError`` if a bot process could not be ended: it must not be there when its packs come again.
        """
        folder = new_folder()
        self._venue.on_change, self._venue.on_failure = self._changed.set, self._fail
        try:
            if not self._is_guest:
                await self._venue.open({})
            async with contextlib.AsyncExitStack() as doors:
                await self._admit(doors, folder)
                async with self._attended():
                    await self._play_all()
        finally:
            if not self._is_guest:
                await self._venue.close(stopped=self._stop.is_set())
            await asyncio.to_thread(discard_folder, folder)

    async def _admit(self, doors: contextlib.AsyncExitStack, folder: Path) -> None:
        """Opens a door for each local bot: a socket of its own."""
        slots = sorted({slot for game in self._queue for slot in zip(game.seats, game.slots, strict=True)})
        for number, (key, slot) in enumerate(slots):
            self._load[key, slot] = 0
            if self.plan.bots[key].command is None:
                keeper = self._keepers[key, slot] = self._venue.keepers[key, slot]
                if isinstance(keeper, RemoteKeeper):
                    keeper.begin_lap()
                continue
            guest = new_guest(self.plan, self._hall, key, slot)
            address = _address(folder / f"{number}.sock")
            door = await doors.enter_async_context(self._host.serve(address, owner=guest))
            start = self._starter(key, slot, door.address, guest, folder)
            keeper = LocalKeeper(guest, self._hall, self._noter(key, slot), start, self.plan.start_seconds)
            keeper.on_start = self._noter_of_starts(key)
            self._keepers[key, slot] = keeper
            self._venue.keep((key, slot), keeper)
            self._host.admit(guest)

    def log_path(self, key: str, slot: int) -> Path:
        """Where the output of a bot's process goes."""
        name = key.replace("#", "-").replace(" ", "_") + (f".{slot}" if slot else "")
        return self.plan.log_dir / f"{name}.log"

    def _noter(self, key: str, slot: int) -> Callable[[Fault, str], None]:
        return lambda fault, sentence: self._sink.fault(key, fault, sentence, self.log_path(key, slot))

    def _noter_of_starts(self, key: str) -> Callable[[BotProcess], None]:
        return lambda process: self._sink.launched([{"entrant": key, "pid": process.pid, "sandbox": process.sandbox}])

    def _starter(self, key: str, slot: int, address: str, guest: Guest, folder: Path) -> Callable[[], BotProcess]:
        command = self.plan.bots[key].command_of(slot)
        if command is None:
            raise TypeError(f"{key} is no local bot")
        return lambda: launch(
            command,
            address=address,
            token=guest.token,
            work_dir=folder,
            log_path=self.log_path(key, slot),
            limits=self.plan.bot_limits,
            sandbox=self.plan.sandbox,
            terminal=self.plan.terminal,
        )

    @contextlib.asynccontextmanager
    async def _attended(self) -> AsyncIterator[None]:
        """Keeps the local bots while the body runs; afterwards sends them off and ends what does not leave."""
        locals_ = {slot: keeper for slot, keeper in self._keepers.items() if isinstance(keeper, LocalKeeper)}
        keeping = [self._venue.attend(keeper.run()) for keeper in locals_.values()]
        try:
            yield
            for keeper in locals_.values():
                send_off(keeper.guest, stopped=self._stop.is_set())
            await asyncio.gather(*(keeper.part() for keeper in locals_.values()))
        finally:
            for keeper in locals_.values():
                send_off(keeper.guest, stopped=True)
            for task in keeping:
                task.cancel()  # which ends its process
            await asyncio.gather(*keeping, return_exceptions=True)
            for slot in locals_:
                self._venue.dismiss(slot)
        survivors = {pid for keeper in locals_.values() for pid in keeper.survivors}
        if survivors:
            named = ", ".join(map(str, sorted(survivors)))
            raise LeagueError(f"bot processes could not be ended: {named}; end them by hand, then: referee resume")

    async def _play_all(self) -> None:
        """Feeds the games as the bots can take them, until all are over or the lap is stopped."""
        stopped: asyncio.Future[Any] = asyncio.ensure_future(self._stop.wait())
        try:
            while not self._stop.is_set() and self._failure is None:
                self._changed.clear()
                if all(keeper.settled.is_set() for keeper in self._keepers.values()):
                    self._drop_withdrawn()
                    self._feed()
                    self._host.pump()
                    if not self._queue and not self._hall.seated:
                        break
                await self._change(stopped)
                self._sink.tick()
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
        away: set[Slot] = {slot for slot, keeper in self._keepers.items() if not keeper.present}
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
                self._keepers[slot].guest.games += 1
            spec = self.plan.spec(game, next(self._turn_ids))
            table = Table(spec, partial(self.plan.pack, game), self._turn_ids.__next__, house)
            self._plans[table] = game
            self._hall.open(table, [self._keepers[slot].guest.session for slot in slots])
        self._queue.extendleft(reversed(waiting))
        for slot, keeper in self._keepers.items():
            if isinstance(keeper, RemoteKeeper):
                keeper.wanted = slot in missed

    def _drop_withdrawn(self) -> None:
        """Ends what cannot be played without a bot that was given up."""
        for (key, _), keeper in self._keepers.items():
            if keeper.withdrawn and key not in self._gone:
                self._gone[key] = keeper.withdrawn
                self._sink.withdrawn(key, keeper.withdrawn)
        if not self._gone:
            return
        self._queue = deque(game for game in self._queue if not self._gone.keys() & set(game.seats))
        for table in tuple(self._hall.seated):
            if self._gone.keys() & set(self._plans[table].seats):
                self._hall.abandon(table, "a bot was withdrawn")

    def _may_replay(self, guest: Guest, table: Table) -> bool:
        """Whether a game may be played again for a late decision of this bot during a stall: once for each bot."""
        key = guest.terms.name
        if key in self._plans[table].excused:
            return False
        self._excused[table] = key
        return True

    def _fail(self, error: BaseException) -> None:
        """Ends the lap by an error that no game and no bot has caused; ``play`` raises it."""
        self._failure = self._failure or error
        self._changed.set()

    def _finish(self, table: Table) -> Record | None:
        """Reports a finished game and makes room for the next. What fails here ends the lap, not a bot's stream."""
        try:
            return self._report(table)
        except Exception as error:  # noqa: BLE001  # raised again by play, where somebody can act on it
            self._fail(error)
            return None

    def _report(self, table: Table) -> Record | None:
        game = self._plans.pop(table)
        late = self._excused.pop(table, None)
        for slot in zip(game.seats, game.slots, strict=True):
            self._load[slot] -= 1
        self._changed.set()
        record = self._record(table, game)
        if record is not None:
            self._sink.finished(game, table, record)
        elif not self._gone.keys() & set(game.seats):
            if late is not None:
                game = replace(game, excused=(*game.excused, late))
            self._sink.no_contest(game, table.void or _UNWRITTEN)
        return record

    def _record(self, table: Table, game: GamePlan) -> Record | None:
        """The record of a game that has a result and can be written down."""
        try:
            return None if table.result is None else write_record(table, self.plan.about(game))
        except Exception:  # noqa: BLE001  # one game is spoiled by it, not the league
            _LOG.exception("game %s: %s", game.fixture_id, _UNWRITTEN)
            return None

    def _ruled(self, table: Table, ruling: Ruling) -> None:
        try:
            self._sink.ruled(self._plans[table], ruling)
        except Exception as error:  # noqa: BLE001  # as in _finish
            self._fail(error)


def random_ids() -> Iterator[int]:
    """Ids that cannot be guessed, 1..2^53-1, drawn from the system a thousand at a time."""
    while True:
        for number in memoryview(secrets.token_bytes(8 * 1024)).cast("Q"):
            if number >> 11:
                yield number >> 11


def _address(path: Path) -> str:
    """A unix socket where they exist and the path is short enough; else loopback TCP."""
    return f"unix:{path}" if hasattr(socket, "AF_UNIX") and len(str(path)) < 100 else "tcp:127.0.0.1:0"
