"""Streams to games: the gRPC service, one event loop a process.

Every local bot gets a server of its own on a unix socket (loopback TCP where those are missing); remote bots share one
TCP server. Here is decided who is let in, and what a peer may use of the referee; a stream reads bytes, and writes what
the connection's session has ready.
"""

import asyncio
import contextlib
import logging
import socket
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from google.protobuf.message import DecodeError

from referee.net.asked_at_once import AskingLimit, ProcessorDemand
from referee.net.connection import MAX_MESSAGE_BYTES, BotConnection, BotStream, ConnectionObserver, ConnectionState
from referee.net.games_in_play import GamesInPlay
from referee.net.http2 import Budget, CallHandler, Http2Connection, Http2Server, Http2Service, RpcCall, Status
from referee.net.open_turns import TurnSession
from referee.net.send_queue import PAUSE_US, SendQueue, quick
from referee.net.stalls import Cause, PressureSample, Stall, cause_of, crowding, guilty_of, waits
from referee.protocol import wire
from referee.sandbox.process_tree import descendants
from referee.sandbox.processor_time import PERIOD as STARVATION_PERIOD
from referee.sandbox.processor_time import UsageMeter
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire

_LOG = logging.getLogger(__name__)
SERVICE = "allfours.v1.RefereeService"

STRANGERS: Final = 256
"""Connections at a time to the server for remote bots whose peers have shown no token, and one more for each bot."""

CONNECTIONS_A_BOT: Final = 2
"""Connections of one bot at a time on which it plays or has played: the newest ends the oldest."""

OWN_CONNECTIONS: Final = 16
"""Connections at a time to a local bot's own server on which nothing has been played."""

_STRANGER_S, _OWN_STRANGER_S = 10.0, 60.0
_STRANGER_BYTES, _OWN_STRANGER_BYTES = 32 * 1024, 256 * 1024
_STRANGER_UNITS = 200
_YOUNG_S = 2.0
_BURST, _UNITS_A_SECOND = 4_000, 500.0
_TICK_S = 0.05
_PARTING_S = 2.0
_STALL_US = 20_000
NO_CONTEST_STALL_US = 250_000
_NEVER_US = 1 << 62
_NO_SUCH_TOKEN = "no session has this token"

# Streams with a token that nobody has: they wait for their refusal, and are told of in one line a minute. Nobody is locked
# out by them: who has a right token is let in at once, from whatever address.

REFUSAL_SECONDS: Final = 1.0
"""How long such a stream waits for its refusal."""

WRONG_TOKENS_US: Final = 60_000_000
"""Microseconds between two lines at least."""

MOST_REFUSALS: Final = 64
"""So many wait at a time at most; those beyond are refused at once, for a held stream costs memory."""

_PEERS: Final = 32
_NAMED: Final = 5


class WrongTokens:
    """Counts them by address. ``tell`` is given the lines: the first at once, then one a minute while more come."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self.total = 0
        self._untold: Counter[str] = Counter()
        self._told_us: int | None = None
        self._waiting = 0

    def came(self, peer: str, now_us: int) -> None:
        """One has come from this peer, as gRPC or a socket names it."""
        self.total += 1
        host = host_of(peer)
        known = host in self._untold or len(self._untold) < _PEERS
        self._untold[host if known else "elsewhere"] += 1
        self.look(now_us)

    async def slow(self) -> None:
        """Waits before a refusal, unless very many do."""
        if self._waiting < MOST_REFUSALS:
            self._waiting += 1
            try:
                await asyncio.sleep(REFUSAL_SECONDS)
            finally:
                self._waiting -= 1

    def look(self, now_us: int) -> None:
        """Tells what has come since the last line, if that is a minute ago."""
        if self._untold and (self._told_us is None or now_us - self._told_us >= WRONG_TOKENS_US):
            self._told_us = now_us
            self.close()

    def close(self) -> None:
        """Tells what has come since the last line."""
        if self._untold:
            self._tell(self._line())
            self._untold.clear()

    def _line(self) -> str:
        count, first = self._untold.total(), self.total == self._untold.total()
        hosts = [
            f"{host} ({times})" if len(self._untold) > 1 else host for host, times in self._untold.most_common(_NAMED)
        ]
        more = len(self._untold) - _NAMED
        hosts += [f"{more} more"] if more > 0 else []
        what = "A stream" if count == 1 else f"{count} streams"
        line = f"{what} with a token that no bot of this league has, from {', '.join(hosts)}: refused."
        return f"{line} If it is one of yours, compare its REFEREE_TOKEN; more are counted." if first else line


def host_of(peer: str) -> str:
    """The host of ``ipv4:127.0.0.1:4711``, ``ipv6:%5B::1%5D:4711`` or ``127.0.0.1:4711``, harmless to print."""
    text = unquote(peer).removeprefix("ipv4:").removeprefix("ipv6:")
    if text.startswith("unix"):
        return "this machine"
    host = text.rpartition(":")[0] if text.count(":") == 1 or "]" in text else text
    clean = "".join(char for char in host.strip("[]")[:60] if char.isascii() and char.isprintable())
    return clean or "somewhere"


# The server.


def monotonic_us() -> int:
    """The referee's clock, in microseconds."""
    return time.monotonic_ns() // 1000


