"""Verification: a sound league agrees, and whatever is done to one is named at its place."""

import copy
import json
import shutil
import sqlite3
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cards import card_text, cards_in, parse_card, parse_cards
from referee.definitions.definition import parse_definition
from referee.oracle import OracleGame
from referee.protocol import wire
from referee.record import Record, replay
from referee.rules import Action, Deal, Game, Kind, variant, variant_names
from referee.seats.house import house
from referee.store import Store
from referee.table import Table
from referee.tournament.league import plan_of, read_league
from referee.verification import judge
from referee.verification.verdict import KEPT, Check, Divergence, Verdict
from referee.verification.verify import verify
from referee.verification.verify_game import Case, check_game, packs_of
from tests.tournament.inprocess import at_random, found_league, go_on, league_text, play_league, reneges, stumbles
from tests.tournament.tampered import cover_up, edit_fact, edit_record, put, rows, sql

PLAYERS = {"careful": house, "reneger": reneges, "stumbler": stumbles, "random": at_random}
GAMES = 16


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished league of four sets with every kind of ruling in it."""
    path = play_league(tmp_path_factory.mktemp("sound") / "league.sqlite", PLAYERS, seats=4, sets=4)
    with Store.read(path) as store:
        faults = {row["fault"] for row in store.rulings()}
        assert faults >= {"ILLEGAL_ACTION", "MALFORMED", "TIMEOUT_MOVE", "CRASH"}
    return path


@pytest.fixture
def league(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, to do as one likes with."""
    return Path(shutil.copy(sound, tmp_path / "league.sqlite"))


def verdict(path: Path, **options: Any) -> Verdict:
    with Store.read(path) as store:
        return verify(store, **options)


def first(path: Path) -> Divergence:
    found = verdict(path)
    assert not found.ok
    return found.findings[0]


def record_of(path: Path, number: int) -> Record:
    with Store.read(path) as store:
        return store.record(number)


def fixture_of(path: Path, number: int) -> str:
    return str(rows(path, "SELECT fixture_id FROM game WHERE number = ?", number)[0][0])


def ruling_of(path: Path, fault: str, rule: str = "") -> tuple[int, int]:
    """The first ruling of a kind: number of its game, and its place among the game's rulings."""
    query = "SELECT g.number, r.number FROM ruling r JOIN game g USING (fixture_id, redeal) WHERE r.fault = ?"
    return rows(path, f"{query} AND r.rule LIKE ? ORDER BY g.number, r.number", fault, f"{rule}%")[0]


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
    assert found.decisions == sum(replay(record, house).steps for record in records)


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
        store.redeal_set("Test league", old)
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


# Actions, rulings, results.


def test_a_swapped_result_is_named(league: Path) -> None:
    def change(record: Record) -> None:
        record["result"]["places"].reverse()

    number = next(n for n in range(1, GAMES + 1) if (p := record_of(league, n)["result"]["places"]) != p[::-1])
    places = record_of(league, number)["result"]["places"]
    edit_record(league, number, change)
    odd = first(league)
    seat = next(s for s, place in enumerate(places) if place != places[::-1][s])
    assert (odd.check, odd.game) == (Check.REPLAY, number)
    assert f"result.places[{seat}]: the record says {places[::-1][seat]}, the umpire {places[seat]}" in odd.says


def test_an_edited_delta_is_named_with_its_deal(league: Path) -> None:
    edit_record(league, 3, lambda record: record["deals"][1]["deltas"].__setitem__(0, 9))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.REPLAY, 3)
    assert "deals[1].deltas[0]: the record says 9" in odd.says


def a_play_with_a_choice(record: Record) -> tuple[int, int, int, str]:
    """A card that was played where another in the hand was illegal: deal, trick, place in it, the illegal card."""
    game = Game(variant("auction-pitch"), 4, 0)
    for number, entry in enumerate(record["deals"]):
        deal = game.deal_pack(parse_cards(entry["pack"]))
        for word in entry["bids"].split():
            deal.act(0 if word == "-" else int(word))
        for at, trick in enumerate(entry["tricks"]):
            for place, word in enumerate(trick.split()):
                wrong = [card for card in cards_in(deal.hands[deal.seat]) if card not in deal.legal()]
                if wrong and not rulings_in(record, number):
                    return number, at, place, card_text(wrong[0])
                deal.act(parse_card(word))
        assert deal.outcome
        game.close(deal.outcome)
    raise AssertionError("no revoke is possible in this game")


