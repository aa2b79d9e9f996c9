"""Positions for the tests of the rules, the umpire and the views: stacked packs, random rule sets, random play."""

import contextlib
import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from referee.cards import (
    PACK,
    SUITS,
    Card,
    cards_text,
    hand_text,
    mask_of,
    parse_card,
    parse_cards,
    parse_hand,
    pips_in,
)
from referee.rules import Deal, Kind, RuleSet, RuleSetError, variant
from referee.rules.ruleset import allowed_values, meanings
from referee.rules.state import DealState

CONCEIVABLE: Final[dict[Kind, range]] = {Kind.BID: range(-2, 17), Kind.PLAY: range(-2, 67)}
"""Every action that a player could think of, the impossible ones included, by kind of decision."""

HAND_SIZES: Final = ((6, 3), (6, 3), (6, 3), (6, 1), (6, 2), (1, 1), (2, 1), (3, 3), (4, 2), (9, 3))
"""Sizes of a hand with a packet that divides it; the usual one most often."""


def stacked(hands: Sequence[str], dealer: int, packet: int = 3) -> tuple[Card, ...]:
    """A pack that deals these hands, given by seat; the rest of the pack follows in ascending order."""
    held = [parse_cards(hand) for hand in hands]
    seats = len(held)
    pack: list[Card] = []
    for start in range(0, len(held[0]), packet):
        for place in range(1, seats + 1):
            pack += held[(dealer + place) % seats][start : start + packet]
    parse_cards(cards_text(pack))  # raises CardError if two hands hold the same card
    return (*pack, *(card for card in PACK if card not in pack))


def rules_of(change: str | Mapping[str, Any]) -> RuleSet:
    """A variant by name, or the house rules changed in ``{"variant": name, field: value}`` (Auction Pitch if unnamed)."""
    if isinstance(change, str):
        return variant(change)
    changes = dict(change)
    return variant(changes.pop("variant", "auction-pitch")).with_rules(changes)


def start(
    hands: Sequence[str],
    *,
    dealer: int | None = None,
    rules: str | Mapping[str, Any] = "auction-pitch",
    scores: Sequence[int] = (),
) -> Deal:
    """A deal of these hands, given by seat, under these rules; the last seat deals if none is named.

    The size of a hand is that of the hands given, where it is not that of the rules.
    """
    dealer = len(hands) - 1 if dealer is None else dealer
    size, ruleset = len(hands[0].split()), rules_of(rules)
    if ruleset.hand_size != size:
        ruleset = ruleset.with_rules({"hand_size": size, "packet": 1})
    return Deal(ruleset, len(hands), dealer, stacked(hands, dealer, ruleset.packet), scores)


def call(deal: Deal, calls: Iterable[int]) -> Deal:
    """Makes these calls in turn."""
    for bid in calls:
        deal.act(bid)
    return deal


def pitch(deal: Deal, pitcher: int, bid: int) -> Deal:
    """Makes one seat the pitcher at that bid, all others passing (a bid of 0: all pass)."""
    while deal.kind is Kind.BID:
        deal.act(bid if deal.seat == pitcher else 0)
    assert deal.pitcher == pitcher
    return deal


def play(deal: Deal, cards: str) -> Deal:
    """Plays these cards in turn, each by the seat whose turn it is."""
    for word in cards.split():
        deal.act(parse_card(word))
    return deal


def to_play(
    hand: str, table: str = "", trump: str | None = "H", rules: str | Mapping[str, Any] = "auction-pitch"
) -> Deal:
    """A position in which seat A has to play from this hand, the cards on the table having been played before him.

    Four seats, or the number nearest to it that the game is for; the others' hands are empty. ``trump`` is the letter of
    the suit, ``None`` before the pitch.
    """
    ruleset = rules_of(rules)
    seats = min(max(4, ruleset.players[0]), ruleset.players[1])
    deal = Deal(ruleset, seats, seats - 1, PACK)
    played = parse_cards(table)
    deal.kind, deal.seat, deal.leader = Kind.PLAY, 0, -len(played) % seats
    deal.hands = [parse_hand(hand), *[0] * (seats - 1)]
    deal.trump = None if trump is None else SUITS.index(trump)
    deal.trick = list(played)
    deal.pitcher, deal.bid = 0, 2
    return deal


