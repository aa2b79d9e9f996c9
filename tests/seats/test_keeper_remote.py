"""Keepers of bots that dial in: when they are waited for, and which games they lose by staying away."""

import asyncio
from typing import Any

import pytest

from referee.faults import Fault
from referee.protocol import wire
from referee.seats import keeper
from referee.seats.guest import Stream
from tests.seats.lodge import Lodge, settle, tell, until
from tests.umpires import BANK_US, MOVE_US

pytestmark = pytest.mark.usefixtures("short_waits")


def test_a_remote_bot_that_never_dials_in_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(lodge: Lodge) -> None:
        await lodge.keeper.settled.wait()

    monkeypatch.setattr(Lodge, "__init__", impatient(Lodge.__init__))
    lodge = tell(story, remote=True)
    assert lodge.keeper.withdrawn == "It did not dial in within 0 seconds."


def impatient(init: Any) -> Any:
    def changed(self: Any, **words: Any) -> None:
        init(self, **words)
        self.keeper._wait = 0.01

    return changed


def test_why_a_remote_bot_was_refused_is_part_of_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(lodge: Lodge) -> None:
        stream = Stream()
        lodge.guest.connect(stream)
        join = wire.PlayRequest(join=wire.Join(variants=["cinch"]))
        lodge.guest.receive(stream, join.SerializeToString())
        lodge.guest.disconnect(stream)
        await lodge.keeper.settled.wait()

    monkeypatch.setattr(Lodge, "__init__", impatient(Lodge.__init__))
    lodge = tell(story, remote=True)
    assert lodge.keeper.withdrawn == "It did not dial in within 0 seconds. It plays cinch, not auction-pitch."


def test_a_remote_bot_that_comes_back_loses_nothing_but_time() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        assert lodge.ask() == [1]
        lodge.guest.disconnect(lodge.stream)
        await settle()
        assert lodge.guest.session.deadline() is None
        lodge.join()
        await settle()
        message = lodge.guest.session.flush(700_000)
        assert message is not None
        assert len(message.turns) == 1
        assert lodge.guest.session.deadline() == MOVE_US + BANK_US  # counted from when it was first asked
        lodge.guest.disconnect(lodge.stream)
        lodge.join()
        await settle()
        assert not lodge.keeper.withdrawn

    lodge = tell(story, remote=True)
    assert [fault for fault, _ in lodge.noted] == [Fault.DISCONNECT] * 2
    assert not lodge.forfeited()


def test_a_remote_bot_that_stays_away_loses_its_games_and_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeper, "GRACE_SECONDS", 0.02)

    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.deal(2)
        lodge.ask()
        lodge.guest.disconnect(lodge.stream)
        await until(lambda: bool(lodge.keeper.withdrawn))

    lodge = tell(story, remote=True)
    assert lodge.forfeited() == ["game-1", "game-2"]
    assert lodge.keeper.withdrawn.startswith("It was away for more than")


def test_grace_is_counted_a_game_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Away twice: the second time nothing is left of the grace of that game."""

    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.guest.disconnect(lodge.stream)
        await asyncio.sleep(0.02)
        lodge.join()
        await settle()
        assert not lodge.keeper.withdrawn
        monkeypatch.setattr(keeper, "GRACE_SECONDS", 0.01)
        lodge.guest.disconnect(lodge.stream)
        await settle()
        assert lodge.keeper.withdrawn

    tell(story, remote=True)


def test_a_stream_that_comes_and_goes_while_the_keeper_waits_does_not_use_up_the_patience() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.guest.disconnect(lodge.stream)
        await settle()
        lodge.join()
        lodge.guest.disconnect(lodge.stream)  # before the keeper could look
        await settle()
        assert not lodge.keeper.withdrawn
        lodge.join()
        await settle()
        assert lodge.ask() == [1]
        lodge.guest.disconnect(lodge.stream)  # and it is still noticed
        await settle()
        assert len(lodge.noted) == 2

    tell(story, remote=True)


def test_a_hung_remote_bot_has_its_stream_cut_and_may_dial_in_again() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        assert lodge.ask() == [1]
        cut = []
        lodge.stream.cut = lambda: cut.append(True)
        lodge.keeper.hung()
        await settle()
        assert cut == [True]
        lodge.join()
        await settle()
        assert lodge.ask() == [1]
        assert not lodge.keeper.withdrawn

    lodge = tell(story, remote=True)
    assert [fault for fault, _ in lodge.noted] == [Fault.CRASH]


def test_a_remote_bot_that_breaks_the_protocol_is_sent_away_for_good() -> None:
    async def story(lodge: Lodge) -> None:
        lodge.join()
        await settle()
        lodge.deal(1)
        lodge.guest.on_fault(Fault.PROTOCOL, "It sent too much.")
        await settle()
        assert lodge.stream.farewell is not None
        assert lodge.stream.farewell.reason == wire.FAREWELL_REASON_WITHDRAWN

    lodge = tell(story, remote=True)
    assert lodge.forfeited() == ["game-1"]
    assert lodge.keeper.withdrawn == "It sent too much."
