"""The server: clocks."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any, Final

import pytest

from referee.net import server
from referee.net.connection import BotConnection
from referee.net.http2 import Http2Connection, RpcCall
from referee.protocol import wire
from referee.umpire.events import TimeLimits
from referee.umpire.faults import Fault
from referee.umpire.umpire import Umpire
from tests.served_games import JOIN, LONG, SHORT, ServedGames, dial, hear, play_on, say, tell, until
from tests.umpires import BANK_US, MOVE_US, answers_to, new_umpire


def test_a_bot_that_never_reads_is_late_and_hung_and_disturbs_nobody(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        deaf, good = served.connection("deaf", move_us=50_000), served.connection("good")
        one, two = served.endpoint(deaf), served.endpoint(good)
        async with one as near, two as far, dial(near, deaf.token) as a, dial(far, good.token) as b:
            await say(a, JOIN)
            await say(b, JOIN)
            await asyncio.gather(deaf.ready.wait(), good.ready.wait())
            for number in range(1, 4):
                served.book.games_in_play.open(new_umpire(number, limits=SHORT), [good.session, deaf.session])
            served.server.pump()
            bot = asyncio.ensure_future(play_on(b))
            await until(lambda: bool(served.hung))
            assert served.hung[0] is deaf
            bot.cancel()

    served = tell(tmp_path, story)
    assert {ruling.rule for _, ruling in served.book.rulings} == {"AF-CLOCK-001"}
    assert {ruling.seat for _, ruling in served.book.rulings} == {1}


@pytest.mark.parametrize(("asked_at_once", "most"), [(1, 1), (2, 2), (0, 4)])
def test_at_most_so_many_bots_think_at_once(tmp_path: Path, asked_at_once: int, most: int) -> None:
    """Without a bound, all four of them do: their games begin with different seats."""
    seen = heard = 0

    async def story(served: ServedGames) -> None:
        connections = [served.connection(name) for name in ("a", "b", "c", "d")]

        async def bot(call: Any) -> None:
            nonlocal seen, heard
            while True:
                message = await hear(call)
                if message.turns:
                    await asyncio.sleep(0.01)
                    heard += 1
                    seen = max(seen, sum(1 for connection in connections if connection.session.open))
                    await say(call, wire.PlayRequest(moves=answers_to(message)))

        async with contextlib.AsyncExitStack() as stack:
            bots = []
            for connection in connections:
                endpoint = await stack.enter_async_context(served.endpoint(connection))
                call = await stack.enter_async_context(dial(endpoint, connection.token))
                await say(call, JOIN)
                bots.append(asyncio.ensure_future(bot(call)))
            await asyncio.gather(*(connection.ready.wait() for connection in connections))
            for game in range(4):
                umpire = new_umpire(game, seats=4, limits=LONG)
                served.book.games_in_play.open(umpire, [connections[(seat + game) % 4].session for seat in range(4)])
            served.server.pump()
            await until(lambda: heard >= 40)
            for work in bots:
                work.cancel()

    tell(tmp_path, story, asked_at_once=asked_at_once)
    assert seen == most


def test_who_waits_for_a_place_gets_it_when_a_thinker_falls_silent_or_leaves(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        silent, leaver, patient = (
            served.connection("silent", 2_000_000),
            served.connection("leaver"),
            served.connection("patient"),
        )
        async with contextlib.AsyncExitStack() as stack:
            calls = {}
            for connection in (silent, leaver, patient):
                endpoint = await stack.enter_async_context(served.endpoint(connection))
                calls[connection] = await stack.enter_async_context(dial(endpoint, connection.token))
                await say(calls[connection], JOIN)
                await hear(calls[connection])
            for number, connection in enumerate((silent, leaver, patient), 1):
                served.book.games_in_play.open(
                    new_umpire(number, limits=TimeLimits(2_000_000, 0, 0)), [connection.session] * 2
                )
                served.server.pump()
                await asyncio.sleep(0.02)
            assert (len(silent.session.open), len(leaver.session.open), len(patient.session.open)) == (1, 0, 0)
            assert (await hear(calls[leaver])).turns  # the silent one's turn is ruled late, and its next has to queue
            await leaver_goes(leaver, calls[leaver])
            assert (await hear(calls[patient])).turns

    tell(tmp_path, story, asked_at_once=1)


async def leaver_goes(connection: BotConnection, call: Any) -> None:
    call.cancel()
    await until(lambda: connection.stream is None)
    connection.session.lost_stream(cautious=True)  # as its supervisor does


class Time:
    """The clock of a test: the watch comes later than it should by a stall."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000_000
        monkeypatch.setattr(server, "monotonic_us", lambda: self.now)

    def passes(self, served: ServedGames, us: int) -> None:
        self.now += us
        served.server.due_us = self.now
        served.server.tick()

    def stalls(self, served: ServedGames, ms: int) -> None:
        self.now += 1000 * ms
        served.server.due_us = self.now - 1000 * ms
        served.server.tick()


