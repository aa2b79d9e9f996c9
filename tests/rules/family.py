"""Deals of the games beyond Pitch, made to measure: the hands, the order of the stock, and what the seats say."""

from collections.abc import Sequence
from typing import Any

from referee.cards import PACK, Card, cards_text, parse_cards
from referee.rules import Deal, Event, EventKind, RuleSet, parse_action, unpack_event, variant


def packed(hands: Sequence[str], stock: str, dealer: int, packet: int = 3) -> tuple[Card, ...]:
    """A pack that deals these hands, given by seat, and leaves this stock on top of the other cards, ascending."""
    held = [parse_cards(hand) for hand in hands]
    pack: list[Card] = []
    for begin in range(0, len(held[0]), packet):
        for place in range(1, len(hands) + 1):
            pack += held[(dealer + place) % len(hands)][begin : begin + packet]
    pack += parse_cards(stock)
    parse_cards(cards_text(pack))  # raises CardError if a card is named twice
    return (*pack, *(card for card in PACK if card not in pack))


def deal_of(
    game: str | RuleSet,
    hands: Sequence[str],
    stock: str = "",
    *,
    dealer: int | None = None,
    scores: Sequence[int] = (),
    **changes: Any,
) -> Deal:
    """A deal of these hands under these rules; the last seat deals if none is named."""
    rules = (variant(game) if isinstance(game, str) else game).with_rules(changes)
    dealer = len(hands) - 1 if dealer is None else dealer
    return Deal(rules, len(hands), dealer, packed(hands, stock, dealer, rules.packet), scores)


def say(deal: Deal, *words: str) -> Deal:
    """Lets the seats act in turn: ``beg``, ``hearts``, ``keep AS KS``, ``QH``. Several cards may stand in one word."""
    for word in words:
        for part in [word] if word.startswith("keep") else word.split():
            assert deal.kind is not None, f"the deal is over before {part}"
            deal.act(parse_action(deal.kind, part))
    return deal


def said(deal: Deal, *kinds: EventKind) -> list[Event]:
    """The public events of these kinds, or all."""
    events = [unpack_event(packed_event) for packed_event in deal.history]
    return [event for event in events if not kinds or event.kind in kinds]
