"""Supervisors of bots that dial in: when they are waited for, and which games they lose by staying away."""

import asyncio

import pytest

from referee.net.connection import BotStream
from referee.net.supervisor import LOSSES_A_LEG
from referee.protocol import wire
from referee.umpire.faults import Fault
from tests.net.supervised import SupervisedBot, settle, tell
from tests.umpires import BANK_US, MOVE_US
from tests.virtual import VirtualLoop

pytestmark = pytest.mark.usefixtures("short_waits")


def test_a_remote_bot_that_never_dials_in_is_given_up() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await supervised.supervisor.settled.wait()
        assert now() == 600

    assert tell(story, remote=True).supervisor.withdrawn == "It did not dial in within 600 seconds."


def test_why_a_remote_bot_was_refused_is_part_of_the_reason() -> None:
    async def story(supervised: SupervisedBot) -> None:
        stream = BotStream()
        supervised.connection.connect(stream)
        join = wire.PlayRequest(join=wire.Join(variants=["cinch"]))
        supervised.connection.receive(stream, join.SerializeToString())
        supervised.connection.disconnect(stream)
        await supervised.supervisor.settled.wait()

    supervised = tell(story, remote=True)
    assert (
        supervised.supervisor.withdrawn == "It did not dial in within 600 seconds. It plays cinch, not auction-pitch."
    )


def test_a_remote_bot_that_comes_back_loses_nothing_but_time() -> None:
    async def story(supervised: SupervisedBot) -> None:
        supervised.join()
        await settle()
        supervised.deal(1)
        assert supervised.ask() == [1]
        supervised.connection.disconnect(supervised.stream)
        await settle()
        assert supervised.connection.session.deadline() is None
        supervised.join()
        await settle()
        message = supervised.connection.flush(700_000)
        assert message is not None
        assert len(message.turns) == 1
        assert supervised.connection.session.deadline() == MOVE_US + BANK_US  # counted from when it was first asked
        supervised.connection.disconnect(supervised.stream)
        supervised.join()
        await settle()
        assert not supervised.supervisor.withdrawn

    supervised = tell(story, remote=True)
    assert [fault for fault, _ in supervised.noted] == [Fault.DISCONNECT] * 2
    assert not supervised.forfeited()


async def away(supervised: SupervisedBot, seconds: float) -> None:
    """The bot is away for so long, and back if it may be."""
    supervised.connection.disconnect(supervised.stream)
    await asyncio.sleep(seconds)
    supervised.join()
    await settle()


def now() -> float:
    return asyncio.get_running_loop().time()


async def joined(supervised: SupervisedBot, games: int = 0) -> None:
    supervised.join()
    await settle()
    for number in range(1, games + 1):
        supervised.deal(number)


def test_an_outage_costs_the_games_under_way_and_not_the_league() -> None:
    """Away for forty seconds: the games of that time are lost, those that come next are played."""

    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised, 2)
        supervised.ask()
        await away(supervised, 40)
        assert supervised.forfeited() == ["game-1", "game-2"]
        assert supervised.stream.farewell is None
        assert supervised.supervisor.present
        supervised.deal(3)
        assert supervised.ask() == [3]
        supervised.answer_all()
        assert not supervised.supervisor.withdrawn

    supervised = tell(story, remote=True)
    assert supervised.forfeited() == ["game-1", "game-2"]
    assert supervised.noted == [(Fault.DISCONNECT, "Its stream ended before Farewell.")]
    said = "It was away for 30 seconds of this game."
    assert {ruling.sentence for _, ruling in supervised.book.rulings if ruling.consequence == "FORFEITED"} == {said}


@pytest.mark.parametrize(("seconds", "lost"), [(29, []), (31, ["game-1"])])
def test_the_games_under_way_wait_for_thirty_seconds(seconds: int, lost: list[str]) -> None:
    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised, 1)
        await away(supervised, seconds)

    assert tell(story, remote=True).forfeited() == lost


