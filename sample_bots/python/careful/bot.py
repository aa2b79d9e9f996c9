"""Sound play by rules of thumb, in two ideas.

**Bidding**: for each suit add up what the hand *promises* if that suit is trump, item by item, and bid the least that
takes the auction if the best suit promises about as much.

**Play**: for each legal card weigh the chance that it wins the trick against what lies on the table and what the card
is worth elsewhere; play the card with the best balance.

All of it is a function of the turn: no memory, no chance. It is worked out in whole numbers, millionths of a point and
millionths of certainty, so that this bot in any other language decides the same to the last tie. Of choices that are
worth the same it takes the first.
"""

from collections.abc import Iterable
from typing import Any

from referee.bot import JACK, KING, PACK, TEN, Call, Card, EventKind, Kind, Suit, Turn, run, wire

ONE = 1_000_000
"""One point, and certainty."""

PIP = ONE // 25
"""Of some 30 pips in play about half decide the point for Game."""

DARING = {2: 300_000, 3: 400_000, 4: 400_000}
"""By how much the promise may fall short of a bid: a bid also takes the lead away from others."""


def choose(turn: Turn) -> Any:
    """The move for any turn of any variant."""
    match turn.kind:
        case Kind.BID:
            return bid(turn)
        case Kind.PLAY:
            return max(turn.legal, key=lambda card: balance(turn, card))
        case Kind.NAME_TRUMP:
            return max(turn.legal, key=lambda suit: promise(turn, suit))
        case Kind.DISCARD:
            return keep(turn)
        case Kind.STAND_OR_BEG:
            return Call.STAND if likes_turn_up(turn) else Call.BEG
        case Kind.ANSWER_BEG:
            return Call.GIVE if likes_turn_up(turn) and Call.GIVE in turn.legal else Call.RUN


# Bidding


def bid(turn: Turn) -> int:
    """The lowest bid that the best suit promises, else the least that may be said."""
    best = max(promise(turn, suit) for suit in Suit)
    least: int = min(turn.legal)
    good = (amount for amount in turn.legal if amount and best + DARING.get(amount, 0) >= amount * ONE)
    return min(good, default=least)


