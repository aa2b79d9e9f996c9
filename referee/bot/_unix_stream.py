"""A stream over a unix socket, to a referee on the same machine: gRPC over HTTP/2 as far as one call needs it, and no thread.

grpcio moves each message through threads of its own, which costs several times what the message itself costs, and a third of
the time in which a bot starts. Here one call on one connection is written and read where ``choose`` runs. RFC 9113 has the
frames, RFC 7541 the headers; ours are sent plain, and the referee is told to send its own so that none refers to another.
"""

import contextlib
import select
import socket
import time
from collections import deque
from collections.abc import Iterator
from typing import Final, Self

from google.protobuf.message import DecodeError

from referee import __version__
from referee.bot._stream import CANCELLED, INTERNAL, METHOD, RESOURCE_EXHAUSTED, UNAVAILABLE, UNKNOWN, StreamError
from referee.protocol import wire

_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RST_STREAM, _SETTINGS, _PING, _GOAWAY, _WINDOW_UPDATE, _CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
_END_STREAM, _ACK, _END_HEADERS, _PADDED, _PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
_HEADER_TABLE_SIZE, _ENABLE_PUSH, _INITIAL_WINDOW_SIZE, _MAX_FRAME_SIZE = 1, 2, 4, 5
_CALL: Final = 1
"""The number of the one call."""

_FRAME_BYTES: Final = 16 * 1024
_31_BITS: Final = 2**31 - 1
_WINDOW: Final = _31_BITS
"""Room for whatever the referee sends: what is not read yet stays in the socket."""

_WINDOW_OF_HTTP2: Final = 65_535
_READ_BYTES: Final = 64 * 1024
_LOOK_S: Final = 0.001
_STATUS_OF_RESET: Final = {7: UNAVAILABLE, 8: CANCELLED, 11: RESOURCE_EXHAUSTED}
"""What the reasons of a reset (REFUSED_STREAM, CANCEL, ENHANCE_YOUR_CALM) are in gRPC; all others are internal errors."""

_GONE: Final = "its connection has ended"


