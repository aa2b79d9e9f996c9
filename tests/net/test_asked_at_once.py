"""How many bots that think are asked at once, and that the time before it is nobody's."""

import asyncio
import contextlib
from collections import deque
from pathlib import Path
from typing import Any, Final

import pytest

from referee.net.asked_at_once import A_PROCESSOR, THINKS_US, AskingLimit, ProcessorDemand
from referee.net.connection import BotConnection
from referee.net.server import monotonic_us
from referee.protocol import wire
from referee.sandbox.processor_time import Usage
from tests.served_games import JOIN, LONG, ServedGames, dial, hear, say, tell, until
from tests.umpires import answers_to, new_umpire

SECOND: Final = 1_000_000
SLOW_US: Final = 300_000


class Meter:
    """What a bot used by looks of a second: processors, and what it waited for one."""

    def __init__(self, ran: float = 0, waited: float = 0) -> None:
        self.ran, self.waited = ran, waited
        self.recent = deque([Usage(0, 0, 0, 0, 1)])

    def look(self, now_us: int = 0) -> int:
        last = self.recent[-1]
        ran, waited = last.cpu_us + int(self.ran * SECOND), last.waited_us + int(self.waited * SECOND)
        self.recent.append(Usage(last.at_us + SECOND, ran, 0, 0, 1, 1, waited))
        return 0


def bots(served: ServedGames, number: int, pace_us: int | None, *, here: bool = True) -> list[BotConnection]:
    """Bots that hold no turn; what is known of their pace, and whether they run on this machine."""
    made = [served.connection(f"{pace_us}-{here}-{place}") for place in range(number)]
    for connection in made:
        connection.session.pace_us = pace_us
        connection.meter = Meter() if here else None  # type: ignore[assignment]
    return made


def asked(served: ServedGames, limit: AskingLimit, those: list[BotConnection]) -> int:
    """How many of these are asked when all of them could be."""
    for number, connection in enumerate(those):
        if not limit.must_wait(connection, served.server.connections):
            umpire = new_umpire(number + 1, limits=LONG)
            served.book.games_in_play.open(umpire, [connection.session] * 2)
            connection.session.flush(0)
    return sum(1 for connection in those if connection.session.open)


@pytest.mark.parametrize("pace_us", [None, THINKS_US, 300_000])
def test_of_forty_bots_that_think_two_a_processor_are_asked_at_once(tmp_path: Path, pace_us: int | None) -> None:
    served, limit = ServedGames(tmp_path), AskingLimit(2)
    quick, elsewhere = bots(served, 40, THINKS_US - 1), bots(served, 40, pace_us, here=False)
    assert asked(served, limit, quick) == 40  # they neither wait nor count
    assert asked(served, limit, elsewhere) == 40
    thinking = bots(served, 40, pace_us)
    assert asked(served, limit, thinking) == 2 * A_PROCESSOR
    thinking[0].session.heard([wire.Move(turn_id=next(iter(thinking[0].session.open)))], 0)
    assert not limit.must_wait(thinking[-1], served.server.connections)


def test_more_are_asked_while_processors_are_idle_and_fewer_when_they_are_not() -> None:
    limit = AskingLimit(2)
    limit.look(0.1, waiting=False)
    assert limit.most == limit.least == 4
    for most in (6, 9, 13):
        limit.look(1.4, waiting=True)  # they sleep, or wait for somebody else
        assert limit.most == most
    limit.look(2.5, waiting=True)
    limit.look(None, waiting=True)
    assert limit.most == 13
    for most in (6, 4, 4):
        limit.look(3.5, waiting=True)
        assert limit.most == most


def test_of_a_fixed_number_every_bot_is_one_and_it_stays(tmp_path: Path) -> None:
    served, limit = ServedGames(tmp_path), AskingLimit(2, fixed=3)
    for demand in (0.0, 9.0):
        limit.look(demand, waiting=True)
        assert limit.most == 3
    assert asked(served, limit, bots(served, 2, THINKS_US - 1)) == 2
    assert asked(served, limit, bots(served, 40, 300_000, here=False)) == 1


