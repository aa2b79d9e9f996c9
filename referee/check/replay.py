"""Showing a witness again to a bot: FIXED, STILL FAILS or CANNOT REPLAY."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from referee.check.bench import Bench
from referee.check.events import EventLog
from referee.check.exam import examine
from referee.check.plan import Plan
from referee.check.pokes import POKES
from referee.check.requirements import Selection
from referee.check.scribe import Scribe
from referee.check.witness import Stored
from referee.protocol import wire
from referee.rules.conduct import WHOLE_BOOK

SOMETIMES = 20
"""How often a position is asked that the bot did not always fail at."""


class Answer(StrEnum):
    """What came of a replay."""

    FIXED = "FIXED"
    STILL_FAILS = "STILL FAILS"
    CANNOT_REPLAY = "CANNOT REPLAY"


@dataclass(frozen=True, slots=True)
class Replayed:
    """One witness, what came of it, and a sentence about it."""

    witness: Stored
    answer: Answer
    sentence: str


async def replay(plan: Plan, witnesses: Sequence[Stored], log: EventLog) -> list[Replayed]:
    """Shows every witness to the bot again. Those with a position of their own take one start for all of them."""
    known = {entry.id for entry in WHOLE_BOOK}
    done: dict[int, Replayed] = {}
    single = []
    for number, one in enumerate(witnesses):
        if one.rule not in known:
            done[number] = Replayed(one, Answer.CANNOT_REPLAY, f"This referee has no rule {one.rule}.")
        elif one.position is None or not one.alone:
            done[number] = await _whole_run(plan, one, log)
        else:
            single.append((number, one))
    if single:
        scribe = Scribe(log)
        games = tuple(dict.fromkeys(one.position.rules for _, one in single if one.position is not None))
        async with Bench.set_up(replace(plan, games=games, by_name=True), scribe) as bench:
            for number, one in single:
                done[number] = await _single(bench, one)
            if not bench.over:
                await bench.see_off(wire.FAREWELL_REASON_FINISHED, "That was all.")
    return [done[number] for number in range(len(witnesses))]


async def _single(bench: Bench, one: Stored) -> Replayed:
    """One position, in a bot that has seen at most other witnesses."""
    if bench.starts == 0 or bench.over:
        bench.over = ""
        bench.silences.clear()
        failure = await bench.start()
        if failure:
            return Replayed(one, Answer.CANNOT_REPLAY, f"The bot did not join: {failure}")
    losses, poke = bench.losses, next((poke for poke in POKES if poke.name == one.poke), None)
    tries = 1 if one.always else SOMETIMES
    strays = bench.scribe.tally.others.total()
    for _ in range(tries):
        asked = await bench.ask([one.position] if one.position else [], "replay", poke)
        for asking in asked:
            answer = asking.answer
            if one.rule in asking.broke or (one.poke and answer and answer.violation):
                what = answer.violation.sentence if answer and answer.violation else ""
                return Replayed(one, Answer.STILL_FAILS, what)
            if asking.silent or asking.lost or bench.losses > losses:
                return Replayed(one, Answer.STILL_FAILS, "It did not answer." if asking.silent else "It was gone.")
        if bench.scribe.tally.others.total() > strays:
            return Replayed(one, Answer.STILL_FAILS, "Its message was at fault again.")
    return Replayed(one, Answer.FIXED, f"It answers well{f', {tries} times out of {tries}' if tries > 1 else ''}.")


async def _whole_run(plan: Plan, one: Stored, log: EventLog) -> Replayed:
    """A witness that needs its history: the same check again, with the same seed."""
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
        selection=Selection(rules=(one.rule,), edition=plan.selection.edition, long=bool(run.long_deals)),
    )
    result = await examine(again, log)
    if result.not_ready:
        return Replayed(one, Answer.CANNOT_REPLAY, f"The bot did not join: {result.not_ready}")
    score = result.tally.scores.get(one.key)
    if score is not None and score.breaches:
        sentence = f"{score.simplest()[0].sentence} ({score.breaches} times in the same check)"
        return Replayed(one, Answer.STILL_FAILS, sentence)
    return Replayed(one, Answer.FIXED, "The same check does not find it any more.")
