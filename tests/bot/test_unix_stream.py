"""The SDK's stream on a unix socket: every frame that a referee may send, and every way in which it may end.

The other side is the ``h2`` library too, or bytes that no library would send.
"""

import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.bot import _unix_stream as unix_stream
from referee.bot._stream import CANCELLED, INTERNAL, METHOD, UNAVAILABLE, UNKNOWN, StreamError
from referee.bot._unix_stream import UnixStream, connect
from referee.protocol import wire
from tests.program import PATIENCE
from tests.sdk import play_turn

OK: Final = [(":status", "200"), ("content-type", "application/grpc")]
TURNS: Final = wire.PlayResponse(turns=[play_turn(number) for number in range(1, 4)])
METADATA: Final = (("authorization", "Bearer " + "t" * 300),)


def framed(message: Any) -> bytes:
    """A message as gRPC puts it into a stream."""
    data: bytes = message.SerializeToString()
    return b"\0" + len(data).to_bytes(4, "big") + data


def frame(kind: int, flags: int, body: bytes, call: int = 1) -> bytes:
    return len(body).to_bytes(3, "big") + bytes((kind, flags)) + call.to_bytes(4, "big") + body


class Peer:
    """The referee's side of one connection, by h2."""

    def __init__(self, line: socket.socket, **settings: int) -> None:
        self.line = line
        self.line.settimeout(PATIENCE)
        self.http = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.http.local_settings = h2.settings.Settings(
            client=False,
            initial_values={getattr(h2.settings.SettingCodes, name): value for name, value in settings.items()},
        )
        self.http.initiate_connection()
        self.headers: dict[str, str] = {}
        self.received = b""
        self.pings = 0
        self.half_closed = False
        self.flush()

    def flush(self) -> None:
        self.line.sendall(self.http.data_to_send())

    def read(self, until: Callable[[], bool], *, take: bool = True) -> None:
        """Reads until something is so; ``take`` gives the bot its room back."""
        while not until():
            data = self.line.recv(65536)
            assert data
            for event in self.http.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    self.headers = dict(event.headers)  # type: ignore[arg-type]
                elif isinstance(event, h2.events.DataReceived):
                    self.received += event.data
                    if take:
                        self.http.acknowledge_received_data(event.flow_controlled_length, 1)
                elif isinstance(event, h2.events.StreamEnded):
                    self.half_closed = True
                elif isinstance(event, h2.events.PingAckReceived):
                    self.pings += 1
            self.flush()

    def requests(self) -> list[wire.PlayRequest]:
        found, at = [], 0
        while at < len(self.received):
            end = at + 5 + int.from_bytes(self.received[at + 1 : at + 5], "big")
            found.append(wire.PlayRequest.FromString(self.received[at + 5 : end]))
            at = end
        return found

    def answer(self, *messages: wire.PlayResponse) -> None:
        self.http.send_headers(1, OK)
        for message in messages:
            self.http.send_data(1, framed(message))
        self.flush()

    def end(self, *trailers: tuple[str, str]) -> None:
        self.http.send_headers(1, trailers, end_stream=True)
        self.flush()


@contextmanager
def connected(serve: Callable[[socket.socket], None]) -> Iterator[UnixStream]:
    """A stream to a referee that serves one connection in a thread of its own; what fails there fails the test."""
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.socket(socket.AF_UNIX) as listening,
        ThreadPoolExecutor(1) as pool,
    ):
        listening.bind(f"{folder}/s")
        listening.listen()

        def accept() -> None:
            line, _ = listening.accept()
            with line:
                serve(line)

        served = pool.submit(accept)
        try:
            with UnixStream(connect(f"{folder}/s"), METADATA) as stream:
                yield stream
        finally:
            served.result(PATIENCE)


def failure(stream: UnixStream) -> tuple[int, str]:
    with pytest.raises(StreamError) as caught:
        list(stream)
    return caught.value.code, caught.value.details


def test_a_call_from_its_headers_to_its_end() -> None:
    request = wire.PlayRequest(moves=[wire.Move(turn_id=7, bid=2)])
    peers: list[Peer] = []

    def serve(line: socket.socket) -> None:
        peer = Peer(line)
        peers.append(peer)
        peer.read(lambda: bool(peer.received))
        peer.answer(TURNS, wire.PlayResponse(), TURNS)
        peer.read(lambda: peer.half_closed)
        peer.end(("grpc-status", "0"))

    with connected(serve) as stream:
        stream.send(request)
        messages = iter(stream)
        assert [next(messages) for _ in range(3)] == [TURNS, wire.PlayResponse(), TURNS]
        assert stream.is_active()
        stream.half_close()
        stream.half_close()
        assert list(messages) == []
        assert not stream.is_active()
    (peer,) = peers
    assert peer.requests() == [request]
    assert (peer.headers[":path"], peer.headers["te"]) == (METHOD, "trailers")
    assert peer.headers["authorization"] == METADATA[0][1]
    assert peer.headers["user-agent"].startswith("referee.bot/")


