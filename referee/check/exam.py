"""One check of one bot from start to end."""

import asyncio
import contextlib
from dataclasses import dataclass, field

from referee.check.applicable import cannot_arise
from referee.check.bench import Bench
from referee.check.blame import find_blame
from referee.check.events import EventLog
from referee.check.growth import endurance
from referee.check.lives import later_lives, leave_again, line_lost
from referee.check.phases import agenda, at_random, directed, doctor, long_games, pokes, whole_games
from referee.check.plan import Plan
from referee.check.requirements import SelectionError, requirements
from referee.check.sample import seat_counts, seats_of
from referee.check.scribe import Scribe
from referee.check.shrink import Witnesses
from referee.check.tally import Tally
from referee.protocol import wire


@dataclass(slots=True)
class Result:
    """What a check has found out: the tally, the witnesses, and why it could not begin or go on, if so.

    ``least_seconds`` is how long it took to ask the least that every check asks. ``not_ready`` is the reason why the bot never joined, ``stopped`` why the check ended early. ``by_default``: neither
    the bot nor anybody else said which games it plays.
    """

    plan: Plan
    scribe: Scribe
    witnesses: Witnesses = field(default_factory=Witnesses)
    not_ready: str = ""
    stopped: str = ""
    by_default: bool = False
    least_seconds: float = 0.0

    @property
    def tally(self) -> Tally:
        """The scores."""
        return self.scribe.tally


class _BrokenAgain(Exception):
    """The rule that was looked for is broken."""


async def examine(plan: Plan, log: EventLog, *, until: str = "") -> Result:
    """Checks a bot; ``until`` is the key of a rule: once that is broken, nothing more is asked.

    Raises ``SelectionError`` if filters leave nothing to check, ``OSError`` if no endpoint can be had.
    """
    plan.selection.check()
    _check_seats(plan)
    scribe = Scribe(log)
    result = Result(plan, scribe)
    started = asyncio.get_running_loop().time()
    async with Bench.set_up(plan, scribe) as bench:
        result.not_ready = await bench.start()
        if result.not_ready:
            scribe.talk = bench.subject.talk.to_json()
            return result
        _open_tally(bench, result)
        scribe.on_breach = lambda key: bench.stop(_BrokenAgain()) if key == until else None
        with contextlib.suppress(_BrokenAgain):
            await _all_lives(bench, result)
        if scribe.stumble:
            scribe.tally.flaky["AF-LIFE-001"] = f"{scribe.stumble} Started once more it joined."
        result.stopped = bench.over
        result.least_seconds = asyncio.get_running_loop().time() - started - bench.further_seconds
    return result


async def _all_lives(bench: Bench, result: Result) -> None:
    plan = result.plan
    await _first_life(bench, result)
    if not plan.only_doctor and plan.lives > 1:
        await later_lives(bench, result.witnesses)
    if not plan.only_doctor:
        await leave_again(bench)


def _open_tally(bench: Bench, result: Result) -> None:
    """Counts from now on what is asked for in the games that the bot plays; those that it does not claim are waived."""
    plan, scribe = result.plan, result.scribe
    join = bench.subject.joined_with
    said = plan.by_name or plan.claims or len(plan.games) > 1 or (join is not None and join.variants)
    result.by_default = not said
    unclaimed = [rules for rules in plan.games if plan.by_name and rules not in bench.games]
    scribe.tally = Tally(requirements([*bench.games, *unclaimed], plan.selection))
    for rules in unclaimed:
        for score in scribe.tally:
            if score.requirement.variant == rules.name:
                scribe.tally.waive(score.requirement.id, "it does not claim this game", rules.name)
    for rules in bench.games:
        for rule, reason in cannot_arise(rules, seats_of(rules, plan.seats)).items():
            scribe.tally.waive(rule, f"it cannot arise here: {reason}", rules.name)
    scribe.tally.chance("AF-LIFE-001", "start")


def _check_seats(plan: Plan) -> None:
    """Raises ``SelectionError`` if a game that was named, or every one, cannot be played by so many."""
    unfit = [rules for rules in plan.games if not seats_of(rules, plan.seats)]
    if unfit and (plan.by_name or len(unfit) == len(plan.games)):
        counts = " or ".join(map(str, seat_counts(unfit[0])))
        raise SelectionError(f"--seats: {unfit[0].title} is for {counts} players")


async def _first_life(bench: Bench, result: Result) -> None:
    plan = result.plan
    answered = await doctor(bench)
    if answered and not bench.over and not plan.only_doctor:
        asked = requirements(bench.games, plan.selection)
        work = agenda(bench.games, plan.seats, asked, plan.seed)
        await directed(bench, work)
        await pokes(bench, work)
        await long_games(bench)
        await whole_games(bench)
        await at_random(bench, plan.seconds, plan.deals)
        if plan.long_deals:
            await endurance(bench, plan.long_deals)
        await find_blame(bench)
        await result.witnesses.shrink(bench)
        await line_lost(bench)
    if not bench.over:
        bench.scribe.begin("farewell")
        await bench.see_off(wire.FAREWELL_REASON_FINISHED, "The first part of the check is over.")
