"""Does careful beat random in every game of the family? In process, in duplicate sets, one line a game.

    python benchmarks/variants.py                          # every variant, 40 sets
    python benchmarks/variants.py pidro cinch --sets 200

Each table has the fewest seats of its game. Careful holds one seat, or one side, random all others; a set plays the same
packs once with careful in every seat (every side). The figure is the mean over sets of the difference in place points
(the share of opponents beaten, 0 to 1) between careful and random, with Student's 95% interval over sets. The exit code
is 1 if an interval does not lie above zero.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.strength import Player, play
from referee.rules import RuleSet, variant, variant_names
from referee.statistics.paired import Estimate, estimate
from referee.statistics.results import place_points


def table_of(rules: RuleSet, mine: int, careful: list[Player], others: list[Player]) -> list[Player]:
    """The players by seat: careful at ``mine`` (a side in a game of sides), random elsewhere."""
    seats = rules.players[0]
    return [
        (careful if (seat % rules.sides if rules.sides else seat) == mine else others)[seat] for seat in range(seats)
    ]


def gap_of(rules: RuleSet, number: int, seed: str, careful: list[Player], others: list[Player]) -> float:
    """One set: by how many place points a game careful was better than random."""
    seats = rules.players[0]
    rotations = rules.side_count(seats)
    gap = 0.0
    for mine in range(rotations):
        places = play(table_of(rules, mine, careful, others), rules, seed, number, mine)
        points = place_points(places, rules.sides)
        own = [points[seat] for seat in range(seats) if seat % rotations == mine]
        rest = [points[seat] for seat in range(seats) if seat % rotations != mine]
        gap += sum(own) / len(own) - sum(rest) / len(rest)
    return gap / rotations


def contest(name: str, sets: int, seed: str) -> Estimate:
    """Careful's lead over random in a variant, in place points a game."""
    rules = variant(name)
    careful, others = ([Player(bot) for _ in range(rules.players[0])] for bot in ("careful", "random"))
    return estimate([gap_of(rules, number, seed, careful, others) for number in range(sets)])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Careful against random in every variant.")
    parser.add_argument("variants", nargs="*", choices=[[], *variant_names()], help="the games (default: all)")
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seed", default="variants")
    given = parser.parse_args()
    behind = []
    print(f"careful - random, place points a game, {given.sets} sets, seed {given.seed}")
    for name in given.variants or variant_names():
        began = time.monotonic()
        gap = contest(name, given.sets, given.seed)
        interval = "no spread" if gap.low is None else f"[{gap.low:+.3f}, {gap.high:+.3f}]"
        print(
            f"  {name:22} {variant(name).players[0]} seats  {gap.mean:+.3f} {interval}  {time.monotonic() - began:.0f} s"
        )
        sys.stdout.flush()
        if gap.low is None or gap.low <= 0:
            behind.append(name)
    if behind:
        print(f"careful does not beat random beyond chance in: {', '.join(behind)}")
    return 1 if behind else 0


if __name__ == "__main__":
    raise SystemExit(main())
