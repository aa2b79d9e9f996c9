"""The pack, in strings ("QH" is the queen of hearts, "TC" the ten of clubs); who sits where; how the cards are dealt.

Source: the notation and section 1.0 (ranks, pips) and section 1.6 (the left pedro) of the rule book.
"""

from .house_rules import Rules

RANKS = "23456789TJQKA"  # low to high: the jack is above the ten in play
SUITS = "CDHS"
PACK = [rank + suit for suit in SUITS for rank in RANKS]

PIPS = {"T": 10, "A": 4, "K": 3, "Q": 2, "J": 1}  # for Game; every other rank is worth 0
SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}


def pips(card: str) -> int:
    """Value of a card for Game, 0 to 10, in all four suits alike (1.0)."""
    return PIPS.get(card[0], 0)


def left_pedro(trump: str | None) -> str | None:
    """The five of the suit of the same colour as trump (1.6); None while there is no trump."""
    return None if trump is None else "5" + SAME_COLOUR[trump]


def suit_of(card: str, trump: str | None, with_left_pedro: bool) -> str:
    """The suit a card belongs to in play: the left pedro IS a trump (1.6), every other card is what is printed on it."""
    if with_left_pedro and trump is not None and card == left_pedro(trump):
        return trump
    return card[1]


def cards_of_suit(suit: str, trump: str | None, with_left_pedro: bool) -> list[str]:
    """All cards that belong to `suit` in play, lowest first.

    1.6: trump has 14 cards (right pedro, then left pedro, then the four), the suit of the same colour 12, the others 13.
    """
    cards = [rank + suit for rank in RANKS]
    if not with_left_pedro or trump is None:
        return cards
    left = "5" + SAME_COLOUR[trump]
    if suit == trump:
        cards.insert(cards.index("5" + trump), left)  # just below the right pedro, just above the four
    elif left in cards:
        cards.remove(left)
    return cards


def circle(rules: Rules, seats: int, first: int) -> list[int]:
    """All seats in the order of play, starting with `first`. Seats are numbered clockwise (notation; 1.8 goes round
    the other way).
    """
    step = 1 if rules["direction"] == "clockwise" else -1
    return [(first + step * turn) % seats for turn in range(seats)]


def deal_order(rules: Rules, seats: int, dealer: int) -> list[int]:
    """Eldest first, dealer last."""
    order = circle(rules, seats, dealer)
    return order[1:] + order[:1]


def party_of(rules: Rules, seat: int) -> int:
    """Who scores for this seat: the seat itself, or its side when there are sides."""
    sides: int = rules["sides"]
    return seat % sides if sides else seat


def party_count(rules: Rules, seats: int) -> int:
    """How many scores are kept."""
    return rules["sides"] or seats


def check_deck(deck: list[str]) -> None:
    """Raise ValueError unless the deck is the 52 cards of the pack, each once."""
    if sorted(deck) != sorted(PACK):
        raise ValueError("deck: give the 52 cards of the pack, each once, as strings such as 'QH'")


def deal_out(deck: list[str], order: list[int], hand_size: int, packet: int) -> tuple[dict[int, list[str]], list[str]]:
    """Deal as section 1.0 maps it and return the hands by seat and the rest of the pack.

    "Packet of 3 to eldest, next packet to the next seat, dealer last; second round the same." `order` is that order.
    A hand size that is no multiple of the packet gets a smaller last packet.
    """
    if hand_size * len(order) > len(deck):
        raise ValueError(f"hand_size: {len(order)} hands of {hand_size} need more than {len(deck)} cards")
    hands: dict[int, list[str]] = {seat: [] for seat in order}
    rest = list(deck)
    while len(hands[order[-1]]) < hand_size:
        for seat in order:
            for _ in range(min(packet, hand_size - len(hands[seat]))):
                hands[seat].append(rest.pop(0))
    return hands, rest
