"""Which clauses can arise at all: a clause that no decision of a game can break is not applicable to it.

The auction is tried out: a call is judged by the calls before it and never by a card, so that every course which the
umpire tells apart can be walked through. The other clauses bind cards, and there are too many packs for that: here
stands, for each that some house rules or numbers of seats rule out, what it takes for it to arise. The tests hold both
to the umpire: no clause is ruled out that a search among stacked and shuffled packs brings up, and that search brings
up every other.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from referee.cards import PACK
from referee.check.opportunity import breakable
from referee.rules import Action, Deal, Kind, RuleSet
from referee.rules.rulebook import Level, clauses_of
from referee.rules.ruleset import HELD
from referee.rules.turn_up import RUN

_TELLING: Final = 4
"""Bids of an auction that differ in what they leave to the next seat: the lowest ones, the highest, those to steal."""


def cannot_arise(rules: RuleSet, seats: Sequence[int]) -> dict[str, str]:
    """The clauses that bind a bot in this game and cannot come up with any of these numbers of seats: id to reason."""
    found: dict[str, str] = {}
    each = [_with(rules, number) for number in seats]
    for entry in clauses_of(rules):
        if entry.level is not Level.INFO and each and all(entry.id in ruled_out for ruled_out in each):
            found[entry.id] = each[-1][entry.id]
    return found


@cache
def _with(rules: RuleSet, seats: int) -> dict[str, str]:
    found = dict(_of_cards(rules, seats))
    if rules.has_auction:
        heard = _auction(rules, seats)
        told = f"whatever {seats} seats say one after the other, no call can break it"
        found |= {
            entry.id: told for entry in clauses_of(rules) if entry.id.startswith("AF-BID-") and entry.id not in heard
        }
    return found


def _auction(rules: RuleSet, seats: int) -> frozenset[str]:
    """The clauses that a call could break in some auction."""
    heard: set[str] = set()
    seen: set[tuple[int, int, bool]] = set()
    ways: list[tuple[Action, ...]] = [()]
    while ways:
        way = ways.pop()
        deal = Deal(rules, seats, seats - 1, PACK)
        for call in way:
            deal.apply(call)
        state = (deal.seat, deal.bid, deal.pitcher is None)
        if deal.kind is not Kind.BID or state in seen:
            continue
        seen.add(state)
        heard |= breakable(deal)
        ways += [(*way, call) for call in _telling(rules, deal.legal())]
    return frozenset(heard)


def _telling(rules: RuleSet, calls: Sequence[Action]) -> set[Action]:
    """All calls, or of very many those that differ in what they leave to the seats behind."""
    if len(calls) <= 8 * _TELLING:
        return set(calls)
    return {*calls[:_TELLING], *calls[-_TELLING:], *(call for call in calls if call in rules.steal)}


def _of_cards(rules: RuleSet, seats: int) -> Iterator[tuple[str, str]]:
    """The clauses about cards that cannot come up, each with the reason."""
    runs = _runs(rules, seats)
    if rules.trump_by == "turn_up" and rules.lays_away and not _asked_to_keep(rules, runs):
        told = f"the pack does not serve {seats} seats a run after which cards are laid away"
        yield "AF-DRAW-001", told
        yield "AF-DRAW-002", told
    if rules.discard != "none":
        yield from _of_discards(rules, seats)
    # A seat has a choice of cards only while it holds two; where the first lead is the pitch, that lead is a trump.
    most = _most_held(rules, runs)
    last = most - 1 if rules.trump_by == "pitch" and rules.stock == "none" else most
    if most < 2:
        yield "AF-PLAY-002", "nobody holds two cards when a trump is led"
        yield "AF-PLAY-008", "nobody holds two cards when a trump is led"
    if last < 2:
        yield "AF-PLAY-003", "nobody holds two cards when a plain suit is led"
        yield "AF-PLAY-004", "nobody holds two cards when a plain suit is led"
    if last < 2 or seats < 3:
        told = (
            "nobody holds two cards when a plain suit is led"
            if last < 2
            else "nobody plays behind a trump on a plain lead"
        )
        yield "AF-PLAY-005", told


def _runs(rules: RuleSet, seats: int) -> int:
    """How often the cards can be run in one deal."""
    if rules.trump_by != "turn_up":
        return 0
    return max(len(PACK) - seats * rules.hand_size - 2, 0) // (RUN * seats + 1)


def _asked_to_keep(rules: RuleSet, runs: int) -> bool:
    return runs >= (2 if rules.after_run == "keep_once" else 1)


def _most_held(rules: RuleSet, runs: int) -> int:
    """The most cards that a seat can hold when the first card is led."""
    if rules.discard != "none":
        return HELD
    if rules.after_run == "keep":
        return rules.hand_size + RUN * runs
    if rules.after_run == "keep_once":
        return rules.hand_size + RUN * min(runs, 1)
    return rules.hand_size


def _of_discards(rules: RuleSet, seats: int) -> Iterator[tuple[str, str]]:
    many = rules.hand_size > HELD or rules.rob == "dealer"
    if not many or (rules.discard == "pidro" and not rules.point_cards):
        told = f"nobody holds more than {HELD} trumps when cards are laid away"
        yield "AF-DRAW-005", told if not many else "no trump scores by itself"
    if rules.rob == "dealer" or rules.hand_size > HELD:
        return
    # A hand of six: how many are kept is in doubt only where the stock cannot fill what the trumps leave.
    left = len(PACK) - seats * HELD - (seats - 1) * HELD
    if rules.discard == "pidro" or left >= HELD:
        yield "AF-DRAW-002", "the trumps alone say which cards are kept"
