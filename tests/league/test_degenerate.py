"""Leagues in which nothing differs, nothing counts, or nobody is left: everything that looks at them still says something."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.cli.standings_text import card_lines, json_table, notes, play_lines, standings_lines, wrapped
from referee.league.definition.definition import parse_definition
from referee.league.export import write_export
from referee.league.league import read_league
from referee.league.sets_to_play import MOST_NO_CONTESTS, never_contested
from referee.league.standings import standings_of
from referee.league.store import Exported, Store
from referee.report.csv_tables import TABLES, csv_table
from referee.report.headline import judge
from referee.report.html_report import render_report
from referee.report.markdown import markdown
from referee.report.number_format import figure
from referee.report.report_data import collect
from referee.statistics.bootstrap import RESAMPLES
from referee.statistics.results import GameSet
from referee.statistics.standings import FaultCounts, Standings, VoidSet, standings
from referee.umpire.fallback_player import fallback_move
from referee.umpire.faults import Fault
from referee.umpire.umpire import Turn
from referee.verification.verify import verify
from tests.league.inprocess import Lost, Player, found_league, go_on, league_text
from tests.league.leagues import played

NONSENSE = re.compile(r"(?<![\w-])(nan|[-+]?inf|-0(\.0+)?)(?![\w.-])|±0\.0+\b|Traceback", re.IGNORECASE)


def sane(text: str) -> str:
    """The text, if no figure in it is none, endless, or minus nothing."""
    found = NONSENSE.search(text)
    assert found is None, text[max(found.start() - 60, 0) : found.end() + 60]
    return text


def all_texts(table: Standings) -> str:
    """Everything that a terminal shows of standings."""
    plain = json.loads(json.dumps(table.to_json(), allow_nan=False))
    assert json.loads(json_table(table)) == plain
    names = {row.entrant: row.entrant for row in table.rows}
    verdict = judge(table, names, {}, finished=True)
    lines = [*standings_lines(table, 80), *standings_lines(table, 140), *card_lines(table), *notes(table)]
    return "\n".join([*lines, *play_lines(table, verdict), verdict.headline, verdict.detail])


# Results, made up


@st.composite
def degenerate(draw: st.DrawFn) -> list[GameSet]:
    """Sets of which most or all end alike: at tables that stay the same, or lack somebody now and then."""
    seats = draw(st.sampled_from([2, 2, 3, 4]))
    keys = "abcd"[:seats]
    sides = 2 if seats == 4 and draw(st.booleans()) else 0
    usual = draw(st.sampled_from(["first wins", "seat wins", "all tie"]))
    odd = draw(st.integers(0, 2))
    figures = draw(st.sampled_from([0.0, -3.0, 1e9]))
    made = []
    for number in range(draw(st.sampled_from([1, 2, 9, 10, 11, 40]))):
        games = []
        for turn in range(draw(st.integers(1, seats))):
            table = keys[turn:] + keys[:turn]
            first = {"first wins": table.index("a"), "seat wins": 0, "all tie": -1}[
                usual if number >= odd else "seat wins"
            ]
            winner = first % sides if sides and first >= 0 else first
            side = (lambda seat, sides=sides: seat % sides) if sides else (lambda seat: seat)
            places = [1 if winner in (-1, side(seat)) else 2 for seat in range(seats)]
            points = [figures if place == 1 else 0.0 - figures for place in places]
            games.append(played(f"{number:03}", table, places, sides, stakes=points, points=points))
        made.append(games)
    return made


@settings(max_examples=60, deadline=None)
@given(degenerate(), st.sampled_from(["place", "stakes", "points"]), st.booleans(), st.booleans())
def test_standings_of_degenerate_results_are_sane(
    sets: list[GameSet], measure: str, looks: bool, gauntlet: bool
) -> None:
    table = standings(
        sets,
        {"a": FaultCounts()},
        measure=measure,  # type: ignore[arg-type]
        entrants=["absent"],
        certainty_at_any_look=0.95 if looks else None,
        yardstick="a" if gauntlet else None,
        resamples=20,
    )
    sane(all_texts(table))
    for row in table.rows:
        for low, high in ((row.measure.low, row.measure.high), (row.rating.low, row.rating.high)):
            assert (low is None) == (high is None)
            if low is not None and high is not None:
                assert low < high, "an interval of no width"
        assert (row.measure.low is None) or row.sets >= 10


def test_a_league_without_anything_is_sane() -> None:
    for table in (standings([], {}), standings([], {}, entrants=["a"])):
        sane(all_texts(replace(table, void=(VoidSet("1", ("a",), "nobody was left"),))))


@given(st.floats(-1e-3, 1e-3), st.integers(0, 3), st.booleans())
def test_no_figure_is_minus_nothing(value: float, digits: int, sign: bool) -> None:
    text = figure(value, digits, sign)
    assert float(text) != 0.0 or "-" not in text


# Leagues, played


def loses(_turn: Turn) -> Lost:
    """Gone at its first decision, in every game."""
    return Lost(Fault.CRASH, "it ended")


def alike(path: Path, players: dict[str, Player], text: str) -> None:
    found_league(path, parse_definition(text), list(players))
    go_on(path, players)


def voided(path: Path, players: dict[str, Player], text: str) -> None:
    """Every set is void before a game is played: its first game came to nothing three times."""
    found_league(path, parse_definition(text), list(players))
    with Store.write(path) as store:
        for row in store.sets():
            fixture = f"{row.id}-0"
            for _ in range(MOST_NO_CONTESTS):
                (attempt,) = store.begin([(fixture, 0)])
                store.end_attempt(attempt, "NO_CONTEST", "the disk was full: :x: [red]no[/red]")
            store.close_set(row.id, "VOID", never_contested(fixture))
    go_on(path, players)


def withdrawn(keys: Sequence[str], after: int) -> Callable[[Path, dict[str, Player], str], None]:
    """So many games, then these bots are out."""

    def make(path: Path, players: dict[str, Player], text: str) -> None:
        found_league(path, parse_definition(text), list(players))
        if after:
            go_on(path, players, most=after)
        with Store.write(path) as store:
            for key in keys:
                store.withdraw(key, "it did not start")
        go_on(path, players)

    return make


KINDS = {
    "twins": (alike, {"a": fallback_move, "b": fallback_move}, 10),
    "one set": (alike, {"a": fallback_move, "b": fallback_move}, 1),
    "one always loses": (alike, {"a": fallback_move, "b": loses}, 10),
    "all always lose": (alike, {"a": loses, "b": loses}, 10),
    "three of which two lose": (alike, {"a": fallback_move, "b": loses, "c": loses}, 10),
    "all void": (voided, {"a": fallback_move, "b": fallback_move}, 3),
    "one withdrawn at once": (withdrawn(["b"], 0), {"a": fallback_move, "b": fallback_move}, 3),
    "one of three withdrawn midway": (withdrawn(["c"], 21), {"a": fallback_move, "b": fallback_move, "c": loses}, 10),
    "all withdrawn": (withdrawn(["a", "b"], 5), {"a": fallback_move, "b": fallback_move}, 10),
}


@pytest.mark.parametrize("length", ["target", "deal"])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_everything_that_looks_at_a_degenerate_league_is_sane(tmp_path: Path, kind: str, length: str) -> None:
    make, players, sets = KINDS[kind]
    path = tmp_path / "league.sqlite"
    make(path, players, league_text(list(players), seats=len(players), sets=sets, length=length))
    with Store.read(path) as store:
        league = read_league(store)
        table = standings_of(store, league, RESAMPLES)
        assert standings_of(store, league) == table, "what is kept with it"
        assert table.to_json() == json.loads(json.dumps(store.league()["standings"]))
        shown = sane(all_texts(table))
        facts = collect(store, league, table)
        sane(markdown(facts))
        page = render_report(facts)
        sane(re.sub(r"<(style|script)\b.*?</\1>|<[^>]*>", " ", page, flags=re.DOTALL))
        assert not re.search(r'[" ,](nan|-?inf)[%", ]', page, re.IGNORECASE)
        for name in TABLES:
            sane(csv_table(facts, name))
        for row in store.sets():
            if row.state == "VOID":
                assert row.id in {one.id for one in table.void}
        for one in table.void:
            assert one.entrants
            assert wrapped(one.reason).splitlines()[0] in shown.replace("\n", " ")
        assert verify(store).ok
        folder = write_export(store, league, tmp_path / "export", {})
    assert verify(Exported(folder)).ok


def test_twins_are_told_that_no_difference_was_seen(tmp_path: Path) -> None:
    path = tmp_path / "league.sqlite"
    alike(path, {"a": fallback_move, "b": fallback_move}, league_text(["a", "b"], seats=2, sets=12))
    with Store.read(path) as store:
        table = standings_of(store, read_league(store))
    assert table.notes[0] == "No difference seen: in each of 12 closed sets all bots got the same."
    assert [(row.rank_low, row.rank_high) for row in table.rows] == [(1, 2), (1, 2)]
