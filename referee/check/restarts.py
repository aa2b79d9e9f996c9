"""Further processes of a bot under test: what its first one cannot show, growth among it."""

import asyncio
import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.check.attribution import does_well_when_led, find_blame
from referee.check.games import CheckGame, Probe, ProbeTimeout
from referee.check.perturbations import Perturbation
from referee.check.position import Position
from referee.check.probes import at_random, matches
from referee.check.recorder import LINE_LOST, WELCOME
from referee.check.requirements import LEAST
from referee.check.runner import CheckRunner
from referee.check.shrink import Witnesses
from referee.net.supervisor import GRACE_SECONDS
from referee.protocol import wire
from referee.sandbox.process_tree import processes, with_kin
from referee.umpire.faults import Fault

RULE = "AF-ROBUST-007"
_WARM_UP = 0.2
_MIB = 1 << 20
_MORE_BYTES = 16 * _MIB
_MORE_SHARE = 0.25
_MORE_DESCRIPTORS = 8
_MORE_PROCESSES = 2
_OUTGROWN = frozenset({Fault.RESOURCE_MEM, Fault.RESOURCE_PIDS})


@dataclass(frozen=True, slots=True)
class Size:
    """What a bot takes up, with all that it started: resident bytes, open descriptors, processes."""

    resident: int
    descriptors: int
    processes: int

    def growth_to(self, later: "Size") -> str:
        """What has grown beyond what is usual, in words; empty if nothing has."""
        told = []
        more = later.resident - self.resident
        if more > _MORE_BYTES and more > _MORE_SHARE * self.resident:
            told.append(f"memory from {self.resident // _MIB} to {later.resident // _MIB} MiB")
        if later.descriptors - self.descriptors > _MORE_DESCRIPTORS:
            told.append(f"open descriptors from {self.descriptors} to {later.descriptors}")
        if later.processes - self.processes > _MORE_PROCESSES:
            told.append(f"processes from {self.processes} to {later.processes}")
        return ", ".join(told)


def size_of(pid: int) -> Size | None:
    """The size of a process and all that it started; ``None`` where there is no /proc to tell, or no such process."""
    everything = processes()
    if pid not in everything:
        return None
    members = [everything[member] for member in with_kin([pid], everything)]
    return Size(sum(one.resident for one in members), sum(_descriptors(one.pid) for one in members), len(members))


def _descriptors(pid: int) -> int:
    try:
        return len(os.listdir(Path("/proc") / str(pid) / "fd"))  # noqa: PTH208  # only their number
    except OSError:
        return 0


async def endurance(runner: CheckRunner, deals: int) -> None:
    """So many deals, and a look at the bot's size after the first fifth of them and at the end.

    What has grown is put to as many deals again: only who goes on growing grows with the number of deals.
    """
    recorder = runner.recorder
    warm = int(deals * _WARM_UP)
    await at_random(runner, 0, warm, "endurance")
    early, losses = _now(runner), runner.losses
    await at_random(runner, 0, deals - warm, "endurance")
    late = _now(runner)
    if early is None or late is None:
        recorder.tally.waive(RULE, "the size of its process cannot be seen from here")
        return
    if runner.losses > losses or runner.over:
        recorder.tally.excuse(RULE, "it was lost on the way")
        return
    recorder.tally.chance(RULE, "endurance")
    recorder.log.emit("size", early=[early.resident, early.descriptors], late=[late.resident, late.descriptors])
    grown = early.growth_to(late)
    if not grown:
        return
    await at_random(runner, 0, deals - warm, "endurance")  # a bot that has taken what it needs grows no more
    last, end = _now(runner), 2 * deals - warm
    told = f"Between deal {warm} and deal {deals} it grew: {grown}"
    if runner.losses > losses and runner.last_loss is not None and runner.last_loss.fault in _OUTGROWN:
        recorder.breach(RULE, Fault.RESOURCE_MEM, f"{told}; and before deal {end} beyond its limit.")
    elif last is None or runner.losses > losses or runner.over:
        recorder.tally.excuse(RULE, f"{told}; then it was lost.")
    else:
        recorder.log.emit("size", early=[late.resident, late.descriptors], late=[last.resident, last.descriptors])
        again = late.growth_to(last)
        if again:
            recorder.breach(RULE, Fault.RESOURCE_MEM, f"{told}; and until deal {end} again: {again}.")


def _now(runner: CheckRunner) -> Size | None:
    process = runner.recorder.process
    return size_of(process.pid) if process is not None and runner.supervisor.local else None


_RESTART = Perturbation(
    name="restart",
    rule="AF-ROBUST-005",
    about="a turn of a game that was begun before it was started",
    change=lambda _r, _t: None,
)
_JOINED = Perturbation(
    name="unknown-joined",
    rule="AF-ROBUST-001",
    about="an answer to Join with unknown values",
    change=lambda _r, _t: None,
)
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