def rulings_in(record: Record, deal: int) -> bool:
    start = sum(actions_in(entry) for entry in record["deals"][:deal])
    return any(start <= ruling["step"] < start + actions_in(record["deals"][deal]) for ruling in record["irregular"])


def actions_in(entry: dict[str, Any]) -> int:
    return len(entry["bids"].split()) + sum(len(trick.split()) for trick in entry["tricks"])


def test_an_illegal_play_accepted_is_named_with_its_clause(league: Path) -> None:
    number = 8
    deal, trick, place, wrong = a_play_with_a_choice(record_of(league, number))

    def change(record: Record) -> None:
        cards = record["deals"][deal]["tricks"][trick].split()
        cards[place] = wrong
        record["deals"][deal]["tricks"][trick] = " ".join(cards)

    edit_record(league, number, change)
    odd = first(league)
    assert (odd.check, odd.game, odd.deal) == (Check.REPLAY, number, deal + 1)
    assert f"{wrong} breaks AF-PLAY-00" in odd.says
    assert odd.says.endswith("(the second engine calls it illegal)")


def test_a_legal_play_ruled_illegal_is_named(league: Path) -> None:
    number = 8
    record = record_of(league, number)
    entry = record["deals"][0]
    step, card = len(entry["bids"].split()), entry["tricks"][0].split()[0]
    assert not rulings_in(record, 0)
    forged = {
        "step": step,
        "seat": first_leader(entry),
        "fault": "ILLEGAL_ACTION",
        "rule": "AF-PLAY-001",
        "sentence": f"You do not hold {card}.",
        "consequence": "SUBSTITUTED",
        "charged_us": 10,
        "action": parse_card(card),
    }
    edit_record(league, number, lambda record: record["irregular"].insert(0, forged))
    odd = first(league)
    assert (odd.check, odd.game, odd.deal) == (Check.REPLAY, number, 1)
    assert odd.says == (
        f"seat {forged['seat']}: {card} is ruled to break AF-PLAY-001, but it is legal (the second engine calls it legal)"
    )


def first_leader(entry: dict[str, Any]) -> int:
    deal = Deal(variant("auction-pitch"), 4, entry["dealer"], parse_cards(entry["pack"]))
    for word in entry["bids"].split():
        deal.act(0 if word == "-" else int(word))
    return deal.seat


def test_a_changed_ruling_sentence_is_named(league: Path) -> None:
    number, place = ruling_of(league, "ILLEGAL_ACTION", "AF-PLAY")
    sentence = record_of(league, number)["irregular"][place]["sentence"]
    edit_record(league, number, lambda record: record["irregular"][place].update(sentence="It was slow."))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.REPLAY, number)
    assert odd.deal > 0
    assert f"ruling {place + 1}, sentence: the record says 'It was slow.', the umpire {sentence!r}" in odd.says
    assert {one.check for one in verdict(league).findings} >= {Check.REPLAY, Check.RULING}


@pytest.mark.parametrize(("field", "value"), [("sentence", "Other."), ("rule", "AF-BID-001"), ("entrant", "careful")])
def test_a_changed_row_of_a_ruling_is_named(league: Path, field: str, value: str) -> None:
    number, place = ruling_of(league, "ILLEGAL_ACTION", "AF-PLAY")
    fixture = fixture_of(league, number)
    put(league, "ruling", {field: value}, "fixture_id = ? AND number = ?", fixture, place)
    odd = first(league)
    assert (odd.check, odd.game, odd.what) == (Check.RULING, number, f"rulings[{place}].{field}")


def test_a_ruling_row_that_is_gone_is_named(league: Path) -> None:
    number, _ = ruling_of(league, "ILLEGAL_ACTION")
    sql(league, "DELETE FROM ruling WHERE fixture_id = ?", fixture_of(league, number))
    odd = first(league)
    assert (odd.check, odd.game, odd.says) == (Check.RULING, number, "nothing")


