"""A ladder: rounds without an end, which bots and new versions of bots enter as they come. Who meets whom in a round.

What a round rests on is fixed first: who plays (``RoundPlan``), and at which pairs its extra tables are aimed. Only then its
master is drawn, and all chance here follows from that. So results choose pairs, and nothing else: the other chairs are filled by
lot, and nobody can choose chairs to suit packs. Pure: a verification draws the same round from the same master.

A round has, in this order,

* the balanced part: each bot that is not new sits at ``Shape.sets`` tables, or at one more where seats are over; whoever has met least in balanced
  parts so far sits together, and lots decide between equals. Results have no say in it;
* a table for each pair that has not met for ``rounds_to_meet`` rounds: so everybody meets everybody, and the leaders each other;
* for each newcomer ``PLACEMENT`` tables with others drawn by lot, instead of the balanced part. Where there are too few others, a
  newcomer plays in the balanced part at once;
* the extra tables, one for each of the chosen pairs, the other chairs by lot.

Never do two bots of one owner sit at a table.
"""

import hashlib
import hmac
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice, pairwise
from typing import Final, TypeVar

from referee.deals import encode
from referee.league.schedule.format import Format, ScheduledEntrant, ScheduleError, SetResult, Shape
from referee.league.schedule.schedule import Schedule, Seating
from referee.statistics.intervals import FEWEST_SETS
from referee.statistics.ladder_orders import LadderOrders, whose

PLACEMENT: Final = 6
"""Tables at which a newcomer is placed."""

EXTRA_SHARE: Final = 4
"""Of so many balanced tables there is one extra table, unless the definition says how many."""

_LABEL: Final = "af-ladder-v1"

Pair = tuple[str, str]
"""Two bots, in the order in which they entered."""

_T = TypeVar("_T")


class Ladder(Format):
    """Rounds without an end. The rounds are begun by ``referee.league.ladder``, for a round needs a master of its own."""

    name = "ladder"
    words = "everybody in rounds without an end, which new bots and new versions enter as they come"
    options = frozenset({"extra"})
    takes_pairs = False
    no_remote = (
        "no remote bots on a ladder, which knows versions by their files; a host has a board of its own for them"
    )
    endless = True

    def next_sets(self, shape: Shape, entrants: Sequence[ScheduledEntrant], results: Sequence[SetResult]) -> Schedule:
        """None: what comes next depends on who is there when the next round begins."""
        del shape, entrants, results
        return Schedule(())

    def fewest_sets(self, shape: Shape, entrants: int) -> int:
        """Those of the balanced part of its first round."""
        return balanced_tables(shape, entrants)


