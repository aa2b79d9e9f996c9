"""Connections that no gRPC library would make: windows, floods, strangers. The server stays as it is and as it was."""

import asyncio
import contextlib
import os
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.net import server
from referee.net.http2 import Budget, Http2Connection, Http2Server, Http2Service, RpcCall, Status
from referee.net.listening import server_credentials
from referee.protocol import wire
from referee.umpire.faults import Fault
from tests.badbots import attacks, http2
from tests.program import PATIENCE
from tests.served_games import JOIN, SHORT, ServedGames, dial, hear, say, tell, until
from tests.tls import write_pair
from tests.umpires import new_umpire

TCP = "tcp:127.0.0.1:0"


def joining(token: str) -> bytes:
    return http2.joining(token, JOIN.SerializeToString())


def give(line: socket.socket, stream: int, window: int) -> None:
    line.sendall(http2.frame(http2.WINDOW_UPDATE, 0, stream, struct.pack(">I", window)))


def news(number: int) -> wire.Notice:
    return wire.Notice(game_started=wire.GameStarted(game_id=number))


# What is not read


@pytest.mark.parametrize("address", ["", TCP], ids=["local", "remote"])
def test_a_bot_that_makes_no_room_is_late_and_hung_by_its_clock(tmp_path: Path, address: str) -> None:
    async def story(served: ServedGames) -> None:
        deaf = served.connection("deaf", move_us=50_000)
        async with served.endpoint(None if address else deaf, address) as endpoint:
            with contextlib.closing(http2.connect(endpoint.address, http2.NO_WINDOW)) as line:
                line.sendall(joining(deaf.token))
                await until(deaf.ready.is_set)
                for number in (1, 2):
                    served.book.games_in_play.open(new_umpire(number, limits=SHORT), [deaf.session] * 2)
                served.server.pump()
                await until(lambda: bool(served.hung))
                assert served.hung == [deaf]

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

    async def story(served: ServedGames) -> None:
        nonlocal now
        deaf = served.connection("deaf", move_us=1_000_000)
        async with served.endpoint(deaf) as endpoint:
            settings = struct.pack(">HI", 4, room)
            with contextlib.closing(http2.connect(endpoint.address, settings)) as line:
                line.sendall(joining(deaf.token))
                await until(deaf.ready.is_set)
                sent = 0
                while not served.faults:
                    deaf.session.news(news(sent))
                    sent += 1
                    served.server.games_in_play.touched.add(deaf.session)
                    now += 50_000
                    served.server.due_us = now
                    served.server.tick()
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

    async def story(served: ServedGames) -> None:
        nonlocal now
        slow = served.connection("slow")
        async with served.endpoint(slow) as endpoint:
            with contextlib.closing(http2.connect(endpoint.address, http2.NO_WINDOW)) as line:
                line.sendall(joining(slow.token))
                await until(lambda: slow.stream is not None and slow.stream.unread() is not None)
                for _ in range(50):
                    now += 60_000_000
                    served.server.tick()

    assert not tell(tmp_path, story, watched=False).faults


