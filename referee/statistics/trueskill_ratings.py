"""TrueSkill ratings (Herbrich, Minka and Graepel 2007): the fold over games; one game is :mod:`referee.statistics.trueskill_update`.

Settings, and why: ``tau = 0``, because a bot in a version does not change, so nothing may keep its sigma up. Draw
probability 0.10, fixed and reported: 0 would make each tie widen sigma without a word. All else as usual (mu 25, sigma 25/3,
beta 25/6).

Updates run in schedule order, and the order matters: the same results in another order give other numbers. Sigma knows
nothing of the correlation of games inside a set. So these ratings are for show; ranks and intervals come from elsewhere
(:mod:`referee.statistics.ranks`, :mod:`referee.statistics.bootstrap`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from referee.statistics.results import GameSet, PlayedGame
from referee.statistics.trueskill_update import START, Normal, deviation_of, mean_of, updated

DRAW_PROBABILITY: Final = 0.10
TAU: Final = 0.0
_MOST_NOTES: Final = 5


@dataclass(frozen=True, slots=True)
class Skill:
    """An entrant's TrueSkill: ``mu``, ``sigma``, and the ``games`` that formed it."""

    mu: float
    sigma: float
    games: int

    @property
    def conservative(self) -> float:
        """The skill that the entrant very probably has: mu - 3 sigma."""
        return self.mu - 3.0 * self.sigma


@dataclass(frozen=True, slots=True)
class SkillTable:
    """Skills by entrant key, the settings that made them, and what was left out.

    ``skipped``: games that could not be rated; ``notes``: the first few of them, in words.
    """

    skills: Mapping[str, Skill]
    draw_probability: float
    tau: float
    skipped: int
    notes: tuple[str, ...]


class SkillRater:
    """A fold over sets in schedule order; what it holds after n sets depends on those n sets only.

    A league that shows live standings keeps one and feeds it each set as it closes.
    """

    def __init__(self, entrants: Iterable[str] = ()) -> None:
        self._ratings: dict[str, Normal] = dict.fromkeys(entrants, START)
        self._games: Counter[str] = Counter()
        self._skipped = 0
        self._notes: list[str] = []

    def add_set(self, games: GameSet) -> None:
        """Rate the games of one closed set, in their order."""
        for number, game in enumerate(games):
            self._add_game(game, number)

    def _add_game(self, game: PlayedGame, number: int) -> None:
        sides, places = _sides(game)
        rated = [[self._ratings.setdefault(key, START) for key in side] for side in sides]
        try:
            after = updated(rated, places, _weights(sides))
            fault = "" if _all_finite(after) else "a rating is not finite"
        except ArithmeticError as error:
            # FloatingPointError where a result is all but impossible under the ratings so far; other arithmetic errors
            # mean the same. The ratings from before the game stand.
            fault = str(error)
        if fault:
            self._skip(game, number, fault)
            return
        for side, skills in zip(sides, after, strict=True):
            self._ratings.update(zip(side, skills, strict=True))
            self._games.update(side.keys())

    def _skip(self, game: PlayedGame, number: int, fault: str) -> None:
        self._skipped += 1
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(f"TrueSkill left out game {number} of set {game.set_id}: {fault}")

    def table(self) -> SkillTable:
        """The skills after all sets so far."""
        return SkillTable(
            skills={
                key: Skill(mean_of(rating), deviation_of(rating), self._games[key])
                for key, rating in sorted(self._ratings.items())
            },
            draw_probability=DRAW_PROBABILITY,
            tau=TAU,
            skipped=self._skipped,
            notes=tuple(self._notes),
        )


def rate_skills(sets: Iterable[GameSet], entrants: Iterable[str] = ()) -> SkillTable:
    """TrueSkill over closed sets in schedule order; ``entrants`` adds entrants that have not played."""
    rater = SkillRater(entrants)
    for games in sets:
        rater.add_set(games)
    return rater.table()


def _sides(game: PlayedGame) -> tuple[list[dict[str, int]], Sequence[int]]:
    """For each side, in order of seats, the seats that each entrant of it held; and the place of each side.

    Of tied sides neighbours alone are compared, so their order matters a little: by seats it changes from game
    to game, by names it would favour some names.
    """
    count = game.sides or len(game.entrants)
    return [dict(Counter(game.entrants[side::count])) for side in range(count)], game.places[:count]


def _weights(sides: Sequence[Mapping[str, int]]) -> list[list[float]] | None:
    """Weights of the entrants of each side: needed where entrants hold unequal numbers of seats, else None.

    A bot that holds both seats of its side then counts twice against two partners, so sides stay comparable.
    """
    fewest = min(min(side.values()) for side in sides)
    if all(seats == fewest for side in sides for seats in side.values()):
        return None
    return [[seats / fewest for seats in side.values()] for side in sides]


def _all_finite(sides: Sequence[Sequence[Normal]]) -> bool:
    return all(isfinite(mean_of(skill)) and deviation_of(skill) > 0.0 for side in sides for skill in side)
