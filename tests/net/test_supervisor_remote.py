"""Supervisors of bots that dial in: when they are waited for, and which games they lose by staying away."""

import asyncio

import pytest

from referee.net.connection import BotStream
from referee.net.supervisor import LOSSES_A_LEG
from referee.protocol import wire
from referee.umpire.faults import Fault
from tests.sandbox.lodge import Lodge, settle, tell
from tests.umpires import BANK_US, MOVE_US
from tests.virtual import VirtualLoop

pytestmark = pytest.mark.usefixtures("short_waits")


def test_a_remote_bot_that_never_dials_in_is_given_up() -> None:
    async def story(lodge: Lodge) -> None:
        await lodge.supervisor.settled.wait()
        assert now() == 600

    assert tell(story, remote=True).supervisor.withdrawn == "It did not dial in within 600 seconds."


def test_why_a_remote_bot_was_refused_is_part_of_the_reason() -> None:
    async def story(lodge: Lodge) -> None:
        stream = BotStream()
        lodge.connection.connect(stream)
        join = wire.PlayRequest(join=wire.Join(variants=["cinch"]))
        lodge.connection.receive(stream, join.SerializeToString())
        lodge.connection.disconnect(stream)
        await lodge.supervisor.settled.wait()

    lodge = tell(story, remote=True)
    assert lodge.supervisor.withdrawn == "It did not dial in within 600 seconds. It plays cinch, not auction-pitch."


def test_a_remote_bot_that_comes_back_loses_nothing_but_time() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        assert lodge.ask() == [1]
        lodge.connection.disconnect(lodge.stream)
        await settle()
        assert lodge.connection.session.deadline() is None
        lodge.join()
        await settle()
        message = lodge.connection.flush(700_000)
        assert message is not None
        assert len(message.turns) == 1
        assert lodge.connection.session.deadline() == MOVE_US + BANK_US  # counted from when it was first asked
        lodge.connection.disconnect(lodge.stream)
        lodge.join()
        await settle()
        assert not lodge.supervisor.withdrawn

    lodge = tell(story, remote=True)
    assert [fault for fault, _ in lodge.noted] == [Fault.DISCONNECT] * 2
    assert not lodge.forfeited()


async def away(lodge: Lodge, seconds: float) -> None:
    """The bot is away for so long, and back if it may be."""
    lodge.connection.disconnect(lodge.stream)
    await asyncio.sleep(seconds)
    lodge.join()
    await settle()


def now() -> float:
    return asyncio.get_running_loop().time()


async def joined(lodge: Lodge, games: int = 0) -> None:
    lodge.join()
    await settle()
    for number in range(1, games + 1):
        lodge.deal(number)


def test_an_outage_costs_the_games_under_way_and_not_the_league() -> None:
    """Away for forty seconds: the games of that time are lost, those that come next are played."""

    async def story(lodge: Lodge) -> None:
        await joined(lodge, 2)
        lodge.ask()
        await away(lodge, 40)
        assert lodge.forfeited() == ["game-1", "game-2"]
        assert lodge.stream.farewell is None
        assert lodge.supervisor.present
        lodge.deal(3)
        assert lodge.ask() == [3]
        lodge.answer_all()
        assert not lodge.supervisor.withdrawn

    lodge = tell(story, remote=True)
    assert lodge.forfeited() == ["game-1", "game-2"]
    assert lodge.noted == [(Fault.DISCONNECT, "Its stream ended before Farewell.")]
    said = "It was away for 30 seconds of this game."
    assert {ruling.sentence for _, ruling in lodge.book.rulings if ruling.consequence == "FORFEITED"} == {said}


@pytest.mark.parametrize(("seconds", "lost"), [(29, []), (31, ["game-1"])])
def test_the_games_under_way_wait_for_thirty_seconds(seconds: int, lost: list[str]) -> None:
    async def story(lodge: Lodge) -> None:
        await joined(lodge, 1)
        await away(lodge, seconds)

    assert tell(story, remote=True).forfeited() == lost