def local_address(path: Path) -> str:
    """Where a local bot's own endpoint listens: a unix socket where they exist and the path is short enough; else TCP."""
    return f"unix:{path}" if hasattr(socket, "AF_UNIX") and len(str(path)) < 100 else "tcp:127.0.0.1:0"


class ServerObserver:
    """Is told what a server of games notices, and asked what the league knows."""

    def may_replay(self, connection: BotConnection, umpire: Umpire) -> bool:  # noqa: ARG002
        """Whether a game may be played again because this bot was late in it while the referee stood still."""
        return True

    def wrong_tokens(self, sentence: str) -> None:
        """Streams have come with a token that nobody has, in a line for people: the first at once, then one a minute."""


class GameServer:
    """The connections of a process and their games in play. ``serve`` opens an endpoint, ``watch`` keeps the clocks.

    ``asking_limit`` bounds how many bots are asked at the same time. Connections ``at_home`` have an endpoint of their own, and are let in at no other. The watch
    is due at ``due_us``. So many ``messages`` with ``turns`` in them were sent.
    """

    def __init__(
        self,
        games_in_play: GamesInPlay,
        asked_at_once: int = 0,
        observer: ServerObserver | None = None,
        *,
        sharers: int = 1,
    ) -> None:
        """``asked_at_once``: so many bots are asked at the same time (a competitive clock); 0: as many as the machine bears.

        ``sharers``: so many servers are at work on this machine, and let their share of bots think.
        """
        self.games_in_play = games_in_play
        self._observer = observer or ServerObserver()
        self.asking_limit, self.demand = AskingLimit(sharers=sharers, fixed=asked_at_once), ProcessorDemand()
        self.connections: dict[BotConnection, None] = {}
        self._by_session: dict[TurnSession, BotConnection] = {}
        self.at_home: set[BotConnection] = set()
        self._queueing: dict[BotConnection, None] = {}
        self._queue = SendQueue()
        self._heard, self._looking = 0, False
        self._budgets: dict[BotConnection, Budget] = {}
        self._streams: set[asyncio.Task[None]] = set()
        self._ticked_us = 0
        self.messages = self.turns = 0
        self.due_us = _NEVER_US
        self._looked_us = self._stalled_us = 0
        self._waits: deque[PressureSample] = deque(maxlen=16)
        self._stalls: deque[Stall] = deque(maxlen=256)
        self.wrong_tokens = WrongTokens(self._observer.wrong_tokens)

    def admit(self, connection: BotConnection) -> None:
        """Lets a connection in who shows its token."""
        self.connections[connection] = None
        self._by_session[connection.session] = connection

    def dismiss(self, connection: BotConnection) -> None:
        """A connection that will not come again."""
        self.connections.pop(connection, None)
        self._by_session.pop(connection.session, None)
        self.leave_queue(connection)
        self._queue.remove(connection.session)
        self._budgets.pop(connection, None)
        self.at_home.discard(connection)

    def pump(self) -> None:
        """Sends what is to be sent now, first to those that queue, and looks again as soon as nothing is left to be judged."""
        self._serve_queue()
        touched, queue = self.games_in_play.touched, self._queue
        now = monotonic_us() if touched or queue else 0
        while touched:
            session = touched.pop()
            connection = self._by_session.get(session)
            if connection is None or connection.stream is None or not connection.ready.is_set() or session.open:
                queue.remove(session)
            elif queue.put(session, now):
                connection.stream.write()
        if queue:
            self._send_on(queue.overdue(now))
            if not any(session.open for session in self._by_session):  # then nothing else can come
                self._send_on(queue.idle(0, now))
            if queue and not self._looking:
                self._look_later(0)

    def _look_later(self, seconds: float) -> None:
        """Asks in a while whether the referee has nothing to do. A timer goes off after everything that is there to be read."""
        self._looking = True
        asyncio.get_running_loop().call_later(seconds, self._look_for_idleness, self._heard)

    def _look_for_idleness(self, heard: int) -> None:
        """Sends something if no message has come since; as long as any waits to be sent, looks again."""
        queue, pause = self._queue, 0.0
        self._looking = False
        if heard == self._heard:
            busy = sum(1 for session in self._by_session if session.open and quick(session))
            self._send_on(queue.idle(busy, monotonic_us()))
            pause = PAUSE_US / 1e6
        if queue:
            self._look_later(pause)

    def _send_on(self, sessions: Sequence[TurnSession]) -> None:
        for session in sessions:
            connection = self._by_session.get(session)
            if connection is not None and connection.stream is not None:
                connection.stream.write()

    @contextlib.asynccontextmanager
    async def serve(
        self, address: str, owner: BotConnection | None = None, credentials: Any = None
    ) -> "AsyncIterator[Endpoint]":
        """Opens an endpoint at ``unix:PATH`` or ``tcp:HOST:PORT`` (port 0: any) and closes it at the end.

        Raises ``OSError`` if the address cannot be had. The endpoint's ``address`` is what bots are told.
        """
        endpoint = Endpoint(self, owner, credentials)
        await endpoint.listen(address)
        if owner is not None:
            self.at_home.add(owner)
            owner.observe(endpoint)
        try:
            yield endpoint
        finally:
            parting = any(connection.leaving and connection.stream is not None for connection in self.connections)
            await endpoint.close(_PARTING_S if parting else 0.2)

    def budget_of(self, connection: BotConnection) -> Budget:
        """What a remote bot may cost, on all of its connections together."""
        return self._budgets.setdefault(connection, Budget(_BURST, _UNITS_A_SECOND))

    def play(self, connection: BotConnection, call: RpcCall) -> None:
        """A stream of a connection that was let in."""
        work = _Play(self, connection, call).begin()
        if work is not None:
            self._begin_task(work)

    def refuse(self, call: RpcCall) -> None:
        """Refuses a stream whose token nobody has; it has to wait for that."""
        self.wrong_tokens.came(call.peer, monotonic_us())
        self._begin_task(self._refuse(call))

    async def _refuse(self, call: RpcCall) -> None:
        await self.wrong_tokens.slow()
        call.finish(Status.UNAUTHENTICATED, _NO_SUCH_TOKEN)

    def _begin_task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._streams.add(task)
        task.add_done_callback(self._streams.discard)

    def authenticate(self, call: RpcCall, owner: BotConnection | None) -> BotConnection | None:
        """The connection whose token the call shows, if it is let in at the endpoint of this owner, or of all."""
        token = call.metadata.get("authorization", "").removeprefix("Bearer ")
        connection = next((connection for connection in self.connections if connection.token == token), None)
        if connection is owner:
            return connection
        if owner is not None and connection is not None:
            owner.fault(Fault.POLICY, "It came with the token of another session.")
        elif owner is not None and token not in owner.expired:
            owner.knock("streams with a token that nobody has")
        return connection if owner is None and connection not in self.at_home else None

    async def watch(self) -> None:
        """Rules on silences, and takes the referee's own stalls off the bots' time; runs until cancelled."""
        try:
            while True:
                self.due_us = monotonic_us() + int(_TICK_S * 1e6)
                await asyncio.sleep(_TICK_S)
                self.tick()
        finally:
            self.due_us = _NEVER_US

    def look(self) -> int:
        """The time. If the watch is overdue, the referee has stalled: that is taken off the bots' time first of all.

        After a stall messages are read before any timer goes off, and must not be charged with it.
        """
        now = monotonic_us()
        stall = now - self.due_us
        if stall > _STALL_US:
            self.due_us = now
            for connection in self.connections:
                connection.excuse(stall, now)
            self._stalled_us += stall
            if stall > NO_CONTEST_STALL_US:
                self._find_cause(now - stall, now)
        return now

    def _find_cause(self, since: int, now: int) -> None:
        """Notes a long stall, and whether a bot made it."""
        before = next((one for one in reversed(self._waits) if one.at_us <= since), None)
        everything = descendants()
        for connection in self.connections:
            if connection.meter is not None:
                connection.meter.refresh(everything)
        self._look_at_processors(now)
        cause: Cause = ""
        guilty: Mapping[object, tuple[Fault, str]] = {}
        crowds: frozenset[object] = frozenset()
        if before is not None:
            after, stall = self._waits[-1], now - since
            cause = cause_of(before, after, stall)
            meters: dict[object, list[UsageMeter]] = {
                connection: [one for one in (connection.former, connection.meter) if one]
                for connection in self.connections
            }
            guilty = guilty_of(cause, before, after, stall, meters)
            crowds = crowding(before, after, meters)
        self._stalls.append(Stall(since_us=since, until_us=now, cause=cause, guilty=guilty, crowding=crowds))

    def heard(self) -> None:
        """A bot has said something: as long as they do, the referee has something to do."""
        self._heard += 1

    def tick(self) -> None:
        """Looks at every clock."""
        now = self.look()
        passed, self._ticked_us = min(now - self._ticked_us, int(2e6 * _TICK_S)), now
        if now - self._looked_us >= STARVATION_PERIOD * 1e6:
            self._look_at_processors(now)
        for connection in tuple(self.connections):
            if connection.ready.is_set():
                self._check_silence(connection, now)
                connection.check_reading(passed)
            else:
                connection.check_join(now)
        self.wrong_tokens.look(now)
        self.pump()

    def _look_at_processors(self, now: int) -> None:
        """Excuses the bots that had no processor since the last look; what the referee stalled is off their time already."""
        most = max(now - self._looked_us - self._stalled_us, 0)
        self._looked_us, self._stalled_us = now, 0
        self._waits.append(waits(now))
        for connection in self.connections:
            if connection.meter is not None:
                connection.starve(min(connection.meter.look(now), most), now)
        self.demand.look(connection.meter for connection in self.connections if connection.meter is not None)
        self.asking_limit.look(self.demand.processors, waiting=bool(self._queueing))

    def _check_silence(self, connection: BotConnection, now: int) -> None:
        session = connection.session
        if not session.overdue(now):
            return
        if connection.meter is not None and now - self._looked_us > _STALL_US:
            self._look_at_processors(now)  # short of its time it may have had no processor since the last look
            if not session.overdue(now):
                return
        stalls = [one for one in self._stalls if one.until_us > session.began_us and one.long_us > NO_CONTEST_STALL_US]
        ours = session.stalled_us > NO_CONTEST_STALL_US
        guilty = self._guilty(stalls) if ours else {}
        oldest = next(iter(session.open.values()))
        umpire = oldest.umpire
        for one, (fault, sentence) in guilty.items():
            if one is not connection:
                self.games_in_play.lose(umpire, one.session, fault, sentence)
        if guilty and connection not in guilty:
            session.begin_again(now, free=True)
            self.games_in_play.touched.add(session)
            return
        ours = ours and not guilty and not self._was_measured(connection, stalls)
        if ours and session.begin_again(now):
            return
        silence = connection.silent(now)
        if silence is None:
            return
        if connection in guilty:
            self.games_in_play.lose(umpire, session, *guilty[connection])
        elif (
            ours
            and umpire.open is oldest.turn  # its game may be over, or may have gone on without it
            and not any(connection in one.crowding for one in stalls)
            and self._observer.may_replay(connection, umpire)
        ):
            stalled = silence.stalled_us // 1000
            self.games_in_play.abandon(umpire, f"the referee stalled for {stalled} ms while a decision ran late")
        else:
            self.games_in_play.silent(silence)
        self.games_in_play.touched.add(session)
        if silence.hung:
            connection.hung()

    def _guilty(self, stalls: Sequence[Stall]) -> dict[BotConnection, tuple[Fault, str]]:
        """The bots that made these stalls, which are ended for it once, and those that passed a limit about then."""
        found: dict[BotConnection, tuple[Fault, str]] = {}
        for stall in stalls:
            for connection in self.connections:
                if connection in stall.guilty:
                    found[connection] = stall.guilty[connection]
                elif connection.overran is not None and stall.covers(connection.overran[0]):
                    found[connection] = connection.overran[1:]
            for connection in tuple(self.connections):
                if connection in stall.guilty and connection not in stall.told:
                    stall.told.add(connection)
                    connection.fault(*stall.guilty[connection])
        return found

    @staticmethod
    def _was_measured(connection: BotConnection, stalls: Sequence[Stall]) -> bool:
        """Whether it is known what the bot itself waited for: then its time was its own, whatever the referee did.

        So it is where the processors were busy and its process is on this machine.
        """
        return connection.meter is not None and bool(stalls) and all(stall.cause == "processor" for stall in stalls)

    def next_message(self, connection: BotConnection, stream: BotStream) -> bytes | None:
        """What a stream has to send now, or ``None``.

        What holds no turn waits until the bot has read the message before: so little can ever lie unread. A turn does
        not wait: its clock has to begin.
        """
        if stream.farewell is not None:
            last = (
                connection.session.take_receipts() if stream is connection.stream and connection.ready.is_set() else []
            )
            return wire.PlayResponse(farewell=stream.farewell, receipts=last).SerializeToString()
        if stream is not connection.stream or not connection.ready.is_set():
            return None
        if self._must_wait(connection):
            return None
        if not connection.session.waiting and stream.unread() is not None:
            return None
        try:
            self._queue.remove(connection.session)
            response = connection.flush(monotonic_us())
            if response is None:
                return None
            if response.turns:
                self.messages += 1
                self.turns += len(response.turns)
            return response.SerializeToString()
        except Exception:  # noqa: BLE001  # as in the games in play: the games concerned are spoiled, not the league
            _LOG.exception("a message to %s cannot be made; its games are no contest", connection.terms.name)
            self.failed(connection)
            return None

    def failed(self, connection: BotConnection) -> None:
        """The referee itself has failed with the turns that a connection was about to get, or had: no bot is to blame."""
        for one in connection.give_up_turns():
            self.games_in_play.abandon(one.umpire, "the referee failed at a turn of this game; its log says how")
        self.games_in_play.touched.add(connection.session)
        self.pump()

    def _must_wait(self, connection: BotConnection) -> bool:
        """Whether so many bots are thinking that this one has to queue."""
        session = connection.session
        if session.waiting and not session.open and self.asking_limit.must_wait(connection, self.connections):
            self._queueing[connection] = None
            return True
        self._queueing.pop(connection, None)
        return False

    def _serve_queue(self) -> None:
        """Asks those that queue for a place among the bots that think, first in, first out, as far as there are places.

        That comes before anything else is sent: else who has just answered would take the place again that it left.
        """
        for connection in tuple(self._queueing):
            if self.asking_limit.must_wait(connection, self.connections):
                return
            if connection.stream is not None:
                connection.stream.write()

    def leave_queue(self, connection: BotConnection) -> None:
        """A bot that cannot be asked now, for it has no stream or has not joined, does not queue."""
        self._queueing.pop(connection, None)


