"""The server: hostile clients, and errors of our own."""

import asyncio
import contextlib
import gzip
import socket
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
import pytest

from referee.net.connection import MAX_MESSAGE_BYTES
from referee.net.server import SERVICE
from referee.protocol import wire
from referee.rules.conduct_clauses import STRAYS
from referee.umpire.faults import Fault
from tests.program import PATIENCE
from tests.served_games import JOIN, PLAY, Code, ServedGames, dial, end_of, hear, say, tell, until
from tests.umpires import answers_to

# Hostile clients


@pytest.mark.parametrize(
    ("first", "refusal"),
    [
        (wire.PlayRequest(), "Its first message was no Join (AF-PROTO-005)."),
        (b"\xff\xfe\xfd", "Its first message was no Join (AF-PROTO-005)."),
        (wire.PlayRequest(join=wire.Join(variants=["cinch"])), "It plays cinch, not auction-pitch."),
    ],
    ids=["nothing", "bytes", "another game"],
)
def test_a_wrong_first_message_is_answered_with_the_reason(
    tmp_path: Path, first: wire.PlayRequest | bytes, refusal: str
) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("stranger")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, first)
            message = await hear(call)
            assert message.farewell.reason == wire.FAREWELL_REASON_REFUSED
            assert message.farewell.sentence
            assert not message.HasField("joined")

    served = tell(tmp_path, story)
    assert served.connections[0].refusal == refusal


def oversized(number_of_bytes: int) -> bytes:
    return wire.PlayRequest(join=wire.Join(name="n" * number_of_bytes)).SerializeToString()


@pytest.mark.parametrize("size", [MAX_MESSAGE_BYTES + 1, 10_000_000])
def test_a_message_over_the_limit_ends_the_stream(tmp_path: Path, size: int) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("huge")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, JOIN)
            await hear(call)
            await say(call, oversized(size))
            assert (await end_of(call))[0] in {Code.RESOURCE_EXHAUSTED, Code.OK, Code.CANCELLED}
            await until(lambda: bool(served.losses))

    assert tell(tmp_path, story).losses == ["huge"]


def test_a_message_at_the_limit_is_read(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("big")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, oversized(MAX_MESSAGE_BYTES - 100))
            assert (await hear(call)).joined.name == "big"  # and not the name of 64 KiB that it gave

    tell(tmp_path, story)


def test_a_bomb_of_compressed_bytes_does_not_go_off(tmp_path: Path) -> None:
    bomb = oversized(50_000_000)
    assert len(gzip.compress(bomb, 1)) < 500_000

    async def story(served: ServedGames) -> None:
        connection = served.connection("bomb")
        async with (
            served.endpoint(connection) as endpoint,
            dial(endpoint, connection.token, compression=grpc.Compression.Gzip) as call,
        ):
            await say(call, JOIN)
            await hear(call)
            await say(call, bomb)
            await end_of(call)
            await until(lambda: bool(served.losses))

    assert tell(tmp_path, story).losses == ["bomb"]


UNREADABLE: Final = {
    "random": bytes(range(255, 0, -1)),
    "no UTF-8": b"\x0a\x04\x0a\x02\xc3\x28",
    "nested": b"\x0b" * 5000 + b"\x0c" * 5000,
    "claims 4 GiB": b"\x12\xff\xff\xff\xff\x0f",
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_unreadable_messages_are_counted_and_the_stream_goes_on(tmp_path: Path, kind: str) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("noise")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, JOIN)
            await hear(call)
            for _ in range(STRAYS):
                await say(call, UNREADABLE[kind])
            served.deal(1, connection, connection)
            message = await hear(call)
            await say(call, wire.PlayRequest(moves=answers_to(message)))
            await until(lambda: connection.session.strays == STRAYS and not connection.session.open)
            assert not served.faults
            await say(call, UNREADABLE[kind])
            await until(lambda: bool(served.faults))

    served = tell(tmp_path, story)
    assert [(name, fault) for name, fault, _ in served.faults] == [("noise", Fault.PROTOCOL)]


@pytest.mark.parametrize("method", [f"/{SERVICE}/Peek", "/evil.v1.Cards/Show", f"/{SERVICE}/"])
def test_a_call_that_there_is_not_is_unimplemented(tmp_path: Path, method: str) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("curious")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token, method=method) as call:
            assert (await end_of(call))[0] is Code.UNIMPLEMENTED

    assert not tell(tmp_path, story).faults


