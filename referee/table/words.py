"""The game in words for the person who plays it: what happens, what is asked, what may be said."""

from collections.abc import Sequence
from typing import Final

from referee.cards import RANKS, SUIT_NAMES, SUITS, Card, card_text, is_card
from referee.rules import Action, Award, Call, Deal, Ending, EventKind, Kind, Outcome, RuleSet, unpack_event
from referee.rules.actions import DECISION_WORDS, EVENT_WORDS, value_text

RANK_NAMES: Final = dict(
    zip(
        RANKS,
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen", "king", "ace"),
        strict=True,
    )
)

TURN_KINDS: Final = {
    **DECISION_WORDS,
    Kind.STAND_OR_BEG: "beg",
    Kind.ANSWER_BEG: "gift",
    Kind.NAME_TRUMP: "name",
    Kind.DISCARD: "discard",
}
"""What the State calls what is asked, and the phase in which that is."""

ROB: Final = "rob"
"""What it calls the discard of a dealer who has the stock in hand."""

_EVENT_WORDS: Final = {
    **EVENT_WORDS,
    EventKind.GIVE: "gives a point",
    EventKind.NAME_TRUMP: "names {} as trump",
    EventKind.DISCARD: "lays away {} face down",
    EventKind.SHOW: "lays away {} face up",
    EventKind.STOCK_TOP: "has {} on top of the stock",
}
_TO_YOU: Final = {"passes": "pass", "has": "have"}
"""Verbs that are more than their s shorter after "you"."""


def card_name(card: Card) -> str:
    """What people call a card.

    >>> card_name(46)
    'ace of hearts'
    """
    text = card_text(card)
    return f"{RANK_NAMES[text[0]]} of {SUIT_NAMES[card >> 4]}"


def suit_letter(suit: int | None) -> str | None:
    """The letter of a suit, if there is one."""
    return None if suit is None else SUITS[suit]


def listed(words: Sequence[str], last: str = "and") -> str:
    """Words in a row, as a sentence has them.

    >>> listed(["one", "two", "three"])
    'one, two and three'
    """
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""


def counted_points(points: int) -> str:
    """A number of points; those below zero are spoken.

    >>> counted_points(1), counted_points(-3)
    ('1 point', 'minus 3 points')
    """
    return f"{signed(points)} point{'' if points == 1 else 's'}"


def signed(points: int) -> str:
    """A number as it is spoken."""
    return f"minus {-points}" if points < 0 else str(points)


def kind_of(deal: Deal) -> str:
    """What is asked now, in the word of the State."""
    if deal.kind is None:
        return "over"
    robs = deal.kind is Kind.DISCARD and deal.seat == deal.dealer and deal.rules.rob == "dealer"
    return ROB if robs else TURN_KINDS[deal.kind]


# What happens.


class Speaker:
    """Says who did what. ``names`` by seat; the person is "you"."""

    def __init__(self, names: Sequence[str], you: int) -> None:
        self._names, self._you = names, you

    def subject(self, seat: int) -> str:
        """A seat as it begins a sentence."""
        return "You" if seat == self._you else self._names[seat]

    def object(self, seat: int) -> str:
        """A seat within a sentence."""
        return "you" if seat == self._you else self._names[seat]

    def does(self, seat: int, words: str) -> str:
        """A sentence of what a seat does; ``words`` begin with the verb as of others: ``plays KD``."""
        verb, _, rest = words.partition(" ")
        if seat == self._you:
            verb = _TO_YOU.get(verb, verb.removesuffix("s"))
        return f"{self.subject(seat)} {verb} {rest}".rstrip() + "."

    def event(self, packed: int) -> str:
        """A public event as a sentence."""
        kind, seat, value = unpack_event(packed)
        if kind is EventKind.BID:
            return self.does(seat, f"bids {value}" if value else "passes")
        if kind is EventKind.SCORE:
            return self.does(seat, f"scores {counted_points(value)} at once")
        return self.does(seat, _EVENT_WORDS[kind].format(_amount(kind, value)))

    def side(self, side: int, rules: RuleSet, seats: int) -> str:
        """The names of those who play for a side."""
        members = [seat for seat in range(seats) if rules.side(seat) == side]
        ordered = sorted(members, key=lambda seat: seat != self._you)
        first, *others = [self.subject(ordered[0]), *(self.object(seat) for seat in ordered[1:])]
        return listed([first, *others])


def _amount(kind: EventKind, value: int) -> str:
    if kind in (EventKind.DISCARD, EventKind.DRAW):
        return f"{value} card{'' if value == 1 else 's'}"
    return value_text(kind, value)


_BID_WORDS: Final = {
    EventKind.STAND: "stand",
    EventKind.BEG: "beg",
    EventKind.GIVE: "give",
    EventKind.RUN: "run",
}


