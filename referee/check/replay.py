"""Showing a witness again to a bot: FIXED, STILL FAILS or CANNOT REPLAY."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from referee.check.games import Probe
from referee.check.perturbations import PERTURBATIONS
from referee.check.plan import Plan
from referee.check.recorder import Recorder
from referee.check.requirements import Selection
from referee.check.results import EventLog
from referee.check.run import examine
from referee.check.runner import CheckRunner
from referee.check.witness import StoredWitness
from referee.protocol import wire
from referee.rules import RuleSet
from referee.rules.conduct_clauses import WHOLE_BOOK

SOMETIMES = 20
"""How often a position is asked that the bot did not always fail at."""


class ReplayOutcome(StrEnum):
    """What came of a replay."""

    FIXED = "FIXED"
    STILL_FAILS = "STILL FAILS"
    CANNOT_REPLAY = "CANNOT REPLAY"


@dataclass(frozen=True, slots=True)
class ReplayedWitness:
    """One witness, what came of it, and a sentence about it."""

    witness: StoredWitness
    answer: ReplayOutcome
    sentence: str


async def replay(plan: Plan, witnesses: Sequence[StoredWitness], log: EventLog) -> list[ReplayedWitness]:
    """Shows every witness to the bot again. Those with a position, a batch or a game take one start for all of them.

    A bot is FIXED if it does well with what showed the breach during the check. Where nothing did, doing well proves
    nothing, and the answer is CANNOT REPLAY.
    """
    known = {entry.id for entry in WHOLE_BOOK}
    done: dict[int, ReplayedWitness] = {}
    single = []
    for number, one in enumerate(witnesses):
        if one.rule not in known:
            done[number] = ReplayedWitness(one, ReplayOutcome.CANNOT_REPLAY, f"This referee has no rule {one.rule}.")
        elif one.shown_by == "run" or not (one.position or one.batch or one.courses):
            done[number] = await _whole_run(plan, one, log)
        else:
            single.append((number, one))
    if single:
        recorder = Recorder(log)
        games = tuple(dict.fromkeys(rules for _, one in single for rules in _games(one)))
        async with CheckRunner.set_up(replace(plan, games=games, by_name=True), recorder) as runner:
            for number, one in single:
                done[number] = await _single(runner, one)
                if done[number].answer is ReplayOutcome.FIXED and one.shown_by == "position" and not one.confirmed:
                    done[number] = await _whole_run(plan, one, log)
            if not runner.over:
                await runner.see_off(wire.FAREWELL_REASON_FINISHED, "That was all.")
    return [done[number] for number in range(len(witnesses))]


def _games(one: StoredWitness) -> list[RuleSet]:
    positions = [*one.batch, *([one.position] if one.position is not None else [])]
    return [position.rules for position in positions] + [course.rules for course in one.courses]


async def _single(runner: CheckRunner, one: StoredWitness) -> ReplayedWitness:
    """A position, a batch, or a game, in a bot that has seen at most other witnesses."""
    if runner.starts == 0 or runner.over:
        runner.over, runner.losses = "", 0
        runner.silences.clear()
        failure = await runner.start()
        if failure:
            return _not_joined(one, failure)
    runner.recorder.begin("replay")
    runner.losses = 0
    if one.position is not None and one.shown_by in ("position", ""):
        tries = 1 if one.always else SOMETIMES
        failed = await _position(runner, one, tries)
        well = f"It answers well{f', {tries} times out of {tries}' if tries > 1 else ''}."
    elif one.batch:
        failed = _failure(one, await runner.ask(one.batch, "replay", stated=True))
        well = f"It answers {len(one.batch)} turns at once well."
    else:
        failed, well = await _led(runner, one), "Led through the game once more it does well."
    if failed:
        return ReplayedWitness(one, ReplayOutcome.STILL_FAILS, failed)
    if not one.shown_by:
        failed = await _led(runner, one)
        if failed:
            return ReplayedWitness(one, ReplayOutcome.STILL_FAILS, failed)
        told = "It does well, but it was not seen to fail again during the check either: that proves nothing."
        return ReplayedWitness(one, ReplayOutcome.CANNOT_REPLAY, told)
    return ReplayedWitness(one, ReplayOutcome.FIXED, well)


async def _position(runner: CheckRunner, one: StoredWitness, tries: int) -> str:
    losses = runner.losses
    perturbation = next((known for known in PERTURBATIONS if known.name == one.perturbation), None)
    strays = runner.recorder.tally.others.total()
    for _ in range(tries):
        asked = await runner.ask([one.position] if one.position else [], "replay", perturbation, stated=True)
        failed = _failure(one, asked)
        if failed:
            return failed
        if runner.losses > losses:
            return "It was gone."
        if runner.recorder.tally.others.total() > strays:
            return "Its message was at fault again."
    return ""


async def _led(runner: CheckRunner, one: StoredWitness) -> str:
    """Leads the bot through each of the games; how it failed, or an empty text."""
    for course in one.courses:
        if runner.over:
            return "It was gone."
        probe = await runner.lead(course, "replay")
        failed = _failure(one, [probe])
        if failed:
            return failed
    return ""


def _failure(one: StoredWitness, asked: Sequence[Probe]) -> str:
    """How it failed where it was asked, if it did; what it broke may be another rule where another one is to blame."""
    for probe in asked:
        if probe.silent or probe.lost:
            return "It did not answer." if probe.silent else "It was gone."
        violation = probe.answer.violation if probe.answer is not None else None
        if one.rule in probe.broke or (probe.broke and (one.perturbation or one.rule.startswith("AF-ROBUST-"))):
            return violation.sentence if violation is not None else f"It broke {', '.join(sorted(probe.broke))}."
    return ""


def _not_joined(one: StoredWitness, failure: str) -> ReplayedWitness:
    """Not to join is what some witnesses are about; of all others it says nothing."""
    if one.rule == "AF-LIFE-001":
        return ReplayedWitness(one, ReplayOutcome.STILL_FAILS, f"The bot did not join: {failure}")
    return ReplayedWitness(one, ReplayOutcome.CANNOT_REPLAY, f"The bot did not join: {failure}")


async def _whole_run(plan: Plan, one: StoredWitness, log: EventLog) -> ReplayedWitness:
    """A witness that needs its history: the same check again, with the same seed and at least as many deals.

    It ends as soon as the rule is broken.
    """
    run = one.run
    again = replace(
        plan,
        games=run.games,
        by_name=True,
        seats=run.seats,
        seed=run.seed,
        seconds=run.seconds,
        deals=run.deals,
        long_deals=run.long_deals,
        selection=Selection(edition=plan.selection.edition, long=bool(run.long_deals)),
    )
    result = await examine(again, log, until=one.key)
    if result.not_ready:
        return _not_joined(one, result.not_ready)
    if one.key in result.tally.flaky:
        return ReplayedWitness(one, ReplayOutcome.STILL_FAILS, result.tally.flaky[one.key])
    score = result.tally.scores.get(one.key)
    if score is not None and score.breaches:
        sentence = f"{score.simplest()[0].sentence} (Seen again in the same check.)"
        return ReplayedWitness(one, ReplayOutcome.STILL_FAILS, sentence)
    if not one.shown_by:
        told = "The same check does not find it, and it was seen once only before: that proves nothing."
        return ReplayedWitness(one, ReplayOutcome.CANNOT_REPLAY, told)
    return ReplayedWitness(one, ReplayOutcome.FIXED, "The same check does not find it any more.")
