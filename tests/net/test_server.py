"""The server: who is let in, streams that follow one another, standard services, and the end."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

import grpc
import grpc.aio
import pytest

from referee.net import server
from referee.net.connection import BotStream
from referee.net.listening import ListenError, server_credentials
from referee.net.server import SERVICE
from referee.protocol import wire
from referee.rules.conduct_clauses import STRAYS
from referee.umpire.faults import Fault
from tests.program import PATIENCE
from tests.served_games import JOIN, LONG, Code, ServedGames, dial, end_of, hear, play_on, say, tell, until
from tests.tls import CERTIFICATE, write_pair
from tests.umpires import new_umpire

# Who is let in


@pytest.mark.parametrize("token", ["", "wrong", "token-of-good ", "Bearer token-of-good", "x" * 4000])
def test_nobody_is_let_in_without_the_right_token(tmp_path: Path, token: str) -> None:
    async def story(served: ServedGames) -> None:
        async with served.endpoint(served.connection("good")) as endpoint, dial(endpoint, token) as call:
            assert await end_of(call) == (Code.UNAUTHENTICATED, "no session has this token")

    served = tell(tmp_path, story)
    assert (served.faults, served.losses) == ([], [])
    assert served.connections[0].streams == 0


def test_wrong_tokens_at_the_server_for_remote_bots_are_told_and_keep_no_right_one_out(tmp_path: Path) -> None:
    """While a hundred of them wait for their refusal, a bot joins at once."""

    async def story(served: ServedGames) -> None:
        good = served.connection("good")
        async with served.endpoint(address="tcp:127.0.0.1:0") as endpoint, contextlib.AsyncExitStack() as stack:
            wrong = [await stack.enter_async_context(dial(endpoint, f"guess-{number}")) for number in range(100)]
            ends = [asyncio.ensure_future(end_of(call)) for call in wrong]
            async with dial(endpoint, good.token) as call:
                await say(call, JOIN)
                assert (await hear(call)).joined.name == "good"
            assert {code for code, _ in await asyncio.gather(*ends)} == {Code.UNAUTHENTICATED}
        served.server.wrong_tokens.close()
        assert served.server.wrong_tokens.total == 100

    served = tell(tmp_path, story)
    assert (served.faults, served.connections[0].streams) == ([], 1)
    told = served.wrong
    assert told[0].startswith("A stream with a token that no bot of this league has, from 127.0.0.1: refused.")
    assert told[1].startswith("99 streams with a token")
    assert len(told) == 2


def test_a_token_of_another_at_ones_own_endpoint_is_a_breach_of_policy(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        bad, victim = served.connection("bad"), served.connection("victim")
        async with served.endpoint(bad) as endpoint, served.endpoint(victim) as home, dial(home, victim.token) as fine:
            await say(fine, JOIN)
            assert (await hear(fine)).joined.name == "victim"
            async with dial(endpoint, victim.token) as call:
                assert await end_of(call) == (Code.UNAUTHENTICATED, "no session has this token")
            assert victim.ready.is_set()  # it has not been taken over

    served = tell(tmp_path, story)
    assert served.faults == [("bad", Fault.POLICY, "It came with the token of another session.")]


def test_a_local_bot_is_not_let_in_at_the_endpoint_of_the_remote_ones(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        local, remote = served.connection("local"), served.connection("remote")
        async with served.endpoint(local), served.endpoint(address="tcp:127.0.0.1:0") as endpoint:
            async with dial(endpoint, local.token) as call:
                assert (await end_of(call))[0] is Code.UNAUTHENTICATED
            async with dial(endpoint, remote.token) as call:
                await say(call, JOIN)
                assert (await hear(call)).joined.name == "remote"

    assert not tell(tmp_path, story).faults


@pytest.mark.parametrize("address", ["", "tcp:127.0.0.1:0"], ids=["unix", "tcp"])
def test_two_bots_play_a_game_and_are_sent_off(tmp_path: Path, address: str) -> None:
    async def story(served: ServedGames) -> None:
        ann, bob = served.connection("ann"), served.connection("bob")
        async with served.endpoint(ann, address) as one, served.endpoint(bob, address) as two:
            assert address == "" or not one.address.endswith(":0")
            async with dial(one, ann.token) as a, dial(two, bob.token) as b:
                bots = [asyncio.ensure_future(play_on(call)) for call in (a, b)]
                await say(a, JOIN)
                await say(b, JOIN)
                await asyncio.gather(ann.ready.wait(), bob.ready.wait())
                served.deal(1, ann, bob)
                await until(lambda: not served.book.games_in_play.seated)
                for connection in (ann, bob):
                    connection.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
                assert [(await bot).reason for bot in bots] == [wire.FAREWELL_REASON_FINISHED] * 2
                await a.done_writing()
                assert await end_of(a) == (Code.OK, "")

    served = tell(tmp_path, story)
    assert list(served.book.records) == ["game-1"]
    assert (served.faults, served.losses, served.book.rulings) == ([], [], [])


def test_who_does_not_half_close_after_farewell_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_PARTING_S", 0.05)

    async def story(served: ServedGames) -> None:
        connection = served.connection("slow")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, JOIN)
            await hear(call)
            connection.leave(wire.FAREWELL_REASON_FINISHED, "All games are over.")
            assert await end_of(call) == (Code.OK, "")

    assert not tell(tmp_path, story).losses


def test_over_tls_a_bot_needs_the_certificate(tmp_path: Path) -> None:
    pair = write_pair(tmp_path)

    async def story(served: ServedGames) -> None:
        connection = served.connection("remote")
        async with served.endpoint(address="tls:localhost:0", credentials=server_credentials(pair)) as endpoint:
            assert endpoint.address.startswith("tls:localhost:")
            trusted = grpc.ssl_channel_credentials(CERTIFICATE.encode())
            async with dial(endpoint, connection.token, credentials=trusted) as call:
                await say(call, JOIN)
                assert (await hear(call)).joined.name == "remote"
            for credentials in (None, grpc.ssl_channel_credentials()):
                async with dial(endpoint, connection.token, credentials=credentials) as call:
                    assert (await end_of(call))[0] is Code.UNAVAILABLE

    tell(tmp_path, story)


def test_a_missing_certificate_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    certificate, _ = write_pair(tmp_path)
    with pytest.raises(ListenError, match=r"nowhere\.pem: there is no such file"):
        server_credentials((certificate, str(tmp_path / "nowhere.pem")))
    assert server_credentials(None) is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_address_that_cannot_be_had_is_an_error_that_names_it(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        with pytest.raises(OSError, match=r"cannot listen at unix:.*/missing/door\.sock"):
            async with served.server.serve(f"unix:{tmp_path}/missing/door.sock"):
                pass

    tell(tmp_path, story)


# Streams


def test_a_second_stream_takes_over_and_the_first_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "_PARTING_S", 0.05)

    async def story(served: ServedGames) -> None:
        connection = served.connection("twice")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as first:
            await say(first, JOIN)
            await hear(first)
            served.deal(1, connection, connection)
            asked = (await hear(first)).turns[0].turn_id
            async with dial(endpoint, connection.token) as second:
                await say(second, JOIN)
                message = await hear(first)
                assert message.farewell.reason == wire.FAREWELL_REASON_SUPERSEDED
                assert (await end_of(first))[0] is Code.OK
                assert (await hear(second)).HasField("joined")
                again = await hear(second)
                assert [turn.turn_id for turn in again.turns] == [asked]
            await until(lambda: served.losses == ["twice"])

    tell(tmp_path, story)


def test_a_thousand_streams_are_a_breach_of_protocol(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("many")
        async with served.endpoint(connection) as endpoint, contextlib.AsyncExitStack() as stack:
            calls = []
            for _ in range(20):  # a bound of ours holds after six; the rest is the same
                calls.append(await stack.enter_async_context(dial(endpoint, connection.token)))
                with contextlib.suppress(grpc.aio.AioRpcError):
                    await say(calls[-1], JOIN)
            ends = [await end_of(call) for call in calls[6:]]
            assert (Code.RESOURCE_EXHAUSTED, "too many streams") in ends

    served = tell(tmp_path, story)
    assert served.faults == [("many", Fault.PROTOCOL, "It opened 6 streams; 5 a game are enough.")]


def test_what_an_ended_process_still_sends_neither_takes_the_place_of_the_next_nor_counts_against_it(
    tmp_path: Path,
) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("again")
        async with served.endpoint(connection) as endpoint:
            before = connection.token
            connection.renew()
            async with dial(endpoint, connection.token) as new:
                await say(new, JOIN)
                assert (await hear(new)).HasField("joined")
                for _ in range(STRAYS + 1):
                    async with dial(endpoint, before) as late:
                        assert await end_of(late) == (Code.UNAUTHENTICATED, "no session has this token")
                assert (connection.ready.is_set(), served.faults, served.losses) == (True, [], [])

    tell(tmp_path, story)


def test_nothing_goes_to_a_stream_that_another_has_followed(tmp_path: Path) -> None:
    """The writer of a stream that was hung up may still be about to look for more."""

    async def story(served: ServedGames) -> None:
        connection = served.connection("again")
        old, new = BotStream(), BotStream()
        connection.connect(old)
        connection.hang_up()
        connection.connect(new)
        connection.receive(new, JOIN.SerializeToString())
        served.deal(1, connection, connection)
        assert served.server.next_message(connection, old) is None
        assert served.server.next_message(connection, new) is not None

    tell(tmp_path, story)


def test_the_end_of_a_stream_before_farewell_is_a_loss(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("leaves")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, JOIN)
            await hear(call)
            await call.done_writing()  # half-closes, and lives
            assert await end_of(call) == (Code.OK, "")
            await until(lambda: bool(served.losses))

    assert tell(tmp_path, story).losses == ["leaves"]


def test_a_stream_that_the_referee_ends_says_so(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        connection = served.connection("hung")
        async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
            await say(call, JOIN)
            await hear(call)
            connection.hang_up()
            assert await end_of(call) == (Code.UNAVAILABLE, "the referee has ended this stream")

    assert not tell(tmp_path, story).losses


# Standard services, and the end


def test_health_and_reflection_answer(tmp_path: Path) -> None:
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

    async def story(served: ServedGames) -> None:
        unix = f"unix:{tmp_path}/all.sock"
        async with served.endpoint(address=unix), grpc.aio.insecure_channel(unix) as channel:
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
        from tests.net.test_server import ServedGames, JOIN, dial, hear, say

        async def main():
            served = ServedGames(Path(sys.argv[1]))
            connection = served.connection("stays")
            watch = asyncio.ensure_future(served.server.watch())
            async with served.endpoint(connection) as endpoint, dial(endpoint, connection.token) as call:
                await say(call, JOIN)
                await hear(call)
                served.deal(1, connection, connection)
                await hear(call)
            watch.cancel()
            print("done")

        asyncio.run(main())
    """
    argv: Sequence[str] = [sys.executable, "-W", "error", "-c", dedent(program), str(tmp_path), str(Path.cwd())]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert "Traceback" not in done.stderr


