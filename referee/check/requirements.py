"""What is asked of a bot in one check: the clauses of each game and those of conduct, which of them are selected, and which can arise at all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from referee.cards import PACK, PACK_MASK, Mask
from referee.rules import Action, Call, Deal, Keeps, Kind, RuleSet
from referee.rules.conduct_clauses import CONDUCT, EDITIONS, ROBUST, WHOLE_BOOK
from referee.rules.rulebook import Clause, Level, clause_text, clauses_of
from referee.rules.ruleset import HELD
from referee.rules.turn_up import RUN


def breakable(deal: Deal) -> frozenset[str]:
    """The ids of the clauses that the seat to decide could break now."""
    refused = (deal.verify(action) for action in conceivable(deal))
    return frozenset(violation.rule for violation in refused if violation is not None)


def conceivable(deal: Deal) -> Iterator[Action]:
    """What a bot might answer: everything legal and illegal that a clause tells apart, not every number there is.

    Of the cards in a hand the clauses tell those that may be played, trumps that may not, and plain cards that may not.
    """
    match deal.kind:
        case Kind.BID:
            yield from range(-1, deal.rules.max_bid + 2)
        case Kind.PLAY:
            hand = deal.hands[deal.seat]
            wrong = hand & ~sum(1 << card for card in deal.legal())
            yield from (_one_of(cards) for cards in (hand & ~wrong, wrong & deal.trumps, wrong & ~deal.trumps) if cards)
            yield _one_of(PACK_MASK & ~hand)
        case Kind.DISCARD:
            legal = deal.legal()
            if isinstance(legal, Keeps) and len(legal):
                yield from _keeps(deal.hands[deal.seat], legal)
        case Kind.NAME_TRUMP:
            yield from range(-1, 5)
        case Kind.STAND_OR_BEG | Kind.ANSWER_BEG:
            yield from Call


def _keeps(hand: Mask, legal: Keeps) -> Iterator[Mask]:
    """A legal set of cards, and what it takes to make it wrong: one card more, one less, one for another."""
    kept = legal[0]
    stranger = 1 << _one_of(PACK_MASK & ~hand)
    yield kept | stranger
    if kept:
        yield kept & (kept - 1)
        yield kept & (kept - 1) | stranger
    for others in (hand & ~(legal.must | legal.may), legal.may & ~kept):
        if others:
            other = 1 << _one_of(others)
            yield kept | other
            yield from (kept & ~(1 << _one_of(cards)) | other for cards in (kept & legal.must, kept) if cards)


def _one_of(cards: Mask) -> int:
    return (cards & -cards).bit_length() - 1


LEAST = 3
"""How often a rule has to be put to a bot before its silence on it counts as a pass."""

ONLY_LONG = frozenset({"AF-ROBUST-007"})
"""Clauses that need an endurance run."""

AREAS = tuple(dict.fromkeys(entry.id.split("-")[1] for entry in WHOLE_BOOK))


class SelectionError(ValueError):
    """A filter, an edition or a rule id that matches nothing. The message says what there is."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One clause for one game; ``variant`` is empty for clauses of conduct, which hold for the whole session."""

    clause: Clause
    variant: str = ""
    rules: RuleSet | None = None

    @property
    def id(self) -> str:
        """The id of the clause."""
        return self.clause.id

    @property
    def key(self) -> str:
        """Clause and variant, as ``AF-PLAY-004/variant:cinch``."""
        return key_of(self.clause.id, self.variant)

    @property
    def sentence(self) -> str:
        """The clause in one sentence, with the values of the house rules."""
        return clause_text(self.clause, self.rules) if self.rules else self.clause.sentence


def key_of(rule: str, variant: str) -> str:
    """The key of a rule and a variant."""
    return f"{rule}/variant:{variant}" if variant else rule


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules are asked for: by pattern of id, by area; empty = all. ``edition`` freezes the rule book."""

    rules: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    edition: str = EDITIONS[-1]
    long: bool = False

    def check(self) -> None:
        """Raises ``SelectionError`` for a pattern, an area or an edition that matches nothing at all."""
        for pattern in self.rules:
            if not any(fnmatchcase(entry.id, pattern.upper()) for entry in WHOLE_BOOK):
                raise SelectionError(
                    f"--rule {pattern}: no such rule; rule ids look like AF-PLAY-003, AF-PLAY-* is a pattern"
                )
        for area in self.areas:
            if area.upper() not in AREAS:
                raise SelectionError(f"--area {area}: no such area; the areas are {', '.join(AREAS)}")
        if self.edition not in EDITIONS:
            raise SelectionError(f"--ruleset {self.edition}: no such edition; there are {', '.join(EDITIONS)}")

    def wants(self, entry: Clause) -> bool:
        """Whether a clause is asked for."""
        if _age(entry.since) > _age(self.edition) or (entry.id in ONLY_LONG and not self.long):
            return False
        if self.rules and not any(fnmatchcase(entry.id, pattern.upper()) for pattern in self.rules):
            return False
        return not self.areas or entry.id.split("-")[1] in {area.upper() for area in self.areas}


@dataclass(frozen=True, slots=True)
class Requirements:
    """All that is asked of a bot, by key."""

    of: dict[str, Requirement] = field(default_factory=dict)

    def binding(self) -> list[Requirement]:
        """Those that bind the bot, that is all but INFO."""
        return [entry for entry in self.of.values() if entry.clause.level is not Level.INFO]

    def wants(self, *rules: str) -> bool:
        """Whether any of these rule ids is asked for, in any variant."""
        return any(entry.id in rules for entry in self.of.values())


def requirements(games: Sequence[RuleSet], selection: Selection) -> Requirements:
    """The selected requirements of these games; raises ``SelectionError`` if the selection leaves none that binds."""
    found = [
        Requirement(entry, rules.name, rules)
        for rules in games
        for entry in clauses_of(rules)
        if selection.wants(entry)
    ]
    found += [Requirement(entry) for entry in (*CONDUCT, *ROBUST) if selection.wants(entry)]
    chosen = Requirements({entry.key: entry for entry in found})
    if not chosen.binding():
        games_text = ", ".join(rules.name for rules in games) or "no game"
        raise SelectionError(f"the filters leave no rule that binds a bot in {games_text}")
    return chosen


def _age(edition: str) -> tuple[int, ...]:
    return tuple(map(int, edition.split(".")))


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
