"""How often what a league shows is wrong: simulated leagues of equals and of unequals.

    python benchmarks/error_rates.py [--leagues 10000] [--only intervals] [--only compare] [--only ranks] [--only power]
        [--only ladder] [--write docs/statistics.md]

Intervals: the share of the intervals of standings that do not hold the truth, for the measure and for the rating, by number
of sets, of bots, and how far these are apart. It may not exceed 7% anywhere, nor may intervals be wider on average than 1.5
times Student's at 20 and 40 sets.

Looks: the share of simulated leagues in which something false was *ever* shown, at whichever look: two equals told apart, or
two versions called equally good that differ by more than the margin. It may not exceed the stated 5%. A last row shows what
the test does not hold against, and is not counted.

Ladders: the same of ladders that chase their leaders (``ladders.py``), a tenth as many as leagues.

The exit code is 1 if anything is not held.
"""

import argparse
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from math import exp, fsum, log, sqrt
from pathlib import Path
from typing import Final

from benchmarks import ladders
from referee.statistics.comparison import compare
from referee.statistics.finishing_orders import gather
from referee.statistics.intervals import FEWEST_SETS, two_sided
from referee.statistics.paired import estimate
from referee.statistics.plackett_luce import ELO_SCALE, fit_awards
from referee.statistics.ranks import separated
from referee.statistics.rating_intervals import rating_intervals, standard_errors
from referee.statistics.results import GameSet, Measures, PlayedGame, Span, place_points, set_means, trials_of
from referee.statistics.sequential_tests import estimate_at_any_look
from referee.statistics.version_comparison import FIRST_LOOK

ALPHA: Final = 0.05
MOST_SETS: Final = 500

Draw = Callable[[random.Random], float]
"""The difference of two versions in one set."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of so many leagues."""

    label: str
    wrong: int
    leagues: int
    promised: bool = True

    @property
    def share(self) -> float:
        """Wrong leagues of all."""
        return self.wrong / self.leagues

    @property
    def reach(self) -> float:
        """Half the width of its own 95% interval."""
        return 1.96 * sqrt(max(self.share * (1.0 - self.share), 1.0 / self.leagues) / self.leagues)


def looks(most: int, first: int = FIRST_LOOK) -> list[int]:
    """The looks of a league at one table, as in ``referee.league.early_stop``."""
    places = []
    while first < most:
        places.append(first)
        first = max(first + 1, int(first * 1.25))
    return [*places, most]


# Two versions


def heavy(rng: random.Random) -> float:
    """Student's t with two degrees of freedom: its variance is infinite."""
    return rng.gauss(0.0, 1.0) / sqrt(rng.expovariate(1.0))


def mostly_nothing(rng: random.Random) -> float:
    """Nine sets of ten are alike, as for close versions."""
    return rng.choice((-3.0, -1.0, -1.0, 1.0, 1.0, 3.0)) if rng.random() < 0.1 else 0.0


def one_in(times: int, rng: random.Random) -> float:
    """A gain in nearly all sets, paid for by a loss in one of so many."""
    return 1.0 if rng.random() >= 1.0 / times else 1.0 - times


DRAWS: Final[dict[str, Draw]] = {
    "normal differences": lambda rng: rng.gauss(0.0, 1.0),
    "heavy tails (t with 2 degrees of freedom)": heavy,
    "nine sets of ten alike": mostly_nothing,
    "two results only (a coin)": lambda rng: rng.choice((-1.0, 1.0)),
    "skewed (exponential)": lambda rng: rng.expovariate(1.0) - 1.0,
    "a gain of 1 in three sets of four, a loss of 3 in the fourth": partial(one_in, 4),
}
BEYOND: Final = "not promised: a gain of 1 in nine sets of ten, a loss of 9 in the tenth"


def ever_apart(draw: Draw, rng: random.Random, places: Iterable[int], *, naive: bool = False) -> bool:
    """Whether two equal versions are told apart at any of the looks. ``naive``: by a test of fixed length, repeated."""
    values: list[float] = []
    for place in places:
        values += [draw(rng) for _ in range(place - len(values))]
        found = estimate(values) if naive else estimate_at_any_look(values, ALPHA, 1.0)
        if found.low is not None and found.high is not None and (found.low > 0.0 or found.high < 0.0):
            return True
    return False


