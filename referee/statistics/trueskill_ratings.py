"""TrueSkill ratings (Herbrich, Minka and Graepel 2006), by the ``trueskill`` package and nowhere else.

Settings, and why: ``tau = 0``, because a bot in a version does not change, so nothing may keep its sigma up. Draw
probability 0.10, fixed and reported: 0 would make each tie widen sigma without a word. All else as the package has it
(mu 25, sigma 25/3, beta 25/6).

Updates run in schedule order, and the order matters: the same results in another order give other numbers. Sigma knows
nothing of the correlation of games inside a set. So these ratings are for show; ranks and intervals come from elsewhere
(:mod:`referee.statistics.ranks`, :mod:`referee.statistics.bootstrap`).

What was rated once need not be rated again: a :class:`SkillState` says which sets those were and how everybody stood, to the last
bit, and ``rate_skills_from`` goes on from there.

The package is imported on first use only: it costs start-up time that ``referee --help`` should not pay.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import version
from math import isfinite
from typing import Any, Final, Self, TypedDict

from referee.statistics.results import GameSet, PlayedGame

DRAW_PROBABILITY: Final = 0.10
TAU: Final = 0.0
_MOST_NOTES: Final = 5
_MOST_STATES: Final = 12


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

    ``skipped``: games that the package could not rate; ``notes``: the first few of them, in words.
    """

    skills: Mapping[str, Skill]
    draw_probability: float
    tau: float
    skipped: int
    notes: tuple[str, ...]


class SkillState(TypedDict):
    """A rater after so many sets, as JSON can hold it.

    ``digest``: SHA-256 over all that the rater was fed, and how it rates. ``ratings``: by entrant its precision, its precision times
    mean (what the package has, to the last bit), and the games that formed them.
    """

    sets: int
    digest: str
    skipped: int
    notes: list[str]
    ratings: dict[str, tuple[float, float, int]]


