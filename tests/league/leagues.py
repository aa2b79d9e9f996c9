"""Made-up leagues for the tests of ratings and standings: places drawn from known strengths, seeded."""

import random
from collections.abc import Mapping, Sequence
from math import log

from hypothesis import strategies as st

from referee.statistics.results import GameSet, Measures, PlayedGame, place_points


def played(
    set_id: str,
    entrants: Sequence[str],
    places: Sequence[int],
    sides: int = 0,
    stakes: Sequence[float] | None = None,
    points: Sequence[float] | None = None,
) -> PlayedGame:
    """A game with its place points filled in; stakes and points are zero unless given."""
    nothing = (0.0,) * len(entrants)
    measures = Measures(
        place=place_points(places, sides),
        stakes=tuple(stakes) if stakes else nothing,
        points=tuple(points) if points else nothing,
    )
    return PlayedGame(set_id=set_id, entrants=tuple(entrants), places=tuple(places), sides=sides, measures=measures)


def league(
    strengths: Mapping[str, float],
    tables: Sequence[Sequence[str]],
    sets: int,
    seed: int,
    *,
    luck: float = 0.7,
    grain: float = 0.0,
) -> list[GameSet]:
    """Sets of one game per rotation; set s sits at table s modulo the tables.

    Places follow Plackett-Luce with these log strengths, plus luck that stays with the seat throughout a set (its
    packs). ``grain`` above 0 rounds results to multiples of it, which makes ties.
    """
    rng = random.Random(seed)  # noqa: S311 - repeatable on purpose
    made: list[GameSet] = []
    for number in range(sets):
        table = tables[number % len(tables)]
        packs = [rng.gauss(0.0, luck) for _ in table]
        made.append(
            [_game(f"{number:05}", _rotated(table, r), packs, strengths, rng, grain) for r in range(len(table))]
        )
    return made


def _rotated(table: Sequence[str], by: int) -> list[str]:
    return [table[(seat + by) % len(table)] for seat in range(len(table))]


def _game(
    set_id: str,
    seated: Sequence[str],
    packs: Sequence[float],
    strengths: Mapping[str, float],
    rng: random.Random,
    grain: float,
) -> PlayedGame:
    results = [strengths[key] + pack - log(-log(rng.random())) for key, pack in zip(seated, packs, strict=True)]
    if grain:
        results = [grain * round(result / grain) for result in results]
    places = [1 + sum(other > result for other in results) for result in results]
    return played(set_id, seated, places, points=results)


@st.composite
def any_league(draw: st.DrawFn, teams: bool = True) -> list[GameSet]:
    """Any small league: tables of two to five of six entrants, ties, and sides of two where ``teams``."""
    made: list[GameSet] = []
    for number in range(draw(st.integers(1, 8))):
        sides = draw(st.sampled_from([0, 0, 2])) if teams else 0
        seats = 4 if sides else draw(st.integers(2, 5))
        table = draw(st.permutations("abcdef"))[:seats]
        games = []
        for _ in range(draw(st.integers(1, 3))):
            results = draw(st.lists(st.integers(0, 3), min_size=seats, max_size=seats))
            if sides:
                results = [results[seat % sides] for seat in range(seats)]
            places = [1 + sum(other > result for other in results) for result in results]
            games.append(played(f"set {number}", table, places, sides, points=[float(result) for result in results]))
        made.append(games)
    return made
