"""Results of games: the one input of ratings, intervals and standings.

A *game* is a :class:`PlayedGame`; a *set* is the sequence of games that repeat the same packs once per seat rotation.
The set is the statistical unit: games of one set share their packs, so they are not independent, and every interval in
this package is taken over sets, never over games. Only closed sets belong here; the caller leaves the others out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import fsum, isfinite, sqrt
from typing import Final, Literal, TypeAlias, cast, get_args

MeasureName = Literal["place", "stakes", "points"]
MEASURES: Final[tuple[MeasureName, ...]] = get_args(MeasureName)
"""What a league may rank by: place points, stakes, or points scored."""

MAX_SEATS: Final = 12
"""Most seats a game may have here. A tie of all twelve already stands for 4,095 sets of equals in the order-free fit."""


class ResultError(ValueError):
    """A result that cannot be a result: the message names the set, the field and what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Measures:
    """What each seat got out of a game, one number a seat.

    ``place``: share of its opponents it beat, 0..1 (see :func:`place_points`). ``stakes``: stakes won less stakes lost.
    ``points``: points scored.
    """

    place: tuple[float, ...]
    stakes: tuple[float, ...]
    points: tuple[float, ...]

    def of(self, name: MeasureName) -> tuple[float, ...]:
        """The figures of one measure by seat; ValueError for an unknown name."""
        if name not in MEASURES:
            raise ValueError(f"measure: {name!r} is none of {', '.join(MEASURES)}")
        return cast("tuple[float, ...]", getattr(self, name))


Side: TypeAlias = tuple[str, ...]
"""The entrants that play together, sorted, one entry a seat; a single entry where one entrant holds every seat."""