def test_a_ruling_that_was_left_out_is_named(league: Path) -> None:
    number, place = ruling_of(league, "ILLEGAL_ACTION", "AF-PLAY")
    edit_record(league, number, lambda record: record["irregular"].pop(place))
    assert (first(league).check, first(league).game) == (Check.REPLAY, number)


def test_a_forfeit_for_an_action_that_nobody_made_is_named(league: Path) -> None:
    number, place = ruling_of(league, "CRASH")
    edit_record(league, number, lambda record: record["irregular"][place].update(fault="ILLEGAL_ACTION"))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.REPLAY, number)
    assert "ILLEGAL_ACTION, but names no action" in odd.says


@pytest.mark.parametrize(
    ("change", "should"),
    [
        ({"rule": "AF-PROTO-003"}, "AF-PROTO-00"),
        ({"sentence": "Something else."}, "A turn of kind"),
        ({"raw": wire.Move(turn_id=1).SerializeToString().hex()}, "this move sets no field"),
        ({"raw": "ff"}, "no message at all"),
    ],
)
def test_malformed_bytes_are_parsed_again(league: Path, change: dict[str, str], should: str) -> None:
    number, place = ruling_of(league, "MALFORMED")
    edit_record(league, number, lambda record: record["irregular"][place].update(change))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.SECOND_ENGINE, number)
    assert odd.deal > 0
    assert odd.what.startswith("bytes of seat ")
    assert should in odd.should


def test_malformed_bytes_that_hold_a_sound_move_are_named(league: Path) -> None:
    number, place = ruling_of(league, "MALFORMED", "AF-PROTO-001")  # no bid was asked for, so a card was
    raw = wire.Move(turn_id=1, card=wire.Card.ValueType(2)).SerializeToString().hex()
    edit_record(league, number, lambda record: record["irregular"][place].update(raw=raw))
    odd = first(league)
    assert (odd.check, odd.game, odd.should) == (Check.SECOND_ENGINE, number, "2C, a sound move")


def test_malformed_bytes_that_were_cut_cannot_be_proven(league: Path) -> None:
    number, place = ruling_of(league, "MALFORMED")
    before = verdict(league)
    edit_record(league, number, lambda record: record["irregular"][place].update(raw="00" * judge.MOST_RAW_BYTES))
    after = verdict(league)
    assert after.ok, str(after)
    assert after.unproven["MALFORMED (cut)"] == 1
    assert (after.rulings, after.unprovable) == (before.rulings - 1, before.unprovable + 1)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"low_to": "taker"}, {"items", "seat of L"}),
        ({"min_bid": 3}, {"seat 0", "seat 1", "seat 2", "seat 3"}),
        ({"target": 5}, {"history", "game over", "reason"}),
        ({"follow": "strict"}, {"seat 0", "seat 1", "seat 2", "seat 3"}),
        ({"settlement": "none"}, {"stakes"}),
        ({"pitcher_scores": "bid"}, {"deltas"}),
    ],
)
def test_where_only_the_second_engine_differs_it_is_named(
    league: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], what: set[str]
) -> None:
    """One engine is told another house rule: record and replay still agree, and the judge does not."""
    monkeypatch.setattr(judge, "OracleGame", lambda rules, *others: OracleGame({**rules, **change}, *others))
    found = verdict(league)
    assert not found.ok
    assert {one.check for one in found.findings} == {Check.SECOND_ENGINE}
    assert {one.what for one in found.findings} & what
    assert all(one.should for one in found.findings)


# Figures.


