"""All Fours, Seven-Up, Trinidad and California Jack: examples 38, 40 and 76 to 90."""

import pytest

from referee.oracle import OracleDeal, OracleGame
from referee.oracle.decisions import Trick
from referee.oracle.house_rules import ALL_FOURS, CALIFORNIA_JACK, SEVEN_UP, SHASTA_SAM, TRINIDAD, Rules
from referee.oracle.pack import PACK, deal_out
from referee.oracle.scoring import count_hand, earned, game_owner
from tests.oracle.helpers import ALL_CARDS, answer, chance_of, finish, items, legal, run, shuffled, stacked, with_rules


def turning(seats: int, turned: str, last: str = "") -> list[str]:
    """A deck with these cards where the turn-ups of a row of runs fall, and this one (if any) at the bottom."""
    cards = turned.split()
    deck = [card for card in shuffled(11) if card not in [*cards, last]]
    for number, card in enumerate(cards):
        deck.insert(6 * seats + number * (3 * seats + 1), card)
    return deck + last.split()


def start(rules: Rules, seats: int, turned: str, scores: list[int] | None = None) -> OracleDeal:
    """A deal with these turn-ups; the last seat deals, A is eldest."""
    parties = rules["sides"] or seats
    return OracleDeal(rules, seats, seats - 1, turning(seats, turned), scores or [0] * parties)


def test_example_38_game_tied_goes_to_the_elder() -> None:
    assert game_owner(ALL_FOURS, 0, None, [20, 20, 16]) == 1


def test_example_40_no_pips_in_all_fours_go_to_the_non_dealer() -> None:
    assert game_owner(ALL_FOURS, 0, None, [0, 0]) == 1
    assert game_owner(ALL_FOURS, 1, None, [0, 0]) == 0
    assert game_owner(with_rules(ALL_FOURS, sides=2), 2, None, [10, 5, 0, 5]) == 1


def test_example_76_turned_jack_ends_the_game_before_the_beg() -> None:
    deal = start(ALL_FOURS, 2, "JC", [6, 6])
    assert deal.kind is None
    assert deal.result is not None
    assert (deal.result.scores, deal.result.winner, deal.result.reason) == ([6, 7], 1, "TURNED_JACK")
    assert deal.result.game_over


def test_example_77_no_gift_that_puts_eldest_out() -> None:
    deal = start(ALL_FOURS, 2, "9C 9D", [6, 6])
    assert (deal.kind, deal.seat, legal(deal)) == ("STAND_OR_BEG", 0, ["STAND", "BEG"])
    deal.act("BEG")
    assert (deal.kind, deal.seat, legal(deal)) == ("ANSWER_BEG", 1, ["RUN"])


def test_gift_out_as_a_house_rule() -> None:
    deal = run(start(with_rules(ALL_FOURS, gift_out=True), 2, "9C", [6, 6]), ["BEG"])
    assert legal(deal) == ["GIVE", "RUN"]
    deal.act("GIVE")
    assert deal.result is not None
    assert (deal.result.winner, deal.result.reason, deal.result.scores) == (0, "GIFT", [7, 6])


def test_example_79_four_players_two_runs_both_the_same_suit() -> None:
    deal = run(start(with_rules(ALL_FOURS, sides=2), 4, "9C 8C JC"), ["BEG", "RUN"])
    assert deal.result is not None
    assert (deal.result.redeal, deal.result.next_dealer, len(deal.stock)) == (True, 3, 1)
    assert (deal.result.deltas, deal.result.trump) == ([0, 1], None)  # the turned jack stands
    assert not deal.result.thrown_in


def test_a_redeal_keeps_the_dealer_and_the_points() -> None:
    game = OracleGame(ALL_FOURS, 4, 3)
    game.close(run(game.deal(turning(4, "9C 8C JC")), ["BEG", "RUN"]))
    assert (game.dealer, game.scores, game.deals, game.finished) == (3, [0, 0, 0, 1], 1, False)


