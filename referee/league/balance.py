"""Whether a schedule is fair: counted game by game from the schedule itself, not from how it was made."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from referee.league.league import League
from referee.league.schedule.format import Shape
from referee.league.schedule.formats import format_of
from referee.league.schedule.schedule import PlannedSet, Schedule, read_schedule
from referee.league.store import Store

Pair = tuple[str, str]
"""Two entrants, sorted."""


@dataclass(frozen=True, slots=True)
class BalanceCheck:
    """One check: its name, whether it holds, and a sentence with the figures."""

    name: str
    ok: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class EntrantLoad:
    """What one entrant plays. ``seats``: how often it holds each seat, by seat."""

    entrant: str
    tables: int
    sets: int
    games: int
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Balance:
    """A schedule counted. ``pairs``: at how many tables two entrants meet."""

    shares: tuple[EntrantLoad, ...]
    pairs: Mapping[Pair, int]
    findings: tuple[BalanceCheck, ...]

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(finding.ok for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """Plain values, ready for ``json.dumps``; pairs as [entrant, entrant, tables]."""
        return {
            "ok": self.ok,
            "checks": [asdict(finding) for finding in self.findings],
            "entrants": [asdict(share) for share in self.shares],
            "pairs": [[*pair, count] for pair, count in self.pairs.items()],
        }


def check_schedule(schedule: Schedule, shape: Shape, entrants: Sequence[str]) -> Balance:
    """Counts a schedule of that shape; ``entrants`` are its keys in the order of the file."""
    pairs = dict.fromkeys(combinations(sorted(entrants), 2), 0)
    pairs.update(Counter(pair for table in schedule.tables for pair in combinations(sorted(table), 2)))
    shares = tuple(_shares(schedule, shape.seats, entrants))
    first = format_of(shape).yardstick(entrants)
    findings = (
        _pairs_meet(pairs, first),
        _seats(schedule, shape, shares),
        _packs(schedule),
        _ids(schedule),
    )
    return Balance(shares, pairs, findings)


def meetings(sets: Iterable[PlannedSet], entrants: Sequence[str]) -> tuple[int, int]:
    """In how many of these sets the pair that met least, and the one that met most, has met. (0, 0) without pairs."""
    counts = Counter(pair for planned in sets for pair in combinations(sorted(planned.table), 2))
    met = [counts[pair] for pair in combinations(sorted(entrants), 2)]
    return min(met, default=0), max(met, default=0)


def _shares(schedule: Schedule, chairs: int, entrants: Sequence[str]) -> Iterator[EntrantLoad]:
    held: Counter[tuple[str, int]] = Counter()
    games: Counter[str] = Counter()
    for fixture in schedule.fixtures:
        held.update(zip(fixture.seats, range(len(fixture.seats)), strict=True))
        games.update(set(fixture.seats))
    tables = Counter(key for table in schedule.tables for key in table)
    sets = Counter(key for planned in schedule.sets for key in planned.table)
    for key in entrants:
        seats = tuple(held[key, seat] for seat in range(chairs))
        yield EntrantLoad(key, tables[key], sets[key], games[key], seats)


def _pairs_meet(pairs: Mapping[Pair, int], first: str | None) -> BalanceCheck:
    """The counts of all pairs differ by 1 at the most; those with the one that all meet are counted apart."""
    groups = [
        ("every pair", [count for pair, count in pairs.items() if first not in pair]),
        (f"{first} and each other entrant", [count for pair, count in pairs.items() if first in pair]),
    ]
    told = [(who, min(counts), max(counts)) for who, counts in groups if counts]
    ok = all(most - least <= 1 for _, least, most in told)
    return BalanceCheck("pairs", ok, "; ".join(f"{who} meets at {_range(least, most)}" for who, least, most in told))


def _range(least: int, most: int) -> str:
    noun = "table" if most == 1 else "tables"
    return f"{most} {noun}" if least == most else f"{least} to {most} {noun}"


def _seats(schedule: Schedule, shape: Shape, shares: Sequence[EntrantLoad]) -> BalanceCheck:
    """Each entrant holds each seat equally often; in a pair of two bots, each of them."""
    uneven = [share for share in shares if len(set(share.seats)) > 1]
    if shape.pairs and not uneven:
        held = Counter((one, seat) for game in schedule.fixtures for seat, one in enumerate(game.processes))
        bots = {one for one, _ in held}
        odd = {key for key, slot in bots if len({held[(key, slot), seat] for seat in range(shape.seats)}) > 1}
        uneven = [share for share in shares if share.entrant in odd]
    if not uneven:
        return BalanceCheck("seats", ok=True, sentence="every entrant holds each seat equally often")
    worst = max(uneven, key=lambda share: max(share.seats) - min(share.seats))
    counts = ", ".join(map(str, worst.seats))
    return BalanceCheck(
        "seats", ok=False, sentence=f"{len(uneven)} entrants hold some seats more often: {worst.entrant} has {counts}"
    )


def _packs(schedule: Schedule) -> BalanceCheck:
    """Within a leg, which is how long a bot process lives, no process plays two games of one set."""
    twice = 0
    for leg in schedule.legs():
        met = Counter((*process, fixture.set_id) for fixture in leg for process in fixture.processes)
        twice += sum(count > 1 for count in met.values())
    sentence = f"{twice} times a bot process would meet a pack again" if twice else "no bot process meets a pack twice"
    return BalanceCheck("packs", ok=not twice, sentence=sentence)


def _ids(schedule: Schedule) -> BalanceCheck:
    ids = Counter(planned.id for planned in schedule.sets)
    again = sum(count > 1 for count in ids.values())
    sentence = f"{again} ids belong to several sets" if again else "every set has an id of its own"
    return BalanceCheck("ids", ok=not again, sentence=sentence)


def told_early(schedule: Schedule, closed: Iterable[str], entrants: Sequence[str]) -> str:
    """What a reader of standings must know when only these sets are closed; empty if that makes no difference."""
    done = set(closed)
    least, most = meetings((planned for planned in schedule.sets if planned.id in done), entrants)
    if len(schedule.tables) == 1 or len(done) == len(schedule.sets) or not done:
        return ""
    met = f"{least} to {most}" if least < most else f"{least}"
    return (
        f"Only the whole schedule is balanced: so far, pairs of entrants have met in {met} closed sets, so "
        "some have had more of the strong ones than others."
    )


def told_of(store: Store, league: League, schedule: Schedule | None = None) -> str:
    """``told_early`` of a league as its store stands; ``schedule`` saves reading it again."""
    sets = store.sets()
    closed = [row.id for row in sets if row.state != "OPEN"]
    if len(closed) in (0, len(sets)):
        return ""
    planned = schedule or read_schedule(store)
    return told_early(planned, closed, [entrant.key for entrant in league.entrants])