def test_a_message_of_any_size_goes_out_as_there_is_room_and_whole() -> None:
    """The referee gives 300 bytes of room at a time for the call, and takes frames of any size up to that of HTTP/2."""
    request = wire.PlayRequest(moves=[wire.Move(turn_id=2**60 + number, bid=2) for number in range(9_000)])
    peers: list[Peer] = []

    def serve(line: socket.socket) -> None:
        peer = Peer(line, INITIAL_WINDOW_SIZE=300)
        peers.append(peer)
        total = len(framed(request))
        sizes = [0]
        while sizes[-1] < min(3_000, total):
            peer.read(lambda: len(peer.received) > sizes[-1], take=False)
            sizes.append(len(peer.received))
            if sizes[-1] % 300 == 0:
                peer.http.increment_flow_control_window(300, 1)
                peer.flush()
        assert max(after - before for before, after in pairwise(sizes)) <= 300
        peer.http.increment_flow_control_window(2**20, 1)
        peer.http.increment_flow_control_window(2**20)
        peer.flush()
        peer.read(lambda: len(peer.received) == total, take=False)
        peer.answer()
        peer.end(("grpc-status", "0"))

    with connected(serve) as stream:
        stream._read(wait=True)  # its settings are there
        stream.send(request)
        assert list(stream) == []
    assert peers[0].requests() == [request]


def test_settings_that_come_late_change_the_room() -> None:
    request = wire.PlayRequest(moves=[wire.Move(turn_id=number, bid=2) for number in range(1, 200)])

    def serve(line: socket.socket) -> None:
        peer = Peer(line, INITIAL_WINDOW_SIZE=100)
        peer.read(lambda: len(peer.received) == 100, take=False)
        peer.http.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 50_000})
        peer.flush()
        peer.read(lambda: len(peer.received) == len(framed(request)), take=False)
        peer.answer()
        peer.end(("grpc-status", "0"))

    with connected(serve) as stream:
        stream._read(wait=True)  # the first settings are there
        stream.send(request)
        assert list(stream) == []


def test_pings_are_answered_while_it_reads_and_between_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(unix_stream.time, "monotonic", lambda: now[0])
    reading = threading.Event()

    def serve(line: socket.socket) -> None:
        peer = Peer(line)
        peer.read(lambda: bool(peer.headers))
        peer.http.ping(b"12345678")
        peer.flush()
        peer.read(lambda: peer.pings == 1)
        reading.set()
        peer.http.ping(b"87654321")
        peer.answer(TURNS)
        peer.read(lambda: peer.pings == 2)
        peer.end(("grpc-status", "0"))

    with connected(serve) as stream:
        while not reading.is_set():  # as between two turns of a slow ``choose``
            now[0] += 0.002
            assert stream.is_active()
        assert list(stream) == [TURNS]


def test_who_looks_again_within_a_millisecond_asks_the_system_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_stream.time, "monotonic", lambda: 5.0)

    def serve(line: socket.socket) -> None:
        line.recv(65536)

    with connected(serve) as stream:
        monkeypatch.setattr(stream, "_read", lambda: pytest.fail("it looked"))
        assert stream.is_active()


FLAGS: Final = st.sampled_from(["plain", "padded", "empty"])


@given(data=st.data(), shapes=st.lists(FLAGS, min_size=1, max_size=6))
def test_however_bytes_are_cut_and_padded_the_messages_are_the_same(data: st.DataObject, shapes: list[str]) -> None:
    messages = [TURNS, wire.PlayResponse(), wire.PlayResponse(turns=[play_turn(9)])]
    left = b"".join(map(framed, messages))
    headers = frame(1, 0x20, bytes(5) + b"\x88") + frame(9, 4, b"")  # in two frames, with a priority
    sent = frame(4, 0, b"\0\x03\0\0\0\x64", 0) + frame(1, 4, b"\x08\x03103") + headers  # and hints before them
    for shape in shapes:
        cut = data.draw(st.integers(0, len(left)))
        piece, left = left[:cut], left[cut:]
        if shape == "padded":
            sent += frame(0, 8, b"\x03" + piece + b"\0\0\0")
        else:
            sent += frame(0, 0, piece)
        if shape == "empty":
            sent += frame(0, 0, b"") + frame(2, 0, bytes(5)) + frame(0xEE, 0xFF, b"unknown", 0)
    sent += frame(0, 0, left)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=8)))
    here, there = socket.socketpair()
    with there, UnixStream(here, METADATA) as stream:
        for begin, end in pairwise([0, *cuts, len(sent)]):
            stream._take(sent[begin:end])
        assert list(stream._messages) == messages