def last_words(deal: Deal) -> list[str]:
    """What each seat has said last: a bid, pass, or about the turned-up card; empty where nothing."""
    said = [""] * deal.seats
    for packed in deal.history:
        kind, seat, value = unpack_event(packed)
        if kind is EventKind.BID:
            said[seat] = str(value) if value else "pass"
        elif kind in _BID_WORDS:
            said[seat] = _BID_WORDS[kind]
    return said


# What is asked.


def prompt(deal: Deal) -> str:
    """What the seat to decide is asked, for a person who sits there."""
    rules = deal.rules
    match deal.kind:
        case Kind.BID:
            return f"Your turn: {_bid_prompt(deal)}"
        case Kind.STAND_OR_BEG:
            turned = card_text(deal.turn_up) if deal.turn_up is not None else "the card"
            return f"Your turn: {turned} is turned up; stand or beg"
        case Kind.ANSWER_BEG:
            return "Your turn: give a point, or run the cards"
        case Kind.NAME_TRUMP:
            return "Your turn: name trump"
        case Kind.DISCARD:
            keeps = deal.legal()
            size, held = getattr(keeps, "size", 0), deal.hands[deal.seat].bit_count()
            return f"Your turn: keep {size} of your {held} cards"
        case Kind.PLAY if not deal.trick:
            makes_trump = deal.trump is None
            if rules.play_only_trumps:
                return "Your turn: lead a trump"
            return "Your turn: lead; the suit of your card is trump" if makes_trump else "Your turn: lead"
        case Kind.PLAY:
            return f"Your turn: {_play_prompt(deal)}"
    return "The deal is over"


def _bid_prompt(deal: Deal) -> str:
    calls = deal.legal()
    bids = [call for call in calls if call]
    may_pass = 0 in calls
    if not bids:
        return "pass"
    first, last = bids[0], bids[-1]
    said = f"bid {first}" if first == last else f"bid {first} or more" if last == deal.rules.max_bid else f"bid {first}"
    if deal.bid in bids:
        said = f"take the bid of {first}" + ("" if first == last else ", bid more")
    return f"{said}, or pass" if may_pass else f"you dealt and all have passed: {said}"


def _play_prompt(deal: Deal) -> str:
    led = deal.trick[0]
    trump = "" if deal.trump is None else SUIT_NAMES[deal.trump]
    suit = SUIT_NAMES[led >> 4]
    if deal.rules.play_only_trumps:
        return f"play a trump ({trump})"
    if deal.trumps >> led & 1:
        return f"{trump} are led, which are trump"
    return f"{suit} are led; trump is {trump}"


_CALL_LABELS: Final = {Call.STAND: "Stand", Call.BEG: "Beg", Call.GIVE: "Give a point", Call.RUN: "Run the cards"}


def move_label(kind: Kind, action: Action) -> str:
    """A move as a button has it: ``Bid 2``, ``Pass``, ``Run the cards``, ``Hearts``, ``Ace of spades``."""
    match kind:
        case Kind.BID:
            return f"Bid {action}" if action else "Pass"
        case Kind.NAME_TRUMP:
            return SUIT_NAMES[action].capitalize()
        case Kind.PLAY if is_card(action):
            return card_name(action).capitalize()
        case Kind.DISCARD:
            return "Keep these cards"
    return _CALL_LABELS[Call(action)]


# What a deal was worth.

_ITEM_NAMES: Final = {"turn up": "Turned up", "gift": "Gift", "left pedro": "Left pedro", "game": "Game"}


def item_name(award: Award) -> str:
    """What an award is called: ``High``, ``Jack``, ``Left pedro``."""
    return _ITEM_NAMES.get(award.item, award.item.capitalize())


def item_why(award: Award, outcome: Outcome, rules: RuleSet) -> str:
    """By what it was scored: a card, or pips."""
    if award.card is not None:
        return card_name(award.card)
    if award.item == "game":
        return f"{outcome.pips[rules.side(award.seat)]} pips"
    return "point given for the beg" if award.item == "gift" else ""


def contract_sentence(outcome: Outcome, speaker: Speaker, rules: RuleSet) -> str:
    """What became of the bid, or how a deal ended that was not played."""
    dealer = speaker.object(outcome.dealer)
    match outcome.ending:
        case Ending.THROWN_IN:
            return "All have passed: the cards are thrown in."
        case Ending.SET_BACK:
            return (
                f"All have passed: {dealer} had to bid and did not, and {'are' if dealer == 'you' else 'is'} set back."
            )
        case Ending.VOID:
            return "No other suit was turned up: the deal is void."
        case Ending.CUT_SHORT:
            return "The game is over before a card is played."
    if outcome.pitcher is None or not outcome.bid:
        return ""
    side = rules.side(outcome.pitcher)
    who, made = speaker.subject(outcome.pitcher), outcome.made[side]
    told = f"{who} bid {outcome.bid} and made {made}"
    return f"{told}: set back {outcome.bid}." if outcome.set_back == side else f"{told}."
