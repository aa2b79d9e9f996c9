"""A ladder in its store: rounds, newcomers, versions, withdrawals, interruptions; and what a verification finds of all that."""

import csv
import io
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from referee.league.definition.definition import DefinitionError, parse_definition
from referee.league.export import write_export
from referee.league.ladder import check_round_unchanged, finish, withdraw
from referee.league.ladder_history import aims, sets_of_round
from referee.league.league import LeagueError, begin, read_league
from referee.league.schedule.ladder import PLACEMENT
from referee.league.schedule.schedule import read_schedule
from referee.league.standings import standings_of
from referee.league.store import Exported, Store
from referee.league.store.export_format import dumped
from referee.league.store.json_text import column, read_json
from referee.league.store.rounds import has_room
from referee.report.csv_tables import csv_table
from referee.report.report_data import collect
from referee.umpire.fallback_player import fallback_move
from referee.verification.verify import verify
from tests.league.inprocess import InProcess, Player, at_random
from tests.league.ladders import Ladder

FOUNDERS: dict[str, Player] = {"a": fallback_move, "b": at_random, "c": fallback_move, "d": at_random, "e": at_random}


def eventful(path: Path, most: int | None = None) -> Ladder:
    """A ladder of six rounds: a newcomer, a new version, one who goes and comes back. ``most``: it is killed after so many games."""
    ladder = Ladder(path, FOUNDERS, owners={"c": "carla"}, panel=("a", "b"))

    def play() -> None:
        ladder.begin()
        if most is None:
            assert not ladder.go_on().open
        else:
            next(number for number in count(1) if not ladder.go_on(most).open)

    play()
    ladder.come("f", fallback_move, "carla")
    play()
    play()
    ladder.come("d", fallback_move)
    gone = ladder.go("e")
    play()
    ladder.players["e"] = gone
    play()
    ladder.come("f", at_random)
    play()
    return ladder


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return eventful(tmp_path_factory.mktemp("ladder") / "ladder.sqlite").path


def tables_of(path: Path) -> list[list[tuple[tuple[str, ...], tuple[str, ...]]]]:
    """Of each round its tables: who sat there, and at whom it was aimed."""
    with Store.read(path) as store:
        sets = list(read_schedule(store).sets)
        rounds = store.league().get("rounds", [])
    found = []
    for round_ in rounds:
        own = [sets.pop(0) for _ in range(sets_of_round(round_))]
        found.append(list(zip((one.table for one in own), aims(round_), strict=True)))
    assert not sets
    return found


def test_newcomers_are_placed_and_versions_are_new_players(played: Path) -> None:
    with Store.read(played) as store:
        rounds = store.league().get("rounds", [])
        entrants = store.entrants()
    assert [[one["key"] for one in round_["entered"]] for round_ in rounds] == [
        ["a", "b", "c", "d", "e"],
        ["f"],
        [],
        ["d@2"],
        [],
        ["f@2"],
    ]
    assert list(entrants) == ["a", "b", "c", "d", "e", "f", "d@2", "f@2"]
    assert [round_["placed"] for round_ in rounds] == [[], ["f"], [], ["d@2"], [], ["f@2"]]
    assert rounds[3]["bots"] == ["a", "b", "c", "f", "d@2"]
    assert rounds[4]["bots"] == ["a", "b", "c", "e", "f", "d@2"]  # e is the same bot as before
    assert rounds[5]["bots"] == ["a", "b", "c", "e", "d@2", "f@2"]
    for tables, round_ in zip(tables_of(played), rounds, strict=True):
        seated = Counter(key for table, aimed in tables if not aimed for key in table)
        assert set(seated) == set(round_["bots"]) - set(round_["placed"])
        # In round 4 there are a, b, and two of carla's: a and b have to sit at all four tables.
        assert set(seated.values()) <= ({2, 4} if round_["number"] == 4 else {2, 3})
        for key in round_["placed"]:
            assert sum(aimed == (key,) for _, aimed in tables) == PLACEMENT
        assert not [table for table, _ in tables if {"c", "f"} <= set(table) or {"c", "f@2"} <= set(table)]


def test_each_round_has_packs_and_a_commitment_of_its_own(played: Path) -> None:
    with Store.read(played) as store:
        rounds, league = store.league().get("rounds", []), read_league(store)
        sets = [row.id for row in store.sets()]
    masters = [round_["master"] for round_ in rounds]
    assert len(set(masters)) == len({round_["commitment"] for round_ in rounds}) == 6
    assert [league.round_masters[one].hex() for one in sets] == [
        round_["master"] for round_ in rounds for _ in range(sets_of_round(round_))
    ]
    assert league.master.hex() not in masters


