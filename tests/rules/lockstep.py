"""Both rules engines before the same random positions: the same verdict on every action, the same count of every deal.

House rules, seats, packs, scores and actions are drawn at random from a seed, so a difference can be met again.

    python -m tests.rules.lockstep --positions 100000 --seed 1
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from referee.cards import SUITS, card_text, cards_text, hand_text, is_card
from referee.oracle import OracleDeal, OracleGame, OracleResult
from referee.rules import Call, Deal, Ending, EndReason, Game, GameResult, Kind, Outcome, RuleSet, action_text, variant
from tests.helpers import CONCEIVABLE, random_rules, seeded, shuffled

ITEMS = {"high": "H", "low": "L", "jack": "J", "game": "G"}
REASONS = {
    EndReason.COUNT_HIGH: "COUNT_H",
    EndReason.COUNT_LOW: "COUNT_L",
    EndReason.COUNT_JACK: "COUNT_J",
    EndReason.COUNT_GAME: "COUNT_G",
}


class Difference(AssertionError):
    """The two engines disagree. The message says about what, and all that is needed to meet it again."""


class Pair:
    """One game, played by both engines at once."""

    def __init__(self, chance: random.Random, rules: RuleSet, seats: int) -> None:
        self.chance, self.rules, self.seats = chance, rules, seats
        sides = rules.side_count(seats)
        lowest = chance.choice([-5, rules.target - 4])
        self.before = [chance.randint(lowest, rules.target - 1) for _ in range(sides)]
        set_backs = [chance.randint(0, 3) for _ in range(sides)]
        dealer = chance.randrange(seats)
        self.game = Game(rules, seats, dealer, self.before, set_backs)
        self.other_game = OracleGame(rules.as_dict(), seats, dealer, self.before)
        self.other_game.set_backs = list(set_backs)
        self.seen: Counter[str] = Counter()
        self.actions: list[str] = []
        self.pack = ""

    def play(self) -> Counter[str]:
        """Plays the game to its end; returns how often each thing was seen."""
        while self.game.result is None:
            self.play_deal()
        self.compare_game(self.game.result)
        return self.seen

    def play_deal(self) -> None:
        """Plays one deal; it can be over before anybody is asked."""
        pack = self.shuffle()
        self.pack, self.actions, self.before = cards_text(pack), [], list(self.game.scores)
        deal = self.game.deal_pack(pack)
        other = self.other_game.deal([card_text(card) for card in pack])
        timid = self.chance.random() < 0.3
        while deal.kind is not None:
            self.compare_position(deal, other)
            action = self.choose(deal, timid)
            self.actions.append(self.written(deal.kind, action))
            other.act(for_oracle(deal.kind, action))
            deal.act(action)
        self.same("kind at the end", None, other.kind)
        self.compare_outcome(deal, other)
        assert deal.outcome is not None
        self.game.close(deal.outcome)
        self.other_game.close(other)
        self.same("scores after the deal", self.game.scores, self.other_game.scores)
        self.same("set-backs after the deal", self.game.set_backs, self.other_game.set_backs)
        self.same("game over", self.game.result is not None, self.other_game.finished)
        self.same("next dealer", self.game.dealer, self.other_game.dealer)

    def shuffle(self) -> Sequence[int]:
        """The pack of the next deal."""
        return shuffled(self.chance)

    def written(self, kind: Kind, action: int) -> str:
        """An action as a difference tells it."""
        return action_text(kind, action)

    def choose(self, deal: Deal, timid: bool) -> int:
        """A legal action drawn at random; in a timid deal mostly a pass, so that all pass now and then."""
        legal = deal.legal()
        if timid and deal.kind is Kind.BID and 0 in legal and self.chance.random() < 0.8:
            return 0
        return self.chance.choice(legal)

    def compare_position(self, deal: Deal, other: OracleDeal) -> None:
        """The same seat, the same decision, the same verdict on every action that one could think of."""
        assert deal.kind is not None
        self.same("kind", deal.kind.name, other.kind)
        self.same("seat", deal.seat, other.seat)
        ours = [action for action in CONCEIVABLE[deal.kind] if deal.verify(action) is None]
        theirs = [action for action in CONCEIVABLE[deal.kind] if other.judge(for_oracle(deal.kind, action))]
        self.same("legal actions", ours, theirs)
        self.same("the list of legal actions", list(deal.legal()), ours)
        self.seen["positions"] += 1
        self.seen[deal.kind.name] += 1

    def compare_outcome(self, deal: Deal, other: OracleDeal) -> None:
        """The same items, pips, points, set-back."""
        outcome, result = deal.outcome, other.result
        assert outcome is not None
        assert result is not None
        self.same("no card played", outcome.ending is not Ending.PLAYED, result.thrown_in)
        self.same("redeal", False, result.redeal)
        self.same("pitcher", outcome.pitcher, result.pitcher)
        self.same("bid", outcome.bid, result.bid or 0)
        self.same("trump", None if outcome.trump is None else SUITS[outcome.trump], result.trump)
        self.compare_items(deal, outcome, result)
        self.same("points made", list(outcome.made), result.made)
        self.compare_totals(deal, outcome, result)

    def compare_totals(self, deal: Deal, outcome: Outcome, result: OracleResult) -> None:
        """The same pips, deltas and set-back."""
        pips = [0] * self.rules.side_count(self.seats)
        for seat, figure in enumerate(result.pips):
            pips[deal.side(seat)] += figure
        self.same("pips", list(outcome.pips), pips)
        self.same("deltas", list(outcome.deltas), result.deltas)
        self.same("set back", outcome.set_back, result.set_back)
        self.seen["deals"] += 1
        self.seen[outcome.ending.name] += 1
        self.seen["set-backs"] += outcome.set_back is not None

    def compare_items(self, deal: Deal, outcome: Outcome, result: OracleResult) -> None:
        ours = {ITEMS[award.item]: deal.side(award.seat) for award in outcome.awards}
        self.same("items", ours, {item: side for item, side in result.items.items() if side is not None})
        seats = {ITEMS[award.item]: award.seat for award in outcome.awards}
        for item, seat in result.item_seats.items():
            if seat is not None:
                self.same(f"seat of {item}", seats[item], seat)
        self.seen["all four items"] += outcome.all_four is not None

    def compare_game(self, result: GameResult) -> None:
        """The same winner, reason and settlement; at the cap of deals the same best scores, and nobody pays."""
        other = self.other_game
        self.compare_reason(result)
        self.same("final scores", list(result.scores), other.scores)
        if result.reason is EndReason.CAP:
            best = [side for side, place in enumerate(result.places) if place == 1]
            self.same("best at the cap", best, other.winners)
        else:
            self.same("winner by count", [result.winner], other.winners)
        self.same("winner", result.winner, other.winner)
        self.same("settlement", list(result.stakes), other.settlement)
        self.seen["games"] += 1
        self.seen[result.reason.name] += 1

    def compare_reason(self, result: GameResult) -> None:
        self.same("reason", REASONS.get(result.reason, result.reason.name), self.other_game.reason)

    def same(self, what: str, ours: object, theirs: object) -> None:
        if ours != theirs:
            raise Difference(
                f"{what}: the engine says {ours!r}, the oracle {theirs!r}\n"
                f"  rules: {changes(self.rules)}, seats: {self.seats}\n"
                f"  dealer: {self.game.dealer}, before: {self.before}\n"
                f"  pack: {self.pack}\n  actions: {' '.join(self.actions)}"
            )


def for_oracle(kind: Kind, action: int) -> int | str | frozenset[str]:
    """An action as the oracle reads it; what is no call, suit or card becomes a text that is none."""
    match kind:
        case Kind.BID:
            return action
        case Kind.PLAY:
            return card_text(action) if is_card(action) else f"number {action}"
        case Kind.NAME_TRUMP:
            return SUITS[action] if 0 <= action < 4 else f"suit {action}"
        case Kind.DISCARD:
            return frozenset(hand_text(action).split())
    return Call(action).name if action in tuple(Call) else f"call {action}"


def changes(rules: RuleSet) -> dict[str, Any]:
    """The house rules that differ from Auction Pitch."""
    base = variant("auction-pitch").as_dict()
    return {name: value for name, value in rules.as_dict().items() if value != base[name]}


def variants_too(chance: random.Random) -> tuple[RuleSet, int]:
    """House rules drawn at random, or now and then a game just as the registry has it."""
    if chance.random() < 0.7:
        return random_rules(chance)
    rules = variant(chance.choice(["auction-pitch", "auction-pitch-forced", "smudge", "partnership-pitch"]))
    low, high = rules.players
    return rules, chance.choice(range(low, high + 1, rules.sides or 1))


def compare(positions: int, seed: int, tell: Callable[[Counter[str]], None] = lambda seen: None) -> Counter[str]:
    """Compares that many positions at least; raises ``Difference``."""
    seen: Counter[str] = Counter()
    number = 0
    while seen["positions"] < positions:
        chance = seeded(f"{seed}/{number}")
        seen += Pair(chance, *variants_too(chance)).play()
        number += 1
        tell(seen)
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description="Sets both rules engines before the same random positions.")
    parser.add_argument("--positions", type=int, default=100_000, help="how many positions to compare at least")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    began = time.monotonic()
    try:
        seen = compare(options.positions, options.seed)
    except Difference as difference:
        sys.exit(str(difference))
    counts = ", ".join(f"{count} {name}" for name, count in sorted(seen.items(), key=lambda pair: -pair[1]))
    sys.stdout.write(f"no difference in {time.monotonic() - began:.0f} s: {counts}\n")


if __name__ == "__main__":
    main()