async def line_lost(runner: CheckRunner) -> None:
    """A bot that dials in loses its line in the middle of games: the same process joins once more, and has to go on.

    Of one that does not dial again nothing is known, for it need not.
    """
    tally = runner.recorder.tally
    if runner.supervisor.local or runner.over or _RESTART.rule not in tally.scores:
        return
    if runner.plays_all:
        tally.waive(_RESTART.rule, _MEMORY[runner.subject.stateful])
        return
    source = matches(runner, "line lost")
    runner.recorder.begin(LINE_LOST)
    playing = runner.play([replace(next(source), hold_at=2) for _ in range(2 * LEAST)], "restart")
    await _until_under_way(runner, playing)
    if runner.over:
        return
    await _one_turn_out(runner, playing)
    runner.subject.hang_up()
    runner.session.lost_stream(cautious=False)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(runner.subject.ready.wait(), GRACE_SECONDS)
    if not runner.subject.ready.is_set():
        tally.waive(_RESTART.rule, "it does not dial again when its line is lost")
        runner.over = "When its line was lost it did not dial again."
        runner.games_in_play.clear()
        return
    losses = runner.losses
    for probe in playing:
        runner.games_in_play.release(probe)
        probe.perturbation, probe.ends_at = _RESTART, probe.answers + 1
    await runner.settle()
    gone = [probe for probe in playing if probe.silent or probe.lost]
    answered = sum(probe.ends_at == probe.answers for probe in playing)
    tally.chance(_RESTART.rule, LINE_LOST, times=answered)
    if gone or runner.losses > losses or runner.over:
        silent = any(probe.silent for probe in playing)
        told = f"It dialled again when its line was lost, joined, and {'did not answer' if silent else 'was gone'}."
        fault = Fault.TIMEOUT_MOVE if silent else Fault.CRASH
        runner.recorder.breach(_RESTART.rule, fault, told, origin=_RESTART.name, perturbation=_RESTART.name)


async def later_lives(runner: CheckRunner, witnesses: Witnesses) -> None:
    """The second and third life, as far as they are of use."""
    tally = runner.recorder.tally
    if not runner.supervisor.local:
        again = tally.scores.get(_RESTART.rule)
        for rule in _NEEDS_A_PROCESS:
            if rule not in tally.waived and not (again and again.least and rule == _RESTART.rule):
                tally.waive(rule, "its process is not ours to start")
        return
    if runner.subject.stateful:
        tally.waive("AF-ROBUST-002", "it says that it has a memory")
    late, runner.silences = runner.silences, []
    ended, broken = runner.over, any(score.breaches for score in tally)
    if ended and not late and not broken:
        return
    runner.over, runner.losses = "", 0
    if not (late or broken or any(rule in tally.scores for rule in _LIVES)):
        return
    await _second(runner, witnesses, late, ended=bool(ended))
    runner.over = runner.over or ("" if late else ended)
    if not runner.over and any(rule in tally.scores for rule in _LIVES):
        await _third(runner)


async def _second(runner: CheckRunner, witnesses: Witnesses, late: list[ProbeTimeout], *, ended: bool) -> None:
    runner.recorder.begin("second life")
    runner.subject.perturbs_joined = not (late or ended) and "AF-ROBUST-001" in runner.recorder.tally.scores
    if await runner.start():
        runner.recorder.failed_again(runner.over)
        return
    if runner.subject.perturbs_joined:
        await _strange_welcome(runner)
    if late and not runner.over:
        await _ask_alone(runner, late[0])
    if not runner.over:
        await find_blame(runner)
    if not runner.over:
        await witnesses.confirm(runner)
    if not runner.over:
        await witnesses.reproduce(runner)


async def _strange_welcome(runner: CheckRunner) -> None:
    """Whether the bot plays on after an answer to Join with things that it does not know."""
    runner.subject.perturbs_joined = False
    tally, match = runner.recorder.tally, next(matches(runner, "second life"))
    probe = await _one_deal(runner, match, WELCOME)
    runner.recorder.begin("second life")
    if probe.silent or probe.lost:
        plain = await _one_deal(runner, match, "second life")
        if runner.over or plain.silent or plain.lost:
            return  # it is no matter of the welcome
        await runner.see_off(wire.FAREWELL_REASON_STOPPING, "It is started once more.")
        runner.subject.perturbs_joined = True
        if await runner.start():
            runner.recorder.failed_again(runner.over)
            return
        runner.subject.perturbs_joined = False
        probe = await _one_deal(runner, match, WELCOME)
        runner.recorder.begin("second life")
    tally.chance(_JOINED.rule, "second life")
    if probe.silent or probe.lost:
        sentence = f"With {_JOINED.about} it did not answer any more. Without that it does."
        fault = Fault.TIMEOUT_MOVE if probe.silent else Fault.CRASH
        runner.recorder.breach(_JOINED.rule, fault, sentence, origin=_JOINED.name, perturbation=_JOINED.name)


