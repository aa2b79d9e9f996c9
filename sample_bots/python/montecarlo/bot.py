"""Plays every choice out in imagined deals, and takes the one that does best in the game.

1. **Worlds**: the cards that nobody has shown are dealt at random to the other seats, in agreement with what was seen:
   a seat that did not follow suit has none, a seat that bid has something to bid on.
2. **Playing out**: in every world each choice is played to the end of the deal, by the rules of ``referee.rules`` and
   with quick rules of thumb for all seats.
3. **Worth**: what a deal is worth follows from the scores after it: the share of the others that we are likely to beat.

The same turn gets the same answer: chance comes from the turn's own generator, and the work ends after a fixed number of
cards. The clock is read only to stop in time on a machine that is far too slow.
"""

import json
import time
from collections.abc import Sequence
from functools import cache, lru_cache
from math import exp
from random import Random
from typing import Any, Final

from referee.bot import ACE, JACK, KING, PACK, TEN, Card, EventKind, Kind, Objective, Turn, run, wire
from referee.cards import PIPS, SUIT_MASKS, cards_in, mask_of
from referee.rules import Deal, Outcome, RuleSet
from referee.rules import Kind as RuleKind
from referee.rules.game import decide, finishing_places
from referee.rules.play import legal_mask
from referee.rules.ranking import TRUMP_POWER

CARDS_A_DECISION: Final = 4500
"""How many cards are laid in imagination for one decision: all that the bot's strength and its time depend on."""

CARDS_A_DEAL: Final = 6
"""To begin a deal and to count it takes as long as to lay so many cards."""

WORLDS_A_ROUND: Final = 16
CERTAIN: Final = 1.6
"""After every round choices are dropped that have fallen behind by so many standard errors."""

TRIES: Final = 5
"""How often a world is dealt again when somebody's bid does not fit his cards in it."""

DARING: Final = 0.3
DOUBT: Final = 0.4
"""By how much the promise of a hand may fall short of a bid, and by how much more we may be wrong about it."""

STEEP: Final = 0.32
STEEPER: Final = 0.24
"""How fast a lead makes sure of a better place, a point; and the more so, the fewer points the leader needs (fitted to
1,500 games of careful bots: logistic regression on the lead, and on the lead over what the leader needs)."""


def choose(turn: Turn) -> Any:
    """The best choice over all worlds; what cannot be imagined is decided by a rule of thumb."""
    legal = turn.legal
    if len(legal) == 1:
        return legal[0]
    if not can_imagine(turn):
        return plain(turn)
    return best(turn, different(turn) if turn.kind is Kind.PLAY else sensible_bids(turn))


def best(turn: Turn, choices: Sequence[int]) -> int:
    """Plays the choices out side by side in the same worlds, and drops those that have fallen behind for certain."""
    give_up = time.monotonic() + 0.0005 * turn.move_ms
    imagined = Imagination(turn, rules_of(turn.rules.SerializeToString(deterministic=True)))
    cards = sum(hand.bit_count() for hand in imagined.deal.hands) + CARDS_A_DEAL
    worths: dict[int, list[float]] = {choice: [] for choice in choices}
    laid = 0
    while len(worths) > 1 and laid < CARDS_A_DECISION and time.monotonic() < give_up:
        for _ in range(WORLDS_A_ROUND):
            hands = imagined.hands()
            for choice, worth in worths.items():
                deal = imagined.deal.copy()
                deal.hands = hands[:]
                deal.apply(choice)
                play_out(deal)
                worth.append(imagined.worth(deal))
        laid += WORLDS_A_ROUND * cards * len(worths)
        worths = in_the_race(worths)
    return max(worths, key=lambda choice: sum(worths[choice]))


def in_the_race(worths: dict[int, list[float]]) -> dict[int, list[float]]:
    """The best choice so far, and those that may yet turn out to be better: world by world they have lost too little."""
    leader = max(worths.values(), key=sum)
    left = {}
    for choice, worth in worths.items():
        lost = [one - other for one, other in zip(leader, worth, strict=True)]
        total = sum(lost)
        if worth is leader or total * total < CERTAIN * CERTAIN * sum(loss * loss for loss in lost):
            left[choice] = worth
    return left


# Choices worth imagining


