"""The server over real gRPC: who is let in, what hostile clients get, and that nothing of ours crosses the wire."""

import asyncio
import contextlib
import gzip
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import grpc
import grpc.aio
import pytest

from referee import server
from referee.faults import Fault
from referee.proceedings import Limits
from referee.protocol import wire
from referee.rules.conduct import STRAYS
from referee.seats.guest import MAX_MESSAGE_BYTES, Guest, Stream, Terms
from referee.server import SERVICE, Door, Host, monotonic_us
from referee.tournament.venue import server_credentials
from tests.tls import CERTIFICATE, write_pair
from tests.umpires import BANK_US, MOVE_US, Book, answers_to, new_table

PLAY: Final = f"/{SERVICE}/Play"
JOIN: Final = wire.PlayRequest(join=wire.Join(name="test", max_in_flight=64, wants_notices=True))
Code = grpc.StatusCode
SHORT: Final = Limits(50_000, 0, 0)
LONG: Final = Limits(60_000_000, 0, 0)


class Inn:
    """A host with guests, and a door for each or one for all."""

    def __init__(self, folder: Path, asked_at_once: int = 0) -> None:
        self.folder = folder
        self.book = Book()
        self.host = Host(self.book.hall, asked_at_once)
        self.guests: list[Guest] = []
        self.faults: list[tuple[str, Fault, str]] = []
        self.losses: list[str] = []

    def guest(self, name: str, move_us: int = 10 * MOVE_US) -> Guest:
        told = Terms(name, 0, ("auction-pitch",), wire.Joined(), move_us)
        guest = Guest(f"token-of-{name}", told, self.book.hall.answered, monotonic_us)
        guest.on_fault = lambda fault, sentence: self.faults.append((name, fault, sentence))
        guest.on_loss = lambda: self.losses.append(name)
        self.guests.append(guest)
        self.host.admit(guest)
        return guest

    def door(self, owner: Guest | None = None, address: str = "", credentials: Any = None) -> Any:
        name = owner.terms.name if owner else "all"
        return self.host.serve(address or f"unix:{self.folder}/{name}.sock", owner, credentials)

    def deal(self, number: int, *players: Guest) -> None:
        self.book.hall.open(new_table(number, seats=len(players)), [guest.session for guest in players])
        for guest in players:
            guest.games += 1
        self.host.pump()


@contextlib.asynccontextmanager
async def dial(
    door: Door, token: str = "", *, credentials: Any = None, compression: Any = None, method: str = PLAY
) -> AsyncIterator[Any]:
    """A stream to a door, as any gRPC client opens it; requests are bytes, responses are messages."""
    target = door.address.removeprefix("tcp:").removeprefix("tls:")
    options = (
        ("grpc.max_send_message_length", -1),
        ("grpc.enable_http_proxy", 0),
        ("grpc.use_local_subchannel_pool", 1),
    )
    if credentials is None:
        channel = grpc.aio.insecure_channel(target, options, compression=compression)
    else:
        channel = grpc.aio.secure_channel(target, credentials, options)
    async with channel:
        open_ = channel.stream_stream(method, None, wire.PlayResponse.FromString)
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        call = open_(metadata=metadata)
        try:
            yield call
        finally:
            call.cancel()


async def say(call: Any, request: wire.PlayRequest | bytes) -> None:
    await call.write(request if isinstance(request, bytes) else request.SerializeToString())


async def end_of(call: Any) -> tuple[Code, str]:
    """The status of a call, once the server has ended it."""
    async with asyncio.timeout(60):
        with contextlib.suppress(grpc.aio.AioRpcError):
            while await call.read() is not grpc.aio.EOF:
                pass
        return await call.code(), await call.details()


async def hear(call: Any) -> wire.PlayResponse:
    async with asyncio.timeout(60):
        return await call.read()


