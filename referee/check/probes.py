"""The phases of a check that one start of the bot serves: doctor, directed, perturbations, long games, random."""

import asyncio
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count, zip_longest

from referee.check.cases import cases_for
from referee.check.games import CheckGame, Probe
from referee.check.perturbations import PERTURBATIONS, Perturbation
from referee.check.plan import MOVES_A_GAME
from referee.check.position import Position
from referee.check.requirements import LEAST, Requirements, breakable, cannot_arise
from referee.check.runner import CheckRunner, far_target
from referee.check.sampling import sample, seats_of, seek, standing
from referee.rules import RuleSet
from referee.umpire.faults import Fault

LEAST_OTHERS = 64
"""How many positions beyond those needed are put to every bot, however slow it is."""

LEAST_DEALS = 40
"""How many deals are played with every bot, however slow it is."""

USUAL_DEALS = 400
"""How many deals are played with every bot that is not so slow that its patience is at an end before."""

PATIENCE = 8
"""The usual positions and deals may take so many times the seconds that were asked for. A bot that answers at once needs
a fraction of them, on a machine under load too."""

DEALS_A_GAME = 4
_TABLES = 96
_PERTURBED, _PERTURBED_OF_MANY_GAMES, _MANY_GAMES = 3, 1, 3
_BATCH_SECONDS = 1.0
"""No more turns at once than a bot answers in this time, so that what goes on for some seconds ends with them."""


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """The positions of the directed phase: those needed so that every rule is exercised, then the others, games in turn."""

    needed: tuple[Position, ...]
    others: tuple[Position, ...]

    @property
    def all(self) -> tuple[Position, ...]:
        """All of them, the needed ones first."""
        return self.needed + self.others


def probe_plan(games: Sequence[RuleSet], seats: Sequence[int], asked: Requirements, seed: str) -> ProbePlan:
    """Cases and sampled positions of all games for the rules asked for."""
    most, looks = (600, 4000) if len(games) < _MANY_GAMES else (130, 1000)
    found = []
    for rules in games:
        counts = seats_of(rules, seats)
        if counts:
            wanted = frozenset(one.id for one in asked.binding() if one.variant == rules.name)
            found.append(_positions(rules, counts, wanted, seed, most, looks))
    in_turn = [one for row in zip_longest(*(one.others for one in found)) for one in row if one is not None]
    return ProbePlan(tuple(position for one in found for position in one.needed), tuple(in_turn))


@lru_cache(maxsize=64)
def _positions(
    rules: RuleSet, counts: tuple[int, ...], wanted: frozenset[str], seed: str, most: int, looks: int
) -> ProbePlan:
    """The positions of one game. They are the same for every bot, and take seconds to find."""
    needed: list[Position] = []
    others: list[Position] = []
    found = cases_for(rules, counts)
    found += sample(rules, counts, wanted, seed=f"{seed} {rules.name}", most=most, looks=looks)
    lacking = dict.fromkeys(wanted, LEAST)
    for position in found:
        put = breakable(position.reached()) & wanted
        if any(lacking[rule] > 0 for rule in put):
            needed.append(position)
        elif put:
            others.append(position)
        for rule in put:
            lacking[rule] -= 1
    seldom = {rule: count for rule, count in lacking.items() if count > 0}
    if seldom:
        for rule in cannot_arise(rules, counts):
            seldom.pop(rule, None)
        needed += seek(rules, counts, seldom, seed=f"{seed} {rules.name}")
    return ProbePlan(tuple(needed), tuple(others))


# Doctor.


async def doctor(runner: CheckRunner) -> bool:
    """One deal, alone: whether the bot answered at all."""
    runner.recorder.begin("doctor")
    rules = runner.games[0]
    seats = _usual(seats_of(rules, runner.plan.seats))
    for number in range(20):
        probes = runner.play(
            [
                CheckGame(
                    rules=rules,
                    seats=seats,
                    seat=0,
                    dealer=seats - 1,
                    master=_master(runner, "doctor"),
                    number=number,
                    deals=1,
                )
            ],
            "doctor",
        )
        await runner.settle()
        if runner.over or any(probe.answers for probe in probes):
            break
    runner.recorder.talk = runner.subject.talk.to_json()
    return any(probe.answers for probe in probes)


def _usual(counts: Sequence[int]) -> int:
    return 4 if 4 in counts else counts[0]


def _master(runner: CheckRunner, phase: str) -> bytes:
    return hashlib.sha256(f"{phase} {runner.plan.seed}".encode()).digest()


# Directed.