def can_imagine(turn: Turn) -> bool:
    """Whether the rules of this game are those of the Pitch family, which this bot can play out."""
    rules = turn.rules
    pitch = rules.trump_by == wire.TRUMP_BY_PITCH and rules.scoring == wire.SCORING_ITEMS
    dealt_once = (rules.discard, rules.rob, rules.stock) == (wire.DISCARD_NONE, wire.ROB_NONE, wire.STOCK_NONE)
    return pitch and dealt_once and not rules.left_pedro and not rules.play_only_trumps


def different(turn: Turn) -> list[int]:
    """The legal cards without those that are as good as a lower one beside them."""
    apart = mask_of((*unseen_cards(turn), *turn.trick))
    low_counts = turn.rules.low_to == wire.LOW_TO_TAKER
    kept: list[Card] = []
    for card in turn.legal:
        last = kept[-1] if kept else card
        same = last.suit == card.suit and last.pips == card.pips == 0 and not (1 << card) - (1 << last) & apart
        if last is card or not same or (low_counts and turn.trump in (None, card.suit)):
            kept.append(card)
    return list(kept)


def sensible_bids(turn: Turn) -> list[int]:
    """Pass, and the bids that are not out of reach."""
    hope = strength(mask_of(turn.hand), turn.seats) + 1.2
    return [bid for bid in turn.legal if bid <= hope] or [turn.legal[0]]


def plain(turn: Turn) -> Any:
    """A rule of thumb for what is not imagined: keep trumps and high cards, name the longest suit, play low."""
    if turn.kind is Kind.DISCARD:
        ways = turn.keeps
        ranked = sorted(ways.may, key=lambda card: (turn.suit_of(card) == turn.trump, card.rank), reverse=True)
        return [*ways.must, *ranked[: ways.size - len(ways.must)]]
    if turn.kind is Kind.NAME_TRUMP:
        return max(turn.legal, key=lambda suit: sum(card.rank + 5 for card in turn.hand if card.suit == suit))
    if turn.kind is Kind.PLAY:
        return min(turn.legal, key=lambda card: (not turn.beats(card), card.pips, card.rank))
    return turn.legal[0]


# Worlds


