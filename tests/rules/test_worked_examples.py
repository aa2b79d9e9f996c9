"""The worked examples of the rule text for Auction Pitch, Smudge and Partnership Pitch, one test a number.

Seats A B C D are 0 1 2 3, trump is hearts. Scores and stakes are in the order of the seats.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from referee.cards import PACK, card_text, cards_in, hand_text, parse_hand
from referee.rules import Deal, EndReason, Game, GameResult, RuleSet, variant
from referee.rules.game import settlement
from tests.helpers import call, legal_cards, pitch, play, rules_of, start, taker_of, to_play
from tests.rules.made_deals import SEATS, deal_with

Rules = str | Mapping[str, Any]


# Legal cards


def test_example_1() -> None:
    assert legal_cards(to_play("AS 3S TH 2H KD 9C", "7S")) == "AS 3S TH 2H"


def test_example_2() -> None:
    assert legal_cards(to_play("AS TH 2H KD", "9H")) == "TH 2H"


def test_example_3() -> None:
    assert legal_cards(to_play("AS KD 4C", "9H")) == "AS KD 4C"


def test_example_4() -> None:
    assert legal_cards(to_play("TH KD 4C", "7S")) == "TH KD 4C"


def test_example_6() -> None:
    assert legal_cards(to_play("AS 2H KH", "7S QH")) == "AS KH 2H"


def test_example_10() -> None:
    assert legal_cards(to_play("QS 8S", "7S")) == "QS 8S"


def test_example_11() -> None:
    hand = "AS KS 9H 3D 5C 2C"
    for card in cards_in(parse_hand(hand)):
        deal = to_play(hand, trump=None)
        assert legal_cards(deal) == hand_text(parse_hand(hand))
        deal.act(card)
        assert deal.trump == card >> 4


# Winners of tricks


@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        pytest.param("KS 3S AS 2H", "D", id="example_15"),
        pytest.param("5C AD KC 9C", "C", id="example_16"),
        pytest.param("2C AD KS QD", "A", id="example_18"),
        pytest.param("3H AS 2H KS", "A", id="example_19"),
    ],
)
def test_taker(cards: str, winner: str) -> None:
    assert SEATS[taker_of(cards)[0]] == winner


def test_example_20() -> None:
    assert taker_of("TD 7D JD 4D") == (2, 11)


# A complete hand, scored four ways


HANDS = ["AH JH 2H KS TC 4D", "QH 3H AS 9S TD 5C", "KH 6H TS 8S AC 7D", "9H QS QC JD 3C 8D"]
PLAY = "AH 3H 6H 9H  TC 5C AC 3C  TS QS KS AS  TD 7D JD 2H  JH QH KH QC  8S 8D 4D 9S"
VARIANT_HANDS = [HANDS[0].replace("2H", "2S"), *HANDS[1:]]
VARIANT_PLAY = "AH 3H 6H 9H  TC 5C AC 3C  TS QS KS AS  TD 7D JD 4D  QC JH QH KH  8S 8D 2S 9S"


def played(bid: int, *, variant_hand: bool = False, rules: Rules = "auction-pitch") -> Deal:
    """The complete hand (or its variant) as A's contract at that bid, D dealing."""
    deal = start(VARIANT_HANDS if variant_hand else HANDS, rules=rules)
    return play(pitch(deal, 0, bid), VARIANT_PLAY if variant_hand else PLAY)


def items_of(deal: Deal) -> dict[str, str]:
    """The owner of each item, by name of the item."""
    assert deal.outcome is not None
    return {award.item: SEATS[award.seat] for award in deal.outcome.awards}


def deltas_of(deal: Deal) -> tuple[int, ...]:
    assert deal.outcome is not None
    return deal.outcome.deltas


def test_example_25() -> None:
    outcome = played(3).outcome
    assert outcome is not None
    assert outcome.pips == (15, 19, 22, 0)


def test_example_26() -> None:
    deal = played(3)
    assert items_of(deal) == {"high": "A", "low": "A", "jack": "C", "game": "C"}
    assert deal.outcome is not None
    assert [award.card and card_text(award.card) for award in deal.outcome.awards] == ["AH", "2H", "JH", None]


def test_example_27() -> None:
    deal = played(3)
    assert deltas_of(deal) == (-3, 0, 2, 0)
    assert deal.outcome is not None
    assert deal.outcome.set_back == 0
    game = Game(variant("auction-pitch"), 4, 3)
    game.close(deal.outcome)
    assert game.set_backs == [1, 0, 0, 0]


def test_example_28() -> None:
    deal = played(2)
    assert deltas_of(deal) == (2, 0, 2, 0)
    assert deal.outcome is not None
    assert deal.outcome.set_back is None


def test_example_30() -> None:
    outcome = played(2, variant_hand=True).outcome
    assert outcome is not None
    assert outcome.pips == (4, 19, 22, 11)


def test_example_31() -> None:
    assert items_of(played(2, variant_hand=True, rules={"low_to": "holder"}))["low"] == "B"
    assert items_of(played(2, variant_hand=True, rules={"low_to": "taker"}))["low"] == "A"