def balanced_tables(shape: Shape, bots: int) -> int:
    """The tables of the balanced part of a round with so many bots."""
    return -(-bots * shape.sets // shape.table_size)


def extra_tables(shape: Shape, bots: int) -> int:
    """The extra tables of a round for pairs whose order is open."""
    return -(-balanced_tables(shape, bots) // EXTRA_SHARE) if shape.extra is None else shape.extra


def rounds_to_meet(shape: Shape, bots: int) -> int:
    """Within how many rounds every two of so many bots meet, once both play in the balanced part.

    Twice as many as there must be, were no chair wasted.
    """
    return max(2 * -(-(bots - 1) // (shape.sets * (shape.table_size - 1))), 1)


@dataclass(frozen=True, slots=True)
class LadderBot:
    """A bot in one version, as the drawing of a round knows it. ``owner`` is empty for a bot without one."""

    key: str
    version: str
    owner: str = ""


@dataclass(frozen=True, slots=True)
class RoundPlan:
    """What is fixed before the master of a round is drawn.

    ``bots``: all that play, in the order in which they entered. ``placed``: those that are new and are placed. ``pairs``: at whom
    the extra tables are aimed, one entry a table.
    """

    number: int
    bots: tuple[LadderBot, ...]
    placed: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()

    @property
    def balanced(self) -> tuple[str, ...]:
        """Who is in its balanced part: all but those that are placed."""
        return tuple(bot.key for bot in self.bots if bot.key not in self.placed)


@dataclass(frozen=True, slots=True)
class AimedTable:
    """A table of a round: its bots in their cyclic order, the rotations that are played, and at whom it is aimed."""

    order: Seating
    rotations: tuple[int, ...]
    aimed: tuple[str, ...] = ()


class Meetings:
    """Who has met whom on a ladder: how often in balanced parts, and when last; and since when each plays in these."""

    def __init__(self) -> None:
        self._balanced: Counter[frozenset[str]] = Counter()
        self._last: dict[frozenset[str], int] = {}
        self._since: dict[str, int] = {}

    def add(self, number: int, balanced: Iterable[str], tables: Iterable[tuple[Collection[str], bool]]) -> None:
        """A round: its number, who was in its balanced part, and each of its tables with whether it was aimed at somebody."""
        for key in balanced:
            self._since.setdefault(key, number)
        for table, aimed in tables:
            for pair in map(frozenset, combinations(table, 2)):
                self._last[pair] = number
                self._balanced[pair] += not aimed

    def balanced(self, one: str, other: str) -> int:
        """How often two have met in balanced parts."""
        return self._balanced[frozenset((one, other))]

    def waiting(self, one: str, other: str, number: int) -> int:
        """For how many rounds before this one two have not met, of those that both were in."""
        since = max(self._since.get(one, number), self._since.get(other, number)) - 1
        return number - 1 - max(self._last.get(frozenset((one, other)), 0), since)


def newcomers_to_place(shape: Shape, bots: Sequence[LadderBot], new: Collection[str]) -> tuple[str, ...]:
    """Those of the new bots that are placed against the others; none where these cannot fill a table with each of them."""
    others = [bot for bot in bots if bot.key not in new]
    newcomers = [bot for bot in bots if bot.key in new]
    enough = all(len(_owners(others) - _owners([one])) >= shape.table_size - 1 for one in newcomers)
    return tuple(bot.key for bot in newcomers) if enough and len(_owners(others)) >= shape.table_size else ()


def _owners(bots: Iterable[LadderBot]) -> set[tuple[bool, str]]:
    """The different owners of bots; one without an owner counts for itself."""
    return {whose(bot.owner, bot.key) for bot in bots}


def open_pairs(evidence: LadderOrders, among: Iterable[str], tables: int) -> tuple[Pair, ...]:
    """At which pairs so many extra tables are aimed: neighbours whose order is open, from the top, round and round.

    Nobody is among them with fewer than ten sets, whose place is not known, and no two of one owner.
    """
    known = [key for key in among if evidence.sets(key) >= FEWEST_SETS]
    order = sorted(known, key=lambda key: (-round(evidence.strength(key), 12), key))
    found = [evidence.finding(one, other) for one, other in pairwise(order)]
    chosen = [(one.first, one.second) for one in found if one.error and not one.is_shown]
    return tuple(chosen[number % len(chosen)] for number in range(tables)) if chosen else ()


def draw_round(
    shape: Shape, plan: RoundPlan, met: Meetings, league: str, master: bytes, most: int | None = None
) -> tuple[AimedTable, ...]:
    """The tables of a round, all chance from its master. ``met``: the rounds before it.

    Raises ``ScheduleError`` where the bots cannot fill a table, or there would be more than ``most`` tables.
    """
    fewest = balanced_tables(shape, len(plan.balanced)) + PLACEMENT * len(plan.placed) + len(plan.pairs)
    if most is None or fewest <= most:
        tables = _Drawing(shape, plan, met, lots_of(league, plan.number, master)).tables()
        drawn = tuple(tables if most is None else islice(tables, most + 1))
        if most is None or len(drawn) <= most:
            return drawn
    raise ScheduleError(f"round {plan.number} has more tables than the {most:,} that are there")


class Lots:
    """Numbers without pattern that follow from a key: HMAC-SHA256 of a counter, four bytes each."""

    def __init__(self, key: bytes) -> None:
        self._numbers = self._stream(key)

    @staticmethod
    def _stream(key: bytes) -> Iterator[int]:
        for number in count():
            block = hmac.digest(key, number.to_bytes(8, "big"), hashlib.sha256)
            yield from (int.from_bytes(block[place : place + 4], "big") for place in range(0, 32, 4))

    def below(self, bound: int) -> int:
        """A number of 0 .. ``bound`` - 1, each as likely; numbers that would make some likelier are skipped."""
        limit = (1 << 32) - (1 << 32) % bound
        return next(number for number in self._numbers if number < limit) % bound

    def shuffled(self, items: Iterable[_T]) -> list[_T]:
        """The items in an order drawn by lot (Fisher and Yates)."""
        drawn = list(items)
        for place in range(len(drawn) - 1, 0, -1):
            other = self.below(place + 1)
            drawn[place], drawn[other] = drawn[other], drawn[place]
        return drawn


def lots_of(league: str, number: int, master: bytes) -> Lots:
    """The lots of a round."""
    return Lots(hmac.digest(master, encode(_LABEL, league, number), hashlib.sha256))


class _Drawing:
    """The drawing of one round."""

    def __init__(self, shape: Shape, plan: RoundPlan, met: Meetings, lots: Lots) -> None:
        self._shape, self._plan, self._met, self._lots = shape, plan, met, lots
        self._others = list(plan.balanced)
        self._here: Counter[frozenset[str]] = Counter()  # meetings of this round
        self._seats: Counter[str] = Counter()  # in its balanced part
        self._owner_of = {bot.key: whose(bot.owner, bot.key) for bot in plan.bots}
        owners = Counter(self._owner_of.values())
        self._kept_apart = {key for key, owner in self._owner_of.items() if owners[owner] > 1}
        if len({self._owner_of[key] for key in self._others}) < shape.table_size:
            raise ScheduleError(
                f"round {plan.number}: {len(self._others)} bots cannot fill a table of {shape.table_size} without two bots of one "
                "owner; enter more bots"
            )

    def tables(self) -> Iterator[AimedTable]:
        """Table by table, in the order in which they are played."""
        for table in self._balanced():
            yield self._seated(table, ())
        for pair in self._long_unmet():
            yield self._seated(self._filled(pair), pair)
        for key in self._plan.placed:
            for _ in range(PLACEMENT):
                yield self._seated(self._filled((key,)), (key,))
        for pair in self._plan.pairs:
            yield self._seated(self._filled(pair), pair)

    def _seated(self, table: Sequence[str], aimed: tuple[str, ...]) -> AimedTable:
        order, turns = tuple(self._lots.shuffled(table)), self._shape.rotations
        rotations = tuple(range(turns)) if self._shape.duplicate else (self._lots.below(turns),)
        return AimedTable(order, rotations, aimed)

    def _balanced(self) -> Iterator[list[str]]:
        """Everybody once in each pass; who is left over begins the next, and after the last pass others join who is left."""
        waiting: list[str] = []
        for _ in range(self._shape.sets):
            waiting += self._lots.shuffled(self._others)
            waiting.sort(key=lambda key: key not in self._kept_apart)  # they would be left over together
            yield from self._taken_from(waiting)
        while waiting:
            table = self._joined([waiting.pop(0)], waiting)
            for key in table[1:]:
                waiting.remove(key)
            others = self._lots.shuffled(self._others)
            fewest = sorted(others, key=lambda key: self._seats[key])
            while len(table) < self._shape.table_size:
                free = [key for key in fewest if self._may_join(key, table)]
                least = self._seats[free[0]]
                table = self._joined(table, [key for key in free if self._seats[key] == least])
            self._note(table)
            yield table

    def _taken_from(self, waiting: list[str]) -> Iterator[list[str]]:
        """Full tables of those that wait; who finds none goes on waiting."""
        left: list[str] = []
        while len(waiting) >= self._shape.table_size:
            table = self._joined([waiting[0]], waiting[1:])
            if len(table) < self._shape.table_size:
                left.append(waiting.pop(0))
                continue
            for key in table:
                waiting.remove(key)
            self._note(table)
            yield table
        waiting[:0] = left

    def _joined(self, table: list[str], others: Sequence[str]) -> list[str]:
        """The table with those of the others that have met its bots least, as far as there are any who may sit there."""
        joined = list(table)
        while len(joined) < self._shape.table_size:
            free = [key for key in others if self._may_join(key, joined)]
            if not free:
                break
            joined.append(min(free, key=lambda key: sum(self._times(key, one) for one in joined)))
        return joined

    def _times(self, one: str, other: str) -> int:
        return self._met.balanced(one, other) + self._here[frozenset((one, other))]

    def _note(self, table: Sequence[str]) -> None:
        self._here.update(map(frozenset, combinations(table, 2)))
        self._seats.update(table)

    def _may_join(self, key: str, table: Collection[str]) -> bool:
        return all(self._owner_of[key] != self._owner_of[one] for one in table)

    def _filled(self, aimed: Sequence[str]) -> list[str]:
        """A table with these, the other chairs by lot."""
        table = list(aimed)
        for key in self._lots.shuffled(self._others):
            if len(table) < self._shape.table_size and self._may_join(key, table):
                table.append(key)
        if len(table) < self._shape.table_size:
            names = " and ".join(aimed)
            raise ScheduleError(
                f"round {self._plan.number}: there are not bots enough of other owners for a table with {names}; enter more bots"
            )
        return table

    def _long_unmet(self) -> Iterator[Pair]:
        """The pairs that have to meet in this round and have not at its balanced tables."""
        number, most = self._plan.number, rounds_to_meet(self._shape, len(self._others)) - 1
        for one, other in combinations(self._others, 2):
            if self._here[frozenset((one, other))] or self._owner_of[one] == self._owner_of[other]:
                continue
            if self._met.waiting(one, other, number) >= most:
                yield one, other


def table_numbers(tables: Iterable[Collection[str]], before: Mapping[frozenset[str], int]) -> Iterator[int]:
    """For each table how often the same bots have sat together before; ``before``: in the rounds before."""
    seen = Counter(before)
    for table in map(frozenset, tables):
        yield seen[table]
        seen[table] += 1
