"""A stream over a unix socket, to a referee on the same machine: gRPC over HTTP/2 by the ``h2`` library, and no thread.

grpcio moves each message through threads of its own, which costs several times what the message itself costs, and a third of
the time in which a bot starts. Here one call on one connection is written and read where ``choose`` runs.
"""

import contextlib
import select
import socket
import time
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final, Self
from urllib.parse import unquote  # not when it is wanted: a bot that ends may have no file left to open

import h2.events
from google.protobuf.message import DecodeError
from h2.config import H2Configuration
from h2.connection import ConnectionState, H2Connection
from h2.exceptions import H2Error
from h2.settings import SettingCodes, Settings
from hpack import HPACKError

from referee import __version__
from referee.bot._stream import CANCELLED, INTERNAL, METHOD, RESOURCE_EXHAUSTED, UNAVAILABLE, UNKNOWN, StreamError
from referee.protocol import wire

_REQUEST: Final = (
    (":method", "POST"),
    (":scheme", "http"),
    (":path", METHOD),
    (":authority", "localhost"),
    ("te", "trailers"),
    ("content-type", "application/grpc"),
    ("user-agent", f"referee.bot/{__version__}"),
)
_CALL: Final = 1
"""The number of the one call."""

_WINDOW: Final = 2**31 - 1
"""Room for whatever the referee sends: what is not read yet stays in the socket."""

_WINDOW_OF_HTTP2: Final = 65_535
_READ_BYTES: Final = 64 * 1024
_LOOK_S: Final = 0.001
_STATUS_OF_RESET: Final[dict[int, int]] = {7: UNAVAILABLE, 8: CANCELLED, 11: RESOURCE_EXHAUSTED}
"""What the reasons of a reset (REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM) are in gRPC; all others are internal errors."""

_NOT_HTTP2: Final = "what answers there does not speak HTTP/2"