class SkillRater:
    """A fold over sets in schedule order; what it holds after n sets depends on those n sets only.

    A league that shows live standings keeps one and feeds it each set as it closes.
    """

    def __init__(self, entrants: Iterable[str] = ()) -> None:
        self._environment = _environment()
        self._ratings: dict[str, Any] = {key: self._environment.create_rating() for key in entrants}
        self._games: Counter[str] = Counter()
        self._skipped = 0
        self._notes: list[str] = []
        self._sets, self._digest = 0, _first_digest()

    @classmethod
    def resumed(cls, state: SkillState) -> Self:
        """A rater as it was. Raises ``ValueError`` for a state that cannot have been one."""
        rater = cls()
        for key, (precision, weighted, games) in state["ratings"].items():
            if not (isfinite(weighted) and isfinite(precision) and precision > 0 and games >= 0):
                raise ValueError(f"no rating: {precision}, {weighted}, {games}")
            rating = rater._rating_of(key)
            rating.pi, rating.tau = precision, weighted
            rater._games[key] = games
        rater._skipped, rater._notes = state["skipped"], list(state["notes"])
        rater._sets, rater._digest = state["sets"], state["digest"]
        return rater

    def state(self) -> SkillState:
        """The rater as it is."""
        return {
            "sets": self._sets,
            "digest": self._digest,
            "skipped": self._skipped,
            "notes": list(self._notes),
            "ratings": {key: (one.pi, one.tau, self._games[key]) for key, one in sorted(self._ratings.items())},
        }

    def add_set(self, games: GameSet) -> None:
        """Rate the games of one closed set, in their order."""
        for number, game in enumerate(games):
            self._add_game(game, number)
        self._sets, self._digest = self._sets + 1, _next_digest(self._digest, games)

    def _add_game(self, game: PlayedGame, number: int) -> None:
        groups, places = _teams(game)
        rated = [{key: self._rating_of(key) for key in side} for side in groups]
        try:
            updated = self._environment.rate(rated, places, weights=_weights(groups))
            fault = "" if _all_finite(updated) else "a rating is not finite"
        except ArithmeticError as error:
            # FloatingPointError where a result is all but impossible under the ratings so far; other arithmetic errors
            # of the package mean the same. The ratings from before the game stand.
            fault = str(error)
        if fault:
            self._skip(game, number, fault)
            return
        for side in updated:
            self._ratings.update(side)
            self._games.update(side.keys())

    def _rating_of(self, key: str) -> Any:
        if key not in self._ratings:
            self._ratings[key] = self._environment.create_rating()
        return self._ratings[key]

    def _skip(self, game: PlayedGame, number: int, fault: str) -> None:
        self._skipped += 1
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(f"TrueSkill left out game {number} of set {game.set_id}: {fault}")

    def table(self, entrants: Iterable[str] = ()) -> SkillTable:
        """The skills after all sets so far; ``entrants`` adds entrants that have not played."""
        for key in entrants:
            self._rating_of(key)
        return SkillTable(
            skills={
                key: Skill(rating.mu, rating.sigma, self._games[key]) for key, rating in sorted(self._ratings.items())
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


def rate_skills_from(
    states: Sequence[SkillState], sets: Sequence[GameSet], entrants: Iterable[str] = ()
) -> tuple[SkillTable, list[SkillState]]:
    """As ``rate_skills``, to the last bit, but from the latest of these states that is one of these sets.

    Returns also the states to go on from the next time: the last, and some before it, for the case that not all sets stay.
    """
    digests = _digests(sets)
    known = sorted((one for one in states if digests.get(one["sets"]) == one["digest"]), key=lambda one: one["sets"])
    rater = SkillRater()
    while known:
        try:
            rater = SkillRater.resumed(known[-1])
            break
        except (ValueError, TypeError):
            known.pop()
    done, last = known[-1]["sets"] if known else 0, len(sets)
    wanted = {last - (last >> half) for half in range(1, _MOST_STATES)} | {last}
    for number, games in enumerate(sets[done:], done + 1):
        rater.add_set(games)
        if number in wanted:
            known.append(rater.state())
    return rater.table(entrants), _thinned(known, last)


def _digests(sets: Sequence[GameSet]) -> dict[int, str]:
    """The digest of a rater after each number of these sets."""
    digest, found = _first_digest(), dict[int, str]()
    for number, games in enumerate(sets, 1):
        digest = found[number] = _next_digest(digest, games)
    return found


def _thinned(states: Sequence[SkillState], last: int) -> list[SkillState]:
    """Of states in ascending order those that are kept: the fewer, the longer ago."""
    kept: list[SkillState] = []
    for state in reversed(states):
        if not kept or last - state["sets"] >= 2 * (last - kept[-1]["sets"]) + 1:
            kept.append(state)
    return kept[: _MOST_STATES + 1][::-1]


@cache
def _first_digest() -> str:
    """That of a rater that was fed nothing: how it rates."""
    return hashlib.sha256(f"TrueSkill {version('trueskill')} {DRAW_PROBABILITY} {TAU}".encode()).hexdigest()


def _next_digest(digest: str, games: GameSet) -> str:
    fed = [digest, *([game.set_id, game.entrants, game.places, game.sides] for game in games)]
    return hashlib.sha256(json.dumps(fed, separators=(",", ":")).encode()).hexdigest()


def _environment() -> Any:
    """An environment of our own: the package's global one is never read or changed.

    The inverse normal distribution is only ever asked for the draw margin, always at the same point, so its answers are
    kept; the numbers stay those of the package.
    """
    import trueskill
    from trueskill.backends import choose_backend

    cdf, pdf, ppf = choose_backend(None)
    return trueskill.TrueSkill(tau=TAU, draw_probability=DRAW_PROBABILITY, backend=(cdf, pdf, lru_cache(64)(ppf)))


def _teams(game: PlayedGame) -> tuple[list[dict[str, int]], Sequence[int]]:
    """For each side, in order of seats, the seats that each entrant of it held; and the place of each side.

    Of tied sides the package compares neighbours only, so their order matters a little: by seats it changes from game
    to game, by names it would favour some names.
    """
    count = game.sides or len(game.entrants)
    return [dict(Counter(game.entrants[side::count])) for side in range(count)], game.places[:count]


def _weights(groups: Sequence[Mapping[str, int]]) -> dict[tuple[int, str], float] | None:
    """Partial-play weights by (side, entrant): needed where entrants hold unequal numbers of seats, else None.

    A bot that holds both seats of its side then counts twice against two partners, so sides stay comparable.
    """
    fewest = min(min(side.values()) for side in groups)
    if all(seats == fewest for side in groups for seats in side.values()):
        return None
    return {(number, key): seats / fewest for number, side in enumerate(groups) for key, seats in side.items()}


def _all_finite(sides: Sequence[Mapping[str, Any]]) -> bool:
    return all(isfinite(rating.mu) and rating.sigma > 0.0 for side in sides for rating in side.values())
