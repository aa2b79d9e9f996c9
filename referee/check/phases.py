"""The phases of a check that one start of the bot serves: doctor, directed, pokes, long games, random."""

import asyncio
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count, zip_longest

from referee.check.applicable import cannot_arise
from referee.check.bench import Bench, far_target
from referee.check.cases import cases_for
from referee.check.opportunity import breakable
from referee.check.plan import MOVES_A_GAME
from referee.check.pokes import POKES, Poke
from referee.check.position import Position
from referee.check.requirements import LEAST, Requirements
from referee.check.room import Asking, Match
from referee.check.sample import sample, seats_of, seek, standing
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
_POKED, _POKED_OF_MANY_GAMES, _MANY_GAMES = 3, 1, 3
_BATCH_SECONDS = 1.0
"""No more turns at once than a bot answers in this time, so that what goes on for some seconds ends with them."""


@dataclass(frozen=True, slots=True)
class Agenda:
    """The positions of the directed phase: those needed so that every rule is exercised, then the others, games in turn."""

    needed: tuple[Position, ...]
    others: tuple[Position, ...]

    @property
    def all(self) -> tuple[Position, ...]:
        """All of them, the needed ones first."""
        return self.needed + self.others


def agenda(games: Sequence[RuleSet], seats: Sequence[int], asked: Requirements, seed: str) -> Agenda:
    """Cases and sampled positions of all games for the rules asked for."""
    most, looks = (600, 4000) if len(games) < _MANY_GAMES else (130, 1000)
    found = []
    for rules in games:
        counts = seats_of(rules, seats)
        if counts:
            wanted = frozenset(one.id for one in asked.binding() if one.variant == rules.name)
            found.append(_positions(rules, counts, wanted, seed, most, looks))
    in_turn = [one for row in zip_longest(*(one.others for one in found)) for one in row if one is not None]
    return Agenda(tuple(position for one in found for position in one.needed), tuple(in_turn))


@lru_cache(maxsize=64)
def _positions(
    rules: RuleSet, counts: tuple[int, ...], wanted: frozenset[str], seed: str, most: int, looks: int
) -> Agenda:
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
    return Agenda(tuple(needed), tuple(others))


# Doctor.


async def doctor(bench: Bench) -> bool:
    """One deal, alone: whether the bot answered at all."""
    bench.scribe.begin("doctor")
    rules = bench.games[0]
    seats = _usual(seats_of(rules, bench.plan.seats))
    for number in range(20):
        askings = bench.play([Match(rules, seats, 0, seats - 1, _master(bench, "doctor"), number, deals=1)], "doctor")
        await bench.settle()
        if bench.over or any(asking.answers for asking in askings):
            break
    bench.scribe.talk = bench.subject.talk.to_json()
    return any(asking.answers for asking in askings)


def _usual(counts: Sequence[int]) -> int:
    return 4 if 4 in counts else counts[0]


def _master(bench: Bench, phase: str) -> bytes:
    return hashlib.sha256(f"{phase} {bench.plan.seed}".encode()).digest()


# Directed.


async def directed(bench: Bench, plan: Agenda) -> None:
    """Puts the positions: the needed ones and some others whatever it takes, the rest unless the bot is very slow."""
    bench.scribe.begin("directed", positions=len(plan.all))
    loop = asyncio.get_running_loop()
    started = loop.time()
    await bench.ask(plan.needed, "directed")
    await _in_batches(bench, plan.others[:LEAST_OTHERS])
    bench.pace = (loop.time() - started) / max(len(plan.needed) + len(plan.others[:LEAST_OTHERS]), 1)
    with bench.further():
        await _in_batches(bench, plan.others[LEAST_OTHERS:], started + PATIENCE * bench.plan.seconds)


async def _in_batches(bench: Bench, positions: Sequence[Position], until: float | None = None) -> None:
    """As many at once as the bot takes; none is begun after the loop's time ``until``."""
    loop, step = asyncio.get_running_loop(), bench.session.max_in_flight
    if until is not None:  # so that a slow bot comes to an end soon after its time is up
        step = max(1, min(step, int(_BATCH_SECONDS / max(bench.pace, 1e-6))))
    for start in range(0, len(positions), step):
        if bench.over or (until is not None and loop.time() >= until):
            return
        await bench.ask(positions[start : start + step], "directed")