class Endpoint(Http2Service, ConnectionObserver):
    """One address at which a server listens; ``address`` is what bots are told.

    ``owner`` is the only connection let in at a local bot's own endpoint. Without one all are who have none of their own.
    """

    def __init__(self, server: GameServer, owner: BotConnection | None, credentials: Any) -> None:
        self.address, self.owner, self._server = "", owner, server
        self._public = _PublicServices()
        self._listener = Http2Server(
            self,
            young_seconds=_YOUNG_S if owner is None else 0.0,
            stranger_seconds=_STRANGER_S if owner is None else _OWN_STRANGER_S,
            stranger_bytes=_STRANGER_BYTES if owner is None else _OWN_STRANGER_BYTES,
            stranger_units=_STRANGER_UNITS,
            budget=None if owner is None else Budget(_BURST, _UNITS_A_SECOND),
            tls=credentials,
        )

    async def listen(self, address: str) -> None:
        """Opens it at this address; raises ``OSError`` if it cannot be had."""
        self.address = await self._listener.listen(address)

    async def close(self, seconds: float) -> None:
        """Listens no more; calls that are being ended have so many seconds for it."""
        await self._listener.close(seconds)

    def begin(self, call: RpcCall) -> None:
        """Routes a new call."""
        owner, server = self.owner, self._server
        if call.method != f"/{SERVICE}/Play":
            if not self._public.begin(call):
                if owner is not None:
                    owner.knock("calls of methods that there are not")
                call.finish(Status.UNIMPLEMENTED, "there is no such method")
            return
        connection = server.authenticate(call, owner)
        if connection is not None:
            budget = self._listener.budget or server.budget_of(connection)
            self._listener.trust(call.connection, connection, budget, CONNECTIONS_A_BOT)
            server.play(connection, call)
        elif owner is None:
            server.refuse(call)
        else:
            call.finish(Status.UNAUTHENTICATED, _NO_SUCH_TOKEN)

    def strangers(self) -> int:
        """One more for each bot that dials in here, so that all of them may come at the same moment."""
        server = self._server
        return OWN_CONNECTIONS if self.owner else STRANGERS + len(server.connections) - len(server.at_home)

    def exceeded(self, connection: Http2Connection, what: str) -> None:
        """A peer has used up its budget: a bot has broken the protocol, a stranger is merely gone."""
        bot = self.owner or connection.holder
        if isinstance(bot, BotConnection):
            if self.owner is not None:
                self._listener.drop()
            bot.flooded(what)

    def violated(self, connection: Http2Connection) -> None:  # noqa: ARG002
        """At its own endpoint it can have been the bot alone."""
        if self.owner is not None:
            self.owner.knock("connections that broke HTTP/2")

    def may_be_dead(self, connection: Http2Connection) -> bool:
        """A remote bot may be; but while it has turns to answer, the move clock says what its silence means."""
        bot = connection.holder
        asked = isinstance(bot, BotConnection) and bot.state is ConnectionState.ASKED
        return self.owner is None and not asked

    def renewed(self) -> None:
        """Nothing that the last process has sent, or dialled, is left for the next."""
        self._listener.renew()