def test_extra_tables_are_aimed_at_neighbours_whose_order_is_open(played: Path) -> None:
    with Store.read(played) as store:
        rounds = store.league().get("rounds", [])
    assert not rounds[0]["pairs"]  # nobody's place is known
    chased = [tuple(pair) for round_ in rounds for pair in round_["pairs"]]
    assert chased
    for round_, tables in zip(rounds, tables_of(played), strict=True):
        aimed = [at for _, at in tables]
        assert aimed[len(aimed) - len(round_["pairs"]) :] == [tuple(pair) for pair in round_["pairs"]]
        assert all(set(at) <= set(table) for table, at in tables)


def test_a_ladder_is_verified_whole_and_from_its_export(played: Path, tmp_path: Path) -> None:
    with Store.read(played) as store:
        league = read_league(store)
        found = verify(store, commitment=league.facts["rounds"][2]["commitment"])
        assert found.ok, str(found)
        assert "A ladder with 6 closed rounds, each with a commitment of its own." in str(found)
        assert not verify(store, commitment="0" * 64).ok
        folder = write_export(store, league, tmp_path / "export", {})
    found = verify(Exported(folder))
    assert found.ok, str(found)


def test_the_standings_are_of_those_who_play_now(played: Path) -> None:
    with Store.read(played) as store:
        league = read_league(store)
        table = standings_of(store, league)
        marks = list(csv.DictReader(io.StringIO(csv_table(collect(store, league, table), "marks"))))
    rows = {row.entrant: row for row in table.rows}
    assert set(rows) == {"a", "b", "c", "e", "d@2", "f@2"}
    assert rows["a"].status == "ranked"
    assert rows["f@2"].status == "too few to rank"
    told = " ".join(table.notes)
    assert "Provisional, with fewer than 10 closed sets: f@2." in told
    assert "Retired: f, d." in told
    assert "The panel: a, b." in told
    against = rows["c"].panel
    assert against is not None
    assert against.mean is not None
    assert 0.5 < against.mean <= 1.0  # it plays like one of the panel, and better than the other
    assert [mark["owner"] for mark in marks] == ["carla", "carla", "", "", "", ""]
    assert {mark["entrant"]: mark["status"] for mark in marks} == {
        "a": "panel",
        "b": "panel",
        "c": "ranked",
        "e": "ranked",
        "d@2": "ranked",
        "f@2": "provisional",
    }
    data = table.to_json()
    assert data["ladder"] is True
    assert {row["entrant"] for row in data["rows"] if row["panel"]} >= {"a", "b", "c"}


@pytest.mark.parametrize("most", [1, 4, 11])
def test_a_ladder_that_is_killed_in_its_rounds_comes_to_the_same_roots(played: Path, tmp_path: Path, most: int) -> None:
    again = eventful(tmp_path / "again.sqlite", most)
    with Store.read(played) as one, Store.read(again.path) as other:
        assert [round_["result_root"] for round_ in other.league()["rounds"]] == [
            round_["result_root"] for round_ in one.league()["rounds"]
        ]
        assert (
            standings_of(one, read_league(one)).rows[0].measure
            == standings_of(other, read_league(other)).rows[0].measure
        )
        found = verify(other)
    assert found.ok, str(found)


def test_who_is_withdrawn_keeps_what_was_scored_and_plays_no_more(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS, panel=("a",))
    ladder.play()
    ladder.begin()
    assert ladder.go_on(most=5).open
    with Store.write(ladder.path) as store:
        scored = {row.id for row in store.sets() if row.state == "SCORED"}
        with pytest.raises(LeagueError, match="a is of the panel"):
            withdraw(store, read_league(store), "a", "tired")
        with pytest.raises(LeagueError, match=r"no bot of .* is called nobody; there are a, b"):
            withdraw(store, read_league(store), "nobody", "tired")
        assert withdraw(store, read_league(store), "e", "tired") == "e"
    assert not ladder.go_on().open
    with Store.read(ladder.path) as store:
        rows = {row.id: row for row in store.sets()}
        assert all(rows[one].state == "SCORED" for one in scored)
        void = {one.reason for one in rows.values() if one.state == "VOID"}
        assert void == {"e was withdrawn: tired"}
        assert verify(store).ok
    ladder.play()
    assert "e" not in ladder.rounds[-1]["bots"]
    ladder.come("e", at_random)
    ladder.play()
    assert "e@2" in ladder.rounds[-1]["bots"]
    with Store.read(ladder.path) as store:
        assert verify(store).ok


