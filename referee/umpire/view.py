"""What one seat may see: the only place where hidden and public information part.

``see`` builds a ``Turn`` from an explicit list of what a seat may know. Whatever crosses the wire, or reaches an
in-process player, comes from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from referee.cards import Card, Mask, Suit
from referee.rules import Action, Deal, Game, Kind, RuleSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Chair:
    """What stays the same for one seat through one game. Ids and seed are below 2^53."""

    game_id: int
    seat: int
    seats: int
    rules: RuleSet
    rule_set_id: int = 1
    bot_seed: int = 0


@dataclass(slots=True, kw_only=True)
class Turn:
    """One decision asked of one seat, with all that the seat may know. Read only, by convention.

    ``hand`` and ``laid_away`` are masks, ``scores`` and ``set_backs`` are by side, times are in microseconds. A dealer
    who robs has the rest of the stock in ``hand``; ``turn_up`` is the card that lies face up beside or on the stock.
    """

    turn_id: int
    chair: Chair
    kind: Kind
    legal: Sequence[Action]
    hand: Mask
    dealer: int
    history: Sequence[int]
    trick: Sequence[Card]
    leader: int | None
    trump: Suit | None
    pitcher: int | None
    bid: int
    turn_up: Card | None
    stock_count: int
    laid_away: Mask
    scores: Sequence[int]
    set_backs: Sequence[int]
    deal: int
    decision: int
    retry: int
    move_us: int
    bank_us: int


def see(
    deal: Deal, game: Game, chair: Chair, turn_id: int, decision: int, retry: int, move_us: int, bank_us: int
) -> Turn:
    """What the seat to decide is told. Everything that is assigned below is public, or the seat's own.

    One turn is made for every decision: assigned by name, it takes a third of the time of a call with 22 arguments by position, and
    a ninth of one with keywords.
    """
    kind, seat = deal.kind, chair.seat
    turn = Turn.__new__(Turn)
    turn.turn_id = turn_id
    turn.chair = chair
    turn.kind = kind  # type: ignore[assignment]  # a deal that is over asks nothing
    turn.legal = deal.legal()
    turn.hand = deal.hands[seat]
    turn.dealer = deal.dealer
    turn.history = deal.history
    turn.trick = deal.trick
    turn.leader = deal.leader if kind is Kind.PLAY else None
    turn.trump = deal.trump
    turn.pitcher = None if kind is Kind.BID else deal.pitcher
    turn.bid = deal.bid
    turn.turn_up = deal.turn_up
    turn.stock_count = len(deal.stock)
    turn.laid_away = deal.laid_away[seat]
    turn.scores = deal.scores
    turn.set_backs = game.set_backs
    turn.deal = game.deals
    turn.decision = decision
    turn.retry = retry
    turn.move_us = move_us
    turn.bank_us = bank_us
    return turn