class _Play(BotStream, CallHandler):
    """One stream from start to end. No exception's text ever leaves it."""

    def __init__(self, server: GameServer, connection: BotConnection, call: RpcCall) -> None:
        super().__init__()
        self._server, self._connection, self._call = server, connection, call
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[str] = self._loop.create_future()
        self._parted: asyncio.Future[None] = self._loop.create_future()
        self._woken = self._greeted = False
        self._error: BaseException | None = None

    def begin(self) -> Coroutine[Any, Any, None] | None:
        """Takes the call on, and returns what has to run until it is over; ``None`` if it is over already."""
        call = self._call
        if not self._connection.connect(self):
            call.finish(Status.RESOURCE_EXHAUSTED, "too many streams")
            return None
        self._server.leave_queue(self._connection)  # until it has joined again
        call.answer_by(self, MAX_MESSAGE_BYTES)
        return self._run()

    def cut(self) -> None:
        """Ends the stream at once."""
        self._end("cut")

    def unread(self) -> int | None:
        """How many messages the bot has taken, if another waits for it to read; ``None`` if none does."""
        return self._call.taken if self._call.unread else None

    def ended(self, *, in_peace: bool) -> None:  # noqa: ARG002
        """The bot sends no more."""
        self._end("ended")

    def room(self) -> None:
        """The bot has read all that it was sent: what holds no turn may follow."""
        self._server.games_in_play.touched.add(self._connection.session)
        self._server.pump()

    def wake(self) -> None:
        """Something may be ready for it: it is written when what is being done now is done."""
        if not self._woken:
            self._woken = True
            self._loop.call_soon(self.write)

    def write(self) -> None:
        """Writes what is ready for it; after a farewell, nothing more. An error of the referee ends the stream."""
        self._woken = False
        if self.over or self._parted.done():
            return
        connection, parting = self._connection, self.farewell is not None
        try:
            if not self._greeted and not parting and self is connection.stream and connection.ready.is_set():
                self._greeted = True
                self._call.send(wire.PlayResponse(joined=connection.greeting()).SerializeToString())
            data = self._server.next_message(connection, self)
            if data is not None:
                self._call.send(data)
        except Exception as error:  # noqa: BLE001  # told by _run
            self._error = error
            self._end("failed")
        if parting:
            self._parted.set_result(None)

    def _end(self, how: str) -> None:
        if not self._ended.done():
            self._ended.set_result(how)

    def message(self, data: bytes) -> None:
        """One message of the bot."""
        server, connection = self._server, self._connection
        if self._ended.done():
            return
        try:
            server.look()
            server.heard()
            connection.receive(self, data)
            server.games_in_play.touched.add(connection.session)  # it may be idle now, with turns waiting
            server.pump()
        except Exception as error:  # noqa: BLE001  # told by _run
            self._error = error
            self._end("failed")

    async def _run(self) -> None:
        call, connection, server = self._call, self._connection, self._server
        ends: set[asyncio.Future[Any]] = {self._ended, self._parted}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if not self._ended.done():
                await asyncio.wait({self._ended}, timeout=_PARTING_S)  # a moment after the farewell
            error = self._error
            if error is not None:
                _LOG.error("a stream of %s ends by an error of the referee", connection.terms.name, exc_info=error)
                connection.spoiled()
                server.failed(connection)
        finally:
            self.close()
            connection.disconnect(self)
            if connection.stream is None:
                server.leave_queue(connection)
            server.pump()
        cut = self._ended.done() and self._ended.result() == "cut"
        last_words = _LastWords()
        call.answer_by(last_words)
        if not cut and call.unread:  # a moment to read what it was sent last
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(last_words.read.wait(), _PARTING_S)
        if error is not None:
            call.finish(Status.INTERNAL, "the referee failed")
        elif cut:
            call.finish(Status.UNAVAILABLE, "the referee has ended this stream")
        else:
            call.finish(Status.OK)


