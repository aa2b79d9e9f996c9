"""The order-free fit: exact counts, the right maximum, and what must not change it."""

import random
from collections.abc import Sequence
from itertools import permutations
from math import exp, fsum, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.statistics import plackett_luce
from referee.statistics.finishing_orders import MOST_PENDING, UNIT, AwardCounter, Awards, gather
from referee.statistics.linear_algebra import Matrix, solve
from referee.statistics.plackett_luce import (
    ELO_SCALE,
    FitError,
    Slope,
    StrengthFit,
    fit_awards,
    fit_strengths,
    score_prior,
    score_sets,
    slope_at,
)
from referee.statistics.results import GameSet, PlayedGame, Side, ranked_sides
from tests.league.leagues import any_league, league, played


def log_likelihood(game: PlayedGame, logs: dict[str, float]) -> float:
    """From the definition: the mean over all orders of ties of the log probability of the order."""
    groups = ranked_sides(game.entrants, game.places, game.sides)
    strength = {side: exp(fsum(logs[key] for key in side) / len(side)) for group in groups for side in group}
    orders: list[list[Side]] = [[]]
    for group in groups:
        orders = [[*order, *some] for order in orders for some in permutations(group)]
    chances = [
        sum(
            log(strength[side]) - log(sum(strength[other] for other in order[place:]))
            for place, side in enumerate(order)
        )
        for order in orders
    ]
    return sum(chances) / len(chances)


def prior(logs: dict[str, float]) -> float:
    """A tie with a field of strength 1 each: half a win and half a loss."""
    return sum(0.5 * log(exp(x) / (1 + exp(x))) + 0.5 * log(1 / (1 + exp(x))) for x in logs.values())


def posterior(sets: list[GameSet], logs: dict[str, float]) -> float:
    return sum(log_likelihood(game, logs) for games in sets for game in games) + prior(logs)


@given(any_league(), st.lists(st.floats(-2, 2), min_size=6, max_size=6))
def test_the_posterior_is_the_one_of_the_definition(sets: list[GameSet], values: list[float]) -> None:
    awards = gather(sets)
    logs = dict(zip(awards.entrants, values, strict=False))
    point = slope_at(awards, list(logs.values()))
    assert point.value == pytest.approx(posterior(sets, logs), rel=1e-9)


@given(any_league(), st.lists(st.floats(-1, 1), min_size=6, max_size=6))
def test_gradient_and_curvature_are_derivatives(sets: list[GameSet], values: list[float]) -> None:
    awards = gather(sets)
    logs = values[: len(awards.entrants)]
    here = slope_at(awards, logs)
    step = 1e-5
    for i in range(len(logs)):
        up = slope_at(awards, [x + step * (i == j) for j, x in enumerate(logs)])
        down = slope_at(awards, [x - step * (i == j) for j, x in enumerate(logs)])
        assert (up.value - down.value) / (2 * step) == pytest.approx(here.gradient[i], abs=1e-5)
        for j in range(len(logs)):
            second = (down.gradient[j] - up.gradient[j]) / (2 * step)
            assert second == pytest.approx(here.curvature[max(i, j)][min(i, j)], abs=1e-5)


@given(any_league())
def test_the_fit_is_the_maximum(sets: list[GameSet]) -> None:
    awards = gather(sets)
    fit = fit_awards(awards)
    assert slope_at(awards, fit.log_strengths).gradient == pytest.approx([0.0] * len(fit.entrants), abs=1e-8)


@given(any_league(), st.randoms(use_true_random=False))
def test_the_order_of_sets_and_games_changes_not_one_digit(sets: list[GameSet], rng: random.Random) -> None:
    shuffled = [rng.sample(list(games), len(games)) for games in rng.sample(sets, len(sets))]
    assert fit_strengths(shuffled) == fit_strengths(sets)


@given(any_league(), st.permutations("abcdef"))
def test_new_names_keep_their_ratings(sets: list[GameSet], names: list[str]) -> None:
    new = dict(zip("abcdef", names, strict=True))
    renamed = [
        [
            PlayedGame(
                set_id=g.set_id,
                entrants=tuple(new[key] for key in g.entrants),
                places=g.places,
                sides=g.sides,
                measures=g.measures,
            )
            for g in games
        ]
        for games in sets
    ]
    before, after = fit_strengths(sets).ratings(), fit_strengths(renamed).ratings()
    assert {new[key]: rating for key, rating in before.items()} == pytest.approx(after, abs=1e-6)


@given(any_league(teams=False))
def test_bots_with_mirrored_results_tie(sets: list[GameSet]) -> None:
    """Played once as they are and once with a and b swapped, a and b are alike."""
    swap = {"a": "b", "b": "a"}
    mirrored = [
        [
            PlayedGame(
                set_id=f"m{g.set_id}",
                entrants=tuple(swap.get(k, k) for k in g.entrants),
                places=g.places,
                sides=g.sides,
                measures=g.measures,
            )
            for g in s
        ]
        for s in sets
    ]
    ratings = fit_strengths([*sets, *mirrored]).ratings()
    if "a" in ratings:
        assert ratings["a"] == pytest.approx(ratings["b"], abs=1e-6)


@pytest.mark.parametrize("games", [1, 30, 3000])
def test_a_bot_that_always_wins_is_finite_and_ahead(games: int) -> None:
    sets = [[played(f"s{number}", "abc", (1, 2, 3))] for number in range(games)]
    ratings = fit_strengths(sets).ratings()
    assert 5000 > ratings["a"] > ratings["b"] > ratings["c"] > -5000
    assert sum(ratings.values()) == pytest.approx(0.0, abs=1e-9)


