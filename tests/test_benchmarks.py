"""What the benchmarks work out from what they measure, and that the leagues of ``benchmarks/league.py`` run."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from benchmarks.host import RoundFigures, archive, compare, growth, kind_of, slope
from benchmarks.league import ROWS, SHORT, Figures, Row, chosen, fit, make, table, written
from referee.league.definition.definition import load_definition
from referee.league.entrants.roster import enter
from referee.league.schedule.formats import plan
from tests.program import ROOT


def figures(messages: int, turns: int, starts: int, *, message: float, turn: float, start: float) -> Figures:
    return {
        "messages": messages,
        "turns": turns,
        "starts": starts,
        "referee_s": 0.6 * (messages * message + turns * turn),
        "bots_s": 0.4 * (messages * message + turns * turn) + starts * start,
    }


def test_the_fit_finds_what_a_message_a_turn_and_a_start_cost() -> None:
    rows = {name: Row(name, 4, 1) for name in "abcd"} | {"thinking": Row("thinking", 4, 1, ("montecarlo",))}
    shapes = {
        "a": (1_000, 2_000, 16),
        "b": (90_000, 200_000, 56),
        "c": (5_000, 200_000, 16),
        "d": (40_000, 50_000, 900),
    }
    found = {name: [figures(*one, message=0.0005, turn=66e-6, start=0.13)] for name, one in shapes.items()}
    found["thinking"] = [figures(10, 10, 1, message=9.0, turn=9.0, start=9.0)]
    assert fit(found, rows) == pytest.approx((0.5, 66, 0.13), rel=1e-3)
    assert fit({"a": found["a"]}, rows) is None


@pytest.mark.parametrize("row", [*ROWS, *SHORT], ids=lambda row: row.name)
def test_the_league_of_a_row_is_what_its_name_says(row: Row, tmp_path: Path) -> None:
    if "go" in row.kinds:
        row = Row(row.name, row.bots, row.sets)
    definition = load_definition(make(row, tmp_path, tmp_path))
    entrants = enter(definition).entrants
    assert len(entrants) == row.bots
    assert len({entrant.key for entrant in entrants}) == row.bots
    sets = plan(definition.shape(), entrants).sets
    tables = {planned.table for planned in sets}
    assert len(sets) == row.sets * len(tables)
    assert not row.tables or len(tables) == row.tables
    assert {len(one) for one in tables} == {row.seats}


def test_two_workers_play_the_same_league(tmp_path: Path) -> None:
    for row in (*ROWS, *SHORT):
        if row.workers > 1 and "go" not in row.kinds:
            alone = next(one for one in (*ROWS, *SHORT) if one.name == row.name.removesuffix("-2w"))
            both = [make(one, tmp_path / one.name, tmp_path).read_text() for one in (row, alone)]
            assert both[0] == both[1]


def test_rows_are_chosen_by_pattern_and_a_name_that_is_none_is_refused() -> None:
    assert [row.name for row in chosen(ROWS, ["8-few*", "40"])] == ["8-few", "8-few-2w", "40"]
    with pytest.raises(SystemExit, match="no row is called 7"):
        chosen(ROWS, ["7"])
    names = [row.name for row in (*ROWS, *SHORT)]
    assert len(set(names)) == len(names)


def test_the_figures_of_the_documentation_are_of_rows_that_can_be_run_again() -> None:
    file = json.loads((Path(__file__).parents[1] / "docs/performance.json").read_text())
    rows = {row.name: row for row in ROWS}
    assert {row["row"] for row in file["rows"]} >= {"1-game", "64-games", "256-games", "8-few", "class"}
    for row in file["rows"]:
        assert row["what"] == rows[row["row"]].what, f"measure it again: benchmarks/league.py {row['row']}"
    known = {name: rows[name] for name in (row["row"] for row in file["rows"])}
    again = written({row["row"]: row["runs"] for row in file["rows"]}, known, file["machine"])
    assert again["rows"] == file["rows"]
    assert again["fit"] == pytest.approx(file["fit"], rel=1e-6)


def test_the_table_shows_medians() -> None:
    keys = ("rate", "ratio", "cpu_ratio", "fill", "starts", "referee_us", "bots_us", "decisions", "whole", "processes")
    runs = [dict.fromkeys((*keys, "mib"), value) for value in (1.0, 5.0, 2.0)]
    line = table({"8-few": runs})[1].split()
    assert line[0] == "8-few"
    assert {float(cell) for cell in line[1:]} == {2.0}


def test_what_grows_all_the_time_is_told_from_what_grows_at_first() -> None:
    at = [float(second) for second in range(80)]
    warms_up = [min(second, 19.0) for second in at]
    assert (growth(warms_up), slope(at, warms_up)) == (0.0, 0.0)
    assert growth(at) == 40
    assert slope(at, at) == pytest.approx(1.0)
    assert (growth([1.0, 2.0]), slope([0.0], [1.0])) == (0.0, 0.0)


def test_games_a_minute_are_compared_over_whole_rounds_and_one_kind_alone_says_nothing() -> None:
    rounds = [
        RoundFigures(number, number % 2 == 0, 60, 60.0 if number % 2 else 75.0, 6.0, 3.0, 0.0) for number in range(8)
    ]
    found = compare(rounds)
    assert (found["with"]["games_a_minute"], found["without"]["games_a_minute"]) == pytest.approx((48, 60))
    assert (found["ratio_low"], found["ratio"], found["ratio_high"]) == pytest.approx((0.8, 0.8, 0.8))
    assert found["with"]["web_cpu_share"] == pytest.approx(3 / 75)
    assert compare(rounds[:1])["ratio"] is None


def test_one_upload_in_ten_is_good_and_the_others_are_bad_in_all_ways() -> None:
    kinds = [kind_of(number) for number in range(100)]
    assert kinds.count("good") == 10
    assert set(kinds) == {"good", "reneges", "hostile", "unbuildable", "large"}
    with zipfile.ZipFile(io.BytesIO(archive("bot000", 1, "good"))) as good:
        assert set(good.namelist()) == {"bot.toml", "make.sh", "bot.py"}
    assert archive("bot000", 1, "good") != archive("bot000", 2, "good")
    assert len(archive("bot004", 1, "large")) > 1 << 20


def test_the_figures_of_a_host_in_the_documentation_are_of_what_can_be_run_again() -> None:
    found = json.loads((ROOT / "docs/host.json").read_text())
    assert {"supervisor", "web", "engine", "jobs"} == set(found["parts"])
    assert compare([RoundFigures(**one) for one in found["each_round"]]) == found["compared"]
