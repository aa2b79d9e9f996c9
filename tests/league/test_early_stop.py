"""Leagues that look at their results: when they look, when they stop, and that all can be found again."""

import json
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from referee.league.definition.definition import DefinitionError, parse_definition
from referee.league.league import read_league
from referee.league.schedule.format import ScheduleError, Shape, is_resolved
from referee.league.schedule.formats import plan
from referee.league.sets_to_play import look_places, next_look
from referee.league.standings import standings_of
from referee.league.store import Store
from referee.report import standings_columns
from referee.report.standings_columns import columns
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.league.inprocess import Player, at_random, found_league, go_on, league_text, play_league, roster
from tests.league.leagues import league

SWAP = 'format = "compare"\nduplicate = false'
RESOLVED = "until_resolved = 0.95"


def text_of(names: list[str], schedule: str, **shape: Any) -> str:
    text = league_text(names, length="deal", **shape)
    return text.replace("[schedule]\n", f"[schedule]\n{schedule}\n")


def facts_of(path: Path) -> dict[str, Any]:
    with Store.read(path) as store:
        return store.league()


def states(path: Path) -> Counter[str]:
    with Store.read(path) as store:
        return Counter(row.state for row in store.sets())


# Swapped versions


def test_only_the_version_is_swapped() -> None:
    entrants = roster(["old", "new", "c", "d"]).entrants
    for planned in plan(Shape(seats=3, format="compare", duplicate=False, sets=12), entrants).sets:
        first, second = planned.fixtures
        assert second.rotation == first.rotation + 3
        assert [("old" if key == "new" else key) for key in second.seats] == list(first.seats)
        assert "new" in second.seats
        assert "old" not in second.seats


def test_every_seat_is_compared_equally_often() -> None:
    entrants = roster(["old", "new", "c", "d", "e"]).entrants
    plain = plan(Shape(seats=4, format="compare", duplicate=False, sets=24), entrants)
    assert set(Counter(planned.fixtures[0].seats.index("old") for planned in plain.sets).values()) == {6}
    whole = plan(Shape(seats=4, format="compare", duplicate=True, sets=2), entrants)
    assert [len(planned.fixtures) for planned in whole.sets] == [8, 8]
    assert len({fixture.id for fixture in whole.fixtures}) == 16


def test_partners_are_both_swapped() -> None:
    entrants = roster(["old", "new", "c"]).entrants
    first, second = plan(Shape(seats=4, sides=2, format="compare", duplicate=False, sets=1), entrants).sets[0].fixtures
    assert first.seats == ("old", "c", "old", "c")
    assert second.seats == ("new", "c", "new", "c")
    assert second.slots == first.slots


def test_a_comparison_needs_a_full_table() -> None:
    with pytest.raises(ScheduleError, match="2 others"):
        plan(Shape(seats=3, format="compare"), roster(["old", "new", "c"]).entrants)


@pytest.mark.parametrize(
    ("schedule", "field"),
    [("alpha = 0.01", "alpha"), ("margin = 0.2", "margin"), (f"{SWAP}\n{RESOLVED}", "until_resolved")],
)
def test_what_ends_a_league_must_go_with_its_format(schedule: str, field: str) -> None:
    with pytest.raises(DefinitionError, match=field):
        parse_definition(text_of(["old", "new", "c"], schedule, seats=2))


# Looks


def test_looks_come_after_whole_rounds_ever_further_apart() -> None:
    schedule = plan(Shape(seats=3, sets=100), roster(["a", "b", "c", "d"]).entrants)
    places = list(look_places(schedule))
    assert all(place % 4 == 0 for place in places)
    assert places[0] == 24  # six rounds: everybody sits at three of the four tables
    assert places[-1] == 400
    assert places == sorted(set(places))
    assert next_look(schedule, 0) == 24
    assert next_look(schedule, 24) == places[1]
    assert next_look(schedule, 400) == 400


def test_neighbours_must_all_be_told_apart() -> None:
    bots = {"a": "a", "b": "b", "c": "c"}
    apart = league({"a": 4.0, "b": 2.0, "c": 0.0}, ["abc"], 60, 1)
    equal = league({"a": 4.0, "b": 0.0, "c": 0.0}, ["abc"], 60, 1)
    assert is_resolved(apart, "place", bots, 0.95)
    assert not is_resolved(equal, "place", bots, 0.95)
    assert is_resolved(equal, "place", {"a": "a", "b": "b", "c": "b"}, 0.95)  # two copies of one bot
    assert not is_resolved(apart[:9], "place", bots, 0.95)
    assert not is_resolved([], "place", bots, 0.95)


# Whole leagues

PLAYERS: dict[str, dict[str, Player]] = {
    "the new version is better": {"old": at_random, "new": fallback_move, "c": fallback_move},
    "the new version is worse": {"old": fallback_move, "new": at_random, "c": fallback_move},
    "no difference beyond 0.5 a game is left": {"old": fallback_move, "new": fallback_move, "c": at_random},
}


