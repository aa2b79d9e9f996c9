"""What a bot held and saw at a position, what it did and what was legal: in words and cards, for every report."""

from collections.abc import Iterator
from typing import Any

from referee.cards import SUIT_NAMES, card_text, cards_in, cards_text, hand_text
from referee.check.cases import all_cases
from referee.check.position import Position, kind_name
from referee.check.results import Breach
from referee.rules import Deal, EventKind, Keeps, Kind, action_text, legal_text, unpack_event
from referee.rules.actions import EVENT_WORDS, seat_text, value_text

Scene = dict[str, Any]


def scene_of(breach: Breach) -> Scene:
    """A breach as JSON values that every report can show; empty where no position is known."""
    position = breach.position
    if position is None:
        return {}
    deal = position.reached()
    seat, kind, legal = deal.seat, deal.kind, deal.legal()
    assert kind is not None  # noqa: S101  # a position is one where something is to be decided
    return {
        "game": position.rules.title,
        "variant": position.rules.name,
        "seats": position.seats,
        "sides": position.rules.sides,
        "seat": seat,
        "dealer": deal.dealer,
        "kind": kind.name,
        "asked": kind_name(kind),
        "hand": hand_text(deal.hands[seat]),
        "cards_of_others": [hand.bit_count() for hand in deal.hands],
        "trump": None if deal.trump is None else SUIT_NAMES[deal.trump],
        "pitcher": deal.pitcher,
        "bid": deal.bid,
        "turn_up": None if deal.turn_up is None else card_text(deal.turn_up),
        "stock": len(deal.stock),
        "leader": deal.leader if deal.trick else None,
        "trick": [[(deal.leader + place) % deal.seats, card_text(card)] for place, card in enumerate(deal.trick)],
        "calls": _calls(deal),
        "history": list(_history(deal)),
        "scores": [deal.scores[deal.side(one)] for one in range(deal.seats)],
        "did": breach.did,
        "card": _card(breach, deal),
        "legal": _legal(deal),
        "legal_cards": _legal_cards(deal),
        "must": cards_text(cards_in(legal.must)).split() if isinstance(legal, Keeps) else [],
        "why": breach.sentence,
        "title": title_of(breach.origin),
        "house_rules": _deviations(position),
    }


def title_of(origin: str) -> str:
    """The title of the case that a position comes from, if it comes from one."""
    return next((case.title for case in all_cases() if case.id == origin), "")


def _card(breach: Breach, deal: Deal) -> str | None:
    if deal.kind is not Kind.PLAY or breach.action is None:
        return None
    text = action_text(deal.kind, breach.action)
    return text if len(text) == 2 else None


def _legal(deal: Deal) -> str:
    """What was legal, in words; where there is no choice among the cards to keep, just these."""
    legal = deal.legal()
    if isinstance(legal, Keeps) and not legal.may:
        return f"keep {hand_text(legal.must)}" if legal.must else "keep nothing"
    return "" if deal.kind is None else legal_text(deal.kind, legal)


def _legal_cards(deal: Deal) -> list[str]:
    """The cards that may be played, or may be kept."""
    legal = deal.legal()
    if isinstance(legal, Keeps):
        return cards_text(cards_in(legal.must | legal.may)).split()
    return [card_text(card) for card in legal] if deal.kind is Kind.PLAY else []


def _calls(deal: Deal) -> list[list[Any]]:
    """Who said what in the auction, in order."""
    events = map(unpack_event, deal.history)
    return [[one.seat, str(one.value) if one.value else "pass"] for one in events if one.kind is EventKind.BID]


_WORDS = {
    **EVENT_WORDS,
    EventKind.SHOW: "shows and lays away {}",
    EventKind.STOCK_TOP: "has on the stock {}",
}


def _history(deal: Deal) -> Iterator[str]:
    """Every public event so far, a line each."""
    for packed in deal.history:
        kind, seat, value = unpack_event(packed)
        if kind is EventKind.BID:
            told = f"bids {value}" if value else "passes"
        else:
            told = _WORDS[kind].format(value_text(kind, value))
        yield f"{seat_text(seat)} {told}"


def _deviations(position: Position) -> dict[str, Any]:
    """The house rules that make this game what it is, where they are not the variant's own."""
    from referee.rules import RuleSetError, variant

    rules = position.rules
    try:
        usual = variant(rules.name).as_dict()
    except RuleSetError:
        usual = {}
    return {name: value for name, value in rules.as_dict().items() if usual.get(name) != value}


def lines_of(scene: Scene) -> list[str]:
    """A scene in a few lines for a terminal."""
    if not scene:
        return []
    place = f"{scene['game']}, {scene['seats']} seats; it sat at {seat_text(scene['seat'])}, {seat_text(scene['dealer'])} dealt."
    lines = [scene["title"] + "." if scene["title"] else "", place]
    if scene["calls"]:
        lines.append("calls   " + ", ".join(f"{seat_text(seat)}: {call}" for seat, call in scene["calls"]))
    if scene["turn_up"]:
        lines.append(f"turned  {scene['turn_up']}")
    if scene["trick"]:
        lines.append("table   " + "  ".join(f"{seat_text(seat)}: {card}" for seat, card in scene["trick"]))
    trump = f"   (trump is {scene['trump']})" if scene["trump"] else ""
    lines += [f"held    {scene['hand']}{trump}", f"did     {scene['did']}", f"legal   {scene['legal']}"]
    if any(scene["scores"]):
        lines.insert(2, "scores  " + " ".join(map(str, scene["scores"])))
    return [line for line in lines if line]