def test_two_entrants_by_hand() -> None:
    """3 wins to 1 and a tie of each with the field: by symmetry +x and -x, 2.5 - 5 s(2x) + (0.5 - s(x)) ... = 0."""
    sets = [[played(f"s{number}", "ab", (1, 2) if number else (2, 1))] for number in range(4)]
    fit = fit_strengths(sets)
    x = fit.log_strengths[0]
    assert fit.log_strengths[1] == pytest.approx(-x)
    assert 3 - 4 / (1 + exp(-2 * x)) + 0.5 - 1 / (1 + exp(-x)) == pytest.approx(0.0, abs=1e-9)


def test_a_tie_is_half_a_win() -> None:
    tie = fit_strengths([[played("1", "abc", (1, 2, 2))], [played("2", "abc", (1, 2, 2))]])
    both = fit_strengths([[played("1", "abc", (1, 2, 3))], [played("2", "abc", (1, 3, 2))]])
    assert tie.log_strengths == pytest.approx(both.log_strengths, abs=1e-9)


def test_a_side_has_the_mean_of_its_log_strengths() -> None:
    """Both seats, one seat with an equal partner, or alone: the same result says the same of a bot."""
    alone = fit_strengths([[played("1", "ab", (1, 2))]]).log_strengths
    seats = fit_strengths([[played("1", "abab", (1, 3, 1, 3), 2)]]).log_strengths
    assert seats == pytest.approx(alone, abs=1e-9)
    pairs = fit_strengths([[played("1", "acbd", (1, 3, 1, 3), 2)]])
    strengths = dict(zip(pairs.entrants, pairs.log_strengths, strict=True))
    assert strengths["a"] == pytest.approx(strengths["b"])
    assert strengths["c"] == pytest.approx(-strengths["a"])


def test_known_strengths_come_back() -> None:
    strengths = {"a": 0.0, "b": 0.4, "c": 0.8, "d": 1.6, "e": 2.0}
    tables = ["abcd", "bcde", "acde", "abde", "abce"]
    ratings = fit_strengths(league(strengths, tables, 3000, seed=5, luck=0.0)).ratings()
    centre = sum(strengths.values()) / 5
    assert ratings == pytest.approx({key: ELO_SCALE * (x - centre) for key, x in strengths.items()}, abs=12.0)


def test_400_points_are_odds_of_ten_to_one() -> None:
    """A hundred thousand games, so that the prior does not show."""
    counter = AwardCounter()
    win, loss = played("s", "ab", (1, 2)), played("s", "ab", (2, 1))
    for number in range(110_000):
        counter.add(loss if number % 11 == 0 else win)
    ratings = fit_awards(counter.awards()).ratings()
    assert ratings["a"] - ratings["b"] == pytest.approx(400.0, abs=0.1)


def test_a_tie_of_twelve_can_be_counted() -> None:
    awards = gather([[played("s", "abcdefghijkl", (1,) * 12)]])
    assert len(awards.contests) == 2**12 - 12 - 1
    assert fsum(weight for _, weight in awards.contests) == pytest.approx(11.0)
    assert fit_awards(awards).log_strengths == pytest.approx([0.0] * 12, abs=1e-9)


@given(any_league())
def test_as_many_places_are_won_as_contested(sets: list[GameSet]) -> None:
    awards = gather(sets)
    assert fsum(awards.won) == pytest.approx(fsum(weight for _, weight in awards.contests))
    assert awards.games == sum(map(len, sets))
    units = [UNIT * weight for _, weight in awards.contests]
    assert units == pytest.approx([round(unit) for unit in units], abs=1e-6)


def test_adding_up_in_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = league(dict.fromkeys("abcdef", 0.0), ["abcd", "cdef"], 20, seed=1, grain=1.0)
    whole = gather(sets)
    assert MOST_PENDING > 2
    monkeypatch.setattr("referee.statistics.finishing_orders.MOST_PENDING", 2)
    assert gather(sets) == whole


@given(any_league())
def test_the_pulls_of_all_sets_and_of_the_prior_balance(sets: list[GameSet]) -> None:
    awards = gather(sets)
    fit = fit_awards(awards)
    total = score_prior(fit.log_strengths)
    for score in score_sets(sets, awards, fit.log_strengths):
        for entrant, pull in score.items():
            total[entrant] += pull
    assert total == pytest.approx([0.0] * len(total), abs=1e-7)


def test_a_step_too_far_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first step sixty times too long leads far downhill: it is halved until it does not."""
    sets = league({"a": 0.0, "b": 1.0, "c": 2.0}, ["abc"], 30, seed=1)
    expected = fit_strengths(sets)
    awards = gather(sets)
    values: list[float] = []
    stretches = iter([60.0])

    def stretched(factor: Matrix, right: Sequence[float]) -> list[float]:
        stretch = next(stretches, 1.0)
        return [stretch * change for change in solve(factor, right)]

    def watched(awards: Awards, logs: Sequence[float]) -> Slope:
        point = slope_at(awards, logs)
        values.append(point.value)
        return point

    monkeypatch.setattr(plackett_luce, "solve", stretched)
    monkeypatch.setattr(plackett_luce, "slope_at", watched)
    monkeypatch.setattr(plackett_luce, "_LONGEST_STEP", 1e9)
    fit = fit_awards(awards)
    assert values[1] < values[0], "the long step was tried"
    assert fit.log_strengths == pytest.approx(expected.log_strengths, abs=1e-9)


def test_a_fit_that_does_not_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plackett_luce, "MAX_STEPS", 2)
    with pytest.raises(FitError, match="no convergence in 2 steps"):
        fit_strengths([[played("1", "abc", (1, 2, 3))]])


def test_no_games_fit_nobody() -> None:
    fit = fit_strengths([])
    assert fit == StrengthFit((), (), 0, 1)
    assert fit.ratings() == {}
