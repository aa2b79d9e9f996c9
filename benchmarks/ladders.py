"""Simulated ladders that do all they can to find an order where there is none: part of ``benchmarks/error_rates.py``.

Every ladder draws its tables as a real one does (``referee.league.schedule.ladder``) and chases: all extra tables, as many as
there are balanced ones, are aimed at the two bots that lead at the moment. Somebody looks after every set. A ladder is wrong if at
any look an order of any two bots, of whatever version, is shown that is not so.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from math import sqrt
from typing import Final

from referee.league.schedule.format import Shape
from referee.league.schedule.ladder import (
    AimedTable,
    LadderBot,
    Meetings,
    RoundPlan,
    balanced_tables,
    draw_round,
    newcomers_to_place,
)
from referee.statistics.intervals import FEWEST_SETS
from referee.statistics.ladder_orders import LadderOrders
from referee.statistics.results import place_points

SETS: Final = 1000
"""Sets of a simulated ladder."""

Noise = Callable[[random.Random], float]


def normal(rng: random.Random) -> float:
    """Luck of a set that is normal."""
    return rng.gauss(0.0, 1.0)


def nothing_but_upsets(rng: random.Random) -> float:
    """Nine sets of ten bring the same; the tenth brings four times as much or takes it."""
    return rng.choice((-4.0, 4.0)) if rng.random() < 0.1 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Who plays on a simulated ladder, and what a set brings them.

    ``bots``: how many begin. ``strength``: of a bot by its number. ``meets``: what the presence of another gives to a bot, so that
    who wins depends on who else sits there. ``noise``: luck of a set. ``swing``: how far the luck of sets changes over the rounds.
    ``by_place``: a set is one game, and brings the share of opponents beaten. ``arrivals``: rounds between two that bring a
    newcomer, or a new version of somebody, who retires; 0 = nobody comes. ``quits``: who stands last after enough sets goes, and
    comes again as a new version. ``everything``: as it must not be: sets of an aimed table speak of all pairs at it.
    ``naive``: as it must not be: an order is shown where Student's t is above 3.
    """

    bots: int = 8
    strength: Callable[[int], float] = lambda _: 0.0
    meets: Callable[[int, int], float] = lambda _one, _other: 0.0
    noise: Noise = normal
    swing: float = 1.0
    by_place: bool = False
    arrivals: int = 0
    quits: bool = False
    everything: bool = False
    naive: bool = False


@dataclass(slots=True, kw_only=True)
class _Simulation:
    """One ladder as it goes."""

    field: Field
    rng: random.Random
    shape: Shape = field(default_factory=lambda: Shape(seats=4, sets=6))
    orders: LadderOrders = field(default_factory=LadderOrders)
    met: Meetings = field(default_factory=Meetings)
    bots: list[LadderBot] = field(default_factory=list)
    entered: int = 0

    def enter(self) -> LadderBot:
        bot = LadderBot(str(self.entered), "1")
        self.entered += 1
        self.orders.enter(bot.key)
        self.bots.append(bot)
        return bot

    def is_ever_wrong(self) -> bool:
        for _ in range(self.field.bots):
            self.enter()
        played, number = 0, 0
        while played < SETS:
            number += 1
            new = self._come_and_go(number) if number > 1 else []
            placed = newcomers_to_place(self.shape, self.bots, new) if new else ()
            plan = RoundPlan(number, tuple(self.bots), placed, self._chased())
            tables = draw_round(self.shape, plan, self.met, "simulated", self.rng.randbytes(32))
            self.met.add(number, plan.balanced, [(table.order, bool(table.aimed)) for table in tables])
            luck = self.field.swing ** (2.0 * self.rng.random() - 1.0)
            for table in tables:
                played += 1
                if self._brings_a_false_order(table, luck):
                    return True
        return False

    def sets_until_ahead(self, best: str) -> int:
        """Plays until the best is shown to be ahead of one of the others; 0 if it never is."""
        for _ in range(self.field.bots):
            self.enter()
        played, number = 0, 0
        while played < SETS:
            number += 1
            plan = RoundPlan(number, tuple(self.bots), (), self._chased())
            tables = draw_round(self.shape, plan, self.met, "simulated", self.rng.randbytes(32))
            self.met.add(number, plan.balanced, [(table.order, bool(table.aimed)) for table in tables])
            for table in tables:
                played += 1
                self._brings_a_false_order(table, 1.0)
                if best in table.order and any(
                    self.orders.finding(best, one).ahead == best for one in table.order if one != best
                ):
                    return played
        return 0

    def _come_and_go(self, number: int) -> list[str]:
        """Those who are new in this round."""
        own, new = self.field, []
        if own.arrivals and number % own.arrivals == 0:
            if self.rng.random() < 0.5 and len(self.bots) > own.bots:
                self.bots.pop(self.rng.randrange(len(self.bots)))
            new.append(self.enter().key)
        if own.quits:
            known = [bot for bot in self.bots if self.orders.sets(bot.key) >= FEWEST_SETS]
            last = min(known, key=lambda bot: self.orders.strength(bot.key), default=None)
            if last is not None:
                self.bots.remove(last)
                new.append(self.enter().key)
        return new

    def _chased(self) -> tuple[tuple[str, str], ...]:
        known = [bot.key for bot in self.bots if self.orders.sets(bot.key) >= FEWEST_SETS]
        if len(known) < 2:
            return ()
        leaders = sorted(known, key=self.orders.strength)[-2:]
        one, other = sorted(leaders, key=int)
        return ((one, other),) * balanced_tables(self.shape, len(self.bots))

    def _brings_a_false_order(self, table: AimedTable, luck: float) -> bool:
        own = self.field
        got = {
            key: own.strength(int(key))
            + sum(own.meets(int(key), int(other)) for other in table.order if other != key)
            + luck * own.noise(self.rng)
            for key in table.order
        }
        if own.by_place:
            places = tuple(1 + sum(other > one for other in got.values()) for one in got.values())
            got = dict(zip(got, place_points(places), strict=True))
        aimed = () if own.everything else table.aimed
        self.orders.add(got, aimed)
        return any(self._is_false(one, other) for one, other in combinations(table.order, 2))

    def _is_false(self, one: str, other: str) -> bool:
        found = self.orders.finding(one, other)
        if self.field.naive:
            ahead = found.first if (found.mean or 0.0) > 0.0 else found.second
            shown = found.sets >= FEWEST_SETS and self._t(one, other) > 3.0
        else:
            ahead, shown = found.ahead, found.is_shown
        if not shown:
            return False
        behind = found.second if ahead == found.first else found.first
        return self._truth(int(ahead), int(behind)) <= 1e-12

    def _t(self, one: str, other: str) -> float:
        pair = self.orders._pairs[min((one, other), key=int), max((one, other), key=int)]  # noqa: SLF001
        error = sqrt(pair.squares / (pair.count - 1) / pair.count)
        return abs(pair.mean) / error if error else 0.0

    def _truth(self, one: int, other: int) -> float:
        """How much more the first gets than the second where both sit, the other chairs by lot among those who are here."""
        own, here = self.field, [int(bot.key) for bot in self.bots]
        others = [bot for bot in here if bot not in (one, other)]
        apart = own.strength(one) - own.strength(other) + own.meets(one, other) - own.meets(other, one)
        chairs = self.shape.table_size - 2
        return apart + chairs * sum(own.meets(one, bot) - own.meets(other, bot) for bot in others) / max(len(others), 1)


