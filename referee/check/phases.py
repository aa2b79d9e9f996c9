"""The phases of a check that one start of the bot serves: doctor, directed, pokes, long games, random."""

import asyncio
import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from referee.check.applicable import cannot_arise
from referee.check.bench import Bench, far_target
from referee.check.cases import cases_for
from referee.check.opportunity import breakable
from referee.check.plan import MOVES_A_GAME
from referee.check.pokes import POKES, Poke
from referee.check.position import Position
from referee.check.requirements import LEAST, Requirements
from referee.check.room import Asking, Match
from referee.check.sample import sample, seats_of, seek
from referee.faults import Fault
from referee.rules import RuleSet

DIRECTED_SECONDS = 4.0
"""How long the directed phase goes on after every rule has had its least number of opportunities."""

LONG_SECONDS = 12.0
_TABLES = 96
_POKED = 3
_SLOW_SECONDS = 1.0
_BATCH_SECONDS = 1.0
"""No more turns at once than a bot answers in this time, so that a phase ends when its time is up."""


@dataclass(frozen=True, slots=True)
class Agenda:
    """The positions of the directed phase: those needed so that every rule is exercised, then the others."""

    needed: tuple[Position, ...]
    others: tuple[Position, ...]

    @property
    def all(self) -> tuple[Position, ...]:
        """All of them, the needed ones first."""
        return self.needed + self.others


def agenda(games: Sequence[RuleSet], seats: Sequence[int], asked: Requirements, seed: str) -> Agenda:
    """Cases and sampled positions of all games for the rules asked for."""
    needed: list[Position] = []
    others: list[Position] = []
    most = 300 if len(games) < 3 else 120
    for rules in games:
        counts, wanted = seats_of(rules, seats), {one.id for one in asked.binding() if one.variant == rules.name}
        if not counts:
            continue
        found = cases_for(rules, counts)
        found += sample(rules, counts, wanted, seed=f"{seed} {rules.name}", most=most, looks=most * 13)
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
    """Puts the positions: the needed ones whatever it takes, the others while there is time."""
    bench.scribe.begin("directed", positions=len(plan.all))
    loop = asyncio.get_running_loop()
    started = loop.time()
    await bench.ask(plan.needed, "directed")
    bench.pace = (loop.time() - started) / max(len(plan.needed), 1)
    until = loop.time() + DIRECTED_SECONDS
    done = 0
    while done < len(plan.others) and not bench.over and (left := until - loop.time()) > 0:
        step = max(1, min(bench.session.max_in_flight, int(left / max(bench.pace, 1e-6))))
        await bench.ask(plan.others[done : done + step], "directed")
        done += step


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
    """A few positions of each kind of decision of each game that the bot answers well, in mid-deal if there are such.

    Of a slow bot, as few as count: every stimulus is put in each of them.
    """
    loop = asyncio.get_running_loop()
    groups: dict[tuple[str, object], list[Position]] = {}
    for position in sorted(positions, key=lambda one: not one.actions):
        groups.setdefault((position.rules.name, position.reached().kind), []).append(position)
    sound: list[Position] = []
    for group in groups.values():
        found: list[Position] = []
        started = loop.time()
        for start in range(0, min(len(group), 8 * _POKED), _POKED):
            if len(found) < _POKED and not bench.over:
                step = group[start : start + _POKED]
                asked = await bench.ask(step, "pokes")
                found += [position for position, asking in zip(step, asked, strict=False) if _is_sound(asking)]
        sound += found[:_POKED]
        if len(sound) >= LEAST and loop.time() - started > _SLOW_SECONDS:
            break
    return sound


def _is_sound(asking: Asking) -> bool:
    return asking.answer is not None and asking.answer.violation is None and not (asking.silent or asking.lost)


async def _poke(bench: Bench, position: Position, poke: Poke) -> bool:
    """Pokes one turn; false if that went wrong."""
    scribe = bench.scribe
    (asking,) = await bench.ask([position], "pokes", poke)
    if asking.silent and not bench.over:  # once late may be the machine's doing
        (asking,) = await bench.ask([position], "pokes", poke)
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
    """Games of so many decisions that the time for a game could be used up."""
    if "AF-CLOCK-002" not in bench.scribe.tally.scores:
        return
    bench.scribe.begin("long games")
    source = matches(bench, "long games", [far_target(bench.games[0])])
    until = asyncio.get_running_loop().time() + max(LONG_SECONDS, 3 * bench.plan.seconds)
    enough: list[Asking] = []
    playing: list[Asking] = []

    def refill() -> None:
        for asking in [one for one in playing if one.answers > MOVES_A_GAME or one.done]:
            playing.remove(asking)
            if asking.answers > MOVES_A_GAME:
                enough.append(asking)
            bench.room.close(asking)
        if len(enough) >= LEAST:
            bench.room.clear()
            return
        while len(playing) < 2 * LEAST:
            playing.extend(bench.play([next(source)], "long games"))

    await bench.settle(until, refill)
    bench.room.clear()
    bench.scribe.tally.chance("AF-CLOCK-002", "long games", times=len(enough))
    bench.scribe.tally.excuse(
        "AF-CLOCK-002",
        f"No {LEAST} games of more than {MOVES_A_GAME} decisions fitted into the time; --seconds gives it more.",
    )


async def at_random(bench: Bench, seconds: float, deals: int | None, phase: str = "random") -> None:
    """Whole games with players who do anything legal, for so many seconds or deals."""
    scribe, loop = bench.scribe, asyncio.get_running_loop()
    scribe.begin(phase)
    before, source = scribe.deals, matches(bench, phase)
    tables = min(_TABLES, bench.session.max_in_flight * 3 // 2 + 1, max(1, int(_BATCH_SECONDS / max(bench.pace, 1e-6))))

    def refill() -> None:
        if deals is not None and scribe.deals - before >= deals:
            bench.room.clear()
            return
        while len(bench.room.askings) < tables:
            bench.play([next(source)], phase)

    if deals != 0 and (deals is not None or seconds > 0):
        await bench.settle(None if deals is not None else loop.time() + seconds, refill)
    bench.room.clear()
    scribe.log.emit("played", phase=phase, deals=scribe.deals - before)


def matches(bench: Bench, phase: str, games: Sequence[RuleSet] = ()) -> Iterator[Match]:
    """Games without end: every game, number of seats and seat in turn."""
    chance = random.Random(f"{phase} {bench.plan.seed}")  # noqa: S311  # repeatable on purpose
    shapes = [(rules, seats) for rules in games or bench.games for seats in seats_of(rules, bench.plan.seats)]
    master = _master(bench, phase)
    for number in count():
        rules, seats = shapes[number % len(shapes)]
        yield Match(rules, seats, chance.randrange(seats), chance.randrange(seats), master, number)