def test_pause_freeze_and_the_end(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS, seed=None)
    ladder.play()
    with Store.read(ladder.path) as store:
        assert "A ladder with 1 closed round, with a commitment." in str(verify(store))
    with Store.write(ladder.path) as store:
        store.put(paused=True)
    with pytest.raises(LeagueError, match=r"is paused; let it go on with: referee ladder .* --go-on"):
        ladder.begin()
    with Store.write(ladder.path) as store:
        store.put(paused=False, frozen=1)
    ladder.come("f", at_random)
    with pytest.raises(LeagueError, match="frozen since round 1, and f is new: take it out"):
        ladder.begin()
    ladder.go("f")
    ladder.come("e", at_random)
    with pytest.raises(LeagueError, match="frozen since round 1, and e has changed: put its files back"):
        ladder.begin()
    ladder.versions["e"] = 1
    ladder.begin()
    with Store.write(ladder.path) as store:
        with pytest.raises(LeagueError, match=r"round 2 of .* is open"):
            finish(store, read_league(store))
        with pytest.raises(LeagueError, match=r"round 2 of .* is open, and its packs are secret"):
            write_export(store, read_league(store), tmp_path / "early", {})
    ladder.play()
    with Store.write(ladder.path) as store:
        finish(store, read_league(store))
    with Store.read(ladder.path) as store:
        league = read_league(store)
        found = verify(store, record_root=league.facts["record_root"])
        assert found.ok, str(found)
        folder = write_export(store, league, tmp_path / "export", {})
    found = verify(Exported(folder))
    assert found.ok, str(found)
    with pytest.raises(LeagueError, match="is finished; begin another ladder"):
        ladder.begin()


def test_the_panel_never_changes(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS, panel=("a",))
    ladder.play()
    ladder.versions["a"] = 2
    with pytest.raises(LeagueError, match="the panel never changes"):
        ladder.begin()
    ladder.versions["a"] = 1
    ladder.panel = ("a", "b")
    with pytest.raises(LeagueError, match="the panel never changes"):
        ladder.begin()
    ladder.panel = ("a",)
    gone = ladder.go("a")
    with pytest.raises(LeagueError, match="a of the panel cannot play"):
        ladder.begin()
    ladder.players["a"] = gone
    ladder.play()


def test_a_bot_of_the_panel_that_the_referee_gives_up_does_not_stop_the_ladder(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS, panel=("a", "b"))
    ladder.begin()
    ladder.go_on(most=3)
    with Store.write(ladder.path) as store:
        store.add_fault("a", "CRASH", "Its process ended with code 1.", "-")
        store.withdraw("a", "it ended 10 times")
    ladder.play(2)
    assert ladder.rounds[1]["bots"] == ["b", "c", "d", "e"]
    with Store.read(ladder.path) as store:
        found = verify(store)
    assert found.ok, str(found)


def test_only_bots_may_change_in_the_definition(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS)
    ladder.play()
    ladder.shape = (3, 5, None, "ladder")
    with pytest.raises(LeagueError, match=r"begun with another definition: \[schedule\] sets was 2, is 5"):
        ladder.begin()


def check_unchanged(ladder: Ladder) -> None:
    with Store.read(ladder.path) as store:
        check_round_unchanged(store, read_league(store), ladder.roster)


def test_a_bot_that_changes_in_an_open_round_is_named_with_the_remedy(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS, panel=("a",))
    ladder.begin()
    check_unchanged(ladder)
    ladder.come("e", at_random)
    sentence = (
        r"round 1 is open, and e has changed since it began, or is gone: put it back as it was until the round is over"
    )
    with pytest.raises(LeagueError, match=rf"^{sentence}, or withdraw it: referee ladder .*sqlite --withdraw e$"):
        check_unchanged(ladder)
    with Store.write(ladder.path) as store:
        withdraw(store, read_league(store), "e", "it was broken")
    check_unchanged(ladder)
    ladder.come("a", at_random)
    with pytest.raises(LeagueError, match=r"and a has changed since it began, .* until the round is over$"):
        check_unchanged(ladder)
    ladder.versions["a"] = 1
    ladder.play()
    ladder.play()
    assert ladder.rounds[1]["bots"] == ["a", "b", "c", "d", "e@2"]
    with Store.read(ladder.path) as store:
        found = verify(store)
    assert found.ok, str(found)