RankedSides: TypeAlias = tuple[tuple[Side, ...], ...]
"""Sides in finishing order, best first; sides in one group are tied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedGame:
    """One finished game.

    ``entrants``: entrant key by seat; opaque text. An entrant may hold several seats of one side, never of two sides.
    ``places``: finishing place by seat, 1 is best, ties share a number, partners share theirs.
    ``sides``: 0 when each plays for itself, else seat ``s`` belongs to side ``s % sides``.
    ``controls``: what fallback players got from each seat of the same pack (:mod:`referee.league.luck_baseline`), where
    the game is a single deal; else empty.

    Raises ResultError when the fields contradict one another.
    """

    set_id: str
    entrants: tuple[str, ...]
    places: tuple[int, ...]
    sides: int
    measures: Measures
    controls: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        seats = len(self.entrants)
        if not 2 <= seats <= MAX_SEATS:
            raise self._error("entrants", f"2 to {MAX_SEATS} seats, not {seats}")
        if self.sides and (self.sides < 2 or seats % self.sides):
            raise self._error("sides", f"{self.sides} sides do not divide {seats} seats (0: each for itself)")
        if len(self.places) != seats or min(self.places) != 1 or max(self.places) > seats:
            raise self._error("places", f"{self.places} are not places of {seats} seats, 1 the best")
        if self.sides and any(self.places[s] != self.places[s % self.sides] for s in range(seats)):
            raise self._error("places", f"{self.places}: partners must share a place")
        for name in MEASURES:
            figures = self.measures.of(name)
            if len(figures) != seats or not all(map(isfinite, figures)):
                raise self._error(f"measures.{name}", f"one finite number for each of {seats} seats, not {figures}")
        if len(set(self.entrants)) != seats:
            self._check_repeated_entrants()

    def _check_repeated_entrants(self) -> None:
        side_held: dict[str, int] = {}
        for seat, entrant in enumerate(self.entrants):
            if side_held.setdefault(entrant, self.side_of(seat)) != self.side_of(seat):
                raise self._error("entrants", f"{entrant!r} plays against itself; give the copy a key of its own")

    def _error(self, field: str, text: str) -> ResultError:
        return ResultError(f"set {self.set_id}: {field}: {text}")

    def side_of(self, seat: int) -> int:
        """The number of the side a seat belongs to; its own seat number when each plays for itself."""
        return seat % self.sides if self.sides else seat


GameSet: TypeAlias = Sequence[PlayedGame]
"""The games of one closed set."""


def ranked_sides(entrants: Sequence[str], places: Sequence[int], sides: int) -> RankedSides:
    """The finishing order of the sides of a :class:`PlayedGame`, best first, tied sides grouped.

    The order inside a group is by name, so equal results of rotated seats give equal values.

    >>> ranked_sides(("b", "a", "c", "d"), (1, 2, 2, 4), 0)
    ((('b',),), (('a',), ('c',)), (('d',),))
    """
    count = sides or len(entrants)
    groups: dict[int, list[Side]] = {}
    for side in range(count):
        groups.setdefault(places[side], []).append(_side(tuple(entrants[side::count])))
    return tuple(tuple(sorted(groups[place])) for place in sorted(groups))


def _side(members: tuple[str, ...]) -> Side:
    return members[:1] if len(set(members)) == 1 else tuple(sorted(members))


def place_points(places: Sequence[int], sides: int = 0) -> tuple[float, ...]:
    """The share of its opponents each seat beat, 0..1, a tied opponent counting half; partners are not opponents.

    >>> place_points((1, 2, 2, 4))
    (1.0, 0.5, 0.5, 0.0)
    >>> place_points((1, 3, 1, 3), sides=2)
    (1.0, 0.0, 1.0, 0.0)
    """
    return _place_points(tuple(places), sides)


@lru_cache(4096)  # few orders, many games
def _place_points(places: tuple[int, ...], sides: int) -> tuple[float, ...]:
    seats = range(len(places))
    shares = []
    for seat in seats:
        others = [places[s] for s in seats if (s != seat if not sides else (s - seat) % sides != 0)]
        beaten = sum(2 if places[seat] < other else places[seat] == other for other in others)
        shares.append(beaten / (2 * len(others)))
    return tuple(shares)


def check_sets(sets: Iterable[GameSet]) -> list[GameSet]:
    """The sets as a list, checked: none is empty, its games carry one set id, and no two sets share an id.

    Raises ResultError otherwise.
    """
    checked: list[GameSet] = []
    seen: set[str] = set()
    for number, games in enumerate(sets):
        if not games:
            raise ResultError(f"set number {number}: no games; leave out sets that were not played")
        for one, other in pairwise(games):
            if one.set_id != other.set_id:
                raise ResultError(f"set number {number}: games of two sets, {one.set_id} and {other.set_id}")
        if games[0].set_id in seen:
            raise ResultError(f"set {games[0].set_id}: given twice")
        seen.add(games[0].set_id)
        checked.append(games)
    return checked


def set_means(games: GameSet, measure: MeasureName) -> dict[str, float]:
    """For each entrant of a set its mean measure over the games and seats it held; sums are exact, order-free."""
    figures: dict[str, list[float]] = {}
    for game in games:
        for entrant, figure in zip(game.entrants, game.measures.of(measure), strict=True):
            figures.setdefault(entrant, []).append(figure)
    return {entrant: fsum(values) / len(values) for entrant, values in figures.items()}


@dataclass(frozen=True, slots=True)
class Span:
    """Between what the figure of one game lies: ``low`` to ``high``."""

    low: float
    high: float

    @property
    def of_differences(self) -> "Span":
        """Between what the difference of two such figures lies."""
        return Span(self.low - self.high, self.high - self.low)


def span_of(sets: Iterable[GameSet], measure: MeasureName) -> Span:
    """The ends of a measure: 0 and 1 for place points; for others, the least and the most that any seat had in any game."""
    if measure == "place":
        return Span(0.0, 1.0)
    figures = [figure for games in sets for game in games for figure in game.measures.of(measure)]
    return Span(min(figures, default=0.0), max(figures, default=0.0))


def trials_of(games: GameSet) -> float:
    """How many independent trials the games of a set would be, each for nothing or all, if games were independent.

    A game against one opponent is one. Against several it is more, for beating each is something, but not one each, for it
    is the same play that beats them: the square root of their number.
    """
    return fsum(sqrt((game.sides or len(game.entrants)) - 1) for game in games)
