"""Games written down: the text of one game in full, every variant within its columns, and nothing that harms a terminal."""

import copy
import re
import unicodedata
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.cards import PACK, card_text
from referee.rules import Deal, variant, variant_names
from referee.rules.actions import pack_event
from referee.umpire.fallback_player import fallback_move
from referee.umpire.notation import write_down
from referee.umpire.notation.page import Page
from referee.umpire.notation.style import Style
from referee.umpire.record import Record, RecordError
from tests.league.inprocess import Lost, at_random, record_of, reneges, stumbles

PACK_TEXT = (
    "KH 2H 3C 2D 6H JC TC JH 5S 9D KS 7C 8H KD 3H KC 4C 4D 7D 8D JS 4S 2S 2C TH QD 3S 7H 7S QC 3D 6S 9H 5D AC 8S QS "
    "TD 9C TS AH 5C QH 6C 8C JD 6D 4H 9S AD 5H AS"
)

RULES = {"name": "auction-pitch", "title": "Auction Pitch", "players": [2, 7], "max_deals": 1, "target": 11}

SMALL: Record = {
    "format": "allfours-record/1",
    "league": "Kitchen",
    "set": "0123456789abcdef0123",
    "rotation": 1,
    "redeal": 0,
    "names": ["random 1", "reneger 1", "careful 1"],
    "game": "0123456789abcdef0123-1",
    "rules": RULES,
    "seat_count": 3,
    "first_dealer": 0,
    "profile": {"retries": 0, "forfeit_after": 3},
    "limits": {"move_us": 5_000_000, "bank_us": 30_000_000, "game_us": 300_000_000},
    "deals": [
        {
            "dealer": 0,
            "pack": PACK_TEXT,
            "bids": "- 3 3",
            "tricks": ["4C 3C JC", "KD KC 9D", "TC 7C 2D", "JH KH 3H", "KS 6H 5S", "2H 8H 4D"],
        }
    ],
    "irregular": [
        {
            "step": 4,
            "seat": 1,
            "fault": "TIMEOUT_MOVE",
            "rule": "AF-CLOCK-001",
            "sentence": "No answer within the time for this move and the bank.",
            "consequence": "SUBSTITUTED",
            "charged_us": 35_000_000,
        }
    ],
    "result": {
        "winner": None,
        "reason": "cap of deals",
        "scores": [-3, 1, 1],
        "places": [3, 1, 1],
        "stakes": [0, 0, 0],
        "forfeits": [],
    },
}


def small(**changes: Any) -> Record:
    return copy.deepcopy(SMALL) | changes


WRITTEN = """\
Auction Pitch, game 0123456789abcdef0123-1
league Kitchen, set 0123456789abcdef0123, rotation 1

   player     score  place
1  random 1      -3      3
2  reneger 1      1      1
3  careful 1      1      1

House rules: target = 11 (usually 7); max_deals = 1 (usually 100).
Nobody wins (cap of deals) after 1 deal.

Deal 1, seat 1 deals ───────────────────────────────────────────────────────────
  1   ♠ 5   ♥ J     ♦ 4    ♣ KT4
  2   ♠ K   ♥ K2    ♦ 9    ♣ 73
  3   ♠ –   ♥ 863   ♦ K2   ♣ J

  Bids    seat 2: –   seat 3: 3   seat 1: 3 steals   seat 1 is the pitcher at 3

  ♣ trump    1      2      3    pips
      1     >4♣     3♣     J♣*     1
      ! Seat 2: TIMEOUT_MOVE AF-CLOCK-001: No answer within the time for this
        move and the bank. The referee's move for seat 2 is 3♣.
      2      K♣*    9♦    >K♦      6
      3     >T♣*    7♣     2♦     10
      4     >J♥     K♥*    3♥      4
      5      5♠    >K♠*    6♥      3
      6      4♦    >2♥     8♥*     0

  Items   High K♣ seat 1   Low 3♣ seat 2   Jack J♣ seat 3   Game seat 1
  Pips    1: 16     2: 7      3: 1
  Points  1: -3     2: +1     3: +1
          seat 1 is set back: bid 3, made 2
  Scores  1: -3     2: 1      3: 1
"""  # noqa: RUF001  # a dash is meant


def test_a_game_reads_like_this() -> None:
    assert write_down(small()) == WRITTEN


def test_without_symbols_it_is_ascii() -> None:
    plain = WRITTEN.translate(str.maketrans("♣♦♥♠–─", "CDHS--"))  # noqa: RUF001
    assert write_down(small(), symbols=False) == plain
    assert plain.isascii()


