"""Is a new version of a bot better than the old one? The verdict on sets in which only the version was swapped.

In each set both versions played the same packs in the same seat against the same others, so luck cancels inside the set
and what is left is the difference that the change makes. The interval holds at every look
(:mod:`referee.statistics.sequential_tests`): a comparison may stop as soon as it is decided, and go on later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil, fsum, sqrt
from typing import Any, Final, Literal

from referee.statistics.intervals import two_sided
from referee.statistics.paired import Estimate
from referee.statistics.results import GameSet, MeasureName, set_means
from referee.statistics.sequential_tests import estimate_at_any_look

VersionAnswer = Literal["better", "worse", "same", "open"]
"""What is shown of the new version. ``same``: no difference beyond the margin; ``open``: nothing yet."""

MARGINS: Final[dict[MeasureName, float]] = {"place": 0.05, "stakes": 0.1, "points": 0.1}
"""The difference a game, in units of the measure, below which two versions count as equally good unless told otherwise."""

ALPHA: Final = 0.05
"""How often a comparison of equal versions may call one of them better, unless told otherwise."""

FIRST_LOOK: Final = 16
"""Sets before the first look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionVerdict:
    """What is known of the new version against the old one, per game of the measure.

    ``difference``: new less old, with its interval at certainty 1 - ``alpha``. ``bound``: the largest difference, to
    either side, that the interval leaves possible. ``games``: played for it; ``deals``: distinct packs dealt for them.
    ``plain_games``, ``plain_deals``: how many a plain test would take for an interval as narrow, its length fixed
    beforehand, each game with packs of its own. None where the sets do not say.
    """

    answer: VersionAnswer
    difference: Estimate
    bound: float | None
    margin: float
    alpha: float
    measure: MeasureName
    games: int
    sets: int
    deals: int
    plain_games: int | None
    plain_deals: int | None

    def to_json(self) -> dict[str, Any]:
        """Plain dicts and numbers, ready for ``json.dumps``."""
        return asdict(self)


def judge_versions(
    sets: Sequence[GameSet],
    old: str,
    new: str,
    *,
    measure: MeasureName,
    margin: float,
    alpha: float = ALPHA,
    deals: Mapping[str, Sequence[int]] | None = None,
) -> VersionVerdict:
    """The verdict of these closed sets; those that lack one of the two are left out.

    ``deals``: how many deals each game of a set had, by set id; one each unless given.
    """
    held = [(one, set_means(one, measure)) for one in sets]
    held = [(one, means) for one, means in held if old in means and new in means]
    differences = [means[new] - means[old] for _, means in held]
    kept = [one for one, _ in held]
    lengths = [(deals or {}).get(one[0].set_id, (1,) * len(one)) for one in kept]
    games, dealt = sum(map(len, kept)), sum(map(sum, lengths))
    luck = _luck(kept, old, measure) + _luck(kept, new, measure)
    difference = estimate_at_any_look(differences, alpha, scale=sqrt(luck / 2.0))
    plain, bound = _plain_games(difference, luck), None
    if difference.low is not None and difference.high is not None:
        bound = max(abs(difference.low), abs(difference.high))
    return VersionVerdict(
        answer=_answer(difference, margin, luck),
        difference=difference,
        bound=bound,
        margin=margin,
        alpha=alpha,
        measure=measure,
        games=games,
        sets=difference.sets,
        deals=sum(map(max, lengths)),
        plain_games=plain,
        plain_deals=None if plain is None else ceil(plain * dealt / games),
    )


def _answer(difference: Estimate, margin: float, luck: float) -> VersionAnswer:
    """What the interval shows. Where all games came out the same (``luck`` 0), nothing has shown how they may differ."""
    if difference.low is None or difference.high is None:
        return "open"
    if difference.low > 0.0:
        return "better"
    if difference.high < 0.0:
        return "worse"
    return "same" if luck > 0.0 and -margin <= difference.low and difference.high <= margin else "open"


def _luck(sets: Sequence[GameSet], key: str, measure: MeasureName) -> float:
    """The variance of what an entrant gets in a single game, 0.0 for fewer than two games."""
    figures = [
        figure
        for games in sets
        for game in games
        for entrant, figure in zip(game.entrants, game.measures.of(measure), strict=True)
        if entrant == key
    ]
    if len(figures) < 2:
        return 0.0
    mean = fsum(figures) / len(figures)
    return fsum((figure - mean) ** 2 for figure in figures) / (len(figures) - 1)


def _plain_games(difference: Estimate, luck: float) -> int | None:
    """Games of a plain test for this interval. ``luck``: the variances of a game of either version, added."""
    if difference.low is None or difference.high is None or difference.high <= difference.low:
        return None
    half = (difference.high - difference.low) / 2.0
    return ceil(2.0 * luck * (two_sided(float("inf")) / half) ** 2)