class UnixStream:
    """One call on a connection of its own. Not for two threads at once, but for ``cancel``."""

    def __init__(self, line: socket.socket, metadata: tuple[tuple[str, str], ...]) -> None:
        """Opens the call on a socket that is connected, which is its own from now on."""
        self._socket = line
        self._unread, self._partial = bytearray(), bytearray()
        self._messages: deque[wire.PlayResponse] = deque()
        self._end: StreamError | None = None
        self._headers: bytearray | None = None
        self._trailers = b""
        self._last_headers = self._half_closed = self._unheard = False
        self._window_of_call = self._window_of_all = self._initial_window = _WINDOW_OF_HTTP2
        self._frame_bytes = _FRAME_BYTES
        self._taken = 0
        self._looked = time.monotonic()
        settings = ((_HEADER_TABLE_SIZE, 0), (_ENABLE_PUSH, 0), (_INITIAL_WINDOW_SIZE, _WINDOW))
        self._write(
            _PREFACE
            + _frame(_SETTINGS, 0, 0, b"".join(_number(name, 2) + _number(value, 4) for name, value in settings))
            + _frame(_WINDOW_UPDATE, 0, 0, _number(_WINDOW - _WINDOW_OF_HTTP2, 4))
            + _frame(_HEADERS, _END_HEADERS, _CALL, _request(metadata))
        )

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
                continue
            end = _end_of(self._trailers) if self._trailers else self._end
            if end.code:
                raise end
            return

    def send(self, request: wire.PlayRequest) -> None:
        """Sends a message; waits while the referee has no room for it, and reads meanwhile."""
        message = request.SerializeToString()
        data = memoryview(b"\0" + _number(len(message), 4) + message)
        while data and self._end is None and not self._unheard:
            room = min(self._window_of_call, self._window_of_all, self._frame_bytes)
            if room <= 0:
                self._read(wait=True)
                continue
            piece, data = bytes(data[:room]), data[room:]
            self._window_of_call -= len(piece)
            self._window_of_all -= len(piece)
            self._write(_frame(_DATA, 0, _CALL, piece))

    def half_close(self) -> None:
        """Nothing more is sent."""
        if not self._half_closed and self._end is None:
            self._half_closed = True
            self._write(_frame(_DATA, _END_STREAM, _CALL, b""))

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

    def _write(self, data: bytes) -> None:
        left = memoryview(data)
        while left and not self._unheard:
            try:
                left = left[self._socket.send(left, socket.MSG_DONTWAIT) :]
            except BlockingIOError:  # whoever does not read may wait for us to read
                poll = select.poll()
                poll.register(self._socket)
                poll.poll()
                if not self._read():
                    return
            except OSError:
                self._unheard = True  # what it said last may lie there to be read

    def _read(self, *, wait: bool = False) -> bool:
        """Takes what is there, or waits for it; whether the connection goes on."""
        if self._end is not None:
            return False
        try:
            data = self._socket.recv(_READ_BYTES, 0 if wait else socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        try:
            if data:
                self._take(data)
            else:
                self._end = StreamError(UNAVAILABLE, _GONE)
        except StreamError as error:
            self._end = error
        return self._end is None

    def _take(self, data: bytes) -> None:
        unread, at = self._unread, 0
        unread += data
        while len(unread) - at >= 9 and self._end is None:
            end = at + 9 + int.from_bytes(unread[at : at + 3], "big")
            if end - at - 9 > _FRAME_BYTES:
                raise StreamError(UNAVAILABLE, "what answers there does not speak HTTP/2")
            if len(unread) < end:
                break
            call = int.from_bytes(unread[at + 5 : at + 9], "big") & _31_BITS
            self._take_frame(unread[at + 3], unread[at + 4], call, bytes(unread[at + 9 : end]))
            at = end
        del unread[:at]

    # Frames.

    def _take_frame(self, kind: int, flags: int, call: int, body: bytes) -> None:
        if kind == _DATA:
            self._acknowledge(len(body))
            if call == _CALL:
                self._take_data(_unpadded(flags, body))
                if flags & _END_STREAM:
                    raise StreamError(INTERNAL, "the call has ended without a status")
        elif kind == _HEADERS:
            body = _unpadded(flags, body)
            self._headers = bytearray(body[5:] if flags & _PRIORITY else body)
            self._last_headers = bool(flags & _END_STREAM)
        elif kind == _CONTINUATION and self._headers is not None:
            self._headers += body
        elif kind == _RST_STREAM and call == _CALL:
            reason = int.from_bytes(body, "big")
            raise StreamError(_STATUS_OF_RESET.get(reason, INTERNAL), f"the call was reset (HTTP/2 error {reason})")
        elif kind == _SETTINGS and not flags & _ACK:
            self._take_settings(body)
            self._write(_frame(_SETTINGS, _ACK, 0, b""))
        elif kind == _PING and not flags & _ACK:
            self._write(_frame(_PING, _ACK, 0, body))
        elif kind == _GOAWAY and int.from_bytes(body[:4], "big") & _31_BITS < _CALL:
            said = body[8:].decode("utf-8", "replace")
            reason = int.from_bytes(body[4:8], "big")
            raise StreamError(UNAVAILABLE, said or f"the referee takes no call (HTTP/2 error {reason})")
        elif kind == _WINDOW_UPDATE:
            more = int.from_bytes(body, "big") & _31_BITS
            if call == _CALL:
                self._window_of_call += more
            elif not call:
                self._window_of_all += more
        if kind in (_HEADERS, _CONTINUATION) and flags & _END_HEADERS and self._headers is not None:
            headers, self._headers = bytes(self._headers), None
            if self._last_headers:  # the first ones say only that there is an answer
                self._trailers = headers
                raise StreamError(0)

    def _take_settings(self, body: bytes) -> None:
        for at in range(0, len(body) - 5, 6):
            name, value = int.from_bytes(body[at : at + 2], "big"), int.from_bytes(body[at + 2 : at + 6], "big")
            if name == _INITIAL_WINDOW_SIZE:
                self._window_of_call += value - self._initial_window
                self._initial_window = value
            elif name == _MAX_FRAME_SIZE:
                self._frame_bytes = min(value, _FRAME_BYTES)

    def _acknowledge(self, count: int) -> None:
        """Makes room for more, long before there is none left."""
        self._taken += count
        if self._taken >= _WINDOW // 2:
            more, self._taken = _number(self._taken, 4), 0
            self._write(_frame(_WINDOW_UPDATE, 0, 0, more) + _frame(_WINDOW_UPDATE, 0, _CALL, more))

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


def _number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "big")


def _frame(kind: int, flags: int, call: int, body: bytes) -> bytes:
    return _number(len(body), 3) + bytes((kind, flags)) + _number(call, 4) + body


def _unpadded(flags: int, body: bytes) -> bytes:
    if not flags & _PADDED:
        return body
    return body[1 : len(body) - body[0]] if body else body


def _request(metadata: tuple[tuple[str, str], ...]) -> bytes:
    headers = (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", METHOD),
        (":authority", "localhost"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        ("user-agent", f"referee.bot/{__version__}"),
        *metadata,
    )
    return b"".join(b"\x10" + _text(name) + _text(value) for name, value in headers)  # each literal, never indexed


def _text(text: str) -> bytes:
    """A text as HPACK has it: its length in 7 bits, then 7 more in each byte, and the text itself."""
    data = text.encode()
    if len(data) < 0x7F:
        return bytes((len(data),)) + data
    length, left = bytearray((0x7F,)), len(data) - 0x7F
    while left >= 0x80:
        length.append(0x80 | left & 0x7F)
        left >>= 7
    length.append(left)
    return bytes(length) + data


def _end_of(block: bytes) -> StreamError:
    """How a call has ended by its last headers."""
    from urllib.parse import unquote  # here, for few bots ever get any

    try:
        from hpack import Decoder, HPACKError
    except ImportError:  # in an environment of the bot's own
        return StreamError(
            UNAVAILABLE, "the referee has ended the call; with hpack installed here it could be said why"
        )
    try:
        headers = {str(name): str(value) for name, value in Decoder().decode(block)}
    except (HPACKError, UnicodeDecodeError):
        return StreamError(INTERNAL, "the headers of the referee cannot be read")
    status = headers.get("grpc-status", "")
    if status.isdigit():
        return StreamError(int(status), unquote(headers.get("grpc-message", "")))
    return StreamError(
        UNKNOWN, f"what answers there does not speak gRPC (HTTP status {headers.get(':status', 'none')})"
    )
