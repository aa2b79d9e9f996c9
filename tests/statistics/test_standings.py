"""Standings: every column from the same sets, ranks only where they are earned, the same digits every time."""

import json
from dataclasses import replace
from math import fsum, sqrt

import pytest
from hypothesis import given, settings

from referee.statistics.finishing_orders import gather
from referee.statistics.intervals import FEWEST_SETS
from referee.statistics.paired import estimate
from referee.statistics.plackett_luce import fit_strengths
from referee.statistics.rating_intervals import rating_intervals
from referee.statistics.results import GameSet, ResultError, Span, set_means
from referee.statistics.standings import FaultCounts, Standings, standings
from referee.statistics.trueskill_ratings import SkillRater, rate_skills
from tests.league.leagues import any_league, league, played

FEW = (
    "{} of {} entrants do not have 10 closed sets yet, so for these there are no ranks and no intervals: fewer sets do not "
    "show how much results vary."
)
ALL_HAVE_FEW = "No entrant has 10 closed sets yet, so there are no ranks and no intervals: fewer sets do not show how much results vary."
STRENGTHS = {"a": 0.0, "b": 0.0, "c": 2.0, "d": 5.0}


@pytest.fixture(scope="module")
def sets() -> list[GameSet]:
    return league(STRENGTHS, ["abcd"], 40, seed=9, grain=0.5)


@pytest.fixture(scope="module")
def table(sets: list[GameSet]) -> Standings:
    return standings(sets, {"c": FaultCounts(bids_made=7, crashes=1, decision_ms_p99=2.5)}, seed="kitchen")


def test_rows_are_ordered_and_ranked_by_what_the_data_support(table: Standings) -> None:
    assert [row.entrant for row in table.rows[:2]] == ["d", "c"]
    assert [(row.rank_low, row.rank_high) for row in table.rows] == [(1, 1), (2, 2), (3, 4), (3, 4)]
    assert table.status == "ranked"
    assert table.notes == ()


def test_columns_are_those_of_their_sources(sets: list[GameSet], table: Standings) -> None:
    ratings, skills = fit_strengths(sets).ratings(), rate_skills(sets).skills
    intervals = rating_intervals(sets, gather(sets), fit_strengths(sets))
    for row in table.rows:
        assert row.rating.value == ratings[row.entrant]
        assert row.skill == skills[row.entrant]
        figures = [set_means(games, "place")[row.entrant] for games in sets]
        assert row.measure == estimate(figures, Span(0.0, 1.0), 4 * sqrt(3))
        assert row.rating == intervals[row.entrant]
        assert (row.sets, row.games) == (40, 160)
    assert sum(row.wins for row in table.rows) + sum(row.shared_wins for row in table.rows) // 2 <= table.games == 160
    assert (table.draw_probability, table.tau, table.skipped, table.confidence) == (0.10, 0.0, 0, 0.95)


def test_tallies_pass_through(table: Standings) -> None:
    tallies = {row.entrant: row.tally for row in table.rows}
    assert tallies["c"] == FaultCounts(bids_made=7, crashes=1, decision_ms_p99=2.5)
    assert tallies["a"] == FaultCounts()


def test_stability_is_given_between_neighbours(table: Standings) -> None:
    first, second, third, last = (row.stability for row in table.rows)
    assert (first, second) == (1.0, 1.0)
    assert third is not None
    assert 0.5 < third < 1.0
    assert last is None


def test_wins_and_stakes_are_counted() -> None:
    sets = [
        [
            played("1", "abc", (1, 2, 3), stakes=(2, -1, -1)),
            played("1", "bca", (1, 1, 3), stakes=(0.5, 0.5, -1)),
        ],
        [played("2", "abac", (1, 3, 1, 3), 2, stakes=(1, -1, 1, -1))],
    ]
    rows = {row.entrant: row for row in standings(sets, {}).rows}
    assert [(rows[key].wins, rows[key].shared_wins, rows[key].games, rows[key].sets) for key in "abc"] == [
        (2, 0, 3, 2),
        (0, 1, 3, 2),
        (0, 1, 3, 2),
    ]
    assert [rows[key].stakes for key in "abc"] == [3.0, -1.5, -1.5]


