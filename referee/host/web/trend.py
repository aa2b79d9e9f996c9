"""How each bot did from round to round: a line small enough to stand in a table, and the same in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

from referee.league.ladder_history import sets_of_round
from referee.league.standings import closed_sets
from referee.league.store import GameRow, SetRow
from referee.league.store.league_facts import RoundFacts
from referee.report.axis import Axis
from referee.report.number_format import figure
from referee.statistics.results import MeasureName, set_means

ROUNDS: Final = 12
"""So many of the last rounds are drawn."""

WIDTH: Final = 72
HEIGHT: Final = 20
_EDGE: Final = 3


@dataclass(frozen=True, slots=True)
class Trend:
    """A line in a drawing of ``WIDTH`` by ``HEIGHT``. ``end``: where it ends; ``text``: rounds and figures in words."""

    points: str
    end: tuple[str, str]
    text: str


def trends(
    sets: Sequence[SetRow], games: Iterable[GameRow], rounds: Sequence[RoundFacts], objective: MeasureName
) -> dict[str, Trend]:
    """The trend of each who was in two of the last rounds or more, all on one scale.

    Whoever sat at a table counts, those who have retired since too: it is what a bot got in that round. No more is read than these rounds.
    """
    numbers = [one["number"] for one in rounds for _ in range(sets_of_round(one))]
    recent = {one["number"] for one in rounds[-ROUNDS:]}
    of_set = {row.id: number for row, number in zip(sets, numbers, strict=False) if number in recent}
    got: dict[str, dict[int, list[float]]] = {}
    for played in closed_sets(sets, (game for game in games if game.summary["set"] in of_set)):
        for key, mean in set_means(played, objective).items():
            got.setdefault(key, {}).setdefault(of_set[played[0].set_id], []).append(mean)
    means = {
        key: {number: fsum(each) / len(each) for number, each in sorted(by_round.items())}
        for key, by_round in got.items()
        if len(by_round) > 1
    }
    figures = [mean for by_round in means.values() for mean in by_round.values()] or [0.0]
    up = Axis(min(figures), max(figures)) if min(figures) < max(figures) else Axis.over(figures)
    return {key: _trend(by_round, up) for key, by_round in means.items()}


def _trend(by_round: Mapping[int, float], up: Axis) -> Trend:
    first, last = min(by_round), max(by_round)
    across = Axis(first, last)
    points = [
        (
            f"{_EDGE + (WIDTH - 2 * _EDGE) * across.share(number) / 100:.1f}",
            f"{HEIGHT - _EDGE - (HEIGHT - 2 * _EDGE) * up.share(mean) / 100:.1f}",
        )
        for number, mean in by_round.items()
    ]
    told = ", ".join(f"{number}: {figure(mean, 2)}" for number, mean in by_round.items())
    return Trend(" ".join(map(",".join, points)), points[-1], f"By round, {told}")
