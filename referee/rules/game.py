"""Deals strung together to the target: dealer, scores, who is out first, settlement."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from referee.cards import Card
from referee.rules.deal import Deal
from referee.rules.ruleset import RuleSet
from referee.rules.scoring import AT_ONCE
from referee.rules.state import Ending, Outcome, by_side


class EndReason(StrEnum):
    """Why a game is over (DP-35)."""

    SMUDGE = "smudge"
    PITCHER_FIRST = "pitcher first"
    COUNT_HIGH = "by High"
    COUNT_LOW = "by Low"
    COUNT_JACK = "by Jack"
    COUNT_GAME = "by Game"
    TARGET = "target reached"
    TURNED_CARD = "turned card"
    GIFT = "gift"
    CAP = "cap of deals"


@dataclass(frozen=True, slots=True)
class GameResult:
    """The end of a game. Lists are by side. ``winner`` is ``None`` only at the cap of deals.

    ``places`` are 1 for the best, equal places sharing the number; ``stakes`` sum to zero.
    """

    winner: int | None
    reason: EndReason
    scores: tuple[int, ...]
    places: tuple[int, ...]
    stakes: tuple[int, ...]


class Game:
    """One game: ``deal_pack`` starts a deal, ``close`` books its outcome. Mutable.

    ``scores`` and ``set_backs`` are by side, ``deals`` counts the deals closed, ``dealer`` deals the next one.
    """

    __slots__ = ("dealer", "deals", "result", "rules", "scores", "seats", "set_backs")

    def __init__(
        self,
        rules: RuleSet,
        seats: int,
        first_dealer: int = 0,
        scores: Sequence[int] = (),
        set_backs: Sequence[int] = (),
    ) -> None:
        """Scores and set-backs are by side, all zero if left out.

        Raises ``RuleSetError`` if the game is not for that many seats, ``ValueError`` if the dealer is no seat or a list
        is not one a side.
        """
        rules.check_seats(seats)
        if not 0 <= first_dealer < seats:
            raise ValueError(f"first dealer {first_dealer} is not a seat of 0..{seats - 1}")
        self.rules, self.seats, self.dealer = rules, seats, first_dealer
        sides = rules.side_count(seats)
        self.scores = by_side(scores, sides, "scores")
        self.set_backs = by_side(set_backs, sides, "set_backs")
        self.deals = 0
        self.result: GameResult | None = None

    def deal_pack(self, pack: Sequence[Card]) -> Deal:
        """The next deal, from this pack."""
        return Deal(self.rules, self.seats, self.dealer, pack, self.scores)

    def close(self, outcome: Outcome) -> GameResult | None:
        """Books a finished deal; returns the result if the game is over, else moves the deal on."""
        before = tuple(self.scores)
        for side, delta in enumerate(outcome.deltas):
            self.scores[side] += delta
        if outcome.set_back is not None:
            self.set_backs[outcome.set_back] += 1
        self.deals += 1
        won = decide(self.rules, before, self.scores, outcome)
        if won:
            self.result = self._result(*won)
        elif self.deals >= self.rules.max_deals:
            self.result = self._result(None, EndReason.CAP)
        if not self._same_dealer(outcome):
            self.dealer = (self.dealer + 1) % self.seats
        return self.result

    def _same_dealer(self, outcome: Outcome) -> bool:
        """Whether the deal does not count as the dealer's turn (AF-BID-008, AF-TRUMP-010)."""
        thrown_in = outcome.ending is Ending.THROWN_IN and self.rules.all_pass == "thrown_in_same_dealer"
        return thrown_in or outcome.ending is Ending.VOID

    def _result(self, winner: int | None, reason: EndReason) -> GameResult:
        stakes = settlement(self.rules, winner, self.scores, self.set_backs)
        return GameResult(winner, reason, tuple(self.scores), finishing_places(winner, self.scores), stakes)


_COUNTED = {
    "high": EndReason.COUNT_HIGH,
    "low": EndReason.COUNT_LOW,
    "jack": EndReason.COUNT_JACK,
    "game": EndReason.COUNT_GAME,
    "turn up": EndReason.TURNED_CARD,
    "gift": EndReason.GIFT,
}


def decide(
    rules: RuleSet, before: Sequence[int], after: Sequence[int], outcome: Outcome
) -> tuple[int, EndReason] | None:
    """Who is out first, and by what: smudge, then the pitcher's side, then items in order (AF-SCORE-010 to 015).

    ``before`` and ``after`` are the scores by side around the deal.
    """
    smudger = _smudger(rules, before, outcome)
    if smudger is not None:
        return smudger, EndReason.SMUDGE
    pitching = None if outcome.pitcher is None else rules.side(outcome.pitcher)
    if rules.pitcher_first and pitching is not None and after[pitching] >= rules.target:
        return pitching, EndReason.PITCHER_FIRST
    running = list(before)
    for award in outcome.awards:
        side = rules.side(award.seat)
        if side == pitching and (rules.pitcher_first or outcome.set_back == side):
            continue
        running[side] = min(running[side] + award.points, before[side] + outcome.deltas[side])
        if running[side] >= rules.target:
            return side, _reason(rules, award.item)
    return _by_difference(rules, after)


def _reason(rules: RuleSet, item: str) -> EndReason:
    by_item = rules.scoring == "items" or item in AT_ONCE
    return _COUNTED[item] if by_item else EndReason.TARGET


def _by_difference(rules: RuleSet, after: Sequence[int]) -> tuple[int, EndReason] | None:
    """Where the other side also scores the bid that failed, that may be more than its points (AF-SCORE-023)."""
    if rules.score_style == "difference":
        for side, score in enumerate(after):
            if score >= rules.target:
                return side, EndReason.TARGET
    return None


def _smudger(rules: RuleSet, before: Sequence[int], outcome: Outcome) -> int | None:
    side = outcome.all_four
    if side is None or rules.smudge == "none":
        return None
    if rules.smudge == "any":
        return side
    if outcome.pitcher is None or side != rules.side(outcome.pitcher) or outcome.bid < 4:
        return None
    hole = before[side] < 0 if rules.in_hole == "below_zero" else before[side] <= 0
    return None if hole else side


def finishing_places(winner: int | None, scores: Sequence[int]) -> tuple[int, ...]:
    """Places by side, 1 the best: the winner first, the others by score, equal scores sharing a place."""

    def key(side: int) -> tuple[bool, int]:
        return (side == winner, scores[side])

    return tuple(1 + sum(key(other) > key(side) for other in range(len(scores))) for side in range(len(scores)))


def settlement(rules: RuleSet, winner: int | None, scores: Sequence[int], set_backs: Sequence[int]) -> tuple[int, ...]:
    """Stakes by side, summing to zero: what each loser pays the winner (AF-SCORE-016, 017)."""
    stakes = [0] * len(scores)
    if winner is None or rules.settlement == "none":
        return tuple(stakes)
    for side, score in enumerate(scores):
        if side != winner:
            stakes[side] = -((1 if score >= 1 else 2) + (set_backs[side] if rules.settlement_set_backs else 0))
    stakes[winner] = -sum(stakes)
    return tuple(stakes)