@pytest.mark.parametrize(
    ("method", "token", "what"),
    [
        (PLAY, "wrong", "streams with a token that nobody has"),
        (PLAY, "", "streams with a token that nobody has"),
        ("/evil.v1.Cards/Show", "", "calls of methods that there are not"),
    ],
)
def test_who_knocks_too_often_at_its_own_endpoint_breaks_the_protocol(
    tmp_path: Path, method: str, token: str, what: str
) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("knocks")
        async with served.endpoint(connection) as endpoint:
            for number in range(STRAYS + 1):
                assert not served.faults, number
                async with dial(endpoint, token, method=method) as call:
                    await end_of(call)

    served = tell(tmp_path, story)
    assert served.faults == [("knocks", Fault.PROTOCOL, f"AF-PROTO-005: it made {STRAYS + 1} {what}.")]


def test_connections_that_say_nothing_take_few_handles_of_the_referee(tmp_path: Path) -> None:
    """A bot with many processes could else use up all that the referee may open."""

    async def story(served: ServedGames) -> None:
        bad, good = served.connection("bad"), served.connection("good")
        async with served.endpoint(bad) as one, served.endpoint(good) as two:
            before = handles()
            with contextlib.ExitStack() as stack:
                for _ in range(200):
                    line = stack.enter_context(socket.socket(socket.AF_UNIX))
                    line.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        line.connect(one.address.removeprefix("unix:"))
                async with dial(two, good.token) as call:
                    await say(call, JOIN)
                    assert (await hear(call)).joined.name == "good"
                    assert handles() < before + 200 + 50

    assert not tell(tmp_path, story).faults


def handles() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize(
    "noise",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01" + bytes(200),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\xff" * 500,
    ],
)
def test_other_protocols_on_the_socket_disturb_nobody(tmp_path: Path, noise: bytes) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("good")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, JOIN)
            await hear(call)
            reader, writer = await asyncio.open_unix_connection(endpoint.address.removeprefix("unix:"))
            writer.write(noise)
            with contextlib.suppress(ConnectionError):
                await writer.drain()
            async with asyncio.timeout(PATIENCE):
                with contextlib.suppress(ConnectionError):
                    await reader.read()
            writer.close()
            served.deal(1, connection, connection)
            assert (await hear(call)).turns
            assert (served.faults, served.losses) == ([], [])

    tell(tmp_path, story)


# Errors of our own


def test_an_error_while_a_message_is_taken_in_ends_the_stream_and_blames_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("innocent")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, JOIN)
            await hear(call)
            served.deal(1, connection, connection)
            message = await hear(call)
            monkeypatch.setattr(connection.session, "heard", fails)
            await say(call, wire.PlayRequest(moves=answers_to(message)))
            assert await end_of(call) == (Code.INTERNAL, "the referee failed")

    served = tell(tmp_path, story)
    assert list(served.book.void) == ["game-1"]
    assert [fault for _, fault, _ in served.faults] == [Fault.NO_CONTEST]
    assert "CARD_QH" in caplog.text


def fails(*_: Any) -> Any:
    raise KeyError("CARD_QH")


def test_an_error_while_a_message_is_made_spoils_its_games_and_the_bot_plays_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It used to kill the writer in silence, and the bot waited until it was late."""

    async def story(served: ServedGames) -> None:
        connection, other = served.connection("innocent"), served.connection("other")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, JOIN)
            await hear(call)
            with monkeypatch.context() as patched:
                patched.setattr("referee.net.open_turns.add_turn", fails)
                served.deal(1, connection, connection)
                served.deal(2, connection, other)  # the other one's turn
                await until(lambda: bool(served.book.void))
            served.deal(3, connection, connection)
            assert [turn.game_id for turn in (await hear(call)).turns] == [3]

    served = tell(tmp_path, story)
    assert list(served.book.void) == ["game-1"]
    assert len(served.book.games_in_play.seated) == 2
    assert (served.faults, served.losses) == ([], ["innocent"])  # it leaves at the end of the story
    assert "CARD_QH" in caplog.text


def test_an_error_of_the_writer_itself_ends_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("innocent")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            monkeypatch.setattr(connection, "greeting", fails)
            await say(call, JOIN)
            assert await end_of(call) == (Code.INTERNAL, "the referee failed")

    served = tell(tmp_path, story)
    assert [fault for _, fault, _ in served.faults] == [Fault.NO_CONTEST]
