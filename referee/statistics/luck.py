"""How much of a result was luck of the deal, and how much narrower intervals get where that is taken off.

Two ways to take it off are measured here, on the league's own games:

* **Shared packs** (:func:`shared_packs`): each pack played from every seat, so that luck cancels inside a set.
* **House replay** (:func:`adjust`): plain deals, each with what fallback players got from the same seats of the same pack
  as control variates (Lavenberg and Welch 1981, "A perspective on the use of control variables"). The weights are
  fitted on other sets than those they are used on (cross-fitting; Chernozhukov and others 2018), so a result never
  decides what is taken off itself, and the adjusted mean stays unbiased.

The figure is a *share of games*: how many games give an interval as narrow as one game of plain deals does, between two
bots at a table. Its own interval comes from drawing sets anew. Pure: numbers in, numbers out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from random import Random
from typing import Final, Literal

from referee.statistics.linear_algebra import SingularError, cholesky, solve
from referee.statistics.paired import Estimate, estimate
from referee.statistics.results import GameSet, MeasureName, PlayedGame

FOLDS: Final = 5
FEWEST_GAMES: Final = 50
"""Plain games before luck is taken off: weights fitted on fewer would add more chance than they take away."""

FEWEST_SHARED: Final = 10
"""Sets with shared packs before it is said what they save."""

_RESAMPLES: Final = 200
_MOST_UNITS: Final = 400


@dataclass(frozen=True, slots=True)
class GameShare:
    """A share of games with its 95% interval: below 1 games are saved. ``saves``: that is certain at this level."""

    value: float
    low: float
    high: float

    @property
    def saves(self) -> bool:
        """Whether the interval lies below 1."""
        return self.high < 1.0


@dataclass(frozen=True, slots=True)
class Saving:
    """What a league has saved against plain deals, and by what: for the standings.

    ``adjusted``: measures with the luck of the deal taken off, by entrant. ``note``: the same for a reader, if there is any.
    """

    share: GameShare | None = None
    by: Literal["shared packs", "house replay", ""] = ""
    adjusted: Mapping[str, Estimate] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True)
class PlainGame:
    """A game with packs of its own: who sat where, what each got, and the control variates of each seat."""

    set_id: str
    entrants: tuple[str, ...]
    figures: tuple[float, ...]
    controls: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Measures with the luck of the deal taken off, by entrant, and what share of games that needs."""

    estimates: Mapping[str, Estimate]
    share: GameShare
    games: int


def saving_of(sets: Sequence[GameSet], measure: MeasureName, seed: str = "") -> Saving:
    """What these closed sets save: by shared packs, or by house replay where each set is one plain deal."""
    games = [game for own in sets for game in own]
    share = shared_packs(sets, measure, seed)
    if share is not None:
        return Saving(share, "shared packs", note=_shared_note(share, len(sets), len(games)))
    if measure != "points" or len(games) != len(sets) or not all(game.controls for game in games):
        return Saving()
    plain = [PlainGame(game.set_id, game.entrants, game.measures.points, game.controls) for game in games]
    adjusted = adjust(plain, seed)
    if adjusted is None:
        return Saving()
    return Saving(adjusted.share, "house replay", adjusted.estimates, _house_note(adjusted.share, len(games)))


def _shared_note(share: GameShare, sets: int, games: int) -> str:
    if not share.saves:
        return f"Each pack was played from every seat. Whether that saved games is open: {_measured(share)}."
    plain = round(games / share.value)
    return (
        f"Each pack was played from every seat, which saved {plain - games:,} games, and the packs of {plain - sets:,}: "
        f"{_measured(share)}."
    )


def _measured(share: GameShare) -> str:
    """The share in words, with its interval."""
    return f"measured here, {share.value:.2f} games tell as much as one of plain deals ({share.low:.2f} to {share.high:.2f})"


def _house_note(share: GameShare, games: int) -> str:
    if not share.saves:
        return f"House players have played each deal again. Whether that takes luck off is open: {_measured(share)}."
    plain = round(games / share.value)
    return (
        "Luck-adjusted points: house players have played each deal again, and what a seat was worth to them is taken off. "
        f"So {games:,} games tell as much as {plain:,} would: {_measured(share)}. Ranks and ratings do not use it."
    )


def shared_packs(sets: Sequence[GameSet], measure: MeasureName, seed: str = "") -> GameShare | None:
    """What share of plain games sets with shared packs need.

    None for too few sets, for others than rotated tables, and where nothing differed.
    """
    rotated = all(len(games) > 1 and len({frozenset(game.entrants) for game in games}) == 1 for games in sets)
    if len(sets) < FEWEST_SHARED or not rotated:
        return None
    means = _means((key, figure) for games in sets for game in games for key, figure in _figures(game, measure))
    parts = []
    for games in sorted(sets, key=lambda games: games[0].set_id):
        sums: dict[str, float] = {}
        single = 0.0
        for game in games:
            own = _means(_figures(game, measure))  # partners share theirs
            beyond = _centred([figure - means[key] for key, figure in own.items()])
            single += fsum(value * value for value in beyond)
            for key, value in zip(own, beyond, strict=True):
                sums[key] = sums.get(key, 0.0) + value
        # The variance of a mean over n games, times n, against that of one game.
        parts.append((fsum(total * total for total in sums.values()) / len(games), single / len(games)))
    if not fsum(part[1] for part in parts) or not fsum(part[0] for part in parts):
        return None  # all games, or all sets, came out alike: there is no spread to compare
    return _share(parts, seed)


