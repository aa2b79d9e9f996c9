"""TrueSkill: the numbers of the package called by hand, in schedule order, with our settings and no side effects."""

import subprocess
import sys

import pytest
import trueskill
from hypothesis import given, settings

from referee.statistics.results import GameSet
from referee.statistics.trueskill_ratings import DRAW_PROBABILITY, SkillRater, rate_skills
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
    """A certain winner wins: the package cannot put so small a surprise into floats, and says so."""
    rater = SkillRater()
    rater._ratings = {"strong": trueskill.Rating(2000.0, 1.0), "weak": trueskill.Rating(0.0, 1.0)}
    rater.add_set([played("s1", ("strong", "weak"), (1, 2)), played("s1", ("weak", "other"), (2, 1))])
    table = rater.table()
    assert table.skipped == 1
    assert table.notes == ('TrueSkill left out game 0 of set s1: Cannot calculate correctly, set backend to "mpmath"',)
    assert (table.skills["strong"].mu, table.skills["strong"].games) == (2000.0, 0)
    assert table.skills["other"].mu > 25.0, "the next game is rated as ever"


def test_notes_are_few_however_many_games_are_left_out() -> None:
    rater = SkillRater()
    rater._ratings = {"strong": trueskill.Rating(2000.0, 1.0), "weak": trueskill.Rating(0.0, 1.0)}
    for number in range(40):
        rater.add_set([played(f"s{number}", ("strong", "weak"), (1, 2))])
    assert rater.table().skipped == 40
    assert len(rater.table().notes) == 5


def test_the_global_environment_is_neither_read_nor_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [[played("s", "abc", (1, 2, 2))]]
    expected = rate_skills(sets)
    other = trueskill.TrueSkill(mu=7.0, sigma=1.0, draw_probability=0.5)
    monkeypatch.setattr(trueskill.global_env, "__trueskill__", other, raising=False)
    assert rate_skills(sets) == expected
    assert trueskill.global_env() is other
    assert (other.mu, other.draw_probability) == (7.0, 0.5)
    assert DRAW_PROBABILITY == 0.10


def test_the_package_is_imported_on_first_use_only() -> None:
    program = (
        "import sys; import referee.statistics.standings; assert 'trueskill' not in sys.modules;"
        "from referee.statistics.trueskill_ratings import rate_skills; rate_skills([]); assert 'trueskill' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
