"""How fast games are rated: the order-free fit, TrueSkill, and whole standings.

    python benchmarks/ratings.py [--games 200000] [--trueskill-games 4000] [--trueskill-all]

The order-free fit is timed on two leagues of that many four-player games, streamed, so that only the fit's own memory
counts: "aggregated", 12 bots, where finishing orders repeat; and "distinct", 60 bots with a new table for each game, where few
do. Targets for a million games: one minute for the fit, ten minutes for TrueSkill. TrueSkill is timed on fewer games
and carried on in proportion (its cost a game is constant) unless --trueskill-all is given.

The yardstick of the same run is the time to make and count through the games without rating them.
"""

import argparse
import random
import resource
import time
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from referee.statistics.finishing_orders import gather
from referee.statistics.plackett_luce import fit_awards
from referee.statistics.results import GameSet, Measures, PlayedGame, place_points
from referee.statistics.standings import standings
from referee.statistics.trueskill_ratings import SkillRater, SkillTable

SEATS: Final = 4
FIT_TARGET_S: Final = 60.0
TRUESKILL_TARGET_S: Final = 600.0
MILLION: Final = 1_000_000

Result = TypeVar("Result")


def league(bots: int, games: int, rotations: int = SEATS, seed: int = 1) -> Iterator[GameSet]:
    """Sets of so many rotations at random tables; a stronger bot tends to finish ahead, equal scores tie."""
    rng = random.Random(seed)
    names = [f"bot{number:03}" for number in range(bots)]
    nothing = (0.0,) * SEATS
    for start in range(0, games, rotations):
        table = rng.sample(range(bots), SEATS)
        made = []
        for rotation in range(min(rotations, games - start)):
            seated = table[rotation:] + table[:rotation]
            scores = [int(rng.random() * 8.0 + 4.0 * bot / bots) for bot in seated]
            places = tuple(1 + sum(other > score for other in scores) for score in scores)
            measures = Measures(place_points(places), nothing, nothing)
            made.append(
                PlayedGame(
                    set_id=f"{start:08}",
                    entrants=tuple(names[bot] for bot in seated),
                    places=places,
                    sides=0,
                    measures=measures,
                )
            )
        yield made


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds of processor time that the work takes (it waits for nothing), and what it gives."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def megabytes() -> int:
    """The most memory this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def time_fit(label: str, bots: int, games: int, rotations: int) -> None:
    """Print how long the order-free fit takes, making the games not counted."""
    making, _ = timed(lambda: sum(map(len, league(bots, games, rotations))))
    counting, awards = timed(lambda: gather(league(bots, games, rotations)))
    fitting, fit = timed(lambda: fit_awards(awards))
    taken = max(counting - making, 0.0) + fitting
    projected = taken * MILLION / games
    print(
        f"order-free fit, {label}, {bots} bots, {games:,} games: {taken:.1f} s "
        f"(count {counting - making:.1f}, solve {fitting:.1f}; {len(awards.contests):,} contests, "
        f"{fit.steps} steps, peak {megabytes()} MB); {taken / making:.2f} x making the games; "
        f"a million: {projected:.0f} s, target {FIT_TARGET_S:.0f} s: {_verdict(projected <= FIT_TARGET_S)}"
    )


def time_trueskill(games: int) -> SkillTable:
    """Print how fast TrueSkill rates; return its table."""
    sets = list(league(12, games))
    rater = SkillRater()

    def rate() -> None:
        for played in sets:
            rater.add_set(played)

    taken, _ = timed(rate)
    projected = taken * MILLION / games
    print(
        f"TrueSkill, {games:,} games: {games / taken:,.0f} games/s; a million: {projected:.0f} s, "
        f"target {TRUESKILL_TARGET_S:.0f} s: {_verdict(projected <= TRUESKILL_TARGET_S)}"
    )
    return rater.table()


def time_standings(games: int, skills: SkillTable) -> None:
    """Print how long the whole table takes, TrueSkill given."""
    sets = list(league(12, games))
    taken, _ = timed(lambda: standings(sets, {}, skills=skills, seed="benchmark"))
    print(f"standings without TrueSkill, {games:,} games: {taken:.2f} s, {1e6 * taken / games:.0f} us a game")


def _verdict(held: bool) -> str:
    return "held" if held else "MISSED"


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description="Speed of ratings.")
    parser.add_argument("--games", type=int, default=200_000, help="games for the order-free fit")
    parser.add_argument("--trueskill-games", type=int, default=4_000, help="games for TrueSkill")
    parser.add_argument(
        "--trueskill-all", action="store_true", help="rate as many games with TrueSkill as with the fit"
    )
    options = parser.parse_args()
    time_fit("aggregated", 12, options.games, SEATS)
    time_fit("distinct", 60, options.games, 1)
    rated = options.games if options.trueskill_all else options.trueskill_games
    time_standings(rated, time_trueskill(rated))


if __name__ == "__main__":
    main()