PLAYERS = {
    "careful": fallback_move,
    "random": at_random,
    "reneger": reneges,
    "stumbler": stumbles,
    "other": at_random,
    "more": fallback_move,
    "last": reneges,
}


def some_record(name: str, seats: int | None = None, **shape: Any) -> Record:
    rules = variant(name)
    seats = seats or max(rules.players[0], min(4, rules.players[1]))
    names = list(PLAYERS)[: rules.sides or seats]
    return record_of({key: PLAYERS[key] for key in names}, variant=name, seats=seats, **shape)


SIGNS = str.maketrans("CDHS", "♣♦♥♠")


@pytest.mark.parametrize("name", variant_names())
def test_every_variant_fits_the_screen_and_tells_every_card(name: str) -> None:
    record = some_record(name)
    text = write_down(record)
    assert max(map(len, text.splitlines())) <= 80
    rows = re.findall(r"^ {4,}\d+   .*$", text, flags=re.MULTILINE)
    tricks = [trick for deal in record["deals"] for trick in deal["tricks"]]
    assert len(rows) == len(tricks)
    for row, trick in zip(rows, tricks, strict=True):
        shown = re.findall("[2-9TJQKA][♣♦♥♠]", row)
        assert sorted(shown) == sorted(trick.translate(SIGNS).split())
        assert re.findall(">(..)", row) == [trick[:2].translate(SIGNS)]
    scores = re.findall(r"^  Scores  (.*)$", text, flags=re.MULTILINE)[-1]
    assert [int(figure) for figure in re.findall(r": (-?\d+)", scores)] == record["result"]["scores"]


def test_seven_seats_fit_the_screen() -> None:
    text = write_down(some_record("auction-pitch", 7))
    assert max(map(len, text.splitlines())) <= 80
    assert "  7   ♠" in text


@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_a_trick_is_marked_for_its_winner_who_leads_to_the_next(seed: str) -> None:
    for deal in write_down(some_record("auction-pitch", seed=seed)).split("\nDeal ")[1:]:
        rows = re.findall(r"^ {4,}\d   (.*)$", deal, flags=re.MULTILINE)
        assert len(rows) in (0, 6)
        for row, after in pairwise(rows):
            assert row.index("*") // 7 == after.index(">") // 7


def test_rulings_stand_where_they_were_made() -> None:
    """Straight below the trick in which they fell, the substitute being the card that was played."""
    players, found = {"a": reneges, "b": reneges, "c": reneges}, 0
    for fixture in range(6):
        record = record_of(players, fixture=fixture)
        text = write_down(record).replace("\n        ", " ")
        assert text.count(" ! ") == len(record["irregular"])
        for entry in record["irregular"]:
            if entry["consequence"] == "SUBSTITUTED" and entry["rule"].startswith("AF-PLAY"):
                seat, card = f"seat {entry['seat'] + 1}", card_text(entry["action"]).translate(SIGNS)
                told = rf" ! S{seat[1:]} with {card}: ILLEGAL_ACTION {entry['rule']}: .* The referee's move for {seat} is (..)\."
                where = re.search(rf"^( +\d   .*)\n(?: +!.*\n)*? +{told}", text, flags=re.MULTILINE)
                assert where
                assert where[2] in where[1]
                found += 1
    assert found


def test_items_stand_in_their_order_also_those_that_nobody_scores() -> None:
    order = ["High", "Low", "Jack", "Game"]
    for name in ("auction-pitch", "smudge", "all-fours", "trinidad", "california-jack"):
        for fixture in range(3):
            text = write_down(some_record(name, fixture=fixture)).replace("\n          ", "   ")
            for row in re.findall(r"^  Items   .*$", text, flags=re.MULTILINE):
                assert re.findall(r"\b(High|Low|Jack|Game)\b", row) in (order, [])


def test_what_a_retry_and_a_forfeit_lead_to_is_told() -> None:
    retry = small()
    retry["irregular"][0] |= {"consequence": "RETRY", "fault": "ILLEGAL_ACTION", "action": 0x19, "rule": "AF-PLAY-002"}
    assert "Seat 2 with 9♦: ILLEGAL_ACTION AF-PLAY-002" in write_down(retry)
    assert "It is asked again." in write_down(retry)
    record = record_of(
        {"a": fallback_move, "b": lambda turn: Lost() if turn.decision == 9 else fallback_move(turn)}, seats=2
    )
    text = write_down(record).replace("\n        ", " ")
    assert "CRASH: Its process ended with code 1. The game is forfeited." in text
    assert "(forfeit)" in text
    assert "  forfeited" in text
    assert text.endswith("  The game ends here.\n")