@pytest.mark.parametrize("reason", PLAYERS)
def test_a_comparison_stops_at_the_first_look_that_decides(tmp_path: Path, reason: str) -> None:
    text = text_of(["old", "new", "c"], f"{SWAP}\nmargin = 0.5", seats=2, sets=300)
    path = play_league(tmp_path / "league.sqlite", PLAYERS[reason], text)
    facts = facts_of(path)
    assert facts["state"] == "finished"
    assert facts["ended"]["reason"] == reason
    assert states(path) == {"SCORED": facts["ended"]["sets"], "OPEN": 300 - facts["ended"]["sets"]}
    with Store.read(path) as store:
        assert verify(store).findings == ()


def test_where_nothing_is_decided_all_sets_are_played(tmp_path: Path) -> None:
    text = text_of(["old", "new", "c"], f"{SWAP}\nmargin = 0.001", seats=2, sets=30)
    path = play_league(tmp_path / "league.sqlite", {"old": fallback_move, "new": fallback_move, "c": at_random}, text)
    assert facts_of(path)["ended"] is None
    assert states(path) == {"SCORED": 30}


def test_an_interrupted_comparison_ends_as_an_uninterrupted_one(tmp_path: Path) -> None:
    players = PLAYERS["the new version is better"]
    text = text_of(["old", "new", "c"], SWAP, seats=2, sets=300)
    whole = play_league(tmp_path / "whole.sqlite", players, text)
    parts = tmp_path / "parts.sqlite"
    found_league(parts, parse_definition(text), list(players))
    while not go_on(parts, players, most=7).finished:
        pass
    assert facts_of(parts)["ended"] == facts_of(whole)["ended"]
    assert facts_of(parts)["result_root"] == facts_of(whole)["result_root"]
    assert go_on(parts, players).finished
    assert states(parts) == states(whole)


def resolved_league(path: Path) -> Path:
    players: dict[str, Player] = {"a": fallback_move, "b": at_random}
    return play_league(path, players, text_of(["a", "b"], RESOLVED, seats=2, sets=200))


def test_a_league_stops_when_its_ranks_are_resolved(tmp_path: Path) -> None:
    path = resolved_league(tmp_path / "league.sqlite")
    facts = facts_of(path)
    assert facts["ended"]["reason"] == "all neighbours are told apart, with certainty 0.95"
    assert facts["ended"]["sets"] == states(path)["SCORED"] < 200
    with Store.read(path) as store:
        table = standings_of(store, read_league(store))
        assert verify(store).findings == ()
    assert [(row.rank_low, row.rank_high) for row in table.rows] == [(1, 1), (2, 2)]
    assert "may stop early" in table.notes[0]


@pytest.mark.parametrize(
    "lie", [None, {"sets": 16, "reason": "the new version is better"}, {"sets": 20, "reason": "somebody had enough"}, 7]
)
def test_an_end_that_does_not_follow_from_the_games_is_found(tmp_path: Path, lie: Any) -> None:
    path = resolved_league(tmp_path / "league.sqlite")
    with Store.write(path) as store:
        store.put(ended=lie)
    with Store.read(path) as store:
        found = verify(store).findings
    assert any(one.what == "its early end" or "ended" in str(one) for one in found), found


# What plain deals and shared packs have saved


@pytest.mark.parametrize(("duplicate", "by"), [("true", "shared packs"), ("false", "house replay")])
def test_what_was_saved_is_measured_and_verified(tmp_path: Path, duplicate: str, by: str) -> None:
    players: dict[str, Player] = {"a": fallback_move, "b": fallback_move, "c": at_random}
    text = text_of(list(players), f"duplicate = {duplicate}", seats=3, sets=60)
    path = play_league(tmp_path / "league.sqlite", players, text)
    with Store.read(path) as store:
        league_, found = read_league(store), verify(store).findings
        table = standings_of(store, league_)
    assert found == ()
    assert table.share_by == by
    assert table.share is not None
    assert table.share.low <= table.share.value <= table.share.high
    assert "measured here" in table.share_note
    assert [row.adjusted is None for row in table.rows] == [by == "shared packs"] * 3
    assert (
        ("luck-adjusted" in columns(table))
        == ("luck-adjusted" in standings_columns.columns(table))
        == (by == "house replay")
    )


def test_games_to_the_target_say_nothing_of_single_deals(tmp_path: Path) -> None:
    players: dict[str, Player] = {"a": fallback_move, "b": at_random}
    text = league_text(list(players), seats=2, sets=4).replace("[schedule]\n", "[schedule]\nduplicate = false\n")
    path = play_league(tmp_path / "league.sqlite", players, text)
    with Store.read(path) as store:
        assert all("house" not in game.summary for game in store.games())
        assert standings_of(store, read_league(store)).share is None


def test_a_changed_replay_is_found(tmp_path: Path) -> None:
    path = resolved_league(tmp_path / "league.sqlite")
    with sqlite3.connect(path) as db:
        summary = json.loads(db.execute("SELECT summary FROM game WHERE number = 1").fetchone()[0])
        summary["house"][0][0] += 1.0
        db.execute("UPDATE game SET summary = ? WHERE number = 1", (json.dumps(summary),))
    with Store.read(path) as store:
        assert any(found.what.startswith("house") for found in verify(store).findings)