ALL: Final = MOVE_US + BANK_US


def late(served: ServedGames, time: Time, *others: BotConnection) -> BotConnection:
    """A connection that is asked first, in seat 1, and does not answer."""
    connection = served.connection("late", 50_000)
    seats = [others[0], connection, *others[1:]] if others else [connection, connection]
    served.deal(1, *seats)
    connection.session.flush(time.now)
    connection.ready.set()
    return connection


def rules(served: ServedGames) -> list[tuple[str, str]]:
    return [(ruling.fault, ruling.rule) for _, ruling in served.book.rulings]


@pytest.mark.parametrize(("stall_ms", "ruled"), [(200, True), (250, True), (251, False), (5_000, False)])
def test_a_long_stall_of_the_referee_inside_a_late_decision_gives_it_its_time_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stall_ms: int, ruled: bool
) -> None:
    time = Time(monkeypatch)

    async def story(served: ServedGames) -> None:
        late(served, time)
        time.passes(served, 40_000)
        time.stalls(served, stall_ms)
        assert not served.book.void  # the stall is not charged
        assert not served.book.rulings
        time.passes(served, ALL)
        assert len(served.book.rulings) == ruled
        time.passes(served, ALL)

    served = tell(tmp_path, story, watched=False)
    assert rules(served)[:1] == [("TIMEOUT_MOVE", "AF-CLOCK-001")]
    assert served.book.void == {}


def test_a_bot_that_crowds_the_machine_wins_no_replay_by_a_stall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing proves that it made the stall: it has its time anew, and is then late."""
    time = Time(monkeypatch)

    async def story(served: ServedGames) -> None:
        connection = late(served, time)
        monkeypatch.setattr(server, "crowding", lambda *_: frozenset({connection}))
        for _ in range(2):
            assert (served.book.void, served.book.rulings) == ({}, [])
            time.passes(served, 300_000)
            time.stalls(served, 400)
            time.passes(served, ALL)

    served = tell(tmp_path, story, watched=False)
    assert rules(served) == [("TIMEOUT_MOVE", "AF-CLOCK-001")]
    assert served.book.void == {}


@pytest.mark.parametrize("may_replay", [True, False])
def test_a_second_long_stall_inside_a_late_decision_makes_it_no_contest_if_it_was_not_replayed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_replay: bool
) -> None:
    time = Time(monkeypatch)

    async def story(served: ServedGames) -> None:
        served.replays = may_replay
        late(served, time)
        for _ in range(2):
            assert (served.book.void, served.book.rulings) == ({}, [])
            time.stalls(served, 400)
            time.passes(served, ALL)

    served = tell(tmp_path, story, watched=False)
    told = "the referee stalled for 400 ms while a decision ran late"
    assert served.book.void == ({"game-1": told} if may_replay else {})
    assert rules(served) == ([] if may_replay else [("TIMEOUT_MOVE", "AF-CLOCK-001")])


def test_a_late_turn_of_a_game_that_is_over_is_nobodys_business(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time, asked = Time(monkeypatch), list[BotConnection]()

    async def story(served: ServedGames) -> None:
        def may_replay(connection: BotConnection, umpire: Umpire) -> bool:
            asked.append(connection)
            return True

        monkeypatch.setattr(served, "may_replay", may_replay)
        connection = late(served, time)
        time.stalls(served, 400)
        time.passes(served, ALL)
        (umpire,) = served.book.games_in_play.seated
        served.book.games_in_play.abandon(umpire, "It was stopped.")
        time.stalls(served, 400)
        time.passes(served, ALL)
        assert not connection.session.open

    served = tell(tmp_path, story, watched=False)
    assert not asked
    assert rules(served) == []
    assert served.book.void == {"game-1": "It was stopped."}


class Quiet:
    """A meter of a bot that used nothing and lacked nothing."""

    recent: tuple[()] = ()

    def look(self, _now_us: int) -> int:
        return 0

    def refresh(self, _everything: Any) -> None:
        pass


def test_where_it_is_known_what_the_bot_waited_for_busy_processors_excuse_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bot slept while the machine was busy: its time was its own. A bot that we cannot see is given its time anew."""
    time = Time(monkeypatch)
    monkeypatch.setattr(server, "cause_of", lambda *_: "processor")

    async def story(served: ServedGames) -> None:
        connection = late(served, time)
        connection.meter = Quiet()  # type: ignore[assignment]
        time.passes(served, 300_000)
        time.stalls(served, 400)
        time.passes(served, ALL)

    served = tell(tmp_path, story, watched=False)
    assert rules(served) == [("TIMEOUT_MOVE", "AF-CLOCK-001")]


