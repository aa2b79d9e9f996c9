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
from tests.inn import JOIN, LONG, SHORT, Inn, dial, hear, play_on, say, tell, until
from tests.umpires import BANK_US, MOVE_US, answers_to, new_table


def test_a_bot_that_never_reads_is_late_and_hung_and_disturbs_nobody(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        deaf, good = inn.connection("deaf", move_us=50_000), inn.connection("good")
        one, two = inn.endpoint(deaf), inn.endpoint(good)
        async with one as near, two as far, dial(near, deaf.token) as a, dial(far, good.token) as b:
            await say(a, JOIN)
            await say(b, JOIN)
            await asyncio.gather(deaf.ready.wait(), good.ready.wait())
            for number in range(1, 4):
                inn.book.games_in_play.open(new_table(number, limits=SHORT), [good.session, deaf.session])
            inn.host.pump()
            bot = asyncio.ensure_future(play_on(b))
            await until(lambda: bool(inn.hung))
            assert inn.hung[0] is deaf
            bot.cancel()

    inn = tell(tmp_path, story)
    assert {ruling.rule for _, ruling in inn.book.rulings} == {"AF-CLOCK-001"}
    assert {ruling.seat for _, ruling in inn.book.rulings} == {1}


@pytest.mark.parametrize(("asked_at_once", "most"), [(1, 1), (2, 2), (0, 4)])
def test_at_most_so_many_bots_think_at_once(tmp_path: Path, asked_at_once: int, most: int) -> None:
    """Without a bound, all four of them do: their games begin with different seats."""
    seen = heard = 0

    async def story(inn: Inn) -> None:
        connections = [inn.connection(name) for name in ("a", "b", "c", "d")]

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
                endpoint = await stack.enter_async_context(inn.endpoint(connection))
                call = await stack.enter_async_context(dial(endpoint, connection.token))
                await say(call, JOIN)
                bots.append(asyncio.ensure_future(bot(call)))
            await asyncio.gather(*(connection.ready.wait() for connection in connections))
            for game in range(4):
                table = new_table(game, seats=4, limits=LONG)
                inn.book.games_in_play.open(table, [connections[(seat + game) % 4].session for seat in range(4)])
            inn.host.pump()
            await until(lambda: heard >= 40)
            for work in bots:
                work.cancel()

    tell(tmp_path, story, asked_at_once=asked_at_once)
    assert seen == most


def test_who_waits_for_a_place_gets_it_when_a_thinker_falls_silent_or_leaves(tmp_path: Path) -> None:
    async def story(inn: Inn) -> None:
        silent, leaver, patient = (
            inn.connection("silent", 2_000_000),
            inn.connection("leaver"),
            inn.connection("patient"),
        )
        async with contextlib.AsyncExitStack() as stack:
            calls = {}
            for connection in (silent, leaver, patient):
                endpoint = await stack.enter_async_context(inn.endpoint(connection))
                calls[connection] = await stack.enter_async_context(dial(endpoint, connection.token))
                await say(calls[connection], JOIN)
                await hear(calls[connection])
            for number, connection in enumerate((silent, leaver, patient), 1):
                inn.book.games_in_play.open(
                    new_table(number, limits=TimeLimits(2_000_000, 0, 0)), [connection.session] * 2
                )
                inn.host.pump()
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

    def passes(self, inn: Inn, us: int) -> None:
        self.now += us
        inn.host.due_us = self.now
        inn.host.tick()

    def stalls(self, inn: Inn, ms: int) -> None:
        self.now += 1000 * ms
        inn.host.due_us = self.now - 1000 * ms
        inn.host.tick()


ALL: Final = MOVE_US + BANK_US


def late(inn: Inn, time: Time, *others: BotConnection) -> BotConnection:
    """A connection that is asked first, in seat 1, and does not answer."""
    connection = inn.connection("late", 50_000)
    seats = [others[0], connection, *others[1:]] if others else [connection, connection]
    inn.deal(1, *seats)
    connection.session.flush(time.now)
    connection.ready.set()
    return connection


def rules(inn: Inn) -> list[tuple[str, str]]:
    return [(ruling.fault, ruling.rule) for _, ruling in inn.book.rulings]


@pytest.mark.parametrize(("stall_ms", "ruled"), [(200, True), (250, True), (251, False), (5_000, False)])
def test_a_long_stall_of_the_referee_inside_a_late_decision_gives_it_its_time_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stall_ms: int, ruled: bool
) -> None:
    time = Time(monkeypatch)

    async def story(inn: Inn) -> None:
        late(inn, time)
        time.passes(inn, 40_000)
        time.stalls(inn, stall_ms)
        assert not inn.book.void  # the stall is not charged
        assert not inn.book.rulings
        time.passes(inn, ALL)
        assert len(inn.book.rulings) == ruled
        time.passes(inn, ALL)

    inn = tell(tmp_path, story, watched=False)
    assert rules(inn)[:1] == [("TIMEOUT_MOVE", "AF-CLOCK-001")]
    assert inn.book.void == {}


