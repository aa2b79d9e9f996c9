import random
from collections.abc import Sequence

import pytest

from referee.statistics.luck import FEWEST_GAMES, PlainGame, adjust, shared_packs
from referee.statistics.results import GameSet
from tests.league.leagues import played

NAMES = ("a", "b", "c", "d")
SKILL = {"a": 0.6, "b": 0.2, "c": 0.0, "d": 0.0}


def plain(games: int, seed: int, *, known: float, seat_worth: Sequence[float] = (0.0,) * 4) -> list[PlainGame]:
    """Plain games whose packs are worth a normal figure to each seat, of which the control shows the part ``known``."""
    rng = random.Random(seed)  # noqa: S311
    made = []
    for number in range(games):
        seated = tuple(NAMES[(seat + number) % 4] for seat in range(4))
        luck = [rng.gauss(worth, 1.0) for worth in seat_worth]
        figures = tuple(SKILL[key] + 2.0 * luck[seat] + rng.gauss(0.0, 0.5) for seat, key in enumerate(seated))
        controls = tuple(
            (known * luck[seat] + (1 - known) * rng.gauss(seat_worth[seat], 1.0), rng.gauss(0.0, 1.0))
            for seat in range(4)
        )
        made.append(PlainGame(f"{number:05}", seated, figures, controls))
    return made


def test_what_the_packs_gave_is_taken_off() -> None:
    found = adjust(plain(400, 1, known=1.0))
    assert found is not None
    assert found.share.value == pytest.approx(0.25 / 4.25, abs=0.02)
    assert found.share.low < found.share.value < found.share.high < 0.1
    assert found.share.saves
    for key, skill in SKILL.items():
        estimate = found.estimates[key]
        assert estimate.mean == pytest.approx(skill, abs=0.12)
        assert estimate.sets == 400


def test_controls_that_know_nothing_save_nothing_and_cost_next_to_nothing() -> None:
    found = adjust(plain(400, 2, known=0.0))
    assert found is not None
    assert found.share.value == pytest.approx(1.0, abs=0.03)
    assert not found.share.saves


def test_it_favours_nobody() -> None:
    """Over many leagues the adjusted advantage is the true one, though seats differ in worth."""
    totals = dict.fromkeys(NAMES, 0.0)
    for seed in range(60):
        found = adjust(plain(60, 100 + seed, known=0.8, seat_worth=(2.0, 0.0, -1.0, 1.0)))
        assert found is not None
        for key in NAMES:
            totals[key] += (found.estimates[key].mean or 0.0) / 60
    assert totals["a"] - totals["c"] == pytest.approx(0.6, abs=0.1)
    assert totals["c"] - totals["d"] == pytest.approx(0.0, abs=0.1)


def test_few_games_and_silent_controls_are_left_alone() -> None:
    games = plain(FEWEST_GAMES, 3, known=1.0)
    assert adjust(games[:-1]) is None
    silent = [PlainGame(game.set_id, game.entrants, game.figures, ((0.0,),) * 4) for game in games]
    assert adjust(silent) is None


def test_the_order_of_games_does_not_matter() -> None:
    games = plain(80, 4, known=0.5)
    assert adjust(games) == adjust(games[::-1])


def duplicate(sets: int, seed: int, *, luck: float, noise: float) -> list[GameSet]:
    rng = random.Random(seed)  # noqa: S311
    made: list[GameSet] = []
    for number in range(sets):
        packs = [rng.gauss(0.0, luck) for _ in range(4)]
        games = []
        for turn in range(4):
            seated = [NAMES[(seat + turn) % 4] for seat in range(4)]
            points = [packs[seat] + rng.gauss(0.0, noise) for seat in range(4)]
            places = [1 + sum(other > own for other in points) for own in points]
            games.append(played(f"{number:04}", seated, places, points=points))
        made.append(games)
    return made


@pytest.mark.parametrize(("luck", "noise", "share"), [(1.0, 1.0, 0.5), (3.0, 1.0, 0.1), (0.0, 1.0, 1.0)])
def test_shared_packs_save_the_part_that_is_luck(luck: float, noise: float, share: float) -> None:
    found = shared_packs(duplicate(400, 5, luck=luck, noise=noise), "points")
    assert found is not None
    assert found.value == pytest.approx(share, abs=0.06)
    assert found.low < share < found.high
    assert found.saves == (share < 1.0)


def test_single_games_share_no_packs() -> None:
    sets = duplicate(20, 6, luck=1.0, noise=1.0)
    assert shared_packs([games[:1] for games in sets], "points") is None
    assert shared_packs(sets[:1], "points") is None


def test_partners_count_once() -> None:
    """Two sides of one bot each: the share is that of the sides, whether a side has one seat or two."""
    rng = random.Random(7)  # noqa: S311
    wide, narrow = [], []
    for number in range(100):
        luck = rng.gauss(0.0, 2.0)
        both = []
        for turn in range(2):
            one, other = luck + rng.gauss(0.0, 1.0), -luck
            keys = ("a", "b") if turn == 0 else ("b", "a")
            both.append((keys, (one, other)))
        narrow.append([played(f"{number:03}", keys, (1, 1), points=points) for keys, points in both])
        wide.append([played(f"{number:03}", keys * 2, (1, 1, 1, 1), 2, points=points * 2) for keys, points in both])
    assert shared_packs(wide, "points") == shared_packs(narrow, "points")
