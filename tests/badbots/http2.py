"""HTTP/2 frame by frame, for bad bots and attacks that no gRPC library would lend itself to. It is no bot."""

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Sequence

PLAY = "/allfours.v1.RefereeService/Play"
CHECK = "/grpc.health.v1.Health/Check"
WATCH = "/grpc.health.v1.Health/Watch"
REFLECT = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS = 1, 4
NO_WINDOW = struct.pack(">HI", 4, 0)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """One frame as bytes."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value: bytes) -> bytes:
    """A string of HPACK, without Huffman coding."""
    if len(value) < 127:
        return bytes([len(value)]) + value
    rest, out = len(value) - 127, bytearray([127])
    while rest >= 128:
        out.append(rest & 127 | 128)
        rest >>= 7
    return bytes(out) + bytes([rest]) + value


def literal(name: str, value: str) -> bytes:
    """A header that enters no table."""
    return b"\0" + text(name.encode()) + text(value.encode())


def headers(path: str = PLAY, token: str = "", extra: Sequence[tuple[str, str]] = ()) -> bytes:
    """The header block of a call."""
    fields = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        *([("authorization", f"Bearer {token}")] if token else []),
        *extra,
    ]
    return b"".join(literal(*field) for field in fields)


def message(data: bytes, squeezed: int = 0) -> bytes:
    """A message of gRPC."""
    return struct.pack(">BI", squeezed, len(data)) + data


def joining(token: str, join: bytes = b"") -> bytes:
    """The call and the first message of a bot; ``join`` is a PlayRequest, else the smallest that there is."""
    call = frame(HEADERS, END_HEADERS, 1, headers(token=token))
    return call + frame(DATA, 0, 1, message(join or b"\x0a\x02\x30\x01"))


def dial(address: str) -> socket.socket:
    """A connected socket; with a small buffer, so that what is not read fills it soon."""
    if address.startswith("unix:"):
        line = socket.socket(socket.AF_UNIX)
        line.connect(address[5:])
        return line
    host, _, port = address.partition(":")[2].rpartition(":")
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.connect((host, int(port)))
    return line


def connect(to: str = "", settings: bytes = b"") -> socket.socket:
    """A connection that has said its preface and its settings."""
    line = dial(to or address())
    line.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))
    return line


def drain(line: socket.socket) -> threading.Thread:
    """Reads and drops whatever comes, in the background."""

    def read() -> None:
        with contextlib.suppress(OSError):
            while line.recv(65536):
                pass

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


def address() -> str:
    """Where a bot is to dial in."""
    return os.environ["REFEREE_ADDRESS"]


def token() -> str:
    """A bot's own token."""
    return os.environ["REFEREE_TOKEN"]