def test_example_32() -> None:
    assert deltas_of(played(2, variant_hand=True)) == (-2, 1, 2, 0)


def test_example_32_with_low_to_the_taker() -> None:
    """The other half of the pair: Low makes A's contract."""
    assert deltas_of(played(2, variant_hand=True, rules={"low_to": "taker"})) == (2, 0, 2, 0)


# Corners of the items


def test_example_34() -> None:
    """The only trump in play is the jack, which A leads; bid four makes the smudge."""
    deal = play(pitch(start(["JH AS", "9C 5D"]), 0, 4), "JH 9C AS 5D")
    assert items_of(deal) == {"high": "A", "low": "A", "jack": "A", "game": "A"}
    assert deal.outcome is not None
    assert deal.outcome.pips == (5, 0)
    assert deltas_of(deal) == (4, 0)
    game = Game(deal.rules, 2, 1)
    result = game.close(deal.outcome)
    assert result is not None
    assert (result.winner, result.reason, result.scores) == (0, EndReason.SMUDGE, (4, 0))


@pytest.mark.parametrize(("low_to", "owner"), [("holder", "B"), ("taker", "A")])
def test_example_35(low_to: str, owner: str) -> None:
    deal = play(pitch(start(["AH", "2H"], rules={"low_to": low_to}), 0, 2), "AH 2H")
    assert items_of(deal) == {"high": "A", "low": owner, "game": "A"}


def test_example_37() -> None:
    """Pips 20-20-16: Game to nobody, two or three items awarded in all."""
    deal = start(["AS 7S KH AD 9D", "QS TS QD 8D AC", "6S AH KD TD TC"])
    play(pitch(deal, 0, 2), "KH AC AH  6S AS QS  9D QD KD  TD AD 8D  7S TS TC")
    assert deal.outcome is not None
    assert deal.outcome.pips == (20, 20, 16)
    assert items_of(deal) == {"high": "C", "low": "A"}


def test_example_40() -> None:
    """No pips at all: Game to nobody in Pitch."""
    deal = play(pitch(start(["2H 3D", "3H 4D"]), 0, 2), "2H 3H 4D 3D")
    assert deal.outcome is not None
    assert deal.outcome.pips == (0, 0)
    assert items_of(deal) == {"high": "B", "low": "A"}


def test_example_42() -> None:
    """Bid four, the trump jack undealt: the other three items are not enough."""
    deal = deal_with("A A - A", bid=4, before=[5, 0, 0])
    assert deal.outcome is not None
    assert deal.outcome.made == (3, 0, 0)
    assert deal.outcome.set_back == 0
    assert Game(deal.rules, 3, 2, deal.scores).close(deal.outcome) is None
    assert deltas_of(deal) == (-4, 0, 0)


# Auctions: four seats, A eldest, D the dealer


def after(calls: Sequence[int], rules: Rules = "auction-pitch") -> Deal:
    return call(start(HANDS, rules=rules), calls)


def test_example_43() -> None:
    assert after([2, 0, 0]).legal() == (0, 2, 3, 4)


def test_example_44() -> None:
    assert after([2, 3, 0]).legal() == (0, 3, 4)


def test_example_46() -> None:
    deal = after([4])
    assert deal.kind is not None
    assert (deal.kind.name, deal.seat, deal.pitcher, deal.bid) == ("PLAY", 0, 0, 4)


def test_example_47() -> None:
    assert after([3]).legal() == (0, 4)


def test_example_48() -> None:
    deal = after([2])
    assert deal.legal() == (0, 3, 4)
    violation = deal.verify(2)
    assert violation is not None
    assert violation.rule == "AF-BID-003"


def test_example_50() -> None:
    assert after([2, 0, 0], "smudge").legal() == (0, 3, 4)


def auctions(deal: Deal) -> int:
    """How many ways there are to go on until the auction is over."""
    count = 0
    for bid in deal.legal():
        after_it = deal.copy()
        after_it.act(bid)
        count += auctions(after_it) if after_it.kind is not None and after_it.kind.name == "BID" else 1
    return count


@pytest.mark.parametrize(
    ("rules", "counts"),
    [
        pytest.param({}, (12, 25, 44, 70, 104, 147), id="default"),
        pytest.param({"all_pass": "dealer_forced"}, (11, 24, 43, 69, 103, 146), id="dealer forced"),
        pytest.param({"steal": ()}, (10, 20, 35, 56, 84, 120), id="no steal"),
        pytest.param({"steal": (2, 3, 4)}, (13, 29, 54, 90, 139, 203), id="steal four too"),
    ],
)
def test_example_51(rules: Rules, counts: tuple[int, ...]) -> None:
    """The number of distinct complete auctions of two to seven seats."""
    ruleset = rules_of(rules)
    assert tuple(auctions(Deal(ruleset, seats, 0, PACK)) for seats in range(2, 8)) == counts


# The end of a game: scores before the deal, contract, owners of H L J G; scores after it, winner, reason