def ever_same(draw: Draw, gain: float, margin: float, rng: random.Random, places: Iterable[int]) -> bool:
    """Whether versions that differ by ``gain`` are ever shown to differ by no more than ``margin``."""
    values: list[float] = []
    for place in places:
        values += [draw(rng) + gain for _ in range(place - len(values))]
        found = estimate_at_any_look(values, ALPHA, 1.0)
        if found.low is not None and found.high is not None and -margin <= found.low and found.high <= margin:
            return True
    return False


def rate(label: str, leagues: int, wrong: Callable[[random.Random], bool], *, promised: bool = True) -> Rate:
    """The share of leagues that go wrong; each has a seed of its own."""
    return Rate(label, sum(wrong(random.Random(f"{label}/{number}")) for number in range(leagues)), leagues, promised)


def compare_rates(leagues: int) -> Iterator[Rate]:
    """Equal versions told apart, and unequal ones called equal."""
    places = looks(MOST_SETS)
    for label, draw in DRAWS.items():
        yield rate(f"equal versions, {label}", leagues, partial(_apart, draw, places))
    everywhere = list(range(2, 101))
    yield rate(
        "equal versions, a look after every one of 100 sets",
        leagues,
        partial(_apart, DRAWS["normal differences"], everywhere),
    )
    yield rate("equal versions, at most 20 sets, heavy tails", leagues, partial(_apart, heavy, looks(20)))
    rare = partial(_same, mostly_nothing, 0.25, 0.2, places)
    yield rate("versions 0.25 apart called equal within 0.2, nine sets of ten alike", leagues, rare)
    yield rate(BEYOND, leagues, partial(_apart, partial(one_in, 10), places), promised=False)
    naive = partial(_apart, DRAWS["normal differences"], places, naive=True)
    yield rate("for comparison: Student's t test repeated at every look, normal", leagues, naive, promised=False)


def _apart(draw: Draw, places: Sequence[int], rng: random.Random, *, naive: bool = False) -> bool:
    return ever_apart(draw, rng, places, naive=naive)


def _same(draw: Draw, gain: float, margin: float, places: Sequence[int], rng: random.Random) -> bool:
    return ever_same(draw, gain, margin, rng, places)


# Leagues


@dataclass(frozen=True, slots=True)
class League:
    """What leagues are simulated: strengths by bot (equal ones must not be told apart), tables and looks.

    ``rotations``: games of a set; the luck of a chair's packs stays with the chair. ``bond``: what a bot makes of the
    packs of a set, in all its rotations alike, so that these are correlated. ``noise``: the rest.
    """

    strengths: tuple[float, ...]
    size: int
    rotations: int
    rounds: int
    bond: float = 0.0
    noise: Draw = DRAWS["normal differences"]


def play_set(league: League, table: Sequence[int], name: str, rng: random.Random) -> GameSet:
    """A set, as one game whose points are the means over its rotations."""
    luck = [rng.gauss(0.0, 1.0) for _ in table]
    points = []
    for place, bot in enumerate(table):
        got = [luck[(place + turn) % len(table)] + league.noise(rng) for turn in range(league.rotations)]
        points.append(league.strengths[bot] + league.bond * rng.gauss(0.0, 1.0) + sum(got) / len(got))
    nothing = (0.0,) * len(table)
    places = tuple(1 + sum(other > own for other in points) for own in points)
    return [
        PlayedGame(
            set_id=name,
            entrants=tuple(map(str, table)),
            places=places,
            sides=0,
            measures=Measures(nothing, nothing, tuple(points)),
        )
    ]


