"""One deal, from the first card dealt to the scores, judged from the rule text.

A deal is a row of decisions. `kind` and `seat` say which decision is due; `judge` says whether an answer is legal;
`act` carries it out. Nothing is hidden in here: the oracle sees all hands.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import decisions
from .decisions import Choice, Plays, Trick, trumps_in
from .house_rules import complete
from .pack import PACK, SUITS, check_deck, circle, deal_order, deal_out, party_count, party_of
from .scoring import Counted, Earned, count_hand, earned, pips_taken

Action = int | str | frozenset[str]
CALLS = ["STAND", "BEG", "GIVE", "RUN"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleResult:
    """How a deal ended. Lists by party are by seat when each plays for self, else by side.

    thrown_in: no card was played because nobody bid. redeal: void because the stock ran out while running.
    pitcher: seat. items: owner (a party, or None) of each item. item_seats: the same as seats (None for Game between
    sides). pips: by seat. made: points of the items or point cards, by party. deltas: everything the deal changed,
    turned cards and gift included. scores, set_backs: after the deal. set_back: the party that failed its bid.
    winner: the party that won the game with this deal; reason: PITCHER_FIRST, COUNT_<item>, SMUDGE, DIFFERENCE,
    TURNED_JACK or GIFT (DP-35).
    """

    thrown_in: bool
    redeal: bool
    next_dealer: int
    pitcher: int | None
    bid: int | None
    trump: str | None
    items: dict[str, int | None]
    item_seats: dict[str, int | None]
    pips: list[int]
    made: list[int]
    deltas: list[int]
    scores: list[int]
    set_back: int | None
    set_backs: list[int]
    winner: int | None
    reason: str | None

    @property
    def game_over(self) -> bool:
        """Did this deal win the game for somebody?"""
        return self.winner is not None


class OracleDeal:
    """One deal, judged from the rule text.

    `deck` is 52 strings, deck[0] the top card. `scores` and `set_backs` are by party, before the deal.
    Raises ValueError when deck, seats, dealer or scores do not fit.
    """

    def __init__(
        self,
        rules: Mapping[str, Any],
        seats: int,
        dealer: int,
        deck: list[str],
        scores: list[int],
        set_backs: list[int] | None = None,
    ) -> None:
        self.rules = complete(rules)
        self.seats = seats
        self.dealer = dealer
        self.parties = party_count(self.rules, seats)
        self._check(deck, scores)
        self.before = list(scores)
        self.scores = list(scores)
        self.set_backs = list(set_backs) if set_backs is not None else [0] * self.parties
        self.order = deal_order(self.rules, seats, dealer)
        self.hands, self.stock = deal_out(deck, self.order, self.rules["hand_size"], self.rules["packet"])

        self.kind: str | None = None
        self.seat: int | None = None
        self.result: OracleResult | None = None
        self.calls: decisions.Calls = []
        self.pitcher: int | None = None
        self.bid: int | None = None
        self.trump: str | None = None
        self.turned: list[str] = []
        self.to_discard: list[int] = []
        self.leader = self.order[0]
        self.plays: Plays = []
        self.tricks: list[Trick] = []

        self._begin()

    def _begin(self) -> None:
        """The first decision after the cards are dealt."""
        if self.rules["trump_by"] == "turn_up":
            self._first_turn_up()
        elif self.rules["trump_by"] == "cut":
            # 1.9; most sources: the top card of the stock shows the trump suit. It stays there to be drawn.
            self.trump = self.stock[0][1]
            self._start_play()
        else:
            self._next_call()

    def _check(self, deck: list[str], scores: list[int]) -> None:
        """Raise ValueError for what does not fit the rules."""
        check_deck(deck)
        if not 0 <= self.dealer < self.seats:
            raise ValueError(f"dealer: {self.dealer} is no seat of {self.seats}; seats are numbered from 0")
        if self.rules["sides"] and self.seats % self.rules["sides"]:
            raise ValueError(f"sides: {self.seats} players cannot form {self.rules['sides']} equal sides")
        if len(scores) != self.parties:
            raise ValueError(f"scores: give {self.parties} scores, one per party, not {len(scores)}")

    # What a caller asks

    def possible(self) -> list[Action]:
        """Every conceivable answer of the kind that is due. Empty for DISCARD: there `choice` tells what to pick from."""
        if self.kind == "BID":
            return list(range(max(15, self.rules["max_bid"] + 1) + 1))
        if self.kind in ("STAND_OR_BEG", "ANSWER_BEG"):
            return list(CALLS)
        if self.kind == "NAME_TRUMP":
            return list(SUITS)
        return list(PACK) if self.kind == "PLAY" else []

    def choice(self) -> Choice:
        """For DISCARD: the cards to be kept. Raises ValueError for every other kind."""
        if self.kind != "DISCARD" or self.seat is None:
            raise ValueError(f"kind: no discard is due but {self.kind}")
        if self.rules["discard"] == "none":  # after a run: reduce to the hand size, own choice (1.2)
            return Choice(frozenset(), frozenset(self.hands[self.seat]), self.rules["hand_size"])
        return decisions.cards_to_keep(
            self.rules, self.hands[self.seat], self.stock, self.trump, self.seat == self.dealer
        )

    def judge(self, action: object) -> bool:
        """Is this a legal answer to the decision that is due? Anything of the wrong type is not."""
        if self.seat is None:
            return False
        if self.kind == "BID":
            return type(action) is int and decisions.may_bid(self.rules, self.order, self.calls, self.seat, action)
        if self.kind == "DISCARD":
            return isinstance(action, frozenset) and self.choice().allows(action)
        if not isinstance(action, str):
            return False
        if self.kind == "STAND_OR_BEG":
            return action == "BEG" or (action == "STAND" and self._may_accept(["accepts", "stands"]))
        if self.kind == "ANSWER_BEG":
            may_give = self._may_accept(["accepts"]) and self._may_give()
            return action == "RUN" or (action == "GIVE" and may_give)
        if self.kind == "NAME_TRUMP":
            return action in list(SUITS)
        return action in decisions.legal_cards(self.rules, self.hands[self.seat], self.plays, self.trump)

    def act(self, action: Action) -> None:
        """Carry out a legal answer. Raises ValueError when it is not legal."""
        if self.seat is None or not self.judge(action):
            raise ValueError(f"action: {action!r} is not legal for seat {self.seat}, decision {self.kind}")
        if self.kind == "BID" and isinstance(action, int):
            self.calls.append((self.seat, action))
            self._next_call()
        elif self.kind == "DISCARD" and isinstance(action, frozenset):
            self._discard(action)
        elif self.kind == "STAND_OR_BEG":
            self._stand_or_beg(str(action))
        elif self.kind == "ANSWER_BEG":
            self._answer_beg(str(action))
        elif self.kind == "NAME_TRUMP":
            self.trump = str(action)
            self._start_discards()
        else:
            self._play(self.seat, str(action))

    def _ask(self, kind: str, seat: int) -> None:
        self.kind, self.seat = kind, seat

    # Auction

    def _next_call(self) -> None:
        speaker = decisions.speaker(self.rules, self.order, self.calls)
        if speaker is not None:
            self._ask("BID", speaker)
            return
        sold = decisions.sold_to(self.calls)
        if sold is not None:
            self.pitcher, self.bid = sold
        else:
            self.pitcher = decisions.free_pitcher(self.rules, self.order)
            self.bid = None if self.pitcher is None else 0
        if self.pitcher is None:
            self._nobody_bid()
            return
        if self.rules["trump_by"] == "name":
            self._ask("NAME_TRUMP", self.pitcher)
        else:
            self._start_play()

    def _nobody_bid(self) -> None:
        """DP-03: thrown in, or the dealer set back without play."""
        payer = party_of(self.rules, self.dealer) if self.rules["all_pass"] == "dealer_set_back" else None
        if payer is not None:
            self.scores[payer] -= self.rules["min_bid"]
        self._end(self._uncounted(set_back=payer), thrown_in=True)

    # The turn-up, and what follows from it (section 1.2)

    def _first_turn_up(self) -> None:
        if self._turn_up():
            return
        self._ask("STAND_OR_BEG", self.order[0])

    def _turn_up(self) -> bool:
        """Turn the next card. True when its points ended the game."""
        self.turned.append(self.stock.pop(0))
        return self.rules["jack_turns"] == "every" and self._score_turned()

    def _score_turned(self) -> bool:
        """Points for the card turned last, to the dealer or his side. True when they ended the game."""
        points = self.rules["turned_score"].get(self.turned[-1][0], 0)
        return self._score_at_once([party_of(self.rules, self.dealer)], points, "TURNED_JACK")

    def _score_at_once(self, parties: list[int], points: int, reason: str) -> bool:
        for party in parties:
            self.scores[party] += points
        if points == 0:
            return False
        for party in parties:
            if self.scores[party] >= self.rules["target"]:
                self._end(self._uncounted(winner=party, reason=reason))
                return True
        return False

    def _fix_trump(self) -> bool:
        """The suit of the card turned last is trump. True when the game ended with it (jack_turns "fixing")."""
        self.trump = self.turned[-1][1]
        return self.rules["jack_turns"] == "fixing" and self._score_turned()

    def _stand_or_beg(self, call: str) -> None:
        if call == "BEG":
            self._ask("ANSWER_BEG", self.dealer)
        elif not self._fix_trump():
            self._start_play()

    def _gift_parties(self) -> list[int]:
        """DP-21: who gets the gift, eldest first."""
        if self.rules["gift_to"] == "eldest":
            return [party_of(self.rules, self.order[0])]
        parties: list[int] = []
        for seat in self.order:
            party = party_of(self.rules, seat)
            if party != party_of(self.rules, self.dealer) and party not in parties:
                parties.append(party)
        return parties

    def _may_accept(self, free: list[str]) -> bool:
        """1.8, a local ban: a seat without a card of the suit turned up may accept it only where the rule is `free`."""
        seat = self.order[0] if self.seat is None else self.seat
        holds = any(card[1] == self.turned[-1][1] for card in self.hands[seat])
        return holds or self.rules["without_trump"] in free

    def _may_give(self) -> bool:
        """DP-20: "not allowed if the point would put the receiver out"."""
        if self.rules["gift_out"]:
            return True
        return all(self.scores[party] + 1 < self.rules["target"] for party in self._gift_parties())

    def _answer_beg(self, call: str) -> None:
        if call == "GIVE":
            if not self._score_at_once(self._gift_parties(), 1, "GIFT") and not self._fix_trump():
                self._start_play()
            return
        rejected = self.turned[0][1]
        while self.turned[-1][1] == rejected:
            if len(self.stock) >= 3 * self.seats + 1:
                for seat in self.order:
                    self.hands[seat] += [self.stock.pop(0) for _ in range(3)]
            elif self.rules["stock_out"] == "redeal" or not self.stock:
                self._end(self._uncounted(), redeal=True)
                return
            # 1.8 turn_last: what is left is turned without dealing, until a new suit comes or the stock is gone.
            if self._turn_up():
                return
        if not self._fix_trump():
            self._start_discards()

    # Discards (1.2 after a run; 1.6, 1.7)

    def _start_discards(self) -> None:
        # DP-22: "reduce" after any run; "keep_once" after the second, which leaves more than three cards too many.
        spare = {"reduce": 0, "keep_once": 3}.get(self.rules["after_run"])
        reduces = spare is not None and len(self.hands[self.order[0]]) > self.rules["hand_size"] + spare
        if self.rules["discard"] != "none" or reduces:
            self.to_discard = list(self.order)  # in rotation from eldest, dealer last
        self._next_discard()

    def _next_discard(self) -> None:
        if self.to_discard:
            self._ask("DISCARD", self.to_discard[0])
        else:
            self._start_play()

    def _discard(self, kept: frozenset[str]) -> None:
        seat = self.to_discard.pop(0)
        hand = self.hands[seat]
        if self.rules["discard"] != "none" and self.rules["rob"] == "dealer" and seat == self.dealer:
            hand, self.stock = hand + self.stock, []
        self.hands[seat] = [card for card in hand if card in kept]
        if self.rules["discard"] != "none":
            while len(self.hands[seat]) < self.rules["draw_to"] and self.stock:
                self.hands[seat].append(self.stock.pop(0))
        self._next_discard()

    # Play

    def _start_play(self) -> None:
        self.leader = self.order[0]
        if self.pitcher is not None and (self.rules["trump_by"] == "pitch" or self.rules["first_lead"] == "pitcher"):
            self.leader = self.pitcher
        self._next_play()

    def _next_to_play(self) -> int | None:
        """The next seat that owes the trick a card; None when the trick is full or nobody has a card to play."""
        for seat in circle(self.rules, self.seats, self.leader):
            cards = self.hands[seat]
            if self.rules["play_only_trumps"]:
                cards = trumps_in(self.rules, cards, self.trump)  # out of trumps: dropped out (1.7 Pidro)
            if cards and seat not in [player for player, _ in self.plays]:
                return seat
        return None

    def _next_play(self) -> None:
        seat = self._next_to_play()
        if seat is None and self.plays:
            self._take_trick()
            seat = self._next_to_play()
        if seat is None:
            self._count()
        else:
            self._ask("PLAY", seat)

    def _play(self, seat: int, card: str) -> None:
        if self.rules["trump_by"] == "pitch" and self.trump is None:
            self.trump = card[1]  # 1.1: "suit of pitcher's first lead"
        self.hands[seat].remove(card)
        self.plays.append((seat, card))
        self._next_play()

    def _take_trick(self) -> None:
        taker = decisions.trick_taker(self.rules, self.plays, self.trump)
        self.tricks.append(Trick(self.plays, taker))
        self.plays = []
        self.leader = taker  # "Winner leads next"
        if self.rules["stock"] != "none" and len(self.stock) >= self.seats:
            for seat in circle(self.rules, self.seats, taker):  # 1.9: winner takes the top card, loser the next
                self.hands[seat].append(self.stock.pop(0))

    # The end

    def _count(self) -> None:
        worth = earned(self.rules, self.seats, self.dealer, self.pitcher, self.trump, self.tricks)
        party = None if self.pitcher is None else party_of(self.rules, self.pitcher)
        counted = count_hand(self.rules, self.scores, worth, party, self.bid or 0)
        self.scores = counted.after
        self._end(counted, worth)

    def _uncounted(self, set_back: int | None = None, winner: int | None = None, reason: str | None = None) -> Counted:
        """A deal that ends before its items are counted."""
        nothing = [0] * self.parties
        return Counted(made=nothing, deltas=nothing, after=self.scores, set_back=set_back, winner=winner, reason=reason)

    def _end(
        self, counted: Counted, worth: list[Earned] | None = None, thrown_in: bool = False, redeal: bool = False
    ) -> None:
        if counted.set_back is not None:
            self.set_backs[counted.set_back] += 1
        same_dealer = redeal or (thrown_in and self.rules["all_pass"] == "thrown_in_same_dealer")
        self.kind, self.seat = None, None
        self.result = OracleResult(
            thrown_in=thrown_in,
            redeal=redeal,
            next_dealer=self.dealer if same_dealer else self.order[0],
            pitcher=self.pitcher,
            bid=self.bid,
            trump=self.trump,
            items={item.name: item.party for item in worth or []},
            item_seats={item.name: item.seat for item in worth or []},
            pips=pips_taken(self.seats, self.tricks),
            made=counted.made,
            deltas=[now - then for now, then in zip(self.scores, self.before, strict=True)],
            scores=list(self.scores),
            set_back=counted.set_back,
            set_backs=list(self.set_backs),
            winner=counted.winner,
            reason=counted.reason,
        )
