"""What a deal comes to."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OracleResult:
    """How a deal ended. Lists by party are by seat when each plays for self, else by side.

    thrown_in: no card was played because nobody bid. redeal: void because the stock ran out while running.
    pitcher: seat. items: owner (a party, or None) of each item. item_seats: the same as seats (None for Game between
    sides). pips: by seat. made: points of the items or point cards, by party. deltas: everything the deal changed,
    turned cards and gift included. scores, set_backs: after the deal. set_back: the party that failed its bid.
    winner: the party that won the game with this deal; reason: PITCHER_FIRST, COUNT_<item>, SMUDGE, DIFFERENCE,
    TURNED_JACK or GIFT (DP-35).
    """

    thrown_in: bool
    redeal: bool
    next_dealer: int
    pitcher: int | None
    bid: int | None
    trump: str | None
    items: dict[str, int | None]
    item_seats: dict[str, int | None]
    pips: list[int]
    made: list[int]
    deltas: list[int]
    scores: list[int]
    set_back: int | None
    set_backs: list[int]
    winner: int | None
    reason: str | None

    @property
    def game_over(self) -> bool:
        """Did this deal win the game for somebody?"""
        return self.winner is not None