async def directed(runner: CheckRunner, plan: ProbePlan) -> None:
    """Puts the positions: the needed ones and some others whatever it takes, the rest unless the bot is very slow."""
    runner.recorder.begin("directed", positions=len(plan.all))
    loop = asyncio.get_running_loop()
    started = loop.time()
    await runner.ask(plan.needed, "directed")
    await _in_batches(runner, plan.others[:LEAST_OTHERS])
    runner.pace = (loop.time() - started) / max(len(plan.needed) + len(plan.others[:LEAST_OTHERS]), 1)
    with runner.further():
        await _in_batches(runner, plan.others[LEAST_OTHERS:], started + PATIENCE * runner.plan.seconds)


async def _in_batches(runner: CheckRunner, positions: Sequence[Position], until: float | None = None) -> None:
    """As many at once as the bot takes; none is begun after the loop's time ``until``."""
    loop, step = asyncio.get_running_loop(), runner.session.max_in_flight
    if until is not None:  # so that a slow bot comes to an end soon after its time is up
        step = max(1, min(step, int(_BATCH_SECONDS / max(runner.pace, 1e-6))))
    for start in range(0, len(positions), step):
        if runner.over or (until is not None and loop.time() >= until):
            return
        await runner.ask(positions[start : start + step], "directed")


# Perturbations.


async def perturbations(runner: CheckRunner, plan: ProbePlan) -> None:
    """Every stimulus in a few positions of every kind, each beside its plain twin."""
    wanted = [perturbation for perturbation in PERTURBATIONS if perturbation.rule in runner.recorder.tally.scores]
    runner.recorder.begin("pokes")
    if not wanted:
        return
    sound = await _sound(runner, plan.all)
    for perturbation in wanted:
        if (perturbation.notices_only and not runner.session.wants_notices) or (perturbation.big and runner.plays_all):
            continue
        for position in sound:
            if runner.over or not await _perturb(runner, position, perturbation):
                break


async def _sound(runner: CheckRunner, positions: Sequence[Position]) -> list[Position]:
    """A few positions of each kind of decision of each game that the bot answers well, in mid-deal if there are such."""
    perturbed = _PERTURBED if len(runner.games) < _MANY_GAMES else _PERTURBED_OF_MANY_GAMES
    groups: dict[tuple[str, object], list[Position]] = {}
    for position in sorted(positions, key=lambda one: not one.actions):
        groups.setdefault((position.rules.name, position.reached().kind), []).append(position)
    sound: list[Position] = []
    for group in groups.values():
        found: list[Position] = []
        for start in range(0, min(len(group), 8 * _PERTURBED), perturbed):
            if len(found) < perturbed and not runner.over:
                step = group[start : start + perturbed]
                asked = await runner.ask(step, "pokes")
                found += [position for position, probe in zip(step, asked, strict=False) if _is_sound(probe)]
        sound += found[:perturbed]
    return sound


def _is_sound(probe: Probe) -> bool:
    return probe.answer is not None and probe.answer.violation is None and not (probe.silent or probe.lost)


async def _perturb(runner: CheckRunner, position: Position, perturbation: Perturbation) -> bool:
    """Perturbs one turn; false if that went wrong."""
    (probe,) = await runner.ask([position], "pokes", perturbation)
    if probe.lost:
        return await _lost_again(runner, position, perturbation)
    if probe.silent and not runner.over:  # once late may be the machine's doing
        (probe,) = await runner.ask([position], "pokes", perturbation)
    return _judge_perturbation(runner, position, perturbation, probe)


async def _lost_again(runner: CheckRunner, position: Position, perturbation: Perturbation) -> bool:
    """A bot that was lost at a perturbation is asked once more; only if it is lost again the perturbation is to blame."""
    again = await runner.ask([position], "pokes", perturbation)  # of a bot that is given up nobody knows
    if again and again[0].answer is None:
        runner.losses -= again[0].lost  # which shows the same as the first
        return _judge_perturbation(runner, position, perturbation, again[0])
    runner.recorder.no_matter_of_the_perturbation()
    return bool(again) and _judge_perturbation(runner, position, perturbation, again[0])


def _judge_perturbation(runner: CheckRunner, position: Position, perturbation: Perturbation, probe: Probe) -> bool:
    recorder = runner.recorder
    if _is_sound(probe):
        recorder.tally.chance(perturbation.rule, "pokes")
        return True
    if probe.answer is None and not probe.silent and not probe.lost:
        return False
    recorder.tally.chance(perturbation.rule, "pokes")
    answer = probe.answer
    what = "it did not answer" if probe.silent else "it was gone"
    broke = answer.violation if answer else None
    did = broke.sentence if broke else what
    fault = Fault.TIMEOUT_MOVE if probe.silent else Fault.CRASH if probe.lost else Fault.ILLEGAL_ACTION
    sentence = f"With {perturbation.about}: {did[0].lower()}{did[1:].rstrip('.')}. Without that it answers well."
    variant = position.rules.name
    recorder.breach(
        perturbation.rule,
        fault,
        sentence,
        variant=variant,
        origin=perturbation.name,
        position=position,
        did=did,
        perturbation=perturbation.name,
        because=broke.rule if broke else "",
    )
    return False


