"""What holds in every deal and every game, whatever the house rules and the play (rules 1.0, invariants)."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from referee.cards import PACK_MASK, pips_in
from referee.rules import Deal, Ending, EndReason, EventKind, Game, Outcome, RuleSet, unpack_event
from referee.rules.deal import substitute
from tests.helpers import CONCEIVABLE, chances, fields_of, play_out, random_rules, shuffled

pytestmark = pytest.mark.search


def union(masks: list[int]) -> int:
    whole = 0
    for mask in masks:
        assert not whole & mask
        whole |= mask
    return whole


class DealMachine(RuleBasedStateMachine):
    """One deal after another under house rules drawn at random, every step checked."""

    @initialize(chance=chances())
    def begin(self, chance: Random) -> None:
        self.chance = chance
        self.house_rules, self.seats = random_rules(chance)
        self.game = Game(self.house_rules, self.seats, chance.randrange(self.seats))
        self.deal = self.game.deal_pack(shuffled(chance))

    @rule(number=st.integers(0, 1000))
    def act(self, number: int) -> None:
        """Some legal action. A copy made before stays where it was; one that goes the same way ends up the same."""
        if self.deal.kind is None:
            self.next_deal()
        legal = self.deal.legal()
        twin, before = self.deal.copy(), fields_of(self.deal)
        action = legal[number % len(legal)]
        self.deal.act(action)
        assert fields_of(twin) == before
        twin.act(action)
        assert fields_of(twin) == fields_of(self.deal)

    @rule()
    def finish(self) -> None:
        play_out(self.deal, self.chance)

    def next_deal(self) -> None:
        assert self.deal.outcome is not None
        if self.game.close(self.deal.outcome):
            self.game = Game(self.house_rules, self.seats, self.game.dealer)
        self.deal = self.game.deal_pack(shuffled(self.chance))

    @invariant()
    def somebody_has_a_legal_action_or_the_deal_is_over(self) -> None:
        deal = self.deal
        assert (deal.kind is None) == (deal.outcome is not None) == (not deal.legal())
        if deal.kind is not None:
            assert 0 <= deal.seat < self.seats
            assert substitute(deal) in deal.legal()

    @invariant()
    def verify_and_legal_agree_on_every_conceivable_action(self) -> None:
        deal = self.deal
        if deal.kind is None:
            return
        legal, before = set(deal.legal()), fields_of(deal)
        for action in CONCEIVABLE[deal.kind]:
            violation = deal.verify(action)
            assert (violation is None) is (action in legal)
            assert violation is None or set(violation.legal) == legal
        assert fields_of(deal) == before

    @invariant()
    def every_card_is_in_one_place(self) -> None:
        deal = self.deal
        stock = sum(1 << card for card in deal.stock)
        assert union([*deal.hands, *deal.played, stock]) == PACK_MASK
        table = sum(1 << card for card in deal.trick)
        assert union([*deal.taken, table]) == union(deal.played)
        for seat, dealt in enumerate(deal.dealt):
            assert deal.hands[seat] | deal.played[seat] == dealt

    @invariant()
    def the_history_tells_the_whole_deal(self) -> None:
        """Calls and cards of the history, and nothing else, lead from the pack to this position."""
        deal = self.deal
        fresh = Deal(self.house_rules, self.seats, deal.dealer, self.repacked(deal), deal.scores)
        for event in map(unpack_event, deal.history):
            assert event.kind in (EventKind.BID, EventKind.PLAY)
            assert event.seat == fresh.seat
            fresh.act(event.value)
        assert fields_of(fresh) == fields_of(deal)

    def repacked(self, deal: Deal) -> tuple[int, ...]:
        """A pack that deals the same hands: the order of the cards within a hand does not matter."""
        hands = [[card for card in range(64) if dealt >> card & 1] for dealt in deal.dealt]
        cards: list[int] = []
        for at in range(0, self.house_rules.hand_size, self.house_rules.packet):
            for place in range(1, self.seats + 1):
                cards += hands[(deal.dealer + place) % self.seats][at : at + self.house_rules.packet]
        return (*cards, *deal.stock)

    @invariant()
    def scores_do_not_change_before_the_end(self) -> None:
        assert self.deal.scores == self.game.scores

    @invariant()
    def a_finished_deal_adds_up(self) -> None:
        if self.deal.outcome is not None:
            check_outcome(self.house_rules, self.deal, self.deal.outcome)


def check_outcome(rules: RuleSet, deal: Deal, outcome: Outcome) -> None:
    """The invariants of the rule text over one finished deal."""
    sides = rules.side_count(deal.seats)
    assert {len(figures) for figures in (outcome.pips, outcome.made, outcome.deltas)} == {sides}
    if outcome.ending is not Ending.PLAYED:
        assert outcome.pitcher is None
        assert outcome.made == outcome.pips == (0,) * sides
        expected = [0] * sides
        if rules.all_pass == "dealer_set_back":
            expected[deal.side(deal.dealer)] = -rules.min_bid
        assert list(outcome.deltas) == expected
        return
    check_items(rules, deal, outcome)
    check_contract(rules, deal, outcome)


def check_items(rules: RuleSet, deal: Deal, outcome: Outcome) -> None:
    in_play = union(deal.played)
    assert in_play.bit_count() == rules.hand_size * deal.seats
    assert all(pile.bit_count() % deal.seats == 0 for pile in deal.taken)
    assert sum(pile.bit_count() // deal.seats for pile in deal.taken) == rules.hand_size
    assert sum(outcome.pips) == pips_in(in_play) <= 80
    by_item = {award.item: award for award in outcome.awards}
    assert list(by_item) == [item for item in ("high", "low", "jack", "game") if item in by_item]
    assert 2 <= len(outcome.awards) <= 4
    high = by_item["high"]
    assert high.card is not None
    assert deal.played[high.seat] & deal.taken[high.seat] & (1 << high.card)  # its holder is its taker
    for award in outcome.awards[:-1]:
        assert award.points == 1
        piles = deal.played if award.item == "low" and rules.low_to == "holder" else deal.taken
        assert award.card is not None
        assert piles[award.seat] >> award.card & 1
    best = [side for side, pips in enumerate(outcome.pips) if pips == max(outcome.pips)]
    if "game" in by_item:
        assert deal.side(by_item["game"].seat) in best
    else:
        assert len(best) > 1


def check_contract(rules: RuleSet, deal: Deal, outcome: Outcome) -> None:
    most = 3 + rules.game_points
    assert outcome.pitcher is not None
    pitching = deal.side(outcome.pitcher)
    for side, (made, delta) in enumerate(zip(outcome.made, outcome.deltas, strict=True)):
        assert 0 <= made <= most
        if side != pitching:
            assert delta == made
    delta = outcome.deltas[pitching]
    if outcome.set_back is None:
        assert outcome.bid <= outcome.made[pitching]
        assert outcome.bid <= delta <= most
    else:
        assert outcome.set_back == pitching
        assert delta == -outcome.bid < 0
        assert outcome.made[pitching] < outcome.bid
    assert sum(delta for side, delta in enumerate(outcome.deltas) if side != outcome.set_back) <= most
    if outcome.all_four is not None:
        assert outcome.made[outcome.all_four] == most


TestDeals = DealMachine.TestCase
TestDeals.settings = settings(max_examples=60, stateful_step_count=25)


@settings(max_examples=150)
@given(chances())
def test_every_game_ends_and_adds_up(chance: Random) -> None:
    rules, seats = random_rules(chance)
    sides = rules.side_count(seats)
    game = Game(rules, seats, chance.randrange(seats), [chance.randint(-3, rules.target - 1) for _ in range(sides)])
    while game.result is None:
        assert max(game.scores) < rules.target  # whoever gets there has won
        before, dealer, booked = list(game.scores), game.dealer, game.deals
        outcome = play_out(game.deal_pack(shuffled(chance)), chance).outcome
        assert outcome is not None
        game.close(outcome)
        assert game.scores == [score + delta for score, delta in zip(before, outcome.deltas, strict=True)]
        assert game.deals == booked + 1 <= rules.max_deals
        stays = outcome.ending is Ending.THROWN_IN and rules.all_pass == "thrown_in_same_dealer"
        assert game.dealer == (dealer if stays else (dealer + 1) % seats)
    result = game.result
    assert sum(result.stakes) == 0
    assert min(result.places) == 1
    assert list(result.scores) == game.scores
    if result.reason is EndReason.CAP:
        assert game.deals == rules.max_deals
        assert set(result.stakes) == {0}
        assert max(game.scores) < rules.target
        assert result.winner is None
        return
    assert result.winner is not None
    assert result.places[result.winner] == 1
    assert result.places.count(1) == 1
    assert result.reason is EndReason.SMUDGE or game.scores[result.winner] >= rules.target
    if rules.settlement == "stakes":
        losers = [stake for side, stake in enumerate(result.stakes) if side != result.winner]
        assert max(losers) <= -1
        assert min(losers) >= -2 - (max(game.set_backs) if rules.settlement_set_backs else 0)
