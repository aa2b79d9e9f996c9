"""Streams to tables: the gRPC service, one event loop a process.

Every local bot gets a server of its own on a unix socket (loopback TCP where those are missing); remote bots share one
TCP server. The handler authenticates, reads bytes, and writes what the guest's session has ready; it decides nothing.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio

from referee.faults import Fault
from referee.hall import Hall
from referee.protocol import wire
from referee.seats.guest import MAX_MESSAGE_BYTES, Guest, Stream
from referee.seats.starvation import PERIOD as STARVATION_PERIOD
from referee.session import Session

_LOG = logging.getLogger(__name__)
SERVICE = "allfours.v1.RefereeService"

OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_metadata_size", 8 * 1024),
    ("grpc.server_handshake_timeout_ms", 2_000),
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000),
    ("grpc.max_connection_idle_ms", 60_000),
)
_CONNECTIONS, _OWN_CONNECTIONS = 256, 32
_TICK_S = 0.05
_PARTING_S = 2.0
_LINGER_S = 0.003
_STALL_US = 20_000
NO_CONTEST_STALL_US = 250_000
_NEVER_US = 1 << 62


def monotonic_us() -> int:
    """The referee's clock, in microseconds."""
    return time.monotonic_ns() // 1000


@dataclass(slots=True)
class Door:
    """One listening address. ``owner`` is the only guest let in at a local bot's own door."""

    address: str
    server: grpc.aio.Server
    owner: Guest | None = None
    streams: set[asyncio.Task[None]] = field(default_factory=set)


