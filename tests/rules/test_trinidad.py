"""Trinidad All Fours: turned scores, keeping all cards, the last card of the stock, the hanged jack, no undertrumping."""

import pytest

from referee.cards import parse_card
from referee.rules import Ending, EndReason, EventKind, Game, Kind, variant
from tests.helpers import to_play
from tests.rules.family import deal_of, packed, said, say

HANDS = ["KS QS 9S 8D 7D 6C", "9H 8H 4C 3C 2C 9D", "8S 7S 4S 4D 3D 2D", "KC QC 9C 8C 7C 5C"]
RUN = "AS TS 5S 3S 2S AC TC AD KD QD TD 6D"
AGAIN = "5D JC TH JH 7H JD JS KH QH AH 6H"
"""Cards dealt in a first run, and (but for one) in a second."""


@pytest.mark.parametrize(("card", "points"), [("AH", 1), ("6H", 2), ("JH", 3), ("2H", 0), ("KH", 0)])
def test_what_a_card_turned_up_scores(card: str, points: int) -> None:
    deal = deal_of("trinidad", HANDS, card, dealer=1)
    assert deal.scores == [0, points]
    assert [event.value for event in said(deal, EventKind.SCORE)] == ([points] if points else [])


def test_in_tobago_the_two_counts_instead_of_the_six() -> None:
    tobago = {"turned_scores": {"A": 1, "2": 2, "J": 3}}
    assert deal_of("trinidad", HANDS, "2H", dealer=1, **tobago).scores == [0, 2]
    assert deal_of("trinidad", HANDS, "6H", dealer=1, **tobago).scores == [0, 0]


def test_all_cards_are_kept_after_a_run() -> None:
    deal = say(deal_of("trinidad", HANDS, f"5H {RUN} JS", dealer=0), "beg", "run")
    assert (deal.kind, deal.seat, deal.trump, deal.scores) == (Kind.PLAY, 1, 3, [3, 0])
    assert [hand.bit_count() for hand in deal.hands] == [9] * 4
    assert len(deal.stock) == 14


def test_the_last_card_is_turned_without_dealing() -> None:
    """27 cards are left after the deal, 14 after a run, 1 after two."""
    deal = say(deal_of("trinidad", HANDS, f"5H {RUN} 2H {AGAIN} 4H 3H 6S", dealer=0), "beg", "run")
    events = [event.kind for event in said(deal)]
    assert events[2:] == [
        EventKind.RUN,
        EventKind.TURN_UP,
        EventKind.RUN,
        EventKind.TURN_UP,
        EventKind.TURN_UP,
        EventKind.SCORE,
    ]
    assert (deal.kind, deal.trump, deal.stock, deal.scores) == (Kind.PLAY, 3, (), [2, 0])  # a six turned up: two
    assert [hand.bit_count() for hand in deal.hands] == [12] * 4


def test_the_same_suit_to_the_end_is_a_new_deal_by_the_same_dealer() -> None:
    game = Game(variant("trinidad"), 4, 0)
    deal = say(game.deal_pack(packed(HANDS, f"5H {RUN} 2H {AGAIN} 6S 3H 4H", 0)), "beg", "run")
    assert deal.outcome is not None
    assert (deal.outcome.ending, deal.outcome.deltas) == (Ending.VOID, (0, 0))
    assert game.close(deal.outcome) is None
    assert (game.dealer, game.scores) == (0, [0, 0])


def test_with_the_stock_out_all_fours_deals_again_at_once() -> None:
    deal = say(deal_of("all-fours-partners", HANDS, f"5H {RUN} 2H {AGAIN} 4H 3H 6S", dealer=0), "beg", "run")
    assert deal.outcome is not None
    assert (deal.outcome.ending, len(deal.stock)) == (Ending.VOID, 1)


def test_a_turned_card_can_end_the_game() -> None:
    game = Game(variant("trinidad"), 4, 1, (0, 12))
    deal = game.deal_pack(packed(HANDS, "6H", 1))
    assert deal.outcome is not None
    result = game.close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason, result.scores) == (1, EndReason.TURNED_CARD, (0, 14))


# The jack


@pytest.mark.parametrize(("holder", "taker", "points"), [(0, 0, 1), (0, 2, 1), (0, 1, 3), (3, 2, 3), (1, 3, 1)])
def test_the_hanged_jack(holder: int, taker: int, points: int) -> None:
    """One point to one's own side, three to the side that captures it."""
    spades = {holder: "JS"} if holder == taker else {holder: "JS", taker: "AS"}
    low = iter(["2S", "3S", "4S"])
    hands = [spades[seat] if seat in spades else next(low) for seat in range(4)]
    deal = deal_of("trinidad", hands, "9S", dealer=3, hand_size=1, packet=1)
    say(deal, "stand", *hands)
    assert deal.outcome is not None
    jack = next(award for award in deal.outcome.awards if award.item == "jack")
    assert (jack.seat, jack.points) == (taker, points)
    assert deal.outcome.deltas[taker % 2] >= points


def test_equal_pips_score_game_for_nobody() -> None:
    deal = deal_of("trinidad", ["2D", "3D", "4D", "5D"], "9S", dealer=3, hand_size=1, packet=1)
    say(deal, "stand", "2D 3D 4D 5D")
    assert deal.outcome is not None
    assert deal.outcome.awards == ()


# Undertrumping


@pytest.mark.parametrize(
    ("hand", "table", "card", "rule", "sentence"),
    [
        (
            "AS 2H KH",
            "7S QH",
            "2H",
            "AF-PLAY-005",
            "2H would be a trump below one on the table (QH), and you have other cards.",
        ),
        (
            "4C 2H",
            "7S 5H QH",
            "2H",
            "AF-PLAY-005",
            "2H would be a trump below one on the table (QH 5H), and you have other cards.",
        ),
        (
            "KH 3C",
            "7S AH 9S",
            "KH",
            "AF-PLAY-005",
            "KH would be a trump below one on the table (AH), and you have other cards.",
        ),
        ("AS 2H KD", "7S QH", "KD", "AF-PLAY-003", "7S was led and you hold AS: play spades or a trump (hearts)."),
        ("2H KD", "QH", "KD", "AF-PLAY-002", "Trump QH was led and you hold 2H: play a trump."),
    ],
)
def test_what_may_not_be_played(hand: str, table: str, card: str, rule: str, sentence: str) -> None:
    violation = to_play(hand, table, rules="trinidad").verify(parse_card(card))
    assert violation is not None
    assert (violation.rule, violation.sentence) == (rule, sentence)


def test_play_goes_by_seat_numbers() -> None:
    """The table plays anticlockwise; seats are numbered in the direction of play, so the next number is next."""
    deal = say(deal_of("trinidad", HANDS, "5S", dealer=2), "stand")
    assert deal.seat == 3
    say(deal, "KC", "6C", "4C")
    assert deal.seat == 2