def test_several_that_have_changed_are_named_together(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS, panel=("a",))
    ladder.begin()
    ladder.come("a", at_random)
    ladder.go("d")
    with pytest.raises(LeagueError, match=r"a, d have changed .* put them back .*, or withdraw d: .* --withdraw d$"):
        check_unchanged(ladder)


def test_a_round_with_nothing_left_to_play_is_closed_whatever_has_changed(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS)
    ladder.begin()
    with Store.write(ladder.path) as store:  # and here its referee is killed
        assert not InProcess(store, ladder.players).run().open
    ladder.come("e", at_random)
    check_unchanged(ladder)


@pytest.mark.parametrize("reason", ["", "  "])
def test_nobody_is_withdrawn_without_a_reason(tmp_path: Path, reason: str) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS)
    ladder.begin()
    with Store.write(ladder.path) as store:
        with pytest.raises(LeagueError, match=r"e is withdrawn for a reason, .* say it, or leave --reason out"):
            withdraw(store, read_league(store), "e", reason)
        assert store.entrants()["e"]["withdrawn"] is None


@pytest.mark.parametrize(
    "reason",
    ["two\nlines", "a\ttab", "\x1b[2J", "to the \u202eleft", "no \udcff text", "\0", "x" * 1001, "x" * 10_000_000],
    ids=["lines", "tab", "escape", "direction", "surrogate", "zero", "long", "ten megabytes"],
)
def test_a_reason_is_a_plain_line(tmp_path: Path, reason: str) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS)
    ladder.begin()
    with Store.write(ladder.path) as store:
        with pytest.raises(LeagueError, match="give a single line of at most 1000 printable characters as --reason"):
            withdraw(store, read_league(store), "e", reason)
        assert store.entrants()["e"]["withdrawn"] is None
        assert withdraw(store, read_league(store), "E", "é " * 500) == "e"
    ladder.play()
    with Store.read(ladder.path) as store:
        found = verify(store)
    assert found.ok, str(found)


def test_owners_and_bots_are_the_same_in_upper_and_lower_case(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS, owners={"a": "Ann", "b": "ann", "c": "ANN"})
    ladder.play()
    ladder.owners["a"] = "ann"  # the same owner, so the same entrant
    ladder.players["E"] = ladder.go("e")  # the same bot, in a new version
    ladder.versions["E"] = 2
    ladder.play(2)
    assert ladder.rounds[1]["bots"] == ["a", "b", "c", "d", "E@2"]
    assert [one["key"] for one in ladder.rounds[1]["entered"]] == ["E@2"]
    assert all(len({"a", "b", "c"} & set(table)) < 2 for tables in tables_of(ladder.path) for table, _ in tables)
    ladder.begin()
    ladder.players["e"] = ladder.go("E")
    ladder.versions["e"] = 2
    ladder.players["A"] = ladder.go("a")
    ladder.owners["A"] = "aNN"
    ladder.versions["A"] = 1
    with Store.write(ladder.path) as store:
        withdraw(store, read_league(store), "B", "it was broken")
    with Store.read(ladder.path) as store:
        with pytest.raises(LeagueError, match=r"a, E@2 have changed"):
            check_round_unchanged(store, read_league(store), ladder.roster)
        assert verify(store).ok


def test_a_round_for_which_there_is_no_room_is_refused_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS)
    ladder.play(2)
    monkeypatch.setattr("referee.league.store.rounds.MOST_BYTES", 2 * len(dumped(ladder.rounds)))
    with pytest.raises(
        LeagueError, match=r"has no room for a round more than its 2: end it with referee ladder .* --finish"
    ):
        ladder.begin()
    with Store.write(ladder.path) as store:
        assert len(store.entrants()) == 5
        finish(store, read_league(store))
        assert verify(store).ok


def test_rounds_that_have_room_can_be_read_again_from_store_and_export(played: Path) -> None:
    with Store.read(played) as store:
        rounds = store.league().get("rounds", [])
    number = 1
    while has_room(rounds * number * 2):
        number *= 2
    many = rounds * number
    assert not has_room(rounds * number * 2)
    assert read_json(column(many)) == many
    assert read_json(dumped({"rounds": many, "standings": rounds})) == {"rounds": many, "standings": rounds}
    assert number * len(rounds) > 2_000