class Host:
    """The guests of a process and their hall. ``serve`` opens a door, ``watch`` keeps the clocks.

    ``asked_at_once`` bounds how many bots think at the same time (a competitive clock); 0 = no bound. Guests ``at_home``
    have a door of their own, and are let in at no other. The watch is due at ``due_us``.
    """

    def __init__(self, hall: Hall, asked_at_once: int = 0) -> None:
        self.hall, self.asked_at_once = hall, asked_at_once
        self.guests: dict[Guest, None] = {}
        self._by_session: dict[Session, Guest] = {}
        self.at_home: set[Guest] = set()
        self._queueing: dict[Guest, None] = {}
        self._lingering: set[Guest] = set()
        self.on_hung: Callable[[Guest], None] = lambda _guest: None
        self.due_us = _NEVER_US
        self._looked_us = self._stalled_us = 0

    def admit(self, guest: Guest) -> None:
        """Lets a guest in who shows its token."""
        self.guests[guest] = None
        self._by_session[guest.session] = guest

    def dismiss(self, guest: Guest) -> None:
        """A guest that will not come again."""
        self.guests.pop(guest, None)
        self._by_session.pop(guest.session, None)
        self._queueing.pop(guest, None)
        self.at_home.discard(guest)

    def pump(self) -> None:
        """Wakes the writers of the sessions that have something to send.

        A few turns wait a moment for company while other bots are thinking: a message costs ten times a decision. A
        turn for which nothing else can come waits for nothing.
        """
        touched = self.hall.touched
        while touched:
            session = touched.pop()
            guest = self._by_session.get(session)
            if guest is None or guest.stream is None or session.open:
                continue
            company = min(session.max_in_flight // 2, session.games // 4)
            if not session.waiting or len(session.waiting) >= company or self._all_idle():
                guest.stream.wake.set()
            elif guest not in self._lingering:
                self._lingering.add(guest)
                asyncio.get_running_loop().call_later(_LINGER_S, self._sent_on, guest)

    def _all_idle(self) -> bool:
        return not any(session.open for session in self._by_session)

    def _sent_on(self, guest: Guest) -> None:
        self._lingering.discard(guest)
        if guest.stream is not None:
            guest.stream.wake.set()

    @contextlib.asynccontextmanager
    async def serve(self, address: str, owner: Guest | None = None, credentials: Any = None) -> AsyncIterator[Door]:
        """Opens a door at ``unix:PATH`` or ``tcp:HOST:PORT`` (port 0: any) and closes it at the end.

        Raises ``OSError`` if the address cannot be had. The door's ``address`` is what bots are told.
        """
        most = _CONNECTIONS if owner is None else _OWN_CONNECTIONS
        options = (*OPTIONS, ("grpc.max_allowed_incoming_connections", most))
        server = grpc.aio.server(options=options, maximum_concurrent_rpcs=256)
        door = Door(address, server, owner)
        if owner is not None:
            self.at_home.add(owner)
        server.add_generic_rpc_handlers((_Handlers(self, door),))
        _add_health_and_reflection(server)
        target = address.removeprefix("tcp:").removeprefix("tls:")
        try:
            port = server.add_secure_port(target, credentials) if credentials else server.add_insecure_port(target)
        except RuntimeError as error:
            raise OSError(f"cannot listen at {address}: {error}") from None
        if not address.startswith("unix:"):
            door.address = f"{address.rpartition(':')[0]}:{port}"
        await server.start()
        try:
            yield door
        finally:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(server.stop(0.2), 2)

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
            for guest in self.guests:
                guest.excuse(stall, now)
            self._stalled_us += stall
        return now

    def tick(self) -> None:
        """Looks at every clock."""
        now = self.look()
        if now - self._looked_us >= STARVATION_PERIOD * 1e6:
            self._look_at_processors(now)
        for guest in tuple(self.guests):
            if guest.ready.is_set():
                self._check_silence(guest, now)
            else:
                guest.check_join(now)
        self.made_room()
        self.pump()

    def _look_at_processors(self, now: int) -> None:
        """Excuses the bots that had no processor since the last look; what the referee stalled is off their time already."""
        most = max(now - self._looked_us - self._stalled_us, 0)
        self._looked_us, self._stalled_us = now, 0
        for guest in self.guests:
            if guest.meter is not None:
                guest.starve(min(guest.meter.look(now), most), now)

    def _check_silence(self, guest: Guest, now: int) -> None:
        silence = guest.session.silent(now)
        if silence is None:
            return
        if silence.stalled_us > NO_CONTEST_STALL_US:
            stalled = silence.stalled_us // 1000
            self.hall.abandon(silence.pending.table, f"the referee stalled for {stalled} ms while a decision ran late")
        else:
            self.hall.silent(silence)
        self.hall.touched.add(guest.session)
        if silence.hung:
            self.on_hung(guest)

    def next_message(self, guest: Guest, stream: Stream) -> bytes | None:
        """What a stream has to send now, or ``None``."""
        if stream.farewell is not None:
            return wire.PlayResponse(farewell=stream.farewell).SerializeToString()
        if stream is not guest.stream or not guest.ready.is_set():
            return None
        if self.asked_at_once and self._must_wait(guest):
            return None
        try:
            response = guest.session.flush(monotonic_us())
            return None if response is None else response.SerializeToString()
        except Exception:  # noqa: BLE001  # as in the hall: the games concerned are spoiled, not the league
            _LOG.exception("a message to %s cannot be made; its games are no contest", guest.terms.name)
            self.failed(guest)
            return None

    def failed(self, guest: Guest) -> None:
        """The referee itself has failed with the turns that a guest was about to get, or had: no bot is to blame."""
        pending, guest.session.open = guest.session.open, {}
        for one in pending.values():
            self.hall.abandon(one.table, "the referee failed at a turn of this game; its log says how")
        self.hall.touched.add(guest.session)
        self.pump()

    def _must_wait(self, guest: Guest) -> bool:
        """Whether so many bots are thinking that this one has to queue; wakes the next in the queue if not."""
        asked = sum(1 for other in self.guests if other.session.open)
        if asked >= self.asked_at_once and not guest.session.open and guest.session.waiting:
            self._queueing[guest] = None
            return True
        self._queueing.pop(guest, None)
        return False

    def made_room(self) -> None:
        """Wakes the bots that queue for a place among those that think."""
        for guest in tuple(self._queueing):
            if guest.stream is not None:
                guest.stream.wake.set()


class _Handlers(grpc.GenericRpcHandler):
    """Routes the one method of the service; any other answers UNIMPLEMENTED."""

    def __init__(self, host: Host, door: Door) -> None:
        self._host, self._door = host, door
        self._play: Any = grpc.stream_stream_rpc_method_handler(self.play)

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        """The handler of ``Play``, without a deserializer: bytes that cannot be read must reach us."""
        method, owner = handler_call_details.method, self._door.owner
        if method == f"/{SERVICE}/Play":
            return self._play
        if owner is not None and not method.startswith("/grpc."):  # which are the standard services
            owner.knock("calls of methods that there are not")
        return None

    async def play(self, _requests: Any, context: Any) -> None:
        """One stream from start to end. No exception's text ever leaves it."""
        guest = self._authenticate(context)
        if guest is None:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no session has this token")
            return
        stream = Stream()
        if not guest.connect(stream):
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many streams")
            return
        reader = asyncio.ensure_future(self._read(guest, stream, context))
        writer = asyncio.ensure_future(self._write(guest, stream, context))
        stream.cut = reader.cancel
        try:
            error = await _until_over(reader, writer)
            cut = reader.cancelled()
            if error is not None:
                _LOG.error("a stream of %s ends by an error of the referee", guest.terms.name, exc_info=error)
                guest.spoiled()
                self._host.failed(guest)
        except asyncio.CancelledError:
            writer.cancel()
            raise
        finally:
            reader.cancel()
            stream.close()
            guest.disconnect(stream)
            self._host.made_room()
            self._host.pump()
        await asyncio.wait({writer}, timeout=_PARTING_S)  # gRPC can send no status while a message is on its way out
        writer.cancel()
        if error is not None:
            await context.abort(grpc.StatusCode.INTERNAL, "the referee failed")
        if cut:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the referee has ended this stream")

    def _authenticate(self, context: Any) -> Guest | None:
        token = ""
        for key, value in context.invocation_metadata() or ():
            if key == "authorization" and isinstance(value, str):
                token = value.removeprefix("Bearer ")
        owner = self._door.owner
        guest = next((guest for guest in self._host.guests if guest.token == token), None)
        if guest is owner:
            return guest
        if owner is not None and guest is not None:
            owner.on_fault(Fault.POLICY, "It came with the token of another session.")
        elif owner is not None and token not in owner.expired:
            owner.knock("streams with a token that nobody has")
        return guest if owner is None and guest not in self._host.at_home else None

    async def _read(self, guest: Guest, stream: Stream, context: Any) -> None:
        host = self._host
        while True:
            data = await _received(context)
            if data is None:
                return
            host.look()
            guest.receive(stream, data)
            host.hall.touched.add(guest.session)  # it may be idle now, with turns waiting
            host.made_room()
            host.pump()

    async def _write(self, guest: Guest, stream: Stream, context: Any) -> None:
        await stream.wake.wait()
        if stream.farewell is None and not stream.over:
            await _sent(context, wire.PlayResponse(joined=guest.greeting()).SerializeToString())
        while not stream.over:
            last = stream.farewell is not None
            data = self._host.next_message(guest, stream)
            if data is None:
                stream.wake.clear()
                await stream.wake.wait()
            elif not await _sent(context, data) or last:
                return


async def _received(context: Any) -> bytes | None:
    """The next message of a stream, ``None`` when it has ended, however that happened."""
    try:
        data = await context.read()
    except Exception:  # noqa: BLE001  # gRPC has many ways to say that a stream has ended
        return None
    return None if data is grpc.aio.EOF else data


async def _sent(context: Any, data: bytes) -> bool:
    """Whether a message could be sent; if not, the stream has ended, and its reader says so."""
    try:
        await context.write(data)
    except Exception:  # noqa: BLE001  # as above
        return False
    return True


async def _until_over(reader: asyncio.Future[None], writer: asyncio.Future[None]) -> BaseException | None:
    """Waits until the guest has ended its stream, or for a moment after the farewell; the error if one ended it."""
    done, _ = await asyncio.wait({reader, writer}, return_when=asyncio.FIRST_COMPLETED)
    if reader not in done and writer.exception() is None:
        await asyncio.wait({reader}, timeout=_PARTING_S)
    return next(
        (task.exception() for task in (writer, reader) if task.done() and not task.cancelled() and task.exception()),
        None,
    )


def _add_health_and_reflection(server: grpc.aio.Server) -> None:
    """The standard health and reflection services, so that common tools work against the referee."""
    from grpc_health.v1 import health, health_pb2, health_pb2_grpc  # slow to import
    from grpc_reflection.v1alpha import reflection

    from referee.protocol.allfours.v1 import service_pb2  # without it reflection knows the name and nothing more

    ours = service_pb2.DESCRIPTOR.services_by_name["RefereeService"].full_name
    servicer = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    reflection.enable_server_reflection((ours, health_pb2.DESCRIPTOR.services_by_name["Health"].full_name), server)