def promise(turn: Turn, suit: Suit) -> int:
    """The points to be expected with this suit as trump, item by item."""
    trumps = [card for card in turn.hand if is_trump(turn, card, suit)]
    if not trumps:
        return 0
    if turn.rules.scoring == wire.SCORING_POINTS:
        return sum(500_000 + worth(turn, card, suit) * 3 // 5 for card in trumps)
    top, low = max(trumps), min(trumps)
    # A card that we do not see is held by another player with this chance; the rest of the pack is out of play.
    out = min(ONE, ONE * len(turn.hand) * (turn.seats - 1) // (len(PACK) - len(turn.hand)))
    high_stands = power(ONE - out, 14 - top.rank)
    low_stands = power(ONE - out, low.rank - 2)
    if any(card.rank == JACK for card in trumps):
        jack = 900_000 if top.rank > JACK else 600_000
    else:
        jack = out * 2 // 5 if top.rank > JACK else 0
    tens = sum(card.rank == TEN for card in turn.hand)
    honours = sum(card.rank > TEN for card in turn.hand)
    game = min(900_000, 100_000 * (1 + len(trumps) + tens) + 50_000 * honours)
    return high_stands + low_stands + jack + game


def likes_turn_up(turn: Turn) -> bool:
    """Whether the suit of the turned-up card would do as trump."""
    return turn.turn_up is not None and promise(turn, turn.turn_up.suit) >= ONE


# Play


def balance(turn: Turn, card: Card) -> int:
    """What playing this card is worth (points times certainty; figures to be compared with one another only)."""
    if turn.trump is None and not turn.trick:
        return promise(turn, card.suit) + first_lead(turn, card)
    trump = card.suit if turn.trump is None else turn.trump
    won = chance_of_trick(turn, card, trump)
    own = worth(turn, card, trump)
    table = sum(worth(turn, other, trump) for other in turn.trick) + to_come(turn, card, trump)
    return won * (table + own) - (ONE - won) * own - ONE * price(turn, card, trump)


def first_lead(turn: Turn, card: Card) -> int:
    """Which card of the best suit to pitch: the ace or king; without them a low one, for a queen or jack would fall."""
    best = max(other for other in turn.hand if other.suit == card.suit)
    return 1_000 * card.rank if best.rank >= KING else -1_000 * card.rank - 10_000 * card.pips


def chance_of_trick(turn: Turn, card: Card, trump: Suit) -> int:
    """The chance that our side wins the trick if we play this card."""
    best = card
    if turn.winning_card is not None and not turn.beats(card):
        if turn.winning not in turn.partners:
            return 0
        best = turn.winning_card
    later = turn.seats - len(turn.trick) - 1
    unseen = unseen_cards(turn)
    if not later or not unseen:
        return ONE
    higher = sum(other.suit == best.suit and other.rank > best.rank for other in unseen)
    ruffs = 0 if best.suit == trump else sum(is_trump(turn, other, trump) for other in unseen)
    # Each seat to come holds this share of the unseen cards; who can trump does so half of the time.
    share = min(ONE, ONE * len(turn.hand) // len(unseen))
    one_stays_below = power(ONE - share, higher) * power(ONE - share // 2, ruffs) // ONE
    return power(one_stays_below, later)


def worth(turn: Turn, card: Card, trump: Suit) -> int:
    """What a card brings to the side that wins it."""
    if turn.rules.scoring == wire.SCORING_POINTS:
        points = {row.rank: row.points for row in turn.rules.point_cards}
        return ONE * points.get(card.rank, 0) if is_trump(turn, card, trump) else 0
    value = card.pips * PIP
    if is_trump(turn, card, trump):
        value += ONE * (card.rank == JACK)
        value += ONE * (card.rank < 5 and turn.rules.low_to == wire.LOW_TO_TAKER)
    return value


def to_come(turn: Turn, card: Card, trump: Suit) -> int:
    """What the seats that have yet to play may bring; a trump lead makes them part with trumps."""
    later = turn.seats - len(turn.trick) - 1
    return later * (150_000 if card.suit == trump and not turn.trick else 50_000)


def price(turn: Turn, card: Card, trump: Suit) -> int:
    """What it costs not to have the card any more: trumps and high cards win later tricks."""
    if len(turn.hand) == 1:
        return 0
    return 100_000 + 30_000 * card.rank if is_trump(turn, card, trump) else 4_000 * card.rank


def power(chance: int, times: int) -> int:
    """The chance that something of this chance happens so many times in a row, each product rounded down."""
    product = ONE
    for _ in range(times):
        product = product * chance // ONE
    return product


# Cards


def is_trump(turn: Turn, card: Card, trump: Suit) -> bool:
    """Whether the card is a trump when this suit is: the left pedro of Cinch is one too."""
    return card.suit == trump or (turn.rules.left_pedro and card.rank == 5 and card.suit == 3 - trump)


def unseen_cards(turn: Turn) -> list[Card]:
    """The cards that nobody has shown us."""
    shown = {*turn.hand, *turn.discards}
    shown.update(Card(event.value) for event in turn.history if event.kind in (EventKind.PLAY, EventKind.SHOW))
    return [card for card in PACK if card not in shown]


def keep(turn: Turn) -> Iterable[Card]:
    """The cards that have to be kept, then trumps, then the highest."""
    ways = turn.keeps
    trump = turn.trump if turn.trump is not None else Suit.CLUBS
    ranked = sorted(ways.may, key=lambda card: (is_trump(turn, card, trump), card.rank), reverse=True)
    return [*ways.must, *ranked[: ways.size - len(ways.must)]]


if __name__ == "__main__":
    run(choose)