@pytest.mark.parametrize(
    ("figure", "value"),
    [
        ("stakes", [9, 9, 9, 9]),
        ("bids_made", [5, 5, 5, 5]),
        ("winner", 7),
        ("times", []),
        ("entrants", ["x"]),
        ("set", "y"),
    ],
)
def test_a_changed_figure_of_a_summary_is_named(league: Path, figure: str, value: object) -> None:
    ((text,),) = rows(league, "SELECT summary FROM game WHERE number = 11")
    sql(league, "UPDATE game SET summary = ? WHERE number = 11", json.dumps(json.loads(text) | {figure: value}))
    odd = first(league)
    assert (odd.check, odd.game) == (Check.SUMMARY, 11)
    assert odd.what.split("[")[0].split(".")[0] == figure


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rows", 0, "skill", "mu"), 30.0),
        (("rows", 1, "measure", "mean"), 0.9),
        (("rows", 2, "wins"), 99),
        (("rows", 3, "entrant"), "somebody"),
        (("notes",), []),
        (("resamples",), 10**12),
        (("resamples",), "many"),
    ],
)
def test_a_changed_figure_of_the_standings_is_named(league: Path, path: tuple[Any, ...], value: object) -> None:
    def change(table: Any) -> Any:
        inner = table
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value
        return table

    edit_fact(league, "standings", change)
    odd = first(league)
    assert odd.check is Check.STANDINGS
    if path[0] == "rows":
        assert odd.what == f"rows[{path[1]}].{'.'.join(map(str, path[2:]))}"


def test_standings_that_were_not_stored_are_told(league: Path) -> None:
    sql(league, "DELETE FROM league WHERE key = 'standings'")
    found = verdict(league)
    assert found.ok
    assert "No standings are stored with this league, so none were compared." in found.notes


@pytest.mark.parametrize("root", ["result_root", "record_root"])
def test_a_changed_root_is_named(league: Path, root: str) -> None:
    edit_fact(league, root, lambda _: "0" * 64)
    odd = first(league)
    assert (odd.check, odd.what, odd.says) == (Check.ROOT, root.replace("_", " "), "0" * 64)


@pytest.mark.parametrize("column", ["record_digest", "result_digest"])
def test_a_changed_digest_is_named(league: Path, column: str) -> None:
    put(league, "game", {column: "0" * 64}, "number = 10")
    odd = first(league)
    assert (odd.check, odd.game, odd.what) == (Check.DIGEST, 10, f"digest of the {column.removesuffix('_digest')}")


# Commitment, definition, schedule, sets.


def test_a_changed_master_is_named_and_every_pack_counted(league: Path) -> None:
    edit_fact(league, "master", lambda _: "11" * 32)
    found = verdict(league)
    assert [one.check for one in found.findings[:3]] == [Check.COMMITMENT, Check.COMMITMENT, Check.PACK]
    assert (found.findings[2].game, found.findings[2].deal) == (1, 1)
    assert found.findings[1].should == "that of the seed 'kitchen'"
    assert found.divergences == 2 + GAMES


def test_more_divergences_than_are_named_are_counted(tmp_path: Path) -> None:
    path = play_league(tmp_path / "league.sqlite", PLAYERS, seats=4, sets=8, seed=None, length="deal")
    edit_fact(path, "master", lambda _: "11" * 32)
    found = verdict(path)
    assert len(found.findings) == KEPT
    assert found.divergences == 1 + 32
    assert f"and {33 - KEPT} more" in str(found)


@pytest.mark.parametrize(
    ("section", "field", "value", "checks"),
    [
        ("schedule", "seed", "parlour", {Check.DEFINITION, Check.COMMITMENT}),
        ("schedule", "sets", 5, {Check.DEFINITION, Check.COMMITMENT, Check.SCHEDULE}),
        ("limits", "move_ms", 4000, {Check.DEFINITION, Check.COMMITMENT, Check.RECORD}),
        ("rules", "target", 5, {Check.DEFINITION, Check.COMMITMENT}),
        ("tournament", "name", "Other", {Check.DEFINITION, Check.COMMITMENT}),
    ],
)
def test_a_changed_definition_is_named(
    league: Path, section: str, field: str, value: object, checks: set[Check]
) -> None:
    edit_fact(league, "definition", lambda text: text | {section: text[section] | {field: value}})
    found = verdict(league)
    assert (found.findings[0].check, found.findings[0].what) == (Check.DEFINITION, "digest of the definition")
    assert {one.check for one in found.findings} >= checks


def test_a_definition_that_cannot_be_read_is_named(league: Path) -> None:
    edit_fact(league, "definition", lambda text: text | {"tournament": {"name": ""}})
    odd = first(league)
    assert (odd.check, odd.what) == (Check.STORE, "league.sqlite cannot be read to its end")


