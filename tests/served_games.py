"""Served games: a server with its connections behind real endpoints, and clients that dial in. What its tests share."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio

from referee.net.connection import BotConnection, ConnectionObserver, JoinTerms
from referee.net.server import SERVICE, Endpoint, GameServer, ServerObserver, monotonic_us
from referee.protocol import wire
from referee.umpire.events import TimeLimits
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire
from tests.program import PATIENCE
from tests.umpires import MOVE_US, Book, answers_to, new_umpire

PLAY: Final = f"/{SERVICE}/Play"
JOIN: Final = wire.PlayRequest(join=wire.Join(name="test", max_in_flight=64, wants_notices=True))
Code = grpc.StatusCode
SHORT: Final = TimeLimits(50_000, 0, 0)
LONG: Final = TimeLimits(60_000_000, 0, 0)


class Told(ConnectionObserver):
    """Tells the served games what a supervisor would be told."""

    def __init__(self, served: "ServedGames", connection: BotConnection) -> None:
        self.served, self.connection = served, connection

    def stream_lost(self) -> None:
        self.served.losses.append(self.connection.terms.name)

    def faulted(self, fault: Fault, sentence: str) -> None:
        self.served.faults.append((self.connection.terms.name, fault, sentence))

    def hung(self) -> None:
        self.served.hung.append(self.connection)


class ServedGames(ServerObserver):
    """A host with connections, and an endpoint for each or one for all."""

    def __init__(self, folder: Path, asked_at_once: int = 0) -> None:
        self.folder = folder
        self.book = Book()
        self.server = GameServer(self.book.games_in_play, asked_at_once, self)
        self.connections: list[BotConnection] = []
        self.faults: list[tuple[str, Fault, str]] = []
        self.losses: list[str] = []
        self.hung: list[BotConnection] = []
        self.wrong: list[str] = []
        self.replays = True

    def may_replay(self, connection: BotConnection, umpire: Umpire) -> bool:
        return self.replays

    def wrong_tokens(self, sentence: str) -> None:
        self.wrong.append(sentence)

    def connection(self, name: str, move_us: int = 10 * MOVE_US) -> BotConnection:
        told = JoinTerms(name=name, slot=0, variants=("auction-pitch",), joined=wire.Joined(), move_us=move_us)
        connection = BotConnection(f"token-of-{name}", told, self.book.games_in_play.answered, monotonic_us)
        connection.observe(Told(self, connection))
        self.connections.append(connection)
        self.server.admit(connection)
        return connection

    def endpoint(self, owner: BotConnection | None = None, address: str = "", credentials: Any = None) -> Any:
        name = owner.terms.name if owner else "all"
        return self.server.serve(address or f"unix:{self.folder}/{name}.sock", owner, credentials)

    def deal(self, number: int, *players: BotConnection) -> None:
        self.book.games_in_play.open(
            new_umpire(number, seats=len(players)), [connection.session for connection in players]
        )
        for connection in players:
            connection.begin_game()
        self.server.pump()


@contextlib.asynccontextmanager
async def dial(
    endpoint: Endpoint, token: str = "", *, credentials: Any = None, compression: Any = None, method: str = PLAY
) -> AsyncIterator[Any]:
    """A stream to an endpoint, as any gRPC client opens it; requests are bytes, responses are messages."""
    target = endpoint.address.removeprefix("tcp:").removeprefix("tls:")
    options = (
        ("grpc.max_send_message_length", -1),
        ("grpc.enable_http_proxy", 0),
        ("grpc.use_local_subchannel_pool", 1),
    )
    if credentials is None:
        channel = grpc.aio.insecure_channel(target, options, compression=compression)
    else:
        channel = grpc.aio.secure_channel(target, credentials, options)
    async with channel:
        open_ = channel.stream_stream(method, None, wire.PlayResponse.FromString)
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        call = open_(metadata=metadata)
        try:
            yield call
        finally:
            call.cancel()


async def say(call: Any, request: wire.PlayRequest | bytes) -> None:
    await call.write(request if isinstance(request, bytes) else request.SerializeToString())


async def end_of(call: Any) -> tuple[Code, str]:
    """The status of a call, once the server has ended it."""
    async with asyncio.timeout(PATIENCE):
        with contextlib.suppress(grpc.aio.AioRpcError):
            while await call.read() is not grpc.aio.EOF:
                pass
        return await call.code(), await call.details()


async def hear(call: Any) -> wire.PlayResponse:
    async with asyncio.timeout(PATIENCE):
        return await call.read()


async def until(look: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not look():  # noqa: ASYNC110 - what is looked for tells nobody
            await asyncio.sleep(0.002)


async def play_on(call: Any) -> wire.Farewell:
    """A bot that answers all turns with the first option, until farewell."""
    while True:
        message = await hear(call)
        if message.HasField("farewell"):
            return message.farewell
        if message.turns:
            await say(call, wire.PlayRequest(moves=answers_to(message)))


def tell(
    tmp_path: Path, story: Callable[[ServedGames], Awaitable[None]], *, asked_at_once: int = 0, watched: bool = True
) -> ServedGames:
    """Runs a story against a server whose clocks go, unless the story moves them itself."""

    async def told() -> ServedGames:
        served = ServedGames(tmp_path, asked_at_once)
        watch = asyncio.ensure_future(served.server.watch() if watched else asyncio.sleep(0))
        try:
            await story(served)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
        return served

    return asyncio.run(told())