class UnixStream:
    """One call on a connection of its own. Not for two threads at once, but for ``cancel``."""

    def __init__(self, line: socket.socket, metadata: tuple[tuple[str, str], ...]) -> None:
        """Opens the call on a socket that is connected, which is its own from now on."""
        self._socket = line
        self._unread, self._partial, self._unsent = bytearray(), bytearray(), bytearray()
        self._messages: deque[wire.PlayResponse] = deque()
        self._end: StreamError | None = None
        self._half_closed = self._unheard = False
        self._looked = time.monotonic()
        # A bad token is for the referee to refuse, and odd headers of the referee are for us to report.
        self._http = H2Connection(H2Configuration(validate_outbound_headers=False, validate_inbound_headers=False))
        self._http.local_settings = Settings(
            initial_values={SettingCodes.ENABLE_PUSH: 0, SettingCodes.INITIAL_WINDOW_SIZE: _WINDOW}
        )
        self._http.initiate_connection()
        self._http.increment_flow_control_window(_WINDOW - _WINDOW_OF_HTTP2)
        self._http.send_headers(_CALL, (*_REQUEST, *metadata))
        self._flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def __iter__(self) -> Iterator[wire.PlayResponse]:
        """The messages of the referee, until it ends the stream in peace; raises ``StreamError`` if it breaks."""
        messages = self._messages
        while True:
            while messages:
                yield messages.popleft()
            if self._end is None:
                self._read(wait=True)
            elif self._end.code:
                raise self._end
            else:
                return

    def send(self, request: wire.PlayRequest) -> None:
        """Sends a message; waits while the referee has no room for it, and reads meanwhile."""
        message = request.SerializeToString()
        data = memoryview(b"\0" + len(message).to_bytes(4, "big") + message)
        while data and self._end is None and not self._unheard:
            room = min(self._http.local_flow_control_window(_CALL), self._http.max_outbound_frame_size)
            if room <= 0:
                self._read(wait=True)
                continue
            self._http.send_data(_CALL, data[:room])
            data = data[room:]
            self._flush()

    def half_close(self) -> None:
        """Nothing more is sent."""
        if not self._half_closed and self._end is None:
            self._half_closed = True
            self._http.end_stream(_CALL)
            self._flush()

    def drain(self) -> None:
        """Reads on until the referee ends the stream, however it does."""
        while self._end is None:
            self._read(wait=True)
            self._messages.clear()

    def cancel(self) -> None:
        """Ends the call at once, and its connection with it."""
        with contextlib.suppress(OSError):  # it may have ended
            self._socket.shutdown(socket.SHUT_RDWR)

    def is_active(self) -> bool:
        """Whether the referee is still there. It is looked at once a millisecond at most; pings are answered then."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_S:
            self._looked = now
            self._read()
        return self._end is None

    # Bytes.

    def _flush(self) -> None:
        """Writes all that is to be sent, and reads where it must wait: whoever does not read may wait for us to read."""
        unsent = self._unsent
        unsent += self._http.data_to_send()
        while unsent and self._end is None and not self._unheard:
            try:
                del unsent[: self._socket.send(unsent, socket.MSG_DONTWAIT)]
            except BlockingIOError:
                poll = select.poll()
                poll.register(self._socket)
                poll.poll()
                self._receive()
            except OSError:
                self._unheard = True  # what it said last may lie there to be read

    def _read(self, *, wait: bool = False) -> None:
        """Takes what is there, or waits for it, and answers what HTTP/2 has to answer."""
        self._receive(0 if wait else socket.MSG_DONTWAIT)
        if self._unsent:
            self._flush()

    def _receive(self, flags: int = socket.MSG_DONTWAIT) -> None:
        if self._end is not None:
            return
        try:
            data = self._socket.recv(_READ_BYTES, flags)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end = StreamError(UNAVAILABLE, "its connection has ended")
            return
        try:
            self._take(data)
        except StreamError as error:
            self._end = error
        except H2Error as error:
            self._end = StreamError(UNAVAILABLE, _NOT_HTTP2)
            if isinstance(error.__cause__, HPACKError):
                self._end = StreamError(INTERNAL, "the headers of the referee cannot be read")

    def _take(self, data: bytes) -> None:
        """Gives h2 one frame at a time: of several, one that it refuses would take the events of the others with it."""
        unread, at = self._unread, 0
        unread += data
        while len(unread) - at >= 9:
            length = int.from_bytes(unread[at : at + 3], "big")
            if length > self._http.max_inbound_frame_size:  # h2 would wait for all of it
                raise StreamError(UNAVAILABLE, _NOT_HTTP2)
            end = at + 9 + length
            if len(unread) < end:
                break
            for event in self._http.receive_data(unread[at:end]):
                self._take_event(event)
            self._unsent += self._http.data_to_send()
            at = end
        del unread[:at]

    def _take_event(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.DataReceived):
            self._http.acknowledge_received_data(event.flow_controlled_length, _CALL)
            self._take_data(event.data)
        elif isinstance(event, h2.events.ResponseReceived | h2.events.TrailersReceived):
            if event.stream_ended:  # otherwise they say only that there is an answer
                raise _end_of(event.headers)
        elif isinstance(event, h2.events.StreamEnded):
            raise StreamError(INTERNAL, "the call has ended without a status")
        elif isinstance(event, h2.events.StreamReset):
            code = _STATUS_OF_RESET.get(event.error_code, INTERNAL)
            raise StreamError(code, f"the call was reset (HTTP/2 error {event.error_code:d})")
        elif isinstance(event, h2.events.ConnectionTerminated):
            if not event.last_stream_id:
                said = (event.additional_data or b"").decode("utf-8", "replace")
                said = said or f"the referee takes no call (HTTP/2 error {event.error_code or 0:d})"
                raise StreamError(UNAVAILABLE, said)
            self._http.state_machine.state = ConnectionState.CLIENT_OPEN  # h2 would hear no more of this call

    def _take_data(self, data: bytes) -> None:
        """Takes whole messages out of the call's bytes."""
        partial, at = self._partial, 0
        partial += data
        while len(partial) - at >= 5:
            end = at + 5 + int.from_bytes(partial[at + 1 : at + 5], "big")
            if len(partial) < end:
                break
            if partial[at]:
                raise StreamError(INTERNAL, "a message of the referee is compressed, which it was not asked for")
            try:
                self._messages.append(wire.PlayResponse.FromString(bytes(partial[at + 5 : end])))
            except DecodeError:
                raise StreamError(INTERNAL, "a message of the referee cannot be read") from None
            at = end
        del partial[:at]


def connect(path: str) -> socket.socket:
    """A connection to the unix socket of this name; raises ``StreamError``."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.connect(path)
    except OSError as error:
        line.close()
        raise StreamError(UNAVAILABLE, error.strerror or str(error)) from None
    return line


def _end_of(headers: Iterable[tuple[bytes, bytes]]) -> StreamError:
    """How a call has ended by its last headers."""
    found = dict(headers)
    status = found.get(b"grpc-status", b"")
    if status.isdigit() and len(status) <= 2:
        return StreamError(int(status), unquote(found.get(b"grpc-message", b"")))
    http_status = found.get(b":status", b"none").decode("utf-8", "replace")
    return StreamError(UNKNOWN, f"what answers there does not speak gRPC (HTTP status {http_status})")