def test_a_bot_that_crowds_the_machine_wins_no_replay_by_a_stall(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing proves that it made the stall: it has its time anew, and is then late."""
    time = Time(monkeypatch)

    async def story(inn: Inn) -> None:
        connection = late(inn, time)
        monkeypatch.setattr(server, "crowding", lambda *_: frozenset({connection}))
        for _ in range(2):
            assert (inn.book.void, inn.book.rulings) == ({}, [])
            time.passes(inn, 300_000)
            time.stalls(inn, 400)
            time.passes(inn, ALL)

    inn = tell(tmp_path, story, watched=False)
    assert rules(inn) == [("TIMEOUT_MOVE", "AF-CLOCK-001")]
    assert inn.book.void == {}


@pytest.mark.parametrize("may_replay", [True, False])
def test_a_second_long_stall_inside_a_late_decision_makes_it_no_contest_if_it_was_not_replayed_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_replay: bool
) -> None:
    time = Time(monkeypatch)

    async def story(inn: Inn) -> None:
        inn.replays = may_replay
        late(inn, time)
        for _ in range(2):
            assert (inn.book.void, inn.book.rulings) == ({}, [])
            time.stalls(inn, 400)
            time.passes(inn, ALL)

    inn = tell(tmp_path, story, watched=False)
    told = "the referee stalled for 400 ms while a decision ran late"
    assert inn.book.void == ({"game-1": told} if may_replay else {})
    assert rules(inn) == ([] if may_replay else [("TIMEOUT_MOVE", "AF-CLOCK-001")])


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

    async def story(inn: Inn) -> None:
        connection = late(inn, time)
        connection.meter = Quiet()  # type: ignore[assignment]
        time.passes(inn, 300_000)
        time.stalls(inn, 400)
        time.passes(inn, ALL)

    inn = tell(tmp_path, story, watched=False)
    assert rules(inn) == [("TIMEOUT_MOVE", "AF-CLOCK-001")]


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

    async def story(inn: Inn) -> None:
        bad, third = inn.connection("bad"), inn.connection("third")
        starve(monkeypatch, bad)
        connection = late(inn, time, bad, third)
        for times in range(1, 4):
            time.passes(inn, 300_000)
            time.stalls(inn, 400)
            time.passes(inn, ALL)
            assert inn.faults == [BAD] * times
            assert connection.session.open
        assert [(ruling.seat, ruling.fault) for _, ruling in inn.book.rulings] == [(0, Fault.RESOURCE_CPU)]

    inn = tell(tmp_path, story, watched=False)
    assert inn.book.void == {}
    assert inn.book.rulings[0][1].sentence == SAID


def test_a_bot_that_is_late_in_the_stall_that_it_makes_loses_its_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time(monkeypatch)

    async def story(inn: Inn) -> None:
        other = inn.connection("other")
        bad = late(inn, time, other)
        starve(monkeypatch, bad)
        time.passes(inn, 300_000)
        time.stalls(inn, 400)
        time.passes(inn, ALL)
        assert inn.faults == [(bad.terms.name, *BAD[1:])]
        assert not bad.session.open

    inn = tell(tmp_path, story, watched=False)
    assert rules(inn) == [("RESOURCE_CPU", "")]
    assert inn.book.void == {}


def test_a_bot_at_another_table_that_makes_the_referee_stall_is_ended_and_the_late_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = Time(monkeypatch)

    async def story(inn: Inn) -> None:
        bad = inn.connection("bad")
        starve(monkeypatch, bad)
        connection = late(inn, time)
        time.passes(inn, 300_000)
        time.stalls(inn, 400)
        time.passes(inn, ALL)
        assert inn.faults == [BAD]
        assert connection.session.open

    inn = tell(tmp_path, story, watched=False)
    assert (inn.book.void, inn.book.rulings) == ({}, [])


def test_a_limit_passed_during_the_stall_is_its_cause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot has been ended for it already; its seat at the table of the late one is lost."""
    time = Time(monkeypatch)

    async def story(inn: Inn) -> None:
        bad, third = inn.connection("bad"), inn.connection("third")
        starve(monkeypatch, inn.connection("nobody"))
        monkeypatch.setattr(server, "guilty_of", lambda *_: {})
        connection = late(inn, time, bad, third)
        bad._clock = lambda: time.now
        bad.passed_a_limit(Fault.RESOURCE_MEM, "It used 3600 MiB of memory; its limit is 512 MiB.")
        time.stalls(inn, 400)
        time.passes(inn, ALL)
        assert inn.faults == []
        assert connection.session.open
        assert [(ruling.seat, ruling.fault) for _, ruling in inn.book.rulings] == [(0, Fault.RESOURCE_MEM)]

    assert tell(tmp_path, story, watched=False).book.void == {}


def test_a_message_that_waited_during_a_stall_is_not_charged_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read before any timer goes off, as after Ctrl-Z and fg."""
    now = 1_000_000
    monkeypatch.setattr(server, "monotonic_us", lambda: now)

    async def story(inn: Inn) -> None:
        nonlocal now
        connection = inn.connection("good")
        connection._clock = lambda: now
        endpoint = server.Endpoint(inn.host, None, None)
        play = server._Play(inn.host, connection, RpcCall(Http2Connection(endpoint._listener, None), 1, {}))
        play.begin().close()
        play.message(JOIN.SerializeToString())
        inn.deal(1, connection, connection)
        message = connection.session.flush(now)
        now += 9_001_000
        inn.host.due_us = now - 9_000_000
        answer = wire.PlayRequest(moves=answers_to(message)).SerializeToString()
        play.message(answer)
        (table,) = inn.book.games_in_play.seated
        assert [times for times in table.charged if times] == [[1_000]]

    inn = tell(tmp_path, story, watched=False)
    assert (inn.book.void, inn.book.rulings) == ({}, [])
