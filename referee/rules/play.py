"""Playing the tricks: what may be played, who wins a trick."""

from typing import Final

from referee.cards import SUIT_NAMES, Card, Mask, Suit, card_text, cards_in, hand_text, is_card
from referee.rules import scoring
from referee.rules.actions import Action, EventKind, Kind, Violation, pack_event
from referee.rules.ranking import TRUMP_POWER
from referee.rules.ruleset import RuleSet
from referee.rules.state import DealState

_PLAY = EventKind.PLAY << 16

FREE, STRICT, NO_UNDERTRUMP, ONLY_TRUMPS = range(4)
"""Duties of a seat that does not lead: follow or trump; follow; follow or trump, but not below; play trumps alone."""

_DUTIES: Final = {"follow_or_trump": FREE, "strict": STRICT, "no_undertrump": NO_UNDERTRUMP}


def duty_of(rules: RuleSet) -> int:
    """The duty under these house rules."""
    return ONLY_TRUMPS if rules.play_only_trumps else _DUTIES[rules.follow]


def begin(deal: DealState) -> None:
    """Opens the play: the pitcher or eldest leads to the first trick."""
    leader = (deal.dealer + 1) % deal.seats
    if deal.rules.first_lead == "pitcher" and deal.pitcher is not None:
        leader = deal.pitcher
    if deal.duty == ONLY_TRUMPS:
        _lead_trump(deal, leader)
    else:
        deal.kind, deal.leader, deal.seat = Kind.PLAY, leader, leader


def legal_mask(deal: DealState) -> Mask:
    """The cards that the seat may play, as a mask (rules 1.0, legal plays)."""
    hand, trick = deal.hands[deal.seat], deal.trick
    if not trick:
        return hand & deal.trumps if deal.duty == ONLY_TRUMPS else hand
    trumps, suits, _ = deal.rankings[deal.trump]  # type: ignore[index]  # trump stands once a card has been led
    led = suits[trick[0]]
    follow = hand & led
    if deal.duty:
        return _special_mask(deal, follow)
    if not follow:
        return hand
    return follow if led == trumps else follow | hand & trumps


def _special_mask(deal: DealState, follow: Mask) -> Mask:
    """What a seat may play that does not lead, where the duty is not the usual one."""
    hand, trumps = deal.hands[deal.seat], deal.trumps
    if deal.duty == ONLY_TRUMPS:
        return hand & trumps
    if deal.duty == STRICT or trumps >> deal.trick[0] & 1:
        return follow or hand
    return _over_mask(deal, follow | hand & trumps if follow else hand)


def _over_mask(deal: DealState, fitting: Mask) -> Mask:
    """On a plain lead no trump below one on the table is played, unless the hand is all trumps."""
    hand, trumps = deal.hands[deal.seat], deal.trumps
    powers = deal.rankings[deal.trump][2]  # type: ignore[index]
    highest = max(powers[card] for card in deal.trick)
    if highest < TRUMP_POWER or not hand & ~trumps:
        return fitting
    for card in cards_in(hand & trumps):
        if powers[card] < highest:
            fitting &= ~(1 << card)
    return fitting


def legal(deal: DealState) -> tuple[Action, ...]:
    """The cards that the seat may play, ascending by number."""
    return cards_in(legal_mask(deal))


def verify(deal: DealState, action: Action) -> Violation | None:
    """Judges a play by the clauses AF-PLAY-001 to 005 and 008."""
    if action >= 0 and legal_mask(deal) >> action & 1:
        return None
    return _violation(deal, action)