class _LastWords(CallHandler):
    """Waits until the bot has read what it was sent last, or has gone; what it still says is not heard."""

    def __init__(self) -> None:
        self.read = asyncio.Event()

    def room(self) -> None:
        """It has read everything."""
        self.read.set()

    def ended(self, *, in_peace: bool) -> None:  # noqa: ARG002
        """It has gone."""
        self.read.set()


class _PublicServices:
    """The standard health and reflection services, so that common tools work against the referee."""

    UNREAD_BYTES: Final = 64 * 1024

    def __init__(self) -> None:
        from grpc_health.v1 import health_pb2  # slow to import
        from grpc_reflection.v1alpha import reflection, reflection_pb2

        from referee.protocol.allfours.v1 import service_pb2  # without it reflection knows the name and nothing more

        ours = service_pb2.DESCRIPTOR.services_by_name["RefereeService"].full_name
        health = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
        self._health, self._ask = health_pb2, reflection_pb2.ServerReflectionRequest
        self._healthy = {"", ours}
        self._reflection = reflection.ReflectionServicer((ours, health))
        self._answers: dict[str, Callable[[RpcCall, bytes], None]] = {
            f"/{health}/Check": self._check,
            f"/{health}/Watch": self._watch,
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": self._reflect,
        }

    def begin(self, call: RpcCall) -> bool:
        """Whether it is a call of these services, which is taken on then."""
        answer = self._answers.get(call.method)
        if answer is not None:
            call.answer_by(_PublicCall(call, answer))
        return answer is not None

    def _check(self, call: RpcCall, data: bytes) -> None:
        if self._health.HealthCheckRequest.FromString(data).service in self._healthy:
            serving = self._health.HealthCheckResponse.SERVING
            call.send(self._health.HealthCheckResponse(status=serving).SerializeToString())
            call.finish(Status.OK)
        else:
            call.finish(Status.NOT_FOUND, "there is no such service")

    def _watch(self, call: RpcCall, data: bytes) -> None:
        known = self._health.HealthCheckRequest.FromString(data).service in self._healthy
        answer = self._health.HealthCheckResponse
        call.send(answer(status=answer.SERVING if known else answer.SERVICE_UNKNOWN).SerializeToString())
        call.answer_by(CallHandler())  # it is held until the connection ends

    def _reflect(self, call: RpcCall, data: bytes) -> None:
        none: Any = None
        if call.unread:
            call.finish(Status.RESOURCE_EXHAUSTED, "answers are not read")
            return
        for answer in self._reflection.ServerReflectionInfo(iter([self._ask.FromString(data)]), none):
            call.send(answer.SerializeToString())


class _PublicCall(CallHandler):
    """A call of a standard service."""

    def __init__(self, call: RpcCall, answer: Callable[[RpcCall, bytes], None]) -> None:
        self._call, self._answer = call, answer

    def message(self, data: bytes) -> None:
        """Answers it."""
        try:
            self._answer(self._call, data)
        except DecodeError:
            self._call.finish(Status.INTERNAL, "a message cannot be read")

    def ended(self, *, in_peace: bool) -> None:  # noqa: ARG002
        """Nobody waits for anything more."""
        self._call.finish(Status.OK)
