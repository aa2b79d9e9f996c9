"""Place points against a panel: a few bots that play always and never change, so that figures of different months compare.

Against one bot of the panel, a bot gets the share of games in which it finished ahead of it, a tie counting half. Its panel points
are the mean of that over the bots of the panel, each with the same weight however often it was met. A bot of the panel is
measured by the others.

The interval holds at every look (:mod:`referee.statistics.sequential_tests`). A set counts once, however many bots of the panel sat
there: it brings what it adds to the mean.
"""

from collections.abc import Collection, Iterable, Sequence
from math import fsum, sqrt

from referee.statistics.intervals import CONFIDENCE, FEWEST_SETS, agreement
from referee.statistics.paired import Estimate
from referee.statistics.results import GameSet, Span
from referee.statistics.sequential_tests import estimate_at_any_look

AimedGames = tuple[GameSet, Collection[str]]
"""The games of a closed set, and at whom its table was aimed."""


def panel_points(sets: Iterable[AimedGames], panel: Sequence[str], bots: Iterable[str]) -> dict[str, Estimate]:
    """The panel points of each of the bots that has met every bot of the panel (but itself).

    Of a table that was aimed at somebody, only a pair counts to which all of these belong.
    """
    met: dict[str, list[dict[str, float]]] = {key: [] for key in bots}
    for games, aimed in sets:
        seated = {key for game in games for key in game.entrants}
        for key in seated & met.keys():
            against = {
                other: _share(games, key, other)
                for other in panel
                if other in seated and other != key and len(aimed) <= (key in aimed) + (other in aimed)
            }
            if against:
                met[key].append(against)
    found = ((key, _estimate(own, [one for one in panel if one != key])) for key, own in met.items())
    return {key: one for key, one in found if one is not None}


def _share(games: GameSet, one: str, other: str) -> float:
    """In what share of the games one finished ahead of the other, a tie counting half."""
    won = []
    for game in games:
        own, theirs = (game.places[game.entrants.index(key)] for key in (one, other))
        won.append(1.0 if own < theirs else 0.5 if own == theirs else 0.0)
    return fsum(won) / len(won)


def _estimate(sets: Sequence[dict[str, float]], panel: Sequence[str]) -> Estimate | None:
    shares = {one: [against[one] for against in sets if one in against] for one in panel}
    if not panel or not all(shares.values()):
        return None
    means = {one: fsum(own) / len(own) for one, own in shares.items()}
    mean = fsum(means.values()) / len(panel)
    weights = {one: len(sets) / (len(panel) * len(own)) for one, own in shares.items()}
    brought = [mean + fsum(weights[one] * (share - means[one]) for one, share in against.items()) for against in sets]
    if len(sets) < FEWEST_SETS:
        return Estimate(mean, None, None, len(sets))
    found = estimate_at_any_look(brought, 1.0 - CONFIDENCE, 0.5 * sqrt(agreement(brought, 1.0)), Span(0.0, 1.0))
    return Estimate(mean, found.low, found.high, len(sets))