def test_too_few_owners_cannot_fill_a_table(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS, seats=4, owners=dict.fromkeys("abc", "one"))
    with pytest.raises(ValueError, match="round 1: 5 bots cannot fill a table of 4 without two bots of one owner"):
        ladder.begin()
    assert ladder.rounds == []


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("copies = 2", "one of each bot on a ladder"),
        ('panel = true\nowner = "x"', "no owner of a bot of the panel"),
    ],
)
def test_what_no_bot_of_a_ladder_has(more: str, told: str) -> None:
    text = '[tournament]\nname = "x"\nvariant = "auction-pitch"\nseats = 3\n[schedule]\nformat = "ladder"\n'
    with pytest.raises(DefinitionError, match=told):
        parse_definition(f'{text}[[bots]]\npath = "random"\n{more}\n')


@pytest.mark.parametrize("more", ['owner = "x"', "panel = true"])
def test_owners_and_panels_are_for_ladders(more: str) -> None:
    text = '[tournament]\nname = "x"\nvariant = "auction-pitch"\nseats = 3\n'
    with pytest.raises(
        DefinitionError, match='nothing here but on a ladder; remedy: delete it, or write format = "ladder"'
    ):
        parse_definition(f'{text}[[bots]]\npath = "random"\n{more}\n')


# What is forged in the rounds of a ladder is found.


def _swap(rounds: list[dict[str, Any]]) -> None:
    rounds[2]["master"], rounds[3]["master"] = rounds[3]["master"], rounds[2]["master"]


def _chase_others(rounds: list[dict[str, Any]]) -> None:
    at = next(number for number, one in enumerate(rounds) if one["pairs"])
    rounds[at]["pairs"][0] = ["a", "b"] if rounds[at]["pairs"][0] != ["a", "b"] else ["a", "c"]


FORGERIES: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "masters": _swap,
    "commitment": lambda rounds: rounds[1].update(commitment="0" * 64),
    "digest": lambda rounds: rounds[1].update(digest="0" * 64),
    "pairs": _chase_others,
    "placed": lambda rounds: rounds[1].update(placed=[]),
    "bots": lambda rounds: rounds[4]["bots"].remove("e"),
    "order of bots": lambda rounds: rounds[4]["bots"].reverse(),
    "owner": lambda rounds: rounds[0]["entered"][2].update(owner=""),
    "panel": lambda rounds: rounds[0]["entered"][1].update(panel=False),
    "late panel": lambda rounds: rounds[1]["entered"][0].update(panel=True, owner=""),
    "who entered": lambda rounds: rounds[3]["entered"].clear(),
    "another bot": lambda rounds: rounds[3]["entered"][0].update(bot="e"),
    "number": lambda rounds: rounds[3].update(number=9),
    "tables": lambda rounds: rounds[1]["tables"][0].update(aimed=["c"]),
    "sets": lambda rounds: rounds[5]["tables"][0].update(sets=1),
    "root": lambda rounds: rounds[3].update(result_root="0" * 64),
    "no root": lambda rounds: rounds[3].pop("result_root"),
    "a field more": lambda rounds: rounds[3].update(note="none"),
    "a round less": lambda rounds: rounds.pop(),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_round_that_was_forged_is_found(played: Path, tmp_path: Path, what: str) -> None:
    path = tmp_path / "forged.sqlite"
    path.write_bytes(played.read_bytes())
    db = sqlite3.connect(path)
    with db:
        rounds = json.loads(db.execute("SELECT value FROM league WHERE key = 'rounds'").fetchone()[0])
        FORGERIES[what](rounds)
        text = json.dumps(rounds, sort_keys=True, separators=(",", ":"))
        db.execute("UPDATE league SET value = ? WHERE key = 'rounds'", (text,))
    db.close()
    with Store.read(path) as store:
        found = verify(store)
    assert not found.ok


def test_a_league_that_is_no_ladder_has_no_rounds(tmp_path: Path) -> None:
    ladder = Ladder(tmp_path / "ladder.sqlite", FOUNDERS)
    text = '[tournament]\nname = "x"\nvariant = "auction-pitch"\nseats = 3\n[schedule]\nsets = 1\nseed = "x"\n'
    plain = parse_definition(text + "".join(f'[[bots]]\npath = "{name}"\n' for name in FOUNDERS))
    path = tmp_path / "plain.sqlite"
    begin(plain, ladder.roster, path, "none", {})
    with Store.read(path) as store:
        assert verify(store).ok
    with Store.write(path) as store:
        store.put(rounds=[])
    with Store.read(path) as store:
        assert [one.what for one in verify(store).findings] == ["rounds of a league that is no ladder"]