def _violation(deal: DealState, action: Action) -> Violation:
    cards = legal(deal)
    hand, trumps = deal.hands[deal.seat], deal.trumps
    if not is_card(action):
        return Violation("AF-PLAY-001", f"{action} is not the number of a card.", cards)
    if not hand >> action & 1:
        return Violation("AF-PLAY-001", f"You do not hold {card_text(action)}.", cards)
    if deal.duty == ONLY_TRUMPS:
        named = _suit_name(deal.trump)
        return Violation("AF-PLAY-008", f"{card_text(action)} is no trump: only trumps ({named}) are played.", cards)
    first = deal.trick[0]
    led = deal.rankings[deal.trump][1][first]  # type: ignore[index]
    told = f"{card_text(first)} was led and you hold {hand_text(hand & led)}"
    if led == trumps:
        return Violation("AF-PLAY-002", f"Trump {told}: play a trump.", cards)
    if deal.duty == STRICT:
        return Violation("AF-PLAY-004", f"{told}: follow suit.", cards)
    if trumps >> action & 1:
        top = hand_text(sum(1 << card for card in deal.trick if trumps >> card & 1))
        sentence = f"{card_text(action)} would be a trump below one on the table ({top}), and you have other cards."
        return Violation("AF-PLAY-005", sentence, cards)
    plain = _suit_name(first >> 4)
    return Violation("AF-PLAY-003", f"{told}: play {plain} or a trump ({_suit_name(deal.trump)}).", cards)


def _suit_name(suit: Suit | None) -> str:
    return "none" if suit is None else SUIT_NAMES[suit]


def apply(deal: DealState, card: Card) -> None:
    """Lays the card on the table; the last card of a trick gives it to its winner."""
    seat, trick = deal.seat, deal.trick
    bit = 1 << card
    deal.hands[seat] ^= bit
    deal.played[seat] |= bit
    deal.history.append(_PLAY | seat << 8 | card)
    if not trick:
        if deal.trump is None:
            deal.trump = card >> 4
        deal.top_power, deal.top_seat = deal.rankings[deal.trump][2][card], seat
        trick.append(card)
    else:
        _, suits, powers = deal.rankings[deal.trump]  # type: ignore[index]
        power = powers[card]
        if power > deal.top_power and (power >= TRUMP_POWER or suits[trick[0]] >> card & 1):
            deal.top_power, deal.top_seat = power, seat
        trick.append(card)
    if deal.duty == ONLY_TRUMPS:
        _pass_on(deal)
    elif len(trick) == deal.seats:
        _close_trick(deal)
    else:
        seat += 1
        deal.seat = seat if seat < deal.seats else 0


def _close_trick(deal: DealState) -> None:
    """After the last card of a trick: its winner leads the next one, or the deal is over."""
    winner = _gather(deal)
    if deal.stock and deal.rules.stock != "none":
        _draw(deal, winner)
    if deal.hands[winner]:
        deal.leader = deal.seat = winner
    else:
        scoring.close_played(deal)


def _gather(deal: DealState) -> int:
    """Gives the trick to its winner."""
    winner = deal.top_seat
    pile = 0
    for card in deal.trick:
        pile |= 1 << card
    deal.taken[winner] |= pile
    deal.trick.clear()
    return winner


def _draw(deal: DealState, winner: int) -> None:
    """After a trick its winner takes the top card of the stock, the other seats in turn the next ones.

    Cards of a stock that lies face up, and the card that made trump, are taken openly; others are drawn unseen.
    """
    open_stock = deal.rules.stock == "face_up"
    for place in range(deal.seats):
        seat, card = (winner + place) % deal.seats, deal.stock[0]
        deal.take(seat, 1)
        seen = open_stock or card == deal.turn_up
        deal.history.append(pack_event(EventKind.TAKE, seat, card) if seen else pack_event(EventKind.DRAW, seat, 1))
    deal.turn_up = None
    if open_stock and deal.stock:
        deal.turn_up = deal.stock[0]
        deal.history.append(pack_event(EventKind.STOCK_TOP, deal.dealer, deal.turn_up))


def _pass_on(deal: DealState) -> None:
    """Where only trumps are played: on to the next seat of this trick that has one, else the trick is complete."""
    to_come = (deal.leader - deal.seat - 1) % deal.seats
    for place in range(1, to_come + 1):
        seat = (deal.seat + place) % deal.seats
        if deal.hands[seat] & deal.trumps:
            deal.seat = seat
            return
    _lead_trump(deal, _gather(deal))


def _lead_trump(deal: DealState, leader: int) -> None:
    """The first seat from the leader on that has a trump leads one; without trumps the play is over."""
    for place in range(deal.seats):
        seat = (leader + place) % deal.seats
        if deal.hands[seat] & deal.trumps:
            deal.kind, deal.leader, deal.seat = Kind.PLAY, seat, seat
            return
    scoring.close_played(deal)
