"""Writes ``perft.json``: each figure is counted by the engine and by the oracle; a difference stops it.

python -m tests.vectors.write_perft

Cases keep their ids and deals: new ones are added at the end of ``DEALS``.
"""

import json
import sys
from typing import Any, Final

from referee.cards import PACK, cards_text
from referee.rules import Deal
from referee.rules.rulebook import Level, clauses_of
from tests.helpers import rules_of, seeded
from tests.rules.perft import END, VECTORS, EnginePosition, perft, positions_of

MOST: Final = 20_000
"""Counting stops with the first length that has more lists."""

SMALL: Final = {"hand_size": 2, "packet": 1}
PLAIN: Final = {**SMALL, "discard": "none", "rob": "none"}

DEALS: Final[tuple[tuple[int, dict[str, Any]], ...]] = (
    (2, {"variant": "auction-pitch"}),
    (4, {"variant": "auction-pitch"}),
    (7, {"variant": "auction-pitch"}),
    (3, {"variant": "auction-pitch", **SMALL}),
    (2, {"variant": "auction-pitch", "hand_size": 3, "packet": 3, "follow": "strict"}),
    (2, {"variant": "auction-pitch-forced"}),
    (3, {"variant": "auction-pitch-forced", **SMALL}),
    (3, {"variant": "smudge"}),
    (3, {"variant": "smudge", **SMALL}),
    (4, {"variant": "partnership-pitch"}),
    (4, {"variant": "partnership-pitch", **SMALL}),
    (2, {"variant": "all-fours"}),
    (3, {"variant": "all-fours"}),
    (2, {"variant": "all-fours", **SMALL}),
    (3, {"variant": "all-fours", "hand_size": 1, "packet": 1}),
    (4, {"variant": "all-fours-partners"}),
    (4, {"variant": "all-fours-partners", "hand_size": 1, "packet": 1}),
    (2, {"variant": "seven-up"}),
    (2, {"variant": "seven-up", **SMALL}),
    (4, {"variant": "seven-up-partners"}),
    (4, {"variant": "seven-up-partners", "hand_size": 1, "packet": 1}),
    (4, {"variant": "trinidad"}),
    (4, {"variant": "trinidad", "hand_size": 1, "packet": 1, "after_run": "reduce"}),
    (2, {"variant": "california-jack"}),
    (2, {"variant": "california-jack", "hand_size": 1, "packet": 1}),
    (2, {"variant": "shasta-sam"}),
    (2, {"variant": "shasta-sam", "hand_size": 1, "packet": 1}),
    (3, {"variant": "pedro"}),
    (3, {"variant": "pedro", **SMALL, "max_bid": 3}),
    (4, {"variant": "cinch"}),
    (4, {"variant": "cinch", **PLAIN, "max_bid": 2}),
    (4, {"variant": "pedro-louisiana"}),
    (4, {"variant": "pedro-louisiana", **PLAIN, "max_bid": 8}),
    (4, {"variant": "pidro"}),
    (4, {"variant": "pidro", **PLAIN, "max_bid": 7, "steal": [7]}),
    (4, {"variant": "pidro", "min_bid": 14}),
    (4, {"variant": "cinch", "min_bid": 14}),
    (4, {"variant": "cinch", "min_bid": 14, "rob": "none"}),
)
"""Seats and rules; the last seat deals, all scores are zero, the pack comes by chance from the number of the case."""


def case_of(number: int, seats: int, changes: dict[str, Any]) -> dict[str, Any]:
    """One case with its figures, counted by both engines."""
    rules = rules_of(changes)
    case: dict[str, Any] = {
        "id": f"perft-{number:03}",
        "clause": [entry.id for entry in clauses_of(rules) if entry.level is Level.MUST],
        "note": note_of(seats, changes),
        "rules": changes,
        "seats": seats,
        "dealer": seats - 1,
        "before": [0] * rules.side_count(seats),
        "pack": cards_text(seeded(f"perft {number}").sample(PACK, 52)),
    }
    ours, theirs = positions_of(case)
    depth = depth_for(ours.deal)
    found = [perft(position, depth) for position in (ours, theirs)]
    if found[0] != found[1]:
        raise SystemExit(f"{case['id']} {changes}: the engine counts {found[0]}, the oracle {found[1]}")
    counts, complete = found[0]
    return {**case, "counts": counts, "complete": complete if depth == END else None}


def note_of(seats: int, changes: dict[str, Any]) -> str:
    """The game, the seats, and whether the deal is cut down."""
    cut = ", cut down" if len(changes) > 1 else ""
    return f"{rules_of(changes).title}, {seats} seats{cut}."


def depth_for(deal: Deal) -> int:
    """How far to count: ``END`` for the whole deal where no length has too many lists."""
    depth = 1
    while True:
        counts, _ = perft(EnginePosition(deal), depth)
        if len(counts) < depth:
            return END
        if counts[-1] > MOST:
            return depth
        depth += 1


def main() -> None:
    cases = []
    for number, (seats, changes) in enumerate(DEALS, 1):
        cases.append(json.dumps(case_of(number, seats, changes)))
        sys.stdout.write(f"{cases[-1]}\n")
        sys.stdout.flush()
    head = json.dumps(
        {
            "$schema": "schema/perft.schema.json",
            "format": 1,
            "rules_version": "2026.1",
            "title": "How many deals there are in a deal",
            "about": "`pack` is dealt from the top; then every list of legal actions is followed. `counts`: how many "
            "different lists there are of 1, 2, 3 ... actions. `complete`: how many lists end the deal, whatever their "
            "length; null where `counts` stops before that. Sets of cards to keep count as one action each.",
        },
        indent=2,
    )
    body = ",\n    ".join(cases)
    VECTORS.write_text(f'{head[:-2]},\n  "cases": [\n    {body}\n  ]\n}}\n', "utf-8")


if __name__ == "__main__":
    main()