@pytest.mark.parametrize(
    ("seats", "runs", "left"),
    [(2, 5, 4), (3, 3, 3), (4, 2, 1)],
    ids=["example_80_2_players", "example_80_3_players", "example_80_4_players"],
)
def test_example_80_runs_before_the_stock_fails(seats: int, runs: int, left: int) -> None:
    same = ["9C", "8C", "7C", "6C", "5C", "4C"][: runs + 1]
    failed = run(start(ALL_FOURS, seats, " ".join(same)), ["BEG", "RUN"])
    assert failed.result is not None
    assert (failed.result.redeal, len(failed.stock), len(failed.turned)) == (True, left, runs + 1)
    fixed = run(start(ALL_FOURS, seats, " ".join([*same[:-1], "4D"])), ["BEG", "RUN"])
    assert (fixed.kind, fixed.seat, fixed.trump, len(fixed.stock)) == ("DISCARD", 0, "D", left)
    assert [len(fixed.hands[seat]) for seat in range(seats)] == [6 + 3 * runs] * seats


def test_example_81_two_turned_jacks_and_the_most_a_dealer_can_get() -> None:
    hands = ["2C 3C 4C 5C 6C 7C", "AD KD QD TD 9D 8D"]
    deck = stacked(hands, 1, "JC 2S 3S 4S 2H 3H 4H JD")
    deal = OracleDeal(ALL_FOURS, 2, 1, deck, [0, 0])
    assert deal.scores == [0, 1]
    run(deal, ["BEG", "RUN"])
    assert (deal.scores, deal.trump) == ([0, 2], "D")
    run(deal, [frozenset(hands[0].split()), frozenset(hands[1].split())])
    result = run(deal, ["2C", "8D", "9D", "3C", "TD", "4C", "QD", "5C", "KD", "6C", "AD", "7C"]).result
    assert result is not None
    assert result.items == {"H": 1, "L": 1, "J": None, "G": 1}
    assert (result.scores, result.made, result.deltas) == ([0, 5], [0, 3], [0, 5])


def test_jack_that_scores_only_when_it_fixes_trump() -> None:
    rules = with_rules(ALL_FOURS, jack_turns="fixing")
    assert start(rules, 2, "JC JD").scores == [0, 0]
    assert run(start(rules, 2, "JC JD"), ["STAND"]).scores == [0, 1]
    assert run(start(rules, 2, "JC JD"), ["BEG", "GIVE"]).scores == [1, 1]
    assert run(start(rules, 2, "JC JD"), ["BEG", "RUN"]).scores == [0, 1]
    assert run(start(rules, 2, "JC JD", [0, 6]), ["BEG", "RUN"]).result is not None


def test_example_82_gift_with_three_players() -> None:
    give = ["BEG", "GIVE"]
    deal = run(start(SEVEN_UP, 3, "9C"), give)
    assert (deal.scores, deal.trump, deal.kind, deal.seat) == ([1, 0, 0], "C", "PLAY", 0)
    foster = with_rules(SEVEN_UP, gift_to="opponents")
    assert run(start(foster, 3, "9C"), give).scores == [1, 1, 0]
    assert legal(run(start(foster, 3, "9C", [0, 6, 0]), ["BEG"])) == ["RUN"]
    assert run(start(with_rules(foster, sides=2), 4, "9C"), give).scores == [1, 0]


def test_example_84_high_is_counted_first() -> None:
    counted = count_hand(ALL_FOURS, [6, 6], items("A B B B"), None, 0)
    assert (counted.winner, counted.reason, counted.after) == (0, "COUNT_H", [7, 9])


@pytest.mark.parametrize(("low_to", "low"), [("holder", 0), ("taker", 1)])
def test_example_85_a_whole_hand(low_to: str, low: int) -> None:
    hands = ["AD KS 2D QC KH 3S", "TD 4S JD TC 5H 8C"]
    deal = OracleDeal(with_rules(ALL_FOURS, low_to=low_to), 2, 1, stacked(hands, 1, "9D"), [0, 0])
    result = run(deal, ["STAND", *["AD", "TD", "KS", "4S", "2D", "JD", "TC", "QC", "KH", "5H", "3S", "8C"]]).result
    assert result is not None
    assert result.pips == [32, 1]
    assert result.items == {"H": 0, "L": low, "J": 1, "G": 0}
    assert (result.pitcher, result.bid, result.set_back) == (None, None, None)


def test_example_90_deal_map() -> None:
    deck = shuffled(5)
    hands, rest = deal_out(deck, [1, 2, 0], 6, 3)
    assert hands == {1: deck[0:3] + deck[9:12], 2: deck[3:6] + deck[12:15], 0: deck[6:9] + deck[15:18]}
    deal = OracleDeal(ALL_FOURS, 3, 0, deck, [0, 0, 0])
    assert deal.hands == hands
    assert deal.turned == [deck[18]] == rest[:1]
    uneven, _ = deal_out(deck, [0, 1], 7, 3)
    assert uneven[1] == deck[3:6] + deck[9:12] + deck[13:14]


