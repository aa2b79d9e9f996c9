"""Who is better and how sure: the sentence says what the standings say, and no more."""

from collections.abc import Mapping, Sequence

from referee.cli.standings_text import play_lines
from referee.report.headline import Headline, judge
from referee.statistics.results import GameSet
from referee.statistics.standings import Standings, standings
from tests.league.leagues import league, played


def verdict(table: Standings, copies: Mapping[str, str] | None = None, *, finished: bool = True) -> Headline:
    names = {row.entrant: row.entrant for row in table.rows}
    return judge(table, names, copies or {}, finished=finished)


def table(strengths: Mapping[str, float], sets: int = 60, entrants: Sequence[str] = ()) -> Standings:
    return standings(league(strengths, [list(strengths)], sets, seed=1), {}, entrants=entrants)


def equals(sets: int) -> list[GameSet]:
    """Two bots that beat each other in turn: nothing tells them apart."""
    return [[played(f"{i:03}", pair, (1 + i % 2, 2 - i % 2)) for pair in [("a", "b")] * 2] for i in range(sets)]


def test_a_clear_winner() -> None:
    found = verdict(table({"ann": 4.0, "bob": 0.0, "cay": 0.0}))
    assert found.headline == "ann won."
    assert (found.sure, found.label, found.winner) == ("sure", "certain at the 95% level", "ann")
    assert "It is" not in found.detail
    assert "it is better than each of the 2 other bots" in found.detail


def test_while_it_is_being_played_nobody_has_won() -> None:
    found = verdict(table({"ann": 4.0, "bob": 0.0}), finished=False)
    assert found.headline == "ann is ahead."
    assert found.label == "so far, at the 95% level"


def test_the_figures_are_those_of_the_standings() -> None:
    found = table({"ann": 4.0, "bob": 0.0})
    first, second = found.rows
    assert first.measure.mean is not None
    assert second.measure.mean is not None
    assert f"It gets {first.measure.mean:.3f} place points a game" in verdict(found).detail
    assert f"bob, next, gets {second.measure.mean:.3f}." in verdict(found).detail


def test_two_that_cannot_be_told_apart() -> None:
    found = verdict(standings(equals(20), {}))
    assert found.headline == "No winner: a and b cannot be told apart."
    assert (found.sure, found.label, found.winner) == ("open", "not decided", None)


def test_two_leaders_above_the_rest() -> None:
    strong = table({"ann": 5.0, "amy": 5.0, "bob": 0.0, "cay": 0.0})
    assert [(row.rank_low, row.rank_high) for row in strong.rows][:2] == [(1, 2), (1, 2)]
    found = verdict(strong)
    assert found.headline.startswith("No single winner: ")
    assert found.detail.endswith("Both are better than each of the 2 others.")


def test_all_alike() -> None:
    found = verdict(table(dict.fromkeys("abcd", 0.0), sets=12))
    assert found.headline == "No winner: the 4 bots cannot be told apart at the top."
    assert "better than" not in found.detail


def test_copies_of_one_bot_win_together() -> None:
    found = verdict(table({"ann": 5.0, "ann#2": 5.0, "bob": 0.0}), {"ann#2": "ann"})
    assert found.headline == "ann won."
    assert "both its copies are better than bob" in found.detail


def test_between_copies_alone_no_difference_is_seen() -> None:
    found = verdict(standings(equals(20), {}), {"b": "a"})
    assert found.sure == "open"
    assert found.headline == "No difference seen between the 2 copies of a."
    assert "leads" not in found.detail


def test_a_bot_that_met_itself_alone_is_told_so_however_few_the_sets() -> None:
    found = verdict(table({"ann": 4.0, "ann#2": 0.0}, sets=4), {"ann#2": "ann"})
    assert found.headline == "ann played against itself alone: who is better cannot be asked."
    lines = play_lines(table({"ann": 4.0, "ann#2": 0.0}, sets=4), found)
    assert "rank" not in " ".join(lines)


def test_too_early() -> None:
    found = verdict(table({"ann": 4.0, "bob": 0.0}, sets=9))
    assert (found.headline, found.sure) == ("Too early to say who is better.", "early")
    assert "A rank needs 10 closed sets for each bot; the most that any has is 9." in found.detail


def test_nothing_played() -> None:
    found = verdict(standings([], {}, entrants=["ann", "bob"]))
    assert found.headline == "Nothing was scored."


def test_nothing_is_known_yet_is_said_of_a_league_under_way_alone() -> None:
    table = standings([], {}, entrants=["ann", "bob"])
    found = judge(table, {}, {}, finished=False)
    assert found.headline == "Nothing is known yet."
    assert play_lines(table, found) == ["Nothing is known yet."]


def test_those_without_enough_sets_are_told() -> None:
    found = verdict(table({"ann": 4.0, "bob": 0.0}, entrants=["new"]))
    assert found.headline == "ann won."
    assert found.detail.endswith("1 of 3 have too few sets to be ranked.")