def taker_of(cards: str, trump: str = "H", rules: str | Mapping[str, Any] = "auction-pitch") -> tuple[int, int]:
    """Who takes the trick of these cards, played from seat A on, and how many pips are in it."""
    deal = pitch(start(cards.split(), rules=rules), 0, 2)
    deal.trump = SUITS.index(trump)
    play(deal, cards)
    winner = next(seat for seat, pile in enumerate(deal.taken) if pile)
    return winner, pips_in(deal.taken[winner])


def legal_cards(deal: Deal) -> str:
    """The legal cards of the seat to play, as text sorted like a hand."""
    return hand_text(mask_of(deal.legal()))


def play_out(deal: Deal, chance: random.Random) -> Deal:
    """Goes on with legal actions drawn at random until the deal is over."""
    while deal.kind is not None:
        deal.act(chance.choice(deal.legal()))
    return deal


def fields_of(deal: Deal) -> dict[str, Any]:
    """Every field of a deal, its lists copied: two deals in the same position have equal fields."""
    values = {name: getattr(deal, name) for name in DealState.__slots__}
    return {name: list(value) if isinstance(value, list) else value for name, value in values.items()}


def shuffled(chance: random.Random) -> tuple[Card, ...]:
    """A pack in chance order."""
    return tuple(chance.sample(PACK, len(PACK)))


def random_rules(chance: random.Random) -> tuple[RuleSet, int]:
    """House rules drawn at random for a game with one auction and a pitch, and a number of seats that can play it."""
    seats = chance.randint(2, 7)
    sides = chance.choice([0, 0, *(sides for sides in (2, 3) if seats % sides == 0)])
    size, packet = chance.choice([pair for pair in HAND_SIZES if pair[0] * seats <= 52])
    smudge = chance.choice(["none", "bid", "any"])
    game_points = chance.choice([1, 1, 1, 2, 9])
    highest = 4 if smudge == "bid" else chance.choice([3, 4, 4, 3 + game_points])
    lowest = chance.randint(1, 3)
    settlement = "none" if sides else chance.choice(["stakes", "none"])
    changes: dict[str, Any] = {
        "players": (seats, seats),
        "sides": sides,
        "hand_size": size,
        "packet": packet,
        "min_bid": lowest,
        "max_bid": highest,
        "steal": tuple(bid for bid in range(lowest, highest + 1) if chance.random() < 0.5),
        "top_bid_ends": chance.random() < 0.7,
        "all_pass": chance.choice(allowed_values("all_pass") or ()),
        "follow": chance.choice(["follow_or_trump", "strict"]),
        "low_to": chance.choice(["holder", "taker"]),
        "game_tie": chance.choice(["nobody", "elder", "pitcher", *(["non_dealer"] if 2 in (sides, seats) else [])]),
        "game_points": game_points,
        "pitcher_scores": chance.choice(["made", "bid"]),
        "target": chance.choice([1, 3, 5, 7, 7, 11]),
        "pitcher_first": chance.random() < 0.6,
        "smudge": smudge,
        "in_hole": chance.choice(["below_zero", "zero_or_below"]),
        "settlement": settlement,
        "settlement_set_backs": settlement == "stakes" and chance.random() < 0.5,
        "max_deals": chance.choice([1, 2, 4, 10]),
    }
    if changes["game_tie"] == "non_dealer" and (sides or seats) != 2:
        changes["game_tie"] = "elder"
    rules = variant("auction-pitch").with_rules(changes)
    if chance.random() < 0.3:
        rules = chance.choice([changed for changed in one_change(rules, seats) if changed.trump_by == "pitch"])
    return rules, seats


@cache
def one_change(rules: RuleSet, seats: int | None = None) -> tuple[RuleSet, ...]:
    """The rule sets that differ from this one in one house rule: one for each value that makes sense beside the others.

    With ``seats``, those that so many can play. Numbers and tables have no list of values, and are left as they are.
    """
    found = []
    for name in meanings():
        for value in allowed_values(name) or ():
            with contextlib.suppress(RuleSetError):
                changed = rules.with_rules({name: value})
                if seats:
                    changed.check_seats(seats)
                found.append(changed)
    return tuple(dict.fromkeys(changed for changed in found if changed != rules))


def seeded(seed: object) -> random.Random:
    """A source of chance that begins anew with the same seed."""
    return random.Random(str(seed))  # noqa: S311  # no secret: a test must meet the same cards again


def chances() -> st.SearchStrategy[random.Random]:
    """A source of chance that hypothesis owns: it shrinks, and a failure can be repeated."""
    return st.randoms(use_true_random=False)