async def _one_deal(runner: CheckRunner, match: CheckGame, phase: str) -> Probe:
    """One deal after a Join. What becomes of the bot after a strange welcome is judged by who gave it.

    It is lost to its welcome if it is before its first answer, whether or not a turn was out already.
    """
    runner.recorder.phase = phase
    probe = runner.games_in_play.play(replace(match, deals=1), phase)
    probe.perturbation = _JOINED
    probe.gone_at = 0 if runner.gone else None
    await runner.settle()
    probe.lost = probe.lost or probe.gone_at == 0
    return probe


async def _ask_alone(runner: CheckRunner, late: ProbeTimeout) -> None:
    """What was late is asked alone; if that is answered, the whole message once more. Both results are told.

    In a batch the oldest turn is late, and not always the one that the bot hangs at: so all are asked, each alone; and
    that twice, for a bot that hangs now and then must have had as many turns alone as it had together.
    """
    runner.recorder.begin("asking alone")
    position, company, first = late.position, late.company, _what_was_late(runner, late)
    for one in 2 * [position, *company]:
        (probe,) = await runner.ask([one], "retest")
        if probe.answer is None:
            await _silent_alone(runner, probe, one, first)
            return
    batch = late.batch if late.asked > 1 else ()
    times = await _times_late_together(runner, batch)
    if times == _SURE:
        told = f"{first}, and again so when as many were asked once more; asked one by one it answers them all."
        if await _cuts(runner, late, batch):
            most = late.answered
            runner.recorder.tally.hints["AF-ROBUST-003"] = (
                f"Batches over {most} are cut: of more turns in one message it answers the first {most} and no other."
            )
        _late(runner, "AF-ROBUST-003", told, position, shown_by="batch", batch=batch)
    elif times:
        told = f"{first}; asked again it was late at other turns than before, or at none: now and then it is late."
        _late(runner, "AF-CLOCK-001", told, position, shown_by="run")
        runner.over = runner.over or "It does not answer in time."
    else:
        runner.recorder.tally.flaky["AF-CLOCK-001"] = f"{first}; asked again it answered."


async def _times_late_together(runner: CheckRunner, batch: Sequence[Position]) -> int:
    """How often in a row the bot was late when it was asked all of a batch at once, until it is known for certain.

    It was not when it was asked the same turns one by one. One that is late now and then, for another reason, may be so
    here once or twice; only what comes every time is for the company.
    """
    for times in range(_SURE):
        if runner.over or not any(one.silent for one in await runner.ask(batch, "retest", until_late=True)):
            return times
    return _SURE


async def _cuts(runner: CheckRunner, late: ProbeTimeout, batch: Sequence[Position]) -> bool:
    """Whether the bot answers so many turns of a message and no more: the same each time, and as many by themselves."""
    again = runner.late
    if not (late.answered and late.in_order and again and (again.answered, again.in_order) == (late.answered, True)):
        return False
    asked = [] if runner.over else await runner.ask(batch[: late.answered], "retest", until_late=True)
    return bool(asked) and all(one.answer is not None for one in asked)


def _what_was_late(runner: CheckRunner, late: ProbeTimeout) -> str:
    ms = runner.plan.limits.move_us // 1000
    if late.asked < 2:
        return f"It did not answer within {ms} ms"
    left = late.asked - late.answered
    if not late.answered:
        return f"Asked {late.asked} turns at once it answered none of them within {ms} ms"
    which = f", those behind the first {late.answered}" if late.in_order and left > 1 else ""
    return f"Of {late.asked} turns in one message it answered {late.answered} and left {left} unanswered for {ms} ms{which}"


async def _silent_alone(runner: CheckRunner, probe: Probe, position: Position, first: str) -> None:
    if probe.stated and not runner.over and await _late_only_without_history(runner, position):
        told = f"{first}, and again so alone; asked all its turns of the deal before, it answers this one too."
        _late(runner, "AF-ROBUST-002", told, position, shown_by="position")
        runner.distrust = True
        return
    again = "" if runner.over else await _late_once_more(runner, position)
    told = f"{first}, and this one asked again alone it did not answer either."
    _late(runner, "AF-CLOCK-001", told, position, shown_by=again)
    runner.over = runner.over or "It does not answer in time."


def _late(runner: CheckRunner, rule: str, told: str, position: Position, **more: Any) -> None:
    fault = Fault.TIMEOUT_MOVE
    runner.recorder.breach(rule, fault, told, position=position, origin=position.origin, did="nothing in time", **more)