def test_grace_is_counted_a_game_in_all() -> None:
    """Two outages of twenty seconds: the game that was there at both is lost, the one that came between is not."""

    async def story(lodge: Lodge) -> None:
        await joined(lodge, 1)
        await away(lodge, 20)
        lodge.deal(2)
        await away(lodge, 20)
        assert lodge.forfeited() == ["game-1"]

    assert tell(story, remote=True).forfeited() == ["game-1"]


def test_while_it_is_away_no_game_with_it_can_begin() -> None:
    async def story(lodge: Lodge) -> None:
        assert not lodge.supervisor.present
        await joined(lodge)
        assert lodge.supervisor.present
        lodge.connection.disconnect(lodge.stream)
        assert not lodge.supervisor.present

    tell(story, remote=True)


@pytest.mark.parametrize("wanted", [True, False])
def test_the_games_of_a_leg_wait_for_it_as_long_as_its_owner_said(wanted: bool) -> None:
    """Ten minutes, if any wait; from the end of its grace. Where it has no game to play, nobody minds that it is away."""

    async def story(lodge: Lodge) -> None:
        await joined(lodge, 1)
        lodge.supervisor.want(wanted=wanted)
        lodge.connection.disconnect(lodge.stream)
        gone = now()
        while not lodge.supervisor.withdrawn and now() < gone + 3600:  # noqa: ASYNC110 - virtual time
            await asyncio.sleep(1)
        assert now() == pytest.approx(gone + (630 if wanted else 3600), abs=2)
        lodge.join()
        assert (lodge.stream.farewell is not None) == wanted

    lodge = tell(story, remote=True)
    assert lodge.supervisor.withdrawn == ("The games of one leg waited 600 seconds for it." if wanted else "")


def test_who_flaps_uses_up_the_time_that_games_wait_and_a_new_leg_gives_it_again() -> None:
    async def story(lodge: Lodge) -> None:
        await joined(lodge)
        for _ in range(100):
            lodge.connection.begin_game()
        lodge.supervisor.want(wanted=True)
        for _ in range(5):
            await away(lodge, 110)
        assert not lodge.supervisor.withdrawn
        lodge.supervisor.begin_leg()
        for _ in range(5):
            await away(lodge, 110)
        assert not lodge.supervisor.withdrawn
        await away(lodge, 110)
        assert lodge.supervisor.withdrawn == "The games of one leg waited 600 seconds for it."

    tell(story, remote=True)


def test_outages_that_cost_games_are_as_many_as_a_local_bot_may_be_lost() -> None:
    """An outage counts once, however many games it costs and at whatever times."""

    async def story(lodge: Lodge) -> None:
        await joined(lodge)
        for number in range(1, LOSSES_A_LEG + 1):
            lodge.deal(2 * number)
            await away(lodge, 10)
            lodge.deal(2 * number + 1)
            await away(lodge, 40)
        assert not lodge.supervisor.withdrawn
        lodge.deal(100)
        await away(lodge, 40)
        assert lodge.supervisor.withdrawn == "It was lost 11 times in one leg."
        assert lodge.stream.farewell is not None
        assert lodge.stream.farewell.reason == wire.FAREWELL_REASON_WITHDRAWN

    assert len(tell(story, remote=True).forfeited()) == 2 * LOSSES_A_LEG + 1


def test_short_outages_are_noted_and_cost_nothing() -> None:
    async def story(lodge: Lodge) -> None:
        await joined(lodge)
        for number in range(1, 30):
            lodge.deal(number)
            await away(lodge, 0.5)
        assert not lodge.supervisor.withdrawn

    lodge = tell(story, remote=True)
    assert not lodge.forfeited()
    assert len(lodge.noted) == 29


def test_a_stall_of_the_referee_is_no_absence() -> None:
    """As after Ctrl-Z and fg while a bot was away: one look counts for a second at most."""

    async def story(lodge: Lodge) -> None:
        await joined(lodge, 1)
        lodge.connection.disconnect(lodge.stream)
        await asyncio.sleep(10)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.stand_still(3600)
        await settle()
        lodge.join()
        await settle()
        await away(lodge, 15)

    assert not tell(story, remote=True).forfeited()