def ever_misranked(league: League, rng: random.Random) -> bool:
    """Whether at any look two equals are told apart, or two others in the wrong order."""
    tables = list(combinations(range(len(league.strengths)), league.size))
    names = [str(bot) for bot in range(len(league.strengths))]
    seated = sum(0 in table for table in tables)
    sets: list[GameSet] = []
    for rounds in looks(league.rounds, -(-FIRST_LOOK // seated)):
        while len(sets) < rounds * len(tables):
            sets.append(play_set(league, tables[len(sets) % len(tables)], f"{len(sets):05}", rng))
        for one, other in separated(compare(sets, "points"), names, 1.0 - ALPHA, at_any_look=True):
            if league.strengths[int(one)] <= league.strengths[int(other)]:
                return True
    return False


EQUAL: Final = (0.0,) * 4
LEAGUES: Final = {
    "four equal bots, four rotations": League(EQUAL, 4, 4, 100),
    "the same with correlated rotations": League(EQUAL, 4, 4, 100, bond=1.0),
    "the same with heavy tails": League(EQUAL, 4, 4, 100, noise=heavy),
    "four equal bots, plain deals, at most 20 sets": League(EQUAL, 4, 1, 20),
    "one better than three equals": League((0.5, 0.0, 0.0, 0.0), 4, 4, 100),
    "six equal bots at tables of four": League((0.0,) * 6, 4, 1, 8),
}


def rank_rates(leagues: int) -> Iterator[Rate]:
    """Equals told apart anywhere in the table."""
    for label, shape in LEAGUES.items():
        yield rate(f"ranks, {label}", leagues, partial(ever_misranked, shape))


# Power


def sets_needed(gain: float, rng: random.Random, most: int) -> int:
    """After how many sets a version better by ``gain`` standard deviations of a set is shown to be; 0 = never."""
    values: list[float] = []
    for place in looks(most):
        values += [rng.gauss(gain, 1.0) for _ in range(place - len(values))]
        found = estimate_at_any_look(values, ALPHA, 1.0)
        if found.low is not None and found.low > 0.0:
            return place
    return 0


def power_rows(leagues: int) -> Iterator[str]:
    """How soon differences are found, beside a test whose length was fixed for a power of 90%."""
    for gain in (1.0, 0.5, 0.3, 0.2, 0.1):
        fixed = round((1.96 + 1.2816) ** 2 / gain**2)
        found = sorted(
            sets_needed(gain, random.Random(f"power/{gain}/{number}"), 4 * fixed + 64) for number in range(leagues)
        )
        shown = [sets for sets in found if sets]
        mean, middle = sum(shown) / len(shown), shown[len(shown) // 2]
        yield f"| {gain} | {len(shown) / leagues:.1%} | {middle:,} | {mean:,.0f} | {fixed:,} |"


# Intervals

MISSES: Final = 0.07
"""The share of intervals of a cell that may miss the truth."""

WIDTH: Final = 1.5
"""How much wider on average than Student's interval they may be, at the numbers of sets of ``COMPARED``."""

COMPARED: Final = (20, 40)
SETS: Final = (3, 5, 6, 10, 20, 40)
APART: Final[dict[str, Callable[[int], tuple[float, ...]]]] = {
    "equal": lambda bots: (0.0,) * bots,
    "close": lambda bots: tuple(0.2 - 0.4 * bot / (bots - 1) for bot in range(bots)),
    "lopsided": lambda bots: (log(10.0), *(0.0,) * (bots - 1)),
}
"""Log strengths of so many bots. ``lopsided``: one bot with odds of 10 to 1 against each other."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A kind of league: bots, how far apart they are, and of what games.

    ``packs``: the luck of a seat's packs, which stays with it through a set, and results in whole points, so that games tie;
    else every game is for itself, drawn by Plackett's and Luce's model, and the truth is known exactly.
    """

    bots: int
    apart: str
    packs: bool

    @property
    def strengths(self) -> tuple[float, ...]:
        """Log strengths by bot."""
        return APART[self.apart](self.bots)


def duplicate_set(cell: Cell, name: str, rng: random.Random) -> GameSet:
    """A set in which each pack is played from every seat."""
    seats = range(cell.bots)
    luck = [rng.gauss(0.0, 1.5) if cell.packs else 0.0 for _ in seats]
    games = []
    for turn in seats:
        seated = [(seat + turn) % cell.bots for seat in seats]
        got = [cell.strengths[bot] + luck[seat] - log(rng.expovariate(1.0)) for seat, bot in enumerate(seated)]
        points = [float(round(one)) for one in got] if cell.packs else got
        places = tuple(1 + sum(other > own for other in points) for own in points)
        measures = Measures(place_points(places), (0.0,) * cell.bots, (0.0,) * cell.bots)
        games.append(
            PlayedGame(
                set_id=name, entrants=tuple(f"{bot}" for bot in seated), places=places, sides=0, measures=measures
            )
        )
    return games


def truth_of(cell: Cell, sets: int = 8_000) -> tuple[list[float], list[float]]:
    """What place points a game and what ratings the bots of a cell have in truth."""
    if cell.packs:
        rng = random.Random(f"truth of {cell.bots}, {cell.apart}")
        known = [duplicate_set(cell, f"{number:06}", rng) for number in range(sets)]
        means = [set_means(games, "place") for games in known]
        ratings = fit_awards(gather(known)).ratings()
        keys = [f"{bot}" for bot in range(cell.bots)]
        return [fsum(one[key] for one in means) / sets for key in keys], [ratings[key] for key in keys]
    logs = cell.strengths
    shares = [
        fsum(1.0 / (1.0 + exp(other - own)) for j, other in enumerate(logs) if j != i) / (cell.bots - 1)
        for i, own in enumerate(logs)
    ]
    centre = fsum(logs) / cell.bots
    return shares, [ELO_SCALE * (one - centre) for one in logs]


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of the intervals of one cell at one number of sets.

    ``printed``: intervals. ``missed``, ``wide``: of the measure and of the rating, how many did not hold the truth, and how
    wide they were in all against Student's; ``worst``: the share missed of the bot that was missed most.
    """

    cell: Cell
    sets: int
    printed: int
    missed: tuple[int, int]
    worst: tuple[float, float]
    wide: tuple[float, float]

    @property
    def held(self) -> bool:
        """Whether what is promised is kept."""
        if not self.printed:
            return self.sets < FEWEST_SETS
        narrow = self.sets not in COMPARED or max(self.wide) <= WIDTH
        return narrow and max(self.missed) <= MISSES * self.printed

    @property
    def kind(self) -> str:
        """The cell in words."""
        return f"{self.cell.bots} bots, {self.cell.apart}, {'packs and ties' if self.cell.packs else 'games alone'}"

    @property
    def row(self) -> str:
        """A line of the table, where intervals are printed."""
        shares = [
            f"{missed / self.printed:.1%} ({worst:.1%})" for missed, worst in zip(self.missed, self.worst, strict=True)
        ]
        widths = [f" {wide:.2f} " if self.sets in COMPARED else " " for wide in self.wide]
        return f"| {self.kind} | {self.sets} | {' | '.join(shares)} |{'|'.join(widths)}|"


def coverage_of(cell: Cell, leagues: int) -> list[Coverage]:
    """Simulates leagues of a cell, and looks at their intervals after each number of sets."""
    truth = truth_of(cell)
    keys = [f"{bot}" for bot in range(cell.bots)]
    missed = {sets: [dict.fromkeys(keys, 0), dict.fromkeys(keys, 0)] for sets in SETS}
    widths = {sets: [[0.0, 0.0], [0.0, 0.0]] for sets in SETS}
    printed = dict.fromkeys(SETS, 0)
    for number in range(leagues):
        rng = random.Random(f"{cell.bots}, {cell.apart}, {cell.packs}: {number}")
        league = [duplicate_set(cell, f"{one:04}", rng) for one in range(max(SETS))]
        for sets in SETS:
            played = league[:sets]
            means = [set_means(games, "place") for games in played]
            awards = gather(played)
            fit = fit_awards(awards)
            ratings, errors = rating_intervals(played, awards, fit), standard_errors(played, awards, fit)
            for bot, key in enumerate(keys):
                figures = [one[key] for one in means]
                own, plain = estimate(figures, Span(0.0, 1.0), trials_of(played[0])), estimate(figures)
                rated = ratings[key]
                if (own.low is None) != (rated.low is None):
                    raise AssertionError("an interval of the measure goes with one of the rating")
                if own.low is None or own.high is None or rated.low is None or rated.high is None:
                    continue
                printed[sets] += 1
                missed[sets][0][key] += not own.low <= truth[0][bot] <= own.high
                missed[sets][1][key] += not rated.low <= truth[1][bot] <= rated.high
                students = (plain.high or 0.0) - (plain.low or 0.0)
                reach = 2.0 * two_sided(sets - 1) * errors[key] * sqrt(sets / (sets - 1))
                for total, width in zip(
                    widths[sets],
                    ((own.high - own.low, students), (rated.high - rated.low, reach)),
                    strict=True,
                ):
                    total[0] += width[0]
                    total[1] += width[1]
    return [
        Coverage(
            cell,
            sets,
            printed[sets],
            (sum(missed[sets][0].values()), sum(missed[sets][1].values())),
            (max(missed[sets][0].values()) / leagues, max(missed[sets][1].values()) / leagues),
            (_ratio(*widths[sets][0]), _ratio(*widths[sets][1])),
        )
        for sets in SETS
    ]


def _ratio(own: float, other: float) -> float:
    return own / other if other else 0.0


CELLS: Final = tuple(Cell(bots, apart, packs) for packs in (False, True) for bots in (2, 3, 6) for apart in APART)


def interval_rows(leagues: int) -> Iterator[tuple[str, bool]]:
    """The table of intervals, line by line, each with whether it is not held."""
    yield (
        (
            f"| {leagues:,} simulated leagues each | sets | measure: missed (worst bot) | rating: missed (worst bot) "
            "| measure: width | rating: width |"
        ),
        False,
    )
    yield "| --- | --- | --- | --- | --- | --- |", False
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(coverage_of, CELLS, [leagues] * len(CELLS)):
            silent = [one for one in found if not one.printed]
            if silent:
                numbers = ", ".join(f"{one.sets}" for one in silent)
                yield (
                    f"| {silent[0].kind} | {numbers} | none printed | none printed | | |",
                    not all(one.held for one in silent),
                )
            yield from ((one.row, not one.held) for one in found if one.printed)


# Ladders


def _ladder_rate(place: int, number: int) -> Rate:
    label, wrong, promised = list(ladders.cases())[place]
    return rate(label, number, wrong, promised=promised)


def ladder_rows(number: int) -> Iterator[tuple[str, bool]]:
    """The table of ladders, line by line, each with whether it is not held."""
    yield f"| {number:,} simulated ladders each, {ladders.SETS:,} sets; stated error {ALPHA:.0%} | ever wrong |", False
    yield "| --- | --- |", False
    places = range(len(list(ladders.cases())))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(_ladder_rate, places, [number] * len(places)):
            yield f"| {one.label} | {one.share:.2%} ±{one.reach:.2%} |", one.promised and one.share > ALPHA
    yield "", False
    yield "| the best of eight, better by (standard deviations of a set) | shown | median sets of the ladder |", False
    yield "| --- | --- | --- |", False
    for gain in (1.0, 0.5, 0.25):
        chances = (random.Random(f"ladder/{gain}/{one}") for one in range(max(number // 10, 1)))
        found = [ladders.sets_until_shown(gain, rng) for rng in chances]
        shown = sorted(sets for sets in found if sets)
        middle = f"{shown[len(shown) // 2]:,}" if shown else ""
        yield f"| {gain} | {len(shown) / len(found):.1%} | {middle} |", False


# The report


def lines(leagues: int, only: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The tables about looks in Markdown, line by line, each with whether what it says was promised and is not held."""
    parts = {"compare": compare_rates, "ranks": rank_rates}
    if not only or set(only) & parts.keys():
        yield f"| {leagues:,} simulated leagues each; stated error {ALPHA:.0%} | ever wrong |", False
        yield "| --- | --- |", False
    for name, part in parts.items():
        if not only or name in only:
            for one in part(leagues):
                yield f"| {one.label} | {one.share:.2%} ±{one.reach:.2%} |", one.promised and one.share > ALPHA
    if not only or "power" in only:
        yield "", False
        yield "| better by (standard deviations of a set) | shown | median sets | mean sets | fixed test, 90% |", False
        yield "| --- | --- | --- | --- | --- |", False
        yield from ((row, False) for row in power_rows(max(leagues // 5, 1)))


def told(rows: Iterable[tuple[str, bool]], page: Path | None, mark: str) -> bool:
    """Prints rows as they come, and replaces the part of the page between the marks; whether all that is stated is held."""
    text, held = [], True
    for line, wrong in rows:
        print(line + ("  <-- not held" if wrong else ""), flush=True)
        text.append(line)
        held = held and not wrong
    if page and text:
        begin, end = f"<!-- {mark}:begin -->\n", f"<!-- {mark}:end -->"
        before, _, rest = page.read_text("utf-8").partition(begin)
        page.write_text(before + begin + "\n".join(text) + "\n" + end + rest.partition(end)[2], "utf-8")
    return held


def main() -> None:
    """Runs the simulations, prints the tables, and says by its exit code whether what is stated is held."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--leagues", type=int, default=10_000)
    parser.add_argument(
        "--only", action="append", default=[], choices=["intervals", "compare", "ranks", "power", "ladder"]
    )
    parser.add_argument("--write", type=Path, help="page whose parts between the marks are replaced")
    options = parser.parse_args()
    held = True
    if not options.only or "intervals" in options.only:
        held = told(interval_rows(max(options.leagues // 20, 1)), options.write, "intervals")
        print()
    if not options.only or "ladder" in options.only:
        held = told(ladder_rows(max(options.leagues // 10, 1)), options.write, "ladder-rates") and held
        print()
    looks_wanted = [one for one in options.only if one not in ("intervals", "ladder")]
    if looks_wanted or not options.only:
        held = told(lines(options.leagues, looks_wanted), options.write, "error-rates") and held
    sys.exit(0 if held else "what is stated is not held")


if __name__ == "__main__":
    main()
