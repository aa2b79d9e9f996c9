"""Both rules engines in step through the games that ask more than an auction: turned-up trump, naming, discards, draws.

python -m tests.rules.lockstep_family --positions 100000 --seed 1 [--variant cinch]
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from referee.cards import PACK, SUITS, Mask, cards_in, hand_text, parse_hand
from referee.oracle import OracleDeal
from referee.rules import Deal, Ending, EndReason, GameResult, Keeps, Kind, RuleSet, variant, variant_names
from referee.rules.scoring import AT_ONCE
from tests.helpers import one_change, seeded
from tests.rules.lockstep import Difference, Pair, for_oracle

GAMES: Final = tuple(name for name in variant_names() if variant(name).trump_by != "pitch" or name == "pedro")
"""The games beyond Pitch."""

ITEMS: Final = {
    "high": "H",
    "low": "L",
    "jack": "J",
    "game": "G",
    "three": "3",
    "right pedro": "5",
    "left pedro": "left5",
    "nine": "9",
}
CALLS: Final = range(-1, 7)
SUIT_NUMBERS: Final = range(-2, 6)
POINT_REASONS: Final = {f"COUNT_{item.upper()}" for item in ITEMS.values()} | {"DIFFERENCE"}
"""Where single trumps score, our engine says only that the target was reached, and the oracle by which of them."""

MOST_WAYS: Final = 5000
"""Ways to keep cards that are all gone through; of more, 1,000."""

THOROUGH: Final = 0.1
"""Share of the decisions about cards to keep at which that is done: it takes time."""

CHANGES: Final[dict[str, tuple[dict[str, Any], ...]]] = {
    "turn_up": (
        {"jack_turns": "fixing"},
        {"gift_to": "opponents"},
        {"gift_out": True},
        {"gift_out": True, "gift_to": "opponents", "jack_turns": "fixing"},
        {"after_run": "keep"},
        {"stock_out": "turn_last"},
        {"turned_scores": {"A": 1, "2": 2, "J": 3}},
        {"low_to": "taker", "game_tie": "nobody"},
        {"follow": "no_undertrump", "hang_jack": 3, "game_points": 2},
        {"follow": "strict", "target": 4},
    ),
    "cut": ({"low_to": "holder"}, {"game_tie": "elder"}, {"follow": "no_undertrump"}),
    "pitch": (
        {"point_cards": {"A": 1, "2": 1, "J": 1, "T": 1, "5": 5, "9": 9}, "max_bid": 18},
        {"point_cards": {"9": 9, "5": 5, "3": 3, "T": 1, "J": 1, "2": 1, "A": 1}, "max_bid": 21, "target": 12},
        {"left_pedro": True, "max_bid": 14},
        {"all_pass": "dealer_forced", "low_to": "holder"},
        {"pitcher_first": False, "target": 12, "pitcher_scores": "bid"},
        {"steal_by": "anyone", "steal": [2, 5, 9]},
    ),
    "name": (
        {"score_style": "difference"},
        {"score_style": "difference", "target": 20, "pitcher_first": False},
        {"target": 12, "pitcher_first": False},
        {"rob": "none"},
        {"first_lead": "eldest"},
        {"all_pass": "thrown_in_same_dealer"},
        {"steal": [14], "steal_by": "dealer"},
        {"steal": [14], "steal_by": "anyone"},
        {"top_bid_ends": False},
        {"low_to": "holder"},
    ),
}
"""House rules to be changed together, or to a number or a table, by what fixes trump. The others are changed one by one."""


class FamilyPair(Pair):
    """One game beyond Pitch, played by both engines at once."""

    def __init__(self, chance: random.Random, rules: RuleSet, seats: int) -> None:
        super().__init__(chance, rules, seats)
        self.before = [chance.randint(0, rules.target - 1) for _ in self.before]
        self.game.scores[:] = self.before
        self.other_game.scores = list(self.before)

    def shuffle(self) -> Sequence[int]:
        """The pack of the next deal; now and then one in which runs go on."""
        pack = tuple(self.chance.sample(PACK, 52))
        if self.rules.trump_by == "turn_up" and self.chance.random() < 0.3:
            return one_suit_up(self.chance, pack, self.seats, self.rules.hand_size)
        return pack

    def written(self, kind: Kind, action: int) -> str:
        return f"{kind.name} {for_oracle(kind, action)}"

    def choose(self, deal: Deal, timid: bool) -> int:
        """A legal action drawn at random; in a timid deal mostly a pass, a beg, a run."""
        legal = deal.legal()
        if timid and deal.kind in (Kind.STAND_OR_BEG, Kind.ANSWER_BEG) and self.chance.random() < 0.8:
            return legal[-1]
        if deal.kind is Kind.BID and self.chance.random() < 0.5:
            return legal[0]  # or else random bids leave no room between 1 and 14
        return super().choose(deal, timid)

    def compare_position(self, deal: Deal, other: OracleDeal) -> None:
        """The same seat, the same decision, the same verdict on every action, or on many ways to keep cards."""
        kind = deal.kind
        assert kind is not None
        self.same("kind", kind.name, other.kind)
        self.same("seat", deal.seat, other.seat)
        self.same("trump", None if deal.trump is None else SUITS[deal.trump], other.trump)
        self.same("scores", list(deal.scores), other.scores)
        for seat in range(self.seats):
            self.same(f"hand of seat {seat}", set(hand_text(deal.hands[seat]).split()), self.held(deal, other, seat))
        legal = deal.legal()
        if isinstance(legal, Keeps):
            self.compare_keeps(deal, legal, other)
        else:
            every = {Kind.BID: range(-2, 24), Kind.PLAY: range(-2, 67), Kind.NAME_TRUMP: SUIT_NUMBERS}.get(kind, CALLS)
            ours = [action for action in every if deal.verify(action) is None]
            theirs = [action for action in every if other.judge(for_oracle(kind, action))]
            self.same("legal actions", ours, theirs)
            self.same("the list of legal actions", list(legal), ours)
        self.seen["positions"] += 1
        self.seen[kind.name] += 1

    def held(self, deal: Deal, other: OracleDeal, seat: int) -> set[str]:
        """A hand by the oracle; a dealer who robs has taken the stock in hand already by ours."""
        robs = deal.kind is Kind.DISCARD and seat == deal.seat == deal.dealer and self.rules.rob == "dealer"
        return {*other.hands[seat], *(other.stock if robs and self.rules.discard != "none" else ())}

    def compare_keeps(self, deal: Deal, keeps: Keeps, other: OracleDeal) -> None:
        """The same cards to be kept, and the same verdict on good and bad ways to keep cards."""
        choice = other.choice()
        must, may = parse_hand(" ".join(choice.must)), parse_hand(" ".join(choice.may))
        if choice.count == len(choice.may):
            must, may = must | may, 0
        elif choice.count == 0:
            may = 0
        ours = (keeps.must, keeps.may) if len(keeps) > 1 else (keeps[0], 0)
        self.same("cards to be kept", (*ours, keeps.size), (must, may, len(choice.must) + choice.count))
        hand = cards_in(deal.hands[deal.seat])
        for kept in self.ways_to_keep(keeps):
            spoilt = kept
            for _ in range(self.chance.randrange(3)):
                spoilt ^= 1 << self.chance.choice(hand if self.chance.random() < 0.8 else PACK)
            self.compare_keep(deal, keeps, other, spoilt)
        if self.chance.random() < THOROUGH:
            for kept in keeps if len(keeps) <= MOST_WAYS else self.ways_to_keep(keeps, 1000):
                self.compare_keep(deal, keeps, other, kept)
            self.seen["discards gone through"] += 1

    def ways_to_keep(self, keeps: Keeps, count: int = 6) -> list[Mask]:
        """So many legal ways to keep cards, drawn at random."""
        return [keeps[self.chance.randrange(len(keeps))] for _ in range(count)]

    def compare_keep(self, deal: Deal, keeps: Keeps, other: OracleDeal, kept: Mask) -> None:
        verdict = deal.verify(kept) is None
        self.same(f"keeping {hand_text(kept)}", verdict, other.judge(for_oracle(Kind.DISCARD, kept)))
        self.same(f"{hand_text(kept)} in the list", verdict, kept in keeps)

    def compare_outcome(self, deal: Deal, other: OracleDeal) -> None:
        """The same ending, items, points, pips, deltas."""
        outcome, result = deal.outcome, other.result
        assert outcome is not None
        assert result is not None
        self.same("thrown in", outcome.ending in (Ending.THROWN_IN, Ending.SET_BACK), result.thrown_in)
        self.same("void", outcome.ending is Ending.VOID, result.redeal)
        cut_short = result.reason in ("TURNED_JACK", "GIFT")
        self.same("cut short", outcome.ending is Ending.CUT_SHORT, cut_short)
        self.same("pitcher", outcome.pitcher, result.pitcher)
        self.same("bid", outcome.bid, result.bid or 0)
        if not cut_short:
            self.same("trump", None if outcome.trump is None else SUITS[outcome.trump], result.trump)
        counted = [award for award in outcome.awards if award.item not in AT_ONCE]
        ours = {ITEMS[award.item]: (deal.side(award.seat), award.points) for award in counted}
        theirs = {item: side for item, side in result.items.items() if side is not None}
        self.same("items", {item: side for item, (side, _) in ours.items()}, theirs)
        self.same("order of counting", list(ours), list(theirs))
        made = list(outcome.made)
        for award in outcome.awards:
            if award.item in AT_ONCE:
                made[deal.side(award.seat)] -= award.points
        self.same("points made", made, result.made)
        self.compare_totals(deal, outcome, result)

    def compare_reason(self, result: GameResult) -> None:
        """The same reason, as far as both name one."""
        other = self.other_game
        if result.reason is EndReason.TARGET:
            self.same("a reason of point cards", True, other.reason in POINT_REASONS)
        elif result.reason is EndReason.TURNED_CARD:
            self.same("reason", "TURNED_JACK", other.reason)
        else:
            super().compare_reason(result)


def one_suit_up(chance: random.Random, pack: tuple[int, ...], seats: int, size: int) -> tuple[int, ...]:
    """The same pack with the cards that may be turned up mostly of one suit, so that runs go on."""
    suit = chance.randrange(4)
    cards = list(pack)
    for place in range(seats * size, 52, 3 * seats + 1):
        if cards[place] >> 4 == suit or chance.random() < 0.15:
            continue
        other = next(i for i in range(52) if cards[i] >> 4 == suit and (i - seats * size) % (3 * seats + 1))
        cards[place], cards[other] = cards[other], cards[place]
    return tuple(cards)


def rules_for(chance: random.Random, name: str) -> tuple[RuleSet, int]:
    """The game as the registry has it, or with a few house rules changed; and a number of seats."""
    rules = variant(name)
    if chance.random() < 0.5:
        rules = rules.with_rules({"max_deals": 6, "target": min(rules.target, 25)})
    if chance.random() < 0.5:
        change = dict(chance.choice(CHANGES[rules.trump_by]))
        if name == "pidro":
            change.pop("rob", None)
        rules = rules.with_rules(change)
    low, high = rules.players
    seats = chance.choice(range(low, high + 1, rules.sides or 1))
    return (chance.choice(one_change(rules, seats)) if chance.random() < 0.5 else rules), seats


def compare(name: str, positions: int, seed: int) -> Counter[str]:
    """Compares that many positions of a game at least; raises ``Difference``."""
    seen: Counter[str] = Counter()
    number = 0
    while seen["positions"] < positions:
        chance = seeded(f"{name}/{seed}/{number}")
        seen += FamilyPair(chance, *rules_for(chance, name)).play()
        number += 1
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description="Sets both rules engines before the same positions beyond Pitch.")
    parser.add_argument("--positions", type=int, default=100_000, help="how many positions of each game at least")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--variant", choices=GAMES, help="only this game")
    options = parser.parse_args()
    for name in [options.variant] if options.variant else GAMES:
        began = time.monotonic()
        try:
            seen = compare(name, options.positions, options.seed)
        except Difference as difference:
            sys.exit(f"{name}: {difference}")
        counts = ", ".join(f"{count} {what}" for what, count in sorted(seen.items(), key=lambda pair: -pair[1]))
        sys.stdout.write(f"{name}: no difference in {time.monotonic() - began:.0f} s: {counts}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
