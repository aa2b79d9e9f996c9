"""The rules kernel alone, random legal play, against OpenSpiel's euchre driven from Python.

Run: pip install open_spiel; python benchmarks/kernel.py [--deals N] [--runs N]

Both sides deal, ask for the legal actions, pick one at random and apply it, to the end of the deal; the time is shared
among the players' decisions. The two are measured in turn, several times, in one process, by the processor time of that
process; the medians and the ratio of each pair are printed.
"""

import argparse
import random
import statistics
import time

import pyspiel

from referee.cards import PACK
from referee.rules import Deal, variant


def pitch(deals: int, rng: random.Random) -> float:
    """Microseconds a decision of Auction Pitch with four seats, dealing included."""
    rules = variant("auction-pitch")
    packs = [tuple(rng.sample(PACK, 52)) for _ in range(50)]
    chance, decisions = rng.random, 0
    started = time.process_time()
    for number in range(deals):
        deal = Deal(rules, 4, number % 4, packs[number % 50])
        while deal.kind is not None:
            legal = deal.legal()
            deal.apply(legal[int(chance() * len(legal))])
            decisions += 1
    return (time.process_time() - started) / decisions * 1e6


def euchre(deals: int, rng: random.Random) -> float:
    """Microseconds a decision of OpenSpiel's euchre, dealing (its chance nodes) included, as on our side."""
    game = pyspiel.load_game("euchre")
    chance, decisions = rng.random, 0
    started = time.process_time()
    for _ in range(deals):
        state = game.new_initial_state()
        while not state.is_terminal():
            decisions += not state.is_chance_node()
            legal = state.legal_actions()
            state.apply_action(legal[int(chance() * len(legal))])
    return (time.process_time() - started) / decisions * 1e6


def main() -> None:
    """Measures both in turn and prints the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    rng = random.Random(1)
    ours, theirs = [], []
    for _ in range(options.runs):
        ours.append(pitch(options.deals, rng))
        theirs.append(euchre(options.deals, rng))
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    print(f"medians of {options.runs} runs of {options.deals} deals each, µs a decision:")
    print(f"  Auction Pitch, this kernel           {statistics.median(ours):6.2f}")
    print(f"  euchre, OpenSpiel from Python        {statistics.median(theirs):6.2f}")
    print(f"  ratio, pair by pair                  {statistics.median(ratios):6.2f}   (target: at most 1.0)")


if __name__ == "__main__":
    main()