def test_deals_can_be_picked() -> None:
    record = some_record("auction-pitch")
    text = write_down(record, deals=[2])
    assert re.findall(r"^Deal (\d+)", text, flags=re.MULTILINE) == ["2"]
    assert f"\nDeal 2{write_down(record).split('Deal 2')[1].split('Deal 3')[0].rstrip()}\n" in text
    assert not re.findall("^Deal", write_down(record, deals=[]), flags=re.MULTILINE)


def test_hands_are_written_again_where_cards_were_changed_before_the_play() -> None:
    text = write_down(some_record("cinch"))
    assert text.count("Hands for the play") == text.count("trump  ")
    assert re.search(r"names (clubs|diamonds|hearts|spades); ", text.replace("\n  ", " "))


def test_an_event_of_a_later_version_is_told_in_numbers() -> None:
    deal = Deal(variant("auction-pitch"), 4, 3, PACK)
    page = Page(Style(symbols=True), variant("auction-pitch"), 4)
    page.begin(1, deal)
    deal.history += [pack_event(99, 1, 5), pack_event(99, 1, 6), pack_event(99, 2, 7)]
    page.follow(deal)
    page.flush()
    assert page.lines[-1] == "  seat 2 event 99 (5), event 99 (6); seat 3 event 99 (7)."


HOSTILE = (
    "\x1b[31mred\x1b[0m\r\n\u202eevil\u0000 \u200b" + "e\u0301\u0301\u0301" * 3 + "\N{FULLWIDTH LATIN CAPITAL LETTER A}"
)


@pytest.mark.parametrize("symbols", [True, False])
def test_foreign_text_is_harmless(symbols: bool) -> None:
    clean, dirty = small(), small()
    dirty["names"] = [HOSTILE, HOSTILE * 1000, "careful 1"]
    dirty["league"] = dirty["set"] = dirty["rotation"] = dirty["game"] = HOSTILE
    dirty["rules"] = RULES | {"name": HOSTILE, "title": HOSTILE}
    dirty["result"] |= {"reason": HOSTILE}
    dirty["irregular"][0] |= {"sentence": HOSTILE * 1000, "rule": HOSTILE, "fault": HOSTILE}
    text = write_down(dirty, symbols=symbols)
    assert harmless(text)
    assert text.count("\nDeal ") == write_down(clean).count("\nDeal ")
    assert max(columns(line) for line in text.splitlines()) <= 80


def harmless(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def columns(line: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(sign) in "WF") for sign in line)


def test_a_wide_name_keeps_its_columns() -> None:
    text = write_down(small(names=["\N{CJK UNIFIED IDEOGRAPH-732B}" * 3, "b", "c"]))
    lines = text.splitlines()[3:7]
    assert len({columns(line) for line in lines}) == 1


def test_a_record_that_the_rules_do_not_confirm_is_written_as_far_as_they_do() -> None:
    wrong = small()
    wrong["deals"][0]["tricks"][1] = "KD KC 7C"
    text = write_down(wrong).replace("\n  ", " ")
    assert "Deal 1: here the record cannot be followed. " in text
    assert text.count("♣*") == 2
    short = small()
    short["deals"][0]["tricks"].pop()
    assert "cannot be followed. deal 1 ends before its last card" in write_down(short)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("result", None),
        ("deals", 3),
        ("rules", {}),
        ("format", "x"),
        ("seat_count", 9),
        ("seat_count", 10**30),
        ("seat_count", "two"),
        ("irregular", None),
    ],
)
def test_what_is_no_record_is_refused(field: str, value: object) -> None:
    with pytest.raises(RecordError, match=r"\w"):
        write_down(small(**{field: value}))


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


JUNK = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats() | st.text() | st.lists(st.integers(0, 5))


@given(
    place=st.sampled_from(places(small())[1:]), junk=JUNK | st.sampled_from([HOSTILE, 8173, 10**30, {}, [HOSTILE] * 9])
)
def test_whatever_stands_in_a_record_the_text_is_harmless(place: tuple[Any, ...], junk: object) -> None:
    record: Any = small()
    inner = record
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = junk
    try:
        text = write_down(record)
    except RecordError as error:
        assert str(error)  # noqa: PT017
    else:
        assert harmless(text)


@given(name=st.sampled_from(variant_names()), seed=st.integers(0, 10**6), fixture=st.sampled_from([0, 1]))
def test_chance_games_are_written_to_their_end(name: str, seed: int, fixture: int) -> None:
    record = some_record(name, seed=str(seed), fixture=fixture)
    assert "cannot be followed" not in write_down(record)
