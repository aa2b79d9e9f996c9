"""One check of one bot from start to end."""

from dataclasses import dataclass, field

from referee.check.bench import Bench
from referee.check.events import EventLog
from referee.check.growth import endurance
from referee.check.lives import later_lives
from referee.check.phases import agenda, at_random, directed, doctor, long_games, pokes, seats_of
from referee.check.plan import Plan
from referee.check.requirements import SelectionError, requirements
from referee.check.sample import seat_counts
from referee.check.scribe import Scribe
from referee.check.shrink import Witnesses
from referee.check.tally import Tally
from referee.protocol import wire


@dataclass(slots=True)
class Result:
    """What a check has found out: the tally, the witnesses, and why it could not begin or go on, if so.

    ``not_ready`` is the reason why the bot never joined, ``stopped`` why the check ended early. ``by_default``: neither
    the bot nor anybody else said which games it plays.
    """

    plan: Plan
    scribe: Scribe
    witnesses: Witnesses = field(default_factory=Witnesses)
    not_ready: str = ""
    stopped: str = ""
    by_default: bool = False

    @property
    def tally(self) -> Tally:
        """The scores."""
        return self.scribe.tally


async def examine(plan: Plan, log: EventLog) -> Result:
    """Checks a bot; raises ``SelectionError`` if filters leave nothing to check, ``OSError`` if no door can be had."""
    plan.selection.check()
    scribe = Scribe(log)
    result = Result(plan, scribe)
    async with Bench.set_up(plan, scribe) as bench:
        result.not_ready = await bench.start()
        if result.not_ready:
            scribe.talk = bench.subject.talk.to_json()
            return result
        join = bench.subject.joined_with
        result.by_default = not (plan.by_name or plan.claims or (join is not None and join.variants))
        scribe.tally = Tally(requirements(bench.games, plan.selection))
        scribe.tally.chance("AF-LIFE-001", "start")
        for rules in bench.games:
            if not seats_of(rules, plan.seats):
                counts = " or ".join(map(str, seat_counts(rules)))
                raise SelectionError(f"--seats: {rules.title} is for {counts} players")
        await _first_life(bench, result)
        if not plan.only_doctor and plan.lives > 1:
            await later_lives(bench, result.witnesses)
        result.stopped = bench.over
    return result


async def _first_life(bench: Bench, result: Result) -> None:
    plan = result.plan
    answered = await doctor(bench)
    if answered and not bench.over and not plan.only_doctor:
        asked = requirements(bench.games, plan.selection)
        work = agenda(bench.games, plan.seats, asked, plan.seed)
        await directed(bench, work)
        await pokes(bench, work)
        await long_games(bench)
        await at_random(bench, plan.seconds, plan.deals)
        if plan.long_deals:
            await endurance(bench, plan.long_deals)
        await result.witnesses.shrink(bench)
    if not bench.over:
        bench.scribe.begin("farewell")
        await bench.see_off(wire.FAREWELL_REASON_FINISHED, "The first part of the check is over.")