class Imagination:
    """The deal as far as it is known, and as many worlds as are wanted for the rest."""

    def __init__(self, turn: Turn, rules: RuleSet) -> None:
        self.turn, self.rules, self.rng = turn, rules, Random(turn.rng.getrandbits(64))
        self.ours = mask_of(turn.hand)
        self.unseen = [int(card) for card in unseen_cards(turn)]
        self.played = [0] * turn.seats
        self.barred = [0] * turn.seats
        self.promises: dict[int, tuple[float, float]] = {}
        self.high = 0
        self.last_deal = turn.deal + 1 >= rules.max_deals
        self._read_history()
        size = rules.hand_size
        self.needs = [(seat, size - self.played[seat].bit_count()) for seat in range(turn.seats) if seat != turn.seat]
        self.needs.sort(key=lambda need: -self.barred[need[0]].bit_count())
        self.deal = self._deal()
        self.others = [side for side in range(len(self.deal.scores)) if side != self.deal.side(turn.seat)]

    def _read_history(self) -> None:
        """Who has played and bid what, and which suits a seat has shown that it does not hold."""
        strict = self.rules.follow == "strict"
        led = trump = None
        count = 0
        for kind, seat, value in self.turn.history:
            if kind is EventKind.BID:
                self._read_bid(seat, value)
            elif kind is EventKind.PLAY:
                suit = value >> 4
                trump = suit if trump is None else trump
                if count % self.turn.seats == 0:
                    led = suit
                elif suit != led and (suit != trump or led == trump or strict):
                    self.barred[seat] |= SUIT_MASKS[led or 0]
                self.played[seat] |= 1 << value
                count += 1

    def _deal(self) -> Deal:
        """A deal of the kernel in the position of the turn: some world's pack, and the history played again."""
        turn, rules = self.turn, self.rules
        dealt = [hand | played for hand, played in zip(self.hands(), self.played, strict=True)]
        before = turn.scores[: rules.side_count(turn.seats)]
        deal = Deal(rules, turn.seats, turn.dealer, pack_of(dealt, turn.dealer, rules.packet), before)
        for kind, _, value in turn.history:
            if kind in (EventKind.BID, EventKind.PLAY):
                deal.apply(int(value))
        return deal

    def hands(self) -> list[int]:
        """The hands of a world (masks by seat): ours as it is, the others' such that what they did makes sense."""
        best: list[int] = []
        least = 99.0
        for _ in range(TRIES):
            hands = self._drawn(self.barred)
            misfit = self._misfit(hands) if hands else 99.0
            if misfit < least:
                best, least = hands, misfit
            if not misfit:
                break
        return best or self._drawn([0] * self.turn.seats)

    def _drawn(self, barred: Sequence[int]) -> list[int]:
        """Draws the hands of the others; a seat gets no card that it is barred from. Empty if that has not worked out."""
        hands = [0] * self.turn.seats
        hands[self.turn.seat] = self.ours
        pool, size, chance = self.unseen[:], len(self.unseen), self.rng.random
        for seat, need in self.needs:
            hand, missing, bars = 0, need, barred[seat]
            refused: list[int] = []
            while missing:
                if not size:
                    return []
                place, size = int(chance() * size), size - 1
                card, pool[place] = pool[place], pool[size]
                if bars >> card & 1:
                    refused.append(card)
                else:
                    hand |= 1 << card
                    missing -= 1
            for card in refused:
                pool[size] = card
                size += 1
            hands[seat] = hand
        return hands

    def _read_bid(self, seat: int, bid: int) -> None:
        """What a bid tells of the hand: between what and what the best suit (of the pitcher: trump) may promise."""
        rules, deals = self.rules, seat == self.turn.dealer
        steals = deals and self.high in rules.steal
        lowest = max(self.high + (not steals), rules.min_bid)
        forced = deals and not self.high and rules.all_pass == "dealer_forced" and bid == lowest
        if seat != self.turn.seat and not forced:
            self.promises[seat] = (bid - DARING - DOUBT, 9.0) if bid else (0.0, lowest - DARING + DOUBT)
        self.high = bid or self.high

    def _misfit(self, hands: Sequence[int]) -> float:
        """By how much these hands promise too much or too little for what the others have bid on them, in points."""
        turn, misfit = self.turn, 0.0
        for seat, (least, most) in self.promises.items():
            hand = hands[seat] | self.played[seat]
            if seat == turn.pitcher and turn.trump is not None:
                promised = promise(hand >> 16 * turn.trump & RANKS, turn.seats) + outside(hand)
            else:
                promised = strength(hand, turn.seats)
            misfit += max(0.0, least - promised, promised - most)
        return misfit

    def worth(self, deal: Deal) -> float:
        """What the end of a deal is worth to us: the share of the others that we beat, or are likely to beat."""
        outcome: Outcome = deal.outcome  # type: ignore[assignment]  # the deal has been played out
        before = deal.scores
        after = [score + delta for score, delta in zip(before, outcome.deltas, strict=True)]
        ours = deal.side(self.turn.seat)
        if self.turn.objective is Objective.POINTS:
            return float(after[ours])
        won = None
        if self.rules.target <= max(after) or outcome.all_four is not None:
            won = decide(self.rules, before, after, outcome)
        if won is None and not self.last_deal:
            need = max(1, self.rules.target - max(after))
            return sum(ahead(after[ours] - after[side], need) for side in self.others) / len(self.others)
        places = finishing_places(won[0] if won else None, after)
        beaten = sum((places[side] > places[ours]) + (places[side] >= places[ours]) for side in self.others)
        return beaten / (2 * len(self.others))


@cache
def ahead(lead: int, need: int) -> float:
    """The chance to finish before somebody with that lead over him in points, when the leader needs that many."""
    return 1 / (1 + exp(-lead * (STEEP + STEEPER / need)))


def unseen_cards(turn: Turn) -> list[Card]:
    """The cards that nobody has shown us."""
    shown = {*turn.hand, *turn.discards}
    shown.update(Card(event.value) for event in turn.history if event.kind is EventKind.PLAY)
    return [card for card in PACK if card not in shown]


def pack_of(dealt: Sequence[int], dealer: int, packet: int) -> list[int]:
    """A pack that deals these hands (masks by seat), the other cards following."""
    seats = len(dealt)
    held = [list(cards_in(hand)) for hand in dealt]
    pack: list[int] = []
    for start in range(0, len(held[0]), packet):
        for place in range(1, seats + 1):
            pack += held[(dealer + place) % seats][start : start + packet]
    return [*pack, *(int(card) for card in PACK if card not in pack)]


@lru_cache(maxsize=16)
def rules_of(message: bytes) -> RuleSet:
    """The kernel's rule set, from the house rules in the wire's."""
    house = wire.RuleSet.FromString(message).house_rules
    return RuleSet.from_dict({rule.name: json.loads(rule.value) for rule in house})


# Playing out