def test_changed_rules_of_the_league_are_named(league: Path) -> None:
    edit_fact(league, "rules", lambda rules: rules | {"target": 9})
    odd = first(league)
    assert (odd.check, odd.what, odd.says, odd.should) == (Check.DEFINITION, "rules.target", "9", "7")


def test_an_entrant_of_another_version_is_another_schedule(league: Path) -> None:
    sql(
        league,
        'UPDATE entrant SET about = replace(about, \'"version": "1"\', \'"version": "2"\') WHERE key = \'careful\'',
    )
    found = verdict(league)
    assert found.findings[0].check is Check.SCHEDULE
    assert found.games == 0  # no stored game belongs to that schedule


def test_other_seats_of_a_fixture_are_named(league: Path) -> None:
    fixture = fixture_of(league, 1)
    seats = json.loads(rows(league, "SELECT seats FROM fixture WHERE id = ?", fixture)[0][0])
    sql(league, "UPDATE fixture SET seats = ? WHERE id = ?", json.dumps(seats[::-1]), fixture)
    odd = first(league)
    assert (odd.check, odd.fixture) == (Check.SCHEDULE, fixture)
    assert odd.says.startswith(", ".join(seats[::-1]))
    assert odd.should.startswith(", ".join(seats))


def test_a_changed_head_of_a_chain_is_named(league: Path) -> None:
    set_id = fixture_of(league, 1).rpartition("-")[0]
    sql(league, "UPDATE game_set SET chain = ? WHERE id = ?", "0" * 64, set_id)
    odd = first(league)
    assert (odd.check, odd.what) == (Check.CHAIN, f"head of the chain of set {set_id}")


@pytest.mark.parametrize(("state", "says"), [("OPEN", "OPEN"), ("VOID", "VOID without a reason")])
def test_a_set_that_is_neither_scored_nor_void_is_named(league: Path, state: str, says: str) -> None:
    set_id = fixture_of(league, 1).rpartition("-")[0]
    sql(league, "UPDATE game_set SET state = ? WHERE id = ?", state, set_id)
    odd = first(league)
    assert (odd.check, odd.says) == (Check.SETS, says)
    assert set_id in odd.what


def test_void_sets_are_told(league: Path) -> None:
    set_id = fixture_of(league, 1).rpartition("-")[0]
    with Store.write(league) as store:
        store.void_scored_set(set_id, "a reason")
    found = verdict(league)
    assert any("Sets that do not count: 1 void: a reason" in note for note in found.notes)
    assert {one.check for one in found.findings} == {Check.ROOT, Check.STANDINGS}


# Whatever stands in the file.


@pytest.mark.parametrize("blob", [b"", b"rubbish", b"x\x9c" + b"\x00" * 40])
def test_a_record_that_cannot_be_read_is_named(league: Path, blob: bytes) -> None:
    sql(league, "UPDATE game SET record = ? WHERE number = 12", blob)
    odd = first(league)
    assert (odd.check, odd.what, odd.game) == (Check.RECORD, "it cannot be read", 12)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM league WHERE key = 'master'",
        "UPDATE league SET value = '\"zz\"' WHERE key = 'master'",
        "UPDATE league SET value = '{' WHERE key = 'name'",
        "UPDATE league SET value = '7' WHERE key = 'definition'",
        "UPDATE game SET summary = '[' WHERE number = 3",
        "UPDATE fixture SET seats = '7'",
        "UPDATE entrant SET about = '{}'",
        "DROP TABLE ruling",
    ],
)
def test_a_store_that_makes_no_sense_is_a_divergence_not_a_crash(league: Path, statement: str) -> None:
    sql(league, statement)
    odd = first(league)
    assert odd.check in (Check.STORE, Check.COMMITMENT)