def adjust(games: Sequence[PlainGame], seed: str = "") -> Adjusted | None:
    """Takes the luck of the deal off plain games; None for too few, or where nothing can be learnt from the controls."""
    ordered = sorted(games, key=lambda game: game.set_id)
    if len(ordered) < FEWEST_GAMES:
        return None
    means = _means((key, value) for game in ordered for key, value in zip(game.entrants, game.figures, strict=True))
    values: dict[str, list[float]] = {}
    parts = []
    for fold in range(FOLDS):
        others = [game for number, game in enumerate(ordered) if number % FOLDS != fold]
        try:
            line = _fit(others)
        except SingularError:
            return None
        for game in ordered[fold::FOLDS]:
            adjusted = [figure - line.luck(seat, game.controls[seat]) for seat, figure in enumerate(game.figures)]
            for key, value in _means(zip(game.entrants, adjusted, strict=True)).items():  # partners share theirs
                values.setdefault(key, []).append(value)
            before = _centred([value - means[key] for key, value in zip(game.entrants, game.figures, strict=True)])
            after = _centred([value - means[key] for key, value in zip(game.entrants, adjusted, strict=True)])
            parts.append((fsum(value * value for value in after), fsum(value * value for value in before)))
    if not fsum(before for _, before in parts) or not fsum(after for after, _ in parts):
        return None
    return Adjusted({key: estimate(own) for key, own in sorted(values.items())}, _share(parts, seed), len(ordered))


@dataclass(frozen=True, slots=True)
class _Regression:
    """Weights of the controls, and the mean of each control at each seat."""

    weights: Sequence[float]
    centres: Sequence[Sequence[float]]

    def luck(self, seat: int, controls: Sequence[float]) -> float:
        """What the packs gave this seat beyond what the seat usually gets."""
        own = zip(self.weights, controls, self.centres[seat], strict=True)
        return fsum(weight * (control - centre) for weight, control, centre in own)


def _fit(games: Sequence[PlainGame]) -> _Regression:
    """Least squares of figures (less their entrant's mean) on controls (less their seat's mean)."""
    means = _means((key, value) for game in games for key, value in zip(game.entrants, game.figures, strict=True))
    seats, kinds = range(len(games[0].controls)), range(len(games[0].controls[0]))
    centres = [[fsum(game.controls[seat][kind] for game in games) / len(games) for kind in kinds] for seat in seats]
    matrix = [[0.0] * (row + 1) for row in kinds]
    right = [0.0 for _ in kinds]
    for game in games:
        for seat in seats:
            own = [game.controls[seat][kind] - centres[seat][kind] for kind in kinds]
            figure = game.figures[seat] - means[game.entrants[seat]]
            for row in kinds:
                right[row] += own[row] * figure
                for column in range(row + 1):
                    matrix[row][column] += own[row] * own[column]
    for row in kinds:
        matrix[row][row] *= 1.0 + 1e-9  # two controls that always agree share the weight
    return _Regression(solve(cholesky(matrix), right), centres)


def _means(figures: Iterable[tuple[str, float]]) -> dict[str, float]:
    by_key: dict[str, list[float]] = {}
    for key, figure in figures:
        by_key.setdefault(key, []).append(figure)
    return {key: fsum(own) / len(own) for key, own in by_key.items()}


def _figures(game: PlayedGame, measure: MeasureName) -> Iterable[tuple[str, float]]:
    return zip(game.entrants, game.measures.of(measure), strict=True)


def _centred(values: Sequence[float]) -> list[float]:
    mean = fsum(values) / len(values)
    return [value - mean for value in values]


def _share(parts: Sequence[tuple[float, float]], seed: str) -> GameShare:
    """The ratio of two sums over sets, with the interval of 95% of resamples of sets."""
    random = Random(f"share of games: {seed}").random  # noqa: S311 - repeatable on purpose, guards nothing
    # Beyond so many sets blocks of sets are drawn: as good for sums, and the cost stays bounded.
    blocks = [parts[start::_MOST_UNITS] for start in range(min(len(parts), _MOST_UNITS))]
    units = [(fsum(part[0] for part in block), fsum(part[1] for part in block)) for block in blocks]
    count = len(units)
    ratios = sorted(_ratio([units[int(random() * count)] for _ in units]) for _ in range(_RESAMPLES))
    edge = round(_RESAMPLES * 0.025)
    return GameShare(_ratio(parts), ratios[edge], ratios[-1 - edge])


def _ratio(parts: Sequence[tuple[float, float]]) -> float:
    below = fsum(part[1] for part in parts)
    return fsum(part[0] for part in parts) / below if below else 1.0
