"""Perft: how many different lists of legal actions a deal has, length by length, in both rules engines.

The published figures are in ``tests/vectors/perft.json``. A rule that is too strict or too lax anywhere changes them.

    python -m tests.rules.perft              # all figures, both engines, to their full length
    python -m tests.rules.perft --most 5000  # lengths with no more lists than that
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any, Final, Protocol, Self

from referee.cards import parse_cards
from referee.oracle import OracleDeal
from referee.oracle.deal import Action
from referee.rules import Deal
from tests.helpers import rules_of

VECTORS: Final = Path(__file__).parents[1] / "vectors" / "perft.json"
END: Final = 10_000
"""Longer than any deal."""


class Position(Protocol):
    """A deal in one of the engines, as far as counting asks."""

    def choices(self) -> int:
        """How many actions are legal; 0 when the deal is over."""

    def children(self) -> Iterator[Self]:
        """The deal after each legal action."""


class EnginePosition:
    """A deal of ``referee.rules``."""

    def __init__(self, deal: Deal) -> None:
        self.deal = deal

    def choices(self) -> int:
        return len(self.deal.legal())

    def children(self) -> Iterator[Self]:
        for action in self.deal.legal():
            twin = self.deal.copy()
            twin.apply(action)
            yield type(self)(twin)


class OraclePosition:
    """A deal of ``referee.oracle``."""

    def __init__(self, deal: OracleDeal) -> None:
        self.deal = deal

    def choices(self) -> int:
        if self.deal.kind != "DISCARD":
            return len(self.actions())
        choice = self.deal.choice()
        return comb(len(choice.may), choice.count)

    def actions(self) -> list[Action]:
        if self.deal.kind != "DISCARD":
            return [action for action in self.deal.possible() if self.deal.judge(action)]
        choice = self.deal.choice()
        return [choice.must | frozenset(more) for more in combinations(sorted(choice.may), choice.count)]

    def children(self) -> Iterator[Self]:
        for action in self.actions():
            twin = twin_of(self.deal)
            twin.act(action)
            yield type(self)(twin)


def twin_of(deal: OracleDeal) -> OracleDeal:
    """The same deal again; much faster than ``copy.deepcopy``."""
    twin = object.__new__(OracleDeal)
    for name, value in vars(deal).items():
        setattr(twin, name, value[:] if isinstance(value, list) else value)
    twin.hands = {seat: hand[:] for seat, hand in deal.hands.items()}
    return twin


def perft(position: Position, depth: int = END) -> tuple[list[int], int]:
    """How many lists of legal actions there are of each length up to ``depth``, and how many of them end the deal.

    The second figure leaves out lists of the full ``depth``: what they lead to is not looked at.
    """
    counts: list[int] = []
    complete = 0

    def walk(here: Position, length: int) -> None:
        nonlocal complete
        choices = here.choices()
        if not choices:
            complete += 1
            return
        if len(counts) < length:
            counts.append(0)
        counts[length - 1] += choices
        if length < depth:
            for child in here.children():
                walk(child, length + 1)

    walk(position, 1)
    return counts, complete


def positions_of(case: dict[str, Any]) -> tuple[EnginePosition, OraclePosition]:
    """The deal of a case in both engines."""
    rules, pack = rules_of(case["rules"]), parse_cards(case["pack"])
    seats, dealer, before = case["seats"], case["dealer"], case["before"]
    ours = Deal(rules, seats, dealer, pack, before)
    theirs = OracleDeal(rules.as_dict(), seats, dealer, case["pack"].split(), before)
    return EnginePosition(ours), OraclePosition(theirs)


def depth_within(case: dict[str, Any], most: int) -> int:
    """To which length a case may be counted so that no length before the last has more lists than ``most``."""
    counts: list[int] = case["counts"]
    fitting = next((length for length, count in enumerate(counts, 1) if count > most), len(counts))
    return END if fitting == len(counts) and case["complete"] is not None else fitting


def differences(case: dict[str, Any], most: int) -> list[str]:
    """Where an engine does not come to the figures of a case."""
    depth = depth_within(case, most)
    problems = []
    engine, oracle = positions_of(case)
    positions: tuple[tuple[str, Position], ...] = (("engine", engine), ("oracle", oracle))
    for name, position in positions:
        counts, complete = perft(position, depth)
        if counts != case["counts"][: len(counts)] or len(counts) < min(depth, len(case["counts"])):
            problems.append(f"{case['id']}: the {name} counts {counts}, published are {case['counts']}")
        if depth == END and complete != case["complete"]:
            problems.append(f"{case['id']}: the {name} counts {complete} whole deals, published are {case['complete']}")
    return problems


def main() -> None:
    parser = argparse.ArgumentParser(description="Counts the lists of legal actions of the published deals.")
    parser.add_argument("--most", type=int, default=10**9, help="go no further than a length with more lists")
    options = parser.parse_args()
    for case in json.loads(VECTORS.read_text("utf-8"))["cases"]:
        began = time.monotonic()
        problems = differences(case, options.most)
        verdict = "; ".join(problems) or "as published"
        sys.stdout.write(f"{case['id']} {case['note']} {verdict} ({time.monotonic() - began:.1f} s)\n")
        sys.stdout.flush()
        if problems:
            sys.exit(1)


if __name__ == "__main__":
    main()
