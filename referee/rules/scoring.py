"""What a deal is worth: items, the pitcher's contract, what every side adds to its score."""

from collections.abc import Sequence

from referee.cards import JACK, RANKS, SUIT_MASKS, TWO, Card, Mask, Suit, pips_in
from referee.rules.actions import EventKind, pack_event
from referee.rules.ranking import left_pedro_of
from referee.rules.ruleset import POINT_NAMES
from referee.rules.state import Award, DealState, Ending, Outcome

ITEMS = ("high", "low", "jack", "game")
LEFT_PEDRO = "left pedro"
AT_ONCE = ("turn up", "gift")
"""What is scored during the deal, in front of everybody."""


def score_at_once(deal: DealState, item: str, seat: int, points: int, card: Card | None) -> None:
    """Scores points during the deal, in front of everybody (AF-SCORE-019, 020)."""
    deal.at_once.append(Award(item, seat, points, card))
    deal.scores[deal.side(seat)] += points
    deal.history.append(pack_event(EventKind.SCORE, seat, points))


def goes_on(deal: DealState) -> bool:
    """Whether no side has reached the target by points scored at once; if one has, the deal is over (AF-SCORE-021)."""
    if not any(deal.scores[deal.side(award.seat)] >= deal.rules.target for award in deal.at_once):
        return True
    _close(deal, Ending.CUT_SHORT)
    return False


def close_void(deal: DealState) -> None:
    """Ends a deal in which no trump could be found (AF-TRUMP-010); points scored at once stand."""
    _close(deal, Ending.VOID)


def close_unplayed(deal: DealState) -> None:
    """Ends a deal in which all passed and no card is played (AF-BID-007, 008, 010)."""
    if deal.rules.all_pass == "dealer_set_back":
        side = deal.side(deal.dealer)
        deltas = [-deal.rules.min_bid if other == side else 0 for other in range(len(deal.scores))]
        _close(deal, Ending.SET_BACK, deltas=deltas, set_back=side)
    else:
        _close(deal, Ending.THROWN_IN)


def close_played(deal: DealState) -> None:
    """Ends a deal whose tricks are all played: items or points, contract, deltas."""
    pips = [0] * len(deal.scores)
    for seat, pile in enumerate(deal.taken):
        if pile:
            pips[deal.side(seat)] += pips_in(pile)
    awards = _items(deal, pips) if deal.rules.scoring == "items" else _points(deal)
    made = _made(deal, (*deal.at_once, *awards))
    deltas, set_back = contract(deal, made)
    _close(deal, Ending.PLAYED, awards, pips, made, deltas, set_back, _all_four(deal, awards))


def _close(
    deal: DealState,
    ending: Ending,
    awards: Sequence[Award] = (),
    pips: Sequence[int] | None = None,
    made: Sequence[int] | None = None,
    deltas: Sequence[int] | None = None,
    set_back: int | None = None,
    all_four: int | None = None,
) -> None:
    """Ends the deal. Without ``made`` every side made what the awards say, without ``deltas`` it adds what it made."""
    deal.kind = None
    counted = (*deal.at_once, *awards)
    made = made or _made(deal, counted)
    deal.outcome = Outcome(
        ending=ending,
        dealer=deal.dealer,
        pitcher=deal.pitcher,
        bid=deal.bid,
        trump=deal.trump,
        awards=counted,
        pips=tuple(pips or (0,) * len(made)),
        made=tuple(made),
        deltas=tuple(deltas or made),
        set_back=set_back,
        all_four=all_four,
    )


def _made(deal: DealState, awards: Sequence[Award]) -> list[int]:
    """What each side earned."""
    made = [0] * len(deal.scores)
    for award in awards:
        made[deal.side(award.seat)] += award.points
    return made


def contract(deal: DealState, made: list[int]) -> tuple[list[int], int | None]:
    """What each side adds to its score, and the side that failed its contract (AF-SCORE-007 to 009, 023)."""
    if deal.pitcher is None:
        return made, None
    rules, side, deltas = deal.rules, deal.side(deal.pitcher), made[:]
    failed = made[side] < deal.bid
    if rules.score_style == "difference":
        deltas = _difference(made, side, deal.bid, failed)
    elif failed:
        deltas[side] = -deal.bid
    elif rules.pitcher_scores == "bid" and deal.bid:
        deltas[side] = deal.bid
    return deltas, side if failed else None


