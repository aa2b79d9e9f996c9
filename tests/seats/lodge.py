"""A lodge: a guest with its keeper, and processes that are made up, for the tests of keepers."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from referee.faults import Fault
from referee.protocol import wire
from referee.seats.exits import Exit
from referee.seats.guest import Guest, Stream, Terms
from referee.seats.keeper import LocalKeeper, RemoteKeeper
from referee.session import Session
from referee.table import Table
from tests.umpires import MOVE_US, Book, answers_to, new_table
from tests.virtual import run

SEGV: Final = Exit(Fault.CRASH, "It crashed with SIGSEGV.", signal=11)
LEFT: Final = Exit(None, "It ended with exit code 0.", code=0)
ENDED_BY_US: Final = Exit(None, "The referee ended it.", signal=9)
OUT_OF_MEMORY: Final = Exit(Fault.RESOURCE_MEM, "It used 600 MiB of memory; its limit is 512 MiB.", signal=9)


class Process:
    """A bot process that ends when the test says so."""

    pid, sandbox = 1, "none"
    meter = None

    def __init__(self, words: str = "") -> None:
        self.end: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        self.words = words

    def ends(self, exit_: Exit) -> None:
        self.end.set_result(exit_)

    async def exited(self) -> Exit:
        return await asyncio.shield(self.end)

    async def kill(self) -> Exit:
        if not self.end.done():
            self.end.set_result(ENDED_BY_US)
        return self.end.result()

    def tail(self) -> str:
        return self.words


class Lodge:
    """A guest with its keeper; the test plays the bot."""

    def __init__(self, *, remote: bool = False) -> None:
        self.book, self.other = Book(), Session(MOVE_US)
        terms = Terms("bad", 0, ("auction-pitch",), wire.Joined(), MOVE_US)
        self.guest = Guest("token", terms, self.book.hall.answered, lambda: 0)
        self.noted: list[tuple[Fault, str]] = []
        self.started: list[Process] = []
        self.next_start: Callable[[], Any] = Process
        self.stream = Stream()
        note = lambda fault, sentence: self.noted.append((fault, sentence))  # noqa: E731
        if remote:
            self.keeper: Any = RemoteKeeper(self.guest, self.book.hall, note, 600)
        else:
            self.keeper = LocalKeeper(self.guest, self.book.hall, note, self._start)
            self.keeper.on_start = self.started.append

    def _start(self) -> Any:
        return self.next_start()

    def join(self) -> None:
        self.stream = Stream()
        assert self.guest.connect(self.stream)
        self.guest.receive(self.stream, wire.PlayRequest(join=wire.Join(max_in_flight=64)).SerializeToString())

    async def started_again(self, times: int) -> Process:
        """Waits for the start of that number, joins, and waits until the keeper has noticed."""
        await until(lambda: len(self.started) == times)
        self.join()
        await settle()
        return self.started[-1]

    def deal(self, number: int) -> Table:
        """A game of this guest against two others, in which it is its turn at once."""
        table = new_table(number, seats=3)
        self.book.hall.open(table, [self.other, self.guest.session, self.other])
        self.guest.games += 1
        return table

    def ask(self) -> list[int]:
        """Sends what waits; the games that were asked about."""
        message = self.guest.session.flush(0)
        return [turn.game_id for turn in message.turns] if message else []

    def answer_all(self) -> None:
        self.book.hall.answered(self.guest.session.heard(answers_of(self.guest.session), 0))

    def forfeited(self) -> list[str]:
        return [key for key, ruling in self.book.rulings if ruling.consequence == "FORFEITED"]


def answers_of(session: Session) -> list[wire.Move]:
    return answers_to(wire.PlayResponse(turns=[_message(one.turn) for one in session.open.values()]))


def _message(turn: Any) -> wire.Turn:
    from referee.protocol.translate import turn_message

    return turn_message(turn)


async def settle() -> None:
    """Lets everything happen that is going to happen without time passing."""
    for _ in range(30):
        await asyncio.sleep(0)


async def until(look: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not look():  # noqa: ASYNC110 - what is looked for tells nobody
            await asyncio.sleep(0.001)


def tell(story: Callable[[Lodge], Awaitable[None]], *, remote: bool = False) -> Lodge:
    """Runs a story with its keeper on virtual time, and ends the keeper."""

    async def told() -> Lodge:
        lodge = Lodge(remote=remote)
        work = asyncio.ensure_future(lodge.keeper.run())
        try:
            await story(lodge)
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
        return lodge

    return run(told())
