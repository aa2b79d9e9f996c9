"""A game: deals strung together until somebody wins or the cap is reached, and the settlement."""

from collections.abc import Mapping
from typing import Any

from .deal import OracleDeal
from .house_rules import Rules, complete
from .pack import party_count


def stakes(rules: Rules, scores: list[int], set_backs: list[int], winner: int | None) -> list[int]:
    """What each party gets (+) or pays (-), summing to 0 (1.1).

    1 if the payer's final score is 1 or more, 2 if it is 0 or less, and as a variation 1 more for each time the payer
    was set back (DP-28). Nothing is paid between sides (DP-29), without a winner, or where there are no stakes.
    """
    result = [0] * len(scores)
    if winner is None or rules["sides"] or rules["settlement"] == "none":
        return result
    for payer in range(len(scores)):
        if payer == winner:
            continue
        due = 1 if scores[payer] >= 1 else 2
        if rules["settlement_set_backs"]:
            due += set_backs[payer]
        result[payer] -= due
        result[winner] += due
    return result


class OracleGame:
    """A game. `scores` and `set_backs` are by party; `dealer` is the seat that deals next.

    When finished: `winner` is the party that won, None at the cap of deals, where nobody wins and nobody pays;
    `winners` holds the winner, or at the cap all with the best score; `reason` is that of the last deal, or CAP;
    `settlement` is by party.
    """

    def __init__(self, rules: Mapping[str, Any], seats: int, dealer: int = 0, scores: list[int] | None = None) -> None:
        self.rules = complete(rules)
        self.seats = seats
        self.dealer = dealer
        parties = party_count(self.rules, seats)
        self.scores = list(scores) if scores is not None else [0] * parties
        self.set_backs = [0] * parties
        self.deals = 0
        self.finished = False
        self.winner: int | None = None
        self.winners: list[int] = []
        self.reason: str | None = None
        self.settlement = [0] * parties

    def deal(self, deck: list[str]) -> OracleDeal:
        """The next deal. Raises ValueError when the game is finished or the deck is not the pack."""
        if self.finished:
            raise ValueError("game: it is finished; start a new one")
        return OracleDeal(self.rules, self.seats, self.dealer, deck, self.scores, self.set_backs)

    def close(self, deal: OracleDeal) -> None:
        """Take over the result of a deal that is over. Every deal counts toward the cap, thrown-in and void ones too
        (DP-03, DP-34). Raises ValueError while the deal still runs.
        """
        result = deal.result
        if result is None:
            raise ValueError(f"deal: it is not over, seat {deal.seat} must answer {deal.kind}")
        self.deals += 1
        self.scores, self.set_backs = list(result.scores), list(result.set_backs)
        self.dealer = result.next_dealer
        if result.winner is not None:
            self._finish([result.winner], result.reason)
        elif self.deals >= self.rules["max_deals"]:
            # DP-34: "then rank by score, ties shared"; a capped game pays no stakes, a sole leader's neither
            best = max(self.scores)
            self._finish([party for party in range(len(self.scores)) if self.scores[party] == best], "CAP")

    def _finish(self, winners: list[int], reason: str | None) -> None:
        self.finished = True
        self.winners, self.reason = winners, reason
        self.winner = None if reason == "CAP" else winners[0]
        self.settlement = stakes(self.rules, self.scores, self.set_backs, self.winner)