def counted(
    before: list[int], bid: int, items: str, rules: Rules = "auction-pitch", pitcher: int = 0
) -> tuple[tuple[int, ...], str | None, str | None]:
    """Scores after a deal with these items, the winner by letter, and the reason."""
    deal = deal_with(items, bid=bid, before=before, rules=rules, pitcher=pitcher)
    game = Game(deal.rules, deal.seats, deal.dealer, before)
    assert deal.outcome is not None
    result = game.close(deal.outcome)
    if result is None:
        return tuple(game.scores), None, None
    assert result.winner is not None
    return result.scores, SEATS[result.winner], result.reason


def test_example_52() -> None:
    assert counted([5, 6, 0], 2, "A B B A") == ((7, 8, 0), "A", EndReason.PITCHER_FIRST)


def test_example_53() -> None:
    assert counted([0, 6, 6], 2, "B C - A") == ((-2, 7, 7), "B", EndReason.COUNT_HIGH)


def test_example_55() -> None:
    assert counted([0, 6, 5], 2, "A C - B") == ((-2, 7, 6), "B", EndReason.COUNT_GAME)


def test_example_57() -> None:
    assert counted([0, 6, 0], 2, "A B - A") == ((2, 7, 0), "B", EndReason.COUNT_LOW)


def test_example_58() -> None:
    assert counted([1, 0, 0], 4, "A A A A") == ((5, 0, 0), "A", EndReason.SMUDGE)


def test_example_59() -> None:
    assert counted([-3, 0, 0], 4, "A A A A") == ((1, 0, 0), None, None)


def test_example_60() -> None:
    assert counted([0, 0, 0], 4, "A A A A") == ((4, 0, 0), "A", EndReason.SMUDGE)


def test_example_61() -> None:
    assert counted([2, 0, 0], 3, "A A A A") == ((6, 0, 0), None, None)


def test_example_62() -> None:
    assert counted([3, 0, 0], 2, "A A A A") == ((7, 0, 0), "A", EndReason.PITCHER_FIRST)


def test_example_63() -> None:
    assert counted([5, 2, 0], 4, "A A - A") == ((1, 2, 0), None, None)


def test_example_65() -> None:
    assert counted([4, 0, 6], 2, "A A - C") == ((6, 0, 7), "C", EndReason.COUNT_GAME)


def test_example_66() -> None:
    assert counted([0, -2, 0], 2, "B B B B") == ((-2, 2, 0), None, None)


def test_example_66_in_smudge() -> None:
    """In Smudge B wins with it: all four items, though he neither bid nor was out of the hole; A is set back (DP-11)."""
    assert counted([0, -2, 0], 2, "B B B B", "smudge") == ((-2, 2, 0), "B", EndReason.SMUDGE)


def test_example_68() -> None:
    """Smudge counts down from seven; 7 - down counts up, and down 9 is -2, in the hole."""
    down = [7, 7, 7]
    deal = deal_with("A A - A", bid=2, before=[7 - score for score in down], rules="smudge", pitcher=1)
    game = Game(deal.rules, 3, deal.dealer)
    assert deal.outcome is not None
    assert deal.outcome.set_back == 1
    assert game.close(deal.outcome) is None
    assert [7 - score for score in game.scores] == [4, 9, 7]


def test_example_69() -> None:
    """North and south pitch at 9, east and west stand at 10: the pitching side is counted first."""
    scores, winner, reason = counted([9, 10], 2, "A B B A", "partnership-pitch")
    assert (scores, winner, reason) == ((11, 12), "A", EndReason.PITCHER_FIRST)


# Settlement


def settle(winner: str, scores: Sequence[int], rules: RuleSet | None = None) -> tuple[int, ...]:
    return settlement(rules or variant("auction-pitch"), SEATS.index(winner), scores, [0] * len(scores))


def test_example_70() -> None:
    assert settle("A", [7, 3, 0, -2]) == (5, -1, -2, -2)


def test_example_72() -> None:
    """A smudge at 5, really played: B and C stay at zero and pay two each."""
    deal = deal_with("A A A A", bid=4, before=[1, 0, 0])
    assert deal.outcome is not None
    result = Game(deal.rules, 3, 2, [1, 0, 0]).close(deal.outcome)
    assert isinstance(result, GameResult)
    assert (result.reason, result.scores, result.stakes) == (EndReason.SMUDGE, (5, 0, 0), (4, -2, -2))


def test_example_73() -> None:
    assert settle("A", [7, 8, 1]) == (2, -1, -1)


def test_example_74() -> None:
    assert settle("B", [-2, 7, 7]) == (-2, 3, -1)


# The deal


def test_example_90() -> None:
    """Three seats, dealer 0: which cards of the pack each seat gets."""
    deal = Deal(variant("auction-pitch"), 3, 0, PACK)
    by_seat = {seat: [PACK.index(card) for card in cards_in(hand)] for seat, hand in enumerate(deal.dealt)}
    assert by_seat == {1: [0, 1, 2, 9, 10, 11], 2: [3, 4, 5, 12, 13, 14], 0: [6, 7, 8, 15, 16, 17]}
    assert deal.stock == PACK[18:]