def test_after_a_run_each_reduces_to_six_of_his_choice() -> None:
    deal = run(start(ALL_FOURS, 3, "9C 9D"), ["BEG", "RUN"])
    hand = deal.hands[0]
    assert deal.choice().may == frozenset(hand)
    assert deal.judge(frozenset(hand[:6]))
    assert deal.judge(frozenset(hand[3:]))
    for wrong in [frozenset(hand[:5]), frozenset(hand[:7]), frozenset([*hand[:5], deal.hands[1][0]]), hand[:6]]:
        assert not deal.judge(wrong)
    for seat in range(3):
        assert (deal.kind, deal.seat) == ("DISCARD", seat)
        deal.act(frozenset(deal.hands[seat][:6]))
    assert (deal.kind, deal.seat) == ("PLAY", 0)
    assert [len(deal.hands[seat]) for seat in range(3)] == [6, 6, 6]


def test_keep_all_cards_after_a_run_as_a_house_rule() -> None:
    deal = run(start(with_rules(ALL_FOURS, after_run="keep"), 3, "9C 9D"), ["BEG", "RUN"])
    assert (deal.kind, deal.seat) == ("PLAY", 0)
    assert len(finish(deal, chance_of(1)).tricks) == 9


def test_cards_are_kept_after_one_run_only_as_a_house_rule() -> None:
    rules = with_rules(ALL_FOURS, after_run="keep_once")
    once = run(start(rules, 2, "9C 9D"), ["BEG", "RUN"])
    assert (once.kind, len(once.hands[0])) == ("PLAY", 9)
    twice = run(start(rules, 2, "9C 8C 9D"), ["BEG", "RUN"])
    assert (twice.kind, len(twice.hands[0]), twice.choice().count) == ("DISCARD", 12, 6)


def test_who_holds_no_trump_may_not_accept_it_as_a_house_rule() -> None:
    """1.8, a local ban. Neither seat holds a club; the third and the fourth hold three each."""
    hands = ["2D 3D 4D 5D 6D 7D", "2H 3H 4H 5H 6H 7H", "TC 8C 7C 2S 3S 4S", "6C 5C 4C 5S 6S 7S"]
    for word, eldest, dealer in [
        ("accepts", ["STAND", "BEG"], ["GIVE", "RUN"]),
        ("stands", ["STAND", "BEG"], ["RUN"]),
        ("refuses", ["BEG"], ["RUN"]),
    ]:
        rules = with_rules(ALL_FOURS, without_trump=word)
        without = OracleDeal(rules, 2, 1, stacked(hands[:2], 1, "9C"), [0, 0])
        assert legal(without) == eldest
        assert legal(run(without, ["BEG"])) == dealer
        holding = OracleDeal(rules, 2, 1, stacked(hands[2:], 1, "9C"), [0, 0])
        assert legal(holding) == ["STAND", "BEG"]
        assert legal(run(holding, ["BEG"])) == ["GIVE", "RUN"]


def test_no_trump_in_play_leaves_game_alone() -> None:
    tricks = [Trick([(0, "AS"), (1, "TS")], 0)]
    found = earned(ALL_FOURS, 2, 1, None, "H", tricks)
    assert [item.party for item in found] == [None, None, None, 0]


def test_trinidad_goes_round_anticlockwise() -> None:
    deck = shuffled(9)
    deal = OracleDeal(TRINIDAD, 4, 0, deck, [0, 0])
    assert deal.order == [3, 2, 1, 0]
    assert deal.hands[3] == deck[0:3] + deck[12:15]
    run(deal, ["STAND"])
    seats = []
    for _ in range(4):
        seats.append(deal.seat)
        deal.act(legal(deal)[0])
    assert seats == [3, 2, 1, 0]
    result = finish(deal, chance_of(1)).result
    assert result is not None
    assert result.next_dealer == 3


@pytest.mark.parametrize(("card", "points"), [("AC", 1), ("6C", 2), ("JC", 3), ("KC", 0)])
def test_trinidad_turned_cards(card: str, points: int) -> None:
    assert start(TRINIDAD, 4, card).scores == [0, points]  # seat 3 deals: side 1