# When turns are sent


def test_a_few_turns_wait_while_others_may_bring_more_and_go_out_when_the_referee_has_nothing_to_do(
    tmp_path: Path,
) -> None:
    """With forty games of four bots, the second bot is asked at once; who has read something is not sent more by that."""
    sent: list[int] = []

    async def story(served: ServedGames) -> None:
        bots = [served.connection(name) for name in "abcd"]
        async with contextlib.AsyncExitStack() as stack:
            calls = []
            for bot in bots:
                endpoint = await stack.enter_async_context(served.endpoint(bot))
                calls.append(await stack.enter_async_context(dial(endpoint, bot.token)))
                await say(calls[-1], JOIN)
                assert (await hear(calls[-1])).HasField("joined")
            sessions = [bot.session for bot in bots]
            for number in range(40):
                first = 0 if number < 30 else 1 if number < 35 else 2
                umpire = new_umpire(number, seats=4, limits=LONG)
                served.book.games_in_play.open(umpire, [sessions[(seat + first - 1) % 4] for seat in range(4)])
            served.server.pump()
            for bot in bots:
                assert bot.stream is not None
                bot.stream.room()  # type: ignore[attr-defined]
            sent.extend(len(one.open) for one in sessions)
            await until(lambda: all(one.open for one in sessions[:3]))
            assert not sessions[3].waiting
            for one, call in zip(sessions[:3], calls[:3], strict=True):
                message = await hear(call)
                while not message.turns:
                    message = await hear(call)
                assert {turn.turn_id for turn in message.turns} == set(one.open)

    tell(tmp_path, story)
    assert sent == [30, 0, 0, 0]