# Pokes.


async def pokes(bench: Bench, plan: Agenda) -> None:
    """Every stimulus in a few positions of every kind, each beside its plain twin."""
    wanted = [poke for poke in POKES if poke.rule in bench.scribe.tally.scores]
    bench.scribe.begin("pokes")
    if not wanted:
        return
    sound = await _sound(bench, plan.all)
    for poke in wanted:
        if (poke.notices_only and not bench.session.wants_notices) or (poke.big and bench.plays_all):
            continue
        for position in sound:
            if bench.over or not await _poke(bench, position, poke):
                break


async def _sound(bench: Bench, positions: Sequence[Position]) -> list[Position]:
    """A few positions of each kind of decision of each game that the bot answers well, in mid-deal if there are such."""
    poked = _POKED if len(bench.games) < _MANY_GAMES else _POKED_OF_MANY_GAMES
    groups: dict[tuple[str, object], list[Position]] = {}
    for position in sorted(positions, key=lambda one: not one.actions):
        groups.setdefault((position.rules.name, position.reached().kind), []).append(position)
    sound: list[Position] = []
    for group in groups.values():
        found: list[Position] = []
        for start in range(0, min(len(group), 8 * _POKED), poked):
            if len(found) < poked and not bench.over:
                step = group[start : start + poked]
                asked = await bench.ask(step, "pokes")
                found += [position for position, asking in zip(step, asked, strict=False) if _is_sound(asking)]
        sound += found[:poked]
    return sound


def _is_sound(asking: Asking) -> bool:
    return asking.answer is not None and asking.answer.violation is None and not (asking.silent or asking.lost)


async def _poke(bench: Bench, position: Position, poke: Poke) -> bool:
    """Pokes one turn; false if that went wrong."""
    (asking,) = await bench.ask([position], "pokes", poke)
    if asking.lost:
        return await _lost_again(bench, position, poke)
    if asking.silent and not bench.over:  # once late may be the machine's doing
        (asking,) = await bench.ask([position], "pokes", poke)
    return _judge_poke(bench, position, poke, asking)


async def _lost_again(bench: Bench, position: Position, poke: Poke) -> bool:
    """A bot that was lost at a poke is asked once more; only if it is lost again the poke is to blame."""
    again = await bench.ask([position], "pokes", poke)  # of a bot that is given up nobody knows
    if again and again[0].answer is None:
        bench.losses -= again[0].lost  # which shows the same as the first
        return _judge_poke(bench, position, poke, again[0])
    bench.scribe.no_matter_of_the_poke()
    return bool(again) and _judge_poke(bench, position, poke, again[0])


def _judge_poke(bench: Bench, position: Position, poke: Poke, asking: Asking) -> bool:
    scribe = bench.scribe
    if _is_sound(asking):
        scribe.tally.chance(poke.rule, "pokes")
        return True
    if asking.answer is None and not asking.silent and not asking.lost:
        return False
    scribe.tally.chance(poke.rule, "pokes")
    answer = asking.answer
    what = "it did not answer" if asking.silent else "it was gone"
    broke = answer.violation if answer else None
    did = broke.sentence if broke else what
    fault = Fault.TIMEOUT_MOVE if asking.silent else Fault.CRASH if asking.lost else Fault.ILLEGAL_ACTION
    sentence = f"With {poke.about}: {did[0].lower()}{did[1:].rstrip('.')}. Without that it answers well."
    variant = position.rules.name
    scribe.breach(
        poke.rule,
        fault,
        sentence,
        variant=variant,
        origin=poke.name,
        position=position,
        did=did,
        poke=poke.name,
        because=broke.rule if broke else "",
    )
    return False


# Games.


