"""Deals made to measure: real cards and a legal play in which High, Low, Jack and Game go to the seats asked for."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from referee.cards import cards_text
from referee.rules import Deal
from tests.helpers import pitch, play, rules_of, start

SEATS: Final = "ABCD"
JUNK: Final = "98765432"
"""Ranks without pips."""


def cards_down(ranks: str, suit: str) -> Iterator[str]:
    return (rank + suit for rank in ranks)


class Script:
    """A deal of six tricks for two to four seats, hearts trump: what each seat plays to each trick.

    1 the trump lead, which the owner of High wins; 2 the jack; 3 the pips; 4 Low, by its owner; 5 and 6 nothing. Low is
    both played and won by its owner, so that it does not matter which of the two scores it.
    """

    def __init__(self, owners: Sequence[int | None], pitcher: int, seats: int, sides: int = 0) -> None:
        high, low, jack, game = owners
        if high is None or low is None:
            raise ValueError("High and Low always have an owner")
        self.seats, self.sides = seats, sides
        self.junk = {suit: cards_down(JUNK, suit) for suit in "CDS"}
        self.spare = cards_down("9876543", "H")
        leaders = (pitcher, high, high if jack is None else jack)
        self.tricks = [
            self.trump_lead(pitcher, high, (low, jack)),
            self.jack_trick(high, low, jack),
            self.pips_trick(leaders[2], high, jack, game),
        ]
        leader = self.taker(self.tricks[2], leaders[2])
        self.tricks += [self.fill({low: "2H"}, "S", leader), self.fill({}, "C", low)]
        self.tricks.append(self.fill({}, "S", self.taker(self.tricks[4], low)))

    def trump_lead(self, pitcher: int, high: int, keep_a_trump: tuple[int | None, int | None]) -> dict[int, str]:
        cards = {high: "AH"}
        for seat in (pitcher, *keep_a_trump):
            if seat is not None:
                cards.setdefault(seat, next(self.spare) if seat != high else "AH")
        return self.fill(cards, "D", pitcher)

    def jack_trick(self, high: int, low: int, jack: int | None) -> dict[int, str]:
        cards = {} if jack is None else {jack: "JH"}
        if jack == high and low != high:
            cards[low] = next(self.spare)  # the jack is led: Low's owner follows, and keeps the two
        return self.fill(cards, "C", high)

    def pips_trick(self, leader: int, high: int, jack: int | None, game: int | None) -> dict[int, str]:
        """Fourteen pips for the owner of Game; to share it, as many as High's owner has for another side."""
        if game is not None:
            return self.fill({game: "AD", self.other_than(game, leader): "TD"}, "D", leader)
        rival = next(seat for seat in range(self.seats) if self.side(seat) != self.side(high))
        lead = {high: 4, rival: 0}
        for owner in (high, rival):
            lead[owner] += jack is not None and self.side(jack) == self.side(owner)
        missing = lead[high] - lead[rival]
        cards = {rival: "KD" if missing == 3 else "AD"}
        if missing == 5:
            cards[self.other_than(rival, leader)] = "JD"
        return self.fill(cards, "D", leader)

    def other_than(self, seat: int, leader: int) -> int:
        return leader if leader != seat else (seat + 1) % self.seats

    def side(self, seat: int) -> int:
        return seat % self.sides if self.sides else seat

    def fill(self, cards: dict[int, str], suit: str, leader: int) -> dict[int, str]:
        """The trick in order of play, every seat without a card of its own playing junk, the leader first."""
        order = [(leader + place) % self.seats for place in range(self.seats)]
        return {seat: cards.get(seat) or next(self.junk[suit]) for seat in order}

    def taker(self, trick: Mapping[int, str], leader: int) -> int:
        """Who wins a trick without trumps."""
        suit = trick[leader][1]
        follow = [seat for seat in trick if trick[seat][1] == suit]
        return max(follow, key=lambda seat: "23456789TJQKA".index(trick[seat][0]))

    def hands(self) -> list[str]:
        return [" ".join(trick[seat] for trick in self.tricks) for seat in range(self.seats)]

    def cards(self) -> str:
        return " ".join(card for trick in self.tricks for card in trick.values())


def owners_of(text: str) -> list[int | None]:
    """The owners of High, Low, Jack and Game from a text such as ``A B - A``; a dash is nobody."""
    return [None if owner == "-" else SEATS.index(owner) for owner in text.split()]


def deal_with(
    owners: str,
    *,
    bid: int,
    before: Sequence[int],
    pitcher: int = 0,
    dealer: int | None = None,
    rules: str | Mapping[str, Any] = "auction-pitch",
) -> Deal:
    """A finished deal, really played, whose items go to these seats (``A B - A``: H, L, J, G).

    ``before`` are the scores by side before the deal; the last seat deals if none is named.
    """
    sides = rules_of(rules).sides
    seats = len(before) if not sides else 4
    script = Script(owners_of(owners), pitcher, seats, sides)
    deal = start(script.hands(), dealer=dealer, rules=rules, scores=before)
    play(pitch(deal, pitcher, bid), script.cards())
    assert deal.outcome is not None
    found = {award.item: SEATS[award.seat] for award in deal.outcome.awards}
    missing = [found.get(item, "-") for item in ("high", "low", "jack", "game")]
    if not sides:
        assert missing == owners.split(), cards_text(deal.stock)
    return deal