ENDS: Final = {
    "status": (frame(1, 5, b"\x88\0\x0bgrpc-status\x0216\0\x0cgrpc-message\x09no%20one!"), 16, "no one!"),
    "no status": (frame(1, 5, b"\x88"), UNKNOWN, "what answers there does not speak gRPC (HTTP status 200)"),
    "broken headers": (frame(1, 5, b"\xff\xff\xff\xff"), INTERNAL, "the headers of the referee cannot be read"),
    "data": (frame(0, 1, b""), INTERNAL, "the call has ended without a status"),
    "cancelled": (frame(3, 0, b"\0\0\0\x08"), CANCELLED, "the call was reset (HTTP/2 error 8)"),
    "reset": (frame(3, 0, b"\0\0\0\x02"), INTERNAL, "the call was reset (HTTP/2 error 2)"),
    "goaway": (frame(7, 0, bytes(7) + b"\x01", 0), UNAVAILABLE, "the referee takes no call (HTTP/2 error 1)"),
    "told": (frame(7, 0, bytes(8) + b"too many", 0), UNAVAILABLE, "too many"),
    "gone": (b"", UNAVAILABLE, "its connection has ended"),
    "half a frame": (b"\0\0\x09\0", UNAVAILABLE, "its connection has ended"),
    "another protocol": (b"HTTP/1.1 400 Bad Request\r\n\r\n", UNAVAILABLE, "what answers there does not speak HTTP/2"),
    "compressed": (
        frame(0, 0, b"\x01\0\0\0\0"),
        INTERNAL,
        "a message of the referee is compressed, which it was not asked for",
    ),
    "garbage": (frame(0, 0, b"\0\0\0\0\x02\xff\xff"), INTERNAL, "a message of the referee cannot be read"),
}


@pytest.mark.parametrize("how", ENDS)
def test_every_end_is_told_after_what_came_before_it(how: str) -> None:
    sent, code, details = ENDS[how]
    begun = frame(4, 0, b"", 0) + (frame(1, 4, b"\x88") if how != "another protocol" else b"")
    before = frame(0, 0, framed(TURNS)) if how != "another protocol" else b""

    def serve(line: socket.socket) -> None:
        line.sendall((begun + before if before else b"") + sent)
        line.shutdown(socket.SHUT_WR)
        while line.recv(65536):
            pass

    with connected(serve) as stream:
        messages = iter(stream)
        if before:
            assert next(messages) == TURNS
        with pytest.raises(StreamError) as caught:
            next(messages)
        assert (caught.value.code, caught.value.details) == (code, details)
        stream.send(wire.PlayRequest())  # to nobody
        stream.drain()
        stream.cancel()
        stream._socket.close()


NUMBERS: Final = st.sampled_from([0, 1, 2, 3, 2**31 - 1, 2**32 - 1])
KINDS: Final = st.sampled_from([*range(11), 0x0C, 0xEE])
BODIES: Final = st.binary(max_size=20) | st.sampled_from(
    [
        b"\x88",
        b"\0\x0bgrpc-status\x0216",
        b"\0\x0bgrpc-status\x02\xc2\xb2" + b"\0\x0cgrpc-message\x01\xff",  # a superscript; no UTF-8
        b"\0\x0bgrpc-status\x7f\xe9\x26" + b"9" * 5_000,  # more digits than Python takes for a number
        b"\x08\x03103",
        b"\x88\x0f\x0d\x015",  # a length that is not true
        b"\0\0\0\x08",
        b"\x7f\xff\xff\xff",
        b"\0\x04\0\0\0\0",
        b"\0\x04\x7f\xff\xff\xff",
        b"\0\x05\0\xff\xff\xff",
        bytes(8),
        framed(TURNS),
        b"\0\0\0\0\x02\xff\xff",
    ]
)
FRAMES: Final = st.builds(frame, KINDS, st.integers(0, 255) | st.sampled_from([0, 1, 4, 5]), BODIES, NUMBERS)


@given(sent=st.lists(FRAMES | st.binary(max_size=20), max_size=8), begun=st.booleans(), looks=st.integers(0, 2))
def test_whatever_bytes_come_nothing_but_a_stream_error_goes_out(sent: list[bytes], begun: bool, looks: int) -> None:
    here, there = socket.socketpair()
    with there, UnixStream(here, METADATA) as stream:
        there.sendall((frame(4, 0, b"", 0) + frame(1, 4, b"\x88") if begun else b"") + b"".join(sent))
        there.shutdown(socket.SHUT_WR)
        for _ in range(looks):
            stream._read()
        stream.send(wire.PlayRequest(moves=[wire.Move(turn_id=7, bid=2)]))
        stream.half_close()
        with suppress(StreamError):
            assert all(isinstance(message, wire.PlayResponse) for message in stream)
        assert not stream.is_active()