def _difference(made: Sequence[int], side: int, bid: int, failed: bool) -> list[int]:
    """Contract made: the better of two sides scores the difference. Failed: the other scores its points and the bid."""
    if failed:
        return [0 if other == side else points + bid for other, points in enumerate(made)]
    return [max(points - made[1 - other], 0) for other, points in enumerate(made)]


def _items(deal: DealState, pips: Sequence[int]) -> list[Award]:
    """High, Low, Jack and Game with their owners (AF-SCORE-001 to 006); an item without owner is left out."""
    rules = deal.rules
    trump: Suit = deal.trump  # type: ignore[assignment]  # trump stands once a card has been led
    trumps = 0
    for cards in deal.played:
        trumps |= cards & SUIT_MASKS[trump]
    awards = []
    if trumps:
        high, low, jack = trumps.bit_length() - 1, (trumps & -trumps).bit_length() - 1, trump << 4 | JACK
        awards.append(Award("high", _owner(deal.played, high), 1, high))
        awards.append(Award("low", _owner(deal.played if rules.low_to == "holder" else deal.taken, low), 1, low))
        if trumps >> jack & 1:
            awards.append(_jack(deal, jack))
    game = _game_seat(deal, pips)
    if game is not None:
        awards.append(Award("game", game, rules.game_points, None))
    return awards


def _jack(deal: DealState, jack: Card) -> Award:
    """The jack to its taker: worth more where another side held it and the house rule says so (AF-SCORE-022)."""
    taker = _owner(deal.taken, jack)
    hanged = deal.side(taker) != deal.side(_owner(deal.played, jack))
    return Award("jack", taker, deal.rules.hang_jack if hanged else 1, jack)


def _points(deal: DealState) -> list[Award]:
    """The single trumps that score, in counting order, with their owners (AF-SCORE-024, 025)."""
    awards: list[Award] = []
    trump: Suit = deal.trump  # type: ignore[assignment]  # trump is named before the play
    worth = dict(deal.rules.point_cards)
    for rank, name in POINT_NAMES.items():
        if rank in worth:
            _award_card(deal, awards, name, trump << 4 | RANKS.index(rank) + TWO, worth[rank])
        if rank == "5" and deal.rules.left_pedro:
            _award_card(deal, awards, LEFT_PEDRO, left_pedro_of(trump), worth[rank])
    return awards


def _award_card(deal: DealState, awards: list[Award], item: str, card: Card, points: int) -> None:
    """Adds what a single trump scores, if it is in play: to its taker, or the two to its holder by the house rule."""
    piles = deal.played if item == "low" and deal.rules.low_to == "holder" else deal.taken
    if any(pile >> card & 1 for pile in piles):
        awards.append(Award(item, _owner(piles, card), points, card))


def _owner(piles: Sequence[Mask], card: Card) -> int:
    """The seat whose pile has the card; one of them has."""
    seat = 0
    while not piles[seat] >> card & 1:
        seat += 1
    return seat


def _game_seat(deal: DealState, pips: Sequence[int]) -> int | None:
    """The seat that scores Game for its side: most pips, or by the house rule for equal pips (AF-SCORE-006).

    In sides it is the eldest seat of the side.
    """
    best = max(pips)
    tied = [side for side, sum_ in enumerate(pips) if sum_ == best]
    if len(tied) > 1:
        tied = _break_tie(deal, tied)
    if not tied:
        return None
    seat = (deal.dealer + 1) % deal.seats
    while deal.side(seat) not in tied:
        seat = (seat + 1) % deal.seats
    return seat


def _break_tie(deal: DealState, tied: list[int]) -> list[int]:
    """The sides left of those tied; of several the caller takes the elder."""
    match deal.rules.game_tie:
        case "elder":
            return tied
        case "pitcher" if deal.pitcher is not None:
            return [side for side in tied if side == deal.side(deal.pitcher)]
        case "non_dealer":
            return [side for side in tied if side != deal.side(deal.dealer)]
    return []


def _all_four(deal: DealState, awards: Sequence[Award]) -> int | None:
    """The side that owns all four items, if one does."""
    if len(awards) != len(ITEMS):
        return None
    sides = {deal.side(award.seat) for award in awards if award.item in ITEMS}
    return sides.pop() if len(sides) == 1 else None