def friends_and_foes(one: int, other: int) -> float:
    """Bots in a ring: the neighbours of each help it, those after them hurt it as much. All are equal against a random field."""
    apart = min((one - other) % 8, (other - one) % 8)
    return 0.8 if apart == 1 else -0.8 if apart == 2 else 0.0


def each_beats_the_next(one: int, other: int) -> float:
    """Three kinds of bots, each of which beats the next and loses to the one before: no order holds for all."""
    return (0.0, 0.5, -0.5)[(other - one) % 3]


FIELDS: Final = {
    "eight equals": Field(),
    "eight equals, one game a set, place points": Field(by_place=True),
    "eight equals, nine sets of ten alike": Field(noise=nothing_but_upsets),
    "eight equals, the luck of rounds differs up to 16-fold": Field(swing=4.0),
    "equals; every other round a newcomer, or a new version for an old one": Field(bots=6, arrivals=2),
    "equals; who stands last goes, and comes again as a new version": Field(quits=True),
    "one better than seven equals": Field(strength=lambda bot: 0.5 * (bot == 0)),
    "a field that gets better: each newcomer by a little": Field(
        bots=6, arrivals=2, strength=lambda bot: 0.1 * (bot // 2)
    ),
    "three kinds of which each beats the next": Field(bots=9, meets=each_beats_the_next),
    "equals to whom it matters much who else sits there": Field(meets=friends_and_foes),
}
"""Ladders of which it is promised that a false order is seldom ever shown."""

BEYOND: Final = {
    "for comparison: the last, but sets of aimed tables speak of all who sit there": Field(
        meets=friends_and_foes, everything=True
    ),
    "for comparison: eight equals, Student's t above 3 taken for an order": Field(naive=True),
}


def is_ever_wrong(field_: Field, rng: random.Random) -> bool:
    """Whether at any look somebody is shown to be ahead of a bot that is no worse."""
    return _Simulation(field=field_, rng=rng).is_ever_wrong()


def cases() -> Iterator[tuple[str, Callable[[random.Random], bool], bool]]:
    """Each kind of ladder in words, whether one of it goes wrong, and whether it is promised that few do."""
    for fields, promised in ((FIELDS, True), (BEYOND, False)):
        for label, own in fields.items():
            yield f"ladder, {label}", partial(is_ever_wrong, own), promised


def sets_until_shown(gain: float, rng: random.Random) -> int:
    """After how many sets a ladder of eight has shown that its best bot, better by ``gain``, is ahead of one of the others; 0 = never."""
    simulation = _Simulation(field=Field(strength=lambda bot: gain * (bot == 0)), rng=rng)
    return simulation.sets_until_ahead("0")