def test_who_reads_late_gets_everything_in_order(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        late = served.connection("late")
        async with served.endpoint(late) as endpoint:
            with contextlib.closing(http2.connect(endpoint.address, http2.NO_WINDOW)) as line:
                line.sendall(joining(late.token))
                await until(late.ready.is_set)
                for number in range(500):
                    late.session.news(news(number))
                    served.server.games_in_play.touched.add(late.session)
                    served.server.pump()
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
    line.settimeout(PATIENCE)
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


def test_a_endpoint_closes_behind_a_bot_that_reads_nothing(tmp_path: Path) -> None:
    """It used to wait for such a stream for ever."""

    async def story(served: ServedGames) -> None:
        deaf, good = served.connection("deaf"), served.connection("good")
        async with served.endpoint(address=TCP) as endpoint, dial(endpoint, good.token) as call:
            with contextlib.closing(http2.connect(endpoint.address, http2.NO_WINDOW)) as line:
                line.sendall(joining(deaf.token))
                await until(deaf.ready.is_set)
                deaf.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
                await say(call, JOIN)
                assert (await hear(call)).joined.name == "good"
                await until(lambda: deaf.stream is None)

    tell(tmp_path, story)


# Attacks

GROWTH_MIB = 24
"""What an attack may add to the memory of the process: far less than any of them can send, and more than tests vary."""


@pytest.mark.parametrize("kind", attacks.ATTACKS)
def test_an_attack_is_cut_off_and_costs_neither_memory_nor_anybody_elses_game(tmp_path: Path, kind: str) -> None:
    """By a bot at its own endpoint, by a stranger and by a remote bot at the endpoint for all; others play on and are let in."""

    async def story(served: ServedGames) -> None:
        local, remote = served.connection("local"), served.connection("remote")
        player, late = served.connection("player"), served.connection("late")
        async with (
            served.endpoint(local) as own,
            served.endpoint(address=TCP) as endpoint,
            dial(endpoint, player.token) as call,
        ):
            await say(call, JOIN)
            await hear(call)
            before = resident_mib()
            for address, token in (
                (own.address, ""),
                (own.address, local.token),
                (endpoint.address, ""),
                (endpoint.address, remote.token),
            ):
                await carry_out(address, kind, token)
                assert resident_mib() < before + GROWTH_MIB
            served.deal(1, player, player)
            assert (await hear(call)).turns
            async with dial(endpoint, late.token) as other:
                await say(other, JOIN)
                assert (await hear(other)).joined.name == "late"

    served = tell(tmp_path, story)
    assert {name for name, _, _ in served.faults} <= {"local", "remote"}
    assert {fault for _, fault, _ in served.faults} <= {Fault.PROTOCOL}


async def carry_out(address: str, kind: str, token: str) -> None:
    program = [sys.executable, str(Path(attacks.__file__)), address, kind, token]
    process = await asyncio.create_subprocess_exec(*program)
    try:
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def resident_mib() -> int:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


FLOODS = [
    "header_table_thrash",
    "endless_headers",
    "health_checks",
    "many_streams",
    "pings",
    "settings",
    "table_sizes",
    "priorities",
    "unknown_frames",
    "empty_data",
    "window_of_a_byte",
    "unread_reflection",
]


@pytest.mark.parametrize("kind", FLOODS)
def test_a_flood_at_its_own_endpoint_breaks_the_protocol(tmp_path: Path, kind: str) -> None:
    async def story(served: ServedGames) -> None:
        async with served.endpoint(served.connection("bad")) as endpoint:
            await carry_out(endpoint.address, kind, "")
            await until(lambda: bool(served.faults))

    faults = tell(tmp_path, story).faults
    assert {(name, fault) for name, fault, _ in faults} == {("bad", Fault.PROTOCOL)}
    assert all(sentence.startswith("AF-PROTO-004: it flooded its connection with ") for _, _, sentence in faults)


def test_a_flood_of_a_remote_bot_breaks_the_protocol(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        bad = served.connection("bad")
        async with served.endpoint(address=TCP) as endpoint:
            with contextlib.closing(http2.connect(endpoint.address)) as line:
                line.sendall(http2.joining(bad.token))
                await until(bad.ready.is_set)
                http2.drain(line)
                with contextlib.suppress(OSError):
                    await asyncio.to_thread(pour, line, http2.frame(http2.PING, 0, 0, b"whistled") * 500)
            await until(lambda: bool(served.faults))

    assert [(name, fault) for name, fault, _ in tell(tmp_path, story).faults] == [("bad", Fault.PROTOCOL)]


def pour(line: socket.socket, data: bytes) -> None:
    line.settimeout(PATIENCE)
    while True:
        line.sendall(data)


# Strangers


def test_those_with_a_token_get_in_however_many_strangers_hold_connections(tmp_path: Path) -> None:
    """Twice as many as are let be, renewed as they are ended."""

    async def story(served: ServedGames) -> None:
        bots = [served.connection(f"bot-{number}") for number in range(20)]
        async with served.endpoint(address=TCP) as endpoint, contextlib.AsyncExitStack() as stack:
            strangers = stack.enter_context(contextlib.ExitStack())
            before = handles()
            for bot in bots:
                for line in await asyncio.to_thread(attacks.held, endpoint.address, 2 * server.STRANGERS // len(bots)):
                    strangers.enter_context(contextlib.closing(line))
                call = await stack.enter_async_context(dial(endpoint, bot.token))
                await say(call, JOIN)
                assert (await hear(call)).joined.name == bot.terms.name
            assert handles() < before + 2 * server.STRANGERS + server.STRANGERS + 200  # theirs, ours, and those of gRPC
            assert all(bot.ready.is_set() for bot in bots)

    served = tell(tmp_path, story)
    assert served.faults == []


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_all_bots_may_dial_in_at_once_and_be_slow_to_say_who_they_are(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        bots = [served.connection(f"bot-{number}") for number in range(2 * server.STRANGERS)]
        async with served.endpoint(address=TCP) as endpoint:
            with contextlib.ExitStack() as stack:
                lines = [stack.enter_context(contextlib.closing(http2.connect(endpoint.address))) for _ in bots]
                for bot, line in zip(bots, lines, strict=True):
                    line.sendall(joining(bot.token))
                await until(lambda: all(bot.ready.is_set() for bot in bots))

    assert tell(tmp_path, story).faults == []


def test_a_stranger_has_little_time_and_a_bot_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_STRANGER_S", 0.0)

    async def story(served: ServedGames) -> None:
        bot = served.connection("bot")
        async with served.endpoint(address=TCP) as endpoint, dial(endpoint, bot.token) as call:
            await say(call, JOIN)
            await hear(call)
            with contextlib.closing(http2.dial(endpoint.address)) as silent:
                silent.settimeout(PATIENCE)
                assert await asyncio.to_thread(silent.recv, 1) == b""
            assert bot.ready.is_set()

    assert not tell(tmp_path, story).losses[:-1]


def test_who_does_not_finish_the_handshake_of_tls_is_a_stranger_like_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_STRANGER_S", 0.0)
    credentials = server_credentials(write_pair(tmp_path))

    async def story(served: ServedGames) -> None:
        async with served.endpoint(address="tls:localhost:0", credentials=credentials) as endpoint:
            for said in (b"", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), http2.PREFACE):
                with contextlib.closing(http2.dial(endpoint.address)) as line:
                    line.settimeout(PATIENCE)
                    line.sendall(said)
                    with contextlib.suppress(ConnectionError):
                        while await asyncio.to_thread(line.recv, 1000):
                            pass

    assert not tell(tmp_path, story).faults


class Ends(Http2Service):
    """Ends every call at once."""

    def begin(self, call: RpcCall) -> None:
        call.finish(Status.OK)

    def strangers(self) -> int:
        return 16

    def exceeded(self, connection: Http2Connection, what: str) -> None:
        pass

    def violated(self, connection: Http2Connection) -> None:
        pass

    def may_be_dead(self, connection: Http2Connection) -> bool:
        return True


def test_a_new_peer_pays_for_nothing_that_the_last_one_left(tmp_path: Path) -> None:
    """Neither for its frames, nor for connections that still wait to be accepted."""

    async def scene() -> None:
        budget = Budget(100, 0.0)
        listening = Http2Server(Ends(), budget=budget)
        address = await listening.listen(f"unix:{tmp_path / 'bot.sock'}")
        assert not budget.spend(1_000)
        with contextlib.ExitStack() as stack:
            for _ in range(8):
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.connect(address.removeprefix("unix:"))
            listening.renew()
            await asyncio.sleep(0)
            assert not listening.strangers
            assert budget.spend(100)
        await listening.close(0.1)

    asyncio.run(scene())