def test_foreign_text_is_harmless_in_the_verdict(league: Path) -> None:
    bad = "\x1b[31m\u202e\r\n" * 200
    number, place = ruling_of(league, "CRASH")
    edit_record(league, number, lambda record: record["irregular"][place].update(sentence=bad))
    edit_fact(league, "standings", lambda table: table | {"seed": bad})
    sql(league, "UPDATE game_set SET state = 'VOID', reason = ? WHERE position = 0", bad)
    text = str(verdict(league))
    assert all(line.isprintable() and len(line) < 1000 for line in text.split("\n"))


def spots(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value that a replay can prove."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(spot for key, one in inner if key not in UNPROVABLE for spot in spots(one, (*path, key)))]


UNPROVABLE = ("volatile", "charged_us", "raw")
"""Times are measured, and the number of the turn that is in the raw bytes means nothing."""


@pytest.fixture(scope="module")
def cases(sound: Path) -> list[tuple[Case, list[dict[str, Any]]]]:
    """Every game of the sound league as verification sees it, with the rows of its rulings."""
    with Store.read(sound) as store:
        league, rulings = read_league(store), store.rulings()
        plan, fixtures = plan_of(league, Path(), "none"), {row.id: row for row in store.fixtures()}
        return [
            (
                Case(plan, packs_of(plan), game, fixtures[game.fixture_id], store.record(game.number)),
                [row for row in rulings if row["game"] == game.number],
            )
            for game in store.every_game()
        ]


@given(data=st.data())
def test_whatever_is_changed_in_a_record_is_found(
    cases: list[tuple[Case, list[dict[str, Any]]]], data: st.DataObject
) -> None:
    """Even by somebody who makes the digests fit."""
    case, rulings = data.draw(st.sampled_from(cases))
    assert check_game(case, rulings).found == []
    record = copy.deepcopy(case.record)
    spot = data.draw(st.sampled_from(spots(record)[1:]))
    junk: st.SearchStrategy[object] = (
        st.none() | st.booleans() | st.integers(-5, 70) | st.text(max_size=3) | st.just([]) | st.just({})
    )
    value = data.draw(junk | st.sampled_from([10**30, -1, 0.5, "AS", "RETRY", "CRASH", "x" * 5000]))
    inner: Any = record
    for key in spot[:-1]:
        inner = inner[key]
    inner[spot[-1]] = "changed" if json.dumps(inner[spot[-1]]) == json.dumps(value) else value
    found = check_game(replace(case, record=record), rulings).found
    assert any(one.check is not Check.DIGEST and one.game == case.row.number for one in found)
    assert all(str(one).isprintable() for one in found)


def test_the_judge_takes_no_word_for_granted() -> None:
    """An action is put to the oracle in its own words, the impossible ones too."""
    words: list[tuple[Kind, Action, object]] = [
        (Kind.BID, 3, 3),
        (Kind.PLAY, parse_card("QH"), "QH"),
        (Kind.PLAY, 99, "card 99"),
        (Kind.NAME_TRUMP, 3, "S"),
        (Kind.NAME_TRUMP, 9, "suit 9"),
        (Kind.ANSWER_BEG, 4, "RUN"),
        (Kind.STAND_OR_BEG, 0, "call 0"),
        (Kind.DISCARD, 1 << parse_card("2C") | 1 << parse_card("AS"), frozenset({"2C", "AS"})),
        (Kind.DISCARD, -1, frozenset({"cards -1"})),
    ]
    for kind, action, word in words:
        assert judge.for_oracle(kind.name, action) == word


def test_a_table_that_is_not_finished_is_no_game(sound: Path) -> None:
    with Store.read(sound) as store:
        league, record = read_league(store), store.record(1)
    table: Table = replay(record, house)
    assert judge.judge_game(table).decisions == table.steps
    table.result = None
    with pytest.raises(judge.Disagreement, match="no result"):
        judge.judge_game(table)
    assert league.rules == table.spec.rules


def test_a_reader_sees_one_moment_while_others_write(league: Path) -> None:
    """Verification holds a snapshot: what is written meanwhile does not mix into it."""
    with Store.read(league) as reader, reader.snapshot():
        before = reader.sets()
        with sqlite3.connect(league) as db:
            db.execute("UPDATE game_set SET chain = 'x'")
        db.close()
        assert reader.sets() == before
    with Store.read(league) as reader:
        assert reader.sets() != before