def play_out(deal: Deal) -> None:
    """Plays a deal to its end, all seats by rules of thumb."""
    while deal.kind is not None:
        deal.apply(quick_card(deal) if deal.kind is RuleKind.PLAY else quick_bid(deal))


def quick_bid(deal: Deal) -> int:
    """The lowest bid that the hand is strong enough for, else the least that may be said."""
    legal = deal.legal()
    hope = strength(deal.hands[deal.seat], deal.seats) + DARING
    return next((bid for bid in legal if 0 < bid <= hope), legal[0])


def quick_card(deal: Deal) -> int:
    """The card with the best balance of what it may win and what it may cost."""
    legal = legal_mask(deal)
    if not legal & legal - 1:
        return legal.bit_length() - 1
    trump, trick = deal.trump, deal.trick
    if trump is None:
        trump = strongest(deal.hands[deal.seat], deal.seats)
        legal = first_leads(legal & SUIT_MASKS[trump])
    powers, values, price = deal.rankings[trump][2], VALUES[trump], PRICES[trump]
    chances = CHANCES[deal.seats - len(trick) - 1]
    top = deal.top_power if trick else 0
    led = trick[0] >> 4 if trick else -1
    table = 0.05 * (deal.seats - len(trick) - 1)
    for card in trick:
        table += values[card]
    best, choice = -9.0, 0
    while legal:
        bit = legal & -legal
        legal ^= bit
        card = bit.bit_length() - 1
        power, value = powers[card], values[card]
        if power > top and (power >= TRUMP_POWER or led < 0 or card >> 4 == led):
            balance = chances[power] * (table + 2 * value) - value - price[card]
        else:
            balance = -value - price[card]
        if balance > best:
            best, choice = balance, card
    return choice


def first_leads(suit: int) -> int:
    """Of the cards of a suit, what to pitch: the ace or king; without them a low card, for a queen or jack would fall."""
    top = suit.bit_length() - 1
    return 1 << top if top & 15 >= KING else suit & -suit


@cache
def promise(ranks: int, seats: int) -> float:
    """The points to be expected with a suit as trump, of which these ranks are held (bit 2 the two, bit 14 the ace)."""
    if not ranks:
        return 0.0
    top, low = ranks.bit_length() - 1, (ranks & -ranks).bit_length() - 1
    out = 6 * (seats - 1) / 46
    jack = (0.6, 0.9) if ranks >> JACK & 1 else (0.0, 0.4 * out)
    return float((1 - out) ** (14 - top) + (1 - out) ** (low - 2) + jack[top > JACK] + 0.1 + 0.1 * ranks.bit_count())


def outside(hand: int) -> float:
    """What the tens and honours of a hand promise for Game, whatever is trump."""
    return 0.1 * (hand & TENS).bit_count() + 0.05 * (hand & HONOURS).bit_count()


def strongest(hand: int, seats: int) -> int:
    """The suit that promises most as trump."""
    return max(range(4), key=lambda suit: promise(hand >> 16 * suit & RANKS, seats))


def strength(hand: int, seats: int) -> float:
    """What a hand promises with its best suit as trump."""
    suits = (hand & RANKS, hand >> 16 & RANKS, hand >> 32 & RANKS, hand >> 48 & RANKS)
    return max(promise(ranks, seats) for ranks in suits) + outside(hand)


def _price(card: int, trump: int) -> float:
    rank = card & 15
    return 0.1 + 0.03 * rank if card >> 4 == trump else 0.004 * rank


def _chance(power: int, later: int) -> float:
    """The chance that a card of that power stands against so many seats to come."""
    higher = (TRUMP_POWER + 2 * ACE - power) / 2 if power >= TRUMP_POWER else (2 * ACE - power) / 2 + 3
    return float(0.87 ** (higher * later))


RANKS: Final = SUIT_MASKS[0]
TENS: Final = mask_of(card for card in PACK if card.rank == TEN)
HONOURS: Final = mask_of(card for card in PACK if card.rank > TEN)
VALUES: Final = tuple(tuple(PIPS[card] / 25 + (card == trump << 4 | JACK) for card in range(64)) for trump in range(4))
PRICES: Final = tuple(tuple(_price(card, trump) for card in range(64)) for trump in range(4))
CHANCES: Final = tuple(tuple(_chance(power, later) for power in range(TRUMP_POWER + 2 * ACE + 1)) for later in range(7))


if __name__ == "__main__":
    run(choose)
