"""TrueSkill: the numbers of the package ``trueskill`` called by hand, to the last digit, in schedule order, with our settings."""

import random
from math import sqrt

import trueskill
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.statistics import trueskill_update
from referee.statistics.results import GameSet
from referee.statistics.trueskill_ratings import DRAW_PROBABILITY, TAU, SkillRater, rate_skills
from referee.statistics.trueskill_update import Normal, deviation_of, mean_of, normal, updated
from tests.league.leagues import any_league, league, played


def by_hand() -> trueskill.TrueSkill:
    return trueskill.TrueSkill(tau=0.0, draw_probability=0.10)


def test_each_for_itself_is_as_called_by_hand() -> None:
    sets = league({"a": 0.0, "b": 0.5, "c": 1.0, "d": 2.0}, ["abcd"], 15, seed=3, grain=1.0)
    env = by_hand()
    ratings = {key: env.create_rating() for key in "abcd"}
    for games in sets:
        for game in games:
            seated = [(ratings[key],) for key in game.entrants]
            for key, (rating,) in zip(game.entrants, env.rate(seated, ranks=game.places), strict=True):
                ratings[key] = rating
    table = rate_skills(sets)
    for key, rating in ratings.items():
        assert (table.skills[key].mu, table.skills[key].sigma) == (rating.mu, rating.sigma)
        assert table.skills[key].conservative == rating.mu - 3 * rating.sigma
        assert table.skills[key].games == 60
    assert (table.draw_probability, table.tau, table.skipped, table.notes) == (0.10, 0.0, 0, ())


def test_pairs_are_as_called_by_hand() -> None:
    env = by_hand()
    ratings = {key: env.create_rating() for key in "abcd"}
    games = [
        played("s", "abcd", (1, 3, 1, 3), 2),
        played("s", "dabc", (1, 1, 1, 1), 2),
        played("s", "cdab", (3, 1, 3, 1), 2),
    ]
    for game in games:
        sides = [{key: ratings[key] for key in game.entrants[side::2]} for side in (0, 1)]
        for side in env.rate(sides, ranks=game.places[:2]):
            ratings.update(side)
    table = rate_skills([games])
    for key, rating in ratings.items():
        assert (table.skills[key].mu, table.skills[key].sigma) == (rating.mu, rating.sigma)


def test_a_bot_on_both_seats_is_one_player() -> None:
    env = by_hand()
    winner, loser = trueskill.rate_1vs1(env.create_rating(), env.create_rating(), env=env)
    skills = rate_skills([[played("s", "abab", (1, 3, 1, 3), 2)]]).skills
    assert (skills["a"].mu, skills["b"].mu) == (winner.mu, loser.mu)
    assert skills["a"].games == 1


def test_a_bot_on_both_seats_counts_twice_against_two_partners() -> None:
    env = by_hand()
    a, b, c = (env.create_rating() for _ in range(3))
    (a,), (b, c) = env.rate([(a,), (b, c)], ranks=[0, 1], weights=[(2,), (1, 1)])
    skills = rate_skills([[played("s", "abac", (1, 3, 1, 3), 2)]]).skills
    assert (skills["a"].mu, skills["b"].mu, skills["c"].mu) == (a.mu, b.mu, c.mu)


def test_the_order_of_sets_counts() -> None:
    sets = league({"a": 0.0, "b": 1.0, "c": 2.0}, ["abc"], 8, seed=2)
    assert rate_skills(sets).skills != rate_skills(sets[::-1]).skills


@settings(max_examples=25)
@given(any_league())
def test_feeding_sets_one_by_one_is_the_same_fold(sets: list[GameSet]) -> None:
    rater = SkillRater("a")
    for games in sets:
        rater.add_set(games)
        rater.table()
    assert rater.table() == rate_skills(sets, "a")


def test_a_result_beyond_the_numbers_is_left_out_and_told() -> None:
    """A certain winner loses its game: floats do not hold so great a surprise, and that is told in the package's words."""
    rater = SkillRater()
    rater._ratings = {"strong": normal(2000.0, 1.0), "weak": normal(0.0, 1.0)}
    rater.add_set([played("s1", ("strong", "weak"), (1, 2)), played("s1", ("weak", "other"), (2, 1))])
    table = rater.table()
    assert table.skipped == 1
    assert table.notes == ('TrueSkill left out game 0 of set s1: Cannot calculate correctly, set backend to "mpmath"',)
    assert (table.skills["strong"].mu, table.skills["strong"].games) == (2000.0, 0)
    assert table.skills["other"].mu > 25.0, "the next game is rated as ever"


