"""Naming trump, laying cards away and drawing: what happens between the auction, or the run, and the play."""

from referee.cards import PACK_MASK, RANKS, SUIT_NAMES, TWO, Mask, cards_in, hand_text
from referee.rules import play
from referee.rules.actions import Action, EventKind, Keeps, Kind, Violation, pack_event
from referee.rules.ruleset import HELD
from referee.rules.state import DealState

_SUITS = (0, 1, 2, 3)


def legal_suits(_: DealState) -> tuple[Action, ...]:
    """The pitcher may name any suit, also one that he does not hold."""
    return _SUITS


def verify_suit(_: DealState, action: Action) -> Violation | None:
    """Judges the naming of trump by the clause AF-TRUMP-002."""
    if action in _SUITS:
        return None
    suits = ", ".join(f"{number} {name}" for number, name in enumerate(SUIT_NAMES))
    return Violation("AF-TRUMP-002", f"{action} is no suit: name {suits}.", _SUITS)


def name_trump(deal: DealState, suit: Action) -> None:
    """The suit is trump; cards are laid away where that is the rule, then the play begins."""
    deal.trump = suit
    deal.history.append(pack_event(EventKind.NAME_TRUMP, deal.seat, suit))
    if deal.rules.discard == "none":
        play.begin(deal)
    else:
        begin(deal)


def begin(deal: DealState) -> None:
    """Asks eldest first which cards he keeps; the dealer is asked last."""
    deal.kind = Kind.DISCARD
    _ask(deal, (deal.dealer + 1) % deal.seats)


def _ask(deal: DealState, seat: int) -> None:
    """Asks the seat; a dealer who robs takes the rest of the stock in hand first."""
    deal.seat = seat
    if seat == deal.dealer and deal.rules.rob == "dealer":
        deal.take(seat, len(deal.stock))


def legal_keeps(deal: DealState) -> Keeps:
    """The ways to lay cards away.

    After a run (no discard rule): any cards down to the hand size. In Cinch and Pidro all trumps are kept as far as six,
    and plain cards only where something else demands six cards: in Cinch a short stock, in Pidro robbing. In Pidro a
    trump that scores is never laid away. A Cinch dealer who robs keeps any six.
    """
    rules, hand = deal.rules, deal.hands[deal.seat]
    if rules.discard == "none":
        return Keeps(0, hand, rules.hand_size)
    robs = deal.seat == deal.dealer and rules.rob == "dealer"
    if robs and rules.discard == "cinch":
        return Keeps(0, hand, HELD)
    trumps = hand & deal.trumps
    count = trumps.bit_count()
    if count > HELD:
        return Keeps(_scoring(deal, trumps) if rules.discard == "pidro" else 0, trumps, HELD)
    fills = robs or rules.discard == "cinch"
    spare = max(HELD - count - len(deal.stock), 0) if fills else 0
    return Keeps(trumps, hand & ~trumps if spare else 0, count + spare)


def _scoring(deal: DealState, trumps: Mask) -> Mask:
    """Those of the trumps that score."""
    ranks = {RANKS.index(rank) + TWO for rank, _ in deal.rules.point_cards}
    return sum(1 << card for card in cards_in(trumps) if card & 15 in ranks)


def verify_keep(deal: DealState, action: Action) -> Violation | None:
    """Judges the cards kept by the clauses AF-DRAW-001 to 005."""
    keeps = legal_keeps(deal)
    if action in keeps:
        return None
    hand = deal.hands[deal.seat]
    if action & ~PACK_MASK:
        return Violation("AF-DRAW-001", f"{action} is no set of cards.", keeps)
    if action & ~hand:
        return Violation("AF-DRAW-001", f"You do not hold {hand_text(action & ~hand)}.", keeps)
    barred = action & ~(keeps.must | keeps.may)
    if barred:
        return Violation("AF-DRAW-003", f"{hand_text(barred)}: plain cards are laid away, trumps are kept.", keeps)
    lost = keeps.must & ~action
    if lost and (hand & deal.trumps).bit_count() > HELD:
        told = f"{hand_text(lost)}: trumps that score are kept; lay others away."
        return Violation("AF-DRAW-005", told, keeps)
    if lost:
        return Violation("AF-DRAW-004", f"{hand_text(lost)}: you have room for your trumps, so keep them.", keeps)
    told = f"You keep {action.bit_count()} cards; here {keeps.size} are kept."
    return Violation("AF-DRAW-002", told, keeps)


def lay_away(deal: DealState, kept: Action) -> None:
    """Lays all but the kept cards away, draws, and passes on to the next seat, or to the play."""
    seat = deal.seat
    away = deal.hands[seat] & ~kept
    deal.hands[seat] = kept
    deal.laid_away[seat] = away
    if deal.rules.discard != "none":
        _draw(deal, seat, away)
    if seat != deal.dealer:
        _ask(deal, (seat + 1) % deal.seats)
        return
    if deal.rules.discard == "none":
        for other in deal.from_eldest():
            count = deal.laid_away[other].bit_count()
            deal.history.append(pack_event(EventKind.DISCARD, other, count))
    play.begin(deal)


def _draw(deal: DealState, seat: int, away: Mask) -> None:
    """Tells what was laid away, shows the trumps among it, and fills the hand from the stock.

    A Cinch dealer who has robbed says how many of his six cards come from the stock; a Pidro dealer keeps that to
    himself.
    """
    shown = away & deal.trumps
    deal.history.append(pack_event(EventKind.DISCARD, seat, (away & ~shown).bit_count()))
    deal.history.extend(pack_event(EventKind.SHOW, seat, card) for card in cards_in(shown))
    if seat == deal.dealer and deal.rules.rob == "dealer":
        if deal.rules.discard == "pidro":
            return
        drawn = (deal.hands[seat] & ~deal.dealt[seat]).bit_count()
    else:
        drawn = min(HELD - deal.hands[seat].bit_count(), len(deal.stock))
        deal.take(seat, drawn)
    deal.history.append(pack_event(EventKind.DRAW, seat, drawn))