# Games.


async def long_games(runner: CheckRunner) -> None:
    """Games of so many decisions that the time for a game could be used up; then the longest game that there can be."""
    if "AF-CLOCK-002" not in runner.recorder.tally.scores:
        return
    runner.recorder.begin("long games")
    source = matches(runner, "long games", [far_target(runner.games[0])])
    enough = 0
    for _ in range(LEAST):  # a game that came to nothing is made up for
        some = [replace(next(source), answers=MOVES_A_GAME + 1) for _ in range(LEAST - enough)]
        playing = runner.play(some, "long games")
        await runner.settle()
        enough += sum(probe.answers > MOVES_A_GAME for probe in playing)
    runner.recorder.tally.chance("AF-CLOCK-002", "long games", times=enough)
    if runner.over:
        return
    runner.recorder.tally.excuse("AF-CLOCK-002", f"No {LEAST} games of more than {MOVES_A_GAME} decisions came about.")
    with runner.further():
        runner.play([next(source)], "long games")
        await runner.settle(asyncio.get_running_loop().time() + runner.plan.seconds)
        runner.games_in_play.clear()


async def whole_games(runner: CheckRunner) -> None:
    """A few games from their first deal to their last, at once: only there a bot hears how a game ended.

    What comes of one that listens is part of the least that every check asks; the others are told nothing.
    """
    if runner.session.wants_notices and not runner.over:
        source = matches(runner, "whole games")
        runner.recorder.begin("whole games")
        runner.play([next(source) for _ in range(LEAST)], "whole games")
        await runner.settle()


async def at_random(runner: CheckRunner, seconds: float, deals: int | None, phase: str = "random") -> None:
    """Games with players who do anything legal: so many deals; or the least, and then more for so many seconds."""
    recorder, loop = runner.recorder, asyncio.get_running_loop()
    recorder.begin(phase)
    started, before = loop.time(), recorder.deals
    await _play_deals(runner, matches(runner, phase, varied=True), LEAST_DEALS if deals is None else deals, phase)
    if deals is None and seconds > 0 and not runner.over:
        with runner.further():
            await _play_on(runner, started, seconds, before + USUAL_DEALS, phase)
    recorder.log.emit("played", phase=phase, deals=recorder.deals - before)


async def _play_deals(runner: CheckRunner, source: Iterator[CheckGame], wanted: int, phase: str) -> None:
    """So many deals in short games, always the same ones: no game is opened while others are being played."""
    shapes = sum(len(seats_of(rules, runner.plan.seats)) for rules in runner.games)
    length = max(1, min(DEALS_A_GAME, wanted // max(shapes, 1)))
    left = wanted
    while left > 0 and not runner.over:
        lengths = [min(length, left - done) for done in range(0, left, length)][:_TABLES]
        before = runner.recorder.deals
        runner.play([replace(next(source), deals=deals) for deals in lengths], phase)
        await runner.settle()
        left -= max(runner.recorder.deals - before, 1)


async def _play_on(runner: CheckRunner, started: float, seconds: float, usual: int, phase: str) -> None:
    """Whole games, many at once, for so many seconds; longer for the usual number of deals, but not without end."""
    loop, source = asyncio.get_running_loop(), matches(runner, f"more {phase}")
    most = min(_TABLES, runner.session.max_in_flight * 3 // 2 + 1, max(1, int(_BATCH_SECONDS / max(runner.pace, 1e-6))))

    def refill() -> None:
        if runner.recorder.deals >= usual and loop.time() >= started + seconds:
            runner.games_in_play.clear()
            return
        while len(runner.games_in_play.probes) < most:
            runner.play([next(source)], phase)

    await runner.settle(started + PATIENCE * seconds, refill)
    runner.games_in_play.clear()


def matches(
    runner: CheckRunner, phase: str, games: Sequence[RuleSet] = (), *, varied: bool = False
) -> Iterator[CheckGame]:
    """Games without end: every game, number of seats and seat in turn; ``varied`` ones begin anywhere in a game."""
    chance = random.Random(f"{phase} {runner.plan.seed}")  # noqa: S311  # repeatable on purpose
    shapes = [(rules, seats) for rules in games or runner.games for seats in seats_of(rules, runner.plan.seats)]
    master = _master(runner, phase)
    for number in count():
        rules, seats = shapes[number % len(shapes)]
        match = CheckGame(
            rules=rules,
            seats=seats,
            seat=chance.randrange(seats),
            dealer=chance.randrange(seats),
            master=master,
            number=number,
        )
        if varied:
            scores, closed = standing(rules, seats, chance)
            match = replace(match, scores=scores, closed=closed)
        yield match