async def long_games(bench: Bench) -> None:
    """Games of so many decisions that the time for a game could be used up; then the longest game that there can be."""
    if "AF-CLOCK-002" not in bench.scribe.tally.scores:
        return
    bench.scribe.begin("long games")
    source = matches(bench, "long games", [far_target(bench.games[0])])
    enough = 0
    for _ in range(LEAST):  # a game that came to nothing is made up for
        some = [replace(next(source), answers=MOVES_A_GAME + 1) for _ in range(LEAST - enough)]
        playing = bench.play(some, "long games")
        await bench.settle()
        enough += sum(asking.answers > MOVES_A_GAME for asking in playing)
    bench.scribe.tally.chance("AF-CLOCK-002", "long games", times=enough)
    if bench.over:
        return
    bench.scribe.tally.excuse("AF-CLOCK-002", f"No {LEAST} games of more than {MOVES_A_GAME} decisions came about.")
    with bench.further():
        bench.play([next(source)], "long games")
        await bench.settle(asyncio.get_running_loop().time() + bench.plan.seconds)
        bench.room.clear()


async def whole_games(bench: Bench) -> None:
    """A few games from their first deal to their last, at once: only there a bot hears how a game ended.

    What comes of one that listens is part of the least that every check asks; the others are told nothing.
    """
    if bench.session.wants_notices and not bench.over:
        source = matches(bench, "whole games")
        bench.scribe.begin("whole games")
        bench.play([next(source) for _ in range(LEAST)], "whole games")
        await bench.settle()


async def at_random(bench: Bench, seconds: float, deals: int | None, phase: str = "random") -> None:
    """Games with players who do anything legal: so many deals; or the least, and then more for so many seconds."""
    scribe, loop = bench.scribe, asyncio.get_running_loop()
    scribe.begin(phase)
    started, before = loop.time(), scribe.deals
    await _play_deals(bench, matches(bench, phase, varied=True), LEAST_DEALS if deals is None else deals, phase)
    if deals is None and seconds > 0 and not bench.over:
        with bench.further():
            await _play_on(bench, started, seconds, before + USUAL_DEALS, phase)
    scribe.log.emit("played", phase=phase, deals=scribe.deals - before)


async def _play_deals(bench: Bench, source: Iterator[Match], wanted: int, phase: str) -> None:
    """So many deals in short games, always the same ones: no table is opened while others are being played."""
    shapes = sum(len(seats_of(rules, bench.plan.seats)) for rules in bench.games)
    length = max(1, min(DEALS_A_GAME, wanted // max(shapes, 1)))
    left = wanted
    while left > 0 and not bench.over:
        lengths = [min(length, left - done) for done in range(0, left, length)][:_TABLES]
        before = bench.scribe.deals
        bench.play([replace(next(source), deals=deals) for deals in lengths], phase)
        await bench.settle()
        left -= max(bench.scribe.deals - before, 1)


async def _play_on(bench: Bench, started: float, seconds: float, usual: int, phase: str) -> None:
    """Whole games, many at once, for so many seconds; longer for the usual number of deals, but not without end."""
    loop, source = asyncio.get_running_loop(), matches(bench, f"more {phase}")
    tables = min(_TABLES, bench.session.max_in_flight * 3 // 2 + 1, max(1, int(_BATCH_SECONDS / max(bench.pace, 1e-6))))

    def refill() -> None:
        if bench.scribe.deals >= usual and loop.time() >= started + seconds:
            bench.room.clear()
            return
        while len(bench.room.askings) < tables:
            bench.play([next(source)], phase)

    await bench.settle(started + PATIENCE * seconds, refill)
    bench.room.clear()


def matches(bench: Bench, phase: str, games: Sequence[RuleSet] = (), *, varied: bool = False) -> Iterator[Match]:
    """Games without end: every game, number of seats and seat in turn; ``varied`` ones begin anywhere in a game."""
    chance = random.Random(f"{phase} {bench.plan.seed}")  # noqa: S311  # repeatable on purpose
    shapes = [(rules, seats) for rules in games or bench.games for seats in seats_of(rules, bench.plan.seats)]
    master = _master(bench, phase)
    for number in count():
        rules, seats = shapes[number % len(shapes)]
        match = Match(rules, seats, chance.randrange(seats), chance.randrange(seats), master, number)
        if varied:
            scores, closed = standing(rules, seats, chance)
            match = replace(match, scores=scores, closed=closed)
        yield match
