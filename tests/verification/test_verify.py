"""Verification: a sound league agrees; games that are missing, extra or moved, and other packs, are named at their place."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from referee.league.definition.definition import parse_definition
from referee.league.sets_to_play import INTERRUPTED
from referee.league.store import Store
from referee.rules import variant, variant_names
from referee.umpire.fallback_player import fallback_move
from referee.umpire.record import Record, replay
from referee.verification.result import Check
from tests.league.inprocess import found_league, go_on, league_text, play_league
from tests.league.tampered import cover_up, edit_record, put, rows, sql
from tests.verification.findings import GAMES, PLAYERS, first, fixture_of, record_of, verdict

# A sound league.


def test_a_sound_league_agrees_and_everything_is_counted(sound: Path) -> None:
    told: list[tuple[int, int]] = []
    found = verdict(sound, progress=lambda done, total: told.append((done, total)))
    assert found.ok, str(found)
    assert told == [(number, GAMES) for number in range(1, GAMES + 1)]
    records = [record_of(sound, number) for number in range(1, GAMES + 1)]
    faults = Counter(entry["fault"] for record in records for entry in record["irregular"])
    judged = faults.pop("ILLEGAL_ACTION") + faults.pop("MALFORMED")
    assert (found.games, found.superseded, found.rulings) == (GAMES, 0, judged)
    assert found.unproven == faults
    assert found.unprovable == faults.total() > 0
    assert found.deals == sum(len(record["deals"]) for record in records)
    assert found.decisions == sum(replay(record, fallback_move).steps for record in records)


def test_the_verdict_can_be_read_and_written(sound: Path) -> None:
    found = verdict(sound)
    text = str(found)
    assert text.startswith("Test league: everything agrees\n")
    assert f"{found.unprovable} rulings rest on the referee's clock" in text
    assert found.record_root in text
    plain = json.loads(json.dumps(found.to_json()))
    assert plain["ok"] is True
    assert plain["findings"] == []
    assert plain["unproven"] == found.unproven


def test_what_was_published_elsewhere_is_held_against_it(sound: Path) -> None:
    found = verdict(sound)
    assert verdict(sound, commitment=found.commitment, record_root=found.record_root).ok
    other = verdict(sound, commitment="0" * 64, record_root="1" * 64)
    assert [(one.check, one.says) for one in other.findings] == [
        (Check.COMMITMENT, "0" * 64),
        (Check.ROOT, "1" * 64),
    ]


@pytest.mark.parametrize("name", variant_names())
def test_every_variant_agrees(name: str, tmp_path: Path) -> None:
    rules = variant(name)
    seats = max(rules.players[0], min(4, rules.players[1]))
    players = {key: PLAYERS[key] for key in ["reneger", "stumbler", "random", "careful"][: rules.sides or seats]}
    found = verdict(play_league(tmp_path / "league.sqlite", players, seats=seats, variant=name, sets=2))
    assert found.ok, str(found)
    assert found.decisions > 100


def test_a_secret_master_and_single_deals_agree(tmp_path: Path) -> None:
    found = verdict(play_league(tmp_path / "league.sqlite", PLAYERS, seats=4, sets=12, seed=None, length="deal"))
    assert found.ok, str(found)
    assert found.deals == found.games == 48
    assert "not how the master was chosen" in str(found)


def test_a_league_that_is_still_played_agrees_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "league.sqlite"
    found_league(path, parse_definition(league_text(list(PLAYERS), seats=4)), list(PLAYERS))
    assert not go_on(path, PLAYERS, most=5).finished
    found = verdict(path)
    assert found.ok, str(found)
    assert found.games == 5
    assert found.result_root == ""
    assert "The league is not finished: 2 of 2 sets are open." in found.notes
    edit_record(path, 3, lambda record: record["deals"][0].update(dealer=1), cover=False)
    assert first(path).game == 3


def test_sets_that_were_dealt_anew_agree_with_their_earlier_games(tmp_path: Path) -> None:
    path = tmp_path / "league.sqlite"
    found_league(path, parse_definition(league_text(list(PLAYERS), seats=4)), list(PLAYERS))
    go_on(path, PLAYERS, most=5)
    with Store.write(path) as store:
        old = store.sets()[0].id
        (attempt,) = store.begin([(f"{old}-3", 0)])
        store.redeal_set("Test league", old)
        store.end_attempt(attempt, "STOPPED", INTERRUPTED)
    assert go_on(path, PLAYERS).finished
    found = verdict(path)
    assert found.ok, str(found)
    assert (found.games, found.superseded) == (8 + 3, 3)
    assert "Sets dealt anew after an interruption: 1" in str(found)
    number = rows(path, "SELECT min(number) FROM game WHERE redeal = 0 AND fixture_id LIKE ?", f"{old}-%")[0][0]
    edit_record(path, number, swap_first_cards)
    odd = first(path)
    assert (odd.check, odd.game) == (Check.PACK, number)


# Games: missing, extra, moved.


def test_a_cut_tail_is_a_missing_game(league: Path) -> None:
    fixture = fixture_of(league, GAMES)
    sql(league, "DELETE FROM game WHERE number = ?", GAMES)
    cover_up(league)
    found = verdict(league)
    odd = found.findings[0]
    assert (odd.check, odd.what, odd.fixture) == (Check.GAMES, "missing game", fixture)


def test_a_cut_tail_shows_in_the_chain_too(league: Path) -> None:
    set_id = fixture_of(league, GAMES).rpartition("-")[0]
    sql(league, "DELETE FROM game WHERE number = ?", GAMES)
    checks = {(one.check, one.what) for one in verdict(league).findings}
    assert (Check.CHAIN, f"head of the chain of set {set_id}") in checks
    assert (Check.CHAIN, f"number of games of set {set_id}") in checks
    assert {what for check, what in checks if check is Check.ROOT} == {"result root", "record root"}


def test_a_game_taken_out_of_the_middle_leaves_a_gap(league: Path) -> None:
    fixture = fixture_of(league, 7)
    sql(league, "DELETE FROM game WHERE number = 7")
    cover_up(league)
    found = verdict(league).findings
    assert (found[0].check, found[0].says, found[0].should) == (Check.GAMES, "8", "7")
    assert any(one.what == "missing game" and one.fixture == fixture for one in found)


@pytest.mark.parametrize(("fixture", "redeal"), [("nowhere-0", 0), (None, 3), (None, -1)])
def test_an_extra_game_is_named(league: Path, fixture: str | None, redeal: int) -> None:
    sql(
        league,
        "INSERT INTO game SELECT ?, ?, 1000, ?, record, record_digest, result_digest, summary FROM game WHERE number = 2",
        fixture or fixture_of(league, 2),
        redeal,
        GAMES + 1,
    )
    odd = first(league)
    assert (odd.check, odd.game, odd.should) == (Check.GAMES, GAMES + 1, "nothing")


def test_a_moved_record_is_named_with_both_games(league: Path) -> None:
    blobs = rows(league, "SELECT record FROM game WHERE number IN (3, 4) ORDER BY number DESC")
    for number, (blob,) in zip((3, 4), blobs, strict=True):
        put(league, "game", {"record": blob}, "number = ?", number)
    cover_up(league)
    found = verdict(league).findings
    assert [one.game for one in found if one.check is Check.RECORD] == [3, 4]
    assert (found[0].check, found[0].what) == (Check.RECORD, "game")
    assert (found[0].says, found[0].should) == (fixture_of(league, 4), fixture_of(league, 3))


def test_players_changed_about_are_named(league: Path) -> None:
    edit_record(league, 5, lambda record: record["names"].reverse())
    odd = first(league)
    assert (odd.check, odd.what, odd.game) == (Check.RECORD, "names[0]", 5)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"rules": {"target": 6}}, "rules.target"),
        ({"limits": {"move_us": 1}}, "limits.move_us"),
        ({"profile": {"forfeit_after": 9}}, "profile.forfeit_after"),
        ({"first_dealer": 1}, "first_dealer"),
        ({"redeal": 1}, "redeal"),
    ],
)
def test_other_rules_or_limits_for_one_game_are_named(league: Path, change: dict[str, Any], what: str) -> None:
    def apply(record: Record) -> None:
        for key, value in change.items():
            record[key] = record[key] | value if isinstance(value, dict) else value

    edit_record(league, 6, apply)
    odd = first(league)
    assert (odd.check, odd.what, odd.game) == (Check.RECORD, what, 6)


# Packs.


def swap_first_cards(record: Record) -> None:
    cards = record["deals"][1]["pack"].split()
    cards[0], cards[20] = cards[20], cards[0]
    record["deals"][1]["pack"] = " ".join(cards)


@pytest.mark.parametrize("cover", [True, False])
def test_an_edited_card_is_named(league: Path, cover: bool) -> None:
    cards = record_of(league, 4)["deals"][1]["pack"].split()
    edit_record(league, 4, swap_first_cards, cover=cover)
    odd = first(league)
    assert (odd.check, odd.game, odd.deal, odd.what) == (Check.PACK, 4, 2, "card 1 from the top")
    assert (odd.says, odd.should) == (cards[20], cards[0])
    assert odd.fixture == fixture_of(league, 4)
    others = {one.check for one in verdict(league).findings}
    assert others == ({Check.PACK} if cover else {Check.PACK, Check.DIGEST, Check.CHAIN, Check.ROOT})


@pytest.mark.parametrize("pack", ["", "AS", None, 7, "AS " * 52])
def test_a_pack_that_is_none_is_named(league: Path, pack: object) -> None:
    edit_record(league, 2, lambda record: record["deals"][0].update(pack=pack))
    odd = first(league)
    assert (odd.check, odd.game, odd.deal) == (Check.PACK, 2, 1)