def test_trinidad_hang_jack_and_game_points() -> None:
    own = [Trick([(0, "JH"), (1, "2H"), (2, "AH"), (3, "3S")], 2)]
    hung = [Trick([(0, "JH"), (1, "AH"), (2, "2S"), (3, "3S")], 1)]
    assert {item.name: (item.party, item.points) for item in earned(TRINIDAD, 4, 3, None, "H", own)} == {
        "H": (0, 1),
        "L": (1, 1),
        "J": (0, 1),
        "G": (0, 1),
    }
    two = with_rules(TRINIDAD, game_points=2)
    assert {item.name: (item.party, item.points) for item in earned(two, 4, 3, None, "H", hung)} == {
        "H": (1, 1),
        "L": (0, 1),
        "J": (1, 3),
        "G": (1, 2),
    }
    counted = count_hand(two, [13, 9], earned(two, 4, 3, None, "H", hung), None, 0)
    assert (counted.after, counted.winner, counted.reason) == ([14, 15], 0, "COUNT_L")


def test_trinidad_turns_the_last_card_without_dealing() -> None:
    deck = turning(4, "9C 8C 7C", last="4D")
    new = run(OracleDeal(TRINIDAD, 4, 3, deck, [0, 0]), ["BEG", "RUN"])
    assert (new.trump, new.kind, len(new.hands[0]), new.stock) == ("D", "PLAY", 12, [])
    deck = turning(4, "9C 8C 7C", last="JC")
    same = run(OracleDeal(TRINIDAD, 4, 3, deck, [0, 0]), ["BEG", "RUN"])
    assert same.result is not None
    assert (same.result.redeal, same.result.next_dealer, same.result.scores) == (True, 3, [0, 3])


@pytest.mark.parametrize(
    ("rules", "seats"),
    [(ALL_FOURS, 2), (ALL_FOURS, 3), (with_rules(ALL_FOURS, sides=2), 4), (TRINIDAD, 4)],
    ids=["all_fours_2", "all_fours_3", "all_fours_4", "trinidad"],
)
def test_invariants_on_chance_deals(rules: Rules, seats: int) -> None:
    for seed in range(60):
        chance = chance_of(seed)
        deal = OracleDeal(rules, seats, seed % seats, shuffled(seed), [0] * (rules["sides"] or seats))
        result = finish(deal, chance).result
        assert result is not None
        if result.redeal:
            continue
        cards = [card for trick in deal.tricks for _, card in trick.plays]
        assert len(cards) == len(set(cards)) == seats * len(deal.tricks)
        assert len(deal.tricks) == 6 or (rules["after_run"] == "keep" and len(deal.tricks) in (9, 12))
        assert not set(cards) & set(deal.turned)
        trumps = [card for card in cards if card[1] == result.trump]
        assert (result.items["H"] is None) == (result.items["L"] is None) == (not trumps)
        assert sum(result.deltas) >= sum(result.made)


def test_california_jack_draws_and_plays_all_cards() -> None:
    deck = shuffled(21)
    deal = OracleDeal(CALIFORNIA_JACK, 2, 0, deck, [0, 0])
    assert (deal.kind, deal.seat, deal.trump) == ("PLAY", 1, deck[12][1])
    chance = chance_of(21)
    run(deal, [answer(deal, chance)])
    run(deal, [answer(deal, chance)])
    taker = deal.tricks[0].taker
    assert (deal.hands[taker][-1], deal.hands[1 - taker][-1], deal.stock) == (deck[12], deck[13], deck[14:])
    assert (deal.seat, len(deal.hands[0]), len(deal.hands[1])) == (taker, 6, 6)
    result = finish(deal, chance).result
    assert result is not None
    assert sorted(card for trick in deal.tricks for _, card in trick.plays) == sorted(PACK) == sorted(ALL_CARDS)
    assert (len(deal.tricks), sum(result.pips)) == (26, 80)
    two = next(trick for trick in deal.tricks if "2" + str(deal.trump) in [card for _, card in trick.plays])
    assert result.items["L"] == two.taker


def test_shasta_sam_draws_the_same_way() -> None:
    deal = finish(OracleDeal(SHASTA_SAM, 2, 0, shuffled(2), [0, 0]), chance_of(2))
    assert len(deal.tricks) == 26