def test_notes_are_few_however_many_games_are_left_out() -> None:
    rater = SkillRater()
    rater._ratings = {"strong": normal(2000.0, 1.0), "weak": normal(0.0, 1.0)}
    for number in range(40):
        rater.add_set([played(f"s{number}", ("strong", "weak"), (1, 2))])
    assert rater.table().skipped == 40
    assert len(rater.table().notes) == 5


# One game, against the package.

Side = list[tuple[float, float]]


@st.composite
def any_game(draw: st.DrawFn) -> tuple[list[Side], list[int], list[list[float]] | None]:
    """Sides of players (mu, sigma), likely and not; their places; weights now and then."""
    player = st.one_of(
        st.just((25.0, 25.0 / 3)),
        st.tuples(st.floats(15.0, 35.0), st.floats(0.3, 25.0 / 3)),
        st.tuples(st.floats(-300.0, 300.0), st.floats(0.001, 20.0)),
    )
    sides = draw(st.lists(st.lists(player, min_size=1, max_size=draw(st.integers(1, 3))), min_size=2, max_size=8))
    places = draw(st.lists(st.integers(1, len(sides)), min_size=len(sides), max_size=len(sides)))
    if not draw(st.booleans()):
        return sides, places, None
    return sides, places, [[draw(st.sampled_from((1.0, 1.5, 2.0, 3.0))) for _ in side] for side in sides]


def by_the_package(sides: list[list[Normal]], places: list[int], weights: list[list[float]] | None) -> object:
    """What the package makes of a game: beliefs, or the words of its error."""
    rated = []
    for side in sides:
        own = []
        for precision, product in side:
            rating = trueskill.Rating(0.0, 1.0)
            rating.pi, rating.tau = precision, product
            own.append(rating)
        rated.append(tuple(own))
    try:
        return [[(one.pi, one.tau) for one in side] for side in by_hand().rate(rated, places, weights)]
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)


def by_ours(sides: list[list[Normal]], places: list[int], weights: list[list[float]] | None) -> object:
    try:
        return updated(sides, places, weights)
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)


@settings(max_examples=500, deadline=None)
@given(any_game())
@example(([[(2000.0, 1.0)], [(0.0, 1.0)]], [2, 1], None))
@example(([[(2000.0, 1.0)], [(0.0, 1.0)]], [1, 1], None))
@example(([[(2000.0, 0.1)], [(0.0, 1.0)], [(-2000.0, 9.0)]], [1, 2, 3], None))
@example(([[(300.0, 0.001)], [(-300.0, 20.0)], [(0.0, 0.5)], [(0.0, 0.5)]], [4, 3, 2, 2], None))
def test_a_game_is_rated_as_by_the_package_to_the_last_digit(
    game: tuple[list[Side], list[int], list[list[float]] | None],
) -> None:
    told, places, weights = game
    sides = [[normal(*player) for player in side] for side in told]
    expected = by_the_package(sides, places, weights)
    assert by_ours(sides, places, weights) == expected


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 6), st.randoms(use_true_random=False))
def test_many_games_one_after_another_are_rated_as_by_the_package(players: int, chance: random.Random) -> None:
    env = by_hand()
    theirs = [env.create_rating() for _ in range(players)]
    ours = [normal(trueskill.MU, trueskill.SIGMA)] * players
    for _ in range(40):
        places = [chance.randint(1, players) for _ in range(players)]
        theirs = [rating for (rating,) in env.rate([(rating,) for rating in theirs], places)]
        ours = [skill for (skill,) in updated([[skill] for skill in ours], places)]
    assert [(mean_of(skill), deviation_of(skill)) for skill in ours] == [(one.mu, one.sigma) for one in theirs]


def test_the_draw_probability_is_that_of_the_margin() -> None:
    """The margin is a constant in the code: here it is worked out from the draw probability that is reported."""
    env = trueskill.TrueSkill(tau=TAU, draw_probability=DRAW_PROBABILITY)
    margin = trueskill.calc_draw_margin(DRAW_PROBABILITY, 2, env)
    assert margin == trueskill_update._QUANTILE_055 * sqrt(2) * trueskill_update.BETA
    assert (env.mu, env.sigma, env.beta) == (trueskill_update.MU, trueskill_update.SIGMA, trueskill_update.BETA)