async def until(look: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not look():  # noqa: ASYNC110 - what is looked for tells nobody
            await asyncio.sleep(0.002)


async def play_on(call: Any) -> wire.Farewell:
    """A bot that answers all turns with the first option, until farewell."""
    while True:
        message = await hear(call)
        if message.HasField("farewell"):
            return message.farewell
        if message.turns:
            await say(call, wire.PlayRequest(moves=answers_to(message)))


def tell(
    tmp_path: Path, story: Callable[[Inn], Awaitable[None]], *, asked_at_once: int = 0, watched: bool = True
) -> Inn:
    """Runs a story at an inn whose clocks go, unless the story moves them itself."""

    async def told() -> Inn:
        inn = Inn(tmp_path, asked_at_once)
        watch = asyncio.ensure_future(inn.host.watch() if watched else asyncio.sleep(0))
        try:
            await story(inn)
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
        return inn

    return asyncio.run(told())


# Who is let in


@pytest.mark.parametrize("token", ["", "wrong", "token-of-good ", "Bearer token-of-good", "x" * 4000])
def test_nobody_is_let_in_without_the_right_token(tmp_path: Path, token: str) -> None:
    async def story(inn: Inn) -> None:
        async with inn.door(inn.guest("good")) as door, dial(door, token) as call:
            assert await end_of(call) == (Code.UNAUTHENTICATED, "no session has this token")

    inn = tell(tmp_path, story)
    assert (inn.faults, inn.losses) == ([], [])
    assert inn.guests[0].streams == 0


def test_a_token_of_another_at_ones_own_door_is_a_breach_of_policy(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        bad, victim = inn.guest("bad"), inn.guest("victim")
        async with inn.door(bad) as door, inn.door(victim) as home, dial(home, victim.token) as fine:
            await say(fine, JOIN)
            assert (await hear(fine)).joined.name == "victim"
            async with dial(door, victim.token) as call:
                assert await end_of(call) == (Code.UNAUTHENTICATED, "no session has this token")
            assert victim.ready.is_set()  # it has not been taken over

    inn = tell(tmp_path, story)
    assert inn.faults == [("bad", Fault.POLICY, "It came with the token of another session.")]


def test_a_local_bot_is_not_let_in_at_the_door_of_the_remote_ones(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        local, remote = inn.guest("local"), inn.guest("remote")
        async with inn.door(local), inn.door(address="tcp:127.0.0.1:0") as door:
            async with dial(door, local.token) as call:
                assert (await end_of(call))[0] is Code.UNAUTHENTICATED
            async with dial(door, remote.token) as call:
                await say(call, JOIN)
                assert (await hear(call)).joined.name == "remote"

    assert not tell(tmp_path, story).faults


@pytest.mark.parametrize("address", ["", "tcp:127.0.0.1:0"], ids=["unix", "tcp"])
def test_two_bots_play_a_game_and_are_sent_off(tmp_path: Path, address: str) -> None:
    async def story(inn: Inn) -> None:
        ann, bob = inn.guest("ann"), inn.guest("bob")
        async with inn.door(ann, address) as one, inn.door(bob, address) as two:
            assert address == "" or not one.address.endswith(":0")
            async with dial(one, ann.token) as a, dial(two, bob.token) as b:
                bots = [asyncio.ensure_future(play_on(call)) for call in (a, b)]
                await say(a, JOIN)
                await say(b, JOIN)
                await asyncio.gather(ann.ready.wait(), bob.ready.wait())
                inn.deal(1, ann, bob)
                await until(lambda: not inn.book.hall.seated)
                for guest in (ann, bob):
                    guest.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
                assert [(await bot).reason for bot in bots] == [wire.FAREWELL_REASON_FINISHED] * 2
                await a.done_writing()
                assert await end_of(a) == (Code.OK, "")

    inn = tell(tmp_path, story)
    assert list(inn.book.records) == ["game-1"]
    assert (inn.faults, inn.losses, inn.book.rulings) == ([], [], [])


def test_who_does_not_half_close_after_farewell_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_PARTING_S", 0.05)

    async def story(inn: Inn) -> None:
        guest = inn.guest("slow")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, JOIN)
            await hear(call)
            guest.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
            assert await end_of(call) == (Code.OK, "")

    assert not tell(tmp_path, story).losses


def test_over_tls_a_bot_needs_the_certificate(tmp_path: Path) -> None:
    pair = write_pair(tmp_path)

    async def story(inn: Inn) -> None:
        guest = inn.guest("remote")
        async with inn.door(address="tls:localhost:0", credentials=server_credentials(pair)) as door:
            assert door.address.startswith("tls:localhost:")
            trusted = grpc.ssl_channel_credentials(CERTIFICATE.encode())
            async with dial(door, guest.token, credentials=trusted) as call:
                await say(call, JOIN)
                assert (await hear(call)).joined.name == "remote"
            for credentials in (None, grpc.ssl_channel_credentials()):
                async with dial(door, guest.token, credentials=credentials) as call:
                    assert (await end_of(call))[0] is Code.UNAVAILABLE

    tell(tmp_path, story)


def test_a_missing_certificate_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    certificate, _ = write_pair(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.pem"):
        server_credentials((certificate, str(tmp_path / "nowhere.pem")))
    assert server_credentials(None) is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_address_that_cannot_be_had_is_an_error_that_names_it(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        with pytest.raises(OSError, match=r"cannot listen at unix:.*/missing/door\.sock"):
            async with inn.host.serve(f"unix:{tmp_path}/missing/door.sock"):
                pass

    tell(tmp_path, story)


# Streams


def test_a_second_stream_takes_over_and_the_first_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_PARTING_S", 0.05)

    async def story(inn: Inn) -> None:
        guest = inn.guest("twice")
        async with inn.door(guest) as door, dial(door, guest.token) as first:
            await say(first, JOIN)
            await hear(first)
            inn.deal(1, guest, guest)
            asked = (await hear(first)).turns[0].turn_id
            async with dial(door, guest.token) as second:
                await say(second, JOIN)
                message = await hear(first)
                assert message.farewell.reason == wire.FAREWELL_REASON_SUPERSEDED
                assert (await end_of(first))[0] is Code.OK
                assert (await hear(second)).HasField("joined")
                again = await hear(second)
                assert [turn.turn_id for turn in again.turns] == [asked]
            await until(lambda: inn.losses == ["twice"])

    tell(tmp_path, story)


def test_a_thousand_streams_are_a_breach_of_protocol(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("many")
        async with inn.door(guest) as door, contextlib.AsyncExitStack() as stack:
            calls = []
            for _ in range(20):  # a bound of ours holds after six; the rest is the same
                calls.append(await stack.enter_async_context(dial(door, guest.token)))
                with contextlib.suppress(grpc.aio.AioRpcError):
                    await say(calls[-1], JOIN)
            ends = [await end_of(call) for call in calls[6:]]
            assert (Code.RESOURCE_EXHAUSTED, "too many streams") in ends

    inn = tell(tmp_path, story)
    assert inn.faults == [("many", Fault.PROTOCOL, "It opened 6 streams; 5 a game are enough.")]


def test_what_an_ended_process_still_sends_neither_takes_the_place_of_the_next_nor_counts_against_it(
    tmp_path: Path,
) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("again")
        async with inn.door(guest) as door:
            before = guest.token
            guest.renew()
            async with dial(door, guest.token) as new:
                await say(new, JOIN)
                assert (await hear(new)).HasField("joined")
                for _ in range(STRAYS + 1):
                    async with dial(door, before) as late:
                        assert await end_of(late) == (Code.UNAUTHENTICATED, "no session has this token")
                assert (guest.ready.is_set(), inn.faults, inn.losses) == (True, [], [])

    tell(tmp_path, story)


def test_nothing_goes_to_a_stream_that_another_has_followed(tmp_path: Path) -> None:
    """The writer of a stream that was hung up may still be about to look for more."""

    async def story(inn: Inn) -> None:
        guest = inn.guest("again")
        old, new = Stream(), Stream()
        guest.connect(old)
        guest.hang_up()
        guest.connect(new)
        guest.receive(new, JOIN.SerializeToString())
        inn.deal(1, guest, guest)
        assert inn.host.next_message(guest, old) is None
        assert inn.host.next_message(guest, new) is not None

    tell(tmp_path, story)


def test_the_end_of_a_stream_before_farewell_is_a_loss(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("leaves")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, JOIN)
            await hear(call)
            await call.done_writing()  # half-closes, and lives
            assert await end_of(call) == (Code.OK, "")
            await until(lambda: bool(inn.losses))

    assert tell(tmp_path, story).losses == ["leaves"]


def test_a_stream_that_the_referee_ends_says_so(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("hung")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, JOIN)
            await hear(call)
            guest.hang_up()
            assert await end_of(call) == (Code.UNAVAILABLE, "the referee has ended this stream")

    assert not tell(tmp_path, story).losses


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
    async def story(inn: Inn) -> None:
        guest = inn.guest("stranger")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, first)
            message = await hear(call)
            assert message.farewell.reason == wire.FAREWELL_REASON_REFUSED
            assert message.farewell.sentence
            assert not message.HasField("joined")

    inn = tell(tmp_path, story)
    assert inn.guests[0].refusal == refusal


def oversized(number_of_bytes: int) -> bytes:
    return wire.PlayRequest(join=wire.Join(name="n" * number_of_bytes)).SerializeToString()


@pytest.mark.parametrize("size", [MAX_MESSAGE_BYTES + 1, 10_000_000])
def test_a_message_over_the_limit_ends_the_stream(tmp_path: Path, size: int) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("huge")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, JOIN)
            await hear(call)
            await say(call, oversized(size))
            assert (await end_of(call))[0] in {Code.RESOURCE_EXHAUSTED, Code.OK, Code.CANCELLED}
            await until(lambda: bool(inn.losses))

    assert tell(tmp_path, story).losses == ["huge"]


def test_a_message_at_the_limit_is_read(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("big")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, oversized(MAX_MESSAGE_BYTES - 100))
            assert (await hear(call)).joined.name == "big"  # and not the name of 64 KiB that it gave

    tell(tmp_path, story)


def test_a_bomb_of_compressed_bytes_does_not_go_off(tmp_path: Path) -> None:
    bomb = oversized(50_000_000)
    assert len(gzip.compress(bomb, 1)) < 500_000

    async def story(inn: Inn) -> None:
        guest = inn.guest("bomb")
        async with inn.door(guest) as door, dial(door, guest.token, compression=grpc.Compression.Gzip) as call:
            await say(call, JOIN)
            await hear(call)
            await say(call, bomb)
            await end_of(call)
            await until(lambda: bool(inn.losses))

    assert tell(tmp_path, story).losses == ["bomb"]


UNREADABLE: Final = {
    "random": bytes(range(255, 0, -1)),
    "no UTF-8": b"\x0a\x04\x0a\x02\xc3\x28",
    "nested": b"\x0b" * 5000 + b"\x0c" * 5000,
    "claims 4 GiB": b"\x12\xff\xff\xff\xff\x0f",
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_unreadable_messages_are_counted_and_the_stream_goes_on(tmp_path: Path, kind: str) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("noise")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, JOIN)
            await hear(call)
            for _ in range(STRAYS):
                await say(call, UNREADABLE[kind])
            inn.deal(1, guest, guest)
            message = await hear(call)
            await say(call, wire.PlayRequest(moves=answers_to(message)))
            await until(lambda: guest.session.strays == STRAYS and not guest.session.open)
            assert not inn.faults
            await say(call, UNREADABLE[kind])
            await until(lambda: bool(inn.faults))

    inn = tell(tmp_path, story)
    assert [(name, fault) for name, fault, _ in inn.faults] == [("noise", Fault.PROTOCOL)]


@pytest.mark.parametrize("method", [f"/{SERVICE}/Peek", "/evil.v1.Cards/Show", f"/{SERVICE}/"])
def test_a_call_that_there_is_not_is_unimplemented(tmp_path: Path, method: str) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("curious")
        async with inn.door(guest) as door, dial(door, guest.token, method=method) as call:
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
def test_who_knocks_too_often_at_its_own_door_breaks_the_protocol(
    tmp_path: Path, method: str, token: str, what: str
) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("knocks")
        async with inn.door(guest) as door:
            for number in range(STRAYS + 1):
                assert not inn.faults, number
                async with dial(door, token, method=method) as call:
                    await end_of(call)

    inn = tell(tmp_path, story)
    assert inn.faults == [("knocks", Fault.PROTOCOL, f"AF-PROTO-005: it made {STRAYS + 1} {what}.")]


def test_connections_that_say_nothing_take_few_handles_of_the_referee(tmp_path: Path) -> None:
    """A bot with many processes could else use up all that the referee may open."""

    async def story(inn: Inn) -> None:
        bad, good = inn.guest("bad"), inn.guest("good")
        async with inn.door(bad) as one, inn.door(good) as two:
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
    async def story(inn: Inn) -> None:
        guest = inn.guest("good")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, JOIN)
            await hear(call)
            reader, writer = await asyncio.open_unix_connection(door.address.removeprefix("unix:"))
            writer.write(noise)
            with contextlib.suppress(ConnectionError):
                await writer.drain()
            async with asyncio.timeout(60):
                with contextlib.suppress(ConnectionError):
                    await reader.read()
            writer.close()
            inn.deal(1, guest, guest)
            assert (await hear(call)).turns
            assert (inn.faults, inn.losses) == ([], [])

    tell(tmp_path, story)


# Errors of our own


def test_an_error_while_a_message_is_taken_in_ends_the_stream_and_blames_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("innocent")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, JOIN)
            await hear(call)
            inn.deal(1, guest, guest)
            message = await hear(call)
            monkeypatch.setattr(guest.session, "heard", fails)
            await say(call, wire.PlayRequest(moves=answers_to(message)))
            assert await end_of(call) == (Code.INTERNAL, "the referee failed")

    inn = tell(tmp_path, story)
    assert list(inn.book.void) == ["game-1"]
    assert [fault for _, fault, _ in inn.faults] == [Fault.NO_CONTEST]
    assert "CARD_QH" in caplog.text


def fails(*_: Any) -> Any:
    raise KeyError("CARD_QH")


def test_an_error_while_a_message_is_made_spoils_its_games_and_the_bot_plays_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It used to kill the writer in silence, and the bot waited until it was late."""

    async def story(inn: Inn) -> None:
        guest, other = inn.guest("innocent"), inn.guest("other")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            await say(call, JOIN)
            await hear(call)
            with monkeypatch.context() as patched:
                patched.setattr("referee.session.add_turn", fails)
                inn.deal(1, guest, guest)
                inn.deal(2, guest, other)  # the other one's turn
                await until(lambda: bool(inn.book.void))
            inn.deal(3, guest, guest)
            assert [turn.game_id for turn in (await hear(call)).turns] == [3]

    inn = tell(tmp_path, story)
    assert list(inn.book.void) == ["game-1"]
    assert len(inn.book.hall.seated) == 2
    assert (inn.faults, inn.losses) == ([], ["innocent"])  # it leaves at the end of the story
    assert "CARD_QH" in caplog.text


def test_an_error_of_the_writer_itself_ends_the_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def story(inn: Inn) -> None:
        guest = inn.guest("innocent")
        async with inn.door(guest) as door, dial(door, guest.token) as call:
            monkeypatch.setattr(guest, "greeting", fails)
            await say(call, JOIN)
            assert await end_of(call) == (Code.INTERNAL, "the referee failed")

    inn = tell(tmp_path, story)
    assert [fault for _, fault, _ in inn.faults] == [Fault.NO_CONTEST]


# Clocks


def test_a_bot_that_never_reads_is_late_and_hung_and_disturbs_nobody(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        deaf, good = inn.guest("deaf", move_us=50_000), inn.guest("good")
        hung: list[Guest] = []
        inn.host.on_hung = hung.append
        one, two = inn.door(deaf), inn.door(good)
        async with one as near, two as far, dial(near, deaf.token) as a, dial(far, good.token) as b:
            await say(a, JOIN)
            await say(b, JOIN)
            await asyncio.gather(deaf.ready.wait(), good.ready.wait())
            for number in range(1, 4):
                inn.book.hall.open(new_table(number, limits=SHORT), [good.session, deaf.session])
            inn.host.pump()
            bot = asyncio.ensure_future(play_on(b))
            await until(lambda: bool(hung))
            assert hung[0] is deaf
            bot.cancel()

    inn = tell(tmp_path, story)
    assert {ruling.rule for _, ruling in inn.book.rulings} == {"AF-CLOCK-001"}
    assert {ruling.seat for _, ruling in inn.book.rulings} == {1}


@pytest.mark.parametrize(("asked_at_once", "most"), [(1, 1), (2, 2), (0, 4)])
def test_at_most_so_many_bots_think_at_once(tmp_path: Path, asked_at_once: int, most: int) -> None:
    """Without a bound, all four of them do: their games begin with different seats."""
    seen = heard = 0

    async def story(inn: Inn) -> None:
        guests = [inn.guest(name) for name in ("a", "b", "c", "d")]

        async def bot(call: Any) -> None:
            nonlocal seen, heard
            while True:
                message = await hear(call)
                if message.turns:
                    await asyncio.sleep(0.01)
                    heard += 1
                    seen = max(seen, sum(1 for guest in guests if guest.session.open))
                    await say(call, wire.PlayRequest(moves=answers_to(message)))

        async with contextlib.AsyncExitStack() as stack:
            bots = []
            for guest in guests:
                door = await stack.enter_async_context(inn.door(guest))
                call = await stack.enter_async_context(dial(door, guest.token))
                await say(call, JOIN)
                bots.append(asyncio.ensure_future(bot(call)))
            await asyncio.gather(*(guest.ready.wait() for guest in guests))
            for game in range(4):
                table = new_table(game, seats=4, limits=LONG)
                inn.book.hall.open(table, [guests[(seat + game) % 4].session for seat in range(4)])
            inn.host.pump()
            await until(lambda: heard >= 40)
            for work in bots:
                work.cancel()

    tell(tmp_path, story, asked_at_once=asked_at_once)
    assert seen == most


def test_who_waits_for_a_place_gets_it_when_a_thinker_falls_silent_or_leaves(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        silent, leaver, patient = inn.guest("silent", 50_000), inn.guest("leaver"), inn.guest("patient")
        async with contextlib.AsyncExitStack() as stack:
            calls = {}
            for guest in (silent, leaver, patient):
                door = await stack.enter_async_context(inn.door(guest))
                calls[guest] = await stack.enter_async_context(dial(door, guest.token))
                await say(calls[guest], JOIN)
                await hear(calls[guest])
            for number, guest in enumerate((silent, leaver, patient), 1):
                inn.book.hall.open(new_table(number, limits=SHORT), [guest.session] * 2)
                inn.host.pump()
                await asyncio.sleep(0.02)
            assert (len(silent.session.open), len(leaver.session.open), len(patient.session.open)) == (1, 0, 0)
            assert (await hear(calls[leaver])).turns  # the silent one's turn is ruled late, and its next has to queue
            await leaver_goes(leaver, calls[leaver])
            assert (await hear(calls[patient])).turns

    tell(tmp_path, story, asked_at_once=1)


async def leaver_goes(guest: Guest, call: Any) -> None:
    call.cancel()
    await until(lambda: guest.stream is None)
    guest.session.lost_stream(cautious=True)  # as its keeper does


@pytest.mark.parametrize(("stall_ms", "ruled"), [(200, True), (250, True), (251, False), (5_000, False)])
def test_a_long_stall_of_the_referee_inside_a_late_decision_makes_it_no_contest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stall_ms: int, ruled: bool
) -> None:
    """The clock is the test's: the watch comes later than it should by that much."""
    now = 1_000_000
    monkeypatch.setattr(server, "monotonic_us", lambda: now)

    async def story(inn: Inn) -> None:
        nonlocal now
        guest = inn.guest("late", 50_000)
        inn.deal(1, guest, guest)
        guest.session.flush(now)
        guest.ready.set()
        now += 40_000 + 1000 * stall_ms
        inn.host.due_us = now - 1000 * stall_ms
        inn.host.tick()
        assert not inn.book.void  # the stall is not charged: 10 ms are left
        assert not inn.book.rulings
        now += MOVE_US + BANK_US
        inn.host.due_us = now
        inn.host.tick()

    inn = tell(tmp_path, story, watched=False)
    assert [ruling.rule for _, ruling in inn.book.rulings] == ["AF-CLOCK-001"] * ruled
    told = f"the referee stalled for {stall_ms} ms while a decision ran late"
    assert inn.book.void == ({} if ruled else {"game-1": told})


def test_a_message_that_waited_during_a_stall_is_not_charged_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read before any timer goes off, as after Ctrl-Z and fg."""
    now = 1_000_000
    monkeypatch.setattr(server, "monotonic_us", lambda: now)

    class Waiting:
        def __init__(self, *messages: bytes) -> None:
            self.messages = [*messages, grpc.aio.EOF]

        async def read(self) -> Any:
            return self.messages.pop(0)

    async def story(inn: Inn) -> None:
        nonlocal now
        guest = inn.guest("good")
        guest._clock = lambda: now
        stream = Stream()
        assert guest.connect(stream)
        guest.receive(stream, JOIN.SerializeToString())
        inn.deal(1, guest, guest)
        message = guest.session.flush(now)
        now += 9_001_000
        inn.host.due_us = now - 9_000_000
        answer = wire.PlayRequest(moves=answers_to(message)).SerializeToString()
        await server._Handlers(inn.host, Door("", None))._read(guest, stream, Waiting(answer))  # type: ignore[arg-type]
        (table,) = inn.book.hall.seated
        assert [times for times in table.charged if times] == [[1_000]]

    inn = tell(tmp_path, story, watched=False)
    assert (inn.book.void, inn.book.rulings) == ({}, [])


# Standard services, and the end


def test_health_and_reflection_answer(tmp_path: Path) -> None:
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

    async def story(inn: Inn) -> None:
        unix = f"unix:{tmp_path}/all.sock"
        async with inn.door(address=unix), grpc.aio.insecure_channel(unix) as channel:
            health = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
            assert health.status == health_pb2.HealthCheckResponse.SERVING
            ask = reflection_pb2.ServerReflectionRequest(list_services="")
            answers = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([ask]))
            names = [one.name async for answer in answers for one in answer.list_services_response.service]
            assert SERVICE in names

    tell(tmp_path, story)


def test_a_process_that_served_exits_by_itself(tmp_path: Path) -> None:
    """With a client still connected, a stream open and turns unanswered."""
    program = """
        import asyncio, sys
        from pathlib import Path
        sys.path.insert(0, sys.argv[2])
        from tests.test_server import Inn, JOIN, dial, hear, say

        async def main():
            inn = Inn(Path(sys.argv[1]))
            guest = inn.guest("stays")
            watch = asyncio.ensure_future(inn.host.watch())
            async with inn.door(guest) as door, dial(door, guest.token) as call:
                await say(call, JOIN)
                await hear(call)
                inn.deal(1, guest, guest)
                await hear(call)
            watch.cancel()
            print("done")

        asyncio.run(main())
    """
    argv: Sequence[str] = [sys.executable, "-W", "error", "-c", dedent(program), str(tmp_path), str(Path.cwd())]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "Traceback" not in done.stderr
