"""gRPC over HTTP/2: a listening server, its connections, the calls on them, and what a peer may cost.

The states of HTTP/2 and its compressed headers are the business of the ``h2`` library. Sockets, TLS, the framing of
gRPC and all bounds are here, for here is where a peer is a stranger: everything that it can make this process keep
(streams, headers, bytes, connections) is bounded before it is kept, and everything that it can make this process do is
paid from a budget. Nothing here waits for a peer: what it does not read stays in its own call, and the owner of the
call decides how long.
"""

import asyncio
import contextlib
import enum
import errno
import logging
import os
import socket
import ssl
import struct
import time
import zlib
from abc import ABC, abstractmethod
from collections import deque
from typing import Any, Final
from urllib.parse import quote

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h2.settings
from h2.errors import ErrorCodes
from hpack import NeverIndexedHeaderTuple

from referee.sandbox.command import os_error_text

_LOG = logging.getLogger(__name__)

_CHUNK: Final = 16 * 1024
_HEADER_LIST_BYTES: Final = 16 * 1024
_HEADER_TABLE_BYTES: Final = 4 * 1024
_STREAMS_AT_ONCE: Final = 32
_UNSENT_BYTES: Final = 256 * 1024
"""Of answers to the peer's own frames: who lets them lie is not read any more until it has read them."""

_ACCEPTS_AT_ONCE: Final = 32
_BACKLOG: Final = 1024
_RETRY_S: Final = 0.05
_IDLE_S: Final = 60.0
_KEEPALIVE_S, _KEEPALIVE_TIMEOUT_S = 20.0, 10.0
_PARTING_S: Final = 1.0
_PREFACE_BYTES: Final = 24
_CONNECTION_UNITS: Final = 10
_DATA, _HEADERS, _CONTINUATION = 0, 1, 9
_NO_ROOM: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Status(enum.IntEnum):
    """The status codes of gRPC that are used here."""

    OK = 0
    CANCELLED = 1
    NOT_FOUND = 5
    RESOURCE_EXHAUSTED = 8
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    UNAUTHENTICATED = 16


class Budget:
    """What frames a peer may send: ``burst`` units at once and ``rate`` more a second, and some for all it was sent.

    A frame costs a unit, one with data or headers more. A peer that answers what it was sent never runs out.
    """

    MOST: Final = 20_000

    def __init__(self, burst: int, rate: float) -> None:
        self._burst, self._rate = burst, rate
        self._left, self._at = float(burst), time.monotonic()

    def spend(self, units: int) -> bool:
        """Whether there was so much left."""
        now = time.monotonic()
        if self._left < self._burst:
            self._left = min(self._left + (now - self._at) * self._rate, self._burst)
        self._at = now
        self._left -= units
        return self._left >= 0

    def grant(self, units: int) -> None:
        """More, for something that was sent to the peer."""
        self._left = min(self._left + units, self.MOST)

    def renew(self) -> None:
        """All of it again: the peer is another one."""
        self._left, self._at = float(self._burst), time.monotonic()


class CallHandler:
    """Answers a call: is told what its peer does."""

    def message(self, data: bytes) -> None:
        """A message has come."""

    def ended(self, *, in_peace: bool) -> None:
        """The peer sends no more: it has half-closed the call in peace, or reset it, or gone. Told once."""

    def room(self) -> None:
        """All that was sent has been taken."""


class Http2Service(ABC):
    """What an ``Http2Server`` serves: is given every call, and says what peers may do."""

    @abstractmethod
    def begin(self, call: "RpcCall") -> None:
        """A call has begun."""

    @abstractmethod
    def strangers(self) -> int:
        """At most so many connections at a time whose peers have shown no token."""

    @abstractmethod
    def exceeded(self, connection: "Http2Connection", what: str) -> None:
        """A peer has used up what it may, and of what; its connection is gone then."""

    @abstractmethod
    def violated(self, connection: "Http2Connection") -> None:
        """A peer has broken HTTP/2 or TLS; its connection is gone then."""

    @abstractmethod
    def may_be_dead(self, connection: "Http2Connection") -> bool:
        """Whether a connection on which nothing comes is asked for a sign of life, and ended without one."""


