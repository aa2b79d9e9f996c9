"""A lap: one game of many sets, played at once by bot processes that have never met these packs.

Within a lap every bot has one process (a pair has two). All games are fed to it as it can take them; when the last is
over, every bot is sent off and its process and storage are gone before the next lap begins.
"""

import asyncio
import contextlib
import secrets
import shutil
import socket
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from referee.faults import Fault
from referee.hall import Hall
from referee.proceedings import Ruling
from referee.protocol import wire
from referee.protocol.translate import rule_set_message
from referee.record import Record, write_record
from referee.seats.guest import Guest, Terms
from referee.seats.house import house
from referee.seats.keeper import Keeper, LocalKeeper, RemoteKeeper
from referee.seats.launch import BotProcess, launch
from referee.server import Door, Host, monotonic_us
from referee.table import Table
from referee.tournament.plan import GamePlan, LeaguePlan

Slot = tuple[str, int]
"""An entrant and which of its sessions."""

_OBJECTIVES = {
    "place": wire.OBJECTIVE_PLACE,
    "stakes": wire.OBJECTIVE_STAKES,
    "points": wire.OBJECTIVE_POINTS,
}
REMOTE_LATENCY_US = 500_000
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

    def __init__(self, plan: LeaguePlan, games: Sequence[GamePlan], sink: Sink, stop: asyncio.Event) -> None:
        self.plan, self._sink, self._stop = plan, sink, stop
        self._queue = deque(games)
        self._plans: dict[Table, GamePlan] = {}
        self._hall = Hall(self._finish, self._ruled)
        self._host = Host(self._hall, plan.asked_at_once)
        self._guests: dict[Slot, Guest] = {}
        self._keepers: dict[Slot, Keeper] = {}
        self._load: dict[Slot, int] = {}
        self._changed = asyncio.Event()
        self._failure: Exception | None = None
        self._gone: dict[str, str] = {}
        self._turn_ids = random_ids()

    async def play(self) -> None:
        """Plays all games of the lap."""
        folder = Path(tempfile.mkdtemp(prefix="referee-"))
        try:
            async with contextlib.AsyncExitStack() as stack:
                await self._admit(stack, folder)
                async with self._attended():
                    await self._play_all()
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    async def _admit(self, stack: contextlib.AsyncExitStack, folder: Path) -> None:
        """Opens the doors: a socket of its own for each local bot, one address for all remote ones."""
        slots = sorted({slot for game in self._queue for slot in zip(game.seats, game.slots, strict=True)})
        remote_door: Door | None = None
        for number, (key, slot) in enumerate(slots):
            bot = self.plan.bots[key]
            guest = self._guest(key, slot)
            self._guests[key, slot] = guest
            self._load[key, slot] = 0
            if bot.command is None:
                if remote_door is None:
                    remote_door = await stack.enter_async_context(self._host.serve(self.plan.listen))
                keeper: Keeper = RemoteKeeper(guest, self._hall, self._noter(key, slot), bot.wait_seconds)
            else:
                door = await stack.enter_async_context(
                    self._host.serve(_address(folder / f"{number}.sock"), owner=guest)
                )
                start = self._starter(key, slot, door.address, folder)
                keeper = LocalKeeper(guest, self._hall, self._noter(key, slot), start)
            keeper.on_change = self._changed.set
            self._keepers[key, slot] = keeper
            self._host.admit(guest)
        self._host.on_hung = self._hung

    def _guest(self, key: str, slot: int) -> Guest:
        plan, bot = self.plan, self.plan.bots[key]
        joined = wire.Joined(
            move_ms=plan.limits.move_us // 1000,
            bank_ms=plan.limits.bank_us // 1000,
            game_ms=plan.limits.game_us // 1000,
            objective=_OBJECTIVES[plan.objective],
            rule_sets=[rule_set_message(plan.rules, 1)],
            commitment=plan.commitment or None,
            retries=plan.profile.retries,
            forfeit_after=plan.profile.forfeit_after,
        )
        terms = Terms(
            key,
            slot,
            (plan.rules.name,),
            joined,
            plan.limits.move_us,
            plan.max_in_flight,
            REMOTE_LATENCY_US if bot.command is None else 0,
        )
        return Guest(bot.token or secrets.token_urlsafe(24), terms, self._hall.answered, monotonic_us)

    def log_path(self, key: str, slot: int) -> Path:
        """Where the output of a bot's process goes."""
        name = key.replace("#", "-").replace(" ", "_") + (f".{slot}" if slot else "")
        return self.plan.log_dir / f"{name}.log"

    def _noter(self, key: str, slot: int) -> Callable[[Fault, str], None]:
        return lambda fault, sentence: self._sink.fault(key, fault, sentence, self.log_path(key, slot))

    def _starter(self, key: str, slot: int, address: str, folder: Path) -> Callable[[], BotProcess]:
        command, token = self.plan.bots[key].command, self._guests[key, slot].token

        def start() -> BotProcess:
            if command is None:
                raise TypeError(f"{key} is no local bot")
            process = launch(
                command,
                address=address,
                token=token,
                work_dir=folder,
                log_path=self.log_path(key, slot),
                limits=self.plan.bot_limits,
                sandbox=self.plan.sandbox,
                terminal=self.plan.terminal,
            )
            self._sink.launched([{"entrant": key, "pid": process.pid, "sandbox": process.sandbox}])
            return process

        return start

    def _hung(self, guest: Guest) -> None:
        for slot, other in self._guests.items():
            if other is guest:
                self._keepers[slot].hung()

    @contextlib.asynccontextmanager
    async def _attended(self) -> AsyncIterator[None]:
        """Keeps clocks and bots while the body runs; afterwards sends every bot off and ends what does not leave."""
        watch = asyncio.create_task(self._host.watch())
        keeping = [asyncio.create_task(keeper.run()) for keeper in self._keepers.values()]
        try:
            yield
        finally:
            for guest in self._guests.values():
                reason = wire.FAREWELL_REASON_STOPPING if self._stop.is_set() else wire.FAREWELL_REASON_FINISHED
                guest.leave(reason, "The league goes on later." if self._stop.is_set() else "All games are over.")
            locals_ = [keeper for keeper in self._keepers.values() if isinstance(keeper, LocalKeeper)]
            await asyncio.gather(*(keeper.part() for keeper in locals_))
            watch.cancel()
            for task in keeping:
                task.cancel()
            await asyncio.gather(watch, *keeping, return_exceptions=True)

    async def _play_all(self) -> None:
        """Feeds the games as the bots can take them, until all are over or the lap is stopped."""
        settled: asyncio.Future[Any] = asyncio.gather(*(keeper.settled.wait() for keeper in self._keepers.values()))
        stopped: asyncio.Future[Any] = asyncio.ensure_future(self._stop.wait())
        await asyncio.wait({settled, stopped}, return_when=asyncio.FIRST_COMPLETED)
        settled.cancel()
        while not self._stop.is_set():
            self._drop_withdrawn()
            self._feed()
            self._host.pump()
            if not self._queue and not self._hall.seated:
                break
            self._changed.clear()
            changed: asyncio.Future[Any] = asyncio.ensure_future(self._changed.wait())
            await asyncio.wait({changed, stopped}, timeout=_TICK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
            if self._failure is not None:
                raise self._failure
            self._sink.tick()
        stopped.cancel()

    def _feed(self) -> None:
        """Starts every game whose bots all have room for one more, in the order of the schedule."""
        waiting: deque[GamePlan] = deque()
        while self._queue and len(waiting) < _LOOK_AHEAD:
            game = self._queue.popleft()
            slots = list(zip(game.seats, game.slots, strict=True))
            if any(self._load[slot] >= self.plan.max_in_flight for slot in slots):
                waiting.append(game)
                continue
            for slot in slots:
                self._load[slot] += 1
                self._guests[slot].games += 1
            spec = self.plan.spec(game, next(self._turn_ids))
            table = Table(spec, partial(self.plan.pack, game), self._turn_ids.__next__, house)
            self._plans[table] = game
            self._hall.open(table, [self._guests[slot].session for slot in slots])
        self._queue.extendleft(reversed(waiting))

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

    def _finish(self, table: Table) -> Record | None:
        """Reports a finished game and makes room for the next. What fails here ends the lap, not a bot's stream."""
        try:
            return self._report(table)
        except Exception as error:  # noqa: BLE001  # raised again by play, where somebody can act on it
            self._failure = self._failure or error
            self._changed.set()
            return None

    def _report(self, table: Table) -> Record | None:
        game = self._plans.pop(table)
        for slot in zip(game.seats, game.slots, strict=True):
            self._load[slot] -= 1
        self._changed.set()
        if table.result is None:
            if not self._gone.keys() & set(game.seats):
                self._sink.no_contest(game, table.void or "unknown")
            return None
        record = write_record(table, self.plan.about(game))
        self._sink.finished(game, table, record)
        return record

    def _ruled(self, table: Table, ruling: Ruling) -> None:
        self._sink.ruled(self._plans[table], ruling)


def random_ids() -> Iterator[int]:
    """Ids that cannot be guessed, 1..2^53-1, drawn from the system a thousand at a time."""
    while True:
        for number in memoryview(secrets.token_bytes(8 * 1024)).cast("Q"):
            if number >> 11:
                yield number >> 11


def _address(path: Path) -> str:
    """A unix socket where they exist and the path is short enough; else loopback TCP."""
    return f"unix:{path}" if hasattr(socket, "AF_UNIX") and len(str(path)) < 100 else "tcp:127.0.0.1:0"