def test_what_bots_wait_for_a_processor_is_demand_as_what_they_use() -> None:
    """On a machine that others keep busy they use little, and are not idle for it."""
    demand, meters = ProcessorDemand(), [Meter(ran=0.25), Meter(ran=0.25, waited=0.5)]
    demand.look(meters)  # type: ignore[arg-type]
    assert demand.processors is None
    late = Meter(ran=1)
    for meter in [*meters, late]:
        meter.look()
    demand.look([*meters, late])  # type: ignore[list-item]
    assert demand.processors == pytest.approx(1.0)  # who came since counts from the next look on


def test_the_time_before_a_bot_is_asked_is_not_on_its_clock(tmp_path: Path) -> None:
    async def story(served: ServedGames) -> None:
        served.server.asking_limit.most = 1
        first, second = bots(served, 2, None)
        async with contextlib.AsyncExitStack() as stack:
            calls: list[Any] = []
            for number, connection in enumerate((first, second), 1):
                endpoint = await stack.enter_async_context(served.endpoint(connection))
                call = await stack.enter_async_context(dial(endpoint, connection.token))
                calls.append(call)
                await say(call, JOIN)
                await connection.ready.wait()
                served.book.games_in_play.open(new_umpire(number, limits=LONG), [connection.session] * 2)
                served.server.pump()
            message = await hear(calls[0])
            while not message.turns:
                message = await hear(calls[0])
            assert second.session.waiting
            assert second.session.deadline() is None
            before = monotonic_us()
            served.server.asking_limit.most = 1
            await say(calls[0], wire.PlayRequest(moves=answers_to(message)))
            message = await hear(calls[1])
            while not message.turns:
                message = await hear(calls[1])
            assert second.session.last_us >= before

    tell(tmp_path, story, watched=False)


@pytest.mark.parametrize("asked_at_once", [0, 1])
def test_who_has_waited_is_asked_before_who_has_just_answered(tmp_path: Path, asked_at_once: int) -> None:
    """Each plays a game with itself, so that whoever answers has its next turn already."""
    order: list[str] = []

    async def story(served: ServedGames) -> None:
        if not asked_at_once:
            served.server.asking_limit.most = 1
        async with contextlib.AsyncExitStack() as stack:
            players = [(connection, await joined(served, stack, connection)) for connection in bots(served, 3, SLOW_US)]
            for number, (connection, _) in enumerate(players, 1):
                served.book.games_in_play.open(new_umpire(number, limits=LONG), [connection.session] * 2)
                served.server.pump()
            work = [asyncio.ensure_future(play(connection, call)) for connection, call in players]
            await until(lambda: len(order) >= 12)
            for one in work:
                one.cancel()

    async def play(connection: BotConnection, call: Any) -> None:
        while True:
            message = await hear(call)
            if message.turns:
                order.append(connection.terms.name)
                connection.session.pace_us = SLOW_US
                await say(call, wire.PlayRequest(moves=answers_to(message)))

    tell(tmp_path, story, asked_at_once=asked_at_once, watched=False)
    assert len(set(order)) == 3
    assert order[:12] == 4 * order[:3]


def test_a_bot_that_is_lost_while_it_waits_to_be_asked_waits_no_more(tmp_path: Path) -> None:
    """Else the limit would grow for somebody who is not there."""

    async def story(served: ServedGames) -> None:
        limit = served.server.asking_limit
        first, second = bots(served, 2, None)

        def look() -> int:
            """The limit after a look at processors that are idle."""
            limit.most = 1
            served.server._look_at_processors(monotonic_us())
            return limit.most

        async with contextlib.AsyncExitStack() as stack:
            calls = [await joined(served, stack, connection) for connection in (first, second)]
            limit.most = 1
            for number, connection in enumerate((first, second), 1):
                served.book.games_in_play.open(new_umpire(number, limits=LONG), [connection.session] * 2)
                served.server.pump()
            look()
            assert look() == 2
            limit.most = 1
            calls[1].cancel()
            await until(lambda: second.stream is None)
            assert look() == 1

    tell(tmp_path, story, watched=False)


async def joined(served: ServedGames, stack: contextlib.AsyncExitStack, connection: BotConnection) -> Any:
    """The stream of a bot that has joined."""
    endpoint = await stack.enter_async_context(served.endpoint(connection))
    call = await stack.enter_async_context(dial(endpoint, connection.token))
    await say(call, JOIN)
    await connection.ready.wait()
    return call
