"""Connections that no gRPC library would make: windows, floods, strangers. The server stays as it is and as it was."""

import asyncio
import contextlib
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from referee import server
from referee.faults import Fault
from referee.protocol import wire
from referee.seats.guest import Guest
from tests.badbots import http2
from tests.inn import JOIN, SHORT, Inn, dial, hear, say, tell, until
from tests.umpires import new_table

TCP = "tcp:127.0.0.1:0"


def joining(token: str, join: wire.PlayRequest = JOIN) -> bytes:
    return http2.frame(http2.HEADERS, http2.END_HEADERS, 1, http2.headers(token=token)) + http2.frame(
        http2.DATA, 0, 1, http2.message(join.SerializeToString())
    )


def give(line: socket.socket, stream: int, window: int) -> None:
    line.sendall(http2.frame(http2.WINDOW_UPDATE, 0, stream, struct.pack(">I", window)))


def news(number: int) -> wire.Notice:
    return wire.Notice(game_started=wire.GameStarted(game_id=number))


# What is not read


@pytest.mark.parametrize("address", ["", TCP], ids=["local", "remote"])
def test_a_bot_that_makes_no_room_is_late_and_hung_by_its_clock(tmp_path: Path, address: str) -> None:
    async def story(inn: Inn) -> None:
        deaf = inn.guest("deaf", move_us=50_000)
        hung: list[Guest] = []
        inn.host.on_hung = hung.append
        async with inn.door(None if address else deaf, address) as door:
            with contextlib.closing(http2.connect(door.address, http2.NO_WINDOW)) as line:
                line.sendall(joining(deaf.token))
                await until(deaf.ready.is_set)
                for number in (1, 2):
                    inn.book.hall.open(new_table(number, limits=SHORT), [deaf.session] * 2)
                inn.host.pump()
                await until(lambda: bool(hung))
                assert hung == [deaf]

    assert {ruling.rule for _, ruling in tell(tmp_path, story).book.rulings} == {"AF-CLOCK-001"}


def drip(line: socket.socket) -> None:
    give(line, 1, 1)


@pytest.mark.parametrize("reads", [lambda _line: None, drip], ids=["nothing", "a byte at a time"])
@pytest.mark.parametrize("room", [0, 300], ids=["from the start", "later"])
def test_a_bot_that_is_asked_nothing_has_to_read_what_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int, reads: Callable[[socket.socket], None]
) -> None:
    """Notices must not pile up for ever; the clock is the test's."""
    now = 1_000_000
    monkeypatch.setattr(server, "monotonic_us", lambda: now)

    async def story(inn: Inn) -> None:
        nonlocal now
        deaf = inn.guest("deaf", move_us=1_000_000)
        async with inn.door(deaf) as door:
            settings = struct.pack(">HI", 4, room)
            with contextlib.closing(http2.connect(door.address, settings)) as line:
                line.sendall(joining(deaf.token))
                await until(deaf.ready.is_set)
                sent = 0
                while not inn.faults:
                    deaf.session.news(news(sent))
                    sent += 1
                    inn.host.hall.touched.add(deaf.session)
                    now += 50_000
                    inn.host.due_us = now
                    inn.host.tick()
                    reads(line)
                    await asyncio.sleep(0)
                    assert sent < 1000
                assert sent > 200  # ten seconds

    assert tell(tmp_path, story, watched=False).faults == [
        ("deaf", Fault.CRASH, "It did not read what it was sent for 10 seconds and was ended.")
    ]


def test_time_in_which_the_referee_did_not_look_is_not_the_readers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000
    monkeypatch.setattr(server, "monotonic_us", lambda: now)

    async def story(inn: Inn) -> None:
        nonlocal now
        slow = inn.guest("slow")
        async with inn.door(slow) as door:
            with contextlib.closing(http2.connect(door.address, http2.NO_WINDOW)) as line:
                line.sendall(joining(slow.token))
                await until(lambda: slow.stream is not None and slow.stream.unread() is not None)
                for _ in range(50):
                    now += 60_000_000
                    inn.host.tick()

    assert not tell(tmp_path, story, watched=False).faults


def test_who_reads_late_gets_everything_in_order(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        late = inn.guest("late")
        async with inn.door(late) as door:
            with contextlib.closing(http2.connect(door.address, http2.NO_WINDOW)) as line:
                line.sendall(joining(late.token))
                await until(late.ready.is_set)
                for number in range(500):
                    late.session.news(news(number))
                    inn.host.hall.touched.add(late.session)
                    inn.host.pump()
                    await asyncio.sleep(0)
                give(line, 1, 1_000_000)
                give(line, 0, 1_000_000)
                heard = await asyncio.to_thread(messages, line, lambda got: sum(len(one.notices) for one in got) == 500)
                assert heard[0].joined.name == "late"
                assert len(heard) == 2  # they waited together
                assert [notice.game_started.game_id for one in heard for notice in one.notices] == list(range(500))

    assert not tell(tmp_path, story).faults


def messages(line: socket.socket, enough: Callable[[list[wire.PlayResponse]], bool]) -> list[wire.PlayResponse]:
    """The messages of a stream as they come over a raw connection, until there are enough."""
    line.settimeout(60)
    came, data, heard = bytearray(), bytearray(), []
    while not enough(heard):
        came += line.recv(65536)
        while len(came) >= 9 and len(came) >= 9 + (length := int.from_bytes(came[:3], "big")):
            if came[3] == http2.DATA:
                data += came[9 : 9 + length]
            del came[: 9 + length]
        while len(data) >= 5 and len(data) >= 5 + (length := int.from_bytes(data[1:5], "big")):
            heard.append(wire.PlayResponse.FromString(bytes(data[5 : 5 + length])))
            del data[: 5 + length]
    return heard


def test_a_door_closes_behind_a_bot_that_reads_nothing(tmp_path: Path) -> None:
    """It used to wait for such a stream for ever."""

    async def story(inn: Inn) -> None:
        deaf, good = inn.guest("deaf"), inn.guest("good")
        async with inn.door(address=TCP) as door, dial(door, good.token) as call:
            with contextlib.closing(http2.connect(door.address, http2.NO_WINDOW)) as line:
                line.sendall(joining(deaf.token))
                await until(deaf.ready.is_set)
                deaf.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
                await say(call, JOIN)
                assert (await hear(call)).joined.name == "good"
                await until(lambda: deaf.stream is None)

    tell(tmp_path, story)
