"""A supervised bot: a connection with its supervisor, and processes that are made up, for the tests of supervisors."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from referee.net.connection import BotConnection, BotStream, JoinTerms
from referee.net.open_turns import TurnSession
from referee.net.supervisor import LocalSupervisor, RemoteSupervisor, SupervisorObserver
from referee.protocol import wire
from referee.sandbox.exit_status import ExitStatus
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire
from tests.program import PATIENCE
from tests.umpires import MOVE_US, Book, answers_to, new_umpire
from tests.virtual import run

SEGV: Final = ExitStatus(fault=Fault.CRASH, sentence="It crashed with SIGSEGV.", signal=11)
LEFT: Final = ExitStatus(fault=None, sentence="It ended with exit code 0.", code=0)
ENDED_BY_US: Final = ExitStatus(fault=None, sentence="The referee ended it.", signal=9)
OUT_OF_MEMORY: Final = ExitStatus(
    fault=Fault.RESOURCE_MEM, sentence="It used 600 MiB of memory; its limit is 512 MiB.", signal=9
)


class Process:
    """A bot process that ends when the test says so."""

    pid, sandbox = 1, "none"
    meter = None

    def __init__(self, words: str = "") -> None:
        self.end: asyncio.Future[ExitStatus] = asyncio.get_running_loop().create_future()
        self.words = words

    def ends(self, exit_: ExitStatus) -> None:
        self.end.set_result(exit_)

    async def exited(self) -> ExitStatus:
        return await asyncio.shield(self.end)

    async def kill(self) -> ExitStatus:
        if not self.end.done():
            self.end.set_result(ENDED_BY_US)
        return self.end.result()

    def tail(self) -> str:
        return self.words


class Stream(BotStream):
    """A stream that knows how often it was cut."""

    def __init__(self) -> None:
        super().__init__()
        self.cuts = 0

    def cut(self) -> None:
        self.cuts += 1


class SupervisedBot(SupervisorObserver):
    """A connection with its supervisor; the test plays the bot."""

    def __init__(self, *, remote: bool = False) -> None:
        self.book, self.other = Book(), TurnSession(MOVE_US)
        terms = JoinTerms(name="bad", slot=0, variants=("auction-pitch",), joined=wire.Joined(), move_us=MOVE_US)
        self.connection = BotConnection("token", terms, self.book.games_in_play.answered, lambda: 0)
        self.noted: list[tuple[Fault, str]] = []
        self.started_processes: list[Process] = []
        self.next_start: Callable[[], Any] = Process
        self.stream = Stream()
        if remote:
            self.supervisor: Any = RemoteSupervisor(self.connection, self.book.games_in_play, self, 600)
        else:
            self.supervisor = LocalSupervisor(self.connection, self.book.games_in_play, self, self._start)

    def faulted(self, connection: BotConnection, fault: Fault, sentence: str) -> None:
        assert connection is self.connection
        self.noted.append((fault, sentence))

    def started(self, connection: BotConnection, process: Any) -> None:
        assert connection is self.connection
        self.started_processes.append(process)

    def _start(self) -> Any:
        return self.next_start()

    def join(self) -> None:
        self.stream = Stream()
        assert self.connection.connect(self.stream)
        self.connection.receive(self.stream, wire.PlayRequest(join=wire.Join(max_in_flight=64)).SerializeToString())

    async def started_again(self, times: int) -> Process:
        """Waits for the start of that number, joins, and waits until the supervisor has noticed."""
        await until(lambda: len(self.started_processes) == times)
        self.join()
        await settle()
        return self.started_processes[-1]

    def deal(self, number: int) -> Umpire:
        """A game of this connection against two others, in which it is its turn at once."""
        umpire = new_umpire(number, seats=3)
        self.book.games_in_play.open(umpire, [self.other, self.connection.session, self.other])
        self.connection.begin_game()
        return umpire

    def ask(self) -> list[int]:
        """Sends what waits; the games that were asked about."""
        message = self.connection.flush(0)
        return [turn.game_id for turn in message.turns] if message else []

    def answer_all(self) -> None:
        self.book.games_in_play.answered(self.connection.session.heard(answers_of(self.connection.session), 0))

    def forfeited(self) -> list[str]:
        return [key for key, ruling in self.book.rulings if ruling.consequence == "FORFEITED"]


def answers_of(session: TurnSession) -> list[wire.Move]:
    return answers_to(wire.PlayResponse(turns=[_message(one.turn) for one in session.open.values()]))


def _message(turn: Any) -> wire.Turn:
    from referee.protocol.translate import turn_message

    return turn_message(turn)


async def settle() -> None:
    """Lets everything happen that is going to happen without time passing."""
    for _ in range(30):
        await asyncio.sleep(0)


async def until(look: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not look():  # noqa: ASYNC110 - what is looked for tells nobody
            await asyncio.sleep(0.001)


def tell(story: Callable[[SupervisedBot], Awaitable[None]], *, remote: bool = False) -> SupervisedBot:
    """Runs a story with its supervisor on virtual time, and ends the supervisor."""

    async def told() -> SupervisedBot:
        supervised = SupervisedBot(remote=remote)
        work = asyncio.ensure_future(supervised.supervisor.run())
        try:
            await story(supervised)
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work
        return supervised

    return run(told())