class RpcCall:
    """One call, from its headers to its status; ``answer_by`` says who answers it.

    ``message_bytes`` is the largest message that is read.
    """

    def __init__(self, connection: "Http2Connection", stream_id: int, headers: dict[str, str]) -> None:
        self.connection, self._id = connection, stream_id
        self.method = headers.get(":path", "")
        self.metadata = headers
        self._encoding = headers.get("grpc-encoding", "identity")
        self.message_bytes = 4 * 1024
        self.handler = _NOBODY
        self.closed = self._half_closed = self._answered = False
        self.taken = 0
        self._unsent: deque[memoryview] = deque()
        self._partial = bytearray()

    def answer_by(self, handler: CallHandler, message_bytes: int | None = None) -> None:
        """From now on this handler is told what the peer does, and messages may be that large."""
        self.handler = handler
        self.message_bytes = message_bytes or self.message_bytes

    @property
    def peer(self) -> str:
        """The address of the other side, for logs."""
        return self.connection.peer

    @property
    def unread(self) -> bool:
        """Whether something that was sent still waits for the peer to read. ``taken`` messages have gone out whole."""
        return not self.closed and (bool(self._unsent) or self.connection.full)

    def send(self, message: bytes) -> None:
        """Sends a message, as soon as the peer has room for it; never waits."""
        if self.closed:
            return
        self.connection.grant(8 + len(message) // 16)
        self._unsent.append(memoryview(struct.pack(">BI", 0, len(message)) + message))
        self.flush()
        self.connection.transmit()

    def flush(self) -> None:
        """Sends what the peer has room for."""
        http, unsent = self.connection.http, self._unsent
        if not unsent:
            return
        try:
            if not self._answered:
                self._answered = True
                http.send_headers(self._id, _RESPONSE)
            given = 0
            while unsent and not self.connection.full:
                room = min(http.local_flow_control_window(self._id), http.max_outbound_frame_size, 4 * _CHUNK)
                if room <= 0:
                    break
                piece = unsent[0]
                http.send_data(self._id, bytes(piece[:room]))
                if len(piece) > room:
                    unsent[0] = piece[room:]
                else:
                    unsent.popleft()
                    self.taken += 1
                given += min(len(piece), room)
                if given >= _UNSENT_BYTES:  # as much as may lie here; it is seen now whether the peer takes it
                    self.connection.transmit()
                    given = 0
        except h2.exceptions.H2Error:  # the peer has reset the call; the event that says so is still to come
            self.lost()

    def finish(self, status: Status, details: str = "") -> None:
        """Ends the call with a status; what has not gone out by now never will."""
        if self.closed:
            return
        self.closed = True
        with contextlib.suppress(h2.exceptions.H2Error):  # as in flush
            self._finish(status, details)
        self._unsent.clear()
        self._partial.clear()
        self.connection.forget(self)
        self.connection.transmit()

    def _finish(self, status: Status, details: str) -> None:
        http = self.connection.http
        if self._unsent:
            http.reset_stream(self._id, ErrorCodes.CANCEL)
            return
        told: list[Any] = [("grpc-status", str(int(status)))]
        if details:
            told.append(NeverIndexedHeaderTuple("grpc-message", quote(details, safe=_PLAIN)))
        http.send_headers(self._id, told if self._answered else [*_RESPONSE, *told], end_stream=True)
        if not self._half_closed:
            http.reset_stream(self._id, ErrorCodes.NO_ERROR)  # the peer need not send any more

    def heard(self, data: bytes) -> None:
        """Bytes of the peer: takes the messages out of them."""
        partial = self._partial
        partial += data
        while len(partial) >= 5 and not self.closed:
            squeezed, length = struct.unpack_from(">BI", partial)
            if length > self.message_bytes:
                self._refuse(Status.RESOURCE_EXHAUSTED, f"a message of more than {self.message_bytes} bytes")
                return
            if len(partial) < 5 + length:
                return
            message = bytes(partial[5 : 5 + length])
            del partial[: 5 + length]
            if squeezed:
                unpacked = self._unpacked(message) if squeezed == 1 else None
                if unpacked is None:
                    return
                message = unpacked
            self.handler.message(message)

    def _unpacked(self, message: bytes) -> bytes | None:
        bits = {"gzip": 31, "deflate": 15}.get(self._encoding)
        if bits is None:
            self._refuse(Status.UNIMPLEMENTED, "a message is compressed, but not by gzip or deflate")
            return None
        unpacker = zlib.decompressobj(bits)
        try:
            unpacked = unpacker.decompress(message, self.message_bytes + 1)
        except zlib.error:
            self._refuse(Status.INTERNAL, "a compressed message cannot be read")
            return None
        if len(unpacked) > self.message_bytes:
            self._refuse(Status.RESOURCE_EXHAUSTED, f"a message of more than {self.message_bytes} bytes")
            return None
        return unpacked

    def _refuse(self, status: Status, details: str) -> None:
        self.finish(status, details)
        self.handler.ended(in_peace=False)

    def ended(self) -> None:
        """The peer has half-closed the call."""
        self._half_closed = True
        if not self.closed:
            self.handler.ended(in_peace=True)

    def lost(self) -> None:
        """The peer has reset the call, or its connection has gone."""
        if not self.closed:
            self.closed = True
            self._unsent.clear()
            self._partial.clear()
            self.connection.forget(self)
            self.handler.ended(in_peace=False)


_NOBODY: Final = CallHandler()
_RESPONSE: Final = [
    (":status", "200"),
    ("content-type", "application/grpc"),
    ("grpc-accept-encoding", "identity,deflate,gzip"),
]
_PLAIN: Final = " !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"


class Http2Connection(asyncio.BufferedProtocol):
    """One connection. A stranger until ``Http2Server.trust`` is told whose it is; a stranger may send little, and stay briefly."""

    def __init__(self, server: "Http2Server", tls: ssl.SSLContext | None) -> None:
        self._server = server
        self.holder: object = None
        self.budget = server.budget or Budget(server.stranger_units, 0)
        self.calls: dict[int, RpcCall] = {}
        self.full = False
        self.peer = ""
        self.born = self.heard_at = time.monotonic()
        self.asked_at = 0.0
        self._transport: asyncio.Transport | None = None
        self._http: h2.connection.H2Connection | None = None
        self._tls = _Tls(tls) if tls else None
        self._bytes = 0
        self._skip, self._head = _PREFACE_BYTES, b""
        self._deaf = self._over = False

    @property
    def http(self) -> h2.connection.H2Connection:
        """The state of HTTP/2, made when the peer first says something."""
        if self._http is None:
            self._http = _new_http()
        return self._http

    # what the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The event loop has taken the connection on."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  # a stream socket has no other
        self._transport = transport
        transport.set_write_buffer_limits(high=0)
        name = transport.get_extra_info("peername")
        self.peer = f"{name[0]}:{name[1]}" if isinstance(name, tuple) else "this machine"
        self._server.admit(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        """One buffer for all: what has come is taken out of it at once."""
        del sizehint
        return self._server.buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Something has come."""
        if self._over:
            return
        self.heard_at = time.monotonic()
        self.asked_at = 0.0
        self._bytes += nbytes
        if self.holder is None and self._bytes > self._server.stranger_bytes:
            self._server.excess(self, "bytes before it showed a token")
            return
        data = bytes(self._server.buffer[:nbytes])
        try:
            for piece in self._tls.read(data) if self._tls else (data,):
                self._take(piece)
            self.transmit()
        except (h2.exceptions.H2Error, ssl.SSLError) as error:
            _LOG.debug("a connection of %s ends: %s", self.peer, error)
            self.transmit()
            self.close()
            self._server.service.violated(self)
        except Exception:  # noqa: BLE001  # one connection is given up by it, not the league
            _LOG.exception("a connection of %s ends by an error of the referee", self.peer)
            self.abort()

    def eof_received(self) -> bool:
        """The peer sends no more: there is no use in half a connection."""
        return False

    def pause_writing(self) -> None:
        """The peer does not read: its calls keep what they have to send."""
        self.full = True

    def resume_writing(self) -> None:
        """The peer has read everything."""
        self.full = False
        if self._deaf and self._transport is not None:
            self._deaf = False
            self._transport.resume_reading()
        if not self._over:
            self._flush_all()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has gone."""
        del exc
        self._over = True
        for call in tuple(self.calls.values()):
            call.lost()
        self._server.forget(self)

    # what comes in

    def _take(self, data: bytes) -> None:
        if self._over or not data:
            return
        if not self.budget.spend(self._cost(data)):
            self._server.excess(self, "frames that nothing it was sent asked for")
            return
        window = False
        for event in self.http.receive_data(data):
            if self._over:
                return
            if isinstance(event, h2.events.DataReceived):
                with contextlib.suppress(h2.exceptions.H2Error):  # the peer may have left since
                    self.http.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or 0)
                call = self.calls.get(event.stream_id or 0)
                if call is not None:
                    call.heard(event.data or b"")
            elif isinstance(event, h2.events.RequestReceived):
                self._open(event)
            elif isinstance(event, h2.events.StreamEnded):
                call = self.calls.get(event.stream_id or 0)
                if call is not None:
                    call.ended()
            elif isinstance(event, h2.events.StreamReset):
                call = self.calls.get(event.stream_id or 0)
                if call is not None:
                    call.lost()
            elif isinstance(event, h2.events.WindowUpdated):
                window = True
            elif isinstance(event, h2.events.RemoteSettingsChanged):
                window = True
                self.http.encoder.header_table_size = min(self.http.encoder.header_table_size, _HEADER_TABLE_BYTES)
            elif isinstance(event, h2.events.ConnectionTerminated):
                self.close()
                return
        if window:
            self._flush_all()

    def _cost(self, data: bytes) -> int:
        """What the frames that begin in these bytes cost, before anything is made of them."""
        at, end, cost = 0, len(data), 0
        skip, head = self._skip, self._head
        while True:
            if skip:
                step = min(skip, end - at)
                at += step
                skip -= step
            if at >= end:
                break
            wanted = 9 - len(head)
            head += data[at : at + wanted]
            at += wanted
            if len(head) < 9:
                break
            skip, kind, head = int.from_bytes(head[:3], "big"), head[3], b""
            if skip > _CHUNK:  # h2 would say so when it has read it all
                self.http.close_connection(ErrorCodes.FRAME_SIZE_ERROR)
                raise h2.exceptions.FrameTooLargeError(f"a frame of {skip} bytes")
            if kind == _DATA:
                cost += 1 + (skip >> 10)
            elif kind in {_HEADERS, _CONTINUATION}:
                cost += 10 + (skip >> 6)
            else:
                cost += 1
        self._skip, self._head = skip, head
        return cost

    def _open(self, event: h2.events.RequestReceived) -> None:
        headers = {_text(name): _text(value) for name, value in (event.headers or ())}
        stream_id = event.stream_id or 0
        if headers.get(":method") != "POST" or not headers.get("content-type", "").startswith("application/grpc"):
            self.http.send_headers(stream_id, [(":status", "415")], end_stream=True)
            self.http.reset_stream(stream_id, ErrorCodes.NO_ERROR)
            return
        call = self.calls[stream_id] = RpcCall(self, stream_id, headers)
        self._server.service.begin(call)

    # what goes out

    def grant(self, units: int) -> None:
        """The peer was sent something that it may answer."""
        if self.holder is not None:
            self.budget.grant(units)

    def transmit(self) -> None:
        """Gives the transport what HTTP/2 has to send."""
        if self._over or self._http is None or self._transport is None:
            if self._tls is not None and self._transport is not None and not self._over:
                self._write(self._tls.outgoing())
            return
        data = self._http.data_to_send()
        if self._tls is not None:
            data = self._tls.write(data)
        self._write(data)

    def _write(self, data: bytes) -> None:
        transport = self._transport
        if not data or transport is None or transport.is_closing():
            return
        transport.write(data)
        if transport.get_write_buffer_size() > _UNSENT_BYTES and not self._deaf:
            self._deaf = True
            transport.pause_reading()

    def _flush_all(self) -> None:
        for call in tuple(self.calls.values()):
            call.flush()
            if not call.unread:
                call.handler.room()
        self.transmit()

    def forget(self, call: RpcCall) -> None:
        """A call is over."""
        self.calls.pop(call._id, None)  # noqa: SLF001

    def ask(self) -> None:
        """Asks the peer for a sign of life."""
        if self._http is None or self._over:
            return
        with contextlib.suppress(h2.exceptions.H2Error):
            self._http.ping(b"referee.")
            self.asked_at = time.monotonic()
            self.transmit()

    def ask_no_more(self) -> None:
        """It need not give a sign of life."""
        self.asked_at = 0.0

    def trust(self, holder: object, budget: Budget) -> None:
        """The peer has shown whose it is; from now on it spends from this budget."""
        self.holder, self.budget = holder, budget

    def close(self, code: ErrorCodes = ErrorCodes.NO_ERROR) -> None:
        """Says that it is over, and ends the connection; a peer that does not read is not waited for."""
        if self._over:
            return
        if self._http is not None:
            with contextlib.suppress(h2.exceptions.H2Error):
                self._http.close_connection(code)
            self.transmit()
        self._over = True
        for call in tuple(self.calls.values()):
            call.lost()
        if self._transport is not None:
            self._transport.close()
            asyncio.get_running_loop().call_later(_PARTING_S, self._transport.abort)

    def abort(self) -> None:
        """Ends the connection without a word."""
        self._over = True
        for call in tuple(self.calls.values()):
            call.lost()
        if self._transport is not None:
            self._transport.abort()


class _Tls:
    """TLS for one connection, within two buffers that are empty between messages."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_side=True)
        self._shaken = False

    def read(self, data: bytes) -> list[bytes]:
        """What the peer's bytes say; raises ``ssl.SSLError``."""
        self._in.write(data)
        pieces: list[bytes] = []
        try:
            if not self._shaken:
                self._tls.do_handshake()
                self._shaken = True
            while piece := self._tls.read(_CHUNK):
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass
        return pieces

    def write(self, data: bytes) -> bytes:
        """The bytes that say this to the peer, and whatever else TLS has to say."""
        if data:
            self._tls.write(data)
        return self.outgoing()

    def outgoing(self) -> bytes:
        """What TLS has to say to the peer."""
        return self._out.read()


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


class _Http(h2.connection.H2Connection):
    MAX_CLOSED_STREAMS = 256


def _new_http() -> h2.connection.H2Connection:
    # One odd header ends its call at most, not the connection: nothing is forwarded from here that could mislead others.
    http = _Http(h2.config.H2Configuration(client_side=False, header_encoding=None, validate_inbound_headers=False))
    http.local_settings = h2.settings.Settings(
        client=False,
        initial_values={
            h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: _STREAMS_AT_ONCE,
            h2.settings.SettingCodes.MAX_HEADER_LIST_SIZE: _HEADER_LIST_BYTES,
            h2.settings.SettingCodes.HEADER_TABLE_SIZE: _HEADER_TABLE_BYTES,
        },
    )
    http.decoder.max_header_list_size = _HEADER_LIST_BYTES
    http.decoder.max_allowed_table_size = _HEADER_TABLE_BYTES
    http.initiate_connection()
    return http


class Http2Server:
    """Listens at one address, and gives every call to its ``service``."""

    def __init__(
        self,
        service: Http2Service,
        *,
        young_seconds: float = 2.0,
        stranger_seconds: float = 10.0,
        stranger_bytes: int = 32 * 1024,
        stranger_units: int = 200,
        budget: Budget | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Connections whose peer has shown no token stay for ``stranger_seconds`` at most.

        Where there are as many of them as the service lets in, the oldest ends for a new one, but none is ended before it has been there for
        ``young_seconds``: so all of those who dial in at the same moment have time to say who they are.

        With a ``budget`` all connections share it; without one each stranger has its own, of ``stranger_units``.
        """
        self.service, self.budget, self._tls = service, budget, tls
        self._seconds, self._young = stranger_seconds, young_seconds
        self.stranger_bytes, self.stranger_units = stranger_bytes, stranger_units
        self.buffer = memoryview(bytearray(_CHUNK))
        self.strangers: dict[Http2Connection, None] = {}
        self.trusted: dict[Http2Connection, None] = {}
        self._arriving = 0
        self._sockets: list[socket.socket] = []
        self._path = ""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    async def listen(self, address: str) -> str:
        """Listens at ``unix:PATH`` or ``tcp:HOST:PORT`` and returns the address, with the port that was found for 0.

        ``tls:HOST:PORT`` is as ``tcp``. Raises ``OSError`` if the address cannot be had.
        """
        kind, _, place = address.partition(":")
        try:
            if kind == "unix":
                self._sockets = [_listening(socket.AF_UNIX, place)]
                self._path = place
            else:
                port = await self._listen_at(place)
                address = f"{kind}:{place.rpartition(':')[0]}:{port}"
        except (OSError, ValueError) as error:
            self._close_sockets()
            why = os_error_text(error) if isinstance(error, OSError) else error
            raise OSError(f"cannot listen at {address}: {why}") from None
        for listening in self._sockets:
            self._look_at(listening)
        self._start(self._tend())
        return address

    async def _listen_at(self, place: str) -> int:
        host, _, port_text = place.rpartition(":")
        host, port = host.strip("[]"), int(port_text)
        infos = await asyncio.get_running_loop().getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        failure: OSError | None = None
        for family, _, _, _, where in dict.fromkeys(infos):
            try:
                self._sockets.append(_listening(family, (where[0], port or where[1], *where[2:])))
            except OSError as error:  # such as a name that stands for both kinds of addresses, on a machine with one
                failure = failure or error
                continue
            port = port or self._sockets[0].getsockname()[1]
        if not self._sockets:
            raise failure or OSError(f"{host} has no address")
        return port

    def _look_at(self, listening: socket.socket) -> None:
        if not self._closed:
            asyncio.get_running_loop().add_reader(listening.fileno(), self._accept, listening)

    def _rest(self, listening: socket.socket) -> None:
        """Accepts nothing for a moment: the peers wait in the queue of the kernel."""
        loop = asyncio.get_running_loop()
        loop.remove_reader(listening.fileno())
        loop.call_later(_RETRY_S, self._look_at, listening)

    def _accept(self, listening: socket.socket) -> None:
        for _ in range(_ACCEPTS_AT_ONCE):
            if not self._has_room():
                self._rest(listening)
                return
            try:
                accepted, _ = listening.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _NO_ROOM:
                    _LOG.warning("no connection can be accepted: %s", error.strerror)
                    self._rest(listening)
                    return
                continue  # the peer has gone already
            accepted.setblocking(False)
            if accepted.family != socket.AF_UNIX:
                with contextlib.suppress(OSError):
                    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._arriving += 1
            self._start(self._take_on(accepted))

    def _has_room(self) -> bool:
        """Whether one more stranger may come; the oldest gives its place up, but not one that has just come."""
        if len(self.strangers) + self._arriving < self.service.strangers():
            return True
        oldest = next(iter(self.strangers), None)
        if oldest is None or time.monotonic() - oldest.born < self._young:
            return False
        oldest.abort()
        self.strangers.pop(oldest, None)
        return True

    async def _take_on(self, accepted: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: Http2Connection(self, self._tls), accepted)
        except OSError:
            accepted.close()
        finally:
            self._arriving -= 1

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def admit(self, connection: Http2Connection) -> None:
        """A new connection, of a stranger."""
        self.strangers[connection] = None
        if self._closed:
            connection.abort()
        elif self.budget is not None and not self.budget.spend(_CONNECTION_UNITS):
            self.excess(connection, "connections")

    def trust(self, connection: Http2Connection, holder: object, budget: Budget, most: int) -> None:
        """The peer has shown whose it is. A holder has at most so many connections: its oldest ends for the newest."""
        if connection.holder is holder:
            return
        self.strangers.pop(connection, None)
        self.trusted[connection] = None
        connection.trust(holder, budget)
        own = [other for other in self.trusted if other.holder is holder]
        for other in own[: max(len(own) - most, 0)]:
            other.close()

    def excess(self, connection: Http2Connection, what: str) -> None:
        """A peer has used up what it may."""
        _LOG.debug("a connection of %s ends: too many %s", connection.peer, what)
        connection.close(ErrorCodes.ENHANCE_YOUR_CALM)
        self.service.exceeded(connection, what)

    def forget(self, connection: Http2Connection) -> None:
        """A connection has gone."""
        self.strangers.pop(connection, None)
        self.trusted.pop(connection, None)

    async def _tend(self) -> None:
        """Once a second: strangers whose time is over, connections that nobody uses, peers that have died."""
        while True:
            await asyncio.sleep(1)
            now = time.monotonic()
            for connection in tuple(self.strangers):
                if now - connection.born > self._seconds:
                    connection.close()
            for connection in tuple(self.trusted):
                if not connection.calls and now - connection.heard_at > _IDLE_S:
                    connection.close()
                elif not self.service.may_be_dead(connection):
                    connection.ask_no_more()
                elif connection.asked_at and now - connection.asked_at > _KEEPALIVE_TIMEOUT_S:
                    connection.abort()
                elif not connection.asked_at and now - connection.heard_at > _KEEPALIVE_S:
                    connection.ask()

    def renew(self) -> None:
        """Ends all that the last peer has left, also what waits to be accepted: its successor pays for none of it."""
        self.drop()
        for listening in self._sockets:
            with contextlib.suppress(OSError):
                for _ in range(_BACKLOG):
                    listening.accept()[0].close()
        if self.budget is not None:
            self.budget.renew()

    def drop(self) -> None:
        """Ends all connections at once."""
        for connection in (*self.strangers, *self.trusted):
            connection.abort()

    async def close(self, seconds: float) -> None:
        """Listens no more, and ends all connections; calls that are being ended have so many seconds for it."""
        self._closed = True
        self._close_sockets()
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self._end)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while any(connection.calls for connection in self.trusted):  # noqa: ASYNC110  # nobody tells it
                        await asyncio.sleep(0.01)
            for connection in (*self.strangers, *self.trusted):
                connection.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PARTING_S):
                    while self.strangers or self.trusted:  # noqa: ASYNC110  # as above
                        await asyncio.sleep(0.005)

    def _end(self) -> None:
        self.drop()
        for task in tuple(self._tasks):
            task.cancel()

    def _close_sockets(self) -> None:
        loop = asyncio.get_running_loop()
        for listening in self._sockets:
            loop.remove_reader(listening.fileno())
            listening.close()
        self._sockets = []
        if self._path:
            with contextlib.suppress(OSError):
                os.unlink(self._path)  # noqa: PTH108
            self._path = ""


def _listening(family: int, where: Any) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if family != socket.AF_UNIX:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, where[0] != "::")
        listening.bind(where)
        listening.listen(_BACKLOG)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening
