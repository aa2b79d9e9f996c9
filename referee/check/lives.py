"""The later lives of a bot: a fresh process for what the first one cannot show.

In the second life the witnesses are asked again, and what was late is asked alone; then the bot is sent off in the
middle of games. The third life has to go on with these.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from referee.check.bench import Bench
from referee.check.blame import does_well_when_led, find_blame
from referee.check.phases import matches
from referee.check.pokes import Poke
from referee.check.position import Position
from referee.check.requirements import LEAST
from referee.check.room import Asking, Late, Match
from referee.check.scribe import LINE_LOST, WELCOME
from referee.check.shrink import Witnesses
from referee.net.supervisor import GRACE_SECONDS
from referee.protocol import wire
from referee.umpire.faults import Fault

_RESTART = Poke(
    "restart", "AF-ROBUST-005", "a turn of a game that was begun before it was started", lambda _r, _t: None
)
_JOINED = Poke("unknown-joined", "AF-ROBUST-001", "an answer to Join with unknown values", lambda _r, _t: None)
_SURE = 3
"""So often in a row something comes about that is not put down to chance."""

_STEPS_TO_SEND = 1_000
"""Steps of the event loop in which a message is on its way out, whatever else there is to do."""

_NEEDS_A_PROCESS = ("AF-LIFE-001", "AF-LIFE-003", "AF-LIFE-004", "AF-ROBUST-005", "AF-ROBUST-007")
_LIVES = ("AF-LIFE-001", "AF-LIFE-003", "AF-LIFE-004", "AF-ROBUST-005")


_MEMORY = {
    True: "it says that it has a memory",
    False: "it cannot go on in a deal that it has not played: see AF-ROBUST-002",
}


async def line_lost(bench: Bench) -> None:
    """A bot that dials in loses its line in the middle of games: the same process joins once more, and has to go on.

    Of one that does not dial again nothing is known, for it need not.
    """
    tally = bench.scribe.tally
    if bench.attendant.local or bench.over or _RESTART.rule not in tally.scores:
        return
    if bench.plays_all:
        tally.waive(_RESTART.rule, _MEMORY[bench.subject.stateful])
        return
    source = matches(bench, "line lost")
    bench.scribe.begin(LINE_LOST)
    playing = bench.play([replace(next(source), hold_at=2) for _ in range(2 * LEAST)], "restart")
    await _until_under_way(bench, playing)
    if bench.over:
        return
    await _one_turn_out(bench, playing)
    bench.subject.hang_up()
    bench.session.lost_stream(cautious=False)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(bench.subject.ready.wait(), GRACE_SECONDS)
    if not bench.subject.ready.is_set():
        tally.waive(_RESTART.rule, "it does not dial again when its line is lost")
        bench.over = "When its line was lost it did not dial again."
        bench.room.clear()
        return
    losses = bench.losses
    for asking in playing:
        bench.room.release(asking)
        asking.poke, asking.ends_at = _RESTART, asking.answers + 1
    await bench.settle()
    gone = [asking for asking in playing if asking.silent or asking.lost]
    answered = sum(asking.ends_at == asking.answers for asking in playing)
    tally.chance(_RESTART.rule, LINE_LOST, times=answered)
    if gone or bench.losses > losses or bench.over:
        silent = any(asking.silent for asking in playing)
        told = f"It dialled again when its line was lost, joined, and {'did not answer' if silent else 'was gone'}."
        fault = Fault.TIMEOUT_MOVE if silent else Fault.CRASH
        bench.scribe.breach(_RESTART.rule, fault, told, origin=_RESTART.name, poke=_RESTART.name)


async def later_lives(bench: Bench, witnesses: Witnesses) -> None:
    """The second and third life, as far as they are of use."""
    tally = bench.scribe.tally
    if not bench.attendant.local:
        again = tally.scores.get(_RESTART.rule)
        for rule in _NEEDS_A_PROCESS:
            if rule not in tally.waived and not (again and again.least and rule == _RESTART.rule):
                tally.waive(rule, "its process is not ours to start")
        return
    if bench.subject.stateful:
        tally.waive("AF-ROBUST-002", "it says that it has a memory")
    late, bench.silences = bench.silences, []
    ended, broken = bench.over, any(score.breaches for score in tally)
    if ended and not late and not broken:
        return
    bench.over, bench.losses = "", 0
    if not (late or broken or any(rule in tally.scores for rule in _LIVES)):
        return
    await _second(bench, witnesses, late, ended=bool(ended))
    bench.over = bench.over or ("" if late else ended)
    if not bench.over and any(rule in tally.scores for rule in _LIVES):
        await _third(bench)


async def _second(bench: Bench, witnesses: Witnesses, late: list[Late], *, ended: bool) -> None:
    bench.scribe.begin("second life")
    bench.subject.poke_joined = not (late or ended) and "AF-ROBUST-001" in bench.scribe.tally.scores
    if await bench.start():
        bench.scribe.failed_again(bench.over)
        return
    if bench.subject.poke_joined:
        await _strange_welcome(bench)
    if late and not bench.over:
        await _ask_alone(bench, late[0])
    if not bench.over:
        await find_blame(bench)
    if not bench.over:
        await witnesses.confirm(bench)
    if not bench.over:
        await witnesses.reproduce(bench)


async def _strange_welcome(bench: Bench) -> None:
    """Whether the bot plays on after an answer to Join with things that it does not know."""
    bench.subject.poke_joined = False
    tally, match = bench.scribe.tally, next(matches(bench, "second life"))
    asking = await _one_deal(bench, match, WELCOME)
    bench.scribe.begin("second life")
    if asking.silent or asking.lost:
        plain = await _one_deal(bench, match, "second life")
        if bench.over or plain.silent or plain.lost:
            return  # it is no matter of the welcome
        await bench.see_off(wire.FAREWELL_REASON_STOPPING, "It is started once more.")
        bench.subject.poke_joined = True
        if await bench.start():
            bench.scribe.failed_again(bench.over)
            return
        bench.subject.poke_joined = False
        asking = await _one_deal(bench, match, WELCOME)
        bench.scribe.begin("second life")
    tally.chance(_JOINED.rule, "second life")
    if asking.silent or asking.lost:
        sentence = f"With {_JOINED.about} it did not answer any more. Without that it does."
        fault = Fault.TIMEOUT_MOVE if asking.silent else Fault.CRASH
        bench.scribe.breach(_JOINED.rule, fault, sentence, origin=_JOINED.name, poke=_JOINED.name)


async def _one_deal(bench: Bench, match: Match, phase: str) -> Asking:
    """One deal after a Join. What becomes of the bot after a strange welcome is judged by who gave it.

    It is lost to its welcome if it is before its first answer, whether or not a turn was out already.
    """
    bench.scribe.phase = phase
    asking = bench.room.play(replace(match, deals=1), phase)
    asking.poke = _JOINED
    asking.gone_at = 0 if bench.gone else None
    await bench.settle()
    asking.lost = asking.lost or asking.gone_at == 0
    return asking


async def _ask_alone(bench: Bench, late: Late) -> None:
    """What was late is asked alone; if that is answered, the whole message once more. Both results are told.

    In a batch the oldest turn is late, and not always the one that the bot hangs at: so all are asked, each alone; and
    that twice, for a bot that hangs now and then must have had as many turns alone as it had together.
    """
    bench.scribe.begin("asking alone")
    position, company, first = late.position, late.company, _what_was_late(bench, late)
    for one in 2 * [position, *company]:
        (asking,) = await bench.ask([one], "retest")
        if asking.answer is None:
            await _silent_alone(bench, asking, one, first)
            return
    batch = late.batch if late.asked > 1 else ()
    times = await _times_late_together(bench, batch)
    if times == _SURE:
        told = f"{first}, and again so when as many were asked once more; asked one by one it answers them all."
        if await _cuts(bench, late, batch):
            most = late.answered
            bench.scribe.tally.hints["AF-ROBUST-003"] = (
                f"Batches over {most} are cut: of more turns in one message it answers the first {most} and no other."
            )
        _late(bench, "AF-ROBUST-003", told, position, shown_by="batch", batch=batch)
    elif times:
        told = f"{first}; asked again it was late at other turns than before, or at none: now and then it is late."
        _late(bench, "AF-CLOCK-001", told, position, shown_by="run")
        bench.over = bench.over or "It does not answer in time."
    else:
        bench.scribe.tally.flaky["AF-CLOCK-001"] = f"{first}; asked again it answered."


async def _times_late_together(bench: Bench, batch: Sequence[Position]) -> int:
    """How often in a row the bot was late when it was asked all of a batch at once, until it is known for certain.

    It was not when it was asked the same turns one by one. One that is late now and then, for another reason, may be so
    here once or twice; only what comes every time is for the company.
    """
    for times in range(_SURE):
        if bench.over or not any(one.silent for one in await bench.ask(batch, "retest", until_late=True)):
            return times
    return _SURE


async def _cuts(bench: Bench, late: Late, batch: Sequence[Position]) -> bool:
    """Whether the bot answers so many turns of a message and no more: the same each time, and as many by themselves."""
    again = bench.late
    if not (late.answered and late.in_order and again and (again.answered, again.in_order) == (late.answered, True)):
        return False
    asked = [] if bench.over else await bench.ask(batch[: late.answered], "retest", until_late=True)
    return bool(asked) and all(one.answer is not None for one in asked)


def _what_was_late(bench: Bench, late: Late) -> str:
    ms = bench.plan.limits.move_us // 1000
    if late.asked < 2:
        return f"It did not answer within {ms} ms"
    left = late.asked - late.answered
    if not late.answered:
        return f"Asked {late.asked} turns at once it answered none of them within {ms} ms"
    which = f", those behind the first {late.answered}" if late.in_order and left > 1 else ""
    return f"Of {late.asked} turns in one message it answered {late.answered} and left {left} unanswered for {ms} ms{which}"


async def _silent_alone(bench: Bench, asking: Asking, position: Position, first: str) -> None:
    if asking.stated and not bench.over and await _late_only_without_history(bench, position):
        told = f"{first}, and again so alone; asked all its turns of the deal before, it answers this one too."
        _late(bench, "AF-ROBUST-002", told, position, shown_by="position")
        bench.distrust = True
        return
    again = "" if bench.over else await _late_once_more(bench, position)
    told = f"{first}, and this one asked again alone it did not answer either."
    _late(bench, "AF-CLOCK-001", told, position, shown_by=again)
    bench.over = bench.over or "It does not answer in time."


def _late(bench: Bench, rule: str, told: str, position: Position, **more: Any) -> None:
    fault = Fault.TIMEOUT_MOVE
    bench.scribe.breach(rule, fault, told, position=position, origin=position.origin, did="nothing in time", **more)


async def _late_only_without_history(bench: Bench, position: Position) -> bool:
    """Whether a bot that was late at the position alone answers it each time that it is led there, and no time else.

    One that is late now and then, for whatever reason, is late at one of these turns or in time at another.
    """
    for _ in range(_SURE):
        if bench.over or not await does_well_when_led(bench, position):
            return False
        alone = await bench.ask([position], "retest", stated=True)
        if not any(one.silent for one in alone):
            return False
    return True


async def _late_once_more(bench: Bench, position: Position) -> str:
    """Whether the position alone shows it, or only what went before in its life."""
    (asking,) = await bench.ask([position], "retest")
    return "position" if asking.silent else "run"


async def _third(bench: Bench) -> None:
    """Games are begun, the referee shuts down in the middle of them, and a new process has to go on."""
    bench.scribe.begin("farewell in mid-game")
    source = matches(bench, "restart")
    playing = bench.play([replace(next(source), hold_at=2) for _ in range(2 * LEAST)], "restart")
    await _until_under_way(bench, playing)
    if bench.over:
        return
    await _one_turn_out(bench, playing)
    told = "The referee is shutting down; the games go on later."
    await bench.see_off(wire.FAREWELL_REASON_STOPPING, told, in_mid_game=True)
    for asking in playing:
        bench.room.release(asking)
    before = {asking: asking.answers for asking in playing if not asking.done}
    for asking in before:
        asking.poke = None if bench.plays_all else _RESTART
        asking.ends_at = asking.answers + 1
    bench.scribe.begin("third life")
    if bench.plays_all:
        bench.room.clear()
        bench.scribe.tally.waive("AF-ROBUST-005", _MEMORY[bench.subject.stateful])
    if await bench.start():
        bench.scribe.failed_again(bench.over)
        return
    await _go_on(bench, before)
    bench.scribe.begin("farewell")
    if not bench.over:
        await bench.see_off(wire.FAREWELL_REASON_FINISHED, "The check is over.")


async def leave_again(bench: Bench) -> None:
    """A bot that once was still running after Farewell is sent off again: once may be the machine's doing."""
    if bench.scribe.stayed != 1 or not bench.attendant.local or bench.over:
        return
    bench.scribe.begin("farewell once more")
    if await bench.start():
        bench.scribe.failed_again(bench.over)
        return
    bench.play([replace(next(matches(bench, "retest")), deals=1)], "retest")
    await bench.settle()
    if not bench.over:
        await bench.see_off(wire.FAREWELL_REASON_FINISHED, "The check is over.")


async def _until_under_way(bench: Bench, playing: list[Asking]) -> None:
    """Until each game is held where it was to be, or over."""

    def look() -> None:
        if all(asking.done or asking.held is not None for asking in playing):
            raise _Enough

    try:
        await bench.settle(refill=look)
    except _Enough:
        return


async def _one_turn_out(bench: Bench, playing: list[Asking]) -> None:
    """Lets one game go on, so that the bot has something to think about when Farewell comes; the others wait."""
    held = [asking for asking in playing if asking.held is not None]
    if held:
        bench.room.release(held[0])
        bench.host.pump()
    for _ in range(_STEPS_TO_SEND):
        if bench.session.open or not bench.session.waiting:
            return
        await asyncio.sleep(0)


async def _again(bench: Bench, asking: Asking) -> bool:
    """Whether a bot that was late or gone at its first turn is so in another life too: once may be chance, or the machine."""
    if bench.over or asking.last is None:
        return not bench.over
    (again,) = await bench.ask([asking.last], "retest", _RESTART)
    if again.answer is not None and asking.lost:
        bench.scribe.no_matter_of_the_poke()
    return again.answer is None


class _Enough(Exception):
    """The games are as far as they need to be."""


async def _go_on(bench: Bench, before: dict[Asking, int]) -> None:
    """Every game that goes on with an answer is a chance taken; one that stops at its first turn is a breach."""
    waiting = dict(before)

    def look() -> None:
        for asking in [one for one, answers in waiting.items() if one.answers > answers]:
            del waiting[asking]
            asking.poke = None
            bench.scribe.tally.chance(_RESTART.rule, "third life")
            bench.room.close(asking)
        if any(asking.silent or asking.lost for asking in waiting):
            bench.room.clear()

    await bench.settle(refill=look)
    look()
    for asking in waiting:
        if (asking.lost or asking.silent) and await _again(bench, asking):
            what = "did not answer" if asking.silent else "was gone"
            told = f"Started again in the middle of a game, it {what} at the first turn of it."
            fault = Fault.TIMEOUT_MOVE if asking.silent else Fault.CRASH
            bench.scribe.breach(_RESTART.rule, fault, told, origin=asking.origin, poke=_RESTART.name)
            return