def test_grace_is_counted_a_game_in_all() -> None:
    """Two outages of twenty seconds: the game that was there at both is lost, the one that came between is not."""

    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised, 1)
        await away(supervised, 20)
        supervised.deal(2)
        await away(supervised, 20)
        assert supervised.forfeited() == ["game-1"]

    assert tell(story, remote=True).forfeited() == ["game-1"]


def test_while_it_is_away_no_game_with_it_can_begin() -> None:
    async def story(supervised: SupervisedBot) -> None:
        assert not supervised.supervisor.present
        await joined(supervised)
        assert supervised.supervisor.present
        supervised.connection.disconnect(supervised.stream)
        assert not supervised.supervisor.present

    tell(story, remote=True)


@pytest.mark.parametrize("wanted", [True, False])
def test_the_games_of_a_leg_wait_for_it_as_long_as_its_owner_said(wanted: bool) -> None:
    """Ten minutes, if any wait; from the end of its grace. Where it has no game to play, nobody minds that it is away."""

    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised, 1)
        supervised.supervisor.want(wanted=wanted)
        supervised.connection.disconnect(supervised.stream)
        gone = now()
        while not supervised.supervisor.withdrawn and now() < gone + 3600:  # noqa: ASYNC110 - virtual time
            await asyncio.sleep(1)
        assert now() == pytest.approx(gone + (630 if wanted else 3600), abs=2)
        supervised.join()
        assert (supervised.stream.farewell is not None) == wanted

    supervised = tell(story, remote=True)
    assert supervised.supervisor.withdrawn == ("The games of one leg waited 600 seconds for it." if wanted else "")


def test_who_flaps_uses_up_the_time_that_games_wait_and_a_new_leg_gives_it_again() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised)
        for _ in range(100):
            supervised.connection.begin_game()
        supervised.supervisor.want(wanted=True)
        for _ in range(5):
            await away(supervised, 110)
        assert not supervised.supervisor.withdrawn
        supervised.supervisor.begin_leg()
        for _ in range(5):
            await away(supervised, 110)
        assert not supervised.supervisor.withdrawn
        await away(supervised, 110)
        assert supervised.supervisor.withdrawn == "The games of one leg waited 600 seconds for it."

    tell(story, remote=True)


def test_outages_that_cost_games_are_as_many_as_a_local_bot_may_be_lost() -> None:
    """An outage counts once, however many games it costs and at whatever times."""

    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised)
        for number in range(1, LOSSES_A_LEG + 1):
            supervised.deal(2 * number)
            await away(supervised, 10)
            supervised.deal(2 * number + 1)
            await away(supervised, 40)
        assert not supervised.supervisor.withdrawn
        supervised.deal(100)
        await away(supervised, 40)
        assert supervised.supervisor.withdrawn == "It was lost 11 times in one leg."
        assert supervised.stream.farewell is not None
        assert supervised.stream.farewell.reason == wire.FAREWELL_REASON_WITHDRAWN

    assert len(tell(story, remote=True).forfeited()) == 2 * LOSSES_A_LEG + 1


def test_short_outages_are_noted_and_cost_nothing() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised)
        for number in range(1, 30):
            supervised.deal(number)
            await away(supervised, 0.5)
        assert not supervised.supervisor.withdrawn

    supervised = tell(story, remote=True)
    assert not supervised.forfeited()
    assert len(supervised.noted) == 29


def test_a_stall_of_the_referee_is_no_absence() -> None:
    """As after Ctrl-Z and fg while a bot was away: one look counts for a second at most."""

    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised, 1)
        supervised.connection.disconnect(supervised.stream)
        await asyncio.sleep(10)
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        loop.stand_still(3600)
        await settle()
        supervised.join()
        await settle()
        await away(supervised, 15)

    assert not tell(story, remote=True).forfeited()


