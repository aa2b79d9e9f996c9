"""Writes the page of a few bots of the zoo: ``python -m tests.check.make_page FILE`` (a browser's tests run no checks)."""

import sys
from pathlib import Path

from referee.check.html import as_html
from referee.check.run import Outputs, document
from referee.rules import variant
from tests.check.helpers import examined, zoo_plan

BOTS = [
    ("renege-of-seven", "auction-pitch"),
    ("keeps-a-plain-card", "cinch"),
    ("gives-the-game-away", "all-fours"),
    ("plays-what-it-lacks", "auction-pitch"),
]


def main(path: Path) -> None:
    """Checks them all and writes the page."""
    runs = []
    for name, game in BOTS:
        plan = zoo_plan("mutants.py", name, path.parent, games=(variant(game),), deals=5)
        runs.append(examined(plan, outputs=Outputs(path.parent / "failures", command=name)).events)
    path.write_text(as_html(document(runs)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
