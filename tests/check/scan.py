"""Every Python sample bot in every variant with every number of seats: ``python -m tests.check.scan [NAME...]``.

It takes some minutes. What does not conform is told, and the exit code is 1.
"""

import sys
import tempfile
from pathlib import Path
from typing import Final

from referee.check.judge import CheckExit
from referee.check.plan import Plan, clock
from referee.check.run import check
from referee.check.sampling import seat_counts
from referee.league.entrants.bot_source import find_bot
from referee.rules import variant, variant_names
from referee.sandbox.command import Command

BOTS: Final = ("random", "careful")


def plans(folder: Path, names: tuple[str, ...]) -> list[Plan]:
    """One check for every bot and table, as ``referee submit`` would make it."""
    found = []
    for bot in [find_bot(name, Path.cwd()) for name in names]:
        command = Command(argv=bot.argv, folder=bot.folder, name=bot.name, only=bot.only)
        for name in variant_names():
            found += [
                Plan(
                    name=bot.name,
                    command=command,
                    games=(variant(name),),
                    by_name=True,
                    seats=(seats,),
                    deals=10,
                    limits=clock(10_000),
                    sandbox="none",
                    log_path=folder / "bot.log",
                )
                for seats in seat_counts(variant(name))
            ]
    return found


def main(names: tuple[str, ...]) -> int:
    """Checks them all; how many do not conform."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for plan in plans(Path(folder), names or BOTS):
            report = check(plan)
            told = f"{plan.name} in {plan.games[0].name} with {plan.seats[0]} seats: {report.exit_code.name}"
            sys.stdout.write(f"{told}\n")
            sys.stdout.flush()
            wrong += report.exit_code is not CheckExit.CONFORMS
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(tuple(sys.argv[1:])), 1))