def test_a_stream_that_takes_over_and_never_joins_does_not_stop_the_clock() -> None:
    """Two processes with one token: the second takes the place of the first, and then has nothing to say."""

    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised, 1)
        first = supervised.stream
        assert supervised.connection.connect(BotStream())
        assert first.farewell is not None
        assert first.farewell.reason == wire.FAREWELL_REASON_SUPERSEDED
        await asyncio.sleep(31)
        assert supervised.forfeited() == ["game-1"]
        assert not supervised.supervisor.withdrawn
        supervised.join()
        await settle()
        assert supervised.supervisor.present

    said = "A newer stream with its token took over."
    assert tell(story, remote=True).noted == [(Fault.DISCONNECT, said)]


def test_two_processes_that_push_each_other_out_break_the_protocol_in_the_end() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised, 1)
        while not supervised.noted or supervised.noted[-1][0] is not Fault.PROTOCOL:
            stream = BotStream()
            if supervised.connection.connect(stream):
                join = wire.PlayRequest(join=wire.Join())
                supervised.connection.receive(stream, join.SerializeToString())
            await settle()
        assert supervised.forfeited() == ["game-1"]
        await joined(supervised)
        assert supervised.supervisor.present

    tell(story, remote=True)


def test_a_bot_that_is_refused_when_it_comes_back_is_away() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised, 1)
        supervised.connection.disconnect(supervised.stream)
        stream = BotStream()
        supervised.connection.connect(stream)
        supervised.connection.receive(stream, wire.PlayRequest(join=wire.Join(variants=["cinch"])).SerializeToString())
        await asyncio.sleep(31)
        assert supervised.forfeited() == ["game-1"]

    assert not tell(story, remote=True).supervisor.withdrawn


def test_a_stream_that_comes_and_goes_while_the_supervisor_waits_does_not_use_up_the_patience() -> None:
    async def story(supervised: SupervisedBot) -> None:
        supervised.join()
        await settle()
        supervised.deal(1)
        supervised.connection.disconnect(supervised.stream)
        await settle()
        supervised.join()
        supervised.connection.disconnect(supervised.stream)  # before the supervisor could look
        await settle()
        assert not supervised.supervisor.withdrawn
        supervised.join()
        await settle()
        assert supervised.ask() == [1]
        supervised.connection.disconnect(supervised.stream)  # and it is still noticed
        await settle()
        assert len(supervised.noted) == 3

    tell(story, remote=True)


def test_a_hung_remote_bot_has_its_stream_cut_and_may_dial_in_again() -> None:
    async def story(supervised: SupervisedBot) -> None:
        supervised.join()
        await settle()
        supervised.deal(1)
        assert supervised.ask() == [1]
        cut = supervised.stream
        supervised.connection.hung()
        await settle()
        assert cut.cuts == 1
        supervised.join()
        await settle()
        assert supervised.ask() == [1]
        assert not supervised.supervisor.withdrawn

    supervised = tell(story, remote=True)
    assert [fault for fault, _ in supervised.noted] == [Fault.CRASH]


@pytest.mark.parametrize("fault", [Fault.PROTOCOL, Fault.POLICY])
def test_what_breaks_the_protocol_costs_every_game_under_way_and_the_bot_may_come_back(fault: Fault) -> None:
    """As for a local bot: ten times a leg at most."""

    async def story(supervised: SupervisedBot) -> None:
        for number in range(1, LOSSES_A_LEG + 2):
            assert not supervised.supervisor.withdrawn
            await joined(supervised)
            supervised.deal(2 * number)
            supervised.deal(2 * number + 1)
            supervised.connection.fault(fault, "It sent too much.")
            await settle()
            assert supervised.stream.cuts == 1
            assert len(supervised.forfeited()) == 2 * number

    supervised = tell(story, remote=True)
    assert supervised.supervisor.withdrawn == "It was lost 11 times in one leg."
    assert supervised.noted == [(fault, "It sent too much.")] * 11


def test_after_a_flood_of_streams_a_new_one_is_let_in() -> None:
    async def story(supervised: SupervisedBot) -> None:
        await joined(supervised)
        streams = 0
        while supervised.connection.connect(BotStream()):
            streams += 1
        await settle()
        await joined(supervised)
        assert streams > 3
        assert supervised.supervisor.present

    assert Fault.PROTOCOL in [fault for fault, _ in tell(story, remote=True).noted]