def test_under_ten_sets_nobody_is_ranked() -> None:
    few = league(STRENGTHS, ["abcd"], FEWEST_SETS - 1, seed=1)
    table = standings(few, {})
    assert table.status == "too few to rank"
    assert {(row.status, row.rank_low, row.rank_high, row.stability) for row in table.rows} == {
        ("too few to rank", None, None, None)
    }
    assert table.notes == (ALL_HAVE_FEW,)
    assert {(row.measure.low, row.measure.high, row.rating.low, row.rating.high) for row in table.rows} == {(None,) * 4}
    ten = standings(league(STRENGTHS, ["abcd"], FEWEST_SETS, seed=1), {})
    assert ten.status == "ranked"
    assert ten.rows[0].rank_low == 1


def test_an_entrant_with_few_sets_waits_below_the_ranked() -> None:
    """It may be the best of all: without ten sets it has no rank, and takes none from the others."""
    sets = league(STRENGTHS, ["abc"], 20, seed=1)
    sets += [[played(f"late {number}", "ad", (2, 1))] for number in range(5)]
    table = standings(sets, {}, entrants=["absent"])
    assert [row.entrant for row in table.rows[3:]] == ["d", "absent"]
    assert [row.rank_high for row in table.rows] == [1, 3, 3, None, None]
    assert (table.rows[-1].rating.value, table.rows[-1].measure.mean, table.rows[-1].sets) == (None, None, 0)
    assert table.notes == (FEW.format(2, 5),)


def test_nobody_is_first_because_it_alone_has_enough_sets() -> None:
    sets = [[played(f"{one}{number}", ["hero", one], (1, 2))] for one in "abcd" for number in range(4)]
    table = standings(sets, {})
    assert max(row.sets for row in table.rows) == 16
    assert {(row.status, row.rank_low, row.rank_high) for row in table.rows} == {("too few to rank", None, None)}
    assert table.status == "too few to rank"
    assert table.notes[-1] == "One entrant alone has enough sets: there is nobody to rank it against."


def test_in_a_gauntlet_the_challengers_are_ranked_among_themselves() -> None:
    """The hero loses to a, and beats the rest; b is as good as c, and d is the worst."""
    strengths = {"a": 3.0, "hero": 1.0, "b": 0.0, "c": 0.0, "d": -4.0}
    sets = league(strengths, [("hero", one) for one in "abcd"], 160, seed=3)
    table = standings(sets, {}, yardstick="hero")
    rows = {row.entrant: row for row in table.rows}
    assert table.rows[0].entrant == "hero"
    assert (rows["hero"].status, rows["hero"].rank_low) == ("yardstick", None)
    assert [(rows[key].rank_low, rows[key].rank_high) for key in "abcd"] == [(1, 1), (2, 3), (2, 3), (4, 4)]
    assert rows["hero"].measure.low is not None
    assert table.notes[-1] == "Shown to be better than hero: a; worse: c, b, d; open: 0."
    few = standings(sets[:36], {}, yardstick="hero")
    assert {row.rank_low for row in few.rows} == {None}
    assert "hero has no rank" in few.notes[-1]


def test_bots_that_are_the_same_show_no_difference() -> None:
    sets = [[played(f"{n}", "ab", (1, 2)), played(f"{n}", "ba", (1, 2))] for n in range(12)]
    table = standings(sets, {})
    assert table.notes == ("No difference seen: in each of 12 closed sets all bots got the same.",)
    assert [(row.rank_low, row.rank_high, row.rating.value) for row in table.rows] == [(1, 2, 0.0), (1, 2, 0.0)]
    for row in table.rows:
        assert row.measure.mean == 0.5
        assert row.measure.low is not None
        assert 0.3 < row.measure.low < 0.45
        assert row.rating.low is not None
        assert row.rating.low < -10.0
    assert table.share is None
    assert table.share_note == ""


def test_an_interval_is_never_of_no_width() -> None:
    """A bot that lost no game of ten sets, at each look too."""
    sets = [[played(f"{n}", "abc", (1, 2, 3)), played(f"{n}", "bca", (2, 3, 1))] for n in range(20)]
    for table in (standings(sets[:10], {}), standings(sets, {}, certainty_at_any_look=0.95)):
        for row in table.rows:
            assert row.measure.low is not None
            assert row.measure.high is not None
            assert row.rating.low is not None
            assert row.rating.high is not None
            assert 0.02 < row.measure.high - row.measure.low < 0.6
            assert 0.0 <= row.measure.low <= row.measure.high <= 1.0
            assert row.rating.high - row.rating.low > 50.0