def test_a_stream_that_takes_over_and_never_joins_does_not_stop_the_clock() -> None:
    """Two processes with one token: the second takes the place of the first, and then has nothing to say."""

    async def story(lodge: Lodge) -> None:
        await joined(lodge, 1)
        first = lodge.stream
        assert lodge.connection.connect(BotStream())
        assert first.farewell is not None
        assert first.farewell.reason == wire.FAREWELL_REASON_SUPERSEDED
        await asyncio.sleep(31)
        assert lodge.forfeited() == ["game-1"]
        assert not lodge.supervisor.withdrawn
        lodge.join()
        await settle()
        assert lodge.supervisor.present

    said = "A newer stream with its token took over."
    assert tell(story, remote=True).noted == [(Fault.DISCONNECT, said)]


def test_two_processes_that_push_each_other_out_break_the_protocol_in_the_end() -> None:
    async def story(lodge: Lodge) -> None:
        await joined(lodge, 1)
        while not lodge.noted or lodge.noted[-1][0] is not Fault.PROTOCOL:
            stream = BotStream()
            if lodge.connection.connect(stream):
                join = wire.PlayRequest(join=wire.Join())
                lodge.connection.receive(stream, join.SerializeToString())
            await settle()
        assert lodge.forfeited() == ["game-1"]
        await joined(lodge)
        assert lodge.supervisor.present

    tell(story, remote=True)


def test_a_bot_that_is_refused_when_it_comes_back_is_away() -> None:
    async def story(lodge: Lodge) -> None:
        await joined(lodge, 1)
        lodge.connection.disconnect(lodge.stream)
        stream = BotStream()
        lodge.connection.connect(stream)
        lodge.connection.receive(stream, wire.PlayRequest(join=wire.Join(variants=["cinch"])).SerializeToString())
        await asyncio.sleep(31)
        assert lodge.forfeited() == ["game-1"]

    assert not tell(story, remote=True).supervisor.withdrawn


def test_a_stream_that_comes_and_goes_while_the_supervisor_waits_does_not_use_up_the_patience() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.connection.disconnect(lodge.stream)
        await settle()
        lodge.join()
        lodge.connection.disconnect(lodge.stream)  # before the supervisor could look
        await settle()
        assert not lodge.supervisor.withdrawn
        lodge.join()
        await settle()
        assert lodge.ask() == [1]
        lodge.connection.disconnect(lodge.stream)  # and it is still noticed
        await settle()
        assert len(lodge.noted) == 3

    tell(story, remote=True)


def test_a_hung_remote_bot_has_its_stream_cut_and_may_dial_in_again() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        assert lodge.ask() == [1]
        cut = lodge.stream
        lodge.connection.hung()
        await settle()
        assert cut.cuts == 1
        lodge.join()
        await settle()
        assert lodge.ask() == [1]
        assert not lodge.supervisor.withdrawn

    lodge = tell(story, remote=True)
    assert [fault for fault, _ in lodge.noted] == [Fault.CRASH]


@pytest.mark.parametrize("fault", [Fault.PROTOCOL, Fault.POLICY])
def test_what_breaks_the_protocol_costs_every_game_under_way_and_the_bot_may_come_back(fault: Fault) -> None:
    """As for a local bot: ten times a leg at most."""

    async def story(lodge: Lodge) -> None:
        for number in range(1, LOSSES_A_LEG + 2):
            assert not lodge.supervisor.withdrawn
            await joined(lodge)
            lodge.deal(2 * number)
            lodge.deal(2 * number + 1)
            lodge.connection.fault(fault, "It sent too much.")
            await settle()
            assert lodge.stream.cuts == 1
            assert len(lodge.forfeited()) == 2 * number

    lodge = tell(story, remote=True)
    assert lodge.supervisor.withdrawn == "It was lost 11 times in one leg."
    assert lodge.noted == [(fault, "It sent too much.")] * 11


def test_after_a_flood_of_streams_a_new_one_is_let_in() -> None:
    async def story(lodge: Lodge) -> None:
        await joined(lodge)
        streams = 0
        while lodge.connection.connect(BotStream()):
            streams += 1
        await settle()
        await joined(lodge)
        assert streams > 3
        assert lodge.supervisor.present

    assert Fault.PROTOCOL in [fault for fault, _ in tell(story, remote=True).noted]