async def _late_only_without_history(runner: CheckRunner, position: Position) -> bool:
    """Whether a bot that was late at the position alone answers it each time that it is led there, and no time else.

    One that is late now and then, for whatever reason, is late at one of these turns or in time at another.
    """
    for _ in range(_SURE):
        if runner.over or not await does_well_when_led(runner, position):
            return False
        alone = await runner.ask([position], "retest", stated=True)
        if not any(one.silent for one in alone):
            return False
    return True


async def _late_once_more(runner: CheckRunner, position: Position) -> str:
    """Whether the position alone shows it, or only what went before in its life."""
    (probe,) = await runner.ask([position], "retest")
    return "position" if probe.silent else "run"


async def _third(runner: CheckRunner) -> None:
    """Games are begun, the referee shuts down in the middle of them, and a new process has to go on."""
    runner.recorder.begin("farewell in mid-game")
    source = matches(runner, "restart")
    playing = runner.play([replace(next(source), hold_at=2) for _ in range(2 * LEAST)], "restart")
    await _until_under_way(runner, playing)
    if runner.over:
        return
    await _one_turn_out(runner, playing)
    told = "The referee is shutting down; the games go on later."
    await runner.see_off(wire.FAREWELL_REASON_STOPPING, told, in_mid_game=True)
    for probe in playing:
        runner.games_in_play.release(probe)
    before = {probe: probe.answers for probe in playing if not probe.done}
    for probe in before:
        probe.perturbation = None if runner.plays_all else _RESTART
        probe.ends_at = probe.answers + 1
    runner.recorder.begin("third life")
    if runner.plays_all:
        runner.games_in_play.clear()
        runner.recorder.tally.waive("AF-ROBUST-005", _MEMORY[runner.subject.stateful])
    if await runner.start():
        runner.recorder.failed_again(runner.over)
        return
    await _go_on(runner, before)
    runner.recorder.begin("farewell")
    if not runner.over:
        await runner.see_off(wire.FAREWELL_REASON_FINISHED, "The check is over.")


async def leave_again(runner: CheckRunner) -> None:
    """A bot that once was still running after Farewell is sent off again: once may be the machine's doing."""
    if runner.recorder.stayed != 1 or not runner.supervisor.local or runner.over:
        return
    runner.recorder.begin("farewell once more")
    if await runner.start():
        runner.recorder.failed_again(runner.over)
        return
    runner.play([replace(next(matches(runner, "retest")), deals=1)], "retest")
    await runner.settle()
    if not runner.over:
        await runner.see_off(wire.FAREWELL_REASON_FINISHED, "The check is over.")


async def _until_under_way(runner: CheckRunner, playing: list[Probe]) -> None:
    """Until each game is held where it was to be, or over."""

    def look() -> None:
        if all(probe.done or probe.held is not None for probe in playing):
            raise _Enough

    try:
        await runner.settle(refill=look)
    except _Enough:
        return


async def _one_turn_out(runner: CheckRunner, playing: list[Probe]) -> None:
    """Lets one game go on, so that the bot has something to think about when Farewell comes; the others wait."""
    held = [probe for probe in playing if probe.held is not None]
    if held:
        runner.games_in_play.release(held[0])
        runner.server.pump()
    for _ in range(_STEPS_TO_SEND):
        if runner.session.open or not runner.session.waiting:
            return
        await asyncio.sleep(0)


async def _again(runner: CheckRunner, probe: Probe) -> bool:
    """Whether a bot that was late or gone at its first turn is so in another life too: once may be chance, or the machine."""
    if runner.over or probe.last is None:
        return not runner.over
    (again,) = await runner.ask([probe.last], "retest", _RESTART)
    if again.answer is not None and probe.lost:
        runner.recorder.no_matter_of_the_perturbation()
    return again.answer is None


class _Enough(Exception):
    """The games are as far as they need to be."""


async def _go_on(runner: CheckRunner, before: dict[Probe, int]) -> None:
    """Every game that goes on with an answer is a chance taken; one that stops at its first turn is a breach."""
    waiting = dict(before)

    def look() -> None:
        for probe in [one for one, answers in waiting.items() if one.answers > answers]:
            del waiting[probe]
            probe.perturbation = None
            runner.recorder.tally.chance(_RESTART.rule, "third life")
            runner.games_in_play.close(probe)
        if any(probe.silent or probe.lost for probe in waiting):
            runner.games_in_play.clear()

    await runner.settle(refill=look)
    look()
    for probe in waiting:
        if (probe.lost or probe.silent) and await _again(runner, probe):
            what = "did not answer" if probe.silent else "was gone"
            told = f"Started again in the middle of a game, it {what} at the first turn of it."
            fault = Fault.TIMEOUT_MOVE if probe.silent else Fault.CRASH
            runner.recorder.breach(_RESTART.rule, fault, told, origin=probe.origin, perturbation=_RESTART.name)
            return