def test_an_answer_is_not_lost_in_what_the_referee_sends_while_it_does_not_read() -> None:
    """Pings until nothing more goes in, and a goaway among them, which is where h2 forgets what it has not handed out."""
    pings = 40_000

    def serve(line: socket.socket) -> None:
        peer = Peer(line)
        peer.read(lambda: bool(peer.headers))
        half = frame(6, 0, b"12345678", 0) * (pings // 2)
        line.sendall(half + frame(7, 0, b"\0\0\0\x01" + bytes(4), 0) + half)
        peer.read(lambda: peer.pings == pings)
        peer.answer(TURNS)
        peer.end(("grpc-status", "0"))

    with connected(serve) as stream:
        assert list(stream) == [TURNS]


def test_a_goaway_that_leaves_the_call_alone_ends_nothing() -> None:
    def serve(line: socket.socket) -> None:
        peer = Peer(line)
        peer.read(lambda: bool(peer.headers))
        line.sendall(frame(7, 0, b"\0\0\0\x01" + bytes(4), 0))
        peer.answer(TURNS)
        peer.end(("grpc-status", "0"))

    with connected(serve) as stream:
        assert list(stream) == [TURNS]


def test_what_the_referee_said_last_is_read_though_it_hears_nothing_any_more() -> None:
    closed = threading.Event()

    def serve(line: socket.socket) -> None:
        line.sendall(frame(4, 0, b"", 0) + frame(1, 4, b"\x88") + frame(0, 0, framed(TURNS)))
        line.close()
        closed.set()

    with connected(serve) as stream:
        assert closed.wait(PATIENCE)
        for _ in range(3):
            stream.send(wire.PlayRequest())
        messages = iter(stream)
        assert next(messages) == TURNS
        with pytest.raises(StreamError, match="its connection has ended"):
            next(messages)


def test_two_sides_that_both_have_much_to_send_do_not_wait_for_each_other() -> None:
    """The referee sends until nothing more goes in, and reads only then; so does the bot."""
    big = wire.PlayResponse(turns=[play_turn(number) for number in range(1, 300)])
    request = wire.PlayRequest(moves=[wire.Move(turn_id=2**60 + number, bid=2) for number in range(400)])
    total = 200

    def serve(line: socket.socket) -> None:
        peer = Peer(line, INITIAL_WINDOW_SIZE=2**31 - 1)
        peer.read(lambda: bool(peer.headers))
        peer.http.increment_flow_control_window(2**30)
        peer.answer(wire.PlayResponse())
        data = framed(big)
        for _ in range(total):
            for at in range(0, len(data), 16_000):
                peer.http.send_data(1, data[at : at + 16_000])
            peer.flush()  # waits until the bot has read
        peer.read(lambda: len(peer.received) == total * len(framed(request)), take=False)
        peer.end(("grpc-status", "0"))

    with connected(serve) as stream:
        messages = iter(stream)
        next(messages)
        for _ in range(total):
            stream.send(request)
        assert list(messages) == [big] * total


def test_the_room_of_the_referee_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unix_stream, "_WINDOW", 200_000)

    def serve(line: socket.socket) -> None:
        peer = Peer(line)
        peer.read(lambda: bool(peer.headers))
        peer.answer()
        data = framed(TURNS)
        for _ in range(5_000):
            peer.read(lambda: peer.http.local_flow_control_window(1) >= len(data))
            peer.http.send_data(1, data)
            peer.flush()
        peer.end(("grpc-status", "0"))

    with connected(serve) as stream:
        assert sum(len(message.turns) for message in stream) == 15_000


def test_a_call_can_be_cancelled_from_another_thread_while_it_is_read() -> None:
    def serve(line: socket.socket) -> None:
        peer = Peer(line)
        peer.read(lambda: bool(peer.headers))
        reading.wait(PATIENCE)
        stream.cancel()

    reading = threading.Event()
    with connected(serve) as stream:
        reading.set()
        assert failure(stream) == (UNAVAILABLE, "its connection has ended")


@pytest.mark.parametrize("name", ["missing", "plain", "x" * 200])
def test_a_socket_that_cannot_be_had_is_told_in_words(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain").write_text("no socket")
    with pytest.raises(StreamError) as caught:
        connect(str(tmp_path / name))
    assert caught.value.code == UNAVAILABLE
    assert caught.value.details in ("No such file or directory", "Connection refused", "AF_UNIX path too long")