def test_groups_that_never_met_are_told() -> None:
    table = standings(league(STRENGTHS, ["ab", "cd"], 40, seed=1), {})
    assert table.notes == ("The entrants form 2 groups that never met: between groups nothing is compared.",)


def test_the_league_may_be_ranked_by_points() -> None:
    """b wins more often, a scores more."""
    sets = [
        [played(f"{n}", "ab", (2, 1) if n % 3 else (1, 2), points=(8.0, 9.0) if n % 3 else (30.0, n % 2))]
        for n in range(60)
    ]
    by_points, by_place = standings(sets, {}, measure="points"), standings(sets, {})
    assert by_points.rows[0].entrant == "a"
    assert by_place.rows[0].entrant == "b"
    assert by_points.rows[0].measure.mean == pytest.approx(fsum([30.0 * 20, 8.0 * 40]) / 60)
    assert by_points.rows[0].rating == next(row.rating for row in by_place.rows if row.entrant == "a")


def test_json_is_plain_and_complete(table: Standings) -> None:
    plain = table.to_json()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    first = plain["rows"][0]
    assert set(first) == {
        *("entrant", "status", "rank_low", "rank_high", "measure", "advantage", "stability", "rating", "skill"),
        *("adjusted", "sets", "games", "wins", "shared_wins", "stakes", "tally"),
    }
    assert first["skill"]["conservative"] == first["skill"]["mu"] - 3 * first["skill"]["sigma"]
    assert set(first["measure"]) == {"mean", "low", "high", "sets"}
    assert set(first["rating"]) == {"value", "low", "high"}


def test_the_same_games_give_the_same_digits(sets: list[GameSet], table: Standings) -> None:
    again = standings(list(sets), {"c": FaultCounts(bids_made=7, crashes=1, decision_ms_p99=2.5)}, seed="kitchen")
    assert again == table


def test_a_running_rater_gives_the_same_standings(sets: list[GameSet]) -> None:
    rater = SkillRater(STRENGTHS)
    for games in sets:
        rater.add_set(games)
    assert standings(sets, {}, skills=rater.table()) == standings(sets, {})


@settings(max_examples=30)
@given(any_league())
def test_all_but_trueskill_is_free_of_the_order_of_sets(sets: list[GameSet]) -> None:
    skills = rate_skills(sets)
    assert standings(sets[::-1], {}, skills=skills, resamples=20) == standings(sets, {}, skills=skills, resamples=20)


def test_before_the_first_set_there_is_a_row_for_everybody() -> None:
    table = standings([], {"a": FaultCounts()}, entrants=["b"])
    assert [(row.entrant, row.status, row.games) for row in table.rows] == [
        ("a", "too few to rank", 0),
        ("b", "too few to rank", 0),
    ]
    assert standings([], {}).rows == ()


def test_contradicting_sets_are_refused() -> None:
    one = [played("1", "ab", (1, 2))]
    with pytest.raises(ResultError, match="set 1: given twice"):
        standings([one, one], {})


def test_games_that_trueskill_left_out_are_told() -> None:
    sets = [[played("1", "ab", (1, 2)), played("1", "ba", (2, 1))]]
    rated = rate_skills([sets[0][:1]])
    skills = replace(rated, skipped=1, notes=("TrueSkill left out game 1 of set 1: why",))
    table = standings(sets, {}, skills=skills)
    assert table.skipped == 1
    assert table.notes[1:] == ("TrueSkill could not rate 1 games and left them out.", *skills.notes)


def test_trueskill_of_other_sets_is_refused() -> None:
    one, two = [played("1", "ab", (1, 2))], [played("2", "bc", (1, 2))]
    with pytest.raises(ResultError, match="skills: the rater has rated 1 games of 'b', not 2"):
        standings([one, two], {}, skills=rate_skills([one]))
    with pytest.raises(ResultError, match="skills: the rater does not know 'c'"):
        standings([one], {}, skills=rate_skills([one]), entrants=["c"])
    assert len(standings([one], {}, skills=rate_skills([one], ["absent"])).rows) == 2
