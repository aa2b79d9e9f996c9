"""The server: clocks."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from referee import server
from referee.connection import Call, Connection, Server
from referee.protocol import wire
from referee.seats.guest import Guest
from tests.inn import JOIN, LONG, SHORT, Inn, dial, hear, play_on, say, tell, until
from tests.umpires import BANK_US, MOVE_US, answers_to, new_table


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

    async def story(inn: Inn) -> None:
        nonlocal now
        guest = inn.guest("good")
        guest._clock = lambda: now
        play = server._Play(inn.host, guest, Call(Connection(Server(lambda _call: None), None), 1, {}))
        play.begin().close()
        play.heard(JOIN.SerializeToString())
        inn.deal(1, guest, guest)
        message = guest.session.flush(now)
        now += 9_001_000
        inn.host.due_us = now - 9_000_000
        answer = wire.PlayRequest(moves=answers_to(message)).SerializeToString()
        play.heard(answer)
        (table,) = inn.book.hall.seated
        assert [times for times in table.charged if times] == [[1_000]]

    inn = tell(tmp_path, story, watched=False)
    assert (inn.book.void, inn.book.rulings) == ({}, [])