SAID: Final = "It kept the machine so busy that the referee stood still for 400 ms: 99 threads at work."


BAD: Final = ("bad", Fault.RESOURCE_CPU, SAID)


def starve(monkeypatch: pytest.MonkeyPatch, bad: BotConnection) -> None:
    """From now on that connection makes every stall."""
    monkeypatch.setattr(server, "guilty_of", lambda *_: {bad: (Fault.RESOURCE_CPU, SAID)})


def test_a_bot_that_makes_the_referee_stall_loses_the_game_in_which_another_is_late_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other has its time anew, as often as it takes; it is not blamed, and there is no replay."""
    time = Time(monkeypatch)

    async def story(served: ServedGames) -> None:
        bad, third = served.connection("bad"), served.connection("third")
        starve(monkeypatch, bad)
        connection = late(served, time, bad, third)
        for times in range(1, 4):
            time.passes(served, 300_000)
            time.stalls(served, 400)
            time.passes(served, ALL)
            assert served.faults == [BAD] * times
            assert connection.session.open
        assert [(ruling.seat, ruling.fault) for _, ruling in served.book.rulings] == [(0, Fault.RESOURCE_CPU)]

    served = tell(tmp_path, story, watched=False)
    assert served.book.void == {}
    assert served.book.rulings[0][1].sentence == SAID


def test_a_bot_that_is_late_in_the_stall_that_it_makes_loses_its_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time(monkeypatch)

    async def story(served: ServedGames) -> None:
        other = served.connection("other")
        bad = late(served, time, other)
        starve(monkeypatch, bad)
        time.passes(served, 300_000)
        time.stalls(served, 400)
        time.passes(served, ALL)
        assert served.faults == [(bad.terms.name, *BAD[1:])]
        assert not bad.session.open

    served = tell(tmp_path, story, watched=False)
    assert rules(served) == [("RESOURCE_CPU", "")]
    assert served.book.void == {}


def test_a_bot_at_another_table_that_makes_the_referee_stall_is_ended_and_the_late_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time(monkeypatch)

    async def story(served: ServedGames) -> None:
        bad = served.connection("bad")
        starve(monkeypatch, bad)
        connection = late(served, time)
        time.passes(served, 300_000)
        time.stalls(served, 400)
        time.passes(served, ALL)
        assert served.faults == [BAD]
        assert connection.session.open

    served = tell(tmp_path, story, watched=False)
    assert (served.book.void, served.book.rulings) == ({}, [])


def test_a_limit_passed_during_the_stall_is_its_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot has been ended for it already; its seat at the table of the late one is lost."""
    time = Time(monkeypatch)

    async def story(served: ServedGames) -> None:
        bad, third = served.connection("bad"), served.connection("third")
        starve(monkeypatch, served.connection("nobody"))
        monkeypatch.setattr(server, "guilty_of", lambda *_: {})
        connection = late(served, time, bad, third)
        bad._clock = lambda: time.now
        bad.passed_a_limit(Fault.RESOURCE_MEM, "It used 3600 MiB of memory; its limit is 512 MiB.")
        time.stalls(served, 400)
        time.passes(served, ALL)
        assert served.faults == []
        assert connection.session.open
        assert [(ruling.seat, ruling.fault) for _, ruling in served.book.rulings] == [(0, Fault.RESOURCE_MEM)]

    assert tell(tmp_path, story, watched=False).book.void == {}


def test_a_message_that_waited_during_a_stall_is_not_charged_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read before any timer goes off, as after Ctrl-Z and fg."""
    now = 1_000_000
    monkeypatch.setattr(server, "monotonic_us", lambda: now)

    async def story(served: ServedGames) -> None:
        nonlocal now
        connection = served.connection("good")
        connection._clock = lambda: now
        endpoint = server.Endpoint(served.server, None, None)
        play = server._Play(served.server, connection, RpcCall(Http2Connection(endpoint._listener, None), 1, {}))
        play.write = lambda: None  # nobody is there to read it
        play.begin().close()
        play.message(JOIN.SerializeToString())
        served.book.games_in_play.open(new_umpire(1), [connection.session] * 2)
        message = connection.session.flush(now)
        now += 9_001_000
        served.server.due_us = now - 9_000_000
        answer = wire.PlayRequest(moves=answers_to(message)).SerializeToString()
        play.message(answer)
        (umpire,) = served.book.games_in_play.seated
        assert [times for times in umpire.charged if times] == [[1_000]]

    served = tell(tmp_path, story, watched=False)
    assert (served.book.void, served.book.rulings) == ({}, [])
